// Cubins: compiled once, kept, shared; and what is said when NVRTC refuses a text.
#include "compiler/codegen/cuda/device_code.h"

#include <array>
#include <cstdlib>
#include <fstream>

#include "tests/cuda/fake_cuda_control.h"
#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"
#include "tests/support/own_folder.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;
using codegen::DeviceCompiler;
using codegen::Nvrtc;

class DeviceCodes : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(refused_);
    auto nvrtc = Nvrtc::open();
    ASSERT_TRUE(nvrtc) << nvrtc.error().message();
    nvrtc_ = *nvrtc;
    ASSERT_EQ(nvrtc_->path(), fake_cuda_folder() + "/libnvrtc.so.13");
    for (const SampleKernel& sample : {brightness(), broadcast(), resize_u8(true, 3)}) {
      kernels_.push_back(sample.kernel);
      loops_.push_back(lower_verified(sample.kernel, {.gpu = true}));
    }
  }
  void TearDown() override {
    fs::remove_all(folder_);
    fs::remove_all(refused_);
  }
  codegen::CacheOptions cache() const { return {true, folder_, 64 << 20}; }
  std::vector<codegen::KernelJob> all() const {
    std::vector<codegen::KernelJob> out;
    for (size_t k = 0; k < loops_.size(); ++k) out.push_back({&kernels_[k], &loops_[k]});
    return out;
  }

  std::vector<std::vector<codegen::KernelJob>> launches(
      const std::vector<std::vector<size_t>>& kernels) const;
  /// Files of the program cache.
  size_t num_entries() const {
    size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      count += entry.is_regular_file() ? 1U : 0U;
    return count;
  }

  FakeCuda fake_;
  const fs::path folder_ = own_path("device_code"), refused_ = own_path("refused");
  /// Where refused texts are saved: other programs save, read and remove theirs meanwhile.
  const FakeVariable temporary_{"TMPDIR", refused_.string()};
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
  setenv("FAKE_NVRTC_FAIL", "6", 1);
  DeviceCompiler compiler(nvrtc_, 90, cache());
  auto codes = compiler.compile(all());
  unsetenv("FAKE_NVRTC_FAIL");
  ASSERT_FALSE(codes);
  EXPECT_EQ(codes.error().kind, ErrorKind::kInternal);
  EXPECT_EQ(code_of(codes.error()), "G0561");
  EXPECT_NE(codes.error().message().find("asked to fail"), std::string::npos) << codes.error().message();
  const Diagnostic& diagnostic = codes.error().diagnostics.front();
  ASSERT_EQ(diagnostic.notes.size(), 1U);
  const std::string file = diagnostic.notes[0].substr(std::string("the text is saved in ").size());
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(text.find("GALATEA_KERNEL(galatea_kernel, 1, 1)"), std::string::npos) << file;
  // What failed is asked for again.
  auto later = compiler.compile(all());
  ASSERT_TRUE(later) << later.error().message();
  EXPECT_FALSE(later->front().from_cache);
}

/// In a folder where everybody may write, the file of the text may have been laid there.
TEST_F(DeviceCodes, RefusedTextIsWrittenToAFileOfOurOwn) {
  const FakeVariable temporary("TMPDIR", folder_.string()), fails("FAKE_NVRTC_FAIL", "6");
  fs::create_directories(folder_ / "elsewhere");
  const auto saved_in = [&]() -> fs::path {
    DeviceCompiler compiler(nvrtc_, 90, {});
    auto codes = compiler.compile(std::vector<codegen::KernelJob>{all().front()});
    EXPECT_FALSE(codes);
    if (codes || codes.error().diagnostics.front().notes.empty()) return {};
    return codes.error().diagnostics.front().notes[0].substr(std::string("the text is saved in ").size());
  };
  const fs::path file = saved_in(), other = folder_ / "elsewhere" / "file";
  ASSERT_EQ(file.parent_path(), folder_);
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  std::ofstream(other) << "precious";
  fs::remove(file);
  fs::create_symlink(other, file);
  EXPECT_EQ(saved_in(), file);
  EXPECT_FALSE(fs::is_symlink(file));
  EXPECT_EQ(fs::file_size(other), 8U);
  // What cannot be replaced stays, and the text has another name.
  fs::remove(file);
  fs::create_directories(file / "of somebody");
  const fs::path beside = saved_in();
  EXPECT_NE(beside, file);
  EXPECT_EQ(beside.parent_path(), folder_);
  EXPECT_TRUE(fs::is_regular_file(beside));
  EXPECT_TRUE(fs::exists(file / "of somebody"));
}

