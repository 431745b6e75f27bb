// decoders.numpy: arrays of NumPy from the bytes of their files.
//
// Comes in: a .npy file. Goes out: the array (native/npy_functions.h).
#include "runtime/kernel_abi.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/npy_functions.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Types decoded_array_types(const TypeContext& ctx) {
  for (const char* name : {"dtype", "ndim"})
    if (!ctx.given(name))
      return ctx.error(
          fmt::format("decoders.numpy: {} the arrays have is not known before they are there",
                      name == std::string_view("dtype") ? "which element type" : "how many axes"),
          name == std::string_view("dtype")
              ? "say it: dtype=types.FLOAT; elements of another type are converted"
              : "say it: ndim=2");
  const int64_t rank = ctx.integer("ndim");
  if (rank < 0 || rank > runtime::kMaxRank)
    return ctx.error(fmt::format("decoders.numpy: ndim is {}", rank),
                     fmt::format("an array has 0 to {} axes", runtime::kMaxRank), "ndim");
  return std::vector{ir::Type{.dtype = ctx.dtype("dtype", DType::kU8),
                              .ndim = static_cast<int>(rank),
                              .layout = {},
                              .device = ir::Device::kCpu,
                              .extents = std::vector<int64_t>(static_cast<size_t>(rank), -1)}};
}

void define_decoded_array(RecipeBuilder& b) {
  const auto rank = static_cast<size_t>(b.output_type(0).ndim);
  const std::string config = std::to_string(rank);
  std::vector<Expr> extents = b.native_scalars(
      native::kNumpyPeek, {0}, {}, config, std::vector<DType>(rank, DType::kI64),
      std::vector<std::pair<int64_t, int64_t>>(rank, {0, std::numeric_limits<int64_t>::max()}));
  op::NativeOutput native;
  native.function = native::kNumpyDecode;
  native.inputs = {0};
  native.config = config;
  native.makes = "array";
  b.output_native(0, std::move(native), std::move(extents));
}

}  // namespace

Operator make_decoders_numpy() {
  Operator op;
  op.name = "decoders.numpy";
  op.summary = "Decodes arrays of NumPy (.npy).";
  op.documentation =
      "The array that the bytes of a .npy file hold. Elements of another type than `dtype` are converted as "
      "fn.cast converts them; an array of another number of axes than `ndim` is the sample's error. Arrays in "
      "Fortran's order come out in C's; bytes behind the array are not looked at. Format: numpy.lib.format, "
      "versions 1 to 3, little endian.";
  op.kind = OperatorKind::kNative;
  op.inputs = {
      {.name = "data", .documentation = "the bytes of a .npy file", .dtypes = {DType::kU8}, .ndim = 1}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "dtype",
              .kind = ArgKind::kDType,
              .documentation = "Element type of the output. It must be given."},
             {.name = "ndim",
              .kind = ArgKind::kInt,
              .documentation = "Number of axes of the arrays. It must be given."}};
  op.example =
      "encoded = fn.external_source(name=\"encoded\", dtype=types.UINT8, ndim=1)\n"
      "return fn.decoders.numpy(encoded, dtype=types.FLOAT, ndim=2)\n";
  op.type_rule = decoded_array_types;
  op.define = define_decoded_array;
  return op;
}

}  // namespace galatea::ops
