// Which of this machine's targets a kernel is compiled for in a test.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/codegen/llvm_backend.h"
#include "tests/support/cases.h"

namespace galatea::testing {

/// One of the targets that run here, another for another text, since making the code is what takes time; all
/// of them at full scale.
inline std::vector<codegen::Target> targets_of(const std::string& text) {
  std::vector<codegen::Target> targets = codegen::runnable_targets();
  if (scale() == kWhole || targets.empty()) return targets;
  return {targets[std::hash<std::string>()(text) % targets.size()]};
}

}  // namespace galatea::testing
