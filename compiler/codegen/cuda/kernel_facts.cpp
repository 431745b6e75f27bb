// What a launch has to know of a kernel; declared in emit.h.
#include <algorithm>

#include "compiler/codegen/cuda/emit.h"
#include "compiler/kernel/division.h"
#include "compiler/kernel/lowering.h"
#include "compiler/kernel/spread_phases.h"

namespace galatea::codegen {

using namespace kernel;

int num_inputs(const LoopKernel& loops) {
  int count = 0;
  for (const LoopBuffer& buffer : loops.buffers)
    if (buffer.kind == BufferKind::kInput) count = std::max(count, buffer.tensor + 1);
  return count;
}

bool can_be_tiled(const LoopKernel& loops) {
  return loops.block_bytes || shares_phases(loops) ||
         std::count_if(loops.body.begin(), loops.body.end(), [](const Statement& statement) {
           return std::holds_alternative<Phase>(statement.node);
         }) <= 1;
}

bool is_made_in_tiles(const LoopKernel& loops) { return loops.block_bytes && !shares_phases(loops); }

FlagCauses flag_causes(const Kernel& kernel) {
  FlagCauses out;
  const auto look = [&](const Expr& e) {
    const Expr* divisor = doubtful_divisor(*e);
    if (!divisor || !may_be_zero(*divisor)) return;
    if ((*divisor)->kind != ExprKind::kParam)
      out.may_fail = true;
    else if (std::ranges::find(out.divisors, (*divisor)->index) == out.divisors.end())
      out.divisors.push_back((*divisor)->index);
  };
  for (const Stage& stage : kernel.stages)
    lowering::for_each_stage_expr(stage, [&](const Expr& e) { for_each_node(e, look); });
  return out;
}

}  // namespace galatea::codegen
