// The engine behind the HTTP server: answers requests, and drives the model of
// time by the real clock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/clock.h"
#include "common/random.h"
#include "tests/enginesim/engine_model.h"
#include "tests/enginesim/http_request.h"
#include "tests/enginesim/profile.h"
#include "tests/enginesim/reply_stream.h"
#include "tests/enginesim/truth_log.h"
#include "tests/enginesim/wire_control.h"
#include "tests/enginesim/wire_error.h"

namespace benchfleet::enginesim {

enum class Fault {
  kNone,
  kHttp500,
  kHttp404,
  kHtml,         // a 200 with a web page
  kStreamError,  // an error event half way
  kReset,        // the connection half way
  kStall,        // silence half way, for ever
};
// "http500" or "500", "http404" or "404", "html", "stream_error", "reset",
// "stall"; empty is kNone.
absl::StatusOr<Fault> ParseFault(absl::string_view name);

struct ServiceOptions {
  Flavour flavour = Flavour::kVllm;
  std::string model = "sim";
  Profile profile;        // its context_window and max_running_requests rule
  double time_scale = 1;  // how many times faster than the model
  uint64_t seed = 1;
  uint64_t fail_every = 0;  // every Nth generation fails; 0: none
  Fault fail_kind = Fault::kNone;
  Fault refuse_models = Fault::kNone;  // how /v1/models fails
  Fault refuse_all = Fault::kNone;     // how every path fails
  uint64_t exit_after_requests = 0;    // 0: never
};

// Where replies go. None of it calls back into the service.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;
  virtual void Send(uint64_t connection, absl::string_view bytes) = 0;
  // The reply is complete; without keep_alive the connection ends after it.
  virtual void Finish(uint64_t connection, bool keep_alive) = 0;
  // Ends the connection with a TCP reset.
  virtual void Reset(uint64_t connection) = 0;
};

// Thread-compatible. At most one request per connection is open at a time.
class EngineService {
 public:
  EngineService(ServiceOptions options, const Clock& clock, TruthLog& truth,
                ResponseSink& sink);

  void Handle(uint64_t connection, const HttpRequest& request, Instant arrival);
  // The answer to bytes that are no request.
  void Refuse(uint64_t connection, int status);
  void ClientClosed(uint64_t connection);

  // When Advance has something to do; kNever.ns if idle.
  Instant NextDeadline() const;
  void Advance(Instant now);
  // Writes the truth of what is still open.
  void Shutdown();
  // --exit-after-requests is reached: the process should die at once.
  bool dead() const { return dead_; }

  static constexpr Instant kNever{EngineModel::kNever};

 private:
  struct Generation {
    uint64_t connection = 0;
    bool stream = false;
    bool keep_alive = true;
    bool head_sent = false;
    uint32_t output_tokens = 0;  // to come
    uint32_t made = 0;
    absl::string_view finish_reason;
    Fault fault = Fault::kNone;
    std::unique_ptr<ReplyStream> reply;
    Truth truth;
  };

  void HandlePost(uint64_t connection, const HttpRequest& request,
                  Instant arrival);
  void HandleGet(uint64_t connection, const HttpRequest& request);
  void HandleTokenize(uint64_t connection, const HttpRequest& request);
  void HandleGeneration(uint64_t connection, const HttpRequest& request,
                        Instant arrival);
  // False with the refusal in `error`.
  bool Check(const HttpRequest& http, bool chat, GenerationRequest& request,
             WireError& error) const;
  void Begin(Generation generation, const GenerationRequest& request,
             const HttpRequest& http);
  void ChooseLength(const GenerationRequest& request, Generation& generation);

  void Emit(const TokenEvent& event);
  void EmitStreamed(Generation& generation, uint32_t index, bool last);
  void Complete(Generation& generation);
  // Half way through a faulty reply; true if it ends here.
  bool ApplyFault(uint64_t id, Generation& generation);
  void Drop(uint64_t id, absl::string_view end);

  bool Fail(uint64_t connection, const HttpRequest& request, Fault fault);
  void Reply(uint64_t connection, const HttpRequest& request, int status,
             absl::string_view content_type, absl::string_view body);
  EngineFacts Facts() const;
  EngineGauges Gauges() const;
  int64_t ModelNs(Instant at) const;
  std::string ReplyId(const HttpRequest& http, bool chat);

  const ServiceOptions options_;
  const Clock& clock_;
  TruthLog& truth_;
  ResponseSink& sink_;
  const Instant zero_;
  const int64_t started_s_;
  EngineModel model_;
  Random random_;
  uint64_t arrivals_ = 0;  // POSTs to a generation path
  uint64_t finished_ = 0;
  uint64_t prompt_tokens_ = 0;
  uint64_t generated_tokens_ = 0;
  bool dead_ = false;
  std::vector<TokenEvent> due_;
  absl::flat_hash_map<uint64_t, Generation> open_;  // by arrival number
  absl::flat_hash_map<uint64_t, uint64_t> by_connection_;
};

}  // namespace benchfleet::enginesim
