// tabulate: see passes.h. Which expressions are functions of one byte, and whether they are worth a table.
//
// A table costs 256 evaluations a sample; a look-up costs what a few operations cost. Whether the table is
// made is the schedule's choice for its target: inlined, it is the expression that was there.
//
// Off, `color-chain` to bytes takes 2.7 times as long, to floats 1.5 times (`./dev bench color-chain`,
// 2-core AMD EPYC, Zen 5).
#include <unordered_map>

#include "compiler/kernel/division.h"
#include "compiler/kernel/passes/passes.h"
#include "compiler/kernel/stage_edit.h"

namespace galatea::kernel {
namespace {

constexpr int64_t kEntries = 256;
constexpr int kFewestOperations = 3;
constexpr int64_t kSmallStage = 16 * kEntries;  ///< elements; fewer are not worth a table

bool is_operation(const Expr& e, ScalarOp op) { return e->kind == ExprKind::kOp && e->op == op; }

/// A f32 that is a byte: min(max(round(x), 0), 255), as simplify writes f32(saturate_u8(x)).
bool is_byte_as_float(const Expr& e, Expr* byte) {
  if (e->type != DType::kF32 || !is_operation(e, ScalarOp::kMin) || !is_operation(e->args[0], ScalarOp::kMax))
    return false;
  const Expr& inner = e->args[0];
  const auto is_number = [](const Expr& x, double value) {
    return is_const(x) && x->value.bits == cell_from_double(DType::kF32, value).bits;
  };
  if (!is_number(e->args[1], 255) || !is_number(inner->args[1], 0) ||
      !is_operation(inner->args[0], ScalarOp::kRound))
    return false;
  *byte = saturate(inner->args[0]->args[0], DType::kU8);
  return true;
}

/// The bytes that expressions are functions of.
class Sources {
 public:
  /// Fills in the byte on which alone `e` depends, besides parameters: empty if on nothing; false if on more.
  bool find(const Expr& e, Expr* source) {
    if (auto found = memo_.find(e.get()); found != memo_.end()) {
      *source = found->second.source;
      return found->second.single;
    }
    Result result;
    switch (e->kind) {
      case ExprKind::kConst:
      case ExprKind::kParam:
        break;
      case ExprKind::kOp:
        for (const Expr& arg : e->args) {
          Expr here;
          result.single &= find(arg, &here);
          if (result.single && here && result.source && !same(here, result.source)) result.single = false;
          if (here) result.source = here;
        }
        break;
      default:
        result.single = false;
    }
    // Whatever a byte was made from, it is a byte.
    if (Expr byte = e; !result.single && (e->type == DType::kU8 || is_byte_as_float(e, &byte)))
      result = {byte, true};
    if (!result.single) result.source = Expr();
    memo_.emplace(e.get(), result);
    keep_.push_back(e);
    *source = result.source;
    return result.single;
  }

 private:
  struct Result {
    Expr source;
    bool single = true;
  };
  NodeMap<Result> memo_;
  std::vector<Expr> keep_;
};

class Tabulator {
 public:
  explicit Tabulator(Kernel& kernel) : kernel_(kernel) {}

  void run() {
    for (Stage& stage : kernel_.stages) {
      if (is_small(stage)) continue;
      for (Expr* part : {&stage.body, &stage.finish})
        if (*part) *part = rewrite(*part, [&](const Expr& e) { return look_up_instead(stage, e); });
    }
    if (tables_.empty()) return;
    const auto first = static_cast<int>(tables_.size());
    for (Stage& stage : kernel_.stages) {
      for (Expr* part : element_parts(stage))
        *part = rewrite_loads(*part, [&](const Expr& e, const Operands& indices) {
          if (e->target.kind != LoadTarget::Kind::kStage) return Expr();
          // Tables have the numbers below 0 until they stand first.
          const int number = e->target.index < 0 ? -1 - e->target.index : first + e->target.index;
          return load({LoadTarget::Kind::kStage, number}, e->type, indices, e->border, e->fill);
        });
      tables_.push_back(std::move(stage));
    }
    kernel_.stages = std::move(tables_);
    for (KernelOutput& output : kernel_.outputs) output.stage += first;
  }

 private:
  static bool is_small(const Stage& stage) {
    int64_t elements = 1;
    for (const std::vector<Expr>* extents : {&stage.extents, &stage.reduce_extents})
      for (const Expr& extent : *extents) {
        if (!is_const(extent)) return false;
        elements *= std::max<int64_t>(const_value(extent), 0);
        if (elements > kSmallStage) return false;
      }
    return true;
  }

  Expr look_up_instead(const Stage& stage, const Expr& e) {
    Expr byte = e;
    if (e->type != DType::kU8 && !is_byte_as_float(e, &byte)) return {};
    Expr source;
    if (!sources_.find(byte, &source) || !source || source.get() == byte.get()) return {};
    const Expr entry = rewrite(byte, [&](const Expr& x) {
      Expr here = x;
      const bool is_byte = x->type == DType::kU8 || is_byte_as_float(x, &here);
      return is_byte && same(here, source) ? convert(convert(axis(0), DType::kU8), x->type) : Expr();
    });
    if (num_operations(entry) - 1 < kFewestOperations) return {};
    Stage table;
    table.name = stage.name.empty() ? std::string() : stage.name + " table";
    table.type = DType::kU8;
    table.extents = {const_int(kEntries)};
    table.body = entry;
    table.span = stage.span;
    if (may_raise_flag(table)) return {};  // for bytes that no pixel has
    const LoadTarget target{LoadTarget::Kind::kStage, -1 - number_of(std::move(table))};
    return convert(load(target, DType::kU8, {convert(source, DType::kI64)}), e->type);
  }

  int number_of(Stage table) {
    for (size_t i = 0; i < tables_.size(); ++i)
      if (same(tables_[i].body, table.body)) return static_cast<int>(i);
    tables_.push_back(std::move(table));
    return static_cast<int>(tables_.size()) - 1;
  }

  Kernel& kernel_;
  Sources sources_;
  std::vector<Stage> tables_;
};

}  // namespace

void tabulate(Kernel& kernel) { Tabulator(kernel).run(); }

}  // namespace galatea::kernel
