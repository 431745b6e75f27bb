// Resampling: see resample.h for the meaning.
#include "stdlib_ops/common/resample.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numbers>

namespace galatea::ops {
namespace {

constexpr int64_t kWeightSum = 16384;  // 14 bits: 255 * 16384 * 1.5 stays far inside i32
constexpr double kMaxSpan = 16777216;  // an interval longer than any image
constexpr double kTie =
    1e-9;  // a pixel exactly at the left end of the filter counts, whatever the rounding of positions

/// The filter of one axis of one sample.
struct AxisFilter {
  Expr type;                       ///< i64; constant where the text fixes it
  std::vector<Filter> candidates;  ///< what `type` can be
  Expr radius;                     ///< f64
  Expr inverse_radius;             ///< f32
  Expr taps;                       ///< i64
  Expr scale;                      ///< f64; negative mirrors
};

/// Where nearest neighbours along one axis are: cell i looks at floor(start + (i + 1/2) step), in f32, pixels
/// from `origin` on. Rows get there by adding step after step, so that their errors add up.
struct NearestAxis {
  Expr start, step;   ///< f32
  Expr origin, last;  ///< i64
  bool adds_up = false;
};

double base_radius(Filter filter) {
  return filter == Filter::kCubic ? 2 : filter == Filter::kLanczos3 ? 3 : 1;
}

/// The value of `of(filter)` for the axis's filter.
template <typename F>
Expr by_filter(const AxisFilter& filter, const F& of) {
  Expr result = of(filter.candidates.back());
  for (size_t n = filter.candidates.size() - 1; n-- > 0;)
    result = select(equal(filter.type, i64(static_cast<int64_t>(filter.candidates[n]))),
                    of(filter.candidates[n]), result);
  return result;
}

bool may_be_nearest(const AxisFilter& filter) {
  return std::find(filter.candidates.begin(), filter.candidates.end(), Filter::kNearest) !=
         filter.candidates.end();
}

std::vector<Filter> candidates(const Expr& type, const Expr& min_type, const Expr& mag_type) {
  if (kernel::is_const(type)) return {static_cast<Filter>(kernel::const_value(type))};
  if (kernel::is_const(min_type) && kernel::is_const(mag_type))
    return {static_cast<Filter>(kernel::const_value(min_type)),
            static_cast<Filter>(kernel::const_value(mag_type))};
  return {Filter::kNearest,  Filter::kLinear,     Filter::kCubic,
          Filter::kLanczos3, Filter::kTriangular, Filter::kGaussian};
}

/// The filter argument: the specific one, else interp_type, else the default.
Expr filter_argument(RecipeBuilder& b, const char* specific) {
  const char* name = b.given(specific) || !b.given("interp_type") ? specific : "interp_type";
  const Expr type = b.arg(name, DType::kI64);
  b.check((type >= i64(0)) & (type <= i64(5)), "{} is not an interpolation type", {type},
          "use types.INTERP_NN, INTERP_LINEAR, INTERP_CUBIC, INTERP_LANCZOS3 or INTERP_GAUSSIAN", name);
  return type;
}

AxisFilter axis_filter(RecipeBuilder& b, const ResampleAxis& axis) {
  AxisFilter f;
  const Expr span = absolute(axis.hi - axis.lo);
  const Expr cells = to_f64(max(axis.n, i64(1)));
  const Expr shrinking = cells < span;
  const Expr min_type = filter_argument(b, "min_filter"), mag_type = filter_argument(b, "mag_filter");
  f.type = same(min_type, mag_type) ? min_type : select(shrinking, min_type, mag_type);
  f.candidates = candidates(f.type, min_type, mag_type);
  f.scale = (axis.hi - axis.lo) / cells;
  const bool antialias = b.flag("antialias");
  // Only a shrinking axis widens its filter.
  const Expr shrunk = select(shrinking, span / cells, f64(1));
  const Expr widening = axis.span ? max(axis.span, shrunk) : shrunk;
  f.radius = by_filter(f, [&](Filter filter) {
    if (filter == Filter::kNearest) return f64(0.5);
    return antialias ? f64(base_radius(filter)) * widening : f64(base_radius(filter));
  });
  f.inverse_radius = to_f32(f64(1) / f.radius);
  f.taps = max(ceil_to_i64(f64(2) * f.radius - f64(kTie)), i64(1));
  return f;
}

Expr sinc(const Expr& x) {
  const Expr angle = x * f32(std::numbers::pi);
  const Expr ratio = kernel::unary(ScalarOp::kSin, angle) / angle;
  return select(absolute(x) < f32(1e-5), f32(1), ratio);
}

/// Weight before normalisation of a pixel at distance t (f32).
Expr window(Filter filter, const Expr& t, const Expr& inverse_radius) {
  const Expr u = absolute(t) * inverse_radius;  // in radii
  switch (filter) {
    case Filter::kNearest:
      return f32(1);
    case Filter::kLinear:
    case Filter::kTriangular:
      return max(f32(1) - u, f32(0));
    case Filter::kCubic: {
      const Expr v = u * f32(2), v2 = v * v, v3 = v2 * v;
      const Expr inner = f32(1.5) * v3 - f32(2.5) * v2 + f32(1);
      const Expr outer = f32(-0.5) * v3 + f32(2.5) * v2 - f32(4) * v + f32(2);
      return select(v <= f32(1), inner, select(v < f32(2), outer, f32(0)));
    }
    case Filter::kLanczos3:
      return select(u < f32(1), sinc(u * f32(3)) * sinc(u), f32(0));
    case Filter::kGaussian: {
      const Expr v = u * f32(2);
      return select(u <= f32(1.000001), kernel::unary(ScalarOp::kExp, -(v * v)), f32(0));
    }
    case Filter::kBox:
    case Filter::kHamming:
      break;  // of presets: check_filters() refuses them here
  }
  return f32(0);
}

/// Pixels [begin, end) of the input that an axis may look at (i64).
struct Reach {
  Expr begin, end;
};

Reach reach_of(RecipeBuilder& b, const ResampleAxis& axis) {
  const Expr extent = b.extent(0, axis.dim);
  if (same(axis.lo, f64(0)) && same(axis.hi, to_f64(extent))) return {i64(0), extent};
  const Expr lo = to_f32(axis.lo), hi = to_f32(axis.hi);
  return {clamp(floor_to_i64(kernel::min(lo, hi)), i64(0), extent),
          clamp(ceil_to_i64(max(lo, hi) + f32(1)), i64(0), extent)};
}

/// DALI resamples axis after axis, the cheaper order first, and counts the positions of the second axis from
/// the first pixel that is needed of it. Numbers that are counted from elsewhere round elsewhere, so nearest
/// neighbours depend on it. Rows and columns.
std::array<NearestAxis, 2> nearest_axes(RecipeBuilder& b, const ResampleAxis& rows,
                                        const ResampleAxis& columns) {
  const Reach y = reach_of(b, rows), x = reach_of(b, columns);
  const auto cost = [](double factor, const Expr& pixels) {
    return f32(factor) * to_f32(pixels) + to_f32(pixels) * f32(3);
  };
  constexpr double kAcross = 1.4, kDown = 1;
  const Expr cells = rows.n * columns.n;
  const Expr columns_first = cost(kAcross, columns.n * (y.end - y.begin)) + cost(kDown, cells);
  const Expr rows_first = cost(kDown, rows.n * (x.end - x.begin)) + cost(kAcross, cells);
  const Expr by_rows = rows_first < columns_first;
  const auto axis = [&](const ResampleAxis& a, const Reach& reach, const Expr& is_first, bool adds_up) {
    const Expr lo = to_f32(a.lo), hi = to_f32(a.hi);
    const Expr origin = select(is_first, i64(0), reach.begin);
    return NearestAxis{.start = lo - to_f32(origin),
                       .step = (hi - lo) / to_f32(max(a.n, i64(1))),
                       .origin = origin,
                       .last = select(is_first, b.extent(0, a.dim), reach.end) - i64(1),
                       .adds_up = adds_up};
  };
  return {axis(rows, y, by_rows, true), axis(columns, x, logical_not(by_rows), false)};
}

/// The pixel of each cell, as an expression of the cell.
std::function<Expr(const Expr&)> nearest_pixels(RecipeBuilder& b, const ResampleAxis& axis,
                                                const NearestAxis& nearest, const std::string& name) {
  const Expr& start = nearest.start;
  const Expr& step = nearest.step;
  if (!nearest.adds_up) {
    return [=](const Expr& i) {
      // Cells as wide as pixels are copied as a run.
      const Expr here = select(equal(step, f32(1)), floor_to_i64(start + f32(0.5)) + i,
                               floor_to_i64(start + (to_f32(i) + f32(0.5)) * step));
      return clamp(here + nearest.origin, nearest.origin, nearest.last);
    };
  }
  const StageRef places = b.scan(
      {.name = name + "_places",
       .type = DType::kF32,
       .extents = {axis.n},
       .accumulator = DType::kF32,
       .body = [&](const Axes& at) { return select(equal(at[0], i64(0)), start + f32(0.5) * step, step); }});
  // Bounds that change no pixel, and tell windows where rows can be: the first row is not past any other, and
  // sums are off by half a unit in the last place of the largest number each; here by twice as much.
  const Expr first = floor_to_i64(start + f32(0.5) * step) + nearest.origin, down = step > f32(0);
  const Expr least = max(select(down, first, nearest.origin), nearest.origin);
  const Expr most = kernel::min(select(down, nearest.last, first), nearest.last);
  const Expr largest = max(absolute(axis.lo), absolute(axis.hi));
  const Expr slack = to_f64(axis.n + i64(8)) * largest * f64(0x1p-23);
  const Expr scale = (axis.hi - axis.lo) / to_f64(max(axis.n, i64(1)));
  return [=, &b](const Expr& i) {
    const Expr exact = axis.lo + (to_f64(i) + f64(0.5)) * scale;
    const Expr here = floor_to_i64(b.load(places, {i})) + nearest.origin;
    return clamp(here, max(floor_to_i64(exact - slack), least),
                 kernel::min(floor_to_i64(exact + slack), most));
  };
}

/// The table stages of one axis.
struct Tables {
  StageRef first;
  StageRef weight;
  bool has_weight = false;  ///< nearest neighbour needs none
  Expr taps;
};

Tables make_tables(RecipeBuilder& b, const ResampleAxis& axis, const AxisFilter& f,
                   const NearestAxis& nearest, const std::string& name, bool integer_weights) {
  auto sample_point = [&](const Expr& i) { return axis.lo + (to_f64(i) + f64(0.5)) * f.scale; };
  Tables tables;
  tables.taps = f.taps;
  const auto pixel = may_be_nearest(f) ? nearest_pixels(b, axis, nearest, name) : nullptr;
  tables.first = b.map(name + "_first", DType::kI64, {axis.n}, [&](const Axes& at) {
    return by_filter(f, [&](Filter filter) {
      if (filter == Filter::kNearest) return pixel(at[0]);
      return ceil_to_i64(sample_point(at[0]) - (f.radius + f64(0.5 + kTie)));
    });
  });
  if (f.candidates.size() == 1 && f.candidates[0] == Filter::kNearest) return tables;

  tables.has_weight = true;
  auto first = [&](const Expr& i) { return b.load(tables.first, {i}); };
  const StageRef raw = b.map(name + "_raw", DType::kF32, {axis.n, f.taps}, [&](const Axes& at) {
    const Expr t = to_f32(to_f64(first(at[0]) + at[1]) + f64(0.5) - sample_point(at[0]));
    return by_filter(f, [&](Filter filter) { return window(filter, t, f.inverse_radius); });
  });
  const StageRef sum = b.reduce(
      {.name = name + "_sum",
       .type = DType::kF32,
       .extents = {axis.n},
       .reduce_extents = {f.taps},
       .accumulator = DType::kF64,
       .body = [&](const Axes& at, const Axes& over) { return to_f64(b.load(raw, {at[0], over[0]})); }});
  auto normalised = [&](const Axes& at) { return b.load(raw, {at[0], at[1]}) / b.load(sum, {at[0]}); };
  if (!integer_weights) {
    tables.weight = b.map(name + "_weight", DType::kF32, {axis.n, f.taps}, normalised);
    return tables;
  }
  const StageRef rounded = b.map(name + "_rounded", DType::kI32, {axis.n, f.taps}, [&](const Axes& at) {
    return kernel::saturate(normalised(at) * f32(static_cast<double>(kWeightSum)), DType::kI32);
  });
  const StageRef total =
      b.reduce({.name = name + "_total",
                .type = DType::kI32,
                .extents = {axis.n},
                .reduce_extents = {f.taps},
                .accumulator = DType::kI32,
                .body = [&](const Axes& at, const Axes& over) { return b.load(rounded, {at[0], over[0]}); }});
  tables.weight = b.map(name + "_weight", DType::kI32, {axis.n, f.taps}, [&](const Axes& at) {
    const Expr centre = clamp(floor_to_i64(sample_point(at[0])) - first(at[0]), i64(0), f.taps - i64(1));
    const Expr rest = kernel::const_int(kWeightSum, DType::kI32) - b.load(total, {at[0]});
    return b.load(rounded, {at[0], at[1]}) +
           select(equal(at[1], centre), rest, kernel::const_int(0, DType::kI32));
  });
  return tables;
}

}  // namespace

std::vector<ArgSpec> filter_args() {
  const int64_t linear = static_cast<int64_t>(Filter::kLinear);
  return {
      {.name = "interp_type",
       .kind = ArgKind::kInterp,
       .default_value = linear,
       .per_sample = true,
       .documentation = "Filter for both shrinking and enlarging."},
      {.name = "min_filter",
       .kind = ArgKind::kInterp,
       .default_value = linear,
       .per_sample = true,
       .documentation = "Filter along axes that shrink; wins over interp_type."},
      {.name = "mag_filter",
       .kind = ArgKind::kInterp,
       .default_value = linear,
       .per_sample = true,
       .documentation = "Filter along axes that grow or keep their extent; wins over interp_type."},
      {.name = "antialias",
       .kind = ArgKind::kBool,
       .default_value = true,
       .documentation = "Whether filters widen with the reduction where an axis shrinks."},
      dtype_arg("Element type of the output: the input's or FLOAT."),
      ignored("minibatch_size", ArgKind::kInt, int64_t{32}, "A hint; not needed here."),
      ignored("temp_buffer_hint", ArgKind::kInt, int64_t{0}, "A hint; not needed here."),
  };
}

namespace {

/// What DALI does not have, other libraries do.
Status check_filters(const TypeContext& ctx) {
  if (ctx.compat() != op::Compat::kDali) return {};  // the preset knows its filters
  for (const char* name : {"interp_type", "min_filter", "mag_filter"})
    if (given_static(ctx, name) && ctx.integer(name) > static_cast<int64_t>(Filter::kGaussian))
      return ctx.error(ctx.op().name + ": DALI has neither INTERP_BOX nor INTERP_HAMMING",
                       "use types.INTERP_LINEAR, or a preset whose library has the filter: compat=\"pil\"",
                       name);
  return {};
}

}  // namespace

Result<DType> resampled_dtype(const TypeContext& ctx) {
  GALATEA_TRY(check_filters(ctx));
  const DType in = ctx.input(0).dtype, dtype = ctx.dtype("dtype", in);
  if (dtype != in && dtype != DType::kF32)
    return ctx.error(fmt::format("{}: dtype {} is neither the input's type ({}) nor FLOAT", ctx.op().name,
                                 types_name(dtype), types_name(in)),
                     "convert the result with fn.cast", "dtype");
  return dtype;
}

namespace {

/// Output cells per pixel: an image scaled by this still has a pixel for each cell. Without antialiasing or
/// with nearest neighbours, single pixels of the image matter.
void tell_least_scale(RecipeBuilder& b, const ResampleAxis& rows, const ResampleAxis& columns) {
  const Expr filter = filter_argument(b, "min_filter");
  if (!b.flag("antialias") || !kernel::is_const(filter) || kernel::is_const_int(filter, 0)) return;
  auto cells_per_pixel = [](const ResampleAxis& axis) {
    return to_f64(axis.n) / absolute(axis.hi - axis.lo);
  };
  b.least_scale(max(cells_per_pixel(rows), cells_per_pixel(columns)));
}

/// What resamplings behind or before this one must know to become one with it. Filters that only the sample
/// knows, that differ in kind or do not widen, stay alone.
void tell_view(RecipeBuilder& b, const ResampleAxis& rows, const ResampleAxis& columns) {
  const Expr small = filter_argument(b, "min_filter"), large = filter_argument(b, "mag_filter");
  if (!b.flag("antialias") || !kernel::is_const(small) || !kernel::is_const(large)) return;
  const auto kind = [](const Expr& e) {
    const auto filter = static_cast<Filter>(kernel::const_value(e));
    return filter == Filter::kTriangular ? Filter::kLinear : filter;
  };
  if (kind(small) != kind(large) || kind(small) == Filter::kNearest) return;
  const auto scale = [](const ResampleAxis& axis) {
    return (axis.hi - axis.lo) / to_f64(max(axis.n, i64(1)));
  };
  const auto span = [&](const ResampleAxis& axis) {
    const Expr least = axis.span ? max(axis.span, f64(1)) : f64(1);
    return max(absolute(scale(axis)), least);
  };
  op::AffineView view{.map = {scale(columns), f64(0), columns.lo, f64(0), scale(rows), rows.lo},
                      .h = rows.dim,
                      .w = columns.dim,
                      .filter = kind(small)};
  if (view.filter == Filter::kCubic) view.cubic = f32(-0.5);
  view.span = {span(columns), span(rows)};
  view.within = rows.within && columns.within;
  b.shows(std::move(view));
}

}  // namespace

StageRef resample(RecipeBuilder& b, ResampleAxis rows, ResampleAxis columns,
                  std::optional<ResampleAxis> slices) {
  std::vector<ResampleAxis*> axes = {&rows, &columns};
  if (slices) axes.push_back(&*slices);
  for (const ResampleAxis* axis : axes)
    b.check((absolute(axis->lo) <= f64(kMaxSpan)) & (absolute(axis->hi) <= f64(kMaxSpan)),
            "the region of interest from {} to {} is not a place in an image", {axis->lo, axis->hi});
  if (!slices) {
    tell_least_scale(b, rows, columns);
    tell_view(b, rows, columns);
  }
  for (ResampleAxis* axis : axes) {
    const Expr length = absolute(axis->hi - axis->lo);
    axis->lo = b.scaled(0, axis->dim, axis->lo);
    axis->hi = b.scaled(0, axis->dim, axis->hi);
    if (axis->span) axis->span = axis->span * (absolute(axis->hi - axis->lo) / length);
  }
  // Where the result keeps fractions, weights of 14 bits would show.
  const bool integer = b.input_type(0).dtype == DType::kU8 && b.output_type(0).dtype == DType::kU8;
  const DType out = b.output_type(0).dtype;
  const AxisFilter across_filter = axis_filter(b, columns), down_filter = axis_filter(b, rows);
  std::array<NearestAxis, 2> nearest;
  if (may_be_nearest(across_filter) || may_be_nearest(down_filter)) nearest = nearest_axes(b, rows, columns);
  const Tables horizontal = make_tables(b, columns, across_filter, nearest[1], "columns", integer);
  const Tables vertical = make_tables(b, rows, down_filter, nearest[0], "rows", false);
  std::optional<Tables> through;
  if (slices) {
    // Slices get there without adding up, from the first of the volume.
    const NearestAxis places{.start = to_f32(slices->lo),
                             .step = to_f32(slices->hi - slices->lo) / to_f32(max(slices->n, i64(1))),
                             .origin = i64(0),
                             .last = b.extent(0, slices->dim) - i64(1)};
    through = make_tables(b, *slices, axis_filter(b, *slices), places, "slices", false);
  }
  const auto w = static_cast<size_t>(columns.dim), h = static_cast<size_t>(rows.dim);
  const DType accumulator = integer ? DType::kI32 : DType::kF32;
  const Expr one = integer ? kernel::const_int(kWeightSum, DType::kI32) : f32(1);

  std::vector<Expr> extents = b.extents(0);
  if (!horizontal.has_weight && !vertical.has_weight && !(through && through->has_weight)) {
    // One pixel each: no sum, nothing between the axes.
    for (const ResampleAxis* axis : axes) extents[static_cast<size_t>(axis->dim)] = axis->n;
    return b.map("resize", out, extents, [&](const Axes& at) {
      Axes from = at;
      const auto look = [&](int dim, const Tables& tables) {
        auto& index = from[static_cast<size_t>(dim)];
        index = b.load(tables.first, {index});
      };
      look(rows.dim, vertical);
      look(columns.dim, horizontal);
      if (through) look(slices->dim, *through);
      return kernel::saturate(b.load(0, from, Border::kClamp), out);
    });
  }
  extents[w] = columns.n;
  const StageRef across = b.band(
      {.name = "across",
       .type = DType::kF32,
       .extents = extents,
       .axis = columns.dim,
       .accumulator = accumulator,
       .taps = horizontal.taps,
       .first = [&](Expr i) { return b.load(horizontal.first, {i}); },
       .weight = [&](Expr i,
                     Expr k) { return horizontal.has_weight ? b.load(horizontal.weight, {i, k}) : one; },
       .source =
           [&](const Axes& at, Expr index) {
             Axes from = at;
             from[w] = index;
             return b.load(0, from, Border::kClamp);
           },
       .finish = [&](Expr acc) { return integer ? to_f32(acc) * f32(1.0 / kWeightSum) : acc; }});
  extents[h] = rows.n;
  const StageRef down = b.band(
      {.name = slices ? "down" : "resize",
       .type = slices ? DType::kF32 : out,
       .extents = extents,
       .axis = rows.dim,
       .accumulator = DType::kF32,
       .taps = vertical.taps,
       .first = [&](Expr i) { return b.load(vertical.first, {i}); },
       .weight = [&](Expr i,
                     Expr k) { return vertical.has_weight ? b.load(vertical.weight, {i, k}) : f32(1); },
       .source =
           [&](const Axes& at, Expr index) {
             Axes from = at;
             from[h] = index;
             return b.load(across, from, Border::kClamp);
           },
       .finish = [&](Expr acc) { return slices ? acc : kernel::saturate(acc, out); }});
  if (!slices) return down;
  const auto d = static_cast<size_t>(slices->dim);
  extents[d] = slices->n;
  return b.band(
      {.name = "resize",
       .type = out,
       .extents = extents,
       .axis = slices->dim,
       .accumulator = DType::kF32,
       .taps = through->taps,
       .first = [&](Expr i) { return b.load(through->first, {i}); },
       .weight = [&](Expr i,
                     Expr k) { return through->has_weight ? b.load(through->weight, {i, k}) : f32(1); },
       .source =
           [&](const Axes& at, Expr index) {
             Axes from = at;
             from[d] = index;
             return b.load(down, from, Border::kClamp);
           },
       .finish = [&](Expr acc) { return kernel::saturate(acc, out); }});
}

}  // namespace galatea::ops
