// What the random operators share: the shape of the output, and the loop over its elements.
//
// Comes in: `shape` or a second tensor whose shape is taken. Goes out: scalars where few elements are drawn,
// else a map stage.
#pragma once

#include <functional>

#include "stdlib_ops/common/pointwise.h"

namespace galatea::ops {

ArgSpec shape_arg();
/// The output's type: 0-d where neither shape nor shape_like (input number `like`) is given.
Result<ir::Type> drawn_type(const TypeContext& ctx, DType dtype, int like);
/// Output 0, element by element: `draw` gets the element's row-major number (i64) and returns a value of any
/// type, which is rounded and clamped.
void output_draws(RecipeBuilder& b, int like, const std::function<Expr(const Expr& element)>& draw);
/// The extents of the output in a definition.
std::vector<Expr> drawn_extents(RecipeBuilder& b, int like);

/// A beta-distributed number (f32) of the given shapes (f32, positive and finite), from kDrawsPerBeta draws.
Expr beta_draw(const RecipeBuilder& b, const Expr& alpha, const Expr& beta, const Expr& first);
inline constexpr int64_t kDrawsPerBeta = 50;

}  // namespace galatea::ops
