// Memory is asked for before it is taken: headers first, then one kAdmit for what they and the draws decide.
//
// What no bound is known for yet (its extents depend on pixels, or on a header inside an arm) is asked for
// where it can be said, at the latest right before it is taken.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/plan/emitter.h"
#include "compiler/plan/release_slots.h"

namespace galatea::plan {

using runtime::Instruction;

MemoryPlan Emitter::draft() {
  drafting_ = true;
  GALATEA_CHECK(run().has_value(), "a draft of the sample program failed");
  find_releases();
  return {table_, std::move(claims_), small_bytes_};
}

/// A claim is given back where all that shares its memory has seen its last use; counted on where every path
/// from the claim to the end comes past that place.
void Emitter::find_releases() {
  const std::vector<int32_t> last = last_uses(program_);
  const std::vector<std::vector<int32_t>> sharing = sharing_slots(program_);
  const auto block_of = [&](int32_t instruction) {
    ir::BlockId found = 0;
    for (ir::BlockId block = 0; block < block_start_.size(); ++block) {
      if (block_start_[block] < 0 || block_start_[block] > instruction) continue;
      if (block_start_[found] < 0 || block_start_[found] > instruction ||
          block_start_[block] >= block_start_[found])
        found = block;
    }
    return found;
  };
  const ir::BlockId exit = graph_.exit_block();
  for (MemoryClaim& claim : claims_) {
    if (claim.slot < 0) continue;
    int32_t released = -1;
    bool counts = true;
    for (int32_t slot : sharing[static_cast<size_t>(claim.slot)]) {
      const int32_t use = last[static_cast<size_t>(slot)];
      const ir::BlockId block = block_of(std::max(use, 0));
      counts = counts && use >= 0 && dominates_[claim.block][block] &&
               (block == claim.block || dominates_[block][exit]);
      if (use > released) {
        released = use;
        claim.released_in = block;
      }
    }
    if (counts) claim.released_at = released;
  }
}

bool Emitter::can_compute(const kernel::ExprNode& e) const {
  switch (e.symbol) {
    case kernel::SymbolKind::kExtent:
    case kernel::SymbolKind::kElement: {
      const auto value = static_cast<ir::ValueId>(e.a);
      if (!visible_here(graph_.value(value).block)) return false;
      if (e.symbol == kernel::SymbolKind::kElement && residence_.on_gpu(value)) {
        const auto copies = host_slots_.find(value);
        return copies != host_slots_.end() &&
               std::any_of(copies->second.begin(), copies->second.end(),
                           [this](const auto& copy) { return visible_here(copy.first); });
      }
      if (table_.info(value).scalar)
        return e.symbol == kernel::SymbolKind::kElement && merge_registers_.contains({value, e.b});
      return table_.info(value).slot >= 0;
    }
    case kernel::SymbolKind::kLocal: {
      auto found = local_registers_.find(e.a);
      return found != local_registers_.end() && visible_here(found->second.block);
    }
    case kernel::SymbolKind::kSampleIndex:
    case kernel::SymbolKind::kNodeKey:
    case kernel::SymbolKind::kBatchSlot:
      return true;
  }
  return false;
}

/// Whether a node's native scalars and checks need nothing that is not there yet.
bool Emitter::can_emit_header(ir::NodeId id) const {
  const op::Lowering& lowering = table_.lowering(id);
  if (lowering.native_scalars.empty()) return false;
  std::vector<int64_t> own;
  ScalarBounds bounds(table_, [&](const kernel::ExprNode& symbol) {
    return can_compute(symbol) || (symbol.symbol == kernel::SymbolKind::kLocal &&
                                   std::find(own.begin(), own.end(), symbol.a) != own.end());
  });
  auto is_known = [&](const Expr& e) { return bounds.exact(table_.resolve(e)) || kernel::is_const(e); };
  for (const op::NativeScalars& native : lowering.native_scalars) {
    // What fails behind a meeting has met the others: a sample that may be left out, or have a substitute, is
    // decoded first.
    if (!native.over_batch.empty() && program_.on_error != runtime::OnErrorPolicy::kRaise) return false;
    for (int input : native.inputs) {
      const ir::ValueId value = graph_.node(id).inputs[static_cast<size_t>(input)];
      if (table_.info(value).scalar || table_.info(value).slot < 0) return false;
    }
    if (!std::all_of(native.scalars.begin(), native.scalars.end(), is_known)) return false;
    own.insert(own.end(), native.locals.begin(), native.locals.end());
  }
  return std::all_of(lowering.checks.begin(), lowering.checks.end(), [&](const op::Check& check) {
    return is_known(check.condition) && std::all_of(check.values.begin(), check.values.end(), is_known);
  });
}

/// Headers are read before anything is decoded: they decide what the sample needs.
void Emitter::emit_headers(ir::BlockId block) {
  for (ir::NodeId node : graph_.block(block).nodes) {
    if (graph_.node(node).op->source || !can_emit_header(node)) continue;
    location_ = location_of(node);
    emit_natives_and_checks(node);
    header_done_[node] = true;
  }
}

/// Kernels of the block count on them. A message tells the extent that is asked for here.
void Emitter::emit_early_checks(ir::BlockId block) {
  for (const values::EarlyCheck& early : table_.early_checks().made_in(block)) {
    location_ = location_of(early.node);
    op::Check check = table_.lowering(early.node).checks[early.number];
    check.condition = early.condition;
    for (Expr& value : check.values)
      if (!kernel::is_const(value)) value = early.condition->args[0];
    emit_check(early.node, check);
  }
}

void Emitter::claim(MemoryClaim::Kind kind, DType type, std::vector<Expr> extents, std::string_view what) {
  object("memory of the host");
  note_claim(kind, type, std::move(extents), what);
}

/// Of a value that is brought to the host: whether it has to be is asked elsewhere (object_to_bringing()).
void Emitter::claim_copy(ir::ValueId value) {
  note_claim(MemoryClaim::Kind::kHeld, graph_.type(value).dtype, table_.info(value).extents,
             "a copy from the GPU");
}

void Emitter::note_claim(MemoryClaim::Kind kind, DType type, std::vector<Expr> extents,
                         std::string_view what) {
  for (Expr& e : extents) e = table_.resolve(e);
  const size_t number = next_claim_++;
  if (!drafting_) {
    GALATEA_CHECK(number < memory_.claims().size(), "the draft of the sample program allocates less");
    if (!memory_.is_granted(number)) {
      --next_claim_;
      admit();
      ++next_claim_;
      GALATEA_CHECK(memory_.is_granted(number), "memory is taken whose size cannot be said");
    }
    return;
  }
  MemoryClaim made;
  made.kind = kind;
  made.block = block_;
  made.node = node_;
  made.what = what;
  made.type = type;
  made.bytes = claimed_bytes(type, extents);
  made.extents = std::move(extents);
  made.at = static_cast<int32_t>(program_.code.size());
  claims_.push_back(std::move(made));
}

/// Outputs whose extents are equal for every sample belong to the batch, not to a sample.
void Emitter::claim_output(size_t output, DType type, const std::vector<Expr>& extents) {
  if (program_.outputs[output].on_device) return;
  const std::vector<int64_t> known = program_.outputs[output].port.numbers();
  if (std::find(known.begin(), known.end(), -1) == known.end()) return;
  claim(MemoryClaim::Kind::kOutput, type, extents, fmt::format("output {}", output));
}

/// What a source reads straight into the batch was asked for when it was read.
bool Emitter::is_copied(ir::ValueId value) const {
  if (table_.info(value).scalar) return true;
  if (const ir::NodeId node = graph_.value(value).node; node != ir::kNoId) {
    const op::Operator& op = *graph_.node(node).op;
    const bool is_read = op.source && !op.is_fed() && output_as_it_stands(value) >= 0;
    return !is_read && !stored_into_output_[value];
  }
  if (output_of_[value] < 0) return true;
  for (const ir::Merge& merge : graph_.block(graph_.value(value).block).merges) {
    if (merge.result != value) continue;
    return std::any_of(merge.operands.begin(), merge.operands.end(), [&](ir::ValueId operand) {
      return output_of_[operand] != output_of_[value] || is_copied(operand);
    });
  }
  return true;
}

void Emitter::admit() {
  if (drafting_) return;
  const MemoryNeed need = memory_.grant(
      next_claim_, block_, [this](const kernel::ExprNode& symbol) { return can_compute(symbol); });
  const Expr sample = kernel::saturate(need.sample, DType::kI64);
  const Expr outputs = kernel::saturate(need.outputs, DType::kI64);
  if (kernel::is_const_int(sample, 0) && kernel::is_const_int(outputs, 0)) return;
  needs_.push_back(need);
  const int a = reg(sample), b = reg(outputs);
  Instruction& instruction = emit(Op::kAdmit);
  instruction.a = a;
  instruction.b = b;
}

}  // namespace galatea::plan
