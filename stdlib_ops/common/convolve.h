// Separable windows over images: bands whose weights do not depend on the position.
//
// Comes in: a source and, per axis, a table of weights. Goes out: the filtered stage. Past the edge the image
// is mirrored without repeating the edge pixel.
#pragma once

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

/// A window: weights [taps], centred (taps is odd).
struct Window {
  StageRef weights;
  Expr taps;
};

/// The size of a window as the user gave it. Small ones are structure, not numbers: their taps are written
/// out one by one, twice as fast as a loop over them; each size then has code of its own.
Expr unrolled_size(const Expr& size);
/// Weights [taps] of a Gaussian window, f32, which sum to 1. A sigma of 0 leaves the centre alone.
StageRef gaussian_weights(RecipeBuilder& b, const std::string& name, const Expr& sigma, const Expr& taps);
/// f32[extents] of source filtered along `axis`; source.index < 0 is input 0.
StageRef convolve(RecipeBuilder& b, const std::string& name, StageRef source, int axis, const Window& window);
/// The same with its result rounded and clamped to `type`.
StageRef convolve(RecipeBuilder& b, const std::string& name, StageRef source, int axis, const Window& window,
                  DType type);
/// Complains about inputs that the filters do not take: more than three axes besides channels, bools, and f64
/// where the filter does not say that it takes that.
Status check_filter_input(const TypeContext& ctx, bool takes_f64 = false);

}  // namespace galatea::ops
