// In: one logical line. Out: the lines that it is written as. See split.h.
#include "dsl/formatter/split.h"

#include <algorithm>

#include "dsl/formatter/split_parts.h"

namespace galatea::dsl::formatter {
namespace {

enum class Method { kDelimiters, kComments, kFirstBrackets, kRight };

bool is_plain(const Node* token) { return token->kind == Kind::kName || token->kind == Kind::kNumber; }

// Names with dots on the left side of `**`, up to where the expression begins.
bool is_plain_before(const Line& line, size_t at) {
  const auto& tokens = line.tokens;
  bool brackets = false;
  for (size_t i = at + 1; i-- > 0;) {
    const Node* token = tokens[i];
    if (token->bracket == ')' || token->bracket == ']') brackets = true;
    if (i == at) continue;
    const Node* past = tokens[i + 1];
    bool chained = false;
    if (past->kind == Kind::kName)
      chained = token->is(".");
    else if (past->bracket == ')' || past->bracket == ']')
      chained = token->bracket == ')' || token->bracket == ']';
    else if (past->bracket == '(' || past->bracket == '[')
      chained = token->kind == Kind::kName || token->bracket == '(' || token->bracket == '[';
    if (!chained) return !brackets;
  }
  return true;
}

bool is_plain_after(const Line& line, size_t at) {
  for (size_t i = at; i < line.tokens.size(); ++i) {
    const Node* token = line.tokens[i];
    if (token->bracket == '(' || token->bracket == '[') return false;
    if ((token->kind != Kind::kName && !token->is(".")) || token->is("for")) return true;
  }
  return true;
}

// `x**2`, but `f(x) ** 2`.
bool hugs(const Line& line, size_t at) {
  const auto& tokens = line.tokens;
  if (at == 0 || at + 1 >= tokens.size() || !tokens[at]->is("**")) return false;
  if (!is_plain(tokens[at - 1]) || tokens[at - 1]->is("lambda") || !is_plain_before(line, at - 1))
    return false;
  size_t operand = at + 1;
  if (tokens[operand]->is("+") || tokens[operand]->is("-") || tokens[operand]->is("~")) ++operand;
  return operand < tokens.size() && is_plain(tokens[operand]) && is_plain_after(line, operand);
}

class Splitter {
 public:
  explicit Splitter(NodeStore& store) : store_(store) {}

  void run(Line line, bool force_brackets, Lines& out);

 private:
  std::optional<Lines> apply(const Line& line, Method method, bool force_brackets) {
    switch (method) {
      case Method::kDelimiters:
        return split_at_delimiters(store_, line);
      case Method::kComments:
        return split_at_comments(line);
      case Method::kFirstBrackets:
        return split_at_first_brackets(store_, line);
      case Method::kRight:
        return split_right(store_, line, force_brackets);
    }
    return std::nullopt;
  }
  std::optional<Lines> transform(const Line& line, Method method, bool force_brackets);
  bool has_final_brackets(const Line& line, const Line& first) const;
  Line copy(const Line& line);

  NodeStore& store_;
};

// Whether there is nothing to gain from writing every optional pair of brackets.
bool Splitter::has_final_brackets(const Line& line, const Line& first) const {
  const auto& optional = line.tracker.optional_brackets();
  if (optional.empty()) return true;
  if (std::any_of(optional.begin(), optional.end(),
                  [](const Node* bracket) { return bracket->depth == 0 && bracket->written(); }))
    return true;
  if (line.has_multiline_strings() || first.fits() || only_subscript_comment_is_long(first)) return true;
  return std::any_of(line.tokens.begin(), line.tokens.end(),
                     [](const Node* token) { return token->parent == nullptr; });
}

Line Splitter::copy(const Line& line) {
  Line out = line.like();
  out.must_split = line.must_split;
  out.is_cut = line.is_cut;
  out.magic_comma = line.magic_comma;
  for (const Node* token : line.tokens) {
    Node* twin = store_.copy(*token);
    twin->blanks.clear();
    twin->partner = nullptr;
    out.append(twin);
    for (Node* comment : line.comments_after(token)) out.append(comment, true);
  }
  return out;
}

std::optional<Lines> Splitter::transform(const Line& line, Method method, bool force_brackets) {
  const std::string text = line.text();
  std::optional<Lines> parts = apply(line, method, force_brackets);
  if (!parts) return std::nullopt;
  Lines result;
  for (Line& part : *parts) {
    if (part.text() == text) return std::nullopt;
    run(std::move(part), force_brackets, result);
  }
  if (force_brackets || method != Method::kRight || result.empty() ||
      has_final_brackets(line, result.front()))
    return result;
  std::optional<Lines> second = transform(copy(line), method, true);
  if (second && std::all_of(second->begin(), second->end(), [](const Line& part) { return part.fits(); }))
    return second;
  return result;
}

void Splitter::run(Line line, bool force_brackets, Lines& out) {
  if (line.is_own_line()) {
    out.push_back(std::move(line));
    return;
  }
  // What it would be with its powers hugged decides whether it fits.
  std::vector<std::pair<Node*, std::string>> hugged;
  for (size_t i = 0; i < line.tokens.size(); ++i) {
    if (!hugs(line, i)) continue;
    for (size_t k : {i, i + 1}) {
      hugged.emplace_back(line.tokens[k], line.tokens[k]->blanks);
      line.tokens[k]->blanks.clear();
    }
  }
  bool fits = !line.must_split && !line.magic_comma && line.fits() &&
              !(line.inside_brackets && line.has_own_line_comments()) && !line.has_commented_strings();
  if (fits) {
    out.push_back(std::move(line));
    return;
  }
  for (auto& [token, blanks] : hugged) token->blanks = blanks;

  std::vector<Method> methods = {Method::kRight};
  if (line.is_function() && !return_type_splits_first(line))
    methods = {Method::kFirstBrackets};
  else if (line.inside_brackets)
    methods = {Method::kDelimiters, Method::kComments, Method::kRight};
  for (Method method : methods) {
    if (std::optional<Lines> lines = transform(line, method, force_brackets)) {
      for (Line& part : *lines) out.push_back(std::move(part));
      return;
    }
  }
  for (auto& [token, blanks] : hugged) token->blanks.clear();
  if (line.has_own_line_comments()) {
    for (Line& part : split_at_comments_anyhow(line)) out.push_back(std::move(part));
    return;
  }
  out.push_back(std::move(line));
}

}  // namespace

std::vector<Line> split_line(NodeStore& store, Line line) {
  Lines out;
  Splitter(store).run(std::move(line), false, out);
  return out;
}

}  // namespace galatea::dsl::formatter
