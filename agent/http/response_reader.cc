#include "agent/http/response_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/http/error_text.h"

namespace benchfleet {
namespace {

using Kind = TransportEnd::Kind;

// A key longer than this is not masked where an excerpt cuts it.
constexpr size_t kLongestKey = 4096;
// Arrivals reserved beyond the tokens asked, and at most at once.
constexpr size_t kSpareArrivals = 16;
constexpr size_t kMostReserved = 1 << 16;

// What a broken transport makes of an answer that did not end by itself.
v1::Outcome OutcomeOf(Kind kind) {
  switch (kind) {
    case Kind::kConnect:
      return v1::CONNECT;
    case Kind::kTls:
      return v1::TLS;
    case Kind::kTimeout:
      return v1::TIMEOUT;
    case Kind::kReset:
      return v1::RESET;
    case Kind::kCancelled:
      return v1::CANCELLED;
    case Kind::kOther:
      return v1::MALFORMED;
    case Kind::kOk:
    case Kind::kPartial:
      return v1::TRUNCATED;
  }
  return v1::MALFORMED;
}

bool IsCompression(absl::string_view encoding) {
  for (absl::string_view name : {"gzip", "deflate", "br", "zstd", "compress"}) {
    if (absl::StrContains(absl::AsciiStrToLower(encoding), name)) return true;
  }
  return false;
}

uint64_t Nanoseconds(absl::Duration d) {
  return static_cast<uint64_t>(
      std::max<int64_t>(0, absl::ToInt64Nanoseconds(d)));
}

}  // namespace

void ResponseReader::Reset(const Asked& asked) {
  asked_ = asked;
  sent_ = end_ = {};
  parser_.Reset();
  status_ = 0;
  content_type_.clear();
  content_encoding_.clear();
  head_.clear();
  response_bytes_ = 0;
  first_byte_ = first_choice_ = done_stamp_ = std::nullopt;
  last_bytes_ = {};
  arrivals_.clear();
  arrivals_.reserve(
      std::min(asked.output_tokens + kSpareArrivals, kMostReserved));
  chunk_tokens_.clear();
  tokens_told_ = true;
  tokens_so_far_ = last_content_turn_ = coalesced_ = 0;
  end_chunk_.reset();
  usage_.reset();
  finished_ = cut_event_ = done_ = false;
  outcome_ = v1::OUTCOME_UNSPECIFIED;
  error_.clear();
  transport_ = TransportEnd();
}

void ResponseReader::OnHead(int status, absl::string_view content_type,
                            absl::string_view content_encoding) {
  status_ = status;
  content_type_ = CleanText(content_type, 100);
  content_encoding_ = CleanText(content_encoding, 100);
  if (absl::EqualsIgnoreCase(content_encoding_, "identity")) {
    content_encoding_.clear();
  }
  // Of other names (some servers say "none") the bytes decide.
  if (status_ == 200 && IsCompression(content_encoding_)) {
    Fail(v1::MALFORMED,
         absl::StrCat("the answer has content encoding ", content_encoding_,
                      ", which was not asked for"));
  }
}

void ResponseReader::OnBytes(absl::string_view bytes, Instant stamp,
                             uint64_t turn) {
  if (bytes.empty()) return;
  if (!first_byte_) first_byte_ = stamp;
  last_bytes_ = {stamp, turn};
  response_bytes_ += bytes.size();
  const size_t kept =
      kExcerptBytes + std::min(asked_.key.size() * 2, kLongestKey);
  if (head_.size() < kept) {
    const absl::string_view piece = bytes.substr(0, kept - head_.size());
    head_.append(piece.data(), piece.size());
  }
  if (status_ != 200 || outcome_ != v1::OUTCOME_UNSPECIFIED) return;

  parser_.Push(bytes);
  SseEvent event;
  while (parser_.Next(&event)) OnEvent(event, last_bytes_);
  if (parser_.overflowed() && !done_stamp_) {
    Fail(v1::MALFORMED,
         absl::StrCat("an event over ", SseParser::kMaxEventBytes, " bytes"));
  }
}

void ResponseReader::OnEvent(const SseEvent& event, Arrival arrival) {
  if (done_stamp_ || outcome_ != v1::OUTCOME_UNSPECIFIED) return;
  if (event.has_error_field || event.name == "error") {
    const bool by_field = event.has_error_field && !event.error.empty();
    return Fail(v1::STREAM_ERROR,
                absl::StrCat("error in the stream: ",
                             Quote(by_field ? event.error : event.data)));
  }
  const absl::string_view data = absl::StripAsciiWhitespace(event.data);
  if (data.empty()) return;
  if (data == "[DONE]") {
    done_stamp_ = arrival.stamp;
    return;
  }
  ChunkFacts facts;
  if (!ParseChunk(data, &facts)) {
    // Pings and the like of other kinds need not be JSON.
    if (!event.name.empty() && event.name != "message") return;
    return Fail(v1::MALFORMED,
                absl::StrCat("an event that is no JSON object: ", Quote(data)));
  }
  if (facts.is_error) {
    return Fail(v1::STREAM_ERROR,
                absl::StrCat("error in the stream: ", Quote(data)));
  }
  OnChunk(facts, arrival);
}

void ResponseReader::OnChunk(const ChunkFacts& facts, Arrival arrival) {
  std::optional<uint64_t> tokens_so_far;
  if (facts.usage) {
    usage_ = facts.usage;
    tokens_so_far = facts.usage->completion_tokens;
  }
  if (facts.has_choice && !first_choice_) first_choice_ = arrival.stamp;
  finished_ = finished_ || facts.finished;
  switch (RoleOf(facts, asked_.chat, !arrivals_.empty())) {
    case ChunkRole::kNone:
      return;
    case ChunkRole::kContent:
      end_chunk_.reset();  // output went on, so it was no token
      return AddContent(arrival, tokens_so_far);
    case ChunkRole::kEnd:
      if (!end_chunk_) end_chunk_ = EndChunk{arrival, tokens_so_far};
      return;
  }
}

void ResponseReader::AddContent(Arrival arrival,
                                std::optional<uint64_t> tokens_so_far) {
  if (arrivals_.size() == kMaxContentChunks) {
    return Fail(v1::MALFORMED,
                absl::StrCat("over ", kMaxContentChunks, " content chunks"));
  }
  if (!arrivals_.empty() && arrival.turn == last_content_turn_) ++coalesced_;
  last_content_turn_ = arrival.turn;
  arrivals_.push_back(arrival.stamp);
  NoteTokens(tokens_so_far);
}

void ResponseReader::NoteTokens(std::optional<uint64_t> tokens_so_far) {
  if (!tokens_told_) return;
  if (!tokens_so_far || *tokens_so_far < tokens_so_far_ ||
      *tokens_so_far - tokens_so_far_ > UINT32_MAX) {
    tokens_told_ = false;
    chunk_tokens_.clear();
    return;
  }
  chunk_tokens_.push_back(
      static_cast<uint32_t>(*tokens_so_far - tokens_so_far_));
  tokens_so_far_ = *tokens_so_far;
}

void ResponseReader::Fail(v1::Outcome outcome, std::string error) {
  if (outcome_ != v1::OUTCOME_UNSPECIFIED) return;
  outcome_ = outcome;
  error_ = std::move(error);
}

std::string ResponseReader::Quote(absl::string_view text) const {
  const size_t kept =
      kExcerptBytes + std::min(asked_.key.size() * 2, kLongestKey);
  return Excerpt(text.substr(0, kept), asked_.key);
}

void ResponseReader::OnEnd(const TransportEnd& end, Instant stamp) {
  transport_ = end;
  const bool readable =
      status_ == 200 && outcome_ == v1::OUTCOME_UNSPECIFIED && !done_stamp_;
  if (readable) TakeUnfinished();
  SettleEndChunk();
  end_ = done_stamp_.value_or(stamp);
  if (outcome_ == v1::OUTCOME_UNSPECIFIED) Judge(end);
  done_ = true;
  error_ = Excerpt(error_, asked_.key, kErrorBytes);
}

void ResponseReader::TakeUnfinished() {
  SseEvent event;
  if (!parser_.Unfinished(&event)) return;
  ChunkFacts facts;
  const absl::string_view data = absl::StripAsciiWhitespace(event.data);
  const bool whole = event.has_error_field || event.name == "error" ||
                     data == "[DONE]" || ParseChunk(data, &facts);
  if (whole) {
    OnEvent(event, last_bytes_);
  } else {
    cut_event_ = true;
  }
}

void ResponseReader::SettleEndChunk() {
  if (!end_chunk_ || !usage_ || !usage_->completion_tokens) return;
  if (*usage_->completion_tokens != arrivals_.size() + 1) return;
  const EndChunk end_chunk = *end_chunk_;
  AddContent(end_chunk.arrival, end_chunk.tokens_so_far);
}

void ResponseReader::Judge(const TransportEnd& end) {
  if (status_ == 0) return JudgeWithoutAnswer(end);
  if (status_ != 200) return JudgeStatus();
  if (done_stamp_) return JudgeCleanEnd();
  const bool broken = end.kind != Kind::kOk || cut_event_;
  if (finished_ && !(broken && UsageIsMissing())) return JudgeCleanEnd();
  JudgeUnfinishedStream(end);
}

void ResponseReader::JudgeWithoutAnswer(const TransportEnd& end) {
  const bool closed = end.kind == Kind::kOk || end.kind == Kind::kPartial;
  Fail(closed ? v1::RESET : OutcomeOf(end.kind),
       end.message.empty() ? "the connection ended without an answer"
                           : end.message);
}

void ResponseReader::JudgeStatus() {
  std::string text = absl::StrCat("HTTP ", status_);
  if (!content_type_.empty()) absl::StrAppend(&text, " (", content_type_, ")");
  if (!content_encoding_.empty()) {
    absl::StrAppend(&text, ", body in ", content_encoding_);
  } else if (head_.empty()) {
    absl::StrAppend(&text, ", empty body");
  } else {
    absl::StrAppend(&text, ": ", Quote(head_));
  }
  Fail(v1::HTTP_STATUS, std::move(text));
}

void ResponseReader::JudgeCleanEnd() {
  if (!arrivals_.empty()) {
    outcome_ = v1::COMPLETED;
    return;
  }
  Fail(v1::EMPTY, "the answer ended without a content chunk");
}

void ResponseReader::JudgeUnfinishedStream(const TransportEnd& end) {
  const bool closed = end.kind == Kind::kOk || end.kind == Kind::kPartial;
  if (closed && IsNoEventStream()) {
    return Fail(
        v1::MALFORMED,
        absl::StrCat("no event stream, content type ",
                     content_type_.empty() ? "not given" : content_type_,
                     content_encoding_.empty() ? "" : ", content encoding ",
                     content_encoding_, ": ", Quote(head_)));
  }
  if (end.kind == Kind::kOk && !first_choice_ && !cut_event_) {
    return Fail(v1::EMPTY, "the answer ended without a content chunk");
  }
  if (!closed) {
    return Fail(OutcomeOf(end.kind),
                absl::StrCat(end.message, ", after ", arrivals_.size(),
                             " content chunks"));
  }
  if (finished_ && !cut_event_) {
    return Fail(v1::RESET,
                "the connection ended after finish_reason, before "
                "the usage that was asked for");
  }
  Fail(v1::TRUNCATED,
       absl::StrCat("the answer ended without [DONE] or finish_reason",
                    cut_event_ ? ", within an event" : "", ", after ",
                    arrivals_.size(), " content chunks",
                    end.message.empty() ? "" : "; ", end.message));
}

bool ResponseReader::IsNoEventStream() const {
  if (response_bytes_ == 0 || parser_.saw_field()) return false;
  return !parser_.saw_comment() ||
         !absl::StartsWithIgnoreCase(content_type_, "text/event-stream");
}

bool ResponseReader::UsageIsMissing() const {
  return asked_.include_usage && !(usage_ && usage_->completion_tokens);
}

bool ResponseReader::UsageIsInconsistent() const {
  if (!usage_) return false;
  return usage_->Contradictory() ||
         (usage_->completion_tokens &&
          *usage_->completion_tokens < arrivals_.size());
}

uint64_t ResponseReader::output_tokens() const {
  return usage_ && usage_->completion_tokens ? *usage_->completion_tokens
                                             : arrivals_.size();
}

void ResponseReader::Fill(v1::RequestTiming* timing) const {
  timing->set_outcome(outcome_);
  timing->set_http_status(static_cast<uint32_t>(std::max(0, status_)));
  if (!error_.empty()) timing->set_error(error_);
  timing->set_sent_ns(sent_.ns);
  timing->set_first_byte_ns(first_byte_.value_or(Instant{}).ns);
  timing->set_first_choice_ns(first_choice_.value_or(Instant{}).ns);
  timing->set_last_byte_ns(last_bytes_.stamp.ns);
  // The end of a body that did not end is no done.
  if (done_stamp_) {
    timing->set_done_ns(done_stamp_->ns);
  } else if (transport_.kind == Kind::kOk && status_ != 0) {
    timing->set_done_ns(end_.ns);
  }
  timing->set_end_ns(end_.ns);
  timing->set_dns_ns(Nanoseconds(transport_.dns));
  timing->set_connect_ns(Nanoseconds(transport_.connect));
  timing->set_tls_ns(Nanoseconds(transport_.tls));
  timing->set_response_bytes(response_bytes_);
  FillTokens(timing);
  FillFlags(timing);
}

void ResponseReader::FillTokens(v1::RequestTiming* timing) const {
  auto* deltas = timing->mutable_token_delta_ns();
  deltas->Reserve(static_cast<int>(arrivals_.size()));
  Instant before = sent_;
  for (Instant arrival : arrivals_) {
    deltas->Add(Nanoseconds(arrival - before));
    before = arrival;
  }
  timing->set_coalesced(coalesced_);
  const bool told = tokens_told_ && !chunk_tokens_.empty() &&
                    tokens_so_far_ == output_tokens();
  if (told) {
    timing->mutable_chunk_tokens()->Assign(chunk_tokens_.begin(),
                                           chunk_tokens_.end());
  }
  if (usage_ && usage_->prompt_tokens) {
    timing->set_usage_prompt_tokens(*usage_->prompt_tokens);
  }
  if (arrivals_.empty() && !usage_) return;
  timing->set_output_tokens(output_tokens());
  timing->set_token_count_source(
      usage_ && usage_->completion_tokens ? v1::USAGE : v1::CHUNKS);
}

void ResponseReader::FillFlags(v1::RequestTiming* timing) const {
  if (completed()) {
    if (asked_.output_tokens != 0 && output_tokens() != asked_.output_tokens) {
      timing->add_flags(v1::WRONG_LENGTH);
    }
    if (asked_.input_tokens != 0 && usage_ && usage_->prompt_tokens &&
        *usage_->prompt_tokens != asked_.input_tokens) {
      timing->add_flags(v1::WRONG_INPUT_LENGTH);
    }
    if (UsageIsInconsistent()) timing->add_flags(v1::USAGE_INCONSISTENT);
  }
  if (transport_.new_connection) timing->add_flags(v1::NEW_CONNECTION);
  if (transport_.kind == Kind::kReset && !transport_.new_connection &&
      status_ == 0 && response_bytes_ == 0) {
    timing->add_flags(v1::REUSED_DEAD_CONNECTION);
  }
}

}  // namespace benchfleet
