// See resize.h. Sources of the formulas: Pillow's Resample.c and Geometry.c, PyTorch's UpSampleKernel.cpp, OpenCV's
// resize.cpp, as recorded outputs of the libraries confirm (tests/oracle, group compat_resize).
//
// All filter columns first, then rows. Pillow and torchvision round to bytes in between: weights are integers,
// away(w 2^p) of f64 weights w, with p = 22 in Pillow and, in torchvision, the largest p with which the axis's
// largest weight stays below 2^15. What differs in p alone is written with p = 22 here: weights times 2^(22 - p)
// give the same bytes. OpenCV has weights of 11 bits and keeps what columns give in i32 or f32.
//
// Floats have the same weights before they are rounded. Pillow (mode F) adds up in f64, the others in f32.
#include "stdlib_ops/compat/resize.h"

#include <array>
#include <cmath>
#include <numbers>

#include "stdlib_ops/common/places.h"
#include "stdlib_ops/common/resample.h"
#include "stdlib_ops/compat/checks.h"

namespace galatea::ops {
namespace {

constexpr int64_t kByteBits = 22;        // of weights between bytes
constexpr int64_t kOpenCvBits = 11;      // of OpenCV's weights
constexpr double kOpenCvCubic = -0.75;   // a of OpenCV's cubic, and of torchvision's without antialiasing
constexpr double kAreaSlack = 1e-3;      // a part of a pixel that OpenCV's INTER_AREA leaves out
constexpr double kWholeSlack = 0x1p-52;  // DBL_EPSILON

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

DType type_of_image(const RecipeBuilder& b) { return b.input_type(0).dtype; }
bool is_of_floats(const RecipeBuilder& b) { return type_of_image(b) == DType::kF32; }

/// One axis: cells 0 … n-1 sample [lo, hi) of `extent` pixels.
struct CompatAxis {
  int dim = 0;
  std::string name;
  Expr lo, hi;     // f64
  Expr n, extent;  // i64
  Expr scale() const { return (hi - lo) / to_f64(n); }
};

/// What is resized: input 0, or a stage that is a window of it.
struct CompatSource {
  StageRef window;
  Axes extents;
};

/// What a band along an axis needs.
struct CompatBand {
  StageRef first, weight;
  Expr taps;
};

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
      const Expr x = f64(static_cast<double>(t + 1 - taps / 2)) - beyond;
      const Expr meant = clamp(leftmost(at[0]) + i64(t), i64(0), last);
      sum = sum + select(equal(meant, here), filter_f64(filter, x, kOpenCvCubic), f64(0));
    }
    return sum;
  });
  band.weight = weights_of(b, axis, exact, band.taps);
  return band;
}

/// What a band gives along `axis` of input 0 (where source.index < 0) or of a stage.
StageRef apply_band(RecipeBuilder& b, const std::string& name, const CompatAxis& axis, const CompatBand& band,
                    StageRef source, Axes extents, DType type, DType accumulator,
                    const std::function<Expr(Expr)>& finish) {
  const auto a = static_cast<size_t>(axis.dim);
  extents[a] = axis.n;
  return b.band({.name = name,
                 .type = type,
                 .extents = std::move(extents),
                 .axis = axis.dim,
                 .accumulator = accumulator,
                 .taps = band.taps,
                 .first = [&](Expr i) { return b.load(band.first, {i}); },
                 .weight = [&](Expr i, Expr k) { return b.load(band.weight, {i, k}); },
                 .source =
                     [&](const Axes& at, Expr index) {
                       Axes from = at;
                       from[a] = index;
                       return source.index < 0 ? b.load(0, from, Border::kClamp)
                                               : b.load(source, from, Border::kClamp);
                     },
                 .finish = finish});
}

