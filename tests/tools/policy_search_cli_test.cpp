// `galatea policy search` and `score`: killed and started again, strategies that keep states, what comes out.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/support/build_folder.h"
#include "tests/tools/program.h"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using galatea::parse_json;
using galatea::testing::build_folder;
using galatea::testing::contains;
using galatea::testing::Outcome;
using galatea::testing::read_file;
using std::chrono::milliseconds;

constexpr const char* kSpace = R"({"format": "augment-policy", "version": 1, "bins": 11,
  "augmentations": {"rotate": {"range": [0, {"$float": [10, 50]}], "negate": true}, "invert": {}, "equalize": {}},
  "policy": {"seq": [[{"$choice": ["equalize", "invert"]}, {"$choice": [0.5, 1]}, null],
    {"apply": "rotate", "mag": {"bin": {"$int": [0, 10]}}}]}})";

class PolicySearchCommand : public testing::Test {
 protected:
  void SetUp() override { scratch_.write("space.json", kSpace); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Outcome policy(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "policy");
    return galatea::testing::run_galatea(std::move(arguments), folder_);
  }
  Outcome search(const std::string& objective, std::vector<std::string> more = {}) {
    std::vector<std::string> all = {"search", path("space.json"), "--objective", objective};
    all.insert(all.end(), more.begin(), more.end());
    return policy(all);
  }
  static size_t lines_of(const std::string& text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  const galatea::testing::ScratchFolder scratch_;
  const fs::path& folder_ = scratch_.path();
};

struct Killed {
  const char* strategy;
  std::vector<std::string> options;
  size_t trials;
  const char* jobs;
};

void PrintTo(const Killed& test, std::ostream* out) { *out << test.strategy; }

class KilledSearch : public PolicySearchCommand, public testing::WithParamInterface<Killed> {
 protected:
  /// Scores by the text of the policy. Says what may not be: two at once in one folder of states, a folder
  /// that is not empty, a parent without a state. Certain commands, counted over all starts, kill the search
  /// before or after their work; no other of the same start is counted after a killer.
  std::string objective(const std::string& run, const std::string& killers) const {
    const std::string problems = " >> '" + path(run + "-problems") + "'; ";
    std::string text = "exec 9> {state}.lock; flock -n 9 || echo overlap {trial}" + problems +
                       "[ -z \"$(ls -A {state})\" ] || echo dirty {trial}" + problems;
    if (const std::string by = GetParam().strategy; by == "halving" || by == "population")
      text += "[ -z {parent} ] || [ -f {parent}/mark ] || echo orphan {trial}" + problems;
    const std::string started = "'" + path(run + "-started") + "'",
                      dead = "'" + path(run + "-dead-") + "'$PPID";
    text += "exec 8> '" + path(run + "-counter") + "'; flock 8; [ ! -e " + dead +
            " ] || sleep 600; echo {trial} >> " + started + "; n=$(wc -l < " + started + "); k=' " + killers +
            " '; die() { touch " + dead +
            "; kill -KILL $PPID; sleep 600; }; [ \"${k#* $n:before }\" = \"$k\" ] || die; "
            "[ \"${k#* $n:after }\" != \"$k\" ] || flock -u 8; ";
    return text +
           "touch {state}/mark; cksum < {policy} | cut -d ' ' -f 1; [ \"${k#* $n:after }\" = \"$k\" ] || die";
  }
  std::vector<std::string> arguments(const std::string& run, const std::string& killers) const {
    std::vector<std::string> all = {"search",     path("space.json"),  "--objective", objective(run, killers),
                                    "--strategy", GetParam().strategy, "--folder",    path(run),
                                    "--jobs",     GetParam().jobs,     "--json"};
    all.insert(all.end(), GetParam().options.begin(), GetParam().options.end());
    return all;
  }
  /// What a search found, without what time decides: seconds, and the order in which trials ended.
  static Json timeless(const std::string& text) {
    Json found = parse_json(text);
    std::map<int64_t, Json> by_number;
    for (Json trial : found["trials"]) {
      trial.erase("seconds");
      by_number[trial["trial"].get<int64_t>()] = trial;
    }
    found["trials"] = Json::array();
    for (const auto& [number, trial] : by_number) found["trials"].push_back(trial);
    return found;
  }
};

TEST_P(KilledSearch, EndsAsIfItHadNotBeen) {
  const Outcome whole = policy(arguments("whole", ""));
  ASSERT_EQ(whole.status, 0) << whole.err;
  const Json expected = timeless(whole.out);
  ASSERT_EQ(expected["trials"].size(), GetParam().trials);

  // The first command, then others further and further on, with some that run beside them.
  const std::string killers = "1:before 2:after 5:before 9:after 10:before 14:after";
  constexpr size_t kKills = 6;
  for (size_t kill = 0; kill < kKills; ++kill) {
    const Outcome killed = policy(arguments("killed", killers));
    ASSERT_EQ(killed.status, 1000 + SIGKILL) << kill << "\n" << killed.err;
  }
  const Outcome last = policy(arguments("killed", killers));
  ASSERT_EQ(last.status, 0) << last.err;
  const Json found = timeless(last.out);
  EXPECT_EQ(found, expected);
  EXPECT_FALSE(fs::exists(path("killed-problems"))) << read_file(path("killed-problems"));

  // Each trial began once and ended once in the journal; commands that ran again were under way when a kill
  // came.
  std::map<int64_t, int> began, ended, started;
  std::istringstream journal(read_file(path("killed/journal.jsonl")));
  std::string line;
  for (std::getline(journal, line); std::getline(journal, line);) {
    const Json entry = parse_json(line);
    ++(entry.contains("point") ? began : ended)[entry["trial"].get<int64_t>()];
  }
  EXPECT_EQ(began.size(), GetParam().trials);
  EXPECT_EQ(ended, began);
  for (const auto& [number, count] : ended) EXPECT_EQ(count, 1) << number;
  std::istringstream commands(read_file(path("killed-started")));
  size_t runs = 0;
  for (int64_t number; commands >> number; ++runs) ++started[number];
  EXPECT_EQ(started.size(), GetParam().trials);
  EXPECT_GE(runs, GetParam().trials + 3) << "those that killed before their work ran again";
  EXPECT_LE(runs, GetParam().trials + kKills * std::stoul(GetParam().jobs));
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, KilledSearch,
    testing::Values(Killed{"random", {"--trials", "16"}, 16, "2"},
                    Killed{"evolution", {"--population", "4", "--ahead", "3", "--trials", "18"}, 18, "3"},
                    Killed{"halving", {"--population", "9", "--budget", "9"}, 13, "3"},
                    Killed{"population", {"--population", "4", "--trials", "20"}, 20, "3"}),
    [](const auto& test) { return std::string(test.param.strategy); });

TEST_F(PolicySearchCommand, NothingOfAKilledSearchRunsOn) {
  // A command with a child of its own that is not waited for; then it kills the search, its parent.
  const std::string objective =
      "sleep 600 & echo $! > '" + path("sleeper") + "'; kill -KILL $PPID; wait; echo 1 #";
  const Outcome killed = search(objective, {"--trials", "1"});
  ASSERT_EQ(killed.status, 1000 + SIGKILL);
  ASSERT_TRUE(fs::exists(path("sleeper"))) << "it did not begin";
  const int sleeper = std::stoi(read_file(path("sleeper")));
  // Another process's child is not ours to wait for: gone, or a zombie until somebody does.
  auto is_running = [&] {
    const std::string status = read_file("/proc/" + std::to_string(sleeper) + "/stat");
    return !status.empty() && !contains(status, ") Z ");
  };
  for (int i = 0; i < 3000 && is_running(); ++i) std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(is_running());
}

TEST_F(PolicySearchCommand, TwoSearchesDoNotShareAFolder) {
  const std::string objective =
      "touch '" + path("began") + "'; until [ -e '" + path("stop") + "' ]; do sleep 0.02; done; echo 1 #";
  fs::create_directories(folder_ / "first");
  auto first = std::async(std::launch::async, [&] {
    return galatea::testing::run_galatea(
        {"policy", "search", path("space.json"), "--objective", objective, "--trials", "1"},
        folder_ / "first");
  });
  for (int i = 0; i < 3000 && !fs::exists(path("began")); ++i) std::this_thread::sleep_for(milliseconds(20));
  EXPECT_TRUE(fs::exists(path("began")));
  const Outcome second = search(objective, {"--trials", "1"});
  std::ofstream(path("stop")) << "now";
  EXPECT_EQ(second.status, 1);
  EXPECT_TRUE(contains(second.err, "error[G1017]: another search is writing to")) << second.err;
  EXPECT_EQ(first.get().status, 0);
}

TEST_F(PolicySearchCommand, AnInterruptedSearchSaysHowItGoesOn) {
  const Outcome o = search("[ {trial} = 0 ] || { kill -INT $PPID; sleep 600; }; echo 1 #", {"--trials", "2"});
  EXPECT_EQ(o.status, 130) << o.err;
  EXPECT_TRUE(contains(o.err, "the same command goes on where this one stopped")) << o.err;
  EXPECT_TRUE(contains(o.out, "1 trials, 0 failed")) << o.out;
  // What was under way is neither ended nor failed.
  EXPECT_EQ(lines_of(read_file(path("space-search/journal.jsonl"))), 4u) << "a head, two beginnings, an end";
}

TEST_F(PolicySearchCommand, ALineThatWasCutOffIsSaidAndDoneAgain) {
  ASSERT_EQ(search("echo 1 #", {"--trials", "3"}).status, 0);
  const std::string journal = path("space-search/journal.jsonl");
  const std::string whole = read_file(journal);
  // Cut anywhere in the last line; the trial that it ended is run again.
  const size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  for (size_t cut : {last + 1, (last + whole.size()) / 2, whole.size() - 1}) {
    std::ofstream(journal, std::ios::binary) << whole.substr(0, cut);
    const Outcome again = search("echo 1 #", {"--trials", "3", "--json"});
    EXPECT_EQ(again.status, 0) << again.err;
    EXPECT_TRUE(contains(again.err, "warning[G1021]")) << again.err;
    EXPECT_TRUE(contains(again.err, "(" + std::to_string(cut - last) + " bytes)")) << again.err;
    EXPECT_EQ(parse_json(again.out)["trials"].size(), 3u);
  }
  // In the head as well, where nothing is left to go on from.
  std::ofstream(journal, std::ios::binary) << whole.substr(0, 20);
  EXPECT_EQ(search("echo 1 #", {"--trials", "3"}).status, 0);
}

TEST_F(PolicySearchCommand, HalvingSpendsWhereItPays) {
  // The score is the bin; the command sees the budget as word and in its environment.
  const std::string objective = "[ {budget} = \"$GALATEA_TRIAL_BUDGET\" ] || exit 9; echo {budget} >> '" +
                                path("budgets") +
                                "'; sed -n 's/.*\"rotate\", 1, \\([0-9]*\\).*/\\1/p' {policy}";
  const Outcome o = search(objective, {"--strategy", "halving", "--population", "9", "--budget", "9",
                                       "--json", "--report", path("page.html")});
  ASSERT_EQ(o.status, 0) << o.err;
  const Json found = parse_json(o.out);
  ASSERT_EQ(found["trials"].size(), 13u);
  std::map<double, int> budgets;
  double greatest = 0;
  for (const Json& trial : found["trials"]) {
    ++budgets[trial["budget"].get<double>()];
    if (trial["budget"] == 1) greatest = std::max(greatest, trial["score"].get<double>());
  }
  EXPECT_EQ(budgets, (std::map<double, int>{{1, 9}, {3, 3}, {9, 1}}));
  EXPECT_EQ(read_file(path("budgets")), "1\n1\n1\n1\n1\n1\n1\n1\n1\n3\n3\n3\n9\n");
  EXPECT_EQ(found["best"], 12);
  EXPECT_EQ(found["trials"][12]["score"], greatest);
  EXPECT_EQ(found["lineage"].size(), 3u);
  EXPECT_TRUE(contains(read_file(path("page.html")), "budget")) << o.err;
  const Outcome few = search(objective, {"--strategy", "halving", "--population", "9", "--budget", "9",
                                         "--trials", "5", "--folder", path("few")});
  EXPECT_TRUE(contains(few.err, "warning[G1022]: 5 trials end before the first round of 13 is whole"))
      << few.err;
}

TEST_F(PolicySearchCommand, PopulationsKeepStatesAndGiveASchedule) {
  // The state is a number that grows by the bin; the score is the state.
  const std::string objective =
      "before=0; [ -z {parent} ] || before=$(cat {parent}/sum); "
      "bin=$(sed -n 's/.*\"rotate\", 1, \\([0-9]*\\).*/\\1/p' {policy}); "
      "echo $((before + bin)) > {state}/sum; echo {step} >> {state}/step; cat {state}/sum";
  const Outcome o =
      search(objective, {"--strategy", "population", "--population", "4", "--trials", "20", "--jobs", "2",
                         "--json", "--schedule", path("schedule"), "-o", path("best.json")});
  ASSERT_EQ(o.status, 0) << o.err;
  const Json found = parse_json(o.out);
  std::map<int64_t, Json> trials;
  for (const Json& trial : found["trials"]) trials[trial["trial"].get<int64_t>()] = trial;
  ASSERT_EQ(trials.size(), 20u);
  double sum = 0;
  ASSERT_EQ(found["lineage"].size(), 5u);
  for (size_t step = 0; step < 5; ++step) {
    const auto number = found["lineage"][step].get<int64_t>();
    char name[64];
    std::snprintf(name, sizeof name, "space-search/state-%05d/step", static_cast<int>(number));
    EXPECT_EQ(read_file(path(name)), std::to_string(step) + "\n");
    sum += trials.at(number)["point"][3].get<double>();
    EXPECT_EQ(trials.at(number)["score"], sum) << "states follow one another";
    std::snprintf(name, sizeof name, "schedule/step-%05zu.json", step);
    EXPECT_EQ(parse_json(read_file(path(name)))["policy"]["seq"][1][2], trials.at(number)["point"][3]);
  }
  EXPECT_EQ(read_file(path("schedule/step-00004.json")), read_file(path("best.json")));
  for (int64_t number = 16; number < 20; ++number) EXPECT_LE(trials.at(number)["score"], sum);
}

TEST_F(PolicySearchCommand, OptionsThatDoNotGoTogetherAreRefused) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{}, "nothing says how good a policy is"},
      {{"--objective", "x", "--proxy", "photos"}, "there are several objectives"},
      {{"--objective", "x {budget}"}, "the objective names `{budget}`, but trials of the strategy `random`"},
      {{"--objective", "x {step}", "--strategy", "halving"}, "the objective names `{step}`"},
      {{"--objective", "x {parent}", "--strategy", "grid"}, "the objective names `{parent}`"},
      {{"--objective", "x", "--schedule", "s"}, "`--schedule` asks for a schedule"},
      {{"--objective", "x", "--strategy", "halving", "--least-budget", "9", "--budget", "3"},
       "`--least-budget` is greater than `--budget`"},
      {{"--proxy", "photos", "--strategy", "population"}, "the proxy trains nothing"},
      {{"--objective", "x {policy}", "--together", "2"},
       "`--together` is for an objective that takes several policies"},
      {{"--objective", "x {policies} {policy}"}, "the objective names `{policies}`, which are several, and"},
      {{"--objective", "x {policies} {state}"}, "the objective names `{policies}`, which are several, and"},
      {{"--objective", "x {policies}", "--strategy", "halving"},
       "the objective names `{policies}`, but each trial of the strategy `halving`"},
      {{"--objective", "x", "--strategy", "optuna"},
       "the strategy `optuna` is in the Python package galatea"},
      {{"--objective", "x", "--strategy", "halving", "--prune"}, "`--prune` is for trials that spend alike"},
      {{"--proxy", build_folder() + "/samples", "--max-microseconds", "9"}, "the proxy reports no scores"},
      {{"--objective", "x {policies}", "--prune"}, "the objective names `{policies}`, but what it reports"},
      {{"--objective", "x", "--host", "3"}, "`--host` goes with `--host-strategy` or `--host-objective`"},
      {{"--host-objective", "x"}, "`--host` goes with `--host-strategy` or `--host-objective`"},
  };
  for (const auto& [options, words] : cases) {
    std::vector<std::string> all = {"search", path("space.json")};
    all.insert(all.end(), options.begin(), options.end());
    const Outcome o = policy(all);
    EXPECT_EQ(o.status, 1) << words;
    EXPECT_TRUE(contains(o.err, "error[G1020]: " + std::string(words))) << o.err;
    EXPECT_FALSE(fs::exists(path("space-search"))) << words;
  }
  EXPECT_EQ(search("x", {"--strategy", "hill"}).status, 2);
  EXPECT_EQ(search("x", {"--population", "1"}).status, 2);
  EXPECT_EQ(search("x", {"--eta", "1"}).status, 2);
}

