#include "policy/search/plot.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace galatea::policy {
namespace {

constexpr double kPlotWidth = 560;

struct Axis {
  double low = 0, high = 1;
  double at(double value) const { return (value - low) / (high - low); }
  /// Takes a value in.
  void reach(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void widen_if_empty() {
    if (low == high) *this = {low - 0.5, high + 0.5};
  }
};

Axis axis_of(const std::vector<Dot>& dots, double Dot::* member) {
  Axis axis{dots[0].*member, dots[0].*member};
  for (const Dot& dot : dots) axis.reach(dot.*member);
  axis.widen_if_empty();
  return axis;
}

std::string begin_svg(double height, const std::string& label) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kPlotWidth, height,
                     escaped(label));
}

}  // namespace

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

std::string dot_plot(const std::vector<Dot>& dots, const std::string& x_words, const std::string& y_words) {
  constexpr double kHeight = 260, kLeft = 70, kBottom = 40, kTop = 12;
  if (dots.empty()) return "<p>There is nothing to plot.</p>\n";
  const Axis x = axis_of(dots, &Dot::x), y = axis_of(dots, &Dot::y);
  auto across = [&](double value) { return kLeft + 8 + x.at(value) * (kPlotWidth - kLeft - 24); };
  auto down = [&](double value) { return kTop + (1 - y.at(value)) * (kHeight - kTop - kBottom - 8); };
  std::string out = begin_svg(kHeight, y_words + " and " + x_words);
  out += fmt::format("<path class=\"axis\" d=\"M{} {} V{} H{}\"/>\n", kLeft, kTop, kHeight - kBottom,
                     kPlotWidth - 8);
  for (double value : {y.low, y.high})
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" class=\"right\">{:.4g}</text>\n", kLeft - 6,
                       down(value) + 4, value);
  for (double value : {x.low, x.high})
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" class=\"middle\">{:.4g}</text>\n", across(value),
                       kHeight - kBottom + 16, value);
  out += fmt::format("<text x=\"{}\" y=\"{}\" class=\"middle\">{}</text>\n", kPlotWidth / 2, kHeight - 6,
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

std::string interval_plot(const std::vector<Bar>& bars, const std::string& words) {
  constexpr double kRow = 22, kLeft = 150, kTop = 8, kBottom = 38;
  if (bars.empty()) return "<p>There is nothing to plot.</p>\n";
  Axis axis{0, 0};
  for (const Bar& bar : bars) {
    axis.reach(bar.low);
    axis.reach(bar.high);
  }
  axis.widen_if_empty();
  const double bottom = kTop + kRow * static_cast<double>(bars.size());
  auto across = [&](double value) { return kLeft + 8 + axis.at(value) * (kPlotWidth - kLeft - 24); };
  std::string out = begin_svg(bottom + kBottom, words);
  out += fmt::format("<path class=\"axis\" d=\"M{:.1f} {} V{}\"/>\n", across(0), kTop, bottom);
  for (size_t i = 0; i < bars.size(); ++i) {
    const Bar& bar = bars[i];
    const double y = kTop + kRow * (static_cast<double>(i) + 0.5);
    const char* mark = bar.marked ? " mark" : "";
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" class=\"right\">{}</text>\n", kLeft - 6, y + 4,
                       escaped(bar.name));
    out += fmt::format("<path class=\"interval{}\" d=\"M{:.1f} {:.1f} H{:.1f}\"/>\n", mark, across(bar.low),
                       y, across(bar.high));
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"{}><title>{}</title></circle>\n",
                       across(bar.at), y, bar.marked ? " class=\"mark\"" : "", escaped(bar.words));
  }
  for (double value : {axis.low, 0.0, axis.high}) {
    const bool crowded = value == 0 ? false : std::abs(across(value) - across(0)) < 40;
    if (!crowded)
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"middle\">{:.3g}</text>\n", across(value),
                         bottom + 14, value);
  }
  out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" class=\"middle\">{}</text>\n", kPlotWidth / 2, bottom + 32,
                     escaped(words));
  return out + "</svg>\n";
}

}  // namespace galatea::policy
