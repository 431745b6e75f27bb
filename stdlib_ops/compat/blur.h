// gaussian_blur as Pillow, torchvision and OpenCV compute it (compat=).
//
// Comes in: an image of bytes, sigma and window_size. Goes out: what `ImageFilter.GaussianBlur`,
// `gaussian_blur` of a u8 tensor, or `cv2.GaussianBlur` makes of it.
#pragma once

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

Status check_compat_blur(const TypeContext& ctx);
void define_compat_blur(RecipeBuilder& b);
std::vector<op::Preset> blur_presets();

}  // namespace galatea::ops
