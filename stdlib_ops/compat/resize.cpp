// See resize.h; OpenCV's filters are in opencv_resize.cpp. Sources of the formulas: Pillow's Resample.c and
// Geometry.c, PyTorch's UpSampleKernel.cpp, as recorded outputs of the libraries confirm (tests/oracle, group
// compat_resize).
//
// All filter columns first, then rows, but for Pillow where the image loses rows above all. Pillow and
// torchvision round to bytes in between: weights are integers, away(w 2^p) of f64 weights w, with p = 22 in
// Pillow and, in torchvision, the largest p with which the axis's largest weight stays below 2^15. What differs
// in p alone is written with p = 22 here: weights times 2^(22 - p) give the same bytes. Floats have the same
// weights before they are rounded: Pillow (mode F) adds up in f64, torchvision in f32.
#include "stdlib_ops/compat/resize.h"

#include <array>
#include <cmath>
#include <numbers>

#include "stdlib_ops/common/places.h"
#include "stdlib_ops/common/resample.h"
#include "stdlib_ops/compat/checks.h"
#include "stdlib_ops/compat/opencv_resize.h"

namespace galatea::ops {
namespace {

constexpr int64_t kByteBits = 22;  // of weights between bytes

Filter filter_of_call(const TypeContext& c) { return static_cast<Filter>(c.integer("interp_type")); }
Filter filter_of_call(const RecipeBuilder& b) { return static_cast<Filter>(b.integer("interp_type")); }

bool has_filter(Compat compat, Filter filter) {
  switch (filter) {
    case Filter::kNearest:
    case Filter::kLinear:
    case Filter::kCubic:
      return true;
    case Filter::kTriangular:
      return compat != Compat::kOpenCv;
    case Filter::kLanczos3:
    case Filter::kHamming:
      return compat == Compat::kPil;
    case Filter::kBox:
      return compat != Compat::kTorchvision;
    case Filter::kGaussian:
      return false;
  }
  return false;
}

const char* filters_of(Compat compat) {
  return compat == Compat::kPil ? "INTERP_NN, INTERP_BOX, INTERP_LINEAR, INTERP_HAMMING, INTERP_CUBIC or "
                                  "INTERP_LANCZOS3"
         : compat == Compat::kTorchvision
             ? "INTERP_NN, INTERP_LINEAR or INTERP_CUBIC"
             : "INTERP_NN, INTERP_LINEAR, INTERP_CUBIC or INTERP_BOX (INTER_AREA)";
}

// ---- extents

Expr whole_number(RecipeBuilder& b, const Expr& value, const char* argument) {
  const Expr size = to_f64(value);
  b.check((size >= f64(0)) & (size <= f64(1 << 24)) & equal(size, kernel::unary(ScalarOp::kFloor, size)),
          "{} is not the extent of an image: under a preset it is a whole number and not negative", {size},
          {}, argument);
  return to_i64(size);
}

/// size * length / other, as the peers of the preset make it whole.
Expr proportional(RecipeBuilder& b, const Expr& size, const Expr& length, const Expr& other) {
  const Expr exact = to_f64(size * length) / to_f64(other);
  return max(b.compat() == Compat::kOpenCv ? round_to_i64(exact) : to_i64(exact), i64(1));
}

/// Rows and columns of the output; `h` and `w` are those of the input.
std::array<Expr, 2> compat_extents(RecipeBuilder& b, const Expr& h, const Expr& w) {
  const bool shorter = b.given("resize_shorter");
  if (shorter || b.given("resize_longer")) {
    const char* name = shorter ? "resize_shorter" : "resize_longer";
    const Expr size = whole_number(b, b.arg(name, DType::kF32), name);
    const Expr upright = h <= w, by_rows = shorter ? upright : logical_not(upright);
    std::array<Expr, 2> out = {select(by_rows, size, proportional(b, size, h, w)),
                               select(by_rows, proportional(b, size, w, h), size)};
    if (!b.given("max_size")) return out;
    const Expr most = whole_number(b, list_arg(b, "max_size", 2, DType::kF32)[0], "max_size");
    const Expr longer = max(out[0], out[1]), fits = longer <= most;
    return {select(fits, out[0], select(out[0] >= out[1], most, proportional(b, most, out[0], longer))),
            select(fits, out[1], select(out[1] >= out[0], most, proportional(b, most, out[1], longer)))};
  }
  std::array<Expr, 2> asked;
  if (b.given("size")) {
    const auto size = list_arg(b, "size", 2, DType::kF32);
    asked = {whole_number(b, size[0], "size"), whole_number(b, size[1], "size")};
  } else {
    asked = {whole_number(b, b.arg("resize_y", DType::kF32), "resize_y"),
             whole_number(b, b.arg("resize_x", DType::kF32), "resize_x")};
  }
  const bool stretch = b.text("mode") == "stretch";
  const std::array<Expr, 2> lengths = {h, w};
  std::array<Expr, 2> out;
  for (size_t a = 0; a < 2; ++a) {
    const Expr &other = asked[1 - a], &length = lengths[a];
    const Expr follow =
        stretch ? length
                : select(equal(other, i64(0)), length, proportional(b, other, length, lengths[1 - a]));
    out[a] = select(equal(asked[a], i64(0)), follow, asked[a]);
  }
  return out;
}

/// Rows, then columns. `made`: the output, where its extents are to be known ones.
std::array<CompatAxis, 2> compat_axes(RecipeBuilder& b, const ir::Type* made) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const Expr h = b.extent(0, at.h), w = b.extent(0, at.w);
  b.check((h > i64(0)) & (w > i64(0)), "an image of {} x {} has no pixels to resize", {h, w});
  const std::array<Expr, 2> extents = compat_extents(b, h, w);
  const auto axis = [&](int dim, const char* name, const Expr& extent, const Expr& n) {
    const int64_t fixed = made ? made->extents[static_cast<size_t>(dim)] : -1;
    return CompatAxis{.dim = dim,
                      .name = name,
                      .lo = f64(0),
                      .hi = to_f64(extent),
                      .n = fixed >= 0 ? kernel::extent_constant(fixed) : n,
                      .extent = extent};
  };
  std::array<CompatAxis, 2> axes = {axis(at.h, "rows", h, extents[0]), axis(at.w, "columns", w, extents[1])};
  if (!b.given("roi_start")) return axes;
  const auto start = list_arg(b, "roi_start", 2, DType::kF32), end = list_arg(b, "roi_end", 2, DType::kF32);
  for (size_t a = 0; a < 2; ++a) {
    const Expr factor = b.flag("roi_relative") ? to_f32(axes[a].extent) : f32(1);
    axes[a].lo = to_f64(start[a] * factor);
    axes[a].hi = to_f64(end[a] * factor);
    b.check((axes[a].lo >= f64(0)) & (axes[a].lo < axes[a].hi) & (axes[a].hi <= to_f64(axes[a].extent)),
            "the region from {} to {} is not inside of the image, as Pillow's `box` must be",
            {axes[a].lo, axes[a].hi}, {}, "roi_start");
  }
  return axes;
}

// ---- Pillow, torchvision: weights between bytes

Expr sinc_f64(const Expr& x) {
  const Expr angle = x * f64(std::numbers::pi);
  return select(equal(x, f64(0)), f64(1), kernel::unary(ScalarOp::kSin, angle) / angle);
}

Expr cubic_f64(const Expr& x, double a) {
  const Expr inner = ((f64(a + 2) * x - f64(a + 3)) * x) * x + f64(1);
  const Expr outer = (((x - f64(5)) * x + f64(8)) * x - f64(4)) * f64(a);
  return select(x < f64(1), inner, select(x < f64(2), outer, f64(0)));
}

/// Weight at a distance of x, in filter widths.
Expr filter_f64(Filter filter, const Expr& x, double a) {
  const Expr u = absolute(x);
  switch (filter) {
    case Filter::kBox:
      return select((x > f64(-0.5)) & (x <= f64(0.5)), f64(1), f64(0));
    case Filter::kCubic:
      return cubic_f64(u, a);
    case Filter::kLanczos3:
      return select((x >= f64(-3)) & (x < f64(3)), sinc_f64(x) * sinc_f64(x / f64(3)), f64(0));
    case Filter::kHamming: {
      const Expr lobe = f64(0.54) + f64(0.46) * kernel::unary(ScalarOp::kCos, u * f64(std::numbers::pi));
      return select(u < f64(1), select(equal(u, f64(0)), f64(1), sinc_f64(u) * lobe), f64(0));
    }
    default:
      return max(f64(1) - u, f64(0));
  }
}

double support_of(Filter filter) {
  return filter == Filter::kBox ? 0.5 : filter == Filter::kCubic ? 2 : filter == Filter::kLanczos3 ? 3 : 1;
}

/// Half away from zero.
Expr away_from_zero(const Expr& value) {
  return to_i64(select(value < f64(0), value - f64(0.5), value + f64(0.5)));
}

/// Of f64 weights [n, taps] those of the image's type: f64 or f32 of floats, integers of 22 bits of bytes.
StageRef weights_of(RecipeBuilder& b, const CompatAxis& axis, const StageRef& exact, const Expr& taps) {
  if (is_of_floats(b)) {
    if (b.compat() == Compat::kPil) return exact;
    return b.map(axis.name + "_weight", DType::kF32, {axis.n, taps},
                 [&](const Axes& at) { return to_f32(b.load(exact, at)); });
  }
  if (b.compat() == Compat::kPil)
    return b.map(axis.name + "_weight", DType::kI32, {axis.n, taps}, [&](const Axes& at) {
      const double one = std::ldexp(1.0, kByteBits);
      return kernel::convert(away_from_zero(b.load(exact, at) * f64(one)), DType::kI32);
    });
  // torchvision: 16 bits, which p of them are the fraction depends on the largest weight.
  const StageRef largest =
      b.reduce({.name = axis.name + "_largest",
                .type = DType::kF64,
                .extents = {i64(1)},
                .reduce_extents = {axis.n, taps},
                .accumulator = DType::kF64,
                .combiner = kernel::Combiner::kMax,
                .body = [&](const Axes&, const Axes& over) { return b.load(exact, {over[0], over[1]}); }});
  const StageRef bits = b.map(axis.name + "_bits", DType::kI64, {i64(1)}, [&](const Axes&) {
    const Expr most = b.load(largest, {i64(0)});
    Expr count = i64(0);
    for (int64_t p = 1; p <= kByteBits; ++p) {
      const Expr next = to_i64(f64(0.5) + most * f64(std::ldexp(1.0, static_cast<int>(p))));
      count = count + select(next < i64(1 << 15), i64(1), i64(0));
    }
    return count;
  });
  return b.map(axis.name + "_weight", DType::kI32, {axis.n, taps}, [&](const Axes& at) {
    const Expr p = b.load(bits, {i64(0)});
    const Expr one = to_f64(kernel::binary(ScalarOp::kShl, i64(1), p));
    const Expr weight = away_from_zero(b.load(exact, at) * one);
    return kernel::convert(kernel::binary(ScalarOp::kShl, weight, i64(kByteBits) - p), DType::kI32);
  });
}

/// Filters that widen where the axis shrinks, cut off at the edge.
CompatBand widening_band(RecipeBuilder& b, const CompatAxis& axis, Filter filter) {
  const Expr scale = axis.scale(), width = max(scale, f64(1));
  const Expr support = f64(support_of(filter)) * width;
  CompatBand band;
  band.taps = ceil_to_i64(support) * i64(2) + i64(1);
  const auto centre = [=](const Expr& i) { return axis.lo + (to_f64(i) + f64(0.5)) * scale; };
  band.first = b.map(axis.name + "_first", DType::kI64, {axis.n}, [&](const Axes& at) {
    return clamp(to_i64(centre(at[0]) - support + f64(0.5)), i64(0), axis.extent - i64(1));
  });
  const StageRef raw = b.map(axis.name + "_raw", DType::kF64, {axis.n, band.taps}, [&](const Axes& at) {
    const Expr pixel = b.load(band.first, {at[0]}) + at[1];
    const Expr end = kernel::min(to_i64(centre(at[0]) + support + f64(0.5)), axis.extent);
    const Expr x = (to_f64(pixel) - centre(at[0]) + f64(0.5)) * (f64(1) / width);
    return select(pixel < end, filter_f64(filter, x, -0.5), f64(0));
  });
  const StageRef sum =
      b.reduce({.name = axis.name + "_sum",
                .type = DType::kF64,
                .extents = {axis.n},
                .reduce_extents = {band.taps},
                .accumulator = DType::kF64,
                .body = [&](const Axes& at, const Axes& over) { return b.load(raw, {at[0], over[0]}); }});
  const StageRef exact = b.map(axis.name + "_exact", DType::kF64, {axis.n, band.taps}, [&](const Axes& at) {
    const Expr total = b.load(sum, {at[0]});
    return select(equal(total, f64(0)), b.load(raw, at), b.load(raw, at) / total);
  });
  band.weight = weights_of(b, axis, exact, band.taps);
  return band;
}

/// torchvision without antialiasing: two or four pixels, whose weights beyond the edge go to the edge.
CompatBand fixed_band(RecipeBuilder& b, const CompatAxis& axis, Filter filter) {
  const int64_t taps = filter == Filter::kCubic ? 4 : 2;
  const Expr scale = axis.scale();
  const auto place = [=](const Expr& i) {
    const Expr source = scale * (to_f64(i) + f64(0.5)) - f64(0.5);
    return filter == Filter::kCubic ? source : max(source, f64(0));
  };
  const Expr last = axis.extent - i64(1);
  const auto pixel = [=](const Expr& i) { return kernel::min(floor_to_i64(place(i)), last); };
  const auto leftmost = [=](const Expr& i) { return pixel(i) - i64(taps / 2 - 1); };
  CompatBand band;
  band.taps = i64(taps);
  band.first = b.map(axis.name + "_first", DType::kI64, {axis.n},
                     [&](const Axes& at) { return max(leftmost(at[0]), i64(0)); });
  const StageRef exact = b.map(axis.name + "_exact", DType::kF64, {axis.n, band.taps}, [&](const Axes& at) {
    const Expr beyond = clamp(place(at[0]) - to_f64(pixel(at[0])), f64(0), f64(1));
    const Expr here = b.load(band.first, {at[0]}) + at[1];
    Expr sum = f64(0);
    for (int64_t t = 0; t < taps; ++t) {
      const int64_t place_of_tap = t + 1 - taps / 2;
      const Expr x = f64(static_cast<double>(place_of_tap)) - beyond;
      const Expr meant = clamp(leftmost(at[0]) + i64(t), i64(0), last);
      sum = sum + select(equal(meant, here), filter_f64(filter, x, kOpenCvCubic), f64(0));
    }
    return sum;
  });
  band.weight = weights_of(b, axis, exact, band.taps);
  return band;
}

StageRef resize_filtered(RecipeBuilder& b, const CompatSource& source, const CompatAxis& rows,
                         const CompatAxis& columns, Filter filter) {
  const bool widens = b.compat() == Compat::kPil || b.flag("antialias");
  const auto band = [&](const CompatAxis& axis) {
    return widens ? widening_band(b, axis, filter) : fixed_band(b, axis, filter);
  };
  std::function<Expr(Expr)> finish;
  if (!is_of_floats(b)) finish = [](const Expr& sum) { return byte_of(sum, kByteBits); };
  const DType type = type_of_image(b), accumulator = !is_of_floats(b)             ? DType::kI32
                                                     : b.compat() == Compat::kPil ? DType::kF64
                                                                                  : DType::kF32;
  const CompatBand of_rows = band(rows), of_columns = band(columns);
  /// One axis after the other. `taken`, where both orders are there and the call tells which counts: the other
  /// one makes next to nothing.
  const auto in_order = [&](const CompatAxis& first, const CompatBand& of_first, const CompatAxis& second,
                            CompatBand of_second, const Expr& taken) {
    Axes extents = source.extents;
    if (taken) {
      Expr& extent = extents[static_cast<size_t>(second.dim)];
      extent = select(taken, extent, i64(1));
      of_second.taps = select(taken, of_second.taps, i64(1));  // a band has one at least
    }
    const StageRef between =
        apply_band(b, "across", first, of_first, source.window, extents, type, accumulator, finish);
    extents = source.extents;
    extents[static_cast<size_t>(first.dim)] = first.n;
    return apply_band(b, "resize", second, of_second, between, extents, type, accumulator, finish);
  };
  const auto columns_first = [&](const Expr& taken) {
    return in_order(columns, of_columns, rows, of_rows, taken);
  };
  const auto rows_first = [&](const Expr& taken) {
    return in_order(rows, of_rows, columns, of_columns, taken);
  };
  // Pillow begins with rows where more than twice as many of them go; of floats there is nothing to see of it.
  const Expr gone = rows.extent - rows.n;
  const Expr by_rows = (gone > i64(0)) & (gone > (columns.extent - columns.n) * i64(2));
  if (b.compat() != Compat::kPil || is_of_floats(b)) return columns_first({});
  if (kernel::is_const(by_rows))
    return kernel::const_value(by_rows) != 0 ? rows_first({}) : columns_first({});
  const StageRef begun_by_rows = rows_first(by_rows), begun_by_columns = columns_first(logical_not(by_rows));
  Axes extents = source.extents;
  extents[static_cast<size_t>(rows.dim)] = rows.n;
  extents[static_cast<size_t>(columns.dim)] = columns.n;
  return b.map("resize", type, extents, [&](const Axes& at) {
    return select(by_rows, b.load(begun_by_rows, at), b.load(begun_by_columns, at));
  });
}

// ---- nearest neighbours

StageRef nearest_table(RecipeBuilder& b, const CompatAxis& axis) {
  const Expr last = axis.extent - i64(1);
  const std::string name = axis.name + "_first";
  switch (b.compat()) {
    case Compat::kPil: {
      // Places add up, in f64.
      const Expr scale = axis.scale();
      const StageRef places =
          b.scan({.name = axis.name + "_places",
                  .type = DType::kF64,
                  .extents = {axis.n},
                  .accumulator = DType::kF64,
                  .body = [&](const Axes& at) {
                    return select(equal(at[0], i64(0)), axis.lo + scale * f64(0.5), scale);
                  }});
      return b.map(name, DType::kI64, {axis.n},
                   [&](const Axes& at) { return clamp(to_i64(b.load(places, {at[0]})), i64(0), last); });
    }
    case Compat::kTorchvision: {
      const Expr scale = to_f32(axis.extent) / to_f32(axis.n);
      return b.map(name, DType::kI64, {axis.n},
                   [&](const Axes& at) { return kernel::min(floor_to_i64(to_f32(at[0]) * scale), last); });
    }
    default: {
      const Expr scale = f64(1) / (to_f64(axis.n) / to_f64(axis.extent));
      return b.map(name, DType::kI64, {axis.n},
                   [&](const Axes& at) { return kernel::min(floor_to_i64(to_f64(at[0]) * scale), last); });
    }
  }
}

StageRef resize_nearest(RecipeBuilder& b, const CompatSource& source, const CompatAxis& rows,
                        const CompatAxis& columns) {
  const StageRef down = nearest_table(b, rows), across = nearest_table(b, columns);
  Axes extents = source.extents;
  const auto h = static_cast<size_t>(rows.dim), w = static_cast<size_t>(columns.dim);
  extents[h] = rows.n;
  extents[w] = columns.n;
  return b.map("resize", type_of_image(b), extents, [&](const Axes& at) {
    Axes from = at;
    from[h] = b.load(down, {at[h]});
    from[w] = b.load(across, {at[w]});
    return source.window.index < 0 ? b.load(0, from, Border::kClamp)
                                   : b.load(source.window, from, Border::kClamp);
  });
}

StageRef compat_resized(RecipeBuilder& b, const CompatSource& source, const CompatAxis& rows,
                        const CompatAxis& columns) {
  const Filter filter = filter_of_call(b);
  if (filter == Filter::kNearest) return resize_nearest(b, source, rows, columns);
  if (b.compat() != Compat::kOpenCv) return resize_filtered(b, source, rows, columns, filter);
  return resize_as_opencv(b, source, rows, columns, filter);
}

}  // namespace

