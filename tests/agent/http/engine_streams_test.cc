// Streams as the engines really send them, on both endpoints.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "agent/http/response_reader.h"

namespace benchfleet {
namespace {

struct Stream {
  const char* name;
  bool chat;
  std::vector<std::string> events;
  // Outcome, content chunks, output tokens, their source, flags.
  const char* expect;
};

constexpr char kUsage[] =
    R"({"id":"x","object":"o","created":1,"model":"m","choices":[],"usage":)"
    R"({"prompt_tokens":4,"total_tokens":7,"completion_tokens":3,)"
    R"("prompt_tokens_details":null}})";

// /v1/completions of vLLM and SGLang; llama.cpp's has fewer fields.
std::string Text(const char* text, const char* finish = "null") {
  return absl::StrCat(
      R"({"id":"cmpl-1","object":"text_completion","created":1,"model":"m",)"
      R"("choices":[{"index":0,"text":")",
      text, R"(","logprobs":null,"finish_reason":)", finish,
      R"(,"stop_reason":null,"token_ids":null}],"usage":null})");
}

std::string Delta(const char* delta, const char* finish = "null",
                  const char* more = "") {
  return absl::StrCat(
      R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,)"
      R"("model":"m","choices":[{"index":0,"delta":)",
      delta, R"(,"logprobs":null,"finish_reason":)", finish, "}]", more, "}");
}

const std::vector<Stream>& Streams() {
  static const auto* streams = new std::vector<Stream>{
      {"vllm completions",
       false,
       {Text(" a"), Text(""), Text(" c", R"("length")"), kUsage, "[DONE]"},
       "completed 3 3 usage"},
      {"vllm completions, last token prints nothing",
       false,
       {Text(" a"), Text(" b"), Text("", R"("length")"), kUsage, "[DONE]"},
       "completed 3 3 usage"},
      {"vllm chat",
       true,
       {Delta(R"({"role":"assistant","content":"","reasoning_content":null})"),
        Delta(R"({"content":"a","reasoning_content":null})"),
        Delta(R"({"content":"b"})"), Delta(R"({"content":"c"})", R"("length")"),
        kUsage, "[DONE]"},
       "completed 3 3 usage"},
      {"vllm chat, reasoning",
       true,
       {Delta(R"({"role":"assistant","content":""})"),
        Delta(R"({"reasoning":"a"})"), Delta(R"({"reasoning":"b"})"),
        Delta(R"({"content":"c"})", R"("length")"), kUsage, "[DONE]"},
       "completed 3 3 usage"},
      {"vllm chat, a tool call",
       true,
       {Delta(R"({"role":"assistant","content":""})"),
        Delta(R"({"tool_calls":[{"id":"c","type":"function","index":0,)"
              R"("function":{"name":"f"}}]})"),
        Delta(R"({"tool_calls":[{"index":0,"function":{"arguments":"{"}}]})"),
        Delta(R"({"tool_calls":[{"index":0,"function":{"arguments":"}"}}]})"),
        Delta(R"({"content":""})", R"("tool_calls")"), kUsage, "[DONE]"},
       "completed 3 3 usage"},
      {"vllm completions, the engine died",
       false,
       {Text(" a"),
        R"({"error":{"message":"EngineCore died","type":"InternalServerError",)"
        R"("param":null,"code":500}})",
        "[DONE]"},
       "stream_error 1 1 chunks"},
      {"sglang completions",
       false,
       {Text(" a"), Text(" b"), Text(" c", R"("length")"), kUsage, "[DONE]"},
       "completed 3 3 usage"},
      {"sglang completions, an own end chunk",
       false,
       {Text(" a"), Text(" b"), Text(" c"), Text("", R"("length")"), kUsage,
        "[DONE]"},
       "completed 3 3 usage"},
      {"sglang chat of 2025, two finishes",
       true,
       {Delta(R"({"role":"assistant","content":""})"),
        Delta(R"({"content":"a"})"), Delta(R"({"content":"b"})"),
        Delta(R"({"content":"c"})", R"("length")"),
        Delta(R"({"content":null})", R"("length")"), kUsage, "[DONE]"},
       "completed 3 3 usage"},
      {"sglang chat",
       true,
       {Delta(R"({"role":"assistant","content":"","reasoning_content":null,)"
              R"("tool_calls":null})"),
        Delta(R"({"role":null,"content":"a","tool_calls":null})"),
        Delta(R"({"role":null,"content":"b","tool_calls":null})"),
        Delta(R"({"role":null,"content":"c","tool_calls":null})"),
        Delta(R"({"role":null,"content":null,"tool_calls":null})",
              R"("length")", R"(,"usage":null)"),
        kUsage, "[DONE]"},
       "completed 3 3 usage"},
      {"sglang completions, aborted",
       false,
       {Text(" a"), Text("", R"("abort")"), "[DONE]"},
       "completed 1 1 chunks wrong_length"},
      {"sglang chat, aborted at once",
       true,
       {Delta(R"({"role":"assistant","content":""})"),
        Delta(R"({"content":""})", R"({"type":"abort","message":"m"})"),
        "[DONE]"},
       "empty 0 0 token_count_source_unspecified"},
      {"vllm chat, aborted by the engine",
       true,
       {Delta(R"({"role":"assistant","content":""})"),
        Delta(R"({"content":"a"})"), Delta(R"({"content":""})", R"("abort")"),
        R"({"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":1,)"
        R"("total_tokens":5}})",
        "[DONE]"},
       "completed 1 1 usage wrong_length"},
      {"llama.cpp completions, usage with the extra last chunk",
       false,
       {R"({"choices":[{"text":"a","index":0,"finish_reason":null}]})",
        R"({"choices":[{"text":"b","index":0,"finish_reason":null}]})",
        R"({"choices":[{"text":"c","index":0,"finish_reason":null}]})",
        R"({"choices":[{"text":"","index":0,"finish_reason":"length"}],"usage":)"
        R"({"completion_tokens":3,"prompt_tokens":4,"total_tokens":7},)"
        R"("timings":{"prompt_n":4,"predicted_n":3}})",
        "[DONE]"},
       "completed 3 3 usage"},
      {"llama.cpp chat",
       true,
       {Delta(R"({"role":"assistant","content":null})"),
        Delta(R"({"content":"a"})"), Delta(R"({"content":"b"})"),
        Delta(R"({"reasoning_content":"c"})"), Delta("{}", R"("length")"),
        R"({"choices":[],"usage":{"completion_tokens":3,"prompt_tokens":4,)"
        R"("total_tokens":7},"timings":{"predicted_n":3}})",
        "[DONE]"},
       "completed 3 3 usage"},
      {"llama.cpp chat, progress of the prompt",
       true,
       {R"({"choices":[{"index":0,"delta":{"role":"assistant","content":null}}],)"
        R"("prompt_progress":{"total":4,"cache":0,"processed":2}})",
        Delta(R"({"content":"a"})"), Delta(R"({"content":"b"})"),
        Delta(R"({"content":"c"})"), Delta("{}", R"("stop")"), kUsage,
        "[DONE]"},
       "completed 3 3 usage"},
      {"openai chat",
       true,
       {Delta(R"({"role":"assistant","content":"","refusal":null})", "null",
              R"(,"usage":null,"obfuscation":"x")"),
        Delta(R"({"content":"a"})"), Delta(R"({"content":"b"})"),
        Delta(R"({"content":"c"})"), Delta("{}", R"("length")"), kUsage,
        "[DONE]"},
       "completed 3 3 usage"},
      {"openai chat, a refusal",
       true,
       {Delta(R"({"role":"assistant","content":null,"refusal":""})"),
        Delta(R"({"refusal":"I"})"), Delta(R"({"refusal":" can"})"),
        Delta(R"({"refusal":"not"})"), Delta("{}", R"("stop")"), kUsage,
        "[DONE]"},
       "completed 3 3 usage"},
      {"a content filter, its facts of the prompt first",
       true,
       {R"({"choices":[],"prompt_filter_results":[{"prompt_index":0}]})",
        Delta(R"({"role":"assistant","content":""})"),
        Delta(R"({"content":"a"})"), Delta(R"({"content":"b"})"),
        Delta(R"({"content":"c"})"), Delta("{}", R"("content_filter")"), kUsage,
        "[DONE]"},
       "completed 3 3 usage"},
      {"two choices in turn",
       false,
       {R"({"choices":[{"index":0,"text":"a"}]})",
        R"({"choices":[{"index":1,"text":"b"}]})",
        R"({"choices":[{"index":0,"text":"c","finish_reason":"length"},)"
        R"({"index":1,"text":"","finish_reason":"length"}]})",
        kUsage, "[DONE]"},
       "completed 3 3 usage"},
      {"no usage, no [DONE]",
       false,
       {Text("a"), Text("b"), Text("c", R"("stop")")},
       "completed 3 3 chunks"},
      {"[DONE] twice and bytes after it",
       false,
       {Text("a"), Text("b"), Text("c", R"("stop")"), kUsage, "[DONE]",
        "[DONE]", "{broken"},
       "completed 3 3 usage"},
      {"another prompt length",
       false,
       {Text("a"), Text("b"), Text("c", R"("length")"),
        R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3,)"
        R"("total_tokens":8}})",
        "[DONE]"},
       "completed 3 3 usage wrong_input_length"},
      {"a total that is not the sum",
       false,
       {Text("a"), Text("b"), Text("c", R"("length")"),
        R"({"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":3,)"
        R"("total_tokens":9}})",
        "[DONE]"},
       "completed 3 3 usage usage_inconsistent"},
  };
  return *streams;
}

