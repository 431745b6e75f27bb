// Decoding, and computing, only the window that is read gives the bytes of doing everything: every consumer,
// sampling and orientation, on every backend.
#include "tests/region/region_run.h"

namespace galatea {
namespace {

/// `body` reads %image; `windows` says how many nodes are computed for a window.
void expect_equal_to_full_decode(const std::string& body, size_t windows = 1) {
  EXPECT_EQ(expect_equal_to_whole_images("^0:\n" + body, true), windows) << body;
}

TEST(Region, RandomResizedCrop) {
  expect_equal_to_full_decode(R"(  %out = random_resized_crop(%image) {size=[10, 8]} key=0x51
  return %out
)");
}

/// Of another library, too, where the window is cut out before it is resized.
TEST(Region, RandomResizedCropUnderAPreset) {
  for (const char* preset : {"pil", "torchvision", "opencv"})
    expect_equal_to_full_decode(std::string("  %out = random_resized_crop(%image) {size=[10, 8], compat=\"") +
                                preset + "\"} key=0x51\n  return %out\n");
}

TEST(Region, ResizeOfARegion) {
  expect_equal_to_full_decode(R"(  %a = random.uniform() {range=[0.0, 0.4]} key=0x11
  %b = random.uniform() {range=[0.5, 1.0]} key=0x12
  %start = stack(%a, %a)
  %end = stack(%b, %b)
  %out = resize(%image) {size=[7.0, 11.0], roi_start=%start, roi_end=%end, roi_relative=true, antialias=false}
  return %out
)");
}

TEST(Region, CropMirrorNormalize) {
  expect_equal_to_full_decode(R"(  %x = random.uniform() {range=[0.0, 1.0]} key=0x21
  %coin = random.coin_flip() key=0x22
  %out = crop_mirror_normalize(%image) {crop=[20.0, 24.0], crop_pos_x=%x, mirror=%coin, mean=[120.0], std=[60.0]}
  return %out
)");
}

TEST(Region, BlurOfACropOfAFlip) {
  expect_equal_to_full_decode(R"(  %y = random.uniform() {range=[0.0, 1.0]} key=0x31
  %flipped = flip(%image) {horizontal=1}
  %window = crop(%flipped) {crop=[18.0, 22.0], crop_pos_y=%y}
  %out = gaussian_blur(%window) {sigma=1.5}
  return %out
)");
}

TEST(Region, SeveralReadersInArms) {
  expect_equal_to_full_decode(R"(  %coin = random.coin_flip() key=0x41
  branch %coin ^1, ^2
^1(^0):
  %a = crop(%image) {crop=[8.0, 8.0], crop_pos_x=0.25}
  jump ^3
^2(^0):
  %b = random_resized_crop(%image) {size=[8, 8]} key=0x42
  jump ^3
^3(^1, ^2):
  %out = merge(%a, %b) : u8[8,8,3] HWC
  return %out
)");
}

TEST(Region, WindowsThatAreFoundByNumbers) {
  expect_equal_to_full_decode(
      R"(  %boxes = constant() {value=[0.1, 0.2, 0.5, 0.6, 0.3, 0.3, 0.9, 1.0], dtype=f32, shape=[2, 4]}
  %anchor, %extents, %left = random_bbox_crop(%boxes) {scaling=[0.3, 0.6], thresholds=[0.1], allow_no_crop=false, total_num_attempts=9} key=0x61
  %out = slice(%image, %anchor, %extents)
  return %out, %left
)");
  expect_equal_to_full_decode(
      R"(  %boxes = constant() {value=[0.1, 0.2, 0.5, 0.6, 0.3, 0.3, 0.9, 1.0], dtype=f32, shape=[2, 4]}
  %labels = constant() {value=[3, 7], dtype=i32, shape=[2]}
  %anchor, %extents, %rows, %classes = ssd_random_crop.window(%boxes, %labels) {num_attempts=20} key=0x63
  %out, %left, %kept = ssd_random_crop.cut(%image, %anchor, %extents, %rows, %classes)
  return %out, %left, %kept
)");
  expect_equal_to_full_decode(R"(  %shape = constant() {value=[16, 13], dtype=i64, shape=[2]}
  %anchor, %extents = random_crop_generator(%shape) {random_area=[0.1, 0.4]} key=0x62
  %out = slice(%image) {start=%anchor, shape=%extents, axes=[0, 1]}
  return %out
)");
}

TEST(Region, WhatBoxesReach) {
  for (const char* ratio : {"2", "-1"})
    expect_equal_to_full_decode(
        std::string(R"(  %boxes = random.uniform() {range=[4.0, 20.0], shape=[3, 4]} key=0x63
  %out = galatea.roi_align(%image, %boxes) {output_size=[3, 2], sampling_ratio=)") +
        ratio + R"(}
  return %out
)");
}

TEST(Region, ResizedAfterACrop) {
  expect_equal_to_full_decode(R"(  %window = crop(%image) {crop=[25.0, 21.0], crop_pos_x=0.9, crop_pos_y=0.2}
  %small = resize(%window) {size=[9.0, 16.0]}
  %shape = shapes(%image)
  return %small, %shape
)");
}

TEST(Region, ThroughPointwiseWork) {
  expect_equal_to_full_decode(R"(  %a = saturation(%image) {saturation=2.0}
  %b = gaussian_blur(%a) {sigma=1.0}
  %y = random.uniform() {range=[0.0, 1.0]} key=0x51
  %out = crop(%b) {crop=[18.0, 22.0], crop_pos_y=%y}
  return %out
)",
                              3);
}

TEST(Region, FramesMadeOfAnImage) {
  expect_equal_to_full_decode(R"(  %mirrored = flip(%image) {horizontal=1}
  %frames = stack(%image, %mirrored) {axis_name="F"}
  %y = random.uniform() {range=[0.0, 1.0]} key=0x51
  %blurred = gaussian_blur(%frames) {sigma=1.0}
  %window = crop(%blurred) {crop=[18.0, 22.0], crop_pos_y=%y}
  %out = resize(%window) {size=[9.0, 7.0]}
  return %out
)",
                              3);
}

TEST(Region, ResizedAndCroppedInTheMiddle) {
  expect_equal_to_full_decode(R"(  %small = resize(%image) {resize_shorter=24.0}
  %out = crop_mirror_normalize(%small) {crop=[20.0, 20.0], mean=[120.0], std=[60.0], mirror=1, output_layout="CHW"}
  return %out
)",
                              2);
}

