// The load path must not allocate per token.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>

#include "agent/http/response_reader.h"

namespace {

long allocations = 0;

}  // namespace

void* operator new(size_t size) {
  ++allocations;
  void* p = std::malloc(size);
  if (p == nullptr) std::abort();
  return p;
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace benchfleet {
namespace {

const char kEvent[] =
    "data: {\"id\":\"cmpl-0123456789abcdef\",\"object\":\"text_completion\","
    "\"created\":1700000000,\"model\":\"a/model-of-some-name\",\"choices\":[{"
    "\"index\":0,\"text\":\" "
    "token\",\"logprobs\":null,\"finish_reason\":null}],"
    "\"usage\":null}\n\n";

TEST(AllocationTest, ReadingATokenAllocatesNothing) {
  Asked asked;
  asked.output_tokens = 1000;
  ResponseReader reader(asked);
  const std::string event = kEvent;
  for (int answer = 0; answer < 3; ++answer) {
    const long before_reset = allocations;
    reader.Reset(asked);
    if (answer > 0) {
      EXPECT_EQ(allocations, before_reset);
    }
    reader.OnHead(200, "text/event-stream", "");
    reader.OnBytes(event, {1}, 1);
    const long before = allocations;
    for (int i = 1; i < 1000; ++i) reader.OnBytes(event, {i + 1}, 1);
    EXPECT_EQ(allocations, before) << "whole events";
    EXPECT_EQ(reader.content_chunks(), 1000u);
  }
  reader.Reset(asked);
  reader.OnHead(200, "text/event-stream", "");
  const auto halves = [&](int i) {
    const absl::string_view view = event;
    reader.OnBytes(view.substr(0, 100), {2 * i + 1}, 1);
    reader.OnBytes(view.substr(100), {2 * i + 2}, 1);
  };
  halves(0);
  const long before = allocations;
  for (int i = 1; i < 1000; ++i) halves(i);
  EXPECT_EQ(allocations, before) << "events in two reads";
}

}  // namespace
}  // namespace benchfleet
