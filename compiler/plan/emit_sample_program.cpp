// See emit_sample_program.h: blocks, edges, the return.
#include "compiler/plan/emit_sample_program.h"

#include <algorithm>

#include "compiler/op/schema.h"
#include "compiler/plan/emitter.h"
#include "compiler/plan/release_slots.h"
#include "compiler/plan/source_config.h"

namespace galatea::plan {

using runtime::Instruction;

namespace {

Port port_of(std::string name, const ir::Type& type) {
  return make_port(std::move(name), type.dtype, type.ndim, type.layout, type.extents);
}

}  // namespace

Emitter::Emitter(ValueTable& table, const SamplePlan& plan, const SourceMap& sources, uint64_t seed,
                 runtime::Program& program)
    : table_(table),
      graph_(table.graph()),
      groups_(plan.groups),
      kernels_(plan.kernels),
      placement_(plan.placement),
      residence_(plan.residence),
      branches_(plan.branches),
      selectors_(plan.selectors),
      if_all_wait_(plan.if_all_wait),
      sources_(sources),
      seed_(seed),
      program_(program) {
  block_start_.assign(graph_.blocks.size(), -1);
  source_index_.assign(graph_.nodes.size(), -1);
  output_of_.assign(graph_.values.size(), -1);
  uses_ = graph_.count_uses();
  node_location_.assign(graph_.nodes.size(), -1);
  header_done_.assign(graph_.nodes.size(), false);
  stored_into_output_.assign(graph_.values.size(), false);
  if (!branches_.recorded.empty()) arms_ = arms_of_blocks(graph_, branches_);
}

Status Emitter::run() {
  auto order = graph_.topological_order();
  std::vector<ir::BlockId> parent = graph_.immediate_dominators();
  dominates_.assign(graph_.blocks.size(), std::vector<bool>(graph_.blocks.size(), false));
  for (ir::BlockId block : order) {
    for (ir::BlockId d = block;; d = parent[d]) {
      dominates_[d][block] = true;
      if (d == parent[d]) break;
    }
  }
  declare_sources();
  find_directed_outputs();
  find_lent_values();
  for (ir::BlockId block : order) emit_block(block);
  patch_jumps();
  check_arms();
  return {};
}

/// What kernels are compiled for, with the names of extents that the operator declares.
std::vector<Port> Emitter::ports_of_source(const ir::Node& node) const {
  const std::vector<Port> all = op::output_ports(graph_, node);
  std::vector<Port> ports;
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const Port* declared = k < all.size() ? &all[k] : nullptr;
    Port port = port_of(declared ? declared->name : "", graph_.type(node.outputs[k]));
    if (declared) {
      port.optional = declared->optional;
      for (size_t d = 0; d < std::min(port.extents.size(), declared->extents.size()); ++d)
        if (declared->extents[d].is_symbolic()) port.extents[d] = declared->extents[d];
    }
    ports.push_back(std::move(port));
  }
  return ports;
}

/// The native call that says how many samples a fed tensor is: of the runtime, no instruction makes it.
int32_t Emitter::count_of_parts(const ir::Node& node) {
  if (node.op->parts_of_feed.empty()) return -1;
  runtime::NativeCallSpec call;
  call.function = node.op->parts_of_feed;
  call.config = source_config(node);
  program_.natives.push_back(std::move(call));
  return static_cast<int32_t>(program_.natives.size()) - 1;
}

void Emitter::declare_sources() {
  for (ir::BlockId block : graph_.topological_order()) {
    for (ir::NodeId id : graph_.block(block).nodes) {
      const ir::Node& node = graph_.node(id);
      if (!node.op->source) continue;
      if (node.op->is_fed()) {
        source_index_[id] = static_cast<int>(program_.external_inputs.size());
        program_.external_inputs.push_back({port_of(external_name(node), graph_.type(node.outputs[0])),
                                            location_of(id), count_of_parts(node)});
      } else {
        source_index_[id] = static_cast<int>(program_.sources.size());
        program_.sources.push_back(
            {node.op->name, node.name, source_config(node), ports_of_source(node), location_of(id)});
      }
    }
  }
}

