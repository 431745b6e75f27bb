// readers.video, readers.video_resize, experimental.readers.video: clips of films.
//
// Comes in: films. Goes out: clips, FHWC, with labels, numbers of frames and time stamps. A call becomes several
// nodes: readers.video_clips says of each clip where it is (native/video_source.h), video_clip decodes it, no
// further than it is read, and what else the call asks for follows.
#include <algorithm>

#include "compiler/op/devices.h"
#include "compiler/op/schema.h"
#include "compiler/op/source.h"
#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/decoders/video_window.h"
#include "stdlib_ops/native/video/frames.h"
#include "stdlib_ops/native/video_functions.h"
#include "stdlib_ops/native/video_source.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMostClipFrames = 1'000'000;

/// The two families: DALI's older readers, and its newer one, which says some things in other words.
enum class Family : uint8_t { kOlder, kNewer };

bool has_labels(const TypeContext& ctx) {
  return !ctx.text("file_root").empty() || !ctx.text("file_list").empty() || ctx.given("labels");
}

/// What `enable_frame_num` asks for: the text, or a bool.
Result<std::string> numbers_wanted(const TypeContext& ctx) {
  const ir::Attr& attr = ctx.attr("enable_frame_num");
  if (const bool* flag = std::get_if<bool>(&attr)) return std::string(*flag ? "scalar" : "none");
  const auto* text = std::get_if<std::string>(&attr);
  if (text != nullptr && (*text == "none" || *text == "scalar" || *text == "sequence")) return *text;
  return ctx.error(ctx.op().name + ": enable_frame_num is \"none\", \"scalar\", \"sequence\", True or False",
                   "\"scalar\" (True) gives the number of a clip's first frame, \"sequence\" that of each",
                   "enable_frame_num");
}

Status check_word(const TypeContext& ctx, const char* argument, std::initializer_list<const char*> words) {
  const std::string given = ctx.text(argument);
  if (std::ranges::find(words, given) != words.end()) return {};
  return ctx.error(fmt::format("{}: {} is \"{}\"", ctx.op().name, argument, given),
                   fmt::format("one of {}", fmt::join(words, ", ")), argument);
}

Status check_films(const TypeContext& ctx) {
  const std::string& name = ctx.op().name;
  const int ways = (ctx.texts("filenames").empty() ? 0 : 1) + (ctx.text("file_root").empty() ? 0 : 1) +
                   (ctx.text("file_list").empty() ? 0 : 1);
  if (ways != 1)
    return ctx.error(
        fmt::format("{}: filenames, file_root and file_list: {}", name,
                    ways == 0 ? "none is given" : "more than one is given"),
        "name the films (filenames=[…]), a folder of a folder a class (file_root=), or a text file "
        "with \"path label [start [end]]\" a line (file_list=)");
  if (!ctx.given("labels")) return {};
  if (ctx.integers("labels").size() != ctx.texts("filenames").size())
    return ctx.error(
        fmt::format("{}: {} labels for {} filenames", name, ctx.integers("labels").size(),
                    ctx.texts("filenames").size()),
        "give one label for each file of filenames; file_root and file_list have labels of their own",
        "labels");
  return {};
}

Status check_video(const TypeContext& ctx) {
  GALATEA_TRY(check_films(ctx));
  for (const char* argument : {"sequence_length", "stride", "step"}) {
    const int64_t number = ctx.integer(argument);
    const bool may_be_left_open = std::string_view(argument) == "step";
    if ((number < 1 && !may_be_left_open) || number > kMostClipFrames)
      return ctx.error(fmt::format("{}: {} is {}", ctx.op().name, argument, number),
                       fmt::format("at least 1, at most {}", kMostClipFrames), argument);
  }
  GALATEA_TRY(numbers_wanted(ctx));
  const int64_t type = ctx.integer("image_type");
  if (type < 0 || type > 3)
    return ctx.error(ctx.op().name + ": films have no channels of their own to keep",
                     "use types.RGB, types.BGR, types.GRAY or types.YCbCr", "image_type");
  return check_word(ctx, "color_space", {"bt601", "tagged"});
}

