// decoders.inflate: tensors that were compressed with LZ4, whole or chunk by chunk.
//
// Comes in: compressed bytes, the shape of what they hold, where chunks lie. Goes out: the tensor
// (native/lz4_inflate.h). Lists of chunks that the sample gives, whose lengths may differ, are inputs of another
// node: a call with such lists is one of inflate_chunks.
#include "compiler/ir/attr_json.h"
#include "runtime/kernel_abi.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/lz4_inflate.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr std::array<const char*, 2> kChunkLists = {"chunk_offsets", "chunk_sizes"};
constexpr std::array<const char*, 2> kFedLists = {"fed_offsets", "fed_sizes"};

bool is_chunked(const TypeContext& ctx) {
  return ctx.given("chunk_offsets") || ctx.given("chunk_sizes") || ctx.num_inputs() > 1;
}

Types inflate_types(const TypeContext& ctx) {
  if (const std::string algorithm = ctx.text("algorithm"); algorithm != "LZ4")
    return ctx.error(fmt::format("decoders.inflate: algorithm is \"{}\"", algorithm), "there is \"LZ4\"",
                     "algorithm");
  const int64_t rank = length_of(ctx, "shape");
  if (rank < 0) {
    ctx.want_extents("shape");
    return ctx.error("decoders.inflate: how many axes shape has is not known while compiling",
                     "build the shape with fn.stack, or make its length known", "shape");
  }
  std::vector<int64_t> extents(static_cast<size_t>(rank), -1);
  if (!ctx.is_per_sample("shape")) extents = ctx.integers("shape");
  for (const int64_t extent : extents)
    if (extent < 0 && !ctx.is_per_sample("shape"))
      return ctx.error(fmt::format("decoders.inflate: shape has {}", extent), "extents are 0 or more",
                       "shape");
  std::vector<int64_t> lengths;
  for (const char* name : kChunkLists) {
    if (!ctx.given(name)) continue;
    if (!ctx.is_per_sample(name)) {
      lengths.push_back(length_of(ctx, name));
    } else if (const ir::Type& list = ctx.arg_type(name); list.ndim > 1) {
      return ctx.error(fmt::format("decoders.inflate: {} is {}, and takes a list", name, describe(list)),
                       "give a number for each chunk", name);
    }
  }
  if (lengths.size() == 2 && lengths[0] != lengths[1])
    return ctx.error(fmt::format("decoders.inflate: there are {} chunk_offsets and {} chunk_sizes",
                                 lengths[0], lengths[1]),
                     "give one of each for every chunk, or only one of the lists", "chunk_sizes");
  std::string layout = ctx.text("layout");
  if (!layout.empty() && layout.size() != extents.size())
    return ctx.error(fmt::format("decoders.inflate: layout \"{}\" has {} axes, shape {}", layout,
                                 layout.size(), extents.size()),
                     "a letter for each axis of a chunk", "layout");
  if (is_chunked(ctx)) {
    const std::string sequence = ctx.text("sequence_axis_name");
    if (sequence.size() != 1)
      return ctx.error(fmt::format("decoders.inflate: sequence_axis_name is \"{}\"", sequence),
                       "give one letter", "sequence_axis_name");
    if (layout.find(sequence) != std::string::npos)
      return ctx.error(
          fmt::format("decoders.inflate: layout \"{}\" has an axis {} already", layout, sequence),
          "sequence_axis_name= names the axis of chunks", "sequence_axis_name");
    extents.insert(extents.begin(), lengths.empty() ? -1 : lengths.front());
    if (!layout.empty()) layout = sequence + layout;
  }
  if (extents.size() > static_cast<size_t>(runtime::kMaxRank))
    return ctx.error(fmt::format("decoders.inflate: the output would have {} axes", extents.size()),
                     fmt::format("a tensor has at most {}", runtime::kMaxRank), "shape");
  return std::vector{ir::Type{.dtype = ctx.dtype("dtype", DType::kU8),
                              .ndim = static_cast<int>(extents.size()),
                              .layout = Layout(layout),
                              .device = ir::Device::kCpu,
                              .extents = extents}};
}

void define_inflate(RecipeBuilder& b) {
  const bool chunked = b.given("chunk_offsets") || b.given("chunk_sizes") || b.num_inputs() > 1;
  const int rank = b.output_type(0).ndim - (chunked ? 1 : 0);
  std::vector<Expr> extents = list_arg(b, "shape", rank, DType::kI64);
  for (const Expr& extent : extents)
    b.check(extent >= i64(0), "shape has {}", {extent}, "extents are 0 or more", "shape");
  nlohmann::json config = {{"chunked", chunked}};
  op::NativeOutput native;
  native.function = native::kInflateLz4;
  native.inputs = {0};
  native.makes = "tensor";
  Expr count;
  for (size_t k = 0; k < kChunkLists.size(); ++k) {
    if (b.num_inputs() > 1 && b.flag(kFedLists[k])) {
      const auto input = static_cast<int>(native.inputs.size());
      config[kFedLists[k]] = true;
      native.inputs.push_back(input);
      count = b.input_type(input).ndim == 0 ? i64(1) : b.extent(input, 0);
    } else if (b.given(kChunkLists[k])) {
      const std::vector<int64_t> list = b.integers(kChunkLists[k]);
      config[k == 0 ? "offsets" : "sizes"] = list;
      if (!count) count = i64(static_cast<int64_t>(list.size()));
    }
  }
  if (chunked) extents.insert(extents.begin(), count);
  native.config = json_text(config);
  b.output_native(0, std::move(native), std::move(extents));
}

