#include "tests/enginesim/profile.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"

namespace benchfleet::enginesim {
namespace {

struct NumberKey {
  const char* name;
  double Profile::*field;
};

constexpr NumberKey kNumbers[] = {
    {"frontend_ms", &Profile::frontend_ms},
    {"frontend_ms_per_token", &Profile::frontend_ms_per_token},
    {"frontend_spacing_ms", &Profile::frontend_spacing_ms},
    {"prefill_launch_ms", &Profile::prefill_launch_ms},
    {"prefill_ms_per_pair", &Profile::prefill_ms_per_pair},
    {"decode_ms_per_context_token", &Profile::decode_ms_per_context_token},
    {"gather_ms", &Profile::gather_ms},
    {"gather_per_decode", &Profile::gather_per_decode},
    {"gather_per_finished_ms", &Profile::gather_per_finished_ms},
    {"gather_max_ms", &Profile::gather_max_ms},
    {"gather_jitter_ms", &Profile::gather_jitter_ms},
    {"jitter", &Profile::jitter},
};

struct CountKey {
  const char* name;
  uint32_t Profile::*field;
};

constexpr CountKey kCounts[] = {
    {"max_running_requests", &Profile::max_running_requests},
    {"context_window", &Profile::context_window},
    {"chunk_tokens", &Profile::chunk_tokens},
};

struct TableKey {
  const char* name;
  StepTable Profile::*field;
};

constexpr TableKey kTables[] = {
    {"prefill_ms", &Profile::prefill_ms},
    {"decode_ms", &Profile::decode_ms},
};

absl::Status ParseNumber(absl::string_view text, double& out) {
  double value = 0;
  if (!absl::SimpleAtod(text, &value) || !std::isfinite(value)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is no number"));
  }
  out = value;
  return absl::OkStatus();
}

absl::Status ParseTable(absl::string_view text, StepTable& table) {
  table.clear();
  for (absl::string_view entry : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(entry, absl::MaxSplits('=', 1));
    uint32_t size = 0;
    double ms = 0;
    if (!absl::SimpleAtoi(parts.first, &size) || size == 0 ||
        (!table.empty() && size <= table.back().first))
      return absl::InvalidArgumentError(
          "a table is SIZE=MS entries with ascending sizes");
    RETURN_IF_ERROR(ParseNumber(parts.second, ms));
    if (ms <= 0) return absl::InvalidArgumentError("a step's time must be > 0");
    table.emplace_back(size, ms);
  }
  if (table.empty()) return absl::InvalidArgumentError("the table is empty");
  return absl::OkStatus();
}

absl::Status ParseLine(absl::string_view key, absl::string_view value,
                       Profile& profile) {
  for (const TableKey& table : kTables)
    if (key == table.name) return ParseTable(value, profile.*table.field);
  if (key == "scheduling") {
    if (value != "prefill_first" && value != "mixed")
      return absl::InvalidArgumentError("scheduling is prefill_first or mixed");
    profile.scheduling =
        value == "mixed" ? Scheduling::kMixed : Scheduling::kPrefillFirst;
    return absl::OkStatus();
  }
  for (const CountKey& count : kCounts) {
    if (key != count.name) continue;
    if (!absl::SimpleAtoi(value, &(profile.*count.field)) ||
        profile.*count.field == 0)
      return absl::InvalidArgumentError(
          absl::StrCat("\"", value, "\" is no count"));
    return absl::OkStatus();
  }
  double* number = MutableNumber(profile, key);
  if (number == nullptr)
    return absl::InvalidArgumentError(
        absl::StrCat("unknown key \"", key, "\""));
  return ParseNumber(value, *number);
}

absl::Status CheckRanges(const Profile& profile) {
  for (const NumberKey& number : kNumbers) {
    const absl::string_view name = number.name;
    if (profile.*number.field < 0 && name != "gather_ms")
      return absl::InvalidArgumentError(
          absl::StrCat(name, " must not be negative"));
  }
  if (profile.jitter > 0.1)
    return absl::InvalidArgumentError("jitter must be at most 0.1");
  if (profile.chunk_tokens < profile.max_running_requests)
    return absl::InvalidArgumentError(
        "chunk_tokens must not be below max_running_requests");
  return absl::OkStatus();
}

std::string Shortest(double value) {
  for (int digits = 1; digits < 17; ++digits) {
    std::string text = absl::StrFormat("%.*g", digits, value);
    double back = 0;
    if (absl::SimpleAtod(text, &back) && back == value) return text;
  }
  return absl::StrFormat("%.17g", value);
}

}  // namespace

absl::StatusOr<Profile> ParseProfile(absl::string_view text) {
  Profile profile;
  int line_number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const size_t blank = line.find(' ');
    const absl::string_view key = line.substr(0, blank);
    const absl::string_view value =
        blank == absl::string_view::npos
            ? ""
            : absl::StripAsciiWhitespace(line.substr(blank));
    if (absl::Status status = ParseLine(key, value, profile); !status.ok())
      return absl::InvalidArgumentError(
          absl::StrCat("line ", line_number, ": ", status.message()));
  }
  RETURN_IF_ERROR(CheckRanges(profile));
  return profile;
}

absl::StatusOr<Profile> ReadProfile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  const std::string text((std::istreambuf_iterator<char>(file)),
                         std::istreambuf_iterator<char>());
  absl::StatusOr<Profile> profile = ParseProfile(text);
  if (!profile.ok())
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", profile.status().message()));
  return profile;
}

std::string ProfileText(const Profile& profile) {
  std::string text = absl::StrCat(
      "scheduling ",
      profile.scheduling == Scheduling::kMixed ? "mixed" : "prefill_first",
      "\n");
  for (const CountKey& count : kCounts)
    absl::StrAppend(&text, count.name, " ", profile.*count.field, "\n");
  for (const NumberKey& number : kNumbers)
    absl::StrAppend(&text, number.name, " ", Shortest(profile.*number.field),
                    "\n");
  for (const TableKey& table : kTables) {
    absl::StrAppend(&text, table.name);
    for (const auto& [size, ms] : profile.*table.field)
      absl::StrAppend(&text, " ", size, "=", Shortest(ms));
    absl::StrAppend(&text, "\n");
  }
  return text;
}

double* MutableNumber(Profile& profile, absl::string_view key) {
  for (const NumberKey& number : kNumbers)
    if (key == number.name) return &(profile.*number.field);
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(key, absl::MaxSplits('.', 1));
  uint32_t size = 0;
  if (!absl::SimpleAtoi(parts.second, &size)) return nullptr;
  for (const TableKey& table : kTables) {
    if (parts.first != table.name) continue;
    for (auto& entry : profile.*table.field)
      if (entry.first == size) return &entry.second;
  }
  return nullptr;
}

double Interpolate(const StepTable& table, uint32_t size) {
  const auto above = std::lower_bound(
      table.begin(), table.end(), size,
      [](const auto& entry, uint32_t n) { return entry.first < n; });
  if (above == table.begin()) return above->second;
  const auto high = above == table.end() ? table.end() - 1 : above;
  if (high == table.begin()) return high->second;
  const auto low = high - 1;
  const double slope = (high->second - low->second) /
                       static_cast<double>(high->first - low->first);
  return low->second + slope * (size - low->first);
}

}  // namespace benchfleet::enginesim
