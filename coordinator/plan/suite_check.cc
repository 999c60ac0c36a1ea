#include "coordinator/plan/suite_check.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "coordinator/plan/case_check.h"
#include "coordinator/plan/engine_check.h"
#include "coordinator/plan/problem_finder.h"
#include "google/protobuf/descriptor.h"

namespace benchfleet {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr size_t kMaxTextBytes = 4096;

// Empty: the text can stand in one line of a report.
absl::string_view TextProblem(absl::string_view text) {
  for (const char c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) {
      return "holds a control character, such as an end of line";
    }
  }
  if (text.size() > kMaxTextBytes) return "is longer than 4096 bytes";
  if (text != absl::StripAsciiWhitespace(text)) {
    return "starts or ends with a blank";
  }
  return "";
}

// Every text of the suite, whatever it is for.
void CheckTexts(const Message& message, const std::string& path,
                const FieldPlaces& places, ProblemList& problems) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_text = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    if (!is_text && field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      continue;
    }
    const bool list = field->is_repeated();
    const int size = list ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < size; ++i) {
      std::string field_path = JoinPath(path, field->name());
      if (list) field_path = IndexPath(field_path, i);
      if (!is_text) {
        CheckTexts(list ? reflection.GetRepeatedMessage(message, field, i)
                        : reflection.GetMessage(message, field),
                   field_path, places, problems);
        continue;
      }
      const absl::string_view problem =
          TextProblem(list ? reflection.GetRepeatedString(message, field, i)
                           : reflection.GetString(message, field));
      if (!problem.empty()) {
        problems.Add(places.Of(field_path), field_path,
                     absl::StrCat(field->name(), " ", problem));
      }
    }
  }
}

void CheckTimeout(absl::string_view field, double value,
                  ProblemFinder& finder) {
  if (!finder.Given(field)) return;
  if (!std::isfinite(value) || value <= 0 || value > kMaxTimeoutSeconds) {
    finder.Report(field, absl::StrCat(field, " must be over 0 and at most ",
                                      kMaxTimeoutSeconds, ", found ", value));
  }
}

void CheckTimeouts(const v1::Timeouts& timeouts, const FieldPlaces& places,
                   ProblemList& problems) {
  ProblemFinder finder(places, problems, "timeouts", "timeouts");
  CheckTimeout("connect_s", timeouts.connect_s(), finder);
  CheckTimeout("first_token_s", timeouts.first_token_s(), finder);
  CheckTimeout("between_tokens_s", timeouts.between_tokens_s(), finder);
  CheckTimeout("request_s", timeouts.request_s(), finder);
}

void CheckRounds(const v1::Suite& suite, const FieldPlaces& places,
                 ProblemList& problems) {
  uint64_t cases = 0;
  for (const v1::CaseFamily& family : suite.cases()) {
    cases += static_cast<uint64_t>(family.concurrency_size());
  }
  const uint64_t repeats = std::min(suite.repeats(), kMaxRepeats);
  const uint64_t rounds =
      static_cast<uint64_t>(suite.engines_size()) * cases * repeats;
  if (rounds > kMaxRounds) {
    problems.Add(
        places.Of("repeats"), "repeats",
        absl::StrCat("engines x cases x repeats are ", suite.engines_size(),
                     " x ", cases, " x ", repeats, " = ", rounds,
                     " rounds; the limit is ", kMaxRounds));
  }
}

}  // namespace

void CheckSuite(const v1::Suite& suite, const FieldPlaces& places,
                ProblemList& problems) {
  ProblemFinder finder(places, problems, "", "");
  if (finder.Lacks("name", suite.name())) {
    finder.Report("name", "no name: add name: \"...\"");
  }
  if (finder.Missing("repeats")) {
    finder.Report("repeats", "no repeats: add repeats: 3");
  } else {
    finder.CheckNumber("repeats", suite.repeats(), kMaxRepeats);
  }
  finder.CheckRange("max_attempts", suite.max_attempts(), 0, kMaxAttempts);
  CheckEngines(suite, places, problems);
  CheckCases(suite, places, problems);
  CheckTimeouts(suite.timeouts(), places, problems);
  CheckTexts(suite, "", places, problems);
  CheckRounds(suite, places, problems);
}

}  // namespace benchfleet
