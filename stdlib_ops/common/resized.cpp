// Extents of what is resized: see resized.h.
#include "stdlib_ops/common/resized.h"

#include <algorithm>
#include <cmath>

namespace galatea::ops {
namespace {

constexpr int64_t kLargestSize = int64_t{1} << 24;
constexpr double kShortest = 1e-3;    // regions are at least so long
constexpr double kMostAdjusted = 10;  // a region grows or shrinks by so much at most

/// Through f32 and back.
Expr rounded_to_f32(const Expr& e) { return to_f64(to_f32(e)); }

/// A request, with the interval lo < hi and its length; all f64 but `given` and `backward`.
struct Wanted {
  Expr lo, hi, length;
  Expr size;      ///< negative: mirrored
  Expr given;     ///< whether a size was asked for
  Expr backward;  ///< whether the axis is mirrored, also where no size was asked for
  Expr limit, alignment;
  int dim = 0;
};

Wanted wanted_of(RecipeBuilder& b, const ResizeRequest& request) {
  const Expr whole = b.full_extent(0, request.dim), extent = to_f64(whole);
  Wanted w{.lo = f64(0),
           .hi = extent,
           .length = {},
           .size = request.size ? request.size : extent,
           .given = {},
           .backward = {},
           .limit = request.limit,
           .alignment = request.alignment,
           .dim = request.dim};
  if (request.size)
    b.check(absolute(w.size) <= f64(kLargestSize), "the size {} is not an extent of an image", {w.size});
  w.backward = w.size < f64(0);
  if (request.start) {
    const Expr reversed = request.end < request.start;
    w.lo = kernel::min(request.start, request.end);
    w.hi = max(request.start, request.end);
    w.size = select(reversed, -w.size, w.size);
    w.backward = not_equal(w.backward, reversed);
    // An interval of (almost) no length is widened about its centre.
    const Expr narrow = (w.hi - w.lo) < f64(kShortest), centre = (w.lo + w.hi) * f64(0.5);
    w.lo = select(narrow, centre - f64(kShortest / 2), w.lo);
    w.hi = select(narrow, centre + f64(kShortest / 2), w.hi);
  }
  w.length = request.start ? rounded_to_f32(w.hi - w.lo) : w.hi;
  w.given = not_equal(w.size, f64(0));
  if (request.size)
    b.check(logical_not(w.given) | (whole > i64(0)), "an axis without elements cannot be resized to {}",
            {w.size});
  return w;
}

Expr ratio_of(const Wanted& w) { return rounded_to_f32(absolute(w.size) / w.length); }

/// The extent of an axis that was not asked for: it follows the others, by the mean of their ratios.
Expr following_size(const std::vector<Wanted>& all, size_t axis) {
  Expr product = f64(1), count = f64(0);
  for (size_t a = 0; a < all.size(); ++a) {
    if (a == axis) continue;
    product = product * select(all[a].given, ratio_of(all[a]), f64(1));
    count = count + select(all[a].given, f64(1), f64(0));
  }
  Expr mean = product;
  if (all.size() > 2) mean = select(equal(count, f64(2)), kernel::unary(ScalarOp::kSqrt, product), product);
  if (all.size() > 3)
    mean = select(count > f64(2), kernel::binary(ScalarOp::kPow, product, f64(1) / max(count, f64(1))), mean);
  return all[axis].length * mean;
}

/// The smallest or the largest of the ratios that were asked for; 1 where none was.
Expr extreme_ratio(const std::vector<Wanted>& all, bool larger) {
  Expr of_some = ratio_of(all.back()), any = all.back().given;
  Expr scale = select(any, of_some, f64(1));
  for (size_t a = all.size() - 1; a-- > 0;) {
    const Expr own = ratio_of(all[a]), &given = all[a].given;
    const Expr both = larger ? max(own, of_some) : kernel::min(own, of_some);
    scale = select(given & any, both, select(given, own, scale));
    of_some = select(given & any, both, select(given, own, of_some));
    any = given | any;
  }
  return scale;
}

/// Fractional output extents (signed) of all axes.
std::vector<Expr> fractional_sizes(const std::vector<Wanted>& all, ResizeMode mode) {
  std::vector<Expr> out(all.size());
  if (!keeps_ratios(mode)) {
    for (size_t a = 0; a < all.size(); ++a) {
      const Expr follow = mode == ResizeMode::kStretch ? all[a].length : following_size(all, a);
      out[a] = select(all[a].given, all[a].size, follow);
      const Expr& limit = all[a].limit;
      if (limit) out[a] = select(out[a] < f64(0), -kernel::min(-out[a], limit), kernel::min(out[a], limit));
    }
    return out;
  }
  Expr scale = extreme_ratio(all, mode == ResizeMode::kNotSmaller);
  for (const Wanted& w : all)
    if (w.limit) scale = kernel::min(scale, w.limit / w.length);
  for (size_t a = 0; a < all.size(); ++a) {
    // The axis that says the scale has the extent that was asked for.
    const Expr size =
        select(all[a].given & equal(ratio_of(all[a]), scale), absolute(all[a].size), all[a].length * scale);
    out[a] = select(all[a].backward, -size, size);
  }
  return out;
}

Expr whole_extent(const Expr& size, SizeRounding rounding) {
  const Expr whole = rounding == SizeRounding::kRound  ? round_to_i64(size)
                     : rounding == SizeRounding::kCeil ? ceil_to_i64(size)
                                                       : to_i64(size);
  return max(whole, i64(1));
}

/// The interval and whole extent that resampling gets.
ResampleAxis resample_axis(RecipeBuilder& b, const Wanted& w, bool is_within, const Expr& fractional,
                           const ResizeRule& rule) {
  const Expr size = to_f32(absolute(fractional));
  const Expr rounded = whole_extent(size, rule.rounding);
  // Only an axis without a request can be empty here.
  const bool fixed = kernel::is_const(w.given);
  const Expr n = fixed && kernel::is_const(rounded)
                     ? rounded
                     : select(equal(b.full_extent(0, w.dim), i64(0)), i64(0), rounded);
  const Expr mirrored = fractional < f64(0);
  const Expr start = select(mirrored, w.hi, w.lo), end = select(mirrored, w.lo, w.hi);
  ResampleAxis axis{.dim = w.dim, .lo = start, .hi = end, .n = n, .within = is_within};
  if (!rule.keeps_scale) return axis;
  // The scale stays the fractional one: the interval grows or shrinks about a place in it by what rounding did to
  // the extent.
  const Expr exact = equal(to_f32(rounded), size);
  const Expr factor = clamp(to_f64(rounded) / to_f64(size), f64(-kMostAdjusted), f64(kMostAdjusted));
  const Expr centre =
      w.alignment ? start * (f64(1) - w.alignment) + end * w.alignment : (start + end) * f64(0.5);
  axis.lo = select(exact, start, rounded_to_f32(centre + (start - centre) * factor));
  axis.hi = select(exact, end, rounded_to_f32(centre + (end - centre) * factor));
  return axis;
}

}  // namespace

std::optional<ResizeMode> resize_mode(std::string_view name) {
  if (name == "default") return ResizeMode::kDefault;
  if (name == "stretch") return ResizeMode::kStretch;
  if (name == "not_larger") return ResizeMode::kNotLarger;
  if (name == "not_smaller") return ResizeMode::kNotSmaller;
  return std::nullopt;
}

int64_t whole_extent(float size, SizeRounding rounding) {
  const float magnitude = std::abs(size);
  const float whole = rounding == SizeRounding::kRound  ? std::round(magnitude)
                      : rounding == SizeRounding::kCeil ? std::ceil(magnitude)
                                                        : std::trunc(magnitude);
  return std::max<int64_t>(1, std::llround(whole));
}

std::vector<ResampleAxis> resample_axes(RecipeBuilder& b, const std::vector<ResizeRequest>& requests,
                                        const ResizeRule& rule) {
  std::vector<Wanted> all;
  for (const ResizeRequest& request : requests) all.push_back(wanted_of(b, request));
  const std::vector<Expr> sizes = fractional_sizes(all, rule.mode);
  std::vector<ResampleAxis> axes;
  for (size_t a = 0; a < all.size(); ++a)
    axes.push_back(resample_axis(b, all[a], !requests[a].start, sizes[a], rule));
  return axes;
}

std::vector<ArgSpec> resize_args(const std::string& extents, const std::string& place) {
  return {
      {.name = "mode",
       .kind = ArgKind::kString,
       .default_value = std::string("default"),
       .documentation = "\"default\", \"stretch\", \"not_larger\" or \"not_smaller\"."},
      {.name = "max_size",
       .kind = ArgKind::kFloatList,
       .documentation = "Largest extents of the output, " + extents + " or one number; 0: any."},
      {.name = "subpixel_scale",
       .kind = ArgKind::kBool,
       .default_value = true,
       .documentation =
           "Whether the region is adjusted so that a rounded extent keeps the fractional scale."},
      {.name = "roi_start",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation = "Begin of the region of interest, " + place + "."},
      {.name = "roi_end",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation = "End of the region of interest, " + place + "."},
      {.name = "roi_relative",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Whether the region is a fraction of the input's extents."},
  };
}

Status check_resize_args(const TypeContext& ctx, int count) {
  const std::string& name = ctx.op().name;
  if (!resize_mode(ctx.text("mode")))
    return ctx.error(fmt::format("{}: unknown mode \"{}\"", name, ctx.text("mode")),
                     "use \"default\", \"stretch\", \"not_larger\" or \"not_smaller\"", "mode");
  if (ctx.given("roi_start") != ctx.given("roi_end"))
    return ctx.error(name + ": roi_start and roi_end come together", {},
                     ctx.given("roi_start") ? "roi_start" : "roi_end");
  for (const char* list : {"max_size", "roi_start", "roi_end"}) GALATEA_TRY(check_length(ctx, list, count));
  return {};
}

Expr limit_of(const Expr& max_size) {
  constexpr double kAnyExtent = 1e18;
  return select(max_size > f32(0), to_f64(max_size), f64(kAnyExtent));
}

void read_region(RecipeBuilder& b, ResizeRequest& request, size_t axis, int count) {
  if (!b.given("roi_start")) return;
  const Expr factor = b.flag("roi_relative") ? to_f32(b.full_extent(0, request.dim)) : f32(1);
  const auto place = [&](const char* name) {
    const Expr number = list_arg(b, name, count, DType::kF32)[axis];
    check_finite(b, name, {number});
    return to_f64(number * factor);
  };
  request.start = place("roi_start");
  request.end = place("roi_end");
}

}  // namespace galatea::ops
