// one_hot: class numbers as vectors that are on at the class.
//
// Comes in: numbers. Goes out: a new axis of num_classes elements, on_value where its index equals the
// number.
#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// One element without an axis to put the classes at is a scalar, whatever its rank.
template <typename Context>
bool is_scalar(const Context& c, const ir::Type& in) {
  return in.ndim == 0 || (!c.given("axis") && in.static_volume() == 1);
}

template <typename Context>
int class_axis(const Context& c, const ir::Type& in) {
  const int64_t axis = c.integer("axis");
  return is_scalar(c, in) ? 0 : axis < 0 ? in.ndim : static_cast<int>(axis);
}

Types one_hot_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  const int64_t classes = ctx.integer("num_classes"), axis = ctx.integer("axis");
  if (classes < 0)
    return ctx.error(fmt::format("one_hot: num_classes must not be negative, but is {}", classes), {},
                     "num_classes");
  // One number or a vector of one element: without `axis` they give the same.
  if (in.ndim > 0 && in.static_volume() < 0 && !ctx.given("axis")) ctx.want_extents(0);
  if (axis < -1 || axis > in.ndim)
    return ctx.error(fmt::format("one_hot: axis {} is out of range for {}, which has places 0 to {}", axis,
                                 describe(in), in.ndim),
                     "-1 puts the classes last", "axis");
  const bool scalar = is_scalar(ctx, in);
  const int place = class_axis(ctx, in);
  ir::Type out = with_dtype(in, ctx.dtype("dtype", DType::kF32));
  if (scalar) out.extents.clear();
  out.extents.insert(out.extents.begin() + place, classes);
  out.ndim = static_cast<int>(out.extents.size());
  GALATEA_TRY(check_addressable(ctx, out, "num_classes"));
  out.layout = {};
  if (!ctx.given("axis_name")) return std::vector{out};
  const std::string name = ctx.text("axis_name");
  if (name.size() != 1)
    return ctx.error(fmt::format("one_hot: axis_name \"{}\" must be one letter", name), {}, "axis_name");
  std::string letters = scalar ? "" : in.layout.str();
  if (!scalar && in.layout.empty())
    return ctx.error(fmt::format("one_hot: axis_name needs an input with a layout, not {}", describe(in)),
                     "name the axes with fn.reshape(x, layout=…), or leave axis_name out", "axis_name");
  if (letters.find(name[0]) != std::string::npos)
    return ctx.error(fmt::format("one_hot: the input ({}) has an axis '{}' already", describe(in), name),
                     "choose another letter", "axis_name");
  letters.insert(static_cast<size_t>(place), name);
  out.layout = Layout(letters);
  return std::vector{out};
}

void define_one_hot(RecipeBuilder& b) {
  const ir::Type &in = b.input_type(0), &out = b.output_type(0);
  const auto place = static_cast<size_t>(class_axis(b, in));
  const bool scalar = is_scalar(b, in);
  auto value = [&](const char* name) { return kernel::saturate(b.arg(name, DType::kF64), out.dtype); };
  const Expr on = value("on_value"), off = value("off_value");
  auto class_of = [](const Expr& x) {
    return is_float(x.type()) ? to_i64(x) : kernel::saturate(x, DType::kI64);
  };
  if (scalar && out.static_volume() <= kMaxScalarElements) {
    std::vector<Expr> elements;
    const Expr here = class_of(b.element(0, 0));
    for (int64_t k = 0; k < out.static_volume(); ++k)
      elements.push_back(select(equal(here, i64(k)), on, off));
    return b.output_scalars(0, std::move(elements));
  }
  std::vector<Expr> extents;
  if (!scalar) extents = b.extents(0);
  extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(place), b.arg("num_classes", DType::kI64));
  b.output_stage(0, b.map("one_hot", out.dtype, extents, [&](const Axes& at) {
    Axes index(static_cast<size_t>(in.ndim), i64(0));
    if (!scalar) {
      index = at;
      index.erase(index.begin() + static_cast<std::ptrdiff_t>(place));
    }
    return select(equal(class_of(b.load(0, index)), at[place]), on, off);
  }));
}

}  // namespace

Operator make_one_hot() {
  Operator op;
  op.name = "one_hot";
  op.summary = "Class numbers as vectors that are on at the class.";
  op.documentation =
      "out[..., k] = on_value if k == in, else off_value; a number outside 0 .. num_classes - 1 turns "
      "nothing on, floats are truncated. Without axis, an input known to hold one element gives a vector of "
      "num_classes elements, whatever its rank. The layout is empty but for axis_name.";
  op.inputs = {{.name = "data",
                .documentation = "class numbers",
                .dtypes = {DType::kU8, DType::kU16, DType::kU32, DType::kU64, DType::kI8, DType::kI16,
                           DType::kI32, DType::kI64, DType::kF32, DType::kF64}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "num_classes",
              .kind = ArgKind::kInt,
              .default_value = int64_t{0},
              .documentation = "How many classes there are: the extent of the new axis."},
             {.name = "axis",
              .kind = ArgKind::kInt,
              .default_value = int64_t{-1},
              .documentation = "Where the new axis stands; -1 puts it last."},
             {.name = "on_value",
              .kind = ArgKind::kFloat,
              .default_value = 1.0,
              .documentation = "The value at the class; rounded half to even and clamped to dtype."},
             {.name = "off_value",
              .kind = ArgKind::kFloat,
              .default_value = 0.0,
              .documentation = "The value elsewhere; rounded half to even and clamped to dtype."},
             dtype_arg("Element type of the output; FLOAT if not given."),
             {.name = "axis_name",
              .kind = ArgKind::kLayout,
              .documentation = "The letter of the new axis in the layout, which then keeps the input's."}};
  op.devices = {"cpu", "gpu"};
  op.example = image_example("image, fn.one_hot(label, num_classes=1000, dtype=types.UINT8)");
  op.type_rule = one_hot_types;
  op.define = define_one_hot;
  return op;
}

}  // namespace galatea::ops
