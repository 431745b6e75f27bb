// Plots of a report, as SVG inside of HTML.
#pragma once

#include <string>
#include <vector>

namespace galatea::policy {

/// Text inside of HTML.
std::string escaped(const std::string& text);

struct Dot {
  double x = 0, y = 0;
  std::string words;
  bool marked = false;
};
/// Dots with axes; those that are marked are joined by steps.
std::string dot_plot(const std::vector<Dot>& dots, const std::string& x_words, const std::string& y_words);

struct Bar {
  std::string name;
  double at = 0, low = 0, high = 0;
  std::string words;
  bool marked = false;
};
/// A line for each: its interval and a dot, and a line at 0.
std::string interval_plot(const std::vector<Bar>& bars, const std::string& words);

}  // namespace galatea::policy
