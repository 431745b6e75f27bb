// readers.sequence: folders whose images are the frames of recordings.
//
// Comes in: a folder of folders. Goes out: decoded frames, FHWC (native/image_sequence.h reads them).
#include "compiler/op/source.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMostFrames = 1'000'000;

Status check_sequences(const TypeContext& ctx) {
  if (ctx.text("file_root").empty())
    return ctx.error("readers.sequence: file_root is an empty string", "name the folder of the recordings",
                     "file_root");
  for (const char* name : {"sequence_length", "step", "stride"}) {
    const int64_t number = ctx.integer(name);
    if (number < 1 || number > kMostFrames)
      return ctx.error(fmt::format("readers.sequence: {} is {}", name, number),
                       fmt::format("at least 1, at most {}", kMostFrames), name);
  }
  return {};
}

Result<std::vector<Port>> ports_of_sequences(const TypeContext& ctx) {
  const int64_t type = ctx.integer("image_type");  // DALIImageType: 2 is GRAY, 4 channels as stored
  const Extent channels = type == 4 ? Extent() : type == 2 ? Extent(1) : Extent(3);
  Port port{.name = "frames", .documentation = "of one recording"};
  port.dtypes = {DType::kU8};
  port.layouts = {"FHWC"};
  port.extents = {ctx.integer("sequence_length"), Extent(), Extent(), channels};
  return std::vector{port};
}

}  // namespace

Operator make_readers_sequence() {
  op::SourceDeclaration reader;
  reader.name = "readers.sequence";
  reader.summary = "Reads sequences of images.";
  reader.documentation =
      "Each sub-folder of `file_root` is a recording, its images, sorted by their names, are the frames. A "
      "sequence begins at every `step`-th frame of a recording and takes every `stride`-th from there on; only "
      "whole ones count. Frames of a sequence have one size, and are turned by EXIF.";
  reader.args = {
      {.name = "file_root",
       .kind = ArgKind::kString,
       .required = true,
       .documentation = "Folder of the folders with frames."},
      {.name = "sequence_length",
       .kind = ArgKind::kInt,
       .required = true,
       .documentation = "Frames of a sequence."},
      {.name = "step",
       .kind = ArgKind::kInt,
       .default_value = int64_t{1},
       .documentation = "From the first frame of a sequence to that of the next."},
      {.name = "stride",
       .kind = ArgKind::kInt,
       .default_value = int64_t{1},
       .documentation = "From a frame of a sequence to its next."},
      {.name = "image_type",
       .kind = ArgKind::kImageType,
       .default_value = int64_t{0},
       .documentation = "Colour space: RGB, BGR, GRAY, YCbCr or ANY_DATA (channels as stored)."},
  };
  reader.outputs_of = ports_of_sequences;
  reader.check = check_sequences;
  reader.aliases = {"sequence_reader"};
  reader.example =
      "frames = fn.readers.sequence(file_root=data, sequence_length=8, stride=2)\nreturn frames\n";
  return op::reader_operator(reader);
}

}  // namespace galatea::ops
