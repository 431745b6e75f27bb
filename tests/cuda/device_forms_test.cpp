// Kernels and launches of a GPU found by their forms: what a warm start does not make, and what it must not
// take for its own.
#include <cstring>
#include <filesystem>
#include <fstream>

#include "compiler/codegen/cuda/device_code.h"
#include "compiler/codegen/kernel_cache.h"
#include "tests/cuda/fake_cuda_control.h"
#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;
using codegen::DeviceCompiler;
using codegen::DeviceKernelFacts;
using codegen::DeviceLaunchCode;
using codegen::Nvrtc;

/// Compilers stand for processes: nothing but the folder is common to two.
class DeviceForms : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("galatea_device_forms_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    nvrtc_ = open();
    ASSERT_TRUE(nvrtc_);
    for (const SampleKernel& sample : {brightness(), broadcast(), resize_u8(true, 3),
                                       reductions(DType::kU8, DType::kI64, kernel::Combiner::kSum)})
      kernels_.push_back(sample.kernel);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::shared_ptr<const Nvrtc> open() {
    auto nvrtc = Nvrtc::open();
    EXPECT_TRUE(nvrtc) << nvrtc.error().message();
    return nvrtc ? *nvrtc : nullptr;
  }
  DeviceCompiler compiler(int architecture = 90) const {
    return {nvrtc_, architecture, codegen::CacheOptions{true, folder_, 64 << 20}};
  }
  std::vector<const Kernel*> pointers() const {
    std::vector<const Kernel*> out;
    for (const Kernel& kernel : kernels_) out.push_back(&kernel);
    return out;
  }
  std::vector<DeviceKernelFacts> facts() const {
    std::vector<DeviceKernelFacts> out;
    for (const Kernel& kernel : kernels_) {
      const LoopKernel loops = lower_verified(kernel, options_);
      out.push_back({codegen::describe_device_kernel(kernel, loops), kernel::layout_scratch(loops).bytes});
    }
    return out;
  }

  struct Compiled {
    std::vector<DeviceLaunchCode> code;
    std::vector<size_t> lowered;  ///< kernels, in order, of launches whose loops were asked for
    std::string error;
  };
  /// Launches of the kernels with these numbers, whose loops are made when they are asked for.
  Compiled compile(DeviceCompiler& with, const std::vector<std::vector<size_t>>& launches) {
    std::vector<LoopKernel> loops(kernels_.size());
    std::vector<std::vector<codegen::KernelJob>> jobs;
    for (const std::vector<size_t>& launch : launches) {
      jobs.emplace_back();
      for (const size_t k : launch) jobs.back().push_back({&kernels_[k], &loops[k], &options_});
    }
    Compiled out;
    auto code = with.compile(jobs, [&](std::span<const size_t> unknown) {
      for (const size_t launch : unknown)
        for (const size_t k : launches[launch]) {
          loops[k] = lower_verified(kernels_[k], options_);
          out.lowered.push_back(k);
        }
    });
    if (code)
      out.code = *code;
    else
      out.error = code.error().message();
    return out;
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(folder_)) out.push_back(entry.path());
    std::ranges::sort(out);
    return out;
  }
  static std::string read(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  }
  /// The key that a file of the cache repeats; its length stands behind magic, format and header length.
  static std::string key_of(const std::string& bytes) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data() + 16, sizeof(length));
    return bytes.substr(56, length);
  }
  /// The same file, whole and well, with other bytes for its key.
  static void replace(const fs::path& file, const std::string& bytes) {
    write(file, codegen::encode_entry(key_of(read(file)), {bytes, 0}));
  }

  FakeCuda fake_;
  fs::path folder_;
  std::shared_ptr<const Nvrtc> nvrtc_;
  std::vector<Kernel> kernels_;
  const kernel::ScheduleOptions options_ = {.gpu = true};
};

TEST_F(DeviceForms, WhatIsKnownOfAKernelComesBack) {
  DeviceCompiler first = compiler(), second = compiler();
  for (const DeviceKernelFacts& found : first.find(pointers(), options_)) EXPECT_EQ(found.device, nullptr);
  const std::vector<DeviceKernelFacts> made = facts();
  first.keep(pointers(), options_, made);
  for (DeviceCompiler* each : {&first, &second}) {
    const std::vector<DeviceKernelFacts> found = each->find(pointers(), options_);
    ASSERT_EQ(found.size(), made.size());
    for (size_t k = 0; k < found.size(); ++k) {
      ASSERT_TRUE(found[k].device) << k;
      EXPECT_EQ(found[k].device->inputs, made[k].device->inputs);
      EXPECT_EQ(found[k].device->can_be_tiled, made[k].device->can_be_tiled);
      EXPECT_EQ(found[k].device->shares_phases, made[k].device->shares_phases);
      EXPECT_EQ(found[k].device->may_fail, made[k].device->may_fail);
      EXPECT_EQ(found[k].device->divisors, made[k].device->divisors);
      EXPECT_EQ(found[k].device->cubin, nullptr);
      EXPECT_EQ(codegen::to_text(found[k]), codegen::to_text(made[k]));
    }
    EXPECT_TRUE(each->take_notes().empty());
  }
}

