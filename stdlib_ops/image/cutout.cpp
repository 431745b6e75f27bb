// galatea.cutout: covers random boxes of images.
//
// Comes in: an image. Goes out: the image with fill_value in each of `holes` boxes.
#include <array>
#include <utility>

#include "stdlib_ops/common/warp.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMostHoles = 64;  // each is four comparisons of every pixel
constexpr double kMostSide = 1 << 24;

Types cutout_types(const TypeContext& ctx) {
  if (const int64_t holes = ctx.integer("holes"); holes < 1 || holes > kMostHoles)
    return ctx.error(fmt::format("galatea.cutout: holes is {}", holes),
                     fmt::format("use 1 to {}", kMostHoles), "holes");
  GALATEA_TRY(check_length(ctx, "size", 2));
  if (given_static(ctx, "size"))
    for (const double side : ctx.numbers("size"))
      if (!(side >= 0 && side <= (ctx.flag("normalized") ? 1 : kMostSide)))
        return ctx.error(
            fmt::format("galatea.cutout: size is {}", side),
            ctx.flag("normalized") ? "use fractions of the image, from 0 to 1" : "use numbers of pixels",
            "size");
  if (given_static(ctx, "p"))
    if (const double p = ctx.number("p"); !(p >= 0 && p <= 1))
      return ctx.error(fmt::format("galatea.cutout: p is {}", p), "use a number from 0 to 1", "p");
  GALATEA_TRY(check_fill_value(ctx));
  ir::Type out = ctx.input(0);
  out.layout = ctx.input_layout(0);
  return std::vector{out};
}

void define_cutout(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const std::array<int, 2> dims = {at.h, at.w};
  const std::vector<Expr> given = list_arg(b, "size", 2, DType::kF32);
  const Expr p = b.arg("p", DType::kF32);
  b.check((p >= f32(0)) & (p <= f32(1)), "p is {}", {p}, "use a number from 0 to 1", "p");
  const bool normalized = b.flag("normalized");
  std::array<Expr, 2> size;
  for (size_t k = 0; k < 2; ++k) {
    b.check((given[k] >= f32(0)) & (given[k] <= f32(normalized ? 1 : kMostSide)), "size is {}", {given[k]},
            normalized ? "use fractions of the image, from 0 to 1" : "use numbers of pixels", "size");
    size[k] = round_to_i64(normalized ? given[k] * to_f32(b.extent(0, dims[k])) : given[k]);
  }
  using Interval = std::pair<Expr, Expr>;  // the first position, and the one after the last
  std::vector<std::array<Interval, 2>> boxes;
  const Expr covers = b.random_unit(i64(0)) < p;
  for (int64_t hole = 0; hole < b.integer("holes"); ++hole) {
    std::array<Interval, 2>& box = boxes.emplace_back();
    for (size_t k = 0; k < 2; ++k) {
      const Expr middle =
          b.random_below(i64(1 + 2 * hole + static_cast<int64_t>(k)), max(b.extent(0, dims[k]), i64(1)));
      const Expr first = middle - size[k] / i64(2);
      box[k] = {first, select(covers, first + size[k], first)};
    }
  }
  const std::vector<Expr> fill = fill_or_zero(b, at);
  b.output_stage(0, b.map("cutout", b.output_type(0).dtype, b.extents(0), [&](const Axes& index) {
    Expr covered = truth(false);
    for (const auto& box : boxes) {
      const Expr& y = index[static_cast<size_t>(at.h)];
      const Expr& x = index[static_cast<size_t>(at.w)];
      const Expr inside =
          (y >= box[0].first) & (y < box[0].second) & (x >= box[1].first) & (x < box[1].second);
      covered = kernel::is_const(covered) ? inside : covered | inside;
    }
    const Expr value = fill.size() == 1 ? fill[0] : choose(index[static_cast<size_t>(at.c)], fill);
    return select(covered, value, b.load(0, index));
  }));
}

}  // namespace

Operator make_galatea_cutout() {
  Operator op;
  op.name = "galatea.cutout";
  op.summary = "Covers random boxes of images.";
  op.documentation =
      "With probability p, each of the holes covers a box whose middle is a pixel of the image, every one "
      "as likely: from middle - floor(size / 2), `size` pixels along each axis; what lies outside the image is "
      "ignored (DeVries and Taylor, \"Improved regularization of convolutional neural networks with Cutout\", "
      "2017). Holes may overlap. torchvision's RandomErasing draws area and ratio of one box inside the "
      "image; Albumentations' CoarseDropout draws how many there are.";
  op.inputs = {
      {.name = "data",
       .documentation = "image",
       .layouts = {"HWC", "CHW", "HW"},
       .dtypes = {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kU32, DType::kI32, DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "size",
              .kind = ArgKind::kFloatList,
              .required = true,
              .per_sample = true,
              .documentation = "Extents of a hole, (h, w) or one number, rounded half away from zero."},
             {.name = "holes",
              .kind = ArgKind::kInt,
              .default_value = int64_t{1},
              .documentation = "How many there are, 1 to 64."},
             {.name = "normalized",
              .kind = ArgKind::kBool,
              .default_value = false,
              .documentation = "Whether size is a fraction of the image's extents."},
             {.name = "p",
              .kind = ArgKind::kFloat,
              .default_value = 1.0,
              .per_sample = true,
              .documentation = "The probability that the image is covered at all."},
             {.name = "fill_value",
              .kind = ArgKind::kFloatList,
              .default_value = std::vector<double>{0.0},
              .documentation = "What the holes hold, converted to the image's type: one value, or one per "
                               "channel."}};
  op.random = true;
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = image_example("fn.galatea.cutout(image, size=24, holes=2, fill_value=128), label");
  op.places = op::Places::kKept;
  op.type_rule = cutout_types;
  op.define = define_cutout;
  return op;
}

}  // namespace galatea::ops
