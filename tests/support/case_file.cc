#include "tests/support/case_file.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace benchfleet {
namespace {

using simdjson::dom::element;

absl::string_view View(std::string_view text) {
  return {text.data(), text.size()};
}

std::string Text(element object, const char* key, const char* otherwise = "") {
  std::string_view value;
  if (object[key].get(value) != simdjson::SUCCESS) return otherwise;
  return std::string(value);
}

double Number(element object, const char* key, double otherwise = 0) {
  double value;
  return object[key].get(value) == simdjson::SUCCESS ? value : otherwise;
}

std::optional<double> MaybeNumber(element object, const char* key) {
  double value;
  if (object[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

std::optional<uint64_t> MaybeCount(element object, const char* key) {
  uint64_t value;
  if (object[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

std::vector<element> Elements(element object, const char* key) {
  std::vector<element> all;
  simdjson::dom::array array;
  if (object[key].get(array) != simdjson::SUCCESS) return all;
  for (element e : array) all.push_back(e);
  return all;
}

std::vector<std::string> Texts(element object, const char* key) {
  std::vector<std::string> all;
  for (element e : Elements(object, key)) {
    std::string_view text;
    if (e.get(text) == simdjson::SUCCESS) all.emplace_back(text);
  }
  return all;
}

std::string Payload(element write) {
  std::string data;
  if (element events; write["events"].get(events) == simdjson::SUCCESS) {
    for (element event : Elements(write, "events")) {
      std::string_view text;
      const bool plain = event.get(text) == simdjson::SUCCESS;
      absl::StrAppend(
          &data, "data: ", plain ? std::string(text) : simdjson::minify(event),
          "\n\n");
    }
  } else if (std::string_view text;
             write["base64"].get(text) == simdjson::SUCCESS) {
    absl::Base64Unescape(View(text), &data);
  } else {
    data = Text(write, "text");
  }
  std::string repeated;
  for (int i = 0; i < Number(write, "repeat", 1); ++i) repeated += data;
  // Nobody here unpacks it, so its magic will do.
  if (bool gzip; write["gzip"].get(gzip) == simdjson::SUCCESS && gzip) {
    return "\x1f\x8b\x08" + repeated;
  }
  return repeated;
}

void AddSends(element write, std::string* held, CasePlay* play) {
  const std::string data = Payload(write);
  const double at = Number(write, "at_ms");
  const double step = Number(write, "bytewise", 0);
  const size_t piece = step > 0 ? 1 : std::max<size_t>(1, data.size());
  for (size_t i = 0; i < data.size(); i += piece) {
    absl::StrAppend(held, data.substr(i, piece));
    if (bool more; write["more"].get(more) == simdjson::SUCCESS && more)
      continue;
    play->sends.push_back(
        {at + static_cast<double>(i) * step, std::move(*held)});
    held->clear();
  }
}

void ReadHead(const std::string& head, CasePlay* play) {
  if (head.empty()) return;
  play->status = std::atoi(head.c_str() + 9);
  const auto value = [&](absl::string_view name) -> std::string {
    const std::string lower = absl::AsciiStrToLower(head);
    const size_t at = lower.find(absl::StrCat("\r\n", name, ": "));
    if (at == std::string::npos) return "";
    const size_t start = at + name.size() + 4;
    return head.substr(start, head.find('\r', start) - start);
  };
  play->content_type = value("content-type");
  play->content_encoding = value("content-encoding");
  play->chunked = value("transfer-encoding") == "chunked";
}

CasePlay ReadPlay(element object) {
  CasePlay play;
  ReadHead(Text(object, "head",
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                "Transfer-Encoding: chunked\r\n\r\n"),
           &play);
  play.end = Text(object, "end", "keep");
  play.end_after_ms = Number(object, "end_after_ms", 50);
  std::string held;
  for (element write : Elements(object, "writes")) {
    AddSends(write, &held, &play);
  }
  return play;
}

CaseExpectation ReadExpectation(element object) {
  CaseExpectation expect;
  if (element each; object["each_completed"].get(each) == simdjson::SUCCESS) {
    object = each;
  }
  expect.outcome = Text(object, "outcome");
  expect.content_chunks = MaybeCount(object, "content_chunks");
  expect.output_tokens = MaybeCount(object, "output_tokens");
  expect.token_count_source = Text(object, "token_count_source");
  expect.ttft_ms = MaybeNumber(object, "ttft_ms");
  expect.e2el_ms = MaybeNumber(object, "e2el_ms");
  expect.tpot_ms = MaybeNumber(object, "tpot_ms");
  expect.first_choice_ms = MaybeNumber(object, "first_choice_ms");
  expect.done_ms = MaybeNumber(object, "done_ms");
  for (element e : Elements(object, "itl_ms")) {
    double ms = 0;
    [[maybe_unused]] const auto error = e.get(ms);
    expect.itl_ms.push_back(ms);
  }
  for (element e : Elements(object, "tokens_of_chunks")) {
    uint64_t n = 0;
    [[maybe_unused]] const auto error = e.get(n);
    expect.tokens_of_chunks.push_back(static_cast<uint32_t>(n));
  }
  expect.flags = Texts(object, "flags");
  expect.flags_may = Texts(object, "flags_may");
  expect.coalesced = static_cast<uint32_t>(Number(object, "coalesced"));
  expect.message_contains = Text(object, "message_contains");
  expect.outcome_if_usage_not_asked =
      Text(object, "outcome_if_usage_not_asked");
  expect.tolerance_ms = Number(object, "tolerance_ms", 10);
  return expect;
}

Case ReadCase(element object) {
  Case c;
  c.id = Text(object, "id");
  c.chat = Text(object, "endpoint") == "chat";
  element asked;
  if (object["asked"].get(asked) == simdjson::SUCCESS) {
    c.input_tokens = static_cast<uint32_t>(Number(asked, "input_tokens"));
    c.output_tokens = static_cast<uint32_t>(Number(asked, "output_tokens"));
    c.requests = static_cast<uint32_t>(Number(asked, "requests", 1));
    c.concurrency = static_cast<uint32_t>(Number(asked, "concurrency", 1));
  }
  for (element play : Elements(object, "plays")) {
    c.plays.push_back(ReadPlay(play));
  }
  if (c.plays.empty()) c.plays.push_back(ReadPlay(object));
  if (element expect; object["expect"].get(expect) == simdjson::SUCCESS) {
    c.expect = ReadExpectation(expect);
  }
  return c;
}

// Flags that the cases speak of; `stream_buffered` is a rule's, not a
// request's.
std::vector<std::string> FlagsOf(const v1::RequestTiming& timing) {
  std::vector<std::string> flags;
  for (int flag : timing.flags()) {
    if (flag == v1::NEW_CONNECTION || flag == v1::REUSED_DEAD_CONNECTION) {
      continue;
    }
    flags.push_back(absl::AsciiStrToLower(
        v1::RequestFlag_Name(static_cast<v1::RequestFlag>(flag))));
  }
  return flags;
}

bool Has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::string FlagsDiffer(const CaseExpectation& expect,
                        const v1::RequestTiming& timing) {
  const std::vector<std::string> flags = FlagsOf(timing);
  std::string difference;
  for (const std::string& flag : flags) {
    if (!Has(expect.flags, flag) && !Has(expect.flags_may, flag)) {
      absl::StrAppend(&difference, "flag ", flag, " set; ");
    }
  }
  for (const std::string& flag : expect.flags) {
    if (!Has(flags, flag) && flag != "stream_buffered") {
      absl::StrAppend(&difference, "flag ", flag, " not set; ");
    }
  }
  return difference;
}

}  // namespace

TransportEnd::Kind CasePlay::EndKind() const {
  if (end == "rst") return TransportEnd::Kind::kReset;
  if (end == "fin" && status == 0) return TransportEnd::Kind::kReset;
  if (end == "fin" && chunked) return TransportEnd::Kind::kPartial;
  return TransportEnd::Kind::kOk;
}

Asked Case::asked() const {
  Asked a;
  a.chat = chat;
  a.input_tokens = input_tokens;
  a.output_tokens = output_tokens;
  return a;
}

std::vector<Case> LoadCases(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Case> cases;
  for (const std::string& file : files) {
    simdjson::dom::parser parser;
    simdjson::dom::array array;
    if (parser.load(file).get(array) != simdjson::SUCCESS) {
      std::fprintf(stderr, "%s is no list of cases\n", file.c_str());
      return {};
    }
    for (element object : array) cases.push_back(ReadCase(object));
  }
  return cases;
}

std::string FactsDiffer(const CaseExpectation& expect,
                        const v1::RequestTiming& timing) {
  std::string difference = FlagsDiffer(expect, timing);
  const auto differ = [&](absl::string_view what, const auto& got,
                          const auto& want) {
    if (got == want) return;
    absl::StrAppend(&difference, what, " ", got, ", expected ", want, "; ");
  };
  differ("outcome", absl::AsciiStrToLower(v1::Outcome_Name(timing.outcome())),
         expect.outcome);
  if (!absl::StrContains(timing.error(), expect.message_contains)) {
    differ("message", timing.error(), expect.message_contains);
  }
  if (expect.outcome != "completed") return difference;
  differ("content chunks", static_cast<uint64_t>(timing.token_delta_ns_size()),
         expect.content_chunks.value_or(0));
  differ("output tokens", timing.output_tokens(),
         expect.output_tokens.value_or(0));
  differ("source",
         absl::AsciiStrToLower(
             v1::TokenCountSource_Name(timing.token_count_source())),
         expect.token_count_source);
  differ("coalesced", timing.coalesced(), expect.coalesced);
  differ("has TPOT", TpotMs(timing).has_value(), expect.tpot_ms.has_value());
  if (!expect.tokens_of_chunks.empty()) {
    differ("tokens of chunks", absl::StrJoin(timing.chunk_tokens(), ","),
           absl::StrJoin(expect.tokens_of_chunks, ","));
  }
  return difference;
}

std::vector<double> ArrivalsMs(const v1::RequestTiming& timing) {
  std::vector<double> arrivals;
  uint64_t ns = 0;
  for (uint64_t delta : timing.token_delta_ns()) {
    ns += delta;
    arrivals.push_back(static_cast<double>(ns) / 1e6);
  }
  return arrivals;
}

std::optional<double> TpotMs(const v1::RequestTiming& timing) {
  const std::vector<double> arrivals = ArrivalsMs(timing);
  if (arrivals.size() < 2 || timing.output_tokens() < 2) return std::nullopt;
  return (arrivals.back() - arrivals.front()) /
         static_cast<double>(timing.output_tokens() - 1);
}

}  // namespace benchfleet
