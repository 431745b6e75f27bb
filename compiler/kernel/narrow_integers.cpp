// See narrow_integers.h.
//
// Off, the kernel of `solarize` of bytes takes 2.2 times as long with AVX2, at 224 x 224 and at 1080p, and 1.4
// times at 224 x 224 with AVX-512 that has no VBMI (`kernel_bench`, 2-core AMD EPYC, Zen 5); with VBMI bytes
// are looked up.
#include "compiler/kernel/narrow_integers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/kernel/stage_edit.h"

namespace galatea::kernel {
namespace {

constexpr ScalarRange kCountsOfBits{0, 15};
/// What users' numbers are taken to be: thresholds and summands; factors of bytes; and such with a sign.
constexpr ScalarRange kSmallNumbers[] = {{0, 255}, {0, 127}, {-64, 63}};
constexpr DType kNarrow[] = {DType::kU8, DType::kI8, DType::kU16, DType::kI16};

bool is_wide_int(const Expr& e) { return is_integral(e->type) && !is_bool(e->type) && size_of(e->type) >= 4; }

/// Operations that give the same value in any type which holds their operands and their result.
bool is_same_in_any_type(ScalarOp op) {
  switch (op) {
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
    case ScalarOp::kMul:
    case ScalarOp::kNeg:
    case ScalarOp::kAbs:
    case ScalarOp::kMin:
    case ScalarOp::kMax:
    case ScalarOp::kAnd:
    case ScalarOp::kOr:
    case ScalarOp::kXor:
    case ScalarOp::kNot:
    case ScalarOp::kShr:
      return true;
    default:
      return false;
  }
}
/// Processors have no such operation on bytes.
bool needs_words(ScalarOp op) { return op == ScalarOp::kMul || op == ScalarOp::kShr; }

class Narrower {
 public:
  Narrower(const std::optional<ScalarRange>& promised, std::vector<bool>& params)
      : ranges_(promised), params_(params) {}

  Expr run(const Expr& e) {
    if (e->args.empty()) return e;
    if (const auto found = done_.find(e.get()); found != done_.end()) return found->second;
    Operands args = detail::changed_args(*e, [&](const Expr& arg) { return run(arg); });
    Expr out = args.empty() ? e : detail::with_args(*e, std::move(args));
    if (const Expr narrow = narrowed(out)) {
      NodeSet seen;
      note_params(out, seen);
      out = narrow;
    }
    done_.emplace(e.get(), out);
    keep_.push_back(e);
    return out;
  }

 private:
  /// What the arithmetic that makes a value needs of a type.
  struct Needs {
    ScalarRange values;
    bool words = false, arithmetic = false;
    NodeSet seen;
  };
  using InType = NodeMap<Expr>;

  Expr narrowed(const Expr& e) {
    if (e->kind != ExprKind::kOp || e->args.empty() || !is_wide_int(e->args[0])) return {};
    const bool compares = is_comparison(e->op);
    const bool converts = (e->op == ScalarOp::kConvert || e->op == ScalarOp::kSaturate) &&
                          is_integral(e->type) && !is_bool(e->type) && size_of(e->type) <= 2;
    if (!compares && !converts) return {};
    Needs needs;
    needs.values = ranges_.of(e->args[0]);
    for (const Expr& arg : e->args)
      if (!add(needs, arg)) return {};
    if (converts && !needs.arithmetic) return {};
    const auto type = type_for(needs);
    if (!type) return {};
    InType made;
    Operands args;
    for (const Expr& arg : e->args) args.push_back(in_type(arg, *type, made));
    return compares ? binary(e->op, args[0], args[1]) : make_op(e->op, e->type, std::move(args));
  }

  /// Adds what the arithmetic that makes `e` needs; false if it begins with wide numbers.
  bool add(Needs& needs, const Expr& e) {
    if (!needs.seen.insert(e.get())) return true;
    needs.values = hull(e->type, needs.values, ranges_.of(e));
    if (is_const(e) || e->kind == ExprKind::kParam) return true;
    if (e->kind != ExprKind::kOp) return false;
    if (e->op == ScalarOp::kConvert) {
      const Expr& from = e->args[0];
      return is_integral(from->type) && (size_of(from->type) <= 2 || from->kind == ExprKind::kParam);
    }
    const bool chooses = e->op == ScalarOp::kSelect;
    if (!chooses && !is_same_in_any_type(e->op)) return false;
    needs.arithmetic = true;
    needs.words |= needs_words(e->op);
    // Counts of bits are taken modulo the type's.
    if (e->op == ScalarOp::kShr && !contains(kCountsOfBits, ranges_.of(e->args[1]))) return false;
    return std::all_of(e->args.begin() + (chooses ? 1 : 0), e->args.end(),
                       [&](const Expr& arg) { return add(needs, arg); });
  }

