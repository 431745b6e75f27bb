// Operators that place boxes and windows, against their formulas; windows by chance, by their distribution.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "tests/ops/op_tester.h"
#include "tests/support/cases.h"
#include "tests/support/statistics.h"

namespace galatea::ops_test {
namespace {

using Kind = op::LoweredOutput::Kind;
using Numbers = std::vector<double>;
using Extents = std::vector<int64_t>;

TEST(BboxPaste, ScalesAndMoves) {
  const Numbers boxes = {0.1, 0.2, 0.5, 0.6, 0, 0, 1, 1, 0.25, 0.75, 0.5, 1};
  const double ratio = 1.7, place[] = {1, 0.25};
  for (const bool known : {false, true})
    for (const bool per_sample : {false, true})
      for (const Extents& extents : {Extents{3, 4}, Extents{12}, Extents{1, 3, 4}})
        for (const bool corners : {false, true}) {
          const Tensor in = tensor(DType::kF32, extents, boxes);
          OpRun run("bbox_paste");
          known ? run.fixed(in) : run.input(in);
          run.arg("ltrb", corners);
          const std::pair<const char*, double> args[] = {
              {"ratio", ratio}, {"paste_x", place[0]}, {"paste_y", place[1]}};
          for (const auto& [name, value] : args)
            per_sample ? run.arg(name, scalar(DType::kF32, value)) : run.arg(name, value);
          const Tensor out = run.result();
          EXPECT_EQ(out.extents, extents);
          Numbers expected;
          for (size_t n = 0; n < boxes.size(); ++n)
            expected.push_back(boxes[n] / ratio +
                               (corners || n % 4 < 2 ? place[n % 2] * (ratio - 1) / ratio : 0));
          expect_near(out, expected, 2e-7);
        }
}

TEST(BboxPaste, StaysOnTheCanvas) {
  // The far corner of an image at the far edge, for ratios whose reciprocals round up and down.
  for (int n = 0; n < 200; ++n) {
    const Tensor out = OpRun("bbox_paste")
                           .fixed(tensor(DType::kF32, {4}, {0, 0, 1, 1}))
                           .arg("ltrb", true)
                           .arg("ratio", 1 + n * 0.037)
                           .arg("paste_x", 1.0)
                           .arg("paste_y", 0.0)
                           .result();
    EXPECT_LE(out[2], 1) << n;
    EXPECT_NEAR(out[2], 1, 1e-6) << n;
    EXPECT_EQ(out[1], 0) << n;
  }
  EXPECT_EQ(OpRun("bbox_paste").input(tensor(DType::kF32, {0, 4}, {})).arg("ratio", 2.0).result().extents,
            (Extents{0, 4}));
}

TEST(BboxPaste, RefusesWhatCannotBe) {
  const Tensor box = tensor(DType::kF32, {4}, {0, 0, 1, 1});
  EXPECT_TRUE(says(OpRun("bbox_paste").fixed(box).failure(), "ratio"));
  EXPECT_TRUE(says(OpRun("bbox_paste").fixed(box).arg("ratio", 0.0).failure(), "positive number, not 0"));
  EXPECT_TRUE(says(OpRun("bbox_paste").fixed(box).arg("ratio", scalar(DType::kF32, -2)).failure(),
                   "positive number, not -2"));
  EXPECT_TRUE(says(OpRun("bbox_paste").fixed(box).arg("ratio", scalar(DType::kF32, NAN)).failure(),
                   "positive number"));
  const Tensor fives = random_tensor(DType::kF32, {3, 5}, {}, 1);
  EXPECT_TRUE(says(OpRun("bbox_paste").fixed(fives).arg("ratio", 2.0).failure(), "no boxes"));
  EXPECT_TRUE(says(OpRun("bbox_paste").input(fives).arg("ratio", 2.0).failure(), "5 numbers"));
}

struct Window {
  double y, x, h, w;
};
Window window_of(OpRun run) {
  const OpRun::Outcome out = run.run();
  EXPECT_TRUE(out.ok()) << out.error << out.failed_check;
  return {out.outputs[0][0], out.outputs[0][1], out.outputs[1][0], out.outputs[1][1]};
}

OpRun generator(const Numbers& shape, uint64_t sample, DType dtype = DType::kI64) {
  OpRun run("random_crop_generator");
  run.input(tensor(dtype, {static_cast<int64_t>(shape.size())}, shape)).key(11).sample(sample);
  return run;
}

TEST(RandomCropGenerator, AreaAndLogarithmOfTheRatioAreUniform) {
  // Ranges within which every window fits: nothing is drawn again, so that the first draw's distribution
  // shows. Kolmogorov-Smirnov at a level of 0.001, beside the rounding of the window's sides.
  constexpr size_t kDraws = 600;
  constexpr double kSide = 100000;
  Numbers areas, ratios;
  for (size_t n = 0; n < kDraws; ++n) {
    const Window w = window_of(generator({kSide, kSide}, n).arg("random_area", Numbers{0.1, 0.4}));
    areas.push_back(w.h * w.w / (kSide * kSide));
    ratios.push_back(std::log(w.w / w.h));
  }
  EXPECT_LT(testing::distance_from_uniform(areas, 0.1, 0.4), 1.95);
  EXPECT_LT(testing::distance_from_uniform(ratios, std::log(0.75), std::log(1.333333)), 1.95);
}

TEST(RandomCropGenerator, PlacesAreUniform) {
  // A window of 7 x 7 in 11 x 10: five rows by four columns, each place as likely. Chi-square with 19 degrees
  // of freedom at a level of 0.001.
  constexpr size_t kDraws = 600;
  std::array<int, 20> counts{};
  for (size_t n = 0; n < kDraws; ++n) {
    const Window w = window_of(generator({11, 10, 3}, n, DType::kI32)
                                   .arg("random_area", Numbers{0.45, 0.45})
                                   .arg("random_aspect_ratio", Numbers{1, 1}));
    ASSERT_EQ(w.h, 7);
    ASSERT_EQ(w.w, 7);
    ++counts.at(static_cast<size_t>(w.y) * 4 + static_cast<size_t>(w.x));
  }
  const double expected = static_cast<double>(kDraws) / counts.size();
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi_square, 43.8);
}

TEST(RandomCropGenerator, WindowsLieInTheImage) {
  const Numbers shapes[] = {{1, 1}, {1, 300}, {300, 1}, {37, 22, 3}, {5, 1000}, {2, 3, 4, 5}};
  for (const Numbers& shape : shapes)
    for (uint64_t sample = 0; sample < 20; ++sample) {
      const Window w = window_of(generator(shape, sample));
      EXPECT_GE(w.h, 1);
      EXPECT_GE(w.w, 1);
      EXPECT_GE(std::min(w.y, w.x), 0);
      EXPECT_LE(w.y + w.h, shape[0]);
      EXPECT_LE(w.x + w.w, shape[1]);
    }
  const Window empty = window_of(generator({0, 5}, 1));
  EXPECT_EQ(empty.h + empty.w + empty.y + empty.x, 0);
}

TEST(RandomCropGenerator, RefusesWhatIsNoShape) {
  EXPECT_TRUE(says(generator({5}, 1).failure(), "no height and width"));
  EXPECT_TRUE(says(OpRun("random_crop_generator").fixed(tensor(DType::kI64, {1}, {5})).failure(),
                   "no image's shape"));
  EXPECT_TRUE(says(generator({-3, 5}, 1).failure(), "-3 x 5 is no image's size"));
  EXPECT_NE(OpRun("random_crop_generator").input(tensor(DType::kF32, {2}, {5, 5})).failure(), "");
  EXPECT_TRUE(says(generator({5, 5}, 1).arg("num_attempts", int64_t{0}).failure(), "num_attempts"));
  EXPECT_TRUE(says(generator({5, 5}, 1).arg("random_area", Numbers{1}).failure(), "two numbers"));
}

TEST(RandomBboxCrop, RefusesWhatCannotBe) {
  struct Case {
    const char* arg;
    ir::Attr value;
    const char* words;
  };
  const Case cases[] = {
      {"bbox_layout", std::string("xxXY"), "no layout of boxes"},
      {"bbox_layout", std::string("xyzXYZ"), "are no boxes of layout xyzXYZ"},
      {"shape_layout", std::string("WD"), "no order of WH"},
      {"threshold_type", std::string("area"), "\"iou\" or \"overlap\", not \"area\""},
      {"thresholds", Numbers{}, "thresholds is empty"},
      {"thresholds", Numbers{0.5, 1.5}, "must lie in [0, 1], not 1.5"},
      {"bbox_prune_threshold", -0.5, "must lie in [0, 1], not -0.5"},
      {"scaling", Numbers{0.5}, "scaling needs 2 numbers"},
      {"scaling", Numbers{0.5, 0.1}, "0 <= low <= high, not (0.5, 0.1)"},
      {"aspect_ratio", Numbers{1, 2, 3, 4}, "aspect_ratio needs 2 numbers"},
      {"aspect_ratio", Numbers{-1, 2}, "0 <= low <= high"},
      {"num_attempts", int64_t{0}, "num_attempts must be positive"},
      {"total_num_attempts", int64_t{0}, "total_num_attempts must be positive"},
      {"crop_shape", Numbers{3, 4}, "crop_shape needs input_shape"},
  };
  const Tensor boxes = tensor(DType::kF32, {2, 4}, {0, 0, 1, 1, 0, 0, 1, 1});
  // What the native function would give, were it called.
  const auto of_sample = [](const Tensor& in) {
    OpRun run("random_bbox_crop");
    run.input(in).native({0, 0, 0, 0, 0, 0});
    return run;
  };
  const auto with_boxes = [&] {
    OpRun run("random_bbox_crop");
    run.fixed(boxes).native({0, 0, 0, 0, 0, 0});
    return run;
  };
  for (const Case& c : cases) {
    const std::string message = with_boxes().arg(c.arg, c.value).failure();
    EXPECT_TRUE(says(message, c.words)) << c.arg << ": " << message;
  }
  const auto fixed = [&] {
    return with_boxes().arg("crop_shape", Extents{3, 4}).arg("input_shape", Extents{9, 9});
  };
  EXPECT_TRUE(says(fixed().arg("scaling", Numbers{0.4, 1}).failure(), "crop_shape and scaling exclude"));
  EXPECT_TRUE(says(fixed().arg("allow_no_crop", true).failure(), "no window is the whole picture"));
  EXPECT_TRUE(says(with_boxes().arg("ltrb", false).arg("bbox_layout", std::string("xyXY")).failure(),
                   "exclude each other"));
  EXPECT_TRUE(says(of_sample(random_tensor(DType::kF32, {3, 5}, {}, 1)).failure(), "has 4 numbers, not 5"));
  EXPECT_TRUE(
      says(of_sample(boxes).input(tensor(DType::kI32, {3}, {1, 2, 3})).failure(), "3 labels for 2 boxes"));
}

TEST(BboxRotate, RefusesWhatCannotBe) {
  struct Case {
    const char* arg;
    ir::Attr value;
    const char* words;
  };
  const Case cases[] = {
      {"bbox_layout", std::string("xxXY"), "no layout of boxes"},
      {"bbox_layout", std::string("xyzXYZ"), "no layout of boxes in a plane"},
      {"mode", std::string("shrink"), "\"expand\", \"halfway\" or \"fixed\", not \"shrink\""},
      {"remove_threshold", 1.0, "must lie in [0, 1), not 1"},
      {"remove_threshold", NAN, "must lie in [0, 1)"},
      {"shape_layout", std::string("HC"), "does not name H and W"},
      {"shape_layout", std::string("CHW"), "has 2 elements, shape_layout \"CHW\" needs 3"},
      {"size", Numbers{0, 5}, "not an extent"},
  };
  const Tensor boxes = tensor(DType::kF32, {2, 4}, {0, 0, 1, 1, 0, 0, 1, 1});
  // What the native function would give, were it called.
  const auto turn = [](const Tensor& in) {
    OpRun run("bbox_rotate");
    run.input(in).arg("angle", 10.0).native({1});
    return run;
  };
  const auto turn_image = [&](const Tensor& in) { return turn(in).arg("input_shape", Extents{20, 30}); };
  for (const Case& c : cases) {
    const std::string message = turn_image(boxes).arg(c.arg, c.value).failure();
    EXPECT_TRUE(says(message, c.words)) << c.arg << ": " << message;
  }
  EXPECT_TRUE(says(turn_image(boxes).arg("keep_size", true).arg("size", Numbers{5, 5}).failure(),
                   "exclude each other"));
  EXPECT_TRUE(says(turn(boxes).failure(), "input_shape"));
  EXPECT_TRUE(says(turn(boxes).arg("input_shape", Extents{20, 0}).failure(), "below 2^24, not 0"));
  EXPECT_TRUE(says(turn(boxes).arg("input_shape", tensor(DType::kI64, {3}, {-2, 9, 3})).failure(),
                   "below 2^24, not -2"));
  EXPECT_TRUE(says(turn(boxes).fed_arg("input_shape", tensor(DType::kI32, {1}, {9})).failure(),
                   "has 1 elements, shape_layout needs 2"));
  EXPECT_TRUE(says(turn_image(tensor(DType::kF32, {3, 5}, Numbers(15))).failure(), "has 4 numbers, not 5"));
  EXPECT_TRUE(
      says(turn_image(boxes).input(tensor(DType::kI32, {3}, {1, 2, 3})).failure(), "3 labels for 2 boxes"));
}

TEST(BboxRotate, HasTheCanvasOfRotate) {
  for (const double angle : {0.0, 33.0, 45.0, 90.0, -120.5}) {
    const Tensor image = random_tensor(DType::kU8, {7, 12, 1}, Layout("HWC"), 1);
    const Extents canvas =
        OpRun("rotate").input(image).arg("angle", scalar(DType::kF32, angle)).result().extents;
    OpRun run("bbox_rotate");
    run.input(tensor(DType::kF32, {1, 4}, {0, 0, 1, 1})).arg("angle", angle).native({1});
    // Behind cosine and sine, and the image's own width and height.
    const OpRun::Outcome out = run.fed_arg("input_shape", tensor(DType::kI64, {3}, {7, 12, 1})).run();
    ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
    ASSERT_EQ(out.natives.at(0).scalars.size(), 6U);
    EXPECT_EQ(out.natives[0].scalars[2], 12);
    EXPECT_EQ(out.natives[0].scalars[3], 7);
    EXPECT_EQ(out.natives[0].scalars[4], canvas[1]) << angle;
    EXPECT_EQ(out.natives[0].scalars[5], canvas[0]) << angle;
  }
}

OpRun roi_crop(const Extents& crop, const Extents& start, uint64_t sample) {
  OpRun run("roi_random_crop");
  run.arg("crop_shape", crop).arg("roi_start", start).key(5).sample(sample);
  return run;
}

TEST(RoiRandomCrop, EveryPlaceIsAsLikely) {
  // A region larger than the window, one smaller, and smaller ones at both ends of the input. Chi-square at a
  // level of 0.001; one key, and as many samples.
  struct Axis {
    int64_t crop, start, size, whole, first, last;
  };
  const Axis axes[] = {{4, 2, 8, 12, 2, 6}, {4, 5, 2, 12, 3, 5}, {6, 1, 2, 20, 0, 1}, {6, 17, 3, 20, 14, 14}};
  constexpr double kLimits[] = {0, 10.83, 13.82, 16.27, 18.47};  // by degrees of freedom
  constexpr int kDraws = 500;
  for (const bool by_end : {false, true}) {
    std::array<std::map<int64_t, int>, 4> counts;
    for (uint64_t sample = 0; sample < kDraws; ++sample) {
      Extents crop, start, other, whole;
      for (const Axis& axis : axes) {
        crop.push_back(axis.crop), start.push_back(axis.start), whole.push_back(axis.whole);
        other.push_back(axis.size + (by_end ? axis.start : 0));
      }
      const Tensor begins = roi_crop(crop, start, sample)
                                .arg(by_end ? "roi_end" : "roi_shape", other)
                                .arg("in_shape", whole)
                                .result();
      EXPECT_EQ(begins.dtype, DType::kI64);
      for (size_t d = 0; d < 4; ++d) ++counts[d][begins.integer(d)];
    }
    for (size_t d = 0; d < 4; ++d) {
      const auto places = static_cast<size_t>(axes[d].last - axes[d].first + 1);
      EXPECT_EQ(counts[d].begin()->first, axes[d].first);
      EXPECT_EQ(counts[d].rbegin()->first, axes[d].last);
      const double expected = static_cast<double>(kDraws) / static_cast<double>(places);
      double chi_square = 0;
      for (const auto& [place, count] : counts[d])
        chi_square += (count - expected) * (count - expected) / expected;
      EXPECT_LE(chi_square, kLimits[places - 1]) << "axis " << d;
    }
  }
}

TEST(RoiRandomCrop, StaysInTheInputWhereThereIsOne) {
  bool before = false;
  for (uint64_t sample = 0; sample < 40; ++sample) {
    // The input has an axis more; arguments are those of the sample.
    const Tensor inside = OpRun("roi_random_crop")
                              .input(random_tensor(DType::kU8, {9, 7, 3}, {}, 1))
                              .arg("crop_shape", tensor(DType::kI32, {2}, {5, 7}))
                              .arg("roi_start", tensor(DType::kI64, {2}, {1, 6}))
                              .fed_arg("roi_end", tensor(DType::kI64, {2}, {2, 7}))
                              .key(3)
                              .sample(sample)
                              .result();
    EXPECT_EQ(inside.extents, Extents{2});
    EXPECT_GE(inside.integer(0), 0);
    EXPECT_LE(inside.integer(0), 1);
    EXPECT_EQ(inside.integer(1), 0);
    before |= roi_crop({5}, {1}, sample).arg("roi_shape", Extents{1}).result().integer(0) < 0;
  }
  EXPECT_TRUE(before) << "nobody said where the input begins";
}

TEST(RoiRandomCrop, RefusesWhatCannotBe) {
  const auto crop = [] { return roi_crop({4, 4}, {5, 1}, 1); };
  const auto region = [&] { return crop().arg("roi_shape", Extents{3, 2}); };
  EXPECT_TRUE(says(crop().failure(), "must be one of roi_end and roi_shape"));
  EXPECT_TRUE(says(region().arg("roi_end", Extents{8, 8}).failure(), "must be only one"));
  EXPECT_TRUE(says(crop().arg("roi_end", Extents{5, 0}).failure(), "axis 1 the region reaches from 1 to 0"));
  EXPECT_TRUE(says(roi_crop({-1}, {0}, 1).arg("roi_shape", Extents{3}).failure(), "negative extent -1"));
  EXPECT_TRUE(
      says(roi_crop({1}, {0}, 1).arg("roi_shape", Extents{int64_t{1} << 40}).failure(), "within 2^29"));
  EXPECT_TRUE(says(region().arg("in_shape", Extents{3, 9}).failure(), "window has 4 elements, the input 3"));
  EXPECT_TRUE(says(region().arg("in_shape", Extents{7, 9}).failure(),
                   "axis 0 the region reaches from 5 to 8, the input has 7"));
  EXPECT_TRUE(says(region().arg("in_shape", Extents{9, 9, 3}).failure(), "in_shape takes 2 elements"));
  const Tensor row = random_tensor(DType::kU8, {20}, {}, 1);
  EXPECT_TRUE(says(region().input(row).failure(), "crop_shape has 2 extents, the input 1"));
  EXPECT_TRUE(says(region().input(row).arg("in_shape", Extents{9, 9}).failure(), "exclude each other"));
  EXPECT_TRUE(says(OpRun("roi_random_crop")
                       .fed_arg("crop_shape", tensor(DType::kI64, {2}, {1, 1}))
                       .arg("roi_start", Extents{0})
                       .arg("roi_shape", Extents{3})
                       .failure(),
                   "known while compiling"));
}

TEST(SelectMasks, RefusesWhatIsNoPolygon) {
  const Tensor ids = tensor(DType::kI32, {2}, {1, 2}), vertices = random_tensor(DType::kF32, {9, 2}, {}, 1);
  const auto select = [&](const Tensor& polygons, bool known) {
    OpRun run("segmentation.select_masks");
    run.input(ids).input(polygons, {known, known}).input(vertices).native({1, 3});
    return run;
  };
  const Tensor fours = tensor(DType::kI32, {2, 4}, Numbers(8)),
               threes = tensor(DType::kI32, {2, 3}, Numbers(6));
  EXPECT_TRUE(says(select(fours, true).failure(), "are no polygons"));
  EXPECT_TRUE(says(select(fours, false).failure(), "a polygon has 3 numbers, not 4"));
  const OpRun::Outcome out = select(threes, false).run();
  ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
  EXPECT_EQ(out.natives.at(0).extents, (Extents{1, 3}));
  EXPECT_EQ(out.natives.at(1).extents, (Extents{3, 2}));
}

TEST(RandomMaskPixel, RefusesWhatCannotBe) {
  const auto pixel = [](const Tensor& mask) {
    OpRun run("segmentation.random_mask_pixel");
    run.input(mask).native({1, 2});
    return run;
  };
  const Tensor mask = random_tensor(DType::kU8, {3, 4}, {}, 1);
  const Tensor place = pixel(mask).arg("foreground", scalar(DType::kI32, 1)).result();
  EXPECT_EQ(place.dtype, DType::kI64);
  EXPECT_EQ(place.numbers(), (Numbers{1, 2}));
  EXPECT_TRUE(
      says(pixel(mask).arg("value", int64_t{1}).arg("threshold", 0.5).failure(), "exclude each other"));
  EXPECT_TRUE(says(pixel(mask).arg("threshold", NAN).failure(), "is no number"));
  EXPECT_TRUE(says(pixel(scalar(DType::kU8, 1)).failure(), "has no axes"));
  EXPECT_NE(pixel(random_tensor(DType::kF64, {3}, {}, 1)).failure(), "");
}

}  // namespace
}  // namespace galatea::ops_test
