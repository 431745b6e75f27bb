// See rectangles.h.
#include "tests/together/rectangles.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

namespace galatea::testing {

namespace {

constexpr const char* kHead = R"(import galatea
from galatea import fn, math, pipeline_def, select, types
from galatea.auto_aug import auto_augment, policy, rand_augment, timm, torchvision, trivial_augment


@galatea.pixel
def softer(image):
    def at(y, x, c):
        return (image[y - 1, x, c] + 2 * image[y, x, c] + image[y, x + 1, c]) / 4

    return at


@pipeline_def(batch_size={}, num_threads=1, seed={})
def p():
    image = fn.external_source(name="image", dtype=types.UINT8, {})
    mask = fn.external_source(name="mask", dtype=types.UINT8, {})
    boxes = fn.external_source(name="boxes", dtype=types.FLOAT, {})
    t = galatea.together(image=image, mask=mask, boxes=boxes, labels=types.Constant([1, 2], dtype=types.INT32))
{}
    return t.mask, t.boxes, t.labels, t.image
)";

}  // namespace

Array rows(int64_t columns, const std::vector<float>& values) {
  return array_of(DType::kF32, {static_cast<int64_t>(values.size()) / columns, columns}, values);
}

std::vector<Box> boxes_of(const Array& array) {
  std::vector<Box> out;
  for (size_t i = 0; i + 3 < array.values.size(); i += 4)
    out.push_back({array.values[i], array.values[i + 1], array.values[i + 2], array.values[i + 3]});
  return out;
}

std::vector<float> rectangles_of(int frame) {
  std::vector<float> out = {9, 12, 27, 30, 36, 15, 51, 37};
  for (size_t i = 0; i < out.size(); ++i) out[i] += static_cast<float>(frame * (i % 2 == 0 ? 5 : -3));
  return out;
}

void draw(const std::vector<float>& rectangles, std::vector<uint8_t>& pixels) {
  const size_t before = pixels.size();
  pixels.resize(before + static_cast<size_t>(kHeight * kWidth));
  for (size_t n = 0; n < 2; ++n)
    for (auto y = static_cast<int64_t>(rectangles[4 * n + 1]);
         y < static_cast<int64_t>(rectangles[4 * n + 3]); ++y)
      for (auto x = static_cast<int64_t>(rectangles[4 * n]); x < static_cast<int64_t>(rectangles[4 * n + 2]);
           ++x)
        pixels[before + static_cast<size_t>(y * kWidth + x)] = static_cast<uint8_t>(n + 1);
}

Array drawn_mask() {
  std::vector<uint8_t> pixels;
  draw(rectangles_of(0), pixels);
  return array_of(DType::kU8, {kHeight, kWidth}, pixels);
}

Box box_around(const Array& mask, int value) {
  Box box{1e9, 1e9, -1e9, -1e9};
  const int64_t width = mask.extents.back();
  for (size_t i = 0; i < mask.values.size(); ++i) {
    if (mask.values[i] != value) continue;
    const auto x = static_cast<double>(static_cast<int64_t>(i) % width);
    const auto y = static_cast<double>(static_cast<int64_t>(i) / width);
    box = {std::min(box.x0, x), std::min(box.y0, y), std::max(box.x1, x + 1), std::max(box.y1, y + 1)};
  }
  return box;
}

std::string indented(const std::string& steps) {
  std::string out = "    ";
  for (const char c : steps) out += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return out;
}

std::string rectangles_text(const std::string& steps, int samples, int seed, bool sequences) {
  const char* const of_images[] = {"ndim=3, layout=\"HWC\"", "ndim=2", "ndim=2"};
  const char* const of_sequences[] = {"ndim=4, layout=\"FHWC\"", "ndim=3", "ndim=3"};
  const auto& types = sequences ? of_sequences : of_images;
  return fmt::format(kHead, samples, seed, types[0], types[1], types[2], indented(steps));
}

