// readers.numpy: arrays of NumPy, whole or in part.
//
// Comes in: .npy files, bounds. Goes out: arrays of one element type and rank, that of the first file
// (native/npy.h reads them).
#include "compiler/op/source.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/npy.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr const char* kBounds[] = {"roi_start",   "rel_roi_start", "roi_end",
                                   "rel_roi_end", "roi_shape",     "rel_roi_shape"};

Status exclude(const TypeContext& ctx, std::initializer_list<const char*> names) {
  const char* first = nullptr;
  for (const char* name : names) {
    if (!ctx.given(name)) continue;
    if (first)
      return ctx.error(fmt::format("readers.numpy: {} and {} exclude each other", first, name),
                       "keep one of them", name);
    first = name;
  }
  return {};
}

Status check_arrays(const TypeContext& ctx) {
  if (!ctx.given("file_root") && !ctx.given("files") && !ctx.given("file_list"))
    return ctx.error("readers.numpy: nothing to read", "give file_root, files or file_list");
  GALATEA_TRY(exclude(ctx, {"files", "file_list"}));
  GALATEA_TRY(exclude(ctx, {"roi_start", "rel_roi_start"}));
  GALATEA_TRY(exclude(ctx, {"roi_end", "rel_roi_end", "roi_shape", "rel_roi_shape"}));
  const std::string policy = ctx.text("out_of_bounds_policy");
  if (policy != "error" && policy != "pad" && policy != "trim_to_shape")
    return ctx.error(fmt::format("readers.numpy: out_of_bounds_policy is \"{}\"", policy),
                     "write \"error\", \"pad\" or \"trim_to_shape\"", "out_of_bounds_policy");
  if (!ctx.given("roi_axes")) return {};
  const size_t axes = ctx.integers("roi_axes").size();
  for (const char* name : kBounds) {
    const size_t count = !ctx.given(name)                            ? axes
                         : std::string_view(name).starts_with("rel") ? ctx.numbers(name).size()
                                                                     : ctx.integers(name).size();
    if (count != axes)
      return ctx.error(fmt::format("readers.numpy: {} has {} numbers, roi_axes {}", name, count, axes),
                       "give one for each axis", name);
  }
  return {};
}

/// What all arrays are, from the first of them, unless the call says it.
Result<std::vector<Port>> ports_of_arrays(const TypeContext& ctx) {
  Port port{.name = "array", .documentation = "an array, or the part of it that is wanted"};
  if (ctx.given("dtype") && ctx.given("ndim")) {
    port.dtypes = {ctx.dtype("dtype", DType::kU8)};
    port.ndim = static_cast<int>(ctx.integer("ndim"));
    return std::vector{port};
  }
  nlohmann::json config = nlohmann::json::object();
  for (const char* name : {"file_root", "file_filter", "file_list"})
    if (ctx.given(name)) config[name] = ctx.text(name);
  if (ctx.given("files")) config["files"] = ctx.texts("files");
  const auto first = [&]() -> Result<native::NpyHeader> {
    GALATEA_ASSIGN(const std::vector<std::string> paths, native::list_arrays(config));
    GALATEA_ASSIGN(const std::shared_ptr<const native::ByteSource> file, native::open_file(paths.front()));
    return native::read_npy_header(*file);
  }();
  if (!first)
    return ctx.error(
        fmt::format("readers.numpy: the first array says what all are: {}", first.error().message()),
        "check the path, or say dtype= and ndim= where the arrays come later");
  port.dtypes = {ctx.dtype("dtype", first->dtype)};
  port.ndim =
      ctx.given("ndim") ? static_cast<int>(ctx.integer("ndim")) : static_cast<int>(first->shape.size());
  return std::vector{port};
}

ArgSpec bounds(const char* name, ArgKind kind, const char* documentation) {
  return {.name = name, .kind = kind, .documentation = documentation};
}

}  // namespace

Operator make_readers_numpy() {
  op::SourceDeclaration reader;
  reader.name = "readers.numpy";
  reader.summary = "Reads arrays of NumPy (.npy).";
  reader.documentation =
      "All arrays have one element type and number of axes. A part of them (roi_…) is read without the rest. "
      "Bounds count elements, or are shares of an extent, rounded half away from zero (a shape behind a relative "
      "start: its end). Arrays in Fortran's "
      "order come out in C's. Format: numpy.lib.format, versions 1 to 3, little endian.";
  reader.args = {
      {.name = "file_root",
       .kind = ArgKind::kString,
       .documentation =
           "Folder of the arrays, with its sub-folders; with file_list or files, the folder that "
           "their names are relative to."},
      {.name = "file_filter",
       .kind = ArgKind::kString,
       .default_value = std::string("*.npy"),
       .documentation = "Pattern of file names in file_root."},
      {.name = "files", .kind = ArgKind::kStringList, .documentation = "Names of the files."},
      {.name = "file_list", .kind = ArgKind::kString, .documentation = "Text file with a name on each line."},
      {.name = "dtype",
       .kind = ArgKind::kDType,
       .documentation = "Element type of the arrays; that of the first file if not given."},
      {.name = "ndim",
       .kind = ArgKind::kInt,
       .documentation = "Number of axes of the arrays; that of the first file if not given."},
      bounds("roi_start", ArgKind::kIntList, "First element that is wanted, an axis each; 0 if not given."),
      bounds("rel_roi_start", ArgKind::kFloatList, "The same as a share of the extent."),
      bounds("roi_end", ArgKind::kIntList, "Behind the last element; the extent if not given."),
      bounds("rel_roi_end", ArgKind::kFloatList, "The same as a share of the extent."),
      bounds("roi_shape", ArgKind::kIntList, "How many elements from the start on."),
      bounds("rel_roi_shape", ArgKind::kFloatList, "The same as a share of the extent."),
      {.name = "roi_axes",
       .kind = ArgKind::kIntList,
       .documentation = "The axes that bounds are given for; the first ones if not given."},
      {.name = "out_of_bounds_policy",
       .kind = ArgKind::kString,
       .default_value = std::string("error"),
       .documentation = "What becomes of a part that lies outside: \"error\" fails the sample, \"pad\" fills "
                        "with fill_value, \"trim_to_shape\" leaves it out."},
      {.name = "fill_value",
       .kind = ArgKind::kFloat,
       .default_value = 0.0,
       .documentation = "What \"pad\" fills with."},
      {.name = "cache_header_information",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Headers are read with their arrays.",
       .no_effect = true},
      {.name = "register_buffers",
       .kind = ArgKind::kBool,
       .default_value = true,
       .documentation = "Of GPUs.",
       .no_effect = true},
      {.name = "use_o_direct",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Reads past the system's cache.",
       .no_effect = true},
  };
  reader.outputs_of = ports_of_arrays;
  reader.types_declared_by = {"dtype", "ndim"};
  reader.check = check_arrays;
  reader.aliases = {"numpy_reader"};
  reader.example =
      "volume = fn.readers.numpy(file_root=data, dtype=types.FLOAT, ndim=3, roi_start=[0, 0, 0], "
      "roi_shape=[16, 64, 64])\nreturn volume\n";
  return op::reader_operator(reader);
}

}  // namespace galatea::ops
