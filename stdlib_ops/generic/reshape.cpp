// reshape: the same elements in order, under other extents or another layout. reinterpret: the same bytes.
//
// Comes in: any tensor; the new extents as a constant, per sample, relative, as a tensor, or as dimensions of
// the source. Goes out: a reshaped view, or a stage where bytes become elements of another type; a check that
// the number of bytes is kept.
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

/// Of the output; reshape has no such argument.
DType output_dtype(const TypeContext& ctx) {
  const DType own = ctx.input(0).dtype;
  return ctx.op().find_arg("dtype") != nullptr ? ctx.dtype("dtype", own) : own;
}

Status check_exclusive(const TypeContext& ctx) {
  const int given =
      (ctx.given("shape") ? 1 : 0) + (ctx.given("rel_shape") ? 1 : 0) + (ctx.num_inputs() > 1 ? 1 : 0);
  if (given > 1)
    return ctx.error(ctx.op().name + ": shape, rel_shape and the second input exclude each other",
                     "keep one of them");
  const bool typed = ctx.op().find_arg("dtype") != nullptr;
  if (given == 0 && !ctx.given("src_dims") && !ctx.given("layout") && !(typed && ctx.given("dtype")))
    return ctx.error(ctx.op().name + ": nothing to do",
                     typed ? "give dtype, shape, rel_shape, src_dims or layout"
                           : "give shape, rel_shape, src_dims or layout");
  if (given_static(ctx, "src_dims"))
    for (int64_t d : ctx.integers("src_dims"))
      if (d < -1 || d >= ctx.input(0).ndim)
        return ctx.error(fmt::format("{}: src_dims names axis {}, the input has {} axes", ctx.op().name, d,
                                     ctx.input(0).ndim),
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
      return ctx.error(fmt::format("{}: the shape must be a 1-D tensor of integers, not {}", ctx.op().name,
                                   describe(ctx.input(1))),
                       {});
    rank = ctx.input(1).static_volume();
    if (rank < 0) ctx.want_extents(1);
  } else if (source == Source::kDims) {
    arg = "src_dims";
    rank = length_of(ctx, arg);
  }
  if (rank < 0)
    return ctx.error(ctx.op().name + ": the number of dimensions of the result is not known while compiling",
                     "build the shape with fn.stack, or make its length known", arg);
  if (source == Source::kRelative && ctx.given("src_dims") && rank != length_of(ctx, "src_dims"))
    return ctx.error(ctx.op().name + ": src_dims and rel_shape differ in length", {}, "src_dims");
  if (source == Source::kRelative && !ctx.given("src_dims") && !has_extents_to_scale(ctx, rank))
    return ctx.error(fmt::format("{}: rel_shape has {} elements, the input {} axes", ctx.op().name, rank,
                                 ctx.input(0).ndim),
                     "give src_dims to say which extents are scaled", "rel_shape");
  return static_cast<int>(rank);
}

Status check_static_shape(const TypeContext& ctx, std::vector<int64_t>& extents) {
  int wild = 0;
  int64_t product = 1;
  for (int64_t e : extents) {
    if (e == 0)
      return ctx.error(ctx.op().name + ": an extent of 0 in shape", "use -1 for an extent to be worked out",
                       "shape");
    if (e < 0)
      ++wild;
    else
      product *= e;
  }
  if (wild > 1)
    return ctx.error(ctx.op().name + ": more than one extent of shape is negative",
                     "only one can be worked out", "shape");
  int64_t volume = ctx.input(0).static_volume();
  const DType from = ctx.input(0).dtype, to = output_dtype(ctx);
  if (volume >= 0 && size_of(from) != size_of(to)) {
    const int64_t bytes = volume * size_of(from);
    const int64_t takes = product * size_of(to);
    if (wild == 0 ? takes != bytes : bytes % takes != 0)
      return ctx.error(
          fmt::format("{}: {} has {} bytes, shape [{}] of {} has {}", ctx.op().name, describe(ctx.input(0)),
                      bytes, fmt::join(extents, ", "), types_name(to), takes),
          "the number of bytes must stay the same", "shape");
    volume = bytes / size_of(to);
  }
  if (volume >= 0) {
    if (wild == 0 ? product != volume : volume % product != 0)
      return ctx.error(fmt::format("{}: {} has {} elements, shape [{}] has {}", ctx.op().name,
                                   describe(ctx.input(0)), volume, fmt::join(extents, ", "), product),
                       {}, "shape");
    for (int64_t& e : extents)
      if (e < 0) e = volume / product;
  }
  for (int64_t& e : extents) e = std::max<int64_t>(e, -1);
  return {};
}

