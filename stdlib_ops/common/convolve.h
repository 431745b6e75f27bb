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

/// f32[extents] of source filtered along `axis`; source.index < 0 is input 0.
StageRef convolve(RecipeBuilder& b, const std::string& name, StageRef source, int axis, const Window& window);
/// The same with its result rounded and clamped to `type`.
StageRef convolve(RecipeBuilder& b, const std::string& name, StageRef source, int axis, const Window& window,
                  DType type);
/// Complains about inputs that the filters do not take: more than two axes besides the channels, bools.
Status check_filter_input(const TypeContext& ctx);

}  // namespace galatea::ops
