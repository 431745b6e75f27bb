// Regions of arrays: which part of each is wanted, by the arguments of readers.numpy.
//
// Comes in: bounds, the extents of an array. Goes out: where the part begins and its extents.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "runtime/tensor.h"

namespace galatea::native {

enum class OutOfBounds : uint8_t { kError, kPad, kTrim };

/// Bounds of some axes: one number for each of these, or one for all. Shares of an extent are multiplied in f32
/// and rounded half away from zero, as in DALI 2.4.
struct NpyRegion {
  std::vector<int64_t> axes;  ///< negative ones count from the end; empty: all
  std::vector<int64_t> start, end, shape;
  std::vector<float> rel_start, rel_end, rel_shape;
  OutOfBounds policy = OutOfBounds::kError;
  double fill_value = 0;

  struct Part {
    std::vector<int64_t> start, shape;  ///< the start may lie outside, below 0 too
  };
  /// Of an array with these extents. `name` is the array's, for messages.
  Result<Part> of(const std::vector<int64_t>& extents, const std::string& name) const;
};

/// The arguments of readers.numpy that say it.
NpyRegion region_of(const nlohmann::json& config);

/// Fills a dense tensor with the number: rounded half away from zero and clamped to its type.
void fill_with(const runtime::Tensor& tensor, double value);

}  // namespace galatea::native