/// The innermost extent makes room for elements of another size, where nothing else says the extents.
Status resize_innermost(const TypeContext& ctx, ir::Type& out) {
  const int64_t from = size_of(ctx.input(0).dtype);
  const int64_t to = size_of(out.dtype);
  if (from == to) return {};
  if (out.extents.empty())
    return ctx.error(fmt::format("{}: a number of {} bytes cannot become one of {}", ctx.op().name, from, to),
                     "give the new extents: shape=[…]", "dtype");
  int64_t& extent = out.extents.back();
  if (extent < 0) return {};
  if (extent * from % to != 0)
    return ctx.error(fmt::format("{}: rows of {} bytes are not whole elements of {}", ctx.op().name,
                                 extent * from, types_name(out.dtype)),
                     "the innermost extent times the element size must be a multiple of the new element size",
                     "dtype");
  extent = extent * from / to;
  return {};
}

Types reshape_types(const TypeContext& ctx) {
  GALATEA_TRY(check_exclusive(ctx));
  const Source source = source_of(ctx);
  GALATEA_ASSIGN(const int rank, output_rank(ctx, source));
  ir::Type out = with_dtype(ctx.input(0), output_dtype(ctx));
  const bool same_rank = rank == out.ndim;
  if (source != Source::kNone) out.extents.assign(static_cast<size_t>(rank), -1);
  if (source == Source::kShape && !ctx.is_per_sample("shape")) {
    out.extents = ctx.integers("shape");
    GALATEA_TRY(check_static_shape(ctx, out.extents));
  } else if (source == Source::kDims && !ctx.is_per_sample("src_dims")) {
    const auto dims = ctx.integers("src_dims");
    for (size_t d = 0; d < dims.size(); ++d)
      out.extents[d] = dims[d] < 0 ? 1 : ctx.input(0).extents[static_cast<size_t>(dims[d])];
  }
  out.ndim = rank;
  if (source == Source::kDims || source == Source::kNone) GALATEA_TRY(resize_innermost(ctx, out));
  if (!same_rank) out.layout = {};
  if (ctx.given("layout")) {
    out.layout = Layout(ctx.text("layout"));
    if (!out.layout.empty() && out.layout.size() != rank)
      return ctx.error(
          fmt::format("{}: layout '{}' does not have {} letters", ctx.op().name, out.layout.str(), rank), {},
          "layout");
  }
  return std::vector{out};
}

/// The extent of the input that output axis `d` takes.
Expr source_extent(RecipeBuilder& b, int d) {
  const int ndim = b.input_type(0).ndim;
  if (b.is_per_sample("src_dims")) {
    const Expr from = b.arg_list("src_dims", b.arg_length("src_dims"), DType::kI64)[static_cast<size_t>(d)];
    b.check((from >= i64(-1)) & (from < i64(ndim)),
            fmt::format("src_dims names axis {{}}, the input has {} axes", ndim), {from},
            "use -1 for a new axis", "src_dims");
    const std::vector<Expr> extents = b.extents(0);
    return select(from < i64(0), i64(1), extents.empty() ? i64(1) : choose(from, extents));
  }
  const int64_t from = b.given("src_dims") ? b.integers("src_dims")[static_cast<size_t>(d)] : d;
  return from < 0 || from >= ndim ? i64(1) : b.extent(0, static_cast<int>(from));
}

std::vector<Expr> requested_extents(RecipeBuilder& b, Source source, int rank) {
  std::vector<Expr> extents;
  if (source == Source::kShape) return b.arg_list("shape", rank, DType::kI64);
  for (int d = 0; d < rank; ++d) {
    if (source == Source::kInput) {
      extents.push_back(kernel::saturate(b.element(1, d), DType::kI64));
      continue;
    }
    const Expr own = source_extent(b, d);
    if (source == Source::kRelative) {
      const Expr scale = b.arg_list("rel_shape", rank, DType::kF32)[static_cast<size_t>(d)];
      extents.push_back(select(scale < f32(0), i64(-1), round_to_i64(to_f64(scale * to_f32(own)))));
    } else {
      extents.push_back(own);
    }
  }
  return extents;
}

