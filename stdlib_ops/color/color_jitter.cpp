// galatea.color_jitter: brightness, contrast, saturation and hue by random amounts, in a random order.
//
// Comes in: an image of one channel or RGB. Goes out: the image after those of the four steps that the call gives.
//
// All 24 orders are one recipe, so that no sample branches. Brightness and saturation blend a pixel with black and
// with its grey, which is one form with other numbers: `first` and `second` are the two in the order drawn. Where
// they stand between contrast and hue is a matter of slots,
//
//   first, second, hue, first, second | contrast | first, second, hue, first, second
//
// each step in one slot of its kind; in the others it leaves the pixel, bit for bit. Contrast needs the mean grey of
// the image as it stands there: of what the slots before it clamped and rounded, which no matrix of the mean of the
// input gives.
#include <array>
#include <cmath>

#include "stdlib_ops/compat/checks.h"
#include "stdlib_ops/compat/torch_colour.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// Elements of the node's stream: the order, then the amount of each step.
constexpr int64_t kJitterOrderDraw = 0;
struct JitterStep {
  const char* name;
  double neutral;  ///< the amount that changes nothing, about which a single number spreads
  double least, most;
  int64_t draw;
};
constexpr std::array<JitterStep, 4> kJitterSteps = {{{"brightness", 1, 0, HUGE_VAL, 1},
                                                     {"contrast", 1, 0, HUGE_VAL, 2},
                                                     {"saturation", 1, 0, HUGE_VAL, 3},
                                                     {"hue", 0, -0.5, 0.5, 4}}};
const JitterStep& jitter_step(std::string_view name) {
  for (const JitterStep& step : kJitterSteps)
    if (step.name == name) return step;
  GALATEA_CHECK(false, "no such step of color_jitter");
}

const char* jitter_help(const JitterStep& step) {
  return step.neutral == 0 ? "use a number from 0 to 0.5, or a range from low to high within [-0.5, 0.5]"
                           : "use a number of 0 or more, or a range of such from low to high";
}

Status check_jitter_range(const TypeContext& ctx, const JitterStep& step) {
  if (!ctx.given(step.name)) return {};
  const int64_t count = length_of(ctx, step.name);
  if (count < 0)
    return ctx.error(
        fmt::format("{}: how many numbers {} has must be known while compiling", ctx.op().name, step.name),
        "fix it with fn.reshape(x, shape=[2])", step.name);
  if (count != 1 && count != 2)
    return ctx.error(fmt::format("{}: {} has {} numbers", ctx.op().name, step.name, count), jitter_help(step),
                     step.name);
  if (ctx.is_per_sample(step.name)) return {};
  const std::vector<double> numbers = ctx.numbers(step.name);
  const bool is_range = count == 2;
  const double low = is_range ? numbers[0] : 0, high = numbers.back();
  if (low <= high && high <= step.most && (is_range ? low >= step.least : high >= 0) && std::isfinite(high))
    return {};
  return ctx.error(is_range
                       ? fmt::format("{}: {} is ({}, {})", ctx.op().name, step.name, numbers[0], numbers[1])
                       : fmt::format("{}: {} is {}", ctx.op().name, step.name, numbers[0]),
                   jitter_help(step), step.name);
}

Types color_jitter_types(const TypeContext& ctx) {
  for (const JitterStep& step : kJitterSteps) GALATEA_TRY(check_jitter_range(ctx, step));
  ir::Type out = ctx.input(0);
  out.layout = ctx.input_layout(0);
  if (const int64_t channels = out.extents.back(); channels >= 0 && channels != 1 && channels != 3)
    return ctx.error(fmt::format("{}: the image has {} channels, 1 or 3 are taken; it is {}", ctx.op().name,
                                 channels, describe(ctx.input(0))),
                     "decode with output_type=types.RGB");
  return std::vector{out};
}

class Jitter {
  /// The channels, f32: whole numbers from 0 to 255 of bytes, else numbers from 0 to 1.
  using Pixel = std::vector<Expr>;

 public:
  explicit Jitter(RecipeBuilder& b)
      : b_(b), is_bytes_(b.input_type(0).dtype == DType::kU8), extents_(b.extents(0)) {
    coloured_ = b.output_type(0).extents.back() != 1;
    if (coloured_)
      b.check(equal(extents_.back(), i64(3)), "the image has {} channels, 3 are needed", {extents_.back()},
              "decode with output_type=types.RGB; fn.reshape can say that there is one");
    extents_.back() = i64(coloured_ ? 3 : 1);
    if (applies("hue")) turn_ = amount("hue");
    draw_order();
  }

  void define() {
    const auto before_contrast = [&](const Pixel& pixel) { return part(pixel, Side::kBefore); };
    if (!applies("contrast")) return output({}, before_contrast);
    const Expr factor = amount("contrast"), rest = rest_of(factor);
    const bool has_others = applies("brightness") || applies("saturation") || applies("hue");
    StageRef before;
    if (has_others) before = stage("before_contrast", {}, before_contrast);
    const Expr mean = b_.load(mean_grey(before), {i64(0)});
    output(before, [&](Pixel pixel) {
      for (Expr& channel : pixel) channel = tidy(kernel::fma(mean, rest, channel * factor));
      return part(std::move(pixel), Side::kBehind);
    });
  }

