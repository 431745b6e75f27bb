// Rows on which a condition holds from end to end.
//
// Comes in: a vector loop whose values are selected by comparisons of places with bounds ("on the canvas?").
// Goes out: what must hold at the two ends of the row for the conditions to hold everywhere between, and the
// loop without them. A place along a row is monotone in the loop's variable, also as it is rounded: every
// operation from the variable to the comparison is, in the one operand that varies.
//
// Off, `geometry-chain` with exact=False takes 1.1 times as long (`./dev bench geometry-chain`, 2-core AMD
// EPYC, Zen 5).
#include <algorithm>

#include "compiler/kernel/lower_gather.h"

namespace galatea::kernel::lowering {

namespace {

constexpr int64_t kSmall = int64_t{1} << 30;

class RowGuard {
 public:
  explicit RowGuard(const For& loop) : loop_(loop) {}

  void find() {
    for (const Statement& statement : loop_.body) visit(std::get<Store>(statement.node).value);
  }
  bool empty() const { return guards_.empty(); }

  /// Holds on the whole row.
  Expr holds() const {
    Expr out;
    const auto also = [&](const Expr& e) { out = !out ? e : out & e; };
    for (const Expr& end : {loop_.begin, loop_.end - const_int(1)}) {
      for (const Expr& e : narrowed_)
        also((at(e, end) < const_int(kSmall)) & (at(e, end) > const_int(-kSmall)));
      for (const Expr& guard : guards_) also(at(guard, end));
    }
    return out;
  }

  For without(int variable) const {
    For out = loop_;
    out.var = variable;
    for (Statement& statement : out.body) {
      auto& store = std::get<Store>(statement.node);
      store.offset = renamed(store.offset, variable);
      store.value = renamed(store.value, variable);
    }
    return out;
  }

 private:
  bool varies(const Expr& e) const { return uses_var(e, loop_.var); }
  bool is_guard(const Expr& e) const {
    for (const Expr& guard : guards_)
      if (same(guard, e)) return true;
    return false;
  }

  Expr at(const Expr& e, const Expr& place) const {
    return rewrite(e, [&](const Expr& x) {
      return x->kind == ExprKind::kVar && x->index == loop_.var ? place : Expr();
    });
  }

  Expr renamed(const Expr& e, int variable) const {
    return rewrite(e, [&](const Expr& x) -> Expr {
      if (is_guard(x)) return const_bool(true);
      return x->kind == ExprKind::kVar && x->index == loop_.var ? var(variable, DType::kI64) : Expr();
    });
  }

  /// Monotone in the loop's variable, one way or the other; `narrowed` gets what must be small for that.
  bool is_monotone(const Expr& e, std::vector<Expr>* narrowed) const {
    if (e->kind == ExprKind::kVar) return true;
    if (e->kind != ExprKind::kOp) return false;
    const Expr* varying = nullptr;
    for (const Expr& arg : e->args) {
      if (!varies(arg)) continue;
      if (varying) return false;
      varying = &arg;
    }
    switch (e->op) {
      case ScalarOp::kAdd:
      case ScalarOp::kSub:
      case ScalarOp::kMul:
      case ScalarOp::kNeg:
        if (e->type != DType::kI64 && !is_float(e->type)) return false;
        break;
      case ScalarOp::kFma:
      case ScalarOp::kFloor:
      case ScalarOp::kMin:
      case ScalarOp::kMax:
        if (!is_float(e->type)) return false;
        break;
      case ScalarOp::kConvert:
        if ((*varying)->type == DType::kI64 && e->type == DType::kI32)
          narrowed->push_back(*varying);
        else if (!is_float(e->type))
          return false;
        break;
      default:
        return false;
    }
    return is_monotone(*varying, narrowed);
  }

  bool holds_between(const Expr& e, std::vector<Expr>* narrowed) const {
    if (!varies(e)) return true;
    if (e->kind != ExprKind::kOp) return false;
    if (e->op == ScalarOp::kAnd)
      return is_bool(e->type) && holds_between(e->args[0], narrowed) && holds_between(e->args[1], narrowed);
    const bool compares =
        e->op == ScalarOp::kLt || e->op == ScalarOp::kLe || e->op == ScalarOp::kGt || e->op == ScalarOp::kGe;
    if (!compares || varies(e->args[0]) == varies(e->args[1]) || !is_float(e->args[0].type())) return false;
    return is_monotone(varies(e->args[0]) ? e->args[0] : e->args[1], narrowed);
  }

  void visit(const Expr& e) {
    if (!seen_.insert(e.get())) return;
    if (e->kind == ExprKind::kOp && e->op == ScalarOp::kSelect && varies(e->args[0]) &&
        !contains(e->args[0], ExprKind::kLoadFlat) && !is_guard(e->args[0])) {
      std::vector<Expr> narrowed;
      if (holds_between(e->args[0], &narrowed)) {
        guards_.push_back(e->args[0]);
        for (Expr& small : narrowed)
          if (std::none_of(narrowed_.begin(), narrowed_.end(), [&](const Expr& n) { return same(n, small); }))
            narrowed_.push_back(std::move(small));
      }
    }
    for (const Expr& arg : e->args) visit(arg);
  }

  const For& loop_;
  std::vector<Expr> guards_, narrowed_;
  NodeSet seen_;
};

}  // namespace

std::optional<GuardedRow> guarded_row(LoopKernel& kernel, const For& loop) {
  RowGuard guard(loop);
  guard.find();
  if (guard.empty()) return std::nullopt;
  kernel.var_types.push_back(DType::kI64);
  return GuardedRow{guard.holds(), guard.without(static_cast<int>(kernel.var_types.size()) - 1)};
}

}  // namespace galatea::kernel::lowering
