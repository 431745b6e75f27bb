// nvJPEG as a library: found or not, old or new, and our declarations against NVIDIA's header where there is
// one.
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <fstream>
#include <type_traits>

#include "stdlib_ops/native/nvjpeg/nvjpeg.h"
#include "tests/cuda/fake_cuda_control.h"
#include "tests/cuda/same_shape.h"

#ifdef GALATEA_NVJPEG_FOLDER
#include <nvjpeg.h>
#endif

namespace galatea::testing {
namespace {

using native::Nvjpeg;
namespace jpeg = native::jpeg;

TEST(NvjpegLibrary, IsFoundWithItsVersion) {
  const FakeCuda fake;
  const auto found = Nvjpeg::open();
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ((*found)->version_text(), "12.4");
  EXPECT_EQ((*found)->path(), fake_cuda_folder() + "/libnvjpeg.so.12");
}

TEST(NvjpegLibrary, AnOldOneIsRefusedByItsVersion) {
  for (const char* version : {"11.9", "12.0"}) {
    const FakeCuda fake(FakeSettings{{"FAKE_NVJPEG_VERSION", version}});
    const auto found = Nvjpeg::open();
    ASSERT_FALSE(found) << version;
    EXPECT_EQ(code_of(found.error()), "G0971");
    EXPECT_NE(found.error().message().find(std::string("it is version ") + version), std::string::npos)
        << found.error().message();
    EXPECT_NE(found.error().diagnostics.front().help.find("12.1"), std::string::npos);
  }
  const FakeCuda fake(FakeSettings{{"FAKE_NVJPEG_VERSION", "13.0"}});
  EXPECT_TRUE(Nvjpeg::open());
}

/// A machine with the libraries of a newer CUDA decodes on the CPU, until there is a driver for them.
TEST(NvjpegLibrary, IsNoNewerThanTheDriver) {
  const FakeCuda fake(FakeSettings{{"FAKE_NVJPEG_VERSION", "13.0"}});
  void* library = dlopen((fake_cuda_folder() + "/libnvjpeg.so.12").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(library) << dlerror();
  EXPECT_TRUE(Nvjpeg::open_at(library, "libnvjpeg.so", 13));
  const auto found = Nvjpeg::open_at(library, "libnvjpeg.so", 12);
  ASSERT_FALSE(found);
  EXPECT_EQ(code_of(found.error()), "G0973");
  EXPECT_EQ(
      found.error().message(),
      "nvJPEG libnvjpeg.so is too new for the driver: it is version 13.0, and the driver is for CUDA 12");
  EXPECT_NE(found.error().diagnostics.front().help.find("nvidia-nvjpeg-cu12"), std::string::npos);
  dlclose(library);
}

/// A library that is something else.
TEST(NvjpegLibrary, OneThatLacksItsEntryPointsIsRefused) {
  void* other = dlopen((fake_cuda_folder() + "/libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(other) << dlerror();
  const auto found = Nvjpeg::open_at(other, "libnvjpeg.so.12");
  ASSERT_FALSE(found);
  EXPECT_EQ(code_of(found.error()), "G0971");
  EXPECT_NE(found.error().message().find("it has no nvjpegGetProperty"), std::string::npos)
      << found.error().message();
  dlclose(other);
}

TEST(NvjpegLibrary, AMissingOneSaysHowToGetIt) {
  const auto found = Nvjpeg::open();
  if (found) GTEST_SKIP() << "this machine has " << (*found)->path();
  if (code_of(found.error()) == "G0971") GTEST_SKIP() << found.error().message();
  EXPECT_EQ(code_of(found.error()), "G0970");
  EXPECT_NE(found.error().message().find("the loader's folders"), std::string::npos);
  EXPECT_NE(found.error().diagnostics.front().help.find("nvidia-nvjpeg"), std::string::npos);
}

TEST(NvjpegLibrary, FailuresNameTheCallAndTheCode) {
  const FakeCuda fake;
  const auto found = Nvjpeg::open();
  ASSERT_TRUE(found);
  const auto error =
      (*found)->failure(jpeg::status::kExecutionFailed, "nvjpegDecodeJpegDevice", "GPU 0 (Fake)");
  EXPECT_EQ(error.error().message(),
            "GPU 0 (Fake): nvjpegDecodeJpegDevice failed with NVJPEG_STATUS_EXECUTION_FAILED");
  EXPECT_NE((*found)->failure(99, "x", "y").error().message().find("does not know"), std::string::npos);
}

#ifdef GALATEA_NVJPEG_FOLDER

TEST(NvjpegHeader, EntryPointsAgree) {
#define CHECK_ENTRY(member, symbol, parameters) \
  static_assert(SameShape<decltype(&::symbol), decltype(jpeg::Api{}.member.function)>::value);
  GALATEA_NVJPEG_ENTRIES(CHECK_ENTRY)
#undef CHECK_ENTRY
  static_assert(sizeof(jpeg::Image) == sizeof(nvjpegImage_t));
  static_assert(offsetof(jpeg::Image, pitch) == offsetof(nvjpegImage_t, pitch));
  static_assert(sizeof(jpeg::Allocator) == sizeof(nvjpegDevAllocatorV2_t));
  static_assert(sizeof(jpeg::Allocator) == sizeof(nvjpegPinnedAllocatorV2_t));
  static_assert(offsetof(jpeg::Allocator, free) == offsetof(nvjpegDevAllocatorV2_t, dev_free));
  static_assert(offsetof(jpeg::Allocator, context) == offsetof(nvjpegDevAllocatorV2_t, dev_ctx));
  static_assert(offsetof(jpeg::Allocator, context) == offsetof(nvjpegPinnedAllocatorV2_t, pinned_ctx));
  static_assert(SameShape<tDevMallocV2, decltype(jpeg::Allocator::allocate)>::value);
  static_assert(SameShape<tPinnedFreeV2, decltype(jpeg::Allocator::free)>::value);
  namespace status = jpeg::status;
  EXPECT_EQ(status::kSuccess, static_cast<int>(NVJPEG_STATUS_SUCCESS));
  EXPECT_EQ(status::kBadJpeg, static_cast<int>(NVJPEG_STATUS_BAD_JPEG));
  EXPECT_EQ(status::kNotSupported, static_cast<int>(NVJPEG_STATUS_JPEG_NOT_SUPPORTED));
  EXPECT_EQ(status::kAllocatorFailure, static_cast<int>(NVJPEG_STATUS_ALLOCATOR_FAILURE));
  EXPECT_EQ(status::kExecutionFailed, static_cast<int>(NVJPEG_STATUS_EXECUTION_FAILED));
  EXPECT_EQ(status::kInternalError, static_cast<int>(NVJPEG_STATUS_INTERNAL_ERROR));
  EXPECT_EQ(status::kImplementationNotSupported,
            static_cast<int>(NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED));
  EXPECT_EQ(status::kIncompleteBitstream, static_cast<int>(NVJPEG_STATUS_INCOMPLETE_BITSTREAM));
  EXPECT_EQ(jpeg::backend::kHybrid, static_cast<int>(NVJPEG_BACKEND_HYBRID));
  EXPECT_EQ(jpeg::backend::kGpuHybrid, static_cast<int>(NVJPEG_BACKEND_GPU_HYBRID));
  EXPECT_EQ(jpeg::backend::kHardware, static_cast<int>(NVJPEG_BACKEND_HARDWARE));
  EXPECT_EQ(status::kArchMismatch, static_cast<int>(NVJPEG_STATUS_ARCH_MISMATCH));
  EXPECT_EQ(jpeg::format::kY, static_cast<int>(NVJPEG_OUTPUT_Y));
  EXPECT_EQ(jpeg::format::kRgb, static_cast<int>(NVJPEG_OUTPUT_RGBI));
  EXPECT_EQ(jpeg::format::kBgr, static_cast<int>(NVJPEG_OUTPUT_BGRI));
  EXPECT_EQ(jpeg::kFlagInterpolate, static_cast<unsigned>(NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION));
  EXPECT_EQ(jpeg::kMajorVersion, static_cast<int>(MAJOR_VERSION));
  EXPECT_EQ(jpeg::kMinorVersion, static_cast<int>(MINOR_VERSION));
}

/// The library beside that header, where the build was told its folder.
TEST(NvjpegHeader, TheRealLibraryHasTheEntryPoints) {
  void* library = nullptr;
  for (const char* name : {"libnvjpeg.so.13", "libnvjpeg.so.12", "libnvjpeg.so"}) {
    if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const std::string beside = std::string(GALATEA_NVJPEG_FOLDER) + "/../lib/" + name;
    if (!library) library = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  }
  if (!library) GTEST_SKIP() << "no libnvjpeg.so on this machine";
  const auto found = Nvjpeg::open_at(library, "libnvjpeg.so");
  EXPECT_TRUE(found) << found.error().message();
}

#else

TEST(NvjpegHeader, EntryPointsAgree) { GTEST_SKIP() << "no nvjpeg.h on this machine"; }

#endif

}  // namespace
}  // namespace galatea::testing