/// Another architecture, another NVRTC, another schedule, another kernel.
TEST_F(DeviceForms, WhatIsAnothersIsNotFound) {
  DeviceCompiler first = compiler();
  first.keep(pointers(), options_, facts());
  const Compiled cold = compile(first, {{0, 1}, {2}});
  ASSERT_EQ(cold.error, "");
  const auto finds_nothing = [&](DeviceCompiler other, const std::string& what) {
    for (const DeviceKernelFacts& found : other.find(pointers(), options_))
      EXPECT_EQ(found.device, nullptr) << what;
    EXPECT_EQ(compile(other, {{0, 1}, {2}}).lowered, (std::vector<size_t>{0, 1, 2})) << what;
    EXPECT_TRUE(other.take_notes().empty()) << what;
  };
  finds_nothing(DeviceCompiler(nvrtc_, 75, codegen::CacheOptions{true, folder_, 64 << 20}), "sm_75");
  {
    const FakeVariable version("FAKE_NVRTC_VERSION", "12090");
    nvrtc_ = open();
    finds_nothing(DeviceCompiler(nvrtc_, 90, codegen::CacheOptions{true, folder_, 64 << 20}), "NVRTC 12.9");
  }
  nvrtc_ = open();
  DeviceCompiler same = compiler();
  for (const DeviceKernelFacts& found : same.find(pointers(), {.gpu = true, .fuse = false}))
    EXPECT_EQ(found.device, nullptr);
  // The order of the kernels of a launch is that of their numbers in a call.
  EXPECT_TRUE(compile(same, {{0, 1}}).lowered.empty());
  EXPECT_EQ(compile(same, {{1, 0}}).lowered, (std::vector<size_t>{1, 0}));
}

TEST_F(DeviceForms, OnlyLaunchesThatAreNotKeptAskForLoops) {
  DeviceCompiler first = compiler();
  const Compiled cold = compile(first, {{0, 1}, {2}});
  ASSERT_EQ(cold.error, "");
  EXPECT_EQ(cold.lowered, (std::vector<size_t>{0, 1, 2}));
  DeviceCompiler second = compiler();
  const Compiled warm = compile(second, {{0, 1}, {2}});
  EXPECT_TRUE(warm.lowered.empty());
  for (size_t l = 0; l < 2; ++l) {
    EXPECT_TRUE(warm.code[l].from_cache);
    EXPECT_EQ(*warm.code[l].cubin, *cold.code[l].cubin);
  }
  // One that is new: its arms are kept by their texts, and linked.
  const size_t before = entries().size();
  const Compiled more = compile(second, {{2}, {1, 0}});
  EXPECT_EQ(more.lowered, (std::vector<size_t>{1, 0}));
  EXPECT_TRUE(more.code[0].from_cache);
  EXPECT_FALSE(more.code[1].from_cache);
  EXPECT_EQ(entries().size(), before + 2) << "what calls the arms, and the launch";
  // Without a cache on the disk a compiler knows what it made.
  DeviceCompiler alone(nvrtc_, 90, {});
  EXPECT_EQ(compile(alone, {{0, 1}}).lowered, (std::vector<size_t>{0, 1}));
  EXPECT_TRUE(compile(alone, {{0, 1}}).lowered.empty());
}

/// Kernels of other forms may come to the same text: it is compiled once, and kept for each.
TEST_F(DeviceForms, OneTextOfTwoFormsIsCompiledOnce) {
  kernels_.push_back(kernels_[0]);
  // How stores go past a processor's cache is none of the text's.
  kernels_.back().outputs.front().streaming = !kernels_.back().outputs.front().streaming;
  DeviceCompiler first = compiler();
  const size_t other = kernels_.size() - 1;
  const Compiled cold = compile(first, {{0}, {other}});
  ASSERT_EQ(cold.error, "");
  EXPECT_EQ(cold.lowered, (std::vector<size_t>{0, other}));
  ASSERT_EQ(*cold.code[0].cubin, *cold.code[1].cubin);
  EXPECT_FALSE(cold.code[0].from_cache);
  EXPECT_TRUE(cold.code[1].from_cache);
  EXPECT_EQ(entries().size(), 2U);
  DeviceCompiler second = compiler();
  EXPECT_TRUE(compile(second, {{other}}).lowered.empty());
}

