// Where the samples of a batch meet: numbers of theirs, or tensors (runtime::BatchStep).
//
// Numbers that are known from headers meet before anything is decoded, so that samples wait with the bytes of
// their files and no more. A tensor that others may take is made in memory that may outlive the sample, so
// that nothing is copied.
#include <algorithm>

#include "compiler/plan/emitter.h"

namespace galatea::plan {

using op::LoweredOutput;
using runtime::BatchStep;
using runtime::Instruction;

/// What is taken at a meeting, and what that is a view or a merge of.
void Emitter::find_lent_values() {
  lent_.assign(graph_.values.size(), false);
  std::vector<ir::ValueId> todo;
  for (const ir::Block& block : graph_.blocks)
    for (ir::NodeId node : block.nodes)
      for (const op::NativeOutput& native : table_.lowering(node).natives)
        if (native.of_place) todo.push_back(graph_.node(node).inputs[static_cast<size_t>(native.inputs[0])]);
  while (!todo.empty()) {
    const ir::ValueId value = todo.back();
    todo.pop_back();
    if (lent_[value]) continue;
    lent_[value] = true;
    const ir::Value& made = graph_.value(value);
    if (made.node == ir::kNoId) {
      const ir::Merge& merge = graph_.block(made.block).merges[made.index];
      todo.insert(todo.end(), merge.operands.begin(), merge.operands.end());
      continue;
    }
    const op::Lowering& lowering = table_.lowering(made.node);
    if (made.index >= lowering.outputs.size() || groups_.of_node[made.node] >= 0) continue;
    const LoweredOutput& output = lowering.outputs[made.index];
    if (output.kind == LoweredOutput::Kind::kView)
      todo.push_back(graph_.node(made.node).inputs[static_cast<size_t>(output.input)]);
  }
}

bool Emitter::is_shared(ir::ValueId value) const {
  if (!lent_[value] || table_.info(value).scalar || residence_.on_gpu(value)) return false;
  const ir::Value& made = graph_.value(value);
  if (made.node == ir::kNoId) {
    const ir::Merge& merge = graph_.block(made.block).merges[made.index];
    return std::ranges::all_of(merge.operands, [this](ir::ValueId operand) { return is_shared(operand); });
  }
  const ir::Node& node = graph_.node(made.node);
  if (node.op->source) return node.op->is_fed();
  if (output_of_[value] >= 0) return !program_.outputs[static_cast<size_t>(output_of_[value])].on_device;
  if (groups_.of_node[made.node] >= 0) return true;
  const op::Lowering& lowering = table_.lowering(made.node);
  const LoweredOutput& output = lowering.outputs[made.index];
  if (output.kind == LoweredOutput::Kind::kView)
    return is_shared(node.inputs[static_cast<size_t>(output.input)]);
  if (output.kind != LoweredOutput::Kind::kNative) return false;
  const op::NativeOutput& native = lowering.natives[static_cast<size_t>(output.native)];
  return native.is_of_batch() || (!native.allocates && !table_.is_offered(made.node));
}

int Emitter::allocate_to_lend(DType type, const std::vector<Expr>& extents) {
  claim(MemoryClaim::Kind::kOutput, type, extents, graph_.node(node_).op->name);
  const int slot = emit_allocation(type, extents);
  program_.code.back().b = 1;
  return slot;
}

BatchStep& Emitter::emit_barrier() {
  object("a meeting of the batch");
  emit(Op::kBarrier).a = static_cast<int32_t>(program_.batch_steps.size());
  return program_.batch_steps.emplace_back();
}

void Emitter::emit_scalar_meeting(const op::NativeScalars& native) {
  const std::vector<int32_t> from = regs(native.scalars);
  // Numbers that are known at a meeting right before this one join it.
  const bool is_behind_one = !program_.code.empty() && program_.code.back().op == Op::kBarrier &&
                             program_.code.back().a != runtime::kDeviceBarrier;
  const auto is_result = [&](int32_t r) {
    return std::ranges::any_of(program_.batch_steps.back().scalars,
                               [r](const BatchStep::Scalar& part) { return part.to == r; });
  };
  const bool joins = is_behind_one && program_.batch_steps.back().takes.empty() &&
                     program_.batch_steps.back().totals.empty() && std::ranges::none_of(from, is_result);
  BatchStep& step = joins ? program_.batch_steps.back() : emit_barrier();
  for (size_t k = 0; k < from.size(); ++k) {
    const int to = new_register();
    local_registers_[native.locals[k]] = {to, block_};
    step.scalars.push_back({native.over_batch[k], from[k], to});
  }
}

void Emitter::emit_tensor_meeting(ir::NodeId id, size_t k, const op::NativeOutput& native) {
  const ir::Node& node = graph_.node(id);
  const ir::ValueId source = node.inputs[static_cast<size_t>(native.inputs[0])], value = node.outputs[k];
  const DType type = graph_.type(source).dtype;
  const ValueInfo& info = table_.info(source);
  int slot = host_slot_of(source);
  if (native.total) {
    if (!info.scalar && info.dense_axes < graph_.type(source).ndim) {
      claim(MemoryClaim::Kind::kHeld, type, info.extents, "a dense copy for " + node.op->name);
      Instruction& dense = emit(Op::kMakeDense);
      dense.dst = new_slot();
      claimed_slot(dense.dst);
      dense.a = slot;
      slot = dense.dst;
    }
    claim(MemoryClaim::Kind::kOutput, type, info.extents, node.op->name);
    const int total = new_slot();
    emit_barrier().totals.push_back({*native.total, slot, total});
    table_.info(value).slot = total;
    return;
  }
  if (!is_shared(source))
    claim(MemoryClaim::Kind::kOutput, type, info.extents, "a copy for " + node.op->name);
  Instruction& lend = emit(Op::kLend);
  lend.dst = new_slot();
  lend.a = slot;
  slot = lend.dst;
  const int place = reg(table_.resolve(native.scalars[0]));
  const int taken = new_slot();
  emit_barrier().takes.push_back({slot, taken, place});
  table_.info(value).slot = taken;
}

}  // namespace galatea::plan
