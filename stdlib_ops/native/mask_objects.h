// Objects of a mask: blobs of neighbouring pixels with one label, and the box around each.
//
// Comes in: a mask of integers, which labels count. Goes out: the boxes. Pixels are neighbours along one axis,
// not across corners.
//
// The mask is read once, in runs of equal pixels along its last axis. Runs that touch those of the line before
// them, along each of the other axes, are joined in a union-find. Its time grows with the pixels and, all but
// linearly, with the runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "runtime/tensor.h"

namespace galatea::native {

class MaskObjects {
 public:
  /// `counts` says which labels make objects. Nothing: it was cancelled. Labels are read as 32 bits with a
  /// sign, UINT32 too. No extent may be 2^31 or more.
  static std::optional<MaskObjects> find(const runtime::Tensor& mask,
                                         const std::function<bool(int32_t)>& counts,
                                         const std::function<bool()>& cancelled = {});
  /// The most memory that find() takes for a mask of these extents.
  static int64_t most_bytes(const runtime::Tensor& mask);

  size_t size() const { return labels_.size(); }
  int32_t label(size_t object) const { return labels_[object]; }
  int32_t begin(size_t object, int axis) const {
    return corners_[first_of(object) + static_cast<size_t>(axis)];
  }
  int32_t end(size_t object, int axis) const {
    return corners_[first_of(object) + static_cast<size_t>(ndim_ + axis)];
  }
  /// Elements of its box.
  double volume(size_t object) const;

 private:
  size_t first_of(size_t object) const { return object * 2 * static_cast<size_t>(ndim_); }

  int ndim_ = 0;
  std::vector<int32_t> labels_;
  std::vector<int32_t> corners_;  ///< of each object, where it begins along each axis, then where it ends
};

}  // namespace galatea::native
