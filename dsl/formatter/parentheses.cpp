// Optional brackets. In: the tree of a line. Out: the same tree with brackets hidden or added. See
// parentheses.h.
#include "dsl/formatter/parentheses.h"

#include <algorithm>
#include <array>

namespace galatea::dsl::formatter {
namespace {

/// Ternaries within so many others get no brackets: what Python can read has at most 200 open.
constexpr int kMostBracketedTernaries = 30;

struct HideOptions {
  bool tuples = false;  ///< `for (a, b) in c`
  bool stars = false;
};

bool holds_lambda_or_ternary(const Node& node) {
  if (!is_atom(node, '(') || node.children.size() != 3) return false;
  const Node& middle = *node.children[1];
  return middle.kind == Kind::kLambda || middle.kind == Kind::kTernary || holds_lambda_or_ternary(middle);
}

class Normalizer {
 public:
  explicit Normalizer(NodeStore& store) : store_(store) {}

  Node* statement(Node* line) {
    // A statement that is only an expression has nothing around it that could hold the brackets.
    Node* root = line->kind >= Kind::kAssignment ? line : store_.group(Kind::kOtherStatement, {line});
    govern(root->children[0]->is("async") ? root->children[1] : root);
    if (root != line && is_sum(*line)) wrap(line, false);
    visit(root);
    return root;
  }

