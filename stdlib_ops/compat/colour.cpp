// See colour.h. Sources of the formulas: Pillow's ImageEnhance, Blend.c and Convert.c; torchvision's
// transforms/v2/functional/_color.py, for u8 tensors; recorded outputs confirm them (tests/oracle, group colour).
//
// Pillow's enhancers blend with another image, d + f (x - d) in f32, and drop the fraction: d is black, the mean
// grey, or the pixel's grey. torchvision blends f x + (1 - f) d. Greys are (19595 R + 38470 G + 7471 B + 2^15)
// / 2^16 in Pillow, 0.2989 R + 0.587 G + 0.114 B without their fraction in torchvision.
#include "stdlib_ops/compat/colour.h"

#include "stdlib_ops/compat/checks.h"
#include "stdlib_ops/compat/torch_colour.h"

namespace galatea::ops {
namespace {

/// An image between two steps: input 0, or the stage before.
struct Picture {
  RecipeBuilder& b;
  StageRef stage;

  /// u8.
  Expr load(const Axes& at) const { return stage.index < 0 ? b.load(0, at) : b.load(stage, at); }
  /// The last one there is stands for those that are not.
  Expr channel(Axes at, int64_t c) const {
    at.back() = i64(c);
    return stage.index < 0 ? b.load(0, at, Border::kClamp) : b.load(stage, at, Border::kClamp);
  }
};

/// The steps of a colour operator.
class ColourSteps {
 public:
  explicit ColourSteps(RecipeBuilder& b)
      : b_(b), pil_(b.compat() == Compat::kPil), extents_(b.extents(0)), picture_{b, {}} {
    const int64_t known = b.output_type(0).extents.back();
    const Expr three = equal(extents_.back(), i64(3)), one = equal(extents_.back(), i64(1));
    b.check(known == 3 ? three : three | one,
            known == 3 ? "the image has {} channels, 3 are needed"
                       : "the image has {} channels, 1 or 3 are needed",
            {extents_.back()}, "decode with output_type=types.RGB");
    coloured_ = known != 1;
    if (known > 0) extents_.back() = i64(known);
    if (known < 0) three_ = three;
  }

  void define() {
    if (has("hue")) hue();
    if (has("saturation")) saturation();
    if (has("contrast")) contrast();
    if (has("brightness")) brightness();
    // A call without any step leaves the image as it is.
    if (picture_.stage.index < 0) step("colour", [&](const Axes& at) { return picture_.load(at); });
    b_.output_stage(0, picture_.stage);
  }

 private:
  bool has(const char* name) const { return b_.node().op->find_arg(name) != nullptr && b_.given(name); }

  /// f64: what the text says is not rounded to f32 before it is taken from 1.
  Expr factor(const char* name) {
    const Expr value = b_.arg(name, DType::kF64);
    b_.check(value >= f64(0), "{} is not a factor: it must not be negative", {value}, {}, name);
    return value;
  }

  template <typename Body>
  void step(const char* name, const Body& body) {
    picture_.stage = b_.map(name, DType::kU8, extents_, [&](const Axes& at) { return body(at); });
  }

  /// Without its fraction, within a byte.
  static Expr byte_below(const Expr& value) {
    return kernel::convert(clamp(value, f32(0), f32(255)), DType::kU8);
  }

  Expr blend(const Expr& pixel, const Expr& other, const Expr& f) const {
    const Expr x = to_f32(pixel);
    if (pil_) return byte_below(other + to_f32(f) * (x - other));
    // torchvision takes both factors of numbers in f64.
    return byte_below(kernel::fma(other, to_f32(f64(1) - f), x * to_f32(f)));
  }

  /// f32, whole; of one channel, that.
  Expr grey(const Axes& at) const {
    if (!coloured_) return to_f32(picture_.channel(at, 0));
    const auto value = [&](int64_t c) { return picture_.channel(at, c); };
    if (pil_) {
      const auto part = [&](int64_t c, int64_t weight) { return to_i32(value(c)) * i32(weight); };
      return to_f32(shift_right(part(0, 19595) + part(1, 38470) + part(2, 7471) + i32(1 << 15), 16));
    }
    const auto wide = [&](int64_t c) { return to_f32(value(c)); };
    const Expr mixed = whole_below(torch_grey({wide(0), wide(1), wide(2)}));
    return three_ ? select(three_, mixed, wide(0)) : mixed;
  }

  void saturation() {
    const Expr f = factor("saturation");
    step("saturation", [&](const Axes& at) { return blend(picture_.load(at), grey(at), f); });
  }

  void contrast() {
    const Expr f = factor("contrast");
    const Expr height = extents_[0], width = extents_[1];
    const StageRef sum = b_.reduce({.name = "grey_sum",
                                    .type = DType::kI64,
                                    .extents = {i64(1)},
                                    .reduce_extents = {height, width},
                                    .accumulator = DType::kI64,
                                    .body = [&](const Axes&, const Axes& over) {
                                      const Axes at = {over[0], over[1], i64(0)};
                                      return to_i64(grey(at));
                                    }});
    const StageRef mean = b_.map("grey_mean", DType::kF32, {i64(1)}, [&](const Axes&) {
      const Expr exact = to_f64(b_.load(sum, {i64(0)})) / to_f64(max(height * width, i64(1)));
      return to_f32(pil_ ? whole_below(exact + f64(0.5)) : exact);
    });
    step("contrast", [&](const Axes& at) { return blend(picture_.load(at), b_.load(mean, {i64(0)}), f); });
  }

  void brightness() {
    const Expr f = factor("brightness");
    step("brightness", [&](const Axes& at) { return byte_below(to_f32(picture_.load(at)) * to_f32(f)); });
  }

