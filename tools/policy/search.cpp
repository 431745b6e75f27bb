// galatea policy search SPACE --objective 'command {policy}': tries points of a search space.
#include <unistd.h>

#include <filesystem>
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "policy/messages.h"
#include "policy/reader.h"
#include "policy/search/report.h"
#include "policy/search/search.h"
#include "policy/writer.h"
#include "tools/interrupt.h"
#include "tools/policy/policy_tools.h"

namespace galatea::tools {
namespace {
namespace fs = std::filesystem;

using Json = nlohmann::ordered_json;

struct Options {
  std::string space, output, folder, report;
  policy::StrategyOptions strategy;
  policy::SearchOptions search;
  bool json = false;
};

std::string point_text(const policy::Space& space, const policy::Point& point) {
  std::string text;
  for (size_t i = 0; i < point.size(); ++i) {
    const policy::Gene& gene = space.genes()[i];
    const char* kind = gene.kind == policy::Gene::Kind::kChoice ? "choice " : "";
    text += fmt::format("{}{}={}{}", i ? " " : "", gene.path, kind, policy::number_text(point[i]));
  }
  return text;
}

std::string report_text(const policy::Space& space, const policy::Journal& journal, const Options& options) {
  constexpr size_t kShown = 10;
  const auto ranked = policy::ranking(journal.ended(), options.search.minimize);
  std::string text = fmt::format(
      "{} trials, {} failed; {}\n", journal.ended().size(), journal.ended().size() - ranked.size(),
      ranked.empty() ? "no score" : fmt::format("best score {:.6g}", ranked[0].score));
  for (size_t i = 0; i < std::min(kShown, ranked.size()); ++i)
    text += fmt::format("  {:>12.6g}  trial {:<6} {:>8.1f} s  {}\n", ranked[i].score, ranked[i].number,
                        ranked[i].seconds, point_text(space, ranked[i].point));
  return text;
}

std::string report_json(const policy::Space& space, const policy::Journal& journal, const Options& options) {
  Json trials = Json::array(), genes = Json::array();
  for (const policy::Gene& gene : space.genes()) genes.push_back(gene.path);
  for (const policy::Trial& trial : journal.ended())
    trials.push_back({{"trial", trial.number},
                      {"point", trial.point},
                      {"score", trial.failed ? Json(nullptr) : Json(trial.score)},
                      {"failed", trial.failed ? Json(trial.reason) : Json(nullptr)},
                      {"seconds", trial.seconds}});
  const auto ranked = policy::ranking(journal.ended(), options.search.minimize);
  return Json{{"values", genes},
              {"trials", trials},
              {"best", ranked.empty() ? Json(nullptr) : Json(ranked[0].number)}}
             .dump() +
         "\n";
}

/// The lines of a pipeline that apply a policy.
std::string pipeline_text(const std::string& path) {
  return fmt::format(
      "from galatea.auto_aug import policy\n"
      "\n"
      "augment = policy.load(\"{}\")\n"
      "image = augment(image, shape=[224, 224])\n",
      fs::path(path).filename().string());
}

/// One line a trial.
void show_progress(const policy::Trial& trial, size_t ended, int64_t trials, double best) {
  const std::string score = trial.failed ? "failed: " + trial.reason : fmt::format("{:.6g}", trial.score);
  fmt::print(stderr, "trial {}: {} ({:.1f} s); {} of {}, best {:.6g}\n", trial.number, score, trial.seconds,
             ended, trials, best);
}

int search(const Options& options, Reporter& reporter) {
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
  policy::SearchOptions search = options.search;
  std::error_code error;
  search.folder = options.folder.empty() ? fs::path(options.space).replace_extension().string() + "-search"
                                         : options.folder;
  fs::create_directories(search.folder, error);
  const policy::JournalHead head = {*text, options.strategy.name, search.objective, options.strategy.seed,
                                    search.minimize};
  Result<policy::Journal> journal = policy::Journal::open(search.folder + "/journal.jsonl", head);
  if (!journal) {
    reporter.report(journal.error());
    return reporter.status();
  }
  if (!journal->ended().empty())
    fmt::print(stderr, "goes on after {} trials of {}\n", journal->ended().size(), search.folder);
  const auto strategy = policy::make_strategy(*space, options.strategy);
  const OrderlyEnd orderly;
  policy::SearchEvents events;
  events.is_interrupted = [] { return is_interrupted(); };
  events.ended = [&](const policy::Trial& trial) {
    const auto ranked = policy::ranking(journal->ended(), search.minimize);
    show_progress(trial, journal->ended().size(), search.trials, ranked.empty() ? 0 : ranked[0].score);
  };
  if (Status done = policy::run_search(*space, *strategy, *journal, search, events); !done) {
    reporter.report(done.error());
    return reporter.status();
  }
  const auto ranked = policy::ranking(journal->ended(), search.minimize);
  policy::ReportText words = {"Search of " + options.space, search.objective, "", "", search.minimize};
  if (!ranked.empty()) {
    words.best_json = policy::to_json(*policy::read_policy_tree(space->at(ranked[0].point)).document);
    words.pipeline_text = pipeline_text(options.output.empty() ? "best.json" : options.output);
    if (!options.output.empty()) write_result(options.output, words.best_json, reporter);
  }
  if (!options.report.empty())
    write_result(options.report, policy::html_report(*space, journal->ended(), words), reporter);
  reporter.print(options.json ? report_json(*space, *journal, options)
                              : report_text(*space, *journal, options));
  if (is_interrupted()) {
    fmt::print(stderr, "galatea: interrupted; the same command goes on where this one stopped\n");
    return kInterrupted;
  }
  if (ranked.empty()) {
    const std::string why = journal->ended().empty() ? "there was none" : journal->ended().front().reason;
    reporter.report(policy::diagnose(
        policy::Message::kJournal, {},
        {"no trial gave a score: " + why, "run the objective by hand with a policy of " + search.folder}));
  }
  return reporter.status();
}

}  // namespace

Command add_policy_search(CLI::App& parent) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      parent.add_subcommand("search", "Tries policies of a search space; a command says how good each is");
  add_option(app, "space", options->space,
             {"SPACE", "",
              "a policy in which values may be {\"$choice\": […]}, {\"$int\": [low, high]} or {\"$float\": "
              "[low, high]}",
              "space.json"})
      ->required();
  add_option(
      app, "--objective", options->search.objective,
      {"COMMAND", "",
       "a command of the shell, {policy} standing for the file; the last line that it prints is the score",
       "--objective 'python3 train.py {policy}'"})
      ->required();
  add_option(app, "--strategy", options->strategy.name,
             {"random|grid|evolution", "random", "which policies are tried", "--strategy evolution"})
      ->check(CLI::IsMember({"random", "grid", "evolution"}).description(""));
  add_option(app, "--trials", options->search.trials,
             {"N", "50", "how many there are in all, with those of an earlier start", "--trials 200"})
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}).description(""));
  add_option(app, "--jobs", options->search.jobs, {"N", "1", "how many run side by side", "--jobs 4"})
      ->check(CLI::Range(1, 1024).description(""));
  add_option(
      app, "--timeout", options->search.timeout,
      {"SECONDS", "0", "a trial that takes longer has failed; 0: it may take any time", "--timeout 600"})
      ->check(CLI::Range(0.0, 1e9).description(""));
  app->add_flag("--minimize", options->search.minimize,
                "a lower score is better (default: off; example: --minimize)");
  add_option(app, "--seed", options->strategy.seed,
             {"N", "0", "the same seed tries the same policies", "--seed 7"});
  add_option(app, "--levels", options->strategy.levels,
             {"N", "5", "grid: how many values of a {\"$float\": …} are tried", "--levels 3"})
      ->check(CLI::Range(int64_t{2}, int64_t{1000}).description(""));
  add_option(
      app, "--folder", options->folder,
      {"FOLDER", "", "where the journal and the policies go; without it SPACE-search", "--folder runs/1"});
  add_option(app, "-o,--output", options->output, {"FILE", "", "where the best policy goes", "-o best.json"});
  add_option(app, "--report", options->report,
             {"FILE", "", "a page with plots of the search (HTML)", "--report search.html"});
  app->add_flag("--json", options->json, "the trials as one JSON object (default: off; example: --json)");
  return {app, [options](Reporter& reporter) { return search(*options, reporter); }};
}

}  // namespace galatea::tools
