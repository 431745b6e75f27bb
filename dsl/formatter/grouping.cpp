// Statements. See grouping.h.
//
// The descent accepts more than Python does (the parser has judged the text before): only how tokens group
// matters here.
#include "dsl/formatter/grouping.h"

#include "dsl/formatter/grouper.h"

namespace galatea::dsl::formatter {
namespace {

constexpr std::array<std::string_view, 13> kAssignments = {
    "=", "+=", "-=", "*=", "/=", "//=", "%=", "@=", "&=", "|=", "^=", "<<=", ">>="};

}  // namespace

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

Node* group_line(NodeStore& store, const std::vector<Node*>& tokens) {
  try {
    return Grouper(store, tokens).line();
  } catch (const NotUnderstood&) {
    return nullptr;
  }
}

}  // namespace galatea::dsl::formatter
