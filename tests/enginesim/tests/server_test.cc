#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/enginesim/tests/engine_process.h"

namespace benchfleet::enginesim {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string((std::istreambuf_iterator<char>(file)),
                     std::istreambuf_iterator<char>());
}

// What differs from run to run is named; line ends are plain.
std::string Normalised(const std::string& response) {
  std::string text = absl::StrReplaceAll(Dechunk(response), {{"\r\n", "\n"}});
  text = std::regex_replace(text, std::regex("\"created\":\\d+"),
                            "\"created\":TIME");
  text = std::regex_replace(text, std::regex("[0-9a-f]{32}"), "RANDOM");
  text = std::regex_replace(
      text, std::regex("(prompt_ms|predicted_ms|per_second)\":[0-9.]+"),
      "$1\":MS");
  text = std::regex_replace(text, std::regex("enginesim-[0-9.]+"), "VERSION");
  return std::regex_replace(text, std::regex("(content-length: )\\d+"), "$1N");
}

struct Talk {
  const char* title;
  std::string request;
};

std::vector<Talk> Talks() {
  const std::string options =
      R"("ignore_eos":true,"stream":true,"stream_options":{"include_usage":true})";
  const std::string chat =
      R"({"model":"sim","messages":[{"role":"user","content":"a b"}],)";
  return {
      {"completion", Post("/v1/completions",
                          R"({"model":"sim","prompt":"a b c","max_tokens":3,)" +
                              options + "}")},
      {"completion without usage, token ids",
       Post(
           "/v1/completions",
           R"({"prompt":[1,2],"max_tokens":1,"ignore_eos":true,"stream":true})")},
      {"completion in one",
       Post("/v1/completions",
            R"({"prompt":"a","max_tokens":2,"ignore_eos":true})",
            "X-Request-Id: given-7\r\n")},
      {"chat", Post("/v1/chat/completions",
                    chat + R"("max_completion_tokens":2,)" + options + "}")},
      {"chat with continuous usage",
       Post("/v1/chat/completions",
            chat + R"("max_tokens":2,"ignore_eos":true,"stream":true,
                      "stream_options":{"include_usage":true,
                                        "continuous_usage_stats":true}})")},
      {"chat in one", Post("/v1/chat/completions",
                           chat + R"("max_tokens":2,"ignore_eos":true})")},
      {"too long a prompt",
       Post("/v1/completions",
            R"({"prompt":"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 )"
            R"(21 22 23 24 25","max_tokens":4})")},
      {"too long with its output",
       Post("/v1/completions",
            R"({"prompt":"1 2","max_tokens":30,"ignore_eos":true})")},
      {"unknown model",
       Post("/v1/completions", R"({"model":"other","prompt":"a"})")},
      {"no JSON", Post("/v1/completions", "{\"model\"")},
      {"bad field",
       Post("/v1/completions", R"({"prompt":"a","max_tokens":0})")},
      {"tokenize", Post("/tokenize", R"({"prompt":"a b","content":"a b"})")},
      {"models", Get("/v1/models")},
      {"health", Get("/health")},
      {"version", Get("/version")},
      {"server info", Get("/server_info")},
      {"props", Get("/props")},
      {"metrics", Get("/metrics")},
      {"no such path", Get("/nothing")},
      {"method", "PUT / HTTP/1.1\r\nConnection: close\r\n\r\n"},
      {"no HTTP", "hello\r\n\r\n"},
  };
}

TEST(ServerTest, EachFlavourAnswersAsItsGoldenSays) {
  for (const std::string flavour : {"vllm", "sglang", "llamacpp"}) {
    auto engine = EngineProcess::Start(
        {"--flavour=" + flavour, "--context-window=24", "--time-scale=10"});
    ASSERT_NE(engine, nullptr);
    std::string text;
    for (const Talk& talk : Talks())
      absl::StrAppend(&text, "=== ", talk.title, "\n",
                      Normalised(Exchange(engine->port(), talk.request)), "\n");
    const std::string path = absl::StrCat(
        TESTS_SOURCE_DIR, "/enginesim/tests/testdata/", flavour, ".golden");
    if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
    EXPECT_EQ(text, ReadFile(path)) << path;
  }
}

TEST(ServerTest, WithoutIgnoreEosAReplyMayEndEarly) {
  auto engine = EngineProcess::Start({"--time-scale=100"});
  ASSERT_NE(engine, nullptr);
  int early = 0;
  for (int i = 0; i < 10; ++i) {
    const std::string reply = Exchange(
        engine->port(),
        Post(
            "/v1/completions",
            R"({"prompt":"a","max_tokens":40,"min_tokens":30,"stream":true})"));
    const size_t chunks = CountOf(reply, "\"text\":");
    EXPECT_GE(chunks, 30u);
    EXPECT_LE(chunks, 40u);
    if (chunks < 40) {
      ++early;
      EXPECT_THAT(reply, HasSubstr("\"finish_reason\":\"stop\""));
    }
  }
  EXPECT_GT(early, 0);
}

TEST(ServerTest, PipelinedRequestsAreAnsweredInOrder) {
  auto engine = EngineProcess::Start({"--time-scale=100"});
  ASSERT_NE(engine, nullptr);
  const std::string body =
      R"({"prompt":"a","max_tokens":5,"ignore_eos":true,"stream":true})";
  const std::string first = absl::StrCat(
      "POST /v1/completions HTTP/1.1\r\nX-Request-Id: one\r\n"
      "Content-Length: ",
      body.size(), "\r\n\r\n", body);
  const std::string reply = Exchange(
      engine->port(),
      absl::StrCat(first, "GET /health HTTP/1.1\r\n\r\n",
                   Post("/v1/completions", body, "X-Request-Id: two\r\n")));
  EXPECT_EQ(CountOf(reply, "HTTP/1.1 200 OK"), 3u);
  EXPECT_EQ(CountOf(reply, "cmpl-one"), 5u);
  EXPECT_EQ(CountOf(reply, "cmpl-two"), 5u);
  EXPECT_LT(reply.rfind("cmpl-one"), reply.find("cmpl-two"));
}

