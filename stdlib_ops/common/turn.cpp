// The canvas of a turned image: see turn.h.
#include "stdlib_ops/common/turn.h"

#include <numbers>

namespace galatea::ops {

std::array<Expr, 2> turned_canvas(const Expr& h, const Expr& w, const Expr& angle) {
  constexpr double kSlack = 0.01;  // so much of a pixel may stick out
  const Expr radians = to_f64(angle * f32(std::numbers::pi / 180));
  const Expr c = absolute(kernel::unary(ScalarOp::kCos, radians));
  const Expr s = absolute(kernel::unary(ScalarOp::kSin, radians));
  auto covered = [&](const Expr& along, const Expr& across, const Expr& parity) {
    const Expr n = ceil_to_i64(c * to_f64(along) + s * to_f64(across) - f64(kSlack));
    return n + ((n ^ parity) & i64(1));
  };
  const Expr upright = s <= c;
  return {covered(h, w, select(upright, h, w)), covered(w, h, select(upright, w, h))};
}

}  // namespace galatea::ops
