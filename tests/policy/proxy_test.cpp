// Affinity and diversity: what is known of them for augmentations whose effect is known.
#include "policy/search/proxy.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

#include <gtest/gtest.h>

#include "policy/random.h"
#include "policy/search/features.h"

namespace galatea::policy {
namespace {

constexpr int kSize = 48;

struct Picture {
  std::vector<uint8_t> bytes = std::vector<uint8_t>(static_cast<size_t>(kSize) * kSize * 3);
  PictureView view() const { return {bytes.data(), kSize, kSize, int64_t{kSize} * 3, 3, 1}; }
  uint8_t& at(int y, int x, int c) { return bytes[static_cast<size_t>((y * kSize + x) * 3 + c)]; }
};

uint8_t byte(double value) { return static_cast<uint8_t>(std::clamp(std::round(value), 0.0, 255.0)); }

/// Classes differ in the direction of their stripes and in their colour; pictures in phase and brightness.
Picture drawn(int64_t label, Random& random) {
  Picture picture;
  const double turn = static_cast<double>(label) * 0.8, phase = random.uniform(0, 6.28),
               light = random.uniform(0.7, 1.1);
  for (int y = 0; y < kSize; ++y)
    for (int x = 0; x < kSize; ++x) {
      const double wave = std::sin((x * std::cos(turn) + y * std::sin(turn)) * 0.6 + phase);
      for (int c = 0; c < 3; ++c)
        picture.at(y, x, c) = byte(light * (110 + 50 * wave + (c == label % 3 ? 45 : 0)));
    }
  return picture;
}

using Augment = std::function<Picture(const Picture&, Random&)>;

ProxyScore score_of(const Augment& augment, int copies = 4) {
  const Features features;
  Random pictures(1), draws(2);
  std::vector<ProxySample> samples;
  for (int64_t i = 0; i < 48; ++i) {
    const Picture clean = drawn(i % 4, pictures);
    ProxySample sample;
    sample.label = i % 4;
    sample.clean = features.of(clean.view());
    for (int k = 0; k < copies; ++k) sample.augmented.push_back(features.of(augment(clean, draws).view()));
    samples.push_back(std::move(sample));
  }
  return proxy_score(samples, features.weights());
}

Picture with_noise(const Picture& from, Random& random, double reach) {
  Picture made = from;
  for (uint8_t& value : made.bytes) value = byte(value + random.uniform(-reach, reach));
  return made;
}

Picture brighter(const Picture& from, double factor) {
  Picture made = from;
  for (uint8_t& value : made.bytes) value = byte(value * factor);
  return made;
}

Augment noise(double reach) {
  return [reach](const Picture& from, Random& random) { return with_noise(from, random, reach); };
}

TEST(PolicyProxy, IdentityHasAffinityOneAndDiversityZero) {
  for (int copies : {2, 3, 7}) {
    const ProxyScore score = score_of([](const Picture& from, Random&) { return from; }, copies);
    EXPECT_EQ(score.affinity, 1.0);
    EXPECT_EQ(score.diversity, 0.0);
    EXPECT_EQ(score.score, 0.0);
    EXPECT_EQ(score.classes, 4);
  }
}

// What is always done alike is no variety, however far it goes.
TEST(PolicyProxy, WhatIsNotDrawnHasNoDiversity) {
  const ProxyScore inverted = score_of([](const Picture& from, Random&) {
    Picture made = from;
    for (uint8_t& value : made.bytes) value = static_cast<uint8_t>(255 - value);
    return made;
  });
  EXPECT_EQ(inverted.diversity, 0.0);
  EXPECT_LT(inverted.affinity, 0.7);
}

TEST(PolicyProxy, StrongerNoiseHasLessAffinityAndMoreDiversity) {
  ProxyScore last = score_of(noise(0));
  EXPECT_EQ(last.affinity, 1.0);
  for (double reach : {8.0, 32.0, 128.0}) {
    const ProxyScore score = score_of(noise(reach));
    EXPECT_LT(score.affinity, last.affinity) << reach;
    EXPECT_GT(score.diversity, last.diversity) << reach;
    last = score;
  }
  EXPECT_LT(last.affinity, 0.5);
}

// Brightness as the pictures of a class have it costs less affinity than brightness that none has.
TEST(PolicyProxy, WhatTheDataDoThemselvesKeepsAffinity) {
  auto within = [](double low, double high) {
    return score_of(
        [=](const Picture& from, Random& random) { return brighter(from, random.uniform(low, high)); });
  };
  const ProxyScore usual = within(0.9, 1.1), strong = within(0.2, 1.8);
  EXPECT_GT(usual.affinity, 0.85);
  EXPECT_LT(strong.affinity, usual.affinity);
  EXPECT_GT(strong.diversity, usual.diversity);
}

TEST(PolicyProxy, ScoresHaveABestBetweenTooLittleAndTooMuch) {
  // Turning the picture by 90 degrees makes another class of some; mirroring and some brightness do not.
  const ProxyScore little = score_of(noise(1));
  const ProxyScore some =
      score_of([](const Picture& from, Random& random) { return brighter(from, random.uniform(0.7, 1.3)); });
  const ProxyScore destroyed = score_of([](const Picture&, Random& random) {
    Picture made;
    const auto value = static_cast<uint8_t>(random.integer(0, 1) * 255);
    std::fill(made.bytes.begin(), made.bytes.end(), value);
    return made;
  });
  EXPECT_GT(some.score, little.score);
  EXPECT_GT(some.score, destroyed.score);
}

// Scores by hand: one feature, two classes. Means lean on the mean of all by one picture; see
// docs/policies.md.
TEST(PolicyProxy, ScoresAreTheFormulas) {
  const std::vector<ProxySample> samples = {{0, {0.0}, {{0.0}, {0.4}}},
                                            {0, {0.2}, {{0.2}, {0.2}}},
                                            {1, {0.8}, {{0.8}, {1.0}}},
                                            {1, {1.0}, {{0.6}, {1.2}}}};
  const double mean = 0.5, zero = (0.2 + mean) / 3, one = (1.8 + mean) / 3;
  double variance = 1e-4;
  for (auto [value, centre] : {std::pair{0.0, zero}, {0.2, zero}, {0.8, one}, {1.0, one}})
    variance += (value - centre) * (value - centre) / 4;
  auto distance = [&](double value, double centre) { return (value - centre) * (value - centre) / variance; };
  double affinity = 0;
  for (auto [clean, centre, a, b] :
       {std::tuple{0.0, zero, 0.0, 0.4}, {0.2, zero, 0.2, 0.2}, {0.8, one, 0.8, 1.0}, {1.0, one, 0.6, 1.2}})
    for (double copy : {a, b}) {
      const double own = distance(clean, centre), moved = distance(copy, centre);
      affinity += (moved > own ? (1 + own) / (1 + moved) : 1) / 8;
    }
  // Two copies: the variance is half of the square of their difference.
  const double spread = (0.4 * 0.4 + 0 + 0.2 * 0.2 + 0.6 * 0.6) / 2 / variance / 4;
  const ProxyScore score = proxy_score(samples, {1.0});
  EXPECT_NEAR(score.affinity, affinity, 1e-12);
  EXPECT_NEAR(score.diversity, spread / (1 + spread), 1e-12);
  EXPECT_NEAR(score.score, std::sqrt(score.affinity * score.diversity), 1e-12);
}

TEST(PolicyProxy, OnePictureOfAClassIsEnough) {
  const ProxyScore score = proxy_score({{3, {0.5, 0.5}, {{0.5, 0.6}, {0.5, 0.4}}}}, {0.5, 0.5});
  EXPECT_TRUE(std::isfinite(score.score));
  EXPECT_GT(score.diversity, 0);
  EXPECT_LE(score.affinity, 1);
}

TEST(PolicyFeatures, AreAsManyForPicturesOfAnyExtents) {
  const Features features;
  const std::vector<double>& weights = features.weights();
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-12);
  Random random(4);
  for (auto [height, width] : {std::pair{1, 1}, {1, 7}, {3, 200}, {64, 64}, {65, 63}, {200, 131}}) {
    std::vector<uint8_t> bytes(static_cast<size_t>(height * width * 3));
    for (uint8_t& value : bytes) value = static_cast<uint8_t>(random.integer(0, 255));
    const auto found = features.of({bytes.data(), height, width, int64_t{width} * 3, 3, 1});
    ASSERT_EQ(found.size(), features.count()) << height << " x " << width;
    for (double each : found) EXPECT_TRUE(std::isfinite(each) && each >= 0) << height << " x " << width;
  }
}

TEST(PolicyFeatures, FollowStrides) {
  Random random(5);
  const Picture picture = drawn(1, random);
  // Planes and a mirrored picture's strides show the same pixels.
  std::vector<uint8_t> planes(picture.bytes.size()), mirrored(picture.bytes.size());
  for (int y = 0; y < kSize; ++y)
    for (int x = 0; x < kSize; ++x)
      for (int c = 0; c < 3; ++c) {
        const uint8_t value = picture.bytes[static_cast<size_t>((y * kSize + x) * 3 + c)];
        planes[static_cast<size_t>((c * kSize + y) * kSize + x)] = value;
        mirrored[static_cast<size_t>((y * kSize + kSize - 1 - x) * 3 + c)] = value;
      }
  const Features features;
  const auto expected = features.of(picture.view());
  EXPECT_EQ(features.of({planes.data(), kSize, kSize, kSize, 1, int64_t{kSize} * kSize}), expected);
  EXPECT_EQ(features.of({mirrored.data() + (kSize - 1) * 3, kSize, kSize, int64_t{kSize} * 3, -3, 1}),
            expected);
}

}  // namespace
}  // namespace galatea::policy