TEST_F(PolicySearchCommand, ADescriptorThatIsNoSocketIsSaid) {
  const std::string command = build_folder() + "/bin/galatea policy search '" + path("space.json") +
                              "' --host 7 --host-objective x 2> '" + path("said.txt") + "' 7";
  for (const std::string end : {">&-", "< /dev/null"}) {
    EXPECT_NE(std::system((command + end).c_str()), 0);
    EXPECT_TRUE(contains(read_file(path("said.txt")), "the descriptor of `--host` is no socket"))
        << read_file(path("said.txt"));
  }
}

TEST_F(PolicySearchCommand, ReportsAndMicrosecondsAreListed) {
  const Outcome o = search("echo report 3; echo microseconds 20; echo 4 #",
                           {"--prune", "--max-microseconds", "20", "--trials", "2", "--json"});
  ASSERT_EQ(o.status, 0) << o.err;
  for (const Json& trial : parse_json(o.out)["trials"]) {
    EXPECT_EQ(trial["scores"], Json({3}));
    EXPECT_EQ(trial["microseconds"], 20);
    EXPECT_EQ(trial["pruned"], false);
  }
  const Outcome bounded = search("echo microseconds 20; echo 4 #",
                                 {"--max-microseconds", "19", "--trials", "1", "--folder", path("bounded")});
  EXPECT_EQ(bounded.status, 1);
  EXPECT_TRUE(contains(bounded.err, "it takes 20 microseconds a sample, more than 19")) << bounded.err;
}

