// pad: makes samples larger at the end of axes.
//
// Comes in: a tensor, target extents and alignments per axis. Goes out: the tensor with fill_value behind it;
// never smaller than it was. Where no extent is given, the samples of the batch meet for their largest.
#include <algorithm>

#include "compiler/ir/attr.h"
#include "compiler/op/arguments.h"
#include "stdlib_ops/common/places.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// axes=[] and axis_names="" stand for all of them, as not given does.
template <typename Context>
bool names_all_axes(const Context& c) {
  if (c.is_per_sample("axes")) return false;
  if (c.given("axis_names")) return c.text("axis_names").empty();
  return !c.given("axes") || c.integers("axes").empty();
}

std::vector<int> all_axes(int ndim) {
  std::vector<int> axes;
  for (int d = 0; d < ndim; ++d) axes.push_back(d);
  return axes;
}

template <typename Context>
int64_t static_value(const Context& c, const char* name, size_t n) {
  const auto values = c.integers(name);
  return values[std::min(n, values.size() - 1)];
}

/// Whether some axis may grow to the largest of the batch.
bool pad_sees_batch(const ir::Node& node) {
  const op::Arguments args(*node.op, node.args);
  if (!args.given("shape") || args.is_per_sample("shape")) return true;
  return std::ranges::any_of(ir::attr_integers(args.attr("shape")),
                             [](int64_t wanted) { return wanted <= 0; });
}

Types pad_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  std::vector<int> axes = all_axes(in.ndim);
  int n = in.ndim;
  if (ctx.is_per_sample("axes")) {
    if (ctx.given("axis_names"))
      return ctx.error("'axes' and 'axis_names' exclude each other", "keep one of them", "axis_names");
    GALATEA_ASSIGN(n, count_axes_of_sample(ctx, in.ndim));
  } else if (!names_all_axes(ctx)) {
    GALATEA_ASSIGN(axes, resolve_axes(ctx, in, in.layout));
    n = static_cast<int>(axes.size());
  }
  GALATEA_TRY(check_length(ctx, "shape", n));
  GALATEA_TRY(check_length(ctx, "align", n));
  const bool static_shape = given_static(ctx, "shape"), static_align = given_static(ctx, "align");
  if (static_align)
    for (int64_t a : ctx.integers("align"))
      if (a < 1)
        return ctx.error(fmt::format("pad: align must be at least 1, not {}", a), "1 does not align",
                         "align");
  ir::Type out = in;
  if (ctx.is_per_sample("axes")) {
    std::ranges::fill(out.extents, -1);
    return std::vector{out};
  }
  for (size_t k = 0; k < axes.size(); ++k) {
    int64_t& extent = out.extents[static_cast<size_t>(axes[k])];
    if (ctx.given("shape") && !static_shape) {
      extent = -1;
      continue;
    }
    const int64_t wanted = static_shape ? static_value(ctx, "shape", k) : -1;
    if (extent < 0) continue;
    extent = std::max(extent, wanted);
    if (!ctx.given("align")) continue;
    const int64_t align = static_align ? static_value(ctx, "align", k) : 0;
    extent = align == 0 ? -1 : (extent + align - 1) / align * align;
  }
  return std::vector{out};
}

/// Whether the text itself says how far axis number k of those named grows.
bool reaches_given(const RecipeBuilder& b, size_t k) {
  return b.given("shape") && !b.is_per_sample("shape") && static_value(b, "shape", k) > 0;
}

void output_padded(RecipeBuilder& b, const std::vector<Expr>& extents, const std::vector<int>& axes) {
  const DType type = b.output_type(0).dtype;
  const Expr fill = kernel::saturate(b.arg("fill_value", DType::kF64), type);
  b.output_stage(0, b.map("pad", type, extents, [&](const Axes& at) {
    if (!b.given("fill_value")) return b.load(0, at, Border::kConstant, fill->value);
    return select(inside(b, at, axes), b.load(0, at, Border::kConstant, Cell{}), fill);
  }));
}

/// Where a data node says which axes grow: every axis may, and all meet the batch unless the text says how
/// far.
void define_pad_of_sample(RecipeBuilder& b) {
  const int ndim = b.input_type(0).ndim;
  const SampleAxes named = axes_of_sample(b, ndim);
  const std::vector<Expr>& axes = named.axes;
  std::vector<Expr> extents = b.extents(0), largest = extents;
  std::vector<Expr> shape(axes.size(), i64(0)), align(axes.size(), i64(1));
  if (b.given("shape")) shape = list_of_axes(b, "shape", named, DType::kI64);
  if (b.given("align")) align = list_of_axes(b, "align", named, DType::kI64);
  bool all_given = true;
  for (size_t k = 0; k < axes.size(); ++k) all_given = all_given && reaches_given(b, k);
  if (!all_given) largest = b.over_batch(std::vector(extents.size(), runtime::BatchOp::kMax), extents);
  for (const Expr& a : align)
    b.check(a > i64(0), "align is {}; it must be at least 1", {a}, "1 does not align", "align");
  for (int d = 0; d < ndim; ++d) {
    Expr& extent = extents[static_cast<size_t>(d)];
    std::vector<Expr> grown;
    for (size_t k = 0; k < axes.size(); ++k) {
      const Expr reached = select(shape[k] > i64(0), max(shape[k], extent), largest[static_cast<size_t>(d)]);
      grown.push_back((reached + align[k] - i64(1)) / align[k] * align[k]);
    }
    extent = value_of_axis(axes, d, grown, extent);
  }
  output_padded(b, extents, all_axes(ndim));
}

