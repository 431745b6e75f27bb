// rotate: turns images and volumes about their centre.
//
// Comes in: an image or a volume, an angle, of volumes an axis. Goes out: what was turned, by default on the
// smallest canvas that holds it.
#include <cmath>
#include <numbers>
#include <optional>

#include "stdlib_ops/common/places.h"
#include "stdlib_ops/common/turn.h"
#include "stdlib_ops/compat/checks.h"
#include "stdlib_ops/compat/warp.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// Whether a volume turns about an axis; else its slices turn, each as an image. Images take no notice of an
/// axis, as in DALI.
template <typename Context>
bool turns_in_space(const Context& c) {
  return c.given("axis") && c.input_layout(0).contains('D');
}

Types rotate_types(const TypeContext& ctx) {
  const bool in_space = turns_in_space(ctx);
  if (ctx.given("axis")) GALATEA_TRY(check_axis(ctx, "leave it out to turn slices of a volume"));
  if (ctx.compat() != op::Compat::kDali) {
    GALATEA_TRY(check_compat_warp(ctx));
    if (in_space)
      return preset_error(ctx, " turns no volumes", "leave axis out to turn their slices", "axis");
  }
  GALATEA_ASSIGN(ir::Type out, warp_type(ctx, in_space ? kWarpAxes<3> : kWarpAxes<2>));
  if (given_static(ctx, "angle") && !std::isfinite(ctx.number("angle")))
    return ctx.error(fmt::format("rotate: the angle is {}", ctx.number("angle")), "use a finite number",
                     "angle");
  if (!ctx.given("size") && ctx.flag("keep_size")) {
    const DType dtype = out.dtype;
    out = with_dtype(ctx.input(0), dtype);
    out.layout = ctx.input_layout(0);
  }
  return std::vector{out};
}

/// Quarter turns of an angle of the text that move pixels and nothing else; nothing for other angles. Where
/// the canvas does not follow the image, an angle is a number like others: right ones share their kernel.
std::optional<int> quarter_turns(const RecipeBuilder& b) {
  if (b.is_per_sample("angle") || b.given("size") || b.flag("keep_size") ||
      b.output_type(0).dtype != b.input_type(0).dtype)
    return std::nullopt;
  const double degrees = std::fmod(static_cast<double>(static_cast<float>(b.number("angle"))), 360);
  const double turns = degrees / 90;
  if (turns != std::floor(turns)) return std::nullopt;
  return (static_cast<int>(turns) + 4) % 4;
}

/// A view: rows become columns, or either are walked backwards.
void output_turn(RecipeBuilder& b, const ImageAxes& at, int quarters) {
  const auto h = static_cast<size_t>(at.h), w = static_cast<size_t>(at.w);
  std::vector<Expr> extents = b.extents(0);
  std::vector<Expr> start(extents.size(), i64(0)), step(extents.size(), i64(1));
  std::vector<int> dims;
  for (size_t d = 0; d < extents.size(); ++d) dims.push_back(static_cast<int>(d));
  const auto backwards = [&](size_t out, size_t in) {
    step[out] = i64(-1);
    start[in] = max(b.extent(0, static_cast<int>(in)) - i64(1), i64(0));
  };
  if (quarters % 2 != 0) {
    std::swap(extents[h], extents[w]);
    std::swap(dims[h], dims[w]);
  }
  if (quarters == 1) backwards(h, w);
  if (quarters == 2) backwards(h, h), backwards(w, w);
  if (quarters == 3) backwards(w, h);
  b.output_view(0, 0, extents, dims, start, step);
}

/// Its cosine and sine, f64.
struct Angle {
  Expr degrees, cosine, sine;
};

Angle angle_of(RecipeBuilder& b) {
  const Expr angle = b.arg("angle", DType::kF32);
  b.check(absolute(angle) <= f32(1e9), "the angle {} is no angle in degrees", {angle}, {}, "angle");
  // Whole turns go first, exactly.
  const Expr degrees = kernel::binary(ScalarOp::kRem, to_f64(angle), f64(360));
  const Expr radians = degrees * f64(std::numbers::pi / 180);
  return {angle, kernel::unary(ScalarOp::kCos, radians), kernel::unary(ScalarOp::kSin, radians)};
}

/// The canvas, outermost extent first, and what its places show.
template <size_t N>
struct Turn {
  Affine<N> map;
  std::array<Expr, N> size;
};

template <size_t N>
std::array<Expr, N> whole_canvas(RecipeBuilder& b, const std::array<CanvasExtent, N>& canvas) {
  std::array<Expr, N> size;
  for (size_t k = 0; k < N; ++k) size[k] = canvas_of_frames(b, canvas[k]);
  return size;
}

