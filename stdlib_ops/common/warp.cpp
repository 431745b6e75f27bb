// Warps by an affine map: see warp.h for the meaning.
#include "stdlib_ops/common/warp.h"

#include <algorithm>
#include <cmath>

#include "stdlib_ops/common/pixels.h"
#include "stdlib_ops/common/resample.h"

namespace galatea::ops {
namespace {

constexpr double kMaxElement = 1e30;  // products with indices stay finite in f32
constexpr double kCatmullRom = -0.5;

/// Centre of output pixel `i`.
Expr centre_of(const Expr& i) { return to_f32(kernel::convert(i, DType::kI32)) + f32(0.5); }

using Map32 = std::array<Expr, 6>;  // f32

Expr place(const Map32& m, size_t row, const Expr& u, const Expr& v) {
  return kernel::fma(m[row * 3], u, kernel::fma(m[row * 3 + 1], v, m[row * 3 + 2]));
}

using Fill = std::vector<Expr>;  // none, one, or one per channel

bool same_fill(const Fill& a, const Fill& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Expr& x, const Expr& y) { return kernel::same(x, y); });
}

/// What lies on a canvas that is not made, and what stands beside it.
struct Frame {
  Map32 m;
  Expr rows, columns;  // f32
  Fill fill;           // in the output's type

  Expr inside(const Expr& u, const Expr& v) const {
    const Expr x = place(m, 0, u, v), y = place(m, 1, u, v);
    return (x >= f32(0)) & (x < columns) & (y >= f32(0)) & (y < rows);
  }
};

struct Sampler {
  RecipeBuilder& b;
  ImageAxes at;
  Filter filter = Filter::kNearest;
  Map32 m;                    // of a blend, half a pixel is taken off already
  Expr cubic;                 // f32
  Fill fill;                  // in the input's type
  std::vector<Frame> frames;  // the outermost first

  Expr of_channel(const Fill& values, const Axes& index) const {
    return values.size() == 1 ? values[0] : choose(index[static_cast<size_t>(at.c)], values);
  }

  /// The pixel, or what stands for it outside.
  Expr pixel(const Axes& index, const Expr& x, const Expr& y) const {
    Axes from = index;
    from[static_cast<size_t>(at.w)] = x;
    from[static_cast<size_t>(at.h)] = y;
    const Expr value = b.load(0, from, Border::kClamp);
    if (fill.empty()) return value;
    const Expr inside = (x >= i64(0)) & (x < b.extent(0, at.w)) & (y >= i64(0)) & (y < b.extent(0, at.h));
    return select(inside, value, of_channel(fill, index));
  }

  Expr operator()(const Axes& index) const {
    const Expr u = centre_of(index[static_cast<size_t>(at.w)]);
    const Expr v = centre_of(index[static_cast<size_t>(at.h)]);
    Expr value = shown(index, u, v);
    for (size_t k = frames.size(); k-- > 0;) {
      const Fill& beside = frames[k].fill;
      Expr inside = frames[k].inside(u, v);
      for (; k > 0 && same_fill(beside, frames[k - 1].fill); --k)
        inside = frames[k - 1].inside(u, v) & inside;
      value = select(inside, value, of_channel(beside, index));
    }
    return value;
  }

  Expr shown(const Axes& index, const Expr& u, const Expr& v) const {
    const Expr sx = place(m, 0, u, v), sy = place(m, 1, u, v);
    const Expr left = kernel::unary(ScalarOp::kFloor, sx), top = kernel::unary(ScalarOp::kFloor, sy);
    const int reach = filter == Filter::kCubic ? 2 : 1;
    const Expr x = pixel_index(left, -1 - reach), y = pixel_index(top, -1 - reach);
    const DType out = b.output_type(0).dtype;
    if (filter == Filter::kNearest) return kernel::saturate(pixel(index, x, y), out);
    const DType wide = b.input_type(0).dtype == DType::kI32 ? DType::kF64 : DType::kF32;
    const Expr tx = kernel::convert(sx - left, wide), ty = kernel::convert(sy - top, wide);
    const auto value = [&](int64_t dx, int64_t dy) {
      return kernel::convert(pixel(index, x + i64(dx), y + i64(dy)), wide);
    };
    if (filter == Filter::kLinear) return kernel::saturate(blend_four(tx, ty, value), out);
    const Expr a = kernel::convert(cubic, wide);
    return kernel::saturate(weighted_sum(cubic_weights(tx, a), cubic_weights(ty, a), -1, value), out);
  }
};

Filter filter_of(const RecipeBuilder& b) { return static_cast<Filter>(b.integer("interp_type")); }

