// Nodes to instructions: sources, checks, native calls, views, kernels.
#include <algorithm>
#include <unordered_set>

#include "compiler/kernel/division.h"
#include "compiler/plan/emitter.h"

namespace galatea::plan {

using op::LoweredOutput;
using runtime::Instruction;

void Emitter::emit_node(ir::NodeId id) {
  const ir::Node& node = graph_.node(id);
  location_ = location_of(id);
  node_ = id;
  const op::Lowering& lowering = table_.lowering(id);
  if (!header_done_[id]) emit_natives_and_checks(id);
  if (Expr scale = table_.scale(id)) local_registers_[op::scale_of(id)->a] = {reg(scale), block_};
  for (size_t k = 0; k < lowering.outputs.size(); ++k) {
    const LoweredOutput& output = lowering.outputs[k];
    if (table_.info(node.outputs[k]).scalar) continue;
    if (output.kind == LoweredOutput::Kind::kNative)
      emit_native_output(id, k, output);
    else if (output.kind == LoweredOutput::Kind::kView && groups_.of_node[id] < 0)
      emit_view(id, k, output);
    else if (output.kind == LoweredOutput::Kind::kConstant)
      table_.info(node.outputs[k]).slot = constant_slot(output.constant);
    else if (output.kind == LoweredOutput::Kind::kScalars)
      slot_of(node.outputs[k]);
  }
  int group = groups_.of_node[id];
  if (group >= 0 && groups_.groups[static_cast<size_t>(group)].nodes.back() == id)
    emit_kernel(kernels_[static_cast<size_t>(group)], groups_.groups[static_cast<size_t>(group)].nodes);
}

void Emitter::emit_natives_and_checks(ir::NodeId id) {
  const op::Lowering& lowering = table_.lowering(id);
  // Checks that stand before a native function guard its arguments; the others use its results.
  size_t next_check = 0;
  for (const op::NativeScalars& native : lowering.native_scalars) {
    for (; next_check < native.order; ++next_check) emit_check(id, lowering.checks[next_check]);
    emit_native_scalars(id, native);
  }
  for (; next_check < lowering.checks.size(); ++next_check) emit_check(id, lowering.checks[next_check]);
}

/// The output of the host that a value is itself, not as one of several arms; -1: none.
int Emitter::output_as_it_stands(ir::ValueId value) const {
  const int output = output_of_[value];
  if (output < 0 || program_.outputs[static_cast<size_t>(output)].on_device) return -1;
  const auto& results = graph_.block(graph_.exit_block()).terminator.results;
  return results[static_cast<size_t>(output)] == value ? output : -1;
}

void Emitter::emit_source(ir::NodeId id) {
  const ir::Node& node = graph_.node(id);
  std::vector<int32_t> slots, outputs;
  bool is_output = false;
  for (ir::ValueId value : node.outputs) {
    table_.info(value).slot = new_slot();
    slots.push_back(table_.info(value).slot);
    outputs.push_back(output_as_it_stands(value));
    is_output = is_output || outputs.back() >= 0;
  }
  if (node.op->is_fed()) {
    Instruction& instruction = emit(Op::kFeed);
    instruction.location = location_of(id);
    instruction.dst = slots[0];
    if (slots.size() > 1) instruction.a = slots[1];
    instruction.b = source_index_[id];
    return;
  }
  const int32_t list = add_list(slots), output_list = is_output ? add_list(outputs) : -1;
  Instruction& instruction = emit(Op::kRead);
  instruction.location = location_of(id);
  instruction.a = list;
  instruction.b = source_index_[id];
  instruction.c = output_list;
  instruction.imm = static_cast<int32_t>(slots.size());
}

void Emitter::emit_check(ir::NodeId, const op::Check& check) {
  Expr condition = table_.resolve(check.condition);
  if (kernel::is_const(condition) && kernel::const_value(condition) != 0) return;
  if (is_checked(condition)) return;
  doubt_check(condition);
  checked_.emplace_back(condition, block_);
  int flag = reg(condition);
  runtime::CheckMessage message;
  message.text = check.message;
  message.help = check.help;
  std::vector<int32_t> values;
  for (const Expr& e : check.values) {
    message.types.push_back(e.type());
    values.push_back(reg(table_.resolve(e)));
  }
  int32_t list = add_list(values);
  Instruction& instruction = emit(Op::kCheck);
  instruction.a = static_cast<int32_t>(program_.messages.size());
  instruction.b = flag;
  instruction.c = list;
  instruction.imm = static_cast<int32_t>(values.size());
  program_.messages.push_back(std::move(message));
}

void Emitter::emit_native_scalars(ir::NodeId id, const op::NativeScalars& native) {
  if (!native.over_batch.empty()) return emit_scalar_meeting(native);
  runtime::NativeCallSpec call;
  call.function = native.function;
  call.config = native.config;
  for (int input : native.inputs)
    call.inputs.push_back(host_slot_of(graph_.node(id).inputs[static_cast<size_t>(input)]));
  call.scalars = regs(native.scalars);
  call.ranges = native.ranges;
  for (int64_t local : native.locals) {
    int r = new_register();
    local_registers_[local] = {r, block_};
    call.scalar_results.push_back(r);
  }
  Instruction& instruction = emit(Op::kCallNative);
  instruction.a = static_cast<int32_t>(program_.natives.size());
  program_.natives.push_back(std::move(call));
}

int Emitter::allocate_tensor(DType type, const std::vector<Expr>& extents) {
  claim(MemoryClaim::Kind::kHeld, type, extents, graph_.node(node_).op->name);
  const int slot = emit_allocation(type, extents);
  claimed_slot(slot);
  return slot;
}

/// Memory of the GPU is no claim on the host's.
int Emitter::allocate_tensor_on_gpu(DType type, const std::vector<Expr>& extents) {
  const int slot = emit_allocation(type, extents);
  program_.code.back().on_device = true;
  return slot;
}

int Emitter::allocate_intermediate(ir::ValueId value, DType type, const std::vector<Expr>& extents) {
  if (is_made_on_gpu(value)) return allocate_tensor_on_gpu(type, extents);
  return lent_[value] ? allocate_to_lend(type, extents) : allocate_tensor(type, extents);
}

int Emitter::emit_allocation(DType type, const std::vector<Expr>& extents) {
  int32_t list = add_list(regs(extents));
  Instruction& instruction = emit(Op::kAllocate);
  instruction.dst = new_slot();
  instruction.type = type;
  instruction.a = list;
  instruction.imm = static_cast<int32_t>(extents.size());
  return instruction.dst;
}

int Emitter::allocate(ir::ValueId value) {
  const ir::Type& type = graph_.type(value);
  if (const ir::ValueId home = home_of(value); home != value) {
    table_.info(value).slot = table_.info(home).slot;
    return table_.info(value).slot;
  }
  const std::vector<Expr>& extents = table_.info(value).extents;
  const int output = output_of_[value];
  const bool on_gpu = is_made_on_gpu(value);
  if (output < 0) {
    table_.info(value).slot = allocate_intermediate(value, type.dtype, extents);
    return table_.info(value).slot;
  }
  stored_into_output_[value] = true;
  claim_output(static_cast<size_t>(output), type.dtype, extents);
  int slot = emit_allocation(type.dtype, extents);
  program_.code.back().op = Op::kAllocateOutput;
  program_.code.back().b = output;
  program_.code.back().on_device = on_gpu;
  table_.info(value).slot = slot;
  return slot;
}

/// What the host or a device may make has no place in a batch yet.
void Emitter::allocate_apart(ir::ValueId value) {
  table_.info(value).slot = allocate_tensor(graph_.type(value).dtype, table_.info(value).extents);
}

/// One side of the window that the readers ask for.
Expr Emitter::window_side(const ValueInfo& info, const op::WindowScalar& scalar) const {
  using Part = op::WindowScalar::Part;
  const auto d = static_cast<size_t>(scalar.dim);
  const values::Range range =
      info.window.empty() ? values::Range{kernel::const_int(0), info.extents[d]} : info.window[d];
  if (scalar.part == Part::kExtent) return range.end - range.begin;
  return scalar.part == Part::kBegin ? range.begin : range.end;
}

void Emitter::emit_native_output(ir::NodeId id, size_t k, const LoweredOutput& output) {
  const op::NativeOutput& native = table_.lowering(id).natives.at(static_cast<size_t>(output.native));
  if (native.is_of_batch()) return emit_tensor_meeting(id, k, native);
  const ir::ValueId value = graph_.node(id).outputs[k];
  runtime::NativeCallSpec call;
  call.function = native.function;
  call.config = native.config;
  for (int input : native.inputs)
    call.inputs.push_back(host_slot_of(graph_.node(id).inputs[static_cast<size_t>(input)]));
  call.scalars = regs(native.scalars);
  for (const op::WindowScalar& scalar : native.window)
    call.scalars.push_back(reg(window_side(table_.info(value), scalar)));
  call.allocates = native.allocates;
  if (native.allocates) {
    const ir::Type& type = graph_.type(value);
    call.port = make_port("", type.dtype, type.ndim, type.layout, type.extents);
  }
  const bool is_offered = table_.is_offered(id), is_partial = !table_.info(value).window.empty();
  if (native.allocates)
    table_.info(value).slot = new_slot();
  else if (is_partial)
    allocate_window(value);
  else if (is_offered)
    allocate_apart(value);
  else
    allocate(value);
  call.output = table_.info(value).slot;
  if (is_offered) call.alternative = native.device->name;
  Instruction& instruction = emit(Op::kCallNative);
  instruction.on_device = is_offered;
  instruction.a = static_cast<int32_t>(program_.natives.size());
  program_.natives.push_back(std::move(call));
  if (is_partial) show_window_as_whole(value);
}

/// A value of which a window only is computed: memory for that, behind a view with the whole's extents.
void Emitter::allocate_window(ir::ValueId value) {
  const ValueInfo& info = table_.info(value);
  std::vector<Expr> extents;
  for (const values::Range& range : info.window) extents.push_back(range.end - range.begin);
  const DType type = graph_.type(value).dtype;
  table_.info(value).slot = allocate_intermediate(value, type, extents);
}

/// The window has been filled: from here on the slot stands for the whole.
void Emitter::show_window_as_whole(ir::ValueId value) {
  ValueInfo& info = table_.info(value);
  runtime::ViewSpec view;
  view.ndim = view.input_ndim = graph_.type(value).ndim;
  for (int d = 0; d < view.ndim; ++d) view.input_dim[static_cast<size_t>(d)] = d;
  view.window_origin = true;
  std::vector<int32_t> registers = regs(info.extents);
  for (const values::Range& range : info.window) registers.push_back(reg(range.begin));
  int32_t list = add_list(registers);
  Instruction& make_view = emit(Op::kView);
  make_view.dst = new_slot();
  make_view.a = info.slot;
  make_view.b = static_cast<int32_t>(program_.views.size());
  make_view.c = list;
  program_.views.push_back(view);
  info.slot = make_view.dst;
}

void Emitter::emit_view(ir::NodeId id, size_t k, const LoweredOutput& output) {
  const ir::Node& node = graph_.node(id);
  ir::ValueId value = node.outputs[k], source = node.inputs[static_cast<size_t>(output.input)];
  GALATEA_CHECK(home_of(value) == value, "a view in place of a copy into a merge's memory");
  // Elements that have to be brought together first: only the host does that (form_kernels.cpp makes what a
  // reshape reads dense, but for merges).
  const bool scattered = output.reshape && table_.info(source).dense_axes < graph_.type(source).ndim;
  int slot = scattered ? host_slot_of(source) : slot_of(source);
  runtime::ViewSpec view;
  view.ndim = graph_.type(value).ndim;
  view.input_ndim = graph_.type(source).ndim;
  view.reshape = output.reshape;
  std::vector<int32_t> registers = regs(table_.info(value).extents);
  if (output.reshape) {
    const bool copies = table_.info(source).dense_axes < view.input_ndim;
    if (copies)
      claim(MemoryClaim::Kind::kHeld, graph_.type(source).dtype, table_.info(source).extents,
            "a dense copy for " + node.op->name);
    if (!residence_.on_gpu(source) || scattered) {
      Instruction& dense = emit(Op::kMakeDense);
      dense.dst = new_slot();
      if (copies) claimed_slot(dense.dst);
      dense.a = slot;
      slot = dense.dst;
    }
  } else {
    for (size_t d = 0; d < output.input_dim.size(); ++d) view.input_dim[d] = output.input_dim[d];
    for (int32_t r : regs(output.start)) registers.push_back(r);
    // A new axis has no step.
    for (const Expr& step : output.step)
      registers.push_back(reg(step ? table_.resolve(step) : kernel::const_int(1)));
  }
  int32_t list = add_list(registers);
  Instruction& instruction = emit(Op::kView);
  instruction.dst = new_slot();
  instruction.a = slot;
  instruction.b = static_cast<int32_t>(program_.views.size());
  instruction.c = list;
  program_.views.push_back(view);
  table_.info(value).slot = instruction.dst;
}

/// The last of the nodes is what the kernel is for.
void Emitter::emit_kernel(const PlannedKernel& kernel, const std::vector<ir::NodeId>& nodes) {
  if (kernel.kernel < 0) return;
  const ir::NodeId root = nodes.back();
  runtime::KernelCallSpec call;
  call.kernel = kernel.kernel;
  call.guards = guards_here();
  call.arms = static_cast<int32_t>(table_.lowering(root).arms);
  for (const ir::NodeId node : nodes)
    if (std::ranges::any_of(table_.lowering(node).stages, kernel::may_raise_flag))
      call.divisions.push_back(location_of(node));
  if (!kernel.on_gpu) object("a kernel of the CPU");
  for (const KernelSource& source : kernel.inputs)
    call.tensors.push_back(source.constant ? constant_slot(source.constant)
                           : kernel.on_gpu ? slot_of(source.value)
                                           : host_slot_of(source.value));
  for (ir::ValueId value : kernel.outputs) {
    if (table_.info(value).window.empty())
      allocate(value);
    else
      allocate_window(value);
    call.tensors.push_back(table_.info(value).slot);
  }
  call.params = regs(kernel.params);
  const auto of_sample = [&](const Expr& over_params) {
    return kernel::rewrite(over_params, [&](const Expr& x) -> Expr {
      return x->kind == kernel::ExprKind::kParam
                 ? table_.resolve(kernel.params[static_cast<size_t>(x->index)])
                 : Expr{};
    });
  };
  const Expr bytes = of_sample(kernel.scratch_bytes);
  may_fail_on_gpu_ = may_fail_on_gpu_ || (kernel.on_gpu && may_raise_flags(kernel));
  if (!kernel.on_gpu)
    claim(MemoryClaim::Kind::kScratch, DType::kU8, {bytes},
          program_.kernels[static_cast<size_t>(kernel.kernel)].name);
  call.scratch_bytes = reg(bytes);
  if (kernel.on_gpu && kernel.blocks) call.blocks = reg(of_sample(kernel.blocks));
  Instruction& instruction = emit(Op::kCallKernel);
  instruction.a = static_cast<int32_t>(program_.kernel_calls.size());
  instruction.on_device = kernel.on_gpu;
  program_.kernel_calls.push_back(std::move(call));
  for (ir::ValueId value : kernel.outputs)
    if (!table_.info(value).window.empty()) show_window_as_whole(value);
}

int Emitter::constant_slot(const std::shared_ptr<const runtime::ConstantTensor>& constant) {
  auto& all = program_.constant_tensors;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& known) { return runtime::same(*known, *constant); });
  const auto number = static_cast<int32_t>(found - all.begin());
  if (found == all.end()) all.push_back(constant);
  for (auto [block, slot] : constant_slots_[number])
    if (visible_here(block)) return slot;
  Instruction& instruction = emit(Op::kConstantTensor);
  instruction.dst = new_slot();
  instruction.a = number;
  constant_slots_[number][block_] = instruction.dst;
  return instruction.dst;
}

