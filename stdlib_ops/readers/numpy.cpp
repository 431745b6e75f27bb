// readers.numpy: arrays of NumPy, whole or in part.
//
// Comes in: .npy files, bounds. Goes out: arrays of one element type and rank, that of the first file
// (native/npy_source.h reads them). Where a bound is the sample's own, a reader of names and a node that reads
// the part stand for the call.
#include <strings.h>

#include "compiler/ir/attr_json.h"
#include "compiler/op/devices.h"
#include "compiler/op/schema.h"
#include "compiler/op/source.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/cufile_alternative.h"
#include "stdlib_ops/native/npy_source.h"
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
  if (policy != "error" && ::strcasecmp(policy.c_str(), "pad") != 0 && policy != "trim_to_shape")
    return ctx.error(fmt::format("readers.numpy: out_of_bounds_policy is \"{}\"", policy),
                     "write \"error\", \"pad\" or \"trim_to_shape\"", "out_of_bounds_policy");
  return {};
}

/// How many numbers each bound has.
int64_t num_bounded(const TypeContext& ctx, int rank) {
  const size_t axes = ctx.integers("roi_axes").size();
  return axes == 0 ? rank : static_cast<int64_t>(axes);
}

Status check_region(const TypeContext& ctx, int rank) {
  std::vector<bool> is_taken(static_cast<size_t>(rank));
  for (const int64_t given : ctx.integers("roi_axes")) {
    const int64_t axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank)
      return ctx.error(fmt::format("readers.numpy: roi_axes names axis {} of arrays of {} axes", given, rank),
                       "axes count from 0, negative ones from the end", "roi_axes");
    if (is_taken[static_cast<size_t>(axis)])
      return ctx.error(fmt::format("readers.numpy: roi_axes names axis {} twice", axis), "name it once",
                       "roi_axes");
    is_taken[static_cast<size_t>(axis)] = true;
  }
  const int64_t wanted = num_bounded(ctx, rank);
  for (const char* name : kBounds) {
    if (!ctx.given(name)) continue;
    const int64_t count = length_of(ctx, name);
    if (count < 0 || count == 1 || count == wanted) continue;
    return ctx.error(fmt::format("readers.numpy: {} has {} numbers for {} axes", name, count, wanted),
                     "give one for each axis, or one for all; roi_axes= says which axes they are of", name);
  }
  return {};
}

