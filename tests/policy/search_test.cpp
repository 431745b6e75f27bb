// Spaces, strategies, the journal, and whole searches with commands of the shell.
#include "policy/search/search.h"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "policy/reader.h"
#include "policy/search/objective.h"
#include "tests/policy/read.h"
#include "tests/policy/search_space.h"
#include "tests/support/own_folder.h"

namespace galatea::policy {
namespace {
namespace fs = std::filesystem;

using testing::kSpace;
using testing::read_space;

class PolicySearch : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = galatea::testing::make_own_folder("galatea_search");
    space_ = read_space(kSpace).space;
    ASSERT_TRUE(space_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  JournalHead head(const std::string& objective = "x", const StrategyOptions& strategy = {}) const {
    return {kSpace, strategy, objective, false};
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

  /// A clock that stands, but for an hour with each command that has come to `hangs`: no other is ever too slow where
  /// one runs at a time, and one that hangs has taken too long at once.
  std::function<std::chrono::steady_clock::time_point()> clock_of_hangs() const {
    return [hung = folder_ / "hung", begin = std::chrono::steady_clock::now()] {
      std::error_code none_yet;
      const auto size = fs::file_size(hung, none_yet);
      return begin + std::chrono::hours(none_yet ? 0 : size);
    };
  }
  std::string hangs() const { return "printf x >> '" + (folder_ / "hung").string() + "'; sleep 600"; }

  fs::path folder_;
  std::optional<Space> space_;
};

TEST_F(PolicySearch, SpacesHaveGenesInTheOrderOfTheText) {
  ASSERT_EQ(space_->genes().size(), 3u);
  EXPECT_EQ(space_->genes()[0].path, "augmentations.rotate.range[1]");
  EXPECT_EQ(space_->genes()[1].path, "policy.seq[0][0]");
  EXPECT_EQ(space_->genes()[2].path, "policy.seq[1].mag.bin");
  EXPECT_EQ(space_->genes()[1].choices, (std::vector<std::string>{"equalize", "invert"}));
  const auto mixed = read_space(R"({"format": "augment-policy", "version": 1, "augmentations": {"invert": {}},
    "policy": ["invert", {"$choice": [0.5, 1]}, {"$choice": [null, 3, [1, 2], "a\u001b", ""]}]})");
  ASSERT_TRUE(mixed.space) << mixed.report;
  EXPECT_EQ(mixed.space->genes()[0].choices, (std::vector<std::string>{"0.5", "1"}));
  EXPECT_EQ(mixed.space->genes()[1].choices,
            (std::vector<std::string>{"null", "3", "choice 2", "choice 3", "choice 4"}));
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
      {R"({"$choice": [{"$int": [1, 0]}]})",
       "G1016 at 1:23: `$int` takes [least, greatest], both whole numbers\n"},
      {R"({"$float": [0, 1], "log": true})", "G1016 at 1:13: a logarithmic scale begins above 0, found 0\n"},
      {R"({"log": 1, "$float": [1, 2]})", "G1016 at 1:9: `log` is true or false, found 1\n"},
      {R"({"$choice": [1, 2], "log": true})", "G1016 at 1:28: a choice has no scale\n"},
      {R"({"$int": [1, 2], "$float": [1, 2]})",
       "G1016 at 1:2: `$int` stands alone in its object\nG1016 at 1:18: `$float` stands alone in its object\n"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(read_space(text).report, expected) << text;
  EXPECT_NE(read_space(testing::whole("[\"equalize\", 1, null]")).report.find("there is nothing to search"),
            std::string::npos);
  EXPECT_NE(read_space(testing::whole("[\"rotate\", {\"$float\": [2, 3]}, 1]")).report.find("G1007 at 5:12"),
            std::string::npos);
}

TEST_F(PolicySearch, ItemsOfAChoiceHaveGenesOfTheirOwn) {
  const auto read = read_space(testing::kNestedSpace);
  ASSERT_TRUE(read.space) << read.report;
  const Space& space = *read.space;
  std::vector<std::string> paths;
  for (const Gene& gene : space.genes()) paths.push_back(gene.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"policy.seq[0]", "policy.seq[0]#0[2]", "policy.seq[0]#1.p",
                                             "policy.seq[0]#1.mag.bin", "policy.seq[1][1]"}));
  EXPECT_EQ(space.active({0, 5, 0.5, 0, 1}), (std::vector<bool>{true, true, false, false, true}));
  EXPECT_EQ(space.active({1, 0, 0.5, 0, 1}), (std::vector<bool>{true, false, true, true, true}));
  EXPECT_TRUE(space.contains({0, 5, 0.5, 0, 1}));
  EXPECT_FALSE(space.contains({0, 5, 0.7, 0, 1})) << "what is not chosen has its least value";
  const auto bin_of = [&](const Point& point) {
    return read_policy_tree(space.at(point)).document->policy.children[0].magnitude.bin;
  };
  EXPECT_EQ(bin_of({0, 5, 0.5, 0, 0}), 5);
  EXPECT_EQ(bin_of({1, 0, 0.5, 1, 0}), 3) << "a choice within: its second item";
  const ReadResult third = read_policy_tree(space.at({2, 0, 0.5, 0, 1}));
  ASSERT_TRUE(third.document);
  EXPECT_EQ(third.document->policy.children[0].name, "invert");

