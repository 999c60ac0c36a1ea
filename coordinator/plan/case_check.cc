#include "coordinator/plan/case_check.h"

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "coordinator/plan/case_family.h"
#include "coordinator/plan/problem_finder.h"
#include "coordinator/plan/suite_check.h"

namespace benchfleet {
namespace {

constexpr size_t kMaxIdBytes = 100;

using Values = google::protobuf::RepeatedField<uint32_t>;

std::string Label(const v1::CaseFamily& family, int index) {
  return family.id().empty() ? absl::StrCat("cases[", index, "]")
                             : absl::StrCat("case ", Quoted(family.id()));
}

bool IsId(absl::string_view id) {
  for (const char c : id) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.' &&
        c != '_' && c != '-') {
      return false;
    }
  }
  return !id.empty() &&
         absl::ascii_isalnum(static_cast<unsigned char>(id.front()));
}

void CheckId(const v1::CaseFamily& family, ProblemFinder& finder) {
  if (finder.Lacks("id", family.id())) {
    finder.Report("id", "no id");
  } else if (!finder.Given("id")) {
    return;
  } else if (!IsId(absl::StripAsciiWhitespace(family.id()))) {
    finder.Report("id",
                  "id takes letters, digits, '.', '_' and '-', and starts with "
                  "a letter or digit");
  } else if (family.id().size() > kMaxIdBytes) {
    finder.Report("id",
                  absl::StrCat("id is longer than ", kMaxIdBytes, " bytes"));
  }
}

void CheckTokens(const v1::Suite& suite, const v1::CaseFamily& family,
                 ProblemFinder& finder) {
  finder.CheckNumber("input_tokens", family.input_tokens(), kMaxTokens);
  finder.CheckNumber("output_tokens", family.output_tokens(), kMaxTokens);
  const uint64_t sum = uint64_t{family.input_tokens()} + family.output_tokens();
  if (suite.context_window() > 0 && sum > suite.context_window()) {
    finder.Report("input_tokens",
                  absl::StrCat("input_tokens ", family.input_tokens(),
                               " and output_tokens ", family.output_tokens(),
                               " are ", sum, " together, over context_window ",
                               suite.context_window()));
  }
}

void CheckValues(absl::string_view field, const Values& values,
                 uint32_t smallest, uint32_t largest, ProblemFinder& finder) {
  if (!finder.Given(field)) return;
  for (int i = 0; i < values.size(); ++i) {
    const uint32_t value = values.Get(i);
    if (value >= smallest && value <= largest) continue;
    const std::string limit = value < smallest
                                  ? absl::StrCat("at least ", smallest)
                                  : absl::StrCat("at most ", largest);
    finder.Report(IndexPath(field, i),
                  absl::StrCat(field, " must be ", limit, ", found ", value));
  }
}

// One value for all, or one per concurrency. False: not so, or not known.
bool CheckLength(absl::string_view field, const Values& values,
                 const Values& concurrency, ProblemFinder& finder) {
  if (!finder.Given(field) || !finder.Given("concurrency") || values.empty() ||
      concurrency.empty()) {
    return false;
  }
  if (values.size() == 1 || values.size() == concurrency.size()) return true;
  finder.Report(
      field,
      absl::StrCat(field, " has ", values.size(), " values for concurrency's ",
                   concurrency.size(), "; give one for all or one for each"));
  return false;
}

void CheckEnoughRequests(const v1::CaseFamily& family, ProblemFinder& finder) {
  if (family.allow_partial_concurrency()) return;
  for (int i = 0; i < family.concurrency_size(); ++i) {
    const uint32_t requests = ForMember(family.requests(), i);
    const uint32_t concurrency = family.concurrency(i);
    if (requests == 0 || requests >= concurrency) continue;
    const int at = family.requests_size() == 1 ? 0 : i;
    finder.Report(IndexPath("requests", at),
                  absl::StrCat("requests ", requests,
                               " never reach concurrency ", concurrency,
                               "; raise requests, or say "
                               "allow_partial_concurrency: true"));
  }
}

