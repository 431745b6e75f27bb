#include "runtime/code_upgrade.h"

#include <algorithm>

namespace galatea::runtime {

std::vector<std::shared_ptr<CodeUpgrade>> upgrades_of(const Program& program) {
  std::vector<std::shared_ptr<CodeUpgrade>> out;
  for (const ProgramKernel& kernel : program.kernels) {
    const auto* code = dynamic_cast<const UpgradedCode*>(kernel.code.get());
    if (code != nullptr && std::find(out.begin(), out.end(), code->upgrade()) == out.end())
      out.push_back(code->upgrade());
  }
  return out;
}

TierCount count_tiers(const Program& program) {
  TierCount out;
  for (const ProgramKernel& kernel : program.kernels) {
    const auto* code = dynamic_cast<const UpgradedCode*>(kernel.code.get());
    if (code == nullptr) continue;
    ++out.first_tier;
    out.left += code->is_first_tier() ? 1 : 0;
  }
  return out;
}

}  // namespace galatea::runtime
