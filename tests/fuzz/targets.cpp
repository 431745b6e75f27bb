#include <algorithm>

#include "tests/fuzz/target.h"

namespace galatea::fuzz {
namespace {

/// Filled before main(), in whatever order.
std::vector<Target>& declared() {
  static std::vector<Target> all;
  return all;
}

}  // namespace

Declared::Declared(const Target& target) { declared().push_back(target); }

std::vector<Target> targets() {
  std::vector<Target> all = declared();
  std::ranges::sort(all, {}, [](const Target& target) { return std::string(target.name); });
  return all;
}

}  // namespace galatea::fuzz
