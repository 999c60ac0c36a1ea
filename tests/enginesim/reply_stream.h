// The bytes of one streamed reply: HTTP chunks of SSE events. Everything that
// stays the same is built once, so that a token costs a few copied bytes.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "tests/enginesim/wire.h"

namespace benchfleet::enginesim {

// The text of the index-th token: a blank and four letters.
std::string TokenText(uint32_t index);

// An HTTP response in full.
std::string HttpReply(Flavour flavour, int status,
                      absl::string_view content_type, absl::string_view body,
                      bool keep_alive);
// The head of a streamed reply.
std::string StreamHead(Flavour flavour, bool keep_alive);

class ReplyStream {
 public:
  explicit ReplyStream(ReplyFacts facts);

  // What is written for a token that is not the last; valid until the next
  // call. The first bears the role chunk of a chat before it.
  absl::string_view Token(uint32_t index);
  std::string LastToken(uint32_t index, absl::string_view finish_reason);
  // All after the last token: end chunks, [DONE], the end of the body.
  std::string End(const ReplyEnd& end) const;
  // An error event in place of a token, and the end of the body.
  std::string ErrorEnd() const;

  const ReplyFacts& facts() const { return facts_; }

 private:
  std::string WithRole(uint32_t index, std::string frame) const;

  const ReplyFacts facts_;
  std::string odd_frame_;
  std::string frame_;  // of a token, but for the word at word_at_
  size_t word_at_ = 0;
};

}  // namespace benchfleet::enginesim
