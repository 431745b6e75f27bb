// readers.mxnet: records of MXNet with images and labels.
//
// Comes in: RecordIO files, an index. Goes out: an encoded image and its labels
// (native/record_io.h reads them).
#include "compiler/op/source.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/record_io.h"
#include "stdlib_ops/operators.h"
#include "stdlib_ops/readers/stream_args.h"

namespace galatea::ops {
namespace {

Status check_mxnet(const TypeContext& ctx) {
  if (ctx.texts("path").empty()) return ctx.error("readers.mxnet: path names no file", {}, "path");
  if (ctx.texts("index_path").size() > 1)
    return ctx.error("readers.mxnet: more than one index", "one index counts the bytes of all files",
                     "index_path");
  return check_stream(ctx, "index_path");
}

}  // namespace

Operator make_readers_mxnet() {
  op::SourceDeclaration reader;
  reader.name = "readers.mxnet";
  reader.summary = "Reads RecordIO files of MXNet.";
  reader.documentation =
      "Two outputs: the bytes of an image, and its labels: one, or as many as the record has. Offsets of the "
      "index count from the start of the first file on, through all of them. Format: MXNet, im2rec.";
  reader.args = {
      {.name = "path",
       .kind = ArgKind::kStringList,
       .required = true,
       .documentation = "The .rec files; *, ? and […] match names, {000..099} and {a,b} expand."},
      {.name = "index_path",
       .kind = ArgKind::kStringList,
       .documentation =
           "The .idx file, lines of \"key offset\". Without it the files are looked through when "
           "the pipeline starts."},
  };
  for (ArgSpec& arg : stream_args()) reader.args.push_back(std::move(arg));
  reader.outputs = {
      {.name = "image", .documentation = "the bytes of an image", .dtypes = {DType::kU8}, .ndim = 1},
      {.name = "labels", .documentation = "of the image", .dtypes = {DType::kF32}, .ndim = 1}};
  reader.check = check_mxnet;
  reader.aliases = {"mxnet_reader"};
  reader.example =
      "encoded, label = fn.readers.mxnet(path=data + \"/train.rec\", index_path=data + \"/train.idx\")\n"
      "return encoded, label\n";
  return op::reader_operator(reader);
}

}  // namespace galatea::ops
