// The gathers of one vector loop; see lower_gather.cpp.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/kernel/loops.h"
#include "compiler/kernel/lowering.h"

namespace galatea::kernel::lowering {

/// base + shift, for several shifts, held inside [0, last].
struct GatherIndex {
  Expr base;                  ///< i64
  bool varies = true;         ///< from lane to lane
  Expr last;                  ///< empty: the loop's own variable, inside anyway
  bool used = false;          ///< by a gather
  int64_t low = 0, high = 0;  ///< of the shifts
  Expr definition;            ///< base in 32 bits
  Expr value;                 ///< the variable that holds it
  Expr run;                   ///< variable: the same in a run, less the loop's variable where it moves along
};
struct GatherTerm {
  int index = 0;
  int64_t shift = 0;
  Expr scale;
  Expr reflected;  ///< not empty: what stands for the index outside is this, not the nearest one inside
};
/// Σ scale · clamped(index + shift) + uniform + constant
struct GatherOffset {
  std::vector<GatherTerm> terms;
  Expr uniform;
  int64_t constant = 0;
};

class GatherLoop {
 public:
  GatherLoop(LoopKernel& kernel, const For& loop);
  bool find();
  Block run();

 private:
  enum class Place { kRun, kInside, kOutside, kAnywhere };
  struct RangeTest {
    const GatherIndex* index = nullptr;
    int64_t shift = 0;
    bool upper = false;
  };

  bool varies(const Expr& e) const;
  bool is_compared(const Expr& base) const;
  void find_comparisons();
  int index_of(const Expr& base, const Expr& last);
  bool add_term(const Expr& e, const Expr& scale, GatherOffset* out);
  bool add_shared(const Expr& e, GatherOffset* out);
  bool add_offset(const Expr& e, GatherOffset* out);
  bool is_paired(const ExprNode& load, const GatherTerm& term) const;
  Expr guard() const;
  void name_indices(Block* out);
  Expr clamped(const GatherIndex& index, int64_t shift, const Expr& last) const;
  void find_run();
  void name_run(Block* out);
  Block inside_body() const;
  bool goes_along(const Expr& weight) const;
  Block ask_for_zeros(Place place, size_t next, const std::vector<Expr>& zeros) const;
  Expr let(const Expr& value, Block* out);
  Expr is_run() const;
  Expr load_run(const ExprNode& load, const GatherOffset& offset) const;
  Expr load_inside(const ExprNode& load, const GatherOffset& offset) const;
  Expr load_anywhere(const ExprNode& load, const GatherOffset& offset) const;
  bool match_range_test(const Expr& e, RangeTest* out) const;
  Expr rewritten(const Expr& value, Place place) const;
  void find_conditions();
  Expr all_inside() const;
  Block body(Place place, const std::vector<Expr>& zeros = {}) const;
  Block shaped_body(Block* before);
  int lanes() const;
  bool goes_side_by_side() const;

  LoopKernel& kernel_;
  const For& loop_;
  std::vector<GatherIndex> indices_;
  std::unordered_map<const ExprNode*, GatherOffset> gathers_;
  std::vector<Expr> compared_;  ///< places that stored values compare with bounds
  std::vector<Expr> conditions_;
  bool all_conditional_ = true;
  int running_ = -1;           ///< the index that goes along a run; -2: none does
  std::vector<Expr> weights_;  ///< of interpolations; see lower_weights.h
};

/// A loop for rows on which what its selects ask for holds from end to end; see lower_row_guard.cpp.
struct GuardedRow {
  Expr condition;
  For loop;
};
/// Nothing, if the loop's selects ask nothing of that kind.
std::optional<GuardedRow> guarded_row(LoopKernel& kernel, const For& loop);

/// Gives every vector loop with gathers its form.
void shape_gathers(LoopKernel& kernel, Block& block);

}  // namespace galatea::kernel::lowering
