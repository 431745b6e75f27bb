// Sums of weighted pixels along an axis: see resize_axis.h.
#include "stdlib_ops/compat/resize_axis.h"

#include <utility>

#include "stdlib_ops/compat/checks.h"

namespace galatea::ops {

StageRef apply_band(RecipeBuilder& b, const std::string& name, const CompatAxis& axis, const CompatBand& band,
                    StageRef source, Axes extents, DType type, DType accumulator,
                    const std::function<Expr(Expr)>& finish) {
  const auto a = static_cast<size_t>(axis.dim);
  extents[a] = axis.n;
  return b.band({.name = name,
                 .type = type,
                 .extents = std::move(extents),
                 .axis = axis.dim,
                 .accumulator = accumulator,
                 .taps = band.taps,
                 .first = [&](const Expr& i) { return b.load(band.first, {i}); },
                 .weight = [&](const Expr& i, const Expr& k) { return b.load(band.weight, {i, k}); },
                 .source =
                     [&](const Axes& at, const Expr& index) {
                       Axes from = at;
                       from[a] = index;
                       return source.index < 0 ? b.load(0, from, Border::kClamp)
                                               : b.load(source, from, Border::kClamp);
                     },
                 .finish = finish});
}

Expr byte_of(const Expr& value, int64_t bits) {
  const Expr half = kernel::const_int(int64_t{1} << (bits - 1), value.type());
  return kernel::saturate(shift_right(value + half, bits), DType::kU8);
}

}  // namespace galatea::ops
