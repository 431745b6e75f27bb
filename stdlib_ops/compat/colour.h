// brightness, contrast, saturation, hue and their combinations as Pillow and torchvision compute them (compat=).
//
// Comes in: an image of bytes, 1 or 3 channels last. Goes out: the image after each of the steps hue,
// saturation, contrast and brightness that the call gives, in this order, rounded to bytes after each.
#pragma once

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

Status check_compat_colour(const TypeContext& ctx);
void define_compat_colour(RecipeBuilder& b);
std::vector<op::Preset> colour_presets();

}  // namespace galatea::ops
