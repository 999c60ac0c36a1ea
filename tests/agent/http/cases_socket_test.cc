// Plays the cases over real sockets: serve.py against CurlTransport. Facts are
// exact on every play. Times are compared with the server's own stamps: never
// before the send, at most the case's tolerance later, in one of five plays,
// because test machines stall.
#include <gtest/gtest.h>
#include <simdjson.h>
#include <unistd.h>

#include <deque>
#include <fstream>
#include <map>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/http/curl_transport.h"
#include "agent/http/fetch.h"
#include "agent/http/response_reader.h"
#include "common/clock.h"
#include "tests/support/case_file.h"
#include "tests/support/child_process.h"

namespace benchfleet {
namespace {

// What the server recorded of one POST.
struct PostRecord {
  int64_t k = -1;
  double body_after_head_ms = 0;
  std::string headers;
  size_t bytes = 0;
  std::map<double, int64_t> sent_ns;  // by at_ms; the first send of each
};

class CasesSocketTest : public testing::Test {
 protected:
  CasesSocketTest()
      : record_(absl::StrCat(testing::TempDir(), "/serve-record-", getpid())),
        server_({"python3", absl::StrCat(TESTS_SOURCE_DIR, "/cases/serve.py"),
                 "--record", record_}),
        port_(server_.ReadPort()),
        cases_(LoadCases(absl::StrCat(TESTS_SOURCE_DIR, "/cases"))) {
    transport_ = *MakeCurlTransport(CurlTransportOptions(), clock_);
  }
  ~CasesSocketTest() override { unlink(record_.c_str()); }

  std::string Url(const Case& c) const {
    return absl::StrCat("http://127.0.0.1:", port_, "/", c.id, "/v1/",
                        c.chat ? "chat/" : "", "completions");
  }

  // Starts one; `bodies_` keeps its body.
  std::unique_ptr<ResponseReader> Start(const Case& c) {
    auto reader = std::make_unique<ResponseReader>(c.asked());
    HttpRequest request;
    request.url = Url(c);
    request.headers = &headers_;
    // Token ids, two bytes each.
    std::string ids(2 * size_t{c.input_tokens}, '1');
    for (size_t i = 1; i < ids.size(); i += 2) ids[i] = ',';
    bodies_.push_back(
        absl::StrCat("{\"prompt\":[", ids, "1],\"n\":", bodies_.size(), "}"));
    request.body = bodies_.back();
    reader->set_sent(clock_.Now());
    EXPECT_TRUE(transport_->Start(request, reader.get()).ok());
    return reader;
  }

  // Bounded by the case's own end; a hang fails the test by its timeouts.
  void Await(const ResponseReader& reader) {
    const Instant limit = clock_.Now() + absl::Seconds(10);
    while (!reader.done() && clock_.Now() < limit) {
      transport_->Poll(clock_.Now() + absl::Seconds(1));
    }
    ASSERT_TRUE(reader.done());
  }

  v1::RequestTiming PlayOne(const Case& c) {
    const auto reader = Start(c);
    Await(*reader);
    v1::RequestTiming timing;
    reader->Fill(&timing);
    return timing;
  }

  // POSTs of the case so far, as the server has them.
  std::vector<PostRecord> Records(const std::string& id) const {
    std::vector<PostRecord> posts;
    std::ifstream file(record_);
    simdjson::dom::parser parser;
    for (std::string line; std::getline(file, line);) {
      simdjson::dom::element entry;
      std::string_view what, case_id;
      int64_t k;
      if (parser.parse(line).get(entry) || entry["what"].get(what) ||
          entry["case"].get(case_id) || case_id != id || entry["k"].get(k)) {
        continue;
      }
      if (what == "request") AddRequest(entry, k, &posts);
      if (what == "send") AddSend(entry, k, &posts);
    }
    return posts;
  }

  static void AddRequest(simdjson::dom::element entry, int64_t k,
                         std::vector<PostRecord>* posts) {
    PostRecord post;
    post.k = k;
    int64_t head_ns, body_ns;
    std::string_view raw;
    simdjson::dom::element headers;
    if (!entry["head_ns"].get(head_ns) && !entry["body_ns"].get(body_ns)) {
      post.body_after_head_ms = static_cast<double>(body_ns - head_ns) / 1e6;
    }
    if (!entry["raw"].get(raw)) post.bytes = raw.size();
    if (!entry["headers"].get(headers))
      post.headers = simdjson::minify(headers);
    posts->push_back(post);
  }

  static void AddSend(simdjson::dom::element entry, int64_t k,
                      std::vector<PostRecord>* posts) {
    double at_ms;
    int64_t before_ns;
    if (entry["at_ms"].get(at_ms) || entry["before_ns"].get(before_ns)) return;
    for (PostRecord& post : *posts) {
      if (post.k == k) post.sent_ns.emplace(at_ms, before_ns);
    }
  }

