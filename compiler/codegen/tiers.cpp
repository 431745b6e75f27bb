#include "compiler/codegen/tiers.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <thread>

#include "base/settings.h"
#include "compiler/codegen/parallel.h"
#include "runtime/fault.h"

namespace galatea::codegen {
namespace {

using Clock = std::chrono::steady_clock;
using runtime::KernelCode;

size_t processors() { return std::max(1U, std::thread::hardware_concurrency()); }

/// What calls of one kernel run.
struct Slot {
  explicit Slot(SharedCode code) : first(std::move(code)), now(first.get()) {}
  /// Once, by the thread that made the code.
  void replace(SharedCode code) {
    best = std::move(code);
    now.store(best.get(), std::memory_order_release);
  }
  const SharedCode first;
  SharedCode best;  ///< nobody but `now` reads it
  std::atomic<const KernelCode*> now;
  std::atomic<int> calls = 0;  ///< of the first tier
};

class Upgrade;

/// The upgrades that may have threads, so that a process which ends without letting go of its programs does
/// not take LLVM away from under them.
class LivingUpgrades {
 public:
  static LivingUpgrades& instance() {
    // Lives to the end of the process: hosts may let go of programs after everything else.
    static auto* living = new LivingUpgrades;
    return *living;
  }
  void add(const std::shared_ptr<Upgrade>& upgrade);
  bool process_ends() const { return ends_.load(); }

 private:
  // Registered behind the code generator's, whose statics are there by then, so that this runs first.
  LivingUpgrades() {
    std::atexit([] { instance().end_all(); });
  }
  void end_all();

  const pid_t process_ = ::getpid();
  std::mutex mutex_;
  std::vector<std::weak_ptr<Upgrade>> upgrades_;
  std::atomic<bool> ends_ = false;
};

class Upgrade final : public runtime::CodeUpgrade {
 public:
  Upgrade(MakeBestCode make, bool is_kept) : make_(std::move(make)), is_kept_(is_kept) {}
  ~Upgrade() override {
    try {
      finish(false);
    } catch (const std::exception&) {  // what is left stays as it is
    }
  }
  Upgrade(const Upgrade&) = delete;
  Upgrade& operator=(const Upgrade&) = delete;

  void add(FirstTierKernel kernel, std::shared_ptr<Slot> slot) {
    jobs_.push_back({std::move(kernel), std::move(slot), false});
  }

  void begin() override {
    const std::lock_guard lock(mutex_);
    if (state_ != State::kWaiting) return;
    state_ = State::kRunning;
    const size_t count = std::min(jobs_.size(), std::max<size_t>(1, processors() / 2));
    try {
      for (size_t i = 0; i < count; ++i)
        threads_.emplace_back([this, i] {
          while (Job* job = take(false)) make(*job, static_cast<int>(i));
        });
    } catch (const std::exception&) {
      // No thread to be had, or no memory for it: those that started do all; where there is none, the first
      // tier goes on.
    }
  }

  void finish(bool now) override {
    std::vector<std::jthread> threads;
    size_t more = 0;
    {
      const std::lock_guard lock(mutex_);
      if (state_ == State::kFinished) return;
      state_ = State::kFinished;
      threads.swap(threads_);
      if (!now && is_kept_ && !LivingUpgrades::instance().process_ends())
        more = processors() - std::min(processors(), busy_);
    }
    const int begun = static_cast<int>(threads.size());
    for_each_parallel(more, [&](size_t i) {
      if (Job* job = take(true)) make(*job, begun + static_cast<int>(i));
    });
  }

  runtime::UpgradeReport report() const override {
    const std::lock_guard lock(mutex_);
    return report_;
  }

 private:
  enum class State : uint8_t { kWaiting, kRunning, kFinished };
  struct Job {
    FirstTierKernel kernel;
    std::shared_ptr<Slot> slot;
    bool is_taken = false;
  };

  /// The kernel that is worth most: much code that is called often. nullptr: there is none, or no time.
  Job* take(bool at_end) {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kFinished && !at_end) return nullptr;
    const auto worth = [](const Job& job) {
      return (1.0 + job.slot->calls.load(std::memory_order_relaxed)) *
             static_cast<double>(job.kernel.key.size());
    };
    Job* best = nullptr;
    for (Job& job : jobs_)
      if (!job.is_taken && (best == nullptr || worth(job) > worth(*best))) best = &job;
    if (best == nullptr) return nullptr;
    best->is_taken = true;
    ++busy_;
    return best;
  }

  /// On any thread. Nothing leaves it: where there is no memory for a report there is none.
  void make(Job& job, int thread) noexcept {
    try {
      make_and_report(job, thread);
    } catch (const std::exception&) {
    }
  }

  static std::string not_made(const Job& job, const Error& why) {
    return why.message() + "; the kernel " + job.kernel.loops.name + " goes on with its first code";
  }

  void make_and_report(Job& job, int thread) {
    runtime::BackgroundCompilation done{job.kernel.loops.name, Clock::now(), {}, thread};
    std::vector<std::string> problems;
    try {
      if (auto best = make_(job.kernel)) {
        problems = std::move(best->notes);
        job.slot->replace(std::move(best->code));
      } else {
        problems.push_back(not_made(job, best.error()));
      }
    } catch (...) {
      problems.push_back(not_made(job, runtime::error_in_flight()));
    }
    done.end = Clock::now();
    const std::lock_guard lock(mutex_);
    --busy_;
    // Some of the loops are large.
    job.kernel = {};
    report_.compilations.push_back(std::move(done));
    std::move(problems.begin(), problems.end(), std::back_inserter(report_.problems));
  }