Status check_filter(const TypeContext& ctx) {
  const std::string& name = ctx.op().name;
  const auto filter = static_cast<Filter>(ctx.integer("interp_type"));
  if (filter != Filter::kNearest && filter != Filter::kLinear && filter != Filter::kCubic)
    return ctx.error(name + ": warps know no other filter than INTERP_LINEAR, INTERP_CUBIC and INTERP_NN",
                     "use types.INTERP_LINEAR; to make an image smaller, resize it before", "interp_type");
  if (!ctx.given("cubic_a")) return {};
  if (const double a = ctx.number("cubic_a"); !(a >= -1 && a <= 0))
    return ctx.error(fmt::format("{}: cubic_a is {}", name, a),
                     "use a number from -1 (sharp) to 0; -0.5 is the cubic of fn.resize", "cubic_a");
  return {};
}

}  // namespace

std::vector<Expr> given_fill(RecipeBuilder& b, const ImageAxes& at) {
  std::vector<Expr> fill;
  if (!b.given("fill_value")) return fill;
  for (const Expr& value : b.arg_list("fill_value", b.arg_length("fill_value"), DType::kF32))
    fill.push_back(kernel::saturate(value, b.input_type(0).dtype));
  if (fill.size() > 1) {
    const Expr channels = b.extent(0, at.c);
    b.check(equal(channels, i64(static_cast<int64_t>(fill.size()))),
            fmt::format("{} values of fill_value for {{}} channels", fill.size()), {channels},
            "give one number, or one per channel", "fill_value");
  }
  return fill;
}

std::vector<Expr> fill_or_zero(RecipeBuilder& b, const ImageAxes& at) {
  std::vector<Expr> fill = given_fill(b, at);
  if (fill.empty()) fill = {kernel::saturate(f32(0), b.input_type(0).dtype)};
  return fill;
}

Status check_fill_value(const TypeContext& ctx) {
  if (!ctx.given("fill_value")) return {};
  const std::string& name = ctx.op().name;
  const auto values = ctx.numbers("fill_value");
  if (values.empty()) return ctx.error(name + ": fill_value is an empty list", "give a number", "fill_value");
  for (const double value : values)
    if (!std::isfinite(value))
      return ctx.error(fmt::format("{}: fill_value is {}", name, value), "use a finite number", "fill_value");
  const int channel = image_axes(ctx.input_layout(0)).c;
  const int64_t channels = channel < 0 ? 1 : ctx.input(0).extents[static_cast<size_t>(channel)];
  if (values.size() > 1 && channels >= 0 && channels != static_cast<int64_t>(values.size()))
    return ctx.error(
        fmt::format("{}: {} values of fill_value for {} channels", name, values.size(), channels),
        "give one number, or one per channel", "fill_value");
  return {};
}

std::vector<ArgSpec> warp_args(const std::string& size_otherwise) {
  return {{.name = "size",
           .kind = ArgKind::kFloatList,
           .per_sample = true,
           .documentation = "Extents of the output, (h, w) or one number for both: numbers of the text are "
                            "rounded and may not be 0, those of a sample lose their fraction, and 0 makes "
                            "an image without pixels. " +
                            size_otherwise},
          {.name = "fill_value",
           .kind = ArgKind::kFloatList,
           .documentation = "What stands outside the image, converted to the input's type: one value, or one "
                            "per channel; not given: the image's edge is repeated."},
          {.name = "interp_type",
           .kind = ArgKind::kInterp,
           .default_value = static_cast<int64_t>(Filter::kLinear),
           .documentation = "INTERP_LINEAR blends four pixels, INTERP_CUBIC sixteen, INTERP_NN takes the one "
                            "that is hit."},
          {.name = "cubic_a",
           .kind = ArgKind::kFloat,
           .default_value = kCatmullRom,
           .documentation = "The parameter a of INTERP_CUBIC (Keys' cubic convolution), from -1 to 0: -0.5 "
                            "is the cubic of fn.resize, -0.75 that of OpenCV and of PyTorch's grid_sample, "
                            "-1 that of Pillow's transform and rotate."},
          dtype_arg("Element type of the output: the input's or FLOAT; of a FLOAT input any of the input's "
                    "types.")};
}

Port warp_input() {
  return {.name = "data",
          .documentation = "image",
          .layouts = {"HWC", "CHW"},
          .dtypes = {DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kF32}};
}

Status check_warp_size(const TypeContext& ctx) {
  GALATEA_TRY(check_length(ctx, "size", 2));
  if (given_static(ctx, "size"))
    for (double n : ctx.numbers("size"))
      if (!(n > 0) || n > static_cast<double>(kMostPixels))
        return ctx.error(fmt::format("{}: the size {} is not an extent of an image", ctx.op().name, n),
                         "extents are at least 1", "size");
  return {};
}

void set_warp_extents(const TypeContext& ctx, ir::Type& out) {
  const ImageAxes at = image_axes(out.layout);
  for (const auto& [dim, i] : {std::pair{at.h, size_t{0}}, std::pair{at.w, size_t{1}}}) {
    int64_t& extent = out.extents[static_cast<size_t>(dim)];
    extent = -1;
    if (!given_static(ctx, "size")) continue;
    const auto size = ctx.numbers("size");
    extent = std::max<int64_t>(1, std::llround(static_cast<float>(size[size.size() > 1 ? i : 0])));
  }
}