Status check_compat_filter(const TypeContext& ctx) {
  const Compat compat = ctx.compat();
  const std::string under = under_preset(ctx);
  const std::string dali = "or write compat=\"dali\" at this call";
  const DType in = ctx.input(0).dtype;
  if ((in != DType::kU8 && in != DType::kF32) || ctx.dtype("dtype", in) != in)
    return ctx.error(under + " takes and gives UINT8, or FLOAT",
                     "convert with fn.cast before or after, " + dali, "dtype");
  for (const char* name : {"min_filter", "mag_filter"})
    if (ctx.given(name))
      return ctx.error(fmt::format("{} has one filter, not a {}", under, name), "give interp_type, " + dali,
                       name);
  if (ctx.is_per_sample("interp_type"))
    return ctx.error(under + " needs an interp_type that the text fixes", "branch with `if`, " + dali,
                     "interp_type");
  if (!has_filter(compat, filter_of_call(ctx)))
    return ctx.error(fmt::format("{} does not have that filter", under),
                     fmt::format("use types.{}, {}", filters_of(compat), dali), "interp_type");
  if (ctx.given("antialias") && compat == Compat::kPil && !ctx.flag("antialias"))
    return ctx.error(under + " always antialiases", "leave antialias out, " + dali, "antialias");
  if (ctx.given("antialias") && compat == Compat::kOpenCv && ctx.flag("antialias"))
    return ctx.error(under + " does not antialias",
                     "use interp_type=types.INTERP_BOX, which is INTER_AREA, " + dali, "antialias");
  return {};
}

