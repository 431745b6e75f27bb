// A tensor that is part of a program: tables and arrays of the text.
//
// Comes in: extents and elements. Goes out: memory that kernels may read as they read any tensor, the same
// for every sample, never written. Not counted by a session's allocator: it belongs to the program, which
// sessions share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/scalar_op.h"
#include "runtime/tensor.h"

namespace galatea::runtime {

class ConstantTensor final : public Buffer {
 public:
  /// Row-major elements of `type`, as many as the extents hold.
  ConstantTensor(DType type, std::vector<int64_t> extents, std::span<const Cell> elements);
  ConstantTensor(const ConstantTensor&) = delete;
  ConstantTensor& operator=(const ConstantTensor&) = delete;
  ~ConstantTensor() override;

  DType type() const { return type_; }
  const std::vector<int64_t>& extents() const { return extents_; }
  int64_t volume() const { return size() / size_of(type_); }
  Cell element(int64_t n) const { return load_cell(type_, data() + n * size_of(type_)); }

 private:
  DType type_;
  std::vector<int64_t> extents_;
};

/// Same type, extents and bytes.
bool same(const ConstantTensor& a, const ConstantTensor& b);

/// A view of all of it, which keeps it alive.
Tensor view_of(const std::shared_ptr<const ConstantTensor>& constant);

}  // namespace galatea::runtime
