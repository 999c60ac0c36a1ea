// bench_load: the agent's own load path without a coordinator. Tickets come
// from a thread that builds bodies, records go to a thread that packs them
// into TimingBatches, as in the agent.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/http/curl_transport.h"
#include "agent/http/openai.h"
#include "agent/load/load_loop.h"
#include "agent/load/prompt.h"
#include "agent/preflight.h"
#include "common/flags.h"
#include "common/mutex.h"
#include "common/sha256.h"
#include "tests/bench/cpu_account.h"

namespace benchfleet::bench {
namespace {

struct Options {
  uint64_t port = 0, streams = 1, requests = 1, tokens = 100, input = 32;
  uint64_t first_ordinal = 0;
  std::string records;
  std::string t0_ns = "0";
  bool warm = false;
};

v1::ShareSpec Share(const Options& options) {
  v1::ShareSpec share;
  share.mutable_engine()->set_model("m");
  share.mutable_engine()->set_base_url(
      absl::StrCat("http://127.0.0.1:", options.port));
  share.set_endpoint(v1::COMPLETIONS);
  share.set_prompt_format(v1::TEXT);
  share.set_input_tokens(static_cast<uint32_t>(options.input));
  share.set_output_tokens(static_cast<uint32_t>(options.tokens));
  share.set_include_usage(true);
  share.set_concurrency(static_cast<uint32_t>(options.streams));
  share.set_request_seed(7);
  return share;
}

// The coordinator's pool and the session's thread in one.
class TicketPool {
 public:
  TicketPool(const v1::ShareSpec& share, const Options& options,
             TicketInbox& inbox, HttpTransport& transport)
      : share_(share),
        inbox_(inbox),
        transport_(transport),
        next_(options.first_ordinal),
        end_(options.first_ordinal + options.requests) {
    Deal(static_cast<uint32_t>(2 * options.streams));
    thread_ = std::thread([this] { Run(); });
  }
  ~TicketPool() {
    {
      MutexLock lock(mutex_);
      stop_ = true;
      changed_.NotifyAll();
    }
    thread_.join();
  }
  void Ask(uint32_t want) {
    MutexLock lock(mutex_);
    want_ = want;
    changed_.NotifyAll();
  }

 private:
  void Run() {
    while (true) {
      uint32_t want;
      {
        MutexLock lock(mutex_);
        while (want_ == 0 && !stop_) changed_.Wait(mutex_);
        if (stop_) return;
        want = std::exchange(want_, 0);
      }
      Deal(want);
    }
  }
  void Deal(uint32_t count) {
    std::vector<ReadyRequest> ready;
    for (; count > 0 && next_ < end_; --count, ++next_) {
      const auto ordinal = static_cast<uint32_t>(next_);
      std::string body = CompletionBody(
          share_,
          TextPrompt(share_.request_seed(), ordinal, share_.input_tokens()));
      const Sha256Digest digest = Sha256(body);
      ready.push_back({ordinal, std::move(body), digest[0]});
    }
    inbox_.Add(std::move(ready), {.exhausted = next_ == end_});
    transport_.Wake();
  }

  const v1::ShareSpec& share_;
  TicketInbox& inbox_;
  HttpTransport& transport_;
  uint64_t next_;
  const uint64_t end_;
  Mutex mutex_;
  CondVar changed_;
  uint32_t want_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// As BatchSender up to the wire.
struct Delivery {
  uint64_t bytes = 0, batches = 0, completed = 0, chunks = 0;
  long peak_resident_kb = 0;
  std::deque<v1::TimingBatch> kept;

