// galatea.random_perspective, galatea.elastic and galatea.cutout: what they compute of their draws, computed
// another way, and how the draws are distributed (chi-square and Kolmogorov-Smirnov at the level 0.001).
#include <algorithm>
#include <array>
#include <cmath>

#include "tests/ops/op_tester.h"
#include "tests/support/statistics.h"

namespace galatea::ops_test {
namespace {

using Numbers = std::vector<double>;

/// Each pixel holds its own place, x and y, counted from corners of pixels.
Tensor places(int64_t h, int64_t w) {
  Numbers numbers;
  for (int64_t y = 0; y < h; ++y)
    for (int64_t x = 0; x < w; ++x) {
      numbers.push_back(static_cast<double>(x) + 0.5);
      numbers.push_back(static_cast<double>(y) + 0.5);
    }
  return tensor(DType::kF32, {h, w, 2}, numbers, "HWC");
}

/// m of the projective map with m[8] = 1 that takes four places to four others, by elimination.
Numbers map_of(const std::array<std::array<double, 2>, 4>& from,
               const std::array<std::array<double, 2>, 4>& to) {
  std::array<std::array<double, 9>, 8> rows{};
  for (size_t k = 0; k < 4; ++k) {
    const auto [x, y] = from[k];
    const auto [u, v] = to[k];
    rows[2 * k] = {x, y, 1, 0, 0, 0, -u * x, -u * y, u};
    rows[2 * k + 1] = {0, 0, 0, x, y, 1, -v * x, -v * y, v};
  }
  for (size_t c = 0; c < 8; ++c) {
    const auto pivot =
        std::max_element(rows.begin() + static_cast<std::ptrdiff_t>(c), rows.end(),
                         [&](const auto& a, const auto& b) { return std::abs(a[c]) < std::abs(b[c]); });
    std::swap(rows[c], *pivot);
    for (size_t r = 0; r < 8; ++r) {
      if (r == c) continue;
      const double factor = rows[r][c] / rows[c][c];
      for (size_t k = c; k < 9; ++k) rows[r][k] -= factor * rows[c][k];
    }
  }
  Numbers m;
  for (size_t c = 0; c < 8; ++c) m.push_back(rows[c][8] / rows[c][c]);
  m.push_back(1);
  return m;
}

TEST(RandomPerspective, CornersAreUniform) {
  constexpr int64_t kHeight = 15, kWidth = 17;
  const Tensor in = places(kHeight, kWidth);
  // Half of each extent is 8 and 7: corners move by 0 .. 4 and 0 .. 3.
  std::array<std::vector<int>, 8> counts;
  for (size_t n = 0; n < 8; ++n) counts[n].assign(n % 2 == 0 ? 5 : 4, 0);
  for (uint64_t sample = 0; sample < 400; ++sample) {
    const Tensor out = OpRun("galatea.random_perspective").input(in).arg("p", 1.0).sample(sample).result();
    std::array<std::array<double, 2>, 4> from{}, to{};
    for (size_t k = 0; k < 4; ++k) {
      const size_t x = k % 2 == 0 ? 6 : 10, y = k < 2 ? 5 : 9;
      from[k] = {out[(y * kWidth + x) * 2], out[(y * kWidth + x) * 2 + 1]};
      to[k] = {static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5};
    }
    const Numbers m = map_of(from, to);  // from the image to the output
    for (size_t k = 0; k < 4; ++k) {
      const bool right = k == 1 || k == 2, bottom = k >= 2;
      const double x = right ? kWidth - 1 : 0, y = bottom ? kHeight - 1 : 0;
      const double scale = m[6] * x + m[7] * y + m[8];
      const double u = (m[0] * x + m[1] * y + m[2]) / scale, v = (m[3] * x + m[4] * y + m[5]) / scale;
      const double dx = right ? x - u : u, dy = bottom ? y - v : v;
      ASSERT_NEAR(dx, std::round(dx), 0.02) << sample;
      ASSERT_NEAR(dy, std::round(dy), 0.02) << sample;
      ASSERT_TRUE(dx > -0.5 && dx < 4.5 && dy > -0.5 && dy < 3.5) << dx << " " << dy;
      ++counts[2 * k][static_cast<size_t>(std::lround(dx))];
      ++counts[2 * k + 1][static_cast<size_t>(std::lround(dy))];
    }
  }
  for (size_t n = 0; n < 8; ++n) EXPECT_LT(testing::chi_square(counts[n]), n % 2 == 0 ? 18.47 : 16.27) << n;
}

TEST(RandomPerspective, HowOften) {
  const Tensor in = random_tensor(DType::kU8, {9, 12, 3}, "HWC", 81);
  const auto same = [&](double p, int64_t filter) {
    int count = 0;
    for (uint64_t sample = 0; sample < 200; ++sample)
      count += OpRun("galatea.random_perspective")
                   .input(in)
                   .arg("p", scalar(DType::kF32, p))
                   .arg("interp_type", filter)
                   .sample(sample)
                   .result()
                   .numbers() == in.numbers();
    return count;
  };
  EXPECT_EQ(same(0, 1), 200);
  EXPECT_EQ(same(0, 2), 200);
  // Of 200 with p = 1/4 some 150, 6.1 on either side being one deviation; and those with no corner moved.
  EXPECT_NEAR(same(0.25, 0), 150, 21);
  for (const auto& [h, w] : {std::pair<int64_t, int64_t>{1, 9}, {7, 1}, {1, 1}, {0, 4}}) {
    const Tensor thin = random_tensor(DType::kI16, {h, w, 1}, "HWC", 82);
    EXPECT_EQ(OpRun("galatea.random_perspective").input(thin).arg("p", 1.0).result().numbers(),
              thin.numbers());
  }
  // Corners that meet or pass each other are no error.
  for (uint64_t sample = 0; sample < 50; ++sample)
    EXPECT_TRUE(OpRun("galatea.random_perspective")
                    .input(random_tensor(DType::kF32, {2, 2, 1}, "HWC", 83))
                    .arg("p", 1.0)
                    .arg("distortion_scale", 1.0)
                    .sample(sample)
                    .run()
                    .ok());
}

TEST(RandomPerspective, Refused) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 84);
  const auto run = [&] { return OpRun("galatea.random_perspective").input(in); };
  EXPECT_TRUE(says(run().arg("p", 1.5).failure(), "p is 1.5"));
  EXPECT_TRUE(says(run().arg("p", scalar(DType::kF32, -1)).failure(), "p is -1"));
  EXPECT_TRUE(says(run().arg("distortion_scale", 2.0).failure(), "distortion_scale is 2"));
  EXPECT_TRUE(says(run().arg("distortion_scale", scalar(DType::kF32, 2)).failure(), "distortion_scale is 2"));
  EXPECT_TRUE(says(run().arg("interp_type", int64_t{4}).failure(), "the filters are"));
  EXPECT_TRUE(says(run().arg("fill_value", Numbers{1, 2}).failure(), "2 values of fill_value"));
}

