// Every operator's maker; register_all.cpp calls them in order. One operator, one file, but for families that
// differ in a table row.
//
// Comes in: nothing. Goes out: Operator values.
#pragma once

#include "compiler/op/operator.h"

namespace galatea::ops {

// readers, decoders
op::Operator make_readers_file();
op::Operator make_external_source();
op::Operator make_decoders_image();
op::Operator make_decoders_image_crop();
op::Operator make_decoders_image_random_crop();
op::Operator make_decoders_image_slice();
op::Operator make_peek_image_shape();
// between devices
op::Operator make_select();
op::Operator make_stored();
op::Operator make_to_gpu();
op::Operator make_to_cpu();
// image
op::Operator make_resize();
op::Operator make_random_resized_crop();
op::Operator make_crop();
op::Operator make_slice();
op::Operator make_crop_mirror_normalize();
op::Operator make_flip();
op::Operator make_rotate();
op::Operator make_warp_affine();
op::Operator make_pixel();
op::Operator make_composed_resize();
op::Operator make_composed_warp();
// color
op::Operator make_brightness();
op::Operator make_contrast();
op::Operator make_color_space_conversion();
op::Operator make_brightness_contrast();
op::Operator make_saturation();
op::Operator make_hue();
op::Operator make_hsv();
op::Operator make_color_twist();
// filter
op::Operator make_gaussian_blur();
op::Operator make_filter();
op::Operator make_laplacian();
// generic
op::Operator make_cast();
op::Operator make_cast_like();
op::Operator make_shapes();
op::Operator make_stack();
op::Operator make_cat();
op::Operator make_reshape();
op::Operator make_transpose();
op::Operator make_constant();
op::Operator make_index();
op::Operator make_pad();
op::Operator make_erase();
op::Operator make_lookup_table();
op::Operator make_noise_salt_and_pepper();
op::Operator make_equalize();
op::Operator make_normalize();
op::Operator make_one_hot();
// random
op::Operator make_random_uniform();
op::Operator make_random_normal();
op::Operator make_random_coin_flip();
op::Operator make_random_choice();
// reductions
op::Operator make_reductions_min();
op::Operator make_reductions_max();
op::Operator make_reductions_sum();
op::Operator make_reductions_mean();
op::Operator make_reductions_mean_square();
op::Operator make_reductions_rms();
op::Operator make_reductions_variance();
op::Operator make_reductions_std_dev();

}  // namespace galatea::ops
