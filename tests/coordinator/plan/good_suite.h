// A suite without problems, and ways to spoil it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "coordinator/plan/suite_parser.h"

namespace benchfleet {

// One field a line, so that a replaced line keeps its number.
inline constexpr char kSuite[] = R"(name: "smoke"
model: "m"
repeats: 3
engines {
  name: "vllm"
  kind: VLLM
  base_url: "http://127.0.0.1:8000"
}
cases {
  id: "short"
  input_tokens: 128
  output_tokens: 64
  concurrency: 4
  requests: 64
}
)";

// All problems of `text`, as they are printed.
inline std::string Problems(const std::string& text) {
  return FormatProblems("s", ParseSuite(text).problems);
}

// kSuite with one line replaced.
inline std::string With(const std::string& line, const std::string& instead) {
  const std::string text =
      absl::StrReplaceAll(kSuite, {{line + "\n", instead + "\n"}});
  EXPECT_NE(text, kSuite) << line;
  return text;
}

// What is wrong with it then.
inline std::string Replaced(const std::string& line,
                            const std::string& instead) {
  return Problems(With(line, instead));
}

}  // namespace benchfleet
