// Finds the vector loops with gathers and gives them their form.
//
// Comes in: loops as the stages' nests wrote them. Goes out: those of lower_gather.cpp, twice where
// conditions hold on whole rows (lower_row_guard.cpp).
#include "compiler/kernel/lower_gather.h"

namespace galatea::kernel::lowering {

namespace {

Block shaped_loop(LoopKernel& kernel, const For& loop, GatherLoop& gather) {
  Block shaped = gather.run();
  auto row = guarded_row(kernel, loop);
  if (!row) return shaped;
  GatherLoop quick(kernel, row->loop);
  Block whole_row, out;
  // What is selected where the condition does not hold may have been all that was gathered.
  if (quick.find())
    whole_row = quick.run();
  else
    whole_row.push_back({row->loop, {}});
  out.push_back({If{row->condition, std::move(whole_row), std::move(shaped)}, {}});
  return out;
}

}  // namespace

void shape_gathers(LoopKernel& kernel, Block& block) {
  Block out;
  for (Statement& statement : block) {
    if (auto* phase = std::get_if<Phase>(&statement.node)) shape_gathers(kernel, phase->body);
    if (auto* branch = std::get_if<If>(&statement.node)) {
      shape_gathers(kernel, branch->then_body);
      shape_gathers(kernel, branch->else_body);
    }
    if (auto* loop = std::get_if<For>(&statement.node)) {
      if (loop->role == LoopRole::kVector && loop->lanes > 1) {
        GatherLoop gather(kernel, *loop);
        if (gather.find()) {
          for (Statement& shaped : shaped_loop(kernel, *loop, gather)) out.push_back(std::move(shaped));
          continue;
        }
      } else {
        shape_gathers(kernel, loop->body);
      }
    }
    out.push_back(std::move(statement));
  }
  block = std::move(out);
}

}  // namespace galatea::kernel::lowering
