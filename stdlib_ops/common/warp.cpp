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

/// f32: a factor for each axis, x first, and an offset.
using Row = std::vector<Expr>;
using Map32 = std::vector<Row>;

/// Of a place's coordinates, x first.
Expr along(const Row& row, const std::vector<Expr>& place) {
  Expr sum = row.back();
  for (size_t k = place.size(); k-- > 0;) sum = kernel::fma(row[k], place[k], sum);
  return sum;
}

using Fill = std::vector<Expr>;  // none, one, or one per channel

bool same_fill(const Fill& a, const Fill& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Expr& x, const Expr& y) { return kernel::same(x, y); });
}

/// Whether coordinates lie in what has these extents, of the same type.
Expr lies_in(const std::vector<Expr>& place, const std::vector<Expr>& extents) {
  Expr inside;
  for (size_t k = 0; k < place.size(); ++k) {
    const Expr after = place[k] >= kernel::constant(place[k].type(), Cell{});
    inside = (inside ? inside & after : after) & (place[k] < extents[k]);
  }
  return inside;
}

/// What lies on a canvas that is not made, and what stands beside it.
struct Frame {
  Map32 m;
  std::vector<Expr> extents;  // f32, x first
  Fill fill;                  // in the output's type

  Expr inside(const std::vector<Expr>& centre) const {
    std::vector<Expr> place;
    for (const Row& row : m) place.push_back(along(row, centre));
    return lies_in(place, extents);
  }
};

/// Coordinates are those of the axes that the map moves, x first; all other axes are walked along.
struct Sampler {
  RecipeBuilder& b;
  std::vector<int> dims;  // of x, y, …
  int channels;           // dimension, or -1
  Filter filter = Filter::kNearest;
  Map32 m;                    // of a blend, half a pixel is taken off already
  Expr cubic;                 // f32
  Fill fill;                  // in the input's type
  std::vector<Frame> frames;  // the outermost first

  Expr of_channel(const Fill& values, const Axes& index) const {
    return values.size() == 1 ? values[0] : choose(index[static_cast<size_t>(channels)], values);
  }

  /// The pixel, or what stands for it outside.
  Expr pixel(const Axes& index, const std::vector<Expr>& at) const {
    Axes from = index;
    std::vector<Expr> extents;
    for (size_t k = 0; k < dims.size(); ++k) {
      from[static_cast<size_t>(dims[k])] = at[k];
      extents.push_back(b.extent(0, dims[k]));
    }
    const Expr value = b.load(0, from, Border::kClamp);
    if (fill.empty()) return value;
    return select(lies_in(at, extents), value, of_channel(fill, index));
  }

  Expr operator()(const Axes& index) const {
    std::vector<Expr> centre;
    for (const int dim : dims) centre.push_back(centre_of(index[static_cast<size_t>(dim)]));
    Expr value = shown(index, centre);
    for (size_t k = frames.size(); k-- > 0;) {
      const Fill& beside = frames[k].fill;
      Expr inside = frames[k].inside(centre);
      for (; k > 0 && same_fill(beside, frames[k - 1].fill); --k)
        inside = frames[k - 1].inside(centre) & inside;
      value = select(inside, value, of_channel(beside, index));
    }
    return value;
  }

  Expr shown(const Axes& index, const std::vector<Expr>& centre) const {
    const int reach = filter == Filter::kCubic ? 2 : 1;
    const DType out = b.output_type(0).dtype;
    const DType wide = b.input_type(0).dtype == DType::kI32 ? DType::kF64 : DType::kF32;
    std::vector<Expr> at, t;  // of each axis: the pixel at or before the place, and how far behind it lies
    for (const Row& row : m) {
      const Expr place = along(row, centre), before = kernel::unary(ScalarOp::kFloor, place);
      at.push_back(pixel_index(before, -1 - reach));
      t.push_back(kernel::convert(place - before, wide));
    }
    if (filter == Filter::kNearest) return kernel::saturate(pixel(index, at), out);
    return kernel::saturate(blended(index, at, t, dims.size()), out);
  }

