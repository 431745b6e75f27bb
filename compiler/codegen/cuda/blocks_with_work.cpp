// How many blocks of a call have something to do; declared in emit.h.
//
// Comes in: loops in the form for GPUs. Goes out: a number over parameters, which the host computes for each
// call: whoever has more blocks than that starts some that read a call and leave. Never changes a value.
#include <algorithm>
#include <map>
#include <set>

#include "compiler/codegen/cuda/emit.h"
#include "compiler/codegen/cuda/wide_loops.h"
#include "compiler/kernel/spread_phases.h"

namespace galatea::codegen {

namespace {

using namespace kernel;

/// Elements that a thread should make at least: before the first one it finds its call and reads sizes.
constexpr int64_t kLeastElements = 8;
/// Of the number: what takes more is not worth computing for each call.
constexpr size_t kMostNodes = 64;

/// Elements that one iteration stores, as far as that matters; a loop as long as a call says counts as many.
int64_t elements_of(const Block& body) {
  int64_t out = 0;
  for (const Statement& statement : body) {
    if (std::holds_alternative<Store>(statement.node)) ++out;
    if (const auto* branch = std::get_if<If>(&statement.node)) out += elements_of(branch->then_body);
    const auto* loop = std::get_if<For>(&statement.node);
    if (!loop) continue;
    const bool is_known = is_const(loop->begin) && is_const(loop->end);
    const int64_t turns = is_known ? const_value(loop->end) - const_value(loop->begin) : kLeastElements;
    out += std::clamp<int64_t>(turns, 0, kLeastElements) * std::max<int64_t>(elements_of(loop->body), 1);
  }
  return out;
}

/// Iterations of a loop that one thread takes.
int64_t iterations_of_thread(const LoopKernel& kernel, const For& loop) {
  const auto wide = plan_wide(kernel, loop);
  const int64_t elements = std::max<int64_t>(elements_of(loop.body), 1);
  return std::max((kLeastElements + elements - 1) / elements, wide ? wide->width : 1);
}

class WorkCounter {
 public:
  explicit WorkCounter(const LoopKernel& kernel) : kernel_(kernel) {}

  Expr run() {
    for (const Statement& statement : kernel_.body) count(statement);
    return is_known_ && most_ && num_nodes(most_) <= kMostNodes ? most_ : Expr();
  }

 private:
  void count(const Statement& statement) {
    if (const auto* let = std::get_if<Let>(&statement.node)) {
      lets_.emplace(let->var, let->value);
    } else if (const auto* phase = std::get_if<Phase>(&statement.node)) {
      // Of a kernel with several, one block does those that are not spread.
      if (phase->spread || !shares_)
        for (const Statement& inner : phase->body) count(inner);
    } else if (const auto* loop = std::get_if<For>(&statement.node)) {
      const int64_t each =
          loop->role == LoopRole::kTile ? 1 : kCudaThreads * iterations_of_thread(kernel_, *loop);
      add(over_params(loop->end - loop->begin), each);
    }
  }
  void add(const Expr& iterations, int64_t each) {
    const Expr blocks = each == 1 ? iterations : (iterations + const_int(each - 1)) / const_int(each);
    most_ = most_ ? max(most_, blocks) : blocks;
  }
  /// With what its variables stand for.
  Expr over_params(const Expr& e) {
    return rewrite(e, [&](const Expr& x) -> Expr {
      if (x->kind == ExprKind::kConst || x->kind == ExprKind::kParam || x->kind == ExprKind::kOp) return {};
      const auto let = x->kind == ExprKind::kVar ? lets_.find(x->index) : lets_.end();
      if (let == lets_.end()) {
        is_known_ = false;
        return const_int(0);
      }
      return over_params(let->second);
    });
  }
  static size_t num_nodes(const Expr& e) {
    std::set<const ExprNode*> seen;
    for_each_node(e, [&](const Expr& node) { seen.insert(node.get()); });
    return seen.size();
  }

  const LoopKernel& kernel_;
  const bool shares_ = shares_phases(kernel_);
  std::map<int, Expr> lets_;
  Expr most_;
  bool is_known_ = true;
};

}  // namespace

Expr blocks_with_work(const LoopKernel& loops) {
  return can_be_tiled(loops) ? WorkCounter(loops).run() : const_int(1);
}

}  // namespace galatea::codegen
