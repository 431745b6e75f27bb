// galatea.spec_augment: spectrograms with bands of frequencies and stretches of time left out, and time bent.
//
// Comes in: a spectrogram. Goes out: one map over it. Draw number 0 and 1 of the node's stream say where time is
// bent and how far; then each mask has two, its width and its begin, those of frequencies first.
#include <algorithm>

#include "stdlib_ops/operators.h"
#include "stdlib_ops/sound/sound.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMostMasks = 64;

struct SpectrogramAxes {
  int f = -1, t = -1;
};

/// By the layout; without one the last two are frequencies and time.
SpectrogramAxes spectrogram_axes(const ir::Type& in) {
  if (in.layout.empty()) return {in.ndim - 2, in.ndim - 1};
  return {in.layout.find('f'), in.layout.find('t')};
}

Types augment_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  const SpectrogramAxes axes = spectrogram_axes(in);
  if (axes.f < 0 || axes.t < 0)
    return ctx.error(
        fmt::format("galatea.spec_augment: {} has no axes of frequencies and time", describe(in)),
        "name them f and t: fn.reshape(x, layout=\"ft\")");
  for (const char* name : {"freq_masks", "time_masks"})
    if (ctx.integer(name) < 0 || ctx.integer(name) > kMostMasks)
      return ctx.error(
          fmt::format("galatea.spec_augment: {} is {}, not in 0 .. {}", name, ctx.integer(name), kMostMasks),
          {}, name);
  for (const char* name : {"freq_mask_width", "time_mask_width", "time_warp"})
    if (!ctx.is_per_sample(name) && ctx.integer(name) < 0)
      return ctx.error(
          fmt::format("galatea.spec_augment: {} must not be negative, it is {}", name, ctx.integer(name)),
          "0 leaves it out", name);
  if (!ctx.is_per_sample("time_mask_fraction") &&
      !(ctx.number("time_mask_fraction") >= 0 && ctx.number("time_mask_fraction") <= 1))
    return ctx.error(fmt::format("galatea.spec_augment: time_mask_fraction is {}, not in [0, 1]",
                                 ctx.number("time_mask_fraction")),
                     {}, "time_mask_fraction");
  return std::vector{in};
}

class SpecAugment {
 public:
  explicit SpecAugment(RecipeBuilder& b)
      : b_(b), axes_(spectrogram_axes(b.input_type(0))), windows_(b.extent(0, axes_.t)), next_draw_(2) {}

  void define() {
    const Expr fraction = b_.arg("time_mask_fraction", DType::kF32);
    b_.check((fraction >= f32(0)) & (fraction <= f32(1)), "time_mask_fraction is {}, not in [0, 1]",
             {fraction}, {}, "time_mask_fraction");
    const Expr share = to_i64(fraction * to_f32(windows_));
    const auto frequencies = masks("freq_masks", width("freq_mask_width"), b_.extent(0, axes_.f));
    const auto times = masks("time_masks", min(width("time_mask_width"), share), windows_);
    const Expr value = b_.arg("mask_value", DType::kF32);
    const bool warps = b_.is_per_sample("time_warp") || b_.integer("time_warp") > 0;
    const Expr reach = width("time_warp");
    b_.output_stage(0, b_.map("spec_augment", DType::kF32, b_.extents(0), [&](const Axes& at) {
      const Expr masked = inside(frequencies, at[index(axes_.f)]) | inside(times, at[index(axes_.t)]);
      return select(masked, value, warps ? bent(at, reach) : b_.load(0, at));
    }));
  }

 private:
  struct Mask {
    Expr begin, end;
  };

  static size_t index(int axis) { return static_cast<size_t>(axis); }

  Expr width(const char* name) {
    const Expr value = b_.arg(name, DType::kI64);
    b_.check(value >= i64(0), fmt::format("{} must not be negative, it is {{}}", name), {value}, {}, name);
    return value;
  }
  /// Widths from 0 to `widest`, anywhere inside of `extent`.
  std::vector<Mask> masks(const char* count, const Expr& widest, const Expr& extent) {
    std::vector<Mask> masks;
    for (int64_t m = 0; m < b_.integer(count); ++m) {
      const Expr width = b_.random_below(i64(next_draw_++), min(widest, extent) + i64(1));
      const Expr begin = b_.random_below(i64(next_draw_++), extent - width + i64(1));
      masks.push_back({begin, begin + width});
    }
    return masks;
  }
  static Expr inside(const std::vector<Mask>& masks, const Expr& place) {
    Expr any = truth(false);
    for (const Mask& mask : masks) any = any | ((place >= mask.begin) & (place < mask.end));
    return any;
  }

