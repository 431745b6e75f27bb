// NVRTC compiles the examples' kernels, a share of them (at the full scale all): for the oldest architectures
// that are supported, for those of data centres (80, 90, 100), and for the newest one it knows, in turns (each
// kernel for each at the full scale); GALATEA_TEST_ALL_ARCHITECTURES=1: for all. GALATEA_TEST_FIGURES=1 prints
// what each kernel takes on each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "compiler/codegen/cuda/cubin_figures.h"
#include "compiler/codegen/cuda/device_linker.h"
#include "compiler/codegen/cuda/emit.h"
#include "compiler/codegen/cuda/emit_launch.h"
#include "compiler/codegen/cuda/nvrtc.h"
#include "compiler/codegen/parallel.h"
#include "compiler/kernel/spread_phases.h"
#include "tests/cuda_text/example_kernels.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

struct Job {
  const ExampleKernels* example;
  size_t kernel;
  int architecture;
  std::string cubin, error;
};

/// 65536 registers of a processor, for two blocks of 256 threads at least where tiles are made.
constexpr int kMostRegisters = 160, kMostTileRegisters = 128;
/// Bytes of a thread's spilled registers: sizes and places of a tile's stages, which are read once a phase.
constexpr int64_t kMostLocal = 320;
/// The same where a transform has a stage for each of its radices: a dozen and more in one kernel.
constexpr int64_t kMostLocalOfTransforms = 512;

TEST(CudaText, IsCompiledForOldAndNewArchitectures) {
  if (testing::leaves_foreign_work()) GTEST_SKIP() << testing::kForeignWork;
  auto nvrtc = codegen::Nvrtc::open();
  if (!nvrtc) GTEST_SKIP() << nvrtc.error().message();
  const std::vector<int>& known = (*nvrtc)->architectures();
  const std::set<int> usual = {75, 80, 90, 100};
  std::set<int> chosen = {known.front(), known.back()};
  for (const int architecture : known)
    if (usual.contains(architecture) || std::getenv("GALATEA_TEST_ALL_ARCHITECTURES"))
      chosen.insert(architecture);
  // Each kernel for some of them, all of them for some kernel.
  const std::vector<int> tried(chosen.begin(), chosen.end());
  const auto of_each = static_cast<size_t>(scaled(static_cast<int64_t>(tried.size())));
  std::vector<Job> jobs;
  for (const ExampleKernels& example : example_kernels()) {
    for (size_t k = 0; k < example.kernels.size(); ++k) {
      if (!takes(name_of(example, k))) continue;
      const size_t first = jobs.size();
      for (size_t a = 0; a < of_each; ++a)
        jobs.push_back({&example, k, tried[(first + a) % tried.size()], {}, {}});
    }
  }
  ASSERT_FALSE(jobs.empty());
  codegen::for_each_parallel(jobs.size(), [&](size_t j) {
    auto cubin = (*nvrtc)->compile(codegen::cuda_prelude() + text_of(*jobs[j].example, jobs[j].kernel),
                                   jobs[j].example->name + ".cu", jobs[j].architecture);
    if (cubin)
      jobs[j].cubin = std::move(*cubin);
    else
      jobs[j].error = cubin.error().message();
  });
  const bool print = std::getenv("GALATEA_TEST_FIGURES") != nullptr;
  for (const Job& job : jobs) {
    ASSERT_EQ(job.error, "") << name_of(*job.example, job.kernel);
    const std::vector<codegen::CubinFigures> figures = codegen::read_cubin_figures(job.cubin);
    ASSERT_EQ(figures.size(), 1U) << name_of(*job.example, job.kernel);
    for (const codegen::CubinFigures& f : figures) {
      const std::string where = fmt::format("{} sm_{}", f.function, job.architecture);
      EXPECT_GE(f.registers, 8) << where;
      EXPECT_LE(f.registers, f.shared > 0 ? kMostTileRegisters : kMostRegisters) << where;
      const int64_t most_local = job.example->name == "14_speech" ? kMostLocalOfTransforms : kMostLocal;
      EXPECT_LE(f.local, f.shared > 0 ? most_local : 64) << where;
      EXPECT_GT(f.code, 100) << where;
      const kernel::LoopKernel& loops = job.example->kernels[job.kernel];
      EXPECT_GE(f.shared, kernel::block_memory(loops)) << where;
      EXPECT_EQ(f.shared > 0, loops.block_bytes || kernel::shares_phases(loops)) << where;
      if (print)
        fmt::print("{:>7} {:4} registers {:6} shared {:4} local {:7} code  {} ({})\n",
                   fmt::format("sm_{}", job.architecture), f.registers, f.shared, f.local, f.code, loops.name,
                   job.example->name);
    }
  }
}