TEST_F(PolicySearchCommand, AMistypedWordAndAMissingFolderAreSaidAtOnce) {
  const Outcome word = search("x {polcy}");
  EXPECT_EQ(word.status, 1);
  EXPECT_TRUE(contains(word.err, "error[G1020]: the objective names `{polcy}`, which stands for nothing"))
      << word.err;
  EXPECT_TRUE(contains(word.err, "did you mean `policy`?")) << word.err;
  const Outcome folder = policy({"search", path("space.json"), "--proxy", path("nowhere")});
  EXPECT_EQ(folder.status, 1);
  EXPECT_TRUE(contains(folder.err, "which is no folder")) << folder.err;
  EXPECT_FALSE(fs::exists(path("space-search")));
  // Braces that the shell and awk have a use for.
  const Outcome awk = search("x=1; echo ${x} | awk '{print}' #", {"--trials", "2"});
  EXPECT_EQ(awk.status, 0) << awk.err;
}

TEST_F(PolicySearchCommand, GoesOnWhereNobodyReadsWhatItSays) {
  const std::string command = build_folder() + "/bin/galatea policy search '" + path("space.json") +
                              "' --objective 'echo 1 #' --trials 5 --folder '" + path("run") + "' > '" +
                              path("found.txt") + "' 2> /dev/full";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(lines_of(read_file(path("run/journal.jsonl"))), 1U + 2 * 5);
  EXPECT_TRUE(contains(read_file(path("found.txt")), "5 trials, 0 failed")) << read_file(path("found.txt"));
}

