// Searches the list of dali_names.inc.
#include "dsl/dali_names.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace galatea::dsl {
namespace {
constexpr std::string_view kNames[] = {
#include "dsl/dali_names.inc"
};
}  // namespace

bool is_dali_operator(std::string_view path) {
  return std::find(std::begin(kNames), std::end(kNames), path) != std::end(kNames);
}

bool is_dali_namespace(std::string_view path) {
  std::string prefix = std::string(path) + ".";
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return name.starts_with(prefix); });
}

}  // namespace galatea::dsl
