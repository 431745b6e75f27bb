// index: x[…] on data nodes.
//
// Comes in: a tensor and one selector per leading dimension: an integer (drops the dimension), a slice with
// optional lo, hi and step, or a new axis. Integers and bounds may be per sample. Goes out: a view; few known
// elements as scalars.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/common/window.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int kMaxSelectors = 32;
constexpr int64_t kMaxTableElements = 64;

std::string numbered(const char* prefix, size_t k) { return fmt::format("{}_{}", prefix, k); }

template <typename Context>
std::vector<std::string> texts(const Context& c, const char* name) {
  const auto* list = std::get_if<std::vector<std::string>>(&c.attr(name));
  return list ? *list : std::vector<std::string>{};
}

/// One selector's range in a definition: positions start + step·i for i < extent.
struct Range {
  Expr start, step, extent;
};

/// Static bounds of a slice, as NumPy normalises them.
int64_t slice_extent(int64_t n, std::optional<int64_t> lo, std::optional<int64_t> hi, int64_t step) {
  auto bring = [&](int64_t v) {
    if (v < 0) v += n;
    return step > 0 ? std::clamp<int64_t>(v, 0, n) : std::clamp<int64_t>(v, -1, n - 1);
  };
  const int64_t from = lo ? bring(*lo) : step > 0 ? 0 : n - 1;
  const int64_t to = hi ? bring(*hi) : step > 0 ? n : -1;
  const int64_t span = step > 0 ? to - from : from - to;
  const int64_t stride = step > 0 ? step : -step;
  return span <= 0 ? 0 : (span + stride - 1) / stride;
}

Result<int64_t> static_slice(const TypeContext& ctx, size_t s, int64_t n) {
  const auto lo = numbered("lo", s), hi = numbered("hi", s), step = numbered("step", s);
  if (given_static(ctx, step) && ctx.integer(step) == 0)
    return ctx.error("the step of a slice is 0", "use a positive or negative step", step);
  const bool whole = !ctx.given(lo) && !ctx.given(hi);
  if (whole && (!ctx.given(step) || (given_static(ctx, step) && std::abs(ctx.integer(step)) == 1))) return n;
  if (n < 0 || ctx.is_per_sample(lo) || ctx.is_per_sample(hi) || ctx.is_per_sample(step)) return int64_t{-1};
  auto value = [&](const std::string& name) {
    return ctx.given(name) ? std::optional<int64_t>(ctx.integer(name)) : std::nullopt;
  };
  return slice_extent(n, value(lo), value(hi), value(step).value_or(1));
}

Types index_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  const auto kinds = texts(ctx, "kinds");
  const auto names = texts(ctx, "names");
  if (kinds.size() > static_cast<size_t>(kMaxSelectors))
    return ctx.error(fmt::format("more than {} selectors", kMaxSelectors));
  ir::Type out = in;
  out.extents.clear();
  std::string letters;
  bool unnamed_axis = false;
  int dim = 0;
  for (size_t s = 0; s < kinds.size(); ++s) {
    if (kinds[s] == "newaxis") {
      const std::string letter = s < names.size() ? names[s] : "";
      unnamed_axis |= letter.empty();
      letters += letter;
      out.extents.push_back(1);
      continue;
    }
    if (dim >= in.ndim)
      return ctx.error(in.ndim == 0
                           ? "a scalar cannot be indexed"
                           : fmt::format("too many selectors: {} has {} dimensions", describe(in), in.ndim),
                       {});
    const int64_t n = in.extents[static_cast<size_t>(dim)];
    if (kinds[s] == "int") {
      const std::string at = numbered("at", s);
      if (!ctx.given(at)) return ctx.error("a selector has no value");
      if (given_static(ctx, at) && n >= 0 && (ctx.integer(at) < -n || ctx.integer(at) >= n))
        return ctx.error(
            fmt::format("index {} is out of range for axis {} of {}", ctx.integer(at), dim, describe(in)), {},
            at);
    } else {
      GALATEA_ASSIGN(const int64_t extent, static_slice(ctx, s, n));
      out.extents.push_back(extent);
      if (!in.layout.empty()) letters += in.layout[dim];
    }
    ++dim;
  }
  for (; dim < in.ndim; ++dim) {
    out.extents.push_back(in.extents[static_cast<size_t>(dim)]);
    if (!in.layout.empty()) letters += in.layout[dim];
  }
  out.ndim = static_cast<int>(out.extents.size());
  const bool has_layout = !in.layout.empty() || in.ndim == 0;
  out.layout = has_layout && !unnamed_axis && static_cast<int>(letters.size()) == out.ndim ? Layout(letters)
                                                                                           : Layout();
  return std::vector{out};
}

Range integer_range(RecipeBuilder& b, size_t s, int dim) {
  const Expr n = b.extent(0, dim);
  const Expr given = b.arg(numbered("at", s), DType::kI64);
  const Expr at = select(given < i64(0), given + n, given);
  b.check((at >= i64(0)) & (at < n),
          fmt::format("index {{}} is out of range for axis {} of extent {{}}", dim), {given, n}, {},
          numbered("at", s));
  return {at, i64(1), i64(1)};
}

