// Colours as torchvision computes them: see torch_colour.h.
#include "stdlib_ops/compat/torch_colour.h"

#include "stdlib_ops/compat/checks.h"

namespace galatea::ops {

Extremes extremes(const Rgb& rgb) {
  return {max(max(rgb[0], rgb[1]), rgb[2]), kernel::min(kernel::min(rgb[0], rgb[1]), rgb[2])};
}

Expr torch_grey(const Rgb& rgb) {
  return kernel::fma(rgb[2], f32(0.114), kernel::fma(rgb[1], f32(0.587), rgb[0] * f32(0.2989)));
}

Rgb torch_turned(const Rgb& rgb, const Expr& turn) {
  const auto fraction = [](const Expr& e) { return e - kernel::unary(ScalarOp::kTrunc, e); };
  const auto [v, smallest] = extremes(rgb);
  const Expr grey = equal(v, smallest), range = v - smallest;
  const Expr s = range / select(grey, f32(1), v), divisor = select(grey, f32(1), range);
  // The hue in sixths: offset + what one channel lacks to the largest, as a share of the range, less what the other
  // does.
  const Expr is_red = equal(rgb[0], v), is_green = equal(rgb[1], v);
  const auto of_largest = [&](const Expr& red, const Expr& green, const Expr& blue) {
    return select(is_red, red, select(is_green, green, blue));
  };
  const auto lacks = [&](const Expr& channel) { return (v - channel) / divisor; };
  const Expr sixths = of_largest(f32(0), f32(2), f32(4)) + lacks(of_largest(rgb[2], rgb[0], rgb[1])) -
                      lacks(of_largest(rgb[1], rgb[2], rgb[0]));
  const Expr sum = fraction(fraction(sixths * f32(1.0 / 6) + f32(1)) + turn);
  const Expr h6 = select(sum < f32(0), sum + f32(1), sum) * f32(6);
  const Expr whole = whole_below(h6), f = h6 - whole;
  const Expr sixth = select(whole >= f32(6), f32(0), whole);
  const Expr sxf = s * f, rest = f32(1) - s;
  const auto unit = [](const Expr& e) { return clamp(e, f32(0), f32(1)); };
  // In even sixths a channel rises, in odd ones another falls.
  const Expr is_even = equal(fraction(sixth * f32(0.5)), f32(0));
  const Expr p = unit(rest * v), between = unit(select(is_even, sxf + rest, f32(1) - sxf) * v);
  // A channel is the largest in two sixths that are neighbours, and between in the two about these.
  const auto channel = [&](const Expr& away) {
    return select(away < f32(1), v, select(away < f32(2), between, p));
  };
  const auto from = [&](double middle) { return absolute(sixth - f32(middle)); };
  return {channel(f32(3) - from(2.5)), channel(from(1.5)), channel(from(3.5))};
}

}  // namespace galatea::ops
