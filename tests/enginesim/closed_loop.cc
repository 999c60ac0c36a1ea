#include "tests/enginesim/closed_loop.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tests/enginesim/engine_model.h"

namespace benchfleet::enginesim {
namespace {

double Mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t n = values.size();
  std::sort(values.begin(), values.end());
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

// The client side of one round.
class Round {
 public:
  Round(const Profile& profile, const LoadPoint& load, uint64_t seed,
        double turnaround_ms)
      : model_(profile, seed),
        load_(load),
        turnaround_ns_(std::llround(turnaround_ms * 1e6)),
        sent_ns_(load.requests),
        first_ns_(load.requests),
        previous_ns_(load.requests) {}

  Prediction Run() {
    for (uint32_t i = 0; i < load_.concurrency; ++i) Send(0);
    std::vector<TokenEvent> tokens;
    int64_t next = model_.NextEventNs();
    while (next != EngineModel::kNever) {
      tokens.clear();
      model_.AdvanceTo(next, tokens);
      for (const TokenEvent& token : tokens) Take(token);
      next = model_.NextEventNs();
    }
    return Summary();
  }

 private:
  void Send(int64_t at_ns) {
    if (sent_ == load_.requests) return;
    sent_ns_[sent_] = at_ns;
    model_.Add({sent_, load_.input_tokens, load_.output_tokens, at_ns});
    ++sent_;
  }

  void Take(const TokenEvent& token) {
    const uint64_t id = token.request;
    const auto ms = [](int64_t ns) { return static_cast<double>(ns) / 1e6; };
    if (token.index == 0) {
      first_ns_[id] = token.at_ns;
      ttft_.push_back(ms(token.at_ns - sent_ns_[id]));
    } else {
      itl_.push_back(ms(token.at_ns - previous_ns_[id]));
    }
    previous_ns_[id] = token.at_ns;
    ++output_tokens_;
    if (!token.last) return;
    end_ns_ = token.at_ns;
    e2el_.push_back(ms(token.at_ns - sent_ns_[id]));
    if (load_.output_tokens > 1)
      tpot_.push_back(ms(token.at_ns - first_ns_[id]) /
                      (load_.output_tokens - 1));
    Send(token.at_ns + turnaround_ns_);
  }

  Prediction Summary() const {
    return {.output_throughput = static_cast<double>(output_tokens_) * 1e9 /
                                 static_cast<double>(end_ns_),
            .mean_ttft_ms = Mean(ttft_),
            .p50_ttft_ms = Median(ttft_),
            .mean_tpot_ms = Mean(tpot_),
            .p50_itl_ms = Median(itl_),
            .mean_e2el_ms = Mean(e2el_)};
  }

  EngineModel model_;
  const LoadPoint load_;
  const int64_t turnaround_ns_;
  uint32_t sent_ = 0;
  uint64_t output_tokens_ = 0;
  int64_t end_ns_ = 0;
  std::vector<int64_t> sent_ns_, first_ns_, previous_ns_;
  std::vector<double> ttft_, tpot_, itl_, e2el_;
};

}  // namespace

Prediction PredictRound(const Profile& profile, const LoadPoint& load,
                        uint64_t seed, double turnaround_ms) {
  return Round(profile, load, seed, turnaround_ms).Run();
}

Prediction PredictMedian(const Profile& profile, const LoadPoint& load,
                         uint64_t seed, int rounds, double turnaround_ms) {
  std::vector<Prediction> all;
  for (int i = 0; i < rounds; ++i)
    all.push_back(PredictRound(profile, load,
                               DeriveSeed({seed, static_cast<uint64_t>(i)}),
                               turnaround_ms));
  Prediction median;
  for (double Prediction::*field :
       {&Prediction::output_throughput, &Prediction::mean_ttft_ms,
        &Prediction::p50_ttft_ms, &Prediction::mean_tpot_ms,
        &Prediction::p50_itl_ms, &Prediction::mean_e2el_ms}) {
    std::vector<double> values;
    for (const Prediction& p : all) values.push_back(p.*field);
    median.*field = Median(values);
  }
  return median;
}

}  // namespace benchfleet::enginesim
