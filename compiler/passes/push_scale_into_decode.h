// Photographs that are made small anyway are decoded small (exact=False).
//
// Needs: a legal graph whose options allow other values (`exact=False`), without dead nodes. Gives: a decoder
// that can scale (NativeOutput::full_extents) is marked
//   `scaled_for` = [values]   what is resampled from its image,
// if nothing else reads the image: all its readers are resampling definitions (Lowering::least_scale) whose
// scale is known before it runs. The plan then makes the scale of each sample (1, 2, 4 or 8 eighths): the
// smallest at which every output cell still has a pixel. Readers keep their arguments: positions and extents
// are those of the full image, and fractions of pixels survive the scale. Where the image's own extents are
// asked for, or where it is merged, cropped or returned, it keeps its size.
//
// The results differ from those of full images by what averaging over blocks instead of filtering them makes
// (about one level of 255). Stands before push_region_into_decode, which then works in pixels of the scaled
// image.
//
//   %x = decode(%e)                         %x = decode(%e) {scaled_for=[%y]}
//   %y = resize(%x) {size=[224, 224]}  ->   %y = resize(%x) {size=[224, 224]}
#pragma once

#include "compiler/passes/pass.h"

namespace galatea::passes {

bool push_scale_into_decode(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
