// Pixels at places between pixels: see pixels.h for the meaning.
#include "stdlib_ops/common/pixels.h"

#include <algorithm>
#include <numbers>

#include "stdlib_ops/common/window.h"

namespace galatea::ops {
namespace {

/// Weights at t in [0, 1) behind the third of six pixels. With d = t - k the distance of pixel k,
/// sinc(d) sinc(d / 3) = 3 sin(pi d) sin(pi d / 3) / (pi d)^2; the sines of all six follow from those at t.
std::array<Expr, 6> lanczos_weights(const Expr& t) {
  const auto number = [&](double value) { return kernel::const_float(value, t.type()); };
  const Expr whole = t * number(std::numbers::pi), third = whole / number(3);
  const Expr sine = kernel::unary(ScalarOp::kSin, whole);
  const Expr sine3 = kernel::unary(ScalarOp::kSin, third), cosine3 = kernel::unary(ScalarOp::kCos, third);
  std::array<Expr, 6> weights;
  Expr total;
  for (int n = 0; n < 6; ++n) {
    const int k = n - 2;
    // cos and sin of pi k / 3.
    constexpr std::array<double, 6> kCos = {-0.5, 0.5, 1, 0.5, -0.5, -1};
    constexpr double kHalfRoot3 = std::numbers::sqrt3 / 2;
    constexpr std::array<double, 6> kSin = {-kHalfRoot3, -kHalfRoot3, 0, kHalfRoot3, kHalfRoot3, 0};
    const auto m = static_cast<size_t>(n);
    const Expr angle = whole - number(std::numbers::pi * k);
    const Expr shifted = sine3 * number(kCos[m]) - cosine3 * number(kSin[m]);
    const Expr product = (k % 2 == 0 ? sine : -sine) * shifted * number(3) / (angle * angle);
    weights[m] = select(absolute(t - number(k)) < number(1e-5), number(1), product);
    total = n == 0 ? weights[m] : total + weights[m];
  }
  for (Expr& weight : weights) weight = weight / total;
  return weights;
}

}  // namespace

Expr pixel_index(const Expr& index, int64_t low) {
  const auto number = [&](int64_t value) {
    return kernel::const_float(static_cast<double>(value), index.type());
  };
  return to_i64(kernel::convert(clamp(index, number(low), number(kMostPixels + 2)), DType::kI32));
}

std::array<Expr, 4> cubic_weights(const Expr& t, const Expr& a) {
  const auto number = [&](double value) { return kernel::const_float(value, t.type()); };
  const Expr twice = number(2) * a, more = a + number(2);
  return {((a * t - twice) * t + a) * t, (more * t - (a + number(3))) * (t * t) + number(1),
          ((twice + number(3) - more * t) * t - a) * t, (a - a * t) * (t * t)};
}

Expr blend_four(const Expr& tx, const Expr& ty, const Neighbour& value) {
  const auto blend = [](const Expr& t, const Expr& a, const Expr& c) { return kernel::fma(t, c - a, a); };
  const Expr above = blend(tx, value(0, 0), value(1, 0)), below = blend(tx, value(0, 1), value(1, 1));
  return blend(ty, above, below);
}

Status check_lookup_filter(const TypeContext& ctx, std::string_view arg,
                           std::initializer_list<Filter> filters) {
  const auto filter = static_cast<Filter>(ctx.integer(arg));
  if (std::ranges::find(filters, filter) != filters.end()) return {};
  std::string known;
  for (const Filter one : filters) {
    const bool last = &one == filters.end() - 1;
    known += known.empty() ? "" : last ? " and " : ", ";
    known += one == Filter::kNearest  ? "INTERP_NN"
             : one == Filter::kLinear ? "INTERP_LINEAR"
             : one == Filter::kCubic  ? "INTERP_CUBIC"
                                      : "INTERP_LANCZOS3";
  }
  return ctx.error(fmt::format("{}: the filters are {}", ctx.op().name, known), "use types.INTERP_LINEAR",
                   arg);
}

/// An index of a pixel, beyond the edge too, as one of the image along `dim`.
Expr Lookup::place_in(const Expr& i, int dim) const {
  const Expr extent = b.extent(0, dim);
  switch (outside) {
    case Outside::kReflect1001:
      return border_index(i, extent, BoundsPolicy::kReflect1001);
    case Outside::kWrap:
      return border_index(i, extent, BoundsPolicy::kWrap);
    case Outside::kReflect101: {
      const Expr last = max(extent - i64(1), i64(1)), period = last * i64(2);
      const Expr place = ((i % period) + period) % period;
      return select(extent > i64(1), select(place <= last, place, period - place), i64(0));
    }
    case Outside::kFill:
    case Outside::kEdge:
      return i;
  }
  return i;
}

Expr Lookup::pixel(const Axes& index, const Expr& x, const Expr& y) const {
  Axes from = index;
  from[static_cast<size_t>(at.w)] = place_in(x, at.w);
  from[static_cast<size_t>(at.h)] = place_in(y, at.h);
  const Expr value = b.load(0, from, Border::kClamp);
  if (outside != Outside::kFill) return value;
  const Expr inside = (x >= i64(0)) & (x < b.extent(0, at.w)) & (y >= i64(0)) & (y < b.extent(0, at.h));
  return select(inside, value, fill.size() == 1 ? fill[0] : choose(index[static_cast<size_t>(at.c)], fill));
}

Expr Lookup::operator()(const Axes& index, const Expr& sx, const Expr& sy) const {
  const DType in = b.input_type(0).dtype, out = b.output_type(0).dtype;
  // Of borders that repeat, places below 0 matter however far; the others are the same beyond the filter.
  const bool repeats = outside != Outside::kFill && outside != Outside::kEdge;
  const int64_t low = repeats ? -kMostPixels : -8;
  // Finite from here on.
  const auto near = [](const Expr& s) {
    const auto number = [&](double value) { return kernel::const_float(value, s.type()); };
    return clamp(s, number(-0x1p25), number(0x1p25));
  };
  if (filter == Filter::kNearest) {
    const auto round = [&](const Expr& s) {
      return pixel_index(kernel::unary(ScalarOp::kRound, near(s)), low);
    };
    return kernel::saturate(pixel(index, round(sx), round(sy)), out);
  }
  const Expr px = near(sx), py = near(sy);
  const Expr left = kernel::unary(ScalarOp::kFloor, px), top = kernel::unary(ScalarOp::kFloor, py);
  const Expr x = pixel_index(left, low), y = pixel_index(top, low);
  const DType wide = in == DType::kI32 ? DType::kF64 : DType::kF32;
  const Expr tx = kernel::convert(px - left, wide), ty = kernel::convert(py - top, wide);
  const Neighbour value = [&](int64_t dx, int64_t dy) {
    return kernel::convert(pixel(index, x + i64(dx), y + i64(dy)), wide);
  };
  if (filter == Filter::kLinear) return kernel::saturate(blend_four(tx, ty, value), out);
  if (filter == Filter::kLanczos3)
    return kernel::saturate(weighted_sum(lanczos_weights(tx), lanczos_weights(ty), -2, value), out);
  const Expr a = kernel::const_float(-0.75, wide);
  return kernel::saturate(weighted_sum(cubic_weights(tx, a), cubic_weights(ty, a), -1, value), out);
}

}  // namespace galatea::ops
