// Protobuf text format into a message, as far as it goes: every problem is
// reported at its own place, and reading goes on behind it.
//
// protobuf's TextFormat is not used: it stops at the first bad value, gives the
// place of the token behind it, and takes 010, inf and Latin-1.
#pragma once

#include "absl/strings/string_view.h"
#include "coordinator/plan/field_places.h"
#include "coordinator/plan/problem.h"
#include "google/protobuf/message.h"

namespace benchfleet {

// Most values of one repeated field.
inline constexpr int kMaxListLength = 10'000;

// Nesting is bounded by the message's own: unknown blocks are skipped without
// recursion.
void ReadMessage(absl::string_view text, google::protobuf::Message& message,
                 FieldPlaces& places, ProblemList& problems);

}  // namespace benchfleet
