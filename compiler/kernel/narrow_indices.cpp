// See narrow_indices.h. Variables are defined before they are used, so one walk knows their ranges.
#include "compiler/kernel/narrow_indices.h"

#include <algorithm>
#include <set>

#include "compiler/kernel/node_map.h"
#include "compiler/kernel/value_range.h"

namespace galatea::kernel {

namespace {

class IndexNarrower {
 public:
  explicit IndexNarrower(const LoopKernel& loops) {
    out_.loops = loops;
    for (const DType type : loops.var_types) ranges_.push_back(everything(type));
  }

  SmallIndices run() {
    narrow(out_.loops.body);
    out_.params.assign(params_.begin(), params_.end());
    return std::move(out_);
  }

 private:
  DType& type_of(int variable) { return out_.loops.var_types[static_cast<size_t>(variable)]; }
  ScalarRange& range_of_var(int variable) { return ranges_[static_cast<size_t>(variable)]; }

  // ---- ranges
  ScalarRange range(const Expr& e) {
    if (const auto found = known_.find(e.get()); found != known_.end()) return found->second;
    const ScalarRange out = compute(e);
    known_.emplace(e.get(), out);
    keep_.push_back(e);
    return out;
  }
  ScalarRange compute(const Expr& e) {
    if (e->kind == ExprKind::kConst) return point(e->type, e->value);
    if (e->kind == ExprKind::kVar) return range_of_var(e->index);
    if (e->kind == ExprKind::kParam && e->type == DType::kI64) {
      params_.insert(e->index);
      return integers(-kMostOfSmall, kMostOfSmall);
    }
    if (e->kind != ExprKind::kOp) return everything(e->type);
    std::vector<ScalarRange> args;
    for (const Expr& arg : e->args) args.push_back(range(arg));
    return range_of(e->op, e->type, e->args[0]->type, args);
  }
  bool is_small(const Expr& e) { return e->type == DType::kI64 && fits(range(e), DType::kI32); }
  bool is_natural(const Expr& e) { return range(e).low >= 0; }

  // ---- expressions
  /// The same value, of the same type.
  Expr same_type(const Expr& e) {
    if (const auto found = made_.find(e.get()); found != made_.end()) return found->second;
    Expr out = rebuild(e);
    made_.emplace(e.get(), out);
    keep_.push_back(e);
    return out;
  }
  Expr rebuild(const Expr& e) {
    if (e->kind == ExprKind::kVar && e->type != type_of(e->index))
      return convert(var(e->index, type_of(e->index)), e->type);
    if (e->args.empty()) return e;
    if (is_narrowed(e)) return convert(narrow_operation(e), DType::kI64);
    std::vector<Expr> args;
    const bool asks = e->kind == ExprKind::kOp && asks_for_values(e->op) &&
                      std::ranges::all_of(e->args, [&](const Expr& arg) { return is_small(arg); });
    for (const Expr& arg : e->args) args.push_back(asks ? narrow(arg) : same_type(arg));
    return detail::with_args(*e, std::move(args));
  }
  /// The same value in 32 bits, which holds it.
  Expr narrow(const Expr& e) {
    if (is_const(e)) return const_int(const_value(e), DType::kI32);
    if (e->kind == ExprKind::kVar) return convert(var(e->index, type_of(e->index)), DType::kI32);
    return is_narrowed(e) ? narrow_operation(e) : convert(same_type(e), DType::kI32);
  }

  /// Whether an operation of 64 bits is one of 32: its value and its operands all fit.
  bool is_narrowed(const Expr& e) {
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
  Expr narrow_operation(const Expr& e) {
    if (e->op == ScalarOp::kSelect)
      return select(same_type(e->args[0]), narrow(e->args[1]), narrow(e->args[2]));
    std::vector<Expr> args;
    for (const Expr& arg : e->args) args.push_back(narrow(arg));
    // Without a sign a division is shorter.
    const bool divides = e->op == ScalarOp::kDiv || e->op == ScalarOp::kRem;
    if (!divides || !is_natural(e->args[0]) || !is_natural(e->args[1]))
      return make_op(e->op, DType::kI32, std::move(args));
    for (Expr& arg : args) arg = convert(arg, DType::kU32);
    return convert(make_op(e->op, DType::kU32, std::move(args)), DType::kI32);
  }
  /// Comparisons and conversions give the same for a value of either type.
  static bool asks_for_values(ScalarOp op) {
    return (op >= ScalarOp::kEq && op <= ScalarOp::kGe) || op == ScalarOp::kConvert ||
           op == ScalarOp::kSaturate;
  }

  // ---- statements
  void narrow(Block& block) {
    for (Statement& statement : block) std::visit([&](auto& node) { narrow(node); }, statement.node);
  }
  void narrow(For& node) {
    const ScalarRange begin = range(node.begin), end = range(node.end);
    range_of_var(node.var) = integers(begin.low, std::max(begin.low, end.high - 1));
    if (node.role != LoopRole::kTile && is_small(node.begin) && is_small(node.end)) {
      type_of(node.var) = DType::kI32;
      node.begin = narrow(node.begin), node.end = narrow(node.end);
    } else {
      node.begin = same_type(node.begin), node.end = same_type(node.end);
    }
    narrow(node.body);
  }
  void narrow(Let& node) {
    range_of_var(node.var) = range(node.value);
    const bool small = is_small(node.value);
    node.value = small ? narrow(node.value) : same_type(node.value);
    if (small) type_of(node.var) = DType::kI32;
  }
  void narrow(Declare& node) { node.init = same_type(node.init); }
  void narrow(Assign& node) { node.value = same_type(node.value); }
  void narrow(Store& node) {
    node.offset = same_type(node.offset);
    node.value = same_type(node.value);
  }
  void narrow(If& node) {
    node.condition = same_type(node.condition);
    narrow(node.then_body);
    narrow(node.else_body);
  }
  void narrow(Phase& node) { narrow(node.body); }
  static void narrow(BandPrepare&) {}
  static void narrow(BandRow&) {}

  SmallIndices out_;
  std::vector<ScalarRange> ranges_;  ///< per variable; one that is assigned may be anything
  std::set<int> params_;
  NodeMap<ScalarRange> known_;
  NodeMap<Expr> made_;
  std::vector<Expr> keep_;  ///< nodes whose addresses are keys above
};

}  // namespace

SmallIndices narrow_indices(const LoopKernel& loops) { return IndexNarrower(loops).run(); }

}  // namespace galatea::kernel