void CheckLoad(const v1::CaseFamily& family, ProblemFinder& finder) {
  const auto check = [&finder](absl::string_view field, const Values& values,
                               uint32_t largest) {
    if (finder.Missing(field) || (finder.Given(field) && values.empty())) {
      finder.Report(field, absl::StrCat("no ", field));
    }
    CheckValues(field, values, 1, largest, finder);
  };
  check("concurrency", family.concurrency(), kMaxConcurrency);
  check("requests", family.requests(), kMaxRequests);
  CheckValues("warmup_requests", family.warmup_requests(), 0, kMaxRequests,
              finder);
  CheckLength("warmup_requests", family.warmup_requests(), family.concurrency(),
              finder);
  if (CheckLength("requests", family.requests(), family.concurrency(),
                  finder)) {
    CheckEnoughRequests(family, finder);
  }
}

void CheckFormat(const v1::Suite& suite, const v1::CaseFamily& family,
                 ProblemFinder& finder) {
  if (family.prompt_format() != v1::TOKEN_IDS) return;
  if (family.endpoint() == v1::CHAT) {
    finder.Report("prompt_format",
                  "prompt_format TOKEN_IDS does not go with endpoint CHAT, "
                  "which takes text only");
  }
  for (const v1::Engine& engine : suite.engines()) {
    if (engine.kind() != v1::OPENAI) continue;
    finder.Report("prompt_format",
                  absl::StrCat("prompt_format TOKEN_IDS does not go with "
                               "engine ",
                               Quoted(engine.name()),
                               " of kind OPENAI; leave it out or say TEXT"));
  }
}

// Ids must differ by more than case and blanks: as written, and as expanded.
class IdChecker {
 public:
  IdChecker(const v1::Suite& suite, const FieldPlaces& places)
      : suite_(suite), places_(places) {}

  void Check(int index, ProblemFinder& finder) {
    const v1::CaseFamily& family = suite_.cases(index);
    if (family.id().empty()) return;
    const auto [other, is_new] =
        families_.emplace(ConfusableKey(family.id()), index);
    if (!is_new) {
      const bool equal = suite_.cases(other->second).id() == family.id();
      finder.Report("id", absl::StrCat(equal ? "id comes twice"
                                             : "id differs only in case or "
                                               "blanks from another",
                                       "; first at ", At(other->second)));
    } else if (!finder.Broken("concurrency")) {
      CheckMembers(index, finder);
    }
  }

 private:
  std::string At(int index) const {
    const Place place = places_.Of(JoinPath(IndexPath("cases", index), "id"));
    return absl::StrCat(place.line, ":", place.column);
  }

  void CheckMembers(int index, ProblemFinder& finder) {
    const v1::CaseFamily& family = suite_.cases(index);
    absl::flat_hash_set<uint32_t> own;
    for (int i = 0; i < family.concurrency_size(); ++i) {
      if (!own.insert(family.concurrency(i)).second) {
        finder.Report(IndexPath("concurrency", i),
                      absl::StrCat("concurrency ", family.concurrency(i),
                                   " is listed twice"));
        continue;
      }
      const std::string id = MemberId(family, i);
      const auto [other, is_new] = members_.emplace(ConfusableKey(id), index);
      if (is_new) continue;
      finder.Report(
          "id", absl::StrCat("it makes a case ", Quoted(id),
                             ", and so does the one at ", At(other->second)));
    }
  }

  const v1::Suite& suite_;
  const FieldPlaces& places_;
  absl::flat_hash_map<std::string, int> families_;
  absl::flat_hash_map<std::string, int> members_;
};

}  // namespace

void CheckCases(const v1::Suite& suite, const FieldPlaces& places,
                ProblemList& problems) {
  if (places.Missing("cases")) {
    problems.Add({}, "cases",
                 "no case: add cases { id: \"...\" input_tokens: 128 "
                 "output_tokens: 64 concurrency: 4 requests: 64 }");
  }
  IdChecker ids(suite, places);
  for (int i = 0; i < suite.cases_size(); ++i) {
    const v1::CaseFamily& family = suite.cases(i);
    ProblemFinder finder(places, problems, IndexPath("cases", i),
                         Label(family, i));
    CheckId(family, finder);
    CheckTokens(suite, family, finder);
    CheckLoad(family, finder);
    CheckFormat(suite, family, finder);
    ids.Check(i, finder);
  }
}

}  // namespace benchfleet
