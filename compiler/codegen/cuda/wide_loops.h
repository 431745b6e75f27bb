// Loops whose threads take several neighbouring elements each, with wide loads and stores.
//
// Comes in: a grid loop. Goes out: which of its loads and stores walk through memory as the loop does, so
// that the bytes of neighbouring elements are one run. Interleaved pixels that become planes are such runs on
// both sides, so they need no way through shared memory.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/kernel/loops.h"

namespace galatea::codegen {

/// Elements [low, low + scale) of each step, beside those of the next step.
struct WideRun {
  int buffer = 0;
  bool store = false;
  kernel::Expr uniform;  ///< of the offset; may be empty
  int64_t scale = 1, low = 0;
};

struct WideLoop {
  int64_t width = 4;  ///< elements a thread takes
  int along = 0;      ///< the variable that moves by one from element to element
  kernel::Expr
      row;  ///< elements before it begins anew (a multiple of `width`, or the loop is walked one by one)
  std::vector<WideRun> runs;
  /// Number of the run, and the place among the `scale` elements of a step.
  struct Place {
    size_t run = 0;
    int64_t element = 0;
  };
  std::unordered_map<const kernel::ExprNode*, Place> loads;
  std::unordered_map<const kernel::Store*, Place> stores;
  std::vector<bool> once;  ///< per statement of the body: the same for all elements of a thread
};

std::optional<WideLoop> plan_wide(const kernel::LoopKernel& kernel, const kernel::For& loop);

}  // namespace galatea::codegen
