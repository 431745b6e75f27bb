// Tiers without a code generator: what is made when, and by whom; what calls run; which kernels get one.
#include "compiler/codegen/tiers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <numeric>
#include <thread>

namespace galatea::codegen {
namespace {

using Codes = std::vector<std::shared_ptr<const runtime::UpgradedCode>>;

/// Counts its calls.
class CountingCode final : public runtime::KernelCode {
 public:
  void run(const runtime::KernelCall&) const override { calls.fetch_add(1, std::memory_order_relaxed); }
  mutable std::atomic<int> calls = 0;
};

size_t processors() { return std::max(1U, std::thread::hardware_concurrency()); }

class TiersTest : public ::testing::Test {
 protected:
  /// As many kernels; the key of kernel i has i + 1 bytes.
  Codes make(size_t count, MakeBestCode maker, bool is_kept = false) {
    std::vector<FirstTierKernel> kernels;
    for (size_t i = 0; i < count; ++i) {
      first_.push_back(std::make_shared<CountingCode>());
      best_.push_back(std::make_shared<CountingCode>());
      FirstTierKernel& kernel = kernels.emplace_back();
      kernel.key = std::string(i + 1, 'k');
      kernel.loops.name = "kernel " + std::to_string(i);
      kernel.code = first_.back();
    }
    return make_upgrade(std::move(kernels), std::move(maker), is_kept);
  }
  /// Notes whose best code was asked for.
  MakeBestCode maker() {
    return [this](const FirstTierKernel& kernel) -> Result<BestCode> {
      const size_t i = kernel.key.size() - 1;
      {
        const std::lock_guard lock(mutex_);
        made_.push_back(i);
      }
      return BestCode{best_[i], {}};
    };
  }
  static void run(const Codes& codes) {
    for (const auto& code : codes) code->run({});
  }
  /// Begins and waits until all is done that will be.
  static void complete(const Codes& codes, size_t done) {
    codes.front()->upgrade()->begin();
    while (codes.front()->upgrade()->report().compilations.size() < done) std::this_thread::yield();
  }
  static size_t left(const Codes& codes) {
    return static_cast<size_t>(
        std::count_if(codes.begin(), codes.end(), [](const auto& code) { return code->is_first_tier(); }));
  }

