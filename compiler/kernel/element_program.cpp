#include "compiler/kernel/element_program.h"

#include <algorithm>

namespace galatea::kernel {

ElementProgram::ElementProgram(const Expr& root) : root_(root) {
  std::unordered_map<const ExprNode*, int> number;
  for_each_node(root, [&](const Expr& e) {
    Step step{e.get(), {}};
    for (const Expr& arg : e->args) step.args.push_back(number.at(arg.get()));
    number.emplace(e.get(), static_cast<int>(steps_.size()));
    args_.resize(std::max(args_.size(), step.args.size()));
    steps_.push_back(std::move(step));
  });
  values_.resize(steps_.size());
}

Cell ElementProgram::run(LeafSource& leaves, uint32_t* flags) {
  Cell* const args = args_.data();
  for (size_t i = 0; i < steps_.size(); ++i) {
    const ExprNode& node = *steps_[i].node;
    for (size_t k = 0; k < steps_[i].args.size(); ++k)
      args[k] = values_[static_cast<size_t>(steps_[i].args[k])];
    switch (node.kind) {
      case ExprKind::kConst:
        values_[i] = node.value;
        break;
      case ExprKind::kOp:
        values_[i] = evaluate(node.op, is_comparison(node.op) ? node.args[0]->type : node.type,
                              node.args[0]->type, args, flags);
        break;
      case ExprKind::kPhilox:
        values_[i] = {philox(args[0].bits, args[1].bits, args[2].bits, node.index)};
        break;
      default:
        values_[i] = leaves.leaf(node, args);
        break;
    }
  }
  return values_.back();
}

}  // namespace galatea::kernel
