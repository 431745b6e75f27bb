// Warps by an affine map: see warp.h for the meaning.
#include "stdlib_ops/common/warp.h"

#include <algorithm>
#include <cmath>

#include "stdlib_ops/common/resample.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMaxExtent = 1 << 24;  // f32 holds every index of such an image
constexpr double kMaxElement = 1e30;     // products with indices stay finite in f32

/// Index `floor` (f32, whole) as an integer that no later arithmetic overflows: places far outside stay
/// outside. NaN goes outside.
Expr index_of(const Expr& floor) {
  const Expr near = clamp(floor, f32(-2), f32(kMaxExtent + 2.0));
  return to_i64(kernel::convert(near, DType::kI32));
}

/// Centre of output pixel `i`.
Expr centre_of(const Expr& i) { return to_f32(kernel::convert(i, DType::kI32)) + f32(0.5); }

using Map32 = std::array<Expr, 6>;  // f32

Expr place(const Map32& m, size_t row, const Expr& u, const Expr& v) {
  return kernel::fma(m[row * 3], u, kernel::fma(m[row * 3 + 1], v, m[row * 3 + 2]));
}

/// What lies on a canvas that is not made, and what stands beside it.
struct Frame {
  Map32 m;
  Expr rows, columns;  // f32
  Expr fill;           // in the output's type

  Expr inside(const Expr& u, const Expr& v) const {
    const Expr x = place(m, 0, u, v), y = place(m, 1, u, v);
    return (x >= f32(0)) & (x < columns) & (y >= f32(0)) & (y < rows);
  }
};

struct Sampler {
  RecipeBuilder& b;
  ImageAxes at;
  Map32 m;  // of a linear blend, half a pixel is taken off already
  bool linear = false;
  bool filled = false;
  Expr fill;                  // in the input's type
  std::vector<Frame> frames;  // the outermost first

  /// The pixel, or what stands for it outside.
  Expr pixel(const Axes& index, const Expr& x, const Expr& y) const {
    Axes from = index;
    from[static_cast<size_t>(at.w)] = x;
    from[static_cast<size_t>(at.h)] = y;
    const Expr value = b.load(0, from, Border::kClamp);
    if (!filled) return value;
    const Expr inside = (x >= i64(0)) & (x < b.extent(0, at.w)) & (y >= i64(0)) & (y < b.extent(0, at.h));
    return select(inside, value, fill);
  }

  Expr operator()(const Axes& index) const {
    const Expr u = centre_of(index[static_cast<size_t>(at.w)]);
    const Expr v = centre_of(index[static_cast<size_t>(at.h)]);
    Expr value = shown(index, u, v);
    for (size_t k = frames.size(); k-- > 0;) {
      Expr inside = frames[k].inside(u, v);
      for (; k > 0 && same(frames[k].fill, frames[k - 1].fill); --k)
        inside = frames[k - 1].inside(u, v) & inside;
      value = select(inside, value, frames[k].fill);
    }
    return value;
  }

  Expr shown(const Axes& index, const Expr& u, const Expr& v) const {
    const Expr sx = place(m, 0, u, v), sy = place(m, 1, u, v);
    const Expr left = kernel::unary(ScalarOp::kFloor, sx), top = kernel::unary(ScalarOp::kFloor, sy);
    const Expr x = index_of(left), y = index_of(top);
    const DType out = b.output_type(0).dtype;
    if (!linear) return kernel::saturate(pixel(index, x, y), out);
    const DType wide = b.input_type(0).dtype == DType::kI32 ? DType::kF64 : DType::kF32;
    const Expr tx = kernel::convert(sx - left, wide), ty = kernel::convert(sy - top, wide);
    auto value = [&](int64_t dx, int64_t dy) {
      return kernel::convert(pixel(index, x + i64(dx), y + i64(dy)), wide);
    };
    auto blend = [](const Expr& t, const Expr& a, const Expr& c) { return kernel::fma(t, c - a, a); };
    const Expr above = blend(tx, value(0, 0), value(1, 0)), below = blend(tx, value(0, 1), value(1, 1));
    return kernel::saturate(blend(ty, above, below), out);
  }
};

bool is_linear(const RecipeBuilder& b) {
  return b.integer("interp_type") == static_cast<int64_t>(Filter::kLinear);
}

}  // namespace

std::vector<ArgSpec> warp_args(const std::string& size_otherwise) {
  return {{.name = "size",
           .kind = ArgKind::kFloatList,
           .per_sample = true,
           .documentation = "Extents of the output, (h, w) or one number for both: numbers of the text are "
                            "rounded, those of a sample lose their fraction. " +
                            size_otherwise},
          {.name = "fill_value",
           .kind = ArgKind::kFloat,
           .documentation = "What stands outside the image, converted to the input's type; not given: the "
                            "image's edge is repeated."},
          {.name = "interp_type",
           .kind = ArgKind::kInterp,
           .default_value = static_cast<int64_t>(Filter::kLinear),
           .documentation = "INTERP_LINEAR blends four pixels, INTERP_NN takes the one that is hit."},
          dtype_arg("Element type of the output: the input's or FLOAT; of a FLOAT input any of the input's "
                    "types.")};
}

