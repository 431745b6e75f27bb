// warp_perspective and random_perspective as Pillow, torchvision and OpenCV compute them (compat=).
//
// Comes in: an image of bytes and the map from places of the output to those of the image, as perspective.h has it.
// Goes out: what `Image.transform(PERSPECTIVE)`, `perspective` of a u8 tensor, or `cv2.warpPerspective` makes of it.
#pragma once

#include "stdlib_ops/common/perspective.h"

namespace galatea::ops {

Status check_compat_perspective(const TypeContext& ctx);
/// Output 0: the input seen through a map of corners of pixels, or of their centres.
void output_compat_perspective(RecipeBuilder& b, const ProjectiveMap& given, bool is_of_corners,
                               const Expr& rows, const Expr& columns);
std::vector<op::Preset> perspective_presets();

}  // namespace galatea::ops
