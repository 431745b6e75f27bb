// Colours as torchvision computes them (transforms/v2/functional/_color.py), in f32: greys, and hues by HSV.
//
// Comes in: the channels of a pixel. Goes out: expressions of them. Recorded outputs confirm them (tests/oracle,
// groups colour and jitter).
#pragma once

#include <array>

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

/// Red, green, blue.
using Rgb = std::array<Expr, 3>;

struct Extremes {
  Expr largest, smallest;
};
Extremes extremes(const Rgb& rgb);

/// 0.2989 R + 0.587 G + 0.114 B, with its fraction.
Expr torch_grey(const Rgb& rgb);
/// Channels from 0 to 1, with their hue turned by so many turns (f32).
Rgb torch_turned(const Rgb& rgb, const Expr& turn);
/// What torchvision's conversion multiplies channels from 0 to 1 by before it drops the fraction.
inline constexpr double kTorchByteScale = 255 + 1.0 - 1e-3;

}  // namespace galatea::ops
