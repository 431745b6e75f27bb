// A warm start does not open NVRTC: what was found is remembered, as long as the file is the same.
#include "compiler/codegen/cuda/nvrtc_on_demand.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "compiler/codegen/cuda/device_code.h"
#include "tests/cuda/fake_cuda_control.h"
#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;
using codegen::DeviceCompiler;
using codegen::KernelCache;
using codegen::NvrtcOnDemand;

/// A folder with a library of its own, whose file a test may change.
class NvrtcIsOpenedLate : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("galatea_nvrtc_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "lib");
    for (const char* name : {"libnvrtc.so.13", "libnvJitLink.so.12"})
      fs::copy_file(fs::path(fake_cuda_folder()) / name, folder_ / "lib" / name);
    setenv("GALATEA_CUDA_LIBRARY_PATH", (folder_ / "lib").c_str(), 1);
  }
  void TearDown() override {
    unsetenv("GALATEA_CUDA_LIBRARY_PATH");
    unsetenv("FAKE_NVRTC_VERSION");
    fs::remove_all(folder_);
  }
  codegen::CacheOptions options() const { return {true, folder_ / "cache", 64 << 20}; }
  NvrtcOnDemand find() const {
    KernelCache cache(options());
    auto found = NvrtcOnDemand::find(cache);
    EXPECT_TRUE(found) << found.error().message();
    EXPECT_TRUE(cache.take_notes().empty());
    return std::move(*found);
  }
  fs::path library() const { return folder_ / "lib" / "libnvrtc.so.13"; }

  fs::path folder_;
};

TEST_F(NvrtcIsOpenedLate, WhileItsFileIsAsItWas) {
  EXPECT_TRUE(find().is_open());
  const NvrtcOnDemand remembered = find();
  EXPECT_FALSE(remembered.is_open());
  EXPECT_EQ(remembered.major_version(), 12);
  EXPECT_EQ(remembered.minor_version(), 8);
  fs::last_write_time(library(), fs::last_write_time(library()) + std::chrono::seconds(1));
  EXPECT_TRUE(find().is_open());
  EXPECT_FALSE(find().is_open());
  // Nothing is kept without a cache.
  KernelCache none({});
  EXPECT_TRUE(NvrtcOnDemand::find(none)->is_open());
}

TEST_F(NvrtcIsOpenedLate, NotWhereItIsGone) {
  EXPECT_TRUE(find().is_open());
  fs::rename(library(), folder_ / "lib" / "libnvrtc.so.12");
  EXPECT_TRUE(find().is_open());
}

TEST_F(NvrtcIsOpenedLate, AndNotAtAllWhereEverythingIsKept) {
  const SampleKernel sample = brightness();
  const LoopKernel loops = lower_verified(sample.kernel, {.gpu = true});
  const codegen::KernelJob job[] = {{&sample.kernel, &loops}};
  DeviceCompiler cold(find(), 90, options());
  auto made = cold.compile(job);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_FALSE(made->front().from_cache);
  DeviceCompiler warm(find(), 90, options());
  auto kept = warm.compile(job);
  ASSERT_TRUE(kept) << kept.error().message();
  EXPECT_TRUE(kept->front().from_cache);
  EXPECT_EQ(*kept->front().cubin, *made->front().cubin);
  EXPECT_TRUE(cold.has_opened_nvrtc());
  EXPECT_FALSE(warm.has_opened_nvrtc());
}

/// The file looks the same, and is another version: its code is another entry.
TEST_F(NvrtcIsOpenedLate, AnotherVersionThanWasRememberedCompilesAnew) {
  const SampleKernel sample = brightness(), other = broadcast();
  const LoopKernel loops = lower_verified(sample.kernel, {.gpu = true}),
                   more = lower_verified(other.kernel, {.gpu = true});
  const codegen::KernelJob job[] = {{&sample.kernel, &loops}}, jobs[] = {job[0], {&other.kernel, &more}};
  DeviceCompiler cold(find(), 90, options());
  ASSERT_TRUE(cold.compile(job));
  setenv("FAKE_NVRTC_VERSION", "12090", 1);
  DeviceCompiler warm(find(), 90, options());
  auto made = warm.compile(jobs);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_FALSE((*made)[0].from_cache);
  EXPECT_FALSE((*made)[1].from_cache);
  EXPECT_EQ(find().minor_version(), 9);
}

}  // namespace
}  // namespace galatea::testing
