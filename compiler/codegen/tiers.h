// Tiers: code that is there soon, and the best code that replaces it while the program runs.
//
// Comes in: kernels with code of the first tier, and what makes their best code. Goes out: KernelCode that
// runs the one until the other is there. Which kernels get a first tier is decided here, too
// (choose_first_tier); no LLVM here.
//
// Ownership. What a call may run belongs to a slot: the first tier's code as long as the slot lives (a call
// may be in it), the best code from when it is there. One atomic pointer says which of the two is run; it
// changes once. The slot belongs to the kernel's code and to the upgrade, the upgrade to the codes of all its
// kernels; its threads belong to the upgrade and hold slots only, so that none of them can be the last to
// let go of the upgrade that waits for it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/kernel/loops.h"
#include "runtime/code_upgrade.h"

namespace galatea::codegen {

/// What a kernel begins with that has to be compiled.
enum class Tiers : uint8_t {
  kBest,   ///< the best code
  kAuto,   ///< the first tier, where the best code of all would take too long
  kFirst,  ///< the first tier (for tests, and for comparing)
};
/// "auto", "best", "first"; nothing for other words.
std::optional<Tiers> tiers_from_word(std::string_view word);
/// What the setting GALATEA_TIERS says.
Tiers default_tiers();

using SharedCode = std::shared_ptr<const runtime::KernelCode>;

/// What the program cache keeps code as (kernel_cache.h).
struct CacheEntry {
  std::string key;
  std::string facts;
};

struct FirstTierKernel {
  std::string key;  ///< of the loops
  kernel::LoopKernel loops;
  SharedCode code;
  std::vector<CacheEntry> entries = {};  ///< of its best code
};
struct BestCode {
  SharedCode code;
  std::vector<std::string> notes;  ///< for the user
};
/// Makes the best code of a kernel; called by several threads at once.
using MakeBestCode = std::function<Result<BestCode>(const FirstTierKernel& kernel)>;

/// Calls of one kernel after which a program counts as one that runs on, whatever the host has asked for.
inline constexpr int kCallsOfALongRun = 256;

/// Code of these kernels, in order, which `make` improves. `is_kept`: finish() compiles some more, since a
/// later process will find them.
std::vector<std::shared_ptr<const runtime::UpgradedCode>> make_upgrade(std::vector<FirstTierKernel> kernels,
                                                                       MakeBestCode make, bool is_kept);

/// Seconds that a kernel takes to compile on one processor, by the length of its key; for comparing.
double compile_estimate(size_t key_size, bool first_tier);
/// Which of these kernels should begin with the first tier, by the lengths of their keys, so that `threads`
/// threads are done soon: none, or the largest.
std::vector<bool> choose_first_tier(std::span<const size_t> key_sizes, size_t threads);

}  // namespace galatea::codegen