Result<ir::Type> warp_type(const TypeContext& ctx) {
  const std::string& name = ctx.op().name;
  GALATEA_TRY(check_filter(ctx));
  GALATEA_TRY(check_warp_size(ctx));
  GALATEA_TRY(check_fill_value(ctx));
  const DType in = ctx.input(0).dtype, dtype = ctx.dtype("dtype", in);
  const auto& known = ctx.op().inputs[0].dtypes;
  const bool of_float = in == DType::kF32 && std::find(known.begin(), known.end(), dtype) != known.end();
  if (dtype != in && dtype != DType::kF32 && !of_float)
    return ctx.error(fmt::format("{}: dtype {} is neither the input's type ({}) nor FLOAT", name,
                                 types_name(dtype), types_name(in)),
                     "convert the result with fn.cast", "dtype");
  ir::Type out = with_dtype(ctx.input(0), dtype);
  out.layout = ctx.input_layout(0);
  set_warp_extents(ctx, out);
  return out;
}

Expr determinant(const AffineMap& m) { return m[0][0] * m[1][1] - m[0][1] * m[1][0]; }

AffineMap inverse(const AffineMap& m) {
  const Expr det = determinant(m);
  const Expr a = m[1][1] / det, c = -m[0][1] / det, d = -m[1][0] / det, e = m[0][0] / det;
  return {{{a, c, -(a * m[0][2] + c * m[1][2])}, {d, e, -(d * m[0][2] + e * m[1][2])}}};
}

std::array<Expr, 2> warp_size(RecipeBuilder& b) {
  const auto size = list_arg(b, "size", 2, DType::kF32);
  if (!b.is_per_sample("size"))
    return {max(round_to_i64(size[0]), i64(1)), max(round_to_i64(size[1]), i64(1))};
  for (const Expr& n : size)
    b.check((n >= f32(0)) & (n <= f32(kMostPixels)), "the size {} is not an extent of an image", {n}, {},
            "size");
  return {to_i64(size[0]), to_i64(size[1])};
}

namespace {

/// The map in f32, places less `shift`.
Map32 narrow_map(RecipeBuilder& b, const AffineMap& map, double shift) {
  Map32 out;
  for (size_t r = 0; r < 2; ++r)
    for (size_t c = 0; c < 3; ++c) {
      const Expr& element = map[r][c];
      b.check(absolute(element) <= f64(kMaxElement), "the map of the warp has the element {}", {element},
              "matrices and angles must be finite");
      out[r * 3 + c] = to_f32(c == 2 ? element - f64(shift) : element);
    }
  return out;
}

}  // namespace

void output_warp(RecipeBuilder& b, const AffineMap& map, const Expr& rows, const Expr& columns,
                 const std::vector<Canvas>& canvases) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const Filter filter = filter_of(b);
  const DType in = b.input_type(0).dtype, out = b.output_type(0).dtype;
  Sampler sample{b, at, filter, narrow_map(b, map, filter == Filter::kNearest ? 0 : 0.5), {}, {}, {}};
  if (filter == Filter::kCubic) sample.cubic = b.arg("cubic_a", DType::kF32);
  sample.fill = given_fill(b, at);
  for (const Canvas& canvas : canvases) {
    Frame frame{narrow_map(b, canvas.map, 0), to_f32(canvas.rows), to_f32(canvas.columns), {}};
    for (const Expr& fill : canvas.fill)
      frame.fill.push_back(kernel::saturate(kernel::saturate(fill, in), out));
    sample.frames.push_back(std::move(frame));
  }
  std::vector<Expr> extents = b.extents(0);
  const auto h = static_cast<size_t>(at.h), w = static_cast<size_t>(at.w);
  if (sample.fill.empty())
    b.check(((extents[h] > i64(0)) & (extents[w] > i64(0))) | equal(rows, i64(0)) | equal(columns, i64(0)),
            "an image of {} x {} has no edge to repeat", {extents[h], extents[w]}, "give a fill_value");
  extents[h] = rows;
  extents[w] = columns;
  b.output_stage(0, b.map("warp", out, extents, sample));
}

void output_warp(RecipeBuilder& b, const AffineMap& map, const Expr& rows, const Expr& columns) {
  output_warp(b, map, rows, columns, {});
  const ImageAxes at = image_axes(b.input_layout(0));
  op::AffineView view{
      .map = {map[0][0], map[0][1], map[0][2], map[1][0], map[1][1], map[1][2]}, .h = at.h, .w = at.w};
  view.filter = filter_of(b);
  if (view.filter == Filter::kCubic) view.cubic = b.arg("cubic_a", DType::kF32);
  if (b.given("fill_value"))
    for (const Expr& value : b.arg_list("fill_value", b.arg_length("fill_value"), DType::kF32))
      view.fill.push_back(kernel::saturate(value, b.input_type(0).dtype));
  b.shows(std::move(view));
}

}  // namespace galatea::ops
