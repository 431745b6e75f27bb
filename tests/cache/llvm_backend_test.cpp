// The backend "llvm" over its cache: what comes from the disk computes what was compiled, bit for bit.
#include "compiler/codegen/llvm_backend.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <thread>

#include "compiler/codegen/code_module.h"
#include "compiler/codegen/kernel_key.h"
#include "compiler/codegen/tiers.h"
#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;
using codegen::CacheOptions;
using codegen::CompiledKernel;

class LlvmBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!codegen::host_target()) GTEST_SKIP() << "this processor is below x86-64-v3";
    folder_ = fs::path(::testing::TempDir()) / ("galatea_backend_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    // One of each kind: bands, a border, a map, a sum, counted and cumulated, gathered through a table.
    // llvm_samples_test runs them all.
    constexpr std::array<std::string_view, 6> kNames = {"resize_u8_grey", "padded",    "brightness",
                                                        "sum_u8",         "equalized", "warp_curve"};
    for (const auto& [name, sample] : sample_kernels()) {
      if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) continue;
      samples_.push_back(sample);
      loops_.push_back(lower_verified(sample.kernel, backend()->schedule_options()));
    }
    ASSERT_EQ(samples_.size(), kNames.size());
    for (size_t i = 0; i < samples_.size(); ++i) jobs_.push_back({&samples_[i].kernel, &loops_[i]});
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::unique_ptr<codegen::KernelBackend> backend(bool on_disk = true,
                                                  codegen::Tiers tiers = codegen::Tiers::kBest) const {
    return codegen::make_llvm_backend(*codegen::host_target(), {on_disk, folder_, 1 << 24}, tiers);
  }
  std::vector<CompiledKernel> compile(codegen::KernelBackend& with) const {
    auto compiled = with.compile(jobs_);
    EXPECT_TRUE(compiled) << (compiled ? "" : compiled.error().message());
    return compiled ? std::move(*compiled) : std::vector<CompiledKernel>();
  }
  static size_t cached(const std::vector<CompiledKernel>& kernels) {
    size_t out = 0;
    for (const CompiledKernel& kernel : kernels) out += kernel.from_cache ? 1 : 0;
    return out;
  }
  std::vector<std::vector<uint8_t>> outputs(const std::vector<CompiledKernel>& kernels) const {
    std::vector<std::vector<uint8_t>> out;
    for (size_t i = 0; i < kernels.size(); ++i) {
      for (const auto& params : samples_[i].params) {
        Arena arena(samples_[i].kernel, params, i + 1);
        kernels[i].code->run(
            arena.call(static_cast<uint64_t>(value_of(kernel::layout_scratch(loops_[i]).bytes, params))));
        out.push_back(arena.take_outputs());
      }
    }
    return out;
  }

  fs::path folder_;
  std::vector<SampleKernel> samples_;
  std::vector<LoopKernel> loops_;
  std::vector<codegen::KernelJob> jobs_;
};

TEST_F(LlvmBackendTest, WarmEqualsCold) {
  auto cold = compile(*backend());
  EXPECT_EQ(cached(cold), 0U);
  const auto expected = outputs(cold);
  cold.clear();  // nothing lives on in this process: what follows is from the disk
  const auto warm = compile(*backend());
  EXPECT_EQ(cached(warm), jobs_.size());
  EXPECT_EQ(outputs(warm), expected);
}

TEST_F(LlvmBackendTest, LivingCodeIsShared) {
  const auto first = compile(*backend(false));
  const auto second = compile(*backend(false));
  EXPECT_EQ(cached(first), 0U);
  EXPECT_EQ(cached(second), jobs_.size());
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].code, second[i].code);
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(LlvmBackendTest, EqualKernelsOfOneProgramAreMadeOnce) {
  const codegen::KernelJob twice[] = {jobs_[0], jobs_[1], jobs_[0]};
  auto compiled = backend(false)->compile(twice);
  ASSERT_TRUE(compiled);
  EXPECT_EQ((*compiled)[0].code, (*compiled)[2].code);
  EXPECT_FALSE((*compiled)[0].from_cache);
  EXPECT_TRUE((*compiled)[2].from_cache);
}

TEST_F(LlvmBackendTest, DamageCostsACompilationAndANote) {
  const auto expected = outputs(compile(*backend()));
  size_t damaged = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (damaged == 3) break;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(entry.file_size() * ++damaged / 4));
    file.put('\x5A').put('\xA5').put('\x5A');
  }
  auto repaired = backend();
  const auto kernels = compile(*repaired);
  EXPECT_EQ(cached(kernels), jobs_.size() - 3);
  EXPECT_EQ(outputs(kernels), expected);
  EXPECT_EQ(repaired->take_notes().size(), 1U);
}

// ---- found by the form of the kernel