  // Each document once: 11, then 3 probabilities times 2, then 1; all of them twice.
  std::set<Point> counted;
  for (int64_t i = 0; i < 36; ++i) {
    const auto point = space.counted(i, 3);
    ASSERT_TRUE(point) << i;
    EXPECT_TRUE(space.contains(*point)) << i;
    EXPECT_TRUE(counted.insert(*point).second) << i;
  }
  EXPECT_FALSE(space.counted(36, 3));

  Random random(1);
  Point point = space.random(random);
  std::set<double> items, fresh;
  for (int i = 0; i < 500; ++i) {
    const Point next = space.mutated(point, random);
    EXPECT_NE(next, point);
    EXPECT_TRUE(space.contains(next));
    EXPECT_TRUE(space.contains(space.random(random)));
    if (next[0] == 0 && point[0] != 0) fresh.insert(next[1]);
    items.insert(next[0]);
    point = next;
  }
  EXPECT_EQ(items.size(), 3u);
  EXPECT_GT(fresh.size(), 5u) << "what a new item is made of is drawn";
}

TEST_F(PolicySearch, LogarithmicScalesAreDrawnByRatios) {
  const auto read = read_space(testing::whole(
      R"({"seq": [{"apply": "rotate", "p": {"$float": [0.01, 1], "log": true},
          "mag": {"level": {"$int": [1, 10], "log": true}}}]})"));
  ASSERT_TRUE(read.space) << read.report;
  constexpr int kDraws = 4000;
  constexpr double kFiveSigma = 5 * 0.5 / 63.2;  // of a share of 4000
  Random random(3);
  int low = 0, ones = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Point point = read.space->random(random);
    EXPECT_TRUE(read.space->contains(point));
    low += point[0] < 0.1;
    ones += point[1] == 1;
    const Point next = read.space->mutated(point, random);
    EXPECT_NE(next, point);
    EXPECT_TRUE(read.space->contains(next));
  }
  EXPECT_NEAR(low / double{kDraws}, 0.5, kFiveSigma);
  EXPECT_NEAR(ones / double{kDraws}, std::log(1.5 / 0.5) / std::log(10.5 / 0.5), kFiveSigma);
  std::vector<double> places;
  for (int64_t i = 0; i < 3; ++i) places.push_back((*read.space->counted(i, 3))[0]);
  EXPECT_EQ(places, (std::vector<double>{0.01, 0.1, 1}));
}

TEST_F(PolicySearch, ScoresOfTheWorseHalf) {
  std::vector<Trial> ended;
  for (double score : {1.0, 2.0, 3.0, 4.0}) {
    Trial trial;
    trial.scores = {score, 10 * score};
    ended.push_back(trial);
  }
  EXPECT_FALSE(is_worse_half({0}, ended, false)) << "of four nothing is known";
  ended.push_back(ended[3]);
  ended[4].scores = {5};
  EXPECT_TRUE(is_worse_half({2.9}, ended, false));
  EXPECT_FALSE(is_worse_half({3}, ended, false)) << "the median itself";
  EXPECT_FALSE(is_worse_half({2.9}, ended, true));
  EXPECT_TRUE(is_worse_half({3.1}, ended, true));
  EXPECT_FALSE(is_worse_half({3.1, 0}, ended, false)) << "only four have come so far";
  ended.push_back(ended[0]);
  EXPECT_FALSE(is_worse_half({26, 0}, ended, false)) << "the best so far counts: 26 of 10, 10, 20, 30, 40";
  EXPECT_TRUE(is_worse_half({19, 3}, ended, false));
  ended[0].failed = true;
  EXPECT_FALSE(is_worse_half({19, 3}, ended, false)) << "failed trials are no judges";
}

