// Helpers shared by operator definitions: see prelude.h.
#include "stdlib_ops/common/prelude.h"

#include <algorithm>
#include <limits>

namespace galatea::ops {

namespace {

/// One of values[begin] to values[end - 1]: few one after the other, more by halves, so that long lists are
/// neither deep nor slow to compile.
Expr choose_between(const Expr& index, const std::vector<Expr>& values, size_t begin, size_t end) {
  constexpr size_t kFew = 16;
  const auto at = [&](size_t n) { return kernel::const_int(static_cast<int64_t>(n), index.type()); };
  if (end - begin > kFew) {
    const size_t middle = begin + (end - begin) / 2;
    return select(index < at(middle), choose_between(index, values, begin, middle),
                  choose_between(index, values, middle, end));
  }
  Expr result = values[end - 1];
  for (size_t n = end - 1; n-- > begin;) result = select(equal(index, at(n)), values[n], result);
  return result;
}

}  // namespace

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
  return choose_between(index, values, 0, values.size());
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
  if (length < 0 || n < 0) return {};  // list_arg checks it for every sample
  if (length != 1 && length != n)
    return ctx.error(
        fmt::format("{} takes {} element{}, or one for all, not {}", name, n, n == 1 ? "" : "s", length),
        n == 2 ? "for images these are the height and the width" : "", name);
  return {};
}

namespace {

/// The value of a list argument whose length only the run tells.
std::optional<ir::ValueId> open_list(const RecipeBuilder& b, std::string_view name) {
  const ir::Arg* arg = b.node().find_arg(name);
  if (arg == nullptr || !arg->is_value() || b.type_of(arg->as_value()).static_volume() >= 0)
    return std::nullopt;
  return arg->as_value();
}

/// Its first n elements; past its end stands the last one (SymbolKind::kElement).
std::vector<Expr> first_elements(const RecipeBuilder& b, ir::ValueId value, int n, DType type) {
  const DType own = b.type_of(value).dtype;
  std::vector<Expr> list;
  for (int i = 0; i < n; ++i)
    list.push_back(kernel::saturate(kernel::symbol(kernel::SymbolKind::kElement, own, value, i), type));
  return list;
}

Expr length_of_open(ir::ValueId value) {
  return kernel::symbol(kernel::SymbolKind::kExtent, DType::kI64, value, 0);
}

}  // namespace

std::vector<Expr> list_arg(RecipeBuilder& b, std::string_view name, int n, DType type) {
  const auto value = open_list(b, name);
  if (!value) return b.arg_list(name, n, type);
  const Expr length = length_of_open(*value);
  b.check(equal(length, i64(n)) | equal(length, i64(1)),
          fmt::format("{} has {{}} elements, {} are needed", name, n), {length}, {}, std::string(name));
  return first_elements(b, *value, n, type);
}

std::vector<Expr> exact_list_arg(RecipeBuilder& b, std::string_view name, int n, DType type) {
  if (const auto value = open_list(b, name)) {
    const Expr length = length_of_open(*value);
    b.check(equal(length, i64(n)), fmt::format("{} has {{}} elements, {} are needed", name, n), {length}, {},
            std::string(name));
  }
  return list_arg(b, name, n, type);
}

ListPrefix list_prefix(RecipeBuilder& b, std::string_view name, int n, DType type) {
  if (const auto value = open_list(b, name))
    return {first_elements(b, *value, n, type), length_of_open(*value)};
  std::vector<Expr> list = b.arg_list(name, b.arg_length(name), type);
  const Expr length = i64(std::ssize(list));
  if (list.empty()) list.push_back(kernel::constant(type, Cell{}));
  list.resize(static_cast<size_t>(n), list.back());
  return {std::move(list), length};
}

void check_finite(RecipeBuilder& b, std::string_view name, const std::vector<Expr>& numbers) {
  for (const Expr& number : numbers)
    b.check(absolute(number) <= f32(std::numeric_limits<float>::max()),
            fmt::format("{} must be finite, not {{}}", name), {number}, {}, std::string(name));
}

