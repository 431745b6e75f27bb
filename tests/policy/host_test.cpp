// Searches whose host asks and tells over a socket.
#include "policy/search/host.h"

#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "base/json.h"
#include "policy/search/search.h"
#include "tests/policy/search_space.h"
#include "tests/support/own_folder.h"

namespace galatea::policy {
namespace {
namespace fs = std::filesystem;

using testing::read_space;
using Json = nlohmann::json;

/// A host on a thread of its own: `reply` gives the lines that answer a message.
class ScriptedHost {
 public:
  explicit ScriptedHost(std::function<std::vector<std::string>(const Json&)> reply) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    program_ = ends[0];
    thread_ = std::thread([this, end = ends[1], reply = std::move(reply)] {
      std::string text;
      char block[4096];
      for (ssize_t count; (count = ::read(end, block, sizeof block)) > 0;) {
        text.append(block, static_cast<size_t>(count));
        for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n')) {
          received_.push_back(parse_json(text.substr(0, at)));
          text.erase(0, at + 1);
          for (const std::string& line : reply(received_.back())) {
            if (line == "hang up") ::shutdown(end, SHUT_RDWR);
            const std::string sent = line + "\n";
            if (::send(end, sent.data(), sent.size(), MSG_NOSIGNAL) < 0) break;
          }
        }
      }
      ::close(end);
    });
  }
  ~ScriptedHost() {
    if (thread_.joinable()) thread_.join();
  }
  int program() const { return program_; }
  /// When the search has closed its end.
  const std::vector<Json>& received() {
    thread_.join();
    return received_;
  }

 private:
  int program_ = -1;
  std::vector<Json> received_;
  std::thread thread_;
};

class PolicyHost : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = galatea::testing::make_own_folder("galatea_host");
    space_ = read_space(testing::kNestedSpace).space;
    ASSERT_TRUE(space_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  struct Ran {
    std::vector<Trial> ended;
    size_t open = 0;
    std::string problem;
  };
  /// A search of points and scores of the host.
  Ran run(ScriptedHost& scripted, int64_t trials, bool minimize = false, bool prune = false) {
    Host host(scripted.program());
    auto journal = Journal::open((folder_ / "journal").string(), {testing::kNestedSpace, {}, "x", minimize});
    EXPECT_TRUE(journal);
    SearchOptions options;
    options.folder = folder_.string();
    options.trials = trials;
    options.minimize = minimize;
    options.prune = prune;
    options.host = &host;
    SearchEvents events;
    events.is_interrupted = [&] { return host.is_gone(); };
    const auto strategy = make_host_strategy(*space_, host, minimize);
    EXPECT_TRUE(run_search(*space_, *strategy, *journal, options, events));
    return {journal->ended(), journal->open_trials().size(), host.problem()};
  }

  fs::path folder_;
  std::optional<Space> space_;
};

std::string answer(const Json& content) { return Json{{"answer", content}}.dump(); }

TEST_F(PolicyHost, AsksForPointsAndTellsScores) {
  ScriptedHost host([](const Json& told) -> std::vector<std::string> {
    if (told.contains("ask")) {
      if (told["ask"] == 3) return {answer({{"end", true}})};
      return {answer({{"point", {1, nullptr, 0.75, told["ask"] == 1 ? 1 : 0, 0}}})};
    }
    if (told.contains("run")) {
      EXPECT_TRUE(fs::exists(told["words"]["policy"].get<std::string>()));
      Json ended = {{"ended", told["run"]}};
      if (told["words"]["trial"] == "2")
        ended["failed"] = "no memory";
      else
        ended["score"] = -2.5;
      ended["microseconds"] = 12.5;
      return {ended.dump()};
    }
    return {};
  });
  const Ran ran = run(host, 10, true);
  ASSERT_EQ(ran.ended.size(), 3u);
  EXPECT_EQ(ran.problem, "");
  EXPECT_EQ(ran.ended[1].point, (Point{1, 0, 0.75, 1, 0}));
  EXPECT_EQ(ran.ended[1].score, -2.5);
  EXPECT_EQ(ran.ended[1].microseconds, 12.5);
  EXPECT_EQ(ran.ended[2].reason, "no memory");
  std::vector<Json> told;
  for (const Json& each : host.received())
    if (each.contains("tell")) told.push_back(each["tell"]);
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0]["score"], -2.5) << "as the objective gave it, also where less is better";
  EXPECT_EQ(told[0]["point"], Json({1, nullptr, 0.75, 0, 0}));
  EXPECT_EQ(told[2]["failed"], "no memory");
}