InputSpec warp_input() {
  return {.name = "data",
          .documentation = "image",
          .layouts = {"HWC", "CHW"},
          .dtypes = {DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kF32}};
}

Result<ir::Type> warp_type(const TypeContext& ctx) {
  const std::string& name = ctx.op().name;
  const int64_t interp = ctx.integer("interp_type");
  if (interp != static_cast<int64_t>(Filter::kNearest) && interp != static_cast<int64_t>(Filter::kLinear))
    return ctx.error(name + ": warps know no other filter than INTERP_LINEAR and INTERP_NN",
                     "use types.INTERP_LINEAR; to make an image smaller, resize it before", "interp_type");
  GALATEA_TRY(check_length(ctx, "size", 2));
  if (given_static(ctx, "size"))
    for (double n : ctx.numbers("size"))
      if (!(n > 0) || n > static_cast<double>(kMaxExtent))
        return ctx.error(fmt::format("{}: the size {} is not an extent of an image", name, n),
                         "extents are at least 1", "size");
  if (ctx.given("fill_value") && !std::isfinite(ctx.number("fill_value")))
    return ctx.error(fmt::format("{}: fill_value is {}", name, ctx.number("fill_value")),
                     "use a finite number", "fill_value");
  const DType in = ctx.input(0).dtype, dtype = ctx.dtype("dtype", in);
  const auto& known = ctx.op().inputs[0].dtypes;
  const bool of_float = in == DType::kF32 && std::find(known.begin(), known.end(), dtype) != known.end();
  if (dtype != in && dtype != DType::kF32 && !of_float)
    return ctx.error(fmt::format("{}: dtype {} is neither the input's type ({}) nor FLOAT", name,
                                 types_name(dtype), types_name(in)),
                     "convert the result with fn.cast", "dtype");
  ir::Type out = with_dtype(ctx.input(0), dtype);
  out.layout = ctx.input_layout(0);
  const ImageAxes at = image_axes(out.layout);
  for (const auto& [dim, i] : {std::pair{at.h, size_t{0}}, std::pair{at.w, size_t{1}}}) {
    int64_t& extent = out.extents[static_cast<size_t>(dim)];
    extent = -1;
    if (!given_static(ctx, "size")) continue;
    const auto size = ctx.numbers("size");
    extent = std::max<int64_t>(1, std::llround(static_cast<float>(size[size.size() > 1 ? i : 0])));
  }
  return out;
}

std::array<Expr, 2> warp_size(RecipeBuilder& b) {
  const auto size = list_arg(b, "size", 2, DType::kF32);
  if (!b.is_per_sample("size"))
    return {max(round_to_i64(size[0]), i64(1)), max(round_to_i64(size[1]), i64(1))};
  for (const Expr& n : size)
    b.check((n >= f32(0)) & (n <= f32(kMaxExtent)), "the size {} is not an extent of an image", {n}, {},
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
  Sampler sample{b, image_axes(b.input_layout(0)), {}, is_linear(b), b.given("fill_value"), {}, {}};
  sample.m = narrow_map(b, map, sample.linear ? 0.5 : 0);
  const DType in = b.input_type(0).dtype;
  for (const Canvas& canvas : canvases)
    sample.frames.push_back({narrow_map(b, canvas.map, 0), to_f32(canvas.rows), to_f32(canvas.columns),
                             kernel::saturate(kernel::saturate(canvas.fill, in), b.output_type(0).dtype)});
  if (sample.filled) sample.fill = kernel::saturate(b.arg("fill_value", DType::kF32), in);
  std::vector<Expr> extents = b.extents(0);
  const auto h = static_cast<size_t>(sample.at.h), w = static_cast<size_t>(sample.at.w);
  if (!sample.filled)
    b.check(((extents[h] > i64(0)) & (extents[w] > i64(0))) | equal(rows, i64(0)) | equal(columns, i64(0)),
            "an image of {} x {} has no edge to repeat", {extents[h], extents[w]}, "give a fill_value");
  extents[h] = rows;
  extents[w] = columns;
  b.output_stage(0, b.map("warp", b.output_type(0).dtype, extents, sample));
}

void output_warp(RecipeBuilder& b, const AffineMap& map, const Expr& rows, const Expr& columns) {
  output_warp(b, map, rows, columns, {});
  const ImageAxes at = image_axes(b.input_layout(0));
  op::AffineView view{{map[0][0], map[0][1], map[0][2], map[1][0], map[1][1], map[1][2]},
                      at.h,
                      at.w,
                      is_linear(b),
                      b.given("fill_value"),
                      {}};
  if (view.filled) view.fill = kernel::saturate(b.arg("fill_value", DType::kF32), b.input_type(0).dtype);
  b.shows(std::move(view));
}

}  // namespace galatea::ops
