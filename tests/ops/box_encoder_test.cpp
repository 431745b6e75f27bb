// box_encoder against its definition, pair by pair; what it and the operators that look for objects and windows
// refuse.
#include <cmath>

#include "tests/ops/op_tester.h"
#include "tests/support/cases.h"

namespace galatea::ops_test {
namespace {

using Numbers = std::vector<double>;
using Extents = std::vector<int64_t>;

/// Left, top, right, bottom.
struct Corners {
  double l, t, r, b;
};

Corners at(const Numbers& numbers, size_t row) {
  return {numbers[4 * row], numbers[4 * row + 1], numbers[4 * row + 2], numbers[4 * row + 3]};
}

double overlap(const Corners& a, const Corners& b) {
  const double w = std::min(a.r, b.r) - std::max(a.l, b.l), h = std::min(a.b, b.b) - std::max(a.t, b.t);
  if (w <= 0 || h <= 0) return 0;
  return w * h / ((a.r - a.l) * (a.b - a.t) + (b.r - b.l) * (b.b - b.t) - w * h);
}

/// For each anchor the row of its box, or -1.
std::vector<int> matches(const Numbers& boxes, const Numbers& anchors, double criteria) {
  std::vector<int> match(anchors.size() / 4, -1);
  std::vector<double> best(match.size(), criteria);
  std::vector<bool> forced(match.size(), false);
  for (size_t box = 0; box < boxes.size() / 4; ++box) {
    size_t own = 0;
    for (size_t a = 0; a < match.size(); ++a) {
      const double share = overlap(at(boxes, box), at(anchors, a));
      if (share >= overlap(at(boxes, box), at(anchors, own))) own = a;
      const bool better = match[a] < 0 ? share > criteria : share >= best[a];
      if (!forced[a] && better) match[a] = static_cast<int>(box), best[a] = share;
    }
    match[own] = static_cast<int>(box);
    forced[own] = true;
  }
  return match;
}

/// Corners in sixteenths: overlaps are equal or differ by more than a rounding.
Numbers random_boxes(size_t count, uint32_t seed) {
  const Tensor draws = random_tensor(DType::kU8, {static_cast<int64_t>(4 * count)}, {}, seed);
  Numbers boxes;
  for (size_t n = 0; n < count; ++n) {
    const auto draw = [&](size_t k) { return draws.integer(4 * n + k) % 12; };
    const auto l = static_cast<double>(draw(0)), t = static_cast<double>(draw(1));
    const double w = 1 + static_cast<double>(draw(2) % 4), h = 1 + static_cast<double>(draw(3) % 4);
    for (const double corner : {l, t, l + w, t + h}) boxes.push_back(corner / 16);
  }
  return boxes;
}

OpRun encoder(const Numbers& boxes, const Numbers& labels, const Numbers& anchors, bool known = false) {
  OpRun run("box_encoder");
  const auto count = static_cast<int64_t>(labels.size());
  const Tensor rows = tensor(DType::kF32, {count, 4}, boxes), classes = tensor(DType::kI32, {count}, labels);
  known ? run.fixed(rows).fixed(classes) : run.input(rows).input(classes);
  run.arg("anchors", anchors);
  return run;
}

TEST(BoxEncoder, GivesEachAnchorItsBox) {
  uint32_t seed = 0;
  size_t matched = 0;
  for (const size_t num_boxes : {0U, 1U, 2U, 9U})
    for (const size_t num_anchors : {1U, 3U, 40U})
      for (const double criteria : {0.0, 0.3, 0.5, 1.0})
        for (const bool offset : {false, true}) {
          const Numbers boxes = random_boxes(num_boxes, ++seed), anchors = random_boxes(num_anchors, ++seed);
          Numbers labels;
          for (size_t n = 0; n < num_boxes; ++n) labels.push_back(static_cast<double>(n * 7 + 3));
          const double scale = 300;
          const Numbers means = {0.1, -0.2, 0.3, 0.4}, stds = {0.1, 0.1, 0.2, 0.25};
          OpRun run = encoder(boxes, labels, anchors, seed % 3 == 0);
          run.arg("criteria", criteria).arg("offset", offset).arg("scale", scale);
          const OpRun::Outcome out = run.arg("means", means).arg("stds", stds).run();
          ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
          Numbers expected, classes;
          const std::vector<int> match = matches(boxes, anchors, criteria);
          for (size_t a = 0; a < num_anchors; ++a) {
            const Corners base = at(anchors, a),
                          own = match[a] < 0 ? base : at(boxes, static_cast<size_t>(match[a]));
            const Numbers size = {own.r - own.l, own.b - own.t}, whole = {base.r - base.l, base.b - base.t};
            Numbers row = {(own.l + own.r) / 2, (own.t + own.b) / 2, size[0], size[1]};
            if (offset) {
              row[0] = (row[0] - (base.l + base.r) / 2) / whole[0];
              row[1] = (row[1] - (base.t + base.b) / 2) / whole[1];
              for (size_t k = 0; k < 2; ++k) row[k + 2] = std::log(size[k] / whole[k]);
              for (size_t k = 0; k < 4; ++k) row[k] = match[a] < 0 ? 0 : (row[k] - means[k]) / stds[k];
            }
            expected.insert(expected.end(), row.begin(), row.end());
            classes.push_back(match[a] < 0 ? 0 : labels[static_cast<size_t>(match[a])]);
            matched += match[a] < 0 ? 0 : 1;
          }
          EXPECT_EQ(out.outputs[0].extents, (Extents{static_cast<int64_t>(num_anchors), 4}));
          // Offsets of centres are differences of numbers up to 300, over sizes of 18 and stds of 0.1.
          expect_near(out.outputs[0], expected, offset ? 2e-5 : 0);
          EXPECT_EQ(out.outputs[1].numbers(), classes);
        }
  EXPECT_GT(matched, 100U);
}

TEST(BoxEncoder, OfEqualOnesTheLastIsTaken) {
  // Two equal boxes and three equal anchors: the last anchor is the last box's in any case.
  const Numbers box = {0.25, 0.25, 0.5, 0.5};
  Numbers boxes, anchors;
  for (int n = 0; n < 2; ++n) boxes.insert(boxes.end(), box.begin(), box.end());
  for (int n = 0; n < 3; ++n) anchors.insert(anchors.end(), box.begin(), box.end());
  EXPECT_EQ(encoder(boxes, {4, 5}, anchors).result(1).numbers(), (Numbers{5, 5, 5}));
  EXPECT_EQ(encoder(boxes, {4, 5}, anchors).arg("criteria", 1.0).result(1).numbers(), (Numbers{0, 0, 5}));
}

TEST(BoxEncoder, OfWhatIsNoBoxTheLastAnchorStandsForIt) {
  const Numbers anchors = {0, 0, 0.5, 0.5, 0.5, 0.5, 1, 1};
  for (const double edge : {0.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    const Tensor labels = encoder({0, edge, edge, 1}, {9}, anchors).result(1);
    EXPECT_EQ(labels.numbers().size(), 2U);
    EXPECT_EQ(labels[1], 9) << edge;
  }
}

TEST(BoxEncoder, RefusesWhatCannotBe) {
  struct Case {
    const char* arg;
    ir::Attr value;
    const char* words;
  };
  const Case cases[] = {
      {"criteria", 1.5, "criteria must lie in [0, 1], not 1.5"},
      {"criteria", NAN, "criteria must lie in [0, 1]"},
      {"means", Numbers{1}, "means needs 4 numbers, not 1"},
      {"stds", Numbers{1, 1, 0, 1}, "stds has a 0"},
      {"stds", Numbers{1, 1, NAN, 1}, "stds has nan"},
      {"scale", 0.0, "scale is 0"},
  };
  const Numbers box = {0, 0, 1, 1};
  for (const Case& c : cases) {
    const std::string message = encoder(box, {1}, box).arg(c.arg, c.value).failure();
    EXPECT_TRUE(says(message, c.words)) << c.arg << ": " << message;
  }
  EXPECT_TRUE(says(encoder(box, {1}, {}).failure(), "anchors has 0 numbers"));
  EXPECT_TRUE(says(encoder(box, {1}, {1, 2, 3}).failure(), "anchors has 3 numbers"));
  EXPECT_TRUE(says(encoder(box, {1}, {1, 2, 3, INFINITY}).failure(), "anchors has inf"));
  const auto run = [&](const Tensor& boxes, const Tensor& labels, bool known) {
    OpRun made("box_encoder");
    known ? made.fixed(boxes).fixed(labels) : made.input(boxes).input(labels);
    return made.arg("anchors", box).failure();
  };
  const Tensor one = tensor(DType::kF32, {1, 4}, box), label = tensor(DType::kI32, {1}, {1});
  const Tensor fives = tensor(DType::kF32, {1, 5}, Numbers(5)), pair = tensor(DType::kI32, {1, 2}, {1, 2});
  EXPECT_TRUE(says(run(fives, label, true), "no boxes of four numbers"));
  EXPECT_TRUE(says(run(fives, label, false), "a box has 4 numbers, not 5"));
  EXPECT_TRUE(says(run(one, pair, true), "are no labels"));
  EXPECT_TRUE(says(run(one, pair, false), "a box has 2 labels"));
  EXPECT_TRUE(says(run(one, tensor(DType::kI32, {2}, {1, 2}), false), "2 labels for 1 boxes"));
}

OpRun objects(const Tensor& mask) {
  OpRun run("segmentation.random_object_bbox");
  run.input(mask).native({1, 0, 3, 4, 7});
  return run;
}

TEST(RandomObjectBbox, HasThreeFormats) {
  const Tensor mask = random_tensor(DType::kU8, {3, 4}, {}, 1);
  const OpRun::Outcome plain = objects(mask).arg("output_class", true).run();
  ASSERT_TRUE(plain.ok()) << plain.error << plain.failed_check;
  ASSERT_EQ(plain.outputs.size(), 3U);
  for (const Tensor& output : plain.outputs) EXPECT_EQ(output.dtype, DType::kI32);
  EXPECT_EQ(plain.outputs[0].numbers(), (Numbers{1, 0}));
  EXPECT_EQ(plain.outputs[1].numbers(), (Numbers{2, 4}));
  EXPECT_EQ(plain.outputs[2].numbers(), Numbers{7});
  EXPECT_EQ(plain.outputs[2].extents, Extents{});
  const OpRun::Outcome ends = objects(mask).arg("format", std::string("start_end")).run();
  ASSERT_EQ(ends.outputs.size(), 2U);
  EXPECT_EQ(ends.outputs[1].numbers(), (Numbers{3, 4}));
  const OpRun::Outcome box = objects(mask).arg("format", std::string("box")).run();
  ASSERT_EQ(box.outputs.size(), 1U);
  EXPECT_EQ(box.outputs[0].numbers(), (Numbers{1, 0, 3, 4}));
}

TEST(RandomObjectBbox, RefusesWhatCannotBe) {
  struct Case {
    const char* arg;
    ir::Attr value;
    const char* words;
  };
  const Case cases[] = {
      {"format", std::string("corners"), "there is no format \"corners\""},
      {"k_largest", int64_t{0}, "k_largest must be at least 1, not 0"},
      {"threshold", Extents{1, 2, 3}, "threshold"},
      {"class_weights", Numbers{1, -1}, "a class weight is -1"},
      {"foreground_prob", NAN, "must be finite"},
  };
  const Tensor mask = random_tensor(DType::kU8, {3, 4}, {}, 1);
  for (const Case& c : cases) {
    const std::string message = objects(mask).arg(c.arg, c.value).failure();
    EXPECT_TRUE(says(message, c.words)) << c.arg << ": " << message;
  }
  EXPECT_TRUE(says(objects(mask).arg("classes", Extents{1, 2}).arg("background", int64_t{2}).failure(),
                   "class 2 is the background"));
  EXPECT_TRUE(says(objects(mask).arg("classes", Extents{1, 2}).arg("class_weights", Numbers{1}).failure(),
                   "1 class weights for 2 classes"));
  const auto ignoring = [&] { return objects(mask).arg("ignore_class", true); };
  EXPECT_TRUE(says(ignoring().arg("classes", Extents{1}).failure(), "ignore_class and classes exclude"));
  EXPECT_TRUE(says(ignoring().arg("class_weights", Numbers{1}).failure(), "ignore_class and class_weights"));
  EXPECT_TRUE(says(ignoring().arg("output_class", true).failure(), "ignore_class and output_class exclude"));
  EXPECT_TRUE(says(objects(scalar(DType::kU8, 1)).failure(), "has no axes"));
  EXPECT_NE(objects(random_tensor(DType::kF32, {3}, {}, 1)).failure(), "");
  EXPECT_TRUE(
      says(objects(mask).arg("foreground_prob", scalar(DType::kF32, NAN)).failure(), "must be finite"));
}

OpRun ssd(const Tensor& image, const Tensor& boxes, const Tensor& labels) {
  OpRun run("ssd_random_crop");
  run.input(image).input(boxes).input(labels);
  return run;
}

TEST(SsdRandomCrop, RefusesWhatCannotBe) {
  const Tensor image = random_tensor(DType::kU8, {6, 7, 3}, Layout("HWC"), 1);
  const Tensor boxes = tensor(DType::kF32, {1, 4}, {0, 0, 1, 1}), labels = tensor(DType::kI32, {1}, {1});
  EXPECT_TRUE(
      says(ssd(image, boxes, labels).arg("num_attempts", int64_t{-1}).failure(), "[0, 10000], not -1"));
  EXPECT_TRUE(
      says(ssd(random_tensor(DType::kU8, {6, 7}, {}, 1), boxes, labels).failure(), "no axes H and W"));
  EXPECT_TRUE(says(ssd(image, boxes, scalar(DType::kI32, 1)).failure(), "are no labels"));
  OpRun fives("ssd_random_crop");
  fives.input(image).fixed(tensor(DType::kF32, {1, 5}, Numbers(5))).input(labels);
  EXPECT_TRUE(says(fives.failure(), "no boxes of four numbers"));
  const auto window = [&](const Tensor& rows, const Tensor& classes) {
    OpRun run("ssd_random_crop.window");
    run.input(rows).input(classes).native({0, 0, 0, 0, 0, 0});
    return run.failure();
  };
  EXPECT_TRUE(says(window(tensor(DType::kF32, {1, 5}, Numbers(5)), labels), "a box has 4 numbers, not 5"));
  EXPECT_TRUE(says(window(boxes, tensor(DType::kI32, {2}, {1, 2})), "2 labels for 1 boxes"));
}

TEST(SsdRandomCrop, RoundsTheWindowToPixels) {
  const Tensor image = random_tensor(DType::kU8, {10, 20, 3}, Layout("HWC"), 1);
  const Tensor boxes = tensor(DType::kF32, {1, 4}, {0, 0, 1, 1}),
               labels = tensor(DType::kI32, {1, 2}, {8, 9});
  // From 2.48 to 12.48 of 20 columns, from 4.6 to 9.6 of 10 rows.
  const OpRun::Outcome out = OpRun("ssd_random_crop.cut")
                                 .input(image)
                                 .fixed(tensor(DType::kF32, {2}, {0.124, 0.46}))
                                 .fixed(tensor(DType::kF32, {2}, {0.5, 0.5}))
                                 .input(boxes)
                                 .input(labels)
                                 .run();
  ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
  EXPECT_EQ(out.kinds[0], op::LoweredOutput::Kind::kView);
  EXPECT_EQ(out.outputs[0].extents, (Extents{5, 10, 3}));
  EXPECT_EQ(out.outputs[0].integer(0), image.integer((5 * 20 + 2) * 3));
  EXPECT_EQ(out.outputs[1].numbers(), boxes.numbers());
  EXPECT_EQ(out.outputs[2].numbers(), labels.numbers());
}

}  // namespace
}  // namespace galatea::ops_test
