// readers.nemo_asr: recordings of speech, with what is said in them.
//
// Comes in: manifests of NeMo. Goes out: sound, its rate, the text, a number (native/nemo_source.h reads
// them). With sample_rate, a reader, a node that resamples (decoders/audio.cpp) and one that gives all outputs stand
// for the call.
#include "compiler/op/source.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/nemo_source.h"
#include "stdlib_ops/operators.h"
#include "stdlib_ops/sound/resampling.h"

namespace galatea::ops {
namespace {

Status check_nemo(const TypeContext& ctx) {
  if (ctx.texts("manifest_filepaths").empty())
    return ctx.error("readers.nemo_asr: manifest_filepaths names no file", {}, "manifest_filepaths");
  const DType dtype = ctx.dtype("dtype", DType::kF32);
  if (dtype != DType::kF32 && dtype != DType::kI16 && dtype != DType::kI32)
    return ctx.error(fmt::format("readers.nemo_asr: sound cannot be decoded to {}", types_name(dtype)),
                     "use FLOAT, INT16 or INT32, and fn.cast behind it", "dtype");
  return check_resampling_quality(ctx);
}

Result<std::vector<Port>> ports_of_nemo(const TypeContext& ctx) {
  nlohmann::json config = {{"dtype", short_name(ctx.dtype("dtype", DType::kF32))}};
  for (const char* flag : {"downmix", "read_sample_rate", "read_text", "read_idxs"})
    config[flag] = ctx.flag(flag);
  return native::nemo_ports(config);
}

/// A call that resamples.
Result<std::optional<ir::NodeId>> expand_nemo(const op::Expansion& expansion) {
  const TypeContext arguments = expansion.arguments();
  if (arguments.number("sample_rate") <= 0) return std::nullopt;
  constexpr std::array kOfReader = {"sample_rate", "quality", "dtype", "read_sample_rate"};
  std::vector<ir::Arg> of_reader, of_rate;
  for (const ir::Arg& arg : expansion.call.args) {
    if (std::ranges::find(kOfReader, arg.name) == kOfReader.end())
      of_reader.push_back(arg);
    else if (arg.name != "read_sample_rate")
      of_rate.push_back(arg);
  }
  ir::Graph& graph = expansion.builder.graph();
  GALATEA_ASSIGN(const ir::ValueId sound, expansion.add("readers.nemo_asr", {}, std::move(of_reader)));
  std::vector<ir::ValueId> outputs = graph.node(graph.value(sound).node).outputs;
  GALATEA_ASSIGN(outputs[0], expansion.add(kSoundAtRate, {sound, outputs[1]}, std::move(of_rate)));
  if (!arguments.flag("read_sample_rate")) outputs.erase(outputs.begin() + 1);
  GALATEA_ASSIGN(const ir::ValueId bundle, expansion.add("bundle", std::move(outputs), {}));
  return graph.value(bundle).node;
}

ArgSpec nemo_flag(const char* name, bool otherwise, const char* documentation) {
  return {.name = name, .kind = ArgKind::kBool, .default_value = otherwise, .documentation = documentation};
}

}  // namespace

Operator make_readers_nemo_asr() {
  op::SourceDeclaration reader;
  reader.name = "readers.nemo_asr";
  reader.summary = "Reads recordings that manifests of NeMo name.";
  reader.documentation =
      "A manifest has an object of JSON on each line: audio_filepath, and if wanted duration and offset in seconds "
      "and text. Relative names are as seen from the working directory, or, where the first is not there, from the "
      "manifest's folder. Lines that name no recording are left out. Outputs: the sound, [frames] or without downmix [frames, "
      "channels]; the rate of the file in Hz, FLOAT, also where sample_rate asks for another; the text in UTF-8, "
      "UINT8 [bytes]; and the number of the line among those that are taken of its manifest, INT64 [1]. A part begins "
      "at frame floor(offset * rate) and has floor(duration * rate) frames, as far as the file goes; only they are "
      "read and decoded. Formats and element types are those of fn.decoders.audio.";
  reader.args = {
      {.name = "manifest_filepaths",
       .kind = ArgKind::kStringList,
       .required = true,
       .documentation = "The manifests, or patterns of their names."},
      nemo_flag("read_sample_rate", true, "Whether the rate is an output."),
      nemo_flag("read_text", true, "Whether the text is an output."),
      nemo_flag("read_idxs", false, "Whether the number of the line is an output."),
      nemo_flag("downmix", true, "Whether each frame becomes the mean of its channels."),
      {.name = "dtype",
       .kind = ArgKind::kDType,
       .default_value = DType::kF32,
       .documentation = "Element type of the sound: FLOAT, INT16 or INT32."},
      {.name = "sample_rate",
       .kind = ArgKind::kFloat,
       .default_value = -1.0,
       .documentation = "Rate in Hz to which the sound is resampled; 0 or less keeps that of the file."},
      resampling_quality_arg(),
      {.name = "min_duration",
       .kind = ArgKind::kFloat,
       .default_value = 0.0,
       .documentation =
           "Lines with a shorter duration, in seconds, are left out, and those without; 0 leaves "
           "none out."},
      {.name = "max_duration",
       .kind = ArgKind::kFloat,
       .default_value = 0.0,
       .documentation = "Lines with a longer duration are left out; 0 leaves none out."},
      ignored("normalize_text", ArgKind::kBool, ir::None{}, "Deprecated."),
  };
  reader.outputs_of = ports_of_nemo;
  reader.output_needs = {"", "read_sample_rate!=false", "read_text!=false", "read_idxs"};
  reader.check = check_nemo;
  reader.aliases = {"nemo_asr_reader"};
  reader.example =
      "sound, rate, text = fn.readers.nemo_asr(manifest_filepaths=data + \"/train.json\", sample_rate=16000)\n"
      "return sound, text\n";
  Operator op = op::reader_operator(reader);
  op.expand = expand_nemo;
  return op;
}

}  // namespace galatea::ops
