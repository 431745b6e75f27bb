// transforms.crop: maps one box of coordinates to another.
#include "stdlib_ops/operators.h"
#include "stdlib_ops/transforms/transform.h"

namespace galatea::ops {
namespace {

constexpr const char* kCorners[] = {"from_start", "from_end", "to_start", "to_end"};

Types transforms_crop_types(const TypeContext& ctx) {
  bool unknown = ctx.num_inputs() > 0;
  for (const char* name : kCorners) {
    const int64_t length = length_of(ctx, name);
    if (length == 0) return ctx.error(fmt::format("transforms.crop: {} is empty", name), {}, name);
    unknown |= length < 0;
  }
  int rank = known_rank(ctx, {"from_start", "from_end", "to_start", "to_end"});
  // What has an unknown number of coordinates is about images; the run checks it.
  if (rank < 0) rank = unknown ? 2 : 1;
  for (const char* name : kCorners) GALATEA_TRY(check_length(ctx, name, rank));
  return transform_types(ctx, rank);
}

void define_transforms_crop(RecipeBuilder& b) {
  Transform t = Transform::identity(rank_of(b));
  std::vector<std::vector<Expr>> corner;
  for (const char* name : kCorners) corner.push_back(coordinates(b, name, t.n));
  for (int d = 0; d < t.n; ++d) {
    const auto i = static_cast<size_t>(d);
    Expr from = corner[0][i], from_end = corner[1][i], to = corner[2][i], to_end = corner[3][i];
    if (b.flag("absolute")) {
      const Expr low = kernel::min(from, from_end), to_low = kernel::min(to, to_end);
      from_end = max(from, from_end);
      to_end = max(to, to_end);
      from = low;
      to = to_low;
    }
    b.check(not_equal(from, from_end),
            fmt::format("the box has no extent along coordinate {}: {{}} to {{}}", d), {from, from_end},
            "from_start and from_end must differ", b.given("from_end") ? "from_end" : "");
    const Expr scale = (to_end - to) / (from_end - from);
    t.at(d, d) = scale;
    t.at(d, t.n) = to - scale * from;
  }
  output_transform(b, t);
}

ArgSpec corner_arg(const char* name, double value, std::string documentation) {
  return {.name = name,
          .kind = ArgKind::kFloatList,
          .default_value = std::vector<double>{value},
          .per_sample = true,
          .documentation = std::move(documentation)};
}

}  // namespace

Operator make_transforms_crop() {
  Operator op = make_transform(
      "crop", {corner_arg("from_start", 0, "Lower corner of the box, x first, or one number for all."),
               corner_arg("from_end", 1, "Upper corner of the box."),
               corner_arg("to_start", 0, "Where the lower corner goes."),
               corner_arg("to_end", 1, "Where the upper corner goes."),
               {.name = "absolute",
                .kind = ArgKind::kBool,
                .default_value = false,
                .documentation = "Whether corners are put in order first, so that nothing is mirrored."}});
  op.summary = "Makes or extends an affine transform that maps a box to a box.";
  op.documentation =
      "Along each coordinate p' = to_start + (p - from_start) (to_end - to_start) / (from_end - from_start).";
  op.example = transform_example(
      "fn.transforms.crop(to_start=[8.0, 8.0], to_end=[40.0, 40.0], from_end=[64.0, 64.0])");
  op.type_rule = transforms_crop_types;
  op.define = define_transforms_crop;
  return op;
}

}  // namespace galatea::ops
