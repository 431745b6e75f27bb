#include "compiler/kernel/element_program.h"

#include <algorithm>

#include "base/result.h"
#include "compiler/kernel/node_map.h"

namespace galatea::kernel {
namespace {

uint64_t leaf_of(const ExprNode& node) {
  const auto index = static_cast<size_t>(node.index);
  switch (node.kind) {
    case ExprKind::kOp:
    case ExprKind::kPhilox:
    case ExprKind::kLoad:
      return 0;  // only their operands vary
    case ExprKind::kAxis:
    case ExprKind::kReduceAxis:
      GALATEA_CHECK(index < leaf_set::kMostAxes, "an expression over more axes than there can be");
      return node.kind == ExprKind::kAxis ? leaf_set::axis(index) : leaf_set::reduce_axis(index);
    case ExprKind::kTap:
      return leaf_set::kTap;
    case ExprKind::kAcc:
      return leaf_set::kAcc;
    default:
      return leaf_set::kOthers;
  }
}

}  // namespace

ElementProgram::ElementProgram(const Expr& root) : root_(root) {
  NodeMap<size_t> place;
  std::vector<uint64_t> varies_with;  // of each node
  size_t most_operands = 3;           // evaluate() may read as many
  for_each_node(root, [&](const Expr& e) {
    const DType operand_type = e->args.empty() ? e->type : e->args[0].type();
    Step step{.node = e.get(),
              .varies_with = leaf_of(*e),
              .kind = e->kind,
              .op = e->op,
              .type = e->kind == ExprKind::kOp && is_comparison(e->op) ? operand_type : e->type,
              .from = operand_type,
              .args = args_.size(),
              .args_end = args_.size() + e->args.size(),
              .to = values_.size()};
    for (const Expr& arg : e->args) {
      args_.push_back(place.find(arg.get())->second);
      step.varies_with |= varies_with[args_.back()];
    }
    most_operands = std::max(most_operands, e->args.size());
    place.emplace(e.get(), step.to);
    const bool is_constant = e->kind == ExprKind::kConst;
    varies_with.push_back(is_constant ? 0 : step.varies_with);
    values_.push_back(is_constant ? e->value : Cell{});
    if (!is_constant) steps_.push_back(step);
  });
  operands_.resize(most_operands);
}

Cell ElementProgram::run(LeafSource& leaves, uint32_t* flags, uint64_t changed) {
  const bool everything = !has_run_ || changed == leaf_set::kAll;
  for (const Step& step : steps_)
    if (everything || (step.varies_with & changed) != 0) values_[step.to] = compute(step, leaves, flags);
  has_run_ = true;
  return values_.back();
}

Cell ElementProgram::compute(const Step& step, LeafSource& leaves, uint32_t* flags) {
  Cell* const operands = operands_.data();
  for (size_t k = step.args; k < step.args_end; ++k) operands[k - step.args] = values_[args_[k]];
  switch (step.kind) {
    case ExprKind::kOp:
      return evaluate(step.op, step.type, step.from, operands, flags);
    case ExprKind::kPhilox:
      return {philox(operands[0].bits, operands[1].bits, operands[2].bits, step.node->index)};
    default:
      return leaves.leaf(*step.node, operands);
  }
}

}  // namespace galatea::kernel
