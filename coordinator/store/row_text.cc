#include "coordinator/store/row_text.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace benchfleet {
namespace {

template <typename T>
struct Name {
  T value;
  absl::string_view text;
};

constexpr Name<RoundState> kRoundStates[] = {
    {RoundState::kPending, "PENDING"},
    {RoundState::kValid, "VALID"},
    {RoundState::kGivenUp, "GIVEN_UP"}};
constexpr Name<AttemptKind> kAttemptKinds[] = {
    {AttemptKind::kCounted, "COUNTED"}, {AttemptKind::kWarmup, "WARMUP"}};
constexpr Name<AttemptVerdict> kAttemptVerdicts[] = {
    {AttemptVerdict::kOpen, "OPEN"},
    {AttemptVerdict::kValid, "VALID"},
    {AttemptVerdict::kInvalid, "INVALID"},
    {AttemptVerdict::kAborted, "ABORTED"}};

template <typename T, size_t kSize>
absl::string_view TextOf(const Name<T> (&names)[kSize], T value) {
  for (const auto& name : names) {
    if (name.value == value) return name.text;
  }
  return "";
}

absl::Status Unknown(absl::string_view what, absl::string_view text) {
  return absl::DataLossError(
      absl::StrCat("the database holds an unknown ", what, ": ", text));
}

template <typename T, size_t kSize>
absl::StatusOr<T> ValueOf(const Name<T> (&names)[kSize], absl::string_view text,
                          absl::string_view what) {
  for (const auto& name : names) {
    if (name.text == text) return name.value;
  }
  return Unknown(what, text);
}

absl::StatusOr<std::string> ProtoText(const std::string& name,
                                      absl::string_view what, int number) {
  if (!name.empty()) return name;
  return absl::InvalidArgumentError(
      absl::StrCat("unknown ", what, " number ", number));
}

}  // namespace

absl::string_view ToText(RoundState state) {
  return TextOf(kRoundStates, state);
}
absl::string_view ToText(AttemptKind kind) {
  return TextOf(kAttemptKinds, kind);
}
absl::string_view ToText(AttemptVerdict verdict) {
  return TextOf(kAttemptVerdicts, verdict);
}
absl::StatusOr<std::string> ToText(v1::RunState state) {
  return ProtoText(v1::RunState_Name(state), "run state", state);
}
absl::StatusOr<std::string> ToText(v1::Outcome outcome) {
  return ProtoText(v1::Outcome_Name(outcome), "outcome", outcome);
}
absl::StatusOr<std::string> ToText(v1::TokenCountSource source) {
  return ProtoText(v1::TokenCountSource_Name(source), "token count source",
                   source);
}

absl::StatusOr<RoundState> RoundStateOf(absl::string_view text) {
  return ValueOf(kRoundStates, text, "round state");
}
absl::StatusOr<AttemptKind> AttemptKindOf(absl::string_view text) {
  return ValueOf(kAttemptKinds, text, "attempt kind");
}
absl::StatusOr<AttemptVerdict> AttemptVerdictOf(absl::string_view text) {
  return ValueOf(kAttemptVerdicts, text, "attempt verdict");
}
absl::StatusOr<v1::RunState> RunStateOf(absl::string_view text) {
  v1::RunState state = v1::RUN_STATE_UNSPECIFIED;
  if (v1::RunState_Parse(std::string(text), &state)) return state;
  return Unknown("run state", text);
}
absl::StatusOr<v1::Outcome> OutcomeOf(absl::string_view text) {
  v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;
  if (v1::Outcome_Parse(std::string(text), &outcome)) return outcome;
  return Unknown("outcome", text);
}
absl::StatusOr<v1::TokenCountSource> TokenCountSourceOf(
    absl::string_view text) {
  v1::TokenCountSource source = v1::TOKEN_COUNT_SOURCE_UNSPECIFIED;
  if (v1::TokenCountSource_Parse(std::string(text), &source)) return source;
  return Unknown("token count source", text);
}
absl::StatusOr<uint64_t> SeedOf(absl::string_view text) {
  uint64_t seed = 0;
  if (absl::SimpleAtoi(text, &seed)) return seed;
  return Unknown("seed", text);
}

}  // namespace benchfleet
