// transforms.shear: slants points along the axes.
#include <cmath>
#include <numbers>

#include "stdlib_ops/operators.h"
#include "stdlib_ops/transforms/transform.h"

namespace galatea::ops {
namespace {

/// A matrix has a row for each axis, and a column for each other axis: [2, 1] or [3, 2].
bool is_plane(const ir::Type& matrix) { return matrix.extents[0] == 2 || matrix.extents[1] == 1; }

Types shear_types(const TypeContext& ctx) {
  if (ctx.given("shear") == ctx.given("angles"))
    return ctx.error(ctx.given("shear") ? "transforms.shear: shear and angles exclude each other"
                                        : "transforms.shear: there is no shear",
                     ctx.given("shear") ? "keep one of them" : "give shear=[x, y] or angles=[x, y]",
                     ctx.given("shear") ? "angles" : "");
  const char* name = ctx.given("shear") ? "shear" : "angles";
  GALATEA_TRY(check_numbers(ctx, name));
  if (ctx.is_per_sample(name) && ctx.arg_type(name).ndim > 2)
    return ctx.error(fmt::format("transforms.shear: {} is {}", name, describe(ctx.arg_type(name))),
                     "a vector x, y or a tensor [2, 1] shears images, a tensor [3, 2] volumes", name);
  int n = 2;
  if (ctx.is_per_sample(name) && ctx.arg_type(name).ndim == 2) {
    const ir::Type& type = ctx.arg_type(name);
    if (type.static_volume() < 0) ctx.want_extents(name);
    n = is_plane(type) ? 2 : 3;
    if (!can_be_matrix(type, n, n - 1))
      return ctx.error(
          fmt::format("transforms.shear: {} is {}, [2, 1] or [3, 2] is needed", name, describe(type)),
          "a vector x, y shears images, too", name);
  } else if (const int64_t length = length_of(ctx, name); length == 6) {
    n = 3;
  } else if (length >= 0 && length != 2) {
    return ctx.error(
        fmt::format("transforms.shear: {} has {} element{}", name, length, length == 1 ? "" : "s"),
        "two numbers shear images, six (xy, xz, yx, yz, zx, zy) volumes", name);
  }
  if (given_static(ctx, "angles"))
    for (double angle : ctx.numbers("angles"))
      if (!(std::abs(angle) <= 90))
        return ctx.error(fmt::format("transforms.shear: the angle {} is not within [-90, 90]", angle), {},
                         "angles");
  return transform_types(ctx, n);
}

std::vector<Expr> coefficients(RecipeBuilder& b, int n) {
  const char* name = b.given("shear") ? "shear" : "angles";
  const auto value = value_of_arg(b, name);
  std::vector<Expr> list;
  if (value && b.type_of(*value).ndim == 2)
    for (const Expr& e : matrix_elements(b, *value, n, n - 1, name, name)) {
      check_finite(b, name, {to_f32(e)});
      list.push_back(to_f64(to_f32(e)));
    }
  else
    list = coordinates(b, name, n * (n - 1));
  if (b.given("shear")) return list;
  for (Expr& angle : list) {
    b.check(absolute(angle) <= f64(90), "the angle {} is not within [-90, 90]", {angle}, {}, "angles");
    angle = kernel::unary(ScalarOp::kTan, angle * f64(std::numbers::pi / 180));
  }
  return list;
}

}  // namespace

Operator make_transforms_shear() {
  Operator op = make_transform(
      "shear",
      {{.name = "shear",
        .kind = ArgKind::kAny,
        .per_sample = true,
        .documentation = "Factors x, y; of volumes xy, xz, yx, yz, zx, zy, or a tensor [2, 1] or [3, 2]."},
       {.name = "angles",
        .kind = ArgKind::kAny,
        .per_sample = true,
        .documentation = "Degrees within [-90, 90] whose tangents are the factors."},
       center_arg()});
  op.summary = "Makes or extends an affine transform by a shear.";
  op.documentation =
      "A = [[1, x], [y, 1]], of volumes [[1, xy, xz], [yx, 1, yz], [zx, zy, 1]]; p' = center + A (p - "
      "center). Exactly one of shear and angles is given.";
  op.example = transform_example("fn.transforms.shear(shear=[0.2, 0.0])");
  op.type_rule = shear_types;
  op.define = [](RecipeBuilder& b) {
    Transform t = Transform::identity(rank_of(b));
    const auto list = coefficients(b, t.n);
    size_t next = 0;
    for (int r = 0; r < t.n; ++r)
      for (int c = 0; c < t.n; ++c)
        if (r != c) t.at(r, c) = list[next++];
    apply_center(b, t);
    output_transform(b, t);
  };
  return op;
}

}  // namespace galatea::ops
