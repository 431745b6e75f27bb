// nonsilent_region: where sound is louder than silence.
//
// Comes in: sound, [t]. Goes out: the first frame that counts, and how many do. Sums of squares are those of
// prefixes in f64, two of which give the power of any window.
#include <cmath>

#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Types region_types(const TypeContext& ctx) {
  const DType dtype = ctx.input(0).dtype;
  if (is_bool(dtype) || dtype == DType::kF64 || dtype == DType::kF16)
    return ctx.error(fmt::format("nonsilent_region does not take {}", types_name(dtype)),
                     "sound is of integers or FLOAT");
  if (const int64_t length = ctx.integer("window_length"); length < 1)
    return ctx.error(fmt::format("nonsilent_region: window_length is {}", length), "at least 1",
                     "window_length");
  const int64_t interval = ctx.given("reset_interval") ? ctx.integer("reset_interval") : -1;
  if (interval != -1 && (interval < 1 || interval % ctx.integer("window_length") != 0))
    return ctx.error(fmt::format("nonsilent_region: reset_interval is {}, and window_length {}", interval,
                                 ctx.integer("window_length")),
                     "it is a multiple of window_length, or -1", "reset_interval");
  if (ctx.given("reference_power") && !(ctx.number("reference_power") > 0))
    return ctx.error(fmt::format("nonsilent_region: reference_power is {}", ctx.number("reference_power")),
                     "it is more than 0; leave it out to take the loudest window", "reference_power");
  if (const double cutoff = ctx.number("cutoff_db"); std::isnan(cutoff))
    return ctx.error("nonsilent_region: cutoff_db is not a number", "give decibels, -60 for example",
                     "cutoff_db");
  const ir::Type scalar{.dtype = DType::kI32, .ndim = 0, .layout = {}, .device = {}, .extents = {}};
  return std::vector{scalar, scalar};
}

void define_region(RecipeBuilder& b) {
  const Expr frames = b.extent(0, 0);
  const Expr window = max(min(b.arg("window_length", DType::kI64), frames), i64(1));
  const Expr windows = max(frames - window + i64(1), i64(0));
  const StageRef energy = b.scan({.name = "energy",
                                  .type = DType::kF64,
                                  .extents = {frames},
                                  .axis = 0,
                                  .accumulator = DType::kF64,
                                  .body = [&](const Axes& at) {
                                    const Expr x = to_f64(b.load(0, at));
                                    return x * x;
                                  }});
  const auto power = [&](const Expr& i) {
    const Expr end = b.load(energy, {i + window - i64(1)});
    const Expr begin = b.load(energy, {max(i - i64(1), i64(0))});
    return (end - select(i > i64(0), begin, f64(0))) / to_f64(window);
  };
  const auto over_windows = [&](const char* name, DType type, kernel::Combiner combiner, const auto& body) {
    return b.reduce({.name = name,
                     .type = type,
                     .extents = {},
                     .reduce_extents = {windows},
                     .accumulator = type,
                     .combiner = combiner,
                     .body = [&](const Axes&, const Axes& over) { return body(over[0]); }});
  };
  const Expr share = kernel::binary(ScalarOp::kPow, f64(10), b.arg("cutoff_db", DType::kF64) / f64(10));
  StageRef loudest;
  if (!b.given("reference_power"))
    loudest = over_windows("loudest", DType::kF64, kernel::Combiner::kMax, power);
  const auto counts = [&](const Expr& i) {
    const Expr reference = loudest.index < 0 ? b.arg("reference_power", DType::kF64) : b.load(loudest, {});
    return power(i) >= reference * share;
  };
  const StageRef first = over_windows("first", DType::kI64, kernel::Combiner::kMin,
                                      [&](const Expr& i) { return select(counts(i), i, windows); });
  const StageRef last = over_windows("last", DType::kI64, kernel::Combiner::kMax,
                                     [&](const Expr& i) { return select(counts(i), i, i64(-1)); });
  const auto has_any = [&] { return b.load(last, {}) >= i64(0); };
  const auto scalar = [&](const char* name, const Expr& value) {
    return b.map(name, DType::kI32, {}, [&](const Axes&) {
      return kernel::saturate(select(has_any(), value, i64(0)), DType::kI32);
    });
  };
  b.output_stage(0, scalar("begin", b.load(first, {})));
  b.output_stage(1, scalar("length", b.load(last, {}) - b.load(first, {}) + window));
}

}  // namespace

Operator make_nonsilent_region() {
  Operator op;
  op.name = "nonsilent_region";
  op.summary = "Finds where sound is not silent.";
  op.documentation =
      "The power of a window is the mean of its squares, with W = min(window_length, frames) elements; the last "
      "window ends with the sound. From the first window whose power is at least reference_power * 10^(cutoff_db / "
      "10) to the last one, all elements of both count. Outputs, INT32: the first element, and how many they are; "
      "0 and 0 if no window is loud enough. Of sound that is 0 throughout every window is as loud as the loudest, so "
      "all of it counts.";
  op.inputs = {{.name = "data", .documentation = "sound, of integers or FLOAT", .ndim = 1}};
  op.min_inputs = op.max_inputs = 1;
  op.output_needs = {"", ""};
  op.args = {
      {.name = "cutoff_db",
       .kind = ArgKind::kFloat,
       .default_value = -60.0,
       .documentation = "The least power that is no silence, in dB of the reference."},
      {.name = "window_length",
       .kind = ArgKind::kInt,
       .default_value = int64_t{2048},
       .documentation = "Elements of a window."},
      {.name = "reference_power",
       .kind = ArgKind::kFloat,
       .default_value = 0.0,
       .documentation = "Power that is 0 dB, the square of the input's unit; that of the sample's loudest "
                        "window if not given."},
      ignored("reset_interval", ArgKind::kInt, int64_t{8192},
              "Where DALI's sums begin anew; sums are exact enough here to need none.")};
  op.devices = {"cpu", "gpu"};
  op.example =
      "encoded, label = fn.readers.file(file_root=data)\n"
      "sound, rate = fn.decoders.audio(encoded, downmix=True)\n"
      "begin, length = fn.nonsilent_region(sound, cutoff_db=-40)\n"
      "return fn.slice(sound, begin, length, axes=[0]), label\n";
  op.type_rule = region_types;
  op.define = define_region;
  return op;
}

}  // namespace galatea::ops
