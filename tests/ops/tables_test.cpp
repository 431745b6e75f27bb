// equalize and lookup_table against their formulas, salt_and_pepper against the node's stream of draws.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Numbers = std::vector<double>;
using Extents = std::vector<int64_t>;
using Ints = std::vector<int64_t>;

/// One channel's bytes through the table of its histogram, in float as OpenCV's equalizeHist has it.
Numbers equalized(const Numbers& channel) {
  std::array<int, 256> counts{};
  for (double v : channel) ++counts[static_cast<size_t>(v)];
  const auto total = static_cast<int>(channel.size());
  size_t first = 0;
  while (first < 255 && counts[first] == 0) ++first;
  if (counts[first] == total) return channel;
  const float scale = 255.0F / static_cast<float>(total - counts[first]);
  std::array<double, 256> table{};
  int sum = 0;
  for (size_t v = first + 1; v < 256; ++v) {
    sum += counts[v];
    table[v] = std::clamp(std::nearbyint(static_cast<double>(static_cast<float>(sum) * scale)), 0.0, 255.0);
  }
  Numbers out;
  for (double v : channel) out.push_back(table[static_cast<size_t>(v)]);
  return out;
}

/// Elements of one channel, and the other way round.
Numbers equalized_image(const Tensor& in, int64_t channels, int64_t step, int64_t apart) {
  Numbers out(in.size());
  const auto pixels = static_cast<int64_t>(in.size()) / std::max<int64_t>(channels, 1);
  for (int64_t c = 0; c < channels; ++c) {
    Numbers channel;
    for (int64_t n = 0; n < pixels; ++n) channel.push_back(in[static_cast<size_t>(c * apart + n * step)]);
    const Numbers made = equalized(channel);
    for (int64_t n = 0; n < pixels; ++n)
      out[static_cast<size_t>(c * apart + n * step)] = made[static_cast<size_t>(n)];
  }
  return out;
}

/// Values of a part of the range, so that equalising does something.
Tensor dim_image(Extents extents, Layout layout, uint32_t seed, int low, int high) {
  Tensor in = random_tensor(DType::kU8, std::move(extents), layout, seed);
  for (Cell& cell : in.cells)
    cell = cell_from_int(DType::kU8, low + cell_to_int(DType::kU8, cell) * (high - low) / 255);
  return in;
}

TEST(Equalize, EveryLayoutAndNumberOfChannels) {
  for (int64_t channels : {1, 2, 3, 4, 5, 17}) {
    const Tensor hwc = dim_image({13, 21, channels}, "HWC", 70, 40, 90);
    expect_near(OpRun("equalize").input(hwc).result(), equalized_image(hwc, channels, channels, 1), 0);
    expect_near(OpRun("equalize").fixed(hwc).result(), equalized_image(hwc, channels, channels, 1), 0);
    const Tensor chw = dim_image({channels, 13, 21}, "CHW", 71, 0, 255);
    expect_near(OpRun("equalize").input(chw).result(), equalized_image(chw, channels, 1, 13 * 21), 0);
  }
  // Each frame for itself: the channels of one, then those of the next.
  const Tensor video = dim_image({4, 3, 13, 21}, "FCHW", 73, 10, 200);
  expect_near(OpRun("equalize").input(video).result(), equalized_image(video, 12, 1, 13 * 21), 0);
  const Tensor grey = dim_image({40, 31}, "HW", 72, 200, 255);
  const Tensor out = OpRun("equalize").input(grey).result();
  expect_near(out, equalized_image(grey, 1, 1, 0), 0);
  EXPECT_EQ(out.layout.str(), "HW");
  EXPECT_EQ(
      *std::max_element(out.cells.begin(), out.cells.end(), [](Cell a, Cell b) { return a.bits < b.bits; }),
      Cell{255});
}

