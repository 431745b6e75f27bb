// What is read as one sum of its channels alone is decoded to that (exact=False): the luma of a photograph.
//
// Needs: a legal graph without dead nodes. Gives: a node that offers a plane (op::PlaneOffer) gets the argument
// that makes it, if everything that becomes of its output ends in nodes that see nothing but the plane:
//   - a node *keeps channels apart* if every element is a blend of elements of its own channel (crops, flips,
//     resizes, warps, filters: maps that load and interpolate, bands that only convert their sum). Its type
//     changes to one channel; its values change by rounding, because blending and weighing channels commute
//     but for that;
//   - a node of several outputs *passes values on* if they are views of its inputs;
//   - a node *sees only the plane* if each of its elements depends on the plane's weighted sum of one place
//     (of luma: a grey conversion, a saturation of 0). It reads the plane spread to all channels again, which
//     costs nothing once fused.
// Both are found in the definitions, never by names.
//
// The plane may be what is encoded (the luma of a JPEG); what is computed from all channels was rounded twice
// and clamped, so they differ by a level here and there. Hence only where the text allows other values
// (exact=False); elsewhere a remark says what it would save. Stands before push_scale_into_decode and
// push_region_into_decode, which work on what is decoded then.
//
//   %x = decode(%e) {output_type=RGB}       %x = decode(%e) {output_type=GRAY}
//   %y = resize(%x)                         %y = resize(%x)
//   %z = grey(%y)                    ->     %c = color_space_conversion(%y) {GRAY to RGB}
//                                           %z = grey(%c)
#pragma once

#include "compiler/passes/pass.h"

namespace galatea::passes {

bool decode_one_plane(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
