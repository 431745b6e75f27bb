// Maps that are one thing inside of a box and another outside of it: erased boxes, what is pasted.
//
// Comes in: a stage whose element is selected by comparisons of its axes with bounds. Goes out: for each row,
// up to three loops without the selection: before the box, inside of it, behind it. None of them asks where
// it is, so that the channels of a pixel may be taken together with the pixels, as in any copy.
//
// Off, `erase` of bytes takes 8 times as long at 224 x 224 and 28 times at 1080p (`./dev bench per-op`,
// 2-core AMD EPYC, Zen 5).
#include <algorithm>

#include "compiler/kernel/division.h"
#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

namespace {

bool is_fixed(const Expr& e) {
  return !any_node(e, [](const ExprNode& n) {
    return n.kind != ExprKind::kConst && n.kind != ExprKind::kParam && n.kind != ExprKind::kOp;
  });
}

/// Takes a conjunction of `axis >= bound` and `axis < bound` apart; false: it is something else.
bool add_sides(const Expr& condition, Box* box) {
  if (condition->kind != ExprKind::kOp) return false;
  if (condition->op == ScalarOp::kAnd && is_bool(condition->type))
    return add_sides(condition->args[0], box) && add_sides(condition->args[1], box);
  const bool low = condition->op == ScalarOp::kGe, high = condition->op == ScalarOp::kLt;
  if ((!low && !high) || condition->args[0]->kind != ExprKind::kAxis || !is_fixed(condition->args[1]))
    return false;
  box->sides.push_back({condition->args[0]->index, low, condition->args[1]});
  return true;
}

}  // namespace

bool Box::bounds(int axis) const {
  return std::any_of(sides.begin(), sides.end(), [&](const Side& side) { return side.axis == axis; });
}

std::optional<Box> match_box(const Stage& stage) {
  if (stage.form != StageForm::kMap || stage.body->kind != ExprKind::kOp ||
      stage.body->op != ScalarOp::kSelect)
    return std::nullopt;
  // An element that is not computed raises no flag.
  if (may_raise_flag(stage)) return std::nullopt;
  Box box;
  box.select = stage.body.get();
  if (!add_sides(stage.body->args[0], &box)) return std::nullopt;
  return box;
}

/// Whether loops can be split so: along the axis of the vectors, and by whole rows otherwise.
bool Lowering::can_split(const Nest& nest, const Shape& shape) const {
  if (shape.flat.empty()) return false;
  return std::all_of(box_choice_->sides.begin(), box_choice_->sides.end(), [&](const Box::Side& side) {
    return side.axis == shape.flat.front() || nest.fixed[static_cast<size_t>(side.axis)] ||
           std::find(shape.outer.begin(), shape.outer.end(), side.axis) != shape.outer.end();
  });
}

/// The rows' loops; `range` makes the one over [low, high).
void Lowering::emit_split(const Nest& nest, const Shape& shape, const Env& env,
                          const std::function<void(const Expr& low, const Expr& high)>& range, Block& out) {
  const Box& box = *box_choice_;
  const int along = shape.flat.front();
  const Expr n = extents_[static_cast<size_t>(nest.stage)][static_cast<size_t>(along)];
  Expr low = const_int(0), high = n, on_row;
  for (const Box::Side& side : box.sides) {
    const Expr bound = top(side.bound);
    if (side.axis == along) {
      (side.is_low ? low : high) = side.is_low ? max(low, bound) : min(high, bound);
      continue;
    }
    const Expr& at = env.axes[static_cast<size_t>(side.axis)];
    const Expr here = side.is_low ? at >= bound : at < bound;
    on_row = on_row ? on_row & here : here;
  }
  low = min(low, n);
  high = max(high, low);
  if (on_row) {
    low = select(on_row, low, n);
    high = select(on_row, high, n);
  }
  low = let(low, out);
  high = let(high, out);
  const auto arm = [&](int which, const Expr& from, const Expr& to) {
    box_arm_ = which;
    range(from, to);
  };
  arm(2, const_int(0), low);
  arm(1, low, high);
  arm(2, high, n);
  box_arm_ = 0;
}

}  // namespace galatea::kernel::lowering
