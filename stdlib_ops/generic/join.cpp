// cat, stack: several tensors side by side.
//
// Comes in: tensors of one element type. Goes out: one tensor; few elements as scalars, else one map stage
// that selects by position.
#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int kMaxJoined = 999;

Status check_types(const TypeContext& ctx) {
  for (int k = 1; k < ctx.num_inputs(); ++k) {
    const ir::Type &first = ctx.input(0), &other = ctx.input(k);
    if (other.dtype != first.dtype)
      return ctx.error(fmt::format("{}: inputs 0 and {} have different element types ({} and {})",
                                   ctx.op().name, k, types_name(first.dtype), types_name(other.dtype)),
                       "cast one of them: fn.cast(x, dtype=…) or fn.cast_like(x, y)");
    if (other.ndim != first.ndim)
      return ctx.error(fmt::format("{}: inputs 0 and {} have different numbers of dimensions ({} and {})",
                                   ctx.op().name, k, describe(first), describe(other)),
                       "bring them to one number of dimensions with fn.reshape");
  }
  return {};
}

/// The extents of all inputs along dimension d must be equal; the known one, or -1.
Result<int64_t> common_extent(const TypeContext& ctx, int d) {
  int64_t known = -1;
  for (int k = 0; k < ctx.num_inputs(); ++k) {
    const int64_t e = ctx.input(k).extents[static_cast<size_t>(d)];
    if (e < 0) continue;
    if (known >= 0 && e != known)
      return ctx.error(fmt::format("{}: extents differ along axis {}: {} and {}", ctx.op().name, d, known, e),
                       {});
    known = e;
  }
  return known;
}

/// The common extent in a definition, with a check for every input that may differ.
Expr same_extent(RecipeBuilder& b, int d, const char* name) {
  Expr first = b.extent(0, d);
  for (int k = 1; k < b.num_inputs(); ++k)
    if (kernel::is_const(b.extent(k, d))) first = b.extent(k, d);
  for (int k = 0; k < b.num_inputs(); ++k) {
    const Expr e = b.extent(k, d);
    if (!same(e, first))
      b.check(
          equal(e, first),
          fmt::format("{}: input {} has extent {{}} along axis {}, where another input has {{}}", name, k, d),
          {e, first}, "inputs must agree in all extents but that of the axis along which they are joined");
  }
  return first;
}

Result<int> axis_argument(const TypeContext& ctx, int count) {
  const int64_t axis = ctx.integer("axis");
  if (axis < -count || axis >= count)
    return ctx.error(fmt::format("{}: axis {} is out of range for {} dimensions", ctx.op().name, axis, count),
                     {}, "axis");
  return static_cast<int>(axis < 0 ? axis + count : axis);
}

// ---- cat

Result<int> cat_axis(const TypeContext& ctx, const Layout& layout) {
  if (!ctx.given("axis_name")) return axis_argument(ctx, ctx.input(0).ndim);
  if (ctx.given("axis")) return ctx.error("cat: 'axis' and 'axis_name' exclude each other", {}, "axis_name");
  const std::string letter = ctx.text("axis_name");
  if (letter.size() != 1 || !layout.contains(letter[0]))
    return ctx.error(fmt::format("cat: axis_name '{}' is not an axis of layout '{}'", letter, layout.str()),
                     {}, "axis_name");
  return layout.find(letter[0]);
}

Types cat_types(const TypeContext& ctx) {
  GALATEA_TRY(check_types(ctx));
  if (ctx.input(0).ndim == 0)
    return ctx.error("cat: scalars cannot be joined along an existing axis", "use fn.stack");
  const Layout layout = ctx.input(0).layout;  // as in DALI, what the others call their axes does not matter
  GALATEA_ASSIGN(const int axis, cat_axis(ctx, layout));
  ir::Type out = ctx.input(0);
  out.layout = layout;
  for (int d = 0; d < out.ndim; ++d) {
    int64_t& extent = out.extents[static_cast<size_t>(d)];
    if (d != axis) {
      GALATEA_ASSIGN(extent, common_extent(ctx, d));
      continue;
    }
    extent = 0;
    for (int k = 0; k < ctx.num_inputs(); ++k) {
      const int64_t e = ctx.input(k).extents[static_cast<size_t>(d)];
      extent = e < 0 || extent < 0 ? -1 : extent + e;
    }
  }
  return std::vector{out};
}

void cat_scalars(RecipeBuilder& b, int axis) {
  const auto a = static_cast<size_t>(axis);
  std::vector<Expr> elements;
  for (int64_t n = 0; n < b.output_type(0).static_volume(); ++n) {
    auto at = unflatten(n, b.output_type(0).extents);
    int k = 0;
    while (at[a] >= b.input_type(k).extents[a]) at[a] -= b.input_type(k++).extents[a];
    const auto strides = static_strides(b.input_type(k).extents);
    int64_t flat = 0;
    for (size_t d = 0; d < at.size(); ++d) flat += at[d] * strides[d];
    elements.push_back(b.element(k, flat));
  }
  b.output_scalars(0, std::move(elements));
}

