// Code that is replaced by better code while the program runs.
//
// Comes in: kernels whose code was made quickly, to begin soon (the first tier). Goes out: the same kernels
// by the best code, once it is there. Both compute the same bits, so that a call may take either. Whoever
// makes the code implements this (compiler/codegen/tiers.h); sessions say when a program runs on, and hosts
// look at how far it is.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "runtime/program.h"

namespace galatea::runtime {

/// One compilation beside the run.
struct BackgroundCompilation {
  std::string kernel;
  std::chrono::steady_clock::time_point begin, end;
  int thread = 0;  ///< of those that compile, from 0
};

struct UpgradeReport {
  std::vector<BackgroundCompilation> compilations;  ///< in order of their ends
  /// What went wrong, in words for the user: best code that could not be made (the first tier's goes on) or
  /// could not be kept on disk.
  std::vector<std::string> problems;
};

/// The best code of several kernels, in the making. Any thread may call its functions.
class CodeUpgrade {
 public:
  virtual ~CodeUpgrade() = default;
  /// The program runs on: begins to make the best code, on threads of its own. Again: nothing.
  virtual void begin() = 0;
  /// The program has run: what is being compiled is finished, and nothing is begun after this. A kernel for
  /// each processor is compiled first where kernels are kept on disk, so that short runs become warm, unless
  /// `now`. Again: nothing. The destructor does it too.
  virtual void finish(bool now) = 0;
  virtual UpgradeReport report() const = 0;
};

/// Code of the first tier that an upgrade replaces.
class UpgradedCode : public KernelCode {
 public:
  /// Whether calls still run the code of the first tier.
  virtual bool is_first_tier() const = 0;
  virtual const std::shared_ptr<CodeUpgrade>& upgrade() const = 0;
};

/// Those of a program's kernels, each once; none: its code is the best from the start.
std::vector<std::shared_ptr<CodeUpgrade>> upgrades_of(const Program& program);
/// How many of a program's kernels began with code of the first tier, and how many of these still run it.
struct TierCount {
  int first_tier = 0, left = 0;
};
TierCount count_tiers(const Program& program);

}  // namespace galatea::runtime
