// Boxes, labels, masks and points follow their picture: the boxes around what a mask shows, numbers by hand,
// and the same bits on every backend, fused and not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/frontend.h"
#include "tests/pixel/everywhere.h"
#include "tests/support/product.h"

namespace galatea::testing {
namespace {

template <typename T>
Array array_of(DType dtype, std::vector<int64_t> extents, const std::vector<T>& values) {
  Array out{dtype, std::move(extents), {}, {}};
  out.bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
  return out;
}

Array rows(int64_t columns, const std::vector<float>& values) {
  return array_of(DType::kF32, {static_cast<int64_t>(values.size()) / columns, columns}, values);
}

struct Box {
  double x0, y0, x1, y1;
};

std::vector<Box> boxes_of(const Array& array) {
  std::vector<Box> out;
  for (size_t i = 0; i + 3 < array.values.size(); i += 4)
    out.push_back({array.values[i], array.values[i + 1], array.values[i + 2], array.values[i + 3]});
  return out;
}

// Two rectangles on a mask, with a margin around them and between them.
constexpr int64_t kHeight = 48, kWidth = 64;
const std::vector<float> kRectangles = {9, 12, 27, 30, 36, 15, 51, 37};

Array drawn_mask() {
  std::vector<uint8_t> pixels(static_cast<size_t>(kHeight * kWidth));
  for (size_t n = 0; n < 2; ++n)
    for (auto y = static_cast<int64_t>(kRectangles[4 * n + 1]);
         y < static_cast<int64_t>(kRectangles[4 * n + 3]); ++y)
      for (auto x = static_cast<int64_t>(kRectangles[4 * n]);
           x < static_cast<int64_t>(kRectangles[4 * n + 2]); ++x)
        pixels[static_cast<size_t>(y * kWidth + x)] = static_cast<uint8_t>(n + 1);
  return array_of(DType::kU8, {kHeight, kWidth}, pixels);
}

/// The box around the pixels of this value; without area where there are none.
Box box_around(const Array& mask, int value) {
  Box box{1e9, 1e9, -1e9, -1e9};
  const int64_t width = mask.extents[1];
  for (size_t i = 0; i < mask.values.size(); ++i) {
    if (mask.values[i] != value) continue;
    const auto x = static_cast<double>(static_cast<int64_t>(i) % width);
    const auto y = static_cast<double>(static_cast<int64_t>(i) / width);
    box = {std::min(box.x0, x), std::min(box.y0, y), std::max(box.x1, x + 1), std::max(box.y1, y + 1)};
  }
  return box;
}

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
    image = fn.external_source(name="image", dtype=types.UINT8, ndim=3, layout="HWC")
    mask = fn.external_source(name="mask", dtype=types.UINT8, ndim=2)
    boxes = fn.external_source(name="boxes", dtype=types.FLOAT, ndim=2)
    t = galatea.together(image=image, mask=mask, boxes=boxes, labels=types.Constant([1, 2], dtype=types.INT32))
{}
    return t.mask, t.boxes, t.labels, t.image
)";

std::string indented(const std::string& steps) {
  std::string out = "    ";
  for (const char c : steps) out += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return out;
}

/// Boxes hold what the mask shows of their rectangles, and no more than is lost on the way; `tight`: within a
/// pixel that nearest neighbours miss.
void expect_boxes_around_masks(const std::string& steps, int samples, int seed, bool tight,
                               Outputs (*run)(const std::string&, const Feed&) = run_stages) {
  Feed feed;
  for (int s = 0; s < samples; ++s) {
    feed["image"].push_back(random_array(DType::kU8, {kHeight, kWidth, 3}, static_cast<uint64_t>(s)));
    feed["mask"].push_back(drawn_mask());
    feed["boxes"].push_back(rows(4, kRectangles));
  }
  const std::string text = fmt::format(kHead, samples, seed, indented(steps));
  const Outputs outputs = run(text, feed);
  ASSERT_EQ(outputs.size(), 4U) << text;
  for (size_t s = 0; s < static_cast<size_t>(samples); ++s) {
    const Array& mask = outputs[0][s];
    const std::vector<Box> boxes = boxes_of(outputs[1][s]);
    ASSERT_EQ(boxes.size(), outputs[2][s].values.size());
    for (size_t n = 0; n < boxes.size(); ++n) {
      const auto label = static_cast<int>(outputs[2][s].values[n]);
      const Box shown = box_around(mask, label), &box = boxes[n];
      const std::string where =
          fmt::format("{}\nsample {}, label {}: box {} {} {} {}, mask {} {} {} {}", steps, s, label, box.x0,
                      box.y0, box.x1, box.y1, shown.x0, shown.y0, shown.x1, shown.y1);
      const auto is_inside_picture = box.x0 >= 0 && box.y0 >= 0 &&
                                     box.x1 <= static_cast<double>(mask.extents[1]) &&
                                     box.y1 <= static_cast<double>(mask.extents[0]);
      EXPECT_TRUE(is_inside_picture) << where;
      if (shown.x1 < shown.x0) continue;  // less than a pixel of it is left
      constexpr double kPixel = 1.01;
      EXPECT_GE(shown.x0, box.x0 - kPixel) << where;
      EXPECT_GE(shown.y0, box.y0 - kPixel) << where;
      EXPECT_LE(shown.x1, box.x1 + kPixel) << where;
      EXPECT_LE(shown.y1, box.y1 + kPixel) << where;
      if (!tight) continue;
      EXPECT_LE(shown.x0, box.x0 + kPixel) << where;
      EXPECT_LE(shown.y0, box.y0 + kPixel) << where;
      EXPECT_GE(shown.x1, box.x1 - kPixel) << where;
      EXPECT_GE(shown.y1, box.y1 - kPixel) << where;
    }
    // What the mask shows more than a little of has a box.
    for (int label = 1; label <= 2; ++label) {
      const auto count = std::ranges::count(mask.values, static_cast<double>(label));
      const bool has_box = std::ranges::count(outputs[2][s].values, static_cast<double>(label)) > 0;
      EXPECT_TRUE(has_box || count <= 4) << steps << "\nsample " << s << ", label " << label;
    }
  }
}

/// Turned corners end in less than a pixel, which nearest neighbours may leave out; the others are sharp.
const std::vector<std::string> kSharp = {
    "t = fn.resize(t, size=[61, 40])",
    "t = fn.resize(t, resize_shorter=40)",
    "t = fn.resize(t, size=[-50, 70])",
    "t = fn.resize(t, size=[40, 40], roi_start=[5, 8], roi_end=[45, 60])",
    "t = fn.resize_crop_mirror(t, size=[60, 70], crop=[40, 52], crop_pos_x=0.3, mirror=3)",
    "t = fn.fast_resize_crop_mirror(t, size=[60, 70], crop=[40, 52], mirror=1)",
    "t = fn.random_resized_crop(t, size=[40, 50], random_area=[0.5, 0.9])",
    "t = fn.crop(t, crop=[30, 33], crop_pos_x=fn.random.uniform(range=[0.0, 1.0]))",
    "t = fn.crop(t, crop=[60, 80], out_of_bounds_policy=\"pad\", fill_values=[9, 8, 7])",
    "t = fn.slice(t, rel_start=[0.2, 0.1], rel_shape=[0.5, 0.6])",
    "t = fn.slice(t, start=[20], shape=[25], axes=[1])",
    "t = fn.flip(t, horizontal=fn.random.coin_flip(), vertical=fn.random.coin_flip())",
    "t = fn.galatea.auto_orient(t, orientation=fn.random.uniform(values=[2, 4, 5, 8], dtype=types.INT32))",
    "t = fn.galatea.auto_orient(fn.galatea.auto_orient(fn.galatea.auto_orient(t, orientation=6), orientation=7), "
    "orientation=3)",
    "t = fn.crop_mirror_normalize(t, crop=[40, 40], mirror=fn.random.coin_flip(), mean=[9, 8, 7], std=[2])\n"
    "t = fn.slice(t, start=[4], shape=[30], axes=[2])",
    "t = fn.pad(t, axis_names=\"HW\", shape=[50, 70], fill_value=3)",
    "t = fn.rotate(t, angle=90.0)",
    "t = fn.paste(t, ratio=1.5, paste_x=0.2, paste_y=0.7, fill_value=9)",
    "t = fn.warp_affine(t, matrix=[1.25, 0.0, -6.0, 0.0, 0.8, 3.5], fill_value=5)",
    "t = fn.warp_affine(t, matrix=[0.75, 0.0, 6.0, 0.0, 0.9, -3.5], inverse_map=False, size=[50, 50], fill_value=5)",
};
const std::vector<std::string> kTurned = {
    "t = fn.rotate(t, angle=fn.random.uniform(range=[-60.0, 60.0]), fill_value=77)",
    "t = fn.rotate(t, angle=fn.random.uniform(range=[-60.0, 60.0]), keep_size=True, fill_value=77)",
    "t = fn.warp_affine(t, fn.transforms.shear(angles=[10.0, -7.0]), inverse_map=False, fill_value=1)",
    "t = fn.experimental.warp_perspective(t, matrix=[[1.1, 0.1, -3.0], [0.0, 0.9, 2.0], [0.001, 0.002, 1.0]],"
    " fill_value=1, pixel_origin=\"center\")",
    "t = fn.experimental.warp_perspective(t, matrix=[[1.1, 0.1, -3.0], [0.0, 0.9, 2.0], [0.001, 0.002, 1.0]],"
    " fill_value=1, inverse_map=False)",
    "t = fn.galatea.random_perspective(t, distortion_scale=0.4, p=1.0, fill_value=1)",
};

TEST(Together, BoxesHoldWhatTheMaskShows) {
  for (const std::string& steps : kSharp) expect_boxes_around_masks(steps, 2, 4, true);
  for (const std::string& steps : kTurned) expect_boxes_around_masks(steps, 2, 4, false);
}

/// An operator that moves its picture is among those that are compared with a mask.
TEST(Together, EveryOperatorThatMovesPlacesIsTried) {
  std::string tried = fmt::format("{}{}", fmt::join(kSharp, "\n"), fmt::join(kTurned, "\n"));
  for (const auto& op : product().registry.all()) {
    if (op->places != op::Places::kMoved || op->internal) continue;
    EXPECT_NE(tried.find("fn." + op->name + "("), std::string::npos) << op->name << ": add it to the steps";
    EXPECT_NE(product().registry.find(op->name + ".places"), nullptr);
  }
}

TEST(Together, StepsFollowEachOther) {
  expect_boxes_around_masks(
      "t = fn.resize(t, size=[60, 90])\n"
      "t = fn.brightness(fn.flip(t, horizontal=fn.random.coin_flip()), brightness=1.3)\n"
      "t = fn.cast_like(255 - t * 0.5 + fn.reductions.mean(t), t)\n"
      "t = softer(t)\n"
      "t = fn.galatea.color_jitter(t, brightness=0.2)\n"
      "if fn.random.coin_flip(dtype=types.BOOL):\n"
      "    t = fn.rotate(t, angle=25.0, keep_size=True, fill_value=0)\n"
      "    t = fn.crop(t, crop=[50, 70])\n"
      "else:\n"
      "    t = policy.define({\"bins\": 11, \"augmentations\": {\"rotate\": {\"range\": [0, 30], \"negate\": True}, "
      "\"invert\": {}}, \"policy\": {\"seq\": [[\"rotate\", 0.7, 6], [\"invert\", 0.5, None]]}})(t)\n"
      "t = fn.crop_mirror_normalize(t, mirror=1, dtype=types.FLOAT)",
      4, 6, false, run_everywhere);
}

TEST(Together, PoliciesCarryBoxesAndMasks) {
  const char* const policies[] = {
      "t = rand_augment.rand_augment(t, n=2, m=17)",
      "t = auto_augment.auto_augment(t, shape=[48, 64])",
      "t = trivial_augment.trivial_augment_wide(t)",
      "t = timm.transform(\"rand-m9-mstd0.5-inc1\")(t)",
      "t = torchvision.RandAugment(num_ops=3)(t)",
      "augment = policy.define({\"bins\": 11, \"augmentations\": {\"rotate\": {\"range\": [0, 30], \"negate\": True}, "
      "\"equalize\": {}}, \"policy\": {\"choose\": 2, \"from\": [[\"rotate\", 0.8, 6], [\"equalize\", 0.5, None]]}})\n"
      "t = augment(t)",
  };
  int seed = 20;
  for (const char* steps : policies) expect_boxes_around_masks(steps, 6, seed++, false);
}

// ---- numbers by hand

std::string bundle_text(const std::string& given, const std::string& steps, const std::string& results,
                        int samples = 1) {
  return fmt::format(
      "import galatea\nfrom galatea import fn, pipeline_def, types\n\n\n"
      "@pipeline_def(batch_size={}, num_threads=1, seed=1)\ndef p():\n"
      "    boxes = fn.external_source(name=\"boxes\", dtype=types.FLOAT, ndim=2)\n"
      "    image = fn.reshape(types.Constant([[[0]] * 20] * 10, dtype=types.UINT8), layout=\"HWC\")\n"
      "    t = galatea.together(image=image, boxes=boxes, {})\n{}\n    return {}\n",
      samples, given, indented(steps), results);
}

std::vector<double> numbers(const std::string& text, const std::vector<float>& boxes, size_t output = 0) {
  const Outputs outputs = run_stages(text, {{"boxes", {rows(4, boxes)}}});
  return output < outputs.size() ? outputs[output].at(0).values : std::vector<double>{};
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size()) << fmt::format("{}", fmt::join(actual, " "));
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-4) << i;
}

