// Shapes and loops of random operators: see draw.h.
#include "stdlib_ops/random/draw.h"

namespace galatea::ops {

ArgSpec shape_arg() {
  return {.name = "shape",
          .kind = ArgKind::kIntList,
          .per_sample = true,
          .documentation = "Extents of the output; one element without dimensions if not given."};
}

Result<ir::Type> drawn_type(const TypeContext& ctx, DType dtype, int like) {
  ir::Type out;
  out.dtype = dtype;
  const bool has_like = ctx.num_inputs() > like;
  if (has_like && ctx.given("shape"))
    return ctx.error(fmt::format("{}: shape and the input shape_like exclude each other", ctx.op().name), {},
                     "shape");
  if (has_like) {
    out = with_dtype(ctx.input(like), dtype);
    out.device = ir::Device::kCpu;
    out.layout = {};  // extents are taken, names are not
  } else if (ctx.given("shape")) {
    const int64_t rank = length_of(ctx, "shape");
    if (rank < 0)
      return ctx.error(fmt::format("{}: the number of dimensions of the result is not known while compiling",
                                   ctx.op().name),
                       "build the shape with fn.stack", "shape");
    out.ndim = static_cast<int>(rank);
    out.extents = ctx.is_per_sample("shape") ? std::vector<int64_t>(static_cast<size_t>(rank), -1)
                                             : ctx.integers("shape");
    for (int64_t e : out.extents)
      if (e < -1 || (e == -1 && !ctx.is_per_sample("shape")))
        return ctx.error(fmt::format("{}: negative extent {} in shape", ctx.op().name, e), {}, "shape");
    GALATEA_TRY(check_addressable(ctx, out, "shape"));
  }
  return out;
}

std::vector<Expr> drawn_extents(RecipeBuilder& b, int like) {
  if (b.num_inputs() > like) return b.extents(like);
  if (!b.given("shape")) return {};
  const int rank = b.arg_length("shape");
  std::vector<Expr> extents = rank == 0 ? std::vector<Expr>{} : b.arg_list("shape", rank, DType::kI64);
  Expr volume = kernel::const_float(1, DType::kF64);  // an integer might wrap
  for (const Expr& e : extents) {
    b.check(e >= i64(0), "negative extent {} in shape", {e}, {}, "shape");
    volume = volume * kernel::convert(e, DType::kF64);
  }
  const double most = static_cast<double>(runtime::kMostTensorBytes / size_of(b.output_type(0).dtype));
  b.check(volume <= kernel::const_float(most, DType::kF64), "a tensor of {} elements is beyond any memory",
          {volume}, "at most 2^46 bytes can be addressed", "shape");
  return extents;
}

void output_draws(RecipeBuilder& b, int like, const std::function<Expr(const Expr&)>& draw) {
  const ir::Type& out = b.output_type(0);
  const auto extents = drawn_extents(b, like);
  const int64_t volume = out.static_volume();
  if (volume >= 0 && volume <= kMaxScalarElements) {
    std::vector<Expr> elements;
    for (int64_t n = 0; n < volume; ++n) elements.push_back(kernel::saturate(draw(i64(n)), out.dtype));
    return b.output_scalars(0, std::move(elements));
  }
  b.output_stage(0, b.map("draws", out.dtype, extents, [&](const Axes& at) {
    Expr element = at[0];
    for (size_t d = 1; d < at.size(); ++d) element = element * extents[d] + at[d];
    return kernel::saturate(draw(element), out.dtype);
  }));
}

}  // namespace galatea::ops
