// Expressions, by the precedence of Python's operators. See grouping.h.
#include "dsl/formatter/grouper.h"

namespace galatea::dsl::formatter {
namespace {

constexpr std::array<std::array<std::string_view, 5>, 6> kBinaryLevels = {{
    {"|"},
    {"^"},
    {"&"},
    {"<<", ">>"},
    {"+", "-"},
    {"*", "/", "//", "%", "@"},
}};
constexpr std::array<std::string_view, 6> kComparisons = {"<", ">", "==", "!=", "<=", ">="};
}  // namespace

bool Grouper::at_expression() const {
  if (at_end()) return false;
  const Node& token = *tokens_[at_];
  if (token.kind != Kind::kOperator) {
    constexpr std::array<std::string_view, 8> kNever = {"in", "if", "else", "for", "is", "and", "or", "as"};
    return !is_one_of(kNever);
  }
  constexpr std::array<std::string_view, 9> kBegins = {"(", "[", "{", "-", "+", "~", "*", "**", "..."};
  return is_one_of(kBegins);
}

// One or several, separated by commas, without brackets around them.
Node* Grouper::elements(Kind kind, bool stars_only) {
  std::vector<Node*> children;
  do {
    if (!children.empty()) children.push_back(take(","));
    if (!at_expression()) break;
    if (stars_only && !is("*"))
      children.push_back(binary(0));
    else
      children.push_back(element());
  } while (is(","));
  if (children.empty()) throw NotUnderstood{};
  return group_unless_one(kind, std::move(children));
}

Node* Grouper::element() {
  if (is("*") || is("**")) {
    Node* star = take();
    return group(Kind::kStar, {star, binary(0)});
  }
  return named();
}

Node* Grouper::named() {
  Node* node = expression();
  if (!is(":=")) return node;
  Node* walrus = take();
  return group(Kind::kNamed, {node, walrus, expression()});
}

Node* Grouper::expression() {
  Depth guard(depth_);
  if (is("lambda")) return lambda();
  if (is("yield")) {
    std::vector<Node*> children = {take()};
    if (is("from")) children.push_back(take());
    if (at_expression()) children.push_back(elements(Kind::kElements));
    return group_unless_one(Kind::kYield, std::move(children));
  }
  Node* value = disjunction();
  if (!is("if")) return value;
  std::vector<Node*> children = {value, take()};
  children.push_back(disjunction());
  children.push_back(take("else"));
  children.push_back(expression());
  return group(Kind::kTernary, std::move(children));
}

Node* Grouper::lambda() {
  std::vector<Node*> children = {take("lambda")}, inside;
  parameters(inside, false);
  if (!inside.empty()) children.push_back(group_unless_one(Kind::kLambdaParameters, std::move(inside)));
  children.push_back(take(":"));
  children.push_back(expression());
  return group(Kind::kLambda, std::move(children));
}

Node* Grouper::disjunction() {
  std::vector<Node*> children = {conjunction()};
  while (is("or")) {
    children.push_back(take());
    children.push_back(conjunction());
  }
  return group_unless_one(Kind::kBool, std::move(children));
}

Node* Grouper::conjunction() {
  std::vector<Node*> children = {negation()};
  while (is("and")) {
    children.push_back(take());
    children.push_back(negation());
  }
  return group_unless_one(Kind::kBool, std::move(children));
}

Node* Grouper::negation() {
  if (!is("not")) return comparison();
  Depth guard(depth_);
  Node* word = take();
  return group(Kind::kNot, {word, negation()});
}

Node* Grouper::comparison() {
  std::vector<Node*> children = {binary(0)};
  for (;;) {
    if (is_one_of(kComparisons) || is("in")) {
      children.push_back(take());
    } else if (is("is") || is("not")) {
      Node* word = take();
      if (word->is("not"))
        word = group(Kind::kComparisonWords, {word, take("in")});
      else if (is("not"))
        word = group(Kind::kComparisonWords, {word, take()});
      children.push_back(word);
    } else {
      return group_unless_one(Kind::kComparison, std::move(children));
    }
    children.push_back(binary(0));
  }
}

Node* Grouper::binary(size_t level) {
  if (level == kBinaryLevels.size()) return unary();
  std::vector<Node*> children = {binary(level + 1)};
  while (is_one_of(kBinaryLevels[level])) {
    children.push_back(take());
    children.push_back(binary(level + 1));
  }
  return group_unless_one(Kind::kBinary, std::move(children));
}

Node* Grouper::unary() {
  if (!is("-") && !is("+") && !is("~")) return power();
  Depth guard(depth_);
  Node* sign = take();
  return group(Kind::kUnary, {sign, unary()});
}

Node* Grouper::power() {
  std::vector<Node*> children;
  if (is("await")) children.push_back(take());
  children.push_back(atom());
  while (is("(") || is("[") || is(".")) children.push_back(trailer());
  if (is("**")) {
    Depth guard(depth_);
    children.push_back(take());
    children.push_back(unary());
  }
  return group_unless_one(Kind::kPower, std::move(children));
}

Node* Grouper::atom() {
  if (is("(")) return bracketed(Kind::kBracketed);
  if (is("[")) return bracketed(Kind::kListItems);
  if (is("{")) return bracketed(Kind::kDictItems);
  if (is_kind(Kind::kString)) {
    std::vector<Node*> children;
    while (is_kind(Kind::kString)) children.push_back(take());
    return group_unless_one(Kind::kStrings, std::move(children));
  }
  constexpr std::array<std::string_view, 13> kNever = {"in", "if",  "else",   "for", "is",  "and",   "or",
                                                       "as", "def", "import", "not", "del", "lambda"};
  if (is_kind(Kind::kNumber) || is("...") || (is_kind(Kind::kName) && !is_one_of(kNever))) return take();
  throw NotUnderstood{};
}

Node* Grouper::bracketed(Kind kind) {
  Depth guard(depth_);
  std::vector<Node*> children = {take()}, inside;
  auto at_close = [&] { return is(")") || is("]") || is("}"); };
  while (!at_close()) {
    inside.push_back(element());
    if (kind == Kind::kDictItems && is(":")) {
      inside.push_back(take());
      inside.push_back(expression());
    }
    if (is("for") || is("async")) inside.push_back(comprehension());
    if (is(","))
      inside.push_back(take());
    else if (!at_close())
      throw NotUnderstood{};
  }
  if (!inside.empty()) children.push_back(group_unless_one(kind, std::move(inside)));
  children.push_back(take());
  return group(Kind::kAtom, std::move(children));
}

Node* Grouper::comprehension() {
  Depth guard(depth_);
  if (is("if")) {
    std::vector<Node*> children = {take()};
    children.push_back(is("lambda") ? lambda() : disjunction());
    if (is(":=")) throw NotUnderstood{};
    if (is("for") || is("if")) children.push_back(comprehension());
    return group(Kind::kCondition, std::move(children));
  }
  std::vector<Node*> children = {take("for")};
  children.push_back(elements(Kind::kTargets, true));
  children.push_back(take("in"));
  children.push_back(is("lambda") ? lambda() : disjunction());
  if (is("for") || is("if")) children.push_back(comprehension());
  return group(Kind::kComprehension, std::move(children));
}

Node* Grouper::trailer() {
  Depth guard(depth_);
  std::vector<Node*> children = {take()}, inside;
  if (children[0]->is(".")) {
    children.push_back(take_name());
    return group(Kind::kTrailer, std::move(children));
  }
  bool call = children[0]->bracket == '(';
  std::string_view close = call ? ")" : "]";
  while (!is(close)) {
    inside.push_back(call ? argument() : subscript());
    if (is(","))
      inside.push_back(take());
    else if (!is(close))
      throw NotUnderstood{};
  }
  if (!inside.empty())
    children.push_back(group_unless_one(call ? Kind::kArguments : Kind::kSubscripts, std::move(inside)));
  children.push_back(take());
  return group(Kind::kTrailer, std::move(children));
}

Node* Grouper::argument() {
  if (is("*") || is("**")) {
    Node* star = take();
    return group(Kind::kArgument, {star, expression()});
  }
  Node* value = named();
  if (is("=")) {
    Node* equals = take();
    return group(Kind::kArgument, {value, equals, expression()});
  }
  if (is("for")) return group(Kind::kArgument, {value, comprehension()});
  return value;
}

Node* Grouper::subscript() {
  std::vector<Node*> children;
  if (!is(":")) {
    Node* value = element();
    if (!is(":")) return value;
    children.push_back(value);
  }
  children.push_back(take(":"));
  auto at_value = [&] { return !is(":") && !is(",") && !is("]"); };
  if (at_value()) children.push_back(expression());
  if (is(":")) {
    std::vector<Node*> step = {take()};
    if (at_value()) step.push_back(expression());
    children.push_back(group(Kind::kSliceStep, std::move(step)));
  }
  return group_unless_one(Kind::kSlice, std::move(children));
}

}  // namespace galatea::dsl::formatter