/// The corners of a box, turned about the middle of a picture of 20 x 10.
TEST(Together, TurnedBoxesAreAroundTheirCorners) {
  const double a = 30 * 3.14159265358979323846 / 180;
  Box expected{1e9, 1e9, -1e9, -1e9};
  for (const double x : {8.0, 12.0})
    for (const double y : {4.0, 5.0}) {
      // Counter-clockwise, with rows that go down.
      const double u = 10 + std::cos(a) * (x - 10) + std::sin(a) * (y - 5);
      const double v = 5 - std::sin(a) * (x - 10) + std::cos(a) * (y - 5);
      expected = {std::min(expected.x0, u), std::min(expected.y0, v), std::max(expected.x1, u),
                  std::max(expected.y1, v)};
    }
  const std::vector<double> around = {expected.x0, expected.y0, expected.x1, expected.y1};
  const std::string turn = "t = fn.rotate(t, angle=30.0, keep_size=True)";
  expect_near(numbers(bundle_text("", turn, "t.boxes"), {8, 4, 12, 5}), around);
  // There and back is where it was: boxes around boxes would grow.
  expect_near(numbers(bundle_text("", turn + "\nt = fn.rotate(t, angle=-30.0, keep_size=True)", "t.boxes"),
                      {8, 4, 12, 5}),
              {8, 4, 12, 5});
}

