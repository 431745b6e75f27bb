// readers.caffe, readers.caffe2: records of Caffe and Caffe2 in databases of LMDB.
//
// Comes in: databases, what their records hold. Goes out: an image, its labels, and what else there is
// (native/caffe.h reads them).
#include "stdlib_ops/native/caffe.h"
#include "compiler/op/source.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/lmdb.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Status check_databases(const TypeContext& ctx) {
  if (ctx.texts("path").empty()) return ctx.error(ctx.op().name + ": path names no database", {}, "path");
  return {};
}

Result<std::vector<Port>> ports_of_datums(const TypeContext& ctx) {
  nlohmann::json config = {{"path", ctx.texts("path")},
                           {"image_available", ctx.flag("image_available")},
                           {"label_available", ctx.flag("label_available")}};
  if (ctx.given("encoded")) config["encoded"] = ctx.flag("encoded");
  auto ports = native::caffe_ports(config);
  if (!ports)
    return ctx.error(
        fmt::format("readers.caffe: the first record says what all images are: {}", ports.error().message()),
        "check the path, or say encoded= where the data come later");
  if (ports->empty())
    return ctx.error("readers.caffe: neither images nor labels", "leave one of them available",
                     "label_available");
  return *ports;
}

Status check_tensor_protos(const TypeContext& ctx) {
  GALATEA_TRY(check_databases(ctx));
  const int64_t label_type = ctx.integer("label_type");
  if (label_type < 0 || label_type > 4)
    return ctx.error(fmt::format("readers.caffe2: label_type is {}", label_type),
                     "0 a label, 1 places of labels, 2 a vector, 3 places with weights, 4 none",
                     "label_type");
  const int64_t num_labels = ctx.integer("num_labels");
  if (num_labels < 1 || num_labels > (int64_t{1} << 28))
    return ctx.error(fmt::format("readers.caffe2: num_labels is {}", num_labels), "at least 1, at most 2^28",
                     "num_labels");
  const int64_t additional = ctx.integer("additional_inputs");
  if (additional < 0 || additional > 1000)
    return ctx.error(fmt::format("readers.caffe2: additional_inputs is {}", additional),
                     "at least 0, at most 1000", "additional_inputs");
  const std::vector<DType> dtypes = ctx.dtypes("dtypes");
  if (dtypes.empty()) return {};
  const bool image = ctx.flag("image_available"), label = label_type != 4, box = ctx.flag("bbox");
  const size_t outputs = (image ? 1 : 0) + (label ? 1 : 0) + static_cast<size_t>(additional) + (box ? 1 : 0);
  if (dtypes.size() != outputs)
    return ctx.error(fmt::format("readers.caffe2: {} outputs, but {} element types", outputs, dtypes.size()),
                     "give one for each output, or none", "dtypes");
  for (size_t k = 0; k < outputs; ++k) {
    const bool is_image = image && k == 0, is_label = label && k == (image ? 1U : 0U),
               is_box = box && k + 1 == outputs;
    const DType dtype = dtypes[k];
    const bool fits = is_image                      ? dtype == DType::kU8
                      : is_box                      ? dtype == DType::kI32
                      : label_type == 3 && is_label ? dtype == DType::kF32
                      : is_label                    ? dtype == DType::kF32 || dtype == DType::kI32
                                 : dtype == DType::kF32 || dtype == DType::kI32 || dtype == DType::kI64;
    if (!fits)
      return ctx.error(
          fmt::format("readers.caffe2: dtypes says {} of output {}", short_name(dtype), k),
          "an image is UINT8, a label INT32 or FLOAT (with weights FLOAT), an additional input INT32, INT64 or "
          "FLOAT, a box INT32",
          "dtypes");
  }
  return {};
}

Result<std::vector<Port>> ports_of_tensor_protos(const TypeContext& ctx) {
  nlohmann::json config = {{"path", ctx.texts("path")},
                           {"image_available", ctx.flag("image_available")},
                           {"label_type", ctx.integer("label_type")},
                           {"num_labels", ctx.integer("num_labels")},
                           {"additional_inputs", ctx.integer("additional_inputs")},
                           {"bbox", ctx.flag("bbox")}};
  if (ctx.given("encoded")) config["encoded"] = ctx.flag("encoded");
  for (const DType dtype : ctx.dtypes("dtypes")) config["dtypes"].push_back(short_name(dtype));
  auto layout = native::tensor_protos_layout(config);
  if (!layout)
    return ctx.error(
        fmt::format("readers.caffe2: the first record says what all are: {}", layout.error().message()),
        "check the path, or say encoded= and dtypes= where the data come later");
  if (layout->ports.empty())
    return ctx.error("readers.caffe2: no output is wanted", "leave images or labels available", "label_type");
  return std::move(layout->ports);
}

