// galatea policy search SPACE --objective 'command {policy}': tries points of a search space.
#include <filesystem>
#include <memory>

#include <fmt/core.h>

#include "dsl/formatter/formatter.h"
#include "policy/messages.h"
#include "policy/pipeline_text.h"
#include "policy/reader.h"
#include "policy/search/objective.h"
#include "policy/search/report.h"
#include "policy/search/search.h"
#include "policy/trim.h"
#include "policy/writer.h"
#include "tools/interrupt.h"
#include "tools/policy/policy_tools.h"
#include "tools/policy/search_result.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {
namespace fs = std::filesystem;

constexpr const char* kOptuna = "optuna";  ///< a strategy of the Python package
constexpr int kTogether = 4;               ///< docs/policies.md has what more would gain

struct SearchCommandOptions {
  std::string space, proxy, output, folder, report, pipeline, schedule;
  policy::StrategyOptions strategy;
  policy::SearchOptions search;
  std::optional<int> together;
  std::optional<int> host;  ///< the descriptor of a socket
  std::string host_strategy, host_objective;
  bool json = false;

  /// What the journal knows the objective by; for the proxy not where this program lies.
  std::string objective_name() const {
    if (!host_objective.empty()) return host_objective;
    return proxy.empty() ? search.objective : "proxy over " + proxy;
  }
};

void report_problem(policy::Message message, const std::string& what, const std::string& help,
                    Reporter& reporter) {
  reporter.report(policy::diagnose(message, {}, {what, help}));
}

/// Options that do not go together.
void check(const SearchCommandOptions& options, Reporter& reporter) {
  auto refuse = [&](const std::string& what, const std::string& help) {
    report_problem(policy::Message::kObjective, what, help, reporter);
  };
  const policy::StrategyOptions& strategy = options.strategy;
  auto names = [&](const char* word) { return policy::names_word(options.search.objective, word); };
  const std::string by = " of the strategy `" + strategy.name + "`";
  const int objectives =
      !options.search.objective.empty() + !options.proxy.empty() + !options.host_objective.empty();
  if (objectives != 1)
    refuse(objectives == 0 ? "nothing says how good a policy is" : "there are several objectives",
           "give `--objective COMMAND` or `--proxy FOLDER`");
  if (options.host.has_value() != !(options.host_strategy.empty() && options.host_objective.empty()))
    refuse("`--host` goes with `--host-strategy` or `--host-objective`, and they with `--host`",
           "use the Python package, which starts this program with them");
  if (strategy.name == kOptuna)
    refuse("the strategy `optuna` is in the Python package galatea, which did not start this program",
           "type `python -m galatea policy search …` with the same options, where galatea and optuna are "
           "installed (pip)");
  for (const std::string& word : policy::strange_words(options.search.objective))
    if (const std::string help = policy::did_you_mean(word, policy::objective_words()); !help.empty())
      refuse("the objective names `{" + word + "}`, which stands for nothing", help);
  std::error_code error;
  if (!options.proxy.empty() && !fs::is_directory(options.proxy, error))
    refuse("`--proxy` names `" + options.proxy + "`, which is no folder",
           "name a folder that holds a folder of pictures for each class");
  if (names("budget") && !strategy.has_budgets())
    refuse("the objective names `{budget}`, but trials" + by + " have none", "use `--strategy halving`");
  if (names("step") && !strategy.has_steps())
    refuse("the objective names `{step}`, but trials" + by + " have none", "use `--strategy population`");
  if (names("parent") && !strategy.has_parents())
    refuse("the objective names `{parent}`, but trials" + by + " have none",
           "use `--strategy halving` or `--strategy population`");
  if (names("policies")) {
    for (const char* word : {"policy", "trial", "state"})
      if (names(word))
        refuse(fmt::format(
                   "the objective names `{{policies}}`, which are several, and `{{{}}}`, which is one", word),
               "name one of the two");
    if (strategy.has_parents())
      refuse("the objective names `{policies}`, but each trial" + by + " goes on from a state of its own",
             "name `{policy}`");
  } else if (options.together && options.proxy.empty()) {
    refuse("`--together` is for an objective that takes several policies, but it does not name `{policies}`",
           "name `{policies}`, and print a line for each");
  }
  if (!options.schedule.empty() && !strategy.has_steps())
    refuse("`--schedule` asks for a schedule, but the strategy `" + strategy.name + "` makes none",
           "use `--strategy population`");
  if (strategy.has_budgets() && strategy.least_budget > strategy.greatest_budget)
    refuse("`--least-budget` is greater than `--budget`", "give the smaller one to `--least-budget`");
  if (options.search.prune && strategy.has_parents())
    refuse("`--prune` is for trials that spend alike, but the strategy `" + strategy.name +
               "` ends trials by itself",
           "take `--prune` out, or use `--strategy evolution`");
  if (!options.proxy.empty() && (options.search.prune || options.search.max_microseconds > 0))
    refuse("the proxy reports no scores, and does not tell what a policy takes",
           "take `--prune` and `--max-microseconds` out");
  if (names("policies") && (options.search.prune || options.search.max_microseconds > 0))
    refuse("the objective names `{policies}`, but what it reports would be of one of them",
           "name `{policy}`");
  if (strategy.has_parents() && !options.proxy.empty())
    refuse("the proxy trains nothing: it has no use for the strategy `" + strategy.name + "`",
           "use `--strategy evolution`");
}