class FormsTest : public LlvmBackendTest {
 protected:
  void SetUp() override {
    LlvmBackendTest::SetUp();
    if (IsSkipped()) return;
    options_ = backend()->schedule_options();
    for (size_t i = 0; i < samples_.size(); ++i) {
      kernels_.push_back(&samples_[i].kernel);
      jobs_[i].options = &options_;
    }
  }
  std::vector<codegen::FoundKernel> find(codegen::KernelBackend& with) const {
    auto found = with.find(kernels_, options_);
    EXPECT_TRUE(found) << (found ? "" : found.error().message());
    return found ? std::move(*found) : std::vector<codegen::FoundKernel>();
  }
  static size_t count(const std::vector<codegen::FoundKernel>& found) {
    size_t out = 0;
    for (const codegen::FoundKernel& one : found) out += one.code ? 1 : 0;
    return out;
  }

  kernel::ScheduleOptions options_;
  std::vector<const kernel::Kernel*> kernels_;
};

TEST_F(FormsTest, WhatWasCompiledIsFoundWithoutLoops) {
  EXPECT_EQ(count(find(*backend())), 0U);
  auto cold = compile(*backend());
  const auto expected = outputs(cold);
  EXPECT_EQ(count(find(*backend(false))), samples_.size()) << "it lives in this process";
  cold.clear();
  EXPECT_EQ(count(find(*backend(false))), 0U);
  const auto warm = find(*backend());
  ASSERT_EQ(count(warm), samples_.size());
  std::vector<CompiledKernel> kernels;
  for (size_t i = 0; i < warm.size(); ++i) {
    kernels.push_back({warm[i].code, true, 0});
    EXPECT_TRUE(kernel::same(warm[i].scratch_bytes, kernel::layout_scratch(loops_[i]).bytes)) << i;
  }
  EXPECT_EQ(outputs(kernels), expected);
}

TEST_F(FormsTest, OtherOptionsFindNothing) {
  const auto cold = compile(*backend());
  for (const kernel::ScheduleOptions& other :
       {kernel::ScheduleOptions{.fuse = !options_.fuse, .vector_bits = options_.vector_bits},
        kernel::ScheduleOptions{.vector_bits = 64, .look_up_cost = options_.look_up_cost}}) {
    auto found = backend()->find(kernels_, other);
    ASSERT_TRUE(found);
    EXPECT_EQ(count(*found), 0U);
  }
}

/// Entries whose checksum is right, and which say what no loops of this kernel need.
TEST_F(FormsTest, ForeignFactsAreIgnoredWithANote) {
  compile(*backend());
  ASSERT_EQ(count(find(*backend())), samples_.size());
  codegen::KernelCache cache({true, folder_, 1 << 24});
  const auto key = codegen::kernel_key(*kernels_[0], options_, *codegen::host_target());
  for (const std::string facts :
       {"", "garbage", "1:i32", "p99:i64", "v0:i64", "axis0", "load(in0:u8, 0:i64)", "add(p0:i64"}) {
    cache.store(key, {"\xC3", 0}, facts);
    auto with = backend();
    EXPECT_EQ(count(find(*with)), samples_.size() - 1) << facts;
    const auto notes = with->take_notes();
    ASSERT_EQ(notes.size(), 1U) << facts;
    EXPECT_NE(notes[0].find("could not be used"), std::string::npos) << notes[0];
  }
}

TEST_F(LlvmBackendTest, ManyThreadsCompileAtOnce) {
  const auto expected = outputs(compile(*backend(false)));
  std::vector<std::vector<std::vector<uint8_t>>> got(4);
  {
    std::vector<std::jthread> threads;
    for (auto& slot : got) threads.emplace_back([&] { slot = outputs(compile(*backend())); });
  }
  for (const auto& slot : got) EXPECT_EQ(slot, expected);
}

std::shared_ptr<runtime::CodeUpgrade> upgrade_of(const std::vector<CompiledKernel>& kernels) {
  return dynamic_cast<const runtime::UpgradedCode&>(*kernels.front().code).upgrade();
}
size_t first_tier(const std::vector<CompiledKernel>& kernels) {
  return static_cast<size_t>(std::count_if(kernels.begin(), kernels.end(), [](const CompiledKernel& kernel) {
    const auto* code = dynamic_cast<const runtime::UpgradedCode*>(kernel.code.get());
    return code != nullptr && code->is_first_tier();
  }));
}

