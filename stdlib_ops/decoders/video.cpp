// decoders.video: frames of a film from the bytes of its file.
//
// Comes in: encoded bytes. Goes out: a clip, FHWC (native/video_functions.h).
#include <algorithm>
#include <iterator>
#include <limits>

#include <nlohmann/json.hpp>

#include "compiler/ir/attr_json.h"
#include "stdlib_ops/decoders/video_window.h"
#include "stdlib_ops/native/video/frames.h"
#include "stdlib_ops/native/video_functions.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr const char* kRange[] = {"start_frame", "stride", "end_frame", "sequence_length"};

Types decoded_clip_types(const TypeContext& ctx) {
  const std::string& name = ctx.op().name;
  if (!native::video::padding_of(ctx.text("pad_mode")))
    return ctx.error(fmt::format("{}: pad_mode is \"{}\"", name, ctx.text("pad_mode")),
                     fmt::format("one of {}", native::video::kPaddingWords), "pad_mode");
  GALATEA_TRY(check_frame_fill(ctx));
  if (ctx.given("frames"))
    for (const char* argument : kRange)
      if (ctx.given(argument))
        return ctx.error(
            fmt::format("{}: frames and {} exclude each other", name, argument),
            "frames= names each frame; start_frame=, stride=, end_frame= and sequence_length= a range",
            argument);
  if (ctx.given("end_frame") && ctx.given("sequence_length"))
    return ctx.error(name + ": end_frame and sequence_length exclude each other", "give one of them",
                     "end_frame");
  if (ctx.given("frames") && length_of(ctx, "frames") < 0)
    return ctx.error(name + ": how many frames there are is not known before the run",
                     "give a list of a fixed length; start_frame= and sequence_length= may be the sample's",
                     "frames");
  const std::string space = ctx.text("color_space");
  if (space != "bt601" && space != "tagged")
    return ctx.error(fmt::format("{}: color_space is \"{}\"", name, space), "\"bt601\" or \"tagged\"",
                     "color_space");
  int64_t frames = -1;
  if (ctx.given("frames")) frames = length_of(ctx, "frames");
  if (given_static(ctx, "sequence_length") && ctx.text("pad_mode") != "none")
    frames = ctx.integer("sequence_length");
  return std::vector{clip_type(frames, ctx.integer("image_type"))};
}

void define_decoded_clip(RecipeBuilder& b) {
  nlohmann::json config = look_config(b);
  config["pad_mode"] = b.text("pad_mode");
  std::vector<Expr> scalars;
  if (b.given("frames")) {
    const int count = b.arg_length("frames");
    config["num_frames"] = count;
    scalars = b.arg_list("frames", count, DType::kI64);
  }
  config["given"] = nlohmann::json::array();
  for (const char* argument : kRange) {
    if (!b.given(argument)) continue;
    config["given"].push_back(argument);
    scalars.push_back(b.arg(argument, DType::kI64));
  }
  const auto at_least = [&](const char* argument, int64_t least) {
    if (!b.given(argument)) return;
    const Expr value = b.arg(argument, DType::kI64);
    b.check(value >= i64(least), std::string(argument) + " is {}", {value}, fmt::format("at least {}", least),
            argument);
  };
  at_least("stride", 1);
  at_least("sequence_length", 0);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr std::pair<int64_t, int64_t> kPixels = {1, int64_t{1} << 28};
  const auto extents =
      b.native_scalars(native::kVideoPeek, {0}, scalars, json_text(config),
                       {DType::kI64, DType::kI64, DType::kI64}, {{0, kMost}, kPixels, kPixels}, "FHW");
  output_clip(b, native::kVideoDecode, {0}, std::move(scalars), config, {extents[0], extents[1], extents[2]});
}

ArgSpec frame_arg(const char* name, const char* documentation) {
  return {.name = name, .kind = ArgKind::kInt, .per_sample = true, .documentation = documentation};
}

}  // namespace

Operator make_decoders_video() {
  Operator op;
  op.name = "decoders.video";
  op.summary = "Decodes films, or some frames of them.";
  op.documentation =
      "Films are MP4 and MOV, Matroska and WebM, AVI, MPEG-TS and Ogg with H.264, HEVC, MPEG-4, MPEG-2, VP8, VP9, AV1 "
      "or Motion JPEG. All frames, or a range: start_frame, start_frame + stride, … before end_frame or "
      "sequence_length of them; or those that `frames` names. Frames are numbered from 0 in the order in which they "
      "are shown. Only what is read is decoded, and what it needs. Needs libgalatea_video.so.";
  op.kind = OperatorKind::kNative;
  op.inputs = {
      {.name = "encoded", .documentation = "the bytes of a film", .dtypes = {DType::kU8}, .ndim = 1}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {
      frame_arg("start_frame", "The first frame; 0 if not given. A negative one stands before the film."),
      frame_arg("stride", "From a frame to the next one that is wanted; 1 if not given."),
      frame_arg("end_frame", "The frame behind the last one; the film's end if not given."),
      frame_arg("sequence_length", "How many frames, in place of end_frame."),
      {.name = "frames",
       .kind = ArgKind::kIntList,
       .per_sample = true,
       .documentation = "Numbers of frames, in any order, also several times."},
      {.name = "pad_mode",
       .kind = ArgKind::kString,
       .default_value = std::string("constant"),
       .documentation =
           "What stands in place of frames outside of the film: \"constant\" (fill_value), \"edge\" or "
           "\"repeat\", \"reflect_1001\" or \"symmetric\", \"reflect_101\" or \"reflect\"; \"none\": a range "
           "ends with the film."},
      fill_value_arg(),
  };
  std::ranges::move(look_args(), std::back_inserter(op.args));
  op.args.push_back(ignored("build_index", ArgKind::kBool, true, "Frames are found exactly, always."));
  op.args.push_back(ignored("affine", ArgKind::kBool, true, "Of threads of DALI's."));
  op.devices = {"cpu", "mixed"};
  op.aliases = {"experimental.decoders.video"};
  op.example =
      "encoded, label = fn.readers.file(file_root=data, file_filters=[\"*.mp4\"])\n"
      "video = fn.decoders.video(encoded, start_frame=0, sequence_length=16, stride=2)\nreturn video, label\n";
  op.type_rule = decoded_clip_types;
  op.define = define_decoded_clip;
  return op;
}

}  // namespace galatea::ops