/// What all arrays are, from the first of them, unless the call says it.
Result<std::vector<Port>> ports_of_arrays(const TypeContext& ctx) {
  Port port{.name = "array", .documentation = "an array, or the part of it that is wanted"};
  if (ctx.given("dtype") && ctx.given("ndim")) {
    port.dtypes = {ctx.dtype("dtype", DType::kU8)};
    port.ndim = static_cast<int>(ctx.integer("ndim"));
    GALATEA_TRY(check_region(ctx, std::max(port.ndim, 0)));
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
  GALATEA_TRY(check_region(ctx, std::max(port.ndim, 0)));
  return std::vector{port};
}

ArgSpec bounds(const char* name, ArgKind kind, const char* documentation) {
  return {.name = name, .kind = kind, .per_sample = true, .documentation = documentation};
}

/// Which files there are: also what the reader of names takes.
std::vector<ArgSpec> array_files() {
  return {
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
  };
}

/// What is said of the arrays, and of their parts.
std::vector<ArgSpec> array_parts() {
  return {
      {.name = "dtype",
       .kind = ArgKind::kDType,
       .documentation = "Element type of the arrays; that of the first file if not given."},
      {.name = "ndim",
       .kind = ArgKind::kInt,
       .documentation = "Number of axes of the arrays; that of the first file if not given."},
      bounds("roi_start", ArgKind::kIntList,
             "First element that is wanted: a number for each axis, or one for all; 0 if not given."),
      bounds("rel_roi_start", ArgKind::kFloatList, "The same as a share of the extent."),
      bounds("roi_end", ArgKind::kIntList, "Behind the last element; the extent if not given."),
      bounds("rel_roi_end", ArgKind::kFloatList, "The same as a share of the extent."),
      bounds("roi_shape", ArgKind::kIntList, "How many elements from the start on."),
      bounds("rel_roi_shape", ArgKind::kFloatList, "The same as a share of the extent."),
      {.name = "roi_axes",
       .kind = ArgKind::kIntList,
       .documentation =
           "The axes that bounds are given for; all if not given. Negative ones count from the end."},
      {.name = "out_of_bounds_policy",
       .kind = ArgKind::kString,
       .default_value = std::string("error"),
       .documentation = "What becomes of a part that lies outside: \"error\" fails the sample, \"pad\" fills "
                        "with fill_value, \"trim_to_shape\" leaves it out."},
      {.name = "fill_value",
       .kind = ArgKind::kFloat,
       .default_value = 0.0,
       .documentation =
           "What \"pad\" fills with, rounded half away from zero and clamped to the arrays' type."},
      {.name = "cache_header_information",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Keeps the header of each file in memory, and reads it again only where the file has "
                        "another size."},
  };
}

/// A call with a bound of the sample's own, or whose arrays are wanted on a GPU, which may read them by itself:
/// names are read, and then the part.
Result<std::optional<ir::NodeId>> expand_numpy(const op::Expansion& expansion) {
  const TypeContext arguments = expansion.arguments();
  const ir::Graph& graph = expansion.builder.graph();
  std::vector<ir::Arg> of_names, of_part;
  bool is_apart = op::hidden_text(expansion.call.args, op::kDeviceArg) == "gpu";
  const std::vector<ArgSpec> parts = array_parts();
  for (const ir::Arg& arg : expansion.call.args) {
    const bool is_of_part =
        std::ranges::find(parts, arg.name, &ArgSpec::name) != parts.end() || arg.name == op::kDeviceArg;
    (is_of_part ? of_part : of_names).push_back(arg);
    if (!arg.is_value()) continue;
    is_apart = true;
    // The reader stands before every branch, and what it is given must be known there.
    if (graph.value(arg.as_value()).block != 0)
      return arguments.error(fmt::format("readers.numpy: {} depends on a branch", arg.name),
                             "a reader reads for every sample: compute its bounds before the `if`", arg.name);
  }
  if (!is_apart) return std::nullopt;
  GALATEA_ASSIGN(const std::vector<Port> ports, ports_of_arrays(arguments));
  std::erase_if(of_names, [](const ir::Arg& arg) {
    return arg.name == "register_buffers" || arg.name == "use_o_direct";
  });
  std::erase_if(of_part, [](const ir::Arg& arg) { return arg.name == "dtype" || arg.name == "ndim"; });
  of_part.push_back({"dtype", ir::Attr(ports[0].dtype()), {}});
  of_part.push_back({"ndim", ir::Attr(int64_t{ports[0].rank()}), {}});
  GALATEA_ASSIGN(const ir::ValueId name, expansion.add(native::kNumpyNames, {}, std::move(of_names)));
  GALATEA_ASSIGN(const ir::ValueId part, expansion.add("numpy_part", {name}, std::move(of_part)));
  return graph.value(part).node;
}

void define_numpy_part(RecipeBuilder& b) {
  const int rank = b.output_type(0).ndim;
  const auto axes = b.integers("roi_axes");
  const int count = axes.empty() ? rank : static_cast<int>(axes.size());
  nlohmann::json config = {{"dtype", short_name(b.output_type(0).dtype)}, {"ndim", rank}, {"count", count}};
  for (const char* name : {"roi_axes", "out_of_bounds_policy", "fill_value", "cache_header_information"})
    config[name] = ir::attr_json(b.attr(name));
  config["bounds"] = nlohmann::json::array();
  std::vector<Expr> scalars;
  for (const char* name : kBounds) {
    if (!b.given(name)) continue;
    config["bounds"].push_back(name);
    const DType type = std::string_view(name).starts_with("rel") ? DType::kF32 : DType::kI64;
    for (Expr& number : list_arg(b, name, count, type)) scalars.push_back(std::move(number));
  }
  const std::string text = json_text(config);
  const auto dims = static_cast<size_t>(rank);
  std::vector<Expr> extents =
      b.native_scalars(native::kNumpyPartShape, {0}, scalars, text, std::vector<DType>(dims, DType::kI64),
                       std::vector<std::pair<int64_t, int64_t>>(dims, {0, int64_t{1} << 53}));
  op::NativeOutput native;
  native.function = native::kNumpyPart;
  native.inputs = {0};
  native.scalars = std::move(scalars);
  native.config = text;
  native.makes = "array";
  native.device = {
      .name = native::kCufile,
      .reads = true,
      .suited = {fmt::format("arrays that lie in a file of this machine, in C's order and in one piece of at "
                             "least {} bytes, where the GPU's memory has no limit",
                             native::kLeastCufileBytes),
                 "the others are read by the host, and go up with the batch"}};
  b.output_native(0, std::move(native), std::move(extents));
}

}  // namespace

