// power_spectrum: how strong each frequency is in a whole signal.
//
// Comes in: signals along an axis. Goes out: squared magnitudes (or magnitudes) of their Fourier transforms. The
// number of points is structure, so one that only the run tells is summed up from the formula, element by element.
#include <numbers>

#include "stdlib_ops/common/fft.h"
#include "stdlib_ops/operators.h"
#include "stdlib_ops/sound/sound.h"

namespace galatea::ops {
namespace {

template <typename Context>
int signal_axis(const Context& c, const ir::Type& in) {
  const int64_t axis = c.integer("axis");
  return static_cast<int>(axis == -1 ? in.ndim - 1 : axis);
}

/// -1: only the run tells, or there are more than a transform takes.
template <typename Context>
int64_t known_points(const Context& c, const ir::Type& in) {
  const int64_t points =
      c.given("nfft") ? c.integer("nfft") : in.extents[static_cast<size_t>(signal_axis(c, in))];
  return points <= kMostPoints ? points : -1;
}

Types spectrum_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  const int axis = signal_axis(ctx, in);
  if (axis < 0 || axis >= in.ndim)
    return ctx.error(
        fmt::format("power_spectrum: axis {} is out of range for {}", ctx.integer("axis"), describe(in)),
        "-1 is the last", "axis");
  GALATEA_TRY(is_squared(ctx));
  if (ctx.given("nfft") && (ctx.integer("nfft") < 1 || ctx.integer("nfft") > kMostPoints))
    return ctx.error(
        fmt::format("power_spectrum: nfft is {}; 1 to {} points are taken", ctx.integer("nfft"), kMostPoints),
        {}, "nfft");
  ir::Type out = in;
  const int64_t points = known_points(ctx, in);
  out.extents[static_cast<size_t>(axis)] = points >= 0 ? points / 2 + 1 : -1;
  return std::vector{out};
}

class PowerSpectrum {
 public:
  explicit PowerSpectrum(RecipeBuilder& b)
      : b_(b),
        axis_(static_cast<size_t>(signal_axis(b, b.input_type(0)))),
        extents_(b.extents(0)),
        magnitude_(b.integer("power") == 1) {}

  void define() {
    b_.check((extents_[axis_] > i64(0)) | truth(b_.given("nfft")), "the signal has no samples", {},
             "give nfft=, to which it is filled up with zeros");
    const int64_t points = known_points(b_, b_.input_type(0));
    b_.output_stage(0, points > 0 ? transformed(points) : summed());
  }

 private:
  StageRef transformed(int64_t points) {
    const auto axis = static_cast<std::ptrdiff_t>(axis_);
    return power_spectrum_stage(b_, "power_spectrum",
                                {.before = {extents_.begin(), extents_.begin() + axis},
                                 .behind = {extents_.begin() + axis + 1, extents_.end()},
                                 .points = points,
                                 .element =
                                     [&](const Axes& before, const Expr& row, const Axes& behind) {
                                       Axes at = before;
                                       at.push_back(row);
                                       at.insert(at.end(), behind.begin(), behind.end());
                                       return b_.load(0, at, Border::kConstant);
                                     }},
                                magnitude_);
  }

  StageRef summed() {
    const Expr points = extents_[axis_];
    Axes extents = extents_;
    extents[axis_] = points / i64(2) + i64(1);
    const StageRef re = part("real_part", extents, ScalarOp::kCos),
                   im = part("imaginary_part", extents, ScalarOp::kSin);
    return b_.map("power_spectrum", DType::kF32, extents, [&](const Axes& at) {
      const Expr x = b_.load(re, at), y = b_.load(im, at), square = kernel::fma(x, x, y * y);
      return magnitude_ ? kernel::unary(ScalarOp::kSqrt, square) : square;
    });
  }
  StageRef part(const std::string& name, const Axes& extents, ScalarOp wave) {
    const Expr points = extents_[axis_];
    const StageRef turn = b_.map(name + "_turn", DType::kF32, {points}, [&](const Axes& at) {
      return to_f32(kernel::unary(wave, to_f64(at[0]) * (f64(2 * std::numbers::pi) / to_f64(points))));
    });
    return b_.reduce({.name = name,
                      .type = DType::kF32,
                      .extents = extents,
                      .reduce_extents = {points},
                      .accumulator = DType::kF64,
                      .combiner = kernel::Combiner::kSum,
                      .body =
                          [&](const Axes& at, const Axes& over) {
                            Axes from = at;
                            from[axis_] = over[0];
                            return b_.load(0, from) * b_.load(turn, {at[axis_] * over[0] % points});
                          },
                      .finish = [](const Expr& sum) { return to_f32(sum); }});
  }

  RecipeBuilder& b_;
  size_t axis_;
  Axes extents_;
  bool magnitude_;
};

}  // namespace

Operator make_power_spectrum() {
  Operator op;
  op.name = "power_spectrum";
  op.summary = "Shows how strong each frequency is in a signal.";
  op.documentation =
      "out[k] = |sum over n of in[n] * exp(-2 pi i k n / nfft)|^power for k from 0 to nfft / 2, not scaled, along an "
      "axis. A signal shorter than nfft is filled up with zeros, of a longer one the first nfft samples count. In f32; "
      "where the number of points is not known while the pipeline is built, sums are of all products, in f64: give "
      "nfft where that takes too long.";
  op.inputs = {{.name = "signal", .documentation = "samples along an axis", .dtypes = {DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.outputs = {
      {.name = "spectrum", .documentation = "frequencies in place of samples", .dtypes = {DType::kF32}}};
  op.args = {{.name = "nfft",
              .kind = ArgKind::kInt,
              .documentation = "Points of the transform. If not given, the extent of the axis."},
             {.name = "power",
              .kind = ArgKind::kInt,
              .default_value = int64_t{2},
              .documentation = "2 gives squared magnitudes, 1 magnitudes."},
             {.name = "axis",
              .kind = ArgKind::kInt,
              .default_value = int64_t{-1},
              .documentation = "The axis of the samples; -1 is the last."}};
  op.devices = {"cpu", "gpu"};
  op.example = sound_example("fn.power_spectrum(sound, nfft=8000)");
  op.type_rule = spectrum_types;
  op.places = op::Places::kNone;
  op.define = [](RecipeBuilder& b) { PowerSpectrum(b).define(); };
  return op;
}

}  // namespace galatea::ops