/// Elements of other sizes in a number of bytes.
Expr rescaled(const Expr& count, DType from, DType to) {
  const int64_t a = size_of(from), c = size_of(to);
  return a == c ? count : count * i64(a) / i64(c);
}

DType unsigned_of(int64_t bytes) {
  return bytes == 1 ? DType::kU8 : bytes == 2 ? DType::kU16 : bytes == 4 ? DType::kU32 : DType::kU64;
}

Expr bits_of(const Expr& x) {
  const DType to = unsigned_of(size_of(x.type()));
  if (x.type() == to) return x;
  return is_bool(x.type()) ? kernel::convert(x, to) : kernel::make_op(ScalarOp::kBitcast, to, {x});
}

Expr from_bits(const Expr& bits, DType to) {
  if (bits.type() == to) return bits;
  if (is_bool(to)) return kernel::not_equal(bits, kernel::const_int(0, bits.type()));
  return kernel::make_op(ScalarOp::kBitcast, to, {bits});
}

/// Element n (row-major) of the bytes as elements of `to`, the first byte being the lowest. `load` gives an
/// element of the input by its row-major number.
Expr reinterpreted(DType from, DType to, const Expr& n, const std::function<Expr(const Expr&)>& load) {
  const int64_t a = size_of(from), c = size_of(to);
  if (a == c) return from_bits(bits_of(load(n)), to);
  const DType wide = unsigned_of(std::max(a, c)), narrow = unsigned_of(c);
  const int64_t ratio = std::max(a, c) / std::min(a, c);
  if (a > c) {
    const Expr shift = kernel::convert(n % i64(ratio) * i64(8 * c), wide);
    return from_bits(
        kernel::convert(kernel::binary(ScalarOp::kShr, bits_of(load(n / i64(ratio))), shift), narrow), to);
  }
  Expr word;
  for (int64_t k = 0; k < ratio; ++k) {
    const Expr part = kernel::convert(bits_of(load(n * i64(ratio) + i64(k))), wide);
    const Expr moved = kernel::binary(ScalarOp::kShl, part, kernel::const_int(k * 8 * a, wide));
    word = word ? word | moved : moved;
  }
  return from_bits(word, to);
}

/// The axes of element n in row-major order.
Axes axes_of(Expr n, const std::vector<Expr>& extents) {
  Axes at(extents.size());
  for (size_t d = extents.size(); d-- > 0;) {
    const Expr extent = max(extents[d], i64(1));
    at[d] = d == 0 ? n : n % extent;
    n = n / extent;
  }
  return at;
}

void output_reinterpreted(RecipeBuilder& b, const std::vector<Expr>& extents, bool innermost_only) {
  const DType from = b.input_type(0).dtype, to = b.output_type(0).dtype;
  b.output_stage(0, b.map("reinterpret", to, extents, [&](const Axes& at) {
    if (at.empty())
      return reinterpreted(from, to, i64(0),
                           [&](const Expr& n) { return b.load(0, axes_of(n, b.extents(0))); });
    if (innermost_only)
      return reinterpreted(from, to, at.back(), [&](const Expr& n) {
        Axes index = at;
        index.back() = n;
        return b.load(0, index);
      });
    Expr flat = at[0];
    for (size_t d = 1; d < at.size(); ++d) flat = flat * extents[d] + at[d];
    return reinterpreted(from, to, flat, [&](const Expr& n) { return b.load(0, axes_of(n, b.extents(0))); });
  }));
}

