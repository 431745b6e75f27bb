// The discrete Fourier transform of real signals, as map stages.
//
// Comes in: a function that gives element `row` of a signal, for each place of some axes around. Goes out: a stage
// with the magnitudes, or their squares, of rows 0 … points / 2. Any number of points: factors up to 13 are summed
// up one by one (Stockham's order, so nothing is permuted), others go through a convolution (Bluestein).
//
// All stages have the axes `before`, then the rows, then the axes `behind`. A loop runs along the last axis, and
// every row is read by one number, so signals side by side along it cost no shuffles. Where `before` has one axis
// at least, each stage is made just before its reader, place by place of that axis, and stays in the cache.
#pragma once

#include <functional>
#include <string>

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

struct RealSignals {
  Axes before, behind;  ///< extents of the axes around the signal
  int64_t points = 0;   ///< at least 1
  /// Element `row`, f32, of the signal at this place; `row` is in [0, points).
  std::function<Expr(const Axes& before, const Expr& row, const Axes& behind)> element;
};

/// f32 [before…, points / 2 + 1, behind…]: |X[k]|^2 of X[k] = sum of x[n] exp(-2 pi i k n / points); |X[k]| where
/// `magnitude`.
StageRef power_spectrum_stage(RecipeBuilder& b, const std::string& name, const RealSignals& signals,
                              bool magnitude);

}  // namespace galatea::ops
