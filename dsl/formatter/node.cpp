// Nodes of the concrete tree. See node.h.
#include "dsl/formatter/node.h"

#include <algorithm>

namespace galatea::dsl::formatter {

Node* NodeStore::token(Kind kind, std::string text) {
  Node& node = nodes_.emplace_back();
  node.kind = kind;
  node.text = std::move(text);
  return &node;
}

Node* NodeStore::bracket(char bracket, bool written) {
  Node* node = token(Kind::kOperator, written ? std::string(1, bracket) : std::string());
  node->bracket = bracket;
  return node;
}

Node* NodeStore::group(Kind kind, std::vector<Node*> children) {
  Node& node = nodes_.emplace_back();
  node.kind = kind;
  node.children = std::move(children);
  adopt_children(node);
  return &node;
}

Node* NodeStore::copy(const Node& node) { return &nodes_.emplace_back(node); }

void adopt_children(Node& parent) {
  for (size_t i = 0; i < parent.children.size(); ++i) {
    parent.children[i]->parent = &parent;
    parent.children[i]->index = i;
  }
}

Node* first_token(Node* node) {
  while (!node->is_token() && !node->children.empty()) node = node->children.front();
  return node;
}

Node* last_token(Node* node) {
  while (!node->is_token() && !node->children.empty()) node = node->children.back();
  return node;
}

Node* token_before(const Node* node) {
  for (; node; node = node->parent) {
    if (Node* previous = node->previous_sibling()) return last_token(previous);
  }
  return nullptr;
}

bool is_multiline_string(const Node& node) {
  if (node.kind != Kind::kString || node.text.find('\n') == std::string::npos) return false;
  size_t quote = node.text.find_first_of("\"'");
  return node.text.compare(quote, 3, std::string(3, node.text[quote])) == 0;
}

bool is_atom(const Node& node, char bracket) {
  return node.kind == Kind::kAtom && node.children.front()->bracket == bracket;
}

bool is_empty_tuple(const Node& node) { return is_atom(node, '(') && node.children.size() == 2; }

namespace {

// What a pair of round brackets holds, if it holds one thing.
const Node* content_of(const Node& node) {
  return is_atom(node, '(') && node.children.size() == 3 ? node.children[1] : nullptr;
}

}  // namespace

bool is_one_tuple(const Node& node) {
  const Node* content = &node;
  if (node.kind == Kind::kAtom) {
    content = content_of(node);
    if (!content || content->kind != Kind::kBracketed) return false;
  } else if (node.kind != Kind::kElements && node.kind != Kind::kTargets) {
    return false;
  }
  return content->children.size() == 2 && content->children[1]->is(",");
}

bool is_tuple(const Node& node) {
  const Node* content = content_of(node);
  return content && content->kind == Kind::kBracketed;
}

bool is_comprehension(const Node& node) {
  if (!is_tuple(node)) return false;
  const auto& children = node.children[1]->children;
  return std::any_of(children.begin(), children.end(),
                     [](const Node* child) { return child->kind == Kind::kComprehension; });
}

}  // namespace galatea::dsl::formatter
