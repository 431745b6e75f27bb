// Spaces, strategies, the journal, and whole searches with commands of the shell.
#include "policy/search/search.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "policy/reader.h"
#include "policy/search/objective.h"
#include "policy/search/report.h"
#include "tests/policy/read.h"

namespace galatea::policy {
namespace {
namespace fs = std::filesystem;

constexpr const char* kSpace = R"({"format": "augment-policy", "version": 1, "bins": 11,
  "augmentations": {"rotate": {"range": [0, {"$float": [10, 50]}], "negate": true}, "equalize": {}, "invert": {}},
  "policy": {"seq": [[{"$choice": ["equalize", "invert"]}, 1, null],
    {"apply": "rotate", "mag": {"bin": {"$int": [0, 10]}}}]}})";

struct SpaceRead {
  std::optional<Space> space;
  std::string report;
};

SpaceRead read_space(const std::string& text) {
  SourceMap sources;
  DiagnosticSink sink;
  SpaceRead made;
  made.space = Space::read(sources.add("space.json", text), sources, sink);
  for (const Diagnostic& diagnostic : sink.diagnostics())
    made.report += diagnostic.code + " at " + sources.describe(diagnostic.span).substr(11) + ": " +
                   diagnostic.message + "\n";
  return made;
}

class PolicySearch : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("galatea_search_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    space_ = read_space(kSpace).space;
    ASSERT_TRUE(space_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  JournalHead head(const std::string& objective = "x") const {
    return {kSpace, "random", objective, 1, false};
  }
  Result<Journal> open(const JournalHead& of) { return Journal::open((folder_ / "journal").string(), of); }
  std::string journal_text() const {
    std::ifstream file(folder_ / "journal", std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  SearchOptions options(const std::string& objective, int64_t trials) const {
    SearchOptions made;
    made.objective = objective;
    made.folder = folder_.string();
    made.trials = trials;
    return made;
  }

  fs::path folder_;
  std::optional<Space> space_;
};

TEST_F(PolicySearch, SpacesHaveGenesInTheOrderOfTheText) {
  ASSERT_EQ(space_->genes().size(), 3u);
  EXPECT_EQ(space_->genes()[0].path, "augmentations.rotate.range[1]");
  EXPECT_EQ(space_->genes()[1].path, "policy.seq[0][0]");
  EXPECT_EQ(space_->genes()[2].path, "policy.seq[1].mag.bin");
  const ReadResult read = read_policy_tree(space_->at({42.5, 1, 7}));
  ASSERT_TRUE(read.document);
  EXPECT_EQ(read.document->augmentations[0].range, std::pair(0.0, 42.5));
  EXPECT_EQ(read.document->policy.children[0].name, "invert");
  EXPECT_EQ(read.document->policy.children[1].magnitude.bin, 7);
}

TEST_F(PolicySearch, MistakesInSpacesHavePlaces) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"$choice": []})", "G1016 at 1:13: a choice is made from a list\n"},
      {R"({"$int": [0, 1.5]})", "G1016 at 1:10: `$int` takes [least, greatest], both whole numbers\n"},
      {R"({"$int": [0, 9223372036854775807]})",
       "G1016 at 1:10: `$int` takes [least, greatest], both whole numbers\n"},
      {R"({"$float": [2, 1]})", "G1016 at 1:12: `$float` takes [least, greatest]\n"},
      {R"({"$real": [1, 2]})", "G1016 at 1:2: there is no `$real`\n"},
      {R"([{"$int": [0, 1], "p": 1}])", "G1016 at 1:3: `$int` stands alone in its object\n"},
      {R"({"$choice": [{"$int": [0, 1]}]})", "G1016 at 1:14: a choice inside of a choice\n"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(read_space(text).report, expected) << text;
  EXPECT_NE(read_space(testing::whole("[\"equalize\", 1, null]")).report.find("there is nothing to search"),
            std::string::npos);
  EXPECT_NE(read_space(testing::whole("[\"rotate\", {\"$float\": [2, 3]}, 1]")).report.find("G1007 at 5:12"),
            std::string::npos);
}

TEST_F(PolicySearch, GridCountsEachPointOnce) {
  const auto grid = make_strategy(*space_, {.name = "grid", .levels = 3});
  std::set<Point> seen;
  int64_t number = 0;
  while (const auto point = grid->ask(number)) {
    EXPECT_TRUE(space_->contains(*point));
    EXPECT_TRUE(seen.insert(*point).second);
    ++number;
  }
  EXPECT_EQ(number, 3 * 2 * 11);
  EXPECT_TRUE(seen.contains({10, 0, 0}));
  EXPECT_TRUE(seen.contains({50, 1, 10}));
}

TEST_F(PolicySearch, RandomPointsDependOnSeedAndNumberAlone) {
  const auto one = make_strategy(*space_, {.seed = 5}), other = make_strategy(*space_, {.seed = 5}),
             different = make_strategy(*space_, {.seed = 6});
  std::set<Point> seen;
  for (int64_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(space_->contains(*one->ask(i)));
    seen.insert(*one->ask(i));
  }
  EXPECT_GT(seen.size(), 95u);
  EXPECT_EQ(one->ask(41), other->ask(41));
  EXPECT_NE(one->ask(41), different->ask(41));
}

// A hill whose top is known: evolution ends nearer to it than random points do.
TEST_F(PolicySearch, EvolutionClimbs) {
  auto height = [](const Point& point) {
    return -std::abs(point[0] - 33) / 40 - (point[1] == 1 ? 0 : 1) - std::abs(point[2] - 8) / 10;
  };
  // The mean of the trials 150 to 199, over five seeds.
  auto mean_of_last = [&](const char* name) {
    double sum = 0;
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const auto strategy = make_strategy(*space_, {.name = name, .seed = seed});
      for (int64_t i = 0; i < 200; ++i) {
        Trial trial{i, *strategy->ask(i), false, 0, 0, ""};
        trial.score = height(trial.point);
        strategy->tell(trial);
        if (i >= 150) sum += trial.score / 250;
      }
    }
    return sum;
  };
  EXPECT_GT(mean_of_last("evolution"), mean_of_last("random") / 2) << "scores are below 0";
}