Operator make_readers_numpy() {
  op::SourceDeclaration reader;
  reader.name = "readers.numpy";
  reader.summary = "Reads arrays of NumPy (.npy).";
  reader.documentation =
      "All arrays have one element type and number of axes. A part of them (roi_…) is read without the rest; "
      "its bounds may be the sample's own. "
      "Bounds count elements, or are shares of an extent, rounded half away from zero (a shape behind a relative "
      "start: its end). Arrays in Fortran's "
      "order come out in C's. Format: numpy.lib.format, versions 1 to 3, little endian. With device=\"gpu\" they "
      "lie on the GPU, which reads them by itself where cuFile is here and it suits them; else the host reads.";
  reader.args = array_files();
  append(reader.args, array_parts());
  append(reader.args, {ignored("register_buffers", ArgKind::kBool, true, "Of GPUs."),
                       ignored("use_o_direct", ArgKind::kBool, false, "Reads past the system's cache.")});
  reader.outputs_of = ports_of_arrays;
  reader.types_declared_by = {"dtype", "ndim"};
  reader.check = check_arrays;
  reader.aliases = {"numpy_reader"};
  reader.example =
      "volume = fn.readers.numpy(file_root=data, dtype=types.FLOAT, ndim=3, roi_start=[0, 0, 0], "
      "roi_shape=[16, 64, 64])\nreturn volume\n";
  Operator op = op::reader_operator(reader);
  op.devices = {"cpu", "gpu"};
  op.expand = expand_numpy;
  return op;
}

Operator make_readers_numpy_names() {
  op::SourceDeclaration reader;
  reader.name = native::kNumpyNames;
  reader.summary = "Reads which arrays of NumPy there are.";
  reader.documentation = "As fn.readers.numpy: the name of each file, for a node that reads from it.";
  reader.args = array_files();
  reader.outputs = {
      {.name = "name", .documentation = "the path of a file", .dtypes = {DType::kU8}, .ndim = 1}};
  Operator op = op::reader_operator(reader);
  op.internal = true;
  return op;
}

Operator make_numpy_part() {
  Operator op;
  op.name = "numpy_part";
  op.summary = "The part of an array of NumPy in a file.";
  op.documentation = "As fn.readers.numpy, of a file whose name the sample has.";
  op.kind = OperatorKind::kNative;
  op.inputs = {{.name = "name",
                .documentation = "the path of a file",
                .dtypes = {DType::kU8},
                .ndim = 1,
                .any_device = true}};
  op.min_inputs = op.max_inputs = 1;
  op.devices = {"cpu", "gpu"};
  op.args = array_parts();
  op.internal = true;
  op.type_rule = [](const TypeContext& ctx) -> Types {
    const auto rank = static_cast<int>(ctx.integer("ndim"));
    GALATEA_TRY(check_region(ctx, rank));
    return std::vector{ir::Type{.dtype = ctx.dtype("dtype", DType::kU8),
                                .ndim = rank,
                                .layout = {},
                                .device = ir::Device::kCpu,
                                .extents = std::vector<int64_t>(static_cast<size_t>(rank), -1)}};
  };
  op.define = define_numpy_part;
  return op;
}

}  // namespace galatea::ops
