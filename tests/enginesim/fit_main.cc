// enginesim_fit: adjusts a profile until the model's closed loop predicts the
// measured medians: random steps of the named numbers, then coordinate
// descent. For instance, from the source root:
//
//   enginesim_fit --engine=vllm --tries=2000
//     --reference=tests/enginesim/tests/testdata/reference_medians.txt
//     --profile=tests/enginesim/profiles/vllm-minimax-m3-h20.profile
//     --keys=frontend_ms,frontend_spacing_ms,decode_ms.8
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "common/flags.h"
#include "common/random.h"
#include "tests/enginesim/closed_loop.h"
#include "tests/enginesim/profile.h"
#include "tests/enginesim/reference_table.h"

namespace benchfleet::enginesim {
namespace {

constexpr int kRounds = 3;
// A client needs some time between two requests, and at a time scale it needs
// more of the modelled time: the fit should not hang on either.
constexpr double kTurnaroundsMs[] = {2, 4};

double ErrorAt(const Profile& profile, const std::vector<ReferenceRow>& rows,
               double turnaround_ms) {
  double sum = 0;
  for (const ReferenceRow& row : rows) {
    const Prediction predicted =
        PredictMedian(profile, row.load, 1, kRounds, turnaround_ms);
    for (const Figure& figure : Figures()) {
      const double off =
          std::log(predicted.*figure.field / (row.measured.*figure.field));
      sum += figure.weight * off * off;
    }
  }
  return sum;
}

double Error(const Profile& profile, const std::vector<ReferenceRow>& rows) {
  double sum = 0;
  for (double turnaround_ms : kTurnaroundsMs)
    sum += ErrorAt(profile, rows, turnaround_ms);
  return sum;
}

// Moves some keys by up to +-25 % and keeps what is better.
void Wander(const Clock& clock, Instant until, Profile& profile,
            const std::vector<ReferenceRow>& rows,
            const std::vector<std::string>& keys, uint64_t tries, uint64_t seed,
            double& error) {
  Random random(seed);
  for (uint64_t i = 0; i < tries && clock.Now() < until; ++i) {
    Profile moved = profile;
    for (const std::string& key : keys) {
      if (random.Below(3) != 0) continue;
      const double step = static_cast<double>(random.Below(1001)) / 2000 - 0.25;
      *MutableNumber(moved, key) *= std::exp(step);
    }
    const double now = Error(moved, rows);
    if (now >= error) continue;
    error = now;
    profile = moved;
  }
}

// One pass over the keys; true if anything got better.
bool Improve(Profile& profile, const std::vector<ReferenceRow>& rows,
             const std::vector<std::string>& keys, double step, double& error) {
  bool better = false;
  for (const std::string& key : keys) {
    double* number = MutableNumber(profile, key);
    for (const double factor : {1 + step, 1 / (1 + step)}) {
      const double before = *number;
      *number = before * factor;
      const double now = Error(profile, rows);
      if (now < error) {
        error = now;
        better = true;
        break;
      }
      *number = before;
    }
  }
  return better;
}

int Main(int argc, char** argv) {
  uint64_t tries = 0, seconds = 600, seed = 1;
  std::string reference_path, engine, profile_path, keys_text;
  FlagSet flags("enginesim_fit [flags]",
                "Fits a profile to measured medians; prints it.");
  flags.String("reference", &reference_path, "table of measured medians");
  flags.String("engine", &engine, "which rows of it");
  flags.String("profile", &profile_path, "where to start");
  flags.String("keys", &keys_text, "numbers to adjust, by comma; none: report");
  flags.Uint("tries", &tries, "random steps");
  flags.Uint("seconds", &seconds, "stop after about that long", 86400);
  flags.Uint("seed", &seed, "of the random steps");
  const auto arguments = flags.Parse(argc, argv);
  if (flags.help_asked()) return std::puts(flags.Help().c_str()), 0;
  std::ifstream file(reference_path);
  const std::string text((std::istreambuf_iterator<char>(file)),
                         std::istreambuf_iterator<char>());
  auto table = ParseReferenceTable(text);
  auto profile = ReadProfile(profile_path);
  for (const absl::Status& status :
       {arguments.status(), table.status(), profile.status()})
    if (!status.ok())
      return std::fprintf(stderr, "%s\n", status.ToString().c_str()), 2;
  std::vector<ReferenceRow> rows;
  for (const ReferenceRow& row : *table)
    if (row.engine == engine) rows.push_back(row);
  const std::vector<std::string> keys =
      absl::StrSplit(keys_text, ',', absl::SkipEmpty());
  for (const std::string& key : keys)
    if (MutableNumber(*profile, key) == nullptr)
      return std::fprintf(stderr, "no key %s\n", key.c_str()), 2;

  double error = Error(*profile, rows);
  std::fprintf(stderr, "error %.5f\n", error);
  const RealClock clock;
  const Instant until =
      clock.Now() + absl::Seconds(static_cast<int64_t>(seconds));
  Wander(clock, until, *profile, rows, keys, keys.empty() ? 0 : tries, seed,
         error);
  for (double step : {0.1, 0.03, 0.01, 0.003, 0.001})
    for (int pass = 0; pass < 20 && clock.Now() < until; ++pass)
      if (!Improve(*profile, rows, keys, step, error)) break;
  std::fprintf(stderr, "error %.5f\n%s\n", error, ComparisonHeader().c_str());
  for (double turnaround_ms : kTurnaroundsMs)
    for (const ReferenceRow& row : rows)
      std::fprintf(stderr, "%s\n",
                   ComparisonLine(row, PredictMedian(*profile, row.load, 1,
                                                     kRounds, turnaround_ms))
                       .c_str());
  // More digits than the data has would only look precise.
  for (const std::string& key : keys) {
    double* number = MutableNumber(*profile, key);
    (void)absl::SimpleAtod(absl::StrFormat("%.4g", *number), number);
  }
  std::fputs(ProfileText(*profile).c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace benchfleet::enginesim

int main(int argc, char** argv) {
  return benchfleet::enginesim::Main(argc, argv);
}
