#include "coordinator/plan/engine_check.h"

#include <initializer_list>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "coordinator/plan/base_url.h"
#include "coordinator/plan/problem_finder.h"

namespace benchfleet {
namespace {

constexpr int kMaxHeaders = 64;
constexpr size_t kMaxNameBytes = 100;

std::string Label(const v1::Engine& engine, int index) {
  return engine.name().empty() ? absl::StrCat("engines[", index, "]")
                               : absl::StrCat("engine ", Quoted(engine.name()));
}

bool IsAnyOf(absl::string_view name,
             std::initializer_list<absl::string_view> names) {
  for (const absl::string_view other : names) {
    if (absl::EqualsIgnoreCase(name, other)) return true;
  }
  return false;
}

// The names of HTTP headers, RFC 9110's tokens.
bool IsHeaderName(absl::string_view name) {
  if (name.empty()) return false;
  for (const char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) &&
        !absl::StrContains("!#$%&'*+-.^_`|~", c)) {
      return false;
    }
  }
  return true;
}

// Empty: the header may be sent. Never repeats a value.
std::string HeaderProblem(absl::string_view header) {
  const size_t colon = header.find(':');
  const absl::string_view name = header.substr(0, colon);
  if (colon == absl::string_view::npos || !IsHeaderName(name)) {
    return "a header is written \"Name: value\"";
  }
  if (absl::StripAsciiWhitespace(header.substr(colon + 1)).empty()) {
    return absl::StrCat("header ", name, " has no value");
  }
  if (IsAnyOf(name, {"Authorization", "Proxy-Authorization", "X-Api-Key",
                     "Api-Key", "Cookie"})) {
    return absl::StrCat("header ", name,
                        " would put a key into the suite, which is stored; use "
                        "api_key_env or api_key_file");
  }
  if (IsAnyOf(name, {"Content-Type", "Content-Length", "Transfer-Encoding",
                     "Connection", "Expect", "Accept", "Accept-Encoding"})) {
    return absl::StrCat("header ", name, " is set by the agent");
  }
  return "";
}

bool IsVariableName(absl::string_view name) {
  for (const char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_') {
      return false;
    }
  }
  return !name.empty() &&
         !absl::ascii_isdigit(static_cast<unsigned char>(name.front()));
}

void CheckAddress(const v1::Engine& engine, ProblemFinder& finder) {
  if (finder.Lacks("base_url", engine.base_url())) {
    finder.Report("base_url", "no base_url, such as \"http://127.0.0.1:8000\"");
  } else if (finder.Given("base_url")) {
    const absl::Status status =
        CheckBaseUrl(absl::StripAsciiWhitespace(engine.base_url()));
    if (!status.ok()) {
      finder.Report("base_url",
                    absl::StrCat("bad base_url: ", status.message()));
    }
  }
}

void CheckKey(const v1::Engine& engine, ProblemFinder& finder) {
  if (finder.Given("api_key_env") && finder.Given("api_key_file")) {
    finder.Report("api_key_file",
                  "api_key_env and api_key_file are both given; keep one");
  }
  if (finder.Given("api_key_env") && !IsVariableName(engine.api_key_env())) {
    finder.Report("api_key_env",
                  "api_key_env takes the name of an environment variable "
                  "(letters, digits, '_'), never the key itself");
  }
  if (finder.Given("api_key_file") && engine.api_key_file().empty()) {
    finder.Report("api_key_file", "api_key_file is empty");
  }
}

void CheckHeaders(const v1::Engine& engine, ProblemFinder& finder) {
  if (engine.headers_size() > kMaxHeaders) {
    finder.Report("headers",
                  absl::StrCat("more than ", kMaxHeaders, " headers"));
    return;
  }
  if (finder.Broken("headers")) return;
  for (int i = 0; i < engine.headers_size(); ++i) {
    const std::string problem = HeaderProblem(engine.headers(i));
    if (!problem.empty()) finder.Report(IndexPath("headers", i), problem);
  }
}

void CheckEngine(const v1::Engine& engine, bool suite_lacks_model,
                 ProblemFinder& finder) {
  if (finder.Lacks("name", engine.name())) {
    finder.Report("name", "no name");
  } else if (engine.name().size() > kMaxNameBytes) {
    finder.Report(
        "name", absl::StrCat("name is longer than ", kMaxNameBytes, " bytes"));
  }
  const bool unspecified =
      finder.Given("kind") && engine.kind() == v1::ENGINE_KIND_UNSPECIFIED;
  if (finder.Missing("kind") || unspecified) {
    finder.Report("kind", "no kind: VLLM, SGLANG, LLAMACPP or OPENAI");
  }
  CheckAddress(engine, finder);
  if (finder.Lacks("model", engine.model()) && suite_lacks_model) {
    finder.Report("model", "no model, neither here nor in the suite");
  }
  CheckKey(engine, finder);
  CheckHeaders(engine, finder);
}

}  // namespace

void CheckEngines(const v1::Suite& suite, const FieldPlaces& places,
                  ProblemList& problems) {
  if (places.Missing("engines")) {
    problems.Add({}, "engines",
                 "no engine: add engines { name: \"...\" kind: VLLM base_url: "
                 "\"http://...\" }");
  }
  const bool suite_lacks_model =
      ProblemFinder(places, problems, "", "").Lacks("model", suite.model());
  absl::flat_hash_map<std::string, int> seen;
  for (int i = 0; i < suite.engines_size(); ++i) {
    const v1::Engine& engine = suite.engines(i);
    ProblemFinder finder(places, problems, IndexPath("engines", i),
                         Label(engine, i));
    CheckEngine(engine, suite_lacks_model, finder);
    if (engine.name().empty()) continue;
    const auto [other, is_new] = seen.emplace(ConfusableKey(engine.name()), i);
    if (is_new) continue;
    const std::string path =
        JoinPath(IndexPath("engines", other->second), "name");
    const bool equal = suite.engines(other->second).name() == engine.name();
    finder.Report("name",
                  absl::StrCat(equal ? "name comes twice"
                                     : "name differs only in case or blanks "
                                       "from another",
                               "; first at ", places.Of(path).line, ":",
                               places.Of(path).column));
  }
}

}  // namespace benchfleet