TEST_F(PolicySearchCommand, JobsThatStayIdleAreSaid) {
  const Outcome idle =
      search("echo 1 #", {"--strategy", "evolution", "--trials", "4", "--jobs", "9", "--ahead", "2"});
  EXPECT_EQ(idle.status, 0) << idle.err;
  EXPECT_TRUE(contains(idle.err, "warning[G1022]: 7 of 9 jobs stay idle: evolution has 2 trials under way"))
      << idle.err;
}

TEST_F(PolicySearchCommand, TheProxyScoresWithoutTraining) {
  const std::string samples = build_folder() + "/samples";
  auto score = [&](const std::string& table, const std::string& expression) {
    std::ofstream(path("policy.json"))
        << "{\"format\": \"augment-policy\", \"version\": 1, \"augmentations\": {" << table
        << "}, \"policy\": " << expression << "}";
    Outcome o = policy({"score", path("policy.json"), "--data", samples, "--samples", "16", "--size", "64",
                        "--draws", "3", "--json"});
    EXPECT_EQ(o.status, 0) << o.err;
    return parse_json(o.out);
  };
  const Json identity = score("\"identity\": {}", "[\"identity\", 1, null]");
  EXPECT_EQ(identity["affinity"], 1.0);
  EXPECT_EQ(identity["diversity"], 0.0);
  EXPECT_EQ(identity["samples"], 16);
  EXPECT_EQ(identity["draws"], 3);
  EXPECT_GT(identity["classes"], 1);
  const std::string table =
      "\"brightness\": {\"range\": [0, 0.9], \"negate\": true, \"param\": \"one_plus\"}";
  const Json mild = score(table, "{\"apply\": \"brightness\", \"mag\": {\"uniform_bin\": [0, 6]}}");
  const Json strong = score(table, "{\"apply\": \"brightness\", \"mag\": {\"uniform_bin\": [0, 30]}}");
  EXPECT_GT(mild["affinity"], strong["affinity"]);
  EXPECT_GT(mild["diversity"], 0.0);
  EXPECT_LT(mild["diversity"], strong["diversity"]);
  EXPECT_EQ(score(table, "{\"apply\": \"brightness\", \"mag\": {\"uniform_bin\": [0, 30]}}"), strong);

  // As an objective; the last line of the text is the score.
  Outcome text = policy(
      {"score", path("policy.json"), "--data", samples, "--samples", "16", "--size", "64", "--draws", "3"});
  const size_t last = text.out.rfind('\n', text.out.size() - 2) + 1;
  EXPECT_NEAR(std::stod(text.out.substr(last)), strong["score"].get<double>(), 1e-6);
  std::ofstream(path("small.json")) << R"({"format": "augment-policy", "version": 1, "bins": 11,
    "augmentations": {"brightness": {"range": [0, 0.9], "negate": true, "param": "one_plus"}},
    "policy": ["brightness", 1, {"$choice": [0, 5]}]})";
  Outcome found = policy({"search", path("small.json"), "--proxy", samples, "--strategy", "grid", "--json"});
  ASSERT_EQ(found.status, 0) << found.err;
  const Json trials = parse_json(found.out)["trials"];
  ASSERT_EQ(trials.size(), 2u) << found.out;
  EXPECT_EQ(trials[0]["score"], 0.0) << "a brightness of 0 changes nothing";
  EXPECT_GT(trials[1]["score"], 0.1);
  found = policy({"search", path("small.json"), "--proxy", samples, "--strategy", "grid", "--json",
                  "--together", "1", "--folder", path("alone")});
  ASSERT_EQ(found.status, 0) << found.err;
  const Json alone = parse_json(found.out)["trials"];
  ASSERT_EQ(alone.size(), 2u);
  for (const Json& trial : alone) EXPECT_EQ(trial["score"], trials[trial["trial"].get<size_t>()]["score"]);
  Outcome nowhere = policy({"score", "svhn", "--data", path("none")});
  EXPECT_EQ(nowhere.status, 1);
  EXPECT_TRUE(contains(nowhere.err, "G0801")) << nowhere.err;
}

