// Finding runs; see wide_loops.h.
#include "compiler/codegen/cuda/wide_loops.h"

#include <algorithm>
#include <set>

namespace galatea::codegen {

namespace {

using namespace kernel;

constexpr int64_t kRunBytes = 16;       ///< of the widest element type, a thread
constexpr int64_t kMostScale = 4;       ///< elements of a step: channels
constexpr size_t kMostStatements = 48;  ///< they stand in the text twice
// Copies of a body cost registers and NVRTC's time (of a warp sixteen copies take four times as long as
// four); and whoever computes much is not waiting for stores. A word a thread is a line a warp.
constexpr int64_t kMostOperations = 384;  ///< of all copies together
constexpr int64_t kLeastBytes = 4;

class Planner {
 public:
  Planner(const LoopKernel& kernel, const For& loop)
      : kernel_(kernel), loop_(loop), varying_(kernel.var_types.size(), false) {}

  std::optional<WideLoop> run() {
    if (loop_.role != LoopRole::kGrid || loop_.body.size() > kMostStatements || !is_const_int(loop_.begin, 0))
      return {};
    if (!find_along()) return {};
    for (const Statement& statement : loop_.body)
      if (const auto* store = std::get_if<Store>(&statement.node)) stored_.insert(store->buffer);
    for (const Statement& statement : loop_.body) {
      for_each_expr(statement, [&](const Expr& e) { look(e); });
      if (const auto* store = std::get_if<Store>(&statement.node))
        if (const auto place = place_of(store->offset, store->buffer, true))
          wide_.stores.emplace(store, *place);
    }
    drop_partial_stores();
    // Tables are too small to matter.
    const bool tensor = std::any_of(wide_.runs.begin(), wide_.runs.end(), [&](const WideRun& run) {
      return kernel_.buffers[static_cast<size_t>(run.buffer)].kind != BufferKind::kScratch;
    });
    if (wide_.stores.empty() || !tensor) return {};
    int64_t widest = 1;
    for (const WideRun& run : wide_.runs)
      widest = std::max<int64_t>(widest, size_of(kernel_.buffers[static_cast<size_t>(run.buffer)].type));
    wide_.width = kRunBytes / widest;
    const int64_t operations = count_operations();
    while (wide_.width * operations > kMostOperations && wide_.width * widest > kLeastBytes) wide_.width /= 2;
    return std::move(wide_);
  }

 private:
  /// The variable that counts elements of a row, and what is the same for all elements of one.
  bool find_along() {
    wide_.along = loop_.var;
    varying_[static_cast<size_t>(loop_.var)] = true;
    int quotient = -1;
    for (const Statement& statement : loop_.body) {
      const auto* let = std::get_if<Let>(&statement.node);
      if (!let && !std::holds_alternative<Store>(statement.node)) return false;
      if (const auto* store = std::get_if<Store>(&statement.node); store && store->add) return false;
      if (!let) continue;
      if (is_split(let->value, ScalarOp::kRem) && wide_.along == loop_.var) {
        wide_.along = let->var;
        wide_.row = let->value->args[1];
      }
    }
    for (const Statement& statement : loop_.body) {
      const auto* let = std::get_if<Let>(&statement.node);
      wide_.once.push_back(false);
      if (!let) continue;
      if (wide_.row && quotient < 0 && is_split(let->value, ScalarOp::kDiv) &&
          same(let->value->args[1], wide_.row)) {
        quotient = let->var;
        wide_.once.back() = true;
        continue;
      }
      wide_.once.back() = !varies(let->value);
      varying_[static_cast<size_t>(let->var)] = !wide_.once.back();
    }
    return true;
  }
  bool is_split(const Expr& e, ScalarOp op) const {
    return e->kind == ExprKind::kOp && e->op == op && e->args[0]->kind == ExprKind::kVar &&
           e->args[0]->index == loop_.var;
  }
  bool varies(const Expr& e) const {
    if (e->kind == ExprKind::kLoadFlat) return true;
    if (e->kind == ExprKind::kVar) return varying_[static_cast<size_t>(e->index)];
    return std::any_of(e->args.begin(), e->args.end(), [&](const Expr& arg) { return varies(arg); });
  }

  /// Of one element.
  int64_t count_operations() const {
    std::set<const ExprNode*> seen;
    int64_t count = 0;
    for (size_t i = 0; i < loop_.body.size(); ++i) {
      if (wide_.once[i]) continue;
      for_each_expr(loop_.body[i], [&](const Expr& e) {
        for_each_node(e, [&](const Expr& node) {
          if (node->kind == ExprKind::kOp && seen.insert(node.get()).second) ++count;
        });
      });
    }
    return count;
  }

  void look(const Expr& e) {
    if (e->kind == ExprKind::kLoadFlat && !stored_.contains(e->index) && !wide_.loads.contains(e.get()))
      if (const auto place = place_of(e->args[0], e->index, false)) wide_.loads.emplace(e.get(), *place);
    for (const Expr& arg : e->args) look(arg);
  }
  std::optional<WideLoop::Place> place_of(const Expr& offset, int buffer, bool store) {
    std::vector<bool> others = varying_;
    others[static_cast<size_t>(wide_.along)] = false;
    VectorOffset form;
    if (!match_vector_offset(offset, wide_.along, others, &form) || !form.scale || !is_const(form.scale))
      return {};
    if (form.uniform && varies(form.uniform)) return {};
    const int64_t scale = const_value(form.scale);
    if (scale < 1 || scale > kMostScale) return {};
    const int64_t element = ((form.constant % scale) + scale) % scale, low = form.constant - element;
    for (size_t r = 0; r < wide_.runs.size(); ++r) {
      const WideRun& run = wide_.runs[r];
      const bool same_place =
          run.uniform && form.uniform ? same(run.uniform, form.uniform) : !run.uniform && !form.uniform;
      if (run.buffer == buffer && run.store == store && run.scale == scale && run.low == low && same_place)
        return WideLoop::Place{r, element};
    }
    wide_.runs.push_back({buffer, store, form.uniform, scale, low});
    return WideLoop::Place{wide_.runs.size() - 1, element};
  }
  /// A run is stored whole or not at all; loads may leave elements out.
  void drop_partial_stores() {
    std::vector<std::set<int64_t>> elements(wide_.runs.size());
    for (const auto& [store, place] : wide_.stores) elements[place.run].insert(place.element);
    std::erase_if(wide_.stores, [&](const auto& entry) {
      const size_t run = entry.second.run;
      return static_cast<int64_t>(elements[run].size()) != wide_.runs[run].scale;
    });
  }

  const LoopKernel& kernel_;
  const For& loop_;
  WideLoop wide_;
  std::vector<bool> varying_;
  std::set<int> stored_;
};

}  // namespace

std::optional<WideLoop> plan_wide(const LoopKernel& kernel, const For& loop) {
  return Planner(kernel, loop).run();
}

}  // namespace galatea::codegen
