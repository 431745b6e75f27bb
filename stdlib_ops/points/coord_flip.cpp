// coord_flip: mirrors points.
//
// Comes in: points of one to three coordinates. Goes out: the same points, mirrored about a center along the
// coordinates that are flipped.
#include "stdlib_ops/common/points.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// The letter of each coordinate.
std::string letters_of(const std::string& layout) { return layout.empty() ? "xyz" : layout; }

Types coord_flip_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  if (in.ndim == 0)
    return ctx.error("coord_flip: a number is no point", "points have their coordinates along the last axis");
  const std::string layout = ctx.text("layout");
  for (size_t d = 0; d < layout.size(); ++d)
    if (std::string("xyz").find(layout[d]) == std::string::npos ||
        layout.find(layout[d], d + 1) != std::string::npos)
      return ctx.error(
          fmt::format("coord_flip: layout \"{}\" does not order the coordinates x, y and z", layout),
          "write each letter once, as in \"yx\"", "layout");
  const int64_t n = coordinates_of(in);
  const auto most = static_cast<int64_t>(letters_of(layout).size());
  if (n > most)
    return ctx.error(
        fmt::format("coord_flip: {} has {} coordinates, {} are named", describe(in), n, most),
        layout.empty() ? "points have one to three coordinates" : "name each coordinate in layout",
        layout.empty() ? "" : "layout");
  return std::vector{in};
}

void define_coord_flip(RecipeBuilder& b) {
  const std::string letters = letters_of(b.text("layout"));
  const Expr n = b.extent(0, b.input_type(0).ndim - 1);
  b.check(n <= i64(static_cast<int64_t>(letters.size())),
          fmt::format("points have {{}} coordinates, {} are named", letters.size()), {n},
          "points have one to three coordinates, and layout names each of them");
  std::vector<Expr> flips, sums;
  for (const char letter : letters) {
    flips.push_back(not_equal(b.arg(std::string("flip_") + letter, DType::kI64), i64(0)));
    sums.push_back(f32(2) * finite_arg(b, std::string("center_") + letter));
  }
  output_points(b, "coord_flip", n, [&](const Expr& k, const Coordinate& of) {
    const Expr x = of(k);
    return select(choose(k, flips), choose(k, sums) - x, x);
  });
}

}  // namespace

Operator make_coord_flip() {
  Operator op;
  op.name = "coord_flip";
  op.summary = "Mirrors points.";
  op.documentation =
      "out = 2 center - in for each coordinate that is flipped, in f32; the others stay. The coordinates of a "
      "point lie along the last axis: x, then y, then z, unless `layout` says another order.";
  op.inputs = {
      points_input("data", "points, FLOAT, up to three coordinates along the last axis", {DType::kF32})};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "layout",
              .kind = ArgKind::kString,
              .default_value = std::string(),
              .documentation = "The order of the coordinates, as in \"yx\"; x, y, z if empty."}};
  for (const char letter : {'x', 'y', 'z'})
    op.args.push_back({.name = std::string("flip_") + letter,
                       .kind = ArgKind::kInt,
                       .default_value = int64_t{letter == 'x' ? 1 : 0},
                       .per_sample = true,
                       .documentation = fmt::format("Not 0: mirrors the coordinate {}.", letter)});
  for (const char letter : {'x', 'y', 'z'})
    op.args.push_back({.name = std::string("center_") + letter,
                       .kind = ArgKind::kFloat,
                       .default_value = 0.5,
                       .per_sample = true,
                       .documentation = fmt::format("The coordinate {} that stays in its place.", letter)});
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example =
      "points = fn.random.uniform(range=[0, 1], shape=[5, 2])\n"
      "return fn.coord_flip(points, flip_x=fn.random.coin_flip())\n";
  op.type_rule = coord_flip_types;
  op.define = define_coord_flip;
  return op;
}

}  // namespace galatea::ops