/// What a kernel reads and writes without saying what memory it is, in PTX: `ld.u8`, and not `ld.global.u8`. The
/// form for rare calls, a function of its own, is not looked at.
std::vector<std::pair<std::string, int>> generic_accesses(const std::string& ptx) {
  std::vector<std::pair<std::string, int>> out;
  bool in_kernel = false;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    if (const size_t entry = line.find(".entry "); entry != std::string::npos)
      out.emplace_back(line.substr(entry + 7, line.find('(') - entry - 7), 0);
    if (line.find(".entry ") != std::string::npos || line.find(".func ") != std::string::npos)
      in_kernel = line.find(".entry ") != std::string::npos;
    const size_t begin = line.find_first_not_of(" \t");
    if (!in_kernel || begin == std::string::npos) continue;
    std::string instruction = line.substr(begin);
    if (instruction[0] == '@') instruction.erase(0, instruction.find_first_of(" \t") + 1);
    const std::string name = instruction.substr(0, instruction.find_first_of(" \t"));
    const auto is = [&](const char* what) { return name.starts_with(what); };
    const auto says = [&](const char* what) { return name.find(what) != std::string::npos; };
    if (!is("ld.") && !is("st.") && !is("atom.") && !is("red.")) continue;
    if (!says(".global") && !says(".shared") && !says(".local") && !says(".param") && !says(".const"))
      ++out.back().second;
  }
  return out;
}

/// An address of which nobody says whether it is a block's memory or the device's is looked up at every access.
TEST(CudaText, OfUsualCallsSaysWhatMemoryItReads) {
  if (testing::leaves_foreign_work()) GTEST_SKIP() << testing::kForeignWork;
  auto nvrtc = codegen::Nvrtc::open();
  if (!nvrtc) GTEST_SKIP() << nvrtc.error().message();
  int64_t number = 0;
  for (const ExampleKernels& example : example_kernels())
    for (size_t k = 0; k < example.kernels.size(); ++k) {
      if (!takes_turn(number++, 1, 12)) continue;
      auto ptx =
          (*nvrtc)->compile_to_ptx(codegen::cuda_prelude() + text_of(example, k), example.name + ".cu", 90);
      ASSERT_TRUE(ptx) << ptx.error().message();
      const auto found = generic_accesses(*ptx);
      EXPECT_EQ(found.size(), 1U) << name_of(example, k);
      for (const auto& [kernel, accesses] : found) EXPECT_EQ(accesses, 0) << kernel;
    }
}

/// Arms of a policy.
std::vector<const kernel::LoopKernel*> arms_of_a_policy() {
  std::vector<const kernel::LoopKernel*> arms;
  for (const ExampleKernels& example : example_kernels()) {
    if (example.name.find("auto_augment") == std::string::npos) continue;
    for (const kernel::LoopKernel& kernel : example.kernels) arms.push_back(&kernel);
  }
  return arms;
}