 private:
  bool applies(const char* name) const {
    const std::string_view which = name;
    return b_.given(name) && (coloured_ || which == "brightness" || which == "contrast");
  }

  /// Uniform in its range, f32.
  Expr amount(const char* name) {
    const JitterStep& step = jitter_step(name);
    const int count = b_.arg_length(name);
    const std::vector<Expr> given = b_.arg_list(name, count, DType::kF32);
    Expr low = given.front(), high = given.back();
    if (count == 1) {
      b_.check((high >= f32(0)) & (high <= f32(step.most)) & (high < f32(HUGE_VAL)),
               fmt::format("{} is {{}}", name), {high}, jitter_help(step), name);
      low = max(f32(step.neutral) - high, f32(step.least));
      high = f32(step.neutral) + high;
    } else {
      b_.check((low >= f32(step.least)) & (low <= high) & (high <= f32(step.most)) & (high < f32(HUGE_VAL)),
               fmt::format("{} is ({{}}, {{}})", name), {low, high}, jitter_help(step), name);
    }
    return kernel::min(kernel::fma(b_.random_unit(i64(step.draw)), high - low, low), high);
  }

  /// torchvision takes 1 - f of numbers in f64.
  static Expr rest_of(const Expr& factor) { return to_f32(f64(1) - to_f64(factor)); }

  /// Brightness or saturation, as a step of one form.
  struct Blend {
    Expr place;           ///< 0 to 3, in the order of all four
    Expr factor, greyed;  ///< of the pixel, and of its grey
  };

  /// Places of all four steps: hue is at one of four, contrast at one of the three that are left, then brightness or
  /// saturation comes first. A step that the call does not give has a place, too, so that the others are in every
  /// order as often.
  void draw_order() {
    const Expr order = b_.random_below(i64(kJitterOrderDraw), i64(24));
    hue_ = order % i64(4);
    const Expr third = order / i64(4) % i64(3);
    contrast_ = third + select(third >= hue_, i64(1), i64(0));
    const auto is_free = [&](int64_t place) {
      return not_equal(hue_, i64(place)) & not_equal(contrast_, i64(place));
    };
    const Expr least = select(is_free(0), i64(0), select(is_free(1), i64(1), i64(2)));
    const Expr most = select(is_free(3), i64(3), select(is_free(2), i64(2), i64(1)));
    const Expr is_brightness_first = order < i64(12);
    const bool brightness = applies("brightness"), saturation = applies("saturation");
    const auto blend = [&](const char* name, const Expr& place) {
      const Expr factor = amount(name);
      const bool greys = std::string_view(name) == "saturation";
      return Blend{place, factor, greys ? rest_of(factor) : f32(0)};
    };
    if (brightness && saturation) {
      const Blend bright = blend("brightness", {}), grey = blend("saturation", {});
      const auto either = [&](const Expr& a, const Expr& c) { return select(is_brightness_first, a, c); };
      blends_.push_back({least, either(bright.factor, grey.factor), either(bright.greyed, grey.greyed)});
      blends_.push_back({most, either(grey.factor, bright.factor), either(grey.greyed, bright.greyed)});
    } else if (brightness) {
      blends_.push_back(blend("brightness", select(is_brightness_first, least, most)));
    } else if (saturation) {
      blends_.push_back(blend("saturation", select(is_brightness_first, most, least)));
    }
  }

  enum class Side : uint8_t { kBefore, kBehind };

  /// The slots on one side of contrast. A call without contrast has all of its steps before it.
  Pixel part(Pixel pixel, Side side) const {
    const auto is_here = [&](const Expr& place) {
      if (!applies("contrast")) return truth(true);
      return side == Side::kBefore ? place < contrast_ : place > contrast_;
    };
    const auto blends = [&](const auto& is_on_this_side) {
      for (const Blend& step : blends_)
        pixel = blended(pixel, step, is_here(step.place) & is_on_this_side(step.place));
    };
    if (!turn_) {
      blends([](const Expr&) { return truth(true); });
      return pixel;
    }
    blends([&](const Expr& place) { return place < hue_; });
    pixel = turned(pixel, is_here(hue_));
    blends([&](const Expr& place) { return place > hue_; });
    return pixel;
  }

  Pixel blended(Pixel pixel, const Blend& step, const Expr& applied) const {
    const Expr grey = applies("saturation") ? grey_of(pixel) : Expr();
    for (Expr& channel : pixel) {
      const Expr scaled = channel * step.factor;
      channel = select(applied, tidy(grey ? kernel::fma(grey, step.greyed, scaled) : scaled), channel);
    }
    return pixel;
  }

  Pixel turned(const Pixel& pixel, const Expr& applied) const {
    Rgb unit;
    for (size_t c = 0; c < 3; ++c) unit[c] = is_bytes_ ? pixel[c] * f32(1.0 / 255) : pixel[c];
    const Rgb turned = torch_turned(unit, turn_);
    Pixel out;
    for (size_t c = 0; c < 3; ++c)
      out.push_back(select(applied & not_equal(turn_, f32(0)),
                           tidy(is_bytes_ ? turned[c] * f32(kTorchByteScale) : turned[c]), pixel[c]));
    return out;
  }

