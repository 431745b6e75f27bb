// spectrogram: how strong each frequency is in windows of a signal.
//
// Comes in: a signal. Goes out: the squared magnitudes (or the magnitudes) of the Fourier transform of each window,
// by frequency and time. Sixteen windows go through the transform side by side: they are the lanes of its loops.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "stdlib_ops/common/fft.h"
#include "stdlib_ops/operators.h"
#include "stdlib_ops/sound/sound.h"

namespace galatea::ops {
namespace {

/// Windows whose transforms are made together: their rows stay in the nearest cache.
constexpr int64_t kTogether = 16;

constexpr int64_t kFarStep = 1 << 16;            ///< seconds of sound
constexpr int64_t kMostStep = int64_t{1} << 32;  ///< multiples of it, and windows about them, are places

template <typename Context>
int64_t transform_points(const Context& c) {
  return c.given("nfft") ? c.integer("nfft") : c.integer("window_length");
}

Status check_windows(const TypeContext& ctx) {
  for (const char* name : {"window_length", "window_step"})
    if (ctx.integer(name) < 1)
      return ctx.error(fmt::format("spectrogram: {} must be at least 1, it is {}", name, ctx.integer(name)),
                       "it counts samples of the signal", name);
  if (const int64_t step = ctx.integer("window_step"); step > kMostStep)
    return ctx.error(fmt::format("spectrogram: window_step is {}, at most {} is taken", step, kMostStep), {},
                     "window_step");
  const int64_t points = transform_points(ctx), length = ctx.integer("window_length");
  if (points > kMostPoints)
    return ctx.error(fmt::format("spectrogram: nfft is {}; at most {} points are taken", points, kMostPoints),
                     {}, ctx.given("nfft") ? "nfft" : "window_length");
  if (length > points)
    return ctx.error(
        fmt::format("spectrogram: a window of {} samples is longer than nfft={}", length, points),
        "raise nfft, or set window_length", ctx.given("window_length") ? "window_length" : "nfft");
  const size_t weights = ctx.given("window_fn") ? ctx.numbers("window_fn").size() : 0;
  if (weights != 0 && static_cast<int64_t>(weights) != length)
    return ctx.error(
        fmt::format("spectrogram: window_fn has {} weights for a window of {} samples", weights, length),
        fmt::format("set window_length={}", weights), "window_fn");
  return {};
}

Types spectrogram_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  if (std::ranges::count_if(in.extents, [](int64_t extent) { return extent > 1; }) > 1)
    return ctx.error(fmt::format("spectrogram takes one signal; the input is {}", describe(in)),
                     "choose a channel with x[:, 0], or mix them with fn.reductions.mean(x, axes=[1])");
  GALATEA_TRY(check_windows(ctx));
  GALATEA_TRY(is_squared(ctx));
  const std::string layout = ctx.text("layout");
  if (layout != "ft" && layout != "tf")
    return ctx.error(fmt::format("spectrogram: layout \"{}\" is unknown", layout),
                     "use \"ft\" (a row per frequency) or \"tf\" (a row per window)", "layout");
  ir::Type out = with_dtype(in, DType::kF32);
  out.ndim = 2;
  out.layout = Layout(layout);
  out.extents = {-1, -1};
  out.extents[layout == "ft" ? 0 : 1] = transform_points(ctx) / 2 + 1;
  return std::vector{out};
}

class Spectrogram {
 public:
  explicit Spectrogram(RecipeBuilder& b)
      : b_(b),
        points_(transform_points(b)),
        length_(b.integer("window_length")),
        step_(b.arg("window_step", DType::kI64)),
        signal_(b),
        samples_(signal_.count()) {
    // Windows that no signal reaches are not made: there is room for those of a group.
    if (b.integer("window_step") > kFarStep) step_ = min(step_, samples_ + i64(1));
  }

  void define() {
    check_signal();
    const Expr length = b_.arg("window_length", DType::kI64);
    const bool centred = b_.flag("center_windows");
    const Expr windows = centred ? samples_ / step_ + i64(1) : (samples_ - length) / step_ + i64(1);
    const Expr groups = (windows + i64(kTogether - 1)) / i64(kTogether);
    const Sample sample = samples_of(centred ? length / i64(2) : i64(0), groups);
    const int weights = constant_vector(b_, "window", window());
    const StageRef power = power_spectrum_stage(
        b_, "spectrum",
        {.before = {groups},
         .behind = {i64(kTogether)},
         .points = points_,
         .element =
             [&](const Axes& before, const Expr& row, const Axes& behind) {
               const Expr weighed = sample(before[0], behind[0], row) * b_.load(weights, {row});
               return length_ == points_ ? weighed : select(row < length, weighed, f32(0));
             }},
        b_.integer("power") == 1);
    const StageRef out =
        b_.map("spectrogram", DType::kF32, {i64(points_ / 2 + 1), windows}, [&](const Axes& at) {
          return b_.load(power, {at[1] / i64(kTogether), at[0], at[1] % i64(kTogether)});
        });
    b_.output_stage(0, out, b_.text("layout") == "ft" ? std::vector{0, 1} : std::vector{1, 0});
  }

