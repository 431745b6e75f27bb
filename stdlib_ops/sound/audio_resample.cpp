// audio_resample: sound at another rate.
//
// Comes in: sound, [t] or [t, channels], and two rates, their ratio, or a length. Goes out: the sound that many
// frames a second, or that long (resampling.h).
#include "stdlib_ops/operators.h"
#include "stdlib_ops/sound/resampling.h"

namespace galatea::ops {
namespace {

Types resampled_types(const TypeContext& ctx) {
  GALATEA_ASSIGN(const DType dtype, resampled_sound(ctx));
  GALATEA_TRY(check_resampling_quality(ctx));
  const bool in = ctx.given("in_rate"), out = ctx.given("out_rate");
  if (in != out)
    return ctx.error("audio_resample: in_rate and out_rate belong together",
                     "give both, or scale, or out_length", in ? "in_rate" : "out_rate");
  const int ways = (in ? 1 : 0) + (ctx.given("scale") ? 1 : 0) + (ctx.given("out_length") ? 1 : 0);
  if (ways != 1)
    return ctx.error(ways == 0 ? "audio_resample: nothing says to what the sound is resampled"
                               : "audio_resample: the rates, scale and out_length exclude each other",
                     "give in_rate with out_rate, or scale, or out_length");
  ir::Type type = with_dtype(ctx.input(0), dtype);
  type.extents[0] = given_static(ctx, "out_length") ? ctx.integer("out_length") : -1;
  if (given_static(ctx, "out_length") && type.extents[0] < 0)
    return ctx.error(fmt::format("audio_resample: out_length is {}", type.extents[0]),
                     "a length is 0 or more", "out_length");
  return std::vector{type};
}

/// An argument in f64 that must be positive, rounded to f32 as DALI has it.
Expr positive_rate(RecipeBuilder& b, const char* name) {
  const Expr value = b.arg(name, DType::kF32);
  b.check((value > f32(0)) & (value < f32(1e30)), "{} is not positive", {value}, {}, name);
  return to_f64(value);
}

SoundRate rate_of(RecipeBuilder& b) {
  const Expr frames = b.extent(0, 0);
  if (b.given("out_length")) {
    const Expr length = b.arg("out_length", DType::kI64);
    b.check(length >= i64(0), "out_length is {}", {length}, "a length is 0 or more", "out_length");
    return {to_f64(frames) / to_f64(max(length, i64(1))), length};
  }
  const Expr in = b.given("scale") ? f64(1) : positive_rate(b, "in_rate");
  const Expr out = positive_rate(b, b.given("scale") ? "scale" : "out_rate");
  return {in / out, frames_at_rate(frames, in, out)};
}

}  // namespace

Operator make_audio_resample() {
  Operator op;
  op.name = "audio_resample";
  op.summary = "Resamples sound to another rate.";
  op.documentation =
      "Frame i of the output stands at frame i * in_rate / out_rate of the input, and is interpolated there by a "
      "sinc under a Hann window; the output has ceil(frames * out_rate / in_rate) frames. There is no low-pass "
      "filter: what lies above half the new rate comes out at other frequencies. Integers stand for [-1, 1] (unsigned "
      "ones: 0 to the largest number) also where the output has another type, and are clamped. Give in_rate with "
      "out_rate, or scale, or out_length. Numbers are those of DALI, whose places are stepped in f32 in blocks of 256 "
      "frames.";
  op.inputs = {{.name = "data", .documentation = "sound, [t] or [t, channels]"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "in_rate",
              .kind = ArgKind::kFloat,
              .per_sample = true,
              .documentation = "Frames a second of the input, or any number in the same unit as out_rate."},
             {.name = "out_rate",
              .kind = ArgKind::kFloat,
              .per_sample = true,
              .documentation = "Frames a second of the output."},
             {.name = "scale",
              .kind = ArgKind::kFloat,
              .per_sample = true,
              .documentation = "out_rate / in_rate: 2 gives twice as many frames."},
             {.name = "out_length",
              .kind = ArgKind::kInt,
              .per_sample = true,
              .documentation = "How many frames the output has."},
             resampling_quality_arg(),
             dtype_arg("Element type of the output; the input's if not given.")};
  op.devices = {"cpu", "gpu"};
  op.aliases = {"experimental.audio_resample"};
  op.example =
      "encoded, label = fn.readers.file(file_root=data)\n"
      "sound, rate = fn.decoders.audio(encoded, downmix=True)\n"
      "return fn.audio_resample(sound, in_rate=rate, out_rate=16000), label\n";
  op.type_rule = resampled_types;
  op.define = [](RecipeBuilder& b) { b.output_stage(0, resample_sound(b, rate_of(b))); };
  return op;
}

}  // namespace galatea::ops
