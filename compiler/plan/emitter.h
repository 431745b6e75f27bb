// The parts of emit_sample_program that share state: registers, slots, locations. Not included elsewhere.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <unordered_map>

#include "compiler/plan/emit_sample_program.h"
#include "compiler/plan/memory_plan.h"

namespace galatea::plan {

class Emitter {
 public:
  Emitter(ValueTable& table, const SamplePlan& plan, const SourceMap& sources, uint64_t seed,
          runtime::Program& program);
  Status run();
  /// Writes a draft: nothing is admitted, every allocation is recorded.
  MemoryPlan draft();
  /// What run() admits.
  void set_memory_plan(MemoryPlan plan) { memory_ = std::move(plan); }
  std::vector<MemoryNeed>& needs() { return needs_; }
  /// Of a draft.
  ArmFindings findings() const;

 private:
  using Op = runtime::Opcode;

  // emit_sample_program.cpp: blocks and edges
  int32_t count_of_parts(const ir::Node& node);
  void declare_sources();
  std::vector<Port> ports_of_source(const ir::Node& node) const;
  void find_directed_outputs();
  void direct(ir::ValueId value, int output);
  void emit_block(ir::BlockId block);
  void emit_terminator(ir::BlockId block);
  void emit_edge_moves(ir::BlockId from, ir::BlockId to);
  void emit_jump(ir::BlockId to);
  void emit_return(const ir::Terminator& terminator);
  void patch_jumps();

  // emit_admission.cpp: memory is asked for before it is taken
  void emit_headers(ir::BlockId block);
  void emit_early_checks(ir::BlockId block);
  bool can_emit_header(ir::NodeId node) const;
  void claim(MemoryClaim::Kind kind, DType type, std::vector<Expr> extents, std::string_view what);
  void claim_copy(ir::ValueId value);
  void note_claim(MemoryClaim::Kind kind, DType type, std::vector<Expr> extents, std::string_view what);
  void find_releases();
  /// The claim just made is for this slot.
  void claimed_slot(int slot) {
    if (drafting_) claims_.back().slot = slot;
  }
  void claim_output(size_t output, DType type, const std::vector<Expr>& extents);
  /// Whether the value may have to be copied into its output at the end.
  bool is_copied(ir::ValueId value) const;
  void admit();
  bool can_compute(const kernel::ExprNode& symbol) const;

  // emit_nodes.cpp: one node
  void emit_node(ir::NodeId node);
  int output_as_it_stands(ir::ValueId value) const;
  void emit_source(ir::NodeId node);
  void emit_native_scalars(ir::NodeId node, const op::NativeScalars& native);
  /// Native scalars and the checks around them.
  void emit_natives_and_checks(ir::NodeId node);
  void emit_check(ir::NodeId node, const op::Check& check);
  void emit_native_output(ir::NodeId node, size_t k, const op::LoweredOutput& output);
  Expr window_side(const ValueInfo& info, const op::WindowScalar& scalar) const;
  void emit_view(ir::NodeId node, size_t k, const op::LoweredOutput& output);
  void emit_kernel(const PlannedKernel& kernel, const std::vector<ir::NodeId>& nodes);
  /// A new slot with memory for a value (the batch's slot where the value is directed to an output).
  int allocate(ir::ValueId value);
  void allocate_window(ir::ValueId value);
  void show_window_as_whole(ir::ValueId value);
  int allocate_tensor(DType type, const std::vector<Expr>& extents);
  int allocate_tensor_on_gpu(DType type, const std::vector<Expr>& extents);
  int allocate_to_lend(DType type, const std::vector<Expr>& extents);
  int allocate_intermediate(ir::ValueId value, DType type, const std::vector<Expr>& extents);
  void allocate_apart(ir::ValueId value);
  int emit_allocation(DType type, const std::vector<Expr>& extents);
  /// The slot of a tensor of the program; equal ones share it.
  int constant_slot(const std::shared_ptr<const runtime::ConstantTensor>& constant);
  /// The slot of a value; scalars are stored into one on demand.
  int slot_of(ir::ValueId value);

  // emit_meetings.cpp: where the samples of a batch meet
  void find_lent_values();
  /// Whether the memory of the value, as it is made, may outlive the sample.
  bool is_shared(ir::ValueId value) const;
  void emit_scalar_meeting(const op::NativeScalars& native);
  void emit_tensor_meeting(ir::NodeId node, size_t k, const op::NativeOutput& native);
  runtime::BatchStep& emit_barrier();

  // emit_device.cpp: between the GPU and the host
  /// A slot whose bytes the host can read: of what lies on the GPU, a copy that was waited for.
  int host_slot_of(ir::ValueId value);
  /// A copy on the host; its bytes are there behind the next barrier that waits.
  int emit_download(ir::ValueId value);
  void emit_device_barrier(bool waits);
  /// Whether a kernel of the GPU makes the value right there.
  bool is_made_on_gpu(ir::ValueId value) const;
  /// Of a kernel of the GPU: whether a call of it may raise flags with the parameters that it has here.
  bool may_raise_flags(const PlannedKernel& kernel) const;

