// Augmentations of sound, against their formulas.
#include <cmath>
#include <numbers>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/auto_aug/run_text.h"
#include "tests/pixel/everywhere.h"

namespace galatea::testing {
namespace {

using Wave = std::vector<float>;

/// Two tones, which no rounding of decimals changes.
Wave tones(int frames) {
  Wave out;
  for (int n = 0; n < frames; ++n)
    out.push_back(static_cast<float>(std::round(64 * std::sin(n * 0.3) + 20 * std::sin(n * 1.1)) / 128));
  return out;
}

std::string constant(const Wave& wave) {
  return fmt::format("fn.constant(fdata=[{}], dtype=types.FLOAT)", fmt::join(wave, ", "));
}

/// What an expression gives for each of `count` samples; it may use `wave`, and `u`, another number for each.
std::vector<Wave> heard(const Wave& wave, const std::string& expression, int64_t count = 1) {
  return run_text(fmt::format("from galatea import fn, pipeline_def, types\n"
                              "from galatea import policy, sound\n"
                              "from galatea.auto_aug.core import signed_bin\n"
                              "@pipeline_def(batch_size={}, seed=7)\n"
                              "def p():\n"
                              "    x = fn.external_source(name=\"x\", dtype=types.FLOAT, ndim=1)\n"
                              "    wave = {} + x[0] * 0\n"
                              "    return {}\n",
                              count, constant(wave), expression),
                  count);
}

double power(const Wave& wave) {
  double sum = 0;
  for (const float x : wave) sum += static_cast<double>(x) * x;
  return sum / static_cast<double>(wave.size());
}

TEST(SoundAugmentation, GainIsInDecibels) {
  const Wave wave = tones(40);
  const auto louder =
      heard(wave,
            "sound.gain.augmentation(mag_range=(6, 6), randomly_negate=False)(wave, magnitude_bin=0, "
            "num_magnitude_bins=2)");
  ASSERT_EQ(louder.size(), 1U);
  for (size_t n = 0; n < wave.size(); ++n) EXPECT_NEAR(louder[0][n], wave[n] * std::pow(10, 0.3), 1e-6);
  const auto drawn = heard(wave, "sound.random_gain(wave, low=-6.0, high=6.0)", 8);
  for (const Wave& sample : drawn) {
    const double decibels = 10 * std::log10(power(sample) / power(wave));
    EXPECT_GE(decibels, -6.001);
    EXPECT_LE(decibels, 6.001);
  }
  EXPECT_NE(drawn[0], drawn[1]);
}

TEST(SoundAugmentation, NoiseHasTheRatioThatIsAskedFor) {
  const Wave wave = tones(4000);
  for (const char* noise : {"", ", noise=wave * 0.25 + 0.125"}) {
    const auto samples = heard(wave, std::string("sound.add_noise(wave, snr=(20.0, 20.0)") + noise + ")", 2);
    for (const Wave& sample : samples) {
      Wave added;
      for (size_t n = 0; n < wave.size(); ++n) added.push_back(sample[n] - wave[n]);
      EXPECT_NEAR(10 * std::log10(power(wave) / power(added)), 20, 0.01) << noise;
    }
  }
  EXPECT_EQ(heard(Wave(50), "sound.add_noise(wave)"), std::vector<Wave>(1, Wave(50)));
}

TEST(SoundAugmentation, SpeedIsARate) {
  const Wave wave = tones(400);
  const Wave faster = heard(wave, "sound.speed_perturb(wave, factors=(1.6,))")[0];
  EXPECT_EQ(faster, heard(wave, "fn.audio_resample(wave, scale=0.625)")[0]);
  EXPECT_EQ(faster.size(), 250U);
}

TEST(SoundAugmentation, ReverbIsAConvolution) {
  const Wave wave = tones(60), impulse = {0, 1, 0.5F, 0, -0.25F};
  const Wave room = heard(wave, "sound.reverb(wave, " + constant(impulse) + ")")[0];
  ASSERT_EQ(room.size(), wave.size());
  const double norm = std::sqrt(1 + 0.25 + 0.0625);
  for (size_t n = 0; n < wave.size(); ++n) {
    double sum = 0;
    for (size_t k = 0; k < impulse.size() && k <= n; ++k)
      sum += static_cast<double>(impulse[k]) * wave[n - k];
    EXPECT_NEAR(room[n], sum / norm, 1e-6) << n;
  }
}

TEST(SoundAugmentation, ReverbKeepsChannelsApart) {
  const Wave wave = tones(60);
  const std::string room = ", " + constant({0, 1, 0.5F, 0, -0.25F}) + ")";
  const Wave mono = heard(wave, "sound.reverb(wave" + room)[0];
  const Wave stereo = heard(wave, "sound.reverb(fn.stack(wave, wave * 0.5, axis=1)" + room)[0];
  ASSERT_EQ(stereo.size(), 2 * mono.size());
  for (size_t n = 0; n < mono.size(); ++n) {
    EXPECT_EQ(stereo[2 * n], mono[n]) << n;
    EXPECT_EQ(stereo[2 * n + 1], 0.5F * mono[n]) << n;
  }
}

// ---- operators on sound, on every backend

Feed sounds(DType dtype, int64_t channels) {
  Feed feed;
  for (const int64_t frames : {700, 1, 0, 45}) {
    std::vector<int64_t> extents = {frames};
    if (channels > 0) extents.push_back(channels);
    feed["x"].push_back(random_array(dtype, extents, static_cast<uint64_t>(frames)));
  }
  return feed;
}

void expect_everywhere(const char* dtype, int64_t channels, const std::string& body) {
  const DType type = *dtype_from_types_name(dtype);
  EXPECT_FALSE(run_everywhere(fmt::format("from galatea import fn, pipeline_def, types\n"
                                          "@pipeline_def(batch_size=4)\n"
                                          "def p():\n"
                                          "    x = fn.external_source(name=\"x\", dtype=types.{}, ndim={})\n"
                                          "    {}\n",
                                          dtype, channels > 0 ? 2 : 1, body),
                              sounds(type, channels))
                   .empty());
}

TEST(SoundEverywhere, IsResampledToTheSameBits) {
  expect_everywhere("FLOAT", 0, "return fn.audio_resample(x * 0.5, in_rate=44100, out_rate=16000) + 1");
  expect_everywhere("INT16", 2, "return fn.audio_resample(x, scale=1.37, quality=10)");
  expect_everywhere("FLOAT", 3, "return fn.audio_resample(x, out_length=50, dtype=types.UINT8)");
}

TEST(SoundEverywhere, HasTheSameRegion) {
  expect_everywhere("FLOAT", 0,
                    "begin, length = fn.nonsilent_region(x, window_length=16, cutoff_db=-1)\n"
                    "    return begin, length, fn.slice(x, begin, length, axes=[0])");
}

/// A document with one row, `louder`, whose bins are all 6 dB, and this expression.
std::string policy_of(const std::string& expression) {
  return fmt::format(
      "policy.define({{'bins': 2, 'augmentations': {{'louder': {{'op': 'sound.gain', 'range': [6, 6]}}}}, 'policy': {}}})(wave)",
      expression);
}

TEST(SoundPolicies, ApplyWhatTheyName) {
  const Wave wave = tones(60);
  const auto expect_gain = [&](const std::string& expression, double factor) {
    const Wave out = heard(wave, policy_of(expression)).at(0);
    ASSERT_EQ(out.size(), wave.size()) << expression;
    for (size_t n = 0; n < wave.size(); ++n)
      EXPECT_NEAR(out[n], wave[n] * factor, 1e-5) << expression << " at " << n;
  };
  const double six = std::pow(10, 0.3);
  expect_gain("['louder', 1, 1]", six);
  expect_gain("{'seq': [['louder', 1, 0], ['louder', 1, 1]]}", six * six);
  expect_gain("{'choose': 3, 'from': '*', 'each': {'mag': {'bin': 1}}}", six * six * six);
  expect_gain("{'apply': 'louder', 'mag': {'value': -6}}", 1 / six);
}

TEST(SoundPolicies, MixturesAreNotRoundedToBytes) {
  const Wave wave = tones(60);
  const Wave out =
      heard(wave, policy_of("{'mix': {'chains': 2, 'chain': ['louder', 1, 1], 'alpha': 1}}")).at(0);
  // Between the sound and what is 6 dB louder, everywhere by the same share.
  const double share = (out[5] / wave[5] - 1) / (std::pow(10, 0.3) - 1);
  EXPECT_GT(share, 0);
  EXPECT_LT(share, 1);
  for (size_t n = 0; n < wave.size(); ++n)
    EXPECT_NEAR(out[n], wave[n] * (1 + share * (std::pow(10, 0.3) - 1)), 1e-5);
}

TEST(SoundPolicies, DrawForEachSampleAndMayChangeTheLength) {
  const auto samples = heard(
      tones(400),
      "policy.define({'bins': 11, 'augmentations': {'faster': {'op': 'sound.speed', 'range': [0, 0.2], 'negate': True}, "
      "'noisier': {'op': 'sound.noise', 'range': [40, 10]}}, 'policy': {'choose': 1, 'from': '*', 'each': {'mag': "
      "{'uniform_bin': [5, 10]}}}})(wave)",
      32);
  std::set<size_t> lengths;
  for (const Wave& sample : samples) lengths.insert(sample.size());
  EXPECT_GT(lengths.size(), 4U);
  EXPECT_TRUE(lengths.contains(400));
}

}  // namespace
}  // namespace galatea::testing