int Emitter::slot_of(ir::ValueId value) {
  ValueInfo& info = table_.info(value);
  if (!info.scalar) {
    GALATEA_CHECK(info.slot >= 0, "a tensor is used before it is made");
    return info.slot;
  }
  // Scalars that somebody needs in memory; once per block that sees them.
  for (auto [block, slot] : stored_scalars_[value])
    if (visible_here(block)) return slot;
  const ir::Type& type = graph_.type(value);
  std::vector<int32_t> elements = regs(info.elements);
  std::vector<int32_t> extents;
  // A type may not say what folding has found out since.
  for (const Expr& e : info.extents) {
    GALATEA_CHECK(kernel::is_const(e), "a scalar value has extents that are not constant");
    extents.push_back(static_cast<int32_t>(kernel::const_value(e)));
  }
  if (drafting_) small_bytes_ += static_cast<int64_t>(elements.size()) * size_of(type.dtype) + 192;
  int32_t extent_list = add_list(extents);
  int32_t element_list = add_list(elements);
  Instruction& instruction = emit(Op::kStoreElements);
  instruction.dst = new_slot();
  instruction.type = type.dtype;
  instruction.a = extent_list;
  instruction.imm = type.ndim;
  instruction.b = element_list;
  int slot = instruction.dst;
  stored_scalars_[value][block_] = slot;
  added_stores_.emplace_back(value, block_);
  return slot;
}

}  // namespace galatea::plan
