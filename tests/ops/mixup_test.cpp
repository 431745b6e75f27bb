// mixup.blend and cutmix.paste, the last steps of mixup and cutmix, of two samples; whole batches are in
// tests/pipelines/batch_test.cpp.
#include <algorithm>
#include <cmath>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Numbers = std::vector<double>;

/// Both samples constant, so that a pixel tells its share of the first one.
struct Pair {
  Tensor own, other;
};
Pair shares(std::vector<int64_t> extents, Layout layout) {
  int64_t volume = 1;
  for (const int64_t extent : extents) volume *= extent;
  const auto count = static_cast<size_t>(volume);
  return {tensor(DType::kF32, extents, Numbers(count, 1), layout),
          tensor(DType::kF32, extents, Numbers(count, 0), layout)};
}

TEST(Mixup, BlendsDataAndLabelsByOneRatio) {
  const Pair pair = shares({2, 3, 1}, "HWC");
  double sum = 0, squares = 0;
  constexpr int kDraws = 600;
  for (uint64_t sample = 0; sample < kDraws; ++sample) {
    const OpRun::Outcome out = OpRun("mixup.blend")
                                   .input(pair.own)
                                   .input(pair.other)
                                   .fixed(scalar(DType::kI32, 3))
                                   .fixed(scalar(DType::kI32, 1))
                                   .arg("num_classes", int64_t{5})
                                   .arg("alpha", scalar(DType::kF32, 0.5))
                                   .sample(sample)
                                   .run();
    ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
    const double ratio = out.outputs[0][0];
    expect_near(out.outputs[0], Numbers(6, ratio), 0);
    expect_near(out.outputs[1], {0, 1 - ratio, 0, ratio, 0}, 1e-7);
    sum += ratio, squares += ratio * ratio;
  }
  // Beta(1/2, 1/2): mean 1/2, variance 1/8; five standard errors.
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(0.125 / kDraws));
  EXPECT_NEAR(squares / kDraws - 0.25, 0.125, 0.03);
}

TEST(Mixup, NumbersOfEachType) {
  for (const DType type : {DType::kU8, DType::kI16, DType::kF16, DType::kF32}) {
    const Tensor own = random_tensor(type, {4, 5}, {}, 1), other = random_tensor(type, {4, 5}, {}, 2);
    const Pair pair = shares({4, 5}, {});
    const double ratio = OpRun("mixup.blend").input(pair.own).input(pair.other).key(9).result()[0];
    const auto mixed = [&](const char* dtype) {
      OpRun run("mixup.blend");
      run.input(own).input(other).key(9);
      if (*dtype != 0) run.arg("dtype", DType::kF32);
      return run.result();
    };
    Numbers exact;
    for (size_t n = 0; n < own.size(); ++n) exact.push_back(ratio * own[n] + (1 - ratio) * other[n]);
    EXPECT_EQ(mixed("").dtype, type);
    double largest = 1;
    for (const double e : exact) largest = std::max(largest, std::abs(e));
    expect_near(mixed(""), exact, is_float(type) ? 1e-3 * largest : 0.501);
    expect_near(mixed("float"), exact, 1e-6 * largest);
  }
  // Labels that are weights.
  const Pair pair = shares({1}, {});
  const OpRun::Outcome out = OpRun("mixup.blend")
                                 .input(pair.own)
                                 .input(pair.other)
                                 .input(tensor(DType::kF32, {3}, {1, 0, 0}))
                                 .input(tensor(DType::kF32, {3}, {0, 0.5, 0.5}))
                                 .run();
  ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
  const double ratio = out.outputs[0][0];
  expect_near(out.outputs[1], {ratio, (1 - ratio) / 2, (1 - ratio) / 2}, 1e-7);
}

