// expand_dims, squeeze: axes of extent 1 come and go.
//
// Comes in: any tensor. Goes out: a view of it with more or fewer axes; few known elements as scalars.
#include <algorithm>

#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

std::string numbered(const std::vector<int64_t>& axes) { return fmt::format("[{}]", fmt::join(axes, ", ")); }

/// Complains about an axis below 0, at `end` or beyond it, and about one that is named twice.
Status check_axes(const TypeContext& ctx, const std::vector<int64_t>& axes, int end, const std::string& of) {
  for (int64_t axis : axes)
    if (axis < 0 || axis >= end)
      return ctx.error(
          fmt::format("{}: axes names axis {}, {} has axes 0 to {}", ctx.op().name, axis, of, end - 1),
          "axes are counted from 0", "axes");
  auto sorted = axes;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end())
    return ctx.error(fmt::format("{}: axes {} names an axis twice", ctx.op().name, numbered(axes)), {},
                     "axes");
  return {};
}

/// Elements of a small tensor stay scalars; else a view, whose dimension d is dims[d] of the input, or new.
void output_axes(RecipeBuilder& b, std::vector<int> dims) {
  if (fits_scalars(b)) {
    std::vector<Expr> elements;
    for (int64_t n = 0; n < b.output_type(0).static_volume(); ++n) elements.push_back(b.element(0, n));
    return b.output_scalars(0, std::move(elements));
  }
  std::vector<Expr> extents;
  for (const int d : dims) extents.push_back(d < 0 ? i64(1) : b.extent(0, d));
  std::vector<Expr> start(static_cast<size_t>(b.input_type(0).ndim), i64(0)), step(dims.size(), i64(1));
  b.output_view(0, 0, std::move(extents), std::move(dims), std::move(start), std::move(step));
}

// ---- expand_dims

/// Per axis of the output that of the input, or -1.
std::vector<int> expanded_dims(int ndim, const std::vector<int64_t>& axes) {
  std::vector<int> dims(static_cast<size_t>(ndim) + axes.size(), 0);
  for (int64_t axis : axes) dims[static_cast<size_t>(axis)] = -1;
  int next = 0;
  for (int& d : dims)
    if (d == 0) d = next++;
  return dims;
}

Types expand_dims_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  const std::vector<int64_t> axes = ctx.integers("axes");
  const int rank = in.ndim + static_cast<int>(axes.size());
  GALATEA_TRY(check_axes(ctx, axes, rank, "the output"));
  const std::string names = ctx.text("new_axis_names");
  if (!names.empty() && names.size() != axes.size())
    return ctx.error(fmt::format("expand_dims: new_axis_names \"{}\" has {} letters for {} axes", names,
                                 names.size(), axes.size()),
                     "give one letter per new axis, in the order of axes", "new_axis_names");
  if (!names.empty() && in.layout.empty() && in.ndim > 0)
    return ctx.error(
        fmt::format("expand_dims: new_axis_names needs an input with a layout, not {}", describe(in)),
        "name the axes with fn.reshape(x, layout=…), or leave new_axis_names out", "new_axis_names");
  const std::vector<int> dims = expanded_dims(in.ndim, axes);
  ir::Type out = in;
  out.ndim = rank;
  out.extents.clear();
  std::string letters;
  for (size_t d = 0; d < dims.size(); ++d) {
    out.extents.push_back(dims[d] < 0 ? 1 : in.extents[static_cast<size_t>(dims[d])]);
    if (names.empty()) continue;
    const auto which = std::ranges::find(axes, static_cast<int64_t>(d)) - axes.begin();
    letters += dims[d] < 0 ? names[static_cast<size_t>(which)] : in.layout[dims[d]];
  }
  if (!axes.empty()) out.layout = Layout(letters);
  return std::vector{out};
}

// ---- squeeze

template <typename Context>
std::vector<int64_t> squeezed_axes(const Context& c, const Layout& layout) {
  if (c.given("axes")) return c.integers("axes");
  std::vector<int64_t> axes;
  for (const char letter : c.text("axis_names")) axes.push_back(layout.find(letter));
  return axes;
}

std::vector<int> kept_dims(int ndim, const std::vector<int64_t>& axes) {
  std::vector<int> dims;
  for (int d = 0; d < ndim; ++d)
    if (std::ranges::find(axes, d) == axes.end()) dims.push_back(d);
  return dims;
}

