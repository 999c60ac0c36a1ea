#include "tests/enginesim/http_request.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace benchfleet::enginesim {
namespace {

constexpr size_t kMaxChunkLine = 256;

bool IsTokenChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         absl::StrContains("!#$%&'*+-.^_`|~", absl::string_view(&c, 1));
}

bool IsToken(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenChar);
}

bool IsDecimal(absl::string_view text) {
  return !text.empty() && text.size() <= 18 &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isdigit(static_cast<unsigned char>(c));
         });
}

}  // namespace

absl::string_view HttpRequest::Header(absl::string_view name) const {
  for (const auto& header : headers)
    if (header.first == name) return header.second;
  return "";
}

absl::string_view HttpRequest::Path() const {
  return absl::string_view(target).substr(0, target.find('?'));
}

size_t HttpRequestParser::Feed(absl::string_view data) {
  size_t taken = 0;
  while (taken < data.size() && state_ != State::kDone &&
         state_ != State::kError)
    taken += FeedOnce(data.substr(taken));
  return taken;
}

size_t HttpRequestParser::FeedOnce(absl::string_view data) {
  switch (state_) {
    case State::kHead:
      return FeedHead(data);
    case State::kFixedBody:
    case State::kChunkData:
      return FeedBody(data);
    default:
      return FeedLine(data);
  }
}

bool HttpRequestParser::wants_continue() const {
  return state_ != State::kHead && state_ != State::kDone &&
         state_ != State::kError && request_.body.empty() &&
         absl::EqualsIgnoreCase(request_.Header("expect"), "100-continue");
}

HttpRequest HttpRequestParser::Take() {
  HttpRequest taken = std::move(request_);
  *this = HttpRequestParser(limits_);
  return taken;
}

void HttpRequestParser::Fail(int status) {
  error_status_ = status;
  state_ = State::kError;
}

size_t HttpRequestParser::FeedHead(absl::string_view data) {
  if (head_.empty()) {  // blank lines before a request are skipped
    const size_t skip = data.find_first_not_of("\r\n");
    if (skip != 0) return skip == absl::string_view::npos ? data.size() : skip;
  }
  const size_t before = head_.size();
  const size_t room = limits_.head_bytes + 1 - before;
  absl::string_view piece = data.substr(0, room);
  head_.append(piece.data(), piece.size());
  const size_t end = head_.find("\r\n\r\n", before < 3 ? 0 : before - 3);
  if (end == std::string::npos) {
    if (head_.size() > limits_.head_bytes) Fail(431);
    return piece.size();
  }
  const size_t taken = end + 4 - before;
  head_.resize(end);
  ParseHead(head_);
  return taken;
}

void HttpRequestParser::ParseHead(absl::string_view head) {
  bool first = true;
  for (absl::string_view line : absl::StrSplit(head, "\r\n")) {
    if (first ? !ParseRequestLine(line) : !ParseHeader(line)) {
      if (error_status_ == 0) Fail(400);
      return;
    }
    first = false;
  }
  ChooseBody();
}

bool HttpRequestParser::ParseRequestLine(absl::string_view line) {
  const std::vector<absl::string_view> parts = absl::StrSplit(line, ' ');
  if (parts.size() != 3 || !IsToken(parts[0]) ||
      !absl::StartsWith(parts[1], "/"))
    return false;
  if (parts[2] != "HTTP/1.1" && parts[2] != "HTTP/1.0") {
    Fail(absl::StartsWith(parts[2], "HTTP/") ? 505 : 400);
    return false;
  }
  request_.method = std::string(parts[0]);
  request_.target = std::string(parts[1]);
  http10_ = parts[2] == "HTTP/1.0";
  request_.keep_alive = !http10_;
  return true;
}

bool HttpRequestParser::ParseHeader(absl::string_view line) {
  const size_t colon = line.find(':');
  if (colon == absl::string_view::npos || !IsToken(line.substr(0, colon)))
    return false;
  request_.headers.emplace_back(
      absl::AsciiStrToLower(line.substr(0, colon)),
      std::string(absl::StripAsciiWhitespace(line.substr(colon + 1))));
  return true;
}

// Two framings in one request are how requests get smuggled: refused.
void HttpRequestParser::ChooseBody() {
  const std::string connection =
      absl::AsciiStrToLower(request_.Header("connection"));
  if (connection == "close") request_.keep_alive = false;
  if (connection == "keep-alive") request_.keep_alive = true;
  absl::string_view length;
  absl::string_view coding;
  for (const auto& [name, value] : request_.headers) {
    if (name == "content-length") {
      if (!IsDecimal(value) || (!length.empty() && length != value))
        return Fail(400);
      length = value;
    } else if (name == "transfer-encoding") {
      if (!coding.empty()) return Fail(400);
      coding = value;
    }
  }
  if (!coding.empty()) {
    if (!length.empty() || http10_) return Fail(400);
    if (!absl::EqualsIgnoreCase(coding, "chunked")) return Fail(501);
    state_ = State::kChunkSize;
    return;
  }
  if (!length.empty() && !absl::SimpleAtoi(length, &body_left_))
    return Fail(400);
  if (body_left_ > limits_.body_bytes) return Fail(413);
  state_ = body_left_ == 0 ? State::kDone : State::kFixedBody;
}

size_t HttpRequestParser::FeedBody(absl::string_view data) {
  const absl::string_view piece = data.substr(0, body_left_);
  request_.body.append(piece.data(), piece.size());
  body_left_ -= piece.size();
  if (body_left_ == 0)
    state_ = state_ == State::kFixedBody ? State::kDone : State::kChunkEnd;
  return piece.size();
}

size_t HttpRequestParser::FeedLine(absl::string_view data) {
  const size_t newline = data.find('\n');
  const absl::string_view piece =
      newline == absl::string_view::npos ? data : data.substr(0, newline + 1);
  if (line_.size() + piece.size() > kMaxChunkLine) {
    Fail(400);
    return data.size();
  }
  line_.append(piece.data(), piece.size());
  if (newline != absl::string_view::npos) TakeLine();
  return piece.size();
}

void HttpRequestParser::TakeLine() {
  if (!absl::EndsWith(line_, "\r\n")) return Fail(400);
  line_.resize(line_.size() - 2);
  switch (state_) {
    case State::kChunkSize:
      ParseChunkSize();
      break;
    case State::kChunkEnd:
      if (!line_.empty()) return Fail(400);
      state_ = State::kChunkSize;
      break;
    default:  // a trailer is dropped
      trailer_bytes_ += line_.size() + 2;
      if (trailer_bytes_ > limits_.head_bytes) return Fail(431);
      if (line_.empty()) state_ = State::kDone;
  }
  line_.clear();
}

void HttpRequestParser::ParseChunkSize() {
  const absl::string_view digits = absl::StripTrailingAsciiWhitespace(
      absl::string_view(line_).substr(0, line_.find(';')));
  size_t size = 0;
  if (digits.empty() || digits.size() > 15) return Fail(400);
  for (char c : digits) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) return Fail(400);
    const char lower = absl::ascii_tolower(static_cast<unsigned char>(c));
    size = size * 16 +
           static_cast<size_t>(lower <= '9' ? lower - '0' : lower - 'a' + 10);
  }
  if (size > limits_.body_bytes - request_.body.size()) return Fail(413);
  body_left_ = size;
  state_ = size == 0 ? State::kTrailer : State::kChunkData;
}

}  // namespace benchfleet::enginesim
