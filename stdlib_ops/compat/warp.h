// rotate and warp_affine as Pillow, torchvision and OpenCV compute them (compat=).
//
// Comes in: an image of bytes and the map, in the places that warp.h counts. Goes out: what `Image.rotate` and
// `Image.transform`, `rotate` and `affine` of a u8 tensor, or `cv2.warpAffine` make of it.
#pragma once

#include "stdlib_ops/common/warp.h"

namespace galatea::ops {

Status check_compat_warp(const TypeContext& ctx);
/// fn.rotate as a whole.
void define_compat_rotate(RecipeBuilder& b);
/// From places of its output to those of the image.
AffineMap compat_rotation(RecipeBuilder& b);
/// Output 0: the input seen through the map.
void output_compat_warp(RecipeBuilder& b, const AffineMap& map, const Expr& rows, const Expr& columns);
/// `pil` and `torchvision` name the functions; OpenCV has one.
std::vector<op::Preset> warp_presets(const std::string& pil, const std::string& torchvision);

}  // namespace galatea::ops
