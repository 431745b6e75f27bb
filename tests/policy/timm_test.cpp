// Documents of timm's strings against what timm itself made of them (tests/auto_aug/make_tables.py recorded
// it): counts, levels, sets, weights, and every operation's argument at every level and sign.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/json.h"
#include "policy/operation.h"
#include "policy/spelling.h"
#include "tests/policy/recorded.h"

namespace galatea::policy {
namespace {

using Json = nlohmann::json;

Json recorded(const std::string& name) { return testing::recorded("timm", name); }

/// timm's name of a row.
std::string timm_name(const Augmentation& entry, bool increasing) {
  static const std::map<std::string, std::string> names = {{"auto_contrast", "AutoContrast"},
                                                           {"equalize", "Equalize"},
                                                           {"invert", "Invert"},
                                                           {"rotate", "Rotate"},
                                                           {"solarize_add", "SolarizeAdd"},
                                                           {"shear_x", "ShearX"},
                                                           {"shear_y", "ShearY"},
                                                           {"translate_x", "TranslateXRel"},
                                                           {"translate_y", "TranslateYRel"},
                                                           {"desaturate", "Desaturate"},
                                                           {"gaussian_blur", "GaussianBlur"}};
  if (const auto found = names.find(entry.name); found != names.end()) return found->second;
  std::string name = entry.name;
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name + (increasing ? "Increasing" : "");
}

double limited(const Augmentation& entry, double value) {
  if (entry.clamp_low) value = std::max(value, *entry.clamp_low);
  if (entry.clamp_high) value = std::min(value, *entry.clamp_high);
  return value;
}

/// What timm's operation would be given: its numbers are factors, bits, thresholds.
double argument(const Augmentation& entry, double level, bool negative) {
  const double magnitude = magnitude_at(entry, level / 10) * (negative && entry.negate ? -1 : 1);
  if (entry.param == "one_plus") return limited(entry, 1 + magnitude);
  if (entry.param == "sharpness_kernel") return 1 + limited(entry, magnitude);
  if (entry.param == "sharpness_kernel_shifted") return 1 + limited(entry, magnitude - 1);
  if (entry.param == "posterize_mask0")
    return std::clamp(std::nearbyint(limited(entry, magnitude)), 0.0, 8.0);
  // timm says how much colour goes, the operation how much stays.
  if (entry.name == "desaturate") return 1 - limited(entry, magnitude);
  return limited(entry, magnitude);
}

void expect_recorded(const Document& document, bool increasing, const std::string& text) {
  const Json levels = recorded("LEVELS"), positive = recorded("POSITIVE"), negative = recorded("NEGATIVE");
  double most = 10;
  if (const auto& clip = document.policy.each.magnitude.clip) most = clip->second;
  for (const Augmentation& entry : document.augmentations) {
    const std::string name = timm_name(entry, increasing);
    ASSERT_EQ(positive.contains(name), entry.has_magnitude()) << text << " " << name;
    if (!entry.has_magnitude()) continue;
    for (size_t i = 0; i < levels.size(); ++i) {
      const double level = levels[i];
      if (level > most) continue;
      for (const bool sign : {false, true}) {
        double wanted = (sign ? negative : positive)[name][i];
        if (name.starts_with("Posterize"))
          wanted = std::clamp(wanted, 0.0, 8.0);  // Pillow: black, and as it was
        EXPECT_NEAR(argument(entry, level, sign), wanted, 1e-6 * std::max(1.0, std::abs(wanted)))
            << text << " " << name << " at " << level << (sign ? ", negated" : "");
      }
    }
  }
}

bool is_increasing(const std::set<std::string>& names) {
  return std::ranges::any_of(names, [](const std::string& name) { return name.ends_with("Increasing"); });
}

TEST(TimmStrings, AreWhatTimmMakesOfThem) {
  const Json weights = recorded("WEIGHTS"), configurations = recorded("CONFIGS");
  ASSERT_GE(configurations.size(), 13U);
  for (const auto& [text, wanted] : configurations.items()) {
    const Result<Document> document = document_of(text);
    ASSERT_TRUE(document) << text << ": " << document.error().message();
    const Node& policy = document->policy;
    const Magnitude& magnitude = policy.each.magnitude;
    EXPECT_EQ(policy.least, wanted[0]) << text;
    EXPECT_EQ(policy.most, wanted[0]) << text;
    EXPECT_EQ(policy.each.probability, wanted[1]) << text;
    const bool uniform = wanted[3] == 1e9;
    const double most = wanted[4].is_null() ? 10 : wanted[4].get<double>();
    EXPECT_EQ(magnitude.kind, uniform ? Magnitude::Kind::kUniformLevel : Magnitude::Kind::kLevel) << text;
    EXPECT_EQ(uniform ? magnitude.last_level : magnitude.level, wanted[2]) << text;
    EXPECT_EQ(uniform ? Json(1e9) : Json(magnitude.deviation), wanted[3]) << text;
    // Without a clip no level may lie beyond it.
    if (magnitude.clip) {
      EXPECT_EQ(*magnitude.clip, std::pair(0.0, most)) << text;
    } else {
      EXPECT_LE(magnitude.last_level, most) << text;
    }

    const auto names = wanted[5].get<std::set<std::string>>();
    std::set<std::string> ours;
    for (const Augmentation& entry : document->augmentations)
      ours.insert(timm_name(entry, is_increasing(names)));
    EXPECT_EQ(ours, names) << text;
    expect_recorded(*document, is_increasing(names), text);

    const size_t set = text.find("-t");
    const std::string set_name =
        set == std::string::npos ? "" : text.substr(set + 2, text.find('-', set + 1) - set - 2);
    ASSERT_EQ(policy.weights.given(), weights.contains(set_name)) << text;
    EXPECT_EQ(policy.replace, !policy.weights.given()) << text;
    for (const auto& [name, weight] : policy.weights.by_name)
      EXPECT_EQ(weight, weights[set_name][timm_name(*document->find(name), true)]) << text << " " << name;
  }
}

TEST(TimmStrings, MixturesToo) {
  const Json mixtures = recorded("MIXES");
  ASSERT_EQ(mixtures.size(), 6U);
  for (const auto& [text, wanted] : mixtures.items()) {
    const Result<Document> document = document_of(text);
    ASSERT_TRUE(document) << text << ": " << document.error().message();
    const Node& mix = document->policy;
    const Node& chain = mix.children.at(0);
    EXPECT_EQ(mix.chains, wanted[0]) << text;
    const bool any_depth = wanted[1] == -1;
    EXPECT_EQ(chain.least, any_depth ? Json(1) : wanted[1]) << text;
    EXPECT_EQ(chain.most, any_depth ? Json(3) : wanted[1]) << text;
    EXPECT_EQ(mix.alpha, wanted[2]) << text;
    const Magnitude& magnitude = chain.each.magnitude;
    const bool uniform = wanted[4] == 1e9;
    EXPECT_EQ(magnitude.kind, uniform ? Magnitude::Kind::kUniformLevel : Magnitude::Kind::kLevel) << text;
    EXPECT_EQ(uniform ? magnitude.last_level : magnitude.level, wanted[3]) << text;
    EXPECT_EQ(uniform ? Json(1e9) : Json(magnitude.deviation), wanted[4]) << text;
    EXPECT_EQ(magnitude.clip.has_value(), !uniform) << text;
    EXPECT_EQ(magnitude.clip.value_or(std::pair(0.0, 10.0)), std::pair(0.0, 10.0)) << text;
    std::set<std::string> ours;
    for (const Augmentation& entry : document->augmentations) ours.insert(timm_name(entry, true));
    EXPECT_EQ(ours, recorded("SETS")["augmix"].get<std::set<std::string>>()) << text;
  }
}

TEST(TimmStrings, ThreeAugmentIsOneOfThree) {
  const Result<Document> document = document_of("3a");
  ASSERT_TRUE(document) << document.error().message();
  ASSERT_EQ(document->policy.pool.size(), 3U);
  const Json rows = recorded("POLICIES")["3a"], levels = recorded("LEVELS"), positive = recorded("POSITIVE");
  auto at_level = [&](const std::string& name, double level) -> double {
    return positive[name][static_cast<size_t>(std::find(levels.begin(), levels.end(), Json(level)) -
                                              levels.begin())];
  };
  for (size_t i = 0; i < 3; ++i) {
    const Node& step = document->policy.pool[i].node.at(0);
    const Augmentation& entry = *document->find(step.name);
    const std::string name = rows[i][0][0];
    const double level = rows[i][0][2];
    EXPECT_EQ(step.probability, rows[i][0][1]) << name;
    if (name != "GaussianBlurRand") {
      EXPECT_EQ(argument(entry, step.magnitude.level, false), at_level(name, level)) << name;
      continue;
    }
    // Drawn between 0.1 and 2 times what timm gives.
    EXPECT_EQ(step.magnitude.kind, Magnitude::Kind::kUniformLevel);
    EXPECT_NEAR(argument(entry, step.magnitude.level, false), 0.1, 1e-6);
    EXPECT_NEAR(argument(entry, step.magnitude.last_level, false), 2 * at_level(name, level), 1e-6);
  }
}

TEST(TimmStrings, ThreeAugmentTakesNoise) {
  const Result<Document> document = document_of("3a-mstd0.5");
  ASSERT_TRUE(document) << document.error().message();
  for (const PoolItem& item : document->policy.pool) {
    const Magnitude& magnitude = item.node.at(0).magnitude;
    EXPECT_EQ(magnitude.deviation, 0.5) << item.node[0].name;
    EXPECT_EQ(magnitude.clip, std::pair(0.0, 10.0)) << item.node[0].name;
  }
  // timm draws the blur between 0.1 and 2 times a tenth of the level.
  const Augmentation& blur = *document->find("gaussian_blur");
  const Magnitude& below = document->policy.pool[2].node[0].magnitude;
  EXPECT_EQ(below.kind, Magnitude::Kind::kUniformLevel);
  EXPECT_EQ(below.last_level, 10);
  EXPECT_NEAR(argument(blur, below.level, false), 0.1, 1e-6);
  for (const double level : {10.0, 7.0, 1.0})
    EXPECT_NEAR(argument(blur, level, false), 2 * level / 10, 1e-6) << level;
}

TEST(TimmStrings, WhatTimmPassesOverIsExplained) {
  const std::pair<const char*, const char*> cases[] = {
      {"rand-m9-mstdinf", "`mstd101`, or any number above 100, draws levels uniformly"},
      {"augmix-mstdinf", "leave it out: levels are drawn uniformly without `mstd`"},
      {"rand-m9-w0", "`tweights` draws operations by weights"},
  };
  for (const auto& [text, words] : cases) {
    const Result<Document> document = document_of(text);
    ASSERT_FALSE(document) << text;
    EXPECT_NE(document.error().diagnostics[0].help.find(words), std::string::npos)
        << document.error().diagnostics[0].help;
  }
}

TEST(TimmStrings, MistakesAreExplained) {
  const std::pair<const char*, const char*> cases[] = {
      {"rand-m9.5", "`m` takes a whole number"},
      {"rand-m9-inc", "`inc` has no number"},
      {"rand-m9x", "`m9x` has no number"},
      {"rand-m9-tweight", "there is no set of operations `weight`"},
      {"rand-n16-tweights", "of 15 operations with weights none is drawn twice"},
      {"rand-m9-m5", "`m` is given twice"},
      {"rand-t3a-m5-tweights", "`t` is given twice"},
      {"rand-m9-mstdinf", "`rand` has no section `mstdinf`"},
      {"rand-m9-w0", "`rand` has no section `w0`"},
      {"augmix-mstdinf", "`augmix` has no section `mstdinf`"},
      {"rand-m9-", "there is nothing between two dashes, or after the last"},
      {"original-m9", "`original` has no section `m9`"},
      {"3a-m9", "`3a` has no section `m9`"},
      {"v1", "neither a policy file nor the name of a policy"},
  };
  for (const auto& [text, words] : cases) {
    const Result<Document> document = document_of(text);
    ASSERT_FALSE(document) << text;
    EXPECT_NE(document.error().message().find(words), std::string::npos) << document.error().message();
  }
}

}  // namespace
}  // namespace galatea::policy