TEST(Equalize, OneValueStaysAsItIs) {
  // The first channel has one value, the second two, the third all lie at the ends.
  const Tensor in = tensor(DType::kU8, {1, 4, 3}, {7, 10, 0, 7, 10, 255, 7, 11, 0, 7, 10, 255}, "HWC");
  expect_near(OpRun("equalize").input(in).result(), {7, 0, 0, 7, 0, 255, 7, 255, 0, 7, 0, 255}, 0);
  for (double value : {0.0, 255.0})
    expect_near(OpRun("equalize").input(tensor(DType::kU8, {1, 1, 1}, {value}, "HWC")).result(), {value}, 0);
}

TEST(Equalize, EmptyImagesAndRefusals) {
  EXPECT_EQ(OpRun("equalize").input(tensor(DType::kU8, {0, 5, 3}, {}, "HWC")).result().extents,
            (Extents{0, 5, 3}));
  EXPECT_EQ(OpRun("equalize").input(tensor(DType::kU8, {4, 5, 0}, {}, "HWC")).result().size(), 0U);
  EXPECT_NE(OpRun("equalize").input(random_tensor(DType::kF32, {4, 5, 3}, "HWC", 1)).failure(), "");
  EXPECT_EQ(OpRun("equalize").input(tensor(DType::kU8, {0, 4, 5, 3}, {}, "FHWC")).result().extents,
            (Extents{0, 4, 5, 3}));
}

TEST(LookupTable, TheLastValueOfAKeyInEveryType) {
  const Ints keys = {3, 0, 100, 3};
  const Numbers values = {1.25, -2.5, 300, 7.5};
  const std::map<double, double> table = {{3, 7.5}, {0, -2.5}, {100, 300}};
  for (DType in :
       {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kU32, DType::kI32, DType::kU64, DType::kI64})
    for (DType out : {DType::kF32, DType::kU8, DType::kI16, DType::kF16, DType::kF64, DType::kI64}) {
      Numbers elements = {0, 1, 2, 3, 100, 101, 127};
      if (in != DType::kI8) elements.insert(elements.end(), {128, 255});
      if (size_of(in) >= 2) elements.insert(elements.end(), {256, 259, 32767});
      if (size_of(in) >= 4) elements.insert(elements.end(), {65536 + 3, 1 << 30});
      if (is_signed_int(in)) elements.insert(elements.end(), {-1, -128, static_cast<double>(min_int(in))});
      while (elements.size() % 2 != 0 || elements.size() < 40) elements.push_back(3);
      Numbers expected;
      for (double x : elements) expected.push_back(saturate(out, table.contains(x) ? table.at(x) : 11.5));
      const Tensor data = tensor(in, {2, static_cast<int64_t>(elements.size()) / 2}, elements, "HW");
      for (bool known : {false, true}) {
        OpRun run("lookup_table");
        known ? run.fixed(data) : run.input(data);
        const OpRun::Outcome outcome =
            run.arg("keys", keys).arg("values", values).arg("default_value", 11.5).arg("dtype", out).run();
        ASSERT_TRUE(outcome.ok()) << outcome.error << outcome.failed_check;
        expect_near(outcome.outputs[0], expected, 0);
        EXPECT_EQ(outcome.outputs[0].layout.str(), "HW");
      }
    }
}

TEST(LookupTable, FewElementsNeedNoTable) {
  for (DType in : {DType::kU8, DType::kI8, DType::kI64, DType::kU64}) {
    const Tensor label = scalar(in, 5);
    const OpRun::Outcome out = OpRun("lookup_table")
                                   .input(label)
                                   .arg("keys", Ints{5, 60000, 5})
                                   .arg("values", Numbers{1, 2, 3})
                                   .arg("dtype", DType::kI32)
                                   .run();
    ASSERT_TRUE(out.ok()) << out.error;
    EXPECT_EQ(out.kinds[0], op::LoweredOutput::Kind::kScalars);
    EXPECT_EQ(out.outputs[0].integer(0), 3);
  }
}

