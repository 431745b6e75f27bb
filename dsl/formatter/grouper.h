// The recursive descent over the tokens of a line, shared by grouping*.cpp and by nothing else.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "dsl/formatter/node.h"

namespace galatea::dsl::formatter {

/// Thrown and caught within group_line.
struct NotUnderstood {};

inline constexpr int kMaxGroupDepth = 2000;

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
      if (++depth_ > kMaxGroupDepth) {
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

}  // namespace galatea::dsl::formatter