Status check_addressable(const TypeContext& ctx, const ir::Type& type, const std::string& arg) {
  // Of an empty tensor there is nothing to say, and of extents that are not known the run does.
  const bool is_known = std::ranges::all_of(type.extents, [](int64_t extent) { return extent > 0; });
  if (!is_known || std::ssize(type.extents) > runtime::kMaxRank) return {};
  if (const auto bytes = runtime::dense_bytes(type.dtype, type.extents); !bytes)
    return ctx.error(fmt::format("{}: a tensor of extents [{}] is beyond any memory", ctx.op().name,
                                 fmt::join(type.extents, ", ")),
                     "at most 2^46 bytes can be addressed", arg);
  return {};
}

Expr finite_arg(RecipeBuilder& b, std::string_view name) {
  const Expr number = b.arg(name, DType::kF32);
  check_finite(b, name, {number});
  return number;
}

Expr finite_factor(RecipeBuilder& b, std::string_view name) {
  const Expr number = b.arg(name, DType::kF32);
  b.check_at_hand(absolute(number) <= f32(std::numeric_limits<float>::max()),
                  fmt::format("{} must be finite, not {{}}", name), {number}, {}, std::string(name));
  return number;
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

Result<std::vector<int>> resolve_axes(const TypeContext& ctx, const ir::Type& type, const Layout& layout,
                                      bool names_win) {
  std::vector<int> axes;
  if (!names_win && ctx.given("axes") && ctx.given("axis_names"))
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
  const int64_t count = length_of(ctx, "axes");
  if (count == 0 || count > ndim)
    return ctx.error(fmt::format("{} axes are named, the input has {}", count, ndim), {}, "axes");
  return static_cast<int>(count);
}

SampleAxes axes_of_sample(RecipeBuilder& b, int ndim) {
  const auto open = open_list(b, "axes");
  SampleAxes out;
  if (open) {
    out.count = length_of_open(*open);
    b.check((out.count > i64(0)) & (out.count <= i64(ndim)),
            fmt::format("{{}} axes are named, the input has {}", ndim), {out.count}, {}, "axes");
  }
  out.axes = open ? first_elements(b, *open, ndim, DType::kI64)
                  : b.arg_list("axes", b.arg_length("axes"), DType::kI64);
  for (size_t n = 0; n < out.axes.size(); ++n) {
    Expr& axis = out.axes[n];
    // Past the end stands the last axis: the same once more says nothing new of its range.
    b.check((axis >= i64(-ndim)) & (axis < i64(ndim)),
            fmt::format("axes names axis {{}}, which is out of range: the input has {} axes", ndim), {axis},
            "negative axes count from the end", "axes");
    axis = select(axis < i64(0), axis + i64(ndim), axis);
    if (open) axis = select(i64(static_cast<int64_t>(n)) < out.count, axis, i64(-1));
    for (size_t before = 0; before < n; ++before) {
      const Expr differs = not_equal(axis, out.axes[before]);
      b.check(open ? differs | (axis < i64(0)) : differs, "axes names axis {} twice", {axis}, {}, "axes");
    }
  }
  return out;
}

std::vector<Expr> input_of_axes(RecipeBuilder& b, int input, const SampleAxes& axes) {
  const auto n = static_cast<int>(axes.axes.size());
  std::vector<Expr> list;
  if (!axes.count) {
    for (int i = 0; i < n; ++i) list.push_back(input_element(b, input, i, n));
    return list;
  }
  const ir::Type& type = b.input_type(input);
  const Expr length = type.ndim == 0 ? i64(1) : b.extent(input, 0);
  b.check(equal(length, axes.count), fmt::format("input {} has {{}} elements for {{}} axes", input),
          {length, axes.count});
  const int64_t known = type.static_volume();
  for (int64_t i = 0; i < n; ++i)
    list.push_back(known == 0 ? kernel::constant(type.dtype, Cell{})
                              : kernel::symbol(kernel::SymbolKind::kElement, type.dtype,
                                               b.node().inputs[static_cast<size_t>(input)],
                                               known < 0 ? i : std::min(i, known - 1)));
  return list;
}

std::vector<Expr> list_of_axes(RecipeBuilder& b, std::string_view name, const SampleAxes& axes, DType type) {
  const auto n = static_cast<int>(axes.axes.size());
  if (!axes.count) return list_arg(b, name, n, type);
  auto [list, length] = list_prefix(b, name, n, type);
  b.check(equal(length, axes.count) | equal(length, i64(1)),
          fmt::format("{} has {{}} elements for {{}} axes", name), {length, axes.count}, {},
          std::string(name));
  return list;
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