TEST_F(PolicySearch, JournalsAreReadAgain) {
  {
    auto journal = open(head());
    ASSERT_TRUE(journal) << journal.error().message();
    ASSERT_TRUE(journal->begin(0, {10, 0, 1}));
    ASSERT_TRUE(journal->begin(1, {20, 1, 2}));
    ASSERT_TRUE(journal->end({0, {10, 0, 1}, false, 0.5, 1.25, ""}));
    EXPECT_FALSE(open(head())) << "one search at a time";
  }
  // Killed while a line was written.
  std::ofstream(folder_ / "journal", std::ios::app) << "{\"trial\":1,\"sco";
  auto again = open(head());
  ASSERT_TRUE(again) << again.error().message();
  ASSERT_EQ(again->ended().size(), 1u);
  EXPECT_EQ(again->ended()[0].score, 0.5);
  EXPECT_EQ(again->ended()[0].seconds, 1.25);
  EXPECT_EQ(again->ended()[0].point, (Point{10, 0, 1}));
  ASSERT_EQ(again->open_trials().size(), 1u);
  EXPECT_EQ(again->open_trials().at(1), (Point{20, 1, 2}));
  ASSERT_TRUE(again->end({1, {20, 1, 2}, true, 0, 2, "it ended with status 1"}));
  EXPECT_EQ(journal_text().back(), '\n');
  EXPECT_EQ(journal_text().find("sco\""), std::string::npos);
}

