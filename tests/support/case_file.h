// The cases of tests/cases/*.json: what a server sends, and the right result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/http/http_transport.h"
#include "agent/http/response_reader.h"
#include "benchfleet/v1/timing.pb.h"

namespace benchfleet {

// As serve.py plays it, without the framing of HTTP.
struct CasePlay {
  struct Send {
    double at_ms;
    std::string bytes;
  };
  int status = 0;  // 0: no head
  std::string content_type;
  std::string content_encoding;
  bool chunked = false;
  std::vector<Send> sends;
  std::string end;  // keep, fin, rst
  double end_after_ms = 50;

  // How a transport sees its end.
  TransportEnd::Kind EndKind() const;
};

// Figures of one request; those left out in the file are absent.
struct CaseExpectation {
  std::string outcome;
  std::optional<uint64_t> content_chunks;
  std::optional<uint64_t> output_tokens;
  std::string token_count_source;
  std::optional<double> ttft_ms, e2el_ms, tpot_ms, first_choice_ms, done_ms;
  std::vector<double> itl_ms;
  std::vector<std::string> flags;
  std::vector<std::string> flags_may;
  uint32_t coalesced = 0;
  std::string message_contains;
  std::vector<uint32_t> tokens_of_chunks;
  std::string outcome_if_usage_not_asked;
  double tolerance_ms = 10;
};

struct Case {
  std::string id;
  bool chat = false;
  uint32_t input_tokens = 0;
  uint32_t output_tokens = 0;
  uint32_t requests = 1;
  uint32_t concurrency = 1;
  std::vector<CasePlay> plays;  // one for a case of one request
  CaseExpectation expect;       // of one, or of each completed request

  Asked asked() const;
  bool is_single() const { return requests == 1; }
};

// All cases of `folder`, by file and place. Empty with a message on stderr if
// something cannot be read.
std::vector<Case> LoadCases(const std::string& folder);

// What differs between `timing` and the expectation, times left out; "" if
// nothing.
std::string FactsDiffer(const CaseExpectation& expect,
                        const v1::RequestTiming& timing);

// By METRICS.md, in ms from `sent_ns`; absent if the metric is left out.
std::optional<double> TpotMs(const v1::RequestTiming& timing);
// Arrivals of the content chunks, in ms from `sent_ns`.
std::vector<double> ArrivalsMs(const v1::RequestTiming& timing);

}  // namespace benchfleet
