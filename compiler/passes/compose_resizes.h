// compose_resizes: under exact=False, resizes of resizes become one, also over crops and mirrors in between.
//
//   %1 = resize(%0) {resize_shorter=256}
//   %2 = crop(%1) {crop=[224, 224]}
//   %3 = resize(%2) {size=[160, 160]}   ->   %3 = composed_resize(%0) {intervals=[…]}
//
// The intervals of the image that output pixels stand for are the maps' product. The filter is as wide, in
// pixels of the image, as the widest of the filters of the steps: an image that was made small and large
// again stays as soft as the small one was, and nothing aliases, whatever the scales turn out to be. What the
// outcome may differ in:
//
// - One filter blurs less than several.
// - An image that is not made has no edge to repeat: as far as the filter reaches, pixels beyond it count.
//
// So these stay apart, and a remark says why: a resize that is known to enlarge what was made small (the
// detour is meant, and a small image is the cheaper way); filters of different kinds, or none; a region that
// may lie outside of an image which is not made; regions that a node draws itself; an image that somebody
// else reads; other element types in between.
#pragma once

#include "compiler/passes/pass.h"

namespace galatea::passes {

bool compose_resizes(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
