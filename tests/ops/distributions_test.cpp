// How random operators draw, where their own tests do not look: by chi-square and Kolmogorov-Smirnov at the level
// 0.001. Every random operator must be here or named with the test that looks.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "tests/ops/op_tester.h"
#include "tests/support/statistics.h"

namespace galatea::ops_test {
namespace {

using Numbers = std::vector<double>;
using Extents = std::vector<int64_t>;

constexpr int64_t kDraws = 2000;
constexpr double kDistance = 1.95;                         // Kolmogorov-Smirnov
constexpr double kChiSquare[] = {0, 10.83, 13.82, 16.27};  // by degrees of freedom

/// Numbers with the distribution function `below` have uniform values of it.
template <typename F>
double distance(Numbers numbers, const F& below) {
  for (double& number : numbers) number = below(number);
  return testing::distance_from_uniform(std::move(numbers), 0, 1);
}

double normal_below(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
double arcsine_below(double x) { return 2 / std::numbers::pi * std::asin(std::sqrt(x)); }

std::vector<int> counts_of(const Tensor& drawn, const Numbers& values) {
  std::vector<int> counts(values.size(), 0);
  for (const double v : drawn.numbers()) {
    const auto at = std::ranges::find(values, v);
    EXPECT_NE(at, values.end()) << v;
    if (at != values.end()) ++counts[static_cast<size_t>(at - values.begin())];
  }
  return counts;
}

TEST(Distributions, OfUniform) {
  const auto draw = [] { return OpRun("random.uniform").arg("shape", Extents{kDraws}).key(3); };
  EXPECT_LT(testing::distance_from_uniform(draw().arg("range", Numbers{-2, 5}).result().numbers(), -2, 5),
            kDistance);
  const Numbers values = {-1, 4, 9};
  EXPECT_LT(testing::chi_square(counts_of(draw().arg("values", values).result(), values)), kChiSquare[2]);
}

TEST(Distributions, OfMasksOfSpectrograms) {
  constexpr int64_t kRows = 12, kWidest = 3, kSamples = 400;
  const Tensor spectrogram = tensor(DType::kF32, {kRows, 1}, Numbers(kRows, 1.0), "ft");
  OpRun run("galatea.spec_augment");
  run.input(spectrogram).arg("freq_masks", int64_t{1}).arg("freq_mask_width", kWidest);
  run.arg("time_masks", int64_t{0}).key(9);
  std::vector<int> widths(kWidest + 1, 0);
  Numbers begins;
  for (uint64_t sample = 0; sample < kSamples; ++sample) {
    const Numbers out = run.sample(sample).result().numbers();
    const auto width = static_cast<size_t>(std::ranges::count(out, 0.0));
    ++widths.at(width);
    if (width != 1) continue;
    begins.push_back(static_cast<double>(std::ranges::find(out, 0.0) - out.begin()));
  }
  EXPECT_LT(testing::chi_square(widths), kChiSquare[kWidest]);
  // Twelve places: the middle of each, as far as steps of a twelfth can be told from a line.
  for (double& begin : begins) begin += 0.5;
  EXPECT_LT(testing::distance_from_uniform(begins, 0, kRows), kDistance);
}

TEST(Distributions, OfNormal) {
  const Numbers drawn = OpRun("random.normal")
                            .arg("mean", 3.0)
                            .arg("stddev", 2.0)
                            .arg("shape", Extents{kDraws})
                            .key(4)
                            .result()
                            .numbers();
  EXPECT_LT(distance(drawn, [](double x) { return normal_below((x - 3) / 2); }), kDistance);
}

TEST(Distributions, OfBeta) {
  const auto drawn = [](double a, double b) {
    return OpRun("random.beta")
        .arg("alpha", a)
        .arg("beta", b)
        .arg("shape", Extents{500})
        .key(5)
        .result()
        .numbers();
  };
  EXPECT_LT(distance(drawn(0.5, 0.5), arcsine_below), kDistance);
  EXPECT_LT(distance(drawn(1, 3), [](double x) { return 1 - std::pow(1 - x, 3); }), kDistance);
  EXPECT_LT(
      distance(drawn(2, 5), [](double x) { return 1 - std::pow(1 - x, 6) - 6 * x * std::pow(1 - x, 5); }),
      kDistance);
}

TEST(Distributions, OfCoinFlip) {
  for (const double p : {0.5, 0.07}) {
    const Tensor drawn =
        OpRun("random.coin_flip").arg("probability", p).arg("shape", Extents{kDraws}).key(6).result();
    EXPECT_LT(testing::chi_square(counts_of(drawn, {0, 1}), {1 - p, p}), kChiSquare[1]) << p;
  }
}

TEST(Distributions, OfChoice) {
  const auto draw = [] {
    return OpRun("random.choice").input(scalar(DType::kI32, 4)).arg("shape", Extents{kDraws}).key(7);
  };
  const Numbers values = {0, 1, 2, 3}, shares = {0.1, 0.2, 0.3, 0.4};
  EXPECT_LT(testing::chi_square(counts_of(draw().result(), values)), kChiSquare[3]);
  EXPECT_LT(testing::chi_square(counts_of(draw().arg("p", shares).result(), values), shares), kChiSquare[3]);
}

TEST(Distributions, OfGaussianNoise) {
  const Tensor in = tensor(DType::kF32, {kDraws}, Numbers(kDraws, 100));
  const Numbers out =
      OpRun("noise.gaussian").input(in).arg("mean", -5.0).arg("stddev", 8.0).key(8).result().numbers();
  EXPECT_LT(distance(out, [](double x) { return normal_below((x - 95) / 8); }), kDistance);
}

TEST(Distributions, OfSaltAndPepper) {
  const Tensor in = tensor(DType::kU8, {40, 50, 1}, Numbers(kDraws, 7), "HWC");
  const Tensor out =
      OpRun("noise.salt_and_pepper").input(in).arg("prob", 0.4).arg("salt_vs_pepper", 0.25).key(9).result();
  EXPECT_LT(testing::chi_square(counts_of(out, {255, 0, 7}), {0.1, 0.3, 0.6}), kChiSquare[2]);
}

TEST(Distributions, OfMixup) {
  const Tensor own = scalar(DType::kF32, 1), other = scalar(DType::kF32, 0);
  Numbers ratios;
  for (uint64_t sample = 0; sample < 400; ++sample)
    ratios.push_back(
        OpRun("mixup.blend").input(own).input(other).arg("alpha", 0.5).sample(sample).result()[0]);
  EXPECT_LT(distance(ratios, arcsine_below), kDistance);
}

TEST(Distributions, OfCutmix) {
  // A box whose share of the picture is uniform in [0, 1], its middle uniform in the picture: it covers the picture's
  // middle with a chance of 1/2 and a corner, which it reaches with half of each side, with 1/8.
  constexpr int64_t kSide = 32, kMiddle = kSide / 2 * (kSide + 1);
  const auto pixels = static_cast<size_t>(kSide * kSide);
  const Tensor own = tensor(DType::kU8, {kSide, kSide}, Numbers(pixels, 0), "HW");
  const Tensor other = tensor(DType::kU8, {kSide, kSide}, Numbers(pixels, 1), "HW");
  std::vector<int> middle(2, 0), corner(2, 0);
  for (uint64_t sample = 0; sample < 200; ++sample) {
    const Tensor out = OpRun("cutmix.paste").input(own).input(other).sample(sample).result();
    ++middle[static_cast<size_t>(out[kMiddle])], ++corner[static_cast<size_t>(out[0])];
  }
  EXPECT_LT(testing::chi_square(middle), kChiSquare[1]);
  EXPECT_LT(testing::chi_square(corner, {7.0 / 8, 1.0 / 8}), kChiSquare[1]);
}

TEST(Distributions, OfWindowsThatAreDecoded) {
  constexpr int64_t kSide = 100'000;
  Numbers areas, ratios;
  for (uint64_t sample = 0; sample < 400; ++sample) {
    const OpRun::Outcome out = OpRun("decoders.image_random_crop")
                                   .input(tensor(DType::kU8, {4}, {1, 2, 3, 4}))
                                   .native({kSide, kSide, 3, 8, 0})
                                   .arg("random_area", Numbers{0.1, 0.4})
                                   .sample(sample)
                                   .run();
    ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
    const Extents& w = out.natives[0].scalars;
    const auto height = static_cast<double>(w[2] - w[0]), width = static_cast<double>(w[3] - w[1]);
    areas.push_back(height * width / (static_cast<double>(kSide) * kSide));
    ratios.push_back(std::log(width / height));
  }
  EXPECT_LT(testing::distance_from_uniform(areas, 0.1, 0.4), kDistance);
  EXPECT_LT(testing::distance_from_uniform(ratios, std::log(0.75), std::log(1.333333)), kDistance);
}

/// The nearest neighbour of one cell is the pixel in the window's middle.
TEST(Distributions, OfRandomResizedCropAreThoseOfTheGenerator) {
  Numbers places(30 * 40);
  for (size_t n = 0; n < places.size(); ++n) places[n] = static_cast<double>(n);
  const Tensor in = tensor(DType::kF32, {30, 40, 1}, places, "HWC");
  for (uint64_t sample = 0; sample < 40; ++sample) {
    const OpRun::Outcome window =
        OpRun("random_crop_generator").input(tensor(DType::kI64, {2}, {30, 40})).sample(sample).key(12).run();
    const Tensor out = OpRun("random_resized_crop")
                           .input(in)
                           .arg("size", Extents{1, 1})
                           .arg("interp_type", int64_t{0})
                           .sample(sample)
                           .key(12)
                           .result();
    const Tensor &anchor = window.outputs[0], &shape = window.outputs[1];
    EXPECT_EQ(out[0], std::floor(anchor[0] + shape[0] / 2) * 40 + std::floor(anchor[1] + shape[1] / 2))
        << sample;
  }
}

TEST(Distributions, EveryRandomOperatorIsLookedAt) {
  // Where, if not above.
  const std::map<std::string, std::string> elsewhere = {
      {"jitter", "neighbourhood_test.cpp"},
      {"galatea.color_jitter", "color_jitter_test.cpp"},
      {"galatea.cutout", "displaced_test.cpp"},
      {"galatea.elastic", "displaced_test.cpp"},
      {"galatea.random_perspective", "displaced_test.cpp"},
      {"noise.shot", "shot_noise_test.cpp"},
      {"random.choice.weighted", "random_test.cpp"},
      {"random_crop_generator", "boxes_test.cpp"},
      {"roi_random_crop", "boxes_test.cpp"},
      {"random_bbox_crop", "../native/bbox_crop_test.cpp"},
      {"ssd_random_crop", "../native/bbox_crop_test.cpp"},
      {"ssd_random_crop.window", "../native/bbox_crop_test.cpp"},
      {"segmentation.random_mask_pixel", "../native/mask_pixel_test.cpp"},
      {"segmentation.random_object_bbox", "../native/object_bbox_test.cpp"},
      {"segmentation.object_of_lists", "../native/object_bbox_test.cpp"},
      {"batch_permutation", "../pipelines/batch_test.cpp"},
      {"galatea.mixup", "of mixup.blend"},
      {"galatea.cutmix", "of cutmix.paste"},
      {"galatea.mosaic", "../oracle/mosaic_test.cpp"},
      {"mosaic.partners", "../oracle/mosaic_test.cpp"},
      {"mosaic.tiles", "../oracle/mosaic_test.cpp"},
  };
  const std::vector<std::string> here = {"random.uniform",        "random.normal",
                                         "random.beta",           "random.coin_flip",
                                         "random.choice",         "noise.gaussian",
                                         "noise.salt_and_pepper", "mixup.blend",
                                         "cutmix.paste",          "decoders.image_random_crop",
                                         "random_resized_crop",   "galatea.spec_augment"};
  for (const auto& op : registry().all()) {
    if (!op->random || op->name.ends_with(".places")) continue;
    EXPECT_TRUE(elsewhere.contains(op->name) || std::ranges::find(here, op->name) != here.end())
        << op->name << ": how it draws has no test";
  }
}

}  // namespace
}  // namespace galatea::ops_test
