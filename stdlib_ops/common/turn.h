// The canvas of a turned image: that of fn.rotate, and of boxes that follow it.
#pragma once

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

/// Extents of the smallest canvas that holds an image turned by `angle` (f32, degrees), rows first. The canvas has the parity of the input's extent that lies along it
/// most, so that centres of pixels fall on centres at multiples of a right angle. Radians are rounded to f32
/// as in DALI: that decides which extent it is at odd multiples of 45 degrees.
std::array<Expr, 2> turned_canvas(const Expr& h, const Expr& w, const Expr& angle);

}  // namespace galatea::ops