  void hue() {
    const Expr degrees = b_.arg("hue", DType::kF32);
    b_.check(absolute(degrees) <= f32(180), "a hue of {} degrees is more than half a turn", {degrees}, {},
             "hue");
    const Expr turn = to_f64(degrees) / f64(360);
    step("hue", [&](const Axes& at) {
      Rgb rgb;
      for (size_t c = 0; c < 3; ++c) rgb[c] = picture_.channel(at, static_cast<int64_t>(c));
      return pil_ ? turned_bytes(at, rgb, turn) : turned_unit(at, rgb, turn);
    });
  }

  /// Pillow's hue before it is brought into one turn, in sixths; `lacks` is what each channel lacks to the largest, as
  /// a share of the range.
  static Expr sixths(const Rgb& rgb, const Expr& largest, const Rgb& lacks) {
    const Expr red = to_f64(lacks[2]) - to_f64(lacks[1]);
    const Expr green = f64(2) + to_f64(lacks[0]) - to_f64(lacks[2]);
    const Expr blue = f64(4) + to_f64(lacks[1]) - to_f64(lacks[0]);
    return select(equal(rgb[0], largest), red, select(equal(rgb[1], largest), green, blue));
  }

  /// Pillow's HSV, of bytes: the hue has 255 steps a turn, and wraps at 256.
  Expr turned_bytes(const Axes& at, const Rgb& rgb, const Expr& turn) const {
    const auto [largest, smallest] = extremes(rgb);
    const Expr grey = equal(largest, smallest);
    const Expr range = select(grey, f32(1), to_f32(largest) - to_f32(smallest));
    Rgb lacks;
    for (size_t c = 0; c < 3; ++c) lacks[c] = (to_f32(largest) - to_f32(rgb[c])) / range;
    const Expr h = to_f32(sixths(rgb, largest, lacks));
    const Expr around = to_f32(kernel::binary(ScalarOp::kRem, to_f64(h) / f64(6) + f64(1), f64(1)));
    const Expr s = range / max(to_f32(largest), f32(1));
    const Expr added = to_i64(turn * f64(255));
    const Expr hue = (to_i64(to_f64(around) * f64(255)) + added) & i64(255);
    const Expr saturation = to_i64(to_f64(s) * f64(255));
    // And back.
    const Expr place = to_f64(hue) * f64(6) / f64(255);
    const Expr sixth = floor_to_i64(place);
    const Expr f = to_f32(place - to_f64(sixth)), fs = to_f32(to_f64(saturation) / f64(255));
    const Expr v = to_f64(largest);
    const auto value = [&](const Expr& part) {
      const Expr rounded = kernel::unary(ScalarOp::kRoundAway, v * (f64(1) - part));
      return kernel::saturate(rounded, DType::kU8);
    };
    const Expr p = value(to_f64(fs)), q = value(to_f64(fs * f)), t = value(to_f64(fs) * (f64(1) - to_f64(f)));
    const Expr own = channel_of(at, rgb);
    const Expr around6 = select(sixth >= i64(6), i64(0), sixth);
    const Expr turned = channel_of(
        at, {choose(around6, {largest, q, p, p, t, largest}), choose(around6, {t, largest, largest, q, p, p}),
             choose(around6, {p, p, t, largest, largest, q})});
    return select(grey, own, select(equal(saturation, i64(0)), largest, turned));
  }

  /// torchvision's, in f32 from 0 to 1.
  static Expr turned_unit(const Axes& at, const Rgb& bytes, const Expr& turn) {
    Rgb rgb;
    for (size_t c = 0; c < 3; ++c) rgb[c] = to_f32(bytes[c]) * f32(1.0 / 255);
    return byte_below(channel_of(at, torch_turned(rgb, to_f32(turn))) * f32(kTorchByteScale));
  }

  static Expr channel_of(const Axes& at, const Rgb& rgb) {
    return choose(at.back(), {rgb[0], rgb[1], rgb[2]});
  }

  RecipeBuilder& b_;
  bool pil_;
  std::vector<Expr> extents_;
  bool coloured_ = true;  ///< may have three channels
  Expr three_;            ///< whether it has, where only the sample knows
  Picture picture_;
};

}  // namespace

Status check_compat_colour(const TypeContext& ctx) {
  GALATEA_TRY(check_bytes(ctx));
  GALATEA_TRY(check_without(ctx, {{"brightness_shift", "the library only multiplies"},
                                  {"contrast_center", "contrast is about the mean grey of the image"}}));
  const int64_t channels = ctx.input(0).extents.back();
  if (channels >= 0 && channels != 1 && channels != 3)
    return preset_error(ctx, fmt::format(" takes 1 or 3 channels, not {}", channels),
                        "decode with output_type=types.RGB");
  for (const char* name : {"brightness", "contrast", "saturation"})
    if (ctx.op().find_arg(name) != nullptr && given_static(ctx, name) && ctx.number(name) < 0)
      return preset_error(ctx, fmt::format(" has factors that are not negative, not {}", ctx.number(name)),
                          "", name);
  return {};
}

void define_compat_colour(RecipeBuilder& b) { ColourSteps(b).define(); }

std::vector<op::Preset> colour_presets() {
  const std::string steps =
      "one step after the other (hue, saturation, contrast, brightness), each rounded to bytes; contrast is "
      "about the mean grey of the image; hue turns HSV";
  return {
      {.peer = Compat::kPil,
       .differs = "ImageEnhance, and torchvision's adjust_hue of a PIL image: " + steps},
      {.peer = Compat::kTorchvision, .differs = "adjust_brightness and its like, of a u8 tensor: " + steps}};
}

}  // namespace galatea::ops
