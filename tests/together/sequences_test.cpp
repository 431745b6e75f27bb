// Sequences: one draw moves all frames of a clip, or each is moved by arguments of its own; boxes and points are
// those of all frames, or per frame.
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "dsl/frontend.h"
#include "tests/support/cases.h"
#include "tests/support/product.h"
#include "tests/together/rectangles.h"

namespace galatea::testing {
namespace {

/// The same of a sequence whose rectangles move: a box for each frame, and one draw for all of them.
void expect_boxes_around_masks_of_frames(const std::string& steps, int frames, int seed, bool tight,
                                         Runner run = run_stages) {
  std::vector<uint8_t> pixels;
  std::vector<float> rectangles;
  for (int f = 0; f < frames; ++f) {
    const std::vector<float> here = rectangles_of(f);
    draw(here, pixels);
    rectangles.insert(rectangles.end(), here.begin(), here.end());
  }
  const Feed feed = {{"image", {random_array(DType::kU8, {frames, kHeight, kWidth, 3}, 5)}},
                     {"mask", {array_of(DType::kU8, {frames, kHeight, kWidth}, pixels)}},
                     {"boxes", {array_of(DType::kF32, {frames, 2, 4}, rectangles)}}};
  const std::string text = rectangles_text(steps, 1, seed, true);
  const Outputs outputs = run(text, feed);
  ASSERT_EQ(outputs.size(), 4U) << text;
  const Array &masks = outputs[0][0], &all = outputs[1][0], &labels = outputs[2][0];
  const size_t count = labels.values.size();
  ASSERT_EQ(all.extents, (std::vector<int64_t>{frames, static_cast<int64_t>(count), 4})) << steps;
  ASSERT_EQ(masks.extents.size(), 3U) << steps;
  const std::vector<Box> boxes = boxes_of(all);
  const auto area = static_cast<std::ptrdiff_t>(masks.extents[1] * masks.extents[2]);
  for (int f = 0; f < frames; ++f) {
    Array mask{masks.dtype, {masks.extents[1], masks.extents[2]}, {}, {}};
    mask.values.assign(masks.values.begin() + f * area, masks.values.begin() + (f + 1) * area);
    for (int label = 1; label <= 2; ++label) {
      const std::string where = fmt::format("{}\nframe {}, label {}", steps, f, label);
      const auto row = static_cast<size_t>(std::ranges::find(labels.values, label) - labels.values.begin());
      const Box box = row < count ? boxes[static_cast<size_t>(f) * count + row] : Box{};
      const bool has_box = box.x1 > box.x0 && box.y1 > box.y0;
      EXPECT_TRUE(has_box || std::ranges::count(mask.values, static_cast<double>(label)) <= 4) << where;
      if (has_box) expect_box_around(box, box_around(mask, label), mask, tight, where);
    }
  }
}

TEST(Together, BoxesHoldWhatTheMaskShowsInEachFrame) {
  for (const std::string& steps : sharp_steps())
    if (takes(steps) && !steps.contains("axes=["))  // numbers of an image's axes
      expect_boxes_around_masks_of_frames(steps, 2, 4, true);
  for (const std::string& steps : turned_steps())
    if (takes(steps)) expect_boxes_around_masks_of_frames(steps, 2, 4, false);
}

TEST(Together, PoliciesCarryBoxesAndMasksOfFrames) {
  int seed = 40;
  for (const std::string& steps : policies()) {
    expect_boxes_around_masks_of_frames(steps, 2, seed++, false);
  }
}

TEST(Together, StepsOfSequencesFollowEachOther) {
  expect_boxes_around_masks_of_frames(
      "t = fn.flip(t, horizontal=fn.per_frame(types.Constant([0, 1, 0])))\n"
      "if fn.random.coin_flip(dtype=types.BOOL):\n"
      "    t = fn.rotate(t, angle=fn.per_frame(types.Constant([5.0, 25.0, -30.0])), keep_size=True, "
      "fill_value=0)\n"
      "    t = fn.crop(t, crop=[40, 50], crop_pos_x=fn.per_frame(fn.random.uniform(range=[0.0, 1.0], "
      "shape=[3])))\n"
      "else:\n"
      "    t = fn.crop(t, crop=[40, 50])",
      3, 6, false, run_everywhere);
}

/// What a sequence is given, and what comes out.
Outputs of_clip(const std::string& given, const std::string& steps, const std::string& results,
                const std::vector<float>& boxes, std::vector<int64_t> extents, Runner run = run_stages) {
  const std::string text = fmt::format(
      "import galatea\nfrom galatea import fn, pipeline_def, types\n\n\n"
      "@pipeline_def(batch_size=1, num_threads=1, seed=1)\ndef p():\n"
      "    boxes = fn.external_source(name=\"boxes\", dtype=types.FLOAT, ndim={})\n"
      "    image = fn.zeros(shape=[3, 10, 20, 1], dtype=types.UINT8)\n"
      "    image = fn.reshape(image, layout=\"FHWC\")\n"
      "    t = galatea.together(image=image, boxes=boxes, {})\n{}\n    return {}\n",
      extents.size(), given, indented(steps), results);
  return run(text, {{"boxes", {array_of(DType::kF32, std::move(extents), boxes)}}});
}

constexpr const char* kLeftHalf = "t = fn.slice(t, start=[0], shape=[10], axis_names=\"W\")";

/// One object is on the left in the first frame, on the border in the second, and gone in the third; the
/// other is never seen.
TEST(Together, ARowOfFramesIsOneObject) {
  const std::vector<float> tracks = {2,  2, 6,  6, 12, 0, 20, 9, 8,  2, 12, 6,
                                     12, 0, 20, 9, 14, 2, 18, 6, 12, 0, 20, 9};
  const std::string given =
      "labels=[types.Constant([7, 8]), fn.per_frame(types.Constant([[1, 2], [3, 4], [5, 6]]))], "
      "points=fn.per_frame(boxes[:, :, :2])";
  const Outputs all =
      of_clip(given, kLeftHalf, "t.boxes, t.labels[0], t.labels[1], t.points, t.inside, t.matrix", tracks,
              {3, 2, 4}, run_everywhere);
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0][0].extents, (std::vector<int64_t>{3, 1, 4}));
  EXPECT_EQ(all[0][0].values, (std::vector<double>{2, 2, 6, 6, 8, 2, 10, 6, 0, 0, 0, 0}));
  EXPECT_EQ(all[1][0].values, (std::vector<double>{7}));
  EXPECT_EQ(all[2][0].extents, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(all[2][0].values, (std::vector<double>{1, 3, 5}));
  EXPECT_EQ(all[3][0].extents, (std::vector<int64_t>{3, 2, 2}));
  EXPECT_EQ(all[4][0].values, (std::vector<double>{1, 0, 1, 0, 0, 0}));
  EXPECT_EQ(all[5][0].extents, (std::vector<int64_t>{3, 3, 3}));
  // Half of it is seen in the second frame.
  const Outputs half = of_clip("min_visible=0.6", kLeftHalf, "t.boxes", tracks, {3, 2, 4});
  ASSERT_EQ(half.size(), 1U);
  EXPECT_EQ(half[0][0].values, (std::vector<double>{2, 2, 6, 6, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Together, RowsOfAllFramesStayThose) {
  const std::vector<float> boxes = {2, 2, 6, 6, 12, 0, 20, 9};
  const Outputs all = of_clip("points=boxes[:, :2]", std::string(kLeftHalf) + "\nt = fn.flip(t)",
                              "t.boxes, t.points, t.inside, t.matrix", boxes, {2, 4});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0][0].extents, (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(all[0][0].values, (std::vector<double>{4, 2, 8, 6}));
  EXPECT_EQ(all[1][0].values, (std::vector<double>{8, 2, -2, 0}));
  EXPECT_EQ(all[2][0].values, (std::vector<double>{1, 0}));
  EXPECT_EQ(all[3][0].values, (std::vector<double>{-1, 0, 10, 0, 1, 0, 0, 0, 1}));
  // Points of each box; boxes of all frames beside points of each.
  const Outputs both = of_clip("points=types.Constant([[[[1.0, 1.0]], [[2.0, 2.0]]]] * 3, dtype=types.FLOAT)",
                               "t = fn.flip(t, horizontal=fn.per_frame(types.Constant([0, 1, 0])))",
                               "t.boxes, t.points", boxes, {2, 4});
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0][0].extents, (std::vector<int64_t>{3, 2, 4}));
  EXPECT_EQ(both[0][0].values, (std::vector<double>{2, 2, 6, 6, 12, 0, 20, 9, 14, 2, 18, 6,
                                                    0, 0, 8, 9, 2,  2, 6,  6, 12, 0, 20, 9}));
  EXPECT_EQ(both[1][0].extents, (std::vector<int64_t>{3, 2, 1, 2}));
}

TEST(Together, FramesMayStandAnywhere) {
  const auto boxes_of_layout = [](const std::string& layout, std::vector<int64_t> extents, int64_t frames) {
    const std::string text = fmt::format(
        "import galatea\nfrom galatea import fn, pipeline_def, types\n\n\n"
        "@pipeline_def(batch_size=1, num_threads=1, seed=1)\ndef p():\n"
        "    image = fn.external_source(name=\"image\", dtype=types.UINT8, ndim={}, layout=\"{}\")\n"
        "    boxes = fn.external_source(name=\"boxes\", dtype=types.FLOAT, ndim=3)\n"
        "    t = fn.rotate(galatea.together(image=image, boxes=boxes), angle=30.0)\n"
        "    t = fn.crop(t, crop=[8, 9])\n    return t.boxes, t.image\n",
        extents.size(), layout);
    std::vector<float> boxes;
    for (int64_t f = 0; f < frames; ++f) boxes.insert(boxes.end(), {2, 2, 8, 9});
    const Outputs outputs = run_stages(text, {{"image", {random_array(DType::kU8, std::move(extents), 1)}},
                                              {"boxes", {array_of(DType::kF32, {frames, 1, 4}, boxes)}}});
    return outputs.empty() ? Array{} : outputs[0][0];
  };
  const Array expected = boxes_of_layout("FHWC", {2, 12, 10, 3}, 2);
  EXPECT_EQ(expected.extents, (std::vector<int64_t>{2, 1, 4}));
  EXPECT_EQ(boxes_of_layout("FCHW", {2, 3, 12, 10}, 2), expected);
  EXPECT_EQ(boxes_of_layout("CFHW", {3, 2, 12, 10}, 2), expected);
  EXPECT_EQ(boxes_of_layout("FHW", {2, 12, 10}, 2), expected);
  EXPECT_EQ(boxes_of_layout("FHWC", {0, 12, 10, 3}, 0).extents, (std::vector<int64_t>{0, 0, 4}));
}

TEST(Together, SequencesThatDoNotFitSaySo) {
  const auto text = [](const std::string& given, const std::string& steps,
                       const std::string& results = "t.image, t.matrix") {
    return fmt::format(
        "import galatea\nfrom galatea import fn, pipeline_def, types\n\n\n"
        "@pipeline_def(batch_size=1, num_threads=1, seed=1)\ndef p():\n"
        "    image = fn.external_source(name=\"image\", dtype=types.UINT8, ndim=4, layout=\"FHWC\")\n"
        "    plain = fn.external_source(name=\"plain\", dtype=types.UINT8, ndim=3)\n"
        "    t = galatea.together({})\n{}\n    return {}\n",
        given, indented(steps), results);
  };
  const auto error = [&](const std::string& given, const std::string& steps) {
    SourceMap sources;
    for (const Diagnostic& diagnostic :
         dsl::stage_pipeline("p.dali-dsl", text(given, steps), {}, product().registry, sources).diagnostics)
      if (diagnostic.severity == Severity::kError) return diagnostic.code + " " + diagnostic.message;
    return std::string();
  };
  const std::string clip = "image=image, boxes=types.Constant([[1.0, 1.0, 5.0, 5.0]])",
                    frames = "image=image, boxes=types.Constant([[[1.0, 1.0, 5.0, 5.0]]] * 2)",
                    flip = "t = fn.flip(t, horizontal=fn.per_frame(types.Constant([0, 1])))";
  EXPECT_EQ(error(frames, flip), "");
  EXPECT_EQ(error("image=image, mask=plain", flip), "");
  EXPECT_EQ(error(clip, flip).substr(0, 5), "G0449");
  EXPECT_EQ(error("image=image, mask=fn.reshape(plain, layout=\"HWC\")", "pass").substr(0, 5), "G0447");
  EXPECT_EQ(error("image=fn.reshape(image, layout=\"DHWC\")", "pass").substr(0, 5), "G0447");
  EXPECT_EQ(
      error("image=plain, boxes=fn.per_frame(types.Constant([[[1.0, 1.0, 5.0, 5.0]]]))", "pass").substr(0, 5),
      "G0447");
  EXPECT_EQ(error("image=plain, boxes=types.Constant([[[1.0, 1.0, 5.0, 5.0]]])", "pass").substr(0, 5),
            "G0447");
  EXPECT_EQ(error(clip, "t = fn.reductions.mean(t, axis_names=\"F\") + t"), "");
  EXPECT_EQ(error(clip, "t = fn.sequence_rearrange(t, new_order=[1, 0])").substr(0, 5), "G0445");

  const Array image = random_array(DType::kU8, {3, 4, 5, 1}, 1),
              plain = random_array(DType::kU8, {2, 4, 5}, 2);
  const auto expect_failure = [&](const std::string& words, const std::string& given,
                                  const std::string& steps, const std::string& results) {
    const std::string all = failure_of(text(given, steps, results), {{"image", {image}}, {"plain", {plain}}});
    EXPECT_NE(all.find(words), std::string::npos) << all;
  };
  expect_failure("the mask has 2 frames, the image 3", "image=image, mask=plain", "pass", "t.mask, image");
  expect_failure("image has 3 frames (axis F), rows has 2", frames, "pass", "t.boxes, image, plain");
  const std::string some = "t = fn.slice(t, start=[1], shape=[2], axis_names=\"F\")";
  expect_failure("image has 2 frames (axis F), ", "image=image", some, "t.image, t.matrix, plain");
  expect_failure("has 2 frames (axis F), ", "image=image, points=types.Constant([[[[1.0, 1.0]]]] * 3)", some,
                 "t.inside, plain");
  EXPECT_EQ(failure_of(text(clip, some, "t.image, t.boxes, plain"), {{"image", {image}}, {"plain", {plain}}}),
            "");
}

}  // namespace
}  // namespace galatea::testing