  std::vector<std::shared_ptr<CountingCode>> first_, best_;
  std::mutex mutex_;
  std::vector<size_t> made_;
};

TEST_F(TiersTest, NothingIsMadeBeforeItIsAskedFor) {
  const Codes codes = make(3, maker());
  run(codes);
  EXPECT_EQ(left(codes), 3U);
  EXPECT_TRUE(made_.empty());
  for (const auto& code : first_) EXPECT_EQ(code->calls, 1);
}

TEST_F(TiersTest, CallsRunTheBestCodeOnceItIsThere) {
  const Codes codes = make(5, maker());
  run(codes);
  complete(codes, 5);
  EXPECT_EQ(left(codes), 0U);
  run(codes);
  run(codes);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(first_[i]->calls, 1);
    EXPECT_EQ(best_[i]->calls, 2);
  }
  const runtime::UpgradeReport report = codes.front()->upgrade()->report();
  EXPECT_TRUE(report.problems.empty());
  for (const auto& one : report.compilations) {
    EXPECT_LE(one.begin, one.end);
    EXPECT_TRUE(one.kernel.starts_with("kernel "));
  }
}

TEST_F(TiersTest, WhatIsCalledOftenComesFirst) {
  // As many threads as begin together; who of them is asked first they may note in any order. None goes on to a second
  // kernel before all of them have one.
  const size_t together = std::clamp<size_t>(processors() / 2, 1, 4);
  std::latch have_begun(static_cast<std::ptrdiff_t>(together)), may_go(1);
  std::vector<size_t> asked;
  MakeBestCode rest = maker();
  const Codes codes = make(4, [&](const FirstTierKernel& kernel) {
    {
      const std::lock_guard lock(mutex_);
      asked.push_back(kernel.key.size() - 1);
      if (asked.size() <= together) have_begun.count_down();
    }
    may_go.wait();
    return rest(kernel);
  });
  // 11 calls of a key of 2 bytes weigh more than 1 of 4.
  for (int i = 0; i < 10; ++i) codes[1]->run({});
  run(codes);
  codes.front()->upgrade()->begin();
  have_begun.wait();
  may_go.count_down();
  complete(codes, 4);
  ASSERT_EQ(asked.size(), 4U);
  EXPECT_LT(static_cast<size_t>(std::find(asked.begin(), asked.end(), 1) - asked.begin()), together);
}

TEST_F(TiersTest, ManyCallsBeginIt) {
  const Codes codes = make(2, maker());
  for (int i = 0; i < kCallsOfALongRun - 1; ++i) codes[0]->run({});
  EXPECT_TRUE(made_.empty());
  codes[0]->run({});
  while (left(codes) > 0) std::this_thread::yield();
  EXPECT_EQ(made_.size(), 2U);
}

TEST_F(TiersTest, AShortRunLeavesAKernelForEachProcessorBehind) {
  const size_t count = 2 * processors() + 3;
  const Codes codes = make(count, maker(), true);
  codes.front()->upgrade()->finish(false);
  std::sort(made_.begin(), made_.end());
  std::vector<size_t> largest(processors());
  std::iota(largest.begin(), largest.end(), count - processors());
  EXPECT_EQ(made_, largest);
  EXPECT_EQ(left(codes), count - processors());
  // The end is the end.
  codes.front()->upgrade()->begin();
  codes.front()->upgrade()->finish(false);
  EXPECT_EQ(made_.size(), processors());
}

TEST_F(TiersTest, WhatNobodyKeepsIsNotMadeAtTheEnd) {
  const Codes codes = make(3, maker(), false);
  codes.front()->upgrade()->finish(false);
  EXPECT_TRUE(made_.empty());
}

TEST_F(TiersTest, AnInterruptedRunMakesNothing) {
  {
    const Codes codes = make(3, maker(), true);
    codes.front()->upgrade()->finish(true);
  }
  EXPECT_TRUE(made_.empty());
}

TEST_F(TiersTest, TheLastReferenceIsAnEndToo) {
  make(1, maker(), true).clear();
  EXPECT_EQ(made_.size(), 1U);
}

TEST_F(TiersTest, TheEndWaitsForWhatIsBeingMade) {
  std::latch begun(1), may_end(1);
  MakeBestCode rest = maker();
  std::atomic<int> done = 0;
  Codes codes = make(40, [&](const FirstTierKernel& kernel) {
    if (kernel.key.size() == 40) {
      begun.count_down();
      may_end.wait();
    }
    auto out = rest(kernel);
    ++done;
    return out;
  });
  codes.front()->upgrade()->begin();
  begun.wait();
  std::jthread end([&] { codes.clear(); });
  may_end.count_down();
  end.join();
  // Nothing runs on: the largest is among what was made, and what was begun is done.
  EXPECT_EQ(static_cast<size_t>(done), made_.size());
  EXPECT_NE(std::find(made_.begin(), made_.end(), 39), made_.end());
}

/// The threads must not outlive what exit() takes away.
TEST_F(TiersTest, AProcessThatExitsWithItsProgramsWaits) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto exit_while_making = [&] {
    std::atomic<bool> begun = false;
    MakeBestCode rest = maker();
    const auto slowly = [&](const FirstTierKernel& kernel) {
      begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      std::fputs("made", stderr);
      return rest(kernel);
    };
    const Codes codes = make(1, slowly);
    codes.front()->upgrade()->begin();
    while (!begun) std::this_thread::yield();
    std::exit(0);
  };
  EXPECT_EXIT(exit_while_making(), ::testing::ExitedWithCode(0), "made");
}