Status check_compat_resize(const TypeContext& ctx) {
  const Compat compat = ctx.compat();
  const std::string under = under_preset(ctx);
  const std::string dali = "or write compat=\"dali\" at this call";
  if (ctx.input_layout(0).find('D') >= 0)
    return ctx.error(under + " takes images, not volumes", "write compat=\"dali\" at this call");
  GALATEA_TRY(check_compat_filter(ctx));
  if (ctx.given("subpixel_scale") && ctx.flag("subpixel_scale"))
    return ctx.error(under + " has whole extents: there is no subpixel scale", "leave it out, " + dali,
                     "subpixel_scale");
  if (ctx.given("roi_start") && compat != Compat::kPil)
    return ctx.error(fmt::format("{} has no region", under),
                     "cut it out with fn.crop or fn.slice first, " + dali, "roi_start");
  if (const std::string mode = ctx.text("mode"); mode != "default" && mode != "stretch")
    return ctx.error(fmt::format("{} has no mode \"{}\"", under, mode),
                     "give resize_shorter or resize_longer, " + dali, "mode");
  if (ctx.given("max_size") && !ctx.given("resize_shorter"))
    return ctx.error(under + " has max_size with resize_shorter alone", "leave it out, " + dali, "max_size");
  if (ctx.given("max_size") && length_of(ctx, "max_size") != 1)
    return ctx.error(under + " has one max_size, of the longer side", "give one number, " + dali, "max_size");
  for (const char* name : {"size", "resize_x", "resize_y", "resize_shorter", "resize_longer", "max_size"})
    if (given_static(ctx, name))
      for (const double n : ctx.numbers(name))
        if (n < 0 || n != std::floor(n))
          return ctx.error(fmt::format("{} has extents that are whole and not negative, not {}", under, n),
                           "mirror with fn.flip, " + dali, name);
  return {};
}