  /// Of the pixels around `at`: blended along the first `axes` axes, of the others those that `at` says.
  Expr blended(const Axes& index, std::vector<Expr> at, const std::vector<Expr>& t, size_t axes) const {
    if (axes == 0) return kernel::convert(pixel(index, at), t[0].type());
    const size_t last = axes - 1;
    const Expr here = at[last];
    const auto term = [&](int64_t offset) {
      at[last] = here + i64(offset);
      return blended(index, at, t, last);
    };
    if (filter == Filter::kLinear) {
      const Expr before = term(0);
      return kernel::fma(t[last], term(1) - before, before);
    }
    const auto weights = cubic_weights(t[last], kernel::convert(cubic, t[last].type()));
    Expr total = weights[0] * term(-1);
    for (size_t k = 1; k < weights.size(); ++k)
      total = kernel::fma(weights[k], term(static_cast<int64_t>(k) - 1), total);
    return total;
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
  return {
      {.name = "size",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation = "Extents of the output, (h, w), of a map of volumes (d, h, w), or one number for "
                        "all: numbers of the text are rounded and may not be 0, those of a sample lose "
                        "their fraction, and 0 makes an image without pixels. " +
                        size_otherwise},
      {.name = "fill_value",
       .kind = ArgKind::kFloatList,
       .documentation = "What stands outside the image, converted to the input's type: one value, or one "
                        "per channel; not given: the image's edge is repeated."},
      {.name = "interp_type",
       .kind = ArgKind::kInterp,
       .default_value = static_cast<int64_t>(Filter::kLinear),
       .documentation = "INTERP_LINEAR blends two pixels of each axis, INTERP_CUBIC four, INTERP_NN takes "
                        "the one that is hit."},
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
          .documentation = "image or volume",
          .layouts = {"HWC", "CHW", "DHWC", "CDHW", "DCHW"},
          .dtypes = {DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kF32}};
}

Status check_warp_size(const TypeContext& ctx, std::string_view axes) {
  GALATEA_TRY(check_length(ctx, "size", static_cast<int>(axes.size())));
  if (given_static(ctx, "size"))
    for (double n : ctx.numbers("size"))
      if (!(n > 0) || n > static_cast<double>(kMostPixels))
        return ctx.error(fmt::format("{}: the size {} is not an extent of an image", ctx.op().name, n),
                         "extents are at least 1", "size");
  return {};
}

void set_warp_extents(const TypeContext& ctx, ir::Type& out, std::string_view axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t& extent = out.extents[static_cast<size_t>(out.layout.find(axes[i]))];
    extent = -1;
    if (!given_static(ctx, "size")) continue;
    const auto size = ctx.numbers("size");
    extent = std::max<int64_t>(1, std::llround(static_cast<float>(size[size.size() > 1 ? i : 0])));
  }
}

Result<ir::Type> warp_type(const TypeContext& ctx, std::string_view axes) {
  const std::string& name = ctx.op().name;
  GALATEA_TRY(check_filter(ctx));
  GALATEA_TRY(check_warp_size(ctx, axes));
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
  set_warp_extents(ctx, out, axes);
  return out;
}

namespace {

/// The determinant without a row and a column, with the sign that its place gives it.
template <size_t N>
Expr cofactor(const Affine<N>& m, size_t row, size_t column) {
  if constexpr (N == 2) {
    const Expr& rest = m[1 - row][1 - column];
    return row == column ? rest : -rest;
  } else {
    // Rows and columns taken in a cycle have the sign in them.
    const auto at = [&](size_t r, size_t c) { return m[(row + r) % 3][(column + c) % 3]; };
    return at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1);
  }
}

}  // namespace

template <size_t N>
Expr determinant(const Affine<N>& m) {
  if constexpr (N == 2) return m[0][0] * m[1][1] - m[0][1] * m[1][0];
  Expr sum = m[0][0] * cofactor(m, 0, 0);
  for (size_t k = 1; k < N; ++k) sum = sum + m[0][k] * cofactor(m, 0, k);
  return sum;
}

template <size_t N>
Affine<N> inverse(const Affine<N>& m) {
  const Expr det = determinant(m);
  Affine<N> back;
  for (size_t r = 0; r < N; ++r) {
    for (size_t c = 0; c < N; ++c) back[r][c] = cofactor(m, c, r) / det;
    Expr moved = back[r][0] * m[0][N];
    for (size_t c = 1; c < N; ++c) moved = moved + back[r][c] * m[c][N];
    back[r][N] = -moved;
  }
  return back;
}

template <size_t N>
std::array<Expr, N> warp_size(RecipeBuilder& b) {
  const auto size = list_arg(b, "size", static_cast<int>(N), DType::kF32);
  const bool of_sample = b.is_per_sample("size");
  std::array<Expr, N> extents;
  for (size_t k = 0; k < N; ++k) {
    const Expr& n = size[k];
    if (of_sample)
      b.check((n >= f32(0)) & (n <= f32(kMostPixels)), "the size {} is not an extent of an image", {n}, {},
              "size");
    extents[k] = of_sample ? to_i64(n) : max(round_to_i64(n), i64(1));
  }
  return extents;
}