/// A library that cannot do its work is no fault of the text, and none of ours.
TEST_F(DeviceCodes, AnNvrtcThatFailsIsTheMachines) {
  DeviceCompiler compiler(nvrtc_, 90, cache());
  Result<std::vector<codegen::DeviceCode>> codes;
  {
    const FakeVariable fails("FAKE_NVRTC_FAIL", "7");
    codes = compiler.compile(all());
  }
  ASSERT_FALSE(codes);
  EXPECT_EQ(codes.error().kind, ErrorKind::kSystem);
  EXPECT_EQ(code_of(codes.error()), "G0569");
  EXPECT_NE(
      codes.error().message().find("NVRTC_ERROR_BUILTIN_OPERATION_FAILURE (7)\nfake NVRTC: asked to fail"),
      std::string::npos)
      << codes.error().message();
  EXPECT_TRUE(codes.error().diagnostics.front().notes.empty());
  EXPECT_NE(codes.error().diagnostics.front().help.find("libnvrtc-builtins"), std::string::npos);
  ASSERT_TRUE(compiler.compile(all()));
}

/// Launches of the kernels with these numbers.
std::vector<std::vector<codegen::KernelJob>> DeviceCodes::launches(
    const std::vector<std::vector<size_t>>& kernels) const {
  std::vector<std::vector<codegen::KernelJob>> out;
  for (const std::vector<size_t>& launch : kernels) {
    out.emplace_back();
    for (const size_t k : launch) out.back().push_back({&kernels_[k], &loops_[k]});
  }
  return out;
}

TEST_F(DeviceCodes, ArmsAreCompiledOnceForAllLaunches) {
  DeviceCompiler first(nvrtc_, 90, cache());
  auto one = first.compile(launches({{0, 1}}));
  ASSERT_TRUE(one) << one.error().message();
  EXPECT_FALSE(one->front().from_cache);
  EXPECT_EQ(num_entries(), 4U);  // two arms, what calls them, and the launch
  // Another process, in which one arm is new: the arm, two functions that call arms, and two launches.
  DeviceCompiler second(nvrtc_, 90, cache());
  auto more = second.compile(launches({{0, 2}, {2, 0, 1}, {0, 1}}));
  ASSERT_TRUE(more) << more.error().message();
  EXPECT_EQ(num_entries(), 9U);
  EXPECT_FALSE((*more)[0].from_cache);
  EXPECT_FALSE((*more)[1].from_cache);
  EXPECT_TRUE((*more)[2].from_cache);
  EXPECT_EQ(*(*more)[2].cubin, *one->front().cubin);
  EXPECT_TRUE(first.take_notes().empty());
  EXPECT_TRUE(second.take_notes().empty());
  // A kernel that comes twice is one arm, of two numbers: nothing to link.
  auto twice = second.compile(launches({{1, 1}}));
  ASSERT_TRUE(twice) << twice.error().message();
  EXPECT_EQ(num_entries(), 10U);
}

TEST_F(DeviceCodes, ALaunchOfOneTextIsOneEntry) {
  DeviceCompiler compiler(nvrtc_, 90, cache(), codegen::ArmForm::kTogether);
  auto code = compiler.compile(launches({{0, 1}, {1, 2}}));
  ASSERT_TRUE(code) << code.error().message();
  EXPECT_EQ(num_entries(), 2U);
  // The same launch of a linked form: it is there.
  DeviceCompiler linked(nvrtc_, 90, cache());
  auto again = linked.compile(launches({{1, 2}}));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->front().from_cache);
}

