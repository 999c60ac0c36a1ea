#include "tests/bench/paced_source.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"

namespace benchfleet::bench {
namespace {

constexpr absl::string_view kHead =
    "HTTP/1.1 200 OK\r\nserver: paced\r\n"
    "content-type: text/event-stream; charset=utf-8\r\n"
    "transfer-encoding: chunked\r\n\r\n";
constexpr absl::string_view kModels =
    "{\"object\":\"list\",\"data\":[{\"id\":\"m\",\"object\":\"model\"}]}";

std::string Frame(absl::string_view data) {
  return absl::StrFormat("%x\r\ndata: %s\n\n\r\n", data.size() + 8, data);
}

std::string Chunk(absl::string_view choices, absl::string_view usage) {
  return Frame(absl::StrCat(
      "{\"id\":\"cmpl-7d0e3a1f5b2c4e6f8a9b0c1d2e3f4a5b\",\"object\":"
      "\"text_completion\",\"created\":1764600000,\"model\":\"m\",\"choices\":",
      choices, ",\"usage\":", usage, "}"));
}

const std::string& TokenFrame() {
  static const std::string frame = Chunk(
      "[{\"index\":0,\"text\":\" token\",\"logprobs\":null,"
      "\"finish_reason\":null,\"stop_reason\":null}]",
      "null");
  return frame;
}

std::string LastFrames(uint64_t tokens) {
  return absl::StrCat(
      Chunk("[{\"index\":0,\"text\":\" token\",\"logprobs\":null,"
            "\"finish_reason\":\"length\",\"stop_reason\":null}]",
            "null"),
      Chunk("[]", absl::StrCat("{\"prompt_tokens\":32,\"completion_tokens\":",
                               tokens, ",\"total_tokens\":", 32 + tokens, "}")),
      Frame("[DONE]"), "0\r\n\r\n");
}

// Value of a header line of `head`, whose names are in lower case or as given.
absl::string_view Header(absl::string_view head, absl::string_view name) {
  for (size_t at = head.find('\n'); at != absl::string_view::npos;
       at = head.find('\n', at + 1)) {
    const absl::string_view line = head.substr(at + 1);
    if (!absl::StartsWithIgnoreCase(line, name)) continue;
    const size_t end = line.find('\r');
    return line.substr(name.size() + 2, end - name.size() - 2);
  }
  return {};
}

uint64_t MaxTokens(absl::string_view body) {
  constexpr absl::string_view kKey = "\"max_tokens\":";
  const size_t at = body.find(kKey);
  if (at == absl::string_view::npos) return 16;
  uint64_t tokens = 0;
  size_t i = at + kKey.size();
  while (i < body.size() && body[i] == ' ') ++i;
  for (; i < body.size() && body[i] >= '0' && body[i] <= '9'; ++i) {
    tokens = tokens * 10 + static_cast<uint64_t>(body[i] - '0');
  }
  return std::max<uint64_t>(1, tokens);
}

}  // namespace

absl::StatusOr<std::unique_ptr<PacedSource>> PacedSource::Create(
    const SourceOptions& options, const Clock& clock) {
  std::unique_ptr<PacedSource> source(new PacedSource(options, clock));
  RETURN_IF_ERROR(source->Init());
  return source;
}

PacedSource::~PacedSource() {
  for (Stream& stream : streams_) {
    if (stream.fd >= 0) close(stream.fd);
  }
  for (int fd : {listener_, epoll_, timer_, signals_}) {
    if (fd >= 0) close(fd);
  }
}

absl::Status PacedSource::Init() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  signals_ = signalfd(-1, &ends, SFD_NONBLOCK | SFD_CLOEXEC);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || epoll_ < 0 || timer_ < 0 || signals_ < 0 ||
      bind(listener_, any, size) != 0 || listen(listener_, 4096) != 0 ||
      getsockname(listener_, any, &size) != 0) {
    return absl::ErrnoToStatus(errno, "cannot listen on 127.0.0.1");
  }
  port_ = ntohs(address.sin_port);
  for (int fd : {listener_, timer_, signals_}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
  return absl::OkStatus();
}