TEST(Together, FormatsComeOutAsTheyWentIn) {
  const std::string enlarge = "t = fn.resize(t, size=[20, 60])";
  expect_near(numbers(bundle_text("box_format=\"xywh\"", enlarge, "t.boxes"), {2, 3, 4, 5}), {6, 6, 12, 10});
  expect_near(numbers(bundle_text("box_format=\"cxcywh\"", enlarge, "t.boxes"), {4, 5, 2, 3}),
              {12, 10, 6, 6});
  expect_near(numbers(bundle_text("relative=True", enlarge, "t.boxes"), {0.1F, 0.2F, 0.5F, 0.75F}),
              {0.1, 0.2, 0.5, 0.75});
  expect_near(numbers(bundle_text("box_format=\"cxcywh\", relative=True", "t = fn.flip(t)", "t.boxes"),
                      {0.25F, 0.5F, 0.5F, 0.4F}),
              {0.75, 0.5, 0.5, 0.4});
}

/// Of [0, 4) the left half stays, of [8, 10) nothing; the box without area goes.
TEST(Together, WhatIsSeenDecides) {
  const std::string cut = "t = fn.slice(t, start=[0], shape=[2], axes=[1])";
  const std::vector<float> boxes = {0, 0, 4, 4, 8, 0, 10, 4, 1, 1, 1, 3, 1, 0, 2, 10};
  const std::string labels = "labels=types.Constant([5, 6, 7, 8], dtype=types.INT32)";
  expect_near(numbers(bundle_text(labels, cut, "t.boxes"), boxes), {0, 0, 2, 4, 1, 0, 2, 10});
  expect_near(numbers(bundle_text(labels + ", min_visible=0.5", cut, "t.labels"), boxes), {5, 8});
  expect_near(numbers(bundle_text(labels + ", min_visible=0.51", cut, "t.labels"), boxes), {8});
  expect_near(numbers(bundle_text("min_visible=1.0", "pass", "t.boxes"), boxes),
              {0, 0, 4, 4, 8, 0, 10, 4, 1, 0, 2, 10});
}