  // "" if every time stands by the server's stamps.
  static std::string TimesDiffer(const Case& c, const v1::RequestTiming& timing,
                                 const PostRecord& post, double* late_ms) {
    std::string difference;
    const auto check = [&](const std::string& what, std::optional<double> at_ms,
                           int64_t stamp_ns) {
      if (!at_ms) return;
      const auto sent = post.sent_ns.find(*at_ms);
      if (sent == post.sent_ns.end()) {
        absl::StrAppend(&difference, what, ": nothing sent at ", *at_ms, "; ");
        return;
      }
      const double late = static_cast<double>(stamp_ns - sent->second) / 1e6;
      *late_ms = std::max(*late_ms, late);
      if (late < 0 || late > c.expect.tolerance_ms) {
        absl::StrAppend(&difference, what, " ", late, " ms after its send; ");
      }
    };
    double at = c.expect.ttft_ms.value_or(0);
    int64_t stamp = timing.sent_ns();
    for (int i = 0; i < timing.token_delta_ns_size(); ++i) {
      if (i > 0) at += c.expect.itl_ms[static_cast<size_t>(i) - 1];
      stamp += static_cast<int64_t>(timing.token_delta_ns(i));
      check(absl::StrCat("token ", i), at, stamp);
    }
    check("first choice", c.expect.first_choice_ms, timing.first_choice_ns());
    check("done", c.expect.done_ms, timing.done_ns());
    return difference;
  }

  const std::string record_;
  ChildProcess server_;
  const int port_;
  const std::vector<Case> cases_;
  const RealClock clock_;
  const std::vector<std::string> headers_ = {"Content-Type: application/json"};
  std::deque<std::string> bodies_;
  std::unique_ptr<HttpTransport> transport_;
};

TEST_F(CasesSocketTest, EverySingleRequestIsMeasuredAsExpected) {
  ASSERT_NE(port_, 0) << "serve.py did not start";
  std::printf("%-30s %-12s %s\n", "case", "outcome", "latest stamp after send");
  for (const Case& c : cases_) {
    if (!c.is_single()) continue;
    std::string times_differ;
    for (int play = 0; play < 5; ++play) {
      const v1::RequestTiming timing = PlayOne(c);
      ASSERT_EQ(FactsDiffer(c.expect, timing), "") << c.id;
      const std::vector<PostRecord> posts = Records(c.id);
      ASSERT_EQ(posts.size(), static_cast<size_t>(play) + 1) << c.id;
      double late_ms = 0;
      times_differ = c.expect.outcome == "completed"
                         ? TimesDiffer(c, timing, posts.back(), &late_ms)
                         : "";
      if (!times_differ.empty()) continue;
      std::printf("%-30s %-12s %.3f ms\n", c.id.c_str(),
                  c.expect.outcome.c_str(), late_ms);
      break;
    }
    EXPECT_EQ(times_differ, "") << c.id;
  }
}

TEST_F(CasesSocketTest, RequestHeadersAreAsTheCasesAsk) {
  ASSERT_NE(port_, 0);
  for (const Case& c : cases_) {
    if (c.id != "d36-no-expect" && c.id != "d38a-gzip-if-accepted") continue;
    PlayOne(c);
    const std::vector<PostRecord> posts = Records(c.id);
    ASSERT_EQ(posts.size(), 1u);
    EXPECT_FALSE(absl::StrContains(posts[0].headers, "\"expect\"")) << c.id;
    EXPECT_FALSE(absl::StrContains(posts[0].headers, "gzip")) << c.id;
    EXPECT_LT(posts[0].body_after_head_ms, 50) << c.id;
    if (c.id == "d36-no-expect") {
      EXPECT_GE(posts[0].bytes, 1048577u);
    }
  }
}

// Keeps `concurrency` requests open until all are done.
TEST_F(CasesSocketTest, CasesOfSeveralRequestsLoseAndRepeatNone) {
  ASSERT_NE(port_, 0);
  for (const Case& c : cases_) {
    if (c.is_single()) continue;
    std::vector<std::unique_ptr<ResponseReader>> readers;
    std::map<v1::Outcome, int> outcomes;
    size_t next_done = 0;
    while (next_done < c.requests) {
      while (readers.size() < c.requests &&
             readers.size() - next_done < c.concurrency) {
        readers.push_back(Start(c));
      }
      Await(*readers[next_done]);
      v1::RequestTiming timing;
      readers[next_done++]->Fill(&timing);
      ++outcomes[timing.outcome()];
      if (timing.outcome() == v1::COMPLETED) {
        EXPECT_EQ(FactsDiffer(c.expect, timing), "") << c.id;
      } else if (c.plays[1].status == 0) {
        EXPECT_EQ(timing.flags_size(), 1) << c.id;
        EXPECT_EQ(timing.flags(0), v1::REUSED_DEAD_CONNECTION) << c.id;
      }
    }
    const v1::Outcome failure =
        c.plays[1].status == 0 ? v1::RESET : v1::HTTP_STATUS;
    const int half = static_cast<int>(c.requests / 2);
    EXPECT_EQ(outcomes[v1::COMPLETED], half) << c.id;
    EXPECT_EQ(outcomes[failure], half) << c.id;
    EXPECT_EQ(Records(c.id).size(), c.requests) << c.id;
  }
}

}  // namespace
}  // namespace benchfleet