  void Run(TimingRecorder& recorder, bool keep) {
    while (!recorder.drained()) {
      std::vector<v1::RequestTiming> timings =
          recorder.NextBatch(absl::Milliseconds(100), 256 * 1024);
      if (timings.empty()) continue;
      v1::TimingBatch batch;
      batch.set_agent_id("bench");
      batch.set_seq(++batches);
      for (v1::RequestTiming& timing : timings) {
        completed += timing.outcome() == v1::COMPLETED ? 1 : 0;
        chunks += static_cast<uint64_t>(timing.token_delta_ns_size());
        *batch.add_timings() = std::move(timing);
      }
      bytes += batch.SerializeAsString().size();
      if (keep) kept.push_back(std::move(batch));
    }
  }
};

void WriteRecords(const std::string& path,
                  const std::deque<v1::TimingBatch>& batches) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return std::perror(path.c_str());
  for (const v1::TimingBatch& batch : batches) {
    for (const v1::RequestTiming& t : batch.timings()) {
      std::fprintf(file, "{\"id\":\"bench-%u\",\"sent_ns\":%lld,\"deltas\":[",
                   t.ordinal(), static_cast<long long>(t.sent_ns()));
      for (int i = 0; i < t.token_delta_ns_size(); ++i) {
        std::fprintf(file, "%s%llu", i == 0 ? "" : ",",
                     static_cast<unsigned long long>(t.token_delta_ns(i)));
      }
      std::fputs("]}\n", file);
    }
  }
  std::fclose(file);
}

void Report(const LoadResult& result, const Delivery& delivery, double cpu_s,
            long resident_kb, uint64_t streams) {
  const v1::ShareEvidence& evidence = result.evidence;
  const auto number = [](uint64_t n) {
    return static_cast<unsigned long long>(n);
  };
  std::printf(
      "{\"events\":%llu,\"cpu_s\":%.6f,\"wall_s\":%.6f,\"loop_cpu_s\":%.6f,"
      "\"records\":%llu,\"completed\":%llu,\"batch_bytes\":%llu,"
      "\"kb_per_stream\":%.1f,\"longest_stall_ns\":%llu,"
      "\"loop_lag_p99_ns\":%llu,\"run_queue_delay_ns\":%llu}\n",
      number(delivery.chunks), cpu_s,
      static_cast<double>(evidence.loop_wall_ns()) / 1e9,
      static_cast<double>(evidence.loop_cpu_ns()) / 1e9, number(result.records),
      number(delivery.completed), number(delivery.bytes),
      static_cast<double>(resident_kb) / static_cast<double>(streams),
      number(evidence.longest_stall_ns()), number(evidence.loop_lag_p99_ns()),
      number(evidence.run_queue_delay_ns()));
}

int Run(const Options& options) {
  const RealClock clock;
  const v1::ShareSpec share = Share(options);
  CurlTransportOptions curl;
  curl.max_connections = options.streams + 8;
  auto transport = MakeCurlTransport(curl, clock);
  if (!transport.ok()) {
    std::fprintf(stderr, "%s\n", transport.status().ToString().c_str());
    return 1;
  }
  const long resident_before = ResidentKb();
  LoadPlan plan;
  plan.share = share;
  plan.url = absl::StrCat(share.engine().base_url(), EndpointPath(share));
  plan.headers = RequestHeaders(share, "");
  plan.request_id_prefix = "bench-";
  if (!absl::SimpleAtoi(options.t0_ns, &plan.t0.ns)) return 2;
  if (options.warm) {
    CheckEngine(share, plan.headers, "", **transport, clock,
                [] { return false; });
  }
  const double cpu_before = ProcessCpuSeconds();
  TicketInbox inbox;
  TimingRecorder recorder(200'000);
  TicketPool pool(share, options, inbox, **transport);
  LoadLoop loop(plan, **transport, clock, inbox, recorder,
                [&](uint32_t, uint32_t, uint32_t want) { pool.Ask(want); });
  Delivery delivery;
  std::thread thread([&] { delivery.Run(recorder, !options.records.empty()); });
  const LoadResult result = loop.Run();
  thread.join();
  const double cpu_s = ProcessCpuSeconds() - cpu_before;
  Report(result, delivery, cpu_s, PeakResidentKb() - resident_before,
         options.streams);
  if (!options.records.empty()) WriteRecords(options.records, delivery.kept);
  return delivery.completed == options.requests ? 0 : 1;
}

int Main(int argc, char** argv) {
  Options options;
  FlagSet flags("bench_load [flags]", "The agent's load path.");
  flags.Uint("port", &options.port, "of bench_source", 65535);
  flags.Uint("streams", &options.streams, "at once", 65535);
  flags.Uint("requests", &options.requests, "in all", UINT32_MAX);
  flags.Uint("tokens", &options.tokens, "of output", UINT32_MAX);
  flags.Uint("input", &options.input, "tokens of input", UINT32_MAX);
  flags.Uint("first-ordinal", &options.first_ordinal, "of the requests",
             UINT32_MAX);
  flags.String("records", &options.records, "file for all timings");
  flags.String("t0-ns", &options.t0_ns, "start, on CLOCK_MONOTONIC");
  flags.Bool("warm", &options.warm, "open the connections before");
  const auto arguments = flags.Parse(argc, argv);
  if (flags.help_asked()) return std::puts(flags.Help().c_str()), 0;
  if (!arguments.ok() || !arguments->empty()) return 2;
  return Run(options);
}

}  // namespace
}  // namespace benchfleet::bench

int main(int argc, char** argv) { return benchfleet::bench::Main(argc, argv); }
