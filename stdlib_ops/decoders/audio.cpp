// decoders.audio: sound from the bytes of its files.
//
// Comes in: a file of sound. Goes out: its frames, and their rate in Hz (native/sound_functions.h). A call
// becomes a node that decodes, one that resamples where a rate is asked for, one that tells the rate, and one that
// gives both: what decodes has one output, of which any range can be made alone.
#include <cmath>

#include "stdlib_ops/native/sound_functions.h"
#include "stdlib_ops/operators.h"
#include "stdlib_ops/sound/resampling.h"

namespace galatea::ops {
namespace {

constexpr const char* kDecoded = "decoded_sound";
constexpr const char* kRateOf = "rate_of_sound";

/// What a header can state (native/sound/sound_file.cpp).
constexpr std::pair<int64_t, int64_t> kFrames = {0, int64_t{1} << 31}, kChannels = {1, 256},
                                      kRates = {1, int64_t{1} << 31};

struct Told {
  Expr frames, channels, rate;
};
Told tell_sound(RecipeBuilder& b) {
  const auto told = b.native_scalars(native::kSoundPeek, {0}, {}, "", {DType::kI64, DType::kI64, DType::kI64},
                                     {kFrames, kChannels, kRates}, "TC-");
  return {told[0], told[1], told[2]};
}

ir::Type sound_type(const TypeContext& ctx, DType dtype) {
  const bool mono = ctx.flag("downmix");
  return {.dtype = dtype,
          .ndim = mono ? 1 : 2,
          .layout = {},
          .device = ir::Device::kCpu,
          .extents = std::vector<int64_t>(mono ? 1 : 2, -1)};
}

ir::Type rate_type() {
  return {.dtype = DType::kF32, .ndim = 0, .layout = {}, .device = ir::Device::kCpu, .extents = {}};
}

Types audio_types(const TypeContext& ctx) {
  const DType dtype = ctx.dtype("dtype", DType::kF32);
  if (dtype != DType::kF32 && dtype != DType::kI16 && dtype != DType::kI32)
    return ctx.error(fmt::format("decoders.audio: sound cannot be decoded to {}", types_name(dtype)),
                     "use FLOAT, INT16 or INT32, and fn.cast behind it", "dtype");
  if (!ctx.is_per_sample("sample_rate") && !std::isfinite(ctx.number("sample_rate")))
    return ctx.error(fmt::format("decoders.audio: sample_rate is {}", ctx.number("sample_rate")),
                     "give a rate in Hz, or leave it out", "sample_rate");
  GALATEA_TRY(check_resampling_quality(ctx));
  return std::vector{sound_type(ctx, dtype), rate_type()};
}

bool is_resampled(const TypeContext& ctx) {
  return ctx.is_per_sample("sample_rate") || ctx.number("sample_rate") > 0;
}

Result<std::optional<ir::NodeId>> expand_audio(const op::Expansion& expansion) {
  const TypeContext arguments = expansion.arguments();
  const ir::ValueId encoded = expansion.call.inputs[0];
  const auto given = [&](std::initializer_list<std::string_view> names) {
    std::vector<ir::Arg> args;
    for (const ir::Arg& arg : expansion.call.args)
      if (std::ranges::find(names, arg.name) != names.end()) args.push_back(arg);
    return args;
  };
  const bool resampled = is_resampled(arguments);
  std::vector<ir::Arg> of_decoder = given({"downmix"});
  const DType dtype = arguments.dtype("dtype", DType::kF32);
  of_decoder.push_back({"dtype", ir::Attr(resampled ? DType::kF32 : dtype), {}});
  GALATEA_ASSIGN(ir::ValueId sound, expansion.add(kDecoded, {encoded}, std::move(of_decoder)));
  if (resampled) {
    GALATEA_ASSIGN(const ir::ValueId rate, expansion.add(kRateOf, {encoded}, {}));
    GALATEA_ASSIGN(sound,
                   expansion.add(kSoundAtRate, {sound, rate}, given({"sample_rate", "quality", "dtype"})));
  }
  GALATEA_ASSIGN(
      const ir::ValueId rate,
      expansion.add(kRateOf, {encoded}, resampled ? given({"sample_rate"}) : std::vector<ir::Arg>{}));
  GALATEA_ASSIGN(const ir::ValueId both, expansion.add("bundle", {sound, rate}, {}));
  return expansion.builder.graph().value(both).node;
}

/// The rate that is asked for, f32; that of the file where it is 0 or less.
Expr wanted_rate(RecipeBuilder& b, const Expr& of_file) {
  const Expr wanted = b.arg("sample_rate", DType::kF32);
  b.check(wanted < f32(1e30), "sample_rate is {}", {wanted}, "give a rate in Hz", "sample_rate");
  return select(wanted > f32(0), wanted, of_file);
}

void define_at_rate(RecipeBuilder& b) {
  const Expr of_file = to_f32(b.element(1, 0));
  const Expr in = to_f64(of_file), out = to_f64(wanted_rate(b, of_file));
  b.output_stage(0, resample_sound(b, {in / out, frames_at_rate(b.extent(0, 0), in, out)}));
}

ArgSpec downmix_arg() {
  return {.name = "downmix",
          .kind = ArgKind::kBool,
          .default_value = false,
          .documentation = "Whether each frame becomes the mean of its channels, and the output [frames]."};
}
ArgSpec sample_rate_arg() {
  return {.name = "sample_rate",
          .kind = ArgKind::kFloat,
          .default_value = 0.0,
          .per_sample = true,
          .documentation = "Rate in Hz to which the sound is resampled; 0 or less keeps that of the file."};
}

Operator part_of_decoder(const char* name, std::string summary) {
  Operator op;
  op.name = name;
  op.summary = std::move(summary);
  op.documentation = "A part of fn.decoders.audio.";
  op.kind = OperatorKind::kNative;
  op.internal = true;
  return op;
}

Port encoded_sound() {
  return {
      .name = "data",
      .documentation = "the bytes of a file: WAV, RF64, W64, AIFF, AU, CAF, FLAC, Ogg (Vorbis, Opus), MP3",
      .dtypes = {DType::kU8},
      .ndim = 1};
}
Port decoded_sound() { return {.name = "sound", .documentation = "decoded"}; }
Port rate_of_file() {
  return {.name = "rate", .documentation = "of the file, in Hz", .dtypes = {DType::kF32}, .ndim = 0};
}

}  // namespace

Operator make_decoded_sound() {
  Operator op = part_of_decoder(kDecoded, "Decodes sound at its own rate.");
  op.inputs = {encoded_sound()};
  op.min_inputs = op.max_inputs = 1;
  op.args = {downmix_arg(), dtype_arg("Element type of the output.")};
  op.type_rule = [](const TypeContext& ctx) -> Types {
    ir::Type type = sound_type(ctx, ctx.dtype("dtype", DType::kF32));
    type.layout = Layout(type.ndim == 1 ? "T" : "TC");  // by which the range is offered
    return std::vector{type};
  };
  op.define = [](RecipeBuilder& b) {
    using Part = op::WindowScalar::Part;
    const Told told = tell_sound(b);
    op::NativeOutput native;
    native.function = native::kSoundDecode;
    native.inputs = {0};
    native.config = b.flag("downmix") ? R"({"downmix": true})" : "{}";
    native.makes = "sound";
    native.window = {{'T', Part::kBegin}, {'T', Part::kEnd}};
    b.output_native(0, std::move(native),
                    b.flag("downmix") ? Axes{told.frames} : Axes{told.frames, told.channels});
  };
  return op;
}

Operator make_rate_of_sound() {
  Operator op = part_of_decoder(kRateOf, "The rate of encoded sound.");
  op.inputs = {encoded_sound()};
  op.min_inputs = op.max_inputs = 1;
  op.args = {sample_rate_arg()};
  op.type_rule = [](const TypeContext&) -> Types { return std::vector{rate_type()}; };
  op.define = [](RecipeBuilder& b) { b.output_scalars(0, {wanted_rate(b, to_f32(tell_sound(b).rate))}); };
  return op;
}

Operator make_sound_at_rate() {
  Operator op = part_of_decoder(kSoundAtRate, "Resamples decoded sound.");
  op.kind = OperatorKind::kKernel;
  op.inputs = {decoded_sound(), rate_of_file()};
  op.min_inputs = op.max_inputs = 2;
  op.args = {sample_rate_arg(), resampling_quality_arg(), dtype_arg("Element type of the output.")};
  op.devices = {"cpu", "gpu"};
  op.type_rule = [](const TypeContext& ctx) -> Types {
    GALATEA_ASSIGN(const DType dtype, resampled_sound(ctx));
    ir::Type type = with_dtype(ctx.input(0), dtype);
    type.extents[0] = -1;
    return std::vector{type};
  };
  op.define = define_at_rate;
  return op;
}

Operator make_decoders_audio() {
  Operator op;
  op.name = "decoders.audio";
  op.summary = "Decodes sound.";
  op.documentation =
      "Two outputs: the sound, [frames, channels] or, with downmix, [frames], and its rate in Hz, a FLOAT. FLOAT has "
      "full scale at 1 (integers of n bits are divided by 2^(n-1); floats of a file stay what they are). INT16 and "
      "INT32 are the upper bits of a file's integers; of files that hold floats, or codecs that make them (Vorbis, "
      "Opus, MP3), and of a mean of channels, round(x * 32767) or round(x * 2147483647). With sample_rate the "
      "sound is resampled as by fn.audio_resample, behind downmix. Only the range of frames that later operators read "
      "is decoded. Formats are recognised by content; libsndfile decodes them, and must be on the machine.";
  op.kind = OperatorKind::kNative;
  op.inputs = {encoded_sound()};
  op.min_inputs = op.max_inputs = 1;
  op.output_needs = {"", ""};
  op.args = {downmix_arg(),
             {.name = "dtype",
              .kind = ArgKind::kDType,
              .default_value = DType::kF32,
              .documentation = "Element type of the sound: FLOAT, INT16 or INT32."},
             sample_rate_arg(),
             resampling_quality_arg()};
  op.aliases = {"audio_decoder"};
  op.example =
      "encoded, label = fn.readers.file(file_root=data)\n"
      "sound, rate = fn.decoders.audio(encoded, downmix=True, sample_rate=16000)\n"
      "return sound, rate, label\n";
  op.type_rule = audio_types;
  op.expand = expand_audio;
  return op;
}

}  // namespace galatea::ops
