#include "compiler/kernel/stage_edit.h"

#include <algorithm>
#include <unordered_map>

namespace galatea::kernel {

std::array<Expr*, 5> element_parts(Stage& stage) {
  return {&stage.first, &stage.weight, &stage.source, &stage.body, &stage.finish};
}
std::array<const Expr*, 5> element_parts(const Stage& stage) {
  return {&stage.first, &stage.weight, &stage.source, &stage.body, &stage.finish};
}

bool is_stage_load(const Expr& e, int stage) {
  return e->kind == ExprKind::kLoad && e->target == LoadTarget{LoadTarget::Kind::kStage, stage};
}

std::vector<Expr> loads_of(const Stage& reader, int target) {
  std::vector<Expr> out;
  for (const Expr* part : element_parts(reader)) {
    for_each_node(*part, [&](const Expr& e) {
      if (!is_stage_load(e, target)) return;
      if (std::none_of(out.begin(), out.end(), [&](const Expr& known) { return same(known, e); }))
        out.push_back(e);
    });
  }
  return out;
}

std::vector<int> readers_of(const Kernel& kernel, int target) {
  std::vector<int> out;
  for (size_t i = 0; i < kernel.stages.size(); ++i) {
    if (!loads_of(kernel.stages[i], target).empty()) out.push_back(static_cast<int>(i));
  }
  return out;
}

bool is_output(const Kernel& kernel, int stage) {
  return std::any_of(kernel.outputs.begin(), kernel.outputs.end(),
                     [&](const KernelOutput& o) { return o.stage == stage; });
}

int only_reader(const Kernel& kernel, int stage) {
  if (is_output(kernel, stage)) return -1;
  std::vector<int> readers = readers_of(kernel, stage);
  return readers.size() == 1 ? readers[0] : -1;
}

namespace {
Expr rewrite_loads_once(const Expr& e, const LoadRewriter& replace, NodeMap<Expr>& done) {
  if (!contains(e, ExprKind::kLoad)) return e;
  if (auto found = done.find(e.get()); found != done.end()) return found->second;
  Operands args =
      detail::changed_args(*e, [&](const Expr& arg) { return rewrite_loads_once(arg, replace, done); });
  Expr out;
  if (e->kind == ExprKind::kLoad) out = replace(e, args.empty() ? e->args : args);
  if (!out) out = args.empty() ? e : detail::with_args(*e, std::move(args));
  done.emplace(e.get(), out);
  return out;
}
}  // namespace

Expr rewrite_loads(const Expr& e, const LoadRewriter& replace) {
  NodeMap<Expr> done;
  return e ? rewrite_loads_once(e, replace, done) : e;
}

Expr substitute_axes(const Expr& e, std::span<const Expr> axes) {
  if (!e) return e;
  return rewrite_kinds(e, bit_of(ExprKind::kAxis), [&](const Expr& node) {
    return node->kind == ExprKind::kAxis ? axes[static_cast<size_t>(node->index)] : Expr();
  });
}

Expr substitute_accumulator(const Expr& e, const Expr& value) {
  if (!e) return e;
  return rewrite_kinds(e, bit_of(ExprKind::kAcc),
                       [&](const Expr& node) { return node->kind == ExprKind::kAcc ? value : Expr(); });
}

Expr finish_of(const Stage& stage) {
  return stage.finish ? stage.finish : convert(accumulator(stage.accumulator), stage.type);
}

namespace {

/// index = axis `op` a constant.
bool is_part_of_axis(const Expr& index, ScalarOp op) {
  return index->kind == ExprKind::kOp && index->op == op &&
         (index->args[0]->kind == ExprKind::kAxis || index->args[0]->kind == ExprKind::kReduceAxis) &&
         is_const(index->args[1]) && const_value(index->args[1]) > 1;
}

/// Of a sum or a difference whose second operand has no axis, the first one.
const Expr& without_offset(const Expr& index) {
  const bool moved = index->kind == ExprKind::kOp &&
                     (index->op == ScalarOp::kAdd || index->op == ScalarOp::kSub) &&
                     !contains(index->args[1], ExprKind::kAxis);
  return moved ? index->args[0] : index;
}

}  // namespace

std::optional<GroupedAxis> grouped_axis(const ExprNode& load) {
  for (size_t place = 0; place < load.args.size(); ++place) {
    const Expr& remainder = load.args[place];
    if (!is_part_of_axis(remainder, ScalarOp::kRem)) continue;
    for (size_t group = 0; group < load.args.size(); ++group) {
      const Expr& quotient = without_offset(load.args[group]);
      if (is_part_of_axis(quotient, ScalarOp::kDiv) && same(quotient->args[0], remainder->args[0]) &&
          same(quotient->args[1], remainder->args[1]))
        return GroupedAxis{remainder->args[0]->index, remainder->args[1], static_cast<int>(group),
                           static_cast<int>(place), remainder->args[0]->kind == ExprKind::kReduceAxis};
    }
  }
  return std::nullopt;
}

bool same_extents(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Expr& x, const Expr& y) { return same(x, y); });
}

int num_operations(const Expr& e) {
  int count = 0;
  for_each_node(e, [&](const Expr& node) {
    count += node->kind == ExprKind::kOp || node->kind == ExprKind::kPhilox ? 1 : 0;
  });
  return count;
}

}  // namespace galatea::kernel