TEST(Cutmix, PastesABoxWhoseShareTheLabelHas) {
  constexpr int64_t kHeight = 20, kWidth = 30;
  for (const std::string layout : {"HWC", "CHW", "HW"}) {
    std::vector<int64_t> extents;
    for (const char letter : layout) extents.push_back(letter == 'H' ? kHeight : letter == 'W' ? kWidth : 2);
    const Pair pair = shares(extents, Layout(layout));
    const auto column = static_cast<size_t>(layout == "HWC" ? 2 : 1), row = kWidth * column;
    int empty = 0;
    for (uint64_t sample = 0; sample < 60; ++sample) {
      const OpRun::Outcome out = OpRun("cutmix.paste")
                                     .input(pair.own)
                                     .input(pair.other)
                                     .fixed(scalar(DType::kI64, 0))
                                     .fixed(scalar(DType::kI64, 1))
                                     .arg("num_classes", int64_t{2})
                                     .sample(sample)
                                     .run();
      ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
      const Tensor& made = out.outputs[0];
      int64_t top = kHeight, bottom = 0, left = kWidth, right = 0, pasted = 0;
      for (int64_t y = 0; y < kHeight; ++y)
        for (int64_t x = 0; x < kWidth; ++x) {
          if (made[static_cast<size_t>(y) * row + static_cast<size_t>(x) * column] != 0) continue;
          ++pasted;
          top = std::min(top, y), bottom = std::max(bottom, y + 1);
          left = std::min(left, x), right = std::max(right, x + 1);
        }
      empty += pasted == 0 ? 1 : 0;
      if (pasted > 0) {
        EXPECT_EQ(pasted, (bottom - top) * (right - left));
      }
      // A box that no edge cuts has the proportions of the image, as far as whole pixels can.
      if (top > 0 && left > 0 && bottom < kHeight && right < kWidth) {
        EXPECT_NEAR(static_cast<double>(right - left), 1.5 * static_cast<double>(bottom - top), 3.01);
      }
      const double share = static_cast<double>(pasted) / (kHeight * kWidth);
      expect_near(out.outputs[1], {1 - share, share}, 1e-6);
    }
    EXPECT_LT(empty, 20);
  }
}

TEST(Cutmix, OneBoxAndOneLabelForAllFrames) {
  const Pair pair = shares({3, 8, 9, 1}, "FHWC");
  const OpRun::Outcome out = OpRun("cutmix.paste")
                                 .input(pair.own)
                                 .input(pair.other)
                                 .fixed(scalar(DType::kI32, 0))
                                 .fixed(scalar(DType::kI32, 1))
                                 .arg("num_classes", int64_t{2})
                                 .key(3)
                                 .run();
  ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
  const Tensor& made = out.outputs[0];
  double own = 0;
  for (size_t n = 0; n < 72; ++n) {
    own += made[n] / 72;
    EXPECT_EQ(made[n], made[n + 72]);
    EXPECT_EQ(made[n], made[n + 144]);
  }
  EXPECT_LT(own, 1);
  expect_near(out.outputs[1], {own, 1 - own}, 1e-6);
}

TEST(Mixup, SaysWhatIsWrong) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 1);
  const Tensor label = scalar(DType::kI32, 7);
  EXPECT_TRUE(says(OpRun("galatea.mixup").input(in).arg("alpha", 0.0).failure(), "alpha must be positive"));
  EXPECT_TRUE(says(OpRun("galatea.mixup").input(in).fixed(label).failure(), "how many classes"));
  EXPECT_TRUE(says(OpRun("galatea.cutmix").input(in).fixed(scalar(DType::kF32, 7)).failure(),
                   "a weight for each class"));
  EXPECT_TRUE(
      says(OpRun("galatea.cutmix").input(in).fixed(tensor(DType::kI32, {2}, {0, 1})).failure(), "one class"));
  EXPECT_TRUE(says(OpRun("galatea.mixup").input(in).arg("dtype", DType::kI16).failure(), "neither"));
  EXPECT_TRUE(says(OpRun("galatea.cutmix").input(random_tensor(DType::kU8, {4, 5}, {}, 1)).failure(),
                   "no axes H and W"));
  const auto blend = [&] { return OpRun("mixup.blend").input(in); };
  EXPECT_TRUE(says(blend().input(random_tensor(DType::kU8, {4, 6, 3}, "HWC", 1)).failure(),
                   "an extent is 5 here and 6"));
  EXPECT_TRUE(
      says(blend().input(in).arg("alpha", scalar(DType::kF32, -1)).failure(), "alpha must be positive"));
  EXPECT_TRUE(says(blend().input(in).fixed(label).fixed(label).arg("num_classes", int64_t{7}).failure(),
                   "the label is 7, and there are 7 classes"));
  EXPECT_TRUE(says(blend()
                       .input(in)
                       .input(tensor(DType::kF32, {2}, {0, 1}))
                       .input(tensor(DType::kF32, {3}, {0, 1, 0}))
                       .failure(),
                   "2 classes here and 3"));
}

}  // namespace
}  // namespace galatea::ops_test
