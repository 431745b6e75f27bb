// inputs.video: films that the host feeds, each of which is several samples.
//
// Comes in: a film's bytes, by the name of the input. Goes out: clips of `sequence_length` frames, FHWC, one behind
// the other. A call becomes two nodes: one says which sequence of which film a sample is, the other decodes
// it, no further than it is read.
#include <algorithm>
#include <iterator>

#include "compiler/op/schema.h"
#include "stdlib_ops/decoders/video_window.h"
#include "stdlib_ops/native/video_functions.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMostSequenceFrames = 1'000'000;
// Messages name them: behind the name that users wrote.
constexpr const char* kFedFilm = "inputs.video.film";
constexpr const char* kFilmSequence = "inputs.video.sequence";

std::vector<ArgSpec> sequence_args() {
  std::vector<ArgSpec> args = {
      {.name = "sequence_length",
       .kind = ArgKind::kInt,
       .required = true,
       .documentation = "Frames of a sample."},
      {.name = "last_sequence_policy",
       .kind = ArgKind::kString,
       .default_value = std::string("partial"),
       .documentation =
           "What a film's last sample is where its frames do not suffice: \"partial\" (shorter) or "
           "\"pad\" (filled up with fill_value)."},
      fill_value_arg(),
  };
  std::ranges::move(look_args(), std::back_inserter(args));
  return args;
}

Types sequence_types(const TypeContext& ctx) {
  const auto refuse = [&](const char* argument, const std::string& given, const std::string& help) {
    return ctx.error(fmt::format("{}: {} is {}", ctx.op().name, argument, given), help, argument);
  };
  const int64_t length = ctx.integer("sequence_length"), type = ctx.integer("image_type");
  if (length < 1 || length > kMostSequenceFrames)
    return refuse("sequence_length", std::to_string(length),
                  fmt::format("at least 1, at most {}", kMostSequenceFrames));
  const std::string policy = ctx.text("last_sequence_policy"), space = ctx.text("color_space");
  if (policy != "partial" && policy != "pad")
    return refuse("last_sequence_policy", "\"" + policy + "\"", "\"partial\" or \"pad\"");
  if (space != "bt601" && space != "tagged")
    return refuse("color_space", "\"" + space + "\"", "\"bt601\" or \"tagged\"");
  if (type < 0 || type > 3)
    return refuse("image_type", std::to_string(type), "types.RGB, types.BGR, types.GRAY or types.YCbCr");
  GALATEA_TRY(check_frame_fill(ctx));
  return std::vector{clip_type(policy == "pad" ? length : -1, type)};
}

void define_sequence(RecipeBuilder& b) {
  const Expr length = i64(b.integer("sequence_length"));
  nlohmann::json config = look_config(b);
  config["pad_mode"] = b.text("last_sequence_policy") == "pad" ? "constant" : "none";
  config["given"] = {"start_frame", "sequence_length"};
  config["is_fed"] = true;
  std::vector<Expr> scalars = {input_element(b, 1, 0, 1) * length, length};
  constexpr std::pair<int64_t, int64_t> kFrames = {1, kMostSequenceFrames}, kPixels = {1, int64_t{1} << 28};
  const auto extents =
      b.native_scalars(native::kVideoPeek, {0}, scalars, json_text(config),
                       {DType::kI64, DType::kI64, DType::kI64}, {kFrames, kPixels, kPixels}, "FHW");
  output_clip(b, native::kVideoDecode, {0}, std::move(scalars), config, {extents[0], extents[1], extents[2]});
}

/// The arguments of the call that one of its nodes has, too.
std::vector<ir::Arg> args_for(const op::Expansion& expansion, const Operator& node) {
  std::vector<ir::Arg> out;
  for (const ir::Arg& arg : expansion.call.args)
    if (node.find_arg(arg.name) != nullptr || (!node.source && arg.name == op::kDeviceArg))
      out.push_back(arg);
  return out;
}

Result<std::optional<ir::NodeId>> expand_inputs_video(const op::Expansion& expansion) {
  const Operator& film = *expansion.registry.find(kFedFilm);
  const Operator& sequence = *expansion.registry.find(kFilmSequence);
  GALATEA_ASSIGN(const ir::ValueId encoded, expansion.add(film.name, {}, args_for(expansion, film)));
  const ir::Graph& graph = expansion.builder.graph();
  std::vector<ir::ValueId> fed = graph.node(graph.value(encoded).node).outputs;
  GALATEA_ASSIGN(const ir::ValueId clip,
                 expansion.add(sequence.name, std::move(fed), args_for(expansion, sequence)));
  return graph.value(clip).node;
}

}  // namespace

Operator make_inputs_video() {
  Operator op;
  op.name = "inputs.video";
  op.summary = "Films fed by the host program, by name, a sequence of frames a sample.";
  op.documentation =
      "The host feeds a film's bytes under the name given by name=; each run gives the next batch of sequences until "
      "the film is used up, and goes on with the film that was fed behind it. The last batch of a film may be "
      "smaller. Several films of one feed follow each other. Films are those of fn.decoders.video; only frames that "
      "are read are decoded, and one that is no film fails the feed. Needs libgalatea_video.so.";
  op.kind = OperatorKind::kNative;
  op.source = true;
  op.parts_of_feed = native::kVideoSequences;
  op.args = sequence_args();
  for (ArgSpec arg : {ignored("affine", ArgKind::kBool, true, "Of threads of DALI's."),
                      ignored("blocking", ArgKind::kBool, false, "The host decides how long it waits."),
                      ignored("no_copy", ArgKind::kBool, false, "Ownership is said when feeding.")})
    op.args.push_back(std::move(arg));
  op.devices = {"cpu", "mixed"};
  op.aliases = {"experimental.inputs.video"};
  op.example =
      "video = fn.inputs.video(name=\"film\", sequence_length=16)\nreturn fn.resize(video, size=[64, 64])\n";
  op.type_rule = sequence_types;
  op.expand = expand_inputs_video;
  return op;
}

Operator make_fed_film() {
  Operator op;
  op.name = kFedFilm;
  op.summary = "Which part of which film a sample is.";
  op.documentation = "A film's bytes, as the host fed them, and the number of the sequence.";
  op.kind = OperatorKind::kNative;
  op.source = true;
  op.parts_of_feed = native::kVideoSequences;
  op.args = {{.name = "sequence_length",
              .kind = ArgKind::kInt,
              .required = true,
              .documentation = "Frames of a sample."}};
  op.internal = true;
  op.type_rule = [](const TypeContext&) -> Types {
    const auto list_of = [](DType dtype, int64_t count) {
      ir::Type type;
      type.dtype = dtype;
      type.ndim = 1;
      type.extents = {count};
      return type;
    };
    return std::vector{list_of(DType::kU8, -1), list_of(DType::kI64, 1)};
  };
  return op;
}

Operator make_film_sequence() {
  Operator op;
  op.name = kFilmSequence;
  op.summary = "The frames of one sequence of a film.";
  op.documentation = "As fn.inputs.video, of a sample whose film and place there are known.";
  op.kind = OperatorKind::kNative;
  op.inputs = {{.name = "encoded", .documentation = "the bytes of a film", .dtypes = {DType::kU8}, .ndim = 1},
               {.name = "sequence", .documentation = "its number", .dtypes = {DType::kI64}, .extents = {1}}};
  op.min_inputs = op.max_inputs = 2;
  op.args = sequence_args();
  op.devices = {"cpu", "mixed"};
  op.internal = true;
  op.type_rule = sequence_types;
  op.define = define_sequence;
  return op;
}

}  // namespace galatea::ops
