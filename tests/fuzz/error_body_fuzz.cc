// Whole answers of any status, as the load loop reads them: one outcome, the
// same for every cut, and a message that is safe to store and show.
#include <string>

#include "absl/strings/match.h"
#include "agent/http/error_text.h"
#include "agent/http/model_list.h"
#include "agent/http/response_reader.h"
#include "tests/fuzz/fuzz_check.h"

namespace benchfleet {
namespace {

constexpr char kKey[] = "sk-fuzz/0042\"key";

constexpr int kStatuses[] = {200, 200, 200, 0, 302, 400, 429, 500, 503, 999};
constexpr const char* kTypes[] = {"text/event-stream", "application/json",
                                  "text/html", ""};
constexpr const char* kEncodings[] = {"", "", "identity", "gzip"};

struct Answer {
  Asked asked;
  int status = 0;
  const char* type = "";
  const char* encoding = "";
  TransportEnd end;
  uint8_t cut = 0;
  absl::string_view body;
};

Answer Take(absl::string_view text) {
  Answer answer;
  const uint8_t a = TakeByte(&text), b = TakeByte(&text);
  answer.cut = TakeByte(&text);
  answer.status = kStatuses[a % 10];
  answer.asked.chat = (a & 0x80) != 0;
  answer.asked.include_usage = (a & 0x40) != 0;
  answer.asked.input_tokens = 4;
  answer.asked.output_tokens = 2;
  answer.asked.key = kKey;
  answer.type = kTypes[b % 4];
  answer.encoding = kEncodings[b / 4 % 4];
  answer.end.kind = static_cast<TransportEnd::Kind>(b / 16 % 8);
  answer.body = answer.status == 0 ? absl::string_view() : text;
  if (answer.end.kind != TransportEnd::Kind::kOk) answer.end.message = "ended";
  return answer;
}

v1::RequestTiming Read(const Answer& answer,
                       const std::vector<absl::string_view>& pieces) {
  ResponseReader reader(answer.asked);
  reader.set_sent({1'000});
  if (answer.status != 0) {
    reader.OnHead(answer.status, answer.type, answer.encoding);
  }
  for (absl::string_view piece : pieces) {
    const std::vector<char> bytes(piece.begin(), piece.end());
    reader.OnBytes({bytes.data(), bytes.size()}, {2'000}, 1);
  }
  reader.OnEnd(answer.end, {3'000});
  FUZZ_CHECK(reader.done());
  v1::RequestTiming timing;
  reader.Fill(&timing);
  return timing;
}

void CheckOne(const v1::RequestTiming& timing) {
  const bool completed = timing.outcome() == v1::COMPLETED;
  FUZZ_CHECK(timing.outcome() != v1::OUTCOME_UNSPECIFIED);
  FUZZ_CHECK(completed == timing.error().empty());
  FUZZ_CHECK(!completed || timing.token_delta_ns_size() > 0);
  FUZZ_CHECK(!completed || timing.http_status() == 200);
  FUZZ_CHECK(timing.error().size() <= kErrorBytes);
  FUZZ_CHECK(!absl::StrContains(timing.error(), kKey));
  FUZZ_CHECK(CleanText(timing.error(), kErrorBytes) == timing.error());
  const auto chunks = static_cast<uint32_t>(timing.token_delta_ns_size());
  FUZZ_CHECK(timing.coalesced() == (chunks == 0 ? 0 : chunks - 1));
  FUZZ_CHECK(timing.chunk_tokens_size() == 0 ||
             timing.chunk_tokens_size() == timing.token_delta_ns_size());
}

void Test(absl::string_view text) {
  const Answer answer = Take(text);
  const v1::RequestTiming whole = Read(answer, {answer.body});
  CheckOne(whole);
  const v1::RequestTiming cut = Read(answer, Pieces(answer.body, answer.cut));
  FUZZ_CHECK(whole.SerializeAsString() == cut.SerializeAsString());
  const auto models = ParseModelIds(answer.body);
  FUZZ_CHECK(models.ok() || !models.status().message().empty());
}

}  // namespace
}  // namespace benchfleet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  benchfleet::Test(benchfleet::AsText(data, size));
  return 0;
}
