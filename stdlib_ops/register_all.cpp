// The list of all operators, in the order in which documentation shows them.
#include "stdlib_ops/register_all.h"

#include "stdlib_ops/arith/arithmetic.h"
#include "stdlib_ops/operators.h"
#include "stdlib_ops/random/beta.h"
#include "stdlib_ops/transforms/transforms.h"

namespace galatea::ops {

void register_all(op::Registry& registry) {
  registry.add(make_readers_file());
  registry.add(make_external_source());
  registry.add(make_decoders_image());
  registry.add(make_decoders_image_crop());
  registry.add(make_decoders_image_random_crop());
  registry.add(make_decoders_image_slice());
  registry.add(make_peek_image_shape());
  registry.add(make_resize());
  registry.add(make_random_resized_crop());
  registry.add(make_crop());
  registry.add(make_slice());
  registry.add(make_crop_mirror_normalize());
  registry.add(make_flip());
  registry.add(make_rotate());
  registry.add(make_warp_affine());
  registry.add(make_pixel());
  registry.add(make_composed_resize());
  registry.add(make_composed_warp());
  registry.add(make_transforms_rotation());
  registry.add(make_transforms_scale());
  registry.add(make_transforms_shear());
  registry.add(make_transforms_translation());
  registry.add(make_transforms_crop());
  registry.add(make_transforms_combine());
  registry.add(make_brightness());
  registry.add(make_contrast());
  registry.add(make_brightness_contrast());
  registry.add(make_saturation());
  registry.add(make_hue());
  registry.add(make_hsv());
  registry.add(make_color_twist());
  registry.add(make_color_space_conversion());
  registry.add(make_equalize());
  registry.add(make_filter());
  registry.add(make_gaussian_blur());
  registry.add(make_laplacian());
  registry.add(make_noise_salt_and_pepper());
  registry.add(make_cast());
  registry.add(make_cast_like());
  registry.add(make_shapes());
  registry.add(make_stack());
  registry.add(make_cat());
  registry.add(make_reshape());
  registry.add(make_transpose());
  registry.add(make_constant());
  registry.add(make_pad());
  registry.add(make_erase());
  registry.add(make_lookup_table());
  registry.add(make_normalize());
  registry.add(make_one_hot());
  registry.add(make_random_uniform());
  registry.add(make_random_normal());
  registry.add(make_random_beta());
  registry.add(make_random_coin_flip());
  registry.add(make_random_choice());
  registry.add(make_reductions_min());
  registry.add(make_reductions_max());
  registry.add(make_reductions_sum());
  registry.add(make_reductions_mean());
  registry.add(make_reductions_mean_square());
  registry.add(make_reductions_rms());
  registry.add(make_reductions_variance());
  registry.add(make_reductions_std_dev());
  registry.add(make_index());
  registry.add(make_select());
  registry.add(make_stored());
  registry.add(make_to_gpu());
  registry.add(make_to_cpu());
  for (op::Operator& op : make_arithmetic()) registry.add(std::move(op));
  for (op::Operator& op : make_math()) registry.add(std::move(op));
}

}  // namespace galatea::ops