void define_cat(RecipeBuilder& b) {
  const Layout layout = b.input_type(0).layout;
  const int ndim = b.input_type(0).ndim;
  int axis = b.given("axis_name") ? layout.find(b.text("axis_name")[0]) : static_cast<int>(b.integer("axis"));
  if (axis < 0) axis += ndim;
  if (fits_scalars(b)) return cat_scalars(b, axis);
  std::vector<Expr> extents, ends;
  for (int d = 0; d < ndim; ++d) {
    if (d != axis) {
      extents.push_back(same_extent(b, d, "cat"));
      continue;
    }
    Expr end = i64(0);
    for (int k = 0; k < b.num_inputs(); ++k) ends.push_back(end = end + b.extent(k, d));
    extents.push_back(end);
  }
  const StageRef stage = b.map("cat", b.output_type(0).dtype, extents, [&](const Axes& at) {
    const auto a = static_cast<size_t>(axis);
    Expr result;
    for (int k = b.num_inputs(); k-- > 0;) {
      Axes index = at;
      if (k > 0) index[a] = at[a] - ends[static_cast<size_t>(k - 1)];
      // Loads of the parts that are not selected fall outside; the constant border keeps them from reading.
      const Expr value = b.load(k, index, Border::kConstant, Cell{});
      result = result ? select(at[a] < ends[static_cast<size_t>(k)], value, result) : value;
    }
    return result;
  });
  b.output_stage(0, stage);
}

// ---- stack

Types stack_types(const TypeContext& ctx) {
  GALATEA_TRY(check_types(ctx));
  const Layout layout = ctx.input(0).layout;
  const int ndim = ctx.input(0).ndim;
  GALATEA_ASSIGN(const int axis, axis_argument(ctx, ndim + 1));
  ir::Type out = ctx.input(0);
  std::vector<int64_t> extents;
  for (int d = 0; d < ndim; ++d) {
    GALATEA_ASSIGN(const int64_t e, common_extent(ctx, d));
    extents.push_back(e);
  }
  extents.insert(extents.begin() + axis, ctx.num_inputs());
  out.extents = extents;
  out.ndim = ndim + 1;
  out.layout = {};
  if (ctx.given("axis_name")) {
    const std::string letter = ctx.text("axis_name");
    if (letter.size() != 1)
      return ctx.error(fmt::format("stack: axis_name must be one letter, not '{}'", letter), {}, "axis_name");
    if (layout.empty() && ndim > 0)
      return ctx.error("stack: axis_name needs a first input with a layout",
                       "name their axes first: fn.reshape(x, layout=…)", "axis_name");
    if (layout.contains(letter[0]))
      return ctx.error(fmt::format("stack: the inputs already have an axis '{}'", letter), {}, "axis_name");
    std::string letters = layout.str();
    letters.insert(letters.begin() + axis, letter[0]);
    out.layout = Layout(letters);
  }
  return std::vector{out};
}

void define_stack(RecipeBuilder& b) {
  const int ndim = b.input_type(0).ndim;
  auto axis = static_cast<size_t>(b.integer("axis") < 0 ? b.integer("axis") + ndim + 1 : b.integer("axis"));
  if (fits_scalars(b)) {
    std::vector<Expr> elements;
    for (int64_t n = 0; n < b.output_type(0).static_volume(); ++n) {
      auto at = unflatten(n, b.output_type(0).extents);
      const int k = static_cast<int>(at[axis]);
      at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
      const auto strides = static_strides(b.input_type(k).extents);
      int64_t flat = 0;
      for (size_t d = 0; d < at.size(); ++d) flat += at[d] * strides[d];
      elements.push_back(b.element(k, flat));
    }
    return b.output_scalars(0, std::move(elements));
  }
  std::vector<Expr> extents;
  for (int d = 0; d < ndim; ++d) extents.push_back(same_extent(b, d, "stack"));
  extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(axis), i64(b.num_inputs()));
  const StageRef stage = b.map("stack", b.output_type(0).dtype, extents, [&](const Axes& at) {
    Axes index = at;
    index.erase(index.begin() + static_cast<std::ptrdiff_t>(axis));
    std::vector<Expr> values;
    for (int k = 0; k < b.num_inputs(); ++k) values.push_back(b.load(k, index));
    return choose(at[axis], values);
  });
  b.output_stage(0, stage);
}

}  // namespace

Operator make_cat() {
  Operator op;
  op.name = "cat";
  op.summary = "Joins tensors along an existing axis.";
  op.documentation =
      "The inputs follow one another along `axis`; they agree in element type, number of dimensions and all "
      "other extents.";
  op.inputs = {{.name = "data", .documentation = "tensors of one element type and number of dimensions"}};
  op.min_inputs = 1;
  op.max_inputs = kMaxJoined;
  op.args = {{.name = "axis",
              .kind = ArgKind::kInt,
              .default_value = int64_t{0},
              .documentation = "The axis; negative counts from the end."},
             {.name = "axis_name",
              .kind = ArgKind::kString,
              .documentation = "The axis by its letter in the layout; excludes axis."}};
  op.devices = {"cpu", "gpu"};
  op.example = image_example("fn.cat(image, image, axis=1), label");
  op.type_rule = cat_types;
  op.define = define_cat;
  return op;
}

Operator make_stack() {
  Operator op;
  op.name = "stack";
  op.summary = "Joins tensors along a new axis.";
  op.documentation =
      "The inputs, equal in element type and extents, become the elements of a new axis at position `axis` "
      "of the output.";
  op.inputs = {{.name = "data", .documentation = "tensors of one element type and equal extents"}};
  op.min_inputs = 1;
  op.max_inputs = kMaxJoined;
  op.args = {{.name = "axis",
              .kind = ArgKind::kInt,
              .default_value = int64_t{0},
              .documentation = "Position of the new axis in the output; negative counts from the end."},
             {.name = "axis_name",
              .kind = ArgKind::kString,
              .documentation =
                  "Letter of the new axis in the output's layout; without it the output has no layout."}};
  op.devices = {"cpu", "gpu"};
  op.example = image_example("fn.stack(image, fn.flip(image)), label");
  op.type_rule = stack_types;
  op.define = define_stack;
  return op;
}

}  // namespace galatea::ops