/// What one picture on the way did not show stays away, though the last one has the place again.
TEST(Together, WhatWasCutOffDoesNotComeBack) {
  const std::string there_and_back =
      "t = fn.warp_affine(t, matrix=[1, 0, 6, 0, 1, 0], fill_value=0)\n"
      "t = fn.warp_affine(t, matrix=[1, 0, -6, 0, 1, 0], fill_value=0)";
  expect_near(numbers(bundle_text("", there_and_back, "t.boxes"), {4, 2, 10, 4, 0, 0, 5, 5}), {6, 2, 10, 4});
  expect_near(numbers(bundle_text("points=types.Constant([[4.0, 2.0], [8.0, 2.0]], dtype=types.FLOAT)",
                                  there_and_back, "t.points, t.inside"),
                      {}, 1),
              {0, 1});
}

TEST(Together, NoBoxesHaveTheirShape) {
  const std::string text = bundle_text(
      "labels=fn.cast(boxes[:, 0], dtype=types.INT32), box_format=\"cxcywh\", relative=True, "
      "points=types.Constant([[0.25, 0.5], [0.1, 0.3]], dtype=types.FLOAT)",
      "t = fn.slice(t, start=[0], shape=[4], axes=[1])", "t.boxes, t.labels, t.points, t.inside, t.matrix",
      3);
  // Columns 0 to 4 of 20 stay. The third box ends at column 6, and is cut to its first three columns.
  const Outputs outputs = run_everywhere(
      text,
      {{"boxes", {rows(4, {}), rows(4, {0.5F, 0.5F, 0.1F, 0.2F}), rows(4, {0.175F, 0.5F, 0.25F, 0.2F})}}});
  ASSERT_EQ(outputs.size(), 5U);
  for (size_t s = 0; s < 3; ++s) {
    const int64_t count = s == 2 ? 1 : 0;
    EXPECT_EQ(outputs[0][s].extents, (std::vector<int64_t>{count, 4}));
    EXPECT_EQ(outputs[1][s].extents, (std::vector<int64_t>{count}));
    expect_near(outputs[2][s].values, {1.25, 0.5, 0.5, 0.3});
    expect_near(outputs[3][s].values, {0, 1});
  }
  expect_near(outputs[0][2].values, {0.625, 0.5, 0.75, 0.2});
}