void define_pad(RecipeBuilder& b) {
  if (b.is_per_sample("axes")) return define_pad_of_sample(b);
  const ir::Type& in = b.input_type(0);
  const auto axes = names_all_axes(b) ? all_axes(in.ndim) : resolve_axes(b, in.ndim, in.layout);
  const int n = static_cast<int>(axes.size());
  std::vector<Expr> shape, align;
  if (b.given("shape") && n > 0) shape = list_arg(b, "shape", n, DType::kI64);
  if (b.given("align") && n > 0) align = list_arg(b, "align", n, DType::kI64);
  auto extents = b.extents(0);
  // Where the batch's largest may be wanted: all such axes meet at once.
  std::vector<Expr> largest(axes.size());
  std::vector<size_t> met;
  std::vector<Expr> own;
  for (size_t k = 0; k < axes.size(); ++k) {
    largest[k] = extents[static_cast<size_t>(axes[k])];
    if (reaches_given(b, k) || kernel::is_const(largest[k])) continue;
    met.push_back(k);
    own.push_back(largest[k]);
  }
  if (!met.empty()) {
    const auto found = b.over_batch(std::vector(met.size(), runtime::BatchOp::kMax), std::move(own));
    for (size_t m = 0; m < met.size(); ++m) largest[met[m]] = found[m];
  }
  for (size_t k = 0; k < axes.size(); ++k) {
    Expr& extent = extents[static_cast<size_t>(axes[k])];
    if (reaches_given(b, k))
      extent = max(shape[k], extent);
    else if (b.is_per_sample("shape"))
      extent = select(shape[k] > i64(0), max(shape[k], extent), largest[k]);
    else
      extent = largest[k];
    if (align.empty()) continue;
    b.check(align[k] > i64(0), fmt::format("align is {{}} along axis {}; it must be at least 1", axes[k]),
            {align[k]}, "1 does not align", "align");
    extent = (extent + align[k] - i64(1)) / align[k] * align[k];
  }
  output_padded(b, extents, axes);
}

}  // namespace

Operator make_pad() {
  Operator op;
  op.name = "pad";
  op.summary = "Makes samples larger at the end of axes.";
  op.documentation =
      "Along each of the axes the extent becomes max(own, shape), or where shape is not given, -1 or 0, the "
      "largest extent of the batch; rounded up to a multiple of align. What is new holds fill_value (rounded "
      "half to even and clamped). See docs/batches.md for what counts as the batch.";
  op.inputs = {{.name = "data", .documentation = "any tensor"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {
      {.name = "fill_value",
       .kind = ArgKind::kFloat,
       .default_value = 0.0,
       .per_sample = true,
       .documentation = "The value of the new elements."},
      {.name = "axes",
       .kind = ArgKind::kIntList,
       .per_sample = true,
       .documentation = "The axes that shape and align speak of; all if not given; negative ones count from "
                        "the end."},
      {.name = "axis_names",
       .kind = ArgKind::kLayout,
       .documentation = "The axes by letters of the layout; excludes axes."},
      {.name = "shape",
       .kind = ArgKind::kIntList,
       .per_sample = true,
       .documentation = "The extents to reach, one per axis or one for all; 1 keeps the extent, -1 and 0 "
                        "stand for the largest of the batch, as if shape were not given."},
      {.name = "align",
       .kind = ArgKind::kIntList,
       .per_sample = true,
       .documentation = "What the extents become multiples of, one per axis or one for all."}};
  op.devices = {"cpu", "gpu"};
  op.effect = effect("fn.pad(image, axes=[0, 1], shape={}, fill_value=128)",
                     {"[180, 270]", "[240, 320]", "[320, 480]"});
  op.example = image_example("fn.pad(image, axes=[0, 1], shape=[480, 640], align=32), label");
  op.sees_batch = pad_sees_batch;
  op.type_rule = pad_types;
  op.define = define_pad;
  moves_places(op, [](RecipeBuilder& b) { output_places(b, {}, {}); });  // it grows at its end
  return op;
}

}  // namespace galatea::ops
