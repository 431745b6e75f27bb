// transforms.scale: stretches coordinates about a point.
#include <algorithm>

#include "stdlib_ops/operators.h"
#include "stdlib_ops/transforms/transform.h"

namespace galatea::ops {

Operator make_transforms_scale() {
  Operator op = make_transform(
      "scale", {{.name = "scale",
                 .kind = ArgKind::kFloatList,
                 .required = true,
                 .per_sample = true,
                 .documentation = "Factors, x first, or one for all coordinates."},
                center_arg(),
                {.name = "ndim",
                 .kind = ArgKind::kInt,
                 .documentation = "Number of coordinates, where neither scale nor the input says it."}});
  op.summary = "Makes or extends an affine transform by a scaling.";
  op.documentation =
      "p' = center + scale (p - center). The number of coordinates is the length of scale; of one factor "
      "that of the input, of center, or ndim, else 1.";
  op.example = transform_example("fn.transforms.scale(scale=[0.5, 0.8], center=[32.0, 32.0])");
  op.type_rule = [](const TypeContext& ctx) -> Types {
    const int64_t length = length_of(ctx, "scale");
    if (length == 0)
      return ctx.error("transforms.scale: scale is empty", "give one factor, or x and y", "scale");
    int rank = known_rank(ctx, {"scale", "center"});
    if (rank < 0 && ctx.given("ndim"))
      rank = static_cast<int>(std::clamp<int64_t>(ctx.integer("ndim"), 0, 100));
    // What has an unknown number of coordinates is about images; the run checks it.
    const bool says_nothing = length == 1 && ctx.num_inputs() == 0;
    return transform_types(ctx, rank >= 0 ? rank : says_nothing ? 1 : 2);
  };
  op.define = [](RecipeBuilder& b) {
    Transform t = Transform::identity(rank_of(b));
    const auto scale = coordinates(b, "scale", t.n);
    for (int r = 0; r < t.n; ++r) t.at(r, r) = scale[static_cast<size_t>(r)];
    apply_center(b, t);
    output_transform(b, t);
  };
  return op;
}

}  // namespace galatea::ops
