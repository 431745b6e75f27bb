// Memory of walks over expressions: what is known of a node, by its address.
//
// Comes in: nodes that live as long as the map. Goes out: what was kept for them. Few entries are looked
// through one by one and need no memory of their own; more lie in a table with open addresses. Nothing is
// erased, and what find() gives is good until the next emplace().
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace galatea::kernel {

struct ExprNode;

template <typename V>
class NodeMap {
 public:
  struct Entry {
    const ExprNode* first = nullptr;
    V second = V();
  };

  Entry* find(const ExprNode* node) {
    if (table_) {
      Entry& place = place_of(node);
      return place.first == nullptr ? nullptr : &place;
    }
    for (size_t i = 0; i < size_; ++i)
      if (few_[i].first == node) return &few_[i];
    return nullptr;
  }
  const Entry* find(const ExprNode* node) const { return const_cast<NodeMap*>(this)->find(node); }
  static constexpr Entry* end() { return nullptr; }
  bool contains(const ExprNode* node) const { return find(node) != nullptr; }
  size_t size() const { return size_; }

  /// Keeps `value` unless there is one; whether it was kept.
  std::pair<Entry*, bool> emplace(const ExprNode* node, V value) {
    if (!table_) {
      if (Entry* known = find(node)) return {known, false};
      if (size_ < kFew) {
        few_[size_] = {node, std::move(value)};
        return {&few_[size_++], true};
      }
      grow();
    }
    Entry* place = &place_of(node);
    if (place->first != nullptr) return {place, false};
    if (2 * (size_ + 1) > capacity_) {
      grow();
      place = &place_of(node);
    }
    place->first = node;
    place->second = std::move(value);
    ++size_;
    return {place, true};
  }
  V& operator[](const ExprNode* node) {
    if (Entry* known = find(node)) return known->second;
    return emplace(node, V()).first->second;
  }
  void clear() { *this = NodeMap(); }

 private:
  static constexpr size_t kFew = 8;

  /// The node's entry, or the empty one where it would be.
  Entry& place_of(const ExprNode* node) {
    const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(node));
    const size_t mask = capacity_ - 1;
    size_t at = static_cast<size_t>((address * 0x9E3779B97F4A7C15U) >> shift_);
    while (table_[at].first != nullptr && table_[at].first != node) at = (at + 1) & mask;
    return table_[at];
  }
  void grow() {
    const std::unique_ptr<Entry[]> old = std::move(table_);
    const size_t old_capacity = old ? capacity_ : size_;
    Entry* from = old ? old.get() : few_.data();
    capacity_ = old ? 4 * capacity_ : size_t{64};
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(capacity_));
    table_ = std::make_unique<Entry[]>(capacity_);
    for (size_t i = 0; i < old_capacity; ++i) {
      if (from[i].first == nullptr) continue;
      Entry& place = place_of(from[i].first);
      place.first = from[i].first;
      place.second = std::move(from[i].second);
    }
  }

  std::array<Entry, kFew> few_{};
  std::unique_ptr<Entry[]> table_;
  size_t capacity_ = 0, size_ = 0;
  unsigned shift_ = 0;
};

class NodeSet {
 public:
  /// Whether it was not there.
  bool insert(const ExprNode* node) { return nodes_.emplace(node, Nothing()).second; }
  bool contains(const ExprNode* node) const { return nodes_.contains(node); }

 private:
  struct Nothing {};
  NodeMap<Nothing> nodes_;
};

}  // namespace galatea::kernel
