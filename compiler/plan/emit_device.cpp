// Between the GPU and the host: copies of what the host needs, and the barriers behind which they are there.
#include <algorithm>

#include "compiler/kernel/division.h"
#include "compiler/plan/emitter.h"

namespace galatea::plan {

using runtime::Instruction;

bool Emitter::is_made_on_gpu(ir::ValueId value) const {
  const ir::NodeId node = graph_.value(value).node;
  if (node == ir::kNoId) return branches_.branch_of_merge(graph_, value) >= 0;
  const int group = groups_.of_node[node];
  return group >= 0 && groups_.groups[static_cast<size_t>(group)].on_gpu;
}

bool Emitter::may_raise_flags(const PlannedKernel& kernel) const {
  const runtime::DeviceKernel& device = *program_.kernels[static_cast<size_t>(kernel.kernel)].device;
  return device.may_fail || std::ranges::any_of(device.divisors, [&](int32_t param) {
           return kernel::may_be_zero(table_.resolve(kernel.params[static_cast<size_t>(param)]));
         });
}

int Emitter::emit_download(ir::ValueId value) {
  GALATEA_CHECK(table_.info(value).window.empty(), "a part of a tensor cannot come to the host");
  const int from = slot_of(value);
  claim_copy(value);
  Instruction& instruction = emit(Op::kToHost);
  instruction.dst = new_slot();
  instruction.a = from;
  claimed_slot(instruction.dst);
  return instruction.dst;
}

void Emitter::emit_device_barrier(bool waits) {
  Instruction& instruction = emit(Op::kBarrier);
  instruction.a = runtime::kDeviceBarrier;
  instruction.imm = waits ? 1 : 0;
}

int Emitter::host_slot_of(ir::ValueId value) {
  if (!residence_.on_gpu(value)) return slot_of(value);
  for (auto [block, slot] : host_slots_[value])
    if (visible_here(block)) return slot;
  object_to_bringing(value);
  const int slot = emit_download(value);
  emit_device_barrier(true);
  host_slots_[value][block_] = slot;
  added_downloads_.emplace_back(value, block_);
  return slot;
}

}  // namespace galatea::plan