TEST_F(DeviceForms, DamagedEntriesCostANoteAndTheirWork) {
  DeviceCompiler first = compiler();
  first.keep(pointers(), options_, facts());
  const Compiled cold = compile(first, {{0, 1}, {2}});
  ASSERT_EQ(cold.error, "");
  const std::vector<fs::path> files = entries();
  std::vector<std::string> good;
  for (const fs::path& file : files) good.push_back(read(file));
  const auto with_each = [&](const char* what, const auto& damage) {
    SCOPED_TRACE(what);
    for (size_t f = 0; f < files.size(); ++f) write(files[f], damage(good[f]));
    DeviceCompiler damaged = compiler();
    for (const DeviceKernelFacts& found : damaged.find(pointers(), options_))
      EXPECT_EQ(found.device, nullptr);
    damaged.keep(pointers(), options_, facts());
    const Compiled again = compile(damaged, {{0, 1}, {2}});
    ASSERT_EQ(again.error, "");
    EXPECT_EQ(again.lowered, (std::vector<size_t>{0, 1, 2}));
    for (size_t l = 0; l < 2; ++l) EXPECT_EQ(*again.code[l].cubin, *cold.code[l].cubin);
    const std::vector<std::string> notes = damaged.take_notes();
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_NE(notes[0].find("could not be used"), std::string::npos) << notes[0];
    // They were replaced.
    DeviceCompiler after = compiler();
    for (const DeviceKernelFacts& found : after.find(pointers(), options_)) EXPECT_NE(found.device, nullptr);
    EXPECT_TRUE(compile(after, {{0, 1}, {2}}).lowered.empty());
    EXPECT_TRUE(after.take_notes().empty());
  };
  with_each("cut off", [](const std::string& bytes) { return bytes.substr(0, bytes.size() / 2); });
  with_each("empty", [](const std::string&) { return std::string(); });
  with_each("foreign", [](const std::string&) { return std::string(4096, 'x'); });
  with_each("one bit", [](std::string bytes) {
    bytes[bytes.size() - 1] = static_cast<char>(bytes[bytes.size() - 1] ^ 4);
    return bytes;
  });
}

/// A file that is whole, under the right key, and says what no build of galatea writes.
TEST_F(DeviceForms, FactsThatDoNotFitTheirKernelAreNotBelieved) {
  kernels_.resize(1);
  const auto find = [&](std::vector<std::string>* notes) {
    DeviceCompiler compiler = this->compiler();
    const auto found = compiler.find(pointers(), options_);
    *notes = compiler.take_notes();
    return found.at(0).device != nullptr;
  };
  compiler().keep(pointers(), options_, facts());
  ASSERT_EQ(entries().size(), 1U);
  const fs::path file = entries().front();
  const std::string good = codegen::to_text(facts()[0]);
  const std::string scratch = good.substr(good.find('\n'));
  std::vector<std::string> notes;
  replace(file, good);
  EXPECT_TRUE(find(&notes));
  EXPECT_TRUE(notes.empty());
  const std::vector<std::string> wrong = {"x",
                                          "\n",
                                          "inputs 1 tiled 1 shared 0",
                                          "inputs 2 tiled 1 shared 0" + scratch,
                                          "inputs -1 tiled 1 shared 0" + scratch,
                                          "inputs 99999999999999999999 tiled 1 shared 0" + scratch,
                                          "inputs 1 tiled 2 shared 0" + scratch,
                                          "inputs 1 tiled 1" + scratch,
                                          "inputs 1 tiled 1 shared 0 " + scratch,
                                          "inputs 01 tiled 1 shared 0" + scratch,
                                          "inputs 1 tiled 1 shared 0\n",
                                          "inputs 1 tiled 1 shared 0\n1:f32",
                                          "inputs 1 tiled 1 shared 0\np99:i64",
                                          "inputs 1 tiled 1 shared 0\nload(in0:u8, 0:i64)",
                                          "inputs 1 tiled 1 shared 0\n" + std::string(9999, '('),
                                          std::string("inputs 1\0tiled 1 shared 0", 26) + scratch};
  for (const std::string& text : wrong) {
    replace(file, text);
    EXPECT_FALSE(find(&notes)) << text.substr(0, 60);
    ASSERT_EQ(notes.size(), 1U) << text.substr(0, 60);
    EXPECT_NE(notes[0].find("what it says about its kernel does not fit it"), std::string::npos) << notes[0];
  }
}

}  // namespace
}  // namespace galatea::testing
