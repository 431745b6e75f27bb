// Maps of places: see places.h.
#include "stdlib_ops/common/places.h"

namespace galatea::ops {

AxisPlaces window_places(const AxisRange& window) { return {f64(1), -to_f64(window.start)}; }

AxisPlaces resampled_places(const ResampleAxis& axis) {
  const Expr length = axis.hi - axis.lo;
  const Expr factor = select(equal(length, f64(0)), f64(0), to_f64(axis.n) / length);
  return {factor, -(axis.lo * factor)};
}

AxisPlaces mirrored_places(const AxisPlaces& places, const Expr& mirrored, const Expr& extent) {
  return {select(mirrored, -places.factor, places.factor),
          select(mirrored, to_f64(extent) - places.offset, places.offset)};
}

void output_places(RecipeBuilder& b, const AxisPlaces& x, const AxisPlaces& y) {
  output_places(b, {{{x.factor, f64(0), x.offset}, {f64(0), y.factor, y.offset}}});
}

void output_places(RecipeBuilder& b, const AffineMap& map) {
  b.output_scalars(
      0, {map[0][0], map[0][1], map[0][2], map[1][0], map[1][1], map[1][2], f64(0), f64(0), f64(1)});
}

void moves_places(Operator& op, std::function<void(RecipeBuilder&)> define_places) {
  op.places = op::Places::kMoved;
  op.define_places = std::move(define_places);
}

}  // namespace galatea::ops