/// This program as a command that prints the proxies of policies.
std::string proxy_command(const SearchCommandOptions& options) {
  std::error_code error;
  const std::string program = fs::read_symlink("/proc/self/exe", error).string();
  return fmt::format("{} policy score {{policies}} --data {} --seed {}",
                     policy::shell_quoted(error ? "galatea" : program), policy::shell_quoted(options.proxy),
                     options.strategy.seed);
}

int64_t default_trials(const policy::Strategy& strategy, const policy::StrategyOptions& options) {
  if (options.has_budgets()) return strategy.whole();
  return options.has_steps() ? 10 * strategy.whole() : 50;
}

/// How many trials there will be: a grid may have fewer points than are asked for.
int64_t trials_in_all(policy::Strategy& strategy, const SearchCommandOptions& options) {
  int64_t known = 0, end = options.search.trials;
  if (options.strategy.name != "grid") return end;
  while (known < end) {
    const int64_t middle = known + (end - known) / 2;
    if (strategy.ask(middle).kind == policy::Ask::Kind::kTrial)
      known = middle + 1;
    else
      end = middle;
  }
  return known;
}

/// As `galatea fmt` has it.
std::string formatted(const std::string& text, Reporter& reporter) {
  const dsl::FormatResult made = dsl::format_source("best.dali-dsl", text, reporter.sources());
  return made.text;
}

policy::Document document_at(const policy::Space& space, const policy::Trial& trial) {
  return policy::trimmed(*policy::read_policy_tree(space.at(trial.point)).document);
}

void write_schedule(const policy::Space& space, const policy::Journal& journal, const policy::Trial& best,
                    const std::string& folder, Reporter& reporter) {
  std::error_code error;
  fs::create_directories(folder, error);
  for (const policy::Trial& trial : policy::lineage(journal.ended(), best.number))
    write_result(fmt::format("{}/step-{:05}.json", folder, trial.step),
                 policy::to_json(document_at(space, trial)), reporter);
}

/// What is written when the search has ended, for now or for good.
void write_results(const policy::Space& space, const policy::Journal& journal,
                   const SearchCommandOptions& options, Reporter& reporter) {
  const auto ranked = policy::ranking(journal.ended(), options.search.minimize);
  policy::ReportText words = {"Search of " + options.space, options.objective_name(), "", "",
                              options.search.minimize};
  if (!ranked.empty()) {
    const policy::Document best = document_at(space, ranked[0]);
    words.best_json = policy::to_json(best);
    words.pipeline_text = formatted(policy::pipeline_of(best), reporter);
    if (!options.output.empty()) write_result(options.output, words.best_json, reporter);
    if (!options.pipeline.empty()) write_result(options.pipeline, words.pipeline_text, reporter);
    if (!options.schedule.empty()) write_schedule(space, journal, ranked[0], options.schedule, reporter);
  }
  if (!options.report.empty())
    write_result(options.report, policy::html_report(space, journal.ended(), words), reporter);
  reporter.print(options.json ? search_json(space, journal, options.search.minimize)
                              : search_text(space, journal, options.search.minimize));
}