/// How far pixels moved, x and y, of an image whose pixels hold their places; alpha keeps them inside.
Numbers moved(int64_t h, int64_t w, const Numbers& alpha, const Numbers& sigma) {
  const Tensor in = places(h, w);
  const Tensor out = OpRun("galatea.elastic").input(in).arg("alpha", alpha).arg("sigma", sigma).result();
  Numbers field;
  for (size_t n = 0; n < in.size(); ++n) field.push_back(out[n] - in[n]);
  return field;
}

/// Pixels that no movement by less than one takes past the edge.
bool is_inner(int64_t y, int64_t x, int64_t h, int64_t w) { return x > 0 && y > 0 && x < w - 1 && y < h - 1; }

TEST(Elastic, UnsmoothedFieldsAreUniform) {
  constexpr int64_t kSide = 42;
  const Numbers field = moved(kSide, kSide, {1.5, 1.0}, {0, 0});  // by up to 0.75 and 0.5
  for (size_t k = 0; k < 2; ++k) {
    Numbers draws;
    for (int64_t y = 0; y < kSide; ++y)
      for (int64_t x = 0; x < kSide; ++x)
        if (is_inner(y, x, kSide, kSide))
          draws.push_back((field[static_cast<size_t>(y * kSide + x) * 2 + k] / (k == 0 ? 0.75 : 0.5) + 1) /
                          2);
    std::ranges::sort(draws);
    double most = 0;
    const auto count = static_cast<double>(draws.size());
    for (size_t n = 0; n < draws.size(); ++n)
      most = std::max({most, std::abs(draws[n] - static_cast<double>(n) / count),
                       std::abs(draws[n] - static_cast<double>(n + 1) / count)});
    EXPECT_LT(most, 1.95 / std::sqrt(count));
  }
}