// Scores by the number in the file's name: 0 to 5 report twice and are fine, 6 is pruned at its first report
// and never comes to its end, 7 reports more than the others and goes on.
TEST_F(PolicySearch, ReportedScoresPruneTrials) {
  SearchOptions all =
      options("case {policy} in *06.json) echo report 0; sleep 600; touch '" + (folder_ / "late").string() +
                  "';; *07.json) echo report 9;; *) echo report 5; echo report 6;; esac; echo 7",
              8);
  all.prune = true;
  auto journal = open(head());
  ASSERT_TRUE(journal);
  ASSERT_TRUE(run_search(*space_, *make_strategy(*space_, {}), *journal, all, {}));
  ASSERT_EQ(journal->ended().size(), 8u);
  for (const Trial& trial : journal->ended()) {
    EXPECT_EQ(trial.pruned, trial.number == 6) << trial.number;
    EXPECT_EQ(trial.failed, trial.number == 6) << trial.reason;
  }
  EXPECT_EQ(journal->ended()[0].scores, (std::vector<double>{5, 6}));
  EXPECT_EQ(journal->ended()[6].scores, std::vector<double>{0});
  EXPECT_EQ(journal->ended()[6].reason, "pruned: it reported 0 after 1 score");
  EXPECT_FALSE(fs::exists(folder_ / "late"));
}

TEST_F(PolicySearch, MicrosecondsAreABound) {
  SearchOptions all = options(
      "case {policy} in *00.json) echo microseconds 10.5;; *01.json) echo microseconds 10;; *02.json) ;; "
      "*03.json) echo microseconds 99; exit 1;; esac; echo 7",
      4);
  all.max_microseconds = 10;
  JournalHead bounded = head();
  bounded.max_microseconds = 10;
  {
    auto journal = open(bounded);
    ASSERT_TRUE(journal);
    ASSERT_TRUE(run_search(*space_, *make_strategy(*space_, {}), *journal, all, {}));
  }
  const auto again = open(bounded);
  ASSERT_TRUE(again);
  std::vector<std::string> reasons;
  for (const Trial& trial : again->ended()) reasons.push_back(trial.reason);
  EXPECT_EQ(reasons, (std::vector<std::string>{"it takes 10.5 microseconds a sample, more than 10", "",
                                               "it did not tell what its policy takes: `microseconds NUMBER`",
                                               "it takes 99 microseconds a sample, more than 10"}));
  EXPECT_EQ(again->ended()[0].microseconds, 10.5);
  EXPECT_FALSE(again->ended()[2].microseconds);
}

TEST_F(PolicySearch, ABoundBelongsToTheSearch) {
  JournalHead bounded = head();
  bounded.prune = true;
  {
    ASSERT_TRUE(open(bounded));
  }
  const auto other = open(head());
  ASSERT_FALSE(other) << "what the journal has and this search has not";
  EXPECT_NE(other.error().message().find("its prune is another"), std::string::npos);
}

