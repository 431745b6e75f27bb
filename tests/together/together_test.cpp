// Boxes, labels, masks and points follow their picture: the boxes around what a mask shows, numbers by hand,
// and the same bits on every backend, fused and not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/frontend.h"
#include "tests/support/cases.h"
#include "tests/support/product.h"
#include "tests/together/rectangles.h"

namespace galatea::testing {
namespace {

TEST(Together, BoxesHoldWhatTheMaskShows) {
  for (const std::string& steps : sharp_steps())
    if (takes(steps)) expect_boxes_around_masks(steps, 2, 4, true);
  for (const std::string& steps : turned_steps())
    if (takes(steps)) expect_boxes_around_masks(steps, 2, 4, false);
}

/// An operator that moves its picture is among those that are compared with a mask.
TEST(Together, EveryOperatorThatMovesPlacesIsTried) {
  std::string tried = fmt::format("{}{}", fmt::join(sharp_steps(), "\n"), fmt::join(turned_steps(), "\n"));
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
  int seed = 20;
  for (const std::string& steps : policies()) expect_boxes_around_masks(steps, 6, seed++, false);
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