TEST(LookupTable, NoKeysAndBadOnes) {
  const Tensor data = random_tensor(DType::kU16, {50}, {}, 73);
  expect_near(OpRun("lookup_table").input(data).arg("default_value", 2.5).result(), Numbers(50, 2.5), 0);
  expect_near(OpRun("lookup_table").input(data).result(), Numbers(50, 0), 0);
  OpRun uneven("lookup_table"), negative("lookup_table"), large("lookup_table"), real("lookup_table");
  uneven.input(data).arg("keys", Ints{1, 2}).arg("values", Numbers{1});
  EXPECT_TRUE(says(uneven.failure(), "2 keys for 1 values"));
  negative.input(data).arg("keys", Ints{-1}).arg("values", Numbers{1});
  EXPECT_TRUE(says(negative.failure(), "key -1 is not in 0 .. 65535"));
  large.input(data).arg("keys", Ints{65536}).arg("values", Numbers{1});
  EXPECT_TRUE(says(large.failure(), "key 65536 is not in 0 .. 65535"));
  real.input(random_tensor(DType::kF32, {5}, {}, 1)).arg("keys", Ints{1}).arg("values", Numbers{1});
  EXPECT_NE(real.failure(), "");
}

/// Element n of the node's stream as the architecture defines it: counter (n / 4, sample), 24 bits.
double draw(uint64_t key, uint64_t sample, uint64_t n) {
  return static_cast<double>(philox(key, n / 4, sample, static_cast<int>(n % 4)) >> 8) * 0x1p-24;
}

TEST(GaussianNoise, FollowsTheStreamOfDraws) {
  const Tensor in = random_tensor(DType::kF32, {9, 7, 3}, "HWC", 74);
  const Tensor out = OpRun("noise.gaussian")
                         .input(in)
                         .arg("mean", 3.0)
                         .arg("stddev", scalar(DType::kF32, 2))
                         .sample(12)
                         .key(99)
                         .result();
  EXPECT_EQ(out.layout.str(), "HWC");
  for (size_t n = 0; n < in.size(); ++n) {
    const double radius = std::sqrt(-2 * std::log(1 - draw(99, 12, 2 * n)));
    const double z = radius * std::cos(2 * M_PI * draw(99, 12, 2 * n + 1));
    EXPECT_NEAR(out[n], in[n] + 3 + 2 * z, 1e-4) << n;
  }
}

TEST(GaussianNoise, MomentsAndTypes) {
  constexpr size_t kElements = 40000;
  for (const DType type : {DType::kU8, DType::kI16, DType::kI64, DType::kF16, DType::kF32, DType::kF64}) {
    const Tensor in = tensor(type, {200, 200}, Numbers(kElements, 100));
    const Tensor out = OpRun("noise.gaussian").input(in).arg("mean", 5.0).arg("stddev", 10.0).result();
    EXPECT_EQ(out.dtype, type);
    double mean = 0, variance = 0;
    for (const double v : out.numbers()) mean += v / kElements;
    for (const double v : out.numbers()) variance += (v - mean) * (v - mean) / kElements;
    // Five standard errors, and what rounding to integers adds to the variance.
    EXPECT_NEAR(mean, 105, 5 * 10 / std::sqrt(kElements)) << short_name(type);
    EXPECT_NEAR(variance, 100, 5 * 100 * std::sqrt(2.0 / kElements) + 1.0 / 12) << short_name(type);
  }
  const Tensor bytes = tensor(DType::kU8, {4}, {0, 1, 254, 255});
  EXPECT_EQ(OpRun("noise.gaussian").input(bytes).arg("mean", 2.0).arg("stddev", 0.0).result().numbers(),
            (Numbers{2, 3, 255, 255}));
  EXPECT_TRUE(says(OpRun("noise.gaussian").input(bytes).arg("stddev", -1.0).failure(), "not negative"));
  EXPECT_TRUE(says(OpRun("noise.gaussian").input(bytes).arg("stddev", scalar(DType::kF32, -1)).failure(),
                   "must not be negative"));
}

