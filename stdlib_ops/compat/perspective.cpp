// See perspective.h. Sources of the formulas: Pillow's Geometry.c; torchvision's transforms/v2/functional/_geometry.py;
// OpenCV 4's imgwarp.cpp. Recorded outputs confirm them (tests/oracle, group perspective). How pixels are looked up,
// lookup.h says.
//
// Pillow: places in f64. torchvision: a grid in f32, of -1 to 1. OpenCV 4: places in f64, rounded to 32nds of a pixel.
// In Pillow and torchvision the last element of a matrix is 1, so that others are divided by it.
#include "stdlib_ops/compat/perspective.h"

#include "stdlib_ops/compat/lookup.h"

namespace galatea::ops {
namespace {

/// (X, Y, W) of a place.
std::array<Expr, 3> shown_by(const ProjectiveMap& m, const Expr& x, const Expr& y) {
  const auto row = [&](size_t r) { return m[r] * x + m[r + 1] * y + m[r + 2]; };
  return {row(0), row(3), row(6)};
}

Expr pillow_projected(const Plane& plane, const ProjectiveMap& m, const Axes& at, Filter filter) {
  const auto [x, y, w] = shown_by(m, to_f64(plane.x_of(at)) + f64(0.5), to_f64(plane.y_of(at)) + f64(0.5));
  return pillow_at(plane, at, x / w, y / w, filter);
}

Expr torchvision_projected(RecipeBuilder& b, const Plane& plane, const std::array<Expr, 9>& theta,
                           const Axes& at, Filter filter) {
  const Expr x = to_f32(plane.x_of(at)) + f32(0.5), y = to_f32(plane.y_of(at)) + f32(0.5);
  const auto row = [&](size_t r) { return x * theta[r] + y * theta[r + 1] + theta[r + 2]; };
  const Expr w = row(6);
  return torchvision_at(b, plane, at, {row(0) / w - f32(1), row(3) / w - f32(1)}, filter);
}

/// Where W is 0, the place is the first pixel.
Expr opencv_projected(const Plane& plane, const OpenCvLookup& lookup, const ProjectiveMap& of_centres,
                      const Axes& at, Filter filter) {
  const auto [x, y, w] = shown_by(of_centres, to_f64(plane.x_of(at)), to_f64(plane.y_of(at)));
  const Expr one = f64(filter == Filter::kNearest ? 1 : 32);
  const Expr scale = select(equal(w, f64(0)), f64(0), one / w);
  return lookup(at, rounded_of(x * scale, 1), rounded_of(y * scale, 1));
}

}  // namespace

Status check_compat_perspective(const TypeContext& ctx) {
  GALATEA_TRY(check_bytes(ctx));
  const auto filter = static_cast<Filter>(ctx.integer("interp_type"));
  if (ctx.compat() == Compat::kTorchvision && filter == Filter::kCubic)
    return preset_error(ctx, " does not have that filter", "use types.INTERP_NN or INTERP_LINEAR",
                        "interp_type");
  if (ctx.op().find_arg("border_mode") != nullptr && ctx.text("border_mode") != "constant")
    return preset_error(ctx, " fills what lies outside", "leave border_mode out", "border_mode");
  if (ctx.compat() == Compat::kTorchvision)
    return check_without(ctx, {{"size", "the output has the extents of the image"}});
  return {};
}

void output_compat_perspective(RecipeBuilder& b, const ProjectiveMap& given, bool is_of_corners,
                               const Expr& rows, const Expr& columns) {
  const Plane plane(b);
  const auto filter = static_cast<Filter>(b.integer("interp_type"));
  const bool opencv = b.compat() == Compat::kOpenCv;
  for (const Expr& element : given)
    b.check(absolute(element) <= f64(kFarthest), "the map of the warp has the element {}", {element},
            "matrices must be finite");
  ProjectiveMap map = given;
  if (opencv && is_of_corners) map = of_centres(given);
  if (!opencv && !is_of_corners) map = of_corners(given);
  if (!opencv) {
    const Expr last = map[8];
    b.check(not_equal(last, f64(0)),
            "the last element of the matrix is 0, where the library of the preset has 1", {},
            "scale the matrix, or write compat=\"dali\" at this call");
    for (Expr& element : map) element = element / last;
  }
  std::array<Expr, 9> theta;
  for (size_t k = 0; k < 9; ++k) {
    const Expr half = k < 3 ? to_f32(columns) * f32(0.5) : to_f32(rows) * f32(0.5);
    theta[k] = k < 6 ? to_f32(map[k]) / half : to_f32(map[k]);
  }
  const OpenCvLookup lookup(b, plane, opencv ? filter : Filter::kNearest);
  Axes extents = b.extents(0);
  extents[static_cast<size_t>(plane.axes().h)] = rows;
  extents[static_cast<size_t>(plane.axes().w)] = columns;
  b.output_stage(0, b.map("perspective", DType::kU8, extents, [&](const Axes& at) {
    switch (b.compat()) {
      case Compat::kPil:
        return pillow_projected(plane, map, at, filter);
      case Compat::kTorchvision:
        return torchvision_projected(b, plane, theta, at, filter);
      default:
        return opencv_projected(plane, lookup, map, at, filter);
    }
  }));
}

std::vector<op::Preset> perspective_presets() {
  return {
      {.peer = Compat::kPil,
       .differs = "Image.transform(PERSPECTIVE): places and blends in f64, without their fraction; nearest "
                  "neighbours are the pixels that places lie in"},
      {.peer = Compat::kTorchvision,
       .differs = "perspective of a u8 tensor: places through a grid in f32, the edge blended with the fill"},
      {.peer = Compat::kOpenCv,
       .differs =
           "cv2.warpPerspective of OpenCV 4: places in f64, rounded to 32nds of a pixel, weights of 15 "
           "bits, cubic with a = -3/4"}};
}

}  // namespace galatea::ops
