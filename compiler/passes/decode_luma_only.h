// Images of which only the luma is wanted are decoded without their chroma (exact=False).
//
// Needs: a legal graph without dead nodes. Gives: a decoder whose `output_type` is RGB or BGR makes GRAY
// instead, if everything that becomes of its image ends in nodes that see nothing but the luma:
//   - a node *keeps channels apart* if every element is a blend of elements of its own channel (crops, flips,
//     resizes, warps, filters: maps that load and interpolate, bands that only convert their sum). Its type
//     changes to one channel; its values change by rounding, because blending and weighing channels commute
//     but for that;
//   - a node *sees only luma* if each of its elements depends on 0.299 R + 0.587 G + 0.114 B of one pixel (a
//   grey
//     conversion, a saturation of 0). It reads a grey image spread to three channels, which costs nothing
//     once fused.
// Both are found in the definitions, never by names.
//
// The luma of a JPEG is what its file holds; that computed from decoded RGB was rounded to bytes twice and
// clamped, so they differ by a level here and there. Hence only where the text allows other values
// (exact=False); elsewhere a remark says what it would save. Equal by construction is only
// `output_type=GRAY`, which the decoders do by themselves. Stands before push_scale_into_decode and
// push_region_into_decode, which work on what is decoded then.
//
//   %x = decode(%e) {output_type=RGB}       %x = decode(%e) {output_type=GRAY}
//   %y = resize(%x)                         %y = resize(%x)
//   %z = grey(%y)                    ->     %c = color_space_conversion(%y) {GRAY to RGB}
//                                           %z = grey(%c)
#pragma once

#include "compiler/passes/pass.h"

namespace galatea::passes {

bool decode_luma_only(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