/// Places counted in double; the grid is such that none lies near an edge of a square.
TEST(GridMask, CoversSquares) {
  for (const DType type : {DType::kU8, DType::kI32, DType::kF16, DType::kF32})
    for (const double angle : {0.0, 0.5, -1.2}) {
      const Tensor in = tensor(type, {23, 31, 2}, Numbers(23 * 31 * 2, 7), "HWC");
      const double tile = 10, ratio = 0.433, shift_x = 3.017, shift_y = -7.031;
      const Tensor out = OpRun("grid_mask")
                             .input(in)
                             .arg("tile", scalar(DType::kI32, tile))
                             .arg("ratio", ratio)
                             .arg("angle", angle)
                             .arg("shift_x", shift_x)
                             .arg("shift_y", shift_y)
                             .result();
      int unclear = 0;
      for (size_t n = 0; n < in.size(); ++n) {
        const auto x = static_cast<double>(n / 2 % 31), y = static_cast<double>(n / 2 / 31);
        const double u = (x * std::cos(angle) - y * std::sin(angle) - shift_x) / tile;
        const double v = (x * std::sin(angle) + y * std::cos(angle) - shift_y) / tile;
        const double a = u - std::floor(u), b = v - std::floor(v);
        const auto near = [&](double f) { return std::min({f, 1 - f, std::abs(f - ratio)}) < 1e-5; };
        if (near(a) || near(b)) {
          ++unclear;
          continue;
        }
        EXPECT_EQ(out[n], a < ratio && b < ratio ? 0 : 7) << x << ", " << y << ", " << angle;
      }
      EXPECT_EQ(unclear, 0);
    }
  const Tensor in = tensor(DType::kU8, {5, 4}, Numbers(20, 7), "HW");
  EXPECT_EQ(OpRun("grid_mask").input(in).arg("ratio", 1.0).result().numbers(), Numbers(20, 0));
  EXPECT_EQ(OpRun("grid_mask").input(in).arg("ratio", 0.0).result().numbers(), Numbers(20, 7));
  EXPECT_TRUE(says(OpRun("grid_mask").input(in).arg("tile", int64_t{0}).failure(), "tile must be positive"));
  EXPECT_TRUE(
      says(OpRun("grid_mask").input(in).arg("tile", scalar(DType::kI32, -3)).failure(), "tile must be"));
  EXPECT_TRUE(says(OpRun("grid_mask").input(in).arg("ratio", -0.5).failure(), "not negative"));
}

TEST(SaltAndPepper, FollowsTheStreamOfDraws) {
  const float prob = 0.4F, share = 0.3F;
  for (bool per_channel : {false, true})
    for (const auto& [extents, layout, first] : {std::tuple{Extents{9, 7, 3}, "HWC", false},
                                                 {Extents{3, 9, 7}, "CHW", true},
                                                 {Extents{9, 7}, "HW", false},
                                                 {Extents{9, 7, 2}, "", false}}) {
      const Tensor in = random_tensor(DType::kU8, extents, layout, 74);
      const Tensor out = OpRun("noise.salt_and_pepper")
                             .input(in)
                             .arg("prob", static_cast<double>(prob))
                             .arg("salt_vs_pepper", static_cast<double>(share))
                             .arg("salt_val", 250.0)
                             .arg("pepper_val", 3.0)
                             .arg("per_channel", per_channel)
                             .sample(12)
                             .key(99)
                             .result();
      const bool shared = !per_channel && std::string(layout) != "HW";
      const size_t channels = shared ? static_cast<size_t>(first ? extents[0] : extents.back()) : 1;
      const size_t pixels = in.size() / channels;
      for (size_t n = 0; n < in.size(); ++n) {
        const double u = draw(99, 12, first ? n % pixels : n / channels);
        const double expected = u < static_cast<double>(prob * share) ? 250
                                : u < static_cast<double>(prob)       ? 3
                                                                      : in[n];
        ASSERT_EQ(out[n], expected) << layout << " element " << n;
      }
    }
}