TEST_F(PolicySearch, AnotherSearchsJournalIsRefused) {
  {
    ASSERT_TRUE(open(head("a")));
  }
  const auto other = open(head("b"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().diagnostics[0].code, "G1017");
  EXPECT_NE(other.error().message().find("its objective is another"), std::string::npos);
  std::ofstream(folder_ / "journal") << "nonsense\n";
  EXPECT_FALSE(open(head("a")));
}

TEST_F(PolicySearch, CommandsAreScoredByTheirLastLine) {
  EXPECT_EQ(last_number("a\n0.5\n\n"), 0.5);
  EXPECT_EQ(last_number("-1e3"), -1000);
  EXPECT_EQ(last_number(" +2 \r\n"), 2);
  for (const char* text : {"", "\n", "0.5 seconds", "nan", "inf", "1\nx"})
    EXPECT_FALSE(last_number(text)) << text;
  EXPECT_EQ(command_for("run {policy} {policy}", "a b'c.json"), "run 'a b'\\''c.json' 'a b'\\''c.json'");
  EXPECT_EQ(command_for("run", "x"), "run 'x'");
}

TEST_F(PolicySearch, FailuresAreRecorded) {
  auto journal = open(head());
  ASSERT_TRUE(journal);
  // One of each kind, by the number in the file's name.
  SearchOptions all = options(
      "case {policy} in *00.json) echo 1;; *01.json) exit 3;; *02.json) echo one;; *03.json) sleep 60;; "
      "*04.json) kill -9 $$;; esac; #",
      5);
  all.timeout = 0.5;
  all.jobs = 3;
  const auto strategy = make_strategy(*space_, {});
  ASSERT_TRUE(run_search(*space_, *strategy, *journal, all, {}));
  std::map<int64_t, std::string> reasons;
  for (const Trial& trial : journal->ended()) reasons[trial.number] = trial.failed ? trial.reason : "fine";
  EXPECT_EQ(reasons, (std::map<int64_t, std::string>{{0, "fine"},
                                                     {1, "it ended with status 3"},
                                                     {2, "its last line of output is no number"},
                                                     {3, "it ran longer than 0.5 seconds"},
                                                     {4, "it was ended by signal 9"}}));
}

// The objective reads the policy that it is given; the search is stopped after each few trials and goes on.
TEST_F(PolicySearch, AStoppedSearchGoesOnAndLosesNothing) {
  const std::string objective = "grep -c equalize {policy}";
  const auto whole_strategy = make_strategy(*space_, {.seed = 9});
  std::vector<Point> expected;
  for (int64_t i = 0; i < 12; ++i) expected.push_back(*whole_strategy->ask(i));
  size_t starts = 0;
  for (bool done = false; !done; ++starts) {
    auto journal = open(head(objective));
    ASSERT_TRUE(journal) << journal.error().message();
    const auto strategy = make_strategy(*space_, {.seed = 9});
    int here = 0;
    SearchEvents events;
    events.ended = [&](const Trial&) { ++here; };
    events.is_interrupted = [&] { return here >= 3; };
    SearchOptions few = options(objective, 12);
    few.jobs = 2;
    ASSERT_TRUE(run_search(*space_, *strategy, *journal, few, events));
    done = journal->ended().size() == 12;
    ASSERT_LT(starts, 12u);
  }
  EXPECT_GT(starts, 2u);
  auto journal = open(head(objective));
  std::map<int64_t, Trial> trials;
  for (const Trial& trial : journal->ended()) EXPECT_TRUE(trials.emplace(trial.number, trial).second);
  ASSERT_EQ(trials.size(), 12u);
  for (const auto& [number, trial] : trials) {
    EXPECT_EQ(trial.point, expected[static_cast<size_t>(number)]);
    EXPECT_FALSE(trial.failed) << trial.reason;
    // The table has the name in any case; the step only where it was chosen.
    EXPECT_EQ(trial.score, trial.point[1] == 0 ? 2 : 1) << number;
  }
  EXPECT_EQ(ranking(journal->ended(), false)[0].score, 2);
  EXPECT_EQ(ranking(journal->ended(), true)[0].score, 1);
}

TEST_F(PolicySearch, ImportanceIsTheShareOfTheVariance) {
  std::vector<Trial> trials;
  // Every point of a grid; the score depends on the choice and, a quarter as much in variance, on half of the
  // bins.
  for (int64_t i = 0; i < 3 * 2 * 10; ++i) {
    const Point point = {10.0 + 20.0 * static_cast<double>(i % 3), static_cast<double>(i / 3 % 2),
                         static_cast<double>(i / 6)};
    trials.push_back({i, point, false, 2 * point[1] + (point[2] >= 4 ? 1 : 0), 1, ""});
  }
  trials.push_back({60, {10, 0, 0}, true, 0, 1, "it ended with status 1"});
  const std::vector<double> shares = importance(*space_, trials);
  // Variances: 1 of the choice, 0.24 of the bins (6 of 10), which fall in five groups of two, 4 starting one.
  EXPECT_NEAR(shares[0], 0, 1e-12);
  EXPECT_NEAR(shares[1], 1 / 1.24, 1e-12);
  EXPECT_GT(shares[2], 0.1);
  EXPECT_NEAR(shares[0] + shares[1] + shares[2], 1, 0.05);
}

TEST_F(PolicySearch, TheReportIsWholeAndEscaped) {
  const std::vector<Trial> trials = {{0, {10, 0, 1}, false, 0.25, 1, ""},
                                     {1, {20, 1, 2}, false, 0.75, 3, ""},
                                     {2, {30, 1, 3}, true, 0, 1, "it's <odd> & \"quoted\""}};
  const std::string page =
      html_report(*space_, trials, {"A <search>", "cmd && \"x\"", "{}", "policy.load(\"b\")", false});
  EXPECT_EQ(page.find("<odd>"), std::string::npos);
  EXPECT_EQ(page.find("A <search>"), std::string::npos);
  for (const char* part :
       {"A &lt;search&gt;", "cmd &amp;&amp; &quot;x&quot;", "3 trials, 1 failed", "trial 1: 0.75, 3.0 s",
        "policy.seq[1].mag.bin", "it's &lt;odd&gt; &amp; &quot;quoted&quot;", "</html>"})
    EXPECT_NE(page.find(part), std::string::npos) << part << " in\n" << page;
  auto count = [&](const std::string& word) {
    size_t found = 0;
    for (size_t at = 0; (at = page.find(word, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("<circle"), 4u) << "two trials in two plots";
  for (const char* tag : {"svg", "table", "tr", "td", "h2", "pre", "code"})
    EXPECT_EQ(count("<" + std::string(tag) + ">") + count("<" + std::string(tag) + " "),
              count("</" + std::string(tag) + ">"))
        << tag;
  EXPECT_NE(html_report(*space_, {}, {"none", "x", "", "", true}).find("nothing to plot"), std::string::npos);
}

}  // namespace
}  // namespace galatea::policy
