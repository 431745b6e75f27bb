// The CUDA text of kernels, compiled for the host, computes what stages mean; NVRTC accepts the same text.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/fault.h"
#include "compiler/codegen/cuda/emit.h"
#include "compiler/codegen/cuda/nvrtc.h"
#include "compiler/codegen/cuda/shim_backend.h"
#include "compiler/codegen/parallel.h"
#include "tests/kernel/fuzz_kernel.h"
#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"
#include "tests/shim/scalar_kernels.h"
#include "tests/support/build_folder.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

/// Compiled text is kept beside the build, not in the user's cache.
const int kCacheFolder = setenv("GALATEA_CACHE_DIR", build_folder("/test-cache").c_str(), 0);

struct Prepared {
  std::string name;
  SampleKernel sample;
  LoopKernel loops;
};

/// Every kernel in two schedules, in one text.
const std::vector<Prepared>& prepared() {
  static const std::vector<Prepared> kAll = [] {
    std::vector<Prepared> out;
    std::vector<std::pair<std::string, SampleKernel>> samples = sample_kernels();
    for (auto& [name, sample] : scalar_kernels())
      out.push_back({name, sample, lower_verified(sample.kernel, {.gpu = true, .fuse = false})});
    for (auto& [name, sample] : tiled_kernels())
      out.push_back({name, sample, lower_verified(sample.kernel, {.gpu = true})});
    for (auto& [name, sample] : samples)
      for (const bool fuse : {true, false})
        out.push_back({name + (fuse ? "" : "_apart"), sample,
                       lower_verified(sample.kernel, {.gpu = true, .fuse = fuse})});
    return out;
  }();
  return kAll;
}
std::string whole_text() {
  std::string text;
  for (const Prepared& p : prepared()) text += codegen::emit_cuda(p.loops, p.name) + "\n";
  return text;
}

TEST(Shim, TextOnTheHostEqualsStages) {
  auto library = codegen::ShimLibrary::compile(whole_text());
  if (!library && library.error().kind == ErrorKind::kSystem) GTEST_SKIP() << library.error().message();
  ASSERT_TRUE(library) << library.error().message();
  for (const Prepared& p : prepared()) {
    for (size_t k = 0; k < p.sample.params.size(); ++k) {
      const std::vector<uint64_t>& params = p.sample.params[k];
      const auto expected = run_stages(p.sample.kernel, params, k + 1);
      for (const codegen::ShimOptions& options :
           {codegen::ShimOptions{1, false}, codegen::ShimOptions{32, false}, codegen::ShimOptions{33, true},
            codegen::ShimOptions{8, true, 3}, codegen::ShimOptions{256, false, 5}}) {
        if (options.tiles > 1 && !codegen::can_be_tiled(p.loops)) continue;
        Arena arena(p.sample.kernel, params, k + 1);
        (*library)->run(
            p.name,
            arena.call(static_cast<uint64_t>(value_of(kernel::layout_scratch(p.loops).bytes, params))),
            options);
        ASSERT_EQ(arena.take_outputs(), expected)
            << p.name << ", parameters " << k << ", " << options.threads << " threads"
            << (options.permuted ? ", permuted\n" : "\n") << codegen::emit_cuda(p.loops, p.name);
      }
    }
  }
}

TEST(Shim, RandomKernelsEqualStages) {
  const auto number = static_cast<uint64_t>(cases(60));
  std::vector<LoopKernel> loops;
  std::string text;
  for (uint64_t seed = 0; seed < number; ++seed) {
    const kernel::Kernel kernel = make_fuzz_case(seed).kernel;
    loops.push_back(lower_verified(kernel, {.gpu = true, .random_seed = seed}));
    text += codegen::emit_cuda(loops.back(), "fuzz_" + std::to_string(seed));
  }
  auto library = codegen::ShimLibrary::compile(text);
  if (!library && library.error().kind == ErrorKind::kSystem) GTEST_SKIP() << library.error().message();
  ASSERT_TRUE(library) << library.error().message();
  for (uint64_t seed = 0; seed < number; ++seed) {
    const LoopKernel& kernel = loops[seed];
    const FuzzCase c = make_fuzz_case(seed);
    const Backend backend{
        "cuda-shim", [&](const kernel::Kernel&, const runtime::KernelCall& call, uint64_t) {
          const int64_t bytes = value_of(kernel::layout_scratch(kernel).bytes, c.params);
          std::vector<uint64_t> scratch(static_cast<size_t>(bytes) / 8 + 64, 0xA5A5A5A5A5A5A5A5U);
          runtime::KernelCall with_scratch = call;
          auto* const aligned =
              reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~uintptr_t{63});
          with_scratch.scratch = bytes > 0 ? aligned : nullptr;
          const uint32_t tiles = codegen::can_be_tiled(kernel) ? 1 + static_cast<uint32_t>(seed % 4) : 1;
          (*library)->run("fuzz_" + std::to_string(seed), with_scratch, {17, seed % 2 == 0, tiles});
        }};
    if (auto mismatch = find_mismatch(c, backend)) ADD_FAILURE() << *mismatch << "\n" << describe(c);
  }
}

