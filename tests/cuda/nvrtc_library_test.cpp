// Which NVRTC is opened, and what is said of those that are not.
#include <algorithm>

#include "compiler/choose_gpu.h"
#include "compiler/codegen/cuda/nvrtc.h"
#include "tests/cuda/fake_cuda_control.h"

namespace galatea::testing {
namespace {

using codegen::Nvrtc;

std::string fake_nvrtc() { return fake_cuda_folder() + "/libnvrtc.so.13"; }
/// A library of CUDA that is not NVRTC.
std::string other_library() { return fake_cuda_folder() + "/libnvJitLink.so.12"; }

const std::string& help_of(const Error& error) { return error.diagnostics.front().help; }

TEST(NvrtcLibrary, AMissingOneSaysWhereAndHowToGetIt) {
  const auto found = Nvrtc::open_among({{"/no/such/libnvrtc.so.13", "/no/such/libnvrtc.so"}, "/no/such"});
  ASSERT_FALSE(found);
  EXPECT_EQ(code_of(found.error()), "G0567");
  EXPECT_EQ(found.error().kind, ErrorKind::kSystem);
  EXPECT_EQ(found.error().message(),
            "NVRTC (libnvrtc.so), which compiles the kernels of a GPU, was not found; looked in /no/such");
  EXPECT_NE(help_of(found.error()).find("nvidia-cuda-nvrtc-cu12"), std::string::npos);
}

TEST(NvrtcLibrary, AnOldOneIsRefusedByItsVersion) {
  const FakeVariable version("FAKE_NVRTC_VERSION", "10020");
  const auto found = Nvrtc::open_among({{fake_nvrtc()}, ""});
  ASSERT_FALSE(found);
  EXPECT_EQ(code_of(found.error()), "G0568");
  EXPECT_EQ(found.error().message(), "NVRTC " + fake_nvrtc() + " cannot be used: it is version 10.2");
  EXPECT_NE(help_of(found.error()).find("CUDA 11.2 or newer"), std::string::npos);
}

TEST(NvrtcLibrary, OneThatLacksItsEntryPointsIsPassedOver) {
  const auto lacking = Nvrtc::open_among({{other_library()}, ""});
  ASSERT_FALSE(lacking);
  EXPECT_EQ(code_of(lacking.error()), "G0568");
  EXPECT_NE(lacking.error().message().find("it has no nvrtcVersion"), std::string::npos)
      << lacking.error().message();
  const auto next = Nvrtc::open_among({{other_library(), fake_nvrtc()}, ""});
  ASSERT_TRUE(next) << next.error().message();
  EXPECT_EQ((*next)->path(), fake_nvrtc());
}

/// Errors name the places; each once.
TEST(NvrtcLibrary, IsLookedForInEachPlaceOnce) {
  for (const char* home : {"/usr/local/cuda", "/opt/cuda"}) {
    const FakeVariable toolkit("CUDA_HOME", home);
    const LibrarySearch found = search_cuda_library({"libx.so"}, "nvidia/x/lib");
    const auto count = [&](const std::string& place) {
      return std::ranges::count(found.candidates, place + "/lib64/libx.so");
    };
    EXPECT_EQ(count("/usr/local/cuda"), 1);
    EXPECT_EQ(count(home), 1);
    EXPECT_EQ(found.places.find("/usr/local/cuda/lib64"), found.places.rfind("/usr/local/cuda/lib64"));
  }
}

/// Drivers load code of their own major version of CUDA, and of earlier ones.
TEST(NvrtcLibrary, IsNoNewerThanTheDriver) {
  const FakeVariable version("FAKE_NVRTC_VERSION", "13000");
  for (const int newest : {0, 13, 14}) EXPECT_TRUE(Nvrtc::open_among({{fake_nvrtc()}, ""}, newest)) << newest;
  const auto found = Nvrtc::open_among({{fake_nvrtc()}, ""}, 12);
  ASSERT_FALSE(found);
  EXPECT_EQ(code_of(found.error()), "G0568");
  EXPECT_NE(
      found.error().message().find("it is version 13.0, and the driver, which is for CUDA 12, does not"),
      std::string::npos)
      << found.error().message();
  EXPECT_NE(help_of(found.error()).find("nvidia-cuda-nvrtc-cu12"), std::string::npos);
  // The first that was found is named, if none fits.
  const auto none = Nvrtc::open_among({{other_library(), fake_nvrtc()}, ""}, 12);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("it has no nvrtcVersion"), std::string::npos);
}

/// The driver's version is asked for where a pipeline's device is chosen.
TEST(NvrtcLibrary, IsChosenForTheDriver) {
  if (Nvrtc::open(11)) GTEST_SKIP() << "this machine has an NVRTC of CUDA 11";
  const FakeCuda fake(FakeSettings{{"FAKE_CUDA_DRIVER_VERSION", "11080"}});
  const auto chosen = choose_gpu("gpu", GpuPurpose::kRun, {});
  ASSERT_FALSE(chosen);
  EXPECT_EQ(code_of(chosen.error()), "G0568");
  EXPECT_NE(chosen.error().message().find("it is version 12.8, and the driver, which is for CUDA 11"),
            std::string::npos)
      << chosen.error().message();
  const auto by_itself = choose_gpu("auto", GpuPurpose::kRun, {});
  ASSERT_TRUE(by_itself) << by_itself.error().message();
  EXPECT_FALSE(by_itself->target);
  EXPECT_NE(by_itself->note.find("a GPU is here, and the pipeline runs on the CPU: NVRTC"), std::string::npos)
      << by_itself->note;
}

}  // namespace
}  // namespace galatea::testing
