// Resampling: see resample.h for the meaning.
#include "stdlib_ops/common/resample.h"

#include <algorithm>
#include <numbers>
#include <optional>

#include "stdlib_ops/common/gaussian_window.h"
#include "stdlib_ops/common/nearest.h"

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
  GaussianWidth gaussian;
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

bool may_be(const AxisFilter& filter, Filter kind) {
  return std::ranges::find(filter.candidates, kind) != filter.candidates.end();
}

/// Whether it matters from where DALI counts positions.
bool is_counted(const AxisFilter& filter) {
  return may_be(filter, Filter::kNearest) || may_be(filter, Filter::kGaussian);
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
  const auto number = [](Filter filter) { return i64(static_cast<int64_t>(filter)); };
  if (axis.is_kept) {
    // Only a Gaussian changes pixels that lie where they lay.
    f.type = select(equal(mag_type, number(Filter::kGaussian)), number(Filter::kGaussian),
                    number(Filter::kNearest));
    f.candidates = candidates(f.type, number(Filter::kNearest), number(Filter::kGaussian));
  } else {
    f.type = same(min_type, mag_type) ? min_type : select(shrinking, min_type, mag_type);
    f.candidates = candidates(f.type, min_type, mag_type);
  }
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
  f.gaussian = gaussian_width(to_f32(f.radius));
  f.taps = by_filter(f, [&](Filter filter) {
    return filter == Filter::kGaussian ? f.gaussian.taps
                                       : max(ceil_to_i64(f64(2) * f.radius - f64(kTie)), i64(1));
  });
  return f;
}

AxisReach reach_of(const AxisFilter& f) {
  const Expr before = by_filter(f, [&](Filter filter) {
    if (filter == Filter::kNearest) return f32(0);
    return filter == Filter::kGaussian ? f.gaussian.half : to_f32(f.radius);
  });
  return {.before = before, .taps = f.taps};
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
    case Filter::kGaussian:  // gaussian_window.h
    case Filter::kBox:
    case Filter::kHamming:
      break;  // of presets: check_filters() refuses them here
  }
  return f32(0);
}

/// The table stages of one axis.
struct Tables {
  StageRef first;
  StageRef weight;
  bool has_weight = false;  ///< nearest neighbour needs none
  Expr taps;
};