/// What a launch takes, compiled together and apart: whichever it is, it may not cost what batches pay for.
/// Together, or for the newest architecture, it takes as long as all arms: at full scale only.
TEST(CudaText, OfALaunchOfSeveralKernelsIsCompiledAndLinked) {
  if (testing::leaves_foreign_work()) GTEST_SKIP() << testing::kForeignWork;
  auto nvrtc = codegen::Nvrtc::open();
  if (!nvrtc) GTEST_SKIP() << nvrtc.error().message();
  auto linker = codegen::DeviceLinker::open((*nvrtc)->major_version(), (*nvrtc)->minor_version());
  if (!linker) GTEST_SKIP() << linker.error().message();
  const std::vector<const kernel::LoopKernel*> arms = arms_of_a_policy();
  ASSERT_GT(arms.size(), 3U);
  const codegen::LaunchUnits units = codegen::emit_cuda_units(arms, "launch");
  // Some kernels differ in nothing but names.
  ASSERT_LE(units.arms.size(), arms.size());
  ASSERT_GT(units.arms.size(), 10U);
  std::vector<codegen::LaunchUnits::Arm> texts = units.arms;
  texts.push_back({units.entry, 0});
  const bool is_whole = testing::scale() == testing::kWhole || std::getenv("GALATEA_TEST_FIGURES") != nullptr;
  for (const int architecture : {(*nvrtc)->architectures().back(), 90}) {
    if (!is_whole && architecture != 90) continue;
    const bool together = is_whole && architecture == 90;
    std::vector<Result<std::string>> made(texts.size() + (together ? 1U : 0U));
    codegen::for_each_parallel(made.size(), [&](size_t i) {
      made[i] = i < texts.size()
                    ? (*nvrtc)->compile_to_object(codegen::cuda_prelude() + texts[i].text, "arm.cu",
                                                  architecture, texts[i].most_registers)
                    : (*nvrtc)->compile(codegen::cuda_prelude() + units.together(), "all.cu", architecture);
    });
    std::vector<std::shared_ptr<const std::string>> objects;
    for (const auto& one : made) ASSERT_TRUE(one) << one.error().message();
    for (size_t i = 0; i < texts.size(); ++i)
      objects.push_back(std::make_shared<const std::string>(*made[i]));
    auto linked = (*linker)->link(objects, "launch", architecture);
    ASSERT_TRUE(linked) << linked.error().message();
    for (const bool is_linked : {true, false}) {
      if (!is_linked && !together) continue;
      const auto all = codegen::read_cubin_figures(is_linked ? *linked : *made.back());
      EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const auto& f) { return f.function == "launch"; }));
      for (const codegen::CubinFigures& f : all) {
        EXPECT_LE(f.registers, kMostTileRegisters) << f.function << " sm_" << architecture;
        EXPECT_LE(f.local, kMostLocal) << f.function << " sm_" << architecture;
        if (std::getenv("GALATEA_TEST_FIGURES"))
          fmt::print("{:>7} {:4} registers {:6} shared {:4} local {:7} code  {}{}\n",
                     fmt::format("sm_{}", architecture), f.registers, f.shared, f.local, f.code, f.function,
                     is_linked ? " (linked)" : "");
      }
    }
    // An object that is missing is an error that names what is missing.
    objects.erase(objects.begin());
    auto incomplete = (*linker)->link(objects, "launch", architecture);
    ASSERT_FALSE(incomplete);
    EXPECT_NE(incomplete.error().message().find("galatea_arm_"), std::string::npos)
        << incomplete.error().message();
  }
}

TEST(CubinFigures, OfWhatIsNoCubin) {
  EXPECT_TRUE(codegen::read_cubin_figures("").empty());
  EXPECT_TRUE(codegen::read_cubin_figures("galatea-fake-cubin\nsm_90\n").empty());
  EXPECT_TRUE(codegen::read_cubin_figures(std::string("\x7f"
                                                      "ELF\2",
                                                      5) +
                                          std::string(80, '\xff'))
                  .empty());
}

}  // namespace
}  // namespace galatea::testing