  /// Window `from` is shown at window `to`; before and after it time runs evenly. Spectrograms with no place that
  /// is `reach` away from both ends stay as they are.
  Expr bent(const Axes& at, const Expr& reach) {
    const Expr room = windows_ - reach * i64(2), bends = (room > i64(0)) & (reach > i64(0));
    const Expr from = select(bends, reach + b_.random_below(i64(0), max(room, i64(1))), i64(0));
    const Expr distance = b_.random_below(i64(1), max(reach * i64(2) - i64(1), i64(1))) - reach + i64(1);
    const Expr to = select(bends, from + distance, i64(0)), last = windows_ - i64(1);
    const Expr t = at[index(axes_.t)];
    const Expr before = to_f32(t) * (to_f32(from) / to_f32(max(to, i64(1))));
    const Expr after = to_f32(from) + to_f32(t - to) * (to_f32(last - from) / to_f32(max(last - to, i64(1))));
    const Expr place = select(t < to, before, after);
    const Expr low = clamp(to_i64(place), i64(0), max(last, i64(0))),
               high = min(low + i64(1), max(last, i64(0)));
    Axes left = at, right = at;
    left[index(axes_.t)] = low, right[index(axes_.t)] = high;
    const Expr value = b_.load(0, left);
    return kernel::fma(b_.load(0, right) - value, place - to_f32(low), value);
  }

  RecipeBuilder& b_;
  SpectrogramAxes axes_;
  Expr windows_;
  int64_t next_draw_;
};

}  // namespace

Operator make_galatea_spec_augment() {
  Operator op;
  op.name = "galatea.spec_augment";
  op.summary = "Masks random frequencies and times of a spectrogram, and bends its time.";
  op.documentation =
      "SpecAugment (Park et al., 2019). A mask of frequencies is f bands wide, drawn uniformly from 0 to "
      "freq_mask_width, and begins anywhere inside of the spectrogram; a mask of time is up to time_mask_width windows "
      "wide, but no more than time_mask_fraction of them. What is masked becomes mask_value. With time_warp=W a window "
      "drawn from W to windows - W - 1 is shown up to W - 1 windows earlier or later, and time on both sides of it is "
      "stretched evenly, interpolated linearly in f32; a spectrogram of 2 W windows or fewer is not bent. Draws are "
      "the sample's own.";
  op.inputs = {{.name = "spectrogram",
                .documentation = "frequencies f and time t by the layout; without one the last two axes",
                .dtypes = {DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "freq_masks",
              .kind = ArgKind::kInt,
              .default_value = int64_t{2},
              .documentation = "Number of masks of frequencies."},
             {.name = "freq_mask_width",
              .kind = ArgKind::kInt,
              .default_value = int64_t{27},
              .per_sample = true,
              .documentation = "Their largest width, bands."},
             {.name = "time_masks",
              .kind = ArgKind::kInt,
              .default_value = int64_t{2},
              .documentation = "Number of masks of time."},
             {.name = "time_mask_width",
              .kind = ArgKind::kInt,
              .default_value = int64_t{100},
              .per_sample = true,
              .documentation = "Their largest width, windows."},
             {.name = "time_mask_fraction",
              .kind = ArgKind::kFloat,
              .default_value = 1.0,
              .per_sample = true,
              .documentation = "Their largest width, in parts of all windows, in [0, 1]."},
             {.name = "time_warp",
              .kind = ArgKind::kInt,
              .default_value = int64_t{0},
              .per_sample = true,
              .documentation = "How far time is bent, windows; 0: not at all."},
             {.name = "mask_value",
              .kind = ArgKind::kFloat,
              .default_value = 0.0,
              .per_sample = true,
              .documentation = "What masked elements become: of normalised spectrograms 0 is their mean."}};
  op.random = true;
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = sound_example("fn.galatea.spec_augment(fn.spectrogram(sound, nfft=512), time_mask_width=20)");
  op.type_rule = augment_types;
  op.places = op::Places::kNone;
  op.define = [](RecipeBuilder& b) { SpecAugment(b).define(); };
  return op;
}

}  // namespace galatea::ops
