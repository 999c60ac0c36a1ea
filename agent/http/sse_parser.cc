#include "agent/http/sse_parser.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/match.h"

namespace benchfleet {
namespace {

constexpr absl::string_view kByteOrderMark = "\xEF\xBB\xBF";
// Buffers above it are given back at Reset.
constexpr size_t kOrdinaryBytes = 32 << 10;

struct Field {
  absl::string_view name;
  absl::string_view value;
};

Field SplitField(absl::string_view line) {
  const size_t colon = line.find(':');
  if (colon == absl::string_view::npos) return {line, {}};
  absl::string_view value = line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  return {line.substr(0, colon), value};
}

bool IsKnown(absl::string_view name) {
  return name == "data" || name == "event" || name == "id" || name == "retry" ||
         name == "error";
}

// What has come of a first line may still become a field.
bool MayBeField(absl::string_view cut_line) {
  if (cut_line.find(':') != absl::string_view::npos) {
    return IsKnown(SplitField(cut_line).name);
  }
  for (absl::string_view name : {"data", "event", "id", "retry", "error"}) {
    if (absl::StartsWith(name, cut_line)) return true;
  }
  return false;
}

void ClearBuffer(std::string& buffer) {
  if (buffer.capacity() > kOrdinaryBytes) {
    std::string().swap(buffer);
  } else {
    buffer.clear();
  }
}

}  // namespace

void SseParser::Push(absl::string_view bytes) {
  input_ = bytes;
  next_lf_ = 0;
  if (mark_bytes_ < 3) SkipByteOrderMark();
}

void SseParser::SkipByteOrderMark() {
  while (mark_bytes_ < 3 && !input_.empty()) {
    if (input_.front() != kByteOrderMark[static_cast<size_t>(mark_bytes_)]) {
      line_.append(kByteOrderMark.data(), static_cast<size_t>(mark_bytes_));
      in_line_ = mark_bytes_ > 0;
      mark_bytes_ = 3;
      return;
    }
    ++mark_bytes_;
    input_.remove_prefix(1);
  }
}

bool SseParser::NextLine(absl::string_view* line, bool* contiguous) {
  if (skip_lf_ && !input_.empty()) {
    skip_lf_ = false;
    if (input_.front() == '\n') {
      input_.remove_prefix(1);
      if (next_lf_ > 0) --next_lf_;
    }
  }
  // The search for LF is not repeated for each line of a stream that ends its
  // lines by CR.
  if (next_lf_ == 0 || next_lf_ > input_.size()) {
    next_lf_ = std::min(input_.find('\n'), input_.size());
  }
  const size_t cr = input_.substr(0, next_lf_).find('\r');
  const size_t end = std::min(cr, next_lf_);
  const bool ended = end < input_.size();
  const absl::string_view piece = input_.substr(0, end);
  *contiguous = !in_line_;
  if (!ended || in_line_) {
    if (line_.size() + piece.size() > kMaxEventBytes) {
      Overflow();
      return false;
    }
    line_.append(piece.data(), piece.size());
    in_line_ = !ended && (in_line_ || !piece.empty());
  }
  *line = *contiguous ? piece : absl::string_view(line_);
  if (ended) skip_lf_ = input_[end] == '\r';
  input_.remove_prefix(ended ? end + 1 : end);
  next_lf_ = next_lf_ > end ? next_lf_ - (ended ? end + 1 : end) : 0;
  return ended;
}

bool SseParser::Next(SseEvent* event) {
  if (dispatched_) ClearEvent();
  absl::string_view line;
  bool contiguous;
  while (!overflowed_ && NextLine(&line, &contiguous)) {
    if (line.empty()) {
      if (Dispatch(event)) return true;
      ClearEvent();
    } else {
      TakeLine(line, contiguous);
    }
    if (!contiguous) line_.clear();
  }
  if (overflowed_) return false;
  if (has_data_ && !data_owned_) {  // the input goes away
    data_.assign(data_view_.data(), data_view_.size());
    data_owned_ = true;
  }
  return false;
}

void SseParser::TakeLine(absl::string_view line, bool contiguous) {
  if (line.size() > kMaxEventBytes) return Overflow();
  const auto [name, value] = SplitField(line);
  saw_field_ = saw_field_ || IsKnown(name);
  saw_comment_ = saw_comment_ || name.empty();
  saw_line_ = true;
  if (name == "data") {
    AddData(value, contiguous);
  } else if (name == "event") {
    name_.assign(value.data(), value.size());
  } else if (name == "error") {
    error_.assign(value.data(), value.size());
    has_error_ = true;
  }
}

void SseParser::AddData(absl::string_view value, bool contiguous) {
  if (!has_data_ && contiguous) {
    data_view_ = value;
    has_data_ = true;
    return;
  }
  if (has_data_ && !data_owned_) {
    data_.assign(data_view_.data(), data_view_.size());
  }
  if (has_data_) data_.push_back('\n');
  data_.append(value.data(), value.size());
  has_data_ = data_owned_ = true;
  if (data_.size() > kMaxEventBytes) Overflow();
}

bool SseParser::Dispatch(SseEvent* event) {
  if (!has_data_ && !has_error_ && name_ != "error") return false;
  event->name = name_;
  event->data = data_owned_ ? absl::string_view(data_) : data_view_;
  event->error = error_;
  event->has_error_field = has_error_;
  dispatched_ = true;
  return true;
}

bool SseParser::Unfinished(SseEvent* event) {
  if (dispatched_) ClearEvent();
  if (overflowed_) return false;
  const bool cut_line = in_line_;
  saw_field_ = saw_field();
  if (cut_line) {
    TakeLine(line_, false);
    in_line_ = false;
  }
  *event = SseEvent();
  return Dispatch(event) || cut_line || !name_.empty();
}

bool SseParser::saw_field() const {
  return saw_field_ || (in_line_ && !saw_line_ && MayBeField(line_));
}

void SseParser::ClearEvent() {
  name_.clear();
  data_.clear();
  error_.clear();
  data_view_ = {};
  has_data_ = data_owned_ = has_error_ = dispatched_ = false;
  if (!in_line_) line_.clear();
}

void SseParser::Overflow() {
  overflowed_ = true;
  input_ = {};
}

void SseParser::Reset() {
  in_line_ = skip_lf_ = overflowed_ = false;
  saw_line_ = saw_field_ = saw_comment_ = false;
  mark_bytes_ = 0;
  input_ = {};
  next_lf_ = 0;
  ClearEvent();
  ClearBuffer(line_);
  ClearBuffer(name_);
  ClearBuffer(data_);
  ClearBuffer(error_);
}

}  // namespace benchfleet
