// fn.resize as Pillow, torchvision and OpenCV compute it (compat=).
//
// Comes in: an image of bytes and the arguments of fn.resize. Goes out: the image that
// `Image.resize`, `torchvision.transforms.v2.functional.resize` (of a u8 tensor) or `cv2.resize` makes.
#pragma once

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

/// Complains about arguments that have no counterpart in the library of the preset.
Status check_compat_resize(const TypeContext& ctx);
/// Output 0 and, with save_attrs, the original extents.
void define_compat_resize(RecipeBuilder& b);
std::vector<op::Preset> resize_presets();

}  // namespace galatea::ops