TEST_F(TiersTest, AFailureLeavesTheFirstTier) {
  MakeBestCode rest = maker();
  const Codes codes = make(3, [&](const FirstTierKernel& kernel) -> Result<BestCode> {
    if (kernel.key.size() == 1) return make_error(ErrorKind::kInternal, "G0999", "no such instruction");
    if (kernel.key.size() == 2) throw std::runtime_error("out of registers");
    auto out = rest(kernel);
    out->notes.emplace_back("the disk is full");
    return out;
  });
  complete(codes, 3);
  EXPECT_EQ(left(codes), 2U);
  run(codes);
  EXPECT_EQ(first_[0]->calls, 1);
  EXPECT_EQ(first_[1]->calls, 1);
  EXPECT_EQ(best_[2]->calls, 1);
  auto problems = codes.front()->upgrade()->report().problems;
  ASSERT_EQ(problems.size(), 3U);
  std::sort(problems.begin(), problems.end());
  EXPECT_NE(problems[0].find("no such instruction"), std::string::npos) << problems[0];
  EXPECT_NE(problems[1].find("out of registers"), std::string::npos) << problems[1];
  EXPECT_EQ(problems[2], "the disk is full");
}

TEST_F(TiersTest, ThreadsCallWhileCodeIsReplaced) {
  const Codes codes = make(8, maker());
  constexpr int kCalls = 2000;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < kCalls; ++i) run(codes);
      });
  }
  while (left(codes) > 0) std::this_thread::yield();
  for (size_t i = 0; i < codes.size(); ++i) EXPECT_EQ(first_[i]->calls + best_[i]->calls, 4 * kCalls) << i;
}

TEST_F(TiersTest, AProgramKnowsItsUpgrades) {
  runtime::Program program;
  const Codes a = make(2, maker()), b = make(1, maker());
  for (const auto& code : {a[0], b[0], a[1]}) program.kernels.push_back({"k", {}, code, nullptr});
  program.kernels.push_back({"best", {}, std::make_shared<CountingCode>(), nullptr});
  EXPECT_EQ(runtime::upgrades_of(program).size(), 2U);
  EXPECT_EQ(runtime::count_tiers(program).first_tier, 3);
  EXPECT_EQ(runtime::count_tiers(program).left, 3);
  complete(a, 2);
  EXPECT_EQ(runtime::count_tiers(program).left, 1);
}

size_t chosen(const std::vector<size_t>& sizes, size_t threads) {
  const std::vector<bool> out = choose_first_tier(sizes, threads);
  EXPECT_EQ(out.size(), sizes.size());
  size_t largest_left = 0, smallest_chosen = SIZE_MAX;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i])
      smallest_chosen = std::min(smallest_chosen, sizes[i]);
    else
      largest_left = std::max(largest_left, sizes[i]);
  }
  EXPECT_GE(smallest_chosen, largest_left) << "a kernel was chosen, and a larger one was not";
  return static_cast<size_t>(std::count(out.begin(), out.end(), true));
}

TEST(Tiers, OnlyWhatTakesLongBeginsWithTheFirst) {
  EXPECT_EQ(chosen({}, 2), 0U);
  EXPECT_EQ(chosen({1000, 2000, 3000}, 2), 0U);
  const std::vector<size_t> some = {3000, 90'000, 2000, 30'000, 1000};
  EXPECT_GE(chosen(some, 2), 1U);
  EXPECT_LT(chosen(some, 2), some.size());
  // More threads need fewer, and no number helps the largest.
  const std::vector<size_t> many(64, 10'000);
  EXPECT_GT(chosen(many, 2), chosen(many, 40));
  EXPECT_GT(chosen(many, 40), 0U);
  EXPECT_EQ(chosen(many, 64), 0U);
  EXPECT_EQ(chosen({10'000'000}, 64), 1U);
  // Nor do small ones gain enough to be compiled twice, however many there are.
  EXPECT_EQ(chosen(std::vector<size_t>(1000, 500), 2), 0U);
  EXPECT_EQ(chosen(many, 0), chosen(many, 1));
}

TEST(Tiers, Words) {
  EXPECT_EQ(tiers_from_word("auto"), Tiers::kAuto);
  EXPECT_EQ(tiers_from_word("best"), Tiers::kBest);
  EXPECT_EQ(tiers_from_word("first"), Tiers::kFirst);
  EXPECT_EQ(tiers_from_word("Best"), std::nullopt);
  EXPECT_EQ(tiers_from_word(""), std::nullopt);
}

}  // namespace
}  // namespace galatea::codegen
