#include "tests/enginesim/reply_stream.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tests/enginesim/wire_error.h"

namespace benchfleet::enginesim {
namespace {

constexpr const char* kWords[] = {
    "able", "bear", "cold", "dust", "east", "fire", "gold", "hill",
    "iron", "jade", "keel", "lamp", "moon", "nest", "oaks", "pine"};
// All as long, and the first two differ in their first letter.
constexpr size_t kWordBytes = 4;

const char* Word(uint32_t index) { return kWords[index % 16]; }

std::string Event(absl::string_view json) {
  const std::string event = absl::StrCat("data: ", json, "\n\n");
  return absl::StrCat(absl::Hex(event.size()), "\r\n", event, "\r\n");
}

absl::string_view Reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Internal Server Error";
  }
}

std::string Head(Flavour flavour, int status, absl::string_view content_type,
                 absl::string_view framing, bool keep_alive) {
  const bool llamacpp = flavour == Flavour::kLlamacpp;
  return absl::StrCat(
      "HTTP/1.1 ", status, " ", Reason(status), "\r\n",
      llamacpp ? "Server: llama.cpp" : "server: uvicorn",
      llamacpp ? "\r\nContent-Type: " : "\r\ncontent-type: ", content_type,
      "\r\n", framing, keep_alive ? "" : "connection: close\r\n", "\r\n");
}

}  // namespace

std::string TokenText(uint32_t index) { return absl::StrCat(" ", Word(index)); }

std::string HttpReply(Flavour flavour, int status,
                      absl::string_view content_type, absl::string_view body,
                      bool keep_alive) {
  const std::string length =
      absl::StrCat("content-length: ", body.size(), "\r\n");
  return absl::StrCat(Head(flavour, status, content_type, length, keep_alive),
                      body);
}

std::string StreamHead(Flavour flavour, bool keep_alive) {
  return Head(flavour, 200,
              flavour == Flavour::kLlamacpp
                  ? "text/event-stream"
                  : "text/event-stream; charset=utf-8",
              "transfer-encoding: chunked\r\n", keep_alive);
}

ReplyStream::ReplyStream(ReplyFacts facts) : facts_(std::move(facts)) {
  // Where two words make the frames differ is where words go.
  frame_ = Event(ContentChunk(facts_, TokenText(0), 1, ""));
  const std::string other = Event(ContentChunk(facts_, TokenText(1), 1, ""));
  word_at_ = static_cast<size_t>(
      std::mismatch(frame_.begin(), frame_.end(), other.begin()).first -
      frame_.begin());
}

std::string ReplyStream::WithRole(uint32_t index, std::string frame) const {
  if (index != 0 || !facts_.chat) return frame;
  return Event(RoleChunk(facts_)) + frame;
}

absl::string_view ReplyStream::Token(uint32_t index) {
  // A first chat token and a running usage make frames of other lengths.
  if (facts_.continuous_usage || (index == 0 && facts_.chat)) {
    odd_frame_ = WithRole(
        index, Event(ContentChunk(facts_, TokenText(index), index + 1, "")));
    return odd_frame_;
  }
  std::memcpy(&frame_[word_at_], Word(index), kWordBytes);
  return frame_;
}

std::string ReplyStream::LastToken(uint32_t index,
                                   absl::string_view finish_reason) {
  return WithRole(index, Event(ContentChunk(facts_, TokenText(index), index + 1,
                                            finish_reason)));
}

std::string ReplyStream::End(const ReplyEnd& end) const {
  std::string bytes;
  for (const std::string& chunk : EndChunks(facts_, end)) bytes += Event(chunk);
  return bytes + Event("[DONE]") + "0\r\n\r\n";
}

std::string ReplyStream::ErrorEnd() const {
  std::string bytes = Event(StreamErrorEvent(facts_.flavour));
  // llama.cpp ends a failed stream without the marker.
  if (facts_.flavour != Flavour::kLlamacpp) bytes += Event("[DONE]");
  return bytes + "0\r\n\r\n";
}

}  // namespace benchfleet::enginesim
