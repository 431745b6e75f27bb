// Documents of torchvision's transforms against torchvision's own tables (tests/auto_aug/make_tables.py
// recorded them): operations, signs, every magnitude, whole pixels, policies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/json.h"
#include "policy/operation.h"
#include "policy/spelling.h"
#include "tests/policy/recorded.h"

namespace galatea::policy {
namespace {

using Json = nlohmann::json;

std::string torchvision_name(const std::string& ours) {
  static const std::map<std::string, std::string> names = {
      {"auto_contrast", "AutoContrast"}, {"shear_x", "ShearX"},         {"shear_y", "ShearY"},
      {"translate_x", "TranslateX"},     {"translate_y", "TranslateY"},
  };
  if (const auto found = names.find(ours); found != names.end()) return found->second;
  std::string name = ours;
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

/// What torchvision's table has for an operation: factors less 1, bits, thresholds.
double entry_of(const Augmentation& entry, double magnitude) {
  if (!entry.param.starts_with("posterize_mask")) return magnitude;
  return std::clamp(std::nearbyint(magnitude), entry.param == "posterize_mask0" ? 0.0 : 1.0, 8.0);
}

struct Space {
  const char* name;
  const char* call;
};

class TorchvisionTransforms : public ::testing::TestWithParam<Space> {};

TEST_P(TorchvisionTransforms, HaveItsMagnitudes) {
  const Result<Document> document = document_of(GetParam().call);
  ASSERT_TRUE(document) << document.error().message();
  const Json space = testing::recorded("torchvision", "SPACES")[GetParam().name];
  const Json& operations = space[0];
  size_t seen = 0;
  for (const Augmentation& entry : document->augmentations) {
    const std::string name = torchvision_name(entry.name);
    ASSERT_TRUE(operations.contains(name)) << name;
    ++seen;
    const Json &values = operations[name][0], is_signed = operations[name][1];
    EXPECT_EQ(entry.negate, is_signed) << name;
    EXPECT_EQ(entry.has_magnitude(), !values.is_null()) << name;
    if (values.is_null()) continue;
    ASSERT_EQ(values.size(), static_cast<size_t>(document->bins)) << name;
    const bool of_extent = entry.op == "translate_x" || entry.op == "translate_y";
    for (int64_t bin = 0; bin < document->bins; ++bin) {
      const double magnitude = magnitude_of_bin(entry, bin, document->bins);
      const double wanted = values[static_cast<size_t>(bin)];
      if (of_extent) break;
      if (name.starts_with("Translate")) {
        EXPECT_EQ(std::trunc(magnitude), std::trunc(wanted)) << name << " at " << bin;
      } else {
        EXPECT_NEAR(entry_of(entry, magnitude), wanted, 1e-6 * std::max(1.0, wanted))
            << name << " at " << bin;
      }
    }
    if (!of_extent) continue;
    ASSERT_EQ(entry.extras.at(0).name, "pixel_round");
    for (const auto& [size, translations] : space[1].items()) {
      const double height = std::stod(size), width = std::stod(size.substr(size.find('x') + 1));
      const auto extent = static_cast<float>(name == "TranslateX" ? width : height);
      for (int64_t bin = 0; bin < document->bins; ++bin)
        EXPECT_EQ(std::floor(static_cast<float>(magnitude_of_bin(entry, bin, document->bins)) * extent),
                  translations[name == "TranslateX" ? 0 : 1][static_cast<size_t>(bin)])
            << name << " at " << bin << " of " << size;
    }
  }
  EXPECT_EQ(seen, operations.size());
}

INSTANTIATE_TEST_SUITE_P(
    Spaces, TorchvisionTransforms,
    ::testing::Values(Space{"rand_augment", "RandAugment()"},
                      Space{"rand_augment_7", "RandAugment(num_magnitude_bins=7, magnitude=3)"},
                      Space{"trivial_augment_wide", "TrivialAugmentWide()"}, Space{"augmix", "AugMix()"},
                      Space{"augmix_few", "AugMix(all_ops=False)"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(TorchvisionPolicies, AreThose) {
  const Json policies = testing::recorded("torchvision", "POLICIES");
  const Json operations = testing::recorded("torchvision", "SPACES")["auto_augment"][0];
  for (const char* name : {"imagenet", "cifar10", "svhn"}) {
    const Result<Document> document = document_of("AutoAugment(policy=\"" + std::string(name) + "\")");
    ASSERT_TRUE(document) << document.error().message();
    ASSERT_EQ(document->policy.pool.size(), policies[name].size());
    for (size_t i = 0; i < policies[name].size(); ++i) {
      Json got = Json::array(), wanted = Json::array();
      for (const Node& step : document->policy.pool[i].node.at(0).children) {
        const Augmentation& entry = *document->find(step.name);
        const bool has_bin = step.magnitude.kind == Magnitude::Kind::kBin;
        got.push_back({torchvision_name(step.name), step.probability,
                       has_bin ? Json(step.magnitude.bin) : Json(nullptr)});
        if (!has_bin) continue;
        const Json& values = operations[torchvision_name(step.name)][0];
        if (entry.op != "translate_x" && entry.op != "translate_y") {
          EXPECT_NEAR(entry_of(entry, magnitude_of_bin(entry, step.magnitude.bin, document->bins)),
                      values[static_cast<size_t>(step.magnitude.bin)].get<double>(), 1e-4);
        }
        EXPECT_EQ(entry.negate, operations[torchvision_name(step.name)][1]) << step.name;
      }
      for (const Json& step : policies[name][i])
        if (step[1] > 0) wanted.push_back(step);  // what never runs is left out
      EXPECT_EQ(got, wanted) << name << " " << i;
    }
  }
}

}  // namespace
}  // namespace galatea::policy