Tables make_tables(RecipeBuilder& b, const ResampleAxis& axis, const AxisFilter& f,
                   const CountedAxis& counted, const std::string& name, bool integer_weights) {
  auto sample_point = [&](const Expr& i) { return axis.lo + (to_f64(i) + f64(0.5)) * f.scale; };
  Tables tables;
  tables.taps = f.taps;
  const auto pixel =
      may_be(f, Filter::kNearest) ? nearest_pixels(b, axis, nearest_axis(axis, counted), name) : nullptr;
  std::optional<GaussianAxis> gaussian;
  if (may_be(f, Filter::kGaussian)) gaussian.emplace(axis, f.gaussian, counted);
  tables.first = b.map(name + "_first", DType::kI64, {axis.n}, [&](const Axes& at) {
    return by_filter(f, [&](Filter filter) {
      if (filter == Filter::kNearest) return pixel(at[0]);
      if (filter == Filter::kGaussian) return gaussian->first(at[0]);
      return ceil_to_i64(sample_point(at[0]) - (f.radius + f64(0.5 + kTie)));
    });
  });
  if (f.candidates.size() == 1 && f.candidates[0] == Filter::kNearest) return tables;

  tables.has_weight = true;
  auto first = [&](const Expr& i) { return b.load(tables.first, {i}); };
  const StageRef raw = b.map(name + "_raw", DType::kF32, {axis.n, f.taps}, [&](const Axes& at) {
    const Expr t = to_f32(to_f64(first(at[0]) + at[1]) + f64(0.5) - sample_point(at[0]));
    return by_filter(f, [&](Filter filter) {
      return filter == Filter::kGaussian ? gaussian->weight(at[0], at[1])
                                         : window(filter, t, f.inverse_radius);
    });
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

/// Rows and columns of an image, and nothing else.
bool is_image(const RecipeBuilder& b, const std::vector<ResampleAxis>& axes) {
  const Layout layout = b.input_layout(0);
  return axes.size() == 2 && axes[0].dim == layout.find('H') && axes[1].dim == layout.find('W');
}

/// One axis on its way through: the tables, and what its band does.
struct Pass {
  size_t dim = 0;
  Expr n;
  Tables tables;
  bool is_exact = false;  ///< integer weights of bytes
};

constexpr const char* kAxisNames[] = {"columns", "rows", "slices"};
constexpr const char* kStageNames[] = {"across", "down", "through"};

std::string axis_name(size_t pass) {
  return pass < std::size(kAxisNames) ? kAxisNames[pass] : fmt::format("axis_{}", pass);
}
std::string stage_name(size_t pass) {
  return pass < std::size(kStageNames) ? kStageNames[pass] : fmt::format("along_{}", pass);
}

/// All axes of the tensor: what keeps its extent may be resampled, too.
std::vector<ResampleAxis> with_kept_axes(RecipeBuilder& b, std::vector<ResampleAxis> axes) {
  for (int d = 0; d < b.input_type(0).ndim; ++d)
    if (std::ranges::find(axes, d, &ResampleAxis::dim) == axes.end()) {
      const Expr extent = b.extent(0, d);
      axes.push_back(
          {.dim = d, .lo = f64(0), .hi = to_f64(extent), .n = extent, .within = true, .is_kept = true});
    }
  std::ranges::sort(axes, {}, &ResampleAxis::dim);
  return axes;
}

/// Of other filters axes that keep their extent keep their pixels: where that is known, they take no pass.
bool may_be_gaussian(RecipeBuilder& b) {
  const Expr filter = filter_argument(b, "mag_filter");
  return !kernel::is_const(filter) || static_cast<Filter>(kernel::const_value(filter)) == Filter::kGaussian;
}

/// From the innermost axis to the outermost.
std::vector<Pass> passes_of(RecipeBuilder& b, const std::vector<ResampleAxis>& axes, SpatialAxes spatial) {
  std::vector<AxisFilter> filters;
  std::vector<AxisReach> reaches;
  for (const ResampleAxis& axis : axes) {
    filters.push_back(axis_filter(b, axis));
    reaches.push_back(reach_of(filters.back()));
  }
  std::vector<CountedAxis> counted(axes.size());
  if (std::ranges::any_of(filters, is_counted)) counted = counted_axes(b, axes, reaches, spatial);
  std::vector<Pass> passes;
  for (size_t a = axes.size(); a-- > 0;) {
    const ResampleAxis& axis = axes[a];
    const Expr& resampled = counted[a].is_resampled;  // none: nothing counts
    if (resampled && kernel::is_const(resampled) && kernel::const_value(resampled) == 0) continue;
    // Where the result keeps fractions, weights of 14 bits would show.
    const bool is_exact =
        passes.empty() && b.input_type(0).dtype == DType::kU8 && b.output_type(0).dtype == DType::kU8;
    passes.push_back(
        {.dim = static_cast<size_t>(axis.dim),
         .n = axis.n,
         .tables = make_tables(b, axis, filters[a], counted[a], axis_name(passes.size()), is_exact),
         .is_exact = is_exact});
  }
  return passes;
}

}  // namespace

StageRef resample(RecipeBuilder& b, std::vector<ResampleAxis> axes, SpatialAxes spatial) {
  for (const ResampleAxis& axis : axes)
    b.check((absolute(axis.lo) <= f64(kMaxSpan)) & (absolute(axis.hi) <= f64(kMaxSpan)),
            "the region of interest from {} to {} is not a place in an image", {axis.lo, axis.hi});
  if (is_image(b, axes)) {
    tell_least_scale(b, axes[0], axes[1]);
    tell_view(b, axes[0], axes[1]);
  }
  for (ResampleAxis& axis : axes) {
    const Expr length = absolute(axis.hi - axis.lo);
    axis.lo = b.scaled(0, axis.dim, axis.lo);
    axis.hi = b.scaled(0, axis.dim, axis.hi);
    if (axis.span) axis.span = axis.span * (absolute(axis.hi - axis.lo) / length);
  }
  if (spatial == SpatialAxes::kThatChange && may_be_gaussian(b)) axes = with_kept_axes(b, std::move(axes));
  const DType out = b.output_type(0).dtype;
  std::vector<Pass> passes = passes_of(b, axes, spatial);
  std::vector<Expr> extents = b.extents(0);
  if (std::ranges::none_of(passes, [](const Pass& pass) { return pass.tables.has_weight; })) {
    // One pixel each: no sum, nothing between the axes.
    for (const Pass& pass : passes) extents[pass.dim] = pass.n;
    return b.map("resize", out, extents, [&](const Axes& at) {
      Axes from = at;
      for (const Pass& pass : passes) from[pass.dim] = b.load(pass.tables.first, {at[pass.dim]});
      return kernel::saturate(b.load(0, from, Border::kClamp), out);
    });
  }
  StageRef source;  // none: the input
  for (size_t p = 0; p < passes.size(); ++p) {
    const Pass& pass = passes[p];
    const bool is_last = p + 1 == passes.size();
    extents[pass.dim] = pass.n;
    const Expr one = pass.is_exact ? kernel::const_int(kWeightSum, DType::kI32) : f32(1);
    source =
        b.band({.name = is_last ? "resize" : stage_name(p),
                .type = is_last ? out : DType::kF32,
                .extents = extents,
                .axis = static_cast<int>(pass.dim),
                .accumulator = pass.is_exact ? DType::kI32 : DType::kF32,
                .taps = pass.tables.taps,
                .first = [&](const Expr& i) { return b.load(pass.tables.first, {i}); },
                .weight =
                    [&](const Expr& i, const Expr& k) {
                      return pass.tables.has_weight ? b.load(pass.tables.weight, {i, k}) : one;
                    },
                .source =
                    [&](const Axes& at, const Expr& index) {
                      Axes from = at;
                      from[pass.dim] = index;
                      return p == 0 ? b.load(0, from, Border::kClamp) : b.load(source, from, Border::kClamp);
                    },
                .finish =
                    [&](const Expr& acc) {
                      const Expr value = pass.is_exact ? to_f32(acc) * f32(1.0 / kWeightSum) : acc;
                      return is_last ? kernel::saturate(value, out) : value;
                    }});
  }
  return source;
}

}  // namespace galatea::ops
