// Cubins: compiled once, kept, shared; and what is said when NVRTC refuses a text.
#include "compiler/codegen/cuda/device_code.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "tests/cuda/fake_cuda_control.h"
#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;
using codegen::DeviceCompiler;
using codegen::Nvrtc;

class DeviceCodes : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("galatea_device_code_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    auto nvrtc = Nvrtc::open();
    ASSERT_TRUE(nvrtc) << nvrtc.error().message();
    nvrtc_ = *nvrtc;
    ASSERT_EQ(nvrtc_->path(), fake_cuda_folder() + "/libnvrtc.so.13");
    for (const SampleKernel& sample : {brightness(), broadcast(), resize_u8(true, 3)}) {
      kernels_.push_back(sample.kernel);
      loops_.push_back(lower_verified(sample.kernel, {.gpu = true}));
    }
  }
  void TearDown() override { fs::remove_all(folder_); }
  codegen::CacheOptions cache() const { return {true, folder_, 64 << 20}; }
  std::vector<codegen::KernelJob> all() const {
    std::vector<codegen::KernelJob> out;
    for (size_t k = 0; k < loops_.size(); ++k) out.push_back({&kernels_[k], &loops_[k]});
    return out;
  }

  FakeCuda fake_;
  fs::path folder_;
  std::shared_ptr<const Nvrtc> nvrtc_;
  std::vector<Kernel> kernels_;
  std::vector<LoopKernel> loops_;
};

TEST_F(DeviceCodes, AreKeptOnDiskForEachArchitecture) {
  DeviceCompiler first(nvrtc_, 90, cache());
  auto cold = first.compile(all());
  ASSERT_TRUE(cold) << cold.error().message();
  for (const codegen::DeviceCode& code : *cold) EXPECT_FALSE(code.from_cache);
  DeviceCompiler second(nvrtc_, 90, cache());
  auto warm = second.compile(all());
  ASSERT_TRUE(warm) << warm.error().message();
  for (size_t k = 0; k < warm->size(); ++k) {
    EXPECT_TRUE((*warm)[k].from_cache);
    EXPECT_EQ(*(*warm)[k].cubin, *(*cold)[k].cubin);
  }
  EXPECT_TRUE(second.take_notes().empty());
  DeviceCompiler other(nvrtc_, 75, cache());
  auto older = other.compile(all());
  ASSERT_TRUE(older) << older.error().message();
  EXPECT_FALSE(older->front().from_cache);
  EXPECT_NE(*older->front().cubin, *cold->front().cubin);
}

TEST_F(DeviceCodes, EqualKernelsAreOneWhateverTheirNames) {
  LoopKernel renamed = loops_[0];
  renamed.name = "quite_another_name";
  for (auto& param : renamed.params) param.name += "_x";
  for (auto& buffer : renamed.buffers) buffer.name += "_x";
  DeviceCompiler compiler(nvrtc_, 90, {});
  const codegen::KernelJob both[] = {{kernels_.data(), loops_.data()}, {kernels_.data(), &renamed}};
  auto codes = compiler.compile(both);
  ASSERT_TRUE(codes) << codes.error().message();
  EXPECT_EQ((*codes)[0].cubin, (*codes)[1].cubin);
  EXPECT_FALSE((*codes)[0].from_cache);
  EXPECT_TRUE((*codes)[1].from_cache);
  auto again = compiler.compile(both);
  ASSERT_TRUE(again);
  EXPECT_TRUE((*again)[0].from_cache);
}

TEST_F(DeviceCodes, SayWhatALaunchHasToKnow) {
  DeviceCompiler compiler(nvrtc_, 90, {});
  auto codes = compiler.compile(all());
  ASSERT_TRUE(codes) << codes.error().message();
  EXPECT_EQ((*codes)[0].inputs, 1);
  EXPECT_EQ((*codes)[1].inputs, 2);  // a[i] op b[i]
  EXPECT_TRUE((*codes)[0].can_be_tiled);
  EXPECT_TRUE((*codes)[2].can_be_tiled);  // each block makes the tables that it needs
  EXPECT_FALSE((*codes)[0].may_fail);
  EXPECT_TRUE((*codes)[1].may_fail);
  const Kernel sums = reductions(DType::kU8, DType::kI64, kernel::Combiner::kSum).kernel;
  const LoopKernel loops = lower_verified(sums, {.gpu = true});
  auto code = compiler.compile(std::vector<codegen::KernelJob>{{&sums, &loops}});
  ASSERT_TRUE(code) << code.error().message();
  EXPECT_TRUE((*code)[0].can_be_tiled);  // partial sums come first, and blocks wait for them
  EXPECT_TRUE((*code)[0].shares_phases);
  EXPECT_FALSE((*codes)[0].shares_phases);
}

TEST_F(DeviceCodes, RefusedTextIsSaved) {
  setenv("FAKE_NVRTC_FAIL", "1", 1);
  DeviceCompiler compiler(nvrtc_, 90, cache());
  auto codes = compiler.compile(all());
  unsetenv("FAKE_NVRTC_FAIL");
  ASSERT_FALSE(codes);
  EXPECT_EQ(codes.error().kind, ErrorKind::kInternal);
  EXPECT_NE(codes.error().message().find("asked to fail"), std::string::npos) << codes.error().message();
  const Diagnostic& diagnostic = codes.error().diagnostics.front();
  ASSERT_EQ(diagnostic.notes.size(), 1U);
  const std::string file = diagnostic.notes[0].substr(std::string("the text is saved in ").size());
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(text.find("GALATEA_KERNEL(galatea_kernel, 1, 1)"), std::string::npos) << file;
  for (const auto& entry : fs::directory_iterator(fs::temp_directory_path()))
    if (entry.path().filename().string().starts_with("galatea-refused-")) fs::remove(entry.path());
  // What failed is asked for again.
  auto later = compiler.compile(all());
  ASSERT_TRUE(later) << later.error().message();
  EXPECT_FALSE(later->front().from_cache);
}

TEST_F(DeviceCodes, UnknownArchitectureIsNamed) {
  DeviceCompiler compiler(nvrtc_, 61, {});
  auto codes = compiler.compile(all());
  ASSERT_FALSE(codes);
  EXPECT_EQ(codes.error().kind, ErrorKind::kSystem);
  EXPECT_NE(codes.error().message().find("does not compile for sm_61"), std::string::npos)
      << codes.error().message();
}

}  // namespace
}  // namespace galatea::testing