TEST(SaltAndPepper, SharesOfAMillionPixels) {
  const Tensor in = tensor(DType::kI16, {1000, 300}, Numbers(300000, 5), "HW");
  std::map<int64_t, int> counts;
  const Tensor out =
      OpRun("noise.salt_and_pepper").input(in).arg("prob", 0.2).arg("salt_vs_pepper", 0.75).result();
  for (size_t n = 0; n < out.size(); ++n) ++counts[out.integer(n)];
  // Five standard deviations of a binomial distribution are below 0.004 of the pixels.
  EXPECT_NEAR(counts[32767] / 3e5, 0.15, 0.004);
  EXPECT_NEAR(counts[-32768] / 3e5, 0.05, 0.004);
  EXPECT_EQ(counts.size(), 3U);
}

TEST(SaltAndPepper, DefaultsOfEveryType) {
  for (DType type : {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kU32, DType::kI32, DType::kU64,
                     DType::kI64, DType::kF16, DType::kF32, DType::kF64}) {
    const Tensor in = tensor(type, {64}, Numbers(64, 50));
    const Tensor salt =
        OpRun("noise.salt_and_pepper").input(in).arg("prob", 1.0).arg("salt_vs_pepper", 1.0).result();
    const Tensor pepper =
        OpRun("noise.salt_and_pepper").input(in).arg("prob", 1.0).arg("salt_vs_pepper", 0.0).result();
    const double high = is_float(type)        ? 1
                        : type == DType::kU64 ? 0x1p64
                                              : static_cast<double>(max_int(type));
    EXPECT_EQ(salt[0], high) << short_name(type);
    EXPECT_EQ(pepper[63], is_float(type) ? -1 : static_cast<double>(min_int(type))) << short_name(type);
    expect_near(OpRun("noise.salt_and_pepper").input(in).arg("prob", 0.0).result(), Numbers(64, 50), 0);
  }
}

TEST(SaltAndPepper, PerSampleArgumentsAreChecked) {
  const Tensor in = tensor(DType::kU8, {8}, Numbers(8, 50));
  const auto with = [&](const char* name, double value) {
    OpRun run("noise.salt_and_pepper");
    run.input(in).arg(name, scalar(DType::kF32, value));
    return run;
  };
  expect_near(with("prob", 0).result(), Numbers(8, 50), 0);
  EXPECT_TRUE(says(with("prob", 1.5).failure(), "prob must lie in [0, 1], not 1.5"));
  EXPECT_TRUE(says(with("salt_vs_pepper", -0.5).failure(), "salt_vs_pepper must lie in [0, 1], not -0.5"));
  EXPECT_TRUE(
      says(OpRun("noise.salt_and_pepper").input(in).arg("prob", -1.0).failure(), "must lie in [0, 1]"));
  EXPECT_NE(OpRun("noise.salt_and_pepper").input(tensor(DType::kBool, {8}, Numbers(8, 1))).failure(), "");
}

TEST(Constant, ManyNumbersAreATensorOfTheProgram) {
  Ints numbers;
  for (int64_t n = 0; n < 1000; ++n) numbers.push_back(n * 7 - 300);
  const OpRun::Outcome out = OpRun("constant").arg("idata", numbers).arg("dtype", DType::kU8).run();
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out.kinds[0], op::LoweredOutput::Kind::kConstant);
  for (size_t n = 0; n < 1000; ++n)
    EXPECT_EQ(out.outputs[0][n], saturate(DType::kU8, static_cast<double>(numbers[n])));
}

}  // namespace
}  // namespace galatea::ops_test