void PacedSource::Watch(int fd, Stream* stream, bool write, bool add) {
  epoll_event event{};
  event.events = EPOLLIN | (write ? uint32_t{EPOLLOUT} : 0u);
  event.data.ptr = stream;
  epoll_ctl(epoll_, add ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
}

void PacedSource::Run() {
  std::array<epoll_event, 512> events;
  while (!stop_) {
    Arm();
    const int n = epoll_wait(epoll_, events.data(), events.size(),
                             unpaced_.empty() ? -1 : 0);
    for (int i = 0; i < n; ++i) {
      const epoll_event& event = events[static_cast<size_t>(i)];
      // A pointer is never as small as a descriptor.
      if (event.data.u64 < (1u << 20)) {
        uint64_t expired;
        if (event.data.fd == listener_) Accept();
        if (event.data.fd == timer_ && read(timer_, &expired, 8) == 8) {
          armed_ = {};
        }
        stop_ |= event.data.fd == signals_;
        continue;
      }
      auto& stream = *static_cast<Stream*>(event.data.ptr);
      if (stream.fd < 0) continue;
      if ((event.events & EPOLLOUT) != 0) Flush(stream);
      if (stream.fd >= 0 && (event.events & ~uint32_t{EPOLLOUT}) != 0) {
        Read(stream);
      }
    }
    RunDue();
    RunUnpaced();
  }
}

void PacedSource::Accept() {
  while (true) {
    const int fd =
        accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (unused_.empty()) unused_.push_back(&streams_.emplace_back());
    Stream& stream = *unused_.back();
    unused_.pop_back();
    stream.fd = fd;
    stream.serial = ++connections_;
    stream.left = 0;
    stream.close_after = false;
    stream.in.clear();
    stream.unsent.clear();
    Watch(fd, &stream, false, true);
  }
}

void PacedSource::Read(Stream& stream) {
  char buffer[65536];
  const ssize_t n = recv(stream.fd, buffer, sizeof(buffer), 0);
  if (n == 0 || (n < 0 && errno != EAGAIN)) return Drop(stream);
  if (n < 0) return;
  stream.in.append(buffer, static_cast<size_t>(n));
  const size_t head_end = stream.in.find("\r\n\r\n");
  if (head_end == std::string::npos) return;
  const absl::string_view head(stream.in.data(), head_end + 2);
  size_t length = 0;
  if (!absl::SimpleAtoi(Header(head, "content-length"), &length)) length = 0;
  if (stream.in.size() < head_end + 4 + length) return;
  Serve(stream, head, absl::string_view(stream.in).substr(head_end + 4));
  stream.in.clear();
}

void PacedSource::Serve(Stream& stream, absl::string_view head,
                        absl::string_view body) {
  stream.close_after =
      absl::EqualsIgnoreCase(Header(head, "connection"), "close");
  if (absl::StartsWith(head, "POST ")) return StartStream(stream, head, body);
  Send(stream, absl::StrCat("HTTP/1.1 200 OK\r\ncontent-type: "
                            "application/json\r\ncontent-length: ",
                            kModels.size(), "\r\n\r\n", kModels));
}

void PacedSource::StartStream(Stream& stream, absl::string_view head,
                              absl::string_view body) {
  const Instant arrival = clock_.Now();
  stream.left = stream.asked = MaxTokens(body);
  stream.head_due = true;
  stream.truth = nullptr;
  if (options_.keep_truth) {
    stream.truth = &truth_.emplace_back();
    stream.truth->id = std::string(Header(head, "x-request-id"));
    stream.truth->arrival = arrival;
    stream.truth->tokens.reserve(stream.left);
  }
  if (options_.interval == absl::ZeroDuration() &&
      options_.ttft == absl::ZeroDuration()) {
    if (stream.left == 1) return SendTokens(stream, 1);
    unpaced_.push_back({arrival, &stream, stream.serial});
    return;
  }
  const Due due = {FirstDue(arrival), &stream, stream.serial};
  const auto later = [](const Due& a, const Due& b) { return a.at < b.at; };
  first_tokens_.insert(
      std::upper_bound(first_tokens_.begin(), first_tokens_.end(), due, later),
      due);
}

Instant PacedSource::FirstDue(Instant arrival) {
  Instant at = arrival + options_.ttft;
  if (options_.spread) {
    const double turns = 0.6180339887 * static_cast<double>(++requests_);
    at = at + options_.interval *
                  (turns - static_cast<double>(static_cast<int64_t>(turns)));
  }
  if (options_.lockstep) {
    const int64_t step = absl::ToInt64Nanoseconds(options_.interval);
    at.ns = (at.ns + step - 1) / step * step;
  }
  return at;
}

void PacedSource::SendTokens(Stream& stream, uint64_t count) {
  count = std::min(count, stream.left);
  bytes_.clear();
  if (stream.head_due) absl::StrAppend(&bytes_, kHead);
  stream.head_due = false;
  const bool last = count == stream.left;
  const Instant now = options_.keep_truth ? clock_.Now() : Instant();
  for (uint64_t i = 0; i < count; ++i) {
    if (stream.truth != nullptr) stream.truth->tokens.push_back(now);
    if (i + 1 < count || !last) bytes_ += TokenFrame();
  }
  stream.left -= count;
  tokens_sent_ += count;
  if (last) bytes_ += LastFrames(stream.asked);
  Send(stream, bytes_);
  if (last) EndAnswer(stream);
}

void PacedSource::EndAnswer(Stream& stream) {
  if (!stream.close_after || stream.fd < 0) return;
  if (stream.unsent.empty()) Drop(stream);
}

void PacedSource::Send(Stream& stream, absl::string_view bytes) {
  if (!stream.unsent.empty()) {
    stream.unsent.append(bytes.data(), bytes.size());
    return;
  }
  const ssize_t n =
      send(stream.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n < 0 && errno != EAGAIN) return Drop(stream);
  const size_t sent = n < 0 ? 0 : static_cast<size_t>(n);
  if (sent == bytes.size()) return;
  stream.unsent.assign(bytes.data() + sent, bytes.size() - sent);
  Watch(stream.fd, &stream, true, false);
}

void PacedSource::Flush(Stream& stream) {
  const std::string bytes = std::move(stream.unsent);
  stream.unsent.clear();
  Send(stream, bytes);
  if (stream.fd < 0 || !stream.unsent.empty()) return;
  Watch(stream.fd, &stream, false, false);
  if (stream.left == 0) return EndAnswer(stream);
  if (options_.interval == absl::ZeroDuration()) {
    unpaced_.push_back({{}, &stream, stream.serial});
  }
}

void PacedSource::Drop(Stream& stream) {
  close(stream.fd);
  stream.fd = -1;
  stream.serial = 0;
  unused_.push_back(&stream);
}

void PacedSource::RunDue() {
  const Instant now = clock_.Now();
  while (true) {
    const bool first = !first_tokens_.empty() &&
                       (next_tokens_.empty() ||
                        first_tokens_.front().at <= next_tokens_.front().at);
    std::deque<Due>& queue = first ? first_tokens_ : next_tokens_;
    if (queue.empty() || queue.front().at > now) return;
    const Due due = queue.front();
    queue.pop_front();
    if (due.stream->serial != due.serial) continue;
    SendTokens(*due.stream, 1);
    if (due.stream->serial != due.serial || due.stream->left == 0) continue;
    next_tokens_.push_back(
        {due.at + options_.interval, due.stream, due.serial});
  }
}

void PacedSource::RunUnpaced() {
  for (size_t i = unpaced_.size(); i > 0; --i) {
    const Due due = unpaced_.front();
    unpaced_.pop_front();
    Stream& stream = *due.stream;
    if (stream.serial != due.serial) continue;
    SendTokens(stream, options_.burst);
    if (stream.serial == due.serial && stream.left > 0 &&
        stream.unsent.empty()) {
      unpaced_.push_back(due);
    }
  }
}

void PacedSource::Arm() {
  Instant at;
  for (const auto* queue : {&first_tokens_, &next_tokens_}) {
    if (queue->empty()) continue;
    if (at.ns == 0 || queue->front().at < at) at = queue->front().at;
  }
  if (at.ns == 0 || at == armed_) return;
  constexpr int64_t kSecond = 1'000'000'000;
  itimerspec when{};
  when.it_value.tv_sec = at.ns / kSecond;
  when.it_value.tv_nsec = at.ns % kSecond;
  timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);
  armed_ = at;
}

}  // namespace benchfleet::bench
