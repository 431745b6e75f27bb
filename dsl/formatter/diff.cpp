// Unified diffs, by Myers' shortest edit script. See formatter.h.
#include <algorithm>

#include <fmt/core.h>

#include "dsl/formatter/formatter.h"

namespace galatea::dsl {
namespace {

using Lines = std::vector<std::string>;

constexpr size_t kContext = 3;
/// Texts that differ in more lines are shown as one replacement.
constexpr long kMostEdits = 2000;

Lines cut_lines(const std::string& text) {
  Lines lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

/// ' ' both, '-' only before, '+' only after.
struct EditedLine {
  char kind;
  size_t before, after;  ///< indices of lines
};

std::vector<EditedLine> replace_all(const Lines& a, const Lines& b) {
  std::vector<EditedLine> edits;
  edits.reserve(a.size() + b.size());
  for (size_t i = 0; i < a.size(); ++i) edits.push_back({'-', i, 0});
  for (size_t i = 0; i < b.size(); ++i) edits.push_back({'+', a.size(), i});
  return edits;
}

std::vector<EditedLine> shortest_edits(const Lines& a, const Lines& b) {
  const long n = static_cast<long>(a.size()), m = static_cast<long>(b.size());
  const long most = std::min(n + m, kMostEdits);
  std::vector<long> reach(static_cast<size_t>(2 * most + 3), 0);
  auto at = [&](std::vector<long>& v, long k) -> long& { return v[static_cast<size_t>(k + most + 1)]; };
  std::vector<std::vector<long>> trace;
  long cost = 0;
  bool found = false;
  for (; cost <= most && !found; ++cost) {
    trace.push_back(reach);
    for (long k = -cost; k <= cost && !found; k += 2) {
      bool down = k == -cost || (k != cost && at(reach, k - 1) < at(reach, k + 1));
      long x = down ? at(reach, k + 1) : at(reach, k - 1) + 1;
      while (x < n && x - k < m && a[static_cast<size_t>(x)] == b[static_cast<size_t>(x - k)]) ++x;
      at(reach, k) = x;
      found = x >= n && x - k >= m;
    }
  }
  if (!found) return replace_all(a, b);
  std::vector<EditedLine> edits;
  long x = n, y = m;
  for (long d = cost - 1; d >= 0; --d) {
    std::vector<long>& last = trace[static_cast<size_t>(d)];
    long k = x - y;
    bool down = k == -d || (k != d && at(last, k - 1) < at(last, k + 1));
    long from = down ? k + 1 : k - 1;
    long before_x = d == 0 ? 0 : at(last, from), before_y = d == 0 ? 0 : before_x - from;
    while (x > before_x && y > before_y && x > 0 && y > 0) {
      --x, --y;
      edits.push_back({' ', static_cast<size_t>(x), static_cast<size_t>(y)});
    }
    if (d == 0) break;
    if (down)
      edits.push_back({'+', static_cast<size_t>(x), static_cast<size_t>(--y)});
    else
      edits.push_back({'-', static_cast<size_t>(--x), static_cast<size_t>(y)});
  }
  std::reverse(edits.begin(), edits.end());
  return edits;
}

std::string range(size_t first, size_t count) {
  if (count == 1) return fmt::format("{}", first + 1);
  return fmt::format("{},{}", count == 0 ? first : first + 1, count);
}

}  // namespace

std::vector<LineEdit> line_edits(const std::string& before, const std::string& after) {
  const Lines a = cut_lines(before), b = cut_lines(after);
  std::vector<LineEdit> edits;
  bool in_edit = false;
  for (const EditedLine& edit : shortest_edits(a, b)) {
    if (edit.kind != ' ' && !in_edit) edits.push_back({edit.before, 0, ""});
    in_edit = edit.kind != ' ';
    if (edit.kind == '-') ++edits.back().removed;
    if (edit.kind == '+') edits.back().text += b[edit.after];
  }
  return edits;
}

std::string unified_diff(const std::string& file_name, const std::string& before, const std::string& after) {
  if (before == after) return {};
  const Lines a = cut_lines(before), b = cut_lines(after);
  const std::vector<EditedLine> edits = shortest_edits(a, b);
  std::string out = fmt::format("--- {}\n+++ {}\n", file_name, file_name);
  for (size_t i = 0; i < edits.size();) {
    if (edits[i].kind == ' ') {
      ++i;
      continue;
    }
    // A hunk: changes with at most twice the context between them.
    size_t begin = i - std::min(i, kContext), last = i;
    for (size_t k = i; k < edits.size() && k - last <= 2 * kContext; ++k) {
      if (edits[k].kind != ' ') last = k;
    }
    size_t end = std::min(edits.size(), last + kContext + 1);
    size_t removed = 0, added = 0;
    std::string text;
    for (size_t k = begin; k < end; ++k) {
      const EditedLine& edit = edits[k];
      removed += edit.kind != '+' ? 1 : 0;
      added += edit.kind != '-' ? 1 : 0;
      const std::string& line = edit.kind == '+' ? b[edit.after] : a[edit.before];
      text += edit.kind + line;
      if (!line.ends_with('\n')) text += "\n\\ No newline at end of file\n";
    }
    out += fmt::format("@@ -{} +{} @@\n", range(edits[begin].before, removed),
                       range(edits[begin].after, added)) +
           text;
    i = end;
  }
  return out;
}

}  // namespace galatea::dsl
