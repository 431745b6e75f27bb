// zeros, ones, full, zeros_like, ones_like, full_like: tensors of one value, or of one that is stretched.
//
// Comes in: a shape, or a tensor whose extents are taken; for full, the value. Goes out: few known elements as
// scalars, else a map stage. The value is broadcast as NumPy does, per sample.
#include <optional>

#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"
#include "stdlib_ops/random/draw.h"

namespace galatea::ops {
namespace {

// ---- one number

/// Like input 0, or as `shape` says.
Types filled_types(const TypeContext& ctx, bool like) {
  if (like) return std::vector{with_dtype(ctx.input(0), ctx.dtype("dtype", ctx.input(0).dtype))};
  GALATEA_ASSIGN(ir::Type out, drawn_type(ctx, ctx.dtype("dtype", DType::kI32), 0));
  out.layout = Layout(ctx.text("layout"));
  if (!out.layout.empty() && out.layout.size() != out.ndim)
    return ctx.error(
        fmt::format("{}: layout '{}' does not have {} letters", ctx.op().name, out.layout.str(), out.ndim),
        "name every axis of shape with one letter", "layout");
  return std::vector{out};
}

void define_filled(RecipeBuilder& b, bool like, int64_t number) {
  const ir::Type& out = b.output_type(0);
  const Expr value = kernel::saturate(i64(number), out.dtype);
  const std::vector<Expr> extents = like ? b.extents(0) : drawn_extents(b, 0);
  const int64_t volume = out.static_volume();
  if (volume >= 0 && volume <= kMaxScalarElements)
    return b.output_scalars(0, std::vector<Expr>(static_cast<size_t>(volume), value));
  b.output_stage(0, b.map("fill", out.dtype, extents, [&](const Axes&) { return value; }));
}

ArgSpec layout_arg() {
  return {.name = "layout",
          .kind = ArgKind::kLayout,
          .default_value = std::string(),
          .documentation = "The output's layout: one letter per axis; none if not given."};
}

Operator make_filled(const std::string& name, int64_t number) {
  Operator op;
  op.name = name;
  op.summary = fmt::format("A tensor of {}.", name);
  op.documentation = fmt::format("Every element is {}, as a number of the type `dtype`.", number);
  op.args = {shape_arg(), dtype_arg("Element type of the output; INT32 if not given."), layout_arg()};
  op.devices = {"cpu", "gpu"};
  op.example = fmt::format("return fn.{}(shape=[2, 3], dtype=types.FLOAT)\n", name);
  op.type_rule = [](const TypeContext& ctx) { return filled_types(ctx, false); };
  op.define = [number](RecipeBuilder& b) { define_filled(b, false, number); };
  return op;
}

Operator make_filled_like(const std::string& name, const std::string& plural, int64_t number) {
  Operator op;
  op.name = name;
  op.summary = fmt::format("A tensor of {} with the extents of another one.", plural);
  op.documentation = fmt::format(
      "Every element is {}. Extents and layout are those of the input, and so is the element type, unless "
      "`dtype` says another one.",
      number);
  op.inputs = {{.name = "data_like", .documentation = "any tensor; its elements are not read"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {dtype_arg("Element type of the output; that of the input if not given.")};
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = image_example("fn." + name + "(image, dtype=types.FLOAT), label");
  op.type_rule = [](const TypeContext& ctx) { return filled_types(ctx, true); };
  op.define = [number](RecipeBuilder& b) { define_filled(b, true, number); };
  return op;
}

// ---- a value that is stretched

/// The dimension of the value that dimension `d` of the output takes; -1: none.
int value_dim(const ir::Type& value, int rank, int d) {
  const int at = d - (rank - value.ndim);
  return at < 0 ? -1 : at;
}

/// Whether the value (input `k`) can be stretched over the output, as far as extents are known.
Status check_stretch(const TypeContext& ctx, int k, const ir::Type& out) {
  const ir::Type& value = ctx.input(k);
  const auto refuse = [&] {
    return ctx.error(
        fmt::format("{}: {} cannot be stretched over {}", ctx.op().name, describe(value), describe(out)),
        "aligned at the last axis, each extent of fill_value must be 1 or that of the output");
  };
  for (int d = 0; d < value.ndim; ++d) {
    const int64_t own = value.extents[static_cast<size_t>(d)];
    const int to = d + out.ndim - value.ndim;
    if (own < 0 || own == 1) continue;
    if (to < 0) return refuse();
    const int64_t extent = out.extents[static_cast<size_t>(to)];
    if (extent >= 0 && extent != own) return refuse();
  }
  return {};
}

void define_stretched(RecipeBuilder& b, int k, const std::vector<Expr>& extents) {
  const ir::Type &out = b.output_type(0), &value = b.input_type(k);
  const int rank = out.ndim;
  for (int d = 0; d < value.ndim; ++d) {
    const Expr own = b.extent(k, d);
    const int to = d + rank - value.ndim;
    if (kernel::is_const_int(own, 1)) continue;
    const Expr extent = to < 0 ? i64(1) : extents[static_cast<size_t>(to)];
    b.check(equal(own, i64(1)) | equal(own, extent),
            fmt::format("fill_value has extent {{}} along its axis {}, the output {{}}", d), {own, extent},
            "aligned at the last axis, each extent of fill_value must be 1 or that of the output");
  }
  const int64_t volume = out.static_volume();
  if (volume >= 0 && volume <= kMaxScalarElements && value.static_volume() >= 0) {
    const auto strides = static_strides(value.extents);
    std::vector<Expr> elements;
    for (int64_t n = 0; n < volume; ++n) {
      const auto at = unflatten(n, out.extents);
      int64_t flat = 0;
      for (int d = 0; d < rank; ++d)
        if (const int from = value_dim(value, rank, d); from >= 0)
          if (const auto dim = static_cast<size_t>(from); value.extents[dim] != 1)
            flat += strides[dim] * at[static_cast<size_t>(d)];
      elements.push_back(kernel::saturate(b.element(k, flat), out.dtype));
    }
    return b.output_scalars(0, std::move(elements));
  }
  b.output_stage(0, b.map("fill", out.dtype, extents, [&](const Axes& at) {
    if (value.static_volume() == 1) return kernel::saturate(b.element(k, 0), out.dtype);
    Axes index(static_cast<size_t>(value.ndim), i64(0));
    for (int d = 0; d < rank; ++d) {
      const int from = value_dim(value, rank, d);
      if (from < 0) continue;
      const Expr own = b.extent(k, from);
      if (kernel::is_const_int(own, 1)) continue;
      const bool whole = kernel::is_const(own);
      const Expr factor = whole ? i64(1) : select(equal(own, i64(1)), i64(0), i64(1));
      index[static_cast<size_t>(from)] = at[static_cast<size_t>(d)] * factor;
    }
    return kernel::saturate(b.load(k, std::move(index)), out.dtype);
  }));
}

Types full_types(const TypeContext& ctx) {
  GALATEA_ASSIGN(ir::Type out, drawn_type(ctx, ctx.input(0).dtype, 1));
  out.device = ctx.input(0).device;
  out.layout = Layout(ctx.text("layout"));
  if (!out.layout.empty() && out.layout.size() != out.ndim)
    return ctx.error(fmt::format("full: layout '{}' does not have {} letters", out.layout.str(), out.ndim),
                     "name every axis of shape with one letter", "layout");
  GALATEA_TRY(check_stretch(ctx, 0, out));
  return std::vector{out};
}

}  // namespace

Operator make_zeros() { return make_filled("zeros", 0); }
Operator make_ones() { return make_filled("ones", 1); }
Operator make_zeros_like() { return make_filled_like("zeros_like", "zeros", 0); }
Operator make_ones_like() { return make_filled_like("ones_like", "ones", 1); }

Operator make_full() {
  Operator op;
  op.name = "full";
  op.summary = "A tensor of a given value.";
  op.documentation =
      "fill_value, a number or a tensor, is broadcast to `shape` as NumPy does: aligned at the last axis, "
      "extents of 1 stretch. The element type is that of fill_value.";
  op.inputs = {{.name = "fill_value", .documentation = "the value: a number or a tensor"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {shape_arg(), layout_arg()};
  op.devices = {"cpu", "gpu"};
  op.example = "return fn.full(fn.random.uniform(range=[0, 1]), shape=[2, 3])\n";
  op.type_rule = full_types;
  op.define = [](RecipeBuilder& b) { define_stretched(b, 0, drawn_extents(b, 1)); };
  return op;
}

Operator make_full_like() {
  Operator op;
  op.name = "full_like";
  op.summary = "A tensor of a given value with the extents of another one.";
  op.documentation =
      "fill_value, a number or a tensor, is broadcast to the extents of data_like as NumPy does: aligned at "
      "the last axis, extents of 1 stretch. Element type and layout are those of data_like; values round "
      "half to even and are clamped to it.";
  op.inputs = {{.name = "data_like", .documentation = "any tensor; its elements are not read"},
               {.name = "fill_value", .documentation = "the value: a number or a tensor"}};
  op.min_inputs = op.max_inputs = 2;
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = image_example("fn.full_like(image, 128), label");
  op.type_rule = [](const TypeContext& ctx) -> Types {
    GALATEA_TRY(check_stretch(ctx, 1, ctx.input(0)));
    return std::vector{ctx.input(0)};
  };
  op.define = [](RecipeBuilder& b) { define_stretched(b, 1, b.extents(0)); };
  return op;
}

}  // namespace galatea::ops
