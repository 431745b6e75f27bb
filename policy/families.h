// The families of policies, each with the ranges of its library.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "policy/document.h"

namespace galatea::policy {

Augmentation augmentation(std::string name, std::string op = "");
Augmentation augmentation(std::string name, std::pair<double, double> range, bool negate,
                          std::string param = "identity", std::string op = "",
                          Quantize quantize = Quantize::kNone);
Extra extra(std::string name, double value);
Extra extra(std::string name, std::string value);

/// What translations and warps are told in DALI's library.
struct DaliOptions {
  int64_t bins = 31;
  bool uses_shape = false;
  double max_translate_x = 0, max_translate_y = 0;
  std::vector<Extra> extras;
  std::vector<std::string> excluded;
};
Document dali_rand_augment(int64_t n, int64_t m, bool monotonic, const DaliOptions& options);
Document dali_trivial_augment_wide(const DaliOptions& options);
/// `published`: see published.h.
Document dali_auto_augment(const std::string& published, const DaliOptions& options);

Document torchvision_auto_augment(const std::string& published, std::vector<Extra> extras);
Document torchvision_rand_augment(int64_t n, int64_t magnitude, int64_t bins, std::vector<Extra> extras);
Document torchvision_trivial_augment_wide(int64_t bins, std::vector<Extra> extras);
struct AugMixOptions {
  int64_t severity = 3, width = 3, depth = -1;
  double alpha = 1;
  bool all_ops = true;
};
Document torchvision_augmix(const AugMixOptions& options, std::vector<Extra> extras);

/// A choice of one sub-policy of a published policy; bins as they are, or as levels of 10.
Node published_choice(const std::string& published, bool levels, double deviation);
/// Takes rows out of the table that no step of the policy names.
void keep_used(Document& document);

}  // namespace galatea::policy