Status check_older(const TypeContext& ctx) {
  GALATEA_TRY(check_video(ctx));
  if (ctx.integer("channels") != 3)
    return ctx.error(fmt::format("{}: channels is {}", ctx.op().name, ctx.integer("channels")),
                     "films have 3; image_type=types.GRAY gives one", "channels");
  const DType dtype = ctx.dtype("dtype", DType::kU8);
  if (dtype != DType::kU8 && dtype != DType::kF32)
    return ctx.error(ctx.op().name + ": dtype is UINT8 or FLOAT", "convert with fn.cast", "dtype");
  if (ctx.flag("normalized") && dtype != DType::kF32)
    return ctx.error(ctx.op().name + ": normalized frames are from 0 to 1, which no byte can say",
                     "add dtype=types.FLOAT", "normalized");
  return {};
}

Status check_newer(const TypeContext& ctx) {
  GALATEA_TRY(check_video(ctx));
  if (!native::video::padding_of(ctx.text("pad_mode")))
    return ctx.error(fmt::format("{}: pad_mode is \"{}\"", ctx.op().name, ctx.text("pad_mode")),
                     fmt::format("one of {}", native::video::kPaddingWords), "pad_mode");
  GALATEA_TRY(check_frame_fill(ctx));
  GALATEA_TRY(check_word(ctx, "file_list_format", {"timestamps", "frames"}));
  return check_word(ctx, "file_list_rounding",
                    {"start_down_end_up", "start_up_end_down", "all_up", "all_down"});
}

Port number_port(const char* name, const char* documentation, DType dtype, int64_t count) {
  return {.name = name, .documentation = documentation, .dtypes = {dtype}, .extents = {count}};
}

Result<std::vector<Port>> ports_of_clips(const TypeContext& ctx, DType dtype) {
  const int64_t length = ctx.integer("sequence_length");
  Port video{.name = "video", .documentation = "a clip"};
  video.dtypes = {dtype};
  video.layouts = {"FHWC"};
  video.extents = {length, Extent(), Extent(), ctx.integer("image_type") == 2 ? 1 : 3};
  std::vector<Port> ports = {video};
  if (has_labels(ctx)) ports.push_back(number_port("label", "of its film", DType::kI32, 1));
  GALATEA_ASSIGN(const std::string numbers, numbers_wanted(ctx));
  if (numbers != "none")
    ports.push_back(
        number_port("frame_num", "in its film, from 0", DType::kI32, numbers == "scalar" ? 1 : length));
  if (ctx.flag("enable_timestamps"))
    ports.push_back(number_port("timestamps", "seconds behind the film's first frame", DType::kF64, length));
  return ports;
}

// ---- arguments

ArgSpec text_arg(const char* name, const char* default_value, const char* documentation) {
  return {.name = name,
          .kind = ArgKind::kString,
          .default_value = std::string(default_value),
          .documentation = documentation};
}
ArgSpec flag_arg(const char* name, const char* documentation) {
  return {.name = name, .kind = ArgKind::kBool, .default_value = false, .documentation = documentation};
}
ArgSpec number_arg(const char* name, int64_t default_value, const char* documentation) {
  return {
      .name = name, .kind = ArgKind::kInt, .default_value = default_value, .documentation = documentation};
}

