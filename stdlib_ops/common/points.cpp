// Operators on points: see points.h.
#include "stdlib_ops/common/points.h"

namespace galatea::ops {

void output_points(RecipeBuilder& b, const std::string& name, const Expr& coordinates,
                   const std::function<Expr(const Expr& k, const Coordinate& of)>& value) {
  const ir::Type &in = b.input_type(0), &out = b.output_type(0);
  if (fits_scalars(b)) {
    const int64_t own = in.extents.back(), made = out.extents.back();
    std::vector<Expr> elements;
    for (int64_t n = 0; n < out.static_volume(); ++n)
      elements.push_back(value(i64(n % made), [&](const Expr& number) {
        std::vector<Expr> point;
        for (int64_t j = 0; j < own; ++j) point.push_back(b.element(0, n / made * own + j));
        return choose(number, point);
      }));
    return b.output_scalars(0, std::move(elements));
  }
  std::vector<Expr> extents = b.extents(0);
  extents.back() = coordinates;
  b.output_stage(0, b.map(name, out.dtype, std::move(extents), [&](const Axes& at) {
    return value(at.back(), [&](const Expr& number) {
      Axes index = at;
      index.back() = number;
      return b.load(0, std::move(index));
    });
  }));
}

Port points_input(std::string name, std::string documentation, std::vector<DType> dtypes) {
  Port port{.name = std::move(name), .documentation = std::move(documentation), .dtypes = std::move(dtypes)};
  port.axes = "^F";
  return port;
}

ArgSpec bbox_layout_arg() {
  return {.name = "bbox_layout",
          .kind = ArgKind::kLayout,
          .default_value = std::string("xyXY"),
          .documentation = "Numbers of a box: starts x, y with ends X, Y or extents W, H, in any order."};
}

ArgSpec bbox_normalized_arg(const std::string& whole) {
  return {.name = "bbox_normalized",
          .kind = ArgKind::kBool,
          .default_value = true,
          .documentation = "Whether boxes are fractions: of " + whole + ". Else pixels."};
}

int64_t coordinates_of(const ir::Type& points) { return points.ndim == 0 ? 0 : points.extents.back(); }

Status check_boxes(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  const int64_t n = coordinates_of(in);
  if (in.ndim > 0 && (n < 0 || (in.ndim == 1 ? n % kBoxNumbers == 0 : n == kBoxNumbers))) return {};
  return ctx.error(fmt::format("{}: {} holds no boxes of four numbers", ctx.op().name, describe(in)),
                   "boxes are rows: FLOAT [n, 4], or one after the other in one axis");
}

Expr check_boxes(RecipeBuilder& b) {
  const int ndim = b.input_type(0).ndim;
  const Expr n = b.extent(0, ndim - 1);
  b.check(ndim == 1 ? equal(n % i64(kBoxNumbers), i64(0)) : equal(n, i64(kBoxNumbers)),
          "the last axis has {} numbers, a box has 4", {n}, "boxes are rows: FLOAT [n, 4]");
  return n;
}

}  // namespace galatea::ops
