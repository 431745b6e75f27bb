// What memory a sample needs, known before it takes any of it.
//
// Comes in: every allocation of the sample program, as the emitter meets it (a draft of the program is
// emitted for that). Goes out: at any point of the program, what the sample needs from there on in the worst
// case, as expressions over what is known there. Along a path needs add up; of two arms the one that the
// selector names counts, or the larger one where the selector is not known yet. A kernel's scratch memory is
// given back after its call, and a tensor behind its last use (release_slots.h), where every path comes past
// both.
#pragma once

#include <string>
#include <vector>

#include "compiler/plan/scalar_bounds.h"

namespace galatea::plan {

/// One allocation of the sample program.
struct MemoryClaim {
  enum class Kind : uint8_t {
    kHeld,     ///< an intermediate: from here to the end of the sample
    kScratch,  ///< for one call
    kOutput,   ///< outside of the arena: part of the delivered batch, where its extents differ from sample to
               ///< sample, or what other samples may hold
  };
  Kind kind = Kind::kHeld;
  ir::BlockId block = 0;
  ir::NodeId node = ir::kNoId;
  std::string what;
  DType type = DType::kU8;
  std::vector<Expr> extents;  ///< scratch: its bytes
  Expr bytes;                 ///< f64, not negative; with what the allocator adds
  int32_t slot = -1;          ///< kHeld: of the draft
  int32_t at = 0;             ///< instruction of the draft
  /// Instruction of the draft and its block, behind which it is given back; -1: at the end.
  int32_t released_at = -1;
  ir::BlockId released_in = 0;
};

/// What the program asks for at one place (kAdmit), in f64: memory of the sample, and of the batch where it
/// differs from sample to sample.
struct MemoryNeed {
  Expr sample, outputs;
};

/// What is known of a sample's memory before the run, for explain. No path asks for more than all needs
/// together.
struct MemoryReport {
  std::vector<MemoryClaim> claims;
  std::vector<MemoryNeed> needs;
};

/// Bytes of a tensor or a scratch area in f64, where no product wraps; rounded up as an arena may round.
Expr claimed_bytes(DType type, const std::vector<Expr>& extents);

/// The claims of a program and which of them the sample has been granted already.
class MemoryPlan {
 public:
  MemoryPlan() = default;
  MemoryPlan(const ValueTable& table, std::vector<MemoryClaim> claims, int64_t small_bytes);

  const std::vector<MemoryClaim>& claims() const { return claims_; }
  /// Claims are met in the order in which they were made.
  bool is_granted(size_t claim) const { return granted_[claim]; }

  /// What claims from number `next` on need that lie in this block or in blocks that it dominates, as far as
  /// it can be bounded here; those are granted then. Each claim is granted once.
  MemoryNeed grant(size_t next, ir::BlockId block, const ScalarBounds::CanCompute& can_compute);

 private:
  MemoryNeed need_of_block(ir::BlockId block, ScalarBounds& bounds, size_t next);
  MemoryNeed after_block(ir::BlockId block, ScalarBounds& bounds) const;

  const ValueTable* table_ = nullptr;
  std::vector<MemoryClaim> claims_;
  std::vector<bool> granted_;
  struct Event {
    int32_t at = 0;
    size_t claim = 0;
    bool release = false;
  };
  std::vector<std::vector<Event>> by_block_;  ///< in order
  std::vector<ir::BlockId> order_, dominators_;
  std::vector<MemoryNeed> needs_;  ///< per block, while granting
  double small_bytes_ = 0;         ///< few elements each: part of the first grant
};

}  // namespace galatea::plan