void define_compat_resize(RecipeBuilder& b) {
  const auto [rows, columns] = compat_axes(b, &b.output_type(0));
  b.output_stage(0, compat_resized(b, {{}, b.extents(0)}, rows, columns));
  if (!b.flag("save_attrs")) return;
  b.output_scalars(1,
                   {kernel::convert(rows.extent, DType::kI32), kernel::convert(columns.extent, DType::kI32)});
}

namespace {

AxisPlaces places_along(const CompatAxis& axis) {
  const Expr factor = to_f64(axis.n) / (axis.hi - axis.lo);
  return {factor, -(axis.lo * factor)};
}

/// What fn.resize_crop_mirror keeps of an axis of the resized image.
struct CompatWindow {
  AxisRange range;
  Expr mirrored;
};

/// Rows, then columns.
std::array<CompatWindow, 2> compat_windows(RecipeBuilder& b, const CompatAxis& rows,
                                           const CompatAxis& columns) {
  const Expr mirror = b.arg("mirror", DType::kI64);
  std::array<CompatWindow, 2> windows = {
      CompatWindow{{i64(0), rows.n}, not_equal(mirror & i64(2), i64(0))},
      CompatWindow{{i64(0), columns.n}, not_equal(mirror & i64(1), i64(0))}};
  if (!b.given("crop") && !b.given("crop_h") && !b.given("crop_w")) return windows;
  const std::vector<Expr> extents = {rows.n, columns.n};
  const auto asked = crop_window(b, "HW", extents);
  for (size_t a = 0; a < 2; ++a)
    windows[a].range = apply_bounds(b, asked[a], extents[a], BoundsPolicy::kError, "HW"[a]);
  return windows;
}

}  // namespace

