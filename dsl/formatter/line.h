// A line on its way out: tokens, comments at their side, and where it may break.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dsl/formatter/node.h"
#include "dsl/formatter/spacing.h"

namespace galatea::dsl::formatter {

inline constexpr int kLineWidth = 100;
inline constexpr int kIndent = 4;

/// Columns that the text takes in a terminal: wide East Asian characters count twice, accents nothing.
int display_width(std::string_view text);

/// Follows the brackets of a line. Tokens between `for` and `in`, and the parameters of a lambda, count as if
/// they stood in brackets.
class BracketTracker {
 public:
  void mark(Node* token);
  bool any_open() const { return !open_.empty(); }
  bool any_open_for_or_lambda() const { return !fors_.empty() || !lambdas_.empty(); }
  int depth() const { return depth_; }
  /// The priority of a break after this token, outside all brackets.
  int delimiter(const Node* token) const;
  bool has_delimiters() const { return !delimiters_.empty(); }
  int max_priority(const Node* except = nullptr) const;
  int count(int priority) const;
  const std::vector<Node*>& optional_brackets() const { return optional_; }

 private:
  int depth_ = 0;
  const Node* previous_ = nullptr;
  std::vector<std::pair<int, Node*>> open_;  ///< depth and opening bracket
  std::unordered_map<const Node*, int> delimiters_;
  std::vector<int> fors_, lambdas_;
  std::vector<Node*> optional_;
};

class Line {
 public:
  explicit Line(int levels = 0, bool inside = false) : depth(levels), inside_brackets(inside) {}
  /// An empty line of the same place and manner.
  Line like() const { return Line(depth, inside_brackets); }

  /// Appends; `spaced`: its blanks are right already; `track` its brackets even then.
  void append(Node* token, bool spaced = false, bool track = false);
  /// The same; false if a comment on its own line would share the line.
  bool append_alone(Node* token);

  bool empty() const { return tokens.empty(); }
  bool is_own_line() const { return tokens.size() == 1 && tokens[0]->kind == Kind::kOwnLine; }
  bool begins_with(const char* word) const { return !tokens.empty() && tokens[0]->is(word); }
  bool is_function() const {
    return begins_with("def") || (begins_with("async") && tokens.size() > 1 && tokens[1]->is("def"));
  }
  bool is_class() const { return begins_with("class"); }
  bool is_import() const;
  bool has_own_line_comments() const;
  bool has_multiline_strings() const;
  bool has_commented_strings() const;
  bool is_chained_assignment() const;
  const std::vector<Node*>& comments_after(const Node* token) const;
  /// One line of text, comments at its end, without a line break at the end.
  std::string text() const;
  /// Whether it fits as it is.
  bool fits(int width = kLineWidth) const;
  /// The same, if it were written as `text`.
  bool fits_as(const std::string& text, int width = kLineWidth) const;

  int depth;
  std::vector<Node*> tokens;
  std::unordered_map<const Node*, std::vector<Node*>> comments;
  BracketTracker tracker;
  bool inside_brackets;
  bool must_split = false;
  bool is_cut = false;       ///< a comment of its own ends or begins it, within an element
  bool magic_comma = false;  ///< a trailing comma that keeps the brackets open

 private:
  bool append_comment(Node* comment);
  bool closes_after_magic_comma(const Node* closing) const;
  bool fits_with_multiline_string() const;
};

/// Whether at most one element stands between the brackets, as in `(x,)`.
bool holds_one_element(const Node* opening, const Node* closing, const std::vector<Node*>& tokens,
                       char bracket = '(');

}  // namespace galatea::dsl::formatter