void Emitter::find_directed_outputs() {
  const ir::Terminator& terminator = graph_.block(graph_.exit_block()).terminator;
  for (size_t k = 0; k < terminator.results.size(); ++k) {
    ir::ValueId value = terminator.results[k];
    const ir::Type& type = graph_.type(value);
    runtime::OutputSpec spec;
    spec.port = port_of(k < graph_.output_names.size() && !graph_.output_names[k].empty()
                            ? graph_.output_names[k]
                            : graph_.value(value).variable,
                        type);
    spec.on_device = placement_.output_on_gpu(k);
    program_.outputs.push_back(std::move(spec));
    if (std::count(terminator.results.begin(), terminator.results.end(), value) == 1)
      direct(value, static_cast<int>(k));
  }
}

/// A value may be written straight into the batch if the output is the last thing that happens to it. Other
/// readers are fine: they read the output's memory, which nobody writes again.
void Emitter::direct(ir::ValueId value, int output) {
  const bool on_gpu = program_.outputs[static_cast<size_t>(output)].on_device;
  const bool is_recorded = branches_.branch_of_merge(graph_, value) >= 0;
  const bool is_made = graph_.value(value).node != ir::kNoId || is_recorded;
  if (is_made && is_made_on_gpu(value) != on_gpu) return;
  output_of_[value] = output;
  if (is_made || table_.info(value).scalar) return;
  for (const ir::Merge& merge : graph_.block(graph_.value(value).block).merges) {
    if (merge.result != value) continue;
    for (ir::ValueId operand : merge.operands) {
      // Only a value that nothing but the merge reads: another arm's kernel could otherwise read it while
      // writing the same memory.
      if (output_of_[operand] < 0 && uses_[operand] == 1) direct(operand, output);
    }
  }
}

void Emitter::emit_block(ir::BlockId block) {
  block_ = block;
  block_start_[block] = static_cast<int32_t>(program_.code.size());
  for (ir::NodeId node : graph_.block(block).nodes)
    if (graph_.node(node).op->source) emit_source(node);
  if (block == graph_.topological_order().front()) {
    emit_headers(block);
    emit_early_checks(block);
    admit();
  } else {
    emit_early_checks(block);
  }
  for (ir::NodeId node : graph_.block(block).nodes)
    if (!graph_.node(node).op->source) emit_node(node);
  emit_terminator(block);
}

void Emitter::emit_jump(ir::BlockId to) {
  jumps_.emplace_back(program_.code.size(), to);
  emit(Op::kJump);
}

void Emitter::emit_edge_moves(ir::BlockId from, ir::BlockId to) {
  const ir::Block& target = graph_.block(to);
  auto edge = static_cast<size_t>(std::find(target.predecessors.begin(), target.predecessors.end(), from) -
                                  target.predecessors.begin());
  for (const ir::Merge& merge : target.merges) {
    ir::ValueId operand = merge.operands.at(edge);
    ValueInfo& info = table_.info(merge.result);
    if (info.scalar) {
      for (size_t i = 0; i < info.elements.size(); ++i) {
        int source = reg(table_.resolve(table_.element(operand, static_cast<int64_t>(i))));
        int& dst = merge_registers_.try_emplace({merge.result, static_cast<int64_t>(i)}, -1).first->second;
        if (dst < 0) dst = new_register();
        Instruction& move = emit(Op::kMove);
        move.dst = dst;
        move.a = source;
      }
    } else {
      int source = slot_of(operand);
      if (info.slot < 0) {
        const ir::ValueId home = home_of(merge.result);
        info.slot = home == merge.result ? new_slot() : table_.info(home).slot;
      }
      if (source == info.slot) continue;
      if (home_of(operand) != operand) object("a result of its arms has memory of its own");
      Instruction& move = emit(Op::kCopySlot);
      move.dst = info.slot;
      move.a = source;
    }
  }
}

