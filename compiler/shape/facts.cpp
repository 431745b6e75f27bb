#include "compiler/shape/facts.h"

#include <algorithm>
#include <cmath>

namespace galatea::shape {

using kernel::ExprKind;

namespace {

/// Stands for infinity in sums of products.
constexpr Wide kHuge = Wide{1} << 110;

struct Ends {
  Wide low = 0, high = 0;
};

Wide times(Wide a, Wide b) {
  if (a == 0 || b == 0) return 0;
  Wide out = 0;
  const bool negative = (a < 0) != (b < 0);
  if (__builtin_mul_overflow(a, b, &out) || out >= kHuge || out <= -kHuge) return negative ? -kHuge : kHuge;
  return out;
}

Ends product(const Ends& a, const Ends& b) {
  const Wide ends[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                       times(a.high, b.high)};
  return {*std::min_element(std::begin(ends), std::end(ends)),
          *std::max_element(std::begin(ends), std::end(ends))};
}

/// Extents are taken to be below this where a float holds them: a crop by "one row more" is one row more.
constexpr Wide kMaxExtentInFloats = Wide{1} << 22;

bool is_extent(const Expr& e) {
  return e->kind == ExprKind::kSymbol &&
         (e->symbol == kernel::SymbolKind::kExtent || e->symbol == kernel::SymbolKind::kLocal);
}

/// Integers up to here have a float of this type of their own.
Wide exact_limit(DType type) {
  return type == DType::kF64 ? Wide{1} << 53 : type == DType::kF32 ? Wide{1} << 24 : Wide{1} << 11;
}

bool lies_within(const ScalarRange& range, Wide limit) { return range.low >= -limit && range.high <= limit; }

bool is_linear_op(ScalarOp op) {
  return op == ScalarOp::kAdd || op == ScalarOp::kSub || op == ScalarOp::kMul || op == ScalarOp::kNeg;
}

}  // namespace

std::optional<bool> Facts::decide(const Expr& condition) {
  const ScalarRange truth = range(condition);
  if (!truth.is_point()) return std::nullopt;
  return truth.low != 0;
}

ScalarRange Facts::range(const Expr& e) {
  if (auto found = ranges_.find(e.get()); found != ranges_.end()) return found->second.second;
  const ScalarRange out = compute_range(e);
  ranges_.emplace(e.get(), std::pair{e, out});
  return out;
}

ScalarRange Facts::compute_range(const Expr& e) {
  if (e->kind == ExprKind::kConst) return kernel::point(e->type, e->value);
  if (e->kind == ExprKind::kSymbol) {
    auto known = symbol_range_(*e);
    return known ? *known : kernel::everything(e->type);
  }
  if (e->kind != ExprKind::kOp) return kernel::everything(e->type);
  SmallVector<ScalarRange, 3> args;
  for (const Expr& arg : e->args) args.push_back(range(arg));
  const DType from = e->args[0].type();
  const ScalarRange direct = kernel::range_of(e->op, e->type, from, args);
  if (e->type == DType::kI64 && is_linear_op(e->op)) {
    const Polynomial sum = polynomial(e);
    // An expression without a normal form is an unknown of its own.
    return sum.is_unknown() ? direct
                            : kernel::intersection(e->type, direct, range_of_polynomial(sum, direct));
  }
  if (is_comparison(e->op) && from == DType::kI64 && !direct.is_point()) {
    auto difference = Polynomial::difference(polynomial(e->args[0]), polynomial(e->args[1]));
    if (!difference) return direct;
    const ScalarRange apart = range_of_polynomial(*difference, kernel::everything(DType::kI64));
    const ScalarRange sides[] = {apart, kernel::integers(0, 0)};
    return kernel::intersection(DType::kBool, direct,
                                kernel::range_of(e->op, DType::kBool, DType::kI64, sides));
  }
  return direct;
}

/// `otherwise`: where the sum may wrap.
ScalarRange Facts::range_of_polynomial(const Polynomial& p, const ScalarRange& otherwise, bool in_floats) {
  Ends sum;
  bool large_unknown = false;
  for (const auto& [monomial, coefficient] : p.terms()) {
    Ends term{coefficient, coefficient};
    for (int number : monomial) {
      const Expr& unknown = unknowns_[static_cast<size_t>(number)];
      ScalarRange factor = range(unknown);
      if (in_floats && is_extent(unknown)) factor.high = std::min(factor.high, kMaxExtentInFloats);
      large_unknown |= !lies_within(factor, kMaxExtent);
      term = product(term, {factor.low, factor.high});
    }
    sum.low = sum.low <= -kHuge || term.low <= -kHuge ? -kHuge : std::min(sum.low + term.low, kHuge);
    sum.high = sum.high >= kHuge || term.high >= kHuge ? kHuge : std::max(sum.high + term.high, -kHuge);
  }
  const ScalarRange limits = kernel::everything(DType::kI64);
  if (sum.low >= limits.low && sum.high <= limits.high) return kernel::integers(sum.low, sum.high);
  if (large_unknown) return otherwise;
  return kernel::integers(std::max(sum.low, limits.low), std::min(sum.high, limits.high));
}

Polynomial Facts::polynomial(const Expr& e) {
  if (auto found = polynomials_.find(e.get()); found != polynomials_.end()) return found->second.second;
  auto computed = compute_polynomial(e);
  Polynomial out = computed ? std::move(*computed) : unknown_for(e);
  polynomials_.emplace(e.get(), std::pair{e, out});
  return out;
}

Polynomial Facts::unknown_for(const Expr& e) {
  const uint64_t hash = kernel::hash_of(e);
  auto [first, last] = numbers_.equal_range(hash);
  for (auto at = first; at != last; ++at)
    if (kernel::same(unknowns_[static_cast<size_t>(at->second)], e)) return Polynomial::unknown(at->second);
  const int number = static_cast<int>(unknowns_.size());
  unknowns_.push_back(e);
  numbers_.emplace(hash, number);
  return Polynomial::unknown(number);
}

std::optional<Polynomial> Facts::compute_polynomial(const Expr& e) {
  if (kernel::is_const(e)) return Polynomial::constant(kernel::const_value(e));
  if (e->kind != ExprKind::kOp) return std::nullopt;
  if (is_conversion(e->op)) {
    const DType from = e->args[0].type();
    if (e->op == ScalarOp::kBitcast || is_bool(e->type)) return std::nullopt;
    if (is_float(from)) return whole_number(e->args[0]);
    const ScalarRange own = range(e->args[0]), limits = kernel::everything(e->type);
    if (own.low < limits.low || own.high > limits.high) return std::nullopt;
    return polynomial(e->args[0]);
  }
  if (e->type != DType::kI64) return std::nullopt;  // narrower ones wrap
  if (e->op == ScalarOp::kSelect) {
    auto known = decide(e->args[0]);
    if (!known) return std::nullopt;
    return polynomial(e->args[*known ? 1 : 2]);
  }
  if (e->args.size() > 2) return std::nullopt;
  const Polynomial a = polynomial(e->args[0]);
  if (e->op == ScalarOp::kNeg) return Polynomial::difference({}, a);
  if (e->args.size() != 2) return std::nullopt;
  const Polynomial b = polynomial(e->args[1]);
  switch (e->op) {
    case ScalarOp::kAdd:
      return Polynomial::sum(a, b);
    case ScalarOp::kSub:
      return Polynomial::difference(a, b);
    case ScalarOp::kMul:
      return Polynomial::product(a, b);
    case ScalarOp::kDiv:
      return range(e->args[1]).low >= 1 ? Polynomial::quotient(a, b) : std::nullopt;
    case ScalarOp::kMin:
    case ScalarOp::kMax: {
      auto difference = Polynomial::difference(a, b);
      if (!difference) return std::nullopt;
      const ScalarRange apart = range_of_polynomial(*difference, kernel::everything(DType::kI64));
      if (apart.low >= 0) return e->op == ScalarOp::kMax ? a : b;
      if (apart.high <= 0) return e->op == ScalarOp::kMax ? b : a;
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

/// A float that is an integer for every sample, computed without rounding.
std::optional<Polynomial> Facts::whole_number(const Expr& e) {
  const Wide limit = exact_limit(e->type);
  if (kernel::is_const(e)) {
    const double value = cell_to_double(e->type, e->value);
    if (value != std::floor(value) || std::abs(value) > 0x1p53) return std::nullopt;
    return Polynomial::constant(static_cast<int64_t>(value));
  }
  if (e->kind != ExprKind::kOp) return std::nullopt;
  auto when_exact = [&](std::optional<Polynomial> p) -> std::optional<Polynomial> {
    if (!p || !lies_within(range_of_polynomial(*p, kernel::everything(DType::kI64), true), limit))
      return std::nullopt;
    return p;
  };
  switch (e->op) {
    case ScalarOp::kConvert:
    case ScalarOp::kSaturate:
      return when_exact(is_float(e->args[0].type()) ? whole_number(e->args[0]) : polynomial(e->args[0]));
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kTrunc:
    case ScalarOp::kRound:
    case ScalarOp::kRoundAway:
      return whole_number(e->args[0]);
    case ScalarOp::kNeg: {
      auto a = whole_number(e->args[0]);
      return a ? Polynomial::difference({}, *a) : std::nullopt;
    }
    case ScalarOp::kSelect: {
      auto known = decide(e->args[0]);
      return known ? whole_number(e->args[*known ? 1 : 2]) : std::nullopt;
    }
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
    case ScalarOp::kMul: {
      auto a = whole_number(e->args[0]), b = whole_number(e->args[1]);
      if (!a || !b) return std::nullopt;
      return when_exact(e->op == ScalarOp::kAdd   ? Polynomial::sum(*a, *b)
                        : e->op == ScalarOp::kSub ? Polynomial::difference(*a, *b)
                                                  : Polynomial::product(*a, *b));
    }
    default:
      return std::nullopt;
  }
}

}  // namespace galatea::shape