std::string Lower(const std::string& name) {
  return absl::AsciiStrToLower(name);
}

std::string ReadStream(const Stream& stream) {
  Asked asked;
  asked.chat = stream.chat;
  asked.input_tokens = 4;
  asked.output_tokens = 3;
  ResponseReader reader(asked);
  reader.set_sent({1});
  reader.OnHead(200, "text/event-stream; charset=utf-8", "");
  int64_t now = 1;
  for (const std::string& event : stream.events) {
    ++now;
    reader.OnBytes(absl::StrCat("data: ", event, "\n\n"), {now},
                   static_cast<uint64_t>(now));
  }
  reader.OnEnd(TransportEnd(), {now + 1});
  v1::RequestTiming timing;
  reader.Fill(&timing);
  std::string text = absl::StrCat(
      Lower(v1::Outcome_Name(timing.outcome())), " ",
      timing.token_delta_ns_size(), " ", timing.output_tokens(), " ",
      Lower(v1::TokenCountSource_Name(timing.token_count_source())));
  for (const int flag : timing.flags()) {
    absl::StrAppend(
        &text, " ",
        Lower(v1::RequestFlag_Name(static_cast<v1::RequestFlag>(flag))));
  }
  return text;
}

TEST(EngineStreamsTest, EachIsReadAsTheEngineMeansIt) {
  for (const Stream& stream : Streams()) {
    EXPECT_EQ(ReadStream(stream), stream.expect) << stream.name;
  }
}

}  // namespace
}  // namespace benchfleet