const std::vector<std::string>& sharp_steps() {
  static const std::vector<std::string> all = {
      "t = fn.resize(t, size=[61, 40])",
      "t = fn.resize(t, resize_shorter=40)",
      "t = fn.resize(t, size=[-50, 70])",
      "t = fn.resize(t, size=[40, 40], roi_start=[5, 8], roi_end=[45, 60])",
      "t = fn.resize_crop_mirror(t, size=[60, 70], crop=[40, 52], crop_pos_x=0.3, mirror=3)",
      "t = fn.fast_resize_crop_mirror(t, size=[60, 70], crop=[40, 52], mirror=1)",
      "t = fn.resize_crop_mirror(t, size=[60, 70], crop=[40, 52], crop_pos_x=0.3, mirror=3, compat=\"pil\")",
      "t = fn.random_resized_crop(t, size=[40, 50], random_area=[0.5, 0.9])",
      "t = fn.crop(t, crop=[30, 33], crop_pos_x=fn.random.uniform(range=[0.0, 1.0]))",
      "t = fn.crop(t, crop=[60, 80], out_of_bounds_policy=\"pad\", fill_values=[9, 8, 7])",
      "t = fn.slice(t, rel_start=[0.2, 0.1], rel_shape=[0.5, 0.6])",
      "t = fn.slice(t, start=[20], shape=[25], axis_names=\"W\")",
      "t = fn.flip(t, horizontal=fn.random.coin_flip(), vertical=fn.random.coin_flip())",
      "t = fn.galatea.auto_orient(t, orientation=fn.random.uniform(values=[2, 4, 5, 8], dtype=types.INT32))",
      "t = fn.galatea.auto_orient(fn.galatea.auto_orient(fn.galatea.auto_orient(t, orientation=6), "
      "orientation=7), orientation=3)",
      "t = fn.crop_mirror_normalize(t, crop=[40, 40], mirror=fn.random.coin_flip(), mean=[9, 8, 7], std=[2])\n"
      "t = fn.slice(t, start=[4], shape=[30], axes=[2])",
      "t = fn.pad(t, axis_names=\"HW\", shape=[50, 70], fill_value=3)",
      "t = fn.rotate(t, angle=90.0)",
      "t = fn.paste(t, ratio=1.5, paste_x=0.2, paste_y=0.7, fill_value=9)",
      "t = fn.warp_affine(t, matrix=[1.25, 0.0, -6.0, 0.0, 0.8, 3.5], fill_value=5)",
      "t = fn.warp_affine(t, matrix=[0.75, 0.0, 6.0, 0.0, 0.9, -3.5], inverse_map=False, size=[50, 50], fill_value=5)",
  };
  return all;
}

const std::vector<std::string>& turned_steps() {
  static const std::vector<std::string> all = {
      "t = fn.rotate(t, angle=fn.random.uniform(range=[-60.0, 60.0]), fill_value=77)",
      "t = fn.rotate(t, angle=fn.random.uniform(range=[-60.0, 60.0]), keep_size=True, fill_value=77)",
      "t = fn.warp_affine(t, fn.transforms.shear(angles=[10.0, -7.0]), inverse_map=False, fill_value=1)",
      "t = fn.experimental.warp_perspective(t, matrix=[[1.1, 0.1, -3.0], [0.0, 0.9, 2.0], [0.001, 0.002, 1.0]],"
      " fill_value=1, pixel_origin=\"center\")",
      "t = fn.experimental.warp_perspective(t, matrix=[[1.1, 0.1, -3.0], [0.0, 0.9, 2.0], [0.001, 0.002, 1.0]],"
      " fill_value=1, inverse_map=False)",
      "t = fn.galatea.random_perspective(t, distortion_scale=0.4, p=1.0, fill_value=1)",
  };
  return all;
}

