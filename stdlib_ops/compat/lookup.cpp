// See lookup.h.
#include "stdlib_ops/compat/lookup.h"

#include <algorithm>
#include <cmath>

namespace galatea::ops {
namespace {

constexpr double kMostFactor = 65536;  // the most that places are multiplied by
constexpr int64_t kPlaceSteps = 32;    // of OpenCV's places, 5 bits
constexpr int64_t kWeightOne = 1 << 15;

Expr pillow_cubic(const std::array<Expr, 4>& v, const Expr& d) {
  const Expr p2 = v[2] - v[0], p3 = f64(2) * (v[0] - v[1]) + v[2] - v[3], p4 = v[1] - v[0] - v[2] + v[3];
  return v[1] + d * (p2 + d * (p3 + d * p4));
}

/// OpenCV's weights of four pixels at a distance of x behind the second one, in the order of its operations.
std::array<float, 4> opencv_weights(float x) {
  constexpr float a = -0.75F;
  const float y = 1.0F - x;
  const float first = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
  const float second = ((a + 2) * x - (a + 3)) * x * x + 1;
  const float third = ((a + 2) * y - (a + 3)) * y * y + 1;
  return {first, second, third, 1.0F - first - second - third};
}

/// Of sixteen pixels for each of 32 x 32 places, as integers whose sum is 2^15: what rounding takes or gives, one
/// of the four in the middle gets back, the largest or the smallest.
std::vector<Cell> opencv_cubic_table() {
  std::vector<Cell> cells;
  for (int64_t row = 0; row < kPlaceSteps; ++row)
    for (int64_t column = 0; column < kPlaceSteps; ++column) {
      const auto down = opencv_weights(static_cast<float>(row) / kPlaceSteps),
                 across = opencv_weights(static_cast<float>(column) / kPlaceSteps);
      std::array<int64_t, 16> weights{};
      int64_t sum = 0;
      for (size_t k = 0; k < weights.size(); ++k) {
        const float product = down[k / 4] * across[k % 4];
        weights[k] = std::clamp<int64_t>(std::llrint(product * static_cast<float>(kWeightOne)), -kWeightOne,
                                         kWeightOne - 1);
        sum += weights[k];
      }
      size_t least = 10, most = 10;
      for (const size_t k : {10U, 11U, 14U, 15U}) {
        if (weights[k] < weights[least])
          least = k;
        else if (weights[k] > weights[most])
          most = k;
      }
      weights[sum < kWeightOne ? most : least] -= sum - kWeightOne;
      for (const int64_t weight : weights) cells.push_back(cell_from_int(DType::kI32, weight));
    }
  return cells;
}

}  // namespace

Plane::Plane(RecipeBuilder& b) : b_(b), at_(image_axes(b.input_layout(0))) {
  if (!b.given("fill_value")) {
    fill_ = {kernel::const_int(0, DType::kU8)};
    return;
  }
  for (const Expr& value : b.arg_list("fill_value", b.arg_length("fill_value"), DType::kF32))
    fill_.push_back(kernel::saturate(value, DType::kU8));
  if (fill_.size() == 1) return;
  const Expr channels = b.extent(0, at_.c);
  b.check(equal(channels, i64(static_cast<int64_t>(fill_.size()))),
          fmt::format("{} values of fill_value for {{}} channels", fill_.size()), {channels},
          "give one number, or one per channel", "fill_value");
}

Expr near_place(const Expr& value) {
  const Expr most = kernel::const_float(kFarthest, value.type());
  return clamp(value, -most, most);
}

Expr rounded_of(const Expr& value, double one) {
  const Expr most = f64(kFarthest * kMostFactor);
  return to_i64(nearest_even(clamp(value * f64(one), -most, most)));
}

Expr pillow_at(const Plane& plane, const Axes& at, const Expr& x, const Expr& y, Filter filter) {
  const Expr sx = near_place(x), sy = near_place(y);
  if (filter == Filter::kNearest)
    return plane.pixel_or(at, floor_to_i64(sx), floor_to_i64(sy), plane.fill(at));
  const Expr inside =
      (sx >= f64(0)) & (sx < to_f64(plane.width())) & (sy >= f64(0)) & (sy < to_f64(plane.height()));
  const Expr left = whole_below(sx - f64(0.5)), top = whole_below(sy - f64(0.5));
  const Expr dx = sx - f64(0.5) - left, dy = sy - f64(0.5) - top;
  const auto value = [&](int64_t i, int64_t j) {
    return to_f64(plane.pixel(at, to_i64(left) + i64(i), to_i64(top) + i64(j)));
  };
  Expr result;
  if (filter == Filter::kCubic) {
    std::array<Expr, 4> rows;
    for (int64_t j = 0; j < 4; ++j)
      rows[static_cast<size_t>(j)] =
          pillow_cubic({value(-1, j - 1), value(0, j - 1), value(1, j - 1), value(2, j - 1)}, dx);
    result = pillow_cubic(rows, dy);
  } else {
    const auto mix = [](const Expr& a, const Expr& b, const Expr& d) { return a + (b - a) * d; };
    result = mix(mix(value(0, 0), value(1, 0), dx), mix(value(0, 1), value(1, 1), dx), dy);
  }
  const Expr byte = kernel::convert(clamp(result, f64(0), f64(255)), DType::kU8);
  return select(inside, byte, plane.fill(at));
}

Expr torchvision_at(RecipeBuilder& b, const Plane& plane, const Axes& at, const std::array<Expr, 2>& grid,
                    Filter filter) {
  std::array<Expr, 2> place;
  for (size_t r = 0; r < 2; ++r) {
    const Expr extent = to_f32(r == 0 ? plane.width() : plane.height());
    place[r] = near_place(((grid[r] + f32(1)) * extent - f32(1)) * f32(0.5));
  }
  const Expr none = kernel::const_int(0, DType::kU8);
  if (filter == Filter::kNearest)
    return plane.pixel_or(at, to_i64(nearest_even(place[0])), to_i64(nearest_even(place[1])), plane.fill(at));
  const Expr left = whole_below(place[0]), top = whole_below(place[1]);
  const Expr w = place[0] - left, e = f32(1) - w, n = place[1] - top, s = f32(1) - n;
  const std::array<Expr, 4> weights = {s * e, s * w, n * e, n * w};
  Expr sum, mask;
  for (int64_t k = 0; k < 4; ++k) {
    const Expr x = to_i64(left) + i64(k % 2), y = to_i64(top) + i64(k / 2);
    const Expr& weight = weights[static_cast<size_t>(k)];
    const Expr value = to_f32(plane.pixel_or(at, x, y, none));
    const Expr share = select(plane.inside(x, y), weight, f32(0));
    sum = k == 0 ? value * weight : kernel::fma(value, weight, sum);
    mask = k == 0 ? share : mask + share;
  }
  if (b.given("fill_value")) {
    const Expr fill = to_f32(plane.fill(at));
    sum = (sum - fill) * mask + fill;
  }
  return kernel::saturate(sum, DType::kU8);
}

OpenCvLookup::OpenCvLookup(RecipeBuilder& b, const Plane& plane, Filter filter)
    : b_(b), plane_(plane), filter_(filter) {
  if (filter != Filter::kCubic) return;
  cubic_ = b.constant_input(
      "cubic", std::make_shared<runtime::ConstantTensor>(
                   DType::kI32, std::vector<int64_t>{kPlaceSteps, kPlaceSteps, 16}, opencv_cubic_table()));
}

Expr OpenCvLookup::operator()(const Axes& at, const Expr& x, const Expr& y) const {
  return filter_ == Filter::kNearest ? plane_.pixel_or(at, x, y, plane_.fill(at)) : blend(at, x, y);
}

Expr OpenCvLookup::blend(const Axes& at, const Expr& x, const Expr& y) const {
  const bool cubic = filter_ == Filter::kCubic;
  const int64_t taps = cubic ? 4 : 2, before = cubic ? 1 : 0;
  const Expr column = shift_right(x, 5), row = shift_right(y, 5);
  const Expr across = x & i64(kPlaceSteps - 1), down = y & i64(kPlaceSteps - 1);
  const auto share = [](const Expr& part, int64_t k) {
    return k == 1 ? to_i32(part) : i32(kPlaceSteps) - to_i32(part);
  };
  Expr sum = i32(kWeightOne / 2);
  for (int64_t k = 0; k < taps * taps; ++k) {
    const int64_t i = k % taps, j = k / taps;
    const Expr value = plane_.pixel_or(at, column + i64(i - before), row + i64(j - before), plane_.fill(at));
    const Expr weight = cubic ? b_.load(cubic_, {down, across, i64(k)})
                              : share(across, i) * share(down, j) * i32(kPlaceSteps);
    sum = sum + to_i32(value) * weight;
  }
  return kernel::saturate(shift_right(sum, 15), DType::kU8);
}

}  // namespace galatea::ops
