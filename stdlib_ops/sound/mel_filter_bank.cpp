// mel_filter_bank: frequencies gathered into bands as wide as they are heard.
//
// Comes in: spectra. Goes out: for each band the sum of the frequencies under a triangle. Where triangles begin and
// end is known from the text; which frequencies lie under them, the sample's extents tell. Each band sums as many
// neighbours as the widest one has: a `band` stage, which fuses with what makes the spectra.
#include <algorithm>
#include <cmath>

#include "stdlib_ops/operators.h"
#include "stdlib_ops/sound/sound.h"

namespace galatea::ops {
namespace {

// Slaney's Auditory Toolbox: linear up to 1000 Hz, then 27 steps for each factor of 6.4.
constexpr double kSlaneyLinearHz = 1000, kSlaneyHzPerMel = 200.0 / 3, kSlaneySteps = 27, kSlaneyFactor = 6.4;
// The HTK book.
constexpr double kHtkHz = 700, kHtkMel = 1127;

constexpr int64_t kMostBands = 65536;  ///< where they lie is written out while compiling

bool is_htk(const std::string& formula) { return formula == "htk"; }

double mel_of(double hz, bool htk) {
  if (htk) return kHtkMel * std::log1p(hz / kHtkHz);
  if (hz < kSlaneyLinearHz) return hz / kSlaneyHzPerMel;
  return kSlaneyLinearHz / kSlaneyHzPerMel +
         kSlaneySteps * std::log(hz / kSlaneyLinearHz) / std::log(kSlaneyFactor);
}

double hz_of(double mel, bool htk) {
  if (htk) return kHtkHz * std::expm1(mel / kHtkMel);
  const double linear = kSlaneyLinearHz / kSlaneyHzPerMel;
  if (mel < linear) return mel * kSlaneyHzPerMel;
  return kSlaneyLinearHz * std::exp((mel - linear) * std::log(kSlaneyFactor) / kSlaneySteps);
}

template <typename Context>
double highest_frequency(const Context& c) {
  const double high = c.number("freq_high");
  return high > 0 ? high : c.number("sample_rate") / 2;
}

int frequency_axis(const ir::Type& in) {
  return in.layout.empty() ? std::max(0, in.ndim - 2) : in.layout.find('f');
}

Types mel_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  if (in.ndim == 0 || frequency_axis(in) < 0)
    return ctx.error(fmt::format("mel_filter_bank: {} has no axis of frequencies", describe(in)),
                     "name it f: fn.reshape(x, layout=\"ft\")");
  if (const int64_t bands = ctx.integer("nfilter"); bands < 1 || bands > kMostBands)
    return ctx.error(
        fmt::format("mel_filter_bank: nfilter must be from 1 to {}, it is {}", kMostBands, bands), {},
        "nfilter");
  const double rate = ctx.number("sample_rate"), low = ctx.number("freq_low"), high = highest_frequency(ctx);
  if (!(rate > 0 && std::isfinite(rate)))
    return ctx.error(fmt::format("mel_filter_bank: sample_rate must be finite and above 0, it is {}", rate),
                     {}, "sample_rate");
  if (!std::isfinite(ctx.number("freq_high")))
    return ctx.error(
        fmt::format("mel_filter_bank: freq_high must be finite, it is {}", ctx.number("freq_high")), {},
        "freq_high");
  if (!(low >= 0))
    return ctx.error(fmt::format("mel_filter_bank: freq_low must not be negative, it is {}", low), {},
                     "freq_low");
  if (!(high > low && high <= rate))
    return ctx.error(
        fmt::format("mel_filter_bank: freq_high is {}, not above freq_low, {}, and up to the sample rate, {}",
                    high, low, rate),
        "half the sample rate is the highest frequency that a signal has", "freq_high");
  const std::string formula = ctx.text("mel_formula");
  if (formula != "slaney" && formula != "htk")
    return ctx.error(fmt::format("mel_filter_bank: mel_formula \"{}\" is unknown", formula),
                     "use \"slaney\" or \"htk\"", "mel_formula");
  ir::Type out = in;
  out.extents[static_cast<size_t>(frequency_axis(in))] = ctx.integer("nfilter");
  return std::vector{out};
}

/// Where triangles begin, peak and end, in Hz: number m has points m, m + 1 and m + 2.
std::vector<double> mel_points(const RecipeBuilder& b) {
  const bool htk = is_htk(b.text("mel_formula"));
  const double low = mel_of(b.number("freq_low"), htk), high = mel_of(highest_frequency(b), htk);
  const int64_t intervals = b.integer("nfilter") + 1;
  std::vector<double> points;
  for (int64_t m = 0; m <= intervals; ++m)
    points.push_back(
        hz_of(low + (high - low) * static_cast<double>(m) / static_cast<double>(intervals), htk));
  return points;
}

void define_mel(RecipeBuilder& b) {
  const int axis = frequency_axis(b.input_type(0));
  const auto a = static_cast<size_t>(axis);
  const Expr bins = b.extent(0, axis);
  b.check(bins > i64(0), "the input has no frequencies");
  const std::vector<double> points = mel_points(b);
  double widest = 0;
  for (size_t m = 0; m + 2 < points.size(); ++m) widest = std::max(widest, points[m + 2] - points[m]);
  const int table = constant_vector(b, "points", points, DType::kF64);

  const Expr filters = b.arg("nfilter", DType::kI64);
  const Expr hz_per_bin = b.arg("sample_rate", DType::kF64) / to_f64(max((bins - i64(1)) * i64(2), i64(1)));
  const Expr taps = clamp(floor_to_i64(f64(widest) / hz_per_bin) + i64(1), i64(1), max(bins, i64(1)));
  const StageRef first = b.map("first_bin", DType::kI64, {filters}, [&](const Axes& at) {
    return clamp(ceil_to_i64(b.load(table, {at[0]}) / hz_per_bin), i64(0), bins - taps);
  });
  const bool normalize = b.flag("normalize");
  const StageRef weights = b.map("mel_weights", DType::kF32, {filters, taps}, [&](const Axes& at) {
    const Expr hz = to_f64(b.load(first, {at[0]}) + at[1]) * hz_per_bin;
    const Expr begin = b.load(table, {at[0]}), peak = b.load(table, {at[0] + i64(1)}),
               end = b.load(table, {at[0] + i64(2)});
    const Expr height = max(min((hz - begin) / (peak - begin), (end - hz) / (end - peak)), f64(0));
    return to_f32(normalize ? height * f64(2) / (end - begin) : height);
  });
  Axes extents = b.extents(0);
  extents[a] = filters;
  b.output_stage(0, b.band({.name = "mel",
                            .type = DType::kF32,
                            .extents = extents,
                            .axis = axis,
                            .accumulator = DType::kF32,
                            .taps = taps,
                            .first = [&](const Expr& m) { return b.load(first, {m}); },
                            .weight = [&](const Expr& m, const Expr& k) { return b.load(weights, {m, k}); },
                            .source =
                                [&](const Axes& at, const Expr& bin) {
                                  Axes from = at;
                                  from[a] = bin;
                                  return b.load(0, from);
                                },
                            .finish = {}}));
}

}  // namespace

