// The box around an object of a mask by chance: the native function of fn.segmentation.random_object_bbox.
//
// mask.object_bbox: input 0 = mask (integers of up to 32 bits, bool), then as the configuration says the
// classes (integers) and their weights (floats). Scalars (i64): 64 random bits as two numbers of 32, for the
// object; the same for its class; whether an object is wanted; the background's label; the least extent of a
// box along each axis. Results (i64): where the box begins along each axis, where it ends, its class.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/native.h"

namespace galatea::native {

inline constexpr const char* kMaskObjectBbox = "mask.object_bbox";

struct ObjectBboxOptions {
  bool ignore_class = false;
  bool has_background = false;  ///< the scalar says it
  int64_t k_largest = 0;        ///< 0: all
  /// Labels that are the foreground, and how likely; each from the text, from an input, or not given.
  std::optional<std::vector<int64_t>> classes;
  std::optional<std::vector<double>> weights;
  bool fed_classes = false, fed_weights = false;
};
/// The configuration of the native function.
std::string to_json(const ObjectBboxOptions& options);

runtime::NativeFunction object_bbox_function();

}  // namespace galatea::native
