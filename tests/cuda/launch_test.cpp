// Batches of ragged samples through the driver's calls: one copy up, one launch a call site, the bits of the
// stage interpreter.
#include <cstdlib>
#include <map>
#include <optional>

#include "compiler/codegen/cuda/device_code.h"
#include "compiler/codegen/cuda/emit.h"
#include "compiler/codegen/cuda/nvrtc.h"
#include "compiler/kernel/spread_phases.h"
#include "runtime/cuda/batch_launch.h"
#include "tests/cuda/fake_cuda_control.h"
#include "tests/kernel/fuzz_kernel.h"
#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"
#include "tests/support/build_folder.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

using namespace runtime::cuda;  // NOLINT(google-build-using-namespace): everything of the wrapper
using codegen::ArmForm;

/// Compiled text is kept beside the build, not in the user's cache.
const int kCacheFolder = setenv("GALATEA_CACHE_DIR", build_folder("/test-cache").c_str(), 0);

struct Site {
  std::string name;
  SampleKernel sample;
  LoopKernel loops;
};

const std::vector<Site>& sites() {
  static const std::vector<Site> kAll = [] {
    std::vector<Site> out;
    for (auto& [name, sample] : sample_kernels())
      for (const bool fuse : {true, false})
        out.push_back({name + (fuse ? "" : "_apart"), sample,
                       lower_verified(sample.kernel, {.gpu = true, .fuse = fuse})});
    const auto last = 1000 + static_cast<uint64_t>(scaled(30, kSanitized ? 3 : 8));
    for (uint64_t seed = 1000; seed < last; ++seed) {
      const FuzzCase c = make_fuzz_case(seed);
      out.push_back({"fuzz_" + std::to_string(seed),
                     {c.kernel, {c.params}},
                     lower_verified(c.kernel, {.gpu = true, .random_seed = seed})});
    }
    return out;
  }();
  return kAll;
}

/// All sites in one module.
Result<std::shared_ptr<const Module>> compile(const std::shared_ptr<const Context>& context) {
  GALATEA_ASSIGN(auto nvrtc, codegen::Nvrtc::open());
  std::string text = codegen::cuda_prelude();
  for (const Site& site : sites()) text += codegen::emit_cuda(site.loops, site.name) + "\n";
  GALATEA_ASSIGN(const std::string cubin, nvrtc->compile(text, "sites.cu", 90));
  return Module::load(context, cubin);
}

LaunchKernel launch_kernel(const Site& site, FunctionHandle function, int32_t opcode) {
  const codegen::FlagCauses causes = codegen::flag_causes(site.sample.kernel);
  return {function,
          codegen::num_inputs(site.loops),
          codegen::can_be_tiled(site.loops),
          causes.may_fail,
          opcode,
          kernel::shares_phases(site.loops),
          causes.divisors};
}

Result<std::vector<LaunchKernel>> kernels(const Module& module) {
  std::vector<LaunchKernel> out;
  for (const Site& site : sites()) {
    GALATEA_ASSIGN(FunctionHandle function, module.function(site.name));
    out.push_back(launch_kernel(site, function, 0));
  }
  return out;
}

/// All sites as kernels of one function, by their numbers.
Result<std::vector<LaunchKernel>> kernels_of_one_launch(const std::shared_ptr<const Context>& context,
                                                        std::shared_ptr<const Module>& module, ArmForm form) {
  GALATEA_ASSIGN(auto nvrtc, codegen::Nvrtc::open());
  codegen::DeviceCompiler compiler(nvrtc, 90, {}, form);
  std::vector<std::vector<codegen::KernelJob>> launch(1);
  for (const Site& site : sites()) launch[0].push_back({&site.sample.kernel, &site.loops});
  GALATEA_ASSIGN(const auto code, compiler.compile(launch));
  for (const std::string& note : compiler.take_notes()) ADD_FAILURE() << note;
  GALATEA_ASSIGN(module, Module::load(context, *code.front().cubin));
  GALATEA_ASSIGN(FunctionHandle function, module->function(codegen::kDeviceFunction));
  std::vector<LaunchKernel> out;
  for (const Site& site : sites())
    out.push_back(launch_kernel(site, function, static_cast<int32_t>(out.size())));
  return out;
}