/// Which clips there are, in both families.
std::vector<ArgSpec> clip_args() {
  return {
      {.name = "filenames",
       .kind = ArgKind::kStringList,
       .default_value = std::vector<std::string>{},
       .documentation = "The films."},
      text_arg("file_root", "",
               "A folder whose sub-folders, sorted by name, are the classes, with films in them."),
      text_arg(
          "file_list", "",
          "A text file with \"path label [start [end]]\" a line: a film, its label, and which part of it is "
          "meant. Paths are as they are, not relative to its folder; `end` is behind the last frame; negative numbers count "
          "from the film's end."),
      {.name = "labels", .kind = ArgKind::kIntList, .documentation = "A label for each of `filenames`."},
      {.name = "sequence_length",
       .kind = ArgKind::kInt,
       .required = true,
       .documentation = "Frames of a clip."},
      number_arg("stride", 1, "From a frame of a clip to its next."),
  };
}

/// What is given of a clip, in both families.
std::vector<ArgSpec> output_args() {
  return {
      {.name = "enable_frame_num",
       .kind = ArgKind::kAny,
       .default_value = std::string("none"),
       .documentation =
           "Adds an output, INT32: \"scalar\" (or True) the number of the first frame, \"sequence\" "
           "those of all, -1 where a clip was filled up."},
      flag_arg(
          "enable_timestamps",
          "Adds an output, FLOAT64: when each frame is shown, in seconds behind the film's first one; -1 "
          "where a clip was filled up."),
  };
}

/// Of readers.video and readers.video_resize alone.
std::vector<ArgSpec> older_args() {
  std::vector<ArgSpec> args = clip_args();
  append(args,
         {number_arg("step", -1,
                     "From the first frame of a clip to that of the next; sequence_length if 0 or less.")});
  append(args, output_args());
  append(args, look_args());
  append(
      args,
      {flag_arg("file_list_frame_num", "Whether the parts in file_list are given in frames, not in seconds."),
       flag_arg(
           "file_list_include_preceding_frame",
           "Whether a part begins at the frame that is on the screen at its start, and not at the next."),
       flag_arg("pad_sequences",
                "Whether clips that begin in a film and end behind it are filled up with zeros."),
       dtype_arg("UINT8 or FLOAT."),
       flag_arg("normalized", "Whether FLOAT frames are from 0 to 1, and not to 255."),
       ignored("additional_decode_surfaces", ArgKind::kInt, int64_t{2}, "Of GPUs."),
       ignored("skip_vfr_check", ArgKind::kBool, false, "Films of variable frame rate are read."),
       number_arg("channels", 3, "3.")});
  for (ArgSpec& arg : args)
    if (arg.name == "dtype") arg.default_value = DType::kU8;
  return args;
}

std::vector<ArgSpec> newer_args() {
  std::vector<ArgSpec> args = clip_args();
  append(args,
         {number_arg(
             "step", -1,
             "From the first frame of a clip to that of the next; stride · sequence_length if 0 or less.")});
  append(args, output_args());
  append(args, look_args());
  append(
      args,
      {text_arg(
           "pad_mode", "none",
           "What clips that end behind their film are filled up with: \"constant\" (fill_value), \"edge\" or "
           "\"repeat\", \"reflect_1001\" or \"symmetric\", \"reflect_101\" or \"reflect\"; \"none\": there are no "
           "such clips."),
       fill_value_arg(),
       text_arg("file_list_format", "timestamps", "\"timestamps\" (seconds) or \"frames\"."),
       text_arg("file_list_rounding", "start_down_end_up",
                "Which frame is meant by a time between two: \"start_down_end_up\", \"start_up_end_down\", "
                "\"all_up\" or \"all_down\"."),
       ignored("file_list_include_end", ArgKind::kBool, true,
               "DALI gives the same clips with and without it: the end is exclusive."),
       flag_arg("uniform_sample", "One clip a film, its frames spread evenly from the first to the last.")});
  return args;
}

// ---- one call, several nodes

/// The arguments of a call that another operator has, too.
std::vector<ir::Arg> args_of(const op::Expansion& expansion, std::span<const ArgSpec> specs) {
  std::vector<ir::Arg> out;
  for (const ir::Arg& arg : expansion.call.args)
    if (std::ranges::find(specs, arg.name, &ArgSpec::name) != specs.end()) out.push_back(arg);
  return out;
}