Operator make_mel_filter_bank() {
  Operator op;
  op.name = "mel_filter_bank";
  op.summary = "Gathers frequencies into bands on the mel scale.";
  op.documentation =
      "out[m] = sum over k of in[k] * weight(m, k), for each window. nfilter + 2 points lie between freq_low and "
      "freq_high at equal distances in mel; weight m rises in Hz from 0 at point m to 1 at point m + 1, and falls to "
      "0 at point m + 2; with normalize=True it is multiplied by 2 / (point m + 2 - point m), so that triangles have "
      "equal areas. Frequency k of the input is k * sample_rate / (2 * (bins - 1)) Hz. \"slaney\": mel = 3 f / 200 "
      "below 1000 Hz, above 15 + 27 ln(f / 1000) / ln 6.4 (Slaney's Auditory Toolbox); \"htk\": mel = 1127 ln(1 + "
      "f / 700) (the HTK book). Weights are computed in f64, products added in f32 from the lowest frequency on.";
  op.inputs = {{.name = "spectrogram",
                .documentation =
                    "spectra, squared magnitudes usually; frequencies are axis f, without a layout the "
                    "last but one",
                .dtypes = {DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.outputs = {{.name = "mel", .documentation = "bands in place of frequencies", .dtypes = {DType::kF32}}};
  op.args = {{.name = "nfilter",
              .kind = ArgKind::kInt,
              .default_value = int64_t{128},
              .documentation = "Number of bands."},
             {.name = "sample_rate",
              .kind = ArgKind::kFloat,
              .default_value = 44100.0,
              .documentation = "Samples of the signal in a second, Hz."},
             {.name = "freq_low",
              .kind = ArgKind::kFloat,
              .default_value = 0.0,
              .documentation = "Where the lowest band begins, Hz."},
             {.name = "freq_high",
              .kind = ArgKind::kFloat,
              .default_value = 0.0,
              .documentation = "Where the highest band ends, Hz; 0: half the sample rate."},
             {.name = "normalize",
              .kind = ArgKind::kBool,
              .default_value = true,
              .documentation = "Whether all bands have the same area; else each has the height 1."},
             {.name = "mel_formula",
              .kind = ArgKind::kString,
              .default_value = std::string("slaney"),
              .documentation = "\"slaney\" or \"htk\": how Hz become mel."}};
  op.devices = {"cpu", "gpu"};
  op.example = sound_example(
      "fn.mel_filter_bank(fn.spectrogram(sound, nfft=512, window_length=400, window_step=160), nfilter=80, "
      "sample_rate=16000)");
  op.type_rule = mel_types;
  op.places = op::Places::kNone;
  op.define = define_mel;
  return op;
}

}  // namespace galatea::ops
