// See warp.h. Sources of the formulas: Pillow's Geometry.c and Image.rotate; torchvision's
// transforms/v2/functional/_geometry.py; OpenCV 4's imgwarp.cpp. Recorded outputs confirm them (tests/oracle, group
// warp). How pixels are looked up, lookup.h says.
//
// Pillow: nearest neighbours in 16.16 fixed point. torchvision: places in f32, scaled to [-1, 1] and back. OpenCV 4:
// places of 10 bits. (OpenCV 5 blends in f32.)
#include "stdlib_ops/compat/warp.h"

#include <numbers>

#include "stdlib_ops/compat/lookup.h"

namespace galatea::ops {
namespace {

constexpr double kFixedOne = 65536;     // Pillow's nearest neighbours
constexpr double kOpenCvPlaces = 1024;  // 10 bits

/// Half up, as a whole number; what is too far away for one stays far away.
Expr fixed_of(const Expr& value, double one) {
  const Expr most = f64(kFarthest * kFixedOne);
  return to_i64(whole_below(clamp(value * f64(one), -most, most) + f64(0.5)));
}
// ---- Pillow

Expr pillow_nearest(const Plane& plane, const AffineMap& m, const Axes& at) {
  const Expr x = plane.x_of(at), y = plane.y_of(at);
  std::array<Expr, 2> places;
  for (size_t r = 0; r < 2; ++r) {
    const Expr begin = fixed_of(m[r][2] + m[r][0] * f64(0.5) + m[r][1] * f64(0.5), kFixedOne);
    const Expr fixed =
        shift_right(begin + fixed_of(m[r][1], kFixedOne) * y + fixed_of(m[r][0], kFixedOne) * x, 16);
    // Maps that only scale are taken in f64.
    const Expr along = m[r][r] * (to_f64(r == 0 ? x : y) + f64(0.5)) + m[r][2];
    const Expr upright = equal(m[0][1], f64(0)) & equal(m[1][0], f64(0));
    places[r] = select(upright, floor_to_i64(near_place(along)), fixed);
  }
  return plane.pixel_or(at, places[0], places[1], plane.fill(at));
}

Expr pillow_blend(const Plane& plane, const AffineMap& m, const Axes& at, Filter filter) {
  const Expr x = to_f64(plane.x_of(at)) + f64(0.5), y = to_f64(plane.y_of(at)) + f64(0.5);
  return pillow_at(plane, at, m[0][0] * x + m[0][1] * y + m[0][2], m[1][0] * x + m[1][1] * y + m[1][2],
                   filter);
}

// ---- torchvision

/// Of centres, as theta of an affine grid; f32.
using Theta = std::array<std::array<Expr, 3>, 2>;

Theta centred(const Plane& plane, const AffineMap& m, const Expr& rows, const Expr& columns) {
  const Expr half = f64(0.5);
  const std::array<Expr, 2> in = {to_f64(plane.width()) * half, to_f64(plane.height()) * half};
  const Expr ox = to_f64(columns) * half, oy = to_f64(rows) * half;
  Theta theta;
  for (size_t r = 0; r < 2; ++r)
    theta[r] = {to_f32(m[r][0]), to_f32(m[r][1]), to_f32(m[r][0] * ox + m[r][1] * oy + m[r][2] - in[r])};
  return theta;
}

Expr torchvision_pixel(RecipeBuilder& b, const Plane& plane, const Theta& theta, const Expr& rows,
                       const Expr& columns, const Axes& at, Filter filter) {
  const auto centre = [](const Expr& i, const Expr& n) {
    return to_f32(to_f64(i) - (to_f64(n) - f64(1)) * f64(0.5));
  };
  const Expr xg = centre(plane.x_of(at), columns), yg = centre(plane.y_of(at), rows);
  std::array<Expr, 2> grid;
  for (size_t r = 0; r < 2; ++r) {
    const Expr half = to_f32(r == 0 ? plane.width() : plane.height()) * f32(0.5);
    grid[r] = kernel::fma(yg, theta[r][1] / half, xg * (theta[r][0] / half)) + theta[r][2] / half;
  }
  return torchvision_at(b, plane, at, grid, filter);
}

// ---- OpenCV

Expr opencv_pixel(const Plane& plane, const OpenCvLookup& lookup, const AffineMap& m, const Axes& at,
                  Filter filter) {
  const Expr x = plane.x_of(at), y = plane.y_of(at);
  // From corners of pixels to their centres.
  std::array<Expr, 2> place;
  for (size_t r = 0; r < 2; ++r) {
    const Expr begin = m[r][2] + (m[r][0] + m[r][1]) * f64(0.5) - f64(0.5);
    const Expr along = rounded_of(m[r][0] * to_f64(x), kOpenCvPlaces);
    const Expr across = rounded_of(m[r][1] * to_f64(y) + begin, kOpenCvPlaces);
    const int64_t bits = filter == Filter::kNearest ? 10 : 5;
    place[r] = shift_right(along + across + i64(int64_t{1} << (bits - 1)), bits);
  }
  return lookup(at, place[0], place[1]);
}

/// An angle, taken modulo a turn first, as Python's % does.
struct Turn {
  Expr cosine, sine;  ///< f64; exact at quarter turns
  Expr upright;       ///< whether it is a quarter of a turn, or three: rows become columns
};

Turn turn_of(const Expr& angle) {
  const Expr rest = kernel::binary(ScalarOp::kRem, to_f64(angle), f64(360));
  const Expr degrees = select(rest < f64(0), rest + f64(360), rest);
  const Expr radians = degrees * f64(std::numbers::pi / 180);
  const Expr quarter = equal(kernel::binary(ScalarOp::kRem, degrees, f64(90)), f64(0));
  const auto exact = [&](const Expr& value) { return select(quarter, nearest_even(value), value); };
  return {exact(kernel::unary(ScalarOp::kCos, radians)), exact(kernel::unary(ScalarOp::kSin, radians)),
          equal(degrees, f64(90)) | equal(degrees, f64(270))};
}

/// Python's round(value, 15): what the product rounds away decides of a half.
Expr fifteen_digits(const Expr& value) {
  const Expr scaled = value * f64(1e15), lost = kernel::fma(value, f64(1e15), -scaled);
  const Expr below = whole_below(scaled), above_half = (scaled - below - f64(0.5)) + lost;
  return select(above_half > f64(0), below + f64(1), below) / f64(1e15);
}

struct Extremes4 {
  Expr least, most;
};
Extremes4 extremes_of(const std::array<Expr, 4>& values) {
  Extremes4 out{values[0], values[0]};
  for (size_t k = 1; k < 4; ++k) out = {kernel::min(out.least, values[k]), max(out.most, values[k])};
  return out;
}

/// A map and its canvas.
struct Turned {
  AffineMap map;
  Expr rows, columns;
};

/// About the middles of image and canvas.
AffineMap about_middles(const Plane& plane, const Expr& c, const Expr& s, const Expr& rows,
                        const Expr& columns) {
  const Expr half = f64(0.5);
  const Expr in_x = to_f64(plane.width()) * half, in_y = to_f64(plane.height()) * half;
  const Expr out_x = to_f64(columns) * half, out_y = to_f64(rows) * half;
  return {{{c, -s, in_x - (c * out_x - s * out_y)}, {s, c, in_y - (s * out_x + c * out_y)}}};
}

Turned pillow_rotation(RecipeBuilder& b, const Plane& plane, const Expr& angle) {
  const Turn turn = turn_of(angle);
  const Expr c = fifteen_digits(turn.cosine), s = fifteen_digits(turn.sine);
  const Expr w = to_f64(plane.width()), h = to_f64(plane.height()), cx = w / f64(2), cy = h / f64(2);
  const Expr zero = f64(0);
  AffineMap m = {{{c, -s, (c * -cx + -s * -cy) + cx}, {s, c, (s * -cx + c * -cy) + cy}}};
  if (b.flag("keep_size")) return {m, plane.height(), plane.width()};
  const auto shown = [](const std::array<Expr, 3>& row, const Expr& x, const Expr& y) {
    return row[0] * x + row[1] * y + row[2];
  };
  std::array<Expr, 2> canvas;
  for (size_t r = 0; r < 2; ++r) {
    const Extremes4 e =
        extremes_of({shown(m[r], zero, zero), shown(m[r], w, zero), shown(m[r], w, h), shown(m[r], zero, h)});
    canvas[r] = ceil_to_i64(e.most) - floor_to_i64(e.least);
  }
  const Expr dx = -((to_f64(canvas[0]) - w) / f64(2)), dy = -((to_f64(canvas[1]) - h) / f64(2));
  const std::array<Expr, 2> moved = {shown(m[0], dx, dy), shown(m[1], dx, dy)};
  // Quarter turns move pixels and nothing else.
  const Expr rows = select(turn.upright, plane.width(), canvas[1]);
  const Expr columns = select(turn.upright, plane.height(), canvas[0]);
  const AffineMap exact = about_middles(plane, c, s, rows, columns);
  for (size_t r = 0; r < 2; ++r) m[r][2] = select(turn.upright, exact[r][2], moved[r]);
  return {m, rows, columns};
}

/// torchvision's canvas, which four digits decide.
std::array<Expr, 2> torchvision_canvas(const Plane& plane, const Expr& c, const Expr& s) {
  const Expr half_w = to_f32(plane.width()) * f32(0.5), half_h = to_f32(plane.height()) * f32(0.5);
  const auto covered = [&](const Expr& a, const Expr& d, const Expr& half) {
    const auto shown = [&](const Expr& x, const Expr& y) { return kernel::fma(y, d, x * a); };
    const Extremes4 e = extremes_of(
        {shown(-half_w, -half_h), shown(-half_w, half_h), shown(half_w, half_h), shown(half_w, -half_h)});
    const auto digits = [&](const Expr& value) {
      return kernel::unary(ScalarOp::kTrunc, (value + half) * f32(1e4)) * f32(1e-4);
    };
    return ceil_to_i64(digits(e.most)) - floor_to_i64(digits(e.least));
  };
  const Expr c32 = to_f32(c), s32 = to_f32(s);
  return {covered(s32, c32, half_h), covered(c32, -s32, half_w)};
}

Turned turned_by(RecipeBuilder& b) {
  const Plane plane(b);
  const Expr angle = b.arg("angle", DType::kF32);
  b.check(absolute(angle) <= f32(1e9), "the angle {} is no angle in degrees", {angle}, {}, "angle");
  if (b.compat() == Compat::kPil) return pillow_rotation(b, plane, angle);
  const Turn turn = turn_of(angle);
  const Expr &c = turn.cosine, &s = turn.sine;
  std::array<Expr, 2> size = {plane.height(), plane.width()};
  if (b.given("size")) {
    size = warp_size(b);
  } else if (!b.flag("keep_size")) {
    const std::array<Expr, 2> canvas = torchvision_canvas(plane, c, s);
    size = {select(turn.upright, size[1], canvas[0]), select(turn.upright, size[0], canvas[1])};
  }
  return {about_middles(plane, c, s, size[0], size[1]), size[0], size[1]};
}

}  // namespace

Status check_compat_warp(const TypeContext& ctx) {
  GALATEA_TRY(check_bytes(ctx));
  const auto filter = static_cast<Filter>(ctx.integer("interp_type"));
  const bool has_cubic = ctx.compat() != Compat::kTorchvision;
  if (filter != Filter::kNearest && filter != Filter::kLinear && !(has_cubic && filter == Filter::kCubic))
    return preset_error(ctx, " does not have that filter",
                        has_cubic ? "use types.INTERP_NN, INTERP_LINEAR or INTERP_CUBIC"
                                  : "use types.INTERP_NN or INTERP_LINEAR",
                        "interp_type");
  GALATEA_TRY(check_without(ctx, {{"cubic_a", "the library has its own cubic"}}));
  if (ctx.op().name != "rotate") return {};
  if (ctx.given("size") && ctx.compat() != Compat::kOpenCv)
    return preset_error(ctx, " has the image's size, or one that holds the turned image", "give keep_size",
                        "size");
  if (ctx.compat() == Compat::kOpenCv && !ctx.given("size") && !ctx.flag("keep_size"))
    return preset_error(ctx, " has no canvas that grows", "give keep_size=True or size");
  return {};
}

void output_compat_warp(RecipeBuilder& b, const AffineMap& map, const Expr& rows, const Expr& columns) {
  const Plane plane(b);
  const auto filter = static_cast<Filter>(b.integer("interp_type"));
  const OpenCvLookup opencv(b, plane, b.compat() == Compat::kOpenCv ? filter : Filter::kNearest);
  for (const auto& row : map)
    for (const Expr& element : row)
      b.check(absolute(element) <= f64(kFarthest), "the map of the warp has the element {}", {element},
              "matrices and angles must be finite");
  const Theta theta = centred(plane, map, rows, columns);
  std::vector<Expr> extents = b.extents(0);
  extents[static_cast<size_t>(plane.axes().h)] = rows;
  extents[static_cast<size_t>(plane.axes().w)] = columns;
  b.output_stage(0, b.map("warp", DType::kU8, extents, [&](const Axes& at) {
    switch (b.compat()) {
      case Compat::kPil:
        return filter == Filter::kNearest ? pillow_nearest(plane, map, at)
                                          : pillow_blend(plane, map, at, filter);
      case Compat::kTorchvision:
        return torchvision_pixel(b, plane, theta, rows, columns, at, filter);
      default:
        return opencv_pixel(plane, opencv, map, at, filter);
    }
  }));
}

void define_compat_rotate(RecipeBuilder& b) {
  const Turned turned = turned_by(b);
  output_compat_warp(b, turned.map, turned.rows, turned.columns);
}

AffineMap compat_rotation(RecipeBuilder& b) { return turned_by(b).map; }

std::vector<op::Preset> warp_presets(const std::string& pil, const std::string& torchvision) {
  const std::string black = "; without fill_value, outside is black";
  return {
      {.peer = Compat::kPil,
       .differs =
           pil + ": nearest neighbours in 16.16 fixed point, blends in f64 without their fraction" + black},
      {.peer = Compat::kTorchvision,
       .differs = torchvision +
                  " of a u8 tensor: places through an affine grid in f32, the edge blended with the "
                  "fill" +
                  black},
      {.peer = Compat::kOpenCv,
       .differs =
           "cv2.warpAffine of OpenCV 4: places in 32nds of a pixel, weights of 15 bits, cubic with a = -3/4" +
           black}};
}

}  // namespace galatea::ops