void Emitter::emit_terminator(ir::BlockId block) {
  const ir::Terminator& terminator = graph_.block(block).terminator;
  const bool is_choice = terminator.kind == ir::TerminatorKind::kSwitch;
  location_ = location_at(terminator.span, {}, is_choice ? "select" : "if");
  switch (terminator.kind) {
    case ir::TerminatorKind::kJump:
      emit_edge_moves(block, terminator.targets[0]);
      if (emit_end_of_arm(block, terminator.targets[0])) return;
      emit_jump(terminator.targets[0]);
      return;
    case ir::TerminatorKind::kBranch: {
      if (const RecordedBranch* recorded = recorded_at(block)) return emit_arms(*recorded, terminator);
      int selector = reg(table_.resolve(table_.element(terminator.selector, 0)));
      const ir::Type& type = graph_.type(terminator.selector);
      if (is_float(type.dtype) || !is_bool(type.dtype))
        selector = reg(kernel::not_equal(table_.resolve(table_.element(terminator.selector, 0)),
                                         kernel::constant(type.dtype, cell_from_int(type.dtype, 0))));
      size_t branch = program_.code.size();
      Instruction& instruction = emit(Op::kBranch);
      instruction.b = selector;
      // Two stubs: moves of each edge, then the jump. Scalars computed in a stub are of that edge alone.
      Knowledge before = knowledge();
      program_.code[branch].a = static_cast<int32_t>(program_.code.size());
      emit_edge_moves(block, terminator.targets[0]);
      emit_jump(terminator.targets[0]);
      forget_since(before);
      program_.code[branch].c = static_cast<int32_t>(program_.code.size());
      emit_edge_moves(block, terminator.targets[1]);
      emit_jump(terminator.targets[1]);
      forget_since(before);
      return;
    }
    case ir::TerminatorKind::kSwitch: {
      if (const RecordedBranch* recorded = recorded_at(block)) return emit_arms(*recorded, terminator);
      doubt_index(table_.resolve(table_.element(terminator.selector, 0)), terminator.targets.size());
      int selector =
          reg(kernel::convert(table_.resolve(table_.element(terminator.selector, 0)), DType::kI64));
      std::vector<int32_t> starts(terminator.targets.size(), -1);
      int32_t list = add_list(starts);
      Instruction& instruction = emit(Op::kSwitch);
      instruction.a = list;
      instruction.b = selector;
      instruction.imm = static_cast<int32_t>(terminator.targets.size());
      for (size_t i = 0; i < terminator.targets.size(); ++i) {
        Knowledge before = knowledge();
        program_.lists[static_cast<size_t>(list) + i] = static_cast<int32_t>(program_.code.size());
        emit_edge_moves(block, terminator.targets[i]);
        emit_jump(terminator.targets[i]);
        forget_since(before);
      }
      return;
    }
    case ir::TerminatorKind::kReturn:
      emit_return(terminator);
      return;
    case ir::TerminatorKind::kNone:
      GALATEA_CHECK(false, "a block without a terminator reached the plan");
  }
}

void Emitter::emit_return(const ir::Terminator& terminator) {
  std::vector<int32_t> slots;
  bool downloads = false;
  for (size_t k = 0; k < terminator.results.size(); ++k) {
    const ir::ValueId value = terminator.results[k];
    if (is_copied(value)) claim_output(k, graph_.type(value).dtype, table_.info(value).extents);
    const bool brought = residence_.on_gpu(value) && !program_.outputs[k].on_device;
    slots.push_back(brought ? emit_download(value) : slot_of(value));
    downloads = downloads || brought;
  }
  const bool fails_later = program_.on_error != runtime::OnErrorPolicy::kRaise && may_fail_on_gpu_;
  if (program_.device >= 0) emit_device_barrier(downloads || fails_later);
  int32_t list = add_list(slots);
  Instruction& instruction = emit(Op::kReturn);
  instruction.a = list;
  instruction.imm = static_cast<int32_t>(slots.size());
}