const std::vector<std::string>& policies() {
  static const std::vector<std::string> all = {
      "t = rand_augment.rand_augment(t, n=2, m=17)",
      "t = auto_augment.auto_augment(t, shape=[48, 64])",
      "t = trivial_augment.trivial_augment_wide(t)",
      "t = timm.transform(\"rand-m9-mstd0.5-inc1\")(t)",
      "t = torchvision.RandAugment(num_ops=3)(t)",
      "augment = policy.define({\"bins\": 11, \"augmentations\": {\"rotate\": {\"range\": [0, 30], \"negate\": True}, "
      "\"equalize\": {}}, \"policy\": {\"choose\": 2, \"from\": [[\"rotate\", 0.8, 6], [\"equalize\", 0.5, None]]}})\n"
      "t = augment(t)",
  };
  return all;
}

void expect_box_around(const Box& box, const Box& shown, const Array& mask, bool tight,
                       const std::string& steps) {
  const std::string where = fmt::format("{}\nbox {} {} {} {}, mask {} {} {} {}", steps, box.x0, box.y0,
                                        box.x1, box.y1, shown.x0, shown.y0, shown.x1, shown.y1);
  const size_t rows = mask.extents.size() - 2;
  const auto is_inside_picture = box.x0 >= 0 && box.y0 >= 0 &&
                                 box.x1 <= static_cast<double>(mask.extents[rows + 1]) &&
                                 box.y1 <= static_cast<double>(mask.extents[rows]);
  EXPECT_TRUE(is_inside_picture) << where;
  if (shown.x1 < shown.x0) return;  // less than a pixel of it is left
  constexpr double kPixel = 1.01;
  EXPECT_GE(shown.x0, box.x0 - kPixel) << where;
  EXPECT_GE(shown.y0, box.y0 - kPixel) << where;
  EXPECT_LE(shown.x1, box.x1 + kPixel) << where;
  EXPECT_LE(shown.y1, box.y1 + kPixel) << where;
  if (!tight) return;
  EXPECT_LE(shown.x0, box.x0 + kPixel) << where;
  EXPECT_LE(shown.y0, box.y0 + kPixel) << where;
  EXPECT_GE(shown.x1, box.x1 - kPixel) << where;
  EXPECT_GE(shown.y1, box.y1 - kPixel) << where;
}

void expect_boxes_around_masks(const std::string& steps, int samples, int seed, bool tight, Runner run) {
  Feed feed;
  for (int s = 0; s < samples; ++s) {
    feed["image"].push_back(random_array(DType::kU8, {kHeight, kWidth, 3}, static_cast<uint64_t>(s)));
    feed["mask"].push_back(drawn_mask());
    feed["boxes"].push_back(rows(4, rectangles_of(0)));
  }
  const std::string text = rectangles_text(steps, samples, seed, false);
  const Outputs outputs = run(text, feed);
  ASSERT_EQ(outputs.size(), 4U) << text;
  for (size_t s = 0; s < static_cast<size_t>(samples); ++s) {
    const Array& mask = outputs[0][s];
    const std::vector<Box> boxes = boxes_of(outputs[1][s]);
    ASSERT_EQ(boxes.size(), outputs[2][s].values.size());
    for (size_t n = 0; n < boxes.size(); ++n) {
      const auto label = static_cast<int>(outputs[2][s].values[n]);
      expect_box_around(boxes[n], box_around(mask, label), mask, tight,
                        fmt::format("{}\nsample {}, label {}", steps, s, label));
    }
    // What the mask shows more than a little of has a box.
    for (int label = 1; label <= 2; ++label) {
      const auto count = std::ranges::count(mask.values, static_cast<double>(label));
      const bool has_box = std::ranges::count(outputs[2][s].values, static_cast<double>(label)) > 0;
      EXPECT_TRUE(has_box || count <= 4) << steps << "\nsample " << s << ", label " << label;
    }
  }
}

}  // namespace galatea::testing
