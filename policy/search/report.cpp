#include "policy/search/report.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "policy/search/effects.h"
#include "policy/search/plot.h"
#include "policy/search/search.h"

namespace galatea::policy {
namespace {

constexpr size_t kShownTrials = 20;
constexpr const char* kStyle =
    ":root{color-scheme:light dark} body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem "
    "auto;padding:0 1rem}\n"
    "svg{width:100%;max-width:560px;font-size:11px} svg text{fill:currentColor} "
    ".right{text-anchor:end} .middle{text-anchor:middle}\n"
    ".axis{fill:none;stroke:currentColor;opacity:.5} .best{fill:none;stroke:#c2571a} "
    ".interval{stroke:#3b7dd8;stroke-width:2} .interval.mark{stroke:#c2571a}\n"
    "circle{fill:#3b7dd8;opacity:.7} circle.mark{fill:#c2571a;opacity:1}\n"
    ".wide{overflow:auto} table{border-collapse:collapse} td,th{padding:.15rem .7rem;text-align:left} "
    "td.n{text-align:right;font-variant-numeric:tabular-nums}\n"
    "pre{overflow:auto;padding:.7rem;border:1px solid #8886}\n";

class Page {
 public:
  Page(const Space& space, const std::vector<Trial>& trials, const ReportText& text)
      : space_(space), trials_(trials), text_(text), ranked_(ranking(trials, text.minimize)) {
    for (const Trial& trial : ranked_)
      if (trial.budget == ranked_[0].budget && trial.step == ranked_[0].step) comparable_.push_back(trial);
  }

  std::string html() {
    out_ = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n"
        "<style>\n{1}</style></head><body>\n<h1>{0}</h1>\n",
        escaped(text_.title), kStyle);
    out_ += fmt::format("<p>Objective <code>{}</code>; {} score is better. {} trials, {} failed.</p>\n",
                        escaped(text_.objective), text_.minimize ? "a lower" : "a higher", trials_.size(),
                        trials_.size() - ranked_.size());
    add_scores();
    add_costs();
    add_operations();
    add_values();
    add_best_trials();
    add_schedule();
    if (!text_.best_json.empty())
      out_ += fmt::format("<h2>The best policy</h2>\n<pre>{}</pre>\n<p>As a pipeline:</p>\n<pre>{}</pre>\n",
                          escaped(text_.best_json), escaped(text_.pipeline_text));
    add_failures();
    return out_ + "</body></html>\n";
  }

 private:
  bool has_budgets() const { return !ranked_.empty() && ranked_[0].budget > 0; }
  bool has_steps() const { return !ranked_.empty() && ranked_[0].step > 0; }

  std::string words_of(const Trial& trial) const {
    return fmt::format("trial {}: {:.6g}, {:.1f} s{}", trial.number, trial.score, trial.seconds,
                       trial.budget > 0 ? ", budget " + number_text(trial.budget) : "");
  }

  /// Marks what is better than all that came before it.
  void mark(std::vector<Dot>& dots) const {
    std::stable_sort(dots.begin(), dots.end(), [](const Dot& a, const Dot& b) { return a.x < b.x; });
    double best = 0;
    for (size_t i = 0; i < dots.size(); ++i) {
      dots[i].marked = i == 0 || (text_.minimize ? dots[i].y < best : dots[i].y > best);
      if (dots[i].marked) best = dots[i].y;
    }
  }

  void add_scores() {
    out_ += "<h2>Scores over trials</h2>\n";
    std::vector<Dot> dots;
    for (const Trial& trial : ranked_)
      dots.push_back({static_cast<double>(has_steps() ? trial.step : trial.number), trial.score,
                      words_of(trial), false});
    if (has_steps()) {
      out_ += "<p>Marked: the steps that the best trial was built on.</p>\n";
      const std::vector<Trial> line = lineage(trials_, ranked_[0].number);
      for (size_t i = 0; i < dots.size(); ++i)
        dots[i].marked = std::any_of(line.begin(), line.end(),
                                     [&](const Trial& each) { return each.number == ranked_[i].number; });
      std::stable_sort(dots.begin(), dots.end(), [](const Dot& a, const Dot& b) { return a.x < b.x; });
    } else if (has_budgets()) {
      out_ += "<p>Marked: the trials of the greatest budget.</p>\n";
      for (size_t i = 0; i < comparable_.size(); ++i) dots[i].marked = true;
      std::stable_sort(dots.begin(), dots.end(), [](const Dot& a, const Dot& b) { return a.x < b.x; });
    } else {
      out_ += "<p>Marked: better than all before.</p>\n";
      mark(dots);
    }
    out_ += dot_plot(dots, has_steps() ? "step" : "trial", "score");
  }

