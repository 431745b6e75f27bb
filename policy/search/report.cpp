#include "policy/search/report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "policy/search/search.h"

namespace galatea::policy {
namespace {

constexpr int kGroups = 5;

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

struct Dot {
  double x = 0, y = 0;
  std::string words;
  bool marked = false;
};

struct Axis {
  double low = 0, high = 1;
  double at(double value) const { return (value - low) / (high - low); }
};

Axis axis_of(const std::vector<Dot>& dots, double Dot::* member) {
  Axis axis{dots[0].*member, dots[0].*member};
  for (const Dot& dot : dots) {
    axis.low = std::min(axis.low, dot.*member);
    axis.high = std::max(axis.high, dot.*member);
  }
  if (axis.low == axis.high) axis = {axis.low - 0.5, axis.high + 0.5};
  return axis;
}

/// Dots with axes; those that are marked are joined by steps.
std::string plot(const std::vector<Dot>& dots, const std::string& x_words, const std::string& y_words) {
  constexpr double kWidth = 560, kHeight = 260, kLeft = 70, kBottom = 40, kTop = 12;
  if (dots.empty()) return "<p>There is nothing to plot.</p>\n";
  const Axis x = axis_of(dots, &Dot::x), y = axis_of(dots, &Dot::y);
  auto across = [&](double value) { return kLeft + 8 + x.at(value) * (kWidth - kLeft - 24); };
  auto down = [&](double value) { return kTop + (1 - y.at(value)) * (kHeight - kTop - kBottom - 8); };
  std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{} and {}\">\n", kWidth,
                                kHeight, escaped(y_words), escaped(x_words));
  out += fmt::format("<path class=\"axis\" d=\"M{} {} V{} H{}\"/>\n", kLeft, kTop, kHeight - kBottom,
                     kWidth - 8);
  for (double value : {y.low, y.high})
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" class=\"right\">{:.4g}</text>\n", kLeft - 6,
                       down(value) + 4, value);
  for (double value : {x.low, x.high})
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" class=\"middle\">{:.4g}</text>\n", across(value),
                       kHeight - kBottom + 16, value);
  out += fmt::format("<text x=\"{}\" y=\"{}\" class=\"middle\">{}</text>\n", kWidth / 2, kHeight - 6,
                     escaped(x_words));
  std::string steps;
  for (const Dot& dot : dots) {
    if (!dot.marked) continue;
    steps += steps.empty() ? fmt::format("M{:.1f} {:.1f}", across(dot.x), down(dot.y))
                           : fmt::format(" H{:.1f} V{:.1f}", across(dot.x), down(dot.y));
  }
  if (!steps.empty()) out += fmt::format("<path class=\"best\" d=\"{}\"/>\n", steps);
  for (const Dot& dot : dots)
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"{}><title>{}</title></circle>\n",
                       across(dot.x), down(dot.y), dot.marked ? " class=\"mark\"" : "", escaped(dot.words));
  return out + "</svg>\n";
}

std::vector<Dot> dots_of(const std::vector<Trial>& trials, bool by_cost, bool minimize) {
  std::vector<Dot> dots;
  for (const Trial& trial : trials)
    if (!trial.failed)
      dots.push_back({by_cost ? trial.seconds : static_cast<double>(trial.number), trial.score,
                      fmt::format("trial {}: {:.6g}, {:.1f} s", trial.number, trial.score, trial.seconds)});
  std::stable_sort(dots.begin(), dots.end(), [](const Dot& a, const Dot& b) { return a.x < b.x; });
  // Better than all that came before: the best so far, or what nothing cheaper reaches.
  for (size_t i = 0; i < dots.size(); ++i)
    dots[i].marked = std::all_of(
        dots.begin(), dots.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const Dot& before) { return minimize ? dots[i].y < before.y : dots[i].y > before.y; });
  return dots;
}

std::string shown_value(const Gene& gene, double value) {
  return gene.kind == Gene::Kind::kChoice ? fmt::format("choice {:.0f}", value) : number_text(value);
}

}  // namespace

