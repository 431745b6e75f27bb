// Operators on boxes that a detector found: galatea.take, what galatea.nms and galatea.roi_align ask of their
// inputs, and bins of linear images, of which the mean over samples is known. Their numbers beside those of
// torchvision are in tests/oracle/peers, the native functions' in tests/native.
#include <array>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Numbers = std::vector<double>;
using Extents = std::vector<int64_t>;

TEST(Take, PicksElementsByNumber) {
  for (const DType dtype : {DType::kU8, DType::kI64, DType::kF32, DType::kF64, DType::kBool})
    for (const DType numbers : {DType::kI32, DType::kI64}) {
      const Tensor in = random_tensor(dtype, {4, 3, 2}, "HWC", 3);
      const std::vector<int64_t> picked = {2, -1, 0, 2};
      Tensor rows =
          OpRun("galatea.take").input(in).input(tensor(numbers, {4}, {2, -1, 0, 2})).native({-1, 2}).result();
      EXPECT_EQ(rows.extents, (Extents{4, 3, 2}));
      EXPECT_EQ(rows.layout.str(), "HWC");
      for (size_t n = 0; n < rows.size(); ++n) {
        const int64_t row = picked[n / 6] < 0 ? picked[n / 6] + 4 : picked[n / 6];
        EXPECT_EQ(rows[n], in[static_cast<size_t>(row) * 6 + n % 6]) << n;
      }
      Tensor channel = OpRun("galatea.take")
                           .fixed(in)
                           .input(tensor(numbers, {1}, {1}))
                           .native({1, 1})
                           .arg("axis", int64_t{-1})
                           .result();
      EXPECT_EQ(channel.extents, (Extents{4, 3, 1}));
      for (size_t n = 0; n < channel.size(); ++n) EXPECT_EQ(channel[n], in[2 * n + 1]);
    }
  const Tensor none = tensor(DType::kI32, {0}, {});
  EXPECT_EQ(OpRun("galatea.take")
                .input(tensor(DType::kF32, {0, 4}, {}))
                .input(none)
                .native({0, 0})
                .result()
                .extents,
            (Extents{0, 4}));
}

TEST(Take, RefusesWhatIsNotThere) {
  const Tensor in = tensor(DType::kF32, {3}, {1, 2, 3});
  const auto take = [&](int64_t least, int64_t largest) {
    return OpRun("galatea.take")
        .input(in)
        .input(tensor(DType::kI64, {2}, {static_cast<double>(least), static_cast<double>(largest)}))
        .native({least, largest});
  };
  EXPECT_TRUE(says(take(0, 3).failure(), "there is no element 3 among 3"));
  EXPECT_TRUE(says(take(-4, 0).failure(), "there is no element -4 among 3"));
  EXPECT_TRUE(says(take(0, 1).arg("axis", int64_t{1}).failure(), "has no axis 1"));
  EXPECT_TRUE(
      says(OpRun("galatea.take").input(scalar(DType::kF32, 1)).input(tensor(DType::kI32, {1}, {0})).failure(),
           "has no axis 0"));
}

TEST(Nms, AsksForARowOfEachBox) {
  const Tensor boxes = random_tensor(DType::kF32, {5, 4}, {}, 1),
               scores = random_tensor(DType::kF32, {5}, {}, 2);
  const auto nms = [&](const Tensor& b, const Tensor& s, bool known) {
    OpRun run("galatea.nms");
    run.input(b, std::vector<bool>(b.extents.size(), known)).input(s, {known});
    return run;
  };
  const Tensor fives = random_tensor(DType::kF32, {5, 5}, {}, 1),
               four = random_tensor(DType::kF32, {4}, {}, 2);
  EXPECT_TRUE(says(nms(fives, scores, true).arg("iou_threshold", 0.5).failure(), "no boxes of four numbers"));
  EXPECT_TRUE(
      says(nms(fives, scores, false).arg("iou_threshold", 0.5).failure(), "a box has 4 numbers, not 5"));
  EXPECT_TRUE(
      says(nms(boxes, four, true).arg("iou_threshold", 0.5).failure(), "boxes are f32[5,4], scores f32[4]"));
  EXPECT_TRUE(
      says(nms(boxes, four, false).arg("iou_threshold", 0.5).failure(), "there are 4 scores for 5 boxes"));
  EXPECT_TRUE(says(nms(boxes, scores, true).arg("iou_threshold", 1.5).failure(), "iou_threshold is 1.5"));
  EXPECT_TRUE(says(nms(boxes, scores, true).arg("iou_threshold", scalar(DType::kF32, -1)).failure(),
                   "iou_threshold is -1"));
  EXPECT_TRUE(says(nms(boxes, scores, true).arg("iou_threshold", 0.5).arg("max_boxes", int64_t{0}).failure(),
                   "max_boxes is 0"));
  EXPECT_TRUE(says(OpRun("galatea.batched_nms")
                       .input(boxes)
                       .input(scores)
                       .input(tensor(DType::kI32, {4}, {1, 1, 1, 1}))
                       .arg("iou_threshold", 0.5)
                       .failure(),
                   "there are 4 classes for 5 boxes"));
}

