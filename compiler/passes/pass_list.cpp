// Every graph pass in order. The graph that comes in is the staged pipeline; the one that goes out is
// planned.
#include "compiler/passes/pass_list.h"

#include "compiler/passes/compose_resizes.h"
#include "compiler/passes/compose_warps.h"
#include "compiler/passes/decode_one_plane.h"
#include "compiler/passes/fold_constants.h"
#include "compiler/passes/hoist_over_branch.h"
#include "compiler/passes/merge_duplicates.h"
#include "compiler/passes/push_region_into_decode.h"
#include "compiler/passes/push_scale_into_decode.h"
#include "compiler/passes/refine_types.h"
#include "compiler/passes/remove_dead_nodes.h"
#include "compiler/passes/remove_identity_arms.h"
#include "compiler/passes/sink_tails_into_arms.h"

namespace galatea::passes {

const std::vector<PassEntry>& pass_list() {
  static const std::vector<PassEntry> kPasses = {
      {"fold_constants", fold_constants,
       "scalars that are known become constants; branches on them become jumps"},
      {"merge_duplicates", merge_duplicates, "equal nodes are computed once"},
      {"hoist_over_branch", hoist_over_branch, "what every arm computes is computed before the branch"},
      // Hoisting leaves equal nodes in one block, and merges whose operands are equal.
      {"merge_duplicates", merge_duplicates, "equal nodes are computed once"},
      {"remove_dead_nodes", remove_dead_nodes, "what nobody uses goes"},
      {"remove_identity_arms", remove_identity_arms, "branches whose arms do nothing go"},
      // The selectors of those branches may have been their only users.
      {"remove_dead_nodes", remove_dead_nodes, "what nobody uses goes"},
      {"compose_resizes", compose_resizes, "resizes of resizes become one (exact=False)"},
      // What is left may magnify.
      {"compose_warps", compose_warps, "consecutive interpolations become one (exact=False)"},
      {"sink_tails_into_arms", sink_tails_into_arms,
       "what only finishes a merged tensor is done in the arms"},
      // Scalars that were merged for what has sunk.
      {"remove_dead_nodes", remove_dead_nodes, "what nobody uses goes"},
      {"refine_types", refine_types, "extents that are known better by now"},
      {"decode_one_plane", decode_one_plane,
       "of channels that are read as one sum only that is decoded (exact=False)"},
      {"push_scale_into_decode", push_scale_into_decode,
       "what is made small anyway is decoded small (exact=False)"},
      // In elements of what is scaled.
      {"push_region_into_decode", push_region_into_decode,
       "tensors are decoded, and computed, no further than they are read"},
  };
  return kPasses;
}

}  // namespace galatea::passes