/// A call whose lists are the sample's.
Result<std::optional<ir::NodeId>> expand_inflate(const op::Expansion& expansion) {
  const TypeContext arguments = expansion.arguments();
  std::vector<ir::ValueId> inputs = {expansion.call.inputs[0]};
  std::vector<ir::Arg> args = expansion.call.args;
  for (size_t k = 0; k < kChunkLists.size(); ++k) {
    if (!arguments.is_per_sample(kChunkLists[k])) continue;
    const auto list = std::ranges::find(args, std::string(kChunkLists[k]), &ir::Arg::name);
    inputs.push_back(list->as_value());
    *list = {kFedLists[k], ir::Attr(true), list->span};
  }
  if (inputs.size() == 1) return std::nullopt;
  GALATEA_ASSIGN(const ir::ValueId tensor,
                 expansion.add("inflate_chunks", std::move(inputs), std::move(args)));
  return expansion.builder.graph().value(tensor).node;
}

std::vector<ArgSpec> inflate_args() {
  return {
      {.name = "shape",
       .kind = ArgKind::kIntList,
       .required = true,
       .per_sample = true,
       .documentation = "Extents of what is inflated; with chunks, of each of them."},
      {.name = "dtype",
       .kind = ArgKind::kDType,
       .default_value = DType::kU8,
       .documentation = "Its element type."},
      {.name = "algorithm",
       .kind = ArgKind::kString,
       .default_value = std::string("LZ4"),
       .documentation = "\"LZ4\": blocks of LZ4, without frames."},
      {.name = "chunk_offsets",
       .kind = ArgKind::kIntList,
       .per_sample = true,
       .documentation =
           "Where each chunk begins, in bytes from the sample's begin; one behind the other if not "
           "given. Samples may have different numbers of chunks."},
      {.name = "chunk_sizes",
       .kind = ArgKind::kIntList,
       .per_sample = true,
       .documentation = "Bytes of each compressed chunk; up to where the next begins, the last up to the "
                        "sample's end, if not given."},
      {.name = "layout",
       .kind = ArgKind::kLayout,
       .default_value = std::string(),
       .documentation = "Names of the axes of `shape`."},
      {.name = "sequence_axis_name",
       .kind = ArgKind::kLayout,
       .default_value = std::string("F"),
       .documentation = "Name of the axis that counts chunks, where there is a layout."},
      ignored("check_output_size", ArgKind::kBool, false,
              "That a chunk has the size that shape and dtype say is always checked."),
  };
}

Port compressed_port() {
  return {.name = "input", .documentation = "compressed bytes", .dtypes = {DType::kU8}, .ndim = 1};
}

}  // namespace

Operator make_decoders_inflate() {
  Operator op;
  op.name = "decoders.inflate";
  op.summary = "Decompresses tensors (LZ4).";
  op.documentation =
      "The elements that a block of LZ4 holds, in row-major order. With chunk_offsets, chunk_sizes or both the "
      "sample is a row of blocks, each of which holds a tensor of the same shape; the output has an axis more, "
      "in front, which counts them. A chunk that holds more or less than shape and dtype say is the sample's "
      "error. Format: LZ4 block format.";
  op.kind = OperatorKind::kNative;
  op.inputs = {compressed_port()};
  op.min_inputs = op.max_inputs = 1;
  op.args = inflate_args();
  op.aliases = {"experimental.inflate"};
  op.example =
      "# A literal of 4 bytes: the token says how many, the bytes follow.\n"
      "compressed = fn.constant(idata=[64, 1, 2, 3, 4], shape=[5], dtype=types.UINT8)\n"
      "return fn.decoders.inflate(compressed, shape=[2, 2], layout=\"HW\")\n";
  op.type_rule = inflate_types;
  op.expand = expand_inflate;
  op.define = define_inflate;
  return op;
}

Operator make_inflate_chunks() {
  Operator op;
  op.name = "inflate_chunks";
  op.summary = "Decompresses tensors whose chunks the sample lists.";
  op.documentation =
      "As fn.decoders.inflate with chunk_offsets, chunk_sizes or both as inputs behind the bytes.";
  op.kind = OperatorKind::kNative;
  op.inputs = {compressed_port(),
               {.name = "list", .documentation = "chunk_offsets or chunk_sizes", .optional = true},
               {.name = "sizes", .documentation = "chunk_sizes", .optional = true}};
  op.min_inputs = 2;
  op.max_inputs = 3;
  op.args = inflate_args();
  for (const char* name : kFedLists)
    op.args.push_back({.name = name,
                       .kind = ArgKind::kBool,
                       .default_value = false,
                       .documentation = "Whether an input is this list."});
  op.internal = true;
  op.type_rule = inflate_types;
  op.define = define_inflate;
  return op;
}

}  // namespace galatea::ops