  const MakeBestCode make_;
  const bool is_kept_;
  mutable std::mutex mutex_;
  State state_ = State::kWaiting;
  std::vector<Job> jobs_;  ///< complete before begin()
  size_t busy_ = 0;
  runtime::UpgradeReport report_;
  std::vector<std::jthread> threads_;
};

void LivingUpgrades::add(const std::shared_ptr<Upgrade>& upgrade) {
  const std::lock_guard lock(mutex_);
  std::erase_if(upgrades_, [](const auto& known) { return known.expired(); });
  upgrades_.push_back(upgrade);
}

void LivingUpgrades::end_all() {
  ends_ = true;
  // A fork of the process has none of its threads.
  if (::getpid() != process_) return;
  // One by one, which takes no memory: there may be none.
  for (size_t k = 0;; ++k) {
    std::shared_ptr<Upgrade> upgrade;
    {
      const std::lock_guard lock(mutex_);
      if (k == upgrades_.size()) return;
      upgrade = upgrades_[k].lock();
    }
    if (upgrade) upgrade->finish(true);
  }
}

class TieredCode final : public runtime::UpgradedCode {
 public:
  TieredCode(std::shared_ptr<Slot> slot, std::shared_ptr<runtime::CodeUpgrade> upgrade)
      : slot_(std::move(slot)), upgrade_(std::move(upgrade)) {}
  void run(const runtime::KernelCall& call) const override {
    const KernelCode* code = slot_->now.load(std::memory_order_acquire);
    if (code == slot_->first.get() &&
        slot_->calls.fetch_add(1, std::memory_order_relaxed) + 1 == kCallsOfALongRun)
      upgrade_->begin();
    code->run(call);
  }
  bool is_first_tier() const override {
    return slot_->now.load(std::memory_order_acquire) == slot_->first.get();
  }
  const std::shared_ptr<runtime::CodeUpgrade>& upgrade() const override { return upgrade_; }

 private:
  std::shared_ptr<Slot> slot_;
  std::shared_ptr<runtime::CodeUpgrade> upgrade_;
};

// Estimates, in seconds of one core of a Zen 4 (docs/performance/start-up.md, "Policies: the first batch").
constexpr double kBestSeconds = 2.5e-3, kBestSecondsOfAByte = 4e-6;
constexpr double kFirstTierShare = 0.4;
/// What may be waited for: below this nothing begins with the first tier.
constexpr double kSoon = 0.05;
/// Kernels that take less gain too little to be compiled twice.
constexpr double kWorthIt = 0.01;

}  // namespace

std::optional<Tiers> tiers_from_word(std::string_view word) {
  if (word == "auto") return Tiers::kAuto;
  if (word == "best") return Tiers::kBest;
  if (word == "first") return Tiers::kFirst;
  return std::nullopt;
}

Tiers default_tiers() { return tiers_from_word(setting("GALATEA_TIERS")).value_or(Tiers::kAuto); }

std::vector<std::shared_ptr<const runtime::UpgradedCode>> make_upgrade(std::vector<FirstTierKernel> kernels,
                                                                       MakeBestCode make, bool is_kept) {
  std::vector<std::shared_ptr<const runtime::UpgradedCode>> out;
  if (kernels.empty()) return out;
  const auto upgrade = std::make_shared<Upgrade>(std::move(make), is_kept);
  LivingUpgrades::instance().add(upgrade);
  for (FirstTierKernel& kernel : kernels) {
    auto slot = std::make_shared<Slot>(kernel.code);
    out.push_back(std::make_shared<TieredCode>(slot, upgrade));
    upgrade->add(std::move(kernel), std::move(slot));
  }
  return out;
}

double compile_estimate(size_t key_size, bool first_tier) {
  return (kBestSeconds + kBestSecondsOfAByte * static_cast<double>(key_size)) *
         (first_tier ? kFirstTierShare : 1.0);
}

std::vector<bool> choose_first_tier(std::span<const size_t> key_sizes, size_t threads) {
  std::vector<bool> out(key_sizes.size());
  std::vector<size_t> largest_first(key_sizes.size());
  std::iota(largest_first.begin(), largest_first.end(), size_t{0});
  std::stable_sort(largest_first.begin(), largest_first.end(),
                   [&](size_t a, size_t b) { return key_sizes[a] > key_sizes[b]; });
  const auto clock = [&] {
    double sum = 0, longest = 0;
    for (size_t i = 0; i < key_sizes.size(); ++i) {
      const double seconds = compile_estimate(key_sizes[i], out[i]);
      sum += seconds;
      longest = std::max(longest, seconds);
    }
    return std::max(longest, sum / static_cast<double>(std::max<size_t>(threads, 1)));
  };
  for (const size_t i : largest_first) {
    if (clock() <= kSoon || compile_estimate(key_sizes[i], false) < kWorthIt) break;
    out[i] = true;
  }
  return out;
}

}  // namespace galatea::codegen