Range range_of_slice(RecipeBuilder& b, size_t s, int dim, int64_t known_extent) {
  const auto lo = numbered("lo", s), hi = numbered("hi", s), step_name = numbered("step", s);
  const Expr n = b.extent(0, dim);
  const Expr step = b.given(step_name) ? b.arg(step_name, DType::kI64) : i64(1);
  if (!b.given(lo) && !b.given(hi) && kernel::is_const_int(step, 1)) return {i64(0), step, n};
  b.check(not_equal(step, i64(0)), "the step of a slice is 0", {}, "use a positive or negative step",
          b.given(step_name) ? step_name : "");
  const Expr forward = step > i64(0);
  const Expr lowest = select(forward, i64(0), i64(-1)), highest = select(forward, n, n - i64(1));
  auto bring = [&](const std::string& name) {
    const Expr v = b.arg(name, DType::kI64);
    return clamp(select(v < i64(0), v + n, v), lowest, highest);
  };
  const Expr from = b.given(lo) ? bring(lo) : select(forward, i64(0), n - i64(1));
  const Expr to = b.given(hi) ? bring(hi) : select(forward, n, i64(-1));
  const Expr span = select(forward, to - from, from - to), stride = absolute(step);
  Expr extent = max((span + stride - i64(1)) / max(stride, i64(1)), i64(0));
  extent = select(span <= i64(0), i64(0), extent);
  if (known_extent >= 0) extent = i64(known_extent);
  return {from, step, extent};
}

/// Elements of a small tensor, picked by scalar arithmetic: a look-up in the sample program instead of a
/// view.
void pick_scalars(RecipeBuilder& b, const std::vector<Range>& ranges, const std::vector<int>& input_dim) {
  const auto& in = b.input_type(0).extents;
  const auto& out = b.output_type(0).extents;
  const auto strides = static_strides(in);
  std::vector<Expr> table;
  for (int64_t n = 0; n < b.input_type(0).static_volume(); ++n) table.push_back(b.element(0, n));
  std::vector<Expr> elements;
  for (int64_t n = 0; n < b.output_type(0).static_volume(); ++n) {
    const auto at = unflatten(n, out);
    std::vector<Expr> position;
    for (size_t d = 0; d < in.size(); ++d) position.push_back(ranges[d].start);
    for (size_t d = 0; d < out.size(); ++d)
      if (input_dim[d] >= 0)
        position[static_cast<size_t>(input_dim[d])] =
            position[static_cast<size_t>(input_dim[d])] +
            ranges[static_cast<size_t>(input_dim[d])].step * i64(at[d]);
    Expr flat = i64(0);
    for (size_t d = 0; d < in.size(); ++d) flat = flat + position[d] * i64(strides[d]);
    elements.push_back(choose(flat, table));
  }
  b.output_scalars(0, std::move(elements));
}

void define_index(RecipeBuilder& b) {
  const auto kinds = texts(b, "kinds");
  std::vector<Expr> extents, start, step;
  std::vector<Range> ranges;
  std::vector<int> input_dim;
  int dim = 0;
  auto keep = [&](const Range& range) {
    const int64_t known = b.output_type(0).extents[extents.size()];
    extents.push_back(known >= 0 ? i64(known) : range.extent);
    step.push_back(range.step);
    input_dim.push_back(dim);
  };
  for (size_t s = 0; s < kinds.size(); ++s) {
    if (kinds[s] == "newaxis") {
      extents.push_back(i64(1));
      step.push_back(i64(1));
      input_dim.push_back(-1);
      continue;
    }
    const bool is_int = kinds[s] == "int";
    ranges.push_back(is_int ? integer_range(b, s, dim)
                            : range_of_slice(b, s, dim, b.output_type(0).extents[extents.size()]));
    if (!is_int) keep(ranges.back());
    ++dim;
  }
  for (; dim < b.input_type(0).ndim; ++dim) {
    ranges.push_back({i64(0), i64(1), b.extent(0, dim)});
    keep(ranges.back());
  }
  const int64_t volume = b.input_type(0).static_volume(), picked = b.output_type(0).static_volume();
  if (volume > 0 && volume <= kMaxTableElements && picked >= 0 && picked <= kMaxScalarElements)
    return pick_scalars(b, ranges, input_dim);
  for (const Range& range : ranges) start.push_back(view_start({range.start, range.extent}));
  b.output_view(0, 0, std::move(extents), std::move(input_dim), std::move(start), std::move(step));
}

}  // namespace

Operator make_index() {
  Operator op;
  op.name = "index";
  op.summary = "Indexing and slicing, `x[1]`, `x[:, a:b]`, `x[::-1]`.";
  op.documentation =
      "Integers drop their dimension (negative ones count from the end), slices follow NumPy's rules, "
      "newaxis inserts an extent of 1. Bounds may be data nodes. "
      "Letters of dropped dimensions leave the layout; an unnamed new axis clears it.";
  op.internal = true;
  op.inputs = {{.name = "data", .documentation = "any tensor"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "kinds",
              .kind = ArgKind::kStringList,
              .required = true,
              .documentation = "Per selector: int, slice or newaxis."},
             {.name = "names",
              .kind = ArgKind::kStringList,
              .documentation = "Per selector: the letter of a new axis, or an empty text."}};
  for (size_t s = 0; s < static_cast<size_t>(kMaxSelectors); ++s) {
    op.args.push_back({.name = numbered("at", s),
                       .kind = ArgKind::kInt,
                       .per_sample = true,
                       .documentation = "The index of an int selector."});
    op.args.push_back({.name = numbered("lo", s),
                       .kind = ArgKind::kInt,
                       .per_sample = true,
                       .documentation = "The begin of a slice."});
    op.args.push_back({.name = numbered("hi", s),
                       .kind = ArgKind::kInt,
                       .per_sample = true,
                       .documentation = "The end of a slice."});
    op.args.push_back({.name = numbered("step", s),
                       .kind = ArgKind::kInt,
                       .per_sample = true,
                       .documentation = "The step of a slice."});
  }
  op.devices = {"cpu", "gpu"};
  op.example = image_example("image[::2, ::-1], label");
  op.type_rule = index_types;
  op.define = define_index;
  return op;
}

}  // namespace galatea::ops