TEST(Together, PointsOfBoxesGoWithThem) {
  const std::string given =
      "points=types.Constant([[[1.0, 1.0], [3.0, 2.0]], [[9.0, 1.0], [2.0, 9.0]]], dtype=types.FLOAT)";
  const std::string text =
      bundle_text(given, "t = fn.slice(t, start=[0], shape=[4], axes=[1])\nt = fn.flip(t)",
                  "t.points, t.inside, t.matrix");
  const std::vector<float> boxes = {0, 0, 4, 4, 8, 0, 10, 4};
  expect_near(numbers(text, boxes), {3, 1, 1, 2});
  expect_near(numbers(text, boxes, 1), {1, 1});
  expect_near(numbers(text, boxes, 2), {-1, 0, 4, 0, 1, 0, 0, 0, 1});
}

/// The code of the first error of staging; empty: there is none.
std::string code_of(const std::string& steps) {
  SourceMap sources;
  const std::string text = bundle_text("", steps, "t.boxes, t.image");
  const dsl::FrontendResult staged = dsl::stage_pipeline("p.dali-dsl", text, {}, product().registry, sources);
  for (const Diagnostic& diagnostic : staged.diagnostics)
    if (diagnostic.severity == Severity::kError) return diagnostic.code;
  return "";
}

