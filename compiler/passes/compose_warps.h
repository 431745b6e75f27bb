// compose_warps: under exact=False, consecutive interpolations of an image become one.
//
//   %1 = rotate(%0) {angle=%a, …}
//   %2 = warp_affine(%1) {matrix=%m, …}   ->   %2 = composed_warp(%0, %a, %m) {maps=[…], canvases=[…]}
//
// Which nodes show an image through an affine map, their definitions say (composing.h). What the outcome may
// differ in:
//
// - One interpolation blurs less than several: where the maps keep the scale, each value stays within what
//   the chain's own steps differ by from the image between them.
// - An image that is not made still ends where it ended: places that fall outside of it show the fill value
//   of who would have read it. Its edge is a step there, at most half a pixel from where a blend was.
//
// A resize before or behind a warp is an interpolation like others if it is known to magnify, or nearly so.
// Where it shrinks, its filter is a low-pass that a warp does not have, and the image would alias.
//
// So these stay apart, and a remark says why: resizes that may shrink; nearest neighbours (their values are
// labels, not levels); filters of different kinds; a reader that repeats the edge of an image which is not
// made (a resize of a whole image reads no further than half a pixel past it, which does not count); an image
// that somebody else reads; other element types in between.
#pragma once

#include "compiler/passes/pass.h"

namespace galatea::passes {

bool compose_warps(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
