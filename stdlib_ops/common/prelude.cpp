// Helpers shared by operator definitions: see prelude.h.
#include "stdlib_ops/common/prelude.h"

#include <algorithm>
#include <limits>

namespace galatea::ops {

Expr choose(const Expr& index, const std::vector<Expr>& values) {
  GALATEA_CHECK(!values.empty());
  if (kernel::is_const(index)) {
    const auto at = static_cast<size_t>(
        std::clamp<int64_t>(kernel::const_value(index), 0, static_cast<int64_t>(values.size()) - 1));
    return values[at];
  }
  const bool all_same = std::all_of(values.begin(), values.end(),
                                    [&](const Expr& e) { return kernel::same_meaning(e, values.front()); });
  if (all_same) return values.front();
  Expr result = values.back();
  for (size_t n = values.size() - 1; n-- > 0;)
    result =
        select(equal(index, kernel::const_int(static_cast<int64_t>(n), index.type())), values[n], result);
  return result;
}

Expr next_below(const Expr& value) {
  // Positive floats grow with their bits, negative ones shrink; below either zero lies the smallest negative
  // denormal.
  const Expr bits = kernel::make_op(ScalarOp::kBitcast, DType::kI32, {value});
  const Expr one = kernel::const_int(1, DType::kI32);
  const Expr below_zero = kernel::const_int(std::numeric_limits<int32_t>::min() + 1, DType::kI32);
  const Expr moved = select(value > f32(0), bits - one, select(value < f32(0), bits + one, below_zero));
  return kernel::make_op(ScalarOp::kBitcast, DType::kF32, {moved});
}

ir::Type with_dtype(ir::Type like, DType dtype) {
  like.dtype = dtype;
  return like;
}

bool given_static(const TypeContext& ctx, std::string_view name) {
  return ctx.given(name) && !ctx.is_per_sample(name);
}

int64_t length_of(const TypeContext& ctx, std::string_view name) {
  if (ctx.is_per_sample(name)) {
    const int64_t length = ctx.arg_type(name).static_volume();
    if (length < 0) ctx.want_extents(name);
    return length;
  }
  return static_cast<int64_t>(ctx.numbers(name).size());
}

Status check_length(const TypeContext& ctx, std::string_view name, int n) {
  if (!ctx.given(name)) return {};
  const int64_t length = length_of(ctx, name);
  if (length < 0) return {};  // list_arg checks it for every sample
  if (length != 1 && length != n)
    return ctx.error(
        fmt::format("{} takes {} element{}, or one for all, not {}", name, n, n == 1 ? "" : "s", length),
        n == 2 ? "for images these are the height and the width" : "", name);
  return {};
}

std::vector<Expr> list_arg(RecipeBuilder& b, std::string_view name, int n, DType type) {
  const ir::Node& node = b.node();
  const ir::Arg* arg = node.find_arg(name);
  if (arg == nullptr || !arg->is_value() || b.type_of(arg->as_value()).static_volume() >= 0)
    return b.arg_list(name, n, type);
  const ir::ValueId value = arg->as_value();
  const ir::Type& own = b.type_of(value);
  const Expr length = kernel::symbol(kernel::SymbolKind::kExtent, DType::kI64, value, 0);
  b.check(equal(length, i64(n)), fmt::format("{} has {{}} elements, {} are needed", name, n), {length}, {},
          std::string(name));
  std::vector<Expr> list;
  for (int i = 0; i < n; ++i)
    list.push_back(kernel::saturate(kernel::symbol(kernel::SymbolKind::kElement, own.dtype, value, i), type));
  return list;
}

Expr input_element(RecipeBuilder& b, int input, int i, int n) {
  const ir::Type& type = b.input_type(input);
  if (type.static_volume() >= 0) return b.element(input, i);
  if (i == 0)
    b.check(equal(b.extent(input, 0), i64(n)),
            fmt::format("input {} has {{}} elements, {} are needed", input, n), {b.extent(input, 0)});
  return kernel::symbol(kernel::SymbolKind::kElement, type.dtype, b.node().inputs[static_cast<size_t>(input)],
                        i);
}

ImageAxes image_axes(const Layout& layout) { return {layout.find('H'), layout.find('W'), layout.find('C')}; }

std::vector<int> data_axes(const Layout& layout, int ndim) {
  std::vector<int> axes;
  for (int d = 0; d < ndim; ++d)
    if (layout.empty() || layout[d] != 'C') axes.push_back(d);
  return axes;
}

Result<std::vector<int>> resolve_axes(const TypeContext& ctx, const ir::Type& type, const Layout& layout) {
  std::vector<int> axes;
  if (ctx.given("axes") && ctx.given("axis_names"))
    return ctx.error("'axes' and 'axis_names' exclude each other", "keep one of them", "axis_names");
  if (ctx.given("axis_names")) {
    for (char letter : ctx.text("axis_names")) {
      const int at = layout.find(letter);
      if (at < 0)
        return ctx.error(fmt::format("axis_names: the input ({}) has no axis '{}'", describe(type), letter),
                         "use letters of the input's layout, or axes=[…]", "axis_names");
      axes.push_back(at);
    }
  } else if (ctx.given("axes")) {
    for (int64_t a : ctx.integers("axes")) {
      if (a < -type.ndim || a >= type.ndim)
        return ctx.error(fmt::format("axes: {} is out of range for an input of {} dimensions", a, type.ndim),
                         {}, "axes");
      axes.push_back(static_cast<int>(a < 0 ? a + type.ndim : a));
    }
  } else {
    for (int d = 0; d < type.ndim; ++d) axes.push_back(d);
  }
  auto sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return ctx.error("an axis is named twice", {}, ctx.given("axis_names") ? "axis_names" : "axes");
  return axes;
}

std::vector<int> resolve_axes(const RecipeBuilder& b, int ndim, const Layout& layout) {
  std::vector<int> axes;
  if (b.given("axis_names")) {
    for (char letter : b.text("axis_names")) axes.push_back(layout.find(letter));
  } else if (b.given("axes")) {
    for (int64_t a : b.integers("axes")) axes.push_back(static_cast<int>(a < 0 ? a + ndim : a));
  } else {
    for (int d = 0; d < ndim; ++d) axes.push_back(d);
  }
  return axes;
}

Result<int> count_axes_of_sample(const TypeContext& ctx, int ndim) {
  const int64_t count = ctx.arg_type("axes").static_volume();
  if (count < 0)
    return ctx.error("how many axes are named must be known while compiling",
                     "fix the length with fn.reshape(x, shape=[2]), or build it with fn.stack", "axes");
  if (count < 1 || count > ndim)
    return ctx.error(fmt::format("{} axes are named, the input has {}", count, ndim), {}, "axes");
  return static_cast<int>(count);
}

std::vector<Expr> axes_of_sample(RecipeBuilder& b, int ndim) {
  std::vector<Expr> axes = b.arg_list("axes", b.arg_length("axes"), DType::kI64);
  for (size_t n = 0; n < axes.size(); ++n) {
    b.check((axes[n] >= i64(-ndim)) & (axes[n] < i64(ndim)),
            fmt::format("axes names axis {{}}, which is out of range: the input has {} axes", ndim),
            {axes[n]}, "negative axes count from the end", "axes");
    axes[n] = select(axes[n] < i64(0), axes[n] + i64(ndim), axes[n]);
    for (size_t before = 0; before < n; ++before)
      b.check(kernel::not_equal(axes[n], axes[before]), "axes names axis {} twice", {axes[n]}, {}, "axes");
  }
  return axes;
}

Expr value_of_axis(const std::vector<Expr>& axes, int d, const std::vector<Expr>& values, Expr otherwise) {
  for (size_t n = axes.size(); n-- > 0;) otherwise = select(equal(axes[n], i64(d)), values[n], otherwise);
  return otherwise;
}

ArgSpec ignored(std::string name, ArgKind kind, ir::Attr default_value, std::string documentation) {
  return {.name = std::move(name),
          .kind = kind,
          .default_value = std::move(default_value),
          .documentation = std::move(documentation),
          .no_effect = true};
}

ArgSpec refused(std::string name, ArgKind kind, std::string reason) {
  return {.name = std::move(name),
          .kind = kind,
          .documentation = "Not available here.",
          .refused = std::move(reason)};
}

ArgSpec dtype_arg(std::string documentation) {
  return {.name = "dtype", .kind = ArgKind::kDType, .documentation = std::move(documentation)};
}

void append(std::vector<ArgSpec>& args, std::vector<ArgSpec> more) {
  args.insert(args.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<std::string> effect(std::string_view call, std::array<std::string_view, 3> values) {
  std::vector<std::string> calls;
  for (std::string_view value : values) calls.push_back(std::string(call).replace(call.find("{}"), 2, value));
  return calls;
}

std::string image_example(const std::string& expression) {
  return "encoded, label = fn.readers.file(file_root=data)\n"
         "image = fn.decoders.image(encoded)\n"
         "return " +
         expression + "\n";
}

}  // namespace galatea::ops