/// One call of a site, its outputs in device memory.
struct Running {
  int32_t site = 0, sample = 0;
  const std::vector<uint64_t>* params = nullptr;
  uint64_t seed = 0;
  std::unique_ptr<Arena> arena;
  std::vector<std::pair<size_t, MemoryBlock>> outputs;  ///< tensor, memory
  bool leaves = false;                                  ///< a guard does not hold
};

/// Whether a call has guards, and whether they hold.
enum class Guarded : uint8_t { kNo, kHolds, kFails };

class Batch {
 public:
  Batch(FakeCuda& fake, std::shared_ptr<const Context> context)
      : fake_(fake),
        stream_(*Stream::create(context)),
        device_(MemoryPool::make(context, MemoryKind::kDevice)),
        pinned_(MemoryPool::make(context, MemoryKind::kPinned)),
        batch_(stream_, device_, pinned_) {}

  /// Adds a call. Its outputs begin as the harness fills them.
  /// `launch`: whose calls it belongs to; negative: the site's.
  void add(int32_t site, int32_t sample, const std::vector<uint64_t>& params, uint64_t seed,
           int32_t launch = -1, Guarded guarded = Guarded::kNo) {
    const Site& at = sites()[static_cast<size_t>(site)];
    Running run{site, sample, &params, seed, std::make_unique<Arena>(at.sample.kernel, params, seed),
                {},   false};
    run.leaves = guarded == Guarded::kFails;
    auto& bytes = run.arena->bytes();
    const runtime::KernelCall call = run.arena->call(0);
    std::vector<LaunchTensor> tensors;
    for (size_t t = 0; t < bytes.size(); ++t) {
      LaunchTensor tensor{call.tensors[t], -1};
      const auto size = static_cast<int64_t>(bytes[t].size());
      if (t < run.arena->first_output()) {
        tensor.upload = batch_.add_upload(bytes[t].data(), size);
      } else {
        MemoryBlock block = *device_->acquire(size, stream_);
        EXPECT_TRUE(stream_->upload(block.device(), bytes[t].data(), size));
        const auto offset = static_cast<uint8_t*>(tensor.view.data) - bytes[t].data();
        tensor.view.data =
            reinterpret_cast<void*>(static_cast<uintptr_t>(block.device()) + static_cast<uintptr_t>(offset));
        run.outputs.emplace_back(t, std::move(block));
      }
      tensors.push_back(tensor);
    }
    batch_.add_call(launch < 0 ? site : launch, sample, tensors, params,
                    value_of(kernel::layout_scratch(at.loops).bytes, params), -1, site,
                    guards(guarded, seed));
    running_.push_back(std::move(run));
  }

  /// Flags of arms around each other; one of the first, of the last, or of all of them fails.
  std::vector<DeviceGuard> guards(Guarded guarded, uint64_t seed) {
    if (guarded == Guarded::kNo) return {};
    if (!flags_) {
      flags_ = *device_->acquire(3, stream_);
      EXPECT_TRUE(stream_->upload(flags_->device(), kFlags, sizeof(kFlags)));
    }
    std::vector<DeviceGuard> out;
    for (uint64_t g = 0; g < 3; ++g) {
      const bool fails = guarded == Guarded::kFails && (seed % 4 == g || seed % 4 == 3);
      // Of two arms, and the last also of three: what is past the largest number is that one.
      const uint32_t largest = g == 2 ? 2 : 1, is = std::min<uint32_t>(kFlags[g], largest);
      out.push_back({static_cast<uint64_t>(flags_->device()) + g, fails ? largest - is : is, largest});
    }
    return out;
  }