TEST(Shim, TextIsCompiledOnce) {
  const std::string text =
      "extern \"C\" __attribute__((visibility(\"default\"))) void twice(const galatea_call*, int, int) {}\n";
  auto first = codegen::ShimLibrary::compile(text);
  if (!first && first.error().kind == ErrorKind::kSystem) GTEST_SKIP() << first.error().message();
  ASSERT_TRUE(first) << first.error().message();
  auto second = codegen::ShimLibrary::compile(text);
  ASSERT_TRUE(second) << second.error().message();
  EXPECT_TRUE((*second)->from_cache());
}

/// A build with sanitizers has the kernels under them too.
TEST(Shim, TextIsUnderTheSanitizersOfTheBuild) {
  if (!testing::kSanitized) GTEST_SKIP() << "this build has no sanitizers";
  auto library = codegen::ShimLibrary::compile(
      "GALATEA_KERNEL(overrun, 0, 0) {\n"
      "  GALATEA_SAMPLE\n"
      "  GALATEA_SHARED(16)\n"
      "  shared[16 + call.params[0]] = 1;\n"
      "  if (shared[16 + call.params[0]] != 0) GALATEA_OR(call.status, 1u);\n"
      "}\n");
  if (!library && library.error().kind == ErrorKind::kSystem) GTEST_SKIP() << library.error().message();
  ASSERT_TRUE(library) << library.error().message();
  const uint64_t number = 3;
  uint32_t status = 0;
  runtime::KernelCall call;
  call.params = &number;
  call.status = &status;
  EXPECT_DEATH((*library)->run("overrun", call), "AddressSanitizer|out of bounds");
}

TEST(Shim, MissingCompilerIsNamed) {
  const char* before = std::getenv("GALATEA_CXX");
  const std::string saved = before ? before : "";
  setenv("GALATEA_CXX", "no-such-compiler-anywhere", 1);
  auto backend = codegen::make_shim_backend();
  if (before)
    setenv("GALATEA_CXX", saved.c_str(), 1);
  else
    unsetenv("GALATEA_CXX");
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().kind, ErrorKind::kSystem);
  EXPECT_NE(backend.error().message().find("no-such-compiler-anywhere"), std::string::npos)
      << backend.error().message();
}

/// In a process of its own, where the cache lies on a disk of `size`: what compiling a text says. Status 77:
/// this user may not mount anything.
[[noreturn]] void compile_on_disk_of(const char* size, const std::string& folder) {
  const bool is_alone = ::unshare(::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) == 0 &&
                        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  if (!is_alone || ::mount("none", folder.c_str(), "tmpfs", 0, size) != 0) ::_exit(77);
  setenv("GALATEA_CACHE_DIR", folder.c_str(), 1);
  const auto library = codegen::ShimLibrary::compile(
      "extern const char large[1000000] = {1};\n"
      "GALATEA_KERNEL(nothing, 0, 0) {\n"
      "  GALATEA_SAMPLE\n"
      "}\n");
  if (library) ::_exit(1);
  std::fprintf(stderr, "%s", library.error().message().c_str());
  ::_exit(library.error().kind == ErrorKind::kSystem ? 0 : 2);
}

// A linker's own words do not fit on a full disk: what is left looks like a mistake in the text.
TEST(Shim, FullDiskIsToldAsSuch) {
  const std::string folder = ::testing::TempDir() + "galatea_small_disk." + std::to_string(::getpid());
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  // One page holds no text; half a megabyte holds it, but not the megabyte that the linker makes of it.
  for (const char* size : {"size=4k", "size=500k"}) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(pipe[1], 2);
      compile_on_disk_of(size, folder);
    }
    ::close(pipe[1]);
    const std::string words = read_to_end(pipe[0]).value_or("");
    ::close(pipe[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
      ::rmdir(folder.c_str());
      GTEST_SKIP() << "this user may not mount a small disk";
    }
    EXPECT_EQ(status, 0) << words;
    EXPECT_NE(words.find("cannot write " + folder), std::string::npos) << words;
    EXPECT_NE(words.find("No space left on device"), std::string::npos) << words;
  }
  ::rmdir(folder.c_str());
}