Turn<2> turn_of(RecipeBuilder& b) {
  const auto [h, w] = warped_extents<2>(b);
  const auto [angle, c, s] = angle_of(b);
  const std::array<Expr, 2> size = b.given("size")       ? warp_size(b)
                                   : b.flag("keep_size") ? std::array{h, w}
                                                         : whole_canvas(b, turned_canvas(h, w, angle));
  const Expr half = f64(0.5);
  const Expr in_x = to_f64(w) * half, in_y = to_f64(h) * half;
  const Expr out_x = to_f64(size[1]) * half, out_y = to_f64(size[0]) * half;
  return {{{{c, -s, in_x - (c * out_x - s * out_y)}, {s, c, in_y - (s * out_x + c * out_y)}}}, size};
}

Turn<3> turn_in_space(RecipeBuilder& b) {
  const std::array<Expr, 3> extents = warped_extents<3>(b), unit = unit_axis(b);
  const auto [angle, c, s] = angle_of(b);
  const std::array<Expr, 3> size = b.given("size") ? warp_size<3>(b)
                                   : b.flag("keep_size")
                                       ? extents
                                       : whole_canvas(b, turned_canvas(extents, unit, angle));
  // From the output to the input: backwards.
  const Rotation back = rotation_about(unit, c, -s);
  Affine<3> map;
  for (size_t r = 0; r < 3; ++r) {
    Expr centre = f64(0);
    for (size_t k = 0; k < 3; ++k) {
      map[r][k] = back[r][k];
      const Expr part = back[r][k] * (to_f64(size[2 - k]) * f64(0.5));
      centre = k == 0 ? part : centre + part;
    }
    map[r][3] = to_f64(extents[2 - r]) * f64(0.5) - centre;
  }
  return {map, size};
}

void define_rotate(RecipeBuilder& b) {
  if (b.compat() != op::Compat::kDali) return define_compat_rotate(b);
  if (turns_in_space(b)) {
    const Turn<3> turn = turn_in_space(b);
    return output_warp(b, turn.map, turn.size);
  }
  if (const auto quarters = quarter_turns(b)) return output_turn(b, image_axes(b.input_layout(0)), *quarters);
  const Turn<2> turn = turn_of(b);
  output_warp(b, turn.map, turn.size);
}

}  // namespace

Operator make_rotate() {
  Operator op;
  op.name = "rotate";
  op.summary = "Rotates images and volumes about their centre.";
  op.documentation =
      "Output pixel (x, y) shows the image at c_in + R (x + 1/2 - c_out_x, y + 1/2 - c_out_y) with R = [[cos "
      "a, -sin a], [sin a, cos a]] and the centres c of both images; positive angles turn counter-clockwise. "
      "Without size and keep_size the canvas is w' = ceil(|cos a| w + |sin a| h - 0.01), h' = ceil(|cos a| h "
      "+ |sin a| w - 0.01), each one more where its parity differs from that of the extent of the image "
      "which lies along it most. On this canvas, multiples of 90 degrees that the text gives only move "
      "pixels. Angles are reduced to one turn exactly, cos and sin are computed in f64. A volume with an "
      "`axis` shows c_in + R^T (x + 1/2 - c_out_x, y + 1/2 - c_out_y, z + 1/2 - c_out_z), where R is the "
      "right-handed rotation about the axis (Rodrigues): about z, positive angles turn clockwise. Its canvas "
      "is ceil(|R| (w, h, d) - 0.01), each extent one more where its parity differs from that of the extent "
      "of the volume which lies along it most. Without an axis, slices turn as images do.";
  op.inputs = {warp_input()};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "angle",
              .kind = ArgKind::kFloat,
              .required = true,
              .per_sample = true,
              .documentation = "Degrees; positive turns images counter-clockwise, and volumes as a right "
                               "hand about the axis x, y, z."},
             {.name = "axis",
              .kind = ArgKind::kFloatList,
              .per_sample = true,
              .documentation = "Axis x, y, z of the rotation of a volume, of any length; images take no "
                               "notice of it."},
             {.name = "keep_size",
              .kind = ArgKind::kBool,
              .default_value = false,
              .documentation = "Whether the output has the extents of the input; `size` wins over it."}};
  append(op.args, warp_args("If not given, the smallest canvas that holds what was turned."));
  op.devices = {"cpu", "gpu"};
  op.effect = effect("fn.rotate(image, angle={}, fill_value=128)", {"5.0", "20.0", "45.0"});
  op.example = image_example(
      "fn.rotate(image, angle=fn.random.uniform(range=[-15.0, 15.0]), keep_size=True, fill_value=128), "
      "label");
  op.presets = warp_presets("Image.rotate", "rotate");
  op.type_rule = rotate_types;
  op.define = define_rotate;
  moves_places(op, [](RecipeBuilder& b) {
    output_places(b, inverse(b.compat() != op::Compat::kDali ? compat_rotation(b) : turn_of(b).map));
  });
  return op;
}

}  // namespace galatea::ops