Types squeeze_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  if (ctx.given("axes") == ctx.given("axis_names"))
    return ctx.error("squeeze: give exactly one of axes and axis_names", "as in axes=[0]");
  if (ctx.is_per_sample("axes"))
    return ctx.error("squeeze: axes must be the same for all samples",
                     "they decide the number of dimensions, which all samples share", "axes");
  if (ctx.given("axis_names"))
    for (const char letter : ctx.text("axis_names"))
      if (!in.layout.contains(letter))
        return ctx.error(fmt::format("squeeze: the input ({}) has no axis '{}'", describe(in), letter),
                         "use letters of the input's layout, or axes=[…]", "axis_names");
  const std::vector<int64_t> axes = squeezed_axes(ctx, in.layout);
  GALATEA_TRY(check_axes(ctx, axes, in.ndim, "the input"));
  ir::Type out = in;
  out.extents.clear();
  std::string letters;
  for (const int d : kept_dims(in.ndim, axes)) {
    out.extents.push_back(in.extents[static_cast<size_t>(d)]);
    if (!in.layout.empty()) letters += in.layout[d];
  }
  out.ndim = static_cast<int>(out.extents.size());
  out.layout = Layout(letters);
  const int64_t before = in.static_volume(), after = out.static_volume();
  if (before >= 0 && before != after)
    return ctx.error(
        fmt::format("squeeze: of the {} elements of {} {} would be left", before, describe(in), after),
        "only axes of extent 1 can go", ctx.given("axes") ? "axes" : "axis_names");
  return std::vector{out};
}

void define_squeeze(RecipeBuilder& b) {
  const std::vector<int64_t> axes = squeezed_axes(b, b.input_type(0).layout);
  const std::vector<int> dims = kept_dims(b.input_type(0).ndim, axes);
  Expr before = i64(1), after = i64(1);
  for (const Expr& extent : b.extents(0)) before = before * extent;
  for (const int d : dims) after = after * b.extent(0, d);
  b.check(equal(before, after), "of the {} elements of the input {} would be left", {before, after},
          "only axes of extent 1 can go", b.given("axes") ? "axes" : "axis_names");
  output_axes(b, dims);
}

}  // namespace

Operator make_expand_dims() {
  Operator op;
  op.name = "expand_dims";
  op.summary = "Inserts axes of extent 1.";
  op.documentation =
      "`axes` says where the new axes stand in the output. Nothing is copied: the result is a view. Without "
      "new_axis_names the output has no layout.";
  op.inputs = {{.name = "data", .documentation = "any tensor"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "axes",
              .kind = ArgKind::kIntList,
              .required = true,
              .documentation = "Positions of the new axes in the output, counted from 0."},
             {.name = "new_axis_names",
              .kind = ArgKind::kLayout,
              .default_value = std::string(),
              .documentation = "One letter per new axis, in the order of `axes`; the others keep theirs."}};
  op.devices = {"cpu", "gpu"};
  op.example = image_example("fn.expand_dims(image, axes=[0], new_axis_names=\"F\"), label");
  op.type_rule = expand_dims_types;
  op.define = [](RecipeBuilder& b) {
    output_axes(b, expanded_dims(b.input_type(0).ndim, b.integers("axes")));
  };
  return op;
}

Operator make_squeeze() {
  Operator op;
  op.name = "squeeze";
  op.summary = "Removes axes of extent 1.";
  op.documentation =
      "The axes that are named go, with their letters in the layout. The number of elements must stay the "
      "same: the extents are 1, or, where another extent is 0, anything. "
      "Nothing is copied: the result is a view.";
  op.inputs = {{.name = "data", .documentation = "any tensor"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "axes",
              .kind = ArgKind::kIntList,
              .documentation = "The axes that go, counted from 0; excludes axis_names."},
             {.name = "axis_names",
              .kind = ArgKind::kLayout,
              .documentation = "The axes by letters of the layout; excludes axes."}};
  op.devices = {"cpu", "gpu"};
  op.example = image_example("fn.squeeze(fn.stack(image), axes=[0]), label");
  op.type_rule = squeeze_types;
  op.define = define_squeeze;
  return op;
}

}  // namespace galatea::ops