  /// Enqueues and compares; checks what it took.
  void run(std::span<const LaunchKernel> kernels, int64_t expected_launches) {
    ASSERT_TRUE(stream_->synchronize());
    fake_.reset();
    auto launched = batch_.enqueue(kernels);
    ASSERT_TRUE(launched) << launched.error().message();
    const FakeCudaCounters counters = fake_.counters();
    EXPECT_EQ(counters.uploads, 1);
    const bool may_fail = std::any_of(running_.begin(), running_.end(), [&](const Running& run) {
      const LaunchKernel& kernel = kernels[static_cast<size_t>(run.site)];
      return kernel.may_fail || std::ranges::any_of(kernel.divisors, [&](int32_t param) {
               return run.params->at(static_cast<size_t>(param)) == 0;
             });
    });
    EXPECT_EQ(counters.downloads, may_fail ? 1 : 0);  // their flags
    EXPECT_EQ(counters.launches, expected_launches);
    EXPECT_EQ(launched->num_launches(), expected_launches);
    EXPECT_EQ(counters.synchronizations, 0);
    EXPECT_EQ(counters.pageable_copies, 0);
    ASSERT_TRUE(stream_->synchronize());
    EXPECT_EQ(fake_.errors(), "");
    const auto failure = launched->first_failure();
    bool any_flags = false;
    for (Running& run : running_) {
      for (auto& [tensor, block] : run.outputs) {
        auto& bytes = run.arena->bytes()[tensor];
        ASSERT_TRUE(stream_->download(bytes.data(), block.device(), static_cast<int64_t>(bytes.size())));
      }
      const Site& at = sites()[static_cast<size_t>(run.site)];
      if (run.leaves) {
        Arena untouched(at.sample.kernel, *run.params, run.seed);
        EXPECT_EQ(run.arena->take_outputs(), untouched.take_outputs()) << at.name;
        continue;
      }
      std::vector<uint8_t> expected = run_stages(at.sample.kernel, *run.params, run.seed);
      if (expected.back() != 0) {
        if (!any_flags) {
          ASSERT_TRUE(failure) << at.name;
          EXPECT_EQ(failure->flags, expected.back()) << at.name;
        }
        any_flags = true;
        run.arena->raise(expected.back());
      }
      EXPECT_EQ(run.arena->take_outputs(), expected) << at.name << ", sample " << run.sample;
    }
    EXPECT_EQ(failure.has_value(), any_flags);
    running_.clear();
  }

 private:
  static constexpr uint8_t kFlags[3] = {1, 0, 128};

  FakeCuda& fake_;
  std::shared_ptr<const Stream> stream_;
  std::shared_ptr<MemoryPool> device_, pinned_;
  BatchLaunch batch_;
  std::optional<MemoryBlock> flags_;
  std::vector<Running> running_;
};

class BatchLaunches : public ::testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  void SetUp() override {
    if (leaves_single_threads()) GTEST_SKIP() << kSingleThread;
  }
};

/// Each kernel over all its parameter sets, twice: a batch of ragged samples in one launch.
TEST_P(BatchLaunches, EqualStages) {
  FakeSettings settings;
  if (GetParam().first) settings.emplace_back(GetParam());
  FakeCuda fake(settings);
  {
    auto context = fake_context();
    auto module = compile(context);
    ASSERT_TRUE(module) << module.error().message();
    auto all = kernels(**module);
    ASSERT_TRUE(all) << all.error().message();
    Batch batch(fake, context);
    for (size_t site = 0; site < sites().size(); ++site) {
      const auto& params = sites()[site].sample.params;
      for (size_t k = 0; k < 2 * params.size(); ++k)
        batch.add(static_cast<int32_t>(site), static_cast<int32_t>(k), params[k % params.size()], k + 1);
      batch.run(*all, 1);
      if (HasFatalFailure()) return;
    }
  }
  expect_nothing_lives(fake.counters(), "afterwards");
}

/// Samples that took different ways: each has calls at some sites only.
TEST_P(BatchLaunches, SitesOfDifferentSamples) {
  FakeSettings settings;
  if (GetParam().first) settings.emplace_back(GetParam());
  FakeCuda fake(settings);
  auto context = fake_context();
  auto module = compile(context);
  ASSERT_TRUE(module) << module.error().message();
  auto all = kernels(**module);
  ASSERT_TRUE(all) << all.error().message();
  Batch batch(fake, context);
  Dice dice(5);
  for (int turn = 0; turn < 3; ++turn) {
    std::map<size_t, int> used;
    for (int32_t sample = 0; sample < 24; ++sample) {
      // In the order in which a sample would meet them.
      for (size_t site = dice.next(8); site < sites().size(); site += 1 + dice.next(30)) {
        const auto& params = sites()[site].sample.params;
        batch.add(static_cast<int32_t>(site), sample, params[dice.next(params.size())], dice.next(1000));
        ++used[site];
      }
    }
    batch.run(*all, static_cast<int64_t>(used.size()));
    if (HasFatalFailure()) return;
  }
}

