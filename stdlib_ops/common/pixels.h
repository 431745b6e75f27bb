// Pixels at places between pixels: what operators look at whose places follow no affine map.
//
// Comes in: input 0, the filter, what stands outside the image. Goes out: the value at a place, as an
// expression of it, in the type of output 0.
//
// Places count from the centre of the first pixel: pixel k is at k. With l = floor(s) and t = s - l:
//
//   INTERP_NN        the pixel at s, rounded half to even
//   INTERP_LINEAR    two pixels, at l and l + 1:          a + t (b - a)
//   INTERP_CUBIC     four, from l - 1: Keys' cubic convolution ("Cubic convolution interpolation for digital
//                    image processing", 1981) with a = -3/4, as OpenCV and PyTorch's grid_sample have it
//   INTERP_LANCZOS3  six, from l - 2: sinc(d) sinc(d / 3) of the distance d, divided by their sum (Duchon,
//                    "Lanczos filtering in one and two dimensions", 1979)
//
// first along x, then along y, as multiply-adds in the order of the pixels; in f32, and in f64 where the
// input is i32, whose values f32 does not hold. Values round half to even.
#pragma once

#include <array>
#include <functional>

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

using op::Filter;

/// f32 holds every index of such an image, and a place next to it.
inline constexpr int64_t kMostPixels = int64_t{1} << 24;

/// What is seen where there is no image. The reflections differ in whether the pixel at the edge is repeated.
enum class Outside : uint8_t { kFill, kEdge, kReflect1001, kReflect101, kWrap };

/// `index` (a whole float) as an integer that no later arithmetic overflows: places far below 0 become `low`,
/// those far above any image, and NaN, come to lie above all images.
Expr pixel_index(const Expr& index, int64_t low);
/// Weights of Keys' cubic convolution with the parameter `a`, at t in [0, 1) behind the second of four
/// pixels.
std::array<Expr, 4> cubic_weights(const Expr& t, const Expr& a);
/// The pixel that is so many away from the one at the place's floor.
using Neighbour = std::function<Expr(int64_t dx, int64_t dy)>;
/// Of 2 x 2 pixels, from the one at (0, 0).
Expr blend_four(const Expr& tx, const Expr& ty, const Neighbour& value);
/// The sum of pixels by the weights of their columns and rows, the first of which is at `first`.
template <size_t n>
Expr weighted_sum(const std::array<Expr, n>& across, const std::array<Expr, n>& down, int64_t first,
                  const Neighbour& value) {
  const auto sum = [&](const std::array<Expr, n>& weights, const auto& term) {
    Expr total = weights[0] * term(first);
    for (size_t k = 1; k < n; ++k)
      total = kernel::fma(weights[k], term(first + static_cast<int64_t>(k)), total);
    return total;
  };
  return sum(down, [&](int64_t dy) { return sum(across, [&](int64_t dx) { return value(dx, dy); }); });
}

/// Whether pixels can be looked up by a filter: complains about the others. `filters` is what the argument
/// takes.
Status check_lookup_filter(const TypeContext& ctx, std::string_view arg,
                           std::initializer_list<Filter> filters);

struct Lookup {
  RecipeBuilder& b;
  ImageAxes at;
  Filter filter = Filter::kLinear;
  Outside outside = Outside::kFill;
  std::vector<Expr> fill;  ///< kFill: in the input's type; one, or one per channel

  /// The value at a place, of the channel that `index` (of the output) says. For INTERP_NN places may be f64.
  Expr operator()(const Axes& index, const Expr& sx, const Expr& sy) const;

 private:
  Expr pixel(const Axes& index, const Expr& x, const Expr& y) const;
  Expr place_in(const Expr& i, int dim) const;
};

}  // namespace galatea::ops
