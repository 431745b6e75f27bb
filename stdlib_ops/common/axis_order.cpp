// Order of axes: see axis_order.h.
#include "stdlib_ops/common/axis_order.h"

#include <algorithm>
#include <array>

namespace galatea::ops {
namespace {

/// DALI resamples up to three neighbouring axes.
constexpr size_t kMostSpatial = 3;
/// What a pixel of the result costs along columns, rows and slices, per tap, and whatever the axis.
constexpr std::array<double, kMostSpatial> kAlong = {1.4, 1, 1.2};
constexpr double kPerPixel = 3;

/// An axis that may be one of those that DALI resamples.
struct Spatial {
  Expr begin, end;  ///< i64: pixels that are looked at
  Expr extent, n;   ///< i64: of the input, of the output
  Expr taps;        ///< i64
  Expr unchanged;   ///< bool
};

/// [begin, end) of them, if that is what the sample makes them.
struct Run {
  size_t begin, end;
  Expr is;  ///< bool
};

bool is_false(const Expr& e) { return kernel::is_const(e) && kernel::const_value(e) == 0; }

Spatial spatial_axis(RecipeBuilder& b, const ResampleAxis& axis, const AxisReach& reach) {
  const Expr extent = b.extent(0, axis.dim);
  Spatial s{
      .begin = i64(0), .end = extent, .extent = extent, .n = axis.n, .taps = reach.taps, .unchanged = {}};
  const bool is_whole = same(axis.lo, f64(0)) && same(axis.hi, to_f64(extent));
  s.unchanged = equal(axis.n, extent);
  if (is_whole) return s;
  s.unchanged = s.unchanged & equal(axis.lo, f64(0)) & equal(axis.hi, to_f64(extent));
  const Expr lo = to_f32(axis.lo), hi = to_f32(axis.hi);
  s.begin = clamp(floor_to_i64(kernel::min(lo, hi) - reach.before), i64(0), extent);
  s.end = clamp(ceil_to_i64(max(lo, hi) - reach.before + to_f32(reach.taps)), i64(0), extent);
  return s;
}

/// Of all axes, those from the first that changes to the last, but at least two.
std::vector<Run> runs_of(const std::vector<Spatial>& all) {
  constexpr size_t kFewest = 2;
  if (all.size() <= 1) return {{0, all.size(), truth(true)}};
  std::vector<Run> runs;
  Expr before = truth(true);
  for (size_t begin = 0; begin + kFewest <= all.size(); ++begin) {
    const Expr starts = begin + kFewest == all.size() ? before : before & logical_not(all[begin].unchanged);
    Expr behind = truth(true);
    for (size_t end = all.size(); end >= begin + kFewest; --end) {
      const Expr ends = end == begin + kFewest ? behind : behind & logical_not(all[end - 1].unchanged);
      if (const Expr is = starts & ends; !is_false(is)) runs.push_back({begin, end, is});
      behind = behind & all[end - 1].unchanged;
    }
    before = before & all[begin].unchanged;
  }
  return runs;
}

/// What the cheapest order costs that goes on with axis `next`, f32: of what is `done`, `so_far`. Axes are
/// innermost first.
Expr cost_with_next(const std::vector<Spatial>& axes, std::vector<Expr> pixels, unsigned done,
                    const Expr& so_far, size_t next) {
  pixels[next] = axes[next].n;
  done |= 1U << next;
  Expr volume = pixels.back();
  for (size_t k = pixels.size() - 1; k-- > 0;) volume = volume * pixels[k];
  const Expr own = f32(kAlong[next]) * to_f32(volume * axes[next].taps) + to_f32(volume) * f32(kPerPixel);
  const Expr sum = so_far ? so_far + own : own;
  Expr least;
  for (size_t a = 0; a < axes.size(); ++a) {
    if ((done >> a & 1U) != 0) continue;
    const Expr total = cost_with_next(axes, pixels, done, sum, a);
    least = least ? kernel::min(least, total) : total;
  }
  return least ? least : sum;
}

/// Whether the axis is the first one that DALI resamples: of equally cheap orders the one that comes first,
/// where inner axes come before outer ones.
Expr is_first(const std::vector<Spatial>& all, const Run& run, size_t axis) {
  const size_t count = run.end - run.begin;
  if (axis < run.begin || axis >= run.end || count < 2 || count > kMostSpatial) return truth(true);
  std::vector<Spatial> axes(all.begin() + static_cast<std::ptrdiff_t>(run.begin),
                            all.begin() + static_cast<std::ptrdiff_t>(run.end));
  std::ranges::reverse(axes);
  const size_t own = run.end - 1 - axis;
  std::vector<Expr> pixels, costs;
  for (const Spatial& s : axes) pixels.push_back(s.end - s.begin);
  for (size_t a = 0; a < count; ++a) costs.push_back(cost_with_next(axes, pixels, 0, {}, a));
  Expr first = truth(true);
  for (size_t a = 0; a < count; ++a) {
    if (a < own) first = first & (costs[own] < costs[a]);
    if (a > own) first = first & logical_not(costs[a] < costs[own]);
  }
  return first;
}

/// The axes among which DALI chooses, outermost first. `place`: of each axis that is given, among them.
std::vector<Spatial> spatial_axes(RecipeBuilder& b, const std::vector<ResampleAxis>& axes,
                                  const std::vector<AxisReach>& reaches, SpatialAxes spatial,
                                  std::vector<size_t>& place) {
  std::vector<Spatial> all;
  if (spatial == SpatialAxes::kGiven) {
    for (size_t a = 0; a < axes.size(); ++a) {
      place.push_back(a);
      all.push_back(spatial_axis(b, axes[a], reaches[a]));
    }
    return all;
  }
  for (const Expr& extent : b.extents(0))
    all.push_back({.begin = i64(0),
                   .end = extent,
                   .extent = extent,
                   .n = extent,
                   .taps = i64(1),
                   .unchanged = truth(true)});
  for (size_t a = 0; a < axes.size(); ++a) {
    place.push_back(static_cast<size_t>(axes[a].dim));
    all[place[a]] = spatial_axis(b, axes[a], reaches[a]);
  }
  return all;
}

}  // namespace

std::vector<CountedAxis> counted_axes(RecipeBuilder& b, const std::vector<ResampleAxis>& axes,
                                      const std::vector<AxisReach>& reaches, SpatialAxes spatial) {
  std::vector<size_t> place;
  const std::vector<Spatial> all = spatial_axes(b, axes, reaches, spatial, place);
  const std::vector<Run> runs =
      spatial == SpatialAxes::kGiven ? std::vector<Run>{{0, all.size(), truth(true)}} : runs_of(all);
  std::vector<CountedAxis> counted;
  for (const size_t own : place) {
    const Spatial& s = all[own];
    const bool is_whole = same(s.begin, i64(0)) && same(s.end, s.extent);
    Expr first = truth(true), innermost = truth(true), resampled = truth(true);
    for (size_t r = runs.size(); r-- > 0;) {
      if (!is_whole) first = select(runs[r].is, is_first(all, runs[r], own), first);
      innermost = select(runs[r].is, truth(own + 1 == runs[r].end), innermost);
      resampled = select(runs[r].is, truth(runs[r].begin <= own && own < runs[r].end), resampled);
    }
    counted.push_back({.begin = is_whole ? i64(0) : select(first, i64(0), s.begin),
                       .end = is_whole ? s.extent : select(first, s.extent, s.end),
                       .is_innermost = innermost,
                       .is_resampled = resampled});
  }
  return counted;
}

}  // namespace galatea::ops