  /// As torchvision converts a result: bytes lose their fraction.
  Expr tidy(const Expr& value) const {
    return is_bytes_ ? whole_below(clamp(value, f32(0), f32(255))) : clamp(value, f32(0), f32(1));
  }

  Expr grey_of(const Pixel& pixel) const {
    if (pixel.size() == 1) return pixel[0];
    const Expr grey = torch_grey({pixel[0], pixel[1], pixel[2]});
    return is_bytes_ ? whole_below(grey) : grey;
  }

  /// Of a stage, or of the input where there is none.
  Pixel load(StageRef from, Axes at) const {
    Pixel pixel;
    for (int64_t c = 0; c < (coloured_ ? 3 : 1); ++c) {
      at.back() = i64(c);
      const Expr value = to_f32(from.index < 0 ? b_.load(0, at) : b_.load(from, at));
      pixel.push_back(is_bytes_ || from.index >= 0 ? value : tidy(value));
    }
    return pixel;
  }

  template <typename Change>
  StageRef stage(const char* name, StageRef from, const Change& change) {
    const DType type = b_.output_type(0).dtype;
    return b_.map(name, type, extents_, [&](const Axes& at) {
      return kernel::saturate(choose(at.back(), change(load(from, at))), type);
    });
  }

  template <typename Change>
  void output(StageRef from, const Change& change) {
    b_.output_stage(0, stage("color_jitter", from, change));
  }

  StageRef mean_grey(StageRef of) {
    const Expr height = extents_[0], width = extents_[1];
    const DType wide = is_bytes_ ? DType::kI64 : DType::kF64;
    const StageRef sum =
        b_.reduce({.name = "grey_sum",
                   .type = wide,
                   .extents = {i64(1)},
                   .reduce_extents = {height, width},
                   .accumulator = wide,
                   .body = [&](const Axes&, const Axes& over) {
                     return kernel::convert(grey_of(load(of, {over[0], over[1], i64(0)})), wide);
                   }});
    return b_.map("grey_mean", DType::kF32, {i64(1)}, [&](const Axes&) {
      return to_f32(to_f64(b_.load(sum, {i64(0)})) / to_f64(max(height * width, i64(1))));
    });
  }

  RecipeBuilder& b_;
  bool is_bytes_;
  std::vector<Expr> extents_;
  bool coloured_ = true;  ///< three channels
  Expr turn_;             ///< of the hue; empty: none
  Expr hue_, contrast_;   ///< their places in the order
  std::vector<Blend> blends_;
};

ArgSpec jitter_arg(const char* name, const char* documentation) {
  return {.name = name, .kind = ArgKind::kFloatList, .per_sample = true, .documentation = documentation};
}

}  // namespace

Operator make_galatea_color_jitter() {
  Operator op;
  op.name = "galatea.color_jitter";
  op.summary = "Changes brightness, contrast, saturation and hue by random amounts, in a random order.";
  op.documentation =
      "torchvision's ColorJitter, with its numbers for tensors: of the four steps those that are given, each by an "
      "amount that is uniform in its range, in an order of which all 24 are as likely; both drawn for each sample. "
      "With the factor f, brightness is f x, contrast f x + (1 - f) m about the mean grey m of the image at that "
      "step, saturation f x + (1 - f) g about the pixel's grey g = 0.2989 R + 0.587 G + 0.114 B; hue turns HSV. "
      "Each step's result is clamped, to 0 ... 1 for FLOAT; for UINT8 it loses its fraction. Of an image of one "
      "channel brightness and contrast change. All frames of a sequence get the same amounts in the same order.";
  op.inputs = {{.name = "data",
                .documentation = "image of 1 or 3 channels; floats lie in 0 ... 1",
                .layouts = {"HWC"},
                .dtypes = {DType::kU8, DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {
      jitter_arg("brightness",
                 "A number x for factors from max(0, 1 - x) to 1 + x, or (low, high); none if not given."),
      jitter_arg("contrast", "The same for contrast."), jitter_arg("saturation", "The same for saturation."),
      jitter_arg("hue",
                 "A number x, up to 0.5, for turns of the hue from -x to x, in full turns; or (low, "
                 "high) within [-0.5, 0.5].")};
  op.random = true;
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.effect =
      effect("fn.galatea.color_jitter(image, {})", {"brightness=0.2, contrast=0.2, saturation=0.2, hue=0.05",
                                                    "brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1",
                                                    "brightness=0.8, contrast=0.8, saturation=0.8, hue=0.3"});
  op.example = image_example(
      "fn.galatea.color_jitter(image, brightness=0.4, contrast=0.4, saturation=(0.5, 1.5), hue=0.1), label");
  op.places = op::Places::kKept;
  op.type_rule = color_jitter_types;
  op.define = [](RecipeBuilder& b) { Jitter(b).define(); };
  return op;
}

}  // namespace galatea::ops
