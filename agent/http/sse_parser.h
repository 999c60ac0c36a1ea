// Incremental parser of an event stream (WHATWG "text/event-stream"): bytes in
// as they come, events out. Any split of the bytes gives the same events.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace benchfleet {

// Views live until the next call of the parser.
struct SseEvent {
  absl::string_view name;  // "" means "message"
  absl::string_view data;  // its lines joined by LF
  // Value of a field `error`, which is not in the standard: older llama.cpp
  // servers sent their errors so.
  absl::string_view error;
  bool has_error_field = false;
};

//   parser.Push(bytes);
//   while (parser.Next(&event)) ...
//   at the end of the body: if (parser.Unfinished(&event)) ...
//
// Thread-compatible. An event that lies whole in one Push is handed out without
// a copy.
class SseParser {
 public:
  // Of one event's data, and of one line. What is larger ends the parsing.
  static constexpr size_t kMaxEventBytes = size_t{8} << 20;

  // `bytes` must stay until Next has returned false.
  // REQUIRES: Next has returned false since the last Push.
  void Push(absl::string_view bytes);
  // False: needs more bytes. An event without data is none, except an error.
  bool Next(SseEvent* event);

  // At the end of the body: what has come of an event whose blank line has
  // not. By the standard it is none; some engines leave the last blank line
  // out. False: nothing is left over.
  bool Unfinished(SseEvent* event);

  // Some line was a field of the standard, so this is an event stream.
  bool saw_field() const;
  // Some line was a comment, which happens in other texts too.
  bool saw_comment() const { return saw_comment_; }
  // An event was over kMaxEventBytes; no more come.
  bool overflowed() const { return overflowed_; }
  // Back to the start, keeping buffers of ordinary size.
  void Reset();

 private:
  void SkipByteOrderMark();
  // Takes the next line from input_; false if its end has not come. Then the
  // piece is kept in line_.
  bool NextLine(absl::string_view* line, bool* contiguous);
  void TakeLine(absl::string_view line, bool contiguous);
  void AddData(absl::string_view value, bool contiguous);
  // The event at its blank line; false if it is none.
  bool Dispatch(SseEvent* event);
  void ClearEvent();
  void Overflow();

  absl::string_view input_;
  size_t next_lf_ = 0;  // in input_: no LF lies before it

  std::string line_;  // of a line whose end has not come
  bool in_line_ = false;
  bool skip_lf_ = false;  // the last line ended by CR
  int mark_bytes_ = 0;    // of the byte order mark so far; 3: past it
  bool saw_line_ = false;
  bool saw_field_ = false;
  bool saw_comment_ = false;
  bool overflowed_ = false;
  bool dispatched_ = false;  // the last event's views are still out

  std::string name_;
  std::string data_;             // once it must be kept or joined
  absl::string_view data_view_;  // into input_, while that is enough
  bool has_data_ = false;
  bool data_owned_ = false;
  std::string error_;
  bool has_error_ = false;
};

}  // namespace benchfleet
