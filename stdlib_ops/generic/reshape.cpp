// reshape: the same elements in order, under other extents or another layout.
//
// Comes in: any tensor; the new extents as a constant, per sample, relative, as a tensor, or as dimensions of
// the source. Goes out: a reshaped view; a check that the number of elements is kept.
#include <algorithm>

#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

enum class Source : uint8_t { kNone, kShape, kRelative, kInput, kDims };

template <typename Context>
Source source_of(const Context& c) {
  if (c.given("shape")) return Source::kShape;
  if (c.given("rel_shape")) return Source::kRelative;
  if (c.num_inputs() > 1) return Source::kInput;
  return c.given("src_dims") ? Source::kDims : Source::kNone;
}

Status check_exclusive(const TypeContext& ctx) {
  const int given =
      (ctx.given("shape") ? 1 : 0) + (ctx.given("rel_shape") ? 1 : 0) + (ctx.num_inputs() > 1 ? 1 : 0);
  if (given > 1)
    return ctx.error("reshape: shape, rel_shape and the second input exclude each other", "keep one of them");
  if (given == 0 && !ctx.given("src_dims") && !ctx.given("layout"))
    return ctx.error("reshape: nothing to do", "give shape, rel_shape, src_dims or layout");
  if (ctx.is_per_sample("src_dims"))
    return ctx.error("reshape: src_dims must be the same for all samples", {}, "src_dims");
  if (ctx.given("src_dims"))
    for (int64_t d : ctx.integers("src_dims"))
      if (d < -1 || d >= ctx.input(0).ndim)
        return ctx.error(
            fmt::format("reshape: src_dims names axis {}, the input has {} axes", d, ctx.input(0).ndim),
            "use -1 for a new axis", "src_dims");
  return {};
}

/// Elements of rel_shape past the input's axes have nothing to scale: they must be -1.
bool has_extents_to_scale(const TypeContext& ctx, int64_t rank) {
  const auto past = static_cast<size_t>(ctx.input(0).ndim);
  if (rank <= ctx.input(0).ndim) return true;
  if (ctx.is_per_sample("rel_shape")) return false;
  const std::vector<double> scales = ctx.numbers("rel_shape");
  return std::all_of(scales.begin() + static_cast<std::ptrdiff_t>(past), scales.end(),
                     [](double scale) { return scale < 0; });
}

Result<int> output_rank(const TypeContext& ctx, Source source) {
  int64_t rank = ctx.input(0).ndim;
  std::string_view arg;
  if (source == Source::kShape || source == Source::kRelative) {
    arg = source == Source::kShape ? "shape" : "rel_shape";
    rank = length_of(ctx, arg);
  } else if (source == Source::kInput) {
    if (is_float(ctx.input(1).dtype) || ctx.input(1).ndim != 1)
      return ctx.error(
          fmt::format("reshape: the shape must be a 1-D tensor of integers, not {}", describe(ctx.input(1))),
          {});
    rank = ctx.input(1).static_volume();
  } else if (source == Source::kDims) {
    rank = static_cast<int64_t>(ctx.integers("src_dims").size());
  }
  if (rank < 0)
    return ctx.error("reshape: the number of dimensions of the result is not known while compiling",
                     "build the shape with fn.stack, or make its length known", arg);
  if (source == Source::kRelative && ctx.given("src_dims") &&
      rank != static_cast<int64_t>(ctx.integers("src_dims").size()))
    return ctx.error("reshape: src_dims and rel_shape differ in length", {}, "src_dims");
  if (source == Source::kRelative && !ctx.given("src_dims") && !has_extents_to_scale(ctx, rank))
    return ctx.error(
        fmt::format("reshape: rel_shape has {} elements, the input {} axes", rank, ctx.input(0).ndim),
        "give src_dims to say which extents are scaled", "rel_shape");
  return static_cast<int>(rank);
}

Status check_static_shape(const TypeContext& ctx, std::vector<int64_t>& extents) {
  int wild = 0;
  int64_t product = 1;
  for (int64_t e : extents) {
    if (e == 0)
      return ctx.error("reshape: an extent of 0 in shape", "use -1 for an extent to be worked out", "shape");
    if (e < 0)
      ++wild;
    else
      product *= e;
  }
  if (wild > 1)
    return ctx.error("reshape: more than one extent of shape is negative", "only one can be worked out",
                     "shape");
  const int64_t volume = ctx.input(0).static_volume();
  if (volume >= 0) {
    if (wild == 0 ? product != volume : volume % product != 0)
      return ctx.error(fmt::format("reshape: {} has {} elements, shape [{}] has {}", describe(ctx.input(0)),
                                   volume, fmt::join(extents, ", "), product),
                       {}, "shape");
    for (int64_t& e : extents)
      if (e < 0) e = volume / product;
  }
  for (int64_t& e : extents) e = std::max<int64_t>(e, -1);
  return {};
}

