// constant: the same tensor for every sample.
//
// Comes in: numbers of the text. Goes out: few elements as scalars; one number repeated over a large shape as
// a map; many numbers as a tensor of the program.
#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMaxListedElements = 65536;

struct Data {
  std::vector<double> numbers;
  std::vector<int64_t> integers;
  bool is_integer = false;
  bool is_bool = false;
  bool is_scalar = false;  ///< written as a number, not as a list
  size_t size() const { return is_integer ? integers.size() : numbers.size(); }
  Expr element(size_t n, DType type) const {
    return kernel::saturate(
        is_integer ? kernel::const_int(integers[n]) : kernel::const_float(numbers[n], DType::kF64), type);
  }
};

Data data_of(const ir::Attr& attr) {
  Data data;
  if (const auto* list = std::get_if<std::vector<double>>(&attr))
    data.numbers = *list;
  else if (const auto* ints = std::get_if<std::vector<int64_t>>(&attr))
    data.integers = *ints, data.is_integer = true;
  else if (const auto* number = std::get_if<double>(&attr))
    data.numbers = {*number}, data.is_scalar = true;
  else if (const auto* integer = std::get_if<int64_t>(&attr))
    data.integers = {*integer}, data.is_integer = data.is_scalar = true;
  else if (const auto* flag = std::get_if<bool>(&attr))
    data.integers = {*flag ? 1 : 0}, data.is_integer = data.is_scalar = data.is_bool = true;
  return data;
}

template <typename Context>
std::string data_argument(const Context& c) {
  for (const char* name : {"value", "fdata", "idata"})
    if (c.given(name)) return name;
  return {};
}

Types constant_types(const TypeContext& ctx) {
  const int given =
      (ctx.given("fdata") ? 1 : 0) + (ctx.given("idata") ? 1 : 0) + (ctx.given("value") ? 1 : 0);
  if (given != 1)
    return ctx.error("constant: give exactly one of fdata and idata", "fdata holds floats, idata integers");
  const std::string name = data_argument(ctx);
  const Data data = data_of(ctx.attr(name));
  if (std::holds_alternative<std::string>(ctx.attr(name)) || std::holds_alternative<DType>(ctx.attr(name)) ||
      std::holds_alternative<std::vector<std::string>>(ctx.attr(name)))
    return ctx.error("constant: only numbers and bools can become data", {}, name);
  ir::Type out;
  out.dtype = ctx.dtype("dtype", data.is_bool ? DType::kBool : data.is_integer ? DType::kI32 : DType::kF32);
  if (ctx.given("shape"))
    out.extents = ctx.integers("shape");
  else if (!data.is_scalar)
    out.extents = {static_cast<int64_t>(data.size())};
  out.ndim = static_cast<int>(out.extents.size());
  int64_t volume = 1;
  for (int64_t e : out.extents) {
    if (e < 0) return ctx.error(fmt::format("constant: negative extent {} in shape", e), {}, "shape");
    volume *= e;
  }
  if (data.size() != 1 && static_cast<int64_t>(data.size()) != volume)
    return ctx.error(fmt::format("constant: {} numbers for shape [{}], which holds {}", data.size(),
                                 fmt::join(out.extents, ", "), volume),
                     "give one number, or as many as the shape holds", name);
  if (static_cast<int64_t>(data.size()) > kMaxListedElements)
    return ctx.error(fmt::format("constant: {} numbers are too many for a text", data.size()),
                     "feed them through fn.external_source", name);
  if (ctx.given("layout")) {
    out.layout = Layout(ctx.text("layout"));
    if (!out.layout.empty() && out.layout.size() != out.ndim)
      return ctx.error(
          fmt::format("constant: layout '{}' does not have {} letters", out.layout.str(), out.ndim), {},
          "layout");
  }
  return std::vector{out};
}

void define_constant(RecipeBuilder& b) {
  const std::string name = data_argument(b);
  const ir::Type& out = b.output_type(0);
  const int64_t volume = out.static_volume();
  const auto size = static_cast<int>(data_of(b.attr(name)).size());
  const std::vector<Expr> data = b.arg_list(name, size, out.dtype);
  if (size == 1 && volume > kMaxScalarElements) {
    std::vector<Expr> extents;
    for (int64_t e : out.extents) extents.push_back(i64(e));
    b.output_stage(0, b.map("constant", out.dtype, extents, [&](const Axes&) { return data[0]; }));
    return;
  }
  if (volume > kMaxScalarElements) {
    std::vector<Cell> cells;
    for (const Expr& element : data) cells.push_back(element->value);
    return b.output_constant(0, std::make_shared<runtime::ConstantTensor>(out.dtype, out.extents, cells));
  }
  std::vector<Expr> elements;
  for (int64_t n = 0; n < volume; ++n) elements.push_back(data[size == 1 ? 0 : static_cast<size_t>(n)]);
  b.output_scalars(0, std::move(elements));
}

}  // namespace

Operator make_constant() {
  Operator op;
  op.name = "constant";
  op.summary = "The same tensor for every sample.";
  op.documentation =
      "Numbers of the text as a tensor: rounded half to even and clamped to dtype. One number fills the "
      "whole shape; without a shape a list gives a 1-D tensor.";
  op.args = {
      {.name = "fdata", .kind = ArgKind::kFloatList, .documentation = "The elements as floats, row-major."},
      {.name = "idata", .kind = ArgKind::kIntList, .documentation = "The elements as integers, row-major."},
      {.name = "value",
       .kind = ArgKind::kAny,
       .documentation = "What the language's own constants use: a number, a bool or a list; a number without "
                        "a shape has no dimensions."},
      {.name = "shape",
       .kind = ArgKind::kIntList,
       .documentation = "The extents; the length of the data if not given; [] for no dimensions."},
      dtype_arg("Element type; FLOAT for fdata and INT32 for idata if not given."),
      {.name = "layout", .kind = ArgKind::kLayout, .documentation = "The layout."}};
  op.devices = {"cpu", "gpu"};
  op.example = "return fn.constant(fdata=[0.5, 1.5], dtype=types.FLOAT)\n";
  op.type_rule = constant_types;
  op.define = define_constant;
  return op;
}

}  // namespace galatea::ops
