// A vector whose first N elements lie in itself, and which has memory of its own beyond them only.
//
// Comes in: elements of a type that an empty value can stand in for (pointers, handles, numbers). Goes out:
// what std::vector offers, as far as it is used. Places of elements change when one is added, and when the
// vector is moved.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace galatea {

template <typename T, size_t N>
class SmallVector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() = default;
  SmallVector(std::initializer_list<T> elements) { assign(elements.begin(), elements.end()); }
  SmallVector(const std::vector<T>& elements) { assign(elements.begin(), elements.end()); }  // NOLINT
  explicit SmallVector(std::span<const T> elements) { assign(elements.begin(), elements.end()); }
  SmallVector(const SmallVector& other) { assign(other.begin(), other.end()); }
  SmallVector(SmallVector&& other) noexcept
      : few_(std::move(other.few_)),
        many_(std::move(other.many_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, N)) {}
  SmallVector& operator=(SmallVector other) noexcept {
    std::swap(few_, other.few_);
    std::swap(many_, other.many_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~SmallVector() = default;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return many_ ? many_.get() : few_.data(); }
  const T* data() const { return many_ ? many_.get() : few_.data(); }
  iterator begin() { return data(); }
  iterator end() { return data() + size_; }
  const_iterator begin() const { return data(); }
  const_iterator end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void push_back(T element) {
    if (size_ == capacity_) reserve(2 * capacity_);
    data()[size_++] = std::move(element);
  }
  void reserve(size_t size) {
    if (size <= capacity_) return;
    auto more = std::make_unique<T[]>(size);
    std::move(begin(), end(), more.get());
    many_ = std::move(more);
    capacity_ = size;
  }
  /// New elements are empty.
  void resize(size_t size) {
    reserve(size);
    for (size_t i = size; i < size_; ++i) data()[i] = T();
    size_ = size;
  }
  template <typename I>
  void assign(I first, I last) {
    resize(0);
    reserve(static_cast<size_t>(std::distance(first, last)));
    for (; first != last; ++first) data()[size_++] = *first;
  }

 private:
  std::array<T, N> few_{};
  std::unique_ptr<T[]> many_;  ///< in place of `few_`, once there were more than N
  size_t size_ = 0, capacity_ = N;
};

}  // namespace galatea