TEST_F(PolicySearch, JournalsAreReadAgain) {
  {
    auto journal = open(head());
    ASSERT_TRUE(journal) << journal.error().message();
    ASSERT_TRUE(journal->begin({0, {10, 0, 1}}));
    ASSERT_TRUE(journal->begin({1, {20, 1, 2}, false, 0, 0, "", 3, 0, 4}));
    ASSERT_TRUE(journal->end({0, {10, 0, 1}, false, 0.5, 1.25, ""}));
    const auto second = open(head());
    ASSERT_FALSE(second) << "one search at a time";
    EXPECT_NE(second.error().message().find("another search is writing to"), std::string::npos);
    EXPECT_EQ(journal->cut_off(), 0u);
  }
  // Killed while a line was written.
  std::ofstream(folder_ / "journal", std::ios::app) << "{\"trial\":1,\"sco";
  auto again = open(head());
  ASSERT_TRUE(again) << again.error().message();
  ASSERT_EQ(again->ended().size(), 1u);
  EXPECT_EQ(again->ended()[0].score, 0.5);
  EXPECT_EQ(again->ended()[0].seconds, 1.25) << "what end() was given above";
  EXPECT_EQ(again->ended()[0].point, (Point{10, 0, 1}));
  ASSERT_EQ(again->open_trials().size(), 1u);
  const Trial& open_trial = again->open_trials().at(1);
  EXPECT_EQ(open_trial.point, (Point{20, 1, 2}));
  EXPECT_EQ(open_trial.budget, 3);
  EXPECT_EQ(open_trial.parent, 0);
  EXPECT_EQ(open_trial.step, 4);
  EXPECT_EQ(again->cut_off(), 15u);
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

TEST_F(PolicySearch, TheStrategysOptionsBelongToTheSearch) {
  StrategyOptions halving = {.name = "halving", .population = 9};
  {
    ASSERT_TRUE(open(head("a", halving)));
  }
  ASSERT_TRUE(open(head("a", halving)));
  for (auto [change, word] : std::vector<std::pair<void (*)(StrategyOptions&), const char*>>{
           {[](StrategyOptions& o) { o.name = "random"; }, "strategy"},
           {[](StrategyOptions& o) { o.seed = 7; }, "seed"},
           {[](StrategyOptions& o) { o.population = 27; }, "population"},
           {[](StrategyOptions& o) { o.greatest_budget = 81; }, "budget"},
           {[](StrategyOptions& o) { o.least_budget = 2; }, "least budget"},
           {[](StrategyOptions& o) { o.eta = 2; }, "eta"}}) {
    StrategyOptions other = halving;
    change(other);
    const auto journal = open(head("a", other));
    ASSERT_FALSE(journal) << word;
    EXPECT_NE(journal.error().message().find("its " + std::string(word) + " is another"), std::string::npos)
        << journal.error().message();
  }
  halving.levels = 9;  // of the grid alone
  EXPECT_TRUE(open(head("a", halving)));
}

TEST_F(PolicySearch, DamagedJournalsAreRefused) {
  {
    ASSERT_TRUE(open(head()));
  }
  const std::string first = journal_text();
  const std::string began = "{\"trial\":0,\"point\":[10,0,1]}\n",
                    ended = "{\"trial\":0,\"seconds\":1,\"score\":2}\n";
  auto reads = [&](const std::string& lines) {
    std::ofstream(folder_ / "journal", std::ios::binary) << first << lines;
    return open(head()).has_value();
  };
  EXPECT_TRUE(reads(began + ended));
  for (const std::string& lines : {std::string("\n"),
                                   std::string("[]\n"),
                                   std::string("{}\n"),
                                   ended,
                                   began + began,
                                   began + ended + ended,
                                   began + ended + began,
                                   std::string("{\"trial\":\"0\",\"point\":[]}\n"),
                                   std::string("{\"trial\":-1,\"point\":[10,0,1]}\n"),
                                   std::string("{\"trial\":1e99,\"point\":[10,0,1]}\n"),
                                   std::string("{\"trial\":18446744073709551615,\"point\":[10,0,1]}\n"),
                                   std::string("{\"trial\":0,\"point\":[10,\"0\",1]}\n"),
                                   std::string("{\"trial\":0,\"point\":7}\n"),
                                   std::string("{\"trial\":0,\"point\":[10,0,1],\"parent\":0}\n"),
                                   std::string("{\"trial\":0,\"point\":[10,0,1],\"step\":\"x\"}\n"),
                                   began + "{\"trial\":0,\"seconds\":1}\n",
                                   began + "{\"trial\":0,\"score\":1}\n",
                                   began + "{\"trial\":0,\"seconds\":1,\"score\":null}\n",
                                   began + "{\"trial\":0,\"seconds\":1,\"failed\":3}\n",
                                   std::string(1, '\0') + "\n"})
    EXPECT_FALSE(reads(lines)) << lines;
  // A point that the space does not have is found when the search begins.
  ASSERT_TRUE(reads("{\"trial\":0,\"point\":[10,0]}\n"));
  auto journal = open(head());
  const auto strategy = make_strategy(*space_, {});
  const Status done = run_search(*space_, *strategy, *journal, options("echo 1", 2), {});
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message().find("trial 0 is at no point of the space"), std::string::npos);
}

TEST_F(PolicySearch, CommandsAreScoredByTheirLastLines) {
  using Numbers = std::vector<double>;
  EXPECT_EQ(last_numbers("a\n0.5\n\n", 1), Numbers{0.5});
  EXPECT_EQ(last_numbers("-1e3", 1), Numbers{-1000});
  EXPECT_EQ(last_numbers(" +2 \r\n", 1), Numbers{2});
  EXPECT_EQ(last_numbers("a\n1\n\n 2 \n3", 3), (Numbers{1, 2, 3}));
  EXPECT_EQ(last_numbers("1\n2\n3\n", 2), (Numbers{2, 3}));
  for (const char* text : {"", "\n", "0.5 seconds", "nan", "inf", "1\nx"})
    EXPECT_EQ(last_numbers(text, 1), Numbers{}) << text;
  for (const char* text : {"1", "x\n1", "1\nx", "1 2", "\n\n1\n"})
    EXPECT_EQ(last_numbers(text, 2), Numbers{}) << text;
}