std::vector<double> importance(const Space& space, const std::vector<Trial>& trials) {
  std::vector<const Trial*> good;
  for (const Trial& trial : trials)
    if (!trial.failed) good.push_back(&trial);
  double mean = 0, all = 0;
  for (const Trial* trial : good) mean += trial->score / static_cast<double>(good.size());
  for (const Trial* trial : good) all += (trial->score - mean) * (trial->score - mean);
  std::vector<double> shares;
  for (size_t g = 0; g < space.genes().size(); ++g) {
    const Gene& gene = space.genes()[g];
    std::map<double, std::pair<double, double>> groups;  // sum of scores, count
    for (const Trial* trial : good) {
      double value = trial->point[g];
      const bool many =
          gene.kind == Gene::Kind::kNumber ? gene.high > gene.low : gene.high - gene.low > kGroups;
      if (many && gene.kind != Gene::Kind::kChoice)
        value = std::min(std::floor((value - gene.low) / (gene.high - gene.low) * kGroups), kGroups - 1.0);
      groups[value].first += trial->score;
      groups[value].second += 1;
    }
    double between = 0;
    for (const auto& [value, group] : groups) {
      const double off = group.first / group.second - mean;
      between += group.second * off * off;
    }
    shares.push_back(all > 0 ? between / all : 0);
  }
  return shares;
}

std::string html_report(const Space& space, const std::vector<Trial>& trials, const ReportText& text) {
  const std::vector<Trial> ranked = ranking(trials, text.minimize);
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n<style>\n"
      ":root{{color-scheme:light dark}} body{{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem "
      "auto;padding:0 1rem}}\n"
      "svg{{width:100%;max-width:560px;font-size:11px}} svg text{{fill:currentColor}} "
      ".right{{text-anchor:end}} .middle{{text-anchor:middle}}\n"
      ".axis{{fill:none;stroke:currentColor;opacity:.5}} .best{{fill:none;stroke:#c2571a}} "
      "circle{{fill:#3b7dd8;opacity:.7}} "
      "circle.mark{{fill:#c2571a;opacity:1}}\n"
      "table{{border-collapse:collapse}} td,th{{padding:.15rem .7rem;text-align:left}} "
      "td.n{{text-align:right;font-variant-numeric:tabular-nums}}\n"
      "pre{{overflow:auto;padding:.7rem;border:1px solid #8886}}\n</style></head><body>\n<h1>{0}</h1>\n",
      escaped(text.title));
  out += fmt::format("<p>Objective <code>{}</code>; {} score is better. {} trials, {} failed.</p>\n",
                     escaped(text.objective), text.minimize ? "a lower" : "a higher", trials.size(),
                     trials.size() - ranked.size());
  out += "<h2>Scores over trials</h2>\n" + plot(dots_of(trials, false, text.minimize), "trial", "score");
  out += "<h2>Score and cost</h2>\n<p>Marked: no cheaper trial is as good.</p>\n" +
         plot(dots_of(trials, true, text.minimize), "seconds", "score");
  out +=
      "<h2>Which values matter</h2>\n<p>The share of the variance of scores that a value accounts for alone. "
      "With "
      "few trials it looks larger than it is.</p>\n<table>\n";
  const std::vector<double> shares = importance(space, trials);
  std::vector<size_t> order(shares.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return shares[a] > shares[b]; });
  for (size_t g : order)
    out += fmt::format("<tr><td class=\"n\">{:.0f} %</td><td><code>{}</code></td></tr>\n", shares[g] * 100,
                       escaped(space.genes()[g].path));
  out += "</table>\n<h2>Best trials</h2>\n<table>\n<tr><th>score</th><th>trial</th><th>seconds</th>";
  for (const Gene& gene : space.genes()) out += fmt::format("<th><code>{}</code></th>", escaped(gene.path));
  out += "</tr>\n";
  for (size_t i = 0; i < std::min<size_t>(ranked.size(), 20); ++i) {
    out += fmt::format("<tr><td class=\"n\">{:.6g}</td><td class=\"n\">{}</td><td class=\"n\">{:.1f}</td>",
                       ranked[i].score, ranked[i].number, ranked[i].seconds);
    for (size_t g = 0; g < space.genes().size(); ++g)
      out += fmt::format("<td class=\"n\">{}</td>", shown_value(space.genes()[g], ranked[i].point[g]));
    out += "</tr>\n";
  }
  out += "</table>\n";
  if (!text.best_json.empty())
    out += fmt::format("<h2>The best policy</h2>\n<pre>{}</pre>\n<p>In a pipeline:</p>\n<pre>{}</pre>\n",
                       escaped(text.best_json), escaped(text.pipeline_text));
  std::map<std::string, int> reasons;
  for (const Trial& trial : trials)
    if (trial.failed) ++reasons[trial.reason];
  if (!reasons.empty()) {
    out += "<h2>Failures</h2>\n<table>\n";
    for (const auto& [reason, count] : reasons)
      out += fmt::format("<tr><td class=\"n\">{}</td><td>{}</td></tr>\n", count, escaped(reason));
    out += "</table>\n";
  }
  return out + "</body></html>\n";
}

}  // namespace galatea::policy
