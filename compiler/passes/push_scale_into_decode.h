// What is made small anyway is decoded small (exact=False).
//
// Needs: a legal graph whose options allow other values (`exact=False`), without dead nodes. Gives: a node
// that offers to scale (op::ScaleOffer) is marked
//   `scaled_for` = [values]   what is resampled from its output,
// if nothing else reads that: all its readers are resampling definitions (Lowering::least_scale) whose
// scale is known before it runs. The plan then makes the scale of each sample, of those that are offered:
// the smallest at which every output cell still has an element. Readers keep their arguments: positions and
// extents are those of the full size, and fractions of elements survive the scale. Where its own extents are
// asked for, or where it is merged, cropped or returned, it keeps its size.
//
// The results differ from those of the full size by what averaging over blocks instead of filtering them
// makes (of photographs about one level of 255). Stands before push_region_into_decode, which then works in
// elements of the scaled output.
//
//   %x = decode(%e)                         %x = decode(%e) {scaled_for=[%y]}
//   %y = resize(%x) {size=[224, 224]}  ->   %y = resize(%x) {size=[224, 224]}
#pragma once

#include "compiler/passes/pass.h"

namespace galatea::passes {

bool push_scale_into_decode(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