TEST_F(PolicySearch, WhatIsNoScoreIsShown) {
  EXPECT_EQ(why_no_scores(" \n\n", 1), "it printed nothing on its stdout");
  EXPECT_EQ(why_no_scores("0.5\n  nan\t\n\n", 1), "its last line of output is no number: nan");
  EXPECT_EQ(why_no_scores("a\x1b[0m", 1), "its last line of output is no number: a [0m");
  EXPECT_EQ(why_no_scores(std::string(59, 'a') + "\u00e9" + std::string(9, 'b'), 1),
            "its last line of output is no number: " + std::string(59, 'a') + "…");
  EXPECT_EQ(why_no_scores("1", 2), "its last lines of output are no numbers");
}

TEST_F(PolicySearch, WordsInBracesThatStandForNothing) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(strange_words("x {policy} {state} {parent} {policies} {trial} {budget} {step}"), Words{});
  EXPECT_EQ(strange_words("x {polcy} ${policy_x} {} { a } {a"), Words{"polcy"});
  EXPECT_EQ(strange_words("awk '{print}' {{steps}}"), (Words{"print", "steps"}));
}

TEST_F(PolicySearch, CommandsAreToldByWordsAndByTheEnvironment) {
  const TrialWords words = {{{"policy", {"a b'c.json"}}, {"parent", {""}}, {"budget", {"{policy}"}}}};
  const std::string exports =
      "export GALATEA_TRIAL_POLICY='a b'\\''c.json'; export GALATEA_TRIAL_PARENT=''; export "
      "GALATEA_TRIAL_BUDGET='{policy}'; ";
  EXPECT_EQ(command_for("run {policy} {policy} {parent}", words),
            exports + "run 'a b'\\''c.json' 'a b'\\''c.json' ''");
  EXPECT_EQ(command_for("run {budget} ${x} {nothing}", words),
            exports + "run '{policy}' ${x} {nothing} 'a b'\\''c.json'")
      << "what was filled in is not filled in again";
  const TrialWords several = {{{"policies", {"a b.json", "c.json"}}}};
  const std::string list = "export GALATEA_TRIAL_POLICIES='a b.json\nc.json'; ";
  EXPECT_EQ(command_for("run {policies} x", several), list + "run 'a b.json' 'c.json' x");
}

TEST_F(PolicySearch, FailuresAreRecorded) {
  auto journal = open(head());
  ASSERT_TRUE(journal);
  // One of each kind, by the number in the file's name.
  SearchOptions all =
      options("case {policy} in *00.json) echo 1;; *01.json) exit 3;; *02.json) echo one;; *03.json) " +
                  hangs() + ";; *04.json) kill -9 $$;; esac; #",
              5);
  all.timeout = 3;
  all.now = clock_of_hangs();
  const auto strategy = make_strategy(*space_, {});
  ASSERT_TRUE(run_search(*space_, *strategy, *journal, all, {}));
  std::map<int64_t, std::string> reasons;
  for (const Trial& trial : journal->ended()) reasons[trial.number] = trial.failed ? trial.reason : "fine";
  EXPECT_EQ(reasons, (std::map<int64_t, std::string>{{0, "fine"},
                                                     {1, "it ended with status 3"},
                                                     {2, "its last line of output is no number: one"},
                                                     {3, "it ran longer than 3 seconds"},
                                                     {4, "it was ended by signal 9"}}));
}

// Nobody has looked for an hour: what had ended by then had not run so long.
TEST_F(PolicySearch, WhatHasEndedIsNotTooSlow) {
  std::chrono::steady_clock::time_point now;
  Commands commands([&] { return now; });
  ASSERT_TRUE(commands.start({.command = "echo 1", .words = {}, .timeout = 3}));
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT), 0);
  now += std::chrono::hours(1);
  const std::vector<ObjectiveEvent> events = commands.collect(std::chrono::milliseconds(0));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].ended->scores, std::vector<double>{1}) << events[0].ended->reason;
}