TEST_F(LlvmBackendTest, TheBestCodeReplacesTheFirstTierAndIsKept) {
  auto expected_kernels = compile(*backend(false));
  const auto expected = outputs(expected_kernels);
  expected_kernels.clear();
  auto kernels = compile(*backend(true, codegen::Tiers::kFirst));
  ASSERT_EQ(kernels.size(), jobs_.size());
  EXPECT_EQ(cached(kernels), 0U);
  EXPECT_EQ(first_tier(kernels), jobs_.size());
  for (const CompiledKernel& kernel : kernels) EXPECT_TRUE(kernel.first_tier);
  EXPECT_FALSE(fs::exists(folder_)) << "code of the first tier is not for the disk";
  EXPECT_EQ(outputs(kernels), expected);
  // Programs of the same shape share what is there, as it is.
  const auto shared = compile(*backend(true, codegen::Tiers::kAuto));
  EXPECT_EQ(cached(shared), jobs_.size());
  for (size_t i = 0; i < kernels.size(); ++i) EXPECT_EQ(shared[i].code, kernels[i].code);
  const auto upgrade = upgrade_of(kernels);
  upgrade->begin();
  // Under the eyes of calls.
  while (first_tier(kernels) > 0) EXPECT_EQ(outputs(kernels), expected);
  EXPECT_EQ(outputs(kernels), expected);
  upgrade->finish(false);
  EXPECT_EQ(upgrade->report().compilations.size(), jobs_.size());
  EXPECT_TRUE(upgrade->report().problems.empty());
  EXPECT_EQ(static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator())),
            jobs_.size());
}

TEST_F(FormsTest, BestCodeThatCameLaterIsFoundByItsForm) {
  auto kernels = compile(*backend(true, codegen::Tiers::kFirst));
  const auto expected = outputs(kernels);
  ASSERT_EQ(first_tier(kernels), jobs_.size());
  EXPECT_EQ(count(find(*backend())), 0U) << "the first tier is not for those who want the best";
  EXPECT_EQ(count(find(*backend(true, codegen::Tiers::kAuto))), jobs_.size()) << "others share it";
  upgrade_of(kernels)->begin();
  while (first_tier(kernels) > 0) EXPECT_EQ(outputs(kernels), expected);
  kernels.clear();
  const auto warm = find(*backend());
  ASSERT_EQ(count(warm), jobs_.size());
  for (size_t i = 0; i < warm.size(); ++i) {
    EXPECT_TRUE(kernel::same(warm[i].scratch_bytes, kernel::layout_scratch(loops_[i]).bytes)) << i;
    EXPECT_EQ(dynamic_cast<const runtime::UpgradedCode*>(warm[i].code.get()), nullptr);
    kernels.push_back({warm[i].code, true});
  }
  EXPECT_EQ(outputs(kernels), expected);
}

TEST_F(LlvmBackendTest, WhoWantsTheBestDoesNotGetTheFirstTier) {
  const auto quick = compile(*backend(false, codegen::Tiers::kFirst));
  const auto best = compile(*backend(false));
  EXPECT_EQ(cached(best), 0U);
  EXPECT_EQ(first_tier(best), 0U);
  EXPECT_EQ(first_tier(quick), jobs_.size());
  EXPECT_EQ(outputs(best), outputs(quick));
}

TEST_F(LlvmBackendTest, ShortRunsBecomeWarm) {
  size_t runs = 0;
  for (size_t kept = 0; kept < jobs_.size(); ++runs) {
    const auto kernels = compile(*backend(true, codegen::Tiers::kFirst));
    EXPECT_EQ(cached(kernels), kept);
    const size_t now =
        kept + std::min(jobs_.size() - kept, size_t{std::max(1U, std::thread::hardware_concurrency())});
    EXPECT_EQ(first_tier(kernels), jobs_.size() - kept);
    kept = now;
    ASSERT_LE(runs, jobs_.size());
  }
  const auto warm = compile(*backend(true, codegen::Tiers::kFirst));
  EXPECT_EQ(cached(warm), jobs_.size());
  EXPECT_EQ(first_tier(warm), 0U);
}

TEST_F(LlvmBackendTest, WhatCannotBeKeptIsTold) {
  fs::create_directories(folder_.parent_path());
  std::ofstream(folder_) << "a file in the folder's place";
  const auto kernels = compile(*backend(true, codegen::Tiers::kFirst));
  const auto upgrade = upgrade_of(kernels);
  upgrade->finish(false);
  ASSERT_EQ(upgrade->report().problems.size(), 1U);
  EXPECT_NE(upgrade->report().problems.front().find("could not be kept"), std::string::npos);
}

TEST_F(LlvmBackendTest, EveryTargetHasItsOwnCode) {
  for (const codegen::Target& target : codegen::runnable_targets()) {
    auto made = codegen::make_llvm_backend(target, {true, folder_, 1 << 24});
    auto compiled = made->compile(jobs_);
    ASSERT_TRUE(compiled);
    EXPECT_EQ(cached(*compiled), 0U) << target.name();
  }
}

}  // namespace
}  // namespace galatea::testing
