// The picture itself: what it shows after steps is where its mask and its boxes say, under the presets of other
// libraries too.
#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/support/cases.h"
#include "tests/support/product.h"
#include "tests/together/rectangles.h"

namespace galatea::testing {
namespace {

/// The first rectangle is red, the second one green, on black.
Array drawn_image() {
  std::vector<uint8_t> pixels;
  std::vector<uint8_t> labels;
  draw(rectangles_of(0), labels);
  for (const uint8_t label : labels)
    for (int channel = 1; channel <= 3; ++channel) pixels.push_back(label == channel ? 255 : 0);
  return array_of(DType::kU8, {kHeight, kWidth, 3}, pixels);
}

Outputs of_drawn_image(const std::string& steps) {
  return run_stages(
      rectangles_text(steps, 1, 4, false),
      {{"image", {drawn_image()}}, {"mask", {drawn_mask()}}, {"boxes", {rows(4, rectangles_of(0))}}});
}

/// The box around the pixels, of three numbers, of which this is true.
template <typename Shows>
Box box_where(const Array& image, const Shows& shows) {
  Array mask{DType::kU8, {image.extents[0], image.extents[1]}, {}, {}};
  for (size_t at = 0; at < image.values.size(); at += 3)
    mask.values.push_back(shows(&image.values[at]) ? 1 : 0);
  return box_around(mask, 1);
}

void expect_near_box(const Box& actual, const Box& expected, const std::string& where) {
  constexpr double kPixel = 1.01;
  EXPECT_NEAR(actual.x0, expected.x0, kPixel) << where;
  EXPECT_NEAR(actual.y0, expected.y0, kPixel) << where;
  EXPECT_NEAR(actual.x1, expected.x1, kPixel) << where;
  EXPECT_NEAR(actual.y1, expected.y1, kPixel) << where;
}

/// With what is filled as dark as the picture, so that nothing but rectangles is bright.
std::string without_fill(std::string steps) {
  const size_t at = steps.find("fill_value");
  if (at == std::string::npos) return steps;
  const size_t from = steps.find('=', at) + 1,
               to = steps.find_first_of(steps[from] == '[' ? "]" : ",)", from);
  return steps.replace(from, to - from, steps[from] == '[' ? "[0" : "0");
}

/// Neither picture nor mask could be moved in another way than the boxes are.
TEST(Together, ThePictureShowsWhatTheMaskSays) {
  std::vector<std::string> all = sharp_steps();
  all.insert(all.end(), turned_steps().begin(), turned_steps().end());
  for (const std::string& each : all) {
    if (!takes(each)) continue;
    if (each.contains("normalize")) continue;  // is no image of bytes any more
    const std::string steps = without_fill(each);
    const Outputs outputs = of_drawn_image(steps);
    ASSERT_EQ(outputs.size(), 4U) << steps;
    for (int label = 1; label <= 2; ++label) {
      const Box said = box_around(outputs[0][0], label);
      if (said.x1 - said.x0 < 3 || said.y1 - said.y0 < 3) continue;  // is blurred away
      const Box shown = box_where(outputs[3][0], [&](const double* pixel) { return pixel[label - 1] > 127; });
      expect_near_box(shown, said, fmt::format("{}\nlabel {}", steps, label));
    }
  }
}

const std::vector<std::string> kColoured = {
    "fn.brightness(t, brightness=0.8)",
    "fn.contrast(t, contrast=0.9)",
    "fn.brightness_contrast(t, brightness=0.9, contrast=1.1)",
    "fn.hue(t, hue=40.0)",
    "fn.saturation(t, saturation=0.7)",
    "fn.hsv(t, hue=40.0, value=0.9)",
    "fn.color_twist(t, hue=20.0, contrast=1.1)",
    "fn.color_space_conversion(t, image_type=types.RGB, output_type=types.BGR)",
    "fn.equalize(t)",
    "fn.clahe(t, tiles_x=2, tiles_y=2, clip_limit=2.0)",
    "fn.gaussian_blur(t, window_size=3)",
    "fn.laplacian(t, window_size=3, dtype=types.UINT8)",
    "fn.median_blur(t, window_size=3)",
    "fn.dilate(t)",
    "fn.erode(t)",
    "fn.noise.gaussian(t, stddev=4.0)",
    "fn.noise.shot(t, factor=1.0)",
    "fn.noise.salt_and_pepper(t, prob=0.0)",
    "fn.jpeg_compression_distortion(t, quality=95)",
    "fn.galatea.cutout(t, size=4, p=0.0)",
    "fn.grid_mask(t, ratio=0.05, tile=40)",
    "fn.erase(t, anchor=[0, 0], shape=[5, 5], fill_value=0)",
    "fn.normalize(t, mean=types.Constant([[[0.0]]]), stddev=types.Constant([[[1.0]]]))",
    "fn.cast(t, dtype=types.FLOAT)",
    "fn.cast_like(t, types.Constant([1.0]))",
    "fn.copy(t)",
    "fn.galatea.color_jitter(t, brightness=0.05)",
    "fn.lookup_table(t, keys=[255], values=[200])",
};

/// What leaves places where they are shows the rectangles where they are.
TEST(Together, WhatKeepsPlacesMovesNothing) {
  const std::vector<float> rectangles = rectangles_of(0);
  const Box both = {rectangles[0], rectangles[1], rectangles[6], rectangles[7]};
  for (const std::string& call : kColoured) {
    if (!takes(call)) continue;
    const Outputs outputs = of_drawn_image("t = " + call);
    EXPECT_EQ(outputs.size(), 4U) << call;
    if (outputs.size() != 4) continue;
    const Array& image = outputs[3][0];
    EXPECT_EQ(image.extents, (std::vector<int64_t>{kHeight, kWidth, 3})) << call;
    const auto differs = [&](const double* pixel) {
      bool any = false;
      for (size_t c = 0; c < 3; ++c) any |= std::abs(pixel[c] - image.values[c]) > 60;
      return any;
    };
    expect_near_box(box_where(image, differs), both, call);
    EXPECT_EQ(outputs[1][0].values, (std::vector<double>(rectangles.begin(), rectangles.end()))) << call;
  }
  const std::string tried = fmt::format("{}", fmt::join(kColoured, "\n"));
  for (const auto& op : product().registry.all())
    if (op->places == op::Places::kKept && !op->internal && op->name != "debayer") {  // of one channel
      EXPECT_NE(tried.find("fn." + op->name + "("), std::string::npos) << op->name << ": add it to the calls";
    }
}

// ---- presets

/// Canvases and extents are those of the library.
TEST(Together, BoxesHoldWhatTheMaskShowsUnderPresets) {
  for (const char* preset : {"pil", "torchvision", "opencv"}) {
    const bool grows = std::string(preset) != "opencv";
    for (const std::string& call :
         {std::string("resize(t, resize_shorter=25"), std::string("random_resized_crop(t, size=[40, 50]"),
          std::string("rotate(t, angle=90.0, keep_size=True"),
          std::string("warp_affine(t, matrix=[1.25, 0.0, -6.0, 0.0, 0.8, 3.5]")})
      expect_boxes_around_masks(fmt::format("t = fn.{}, compat=\"{}\")", call, preset), 2, 4, true);
    expect_boxes_around_masks(fmt::format("t = fn.rotate(t, angle=33.0, keep_size={}, compat=\"{}\")",
                                          grows ? "False" : "True", preset),
                              2, 4, false);
    expect_boxes_around_masks(
        fmt::format("t = fn.galatea.random_perspective(t, distortion_scale=0.4, p=1.0, compat=\"{}\")",
                    preset),
        2, 4, false);
  }
}

/// The window, as the matrix tells it, is cut out and then resized.
TEST(Together, UnderPresetsAWindowIsCutOutFirst) {
  for (const char* how :
       {"interp_type=types.INTERP_CUBIC, compat=\"pil\"", "interp_type=types.INTERP_NN, compat=\"pil\"",
        "compat=\"torchvision\"", "antialias=False, compat=\"torchvision\"", "compat=\"opencv\"",
        "interp_type=types.INTERP_CUBIC, compat=\"opencv\""}) {
    const std::string text = fmt::format(R"(import galatea
from galatea import fn, math, pipeline_def, types


@pipeline_def(batch_size=3, num_threads=1, seed=9)
def p():
    image = fn.external_source(name="image", dtype=types.UINT8, ndim=3, layout="HWC")
    t = fn.random_resized_crop(galatea.together(image=image), size=[11, 14], random_area=[0.2, 0.5], {})
    m = t.matrix
    start = fn.stack(m[1, 2] / m[1, 1], m[0, 2] / m[0, 0]) * -1.0
    extent = fn.stack(11.0 / m[1, 1], 14.0 / m[0, 0])
    window = fn.slice(
        image,
        start=fn.cast(start, dtype=types.INT32),
        shape=fn.cast(extent, dtype=types.INT32),
        axis_names="HW",
    )
    return t.image, fn.resize(window, size=[11, 14], {})
)",
                                         how, how);
    const Outputs outputs = run_stages(
        text, {{"image",
                {random_array(DType::kU8, {33, 41, 3}, 1), random_array(DType::kU8, {20, 64, 3}, 2),
                 random_array(DType::kU8, {5, 4, 3}, 3)}}});
    ASSERT_EQ(outputs.size(), 2U) << text;
    EXPECT_EQ(outputs[0], outputs[1]) << how;
  }
}

/// Those that no other test compiles.
TEST(Together, PresetsHaveTheSameBitsEverywhere) {
  const Outputs outputs = run_everywhere(
      R"(from galatea import fn, pipeline_def, types


@pipeline_def(batch_size=2, num_threads=1, seed=3)
def p():
    image = fn.external_source(name="image", dtype=types.UINT8, ndim=3, layout="HWC")
    m = [1.125, 0.125, -3.0, 0.0625, 0.875, 2.5, 0.001953125, 0.00390625, 1.0]
    window = fn.random_resized_crop(image, size=[7, 9], interp_type=types.INTERP_CUBIC, compat="pil")
    far = fn.experimental.warp_perspective(image, matrix=m, interp_type=types.INTERP_CUBIC, compat="pil")
    near = fn.experimental.warp_perspective(image, matrix=m, fill_value=9, compat="torchvision")
    cubic = fn.experimental.warp_perspective(image, matrix=m, interp_type=types.INTERP_CUBIC, compat="opencv")
    floats = fn.resize(image / 255.0, size=[7, 9], compat="opencv")
    return window, far, near, cubic, floats
)",
      {{"image", {random_array(DType::kU8, {13, 17, 3}, 1), random_array(DType::kU8, {9, 5, 3}, 2)}}});
  EXPECT_EQ(outputs.size(), 5U);
}

}  // namespace
}  // namespace galatea::testing
