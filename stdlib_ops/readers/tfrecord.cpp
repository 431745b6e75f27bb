// readers.tfrecord: records of TensorFlow, by the names of their features.
//
// Comes in: files, features. Goes out: a dictionary (native/tfrecord.h reads them).
#include "stdlib_ops/native/tfrecord.h"
#include "compiler/op/source.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"
#include "stdlib_ops/readers/stream_args.h"

namespace galatea::ops {
namespace {

/// What tfrecord.FixedLenFeature() and VarLenFeature() make; nothing where it is not that.
std::optional<native::TfFeature> feature_of(const ir::Attr& attr) {
  const auto* fields = std::get_if<ir::AttrDict>(&attr);
  if (!fields) return std::nullopt;
  native::TfFeature feature;
  int found = 0;
  for (const auto& [name, value] : fields->entries) {
    const auto* dtype = std::get_if<DType>(&value);
    const auto* fixed = std::get_if<bool>(&value);
    const auto* shape = std::get_if<std::vector<int64_t>>(&value);
    if (name == "dtype" && dtype) {
      feature.dtype = *dtype;
    } else if (name == "fixed" && fixed) {
      feature.fixed = *fixed;
    } else if (name == "shape" && shape) {
      feature.shape = *shape;
    } else {
      return std::nullopt;
    }
    ++found;
  }
  return found == 3 ? std::optional(std::move(feature)) : std::nullopt;
}

Result<std::vector<Port>> ports_of_features(const TypeContext& ctx) {
  std::map<std::string, Port> ports;  // in the order in which the source delivers them
  for (const auto& [name, attr] : std::get<ir::AttrDict>(ctx.attr("features")).entries) {
    const std::optional<native::TfFeature> feature = feature_of(attr);
    auto wrong = [&](const std::string& what, const std::string& help) {
      return ctx.error(fmt::format("readers.tfrecord: feature \"{}\" {}", name, what), help, "features");
    };
    if (!feature)
      return wrong("is no feature",
                   "write tfrecord.FixedLenFeature(shape, dtype, default) or "
                   "tfrecord.VarLenFeature(dtype, default)");
    int64_t volume = 1;
    for (const int64_t extent : feature->shape) {
      if (extent < 0) return wrong("has a negative extent", "VarLenFeature says that a length differs");
      if (extent > 0 && volume > (int64_t{1} << 40) / extent)
        return wrong("is too large", "look at its shape");
      volume *= extent;
    }
    if (feature->is_text() && (!feature->fixed || volume != 1))
      return wrong("would be several texts",
                   "a text is one: tfrecord.FixedLenFeature((), tfrecord.string, \"\")");
    ports[name] = native::port_of(name, *feature);
  }
  if (ports.empty())
    return ctx.error("readers.tfrecord: features is empty", "name what is wanted of a record", "features");
  std::vector<Port> list;
  for (auto& [name, port] : ports) list.push_back(std::move(port));
  return list;
}

Status check_tfrecord(const TypeContext& ctx) {
  if (ctx.flag("skip_cached_images"))
    return ctx.error("readers.tfrecord: skip_cached_images is not for this reader",
                     "leave it out: decoders keep no images", "skip_cached_images");
  GALATEA_TRY(check_index_each(ctx, "path", "index_path"));
  return check_stream(ctx, "index_path");
}

}  // namespace

Operator make_readers_tfrecord() {
  op::SourceDeclaration reader;
  reader.name = "readers.tfrecord";
  reader.summary = "Reads TFRecord files.";
  reader.documentation =
      "A dictionary: for each of `features`, by its name, what a tf.train.Example holds. Numbers of a "
      "FixedLenFeature have its shape; those of a VarLenFeature are 1-D, or rows of the shape that it is "
      "given; a text is its bytes, u8, 1-D. A VarLenFeature that a record lacks is empty; a FixedLenFeature "
      "that it lacks, and values of another type or number, are that sample's error. Defaults are not used, "
      "as in DALI. A record's own checksum is not looked at. Format: TensorFlow, tf.train.Example.";
  reader.args = {
      {.name = "path",
       .kind = ArgKind::kStringList,
       .required = true,
       .documentation = "The files; *, ? and […] match names, {000..099} and {a,b} expand."},
      {.name = "index_path",
       .kind = ArgKind::kStringList,
       .documentation = "An index for each file, lines of \"offset size\". Without them the files are looked "
                        "through when the pipeline starts, from record to record."},
      {.name = "features",
       .kind = ArgKind::kDict,
       .required = true,
       .documentation = "By name: tfrecord.FixedLenFeature(shape, dtype, default), "
                        "tfrecord.VarLenFeature(dtype, default) or VarLenFeature(shape, dtype, default); "
                        "dtype is tfrecord.int64, tfrecord.float32 or tfrecord.string."},
      {.name = "use_o_direct",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Reads past the system's cache.",
       .no_effect = true},
  };
  for (ArgSpec& arg : stream_args()) reader.args.push_back(std::move(arg));
  reader.outputs_of = ports_of_features;
  reader.gives_dictionary = true;
  reader.outputs_argument = "features";
  reader.check = check_tfrecord;
  reader.aliases = {"tfrecord_reader"};
  reader.example =
      "record = fn.readers.tfrecord(\n    path=data + \"/train.tfrecord\",\n    features={\n"
      "        \"image/encoded\": {\"dtype\": types.UINT8, \"fixed\": True, \"shape\": []},\n"
      "        \"image/class/label\": {\"dtype\": types.INT64, \"fixed\": True, \"shape\": [1]},\n    },\n)\n"
      "return record[\"image/encoded\"], record[\"image/class/label\"]\n";
  return op::reader_operator(reader);
}

}  // namespace galatea::ops
