// Recursive descent over the tokens of a logical line. See grouping.h.
//
// It accepts more than Python does (the parser has judged the text before): only how tokens group matters
// here.
#include "dsl/formatter/grouping.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace galatea::dsl::formatter {
namespace {

struct NotUnderstood {};

constexpr int kMaxDepth = 2000;

constexpr std::array<std::array<std::string_view, 5>, 6> kBinaryLevels = {{
    {"|"},
    {"^"},
    {"&"},
    {"<<", ">>"},
    {"+", "-"},
    {"*", "/", "//", "%", "@"},
}};
constexpr std::array<std::string_view, 6> kComparisons = {"<", ">", "==", "!=", "<=", ">="};
constexpr std::array<std::string_view, 13> kAssignments = {
    "=", "+=", "-=", "*=", "/=", "//=", "%=", "@=", "&=", "|=", "^=", "<<=", ">>="};

class Grouper {
 public:
  Grouper(NodeStore& store, const std::vector<Node*>& tokens) : store_(store), tokens_(tokens) {}

  Node* line() {
    Node* node = statement();
    if (!at_end()) throw NotUnderstood{};
    return node;
  }

 private:
  bool at_end() const { return at_ >= tokens_.size(); }
  bool is(std::string_view text) const {
    return !at_end() && tokens_[at_]->kind <= Kind::kOperator && tokens_[at_]->kind != Kind::kNumber &&
           tokens_[at_]->text == text;
  }
  bool is_kind(Kind kind) const { return !at_end() && tokens_[at_]->kind == kind; }
  template <size_t kCount>
  bool is_one_of(const std::array<std::string_view, kCount>& texts) const {
    return !at_end() && std::any_of(texts.begin(), texts.end(),
                                    [&](std::string_view text) { return !text.empty() && is(text); });
  }
  Node* take() {
    if (at_end()) throw NotUnderstood{};
    return tokens_[at_++];
  }
  Node* take(std::string_view text) {
    if (!is(text)) throw NotUnderstood{};
    return take();
  }
  Node* take_name() {
    if (!is_kind(Kind::kName)) throw NotUnderstood{};
    return take();
  }
  Node* group(Kind kind, std::vector<Node*> children) { return store_.group(kind, std::move(children)); }
  /// A group, or the one thing in it.
  Node* group_unless_one(Kind kind, std::vector<Node*> children) {
    return children.size() == 1 ? children[0] : group(kind, std::move(children));
  }

  Node* statement();
  Node* function();
  Node* import_from();
  Node* assignment();
  Node* dotted_name();
  Node* import_names();
  void parameters(std::vector<Node*>& out, bool typed);
  Node* elements(Kind kind, bool stars_only = false);
  Node* element();
  Node* named();
  Node* expression();
  Node* lambda();
  Node* disjunction();
  Node* conjunction();
  Node* negation();
  Node* comparison();
  Node* binary(size_t level);
  Node* unary();
  Node* power();
  Node* atom();
  Node* trailer();
  Node* subscript();
  Node* argument();
  Node* comprehension();
  Node* bracketed(Kind kind);
  bool at_expression() const;

  struct Depth {
    explicit Depth(int& depth) : depth_(depth) {
      if (++depth_ > kMaxDepth) {
        --depth_;
        throw NotUnderstood{};
      }
    }
    ~Depth() { --depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    int& depth_;
  };