 private:
  void check_signal() {
    Expr longest = i64(1);
    for (const Expr& extent : b_.extents(0)) longest = max(longest, extent);
    b_.check(samples_ > i64(0), "the signal has no samples");
    b_.check(equal(samples_, longest), "the input has {} samples in more than one channel", {samples_},
             "choose a channel with x[:, 0]");
    if (b_.flag("center_windows")) return;
    const Expr length = b_.arg("window_length", DType::kI64);
    b_.check(samples_ >= length, "the signal has {} samples, fewer than a window of {}", {samples_, length},
             "pad it, or set center_windows=True", "window_length");
  }

  /// Sample `row` of a window of a group, f32.
  using Sample = std::function<Expr(const Expr& group, const Expr& window, const Expr& row)>;

  /// Windows see the signal from `before` samples in front of it. What a group's windows see of it is made as one
  /// row, which stays in the cache, and has ends of windows twice; windows apart have nothing in common.
  Sample samples_of(const Expr& before, const Expr& groups) {
    const Border border =
        b_.flag("center_windows") && b_.flag("reflect_padding") ? Border::kReflect101 : Border::kConstant;
    const auto heard = [this, border, before](const Expr& group, const Expr& sample) {
      return signal_.load(group * i64(kTogether) * step_ + sample - before, border);
    };
    if (b_.integer("window_step") > points_)
      return [this, heard](const Expr& group, const Expr& window, const Expr& row) {
        return heard(group, window * step_ + row);
      };
    const StageRef signal = b_.map("signal", DType::kF32, {groups, i64(kTogether - 1) * step_ + i64(points_)},
                                   [&](const Axes& at) { return heard(at[0], at[1]); });
    return [this, signal](const Expr& group, const Expr& window, const Expr& row) {
      return b_.load(signal, {group, window * step_ + row});
    };
  }
  /// The weights, and zeros up to the points of the transform.
  std::vector<double> window() const {
    std::vector<double> weights = b_.given("window_fn") ? b_.numbers("window_fn") : std::vector<double>();
    for (int64_t t = static_cast<int64_t>(weights.size()); t < length_; ++t)
      weights.push_back(0.5 * (1 - std::cos(2 * std::numbers::pi * (static_cast<double>(t) + 0.5) /
                                            static_cast<double>(length_))));
    weights.resize(static_cast<size_t>(points_), 0.0);
    return weights;
  }

  RecipeBuilder& b_;
  int64_t points_, length_;
  Expr step_;
  Samples signal_;
  Expr samples_;
};

}  // namespace

Operator make_spectrogram() {
  Operator op;
  op.name = "spectrogram";
  op.summary = "Shows how strong each frequency is in windows of a signal.";
  op.documentation =
      "out[k, w] = |sum over n of signal[start(w) + n] * window[n] * exp(-2 pi i k n / nfft)|^power, for k from 0 to "
      "nfft / 2: the short-time Fourier transform, not scaled. start(w) is w * window_step, less window_length / 2 "
      "where windows are centred; there are samples / window_step + 1 of them then, else "
      "(samples - window_length) / window_step + 1, both rounded down. Frequency k is k / nfft of the sample rate. "
      "The transform is computed in f32 by factors of nfft, of which those above 13 go through a convolution "
      "(Bluestein): powers of two are quickest.";
  op.inputs = {{.name = "signal",
                .documentation = "samples; axes with one element count for nothing",
                .dtypes = {DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.outputs = {{.name = "spectrogram",
                 .documentation = "[frequencies, windows] or, with layout=\"tf\", [windows, frequencies]",
                 .dtypes = {DType::kF32},
                 .ndim = 2}};
  op.args = {
      {.name = "nfft",
       .kind = ArgKind::kInt,
       .documentation =
           "Points of the transform, at least window_length, which it is if not given. Windows are "
           "filled up with zeros at their end."},
      {.name = "window_length",
       .kind = ArgKind::kInt,
       .default_value = int64_t{512},
       .documentation = "Samples of a window."},
      {.name = "window_step",
       .kind = ArgKind::kInt,
       .default_value = int64_t{256},
       .documentation = "Samples from the start of a window to that of the next one."},
      {.name = "window_fn",
       .kind = ArgKind::kFloatList,
       .documentation = "Weights of a window's samples, window_length of them. If not given, the Hann window "
                        "0.5 - 0.5 cos(2 pi (n + 0.5) / window_length)."},
      {.name = "power",
       .kind = ArgKind::kInt,
       .default_value = int64_t{2},
       .documentation = "2 gives squared magnitudes, 1 magnitudes."},
      {.name = "center_windows",
       .kind = ArgKind::kBool,
       .default_value = true,
       .documentation =
           "Whether the middle of window w lies at sample w * window_step; else its start does, and "
           "no window reaches outside of the signal, which must be as long as one."},
      {.name = "reflect_padding",
       .kind = ArgKind::kBool,
       .default_value = true,
       .documentation =
           "What centred windows see outside of the signal: its mirror image without the last sample "
           "(cb|abc), or zeros."},
      {.name = "layout",
       .kind = ArgKind::kLayout,
       .default_value = std::string("ft"),
       .documentation = "\"ft\": a row per frequency; \"tf\": a row per window."}};
  op.devices = {"cpu", "gpu"};
  op.example = sound_example("fn.spectrogram(sound, nfft=512, window_length=400, window_step=160)");
  op.type_rule = spectrogram_types;
  op.places = op::Places::kNone;
  op.define = [](RecipeBuilder& b) { Spectrogram(b).define(); };
  return op;
}

}  // namespace galatea::ops
