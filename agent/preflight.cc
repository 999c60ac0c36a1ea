#include "agent/preflight.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/http/error_text.h"
#include "agent/http/fetch.h"
#include "agent/http/model_list.h"
#include "agent/http/openai.h"
#include "agent/http/url.h"

namespace benchfleet {
namespace {

// Files, logs, gRPC and epoll beside the connections under load.
constexpr uint64_t kOwnOpenFiles = 64;
constexpr size_t kMessageBytes = 1000;

// What an answer that is no model list was.
std::string Describe(const FetchResult& got, const std::string& api_key) {
  const std::string body = Excerpt(got.body, api_key);
  return absl::StrCat("HTTP ", got.status, ", ",
                      got.content_type.empty()
                          ? "no content type"
                          : CleanText(got.content_type, 100),
                      body.empty() ? ", empty body" : ": ", body);
}

Refusal CheckModels(const v1::ShareSpec& share, const HttpRequest& get,
                    const std::string& api_key, HttpTransport& transport,
                    const Clock& clock, const std::function<bool()>& given_up) {
  const FetchResult got = Fetch(transport, clock, get, given_up);
  const auto unreachable = [&](absl::string_view why) -> Refusal {
    return {v1::ShareRefused::ENGINE_UNREACHABLE,
            absl::StrCat("engine ", share.engine().name(), ": GET ", get.url,
                         ": ", why)};
  };
  if (got.end.kind != TransportEnd::Kind::kOk) {
    return unreachable(got.end.message);
  }
  if (got.status != 200) {
    return unreachable(
        absl::StrCat("expected a model list, got ", Describe(got, api_key)));
  }
  const absl::StatusOr<std::vector<std::string>> ids = ParseModelIds(got.body);
  if (!ids.ok()) {
    return unreachable(absl::StrCat(ids.status().message(), "; it was ",
                                    Describe(got, api_key)));
  }
  const std::string& wanted = share.engine().model();
  if (std::find(ids->begin(), ids->end(), wanted) != ids->end()) return {};
  return {
      v1::ShareRefused::MODEL_NOT_SERVED,
      absl::StrCat(
          "engine ", share.engine().name(), " at ", share.engine().base_url(),
          " does not serve model \"", wanted, "\"; it serves: ",
          ids->empty() ? "nothing"
                       : CleanText(absl::StrJoin(*ids, ", "), kErrorBytes))};
}

}  // namespace

absl::StatusOr<std::string> ReadApiKey(const v1::Engine& engine) {
  if (!engine.api_key_env().empty()) {
    const char* value = std::getenv(engine.api_key_env().c_str());
    if (value == nullptr || *value == '\0') {
      return absl::NotFoundError(absl::StrCat(
          "engine ", engine.name(), ": environment variable ",
          engine.api_key_env(), " (api_key_env) is not set on the agent"));
    }
    return std::string(value);
  }
  if (engine.api_key_file().empty()) return std::string();
  std::ifstream file(engine.api_key_file());
  std::string key((std::istreambuf_iterator<char>(file)),
                  std::istreambuf_iterator<char>());
  key = std::string(absl::StripAsciiWhitespace(key));
  if (!file.is_open() || key.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "engine ", engine.name(), ": key file ", engine.api_key_file(),
        " (api_key_file) cannot be read on the agent, or is empty"));
  }
  return key;
}

Refusal CheckEngine(const v1::ShareSpec& share,
                    const std::vector<std::string>& headers,
                    const std::string& api_key, HttpTransport& transport,
                    const Clock& clock, const std::function<bool()>& given_up) {
  const absl::StatusOr<std::string> url =
      EndpointUrl(share.engine().base_url(), "/v1/models");
  if (!url.ok()) {
    return {v1::ShareRefused::ENGINE_UNREACHABLE,
            std::string(url.status().message())};
  }
  HttpRequest get;
  get.method = "GET";
  get.url = *url;
  get.headers = &headers;
  get.timeouts = {.connect = absl::Seconds(5), .request = absl::Seconds(15)};
  if (share.check_model()) {
    Refusal refusal =
        CheckModels(share, get, api_key, transport, clock, given_up);
    if (refusal.refused()) {
      refusal.message = Excerpt(refusal.message, api_key, kMessageBytes);
      return refusal;
    }
  }
  if (ReusesConnections(share.engine())) {
    WarmConnections(transport, clock, get, share.concurrency(), given_up);
  }
  return {};
}

Refusal CheckOpenFiles(uint32_t concurrency) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  const uint64_t need = concurrency + kOwnOpenFiles;
  if (limit.rlim_cur >= need) return {};
  return {v1::ShareRefused::AGENT_LIMIT,
          absl::StrCat("the limit of open files is ", limit.rlim_cur, ", but ",
                       concurrency, " connections need ", need,
                       "; raise it (ulimit -n, LimitNOFILE)")};
}

}  // namespace benchfleet
