// sphere, water, jitter: images whose pixels are looked up at other places.
//
// Comes in: an image. Goes out: an image of the same extents; what is looked up outside is fill_value.
#include <cmath>
#include <numbers>

#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

using op::Filter;

constexpr double kMostExtent = 1 << 24;  // f32 holds every index of such an image

/// The frequency of a wave of 128 pixels, in radians per pixel.
constexpr double kWave = 2 * std::numbers::pi / 128;

/// A place in the input (f32), where pixel k covers [k, k + 1).
struct Place {
  Expr x, y;
};

Types displaced_types(const TypeContext& ctx) {
  const auto filter = static_cast<Filter>(ctx.integer("interp_type"));
  if (filter != Filter::kNearest && filter != Filter::kLinear)
    return ctx.error(ctx.op().name + ": there is no other filter than INTERP_NN and INTERP_LINEAR",
                     "use types.INTERP_LINEAR", "interp_type");
  if (const double fill = ctx.number("fill_value"); !std::isfinite(fill))
    return ctx.error(fmt::format("{}: fill_value is {}", ctx.op().name, fill), "use a finite number",
                     "fill_value");
  ir::Type out = ctx.input(0);
  out.layout = ctx.input_layout(0);
  return std::vector{out};
}

/// The largest whole number that is not above, as an index; places far outside stay outside.
Expr displaced_index(const Expr& floor) {
  return to_i64(kernel::convert(clamp(floor, f32(-2), f32(kMostExtent + 2)), DType::kI32));
}

/// Output 0: pixel (x, y) shows the input at place(x, y) (f32), where `mask` is not 0.
void output_displaced(RecipeBuilder& b, const std::function<Place(const Expr& x, const Expr& y)>& place) {
  const ImageAxes image = image_axes(b.input_layout(0));
  const auto w = static_cast<size_t>(image.w), h = static_cast<size_t>(image.h);
  const DType type = b.input_type(0).dtype;
  const Expr fill = kernel::saturate(b.arg("fill_value", DType::kF32), type);
  const bool nearest = static_cast<Filter>(b.integer("interp_type")) == Filter::kNearest;
  const Expr moves = not_equal(b.arg("mask", DType::kI64), i64(0));
  const Axes extents = b.extents(0);
  b.output_stage(0, b.map(b.node().op->name, type, extents, [&](const Axes& at) {
    const auto pixel = [&](const Expr& x, const Expr& y) {
      Axes index = at;
      index[w] = x;
      index[h] = y;
      const Expr inside = (x >= i64(0)) & (x < extents[w]) & (y >= i64(0)) & (y < extents[h]);
      return select(inside, b.load(0, std::move(index), Border::kClamp), fill);
    };
    const auto floor = [](const Expr& e) { return kernel::unary(ScalarOp::kFloor, e); };
    const Place p =
        place(to_f32(kernel::convert(at[w], DType::kI32)), to_f32(kernel::convert(at[h], DType::kI32)));
    if (nearest)
      return select(moves, pixel(displaced_index(floor(p.x)), displaced_index(floor(p.y))), b.load(0, at));
    const Expr qx = p.x - f32(0.5), qy = p.y - f32(0.5), left = floor(qx), top = floor(qy);
    const Expr x = displaced_index(left), y = displaced_index(top);
    const auto value = [&](int64_t dx, int64_t dy) { return to_f32(pixel(x + i64(dx), y + i64(dy))); };
    const auto blend = [](const Expr& t, const Expr& from, const Expr& to) {
      return kernel::fma(t, to - from, from);
    };
    const Expr above = blend(qx - left, value(0, 0), value(1, 0));
    const Expr below = blend(qx - left, value(0, 1), value(1, 1));
    return select(moves, kernel::saturate(blend(qy - top, above, below), type), b.load(0, at));
  }));
}

void define_sphere(RecipeBuilder& b) {
  const ImageAxes image = image_axes(b.input_layout(0));
  const Expr cx = to_f32(b.extent(0, image.w)) * f32(0.5), cy = to_f32(b.extent(0, image.h)) * f32(0.5);
  // Of an image of one pixel, which is its own centre, any radius will do.
  const Expr radius = max(kernel::unary(ScalarOp::kTrunc, max(cx, cy)), f32(1));
  output_displaced(b, [&](const Expr& x, const Expr& y) -> Place {
    const Expr u = x + f32(0.5) - cx, v = y + f32(0.5) - cy;
    const Expr factor = kernel::unary(ScalarOp::kSqrt, u * u + v * v);
    return {cx + u * factor / radius, cy + v * factor / radius};
  });
}

void define_water(RecipeBuilder& b) {
  const auto number = [&](const char* name) { return finite_arg(b, name); };
  const Expr ampl_x = number("ampl_x"), ampl_y = number("ampl_y"), freq_x = number("freq_x"),
             freq_y = number("freq_y"), phase_x = number("phase_x"), phase_y = number("phase_y");
  output_displaced(b, [&](const Expr& x, const Expr& y) -> Place {
    return {x + ampl_x * kernel::unary(ScalarOp::kSin, freq_x * y + phase_x),
            y + ampl_y * kernel::unary(ScalarOp::kCos, freq_y * x + phase_y)};
  });
}

