#include "coordinator/plan/problem.h"

#include <algorithm>
#include <climits>
#include <tuple>

#include "absl/strings/str_cat.h"

namespace benchfleet {
namespace {

std::tuple<int, int> SortKey(const Problem& problem) {
  return {problem.line == 0 ? INT_MAX : problem.line, problem.column};
}

}  // namespace

void ProblemList::Add(Place place, std::string field, std::string message) {
  if (problems_.size() == kMaxProblems) {
    ++dropped_;
    return;
  }
  problems_.push_back(
      {place.line, place.column, std::move(field), std::move(message)});
}

std::vector<Problem> ProblemList::Take() && {
  std::stable_sort(problems_.begin(), problems_.end(),
                   [](const Problem& a, const Problem& b) {
                     return SortKey(a) < SortKey(b);
                   });
  if (dropped_ > 0) {
    problems_.push_back(
        {0, 0, "", absl::StrCat("and ", dropped_, " more problems")});
  }
  return std::move(problems_);
}

std::string FormatProblems(absl::string_view file_name,
                           const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    absl::StrAppend(&text, file_name, ":");
    if (problem.line > 0) {
      absl::StrAppend(&text, problem.line, ":", problem.column, ":");
    }
    absl::StrAppend(&text, " ", problem.message, "\n");
  }
  return text;
}

}  // namespace benchfleet