void Emitter::patch_jumps() {
  for (auto [instruction, block] : jumps_) program_.code[instruction].a = block_start_[block];
  for (auto [instruction, block] : joins_) program_.code[instruction].c = block_start_[block];
  for (auto [place, block] : starts_) program_.lists[place] = block_start_[block];
}

runtime::Instruction& Emitter::emit(Op op) {
  Instruction& instruction = program_.code.emplace_back();
  instruction.op = op;
  instruction.location = location_;
  return instruction;
}

int32_t Emitter::add_list(const std::vector<int32_t>& list) {
  auto start = static_cast<int32_t>(program_.lists.size());
  program_.lists.insert(program_.lists.end(), list.begin(), list.end());
  return start;
}

int32_t Emitter::add_constant(Cell cell) {
  for (size_t i = 0; i < program_.constants.size(); ++i)
    if (program_.constants[i] == cell) return static_cast<int32_t>(i);
  program_.constants.push_back(cell);
  return static_cast<int32_t>(program_.constants.size()) - 1;
}

int32_t Emitter::location_of(ir::NodeId node) {
  int32_t& known = node_location_[node];
  if (known < 0) {
    const ir::Node& n = graph_.node(node);
    known = location_at(n.span, n.calls, op::shown_name(n));
  }
  return known;
}

namespace {

runtime::Place place_of(Span given, const SourceMap& sources) {
  const Span span = sources.resolve(given);
  runtime::Place place;
  const SourceFile* file = sources.file(span.file);
  if (file == nullptr) return place;
  const LineColumn begin = file->position(span.begin), end = file->position(span.end);
  place.file = file->name();
  place.line = begin.line;
  place.column = begin.column;
  place.end_line = end.line;
  place.end_column = end.column;
  place.text = std::string(file->line(begin.line));
  return place;
}

}  // namespace

int32_t Emitter::location_at(Span span, const std::vector<CallSite>& calls, const std::string& op) {
  runtime::Location location;
  static_cast<runtime::Place&>(location) = place_of(span, sources_);
  location.op = op;
  for (const CallSite& call : calls) location.calls.push_back({place_of(call.span, sources_), call.function});
  program_.locations.push_back(std::move(location));
  return static_cast<int32_t>(program_.locations.size()) - 1;
}

namespace {

/// What a draft is written into: what code depends on, and no code.
runtime::Program blank(const runtime::Program& program) {
  runtime::Program out;
  out.kernels = program.kernels;
  out.device = program.device;
  out.on_error = program.on_error;
  return out;
}

}  // namespace

ArmFindings look_at_arms(ValueTable& table, const SamplePlan& plan, const SourceMap& sources, uint64_t seed,
                         const runtime::Program& program) {
  runtime::Program draft = blank(program);
  Emitter emitter(table, plan, sources, seed, draft);
  emitter.draft();
  table.forget_slots();
  return emitter.findings();
}

Status emit_sample_program(ValueTable& table, const SamplePlan& plan, const SourceMap& sources, uint64_t seed,
                           runtime::Program& program, MemoryReport* memory) {
  runtime::Program draft = blank(program);
  MemoryPlan memory_plan = Emitter(table, plan, sources, seed, draft).draft();
  table.forget_slots();
  if (memory) memory->claims = memory_plan.claims();
  Emitter emitter(table, plan, sources, seed, program);
  emitter.set_memory_plan(std::move(memory_plan));
  GALATEA_TRY(emitter.run());
  if (memory) memory->needs = std::move(emitter.needs());
  insert_releases(program);
  return {};
}

}  // namespace galatea::plan
