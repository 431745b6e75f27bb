// readers.webdataset: tar archives whose neighbours of one name are a sample.
//
// Comes in: archives, the extensions that are wanted. Goes out: the bytes of each component, or the numbers
// that they are (native/webdataset.h reads them).
#include "compiler/op/source.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"
#include "stdlib_ops/readers/stream_args.h"

namespace galatea::ops {
namespace {

Result<std::vector<Port>> ports_of_extensions(const TypeContext& ctx) {
  const std::vector<std::string> extensions = ctx.texts("ext");
  const std::vector<DType> dtypes = ctx.dtypes("dtypes");
  if (extensions.empty())
    return ctx.error("readers.webdataset: ext names no component", "write ext=[\"jpg\", \"cls\"]", "ext");
  if (!dtypes.empty() && dtypes.size() != extensions.size())
    return ctx.error(fmt::format("readers.webdataset: {} components, but {} element types", extensions.size(),
                                 dtypes.size()),
                     "give one for each component, or none", "dtypes");
  std::vector<Port> ports;
  for (size_t k = 0; k < extensions.size(); ++k) {
    const DType dtype = dtypes.empty() ? DType::kU8 : dtypes[k];
    if (dtype == DType::kBool)
      return ctx.error("readers.webdataset: a component cannot be BOOL", "read UINT8, and compare it with 0",
                       "dtypes");
    ports.push_back({.name = fmt::format("component_{}", k),
                     .documentation = fmt::format("the component \"{}\"", extensions[k]),
                     .dtypes = {dtype},
                     .ndim = 1});
  }
  return ports;
}

Status check_archives(const TypeContext& ctx) {
  GALATEA_TRY(check_index_each(ctx, "paths", "index_paths"));
  GALATEA_TRY(check_stream(ctx, "index_paths"));
  std::string behavior = ctx.text("missing_component_behavior");
  std::ranges::transform(behavior, behavior.begin(), [](unsigned char c) { return std::tolower(c); });
  if (!behavior.empty() && behavior != "empty" && behavior != "skip" && behavior != "error")
    return ctx.error(fmt::format("readers.webdataset: missing_component_behavior is \"{}\"", behavior),
                     "write \"empty\", \"skip\" or \"error\"", "missing_component_behavior");
  return {};
}

}  // namespace

Operator make_readers_webdataset() {
  op::SourceDeclaration reader;
  reader.name = "readers.webdataset";
  reader.summary = "Reads tar archives in which neighbours of one name are a sample.";
  reader.documentation =
      "An output for each entry of `ext`: the bytes of the component whose name ends so behind its first "
      "point, 1-D, or numbers of the type that `dtypes` gives it. \"cat.seg.png\" is the component "
      "\"seg.png\" of the sample \"cat\". Format: WebDataset; tar as ustar, pax and GNU write it.";
  reader.args = {
      {.name = "paths",
       .kind = ArgKind::kStringList,
       .required = true,
       .documentation = "The archives; *, ? and […] match names, {000..099} and {a,b} expand."},
      {.name = "index_paths",
       .kind = ArgKind::kStringList,
       .documentation = "An index for each archive, as wds2idx writes it. Without "
                        "them the archives are looked through when the pipeline starts."},
      {.name = "ext",
       .kind = ArgKind::kStringList,
       .required = true,
       .documentation = "The components that are wanted: an extension each, or several between which the "
                        "sample chooses, \"jpg;png\"."},
      {.name = "case_sensitive_extensions",
       .kind = ArgKind::kBool,
       .default_value = true,
       .documentation = "Whether extensions distinguish capitals."},
      {.name = "dtypes",
       .kind = ArgKind::kDTypeList,
       .documentation = "What the elements of each component are; bytes if not given."},
      {.name = "missing_component_behavior",
       .kind = ArgKind::kString,
       .default_value = std::string(),
       .documentation = "What becomes of samples that lack a component: \"empty\" gives an empty tensor "
                        "(if nothing is said, too), \"skip\" leaves the sample out, \"error\" stops."},
  };
  for (ArgSpec& arg : stream_args()) reader.args.push_back(std::move(arg));
  reader.outputs_of = ports_of_extensions;
  reader.outputs_argument = "ext";
  reader.check = check_archives;
  reader.example =
      "encoded, label = fn.readers.webdataset(paths=data + \"/train.tar\", ext=[\"jpg;png\", \"cls\"])\n"
      "return encoded, label\n";
  return op::reader_operator(reader);
}

}  // namespace galatea::ops
