// The search of fn.random_bbox_crop: see bbox_crop.h.
#include "stdlib_ops/native/bbox_crop.h"

#include <algorithm>
#include <numeric>

#include "base/scalar_op.h"

namespace galatea::native {
namespace {

/// Words of Philox with a key of its own.
class Draws {
 public:
  explicit Draws(uint64_t key) : key_(key) {}
  /// In [0, 1), 32 bits.
  double unit() { return next() * 0x1p-32; }
  double between(double lo, double hi) { return lo + unit() * (hi - lo); }
  int64_t below(int64_t n) {
    return static_cast<int64_t>(static_cast<uint64_t>(next()) * static_cast<uint64_t>(n) >> 32);
  }

 private:
  uint32_t next() {
    const uint64_t at = count_++;
    return philox(key_, at / 4, 0, static_cast<int>(at % 4));
  }
  uint64_t key_, count_ = 0;
};

double volume(const Box& box, int dims) {
  double product = 1;
  for (size_t d = 0; d < static_cast<size_t>(dims); ++d) product *= std::max(0.0, box.hi[d] - box.lo[d]);
  return product;
}

double common_volume(const Box& a, const Box& b, int dims) {
  Box both;
  for (size_t d = 0; d < static_cast<size_t>(dims); ++d)
    both.lo[d] = std::max(a.lo[d], b.lo[d]), both.hi[d] = std::min(a.hi[d], b.hi[d]);
  return volume(both, dims);
}

/// The measure of a window: the least, or the largest, over all boxes; 0 without boxes.
double measure(std::span<const Box> boxes, const Box& window, const BboxCropOptions& options) {
  std::optional<double> found;
  const int dims = options.layout.dims;
  for (const Box& box : boxes) {
    const double common = common_volume(box, window, dims), own = volume(box, dims);
    const double whole = options.overlap ? own : own + volume(window, dims) - common;
    const double value = whole > 0 ? common / whole : 0;
    found = !found ? value : options.all_above ? std::min(*found, value) : std::max(*found, value);
  }
  return found.value_or(0);
}

/// Extents of a relative window; nothing where their ratios are out of range.
std::optional<BoxAxes> draw_extents(const BboxCropOptions& options, Draws& draws, const BoxAxes& picture) {
  const auto dims = static_cast<size_t>(options.layout.dims);
  BoxAxes extents{};
  for (size_t d = 0; d < dims; ++d) extents[d] = draws.between(options.scaling[0], options.scaling[1]);
  const double largest = *std::max_element(extents.begin(), extents.begin() + static_cast<ptrdiff_t>(dims));
  const auto each_pair = [&](auto&& look) {
    size_t pair = 0;
    for (size_t a = 0; a < dims; ++a)
      for (size_t b = a + 1; b < dims; ++b, ++pair) {
        // Ratios are those of pixels; extents are relative to the picture.
        const std::array<double, 2>& ratio = options.ratios[pair % options.ratios.size()];
        const double unit = picture[b] / picture[a];
        look(a, b, std::array{ratio[0] * unit, ratio[1] * unit});
      }
  };
  // A ratio that is one number is made so, from an axis by chance; the largest extent stays as large.
  const bool from_last = draws.below(2) != 0;
  each_pair([&](size_t a, size_t b, const std::array<double, 2>& ratio) {
    if (ratio[0] != ratio[1] || ratio[0] == 0) return;
    if (from_last)
      extents[a] = extents[b] * ratio[0];
    else
      extents[b] = extents[a] / ratio[0];
  });
  const double now = *std::max_element(extents.begin(), extents.begin() + static_cast<ptrdiff_t>(dims));
  if (now > 0)
    for (double& extent : extents) extent *= largest / now;
  bool fits = true;
  constexpr double kRounding = 1e-6;
  each_pair([&](size_t a, size_t b, const std::array<double, 2>& ratio) {
    fits &= extents[a] >= ratio[0] * extents[b] * (1 - kRounding) &&
            extents[a] <= ratio[1] * extents[b] * (1 + kRounding);
  });
  if (!fits) return std::nullopt;
  return extents;
}

std::optional<BboxCrop> draw_window(const BboxCropOptions& options, Draws& draws, const BoxAxes& crop,
                                    const BoxAxes& picture) {
  BboxCrop window;
  const auto extents = options.fixed ? crop : draw_extents(options, draws, picture);
  if (!extents) return std::nullopt;
  for (size_t d = 0; d < static_cast<size_t>(options.layout.dims); ++d) {
    window.shape[d] = static_cast<float>((*extents)[d]);
    if (options.fixed) {
      const auto room = static_cast<int64_t>(picture[d]) - static_cast<int64_t>(crop[d]);
      const int64_t at = draws.below((room < 0 ? -room : room) + 1);
      window.anchor[d] = static_cast<float>(room < 0 ? -at : at);
    } else {
      window.anchor[d] = static_cast<float>(draws.between(0, 1 - (*extents)[d]));
    }
  }
  return window;
}

BboxCrop whole_picture(std::span<const Box> boxes) {
  BboxCrop whole;
  whole.shape.fill(1);
  whole.whole = true;
  whole.left = static_cast<int64_t>(boxes.size());
  return whole;
}

}  // namespace

BboxCropOptions ssd_crop_options(int64_t attempts) {
  BboxCropOptions options;
  options.layout = *BoxLayout::parse("xyXY");
  options.thresholds = {0.1, 0.3, 0.5, 0.7, 0.9, 0};
  options.attempts = attempts;
  options.total_attempts = kMostWindows;
  options.ratios = {{0.5, 2}};
  options.scaling = {0.3, 1};
  options.needs_box = true;
  return options;
}

Box relative_window(const BboxCrop& crop, const BboxCropOptions& options, const BoxAxes& picture) {
  Box window;
  for (size_t d = 0; d < static_cast<size_t>(options.layout.dims); ++d) {
    const double unit = options.fixed ? picture[d] : 1;
    window.lo[d] = static_cast<double>(crop.anchor[d]) / unit;
    window.hi[d] = (static_cast<double>(crop.anchor[d]) + static_cast<double>(crop.shape[d])) / unit;
  }
  return window;
}

bool is_left(const Box& box, const Box& window, const BboxCropOptions& options) {
  const int dims = options.layout.dims;
  if (options.prune >= 0) {
    const double own = volume(box, dims);
    return own > 0 && common_volume(box, window, dims) >= options.prune * own;
  }
  for (size_t d = 0; d < static_cast<size_t>(dims); ++d) {
    const double centre = (box.lo[d] + box.hi[d]) / 2;
    if (centre < window.lo[d] || centre > window.hi[d]) return false;
  }
  return true;
}

std::optional<BboxCrop> find_bbox_crop(std::span<const Box> boxes, const BboxCropOptions& options,
                                       uint64_t seed, const BoxAxes& crop, const BoxAxes& picture,
                                       const std::function<bool()>& cancelled) {
  Draws draws(seed);
  const auto thresholds = static_cast<int64_t>(options.thresholds.size());
  const bool limited = options.total_attempts >= 0;
  const int64_t most = limited ? options.total_attempts : kMostWindows;
  std::optional<BboxCrop> best;
  double best_measure = -1;
  for (int64_t windows = 0; windows < most;) {
    const int64_t option = draws.below(thresholds + (options.allow_no_crop ? 1 : 0));
    if (option == thresholds) return whole_picture(boxes);
    const double threshold = options.thresholds[static_cast<size_t>(option)];
    for (int64_t n = 0; n < options.attempts && windows < most; ++n) {
      if (cancelled && cancelled()) return std::nullopt;
      ++windows;
      std::optional<BboxCrop> drawn = draw_window(options, draws, crop, picture);
      if (!drawn) continue;
      const Box window = relative_window(*drawn, options, picture);
      drawn->left = std::count_if(boxes.begin(), boxes.end(),
                                  [&](const Box& box) { return is_left(box, window, options); });
      const double value = measure(boxes, window, options);
      if (value >= threshold && (drawn->left > 0 || (boxes.empty() && !options.needs_box))) return drawn;
      if (value > best_measure) best_measure = value, best = drawn;
    }
  }
  if (!limited) return std::nullopt;
  return best && (best->left > 0 || !options.needs_box) ? best : whole_picture(boxes);
}

}  // namespace galatea::native