TEST(Region, ThroughAMergeAndFlips) {
  expect_equal_to_full_decode(R"(  %coin = random.coin_flip() key=0x41
  branch %coin ^1, ^2
^1(^0):
  %a = saturation(%image) {saturation=2.0}
  %x = random.uniform() {range=[0.0, 0.5]} key=0x42
  jump ^3
^2(^0):
  %b = flip(%image) {horizontal=1}
  %z = random.uniform() {range=[0.5, 1.0]} key=0x43
  jump ^3
^3(^1, ^2):
  %m = merge(%a, %b) : u8[?,?,3] HWC
  %p = merge(%x, %z) : f32[]
  %c = crop(%m) {crop=[18.0, 22.0], crop_pos_x=%p}
  %out = color_twist(%c) {hue=30.0}
  return %out
)",
                              2);
}

/// The flip joins the brightness' kernel and is stored for its window.
TEST(Region, AViewInAKernel) {
  expect_equal_to_full_decode(R"(  %a = brightness(%image) {brightness=1.5}
  %f = flip(%a) {horizontal=1}
  %b = crop(%f) {crop=[18.0, 22.0], crop_pos_x=0.1}
  %c = crop(%f) {crop=[12.0, 20.0], crop_pos_y=0.1}
  %d = laplacian(%b) {dtype=u8}
  %e = gaussian_blur(%c) {sigma=1.0}
  return %d, %e
)",
                              3);
}