// The objective reads the policy that it is given; the search is stopped after each few trials and goes on.
TEST_F(PolicySearch, AStoppedSearchGoesOnAndLosesNothing) {
  const std::string objective = "grep -c equalize {policy}";
  const auto whole_strategy = make_strategy(*space_, {.seed = 9});
  std::vector<Point> expected;
  for (int64_t i = 0; i < 12; ++i) expected.push_back(whole_strategy->ask(i).trial.point);
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

// The words of an objective that is told of several policies at once: each file's bin of `rotate` is its
// score.
constexpr const char* kBinsOfEach =
    "for file in {policies}; do sed -n 's/.*\"rotate\", 1, \\([0-9]*\\).*/\\1/p' $file; done";

TEST_F(PolicySearch, TrialsOfACallScoreAsTheyDoAlone) {
  for (const char* strategy : {"random", "evolution"}) {
    std::map<int64_t, Trial> alone;
    for (const auto& [together, jobs] : {std::pair{1, 1}, {5, 1}, {3, 4}}) {
      fs::remove(folder_ / "journal");
      fs::remove(folder_ / "calls");
      const StrategyOptions of_strategy = {.name = strategy, .population = 6};
      const std::string objective =
          "echo {policies} >> '" + (folder_ / "calls").string() + "'; " + kBinsOfEach;
      auto journal = open(head(objective, of_strategy));
      ASSERT_TRUE(journal);
      SearchOptions all = options(objective, 30);
      all.together = together;
      all.jobs = jobs;
      ASSERT_TRUE(run_search(*space_, *make_strategy(*space_, of_strategy), *journal, all, {}));
      ASSERT_EQ(journal->ended().size(), 30u);
      for (const Trial& trial : journal->ended()) {
        ASSERT_FALSE(trial.failed) << trial.reason;
        EXPECT_EQ(trial.score, trial.point[2]);
        if (together == 1) alone[trial.number] = trial;
        EXPECT_EQ(trial.point, alone.at(trial.number).point) << trial.number << " with " << together;
        EXPECT_EQ(trial.score, alone.at(trial.number).score) << trial.number << " with " << together;
      }
      std::ifstream calls(folder_ / "calls");
      std::string call;
      size_t told = 0, most = 0, count = 0;
      for (; std::getline(calls, call); ++count) {
        const auto files = static_cast<size_t>(std::count(call.begin(), call.end(), ' ')) + 1;
        told += files;
        most = std::max(most, files);
      }
      EXPECT_EQ(told, 30u) << "each once";
      EXPECT_LE(most, static_cast<size_t>(together));
      // One call at a time: all trials that may begin go into it, of evolution eight.
      if (jobs == 1 && strategy == std::string("random")) {
        EXPECT_EQ(count, (30u + static_cast<size_t>(together) - 1) / static_cast<size_t>(together));
      }
    }
  }
}

TEST_F(PolicySearch, WhatFailsTogetherIsTriedAlone) {
  struct Case {
    const char *of_several, *of_one, *reason;
  };
  const std::string hanging = hangs();
  // What calls of several do, and what the trial 2 does alone.
  for (const auto& [of_several, of_one, reason] :
       {Case{"exit 3", "exit 3", "it ended with status 3"},
        {"echo 1", "echo none; exit", "its last line of output is no number: none"},
        {hanging.c_str(), hanging.c_str(), "it ran longer than 3 seconds"}}) {
    fs::remove(folder_ / "journal");
    const std::string objective = std::string("set {policies}; [ $# = 1 ] || { ") + of_several +
                                  "; exit; }; case $1 in *00002.json) " + of_one + ";; esac; echo 7";
    auto journal = open(head(objective));
    SearchOptions all = options(objective, 6);
    all.together = 3;
    all.jobs = of_several == hanging ? 1 : 2;
    all.timeout = 3;
    all.now = clock_of_hangs();
    ASSERT_TRUE(run_search(*space_, *make_strategy(*space_, {}), *journal, all, {}));
    std::map<int64_t, std::string> reasons;
    for (const Trial& trial : journal->ended()) {
      EXPECT_TRUE(trial.failed || trial.score == 7) << trial.number;
      reasons[trial.number] = trial.failed ? trial.reason : "fine";
    }
    EXPECT_EQ(reasons, (std::map<int64_t, std::string>{
                           {0, "fine"}, {1, "fine"}, {2, reason}, {3, "fine"}, {4, "fine"}, {5, "fine"}}));
  }
}

}  // namespace
}  // namespace galatea::policy