std::optional<policy::Journal> open_journal(const std::string& space_text,
                                            const SearchCommandOptions& options, Reporter& reporter) {
  std::error_code error;
  fs::create_directories(options.search.folder, error);  // what goes wrong shows when the journal is opened
  Result<policy::Journal> journal =
      policy::Journal::open(options.search.folder + "/journal.jsonl",
                            {space_text, options.strategy, options.objective_name(), options.search.minimize,
                             options.search.prune, options.search.max_microseconds});
  if (!journal) {
    reporter.report(journal.error());
    return std::nullopt;
  }
  if (journal->cut_off() > 0)
    report_problem(
        policy::Message::kJournalMended,
        fmt::format("the last line of `{}/journal.jsonl` was cut off ({} bytes) and has been taken out",
                    options.search.folder, journal->cut_off()),
        "nothing needs doing: what it was about is done again", reporter);
  if (!journal->ended().empty())
    say("goes on after {} trials of {}\n", journal->ended().size(), options.search.folder);
  return std::move(*journal);
}

/// Whether pipelines can apply what the space imports: no trial could tell more than a point's document.
bool imports_work(const policy::Space& space, uint64_t seed, const std::string& file, Reporter& reporter) {
  policy::Random random(seed);
  const auto document = policy::read_policy_tree(space.at(space.random(random))).document;
  if (!document || document->imports.empty()) return true;  // trials tell what is wrong with their documents
  const fs::path path(file);
  const fs::path name = path.parent_path() / ("first trial of " + path.filename().string());
  return check_in_pipeline(PipelineHost(), {name.string(), policy::to_json(*document)},
                           policy::data_of(*document), reporter);
}

int search(SearchCommandOptions options, Reporter& reporter) {
  check(options, reporter);
  if (reporter.status() != kFine) return reporter.status();
  Result<std::string> text = policy::read_text_file(options.space, policy::JsonLimits{}.bytes);
  if (!text) {
    reporter.report(text.error());
    return reporter.status();
  }
  const uint32_t file = reporter.sources().add(options.space, *text);
  DiagnosticSink sink;
  const auto space = policy::Space::read(file, reporter.sources(), sink);
  reporter.report(sink.take());
  if (!space) return reporter.status();
  options.search.folder = options.folder.empty()
                              ? fs::path(options.space).replace_extension().string() + "-search"
                              : options.folder;
  options.search.imports_from = fs::path(options.space).parent_path().string();
  options.search.keeps_states =
      options.strategy.has_parents() || policy::names_word(options.search.objective, "state");
  std::optional<policy::Host> host;
  if (options.host) host.emplace(*options.host);
  if (!options.host_objective.empty()) options.search.host = &*host;
  if (!options.host_strategy.empty()) options.strategy.name = options.host_strategy;
  const auto strategy = options.host_strategy.empty()
                            ? policy::make_strategy(*space, options.strategy)
                            : policy::make_host_strategy(*space, *host, options.search.minimize);
  if (!imports_work(*space, options.strategy.seed, options.space, reporter)) return reporter.status();
  auto journal = open_journal(*text, options, reporter);
  if (!journal) return reporter.status();
  if (!options.proxy.empty()) options.search.objective = proxy_command(options);
  options.search.together = options.together.value_or(kTogether);
  if (options.search.trials == 0) options.search.trials = default_trials(*strategy, options.strategy);
  if (options.search.trials < strategy->whole())
    report_problem(policy::Message::kIncomplete,
                   fmt::format("{} trials end before the first round of {} is whole", options.search.trials,
                               strategy->whole()),
                   fmt::format("use `--trials {}`, or a smaller `--population`", strategy->whole()),
                   reporter);
  if (options.strategy.name == "evolution" && options.search.jobs > options.strategy.ahead)
    report_problem(policy::Message::kIncomplete,
                   fmt::format("{} of {} jobs stay idle: evolution has {} trials under way at most",
                               options.search.jobs - options.strategy.ahead, options.search.jobs,
                               options.strategy.ahead),
                   fmt::format("use `--ahead {}`", options.search.jobs), reporter);
  const OrderlyEnd orderly;
  SearchProgress progress(*journal, trials_in_all(*strategy, options), options.search.minimize,
                          is_terminal(2));
  policy::SearchEvents events;
  events.is_interrupted = [&] { return is_interrupted() || (host && host->is_gone()); };
  events.ended = [&](const policy::Trial& trial) { progress.ended(trial); };
  events.running = [&](size_t count) { progress.running(count); };
  if (host)
    host->send(
        policy::greeting_text(*space, {options.strategy.seed, options.search.trials, options.search.minimize,
                                       options.search.prune, options.search.max_microseconds}));
  const Status done = policy::run_search(*space, *strategy, *journal, options.search, events);
  progress.clear();
  if (!done) {
    reporter.report(done.error());
    return reporter.status();
  }
  if (host && !host->problem().empty())
    report_problem(policy::Message::kObjective, host->problem(), "", reporter);
  if (host) host->send("{\"done\":true}");
  write_results(*space, *journal, options, reporter);
  if (is_interrupted()) {
    say("galatea: interrupted; the same command goes on where this one stopped\n");
    return kInterrupted;
  }
  if (policy::ranking(journal->ended(), false).empty()) {
    const std::string why = journal->ended().empty() ? "there was none" : journal->ended().front().reason;
    report_problem(policy::Message::kJournal, "no trial gave a score: " + why,
                   "run the objective by hand with a policy of " + options.search.folder, reporter);
  }
  return reporter.status();
}