void define_compat_resize_crop_mirror(RecipeBuilder& b) {
  const auto [rows, columns] = compat_axes(b, nullptr);
  const auto windows = compat_windows(b, rows, columns);
  const StageRef whole = compat_resized(b, {{}, b.extents(0)}, rows, columns);
  const ir::Type& out = b.output_type(0);
  Axes extents = b.extents(0);
  const std::array<size_t, 2> dims = {static_cast<size_t>(rows.dim), static_cast<size_t>(columns.dim)};
  for (size_t a = 0; a < 2; ++a) {
    const int64_t known = out.extents[dims[a]];
    extents[dims[a]] = known >= 0 ? kernel::extent_constant(known) : windows[a].range.extent;
  }
  b.output_stage(0, b.map("window", type_of_image(b), extents, [&](const Axes& at) {
    Axes from = at;
    for (size_t a = 0; a < 2; ++a) {
      const Expr& place = at[dims[a]];
      from[dims[a]] = windows[a].range.start +
                      select(windows[a].mirrored, windows[a].range.extent - i64(1) - place, place);
    }
    return b.load(whole, from);
  }));
}

void output_compat_resized_crop_places(RecipeBuilder& b) {
  const auto [rows, columns] = compat_axes(b, nullptr);
  const auto windows = compat_windows(b, rows, columns);
  const auto along = [](const CompatAxis& axis, const CompatWindow& window) {
    const AxisPlaces resized = places_along(axis);
    const Expr offset = resized.offset - to_f64(window.range.start);
    return AxisPlaces{select(window.mirrored, -resized.factor, resized.factor),
                      select(window.mirrored, to_f64(window.range.extent) - offset, offset)};
  };
  output_places(b, along(columns, windows[1]), along(rows, windows[0]));
}