/// The decoder makes what the window shows through the map, where the horizon is not in it.
TEST(Region, APartOfAPerspective) {
  const std::string map = R"(  %y = random.uniform() {range=[0.6, 0.9], shape=[3]} key=0x92
  %m = stack(%y, %y, %y)
)";
  expect_equal_to_full_decode(
      map +
      R"(  %out = experimental.warp_perspective(%image, %m) {size=[11.0, 9.0], fill_value=[7.0]}
  return %out
)");
  expect_equal_to_full_decode(
      map + R"(  %large = experimental.warp_perspective(%image, %m) {pixel_origin="center", interp_type=0}
  %out = crop(%large) {crop=[12.0, 14.0]}
  return %out
)",
      2);
  // Through drawn corners.
  expect_equal_to_full_decode(
      R"(  %large = galatea.random_perspective(%image) {p=1.0, distortion_scale=0.25} key=0x93
  %out = crop(%large) {crop=[12.0, 14.0]}
  return %out
)",
      2);
  // Numbers of the text say which part is seen, of images that differ.
  for (const char* warp :
       {"experimental.warp_perspective(%image) {matrix=[0.9, 0.1, 5.0, -0.1, 0.8, 9.0, 0.001, 0.002, 1.0], ",
        "warp_affine(%image) {matrix=[0.9, 0.1, -3.0, 0.1, 0.8, 4.0], fill_value=[7.0], "})
    expect_equal_to_full_decode(std::string("  %out = ") + warp + "size=[14.0, 17.0]}\n  return %out\n");
}

TEST(Region, APartOfAPaste) {
  expect_equal_to_full_decode(R"(  %x = random.uniform() {range=[0.0, 1.0]} key=0x92
  %large = paste(%image) {ratio=1.5, fill_value=[1, 2, 3], paste_x=%x}
  %out = crop(%large) {crop=[12.0, 14.0]}
  return %out
)",
                              2);
}

TEST(Region, PartsThatAreLookedUp) {
  // Each region of a paste reads its own part of its image.
  expect_equal_to_full_decode(
      R"(  %out = multi_paste(%image) {output_size=[30, 30], in_anchors=[3, 5], shapes=[11, 9], out_anchors=[2, 4]}
  return %out
)");
  expect_equal_to_full_decode(R"(  %mirrored = flip(%image) {horizontal=1}
  %out = multi_paste(%image, %mirrored) {output_size=[30, 60], in_anchors_rel=[0.1, 0.2, 0.3, 0.1], shapes_rel=[0.4, 0.3, 0.25, 0.5], out_anchors=[2, 4, 5, 20]}
  return %out
)");
  // A wave is as high as it is, whatever it is of.
  expect_equal_to_full_decode(
      R"(  %large = water(%image) {ampl_x=3.0, ampl_y=2.5, interp_type=1, fill_value=7.0}
  %out = crop(%large) {crop=[12.0, 14.0]}
  return %out
)",
      2);
  // The maps are made for the window that is read; where they look, only they know.
  expect_equal_to_full_decode(R"(  %places = random.uniform() {range=[0.0, 30.0], shape=[16, 16]} key=0x95
  %large = experimental.remap(%image, %places, %places)
  %out = crop(%large) {crop=[8.0, 8.0]}
  return %out
)",
                              2);
}

/// Elements that fail the sample are all computed.
TEST(Region, DivisionsStayWhole) {
  expect_equal_to_full_decode(R"(  %c = constant() {value=[7], dtype=u8}
  %one = constant() {value=[1], dtype=u8}
  %d = math.max(%image, %one)
  %a = arith.floordiv(%c, %d)
  %out = crop(%a) {crop=[18.0, 22.0]}
  return %out
)",
                              0);
}

TEST(Region, WholeImagesAreDecodedWhole) {
  expect_equal_to_full_decode(R"(  %out = crop(%image) {crop=[16.0, 16.0]}
  return %out, %image
)",
                              0);
}

}  // namespace
}  // namespace galatea