  // emit_arms.cpp: branches of which all arms are recorded
  const RecordedBranch* recorded_at(ir::BlockId block) const;
  void emit_arms(const RecordedBranch& branch, const ir::Terminator& terminator);
  /// Whether the block was the end of an arm that another one follows.
  bool emit_end_of_arm(ir::BlockId block, ir::BlockId target);
  void check_arms() const;
  std::vector<runtime::CallGuard> guards_here();
  bool in_arm() const { return !arms_.empty() && !arms_[block_].empty(); }
  /// The value whose memory is that of `value` (itself: memory of its own).
  ir::ValueId home_of(ir::ValueId value) const;
  /// What is done here needs to know whether the sample takes this arm. Not certain: it may be otherwise
  /// once other branches wait.
  void object(const std::string& why, bool is_certain = true);
  void object_to(const RecordedBranch& branch, const std::string& why, bool is_certain = true);
  void object_to_bringing(ir::ValueId value);
  /// Here a sample may fail that takes this arm.
  void doubt();
  bool is_checked(const Expr& condition) const;
  void doubt_check(const Expr& condition);
  void doubt_index(const Expr& index, size_t count);
  void doubt_division(const Expr& e);

  // emit_scalars.cpp
  int reg(const Expr& e);
  int emit_expr(const Expr& e);
  int emit_symbol(const kernel::ExprNode& e);
  std::vector<int32_t> regs(const std::vector<Expr>& list);
  bool visible_here(ir::BlockId defined_in) const;

  int new_register() { return program_.num_registers++; }
  int new_slot() { return program_.num_slots++; }
  int32_t add_list(const std::vector<int32_t>& list);
  int32_t add_constant(Cell cell);
  int32_t location_of(ir::NodeId node);
  int32_t location_at(Span span, const std::vector<CallSite>& calls, const std::string& op);
  runtime::Instruction& emit(Op op);

  /// A register that holds an expression behind `block`; lists of them by node and by hash, newest first.
  struct Known {
    Expr expr;
    int reg = -1;
    ir::BlockId block = 0;
    int32_t older = -1;  ///< place of the next one of the list
  };
  void know_node(const Expr& e, int reg, ir::BlockId block);
  void know_hash(const Expr& e, int reg, ir::BlockId block);
  /// How much is known: what an edge adds is forgotten behind it.
  struct Knowledge {
    size_t nodes = 0, hashes = 0, stores = 0, downloads = 0;
  };
  Knowledge knowledge() const {
    return {known_nodes_.size(), known_.size(), added_stores_.size(), added_downloads_.size()};
  }
  void forget_since(const Knowledge& before);

  ValueTable& table_;
  const ir::Graph& graph_;
  const KernelGroups& groups_;
  const std::vector<PlannedKernel>& kernels_;
  const Placement& placement_;
  const Residence& residence_;
  const DeviceBranches& branches_;
  SelectorForm selectors_;
  const Residence* if_all_wait_;
  const SourceMap& sources_;
  uint64_t seed_;
  runtime::Program& program_;

  ir::BlockId block_ = 0;
  int32_t location_ = -1;
  std::vector<int32_t> block_start_;
  std::vector<std::pair<size_t, ir::BlockId>> jumps_;   ///< instruction whose `a` is a block's start
  std::vector<std::pair<size_t, ir::BlockId>> joins_;   ///< instruction whose `c` is one
  std::vector<std::pair<size_t, ir::BlockId>> starts_;  ///< place in `lists` that is one
  std::vector<std::vector<ArmOf>> arms_;                ///< of each block; empty: none is recorded
  WaitingBranches certain_, uncertain_;                 ///< that have to wait
  DoubtfulBranches doubtful_;
  std::vector<std::pair<Expr, ir::BlockId>> checked_;  ///< conditions that hold behind their blocks
  std::vector<Known> known_nodes_, known_;             ///< in the order in which they became known
  kernel::NodeMap<int32_t> newest_of_node_;            ///< places in known_nodes_; -1: forgotten
  std::unordered_map<uint64_t, int32_t> newest_of_hash_;
  std::unordered_map<ir::ValueId, std::map<ir::BlockId, int>> stored_scalars_;
  std::unordered_map<int32_t, std::map<ir::BlockId, int>> constant_slots_;
  std::vector<std::pair<ir::ValueId, ir::BlockId>> added_stores_;
  std::unordered_map<ir::ValueId, std::map<ir::BlockId, int>> host_slots_;  ///< copies that were waited for
  std::vector<std::pair<ir::ValueId, ir::BlockId>> added_downloads_;
  std::map<std::pair<ir::ValueId, int64_t>, int> merge_registers_;
  struct Local {
    int reg = -1;
    ir::BlockId block = 0;
  };
  std::unordered_map<int64_t, Local> local_registers_;
  std::vector<int> source_index_;  ///< of a node, -1 otherwise
  std::vector<int> output_of_;     ///< output that a value is written to directly, -1 otherwise
  std::vector<uint32_t> uses_;
  std::vector<bool> lent_;  ///< values that other samples of the batch may take
  std::vector<int32_t> node_location_;
  std::vector<std::vector<bool>> dominates_;

  bool may_fail_on_gpu_ = false;  ///< a call of the GPU so far may raise flags
  bool drafting_ = false;
  std::vector<MemoryClaim> claims_;  ///< of a draft
  std::vector<MemoryNeed> needs_;    ///< that were asked for
  int64_t small_bytes_ = 0;          ///< of a draft: tensors of a few elements
  MemoryPlan memory_;
  size_t next_claim_ = 0;
  ir::NodeId node_ = ir::kNoId;  ///< at work
  std::vector<bool> header_done_, stored_into_output_;
};

}  // namespace galatea::plan