TEST(Shim, EndedCompilerIsNoMistakeInTheText) {
  const std::string compiler = ::testing::TempDir() + "galatea_ended_compiler." + std::to_string(::getpid());
  ASSERT_EQ(write_whole_file(compiler, "#!/bin/sh\nkill -9 $$\n"), 0);
  ASSERT_EQ(::chmod(compiler.c_str(), 0700), 0);
  const std::optional<std::string> before =
      std::getenv("GALATEA_CXX") ? std::optional<std::string>(std::getenv("GALATEA_CXX")) : std::nullopt;
  setenv("GALATEA_CXX", compiler.c_str(), 1);
  const auto library = codegen::ShimLibrary::compile("GALATEA_KERNEL(ended, 0, 0) {\n  GALATEA_SAMPLE\n}\n");
  before ? setenv("GALATEA_CXX", before->c_str(), 1) : unsetenv("GALATEA_CXX");
  ::unlink(compiler.c_str());
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().kind, ErrorKind::kSystem);
  EXPECT_NE(library.error().message().find("ended by signal 9"), std::string::npos)
      << library.error().message();
}

/// The host's compiler has read them all (Shim.TextOnTheHostEqualsStages), so NVRTC gets as many parts of them
/// as the scale says, for one architecture. GALATEA_TEST_ALL_ARCHITECTURES=1: all for all, also without fusion.
TEST(Nvrtc, AcceptsEveryKernel) {
  if (testing::leaves_foreign_work()) GTEST_SKIP() << testing::kForeignWork;
  auto nvrtc = codegen::Nvrtc::open();
  if (!nvrtc) GTEST_SKIP() << nvrtc.error().message();
  const bool all = std::getenv("GALATEA_TEST_ALL_ARCHITECTURES") != nullptr;
  constexpr size_t kParts = 12;
  std::vector<std::string> texts(kParts, codegen::cuda_prelude());
  size_t number = 0;
  for (const Prepared& p : prepared())
    if (all || !p.name.ends_with("_apart"))
      texts[number++ % kParts] += codegen::emit_cuda(p.loops, p.name) + "\n";
  std::vector<std::pair<int, size_t>> jobs;
  const size_t parts = all ? kParts : static_cast<size_t>(scaled(kParts));
  for (const int architecture : (*nvrtc)->architectures())
    for (size_t part = 0; part < parts; ++part)
      if (all || architecture == 90) jobs.emplace_back(architecture, part);
  std::vector<std::string> problems(jobs.size());
  codegen::for_each_parallel(jobs.size(), [&](size_t j) {
    const auto [architecture, part] = jobs[j];
    auto cubin = (*nvrtc)->compile(texts[part], "samples.cu", architecture);
    if (!cubin)
      problems[j] = cubin.error().message();
    else if (!cubin->starts_with("\x7f"
                                 "ELF"))
      problems[j] = "what came for sm_" + std::to_string(architecture) + " is no cubin";
  });
  EXPECT_FALSE(jobs.empty());
  for (const std::string& problem : problems) EXPECT_EQ(problem, "");
}

TEST(Nvrtc, CompilesForOldAndNew) {
  if (testing::leaves_foreign_work()) GTEST_SKIP() << testing::kForeignWork;
  auto nvrtc = codegen::Nvrtc::open();
  if (!nvrtc) GTEST_SKIP() << nvrtc.error().message();
  const Prepared& p = prepared().front();
  const std::string text = codegen::cuda_prelude() + codegen::emit_cuda(p.loops, p.name);
  for (const int architecture : {(*nvrtc)->architectures().front(), (*nvrtc)->architectures().back()}) {
    auto cubin = (*nvrtc)->compile(text, "resize.cu", architecture);
    ASSERT_TRUE(cubin) << cubin.error().message();
    EXPECT_GT(cubin->size(), 1000U);
  }
}

TEST(Nvrtc, RefusesWrongText) {
  auto nvrtc = codegen::Nvrtc::open();
  if (!nvrtc) GTEST_SKIP() << nvrtc.error().message();
  auto cubin = (*nvrtc)->compile("this is not CUDA", "wrong.cu", 90);
  ASSERT_FALSE(cubin);
  EXPECT_NE(cubin.error().message().find("wrong.cu"), std::string::npos) << cubin.error().message();
  auto unknown = (*nvrtc)->compile("", "empty.cu", 1);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("sm_1"), std::string::npos);
}

}  // namespace
}  // namespace galatea::testing
