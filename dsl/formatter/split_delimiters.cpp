// Cutting a line at its delimiters and at its comments. See split_parts.h.
#include <algorithm>
#include <limits>

#include "dsl/formatter/split_parts.h"

namespace galatea::dsl::formatter {
namespace {

/// Collects lines; a comment that needs a line of its own begins one.
class Collector {
 public:
  explicit Collector(const Line& original) : original_(original), current_(begin_line()) {}

  void append(Node* token) {
    if (current_.append_alone(token)) return;
    current_.is_cut = true;
    end_line();
    current_.is_cut = true;
    current_.append(token);
  }
  void append_comments(const Node* token) {
    for (Node* comment : original_.comments_after(token)) append(comment);
  }
  void add_comma(NodeStore& store) {
    if (current_.empty() || current_.tokens.back()->is(",") || current_.tokens.back()->kind == Kind::kOwnLine)
      return;
    current_.append(store.token(Kind::kOperator, ","));
  }
  void end_line() {
    lines_.push_back(std::move(current_));
    current_ = begin_line();
  }
  bool pending() const { return !current_.empty(); }
  Lines take() {
    if (pending()) end_line();
    for (Line& line : lines_) line.tokens[0]->blanks.clear();
    return std::move(lines_);
  }

 private:
  // A piece of what was cut is cut.
  Line begin_line() const {
    Line line = original_.like();
    line.is_cut = original_.is_cut;
    return line;
  }

  const Line& original_;
  Line current_;
  Lines lines_;
};

}  // namespace

std::optional<Lines> split_at_delimiters(NodeStore& store, const Line& line) {
  if (line.empty()) return std::nullopt;
  const Node* last = line.tokens.back();
  int priority = line.tracker.max_priority(last);
  if (priority == kNoBreak) return std::nullopt;
  // The commas of such a line need not be those between its elements, and none may be added after the last.
  if (priority == kComma && line.is_cut) return std::nullopt;
  if (priority == kAttribute && line.tracker.count(priority) == 1) return std::nullopt;
  // Comments move with what they follow only where one element a line is written.
  bool migrate = priority == kStringBreak || priority == kComma;
  size_t last_code = line.tokens.size();
  for (size_t i = line.tokens.size(); i-- > 1;) {
    if (line.tokens[i]->kind == Kind::kOwnLine) continue;
    last_code = i;
    break;
  }
  Collector out(line);
  for (size_t i = 0; i < line.tokens.size(); ++i) {
    Node* token = line.tokens[i];
    out.append(token);
    int before = i > 0 ? line.tracker.delimiter(line.tokens[i - 1]) : kNoBreak;
    if (before != priority || migrate) out.append_comments(token);
    if (last->kind == Kind::kOwnLine && i == last_code && priority == kComma) out.add_comma(store);
    if (line.tracker.delimiter(token) == priority) {
      if (i + 1 < line.tokens.size() && !migrate) out.append_comments(line.tokens[i + 1]);
      if (out.pending()) out.end_line();
    }
  }
  if (priority == kComma && out.pending()) out.add_comma(store);
  return out.take();
}

std::optional<Lines> split_at_comments(const Line& line) {
  if (!line.has_own_line_comments()) return std::nullopt;
  Collector out(line);
  for (Node* token : line.tokens) {
    out.append(token);
    out.append_comments(token);
  }
  return out.take();
}

Lines split_at_comments_anyhow(const Line& line) {
  Lines lines;
  Line current = line.like();
  for (Node* token : line.tokens) {
    bool apart = token->kind == Kind::kOwnLine || current.is_own_line();
    if (!current.empty() && apart) {
      lines.push_back(std::move(current));
      current = line.like();
    }
    current.append(token, true);
    for (Node* comment : line.comments_after(token)) current.append(comment, true);
  }
  if (!current.empty()) lines.push_back(std::move(current));
  return lines;
}

}  // namespace galatea::dsl::formatter