  NodeStore& store_;
  const std::vector<Node*>& tokens_;
  size_t at_ = 0;
  int depth_ = 0;
};

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

// ---- statements ----

Node* Grouper::statement() {
  if (is("def")) return function();
  if (is("async")) {
    Node* word = take();
    return group(Kind::kOtherStatement, {word, statement()});
  }
  if (is("@")) {
    std::vector<Node*> children = {take()};
    children.push_back(named());
    return group(Kind::kDecorator, std::move(children));
  }
  if (is("from")) return import_from();
  if (is("import")) {
    std::vector<Node*> children = {take()};
    do {
      if (!children.empty() && is(",")) children.push_back(take());
      Node* name = dotted_name();
      if (is("as")) {
        Node* as = take();
        name = group(Kind::kImportName, {name, as, take_name()});
      }
      children.push_back(name);
    } while (is(","));
    return group(Kind::kImport, std::move(children));
  }
  if (is("return")) {
    std::vector<Node*> children = {take()};
    if (!at_end()) children.push_back(elements(Kind::kElements));
    return group_unless_one(Kind::kReturn, std::move(children));
  }
  if (is("assert")) {
    std::vector<Node*> children = {take()};
    children.push_back(expression());
    if (is(",")) {
      children.push_back(take());
      children.push_back(expression());
    }
    return group(Kind::kAssert, std::move(children));
  }
  if (is("if") || is("elif") || is("while")) {
    Kind kind = is("while") ? Kind::kWhile : Kind::kIf;
    std::vector<Node*> children = {take()};
    children.push_back(named());
    children.push_back(take(":"));
    return group(kind, std::move(children));
  }
  if (is("for")) {
    std::vector<Node*> children = {take()};
    children.push_back(elements(Kind::kTargets, true));
    children.push_back(take("in"));
    children.push_back(elements(Kind::kElements));
    children.push_back(take(":"));
    return group(Kind::kFor, std::move(children));
  }
  if (is("del")) {
    std::vector<Node*> children = {take()};
    children.push_back(elements(Kind::kTargets));
    return group(Kind::kDelete, std::move(children));
  }
  if (is("class")) {
    std::vector<Node*> children = {take()};
    children.push_back(take_name());
    if (is("(")) {
      children.push_back(take());
      if (!is(")")) {
        std::vector<Node*> arguments;
        while (!is(")")) {
          arguments.push_back(argument());
          if (is(",")) arguments.push_back(take());
        }
        children.push_back(group_unless_one(Kind::kArguments, std::move(arguments)));
      }
      children.push_back(take(")"));
    }
    children.push_back(take(":"));
    return group(Kind::kClass, std::move(children));
  }
  constexpr std::array<std::string_view, 3> kBare = {"else", "try", "finally"};
  if (is_one_of(kBare)) {
    std::vector<Node*> children = {take()};
    children.push_back(take(":"));
    return group(Kind::kOtherStatement, std::move(children));
  }
  constexpr std::array<std::string_view, 5> kPlain = {"with", "except", "raise", "global", "nonlocal"};
  if (is_one_of(kPlain)) {
    std::vector<Node*> children = {take()};
    while (!at_end()) {
      constexpr std::array<std::string_view, 4> kBetween = {",", "as", "from", ":"};
      children.push_back(is_one_of(kBetween) ? take() : expression());
    }
    return group_unless_one(Kind::kOtherStatement, std::move(children));
  }
  constexpr std::array<std::string_view, 3> kAlone = {"pass", "break", "continue"};
  if (is_one_of(kAlone)) return take();
  return assignment();
}

Node* Grouper::assignment() {
  std::vector<Node*> children = {elements(Kind::kElements)};
  if (is(":")) {
    std::vector<Node*> annotation = {take()};
    annotation.push_back(expression());
    if (is("=")) {
      annotation.push_back(take());
      annotation.push_back(elements(Kind::kElements));
    }
    children.push_back(group(Kind::kAnnotation, std::move(annotation)));
    return group(Kind::kAssignment, std::move(children));
  }
  while (is_one_of(kAssignments) || is("**=")) {
    children.push_back(take());
    children.push_back(elements(Kind::kElements));
  }
  return group_unless_one(Kind::kAssignment, std::move(children));
}

Node* Grouper::function() {
  std::vector<Node*> children = {take("def")};
  children.push_back(take_name());
  std::vector<Node*> list = {take("(")}, inside;
  parameters(inside, true);
  if (!inside.empty()) list.push_back(group_unless_one(Kind::kParameters, std::move(inside)));
  list.push_back(take(")"));
  children.push_back(group(Kind::kParameterList, std::move(list)));
  if (is("->")) {
    children.push_back(take());
    children.push_back(elements(Kind::kElements));
  }
  children.push_back(take(":"));
  return group(Kind::kFunction, std::move(children));
}

// Up to `)` (typed: those of a def) or `:` (of a lambda).
void Grouper::parameters(std::vector<Node*>& out, bool typed) {
  std::string_view end = typed ? ")" : ":";
  while (!is(end)) {
    if (is("*") || is("**")) out.push_back(take());
    if (is("/")) {
      out.push_back(take());
    } else if (!is(",") && !is(end)) {
      Node* name = take_name();
      if (typed && is(":")) {
        Node* colon = take();
        name = group(Kind::kParameter, {name, colon, element()});
      }
      out.push_back(name);
      if (is("=")) {
        out.push_back(take());
        out.push_back(expression());
      }
    }
    if (is(","))
      out.push_back(take());
    else if (!is(end))
      throw NotUnderstood{};
  }
}

Node* Grouper::dotted_name() {
  std::vector<Node*> children = {take_name()};
  while (is(".")) {
    children.push_back(take());
    children.push_back(take_name());
  }
  return group_unless_one(Kind::kDottedName, std::move(children));
}

Node* Grouper::import_names() {
  std::vector<Node*> names;
  while (is_kind(Kind::kName)) {
    Node* name = take();
    if (is("as")) {
      Node* as = take();
      name = group(Kind::kImportName, {name, as, take_name()});
    }
    names.push_back(name);
    if (is(",")) names.push_back(take());
  }
  if (names.empty()) throw NotUnderstood{};
  return group_unless_one(Kind::kElements, std::move(names));
}

Node* Grouper::import_from() {
  std::vector<Node*> children = {take("from")};
  while (is(".") || is("...")) children.push_back(take());
  if (!is("import")) children.push_back(dotted_name());
  children.push_back(take("import"));
  if (is("*")) {
    children.push_back(take());
  } else if (is("(")) {
    children.push_back(take());
    children.push_back(import_names());
    children.push_back(take(")"));
  } else {
    children.push_back(import_names());
  }
  return group(Kind::kImportFrom, std::move(children));
}

// ---- expressions ----

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

}  // namespace

Node* group_line(NodeStore& store, const std::vector<Node*>& tokens) {
  try {
    return Grouper(store, tokens).line();
  } catch (const NotUnderstood&) {
    return nullptr;
  }
}

}  // namespace galatea::dsl::formatter
