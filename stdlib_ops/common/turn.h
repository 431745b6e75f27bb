// Turned images and volumes: their canvas, and the rotation about an axis.
#pragma once

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

/// An extent of a canvas: what holds the turned image, or the first one after it that has the parity of `like`.
struct CanvasExtent {
  Expr least, like;
};
/// The extent itself; of a sequence, that of all its frames, which turn by angles of their own: the largest, in
/// the parity that more than half of them ask for.
Expr canvas_extent(const CanvasExtent& extent);
Expr canvas_of_frames(RecipeBuilder& b, const CanvasExtent& extent);

/// Extents of the smallest canvas that holds an image turned by `angle` (f32, degrees), rows first. The canvas
/// has the parity of the input's extent that lies along it most, so that centres of pixels fall on centres at
/// multiples of a right angle. Radians are rounded to f32 as in DALI: that decides which extent it is at odd
/// multiples of 45 degrees.
std::array<CanvasExtent, 2> turned_canvas(const Expr& h, const Expr& w, const Expr& angle);

/// A rotation in space, f64: rows and columns are those of x, y and z.
using Rotation = std::array<std::array<Expr, 3>, 3>;

/// Complains about the argument `axis` where the text says it, or its length.
Status check_axis(const TypeContext& ctx, const std::string& help);
/// The argument `axis` (x, y, z) as a unit vector, f64; an axis without a direction fails the sample.
std::array<Expr, 3> unit_axis(RecipeBuilder& b);
/// The right-handed rotation about a unit vector, of an angle's cosine and sine (Rodrigues): c I + s [u]x +
/// (1 - c) u u^T.
Rotation rotation_about(const std::array<Expr, 3>& unit, const Expr& cosine, const Expr& sine);

/// turned_canvas() of a volume of extents d, h, w: of each axis sum |r| extent over the row of the rotation, in the
/// parity of the extent with the largest |r|; of equal ones (in f32) its own goes first, then x, y, z.
std::array<CanvasExtent, 3> turned_canvas(const std::array<Expr, 3>& extents, const std::array<Expr, 3>& unit,
                                          const Expr& angle);

}  // namespace galatea::ops