TEST_F(PolicySearchCommand, ThePipelineOfTheBestPolicyStandsAlone) {
  ASSERT_EQ(search("grep -c invert {policy}", {"--trials", "8", "-o", path("best.json"), "--pipeline",
                                               path("alone/best.dali-dsl"), "--report", path("page.html")})
                .status,
            1)
      << "there is no such folder";
  fs::create_directories(folder_ / "alone");
  ASSERT_EQ(search("grep -c invert {policy}", {"--trials", "8", "-o", path("best.json"), "--pipeline",
                                               path("alone/best.dali-dsl"), "--report", path("page.html")})
                .status,
            0);
  auto galatea = [&](std::vector<std::string> arguments) {
    return galatea::testing::run_galatea(std::move(arguments), folder_);
  };
  const std::string file = path("alone/best.dali-dsl");
  const Outcome checked = galatea({"check", file});
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_EQ(galatea({"fmt", "--check", file}).status, 0);
  EXPECT_EQ(policy({"convert", path("best.json"), "--to", "pipeline"}).out, read_file(file));
  const Outcome ran = galatea(
      {"run", file, "--batches", "1", "--batch-size", "2", "--set", "data=" + build_folder() + "/samples"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(contains(read_file(path("page.html")), "policy.define("));
}

TEST_F(PolicySearchCommand, ImportsOfTheSpaceAreSeenByTrials) {
  std::ofstream(path("mine.dali-dsl")) << "from galatea.auto_aug.core import augmentation\n"
                                          "\n"
                                          "@augmentation(mag_range=(0, 9))\n"
                                          "def darker(data, by):\n"
                                          "    return data\n";
  std::ofstream(path("imports.json"))
      << R"({"format": "augment-policy", "version": 1, "imports": ["mine.dali-dsl"],
    "augmentations": {"darker": {"range": [0, 9]}}, "policy": ["darker", 1, {"$int": [0, 30]}]})";
  const Outcome o =
      policy({"search", path("imports.json"), "--trials", "2", "--json", "--objective",
              build_folder() + "/bin/galatea policy score --samples 2 --draws 2 --size 32 --data " +
                  build_folder() + "/samples {policy}"});
  ASSERT_EQ(o.status, 0) << o.err;
  const Json trials = parse_json(o.out)["trials"];
  EXPECT_EQ(trials.size(), 2u);
  for (const Json& trial : trials) EXPECT_EQ(trial["score"], 0.0) << o.out;
}

