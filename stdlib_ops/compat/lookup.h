// How Pillow, torchvision and OpenCV look up an image of bytes at a place between its pixels: what their affine
// and projective warps share (compat=).
//
// Comes in: input 0, a place for each element of the output. Goes out: the byte that the library has there.
// Sources of the formulas: Pillow's Geometry.c; PyTorch's grid_sample and torchvision's transforms/v2/functional/
// _geometry.py; OpenCV 4's imgwarp.cpp. Recorded outputs confirm them (tests/oracle, groups warp and perspective).
//
// Pillow blends in f64 and drops the fraction; outside lies the fill. torchvision blends in f32; outside of the
// image counts 0, and where a fill is given, what the pixels lack of the image is filled with it. OpenCV has
// places in 32nds of a pixel, and weights of 15 bits.
#pragma once

#include <array>
#include <vector>

#include "stdlib_ops/common/resample.h"
#include "stdlib_ops/compat/checks.h"

namespace galatea::ops {

constexpr double kFarthest = 1 << 28;  // places further away are outside all the same

/// The image, by whole places.
class Plane {
 public:
  /// With the fill of the call's fill_value, or black.
  explicit Plane(RecipeBuilder& b);

  const ImageAxes& axes() const { return at_; }
  Expr height() const { return b_.extent(0, at_.h); }
  Expr width() const { return b_.extent(0, at_.w); }
  Expr x_of(const Axes& at) const { return at[static_cast<size_t>(at_.w)]; }
  Expr y_of(const Axes& at) const { return at[static_cast<size_t>(at_.h)]; }
  Expr fill(const Axes& at) const {
    return fill_.size() == 1 ? fill_[0] : choose(at[static_cast<size_t>(at_.c)], fill_);
  }
  Expr inside(const Expr& x, const Expr& y) const {
    return (x >= i64(0)) & (x < width()) & (y >= i64(0)) & (y < height());
  }
  /// With the edge repeated.
  Expr pixel(const Axes& at, const Expr& x, const Expr& y) const {
    Axes from = at;
    from[static_cast<size_t>(at_.w)] = x;
    from[static_cast<size_t>(at_.h)] = y;
    return b_.load(0, from, Border::kClamp);
  }
  Expr pixel_or(const Axes& at, const Expr& x, const Expr& y, const Expr& otherwise) const {
    return select(inside(x, y), pixel(at, x, y), otherwise);
  }

 private:
  RecipeBuilder& b_;
  ImageAxes at_;
  std::vector<Expr> fill_;
};

/// What is too far away for a whole number stays far away.
Expr near_place(const Expr& value);
/// value * one as a whole number, half to even.
Expr rounded_of(const Expr& value, double one);

/// At a place counted from corners of pixels, f64. Nearest neighbours: the pixel in which it lies.
Expr pillow_at(const Plane& plane, const Axes& at, const Expr& x, const Expr& y, Filter filter);

/// grid_sample: a place of which -1 and 1 are the image's edges, f32. No cubic.
Expr torchvision_at(RecipeBuilder& b, const Plane& plane, const Axes& at, const std::array<Expr, 2>& grid,
                    Filter filter);

/// cv2.remap: places in 32nds of a pixel, i64, counted from the middle of the first one; for INTERP_NN in whole
/// pixels.
class OpenCvLookup {
 public:
  OpenCvLookup(RecipeBuilder& b, const Plane& plane, Filter filter);
  Expr operator()(const Axes& at, const Expr& x, const Expr& y) const;

 private:
  Expr blend(const Axes& at, const Expr& x, const Expr& y) const;

  RecipeBuilder& b_;
  const Plane& plane_;
  Filter filter_;
  int cubic_ = -1;  ///< the input that holds the weights
};

}  // namespace galatea::ops