/// An image whose pixel (x, y) is 3 x - 2 y + 10 (in channel 1 twice that), and a box.
struct Linear {
  static double at(double x, double y) { return 3 * x - 2 * y + 10; }
  static Tensor image(const std::string& layout, DType dtype = DType::kF32) {
    constexpr int64_t kHeight = 12, kWidth = 15;
    Extents extents;
    for (const char letter : layout) extents.push_back(letter == 'H' ? kHeight : letter == 'W' ? kWidth : 2);
    Tensor out = random_tensor(dtype, extents, Layout(layout), 1);
    for (size_t n = 0; n < out.size(); ++n) {
      auto rest = static_cast<int64_t>(n);
      int64_t x = 0, y = 0, c = 0;
      for (size_t d = extents.size(); d-- > 0; rest /= extents[d])
        (layout[d] == 'H' ? y : layout[d] == 'W' ? x : c) = rest % extents[d];
      const double value = at(static_cast<double>(x), static_cast<double>(y)) * static_cast<double>(1 + c);
      out.cells[n] = cell_from_double(dtype, value);
    }
    return out;
  }
};

OpRun bins(const Tensor& image, const Tensor& boxes, Extents reach = {0, 0, 99, 99}) {
  OpRun run("roi_align.bins");
  run.input(image).input(boxes);
  for (const size_t k : {0, 2})
    run.fixed(tensor(DType::kI64, {2}, {static_cast<double>(reach[k]), static_cast<double>(reach[k + 1])}));
  return run;
}

TEST(RoiAlign, ABinOfALinearImageIsItsMiddle) {
  const Tensor boxes = tensor(DType::kF32, {2, 4}, {2, 3, 12, 9, 1.5, 2.25, 4.75, 10});
  const std::pair<const char*, std::vector<int64_t>> cases[] = {{"HWC", {2, 4}}, {"CHW", {1}}, {"HW", {3}}};
  for (const auto& [layout, ratios] : cases)
    for (const bool aligned : {false, true})
      for (const int64_t ratio : ratios) {
        const Tensor out = bins(Linear::image(layout), boxes)
                               .arg("output_size", std::vector<int64_t>{3, 2})
                               .arg("sampling_ratio", ratio)
                               .arg("aligned", aligned)
                               .result();
        const std::string letters = std::string("N") + layout;
        EXPECT_EQ(out.layout.str(), letters);
        for (size_t n = 0; n < out.size(); ++n) {
          auto rest = static_cast<int64_t>(n);
          std::array<int64_t, 128> at{};
          for (size_t d = out.extents.size(); d-- > 0; rest /= out.extents[d])
            at[static_cast<size_t>(letters[d])] = rest % out.extents[d];
          const auto box = static_cast<size_t>(at['N']) * 4;
          const auto middle = [&](size_t start, double bin, double count) {
            return boxes[box + start] + (bin + 0.5) * (boxes[box + start + 2] - boxes[box + start]) / count -
                   (aligned ? 0.5 : 0);
          };
          const double expected = Linear::at(middle(0, static_cast<double>(at['W']), 2),
                                             middle(1, static_cast<double>(at['H']), 3)) *
                                  static_cast<double>(1 + at['C']);
          EXPECT_NEAR(out[n], expected, 1e-4) << layout << ratio << n;
        }
      }
}

TEST(RoiAlign, ScalesConvertsAndLeavesOutWhatIsOutside) {
  const auto run = [](DType dtype, const Numbers& box, double scale, const char* to) {
    OpRun made = bins(Linear::image("HW", dtype), tensor(DType::kF32, {1, 4}, box));
    made.arg("output_size", int64_t{1}).arg("sampling_ratio", int64_t{1}).arg("spatial_scale", scale);
    if (to != nullptr) made.arg("dtype", DType::kF32);
    return made.result();
  };
  // The middle is (4.25, 3): 16.75.
  for (const DType dtype : {DType::kU8, DType::kI16, DType::kU16}) {
    EXPECT_EQ(run(dtype, {4, 4, 13, 8}, 0.5, nullptr).integer(0), 17);
    EXPECT_EQ(run(dtype, {4, 4, 13, 8}, 0.5, nullptr).dtype, dtype);
    EXPECT_EQ(run(dtype, {4, 4, 13, 8}, 0.5, "FLOAT")[0], 16.75);
  }
  EXPECT_EQ(run(DType::kF32, {13, 5, 17, 7}, 1, nullptr)[0], Linear::at(14, 6)) << "within a pixel: the edge";
  EXPECT_EQ(run(DType::kF32, {15, 5, 16, 7}, 1, nullptr)[0], 0) << "further outside";
  EXPECT_EQ(run(DType::kF32, {-3, 5, 0, 7}, 1, nullptr)[0], 0);
  EXPECT_EQ(run(DType::kF32, {-2, 5, 0, 7}, 1, nullptr)[0], Linear::at(0, 6));
  EXPECT_EQ(run(DType::kF32, {6, 6, 4, 4}, 1, nullptr)[0], Linear::at(6.5, 6.5)) << "a pixel long";
  EXPECT_EQ(bins(Linear::image("HWC"), tensor(DType::kF32, {0, 4}, {}))
                .arg("output_size", int64_t{2})
                .arg("sampling_ratio", int64_t{2})
                .result()
                .extents,
            (Extents{0, 2, 2, 2}));
}

