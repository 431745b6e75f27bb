// lookup_table: numbers of the text in place of integers.
//
// Comes in: integers. Goes out: the value of the key that each equals, or a default. The table is a tensor of
// the program, so that operators with other values run the same kernel.
#include <algorithm>

#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMaxKey = 65535;
constexpr int64_t kByteValues = 256;
constexpr size_t kFewKeys = 16;  ///< for which few elements are compared with each

Types lookup_types(const TypeContext& ctx) {
  const std::vector<int64_t> keys = ctx.integers("keys");
  const std::vector<double> values = ctx.numbers("values");
  if (keys.size() != values.size())
    return ctx.error(fmt::format("lookup_table: {} keys for {} values", keys.size(), values.size()),
                     "each key has a value: values[i] replaces keys[i]",
                     ctx.given("values") ? "values" : "keys");
  for (const int64_t key : keys)
    if (key < 0 || key > kMaxKey)
      return ctx.error(fmt::format("lookup_table: key {} is not in 0 .. {}", key, kMaxKey),
                       "what no key equals becomes default_value", "keys");
  return std::vector{with_dtype(ctx.input(0), ctx.dtype("dtype", DType::kF32))};
}

/// Element x of the data as a place in a table of `entries` values and one more for what no key equals.
Expr place_of(const Expr& x, int64_t entries) {
  const DType type = x.type();
  Expr known = truth(true);
  if (is_signed_int(type)) known = x >= kernel::const_int(0, type);
  if (type == DType::kU64 || max_int(type) >= entries) {
    const Expr below = x < kernel::const_int(entries, type);
    known = kernel::is_const(known) ? below : known & below;
  }
  return select(known, to_i64(x), i64(entries));
}

void define_lookup(RecipeBuilder& b) {
  const std::vector<int64_t> keys = b.integers("keys");
  const std::vector<double> values = b.numbers("values");
  const DType in = b.input_type(0).dtype, out = b.output_type(0).dtype;
  const auto value = [&](double number) { return kernel::saturate(f64(number), out); };
  const Expr otherwise = value(b.number("default_value"));
  if (fits_scalars(b) && keys.size() <= kFewKeys)
    return pointwise(b, "lookup_table", [&](const std::vector<Expr>& x) {
      Expr found = otherwise;
      for (size_t k = 0; k < keys.size(); ++k)
        if (in == DType::kU64 || keys[k] <= max_int(in))
          found = select(equal(x[0], kernel::const_int(keys[k], in)), value(values[k]), found);
      return found;
    });
  // A byte is a place in a table of all bytes; for other types, one more entry is for what no key equals.
  const bool byte = in == DType::kU8;
  const int64_t entries = byte           ? kByteValues
                          : keys.empty() ? 0
                                         : *std::max_element(keys.begin(), keys.end()) + 1;
  std::vector<Cell> cells(static_cast<size_t>(byte ? entries : entries + 1), otherwise->value);
  for (size_t k = 0; k < keys.size(); ++k)
    if (keys[k] < entries) cells[static_cast<size_t>(keys[k])] = value(values[k])->value;
  const auto extent = static_cast<int64_t>(cells.size());
  const int table = b.constant_input(
      "table", std::make_shared<runtime::ConstantTensor>(out, std::vector<int64_t>{extent}, cells));
  b.output_stage(0, b.map("lookup_table", out, b.extents(0), [&](const Axes& at) {
    const Expr x = b.load(0, at);
    return b.load(table, {byte ? to_i64(x) : place_of(x, entries)});
  }));
}

}  // namespace

Operator make_lookup_table() {
  Operator op;
  op.name = "lookup_table";
  op.summary = "Replaces integers by the values that a table has for them.";
  op.documentation =
      "out = values[k] for the last k with keys[k] == in, default_value where there is none (negative "
      "numbers, for instance). Values are rounded half to even and clamped to dtype.";
  op.inputs = {{.name = "data",
                .documentation = "integers of any shape",
                .dtypes = {DType::kU8, DType::kU16, DType::kU32, DType::kU64, DType::kI8, DType::kI16,
                           DType::kI32, DType::kI64}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "keys",
              .kind = ArgKind::kIntList,
              .default_value = std::vector<int64_t>{},
              .documentation = "The integers that are replaced, each in 0 .. 65535."},
             {.name = "values",
              .kind = ArgKind::kFloatList,
              .default_value = std::vector<double>{},
              .documentation = "What replaces them: as many as there are keys."},
             {.name = "default_value",
              .kind = ArgKind::kFloat,
              .default_value = 0.0,
              .documentation = "What replaces every other integer."},
             dtype_arg("Element type of the output; FLOAT if not given.")};
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = image_example("image, fn.lookup_table(label, keys=[0, 1], values=[7, 3], dtype=types.INT32)");
  op.type_rule = lookup_types;
  op.places = op::Places::kKept;
  op.define = define_lookup;
  return op;
}

}  // namespace galatea::ops