void output_compat_resized_places(RecipeBuilder& b) {
  const auto [rows, columns] = compat_axes(b, nullptr);
  output_places(b, places_along(columns), places_along(rows));
}

void output_compat_resized_window(RecipeBuilder& b, const AxisRange& rows, const AxisRange& columns,
                                  int64_t height, int64_t width) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const auto h = static_cast<size_t>(at.h), w = static_cast<size_t>(at.w);
  CompatSource source{{}, b.extents(0)};
  source.extents[h] = rows.extent;
  source.extents[w] = columns.extent;
  source.window = b.map("window", type_of_image(b), source.extents, [&](const Axes& place) {
    Axes from = place;
    from[h] = from[h] + rows.start;
    from[w] = from[w] + columns.start;
    return b.load(0, from, Border::kClamp);
  });
  const auto axis = [](int dim, const char* name, const Expr& extent, int64_t n) {
    return CompatAxis{.dim = dim,
                      .name = name,
                      .lo = f64(0),
                      .hi = to_f64(extent),
                      .n = kernel::extent_constant(n),
                      .extent = extent};
  };
  b.output_stage(0, compat_resized(b, source, axis(at.h, "rows", rows.extent, height),
                                   axis(at.w, "columns", columns.extent, width)));
}

std::vector<op::Preset> resize_presets(const std::string& before) {
  std::vector<op::Preset> presets = resize_presets();
  for (op::Preset& preset : presets) preset.differs = before + preset.differs;
  return presets;
}

std::vector<op::Preset> resize_presets() {
  return {
      {.peer = Compat::kPil,
       .differs = "Image.resize: filters cut off at the edge, weights of 22 bits, bytes between columns and "
                  "rows; INTERP_BOX and INTERP_HAMMING too; nearest neighbours by places that add up in "
                  "f64; computed sides lose their fraction"},
      {.peer = Compat::kTorchvision,
       .differs = "resize of a u8 tensor: filters cut off at the edge, weights of 16 bits, bytes between "
                  "columns and rows; INTERP_NN is InterpolationMode.NEAREST; computed sides lose their "
                  "fraction"},
      {.peer = Compat::kOpenCv,
       .differs = "cv2.resize: INTERP_LINEAR and INTERP_CUBIC of 11-bit weights without antialiasing, "
                  "INTERP_BOX is INTER_AREA"}};
}

}  // namespace galatea::ops