TEST(ServerTest, ChunkedBodiesAndContinueAreServed) {
  auto engine = EngineProcess::Start({"--time-scale=100"});
  ASSERT_NE(engine, nullptr);
  const std::string reply =
      Exchange(engine->port(),
               "POST /v1/completions HTTP/1.1\r\nConnection: close\r\n"
               "Transfer-Encoding: chunked\r\n\r\n"
               "9\r\n{\"prompt\"\r\n5\r\n:\"a\"}\r\n0\r\n\r\n");
  EXPECT_THAT(reply, HasSubstr("\"prompt_tokens\":1,"));
  const std::string big = Exchange(
      engine->port(), "POST /x HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n");
  EXPECT_THAT(big, StartsWith("HTTP/1.1 413 "));
}

TEST(ServerTest, TheTruthFileTellsEveryRequest) {
  const std::string path = testing::TempDir() + "/enginesim_truth.jsonl";
  auto engine = EngineProcess::Start({"--truth=" + path, "--time-scale=10"});
  ASSERT_NE(engine, nullptr);
  const std::string body =
      R"({"prompt":"a b","max_tokens":3,"ignore_eos":true,"stream":true})";
  Exchange(engine->port(),
           Post("/v1/completions", body, "x-request-id: r-1\r\n"));
  Exchange(engine->port(), Post("/v1/completions", "{}"));
  // A client that goes in the middle.
  const int fd = Connect(engine->port());
  const std::string endless = Post(
      "/v1/completions",
      R"({"prompt":"a","max_tokens":30000,"ignore_eos":true,"stream":true})");
  ASSERT_EQ(send(fd, endless.data(), endless.size(), 0),
            static_cast<ssize_t>(endless.size()));
  char byte = 0;
  ASSERT_EQ(recv(fd, &byte, 1, 0), 1);
  close(fd);
  while (CountOf(ReadFile(path), "\n") < 3) usleep(1000);
  EXPECT_EQ(engine->Stop(SIGTERM), 0);

  const std::string truth = ReadFile(path);
  EXPECT_THAT(truth, HasSubstr(absl::StrCat(
                         "{\"id\":\"r-1\",\"n\":1,\"path\":\"/v1/completions\","
                         "\"body_hash\":\"",
                         Sha256Hex(body).substr(0, 16), "\",\"arrival_ns\":")));
  EXPECT_THAT(truth, testing::ContainsRegex(
                         "\"open\":1,\"token_ns\":\\[[0-9]+,[0-9]+,[0-9]+\\],"
                         "\"done_ns\":[0-9]+,\"prompt_tokens\":2,"
                         "\"output_tokens\":3,\"status\":200,\"end\":\"ok\""));
  EXPECT_THAT(truth, HasSubstr("\"status\":400,\"end\":\"refused\""));
  EXPECT_THAT(truth, HasSubstr("\"end\":\"client_closed\""));
}

TEST(ServerTest, ASignalEndsItWithTheOpenRequestsTold) {
  const std::string path = testing::TempDir() + "/enginesim_shutdown.jsonl";
  auto engine = EngineProcess::Start({"--truth=" + path});
  ASSERT_NE(engine, nullptr);
  const int fd = Connect(engine->port());
  const std::string endless = Post(
      "/v1/completions",
      R"({"prompt":"a","max_tokens":30000,"ignore_eos":true,"stream":true})");
  ASSERT_GT(send(fd, endless.data(), endless.size(), 0), 0);
  char byte = 0;
  ASSERT_EQ(recv(fd, &byte, 1, 0), 1);
  EXPECT_EQ(engine->Stop(SIGINT), 0);
  EXPECT_THAT(ReadFile(path), HasSubstr("\"end\":\"shutdown\""));
  close(fd);
}

TEST(ServerTest, AStreamKeepsTheModelsPaceWithoutDrift) {
  const std::string path = testing::TempDir() + "/enginesim_pace.jsonl";
  auto engine = EngineProcess::Start({"--truth=" + path});
  ASSERT_NE(engine, nullptr);
  Exchange(engine->port(),
           Post("/v1/completions",
                R"({"prompt":"a","max_tokens":400,"ignore_eos":true,
                    "stream":true})"));
  EXPECT_EQ(engine->Stop(SIGTERM), 0);
  const std::string truth = ReadFile(path);
  const size_t list = truth.find("\"token_ns\":[") + 12;
  const int64_t first = std::stoll(truth.substr(list));
  const int64_t last =
      std::stoll(truth.substr(truth.rfind(',', truth.find(']', list)) + 1));
  // 399 decode steps of 2 ms; the slack is for a busy machine, and a loop that
  // counts from when it woke would need far more.
  EXPECT_NEAR(static_cast<double>(last - first) / 1e6, 798, 40);
}

TEST(ServerTest, BadFlagsAreRefused) {
  for (const char* flag :
       {"--flavour=x", "--time-scale=0", "--time-scale=nan", "--fail-kind=x",
        "--profile=no/such", "--truth=/no/such/folder/t", "--listen=nowhere"})
    EXPECT_EQ(EngineProcess::Start({flag}), nullptr) << flag;
}

}  // namespace
}  // namespace benchfleet::enginesim