  static std::optional<DType> type_for(const Needs& needs) {
    for (const DType type : kNarrow)
      if (fits(needs.values, type) && (!needs.words || size_of(type) == 2)) return type;
    return {};
  }

  /// The value of `e`, and all that it is made of, in a type that holds them.
  Expr in_type(const Expr& e, DType type, InType& made) {
    if (const auto found = made.find(e.get()); found != made.end()) return found->second;
    Expr out;
    if (is_const(e) || e->kind == ExprKind::kParam) {
      out = convert(e, type);
    } else if (e->op == ScalarOp::kConvert) {
      out = convert(e->args[0], type);
    } else {
      Operands args;
      for (const Expr& arg : e->args) args.push_back(is_bool(arg->type) ? arg : in_type(arg, type, made));
      out = make_op(e->op, type, std::move(args));
    }
    made.emplace(e.get(), out);
    return out;
  }

  /// Parameters by which the ranges below `e` were found: not those of places, and of conditions.
  void note_params(const Expr& e, NodeSet& seen) {
    if (e->kind == ExprKind::kLoad || !seen.insert(e.get())) return;
    if (e->kind == ExprKind::kParam && is_wide_int(e)) params_[static_cast<size_t>(e->index)] = true;
    for (const Expr& arg : e->args)
      if (!is_bool(arg->type)) note_params(arg, seen);
  }

  ValueRanges ranges_;
  std::vector<bool>& params_;
  NodeMap<Expr> done_;
  std::vector<Expr> keep_;
};

}  // namespace

Narrowing narrow_integers(Kernel& kernel, const std::optional<ScalarRange>& promised) {
  Narrowing out;
  out.params.assign(kernel.params.size(), false);
  for (Stage& stage : kernel.stages) {
    Narrower narrower(promised, out.params);
    for (Expr* part : {&stage.body, &stage.finish}) {
      if (!*part) continue;
      const Expr narrow = narrower.run(*part);
      out.changed |= narrow.get() != part->get();
      *part = narrow;
    }
  }
  return out;
}

std::optional<SmallNumbers> narrow_for_small_numbers(const Kernel& kernel) {
  for (const ScalarRange& range : kSmallNumbers) {
    SmallNumbers out{kernel, const_bool(true), range};
    const Narrowing found = narrow_integers(out.kernel, range);
    if (!found.changed) continue;
    for (size_t i = 0; i < found.params.size(); ++i) {
      if (!found.params[i]) continue;
      const DType type = kernel.params[i].type;
      const Expr number = param(static_cast<int>(i), type);
      const Expr here = (number >= const_int(static_cast<int64_t>(range.low), type)) &
                        (number <= const_int(static_cast<int64_t>(range.high), type));
      out.condition = is_const(out.condition) ? here : out.condition & here;
    }
    return out;
  }
  return {};
}

std::string narrow_arithmetic_of(const Stage& stage, const std::optional<ScalarRange>& promised) {
  ValueRanges ranges(promised);
  std::optional<ScalarRange> values;
  DType widest = DType::kU8;
  for (const Expr* part : {&stage.body, &stage.finish}) {
    if (!*part) continue;
    for_each_node(*part, [&](const Expr& e) {
      if (e->kind != ExprKind::kOp || !is_integral(e->type) || is_bool(e->type) || size_of(e->type) > 2)
        return;
      if (!is_same_in_any_type(e->op)) return;
      values = values ? hull(e->type, *values, ranges.of(e)) : ranges.of(e);
      if (size_of(e->type) > size_of(widest) || is_signed_int(e->type)) widest = e->type;
    });
  }
  if (!values) return {};
  return fmt::format("arithmetic in {}: values from {} to {}", short_name(widest),
                     static_cast<int64_t>(values->low), static_cast<int64_t>(values->high));
}

}  // namespace galatea::kernel
