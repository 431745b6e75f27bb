// transforms.rotation: turns points in the plane, or about an axis in space.
#include <numbers>

#include "stdlib_ops/common/turn.h"
#include "stdlib_ops/operators.h"
#include "stdlib_ops/transforms/transform.h"

namespace galatea::ops {
namespace {

Types rotation_types(const TypeContext& ctx) {
  if (!ctx.given("axis")) return transform_types(ctx, 2);
  GALATEA_TRY(check_axis(ctx, "leave it out for a rotation in the plane"));
  return transform_types(ctx, 3);
}

void define_rotation(RecipeBuilder& b) {
  const Expr angle = b.arg("angle", DType::kF32);
  b.check(absolute(angle) <= f32(1e9), "the angle {} is no angle in degrees", {angle}, {}, "angle");
  const Expr radians = kernel::binary(ScalarOp::kRem, to_f64(angle), f64(360)) * f64(std::numbers::pi / 180);
  const Expr c = kernel::unary(ScalarOp::kCos, radians), s = kernel::unary(ScalarOp::kSin, radians);
  Transform t = Transform::identity(rank_of(b));
  if (t.n == 2) {
    t.at(0, 0) = t.at(1, 1) = c;
    t.at(0, 1) = -s;
    t.at(1, 0) = s;
  } else {
    const Rotation rotation = rotation_about(unit_axis(b), c, s);
    for (int r = 0; r < 3; ++r)
      for (int k = 0; k < 3; ++k) t.at(r, k) = rotation[static_cast<size_t>(r)][static_cast<size_t>(k)];
  }
  apply_center(b, t);
  output_transform(b, t);
}

}  // namespace

Operator make_transforms_rotation() {
  Operator op =
      make_transform("rotation", {{.name = "angle",
                                   .kind = ArgKind::kFloat,
                                   .required = true,
                                   .per_sample = true,
                                   .documentation = "Degrees."},
                                  {.name = "axis",
                                   .kind = ArgKind::kFloatList,
                                   .per_sample = true,
                                   .documentation = "Axis x, y, z of a rotation in space, of any length; "
                                                    "not given: a rotation in the plane."},
                                  center_arg()});
  op.summary = "Makes or extends an affine transform by a rotation.";
  op.documentation =
      "In the plane A = [[cos a, -sin a], [sin a, cos a]]; in space the right-handed rotation about the axis "
      "(Rodrigues). p' = center + A (p - center). Angles are reduced to one turn exactly. As matrix of "
      "warp_affine a positive angle turns the image counter-clockwise.";
  op.example = transform_example(
      "fn.transforms.rotation(angle=fn.random.uniform(range=[-15.0, 15.0]), center=[32.0, 32.0])");
  op.type_rule = rotation_types;
  op.define = define_rotation;
  return op;
}

}  // namespace galatea::ops
