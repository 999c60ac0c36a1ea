// How enums, seeds and times stand in the database. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

absl::string_view ToText(RoundState state);
absl::string_view ToText(AttemptKind kind);
absl::string_view ToText(AttemptVerdict verdict);
// InvalidArgument for a number that the proto does not name.
absl::StatusOr<std::string> ToText(v1::RunState state);
absl::StatusOr<std::string> ToText(v1::Outcome outcome);
absl::StatusOr<std::string> ToText(v1::TokenCountSource source);

// DataLoss: the text is none of the above.
absl::StatusOr<RoundState> RoundStateOf(absl::string_view text);
absl::StatusOr<AttemptKind> AttemptKindOf(absl::string_view text);
absl::StatusOr<AttemptVerdict> AttemptVerdictOf(absl::string_view text);
absl::StatusOr<v1::RunState> RunStateOf(absl::string_view text);
absl::StatusOr<v1::Outcome> OutcomeOf(absl::string_view text);
absl::StatusOr<v1::TokenCountSource> TokenCountSourceOf(absl::string_view text);
absl::StatusOr<uint64_t> SeedOf(absl::string_view text);

// A time never set (the Unix epoch) is 0.
inline int64_t ToUnixNs(absl::Time time) { return absl::ToUnixNanos(time); }
inline absl::Time FromUnixNs(int64_t ns) { return absl::FromUnixNanos(ns); }

}  // namespace benchfleet