/// round(value / 2^bits), half up, as a byte.
Expr byte_of(const Expr& value, int64_t bits) {
  const Expr half = kernel::const_int(int64_t{1} << (bits - 1), value.type());
  return kernel::saturate(shift_right(value + half, bits), DType::kU8);
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
  Axes extents = source.extents;
  const StageRef across =
      apply_band(b, "across", columns, band(columns), source.window, extents, type, accumulator, finish);
  extents[static_cast<size_t>(columns.dim)] = columns.n;
  return apply_band(b, "resize", rows, band(rows), across, extents, type, accumulator, finish);
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

// ---- OpenCV

/// Pixels of the input per cell, as cv2.resize computes it.
Expr opencv_scale(const CompatAxis& axis) { return f64(1) / (to_f64(axis.n) / to_f64(axis.extent)); }

/// The place of a cell, f32, counted from the middle of the first pixel.
Expr opencv_place(const CompatAxis& axis, const Expr& i) {
  return to_f32((to_f64(i) + f64(0.5)) * opencv_scale(axis) - f64(0.5));
}

/// OpenCV's weights [n, taps] of f32 ones: of bytes, in 11 bits, half to even.
StageRef opencv_weights_of(RecipeBuilder& b, const CompatAxis& axis, const Expr& taps,
                           const std::function<Expr(const Axes&)>& weight) {
  if (is_of_floats(b)) return b.map(axis.name + "_weight", DType::kF32, {axis.n, taps}, weight);
  return b.map(axis.name + "_weight", DType::kI32, {axis.n, taps}, [&](const Axes& at) {
    return kernel::saturate(weight(at) * f32(1 << kOpenCvBits), DType::kI32);
  });
}

/// Sums along columns, before rows are added up.
DType type_of_sums(const RecipeBuilder& b) { return is_of_floats(b) ? DType::kF32 : DType::kI32; }

/// Two pixels. Of columns, the second one counts nothing at the edge; of rows it is the edge again.
CompatBand linear_pair(RecipeBuilder& b, const CompatAxis& axis, bool stops_at_edge) {
  const Expr last = axis.extent - i64(1);
  const auto left = [=](const Expr& i) { return floor_to_i64(opencv_place(axis, i)); };
  CompatBand band;
  band.taps = i64(2);
  band.first = b.map(axis.name + "_first", DType::kI64, {axis.n}, [&](const Axes& at) {
    return stops_at_edge ? clamp(left(at[0]), i64(0), last) : left(at[0]);
  });
  band.weight = opencv_weights_of(b, axis, band.taps, [&](const Axes& at) {
    const Expr place = opencv_place(axis, at[0]);
    Expr beyond = place - kernel::unary(ScalarOp::kFloor, place);
    if (stops_at_edge) beyond = select((left(at[0]) < i64(0)) | (left(at[0]) >= last), f32(0), beyond);
    return select(equal(at[1], i64(0)), f32(1) - beyond, beyond);
  });
  return band;
}

StageRef opencv_linear(RecipeBuilder& b, const CompatSource& source, const CompatAxis& rows,
                       const CompatAxis& columns) {
  const StageRef across = apply_band(b, "across", columns, linear_pair(b, columns, true), source.window,
                                     source.extents, type_of_sums(b), type_of_sums(b), {});
  const CompatBand down = linear_pair(b, rows, false);
  Axes extents = source.extents;
  const auto h = static_cast<size_t>(rows.dim);
  extents[h] = rows.n;
  extents[static_cast<size_t>(columns.dim)] = columns.n;
  if (is_of_floats(b)) {
    extents[h] = source.extents[h];
    return apply_band(b, "resize", rows, down, across, extents, DType::kF32, DType::kF32, {});
  }
  return b.map("resize", DType::kU8, extents, [&](const Axes& at) {
    // Each product loses its low bits before the sum, as in 16-bit lanes.
    Expr sum = kernel::const_int(2, DType::kI32);
    for (int64_t k = 0; k < 2; ++k) {
      Axes from = at;
      from[h] = b.load(down.first, {at[h]}) + i64(k);
      const Expr value = shift_right(b.load(across, from, Border::kClamp), 4);
      sum = sum + shift_right(value * b.load(down.weight, {at[h], i64(k)}), 16);
    }
    return kernel::saturate(shift_right(sum, 2), DType::kU8);
  });
}

CompatBand cubic_four(RecipeBuilder& b, const CompatAxis& axis) {
  CompatBand band;
  band.taps = i64(4);
  band.first = b.map(axis.name + "_first", DType::kI64, {axis.n},
                     [&](const Axes& at) { return floor_to_i64(opencv_place(axis, at[0])) - i64(1); });
  band.weight = opencv_weights_of(b, axis, band.taps, [&](const Axes& at) {
    const Expr place = opencv_place(axis, at[0]);
    const Expr x = place - kernel::unary(ScalarOp::kFloor, place), y = f32(1) - x;
    const Expr a = f32(kOpenCvCubic), z = x + f32(1);
    const Expr c0 = ((a * z - f32(5) * a) * z + f32(8) * a) * z - f32(4) * a;
    const auto inner = [&](const Expr& t) { return ((a + f32(2)) * t - (a + f32(3))) * t * t + f32(1); };
    const Expr c1 = inner(x), c2 = inner(y);
    return choose(at[1], {c0, c1, c2, f32(1) - c0 - c1 - c2});
  });
  return band;
}

StageRef opencv_cubic(RecipeBuilder& b, const CompatSource& source, const CompatAxis& rows,
                      const CompatAxis& columns) {
  const StageRef across = apply_band(b, "across", columns, cubic_four(b, columns), source.window,
                                     source.extents, type_of_sums(b), type_of_sums(b), {});
  Axes extents = source.extents;
  extents[static_cast<size_t>(columns.dim)] = columns.n;
  std::function<Expr(Expr)> finish;
  if (!is_of_floats(b)) finish = [](const Expr& sum) { return byte_of(sum, 2 * kOpenCvBits); };
  return apply_band(b, "resize", rows, cubic_four(b, rows), across, extents, type_of_image(b),
                    type_of_sums(b), finish);
}

/// Pixels that a cell covers, by the share of the cell that each fills; by 1 where factors are whole.
CompatBand area_band(RecipeBuilder& b, const CompatAxis& axis, const Expr& whole) {
  const Expr scale = opencv_scale(axis);
  const auto begin = [=](const Expr& i) { return to_f64(i) * scale; };
  const auto second = [=](const Expr& i) { return floor_to_i64(begin(i) + scale); };
  const Expr last = axis.extent - i64(1);
  const auto end = [=](const Expr& i) { return kernel::min(second(i), last); };
  const auto start = [=](const Expr& i) { return kernel::min(ceil_to_i64(begin(i)), end(i)); };
  const Expr factor = round_to_i64(scale);
  CompatBand band;
  band.taps = ceil_to_i64(scale) + i64(1);
  band.first = b.map(axis.name + "_first", DType::kI64, {axis.n}, [&](const Axes& at) {
    const Expr from = start(at[0]);
    const Expr part = (to_f64(from) - begin(at[0])) > f64(kAreaSlack);
    return select(whole, at[0] * factor, select(part, from - i64(1), from));
  });
  band.weight = b.map(axis.name + "_weight", DType::kF32, {axis.n, band.taps}, [&](const Axes& at) {
    const Expr pixel = b.load(band.first, {at[0]}) + at[1], from = start(at[0]), to = end(at[0]);
    const Expr cell = kernel::min(scale, to_f64(axis.extent) - begin(at[0]));
    const Expr rest = begin(at[0]) + scale - to_f64(to);
    const Expr behind =
        select(rest > f64(kAreaSlack), kernel::min(kernel::min(rest, f64(1)), cell) / cell, f64(0));
    const Expr share = select(pixel < from, (to_f64(from) - begin(at[0])) / cell,
                              select(pixel < to, f64(1) / cell, select(equal(pixel, to), behind, f64(0))));
    return select(whole, select(at[1] < factor, f32(1), f32(0)), to_f32(share));
  });
  return band;
}

StageRef opencv_area(RecipeBuilder& b, const CompatSource& source, const CompatAxis& rows,
                     const CompatAxis& columns) {
  b.check(
      (rows.n <= rows.extent) & (columns.n <= columns.extent),
      "INTERP_BOX is OpenCV's INTER_AREA, which only shrinks here: {} x {} would be larger than the image",
      {rows.n, columns.n}, "use types.INTERP_LINEAR where an image grows", "interp_type");
  const Expr down = opencv_scale(rows), across = opencv_scale(columns);
  const auto is_whole = [](const Expr& scale) {
    return absolute(scale - to_f64(round_to_i64(scale))) < f64(kWholeSlack);
  };
  const Expr whole = is_whole(down) & is_whole(across);
  const Expr cells = round_to_i64(down) * round_to_i64(across);
  const Expr two = equal(round_to_i64(down), i64(2)) & equal(round_to_i64(across), i64(2)) & whole;
  const Expr share = f32(1) / to_f32(cells);
  const StageRef sums = apply_band(b, "across", columns, area_band(b, columns, whole), source.window,
                                   source.extents, DType::kF32, DType::kF32, {});
  Axes extents = source.extents;
  extents[static_cast<size_t>(columns.dim)] = columns.n;
  return apply_band(b, "resize", rows, area_band(b, rows, whole), sums, extents, type_of_image(b),
                    DType::kF32, [&](const Expr& sum) {
                      if (is_of_floats(b)) return select(whole, sum * share, sum);
                      const Expr half_up = kernel::unary(ScalarOp::kFloor, (sum + f32(2)) * f32(0.25));
                      return kernel::saturate(select(two, half_up, select(whole, sum * share, sum)),
                                              DType::kU8);
                    });
}

StageRef compat_resized(RecipeBuilder& b, const CompatSource& source, const CompatAxis& rows,
                        const CompatAxis& columns) {
  const Filter filter = filter_of_call(b);
  if (filter == Filter::kNearest) return resize_nearest(b, source, rows, columns);
  if (b.compat() != Compat::kOpenCv) return resize_filtered(b, source, rows, columns, filter);
  if (filter == Filter::kLinear) return opencv_linear(b, source, rows, columns);
  return filter == Filter::kCubic ? opencv_cubic(b, source, rows, columns)
                                  : opencv_area(b, source, rows, columns);
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

void output_compat_resized_places(RecipeBuilder& b) {
  const auto [rows, columns] = compat_axes(b, nullptr);
  const auto along = [](const CompatAxis& axis) {
    const Expr factor = to_f64(axis.n) / (axis.hi - axis.lo);
    return AxisPlaces{factor, -(axis.lo * factor)};
  };
  output_places(b, along(columns), along(rows));
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
