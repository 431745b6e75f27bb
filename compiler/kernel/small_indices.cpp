// See small_indices.h.
#include "compiler/kernel/small_indices.h"

#include <algorithm>
#include <tuple>

namespace galatea::kernel {

namespace {

/// What a clamp and the numbers that are added before it may be: far less than the 2^28 at which what need not
/// be small is cut off (galatea_far() of the prelude of CUDA).
constexpr int64_t kNear = 1 << 20;

/// A side of a box is at most so many computations behind what a loop says of it.
constexpr int kMostTurns = 4;

/// A quotient or a remainder of integers; by 0 both are 0. Whatever it is divided by, a number only gets smaller.
ScalarRange divided(ScalarOp op, const ScalarRange& a, const ScalarRange& b) {
  const Wide most = std::min<Wide>(std::max(a.high, -a.low), INT64_MAX);
  if (a.low < 0 || (op == ScalarOp::kDiv && b.low < 0)) return integers(-most, most);
  const Wide largest = std::max(b.high, -b.low), least = std::max<Wide>(b.low, 1);
  return integers(0, op == ScalarOp::kDiv ? most / least : std::min(most, std::max<Wide>(largest - 1, 0)));
}

}  // namespace

SmallIndices::SmallIndices(const LoopKernel& loops, Numbers numbers)
    : numbers_(numbers), values_(loops.var_types.size()) {
  for (const DType type : loops.var_types) vars_.push_back(everything(type));
  for (const KernelParam& param : loops.params)
    params_.push_back(param.type == DType::kI64 && numbers == Numbers::kSmall
                          ? integers(-kMostOfSmall, kMostOfSmall)
                          : everything(param.type));
}

std::vector<int> SmallIndices::params(const LoopKernel& loops) {
  SmallIndices indices(loops, Numbers::kSmall);
  indices.walk(loops.body);
  return {indices.used_.begin(), indices.used_.end()};
}

// ---- ranges

ScalarRange SmallIndices::range(const Expr& e) {
  if (e->args.empty()) return compute(e);
  if (const auto found = known_.find(e.get()); found != known_.end()) return found->second;
  const ScalarRange out = compute(e);
  known_.emplace(e.get(), out);
  keep_.push_back(e);
  return out;
}

ScalarRange SmallIndices::compute(const Expr& e) {
  if (e->kind == ExprKind::kConst) return point(e->type, e->value);
  if (e->kind == ExprKind::kVar) return vars_[static_cast<size_t>(e->index)];
  if (e->kind == ExprKind::kParam) {
    if (e->type == DType::kI64) used_.insert(e->index);
    return params_[static_cast<size_t>(e->index)];
  }
  if (e->kind != ExprKind::kOp) return everything(e->type);
  SmallVector<ScalarRange, 3> args;
  for (const Expr& arg : e->args) args.push_back(range(arg));
  if ((e->op == ScalarOp::kDiv || e->op == ScalarOp::kRem) && e->type == DType::kI64)
    return divided(e->op, args[0], args[1]);
  return range_of(e->op, e->type, e->args[0]->type, args);
}

bool SmallIndices::is_small(const Expr& e) { return e->type == DType::kI64 && fits(range(e), DType::kI32); }

bool SmallIndices::is_near(const Expr& e) {
  return e->type == DType::kI64 && contains(integers(-kNear, kNear), range(e));
}

bool SmallIndices::is_narrow(const Expr& e) {
  if (e->kind != ExprKind::kOp || !is_small(e)) return false;
  switch (e->op) {
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
    case ScalarOp::kMul:
    case ScalarOp::kDiv:
    case ScalarOp::kRem:
    case ScalarOp::kMin:
    case ScalarOp::kMax:
    case ScalarOp::kNeg:
    case ScalarOp::kAbs:
    case ScalarOp::kAnd:
    case ScalarOp::kOr:
    case ScalarOp::kXor:
      return std::ranges::all_of(e->args, [&](const Expr& arg) { return is_small(arg); });
    case ScalarOp::kSelect:
      return is_small(e->args[1]) && is_small(e->args[2]);
    default:
      return false;
  }
}

bool SmallIndices::is_clamp(const Expr& e) {
  if (e->kind != ExprKind::kOp || e->type != DType::kI64 || e->op != ScalarOp::kMax || !is_near(e))
    return false;
  const Expr& inner = e->args[0];
  return inner->kind == ExprKind::kOp && inner->op == ScalarOp::kMin && is_near(e->args[1]) &&
         is_near(inner->args[1]) && !is_small(inner->args[0]);
}

bool SmallIndices::is_far_sum(const Expr& e) {
  return e->kind == ExprKind::kOp && (e->op == ScalarOp::kAdd || e->op == ScalarOp::kSub) &&
         is_near(e->args[1]);
}

// ---- statements

void SmallIndices::define(const Let& let) {
  vars_[static_cast<size_t>(let.var)] = range(let.value);
  values_[static_cast<size_t>(let.var)] = let.value;
}

void SmallIndices::enter(const For& loop) {
  const ScalarRange begin = range(loop.begin), end = range(loop.end);
  outside_.emplace_back(vars_, params_);
  vars_[static_cast<size_t>(loop.var)] = integers(begin.low, std::max(begin.low, end.high - 1));
  // Of a loop over all of a box, which has none where a side is empty.
  Expr count = loop.end;
  if (count->kind == ExprKind::kVar && values_[static_cast<size_t>(count->index)])
    count = values_[static_cast<size_t>(count->index)];
  if (count->kind == ExprKind::kOp && count->op == ScalarOp::kSelect && is_const_int(count->args[2], 0))
    learn(count->args[0]);
  known_ = {};
  // In 64 bits a quotient and a remainder that have no branch between them gain nothing.
  if (numbers_ == Numbers::kSmall) narrow_what_follows();
}

void SmallIndices::leave() {
  std::tie(vars_, params_) = std::move(outside_.back());
  outside_.pop_back();
  known_ = {};
}

/// What is greater than 0 inside of a loop.
void SmallIndices::learn(const Expr& condition) {
  if (condition->kind == ExprKind::kVar) {
    if (const Expr& value = values_[static_cast<size_t>(condition->index)]) learn(value);
    return;
  }
  if (condition->kind != ExprKind::kOp) return;
  if (condition->op == ScalarOp::kAnd)
    for (const Expr& arg : condition->args) learn(arg);
  if (condition->op != ScalarOp::kGt || !is_const_int(condition->args[1], 0)) return;
  const Expr& positive = condition->args[0];
  if (positive->type != DType::kI64) return;
  if (positive->kind != ExprKind::kVar && positive->kind != ExprKind::kParam) return;
  std::vector<ScalarRange>& all = positive->kind == ExprKind::kVar ? vars_ : params_;
  ScalarRange& range = all[static_cast<size_t>(positive->index)];
  range.low = std::max<Wide>(range.low, 1);
  range.high = std::max(range.low, range.high);
}

/// Variables keep their values: what has been learned of one holds for those that were computed of it.
void SmallIndices::narrow_what_follows() {
  bool is_news = true;
  for (int turn = 0; is_news && turn < kMostTurns; ++turn) {
    is_news = false;
    for (size_t k = 0; k < values_.size(); ++k) {
      if (!values_[k] || values_[k]->type != DType::kI64) continue;
      const ScalarRange now = range(values_[k]);
      ScalarRange& known = vars_[k];
      const Wide low = std::max(known.low, now.low), high = std::min(known.high, now.high);
      if (low > high || (low == known.low && high == known.high)) continue;
      known.low = low;
      known.high = high;
      is_news = true;
    }
    known_ = {};
  }
}

/// Asks for everything once.
void SmallIndices::walk(const Block& block) {
  for (const Statement& statement : block) {
    for_each_expr(statement, [&](const Expr& e) { range(e); });
    if (const auto* let = std::get_if<Let>(&statement.node)) define(*let);
    if (const auto* branch = std::get_if<If>(&statement.node)) {
      walk(branch->then_body);
      walk(branch->else_body);
    }
    if (const auto* phase = std::get_if<Phase>(&statement.node)) walk(phase->body);
    if (const auto* loop = std::get_if<For>(&statement.node)) {
      enter(*loop);
      walk(loop->body);
      leave();
    }
  }
}

}  // namespace galatea::kernel