void add_strategy_options(CLI::App* app, policy::StrategyOptions& strategy) {
  std::vector<std::string> known = policy::strategy_names();
  known.emplace_back(kOptuna);
  add_option(app, "--strategy", strategy.name,
             {"NAME", "random",
              "which policies are tried: random, grid, evolution, halving or population; in the Python "
              "package also optuna",
              "--strategy evolution"})
      .one_of(known);
  add_option(app, "--seed", strategy.seed, {"N", "0", "the same seed tries the same policies", "--seed 7"});
  add_option(app, "--levels", strategy.levels,
             {"N", "5", "grid: how many values of a {\"$float\": …} are tried", "--levels 3"})
      .between(int64_t{2}, int64_t{1000});
  add_option(app, "--population", strategy.population,
             {"N", "16, 27 or 8",
              "evolution: how many of the latest trials have children; halving: how many begin together; "
              "population: how many members there are",
              "--population 12"})
      .between(int64_t{2}, int64_t{100'000});
  add_option(app, "--ahead", strategy.ahead,
             {"N", "8",
              "evolution: how many trials, at most, may be under way; a parent lies as many numbers before "
              "its child or more",
              "--ahead 1"})
      .between(int64_t{1}, int64_t{100'000});
  add_option(app, "--budget", strategy.greatest_budget,
             {"NUMBER", "27", "halving: the {budget} of the trials that get through", "--budget 81"})
      .between(1e-9, 1e12);
  add_option(app, "--least-budget", strategy.least_budget,
             {"NUMBER", "1", "halving: the {budget} of the trials that begin", "--least-budget 3"})
      .between(1e-9, 1e12);
  add_option(app, "--eta", strategy.eta,
             {"N", "3", "halving: one trial in so many goes on, with so many times the budget", "--eta 4"})
      .between(int64_t{2}, int64_t{1000});
}

void add_result_options(CLI::App* app, SearchCommandOptions& options) {
  add_option(
      app, "--folder", options.folder,
      {"FOLDER", "", "where the journal and the policies go; without it SPACE-search", "--folder runs/1"});
  add_option(app, "-o,--output", options.output, {"FILE", "", "where the best policy goes", "-o best.json"});
  add_option(app, "--pipeline", options.pipeline,
             {"FILE", "", "where the best policy goes as a pipeline", "--pipeline best.dali-dsl"});
  add_option(app, "--schedule", options.schedule,
             {"FOLDER", "", "population: where the policies of the best member go, a file a step",
              "--schedule schedule"});
  add_option(app, "--report", options.report,
             {"FILE", "", "a page with plots of the search (HTML)", "--report search.html"});
  add_flag(app, "--json", options.json, "the trials as one JSON object (default: off; example: --json)");
}

/// For programs that start this one: docs/policies.md has what is said on the socket.
void add_host_options(CLI::App* app, SearchCommandOptions& options) {
  add_option(app, "--host", options.host,
             {"N", "", "for programs: the descriptor of a socket to the one that started this", "--host 3"})
      .between(3, 1 << 20);
  add_option(app, "--host-strategy", options.host_strategy,
             {"NAME", "", "for programs: the host says which points are tried; NAME goes into the journal",
              "--host-strategy 'optuna TPESampler'"});
  add_option(app, "--host-objective", options.host_objective,
             {"NAME", "", "for programs: the host says how good a policy is; NAME goes into the journal",
              "--host-objective train.score"});
}

}  // namespace

Command add_policy_search(CLI::App& parent) {
  auto options = std::make_shared<SearchCommandOptions>();
  options->search.trials = 0;
  CLI::App* app =
      add_subcommand(parent, "search", "Tries policies of a search space; a command says how good each is");
  add_option(app, "space", options->space,
             {"SPACE", "",
              "a policy in which values may be {\"$choice\": […]}, {\"$int\": [low, high]} or {\"$float\": "
              "[low, high]}; \"log\": true beside the latter two is a logarithmic scale",
              "space.json"})
      .required();
  add_option(app, "--objective", options->search.objective,
             {"COMMAND", "",
              "a command of the shell, {policy} standing for the file; the last line that it prints is the "
              "score. It may also name {trial}, {budget}, {step}, {state} and {parent}; or {policies}, for a "
              "line each",
              "--objective 'python3 train.py {policy}'"});
  add_option(app, "--proxy", options->proxy,
             {"FOLDER", "",
              "instead of a command: affinity and diversity over these pictures, as `galatea policy score` "
              "prints them",
              "--proxy photos"});
  add_strategy_options(app, options->strategy);
  add_option(app, "--trials", options->search.trials,
             {"N", "50; halving: one bracket; population: ten steps",
              "how many there are in all, with those of an earlier start", "--trials 200"})
      .between(int64_t{1}, int64_t{1'000'000});
  add_option(app, "--jobs", options->search.jobs,
             {"N", "1", "how many commands run side by side", "--jobs 4"})
      .between(1, 1024);
  add_option(app, "--together", options->together,
             {"N", "4",
              "how many policies, at most, a command that names {policies} is told of at once; also with "
              "--proxy, which decodes for all of them once",
              "--together 8"})
      .between(1, 64);
  add_option(
      app, "--timeout", options->search.timeout,
      {"SECONDS", "0", "a trial that takes longer has failed; 0: it may take any time", "--timeout 600"})
      .between(0.0, 1e9);
  add_flag(app, "--prune", options->search.prune,
           "trials whose scores so far (lines `report NUMBER` of the command) are the worse half of all end "
           "early (default: off; example: --prune)");
  add_option(app, "--max-microseconds", options->search.max_microseconds,
             {"N", "0",
              "a policy that takes longer for a sample has failed: the command says it in a line "
              "`microseconds NUMBER`; 0: it may take any time",
              "--max-microseconds 300"})
      .between(0.0, 1e12);
  add_flag(app, "--minimize", options->search.minimize,
           "a lower score is better (default: off; example: --minimize)");
  add_result_options(app, *options);
  add_host_options(app, *options);
  return {app, [options](Reporter& reporter) { return search(*options, reporter); }};
}

}  // namespace galatea::tools