  void add_costs() {
    out_ += "<h2>Score and cost</h2>\n<p>Marked: no cheaper trial is as good.";
    if (has_budgets()) out_ += " Trials of the greatest budget.";
    if (has_steps()) out_ += " Trials of the last step.";
    out_ += "</p>\n";
    std::vector<Dot> dots;
    for (const Trial& trial : comparable_)
      dots.push_back({trial.seconds, trial.score, words_of(trial), false});
    // Of equal cost the better one comes first.
    std::stable_sort(dots.begin(), dots.end(),
                     [&](const Dot& a, const Dot& b) { return text_.minimize ? a.y < b.y : a.y > b.y; });
    mark(dots);
    out_ += dot_plot(dots, "seconds", "score");
  }

  void add_operations() {
    const std::vector<Effect> effects = operation_effects(space_, trials_);
    if (effects.empty()) return;
    out_ +=
        "<h2>Which operations matter</h2>\n<p>How the score changes, on a straight line, from the trials in "
        "which an operation runs least to those in which it runs most, with 95 % intervals; marked: those "
        "without 0. One operation at a time: operations that come and go together share their effect. "
        "Strategies that learn try good operations more often, which intervals do not know.</p>\n";
    std::vector<Bar> bars;
    for (const Effect& effect : effects)
      bars.push_back(
          {effect.operation, effect.change, effect.low, effect.high,
           fmt::format("{}: {:+.4g} ({:+.4g} to {:+.4g}), from {:.2g} to {:.2g} runs a sample",
                       effect.operation, effect.change, effect.low, effect.high, effect.least, effect.most),
           effect.is_certain()});
    out_ += interval_plot(bars, "change of the score");
  }

  void add_values() {
    out_ +=
        "<h2>Which values matter</h2>\n<p>The share of the variance of scores that a value accounts for "
        "alone; beside it what a value without influence would get by chance.</p>\n<table>\n"
        "<tr><th>share</th><th>chance</th><th>value</th></tr>\n";
    const std::vector<Importance> found = importance(space_, trials_);
    std::vector<size_t> order(found.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return found[a].share > found[b].share; });
    for (size_t g : order)
      out_ += fmt::format(
          "<tr><td class=\"n\">{:.0f} %</td><td class=\"n\">{:.0f} %</td><td><code>{}</code></td></tr>\n",
          found[g].share * 100, found[g].by_chance * 100, escaped(space_.genes()[g].path));
    out_ += "</table>\n";
  }

  void add_trials(const std::vector<Trial>& trials, size_t count, const char* first) {
    out_ += fmt::format(
        "<div class=\"wide\">\n<table>\n<tr><th>{}</th><th>trial</th><th>score</th>"
        "<th>seconds</th>",
        first);
    for (const Gene& gene : space_.genes())
      out_ += fmt::format("<th><code>{}</code></th>", escaped(gene.path));
    out_ += "</tr>\n";
    for (size_t i = 0; i < std::min(trials.size(), count); ++i) {
      const Trial& trial = trials[i];
      const std::string place = has_steps()     ? fmt::format("{}", trial.step)
                                : has_budgets() ? number_text(trial.budget)
                                                : fmt::format("{}", i + 1);
      out_ += fmt::format(
          "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{:.6g}</td>"
          "<td class=\"n\">{:.1f}</td>",
          place, trial.number, trial.score, trial.seconds);
      const std::vector<bool> active = space_.active(trial.point);
      for (size_t g = 0; g < space_.genes().size(); ++g)
        out_ += fmt::format("<td class=\"n\">{}</td>",
                            active[g] ? escaped(value_text(space_.genes()[g], trial.point[g])) : "");
      out_ += "</tr>\n";
    }
    out_ += "</table>\n</div>\n";
  }

  void add_best_trials() {
    out_ += "<h2>Best trials</h2>\n";
    add_trials(ranked_, kShownTrials, has_steps() ? "step" : has_budgets() ? "budget" : "place");
  }

  void add_schedule() {
    if (!has_steps()) return;
    const std::vector<Trial> line = lineage(trials_, ranked_[0].number);
    out_ +=
        "<h2>The best schedule</h2>\n<p>The policies of the steps that the best trial was built on.</p>\n";
    add_trials(line, line.size(), "step");
  }

  void add_failures() {
    std::map<std::string, int> reasons;
    for (const Trial& trial : trials_)
      if (trial.failed) ++reasons[trial.reason];
    if (reasons.empty()) return;
    out_ += "<h2>Failures</h2>\n<table>\n";
    for (const auto& [reason, count] : reasons)
      out_ += fmt::format("<tr><td class=\"n\">{}</td><td>{}</td></tr>\n", count, escaped(reason));
    out_ += "</table>\n";
  }

  const Space& space_;
  const std::vector<Trial>& trials_;
  const ReportText& text_;
  std::vector<Trial> ranked_;
  std::vector<Trial> comparable_;  ///< those of the greatest budget, or of the last step
  std::string out_;
};

}  // namespace

std::string value_text(const Gene& gene, double value) {
  return gene.kind == Gene::Kind::kChoice ? gene.choices.at(static_cast<size_t>(value)) : number_text(value);
}

std::string html_report(const Space& space, const std::vector<Trial>& trials, const ReportText& text) {
  return Page(space, trials, text).html();
}

}  // namespace galatea::policy
