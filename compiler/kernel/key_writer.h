// Identities of what is made of expressions, as bytes.
//
// Comes in: numbers and expressions, in an order that the caller fixes. Goes out: bytes that are equal for
// equal input alone. Expressions are written as DAGs, each distinct node once, wherever it was made, so that
// the length is that of the DAG. Places in sources do not count.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "compiler/kernel/expr.h"
#include "compiler/kernel/node_map.h"

namespace galatea::kernel {

class KeyWriter {
 public:
  /// `origins`: which constants are the user's, and which of these are the same number, counts as well. They
  /// are numbered as they occur: what is compared is which are equal.
  explicit KeyWriter(bool origins = false) : origins_(origins) {}

  template <typename T>
  void number(T value) {
    put(out_, value);
  }
  void expr(const Expr& e) { number(e ? 1 + number_of(e) : 0); }
  template <typename List>
  void exprs(const List& list) {
    number(list.size());
    for (const Expr& e : list) expr(e);
  }
  std::string take() {
    std::string all;
    put(all, by_text_.size());
    return all + nodes_ + out_;
  }

 private:
  template <typename T>
  static void put(std::string& to, T value) {
    // Seven bits a byte, the lowest first; negative numbers take ten bytes.
    auto rest = static_cast<uint64_t>(value);
    for (; rest >= 128; rest >>= 7) to.push_back(static_cast<char>(rest | 128));
    to.push_back(static_cast<char>(rest));
  }
  uint64_t number_of(const Expr& e);

  bool origins_;
  std::string nodes_, out_;
  NodeMap<uint64_t> by_address_;
  std::unordered_map<std::string, uint64_t> by_text_;
  std::unordered_map<uint64_t, uint64_t> by_origin_;
};

}  // namespace galatea::kernel
