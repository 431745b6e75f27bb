// Places of nearest neighbours: see nearest.h.
//
// DALI resamples axis after axis, in the cheapest order, and counts the positions of all but the first one from the
// first pixel that is needed of them. Numbers that are counted from elsewhere round elsewhere, so nearest
// neighbours depend on the order.
#include "stdlib_ops/common/nearest.h"

#include <algorithm>
#include <array>

namespace galatea::ops {
namespace {

/// DALI resamples up to three neighbouring axes.
constexpr size_t kMostSpatial = 3;
/// What a pixel costs along columns, rows and slices, per tap, and whatever the axis.
constexpr std::array<double, kMostSpatial> kAlong = {1.4, 1, 1.2};
constexpr double kPerPixel = 3;

/// An axis that may be one of those that DALI resamples.
struct Spatial {
  Expr begin, end;  ///< i64: pixels that are looked at
  Expr extent, n;   ///< i64: of the input, of the output
  Expr unchanged;   ///< bool
};

/// [begin, end) of them, if that is what the sample makes them.
struct Run {
  size_t begin, end;
  Expr is;  ///< bool
};

bool is_false(const Expr& e) { return kernel::is_const(e) && kernel::const_value(e) == 0; }

Spatial spatial_axis(RecipeBuilder& b, const ResampleAxis& axis) {
  const Expr extent = b.extent(0, axis.dim);
  Spatial s{.begin = i64(0), .end = extent, .extent = extent, .n = axis.n, .unchanged = {}};
  const bool is_whole = same(axis.lo, f64(0)) && same(axis.hi, to_f64(extent));
  s.unchanged = equal(axis.n, extent);
  if (is_whole) return s;
  s.unchanged = s.unchanged & equal(axis.lo, f64(0)) & equal(axis.hi, to_f64(extent));
  const Expr lo = to_f32(axis.lo), hi = to_f32(axis.hi);
  s.begin = clamp(floor_to_i64(kernel::min(lo, hi)), i64(0), extent);
  s.end = clamp(ceil_to_i64(max(lo, hi) + f32(1)), i64(0), extent);
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
  const Expr own = f32(kAlong[next]) * to_f32(volume) + to_f32(volume) * f32(kPerPixel);
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

}  // namespace

std::vector<NearestAxis> nearest_axes(RecipeBuilder& b, const std::vector<ResampleAxis>& axes,
                                      SpatialAxes spatial) {
  std::vector<Spatial> all;
  std::vector<size_t> place(axes.size());  // of each axis among them
  if (spatial == SpatialAxes::kGiven) {
    for (size_t a = 0; a < axes.size(); ++a) {
      place[a] = a;
      all.push_back(spatial_axis(b, axes[a]));
    }
  } else {
    for (const Expr& extent : b.extents(0))
      all.push_back(
          {.begin = i64(0), .end = extent, .extent = extent, .n = extent, .unchanged = truth(true)});
    for (size_t a = 0; a < axes.size(); ++a) {
      place[a] = static_cast<size_t>(axes[a].dim);
      all[place[a]] = spatial_axis(b, axes[a]);
    }
  }
  const std::vector<Run> runs =
      spatial == SpatialAxes::kGiven ? std::vector<Run>{{0, all.size(), truth(true)}} : runs_of(all);
  std::vector<NearestAxis> nearest;
  for (size_t a = 0; a < axes.size(); ++a) {
    const Spatial& s = all[place[a]];
    const bool is_whole = same(s.begin, i64(0)) && same(s.end, s.extent);
    Expr first = truth(true), adds_up = truth(false);
    for (size_t r = runs.size(); r-- > 0;) {
      if (!is_whole) first = select(runs[r].is, is_first(all, runs[r], place[a]), first);
      adds_up = select(runs[r].is, truth(place[a] + 1 != runs[r].end), adds_up);
    }
    const Expr lo = to_f32(axes[a].lo), hi = to_f32(axes[a].hi);
    const Expr origin = is_whole ? i64(0) : select(first, i64(0), s.begin);
    nearest.push_back({.start = lo - to_f32(origin),
                       .step = (hi - lo) / to_f32(max(axes[a].n, i64(1))),
                       .origin = origin,
                       .last = (is_whole ? s.extent : select(first, s.extent, s.end)) - i64(1),
                       .adds_up = adds_up});
  }
  return nearest;
}

std::function<Expr(const Expr&)> nearest_pixels(RecipeBuilder& b, const ResampleAxis& axis,
                                                const NearestAxis& nearest, const std::string& name) {
  const Expr &start = nearest.start, &step = nearest.step;
  const auto one_by_one = [=](const Expr& i) {
    // Cells as wide as pixels are copied as a run.
    const Expr here = select(equal(step, f32(1)), floor_to_i64(start + f32(0.5)) + i,
                             floor_to_i64(start + (to_f32(i) + f32(0.5)) * step));
    return clamp(here + nearest.origin, nearest.origin, nearest.last);
  };
  const bool is_known = kernel::is_const(nearest.adds_up);
  if (is_known && kernel::const_value(nearest.adds_up) == 0) return one_by_one;
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
  const auto added_up = [=, &b](const Expr& i) {
    const Expr exact = axis.lo + (to_f64(i) + f64(0.5)) * scale;
    const Expr here = floor_to_i64(b.load(places, {i})) + nearest.origin;
    return clamp(here, max(floor_to_i64(exact - slack), least),
                 kernel::min(floor_to_i64(exact + slack), most));
  };
  if (is_known) return added_up;
  return [=](const Expr& i) { return select(nearest.adds_up, added_up(i), one_by_one(i)); };
}

}  // namespace galatea::ops