template <size_t N>
std::array<Expr, N> warped_extents(RecipeBuilder& b) {
  std::array<Expr, N> extents;
  for (size_t k = 0; k < N; ++k) extents[k] = b.extent(0, b.input_layout(0).find(kWarpAxes<N>[k]));
  return extents;
}

namespace {

/// The map in f32, places less `shift`.
template <size_t N>
Map32 narrow_map(RecipeBuilder& b, const Affine<N>& map, double shift) {
  Map32 out(N);
  for (size_t r = 0; r < N; ++r)
    for (size_t c = 0; c <= N; ++c) {
      const Expr& element = map[r][c];
      b.check(absolute(element) <= f64(kMaxElement), "the map of the warp has the element {}", {element},
              "matrices and angles must be finite");
      out[r].push_back(to_f32(c == N ? element - f64(shift) : element));
    }
  return out;
}

/// Without an edge there is nothing to repeat.
template <size_t N>
void check_edge(RecipeBuilder& b, const std::array<Expr, N>& size) {
  const auto in = warped_extents<N>(b);
  Expr has_edge = in[0] > i64(0), makes_nothing = equal(size[0], i64(0));
  std::string extents = "{}";
  for (size_t k = 1; k < N; ++k) {
    has_edge = has_edge & (in[k] > i64(0));
    makes_nothing = makes_nothing | equal(size[k], i64(0));
    extents += " x {}";
  }
  b.check(has_edge | makes_nothing,
          fmt::format("{} of {} has no edge to repeat", N == 2 ? "an image" : "a volume", extents),
          {in.begin(), in.end()}, "give a fill_value");
}

template <size_t N>
void output_warp_behind(RecipeBuilder& b, const Affine<N>& map, const std::array<Expr, N>& size,
                        const std::vector<Canvas>& canvases) {
  const Layout layout = b.input_layout(0);
  const Filter filter = filter_of(b);
  const DType in = b.input_type(0).dtype, out = b.output_type(0).dtype;
  Sampler sample{.b = b,
                 .dims = {},
                 .channels = layout.find('C'),
                 .filter = filter,
                 .m = narrow_map(b, map, filter == Filter::kNearest ? 0 : 0.5),
                 .cubic = {},
                 .fill = {},
                 .frames = {}};
  if (filter == Filter::kCubic) sample.cubic = b.arg("cubic_a", DType::kF32);
  sample.fill = given_fill(b, image_axes(layout));
  for (const Canvas& canvas : canvases) {
    Frame frame{narrow_map(b, canvas.map, 0), {to_f32(canvas.columns), to_f32(canvas.rows)}, {}};
    for (const Expr& fill : canvas.fill)
      frame.fill.push_back(kernel::saturate(kernel::saturate(fill, in), out));
    sample.frames.push_back(std::move(frame));
  }
  if (sample.fill.empty()) check_edge(b, size);
  std::vector<Expr> extents = b.extents(0);
  for (size_t k = N; k-- > 0;) {
    sample.dims.push_back(layout.find(kWarpAxes<N>[k]));
    extents[static_cast<size_t>(sample.dims.back())] = size[k];
  }
  b.output_stage(0, b.map("warp", out, extents, sample));
}

}  // namespace

void output_warp(RecipeBuilder& b, const AffineMap& map, const Expr& rows, const Expr& columns,
                 const std::vector<Canvas>& canvases) {
  output_warp_behind<2>(b, map, {rows, columns}, canvases);
}

template <size_t N>
void output_warp(RecipeBuilder& b, const Affine<N>& map, const std::array<Expr, N>& size) {
  output_warp_behind(b, map, size, {});
  if constexpr (N == 2) {
    // Maps of images alone are composed.
    if (b.input_layout(0).contains('D')) return;
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
}

template Expr determinant<2>(const Affine<2>&);
template Expr determinant<3>(const Affine<3>&);
template Affine<2> inverse<2>(const Affine<2>&);
template Affine<3> inverse<3>(const Affine<3>&);
template std::array<Expr, 2> warp_size<2>(RecipeBuilder&);
template std::array<Expr, 3> warp_size<3>(RecipeBuilder&);
template std::array<Expr, 2> warped_extents<2>(RecipeBuilder&);
template std::array<Expr, 3> warped_extents<3>(RecipeBuilder&);
template void output_warp<2>(RecipeBuilder&, const Affine<2>&, const std::array<Expr, 2>&);
template void output_warp<3>(RecipeBuilder&, const Affine<3>&, const std::array<Expr, 3>&);

}  // namespace galatea::ops
