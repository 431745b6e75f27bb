// The policies of the AutoAugment paper and its successors, as tables.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace galatea::policy {

struct PublishedPolicy {
  std::string_view name, meaning;
  std::span<const std::string_view> sub_policies;  ///< "equalize 0.8 -; shear_y 0.8 4"
};
std::span<const PublishedPolicy> published_policies();
const PublishedPolicy* find_published(std::string_view name);

}  // namespace galatea::policy