/// Arms of a branch: each sample runs another kernel, and all of them are one launch, whether they were
/// compiled together or apart.
TEST_P(BatchLaunches, KernelsOfOneLaunch) {
  FakeSettings settings;
  if (GetParam().first) settings.emplace_back(GetParam());
  FakeCuda fake(settings);
  auto context = fake_context();
  for (const ArmForm form : {ArmForm::kTogether, ArmForm::kApart}) {
    std::shared_ptr<const Module> module;
    auto all = kernels_of_one_launch(context, module, form);
    ASSERT_TRUE(all) << all.error().message();
    Batch batch(fake, context);
    Dice dice(7);
    for (int turn = 0; turn < 4; ++turn) {
      for (int32_t sample = 0; sample < 32; ++sample) {
        const size_t site = dice.next(sites().size());
        const auto& params = sites()[site].sample.params;
        batch.add(static_cast<int32_t>(site), sample, params[dice.next(params.size())], dice.next(1000), 0);
      }
      batch.run(*all, 1);
      if (HasFatalFailure()) return;
    }
  }
}

/// Arms among which the device chooses: blocks of calls whose guards do not hold write nothing, no flag
/// either.
TEST_P(BatchLaunches, CallsWhoseGuardsDoNotHold) {
  FakeSettings settings;
  if (GetParam().first) settings.emplace_back(GetParam());
  FakeCuda fake(settings);
  auto context = fake_context();
  std::shared_ptr<const Module> module;
  auto all = kernels_of_one_launch(context, module, ArmForm::kApart);
  ASSERT_TRUE(all) << all.error().message();
  Batch batch(fake, context);
  for (uint64_t site = 0; site < sites().size(); ++site)
    for (const Guarded guarded : {Guarded::kFails, Guarded::kNo, Guarded::kHolds}) {
      const auto& params = sites()[site].sample.params;
      batch.add(static_cast<int32_t>(site), static_cast<int32_t>(site), params[site % params.size()],
                site + 1, 0, guarded);
    }
  batch.run(*all, 1);
}

INSTANTIATE_TEST_SUITE_P(Schedules, BatchLaunches,
                         ::testing::Values(std::pair<const char*, const char*>{nullptr, nullptr},
                                           std::pair{"FAKE_CUDA_EAGER", "1"},
                                           std::pair{"FAKE_CUDA_PERMUTED", "1"}));

TEST(BatchLaunch, LargeCallsAreTiledWhereTheyMay) {
  if (leaves_single_threads()) GTEST_SKIP() << kSingleThread;
  FakeCuda fake;
  auto context = fake_context();
  auto module = compile(context);
  ASSERT_TRUE(module) << module.error().message();
  auto all = kernels(**module);
  ASSERT_TRUE(all);
  // Some in one phase, some in several, for which blocks wait for each other. Phases of the fuzzer's kernels
  // are spread at random, perhaps none.
  int apart = 0, shared = 0;
  std::vector<std::string> whole;
  for (size_t k = 0; k < all->size(); ++k) {
    const LaunchKernel& kernel = (*all)[k];
    if (kernel.shares_phases)
      ++shared;
    else if (kernel.is_tiled)
      ++apart;
    else if (!sites()[k].name.starts_with("fuzz_"))
      whole.push_back(sites()[k].name);
  }
  EXPECT_GT(apart, 5);
  EXPECT_GT(shared, 5);
  EXPECT_EQ(whole, std::vector<std::string>{});
}

TEST(BatchLaunch, NothingToDoTakesNoCall) {
  FakeCuda fake;
  auto context = fake_context();
  auto stream = *Stream::create(context);
  BatchLaunch batch(stream, MemoryPool::make(context, MemoryKind::kDevice),
                    MemoryPool::make(context, MemoryKind::kPinned));
  fake.reset();
  auto launched = batch.enqueue({});
  ASSERT_TRUE(launched);
  EXPECT_EQ(fake.counters().calls, 0);
  EXPECT_FALSE(launched->first_failure());
}

}  // namespace
}  // namespace galatea::testing