TEST_F(DeviceCodes, WithoutALinkerALaunchIsOneText) {
  for (const auto& [name, value, why] : std::vector<std::array<const char*, 3>>{
           {"FAKE_NVRTC_VERSION", "99000", "(libnvJitLink.so.99) was not found"},
           {"FAKE_NVRTC_VERSION", "11080", "no nvJitLink for NVRTC 11.8"},
           {"FAKE_NVJITLINK_VERSION", "12060", "older than NVRTC 12.8"},
           {"FAKE_NVJITLINK_VERSION", "13000", "is version 13.0"}}) {
    fs::remove_all(folder_);
    setenv(name, value, 1);
    auto nvrtc = Nvrtc::open();
    ASSERT_TRUE(nvrtc) << nvrtc.error().message();
    const auto linker = codegen::DeviceLinker::open((*nvrtc)->major_version(), (*nvrtc)->minor_version());
    DeviceCompiler compiler(*nvrtc, 90, cache());
    auto code = compiler.compile(launches({{0, 1}}));
    unsetenv(name);
    ASSERT_FALSE(linker) << why;
    EXPECT_NE(linker.error().message().find(why), std::string::npos) << linker.error().message();
    EXPECT_EQ(linker.error().kind, ErrorKind::kSystem);
    ASSERT_TRUE(code) << code.error().message();
    EXPECT_EQ(num_entries(), 1U) << why;
    EXPECT_TRUE(compiler.take_notes().empty()) << why;
  }
}

TEST_F(DeviceCodes, WhatCannotBeLinkedIsOneTextAndANote) {
  setenv("FAKE_NVJITLINK_FAIL", "1", 1);
  DeviceCompiler compiler(nvrtc_, 90, cache());
  auto code = compiler.compile(launches({{0, 1}, {1, 2}}));
  unsetenv("FAKE_NVJITLINK_FAIL");
  ASSERT_TRUE(code) << code.error().message();
  const std::vector<std::string> notes = compiler.take_notes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("asked to fail"), std::string::npos) << notes[0];
  const size_t at = notes[0].find("the text is saved in ");
  ASSERT_NE(at, std::string::npos) << notes[0];
  const size_t begin = at + std::string("the text is saved in ").size();
  std::ifstream in(notes[0].substr(begin, notes[0].find(';', begin) - begin));
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(text.find("GALATEA_RUN(galatea_arm_"), std::string::npos) << notes[0];
  // Linking is not tried again, and nothing is said twice.
  auto later = compiler.compile(launches({{0, 2}}));
  ASSERT_TRUE(later) << later.error().message();
  EXPECT_TRUE(compiler.take_notes().empty());
  const size_t before = num_entries();
  auto last = compiler.compile(launches({{0, 1, 2}}));
  ASSERT_TRUE(last) << last.error().message();
  EXPECT_EQ(num_entries(), before + 1);
}

/// An object as another NVRTC, or nothing at all, might have left it.
TEST_F(DeviceCodes, TheLinkerSaysWhatItRefuses) {
  auto linker = codegen::DeviceLinker::open(nvrtc_->major_version(), nvrtc_->minor_version());
  ASSERT_TRUE(linker) << linker.error().message();
  EXPECT_EQ((*linker)->path(), fake_cuda_folder() + "/libnvJitLink.so.12");
  auto object = nvrtc_->compile_to_object("", "a.cu", 75, 128);
  ASSERT_TRUE(object) << object.error().message();
  const auto other = std::make_shared<const std::string>(*object),
             none = std::make_shared<const std::string>("?");
  for (const auto& [wrong, why] :
       {std::pair{other, "another architecture"}, {none, "no relocatable object"}}) {
    const std::shared_ptr<const std::string> objects[] = {wrong};
    auto linked = (*linker)->link(objects, "a", 90);
    ASSERT_FALSE(linked);
    EXPECT_EQ(linked.error().kind, ErrorKind::kInternal);
    EXPECT_NE(linked.error().message().find(why), std::string::npos) << linked.error().message();
  }
}

TEST_F(DeviceCodes, UnknownArchitectureIsNamed) {
  DeviceCompiler compiler(nvrtc_, 61, {});
  auto codes = compiler.compile(all());
  ASSERT_FALSE(codes);
  EXPECT_EQ(codes.error().kind, ErrorKind::kSystem);
  EXPECT_EQ(code_of(codes.error()), "G0568");
  EXPECT_NE(codes.error().diagnostics.front().help.find("install an older version"), std::string::npos);
  EXPECT_NE(codes.error().message().find("does not compile for sm_61"), std::string::npos)
      << codes.error().message();
}

}  // namespace
}  // namespace galatea::testing