ir::Arg text_of(const char* name, std::string text) { return {name, ir::Attr(std::move(text)), {}}; }

/// The arguments of readers.video_clips that the older family says in other words.
void add_older_words(const TypeContext& ctx, std::vector<ir::Arg>& args) {
  args.push_back(text_of("file_list_format", ctx.flag("file_list_frame_num") ? "frames" : "timestamps"));
  args.push_back(text_of("file_list_rounding",
                         ctx.flag("file_list_include_preceding_frame") ? "all_down" : "start_up_end_down"));
  args.push_back(text_of("pad_mode", ctx.flag("pad_sequences") ? "constant" : "none"));
}

/// Nodes that follow each other, the clip's value passing through.
class ClipNodes {
 public:
  explicit ClipNodes(const op::Expansion& expansion) : expansion_(expansion), ctx_(expansion.arguments()) {}

  Result<ir::NodeId> add(Family family, bool is_resized) {
    GALATEA_TRY(add_source(family));
    GALATEA_TRY(add_clip());
    if (is_resized) GALATEA_TRY(add_resize());
    if (family == Family::kOlder) GALATEA_TRY(add_element_type());
    return add_outputs();
  }

 private:
  Status add_source(Family family) {
    std::vector<ir::Arg> args;
    for (const ir::Arg& arg : expansion_.call.args)
      if (expansion_.registry.find(native::kVideoClips)->find_arg(arg.name) != nullptr) args.push_back(arg);
    std::erase_if(args,
                  [](const ir::Arg& arg) { return arg.name == "step" || arg.name == "enable_frame_num"; });
    if (family == Family::kOlder) add_older_words(ctx_, args);
    const int64_t length = ctx_.integer("sequence_length"), step = ctx_.integer("step");
    const int64_t all = family == Family::kOlder ? length : length * ctx_.integer("stride");
    args.push_back({"step", ir::Attr(step < 1 ? all : step), {}});
    GALATEA_ASSIGN(const std::string numbers, numbers_wanted(ctx_));
    args.push_back(text_of("enable_frame_num", numbers));
    GALATEA_ASSIGN(const ir::ValueId first, expansion_.add(native::kVideoClips, {}, std::move(args)));
    const ir::Graph& graph = expansion_.builder.graph();
    place_ = graph.node(graph.value(first).node).outputs;
    others_.clear();
    if (has_labels(ctx_)) others_.push_back(place_[3]);
    if (numbers != "none") others_.push_back(place_[4]);
    if (ctx_.flag("enable_timestamps")) others_.push_back(place_[5]);
    return {};
  }

  Status add_clip() {
    const Operator& clip = *expansion_.registry.find("video_clip");
    GALATEA_ASSIGN(clip_, expansion_.add("video_clip", {place_[0], place_[1], place_[2]},
                                         args_of(expansion_, clip.args)));
    return {};
  }

  Status add_resize() {
    const Operator& resize = *expansion_.registry.find("resize");
    std::vector<ir::Arg> args = args_of(expansion_, resize.args);
    std::erase_if(args, [](const ir::Arg& arg) { return arg.name == "image_type"; });
    GALATEA_ASSIGN(clip_, expansion_.add("resize", {clip_}, std::move(args)));
    return {};
  }

  Status add_element_type() {
    if (ctx_.dtype("dtype", DType::kU8) != DType::kF32) return {};
    const ir::Arg dtype{"dtype", ir::Attr(DType::kF32), {}};
    if (!ctx_.flag("normalized")) {
      GALATEA_ASSIGN(clip_, expansion_.add("cast", {clip_}, {dtype}));
      return {};
    }
    GALATEA_ASSIGN(clip_,
                   expansion_.add("normalize", {clip_},
                                  {dtype, {"mean", ir::Attr(0.0), {}}, {"stddev", ir::Attr(255.0), {}}}));
    return {};
  }