TEST(Together, WhatCannotBeFollowedIsRefused) {
  EXPECT_EQ(code_of("t = fn.transpose(t, perm=[2, 0, 1])"), "");
  for (const char* steps :
       {"t = fn.transpose(t, perm=[1, 0, 2], transpose_layout=False)",
        "t = fn.transpose(t, output_layout=\"HWC\")", "t = fn.sphere(t)", "t = fn.stack(t, t)",
        "t = fn.filter(t, types.Constant([[1.0, 1.0]]), mode=\"valid\")"})
    EXPECT_EQ(code_of(steps), "G0445") << steps;
  EXPECT_EQ(code_of("t = t + fn.flip(t)"), "G0446");
  EXPECT_EQ(code_of("t = fn.flip(t) if t else t"), "G0448");
  // Another type where a type is asked for, and a statistic, carry nothing.
  EXPECT_EQ(code_of("x = fn.cast_like(t.image * 2, t)\nt = t - fn.reductions.mean(t) + fn.reductions.max(x)"),
            "");
}

// ---- mistakes that samples make

TEST(Together, SamplesThatDoNotFitSaySo) {
  const auto failure = [](const std::string& given) {
    return failure_of(bundle_text(given, "pass", "t.boxes, t.image"), {{"boxes", {rows(4, {0, 0, 4, 4})}}});
  };
  EXPECT_EQ(failure(""), "");
  const std::string labels =
      failure_of(bundle_text("labels=fn.cast(boxes[0], dtype=types.INT32)", "pass", "t.labels"),
                 {{"boxes", {rows(4, {0, 0, 4, 4})}}});
  EXPECT_NE(labels.find("there are 4 rows for 1 boxes"), std::string::npos) << labels;
  const std::string numbers =
      failure_of(bundle_text("", "pass", "t.boxes"), {{"boxes", {rows(5, {0, 0, 4, 4, 1})}}});
  EXPECT_NE(numbers.find("the last axis of boxes has 5 numbers"), std::string::npos) << numbers;
  const std::string mask = failure_of(bundle_text("mask=fn.cast(boxes, dtype=types.UINT8)", "pass", "t.mask"),
                                      {{"boxes", {rows(4, {0, 0, 4, 4})}}});
  EXPECT_NE(mask.find("the mask has 1 x 4 pixels, the image 10 x 20"), std::string::npos) << mask;
}

}  // namespace
}  // namespace galatea::testing
