// What is wrong with a suite, each with the place where its author finds it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace benchfleet {

// A place in a text. Lines and columns count from 1, columns in characters (a
// tab is one). Line 0: no place, it concerns the whole text.
struct Place {
  int line = 0;
  int column = 0;
};

struct Problem {
  int line = 0;
  int column = 0;
  // Path of the field, such as "cases[1].requests"; indices count from 0. May
  // be empty.
  std::string field;
  // One line of plain text that names what it is about.
  std::string message;
};

// Problems in the order found, at most kMaxProblems; the rest is counted.
class ProblemList {
 public:
  static constexpr size_t kMaxProblems = 100;

  void Add(Place place, std::string field, std::string message);
  bool empty() const { return problems_.empty(); }
  // Sorted by place, those without one last; a last entry says how many more
  // there were.
  std::vector<Problem> Take() &&;

 private:
  std::vector<Problem> problems_;
  size_t dropped_ = 0;
};

// One line each: `file:line:column: message`, or `file: message` without a
// place.
std::string FormatProblems(absl::string_view file_name,
                           const std::vector<Problem>& problems);

}  // namespace benchfleet