TEST(Elastic, FieldsAreSmoothedByGaussians) {
  // The draws themselves come from a run without smoothing; of those at the edge nothing is known, so what is
  // compared lies two windows away.
  constexpr int64_t kHeight = 24, kWidth = 30;
  const Numbers raw = moved(kHeight, kWidth, {0.5, 0.5}, {0, 0});
  const Numbers smooth = moved(kHeight, kWidth, {4.0, 2.0}, {0.8, 1.1});
  const auto window = [](double sigma, int64_t radius) {
    Numbers weights;
    double sum = 0;
    for (int64_t i = -radius; i <= radius; ++i)
      sum += weights.emplace_back(std::exp(-0.5 * static_cast<double>(i * i) / (sigma * sigma)));
    for (double& one : weights) one /= sum;
    return weights;
  };
  const double h = kHeight, w = kWidth;
  for (size_t k = 0; k < 2; ++k) {
    const double sigma = k == 0 ? 0.8 : 1.1;
    const int64_t radius = (static_cast<int64_t>(8 * sigma + 1) | 1) / 2;
    const Numbers across = window(0.8, radius), down = window(1.1, radius);
    const double unit = 0.25 * (k == 0 ? w / h : h / w), reach = (k == 0 ? 2 * w / h : 1 * h / w);
    int compared = 0;
    for (int64_t y = radius + 1; y < kHeight - radius - 1; ++y)
      for (int64_t x = radius + 1; x < kWidth - radius - 1; ++x) {
        double sum = 0;
        for (int64_t j = -radius; j <= radius; ++j)
          for (int64_t i = -radius; i <= radius; ++i)
            sum += across[static_cast<size_t>(i + radius)] * down[static_cast<size_t>(j + radius)] *
                   raw[static_cast<size_t>((y + j) * kWidth + x + i) * 2 + k] / unit;
        EXPECT_NEAR(smooth[static_cast<size_t>(y * kWidth + x) * 2 + k], sum * reach, 2e-4);
        ++compared;
      }
    EXPECT_GT(compared, 100);
  }
}

TEST(Elastic, NothingMovesWithoutAlpha) {
  for (DType type : {DType::kU8, DType::kI16, DType::kU16, DType::kF32})
    for (const auto& [h, w] : {std::pair<int64_t, int64_t>{1, 1}, {1, 6}, {5, 1}, {6, 7}, {0, 3}}) {
      const Tensor in = random_tensor(type, {3, h, w}, "CHW", 85);
      EXPECT_EQ(OpRun("galatea.elastic").input(in).arg("alpha", 0.0).arg("sigma", 2.0).result().numbers(),
                in.numbers());
    }
  // Channels move together, of a grey image too.
  const Tensor grey = random_tensor(DType::kF32, {9, 8}, "HW", 86);
  Numbers twice;
  for (const double v : grey.numbers()) twice.insert(twice.end(), {v, v});
  const Tensor one = OpRun("galatea.elastic").input(grey).arg("alpha", 30.0).arg("sigma", 1.0).result();
  const Tensor two = OpRun("galatea.elastic")
                         .input(tensor(DType::kF32, {9, 8, 2}, twice, "HWC"))
                         .arg("alpha", 30.0)
                         .arg("sigma", tensor(DType::kF32, {2}, {1, 1}))
                         .result();
  EXPECT_NE(one.numbers(), grey.numbers());
  for (size_t n = 0; n < grey.size(); ++n) {
    ASSERT_EQ(two[2 * n], one[n]);
    ASSERT_EQ(two[2 * n + 1], one[n]);
  }
}

TEST(Elastic, Refused) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 87);
  const auto run = [&] { return OpRun("galatea.elastic").input(in); };
  EXPECT_TRUE(says(run().arg("sigma", -1.0).failure(), "sigma is -1"));
  EXPECT_TRUE(says(run().arg("sigma", scalar(DType::kF32, -1)).failure(), "sigma is -1"));
  EXPECT_TRUE(says(run().arg("alpha", 1e9).failure(), "alpha is"));
  EXPECT_TRUE(says(run().arg("alpha", scalar(DType::kF32, std::nan(""))).failure(), "alpha is"));
  EXPECT_TRUE(says(run().arg("alpha", Numbers{1, 2, 3}).failure(), "alpha"));
  EXPECT_TRUE(says(run().arg("interp_type", int64_t{3}).failure(), "the filters are"));
}