/// What cannot be imported is said before the first trial, and once.
TEST_F(PolicySearchCommand, ImportsThatFailAreSaidBeforeTheFirstTrial) {
  const char* augmentation =
      "from galatea.auto_aug.core import augmentation\n"
      "\n"
      "@augmentation(mag_range=(0, 9))\n"
      "def darker(data, by):\n"
      "    return data";
  std::ofstream(path("mine.dali-dsl")) << augmentation << "\n";
  for (auto [import, code] : {std::pair{"../mine.dali-dsl", "G0606"},
                              {"gone.dali-dsl", "G0604"},
                              {"half.dali-dsl", "G0101"},
                              {"other.dali-dsl", "G1009"},
                              {"fails.dali-dsl", "G0201"}}) {
    fs::create_directories(folder_ / "inner");
    std::ofstream(path("inner/half.dali-dsl")) << augmentation << " =\n";
    std::ofstream(path("inner/other.dali-dsl")) << "brighter = 1\n";
    std::ofstream(path("inner/fails.dali-dsl")) << augmentation << " + nothing\n";
    std::ofstream(path("inner/space.json"))
        << R"({"format": "augment-policy", "version": 1, "imports": [")" << import
        << R"("], "augmentations": {"darker": {"range": [0, 9]}}, "policy": ["darker", 1, {"$int": [0, 30]}]})";
    const Outcome bad = policy({"search", path("inner/space.json"), "--trials", "3", "--objective",
                                "touch " + path("ran") + "; echo 1 #"});
    EXPECT_EQ(bad.status, 1) << import;
    EXPECT_TRUE(contains(bad.err, code)) << import << "\n" << bad.err;
    EXPECT_EQ(bad.err.find("error["), bad.err.rfind("error[")) << bad.err;
    EXPECT_FALSE(fs::exists(path("ran"))) << import;
    EXPECT_FALSE(fs::exists(path("inner/space-search"))) << import;
    fs::remove_all(folder_ / "inner");
  }
}

}  // namespace