TEST_F(PolicyHost, PrunesWhatItSays) {
  ScriptedHost host([](const Json& told) -> std::vector<std::string> {
    if (told.contains("ask")) return {answer({{"point", {2, nullptr, nullptr, nullptr, 0}}})};
    if (told.contains("run")) return {Json{{"report", told["run"]}, {"score", 0.5}}.dump()};
    if (told.contains("prunes")) {
      EXPECT_EQ(told["scores"], Json({0.5}));
      return {answer({{"prune", told["prunes"] == 0}})};
    }
    static int call = 0;
    if (told.contains("prune")) return {Json{{"ended", call++}, {"score", 1}}.dump()};
    return {};
  });
  const Ran ran = run(host, 2, false, true);
  ASSERT_EQ(ran.ended.size(), 2u);
  EXPECT_TRUE(ran.ended[0].pruned && ran.ended[0].failed);
  EXPECT_FALSE(ran.ended[1].pruned || ran.ended[1].failed);
}

TEST_F(PolicyHost, WhatItMayNotSayEndsTheSearch) {
  const std::pair<const char*, const char*> asked[] = {
      {R"({"answer":{"point":[0,1]}})", "the host's answer for trial 0 is no point of the space"},
      {R"({"answer":{"point":[0,11,null,null,0]}})",
       "the host's answer for trial 0 is no point of the space"},
      {R"({"answer":{"point":[0,"1",null,null,0]}})",
       "the host's answer for trial 0 is no point of the space"},
      {"nonsense", "the host sent what is no object of JSON: nonsense"},
      {R"({"answer":1})", "the host's answer is no object: {\"answer\":1}"},
      {"hang up", ""},
  };
  for (const auto& [line, problem] : asked) {
    ScriptedHost host([line = line](const Json& told) -> std::vector<std::string> {
      return told.contains("ask") ? std::vector<std::string>{line} : std::vector<std::string>{};
    });
    const Ran ran = run(host, 3);
    EXPECT_EQ(ran.problem, problem) << line;
    EXPECT_EQ(ran.ended.size() + ran.open, 0u) << line;
  }
  for (const char* line :
       {R"({"ended":7,"score":1})", R"({"report":0})", R"({"ended":0,"score":"1"})", "{}"}) {
    TearDown();
    SetUp();
    ScriptedHost host([line](const Json& told) -> std::vector<std::string> {
      if (told.contains("ask")) return {answer({{"point", {2, nullptr, nullptr, nullptr, 0}}})};
      return told.contains("run") ? std::vector<std::string>{line} : std::vector<std::string>{};
    });
    const Ran ran = run(host, 3);
    EXPECT_EQ(ran.problem, std::string("the host sent what says nothing of a trial that runs: ") + line);
    EXPECT_EQ(ran.open, 1u) << "it begins anew next time";
  }
}

TEST_F(PolicyHost, AStopIsTheLastThing) {
  ScriptedHost host([](const Json& told) -> std::vector<std::string> {
    if (told.contains("ask")) return {answer({{"point", {2, nullptr, nullptr, nullptr, 0}}})};
    if (told.contains("run")) return {R"({"ended":0,"failed":"a mistake","stop":true})"};
    return {};
  });
  const Ran ran = run(host, 3);
  ASSERT_EQ(ran.ended.size(), 1u) << "it is written down";
  EXPECT_EQ(ran.ended[0].reason, "a mistake");
  EXPECT_EQ(ran.open, 0u);
}

TEST_F(PolicyHost, AGreetingHasTheValues) {
  const Json greeting = parse_json(greeting_text(*space_, {7, 20, true, false, 12.5}));
  EXPECT_EQ(greeting["seed"], 7);
  EXPECT_EQ(greeting["max_microseconds"], 12.5);
  EXPECT_EQ(greeting["values"][0],
            Json({{"path", "policy.seq[0]"}, {"choices", {"choice 0", "choice 1", "choice 2"}}}));
  EXPECT_EQ(greeting["values"][2], Json({{"path", "policy.seq[0]#1.p"},
                                         {"kind", "float"},
                                         {"low", 0.5},
                                         {"high", 1},
                                         {"log", false},
                                         {"of", {0, 1}}}));
}

}  // namespace
}  // namespace galatea::policy