  Result<ir::NodeId> add_outputs() {
    std::vector<ir::ValueId> outputs = {clip_};
    outputs.insert(outputs.end(), others_.begin(), others_.end());
    if (op::hidden_text(expansion_.call.args, op::kDeviceArg) == "gpu")
      for (ir::ValueId& output : outputs) {
        GALATEA_ASSIGN(output,
                       expansion_.add(op::kToGpu, {output},
                                      {{std::string(op::kDeviceArg), ir::Attr(std::string("gpu")), {}}}));
      }
    ir::ValueId last = outputs.front();
    if (outputs.size() > 1) {
      GALATEA_ASSIGN(last, expansion_.add("video_sample", std::move(outputs), {}));
    }
    return expansion_.builder.graph().value(last).node;
  }

  const op::Expansion& expansion_;
  const TypeContext ctx_;
  std::vector<ir::ValueId> place_;   ///< outputs of readers.video_clips
  std::vector<ir::ValueId> others_;  ///< of the call, behind the clip
  ir::ValueId clip_ = ir::kNoId;
};

constexpr const char* kAboutClips =
    "A clip begins at every `step`-th frame of a film and takes every `stride`-th from there on; those that do not "
    "fit are left out, or filled up. Films are MP4 and MOV, Matroska and WebM, AVI, MPEG-TS and Ogg with H.264, HEVC, "
    "MPEG-4, MPEG-2, VP8, VP9, AV1 or Motion JPEG, decoded by libav on the CPU. Frames are numbered in the order in "
    "which they are shown, edit lists applied. Only frames that are read are decoded, and what they need. A film "
    "that cannot be read is one sample that fails. Needs libgalatea_video.so.";

Operator make_video_reader(const char* name, Family family, bool is_resized) {
  op::SourceDeclaration reader;
  reader.name = name;
  reader.args = family == Family::kOlder ? older_args() : newer_args();
  reader.check = family == Family::kOlder ? check_older : check_newer;
  reader.outputs_of = [](const TypeContext& ctx) {
    return ports_of_clips(
        ctx, ctx.op().find_arg("dtype") != nullptr ? ctx.dtype("dtype", DType::kU8) : DType::kU8);
  };
  reader.output_needs = {"", "labels|file_root|file_list", "enable_frame_num", "enable_timestamps"};
  reader.documentation = kAboutClips;
  Operator op = op::reader_operator(reader);
  op.devices = {"cpu", "gpu"};
  op.expand = [family, is_resized](const op::Expansion& expansion) -> Result<std::optional<ir::NodeId>> {
    GALATEA_ASSIGN(const ir::NodeId node, ClipNodes(expansion).add(family, is_resized));
    return node;
  };
  return op;
}

}  // namespace

Operator make_experimental_readers_video() {
  Operator op = make_video_reader("experimental.readers.video", Family::kNewer, false);
  op.summary = "Reads clips of films, in DALI's newer words.";
  op.example =
      "video, label = fn.experimental.readers.video(file_root=data, sequence_length=16, stride=2, "
      "pad_mode=\"edge\")\nreturn video, label\n";
  return op;
}

Operator make_readers_video() {
  Operator op = make_video_reader("readers.video", Family::kOlder, false);
  op.summary = "Reads clips of films.";
  op.aliases = {"video_reader"};
  op.example =
      "video, label = fn.readers.video(file_root=data, sequence_length=16, stride=2, random_shuffle=True)\n"
      "return video, label\n";
  return op;
}

