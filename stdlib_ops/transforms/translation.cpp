// transforms.translation: moves points by an offset.
#include "stdlib_ops/operators.h"
#include "stdlib_ops/transforms/transform.h"

namespace galatea::ops {

Operator make_transforms_translation() {
  Operator op = make_transform("translation", {{.name = "offset",
                                                .kind = ArgKind::kFloatList,
                                                .required = true,
                                                .per_sample = true,
                                                .documentation = "What is added, x first."}});
  op.summary = "Makes or extends an affine transform by a translation.";
  op.documentation =
      "p' = p + offset. The number of coordinates is the length of offset. As matrix of warp_affine (which "
      "leads from the output to the image) an offset moves the image by its opposite.";
  op.example =
      transform_example("fn.transforms.translation(offset=fn.random.uniform(range=[-8.0, 8.0], shape=[2]))");
  op.type_rule = [](const TypeContext& ctx) -> Types {
    const int64_t length = length_of(ctx, "offset");
    if (length == 0) return ctx.error("transforms.translation: offset is empty", "give x and y", "offset");
    const int rank = known_rank(ctx, {"offset"});
    if (length == 1 && rank > 1)
      return ctx.error(
          fmt::format("transforms.translation: offset has 1 element, the input {} coordinates", rank),
          "give one number for each coordinate", "offset");
    // A vector of unknown length moves points of images; the run checks it.
    return transform_types(ctx, length == 1 ? 1 : rank < 0 ? 2 : rank);
  };
  op.define = [](RecipeBuilder& b) {
    Transform t = Transform::identity(rank_of(b));
    const auto offset = coordinates(b, "offset", t.n);
    for (int r = 0; r < t.n; ++r) t.at(r, t.n) = offset[static_cast<size_t>(r)];
    output_transform(b, t);
  };
  return op;
}

}  // namespace galatea::ops