void define_reshape(RecipeBuilder& b) {
  const int rank = b.output_type(0).ndim;
  const DType from = b.input_type(0).dtype, to = b.output_type(0).dtype;
  const Source source = source_of(b);
  const bool keeps_rows = source == Source::kNone || source == Source::kDims;
  const int64_t narrow = size_of(from), wide = size_of(to);
  Expr elements = i64(1);
  for (const Expr& e : b.extents(0)) elements = elements * e;
  auto requested = requested_extents(b, source, rank);
  if (keeps_rows && narrow != wide) {
    const Expr bytes = requested.back() * i64(narrow);
    b.check(equal(bytes % i64(wide), i64(0)),
            fmt::format("rows of {{}} bytes are not whole elements of {}", types_name(to)), {bytes}, {},
            "dtype");
    requested.back() = rescaled(requested.back(), from, to);
  }
  const Expr volume = rescaled(elements, from, to);
  // One negative extent is worked out from the others.
  Expr product = i64(1), wild = i64(0);
  for (const Expr& e : requested) {
    product = product * select(e < i64(0), i64(1), e);
    wild = wild + select(e < i64(0), i64(1), i64(0));
  }
  b.check(wild <= i64(1), "{} extents of the shape are negative; only one can be worked out", {wild});
  b.check(equal(wild, i64(0)) | (product > i64(0)),
          "an extent of -1 stands beside one of 0: it could be anything");
  std::vector<Expr> extents;
  Expr result = i64(1);
  for (size_t d = 0; d < requested.size(); ++d) {
    const int64_t known = b.output_type(0).extents[d];
    const Expr divisor = max(product, i64(1));
    extents.push_back(known >= 0 ? i64(known)
                                 : select(requested[d] < i64(0), volume / divisor, requested[d]));
    result = result * extents.back();
  }
  if (narrow == wide)
    b.check(equal(result, volume), "the new shape has {} elements, the input {}", {result, volume},
            "the number of elements must stay the same");
  else
    b.check(equal(result * i64(wide), elements * i64(narrow)), "the new shape has {} bytes, the input {}",
            {result * i64(wide), elements * i64(narrow)}, "the number of bytes must stay the same");
  if (fits_scalars(b)) {
    std::vector<Expr> scalars;
    for (int64_t n = 0; n < b.output_type(0).static_volume(); ++n)
      scalars.push_back(from == to ? b.element(0, n) : reinterpreted(from, to, i64(n), [&](const Expr& at) {
        return b.element(0, kernel::const_value(at));
      }));
    return b.output_scalars(0, std::move(scalars));
  }
  if (from != to) return output_reinterpreted(b, extents, source == Source::kNone);
  b.output_reshape(0, 0, std::move(extents));
}

/// What reshape and reinterpret have in common.
Operator make_reshaping(std::string name) {
  Operator op;
  op.name = std::move(name);
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
       .per_sample = true,
       .documentation = "For each output axis the input axis that gives its extent; -1: extent 1."},
      {.name = "layout",
       .kind = ArgKind::kLayout,
       .documentation = "The output's layout; an empty one clears it."}};
  op.devices = {"cpu", "gpu"};
  op.type_rule = reshape_types;
  op.define = define_reshape;
  return op;
}

}  // namespace

Operator make_reshape() {
  Operator op = make_reshaping("reshape");
  op.summary = "Gives the same elements other extents or another layout.";
  op.documentation =
      "The elements keep their row-major order. At most one extent may be negative: it is worked out. "
      "rel_shape scales the extents of the input (of src_dims where given), "
      "rounded half away from zero; src_dims alone picks extents of the input, -1 inserting an axis. The "
      "layout is kept where the number of dimensions is, unless `layout` says otherwise.";
  op.example = image_example("fn.reshape(image, shape=[-1], layout=\"\"), label");
  return op;
}

Operator make_reinterpret() {
  Operator op = make_reshaping("reinterpret");
  op.summary = "Gives the same bytes another element type, other extents or another layout.";
  op.documentation =
      "The bytes keep their order, the lowest of an element first; as BOOL, a byte is true if it is not 0. "
      "Without other extents the innermost one makes room: its bytes must be whole elements of the new type. "
      "With extents, as of fn.reshape, these count elements of the new type, and the number of bytes must "
      "stay the same. Without dtype nothing is copied: the result is a view.";
  op.args.insert(op.args.begin(), dtype_arg("The new element type; that of the input if not given."));
  op.example = image_example("fn.reinterpret(fn.cast(image, dtype=types.INT16), dtype=types.UINT8), label");
  return op;
}

}  // namespace galatea::ops