void define_jitter(RecipeBuilder& b) {
  const ImageAxes image = image_axes(b.input_layout(0));
  const auto w = static_cast<size_t>(image.w), h = static_cast<size_t>(image.h);
  const Expr degree = i64(b.integer("nDegree"));
  const Expr moves = not_equal(b.arg("mask", DType::kI64), i64(0));
  const Axes extents = b.extents(0);
  b.output_stage(0, b.map("jitter", b.input_type(0).dtype, extents, [&](const Axes& at) {
    const Expr pixel = at[h] * extents[w] + at[w];
    const auto moved = [&](const Expr& place, int64_t draw) {
      const Expr shift = b.random_below(pixel * i64(2) + i64(draw), degree) - degree / i64(2);
      return select(moves, place + shift, place);
    };
    Axes index = at;
    index[w] = moved(at[w], 0);
    index[h] = moved(at[h], 1);
    return b.load(0, std::move(index), Border::kClamp);
  }));
}

Operator make_displacement(std::string name) {
  Operator op;
  op.name = std::move(name);
  op.inputs = {{.name = "input",
                .documentation = "image",
                .layouts = {"HWC", "CHW"},
                .dtypes = {DType::kU8, DType::kI16, DType::kU16, DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "mask",
              .kind = ArgKind::kInt,
              .default_value = int64_t{1},
              .per_sample = true,
              .documentation = "0 leaves the image as it is."},
             {.name = "interp_type",
              .kind = ArgKind::kInterp,
              .default_value = static_cast<int64_t>(Filter::kNearest),
              .documentation = "INTERP_NN takes the pixel that is hit, INTERP_LINEAR blends four."},
             {.name = "fill_value",
              .kind = ArgKind::kFloat,
              .default_value = 0.0,
              .documentation = "What stands outside the image; rounded half to even and clamped."}};
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.type_rule = displaced_types;
  return op;
}

ArgSpec wave_arg(const char* name, double value, const char* documentation) {
  return {.name = name, .kind = ArgKind::kFloat, .default_value = value, .documentation = documentation};
}

constexpr int64_t kMostDegree = 1 << 16;

Types jitter_types(const TypeContext& ctx) {
  if (const int64_t degree = ctx.integer("nDegree"); degree < 1 || degree > kMostDegree)
    return ctx.error(fmt::format("jitter: nDegree is {}, not 1 to {}", degree, kMostDegree),
                     "it is the number of places, along each axis, of which one is drawn", "nDegree");
  return displaced_types(ctx);
}

}  // namespace

Operator make_sphere() {
  Operator op = make_displacement("sphere");
  op.summary = "Shows images as on a sphere.";
  op.documentation =
      "With the centre c = (W / 2, H / 2) and u = (x + 1/2, y + 1/2) - c, pixel (x, y) shows the image at "
      "c + u |u| / trunc(max(W / 2, H / 2)), where pixel k covers [k, k + 1); computed in f32.";
  op.effect = effect("fn.sphere(fn.crop(image, crop={}), interp_type=types.INTERP_LINEAR)",
                     {"(150, 50)", "(150, 100)", "(150, 150)"});
  op.example = image_example("fn.sphere(image, interp_type=types.INTERP_LINEAR, fill_value=128), label");
  op.define = define_sphere;
  return op;
}

Operator make_water() {
  Operator op = make_displacement("water");
  op.summary = "Shows images as through moving water.";
  op.documentation =
      "Pixel (x, y) shows the image at (x + ampl_x sin(freq_x y + phase_x), y + ampl_y cos(freq_y x + "
      "phase_y)), where pixel k covers [k, k + 1); computed in f32.";
  append(
      op.args,
      {wave_arg("ampl_x", 10.0, "Pixels by which columns move, at most."),
       wave_arg("ampl_y", 10.0, "Pixels by which rows move, at most."),
       wave_arg("freq_x", kWave, "Radians per row, of the wave that moves columns; 2 pi / 128 if not given."),
       wave_arg("freq_y", kWave, "Radians per column, of the wave that moves rows; 2 pi / 128 if not given."),
       wave_arg("phase_x", 0.0, "Radians of that wave in row 0."),
       wave_arg("phase_y", 0.0, "Radians of that wave in column 0.")});
  op.effect = effect("fn.water(image, interp_type=types.INTERP_LINEAR, freq_x=0.1, freq_y=0.1, {})",
                     {"ampl_x=2.0, ampl_y=2.0", "ampl_x=5.0, ampl_y=5.0", "ampl_x=12.0, ampl_y=12.0"});
  op.example =
      image_example("fn.water(image, ampl_x=4.0, freq_x=0.2, interp_type=types.INTERP_LINEAR), label");
  op.define = define_water;
  return op;
}

Operator make_jitter() {
  Operator op = make_displacement("jitter");
  op.summary = "Shows at every pixel a neighbour that is drawn at random.";
  op.documentation =
      "Pixel (x, y) shows the input at (x + dx, y + dy), where dx and dy are uniform integers from "
      "-floor(nDegree / 2) to nDegree - 1 - floor(nDegree / 2), drawn for each pixel; places outside the image "
      "are moved to its edge. Draws 2n and 2n + 1 of the node's stream are those of pixel n, row by row. Places "
      "are whole pixels that lie in the image, so that there is nothing to interpolate or to fill.";
  for (ArgSpec& arg : op.args) arg.no_effect = arg.name == "interp_type" || arg.name == "fill_value";
  append(op.args, {{.name = "nDegree",
                    .kind = ArgKind::kInt,
                    .default_value = int64_t{2},
                    .documentation = "How many places there are along each axis, 1 to 65536."}});
  op.random = true;
  op.example = image_example("fn.jitter(image, nDegree=5), label");
  op.type_rule = jitter_types;
  op.define = define_jitter;
  return op;
}

}  // namespace galatea::ops