ArgSpec path_of_databases() {
  return {.name = "path",
          .kind = ArgKind::kStringList,
          .required = true,
          .documentation = "The databases, folders that hold data.mdb, or such files."};
}
ArgSpec has_image() {
  return {.name = "image_available",
          .kind = ArgKind::kBool,
          .default_value = true,
          .documentation = "Whether images are wanted; records hold them."};
}
ArgSpec says_encoded() {
  return {.name = "encoded",
          .kind = ArgKind::kBool,
          .documentation =
              "Whether images are the bytes of a file (1-D), not pixels (HWC); what the first "
              "record is if not given."};
}

}  // namespace

Operator make_readers_caffe() {
  op::SourceDeclaration reader;
  reader.name = "readers.caffe";
  reader.summary = "Reads databases of Caffe (LMDB).";
  reader.documentation =
      "Two outputs: an image, and its label, which has no element where the record has none. An image is the "
      "bytes of a file, 1-D, or pixels, in the order in which they lie there, as height, width, channels. Records come "
      "in the order of their keys. Format: LMDB 0.9; Caffe, Datum.";
  reader.args = {path_of_databases(),
                 has_image(),
                 {.name = "label_available",
                  .kind = ArgKind::kBool,
                  .default_value = true,
                  .documentation = "Whether labels are wanted."},
                 says_encoded()};
  reader.outputs_of = ports_of_datums;
  reader.output_needs = {"image_available!=false", "label_available!=false"};
  reader.types_declared_by = {"encoded"};
  reader.check = check_databases;
  reader.aliases = {"caffe_reader"};
  reader.example =
      "encoded, label = fn.readers.caffe(path=data + \"/train_lmdb\", encoded=True)\nreturn encoded, label\n";
  return op::reader_operator(reader);
}

Operator make_readers_caffe2() {
  op::SourceDeclaration reader;
  reader.name = "readers.caffe2";
  reader.summary = "Reads databases of Caffe2 (LMDB).";
  reader.documentation =
      "A record is tensors, which become outputs in their order: the image (the bytes of a file, 1-D, or pixels, "
      "HWC), the label, additional inputs, the bounding box (4 numbers). What follows in a record is left "
      "alone. Labels of the types 1 and 3 name places of a vector of num_labels, which is 0 elsewhere; the "
      "weights of type 3 are a tensor of their own behind them. Records come in the order of their keys. Format: LMDB 0.9; Caffe2, TensorProtos.";
  reader.args = {
      path_of_databases(),
      has_image(),
      {.name = "label_type",
       .kind = ArgKind::kInt,
       .default_value = int64_t{0},
       .documentation = "What a label is: 0 one number, 1 places that become 1, 2 a vector, 3 places "
                        "that get weights, 4 there is none."},
      {.name = "num_labels",
       .kind = ArgKind::kInt,
       .default_value = int64_t{1},
       .documentation = "Length of the vector that places lie in (label_type 1 and 3)."},
      {.name = "additional_inputs",
       .kind = ArgKind::kInt,
       .default_value = int64_t{0},
       .documentation = "How many tensors behind the label become outputs, 1-D."},
      {.name = "bbox",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Whether a bounding box follows."},
      says_encoded(),
      {.name = "dtypes",
       .kind = ArgKind::kDTypeList,
       .documentation = "Element types of all outputs; those of the first record if not given."}};
  reader.outputs_of = ports_of_tensor_protos;
  reader.output_needs = {"image_available!=false", "label_type!=4", "*additional_inputs", "bbox"};
  reader.types_declared_by = {"encoded", "dtypes"};
  reader.check = check_tensor_protos;
  reader.aliases = {"caffe2_reader"};
  reader.example =
      "encoded, label = fn.readers.caffe2(\n    path=data + \"/train_lmdb\", encoded=True, "
      "dtypes=[types.UINT8, types.INT32]\n)\nreturn encoded, label\n";
  return op::reader_operator(reader);
}

}  // namespace galatea::ops
