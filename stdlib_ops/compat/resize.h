// fn.resize as Pillow, torchvision and OpenCV compute it (compat=), and of windows that are cut out before.
//
// Comes in: an image of bytes and the arguments of fn.resize. Goes out: the image that
// `Image.resize`, `torchvision.transforms.v2.functional.resize` (of a u8 tensor) or `cv2.resize` makes.
#pragma once

#include "stdlib_ops/common/window.h"

namespace galatea::ops {

/// Complains about arguments that have no counterpart in the library of the preset.
Status check_compat_resize(const TypeContext& ctx);
/// The same about the arguments of common/resample.h alone.
Status check_compat_filter(const TypeContext& ctx);
/// Output 0 and, with save_attrs, the original extents.
void define_compat_resize(RecipeBuilder& b);
/// Output 0 of fn.resize_crop_mirror: resized, then cut, then mirrored, as three calls of the library do it.
void define_compat_resize_crop_mirror(RecipeBuilder& b);
/// Where it takes places.
void output_compat_resized_crop_places(RecipeBuilder& b);
/// Where fn.resize takes places.
void output_compat_resized_places(RecipeBuilder& b);
/// Output 0: a window of input 0, which has been cut out before it is resized.
void output_compat_resized_window(RecipeBuilder& b, const AxisRange& rows, const AxisRange& columns,
                                  int64_t height, int64_t width);
std::vector<op::Preset> resize_presets();
/// The same of an operator that does something `before` it.
std::vector<op::Preset> resize_presets(const std::string& before);

}  // namespace galatea::ops
