// See spread_phases.h. How much work a phase is, is estimated for an image of middling size.
#include "compiler/kernel/spread_phases.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace galatea::kernel {

namespace {

constexpr double kExtent = 224;          ///< what an integer is taken for that only the call knows
constexpr double kWorthSharing = 16384;  ///< elements: 64 for each thread of one block

/// Rough values of bounds, and from them how many times the innermost bodies run.
class Work {
 public:
  explicit Work(const Block& lets) {
    for (const Statement& statement : lets)
      if (const auto* let = std::get_if<Let>(&statement.node)) values_[let->var] = value(let->value);
  }

  double of(const Block& block) {
    double sum = 0;
    for (const Statement& statement : block) {
      if (const auto* let = std::get_if<Let>(&statement.node)) values_[let->var] = value(let->value);
      if (const auto* loop = std::get_if<For>(&statement.node)) {
        const double turns = std::max(value(loop->end) - value(loop->begin), 0.0);
        sum += turns * std::max(of(loop->body), 1.0);
      }
      if (const auto* branch = std::get_if<If>(&statement.node))
        sum += of(branch->then_body) + of(branch->else_body);
    }
    return sum;
  }

 private:
  double value(const Expr& e) const {
    const auto arg = [&](size_t i) { return value(e->args[i]); };
    if (e->kind == ExprKind::kConst)
      return is_float(e->type) ? cell_to_double(e->type, e->value)
                               : static_cast<double>(cell_to_int(e->type, e->value));
    if (e->kind == ExprKind::kVar) {
      const auto known = values_.find(e->index);
      return known == values_.end() ? 0 : known->second;  // a loop's variable: at its beginning
    }
    if (e->kind != ExprKind::kOp) return kExtent;
    switch (e->op) {
      case ScalarOp::kAdd:
        return arg(0) + arg(1);
      case ScalarOp::kSub:
        return arg(0) - arg(1);
      case ScalarOp::kMul:
        return arg(0) * arg(1);
      case ScalarOp::kDiv:
        return arg(1) == 0 ? 0 : std::trunc(arg(0) / arg(1));
      case ScalarOp::kMin:
        return std::min(arg(0), arg(1));
      case ScalarOp::kMax:
        return std::max(arg(0), arg(1));
      case ScalarOp::kSelect:
        return std::max(arg(1), arg(2));
      case ScalarOp::kConvert:
      case ScalarOp::kSaturate:
        return arg(0);
      default:
        return kExtent;
    }
  }

  std::map<int, double> values_;
};

bool is_tile_loop(const Statement& statement) {
  const auto* loop = std::get_if<For>(&statement.node);
  return loop && loop->role == LoopRole::kTile;
}

bool loads(const Expr& e) {
  return e->kind == ExprKind::kLoadFlat || std::any_of(e->args.begin(), e->args.end(), loads);
}

/// Blocks compute what stands between phases at once, each for itself; of what a phase has stored, they could
/// not.
bool lets_can_come_first(const Block& body) {
  bool phases = false;
  for (const Statement& statement : body) {
    const auto* let = std::get_if<Let>(&statement.node);
    if (let && phases && loads(let->value)) return false;
    phases |= !let;
  }
  return true;
}

}  // namespace

void spread_phases(LoopKernel& loops, uint64_t random_seed) {
  const auto is_let = [](const Statement& s) { return std::holds_alternative<Let>(s.node); };
  const auto parts = static_cast<size_t>(
      std::count_if(loops.body.begin(), loops.body.end(), [&](const Statement& s) { return !is_let(s); }));
  if (parts < 2 || !lets_can_come_first(loops.body)) return;
  Work work(loops.body);
  auto spread = std::count_if(loops.body.begin(), loops.body.end(), is_tile_loop);
  uint64_t state = random_seed;
  for (Statement& statement : loops.body) {
    auto* phase = std::get_if<Phase>(&statement.node);
    if (!phase || spread >= kMostSpread) continue;
    state = state * 6364136223846793005U + 1442695040888963407U;
    phase->spread = random_seed != 0 ? (state >> 33) % 2 == 0 : work.of(phase->body) >= kWorthSharing;
    if (phase->spread) ++spread;
  }
}

bool shares_phases(const LoopKernel& loops) { return !shared_steps(loops).empty(); }

std::vector<SharedStep> shared_steps(const LoopKernel& loops) {
  std::vector<SharedStep> out;
  size_t parts = 0;
  bool any = false;
  for (const Statement& statement : loops.body) {
    if (std::holds_alternative<Let>(statement.node)) continue;
    ++parts;
    const auto* phase = std::get_if<Phase>(&statement.node);
    if (!phase || phase->spread) {
      out.push_back({&statement, {}});
      any = true;
      continue;
    }
    if (out.empty()) out.emplace_back();
    out.back().alone.push_back(phase);
  }
  if (parts < 2 || !any) out.clear();
  return out;
}

}  // namespace galatea::kernel