 private:
  void govern(Node* node);
  void govern_target(Node* node);
  void govern_child(Node* node, Node* child);
  void govern_import(Node* node);
  void visit(Node* node);
  bool hide(Node* atom, const Node& parent, HideOptions options = {});
  void hide_type(Node* type, const Node& parent, HideOptions options = {}) {
    if (type->kind != Kind::kAtom)
      wrap(type, false);
    else if (hide(type, parent, options))
      wrap(type, false);
  }
  void wrap(Node* node, bool written);
  static bool is_sum(const Node& node) {
    if (node.kind != Kind::kBinary) return false;
    const Node& sign = *node.children[1];
    constexpr std::array kSums = {"+", "-", "<<", ">>", "^", "&"};
    return std::any_of(kSums.begin(), kSums.end(), [&](const char* text) { return sign.is(text); });
  }
  NodeStore& store_;
  int ternaries_ = 0;  ///< around the node that is visited
};

void Normalizer::wrap(Node* node, bool written) {
  Node* parent = node->parent;
  size_t index = node->index;
  Node* open = store_.bracket('(', written);
  Node* first = first_token(node);
  std::swap(open->comments, first->comments);
  std::swap(open->empty_lines, first->empty_lines);
  Node* atom = store_.group(Kind::kAtom, {open, node, store_.bracket(')', written)});
  parent->children[index] = atom;
  atom->parent = parent;
  atom->index = index;
}

// Hides the brackets of an atom and those just inside them, if that is safe. Returns whether the node should
// get optional brackets of its own.
bool Normalizer::hide(Node* atom, const Node& parent, HideOptions options) {
  if (atom->kind != Kind::kAtom || is_empty_tuple(*atom) || is_one_tuple(*atom)) return false;
  if (atom->children.front()->bracket != '(') return true;
  Node* middle = atom->children[1];
  if (is_comprehension(*atom)) return false;
  if (middle->kind == Kind::kYield || middle->is("yield")) {
    if (parent.kind != Kind::kAssignment) return false;
  }
  if (middle->kind == Kind::kBracketed) {
    if (!options.tuples) return false;
    for (const Node* child : middle->children) {
      if (child->kind == Kind::kNamed || (child->kind == Kind::kStar && !options.stars)) return false;
    }
  }
  if (middle->kind == Kind::kNamed) {
    constexpr std::array kNever = {Kind::kAnnotation, Kind::kAssignment, Kind::kAssert,    Kind::kReturn,
                                   Kind::kYield,      Kind::kFunction,   Kind::kBracketed, Kind::kParameter,
                                   Kind::kFor,        Kind::kDelete};
    if (std::find(kNever.begin(), kNever.end(), parent.kind) != kNever.end()) return false;
  }
  Node* open = atom->children.front();
  Node* close = atom->children.back();
  open->text.clear();
  close->text.clear();
  hide(middle, parent, options);
  if (middle->kind == Kind::kAtom && middle->children.front()->bracket == '(' &&
      !middle->children.front()->written()) {
    Node* inner = middle->children[1];
    auto move_before = [](Node* from, Node* to) {
      if (from->comments.empty()) return;
      to->comments.insert(to->comments.begin(), from->comments.begin(), from->comments.end());
      from->comments.clear();
    };
    move_before(middle->children.front(), first_token(inner));
    move_before(middle->children.back(), close);
    atom->children[1] = inner;
    adopt_children(*atom);
  }
  return false;
}

void Normalizer::govern_target(Node* node) {
  Node* target = node->children[0];
  if (target->kind == Kind::kElements) return govern_child(node, target);
  if (target->kind != Kind::kAtom || is_one_tuple(*target)) return;
  Node* name = target;
  while (name->kind == Kind::kAtom && name->children.size() == 3) name = name->children[1];
  if (node->children[1]->kind == Kind::kAnnotation && name->kind == Kind::kName) {
    // `(x): int = 5` declares nothing, `x: int = 5` does: one pair stays.
    if (target->children[1]->kind == Kind::kAtom) hide(target->children[1], *target);
    return;
  }
  if (hide(target, *node, {.tuples = true, .stars = true})) wrap(target, false);
}

// What follows a keyword, an `=` or a comma of the statement.
void Normalizer::govern_child(Node* node, Node* child) {
  const Node* before = child->previous_sibling();
  if (before && before->is("in") && holds_lambda_or_ternary(*child)) {
    // One pair stays, as in a comprehension, where it is needed.
    hide(child, *node);
    child->children.front()->text = "(";
    child->children.back()->text = ")";
  } else if (child->kind == Kind::kAtom) {
    if (hide(child, *node, {.tuples = node->kind == Kind::kFor && before && before->is("for")}))
      wrap(child, false);
  } else if (is_one_tuple(*child)) {
    wrap(child, true);
  } else if (!is_multiline_string(*child)) {
    wrap(child, false);
  }
}

void Normalizer::govern_import(Node* node) {
  for (size_t i = 0; i < node->children.size(); ++i) {
    if (!node->children[i]->is("import")) continue;
    Node* first = node->children[i + 1];
    if (first->bracket == '(') {
      first->text.clear();
      node->children.back()->text.clear();
    } else if (!first->is("*")) {
      node->children.insert(node->children.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                            store_.bracket('(', false));
      node->children.push_back(store_.bracket(')', false));
      adopt_children(*node);
    }
    return;
  }
}

void Normalizer::govern(Node* node) {
  switch (node->kind) {
    case Kind::kAssignment:
      govern_target(node);
      if (node->children[1]->kind == Kind::kAnnotation) return govern(node->children[1]);
      for (size_t i = 2; i < node->children.size(); i += 2) govern_child(node, node->children[i]);
      return;
    case Kind::kAnnotation:
    case Kind::kAssert:
    case Kind::kFor:
      for (size_t i = 1; i < node->children.size(); i += 2) govern_child(node, node->children[i]);
      return;
    case Kind::kReturn:
    case Kind::kIf:
    case Kind::kWhile:
    case Kind::kDelete:
      return govern_child(node, node->children[1]);
    case Kind::kImportFrom:
      return govern_import(node);
    case Kind::kFunction:
      if (node->children[3]->is("->")) hide_type(node->children[4], *node);
      return;
    case Kind::kClass:
      if (node->children.size() == 5 && node->children[3]->bracket == ')') {
        node->children.erase(node->children.begin() + 2, node->children.begin() + 4);
        adopt_children(*node);
      }
      return;
    default:
      return;
  }
}

void Normalizer::visit(Node* node) {
  switch (node->kind) {
    case Kind::kTernary: {
      const Node* before = node->previous_sibling();
      if ((before && before->bracket == '(') || ternaries_ > kMostBracketedTernaries) break;
      Node* open = store_.bracket('(', false);
      std::swap(open->comments, first_token(node)->comments);
      node->children.insert(node->children.begin(), open);
      node->children.push_back(store_.bracket(')', false));
      adopt_children(*node);
      break;
    }
    case Kind::kParameter:
      if (node->children[2]->kind == Kind::kAtom && hide(node->children[2], *node))
        wrap(node->children[2], false);
      break;
    case Kind::kUnary: {
      const Node* operand = node->children[1];
      if (operand->kind == Kind::kPower && operand->children.size() == 3 && operand->children[1]->is("**"))
        wrap(node->children[1], true);
      break;
    }
    case Kind::kPower: {
      const Node* first = node->children[0];
      const Node* second = node->children[1];
      if (first->kind == Kind::kNumber && second->kind == Kind::kTrailer && second->children[0]->is(".") &&
          first->text.find_first_of("xXbBoOjJ") == std::string::npos)
        wrap(node->children[0], true);
      break;
    }
    case Kind::kAtom:
      if (node->children.size() == 3 && node->children[0]->bracket != '(') hide(node->children[1], *node);
      break;
    default:
      break;
  }
  const bool ternary = node->kind == Kind::kTernary;
  ternaries_ += ternary ? 1 : 0;
  for (size_t i = 0; i < node->children.size(); ++i) visit(node->children[i]);
  ternaries_ -= ternary ? 1 : 0;
}

}  // namespace

Node* normalize_parentheses(NodeStore& store, Node* line) { return Normalizer(store).statement(line); }

}  // namespace galatea::dsl::formatter
