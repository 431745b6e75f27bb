// What resizing as another library does works on: axes of cells, weights of pixels, a source.
//
// Comes in: an image, or a stage that is a window of it. Goes out: stages, one axis resampled after the other.
#pragma once

#include <functional>
#include <string>

#include "stdlib_ops/common/window.h"

namespace galatea::ops {

/// a of OpenCV's cubic, and of torchvision's without antialiasing.
inline constexpr double kOpenCvCubic = -0.75;

inline DType type_of_image(const RecipeBuilder& b) { return b.input_type(0).dtype; }
inline bool is_of_floats(const RecipeBuilder& b) { return type_of_image(b) == DType::kF32; }

/// One axis: cells 0 … n-1 sample [lo, hi) of `extent` pixels.
struct CompatAxis {
  int dim = 0;
  std::string name;
  Expr lo, hi;     // f64
  Expr n, extent;  // i64
  /// Pillow subtracts the ends of its box, which are f32, in f32.
  Expr scale() const { return to_f64(to_f32(hi) - to_f32(lo)) / to_f64(n); }
};

/// What is resized: input 0, or a stage that is a window of it.
struct CompatSource {
  StageRef window;
  Axes extents;
};

/// What a band along an axis needs.
struct CompatBand {
  StageRef first, weight;
  Expr taps;
};

/// What a band gives along `axis` of input 0 (where source.index < 0) or of a stage.
StageRef apply_band(RecipeBuilder& b, const std::string& name, const CompatAxis& axis, const CompatBand& band,
                    StageRef source, Axes extents, DType type, DType accumulator,
                    const std::function<Expr(Expr)>& finish);
/// round(value / 2^bits), half up, as a byte.
Expr byte_of(const Expr& value, int64_t bits);

}  // namespace galatea::ops