TEST(RoiAlign, FramesAreWhatTheyAreAlone) {
  const Tensor boxes = tensor(DType::kF32, {2, 4}, {1, 2, 6, 5, 0, 0, 9, 3});
  const auto run = [&](const Tensor& image) {
    return bins(image, boxes).arg("output_size", int64_t{2}).arg("sampling_ratio", int64_t{2}).result();
  };
  for (const std::string layout : {"HWC", "CHW"}) {
    Tensor frames = random_tensor(DType::kU8, layout == "HWC" ? Extents{2, 6, 7, 3} : Extents{2, 3, 6, 7},
                                  Layout("F" + layout), 4);
    const Tensor all = run(frames);
    EXPECT_EQ(all.layout.str(), "FN" + layout);
    Numbers one_by_one;
    for (const size_t first : {size_t{0}, frames.size() / 2}) {
      Tensor frame = frames;
      frame.extents.erase(frame.extents.begin());
      frame.layout = Layout(layout);
      const auto begin = frames.cells.begin() + static_cast<std::ptrdiff_t>(first);
      frame.cells.assign(begin, begin + static_cast<std::ptrdiff_t>(frames.size() / 2));
      const Numbers numbers = run(frame).numbers();
      one_by_one.insert(one_by_one.end(), numbers.begin(), numbers.end());
    }
    EXPECT_EQ(all.numbers(), one_by_one);
  }
}

TEST(RoiAlign, RefusesWhatCannotBe) {
  const Tensor image = Linear::image("HWC"), boxes = random_tensor(DType::kF32, {2, 4}, {}, 1);
  const auto align = [&](const Tensor& rows) {
    OpRun run("galatea.roi_align");
    run.input(image).fixed(rows);
    return run;
  };
  using Integers = std::vector<int64_t>;
  EXPECT_TRUE(says(align(random_tensor(DType::kF32, {2, 5}, {}, 1)).arg("output_size", int64_t{7}).failure(),
                   "no boxes of four numbers"));
  EXPECT_TRUE(says(align(boxes).arg("output_size", Integers{1, 2, 3}).failure(), "needs one number or two"));
  EXPECT_TRUE(says(align(boxes).arg("output_size", int64_t{0}).failure(), "output_size is 0"));
  EXPECT_TRUE(says(align(boxes).arg("output_size", int64_t{7}).arg("sampling_ratio", int64_t{300}).failure(),
                   "sampling_ratio is 300"));
  EXPECT_TRUE(says(align(boxes).arg("output_size", int64_t{7}).arg("spatial_scale", 0.0).failure(),
                   "spatial_scale is 0"));
  EXPECT_TRUE(says(align(boxes).arg("output_size", int64_t{7}).arg("dtype", DType::kU8).failure(), "dtype"));
  EXPECT_TRUE(says(bins(tensor(DType::kF32, {0, 3}, {}, "HW"), tensor(DType::kF32, {1, 4}, {0, 0, 1, 1}))
                       .arg("output_size", int64_t{1})
                       .arg("sampling_ratio", int64_t{1})
                       .failure(),
                   "the image is empty: 0 x 3"));
  EXPECT_TRUE(says(OpRun("roi_align.reach")
                       .input(random_tensor(DType::kF32, {1, 3}, {}, 1))
                       .arg("output_size", int64_t{1})
                       .native({0, 1, 0, 1})
                       .failure(),
                   "a box has 4 numbers, not 3"));
}

TEST(RoiAlign, WhatTheFunctionIsGiven) {
  // A window of an image of sequences; the image itself says the extents.
  const Tensor window = random_tensor(DType::kU8, {2, 3, 4, 2}, "FHWC", 1),
               image = random_tensor(DType::kU8, {2, 9, 8, 2}, "FHWC", 1);
  const OpRun::Outcome out = OpRun("roi_align.samples")
                                 .input(window)
                                 .input(random_tensor(DType::kF32, {5, 4}, {}, 1))
                                 .fixed(tensor(DType::kI64, {2}, {-3, 4}))
                                 .fixed(tensor(DType::kI64, {2}, {3, 8}))
                                 .input(image)
                                 .arg("output_size", std::vector<int64_t>{7, 6})
                                 .arg("spatial_scale", 2.0)
                                 .run();
  ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
  EXPECT_EQ(out.types[0].layout.str(), "FNHWC");
  EXPECT_EQ(out.natives.at(0).extents, (Extents{2, 5, 7, 6, 2}));
  const Extents& scalars = out.natives[0].scalars;  // the first is f32
  EXPECT_EQ(Extents(scalars.begin() + 1, scalars.end()), (Extents{0, 4, 9, 8}));
  EXPECT_TRUE(says(out.natives[0].config, "\"layout\": \"FHWC\""));
}

}  // namespace
}  // namespace galatea::ops_test