Operator make_readers_video_resize() {
  Operator op = make_video_reader("readers.video_resize", Family::kOlder, true);
  op.summary = "Reads clips of films, and resizes them.";
  op.documentation = "fn.readers.video, and fn.resize of what it gives. " + op.documentation;
  op.aliases = {"video_reader_resize"};
  const Operator resize = make_resize();
  for (const ArgSpec& arg : resize.args)
    if (op.find_arg(arg.name) == nullptr && arg.name != "save_attrs") op.args.push_back(arg);
  append(op.args, {ignored("minibatch_size", ArgKind::kInt, int64_t{32}, "Of GPUs.")});
  op.example =
      "video, label = fn.readers.video_resize(file_root=data, sequence_length=16, size=[112, 112])\n"
      "return video, label\n";
  return op;
}

Operator make_readers_video_clips() {
  op::SourceDeclaration reader;
  reader.name = native::kVideoClips;
  reader.summary = "Reads where clips of films are.";
  reader.documentation = "As fn.experimental.readers.video, for a node that decodes them.";
  reader.args = newer_args();
  std::erase_if(reader.args, [](const ArgSpec& arg) {
    return arg.name == "image_type" || arg.name == "color_space" || arg.name == "fill_value" ||
           arg.name == "enable_timestamps" || arg.no_effect;
  });
  reader.outputs_of = [](const TypeContext& ctx) -> Result<std::vector<Port>> {
    const int64_t length = ctx.integer("sequence_length");
    const bool each = ctx.text("enable_frame_num") == "sequence";
    return std::vector<Port>{
        {.name = "path", .documentation = "of the film", .dtypes = {DType::kU8}, .ndim = 1},
        number_port("frames", "of the clip", DType::kI64, length),
        number_port("size", "rows and columns", DType::kI64, 2),
        number_port("label", "of the film", DType::kI32, 1),
        number_port("frame_num", "of the clip", DType::kI32, each ? length : 1),
        number_port("timestamps", "seconds", DType::kF64, length)};
  };
  Operator op = op::reader_operator(reader);
  op.internal = true;
  return op;
}

Operator make_video_clip() {
  Operator op;
  op.name = "video_clip";
  op.summary = "The frames of a film in a file.";
  op.documentation = "As fn.readers.video, of a clip whose place the sample has.";
  op.kind = OperatorKind::kNative;
  op.inputs = {
      {.name = "path", .documentation = "of the film", .dtypes = {DType::kU8}, .ndim = 1},
      {.name = "frames", .documentation = "their numbers; -1: filled", .dtypes = {DType::kI64}, .ndim = 1},
      {.name = "size", .documentation = "rows and columns", .dtypes = {DType::kI64}, .extents = {2}}};
  op.min_inputs = op.max_inputs = 3;
  op.args = look_args();
  append(op.args, {fill_value_arg()});
  op.internal = true;
  op.type_rule = [](const TypeContext& ctx) -> Types {
    return std::vector{clip_type(ctx.input(1).extents[0], ctx.integer("image_type"))};
  };
  op.define = [](RecipeBuilder& b) {
    const nlohmann::json config = look_config(b);
    output_clip(b, native::kVideoClip, {0, 1}, {}, config,
                {b.extent(1, 0), input_element(b, 2, 0, 2), input_element(b, 2, 1, 2)});
  };
  return op;
}

Operator make_video_sample() {
  Operator op;
  op.name = "video_sample";
  op.summary = "A clip and what belongs to it.";
  op.documentation = "The inputs, as the outputs of one node.";
  op.inputs = {{.name = "data", .documentation = "any tensor", .any_device = true}};
  op.min_inputs = 1;
  op.max_inputs = 4;
  op.devices = {"cpu", "gpu"};
  op.internal = true;
  op.type_rule = [](const TypeContext& ctx) -> Types {
    std::vector<ir::Type> types;
    for (int k = 0; k < ctx.num_inputs(); ++k) types.push_back(ctx.input(k));
    return types;
  };
  op.define = [](RecipeBuilder& b) {
    for (int k = 0; k < b.num_inputs(); ++k) copy_view(b, k, k);
  };
  return op;
}

}  // namespace galatea::ops
