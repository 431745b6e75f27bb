// galatea.random_perspective: shows images as from a random side.
//
// Comes in: an image. Goes out: an image of the same extents, with its corners moved inwards.
#include <array>

#include "stdlib_ops/common/perspective.h"
#include "stdlib_ops/common/places.h"
#include "stdlib_ops/compat/perspective.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Status check_unit(const TypeContext& ctx, const char* name) {
  if (!given_static(ctx, name)) return {};
  const double value = ctx.number(name);
  if (value >= 0 && value <= 1) return {};
  return ctx.error(fmt::format("{}: {} is {}", ctx.op().name, name, value), "use a number from 0 to 1", name);
}

Types random_perspective_types(const TypeContext& ctx) {
  GALATEA_TRY(check_unit(ctx, "distortion_scale"));
  GALATEA_TRY(check_unit(ctx, "p"));
  GALATEA_TRY(check_lookup_filter(ctx, "interp_type", {Filter::kNearest, Filter::kLinear, Filter::kCubic}));
  GALATEA_TRY(check_fill_value(ctx));
  if (ctx.compat() != op::Compat::kDali) GALATEA_TRY(check_compat_perspective(ctx));
  ir::Type out = ctx.input(0);
  out.layout = ctx.input_layout(0);
  return std::vector{out};
}

struct Corner {
  Expr x, y;  // f64
};

/// The map that takes the unit square to a quadrilateral, whose corners are in the order of (0, 0), (1, 0),
/// (1, 1), (0, 1); times a number (Heckbert, "Fundamentals of texture mapping and image warping", 1989,
/// section 2.2.3).
ProjectiveMap of_square(const std::array<Corner, 4>& q) {
  const Expr dx1 = q[1].x - q[2].x, dx2 = q[3].x - q[2].x, sx = q[0].x - q[1].x + q[2].x - q[3].x;
  const Expr dy1 = q[1].y - q[2].y, dy2 = q[3].y - q[2].y, sy = q[0].y - q[1].y + q[2].y - q[3].y;
  const Expr det = dx1 * dy2 - dx2 * dy1;
  const Expr g = sx * dy2 - dx2 * sy, h = dx1 * sy - sx * dy1;  // times det
  return {(q[1].x - q[0].x) * det + g * q[1].x,
          (q[3].x - q[0].x) * det + h * q[3].x,
          q[0].x * det,
          (q[1].y - q[0].y) * det + g * q[1].y,
          (q[3].y - q[0].y) * det + h * q[3].y,
          q[0].y * det,
          g,
          h,
          det};
}

/// Where the corners go, as torchvision draws them: whole pixels, up to `scale` of half an extent inwards.
std::array<Corner, 4> moved_corners(RecipeBuilder& b, const Expr& scale, const Expr& height,
                                    const Expr& width) {
  const auto inwards = [&](int64_t element, const Expr& extent) {
    const Expr most = to_i64(scale * to_f64(extent / i64(2)));
    return to_f64(b.random_below(i64(element), most + i64(1)));
  };
  const Expr right = to_f64(width - i64(1)), bottom = to_f64(height - i64(1));
  return {{{inwards(1, width), inwards(2, height)},
           {right - inwards(3, width), inwards(4, height)},
           {right - inwards(5, width), bottom - inwards(6, height)},
           {inwards(7, width), bottom - inwards(8, height)}}};
}

/// From corners of pixels of the output to those of the image.
ProjectiveMap drawn_map(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const Expr height = b.extent(0, at.h), width = b.extent(0, at.w);
  const Expr scale = to_f64(b.arg("distortion_scale", DType::kF32)), p = b.arg("p", DType::kF32);
  const char* help = "use a number from 0 to 1";
  b.check((scale >= f64(0)) & (scale <= f64(1)), "distortion_scale is {}", {scale}, help, "distortion_scale");
  b.check((p >= f32(0)) & (p <= f32(1)), "p is {}", {p}, help, "p");
  // From the moved corners to those of the image; one row or column of pixels has no corners to move.
  ProjectiveMap map = adjugate(of_square(moved_corners(b, scale, height, width)));
  for (size_t c = 0; c < 3; ++c) {
    map[c] = map[c] * to_f64(width - i64(1));
    map[3 + c] = map[3 + c] * to_f64(height - i64(1));
  }
  // So that W is about 1 at the corners, and f32 holds the rest.
  const Expr size = absolute(map[6]) * to_f64(width) + absolute(map[7]) * to_f64(height) + absolute(map[8]);
  const Expr moves = (b.random_unit(i64(0)) < p) & (width > i64(1)) & (height > i64(1)) & (size > f64(0));
  for (size_t k = 0; k < 9; ++k) map[k] = select(moves, map[k] / size, f64(k % 4 == 0 ? 1 : 0));
  return map;
}

void define_random_perspective(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const Expr rows = b.extent(0, at.h), columns = b.extent(0, at.w);
  if (b.compat() != op::Compat::kDali) return output_compat_perspective(b, drawn_map(b), true, rows, columns);
  const Lookup lookup{.b = b,
                      .at = at,
                      .filter = static_cast<Filter>(b.integer("interp_type")),
                      .outside = Outside::kFill,
                      .fill = fill_or_zero(b, at)};
  output_perspective(b, of_centres(drawn_map(b)), rows, columns, lookup);
}

}  // namespace

Operator make_galatea_random_perspective() {
  Operator op;
  op.name = "galatea.random_perspective";
  op.summary = "Shows images as from a random side.";
  op.documentation =
      "With probability p, each corner of the image moves inwards, by whole pixels that are uniform from 0 to "
      "trunc(distortion_scale * floor(extent / 2)) along each axis, and the image is shown in the "
      "quadrilateral, as torchvision's RandomPerspective does: a place k of the formula is that of a corner "
      "of pixels, the moved corners count from (0, 0) to (W - 1, H - 1). Pixels are looked up as by "
      "fn.experimental.warp_perspective. Corners that move past each other (distortion_scale near 1) turn "
      "the image inside out.";
  op.inputs = {{.name = "data",
                .documentation = "image",
                .layouts = {"HWC", "CHW", "HW"},
                .dtypes = {DType::kU8, DType::kI16, DType::kU16, DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {
      {.name = "distortion_scale",
       .kind = ArgKind::kFloat,
       .default_value = 0.5,
       .per_sample = true,
       .documentation = "How far corners move at most: as a fraction, from 0 to 1, of half an extent."},
      {.name = "p",
       .kind = ArgKind::kFloat,
       .default_value = 0.5,
       .per_sample = true,
       .documentation = "The probability that the image is moved at all."},
      {.name = "fill_value",
       .kind = ArgKind::kFloatList,
       .default_value = std::vector<double>{0.0},
       .documentation = "What stands outside the image, converted to its type: one value, or one per "
                        "channel; torchvision's `fill`."},
      {.name = "interp_type",
       .kind = ArgKind::kInterp,
       .default_value = static_cast<int64_t>(Filter::kLinear),
       .documentation = "INTERP_NN, INTERP_LINEAR or INTERP_CUBIC; torchvision's `interpolation`."}};
  op.random = true;
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example =
      image_example("fn.galatea.random_perspective(image, distortion_scale=0.3, fill_value=128), label");
  op.presets = perspective_presets();
  op.type_rule = random_perspective_types;
  op.define = define_random_perspective;
  moves_places(op, [](RecipeBuilder& b) { output_places(b, adjugate(drawn_map(b))); });
  return op;
}

}  // namespace galatea::ops
