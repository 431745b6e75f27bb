// What automatic augmentation draws: which operations, magnitudes and signs, against the tables that DALI
// gave.
//
// Each augmentation of a suite is replaced by one that notes its number and its magnitude; a chi-square test
// at 1 % judges a few thousand samples of a fixed seed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "tests/auto_aug/run_text.h"
#include "tests/oracle/oracle_cases.h"

namespace galatea::testing {
namespace {

constexpr int64_t kDraws = 20000;

/// Augmentations like those of `suite` that append (number, magnitude) to a vector which begins with -1.
std::string marked(const std::string& module, const std::string& statements) {
  return "from galatea import fn, pipeline_def, types\n"
         "from galatea.auto_aug import " +
         module +
         " as m\n"
         "from galatea.auto_aug.core import Policy, augmentation\n"
         "def marker(k, aug):\n"
         "    @augmentation(mag_range=aug.mag_range, randomly_negate=aug.randomly_negate, name=aug.name)\n"
         "    def mark(data, magnitude):\n"
         "        if magnitude is None:\n"
         "            return fn.cat(data, types.Constant([float(k), 0.0]))\n"
         "        return fn.cat(data, fn.stack(types.Constant(float(k)), fn.cast(magnitude, "
         "dtype=types.FLOAT)))\n"
         "    return mark\n"
         "@pipeline_def(batch_size=" +
         std::to_string(kDraws) +
         ", num_threads=1, seed=12)\n"
         "def p():\n"
         "    x = fn.external_source(name=\"x\", dtype=types.FLOAT, ndim=1)\n" +
         statements;
}

/// Reports where counts do not fit the expected shares. Rare categories are judged together.
void expect_distribution(const std::map<std::string, double>& expected,
                         const std::map<std::string, int>& counts) {
  int total = 0;
  for (const auto& [name, count] : counts) {
    total += count;
    EXPECT_TRUE(expected.contains(name)) << name << " must not occur";
  }
  double rare_expected = 0, rare_count = 0, sum = 0;
  int categories = 0;
  auto add = [&](double wanted, double count) {
    sum += (count - wanted) * (count - wanted) / wanted;
    ++categories;
  };
  for (const auto& [name, share] : expected) {
    const double wanted = share * total;
    auto found = counts.find(name);
    const double count = found == counts.end() ? 0 : found->second;
    if (wanted < 5) {
      rare_expected += wanted;
      rare_count += count;
    } else {
      add(wanted, count);
    }
  }
  if (rare_expected >= 5) add(rare_expected, rare_count);
  ASSERT_GT(categories, 1);
  // Wilson and Hilferty: a chi-square variable of f degrees of freedom at 99 %.
  const double f = categories - 1, z = 2.326;
  const double limit = f * std::pow(1 - 2 / (9 * f) + z * std::sqrt(2 / (9 * f)), 3);
  EXPECT_LT(sum, limit) << categories << " categories, " << total << " draws";
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

TEST(RandAugment, OperationsPairsAndSignsAreUniform) {
  const auto samples =
      run_text(marked("rand_augment",
                      "    suite = [marker(k, aug) for k, aug in enumerate(m.get_rand_augment_suite())]\n"
                      "    return m.apply_rand_augment(suite, x, n=2, m=9)\n"),
               kDraws);
  ASSERT_EQ(samples.size(), static_cast<size_t>(kDraws));
  std::map<std::string, int> pairs, signs;
  for (const auto& sample : samples) {
    ASSERT_EQ(sample.size(), 5U);
    ++pairs[number(sample[1]) + "," + number(sample[3])];
    // The first nine negate; what the two signs say of each other is part of the question.
    if (sample[1] < 9 && sample[3] < 9)
      ++signs[std::string(sample[2] < 0 ? "-" : "+") + (sample[4] < 0 ? "-" : "+")];
    if (sample[1] == 4) {
      EXPECT_FLOAT_EQ(std::fabs(sample[2]), 9.0F);  // rotate
    }
    if (sample[1] == 10) {
      EXPECT_NEAR(sample[2], 179.2F, 1e-3);  // solarize
    }
  }
  std::map<std::string, double> every_pair;
  for (int i = 0; i < 14; ++i) {
    for (int j = 0; j < 14; ++j) every_pair[number(i) + "," + number(j)] = 1.0 / 196;
  }
  expect_distribution(every_pair, pairs);
  expect_distribution({{"++", 0.25}, {"+-", 0.25}, {"-+", 0.25}, {"--", 0.25}}, signs);
}

TEST(RandAugment, OneSeedDoesNotTieDrawsTogether) {
  const auto samples =
      run_text(marked("rand_augment",
                      "    suite = [marker(k, aug) for k, aug in enumerate(m.get_rand_augment_suite())]\n"
                      "    return m.apply_rand_augment(suite, x, n=2, m=9, seed=5)\n"),
               kDraws);
  std::map<std::string, int> pairs;
  std::map<std::string, double> every_pair;
  for (const auto& sample : samples) ++pairs[number(sample.at(1)) + "," + number(sample.at(3))];
  for (int i = 0; i < 196; ++i) every_pair[number(i / 14) + "," + number(i % 14)] = 1.0 / 196;
  expect_distribution(every_pair, pairs);
}

TEST(TrivialAugment, OperationsBinsAndSignsAreUniform) {
  const auto samples = run_text(
      marked("trivial_augment",
             "    suite = [marker(k, aug) for k, aug in enumerate(m.get_trivial_augment_wide_suite())]\n"
             "    return m.apply_trivial_augment(suite, x)\n"),
      kDraws);
  std::map<std::string, int> operations, rotations, solarizations;
  for (const auto& sample : samples) {
    ASSERT_EQ(sample.size(), 3U);
    ++operations[number(sample[1])];
    if (sample[1] == 4) ++rotations[number(sample[2] == 0 ? 0 : sample[2])];
    if (sample[1] == 10) ++solarizations[number(sample[2])];
  }
  std::map<std::string, double> every_operation, every_rotation, every_threshold;
  for (int i = 0; i < 14; ++i) every_operation[number(i)] = 1.0 / 14;
  for (int b = 0; b < 31; ++b) {
    every_rotation[number(4.5 * b)] += 1.0 / 62;
    every_rotation[number(b == 0 ? 0 : -4.5 * b)] += 1.0 / 62;
    every_threshold[number(256 - 256.0 * b / 30)] += 1.0 / 31;
  }
  expect_distribution(every_operation, operations);
  expect_distribution(every_rotation, rotations);
  expect_distribution(every_threshold, solarizations);
}

/// timm's `3a-mstd2` blurs by a sigma that is uniform from 0.1 to a fifth of a level, which is normal around
/// 10, by 2, and at most 10.
TEST(TimmStrings, BlursBelowALevelThatIsDrawn) {
  const auto samples = run_text(
      "from galatea import fn, pipeline_def, struct, types\n"
      "from galatea.auto_aug import policy\n"
      "row = struct(name=\"blur\", op=\"gaussian_blur\", range=(0.0, 2.0), quantize=\"none\", negate=False, "
      "param=\"identity\", low=None, high=None)\n"
      "mag = struct(kind=\"uniform_level\", level=0.5, last_level=10.0, std=2.0, max=10.0, clip=[0.0, "
      "10.0])\n"
      "@pipeline_def(batch_size=" +
          std::to_string(kDraws) +
          ", num_threads=1, seed=12)\n"
          "def p():\n"
          "    x = fn.external_source(name=\"x\", dtype=types.FLOAT, ndim=1)\n"
          "    return fn.stack(policy._drawn_parameter(row, mag)), x\n",
      kDraws);
  constexpr int kBins = 19;  // of 0.1, from 0.1 on
  std::map<std::string, int> counts;
  for (const auto& sample : samples)
    ++counts[number(std::min(kBins - 1.0, std::floor((static_cast<double>(sample.at(0)) - 0.1) * 10)))];
  std::map<std::string, double> expected;
  auto add = [&](double level, double share) {
    const double width = 0.2 * level - 0.1;
    for (int b = 0; b < kBins; ++b) {
      const double begin = 0.1 * b, end = std::min(begin + 0.1, width);
      if (end > begin) expected[number(b)] += share * (end - begin) / width;
    }
  };
  add(10, 0.5);
  constexpr int kSteps = 4000;  // of the lower half of the bell, over four deviations
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) sum += std::exp(-0.5 * std::pow(4.0 * (i + 0.5) / kSteps, 2));
  for (int i = 0; i < kSteps; ++i) {
    const double deviations = 4.0 * (i + 0.5) / kSteps;
    add(10 - 2 * deviations, 0.5 * std::exp(-0.5 * deviations * deviations) / sum);
  }
  expect_distribution(expected, counts);
}

/// A policy as DALI has it: of each sub-policy and stage, operation (-1: none), probability, bin (-1: none).
struct Table {
  std::vector<int32_t> operations, bins;
  std::vector<float> probabilities;
};

template <typename T>
std::vector<T> elements(const RecordedArray& array) {
  std::vector<T> out(array.bytes.size() / sizeof(T));
  std::memcpy(out.data(), array.bytes.data(), array.bytes.size());
  return out;
}

Table recorded_table(const std::string& policy) {
  auto group = load_group(std::string(GALATEA_SOURCE_DIR) + "/tests/oracle/data", "auto_augment");
  if (!group) return ADD_FAILURE() << group.error(), Table{};
  for (const OracleCase& one : group->cases) {
    if (one.name == "policy_" + policy)
      return {elements<int32_t>(one.outputs[0][0]), elements<int32_t>(one.outputs[2][0]),
              elements<float>(one.outputs[1][0])};
  }
  return ADD_FAILURE() << "nothing recorded of " << policy, Table{};
}

class AutoAugment : public ::testing::TestWithParam<const char*> {};

TEST_P(AutoAugment, StepsRunAsTheRecordedTableSays) {
  const std::string policy = GetParam();
  const Table table = recorded_table(policy);
  ASSERT_EQ(table.operations.size(), 50U);
  const auto samples = run_text(
      marked("auto_augment", "    policy = m.get_" + policy +
                                 "_policy()\n"
                                 "    names = [\"auto_contrast\", \"brightness\", \"color\", \"contrast\", "
                                 "\"equalize\", \"invert\", \"posterize\", \"rotate\",\n"
                                 "             \"sharpness\", \"shear_x\", \"shear_y\", \"solarize\", "
                                 "\"solarize_add\", \"translate_x\", \"translate_y\"]\n"
                                 "    marks = {name: marker(names.index(name), aug.augmentation((0, 10)) if "
                                 "aug.mag_range is not None else aug)\n"
                                 "             for name, aug in policy.augmentations.items()}\n"
                                 "    rows = [[(marks[aug.name], p, bin) for aug, p, bin in row] for row in "
                                 "policy.sub_policies]\n"
                                 "    return m.apply_auto_augment(Policy(\"marked\", 11, rows), x)\n"),
      kDraws);
  // Magnitudes from 0 to 10 are the bins themselves. The sign of what has one is not looked at here.
  auto step = [](int operation, int bin) { return number(operation) + ":" + number(bin) + " "; };
  std::map<std::string, int> counts;
  for (const auto& sample : samples) {
    std::string steps;
    for (size_t i = 1; i + 1 < sample.size(); i += 2)
      steps += step(static_cast<int>(sample[i]), static_cast<int>(std::lround(std::fabs(sample[i + 1]))));
    ++counts[steps];
  }
  std::map<std::string, double> expected;
  for (size_t row = 0; row < 25; ++row) {
    for (int which = 0; which < 4; ++which) {
      double share = 1.0 / 25;
      std::string steps;
      for (size_t s = 0; s < 2; ++s) {
        const size_t at = 2 * row + s;
        const bool runs = which >> s & 1;
        const double p = table.operations[at] < 0 ? 0 : static_cast<double>(table.probabilities[at]);
        share *= runs ? p : 1 - p;
        if (runs && p > 0) steps += step(table.operations[at], std::max(table.bins[at], 0));
      }
      if (share > 1e-9) expected[steps] += share;
    }
  }
  expect_distribution(expected, counts);
}

INSTANTIATE_TEST_SUITE_P(Policies, AutoAugment,
                         ::testing::Values("image_net", "reduced_image_net", "reduced_cifar10", "svhn"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace galatea::testing