TEST(Cutout, MiddlesAreUniform) {
  const Tensor in = tensor(DType::kU8, {10, 12, 1}, Numbers(120, 1), "HWC");
  std::array<std::vector<int>, 2> counts = {std::vector<int>(10), std::vector<int>(12)};
  for (uint64_t sample = 0; sample < 600; ++sample) {
    const Tensor out = OpRun("galatea.cutout").input(in).arg("size", Numbers{4, 4}).sample(sample).result();
    std::array<int64_t, 2> first = {10, 12}, last = {-1, -1};
    int64_t covered = 0;
    for (int64_t n = 0; n < 120; ++n) {
      if (out[static_cast<size_t>(n)] != 0) continue;
      ++covered;
      for (size_t k = 0; k < 2; ++k) {
        const int64_t at = k == 0 ? n / 12 : n % 12;
        first[k] = std::min(first[k], at);
        last[k] = std::max(last[k], at);
      }
    }
    ASSERT_EQ(covered, (last[0] - first[0] + 1) * (last[1] - first[1] + 1));
    for (size_t k = 0; k < 2; ++k) {
      // [middle - 2, middle + 2), less what lies outside.
      const int64_t middle = first[k] > 0 ? first[k] + 2 : last[k] - 1, extent = k == 0 ? 10 : 12;
      ASSERT_EQ(first[k], std::max<int64_t>(middle - 2, 0));
      ASSERT_EQ(last[k], std::min(middle + 1, extent - 1));
      ++counts[k][static_cast<size_t>(middle)];
    }
  }
  EXPECT_LT(testing::chi_square(counts[0]), 27.88);
  EXPECT_LT(testing::chi_square(counts[1]), 31.26);
}

TEST(Cutout, SizesHolesFills) {
  for (DType type : {DType::kU8, DType::kI16, DType::kI32, DType::kF32}) {
    const Tensor in = random_tensor(type, {5, 4, 2}, "HWC", 88);
    // Twice the image covers it wherever the middle is.
    const Tensor all = OpRun("galatea.cutout")
                           .input(in)
                           .arg("size", Numbers{10, 8})
                           .arg("holes", int64_t{3})
                           .arg("fill_value", Numbers{7, 8})
                           .result();
    for (size_t n = 0; n < all.size(); ++n) ASSERT_EQ(all[n], n % 2 == 0 ? 7 : 8);
    EXPECT_EQ(OpRun("galatea.cutout").input(in).arg("size", 0.0).result().numbers(), in.numbers());
    EXPECT_EQ(OpRun("galatea.cutout").input(in).arg("size", 9.0).arg("p", 0.0).result().numbers(),
              in.numbers());
  }
  const Tensor ones = tensor(DType::kU8, {9, 9}, Numbers(81, 1), "HW");
  const auto covered = [&](OpRun run) {
    const Numbers out = run.result().numbers();
    return std::ranges::count(out, 0.0);
  };
  // One pixel for each hole, wherever they are; of holes that do not meet, as many.
  EXPECT_EQ(covered(OpRun("galatea.cutout").input(ones).arg("size", 1.0)), 1);
  const auto many = covered(OpRun("galatea.cutout").input(ones).arg("size", 1.0).arg("holes", int64_t{5}));
  EXPECT_GT(many, 1);
  EXPECT_LE(many, 5);
  // A ninth of each extent is one pixel.
  EXPECT_EQ(covered(OpRun("galatea.cutout")
                        .input(ones)
                        .arg("size", scalar(DType::kF32, 1.0 / 9))
                        .arg("normalized", true)),
            1);
  int covers = 0;
  for (uint64_t sample = 0; sample < 200; ++sample)
    covers += covered(OpRun("galatea.cutout").input(ones).arg("size", 3.0).arg("p", 0.25).sample(sample)) > 0;
  EXPECT_NEAR(covers, 50, 21);
  EXPECT_EQ(OpRun("galatea.cutout")
                .input(tensor(DType::kU8, {0, 3, 1}, {}, "HWC"))
                .arg("size", 2.0)
                .result()
                .size(),
            0U);
}

TEST(Cutout, Refused) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 89);
  const auto run = [&] { return OpRun("galatea.cutout").input(in); };
  EXPECT_TRUE(says(run().arg("size", -1.0).failure(), "size is -1"));
  EXPECT_TRUE(says(run().arg("size", scalar(DType::kF32, -1)).failure(), "size is -1"));
  EXPECT_TRUE(says(run().arg("size", 2.0).arg("normalized", true).failure(), "size is 2"));
  EXPECT_TRUE(says(run().arg("size", 2.0).arg("holes", int64_t{0}).failure(), "holes is 0"));
  EXPECT_TRUE(says(run().arg("size", 2.0).arg("p", 2.0).failure(), "p is 2"));
  EXPECT_TRUE(
      says(run().arg("size", 2.0).arg("fill_value", Numbers{1, 2}).failure(), "2 values of fill_value"));
}

}  // namespace
}  // namespace galatea::ops_test