Types reshape_types(const TypeContext& ctx) {
  GALATEA_TRY(check_exclusive(ctx));
  const Source source = source_of(ctx);
  GALATEA_ASSIGN(const int rank, output_rank(ctx, source));
  ir::Type out = ctx.input(0);
  const bool same_rank = rank == out.ndim;
  if (source != Source::kNone) out.extents.assign(static_cast<size_t>(rank), -1);
  if (source == Source::kShape && !ctx.is_per_sample("shape")) {
    out.extents = ctx.integers("shape");
    GALATEA_TRY(check_static_shape(ctx, out.extents));
  } else if (source == Source::kDims) {
    const auto dims = ctx.integers("src_dims");
    for (size_t d = 0; d < dims.size(); ++d)
      out.extents[d] = dims[d] < 0 ? 1 : ctx.input(0).extents[static_cast<size_t>(dims[d])];
  }
  out.ndim = rank;
  if (!same_rank) out.layout = {};
  if (ctx.given("layout")) {
    out.layout = Layout(ctx.text("layout"));
    if (!out.layout.empty() && out.layout.size() != rank)
      return ctx.error(fmt::format("reshape: layout '{}' does not have {} letters", out.layout.str(), rank),
                       {}, "layout");
  }
  return std::vector{out};
}

std::vector<Expr> requested_extents(RecipeBuilder& b, Source source, int rank) {
  std::vector<Expr> extents;
  if (source == Source::kShape) return b.arg_list("shape", rank, DType::kI64);
  for (int d = 0; d < rank; ++d) {
    if (source == Source::kInput) {
      extents.push_back(kernel::saturate(b.element(1, d), DType::kI64));
      continue;
    }
    const int64_t from = b.given("src_dims") ? b.integers("src_dims")[static_cast<size_t>(d)] : d;
    const bool past_axes = from < 0 || from >= b.input_type(0).ndim;
    const Expr own = past_axes ? i64(1) : b.extent(0, static_cast<int>(from));
    if (source == Source::kRelative) {
      const Expr scale = b.arg_list("rel_shape", rank, DType::kF32)[static_cast<size_t>(d)];
      extents.push_back(select(scale < f32(0), i64(-1), round_to_i64(to_f64(scale * to_f32(own)))));
    } else {
      extents.push_back(own);
    }
  }
  return extents;
}

void define_reshape(RecipeBuilder& b) {
  const int rank = b.output_type(0).ndim;
  Expr volume = i64(1);
  for (const Expr& e : b.extents(0)) volume = volume * e;
  const auto requested = requested_extents(b, source_of(b), rank);
  // One negative extent is worked out from the others.
  Expr product = i64(1), wild = i64(0);
  for (const Expr& e : requested) {
    product = product * select(e < i64(0), i64(1), e);
    wild = wild + select(e < i64(0), i64(1), i64(0));
  }
  b.check(wild <= i64(1), "{} extents of the shape are negative; only one can be worked out", {wild});
  std::vector<Expr> extents;
  Expr result = i64(1);
  for (size_t d = 0; d < requested.size(); ++d) {
    const int64_t known = b.output_type(0).extents[d];
    const Expr divisor = max(product, i64(1));
    extents.push_back(known >= 0 ? i64(known)
                                 : select(requested[d] < i64(0), volume / divisor, requested[d]));
    result = result * extents.back();
  }
  b.check(equal(result, volume), "the new shape has {} elements, the input {}", {result, volume},
          "the number of elements must stay the same");
  if (fits_scalars(b)) {
    std::vector<Expr> elements;
    for (int64_t n = 0; n < b.output_type(0).static_volume(); ++n) elements.push_back(b.element(0, n));
    return b.output_scalars(0, std::move(elements));
  }
  b.output_reshape(0, 0, std::move(extents));
}

}  // namespace

Operator make_reshape() {
  Operator op;
  op.name = "reshape";
  op.summary = "Gives the same elements other extents or another layout.";
  op.documentation =
      "The elements keep their row-major order. At most one extent may be negative: it is worked out. "
      "rel_shape scales the extents of the input (of src_dims where given), "
      "rounded half away from zero; src_dims alone picks extents of the input, -1 inserting an axis. The "
      "layout is kept where the number of dimensions is, unless `layout` says otherwise.";
  op.inputs = {{.name = "data", .documentation = "any tensor"},
               {.name = "shape_input",
                .documentation = "the new extents, a 1-D tensor of integers",
                .optional = true}};
  op.min_inputs = 1;
  op.max_inputs = 2;
  op.args = {
      {.name = "shape", .kind = ArgKind::kIntList, .per_sample = true, .documentation = "The new extents."},
      {.name = "rel_shape",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation = "The new extents as multiples of the input's."},
      {.name = "src_dims",
       .kind = ArgKind::kIntList,
       .documentation = "For each output axis the input axis that gives its extent; -1: extent 1."},
      {.name = "layout",
       .kind = ArgKind::kLayout,
       .documentation = "The output's layout; an empty one clears it."}};
  op.devices = {"cpu", "gpu"};
  op.example = image_example("fn.reshape(image, shape=[-1], layout=\"\"), label");
  op.type_rule = reshape_types;
  op.define = define_reshape;
  return op;
}

}  // namespace galatea::ops
