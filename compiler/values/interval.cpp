#include "compiler/values/interval.h"

#include <algorithm>
#include <cmath>

namespace galatea::values {

using kernel::ExprKind;

namespace {

Expr const_like(const Expr& e, double value) {
  return is_float(e.type()) ? kernel::const_float(value, e.type())
                            : kernel::const_int(static_cast<int64_t>(value), e.type());
}

bool is_point(const Interval& interval) {
  return interval.low.get() == interval.high.get() || kernel::same(interval.low, interval.high);
}

/// Free of axes, taps and loads: a scalar of the sample program.
bool is_scalar(const Expr& e) {
  constexpr uint32_t kScalars = kernel::bit_of(ExprKind::kConst) | kernel::bit_of(ExprKind::kSymbol) |
                                kernel::bit_of(ExprKind::kOp) | kernel::bit_of(ExprKind::kPhilox);
  return (e->kinds & ~kScalars) == 0;
}

bool is_small_const(const kernel::ExprNode& e) {
  if (e.kind != ExprKind::kConst) return false;
  double value = cell_to_double(e.type, e.value);
  return value >= -1e6 && value <= 1e6;
}

/// One operation that leaves tame numbers tame.
bool is_tame_op(const kernel::ExprNode& e) {
  switch (e.op) {
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
    case ScalarOp::kNeg:
    case ScalarOp::kMin:
    case ScalarOp::kMax:
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kRound:
    case ScalarOp::kRoundAway:
    case ScalarOp::kTrunc:
    case ScalarOp::kSelect:
      return true;
    case ScalarOp::kMul:
      return is_small_const(*e.args[0]) || is_small_const(*e.args[1]);
    case ScalarOp::kDiv:
      return is_small_const(*e.args[1]) &&
             std::abs(cell_to_double(e.args[1].type(), e.args[1]->value)) >= 1e-3;
    case ScalarOp::kConvert:
      return (e.type == DType::kI64 || is_float(e.type)) && e.args[0].type() != DType::kU64;
    default:
      return false;
  }
}

/// An extent, a small constant, or an operation that leaves tame numbers tame.
bool is_tame_node(const kernel::ExprNode& e) {
  if (e.kind == ExprKind::kConst) return is_small_const(e);
  if (e.kind == ExprKind::kSymbol) return e.symbol == kernel::SymbolKind::kExtent;
  const bool wide = e.type == DType::kI64 || e.type == DType::kF32 || e.type == DType::kF64;
  return e.kind == ExprKind::kOp && (is_comparison(e.op) || (wide && is_tame_op(e)));
}

bool is_order_keeping(ScalarOp op) {
  return op == ScalarOp::kFloor || op == ScalarOp::kCeil || op == ScalarOp::kTrunc ||
         op == ScalarOp::kRound || op == ScalarOp::kRoundAway || op == ScalarOp::kSqrt;
}

/// Conversions that keep the order of all values (those that wrap do not).
bool keeps_order(ScalarOp op, DType from, DType to) {
  if (is_bool(to)) return false;
  if (op == ScalarOp::kSaturate) return true;
  if (op != ScalarOp::kConvert) return false;
  if (is_float(to) || is_float(from)) return true;
  bool widens = size_of(to) > size_of(from) && (is_signed_int(to) || is_unsigned_int(from) || is_bool(from));
  return widens;
}

bool narrows_places(const Expr& e) {
  return e->op == ScalarOp::kConvert && e->type == DType::kI32 && e->args[0].type() == DType::kI64;
}

}  // namespace

bool HoldsThroughout::operator()(const Expr& e) {
  if (e->args.empty()) return of_node_(*e);
  if (const auto found = known_.find(e.get()); found != known_.end()) return found->second;
  asked_.push_back(e);
  return look(e);
}

bool HoldsThroughout::look(const Expr& e) {
  if (e->args.empty()) return of_node_(*e);
  if (const auto found = known_.find(e.get()); found != known_.end()) return found->second;
  const bool holds =
      of_node_(*e) && std::ranges::all_of(e->args, [this](const Expr& arg) { return look(arg); });
  known_.emplace(e.get(), holds);
  return holds;
}

namespace {

/// Whether the text tells the extents of all inputs, but perhaps how many channels there are.
bool are_inputs_known(const op::Lowering& lowering) {
  return std::ranges::all_of(lowering.inputs, [](const kernel::KernelInput& input) {
    return std::ranges::count_if(input.extents,
                                 [](const Expr& extent) { return !kernel::is_const(extent); }) <= 1;
  });
}

}  // namespace

Intervals::Intervals(const op::Lowering& lowering)
    : lowering_(lowering), is_tame_(is_tame_node), knows_extents_(are_inputs_known(lowering)) {}

Interval hull(const Interval& a, const Interval& b) {
  return {kernel::min(a.low, b.low), kernel::max(a.high, b.high)};
}

Expr both(const Expr& a, const Expr& b) {
  if (!a) return b;
  return b ? a & b : a;
}

Interval whole(const Expr& extent) { return {kernel::const_int(0), extent - kernel::const_int(1)}; }

namespace {

/// a <= b, as far as their forms x + c and x + d tell; extents are nowhere near the ends of i64.
bool is_at_most(const Expr& a, const Expr& b) {
  auto split = [](const Expr& e) -> std::pair<Expr, int64_t> {
    if (kernel::is_const(e)) return {Expr(), kernel::const_value(e)};
    bool sum = e->kind == ExprKind::kOp && e->op == ScalarOp::kAdd && kernel::is_const(e->args[1]);
    return sum ? std::pair{e->args[0], kernel::const_value(e->args[1])} : std::pair{e, int64_t{0}};
  };
  auto [x, c] = split(a);
  auto [y, d] = split(b);
  return c <= d && (x && y ? kernel::same(x, y) : !x && !y);
}

}  // namespace

bool is_clamped_low(const Expr& e, const Expr& last) {
  if (kernel::is_const_int(e, 0)) return true;
  if (e->kind != ExprKind::kOp) return false;
  if (e->op == ScalarOp::kSelect) return is_clamped_low(e->args[1], last) && is_clamped_low(e->args[2], last);
  if (e->op != ScalarOp::kMax) return false;
  for (size_t k = 0; k < 2; ++k) {
    const Expr& inner = e->args[1 - k];
    if (kernel::is_const_int(e->args[k], 0) && inner->kind == ExprKind::kOp && inner->op == ScalarOp::kMin &&
        (kernel::same(inner->args[0], last) || kernel::same(inner->args[1], last)))
      return true;
  }
  return false;
}

bool is_clamped_high(const Expr& e, const Expr& last) {
  if (kernel::same(e, last)) return true;
  if (e->kind != ExprKind::kOp) return false;
  if (e->op == ScalarOp::kSelect)
    return is_clamped_high(e->args[1], last) && is_clamped_high(e->args[2], last);
  if (e->op != ScalarOp::kMin) return false;
  for (size_t k = 0; k < 2; ++k) {
    const Expr& inner = e->args[1 - k];
    if (kernel::same(e->args[k], last) && inner->kind == ExprKind::kOp && inner->op == ScalarOp::kMax &&
        (is_clamped_low(inner->args[0], last) || is_clamped_low(inner->args[1], last)))
      return true;
  }
  return false;
}

bool is_clamped(const Interval& interval, const Expr& last) {
  const auto& [low, high] = interval;
  if (!is_clamped_low(low, last)) return false;
  if (kernel::same(high, last)) return true;
  if (high->kind != ExprKind::kOp) return false;
  if (high->op == ScalarOp::kSelect) {
    bool together = low->kind == ExprKind::kOp && low->op == ScalarOp::kSelect &&
                    kernel::same(low->args[0], high->args[0]);
    return is_clamped({together ? low->args[1] : low, high->args[1]}, last) &&
           is_clamped({together ? low->args[2] : low, high->args[2]}, last);
  }
  if (high->op != ScalarOp::kMin) return false;
  for (size_t k = 0; k < 2; ++k) {
    const Expr& inner = high->args[1 - k];
    if (kernel::same(high->args[k], last) && inner->kind == ExprKind::kOp && inner->op == ScalarOp::kMax &&
        (kernel::same(inner->args[0], low) || kernel::same(inner->args[1], low)))
      return true;
  }
  return false;
}

Interval Intervals::reached(const Interval& index, const Expr& extent, kernel::Border border) {
  Expr zero = kernel::const_int(0);
  Expr last = extent - kernel::const_int(1);
  // Clamped, or mirrored at least by nothing, these ends are ends of the target.
  bool from_first = is_at_most(index.low, zero), to_last = is_at_most(last, index.high);
  if (from_first && to_last) return {zero, last};
  Interval inside{from_first                        ? zero
                  : is_clamped_low(index.low, last) ? index.low
                                                    : kernel::max(kernel::min(index.low, last), zero),
                  to_last                             ? last
                  : is_clamped_high(index.high, last) ? index.high
                                                      : kernel::min(kernel::max(index.high, zero), last)};
  if (border != kernel::Border::kReflect101) return inside;
  // What lies before 0 is mirrored to [0, -low], what lies past the last to [2·last - high, last]; further
  // away it covers everything.
  Expr before = index.low<zero, after = index.high> last;
  Expr mirrored_low = kernel::max(zero, last + last - index.high);
  Expr mirrored_high = kernel::min(last, zero - index.low);
  Expr low =
      kernel::select(before, zero, kernel::select(after, kernel::min(inside.low, mirrored_low), inside.low));
  Expr high = kernel::select(after, last,
                             kernel::select(before, kernel::max(inside.high, mirrored_high), inside.high));
  return {low, high};
}

bool Intervals::is_made_of_extents(const Expr& e) {
  if (!is_tame_(e)) return false;
  int products = 0;
  kernel::for_each_node(e, [&](const Expr& part) {
    products += part->kind == ExprKind::kOp && (part->op == ScalarOp::kMul || part->op == ScalarOp::kDiv);
  });
  // Each product scales by at most 1e6: one of them leaves an extent below 1e16.
  return is_float(e.type()) ? products <= 3 : products <= 1;
}

Interval Intervals::guarded(Interval interval) {
  // Sums of guarded numbers stay far from the ends; products, quotients and leaves are what is guarded.
  for (const Expr& end : {interval.low, interval.high}) {
    if (kernel::is_const(end) || is_made_of_extents(end)) continue;
    if (is_integral(end.type()) && size_of(end.type()) < 8)
      continue;  // narrow integers are small by themselves
    if (end.type() == DType::kF16) continue;
    double limit = is_float(end.type()) ? 1e15 : 2147483648.0;
    auto [first, last] = guarded_.equal_range(kernel::hash_of(end));
    if (std::any_of(first, last, [&](const auto& entry) { return kernel::same(entry.second, end); }))
      continue;
    guarded_.emplace(kernel::hash_of(end), end);
    if (is_unsigned_int(end.type())) {
      condition_ = both(condition_, end <= const_like(end, limit));
    } else {
      condition_ = both(condition_, both(end <= const_like(end, limit), end >= const_like(end, -limit)));
    }
  }
  return interval;
}

std::optional<Interval> Intervals::bound(const Expr& e, const Domain& domain) {
  if (auto found = domain.known.find(e.get()); found != domain.known.end()) return found->second.second;
  std::optional<Interval> out = rule(e, domain);
  domain.known[e.get()] = {e, out};
  return out;
}

std::optional<Interval> Intervals::rule(const Expr& e, const Domain& domain) {
  if (is_scalar(e)) return guarded({e, e});
  switch (e->kind) {
    case ExprKind::kAxis:
      return domain.axes.at(static_cast<size_t>(e->index));
    case ExprKind::kReduceAxis:
      return domain.reduce_axes.at(static_cast<size_t>(e->index));
    case ExprKind::kTap:
      return domain.tap;
    case ExprKind::kLoad:
      return load_rule(e, domain);
    case ExprKind::kOp:
      break;
    default:
      return std::nullopt;
  }
  std::vector<Interval> args;
  bool choice = e->op == ScalarOp::kSelect;
  for (size_t k = choice ? 1 : 0; k < e->args.size(); ++k) {
    auto arg = bound(e->args[k], domain);
    if (!arg) return clamp_rule(e, domain);
    args.push_back(*arg);
  }
  if (!choice) return op_rule(e, args);
  if (!is_scalar(e->args[0])) return hull(args[0], args[1]);
  return Interval{kernel::select(e->args[0], args[0].low, args[1].low),
                  kernel::select(e->args[0], args[0].high, args[1].high)};
}

/// max(min(x, high), low) and min(max(x, low), high) of integers lie between the bounds, whatever x is.
std::optional<Interval> Intervals::clamp_rule(const Expr& e, const Domain& domain) {
  const bool from_below = e->op == ScalarOp::kMax;
  if ((!from_below && e->op != ScalarOp::kMin) || !is_integral(e->type)) return std::nullopt;
  const ScalarOp opposite = from_below ? ScalarOp::kMin : ScalarOp::kMax;
  for (size_t k = 0; k < 2; ++k) {
    const Expr& inner = e->args[1 - k];
    if (inner->kind != ExprKind::kOp || inner->op != opposite) continue;
    const auto outer = bound(e->args[k], domain);
    auto bounded = bound(inner->args[0], domain);
    if (!bounded) bounded = bound(inner->args[1], domain);
    if (!outer || !bounded) continue;
    if (from_below) return Interval{outer->low, kernel::max(outer->high, bounded->high)};
    return Interval{kernel::min(outer->low, bounded->low), outer->high};
  }
  return std::nullopt;
}

std::optional<Interval> Intervals::op_rule(const Expr& e, const std::vector<Interval>& args) {
  auto apply = [&](kernel::Operands operands) {
    return kernel::make_op(e->op, e->type, std::move(operands));
  };
  const Interval& a = args[0];
  // Of two choices by one condition, a choice: a mirrored axis keeps its ends that way.
  auto sum = [&](const Expr& x, const Expr& y) {
    bool together = x->kind == ExprKind::kOp && y->kind == ExprKind::kOp && x->op == ScalarOp::kSelect &&
                    y->op == ScalarOp::kSelect && kernel::same(x->args[0], y->args[0]);
    if (!together) return apply({x, y});
    return kernel::select(x->args[0], apply({x->args[1], y->args[1]}), apply({x->args[2], y->args[2]}));
  };
  // Narrow and unsigned integers wrap within the range of common values.
  bool wraps = is_integral(e->type) && e->type != DType::kI64;
  bool arithmetic = e->op == ScalarOp::kAdd || e->op == ScalarOp::kSub || e->op == ScalarOp::kNeg ||
                    e->op == ScalarOp::kMul;
  if (wraps && arithmetic) return std::nullopt;
  switch (e->op) {
    case ScalarOp::kAdd:
      return Interval{sum(a.low, args[1].low), sum(a.high, args[1].high)};
    case ScalarOp::kMin:
    case ScalarOp::kMax:
      return Interval{apply({a.low, args[1].low}), apply({a.high, args[1].high})};
    case ScalarOp::kSub:
      return Interval{sum(a.low, args[1].high), sum(a.high, args[1].low)};
    case ScalarOp::kNeg:
      return Interval{apply({a.high}), apply({a.low})};
    case ScalarOp::kMul:
      return product(e, a, args[1]);
    case ScalarOp::kDiv: {
      if (!is_point(args[1])) return quotient(e, a, args[1]);
      Expr p = apply({a.low, args[1].low}), q = apply({a.high, args[1].low});
      return guarded({kernel::min(p, q), kernel::max(p, q)});
    }
    case ScalarOp::kFma: {
      size_t fixed = is_point(args[1]) ? 1 : 0;
      if (!is_point(args[fixed])) return std::nullopt;
      const Interval& x = args[1 - fixed];
      const Expr& factor = args[fixed].low;
      auto fma = [&](const Expr& value, const Expr& offset) { return kernel::fma(value, factor, offset); };
      return guarded({kernel::min(fma(x.low, args[2].low), fma(x.high, args[2].low)),
                      kernel::max(fma(x.low, args[2].high), fma(x.high, args[2].high))});
    }
    case ScalarOp::kShr:
      if (!kernel::is_const(args[1].low) || !is_point(args[1])) return std::nullopt;
      return Interval{apply({a.low, args[1].low}), apply({a.high, args[1].low})};
    case ScalarOp::kConvert:
    case ScalarOp::kSaturate:
      if (narrows_places(e)) return narrowed(a, e->type);
      // A map of numbers only, from extents of the text to extents of the text: whether its window is the whole
      // would follow from values.
      if (e->type == DType::kI32 && is_float(e->args[0].type()) && kernel::is_const(a.low) &&
          kernel::is_const(a.high) && knows_extents_)
        return std::nullopt;
      if (!keeps_order(e->op, e->args[0].type(), e->type)) return std::nullopt;
      return Interval{apply({a.low}), apply({a.high})};
    case ScalarOp::kSin:
    case ScalarOp::kCos: {
      // Of a finite number; its last bits may lie beyond 1.
      guarded(a);
      const double most = 1 + 1e-3;
      return Interval{const_like(e, -most), const_like(e, most)};
    }
    default:
      if (!is_order_keeping(e->op)) return std::nullopt;
      // The root of a negative number is not a number.
      if (e->op == ScalarOp::kSqrt) return guarded({apply({a.low}), apply({a.high})});
      return Interval{apply({a.low}), apply({a.high})};
  }
}

/// By floats of one sign, a quotient is extreme at the ends of both.
std::optional<Interval> Intervals::quotient(const Expr& e, const Interval& a, const Interval& by) {
  if (!is_float(e->type)) return std::nullopt;
  const Expr zero = kernel::const_float(0, e->type);
  const Expr one_sign = (by.low > zero) | (by.high < zero);
  if (kernel::is_const(one_sign) && kernel::const_value(one_sign) == 0) return std::nullopt;
  condition_ = both(condition_, one_sign);
  const auto over = [&](const Expr& x, const Expr& y) {
    return kernel::make_op(ScalarOp::kDiv, e->type, {x, y});
  };
  const Expr p = over(a.low, by.low), q = over(a.high, by.low);
  const Expr r = over(a.low, by.high), s = over(a.high, by.high);
  guarded({p, q});
  guarded({r, s});
  return Interval{kernel::min(kernel::min(p, q), kernel::min(r, s)),
                  kernel::max(kernel::max(p, q), kernel::max(r, s))};
}

/// Places of an image in 32 bits: in order as long as both ends fit.
Interval Intervals::narrowed(const Interval& a, DType type) {
  constexpr int64_t kSmall = int64_t{1} << 30;
  for (const Expr& end : {a.low, a.high}) {
    const Expr fits = (end >= kernel::const_int(-kSmall)) & (end <= kernel::const_int(kSmall));
    if (!kernel::is_const(fits) || kernel::const_value(fits) == 0) condition_ = both(condition_, fits);
  }
  return {kernel::convert(a.low, type), kernel::convert(a.high, type)};
}

namespace {

/// Times a choice between 1 and -1: which end becomes which is known for each.
std::optional<Interval> product_with_choice(const Interval& a, const Expr& factor) {
  if (factor->kind != ExprKind::kOp || factor->op != ScalarOp::kSelect || factor.type() != DType::kI64)
    return std::nullopt;
  auto is_sign = [](const Expr& e) { return kernel::is_const_int(e, 1) || kernel::is_const_int(e, -1); };
  if (!is_sign(factor->args[1]) || !is_sign(factor->args[2])) return std::nullopt;
  auto times = [&](const Expr& sign) {
    return kernel::is_const_int(sign, 1) ? a : Interval{-a.high, -a.low};
  };
  Interval x = times(factor->args[1]), y = times(factor->args[2]);
  return Interval{kernel::select(factor->args[0], x.low, y.low),
                  kernel::select(factor->args[0], x.high, y.high)};
}

}  // namespace

std::optional<Interval> Intervals::product(const Expr& e, const Interval& a, const Interval& b) {
  auto times = [&](const Expr& x, const Expr& y) { return kernel::make_op(ScalarOp::kMul, e->type, {x, y}); };
  if (is_integral(e->type)) guarded(a), guarded(b);  // else the product could wrap and look harmless
  if (auto chosen = product_with_choice(a, b.low); chosen && is_point(b)) return chosen;
  if (auto chosen = product_with_choice(b, a.low); chosen && is_point(a)) return chosen;
  Expr p = times(a.low, b.low), q = times(a.high, b.high);
  if (is_point(a) || is_point(b)) return guarded({kernel::min(p, q), kernel::max(p, q)});
  Expr r = times(a.low, b.high), s = times(a.high, b.low);
  // The ends guard all four, since each of the four bounds one of them only where it is extreme.
  guarded({p, q});
  guarded({r, s});
  return Interval{kernel::min(kernel::min(p, q), kernel::min(r, s)),
                  kernel::max(kernel::max(p, q), kernel::max(r, s))};
}

std::optional<Interval> Intervals::load_rule(const Expr& e, const Domain& domain) {
  if (e->target.kind != kernel::LoadTarget::Kind::kStage || depth_ > 8) return std::nullopt;
  const kernel::Stage& table = lowering_.stages.at(static_cast<size_t>(e->target.index));
  if (table.form != kernel::StageForm::kMap) return std::nullopt;
  Domain inner;
  for (size_t d = 0; d < e->args.size(); ++d) {
    auto index = bound(e->args[d], domain);
    if (!index) return std::nullopt;
    inner.axes.push_back(reached(*index, table.extents[d], e->border));
  }
  ++depth_;
  auto out = bound(table.body, inner);
  --depth_;
  if (out && e->border == kernel::Border::kConstant) {
    Expr fill = kernel::constant(e->type, e->fill);
    out = hull(*out, {fill, fill});
  }
  return out;
}

}  // namespace galatea::values
