#include "coordinator/report/scope.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "benchfleet/v1/suite.pb.h"

namespace benchfleet {
namespace {

std::string NumberWord(uint32_t number) {
  constexpr const char* kWords[] = {"one",  "two", "three",  "four",
                                    "five", "six", "seven",  "eight",
                                    "nine", "ten", "eleven", "twelve"};
  if (number >= 1 && number <= 12) return kWords[number - 1];
  return absl::StrCat(number);
}

class SilentErrors final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int, google::protobuf::io::ColumnNumber,
                const std::string&) override {}
};

// What the requests of the suite's engines and cases really take.
struct Kinds {
  bool text = false, token_ids = false, completions = false, chat = false;
};

bool TakesTokenIds(const v1::Engine& engine, const v1::CaseFamily& family) {
  if (family.prompt_format() != v1::PROMPT_FORMAT_UNSPECIFIED) {
    return family.prompt_format() == v1::TOKEN_IDS;
  }
  return family.endpoint() != v1::CHAT && engine.kind() != v1::OPENAI &&
         engine.kind() != v1::ENGINE_KIND_UNSPECIFIED;
}

Kinds KindsOf(const v1::Suite& suite) {
  Kinds kinds;
  for (const v1::CaseFamily& family : suite.cases()) {
    (family.endpoint() == v1::CHAT ? kinds.chat : kinds.completions) = true;
    for (const v1::Engine& engine : suite.engines()) {
      (TakesTokenIds(engine, family) ? kinds.token_ids : kinds.text) = true;
    }
  }
  return kinds;
}

std::string Both(bool first, absl::string_view first_name, bool second,
                 absl::string_view second_name) {
  std::vector<absl::string_view> names;
  if (first) names.push_back(first_name);
  if (second) names.push_back(second_name);
  return absl::StrJoin(names, " and ");
}

}  // namespace

std::string StatisticsText(uint32_t repeats) {
  return absl::StrCat("Each metric: median and range across ",
                      NumberWord(repeats), repeats == 1 ? " round" : " rounds",
                      ". Round percentiles are not pooled percentiles.");
}

std::string ScopeText(absl::string_view suite_text) {
  v1::Suite suite;
  SilentErrors errors;
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);
  parser.RecordErrorsTo(&errors);
  Kinds kinds;
  if (parser.ParseFromString(std::string(suite_text), &suite)) {
    kinds = KindsOf(suite);
  }
  const std::string prompts =
      Both(kinds.text, "text", kinds.token_ids, "token ids");
  const std::string endpoints =
      Both(kinds.completions, "completions", kinds.chat, "chat");
  return absl::StrCat("Fixed-length synthetic ",
                      prompts.empty() ? "prompts" : prompts,
                      endpoints.empty() ? "" : " via ", endpoints,
                      "; excludes warmup, functional tests, multimodal tests "
                      "and failed attempts.");
}

}  // namespace benchfleet
