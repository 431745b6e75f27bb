// The kernel fuzzer: every backend agrees with the stage interpreter, bit for bit, on random kernels.
//
// More seeds: --gtest_shuffle --gtest_repeat=N moves on to others at each repetition.
#include <gtest/gtest.h>

#include <map>

#include "compiler/kernel/element_program.h"
#include "compiler/kernel/interpreter.h"
#include "compiler/kernel/loops.h"
#include "compiler/kernel/narrow_integers.h"
#include "compiler/kernel/passes/passes.h"
#include "compiler/kernel/schedule.h"
#include "tests/kernel/fuzz_kernel.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

class ParamLeaves : public kernel::LeafSource {
 public:
  explicit ParamLeaves(const uint64_t* params) : params_(params) {}
  Cell leaf(const kernel::ExprNode& node, const Cell*) override { return {params_[node.index]}; }

 private:
  const uint64_t* params_;
};

/// Loops of the kernel under a schedule, interpreted.
void run_loops(const kernel::Kernel& kernel, const runtime::KernelCall& call, kernel::ScheduleOptions options,
               bool permuted) {
  kernel::LoopKernel loops = kernel::lower(kernel, kernel::make_schedule(kernel, options), options);
  if (auto status = kernel::verify(loops); !status)
    throw std::runtime_error(status.error().message() + "\n" + kernel::to_text(loops));
  ParamLeaves leaves(call.params);
  uint32_t flags = 0;
  kernel::ElementProgram bytes(kernel::layout_scratch(loops).bytes);
  std::vector<uint64_t> scratch(bytes.run(leaves, &flags).bits / 8 + 32, 0xA5A5A5A5A5A5A5A5);
  runtime::KernelCall with_scratch = call;
  auto address = reinterpret_cast<uintptr_t>(scratch.data());
  with_scratch.scratch = reinterpret_cast<uint8_t*>((address + 63) / 64 * 64);
  kernel::interpret_loops(loops, with_scratch, permuted);
}

std::vector<Backend> backends() {
  using kernel::Kernel;
  std::vector<Backend> out;
  out.push_back({"read back from text", [](const Kernel& kernel, const runtime::KernelCall& call, uint64_t) {
                   SourceMap sources;
                   auto again = kernel::read_kernel(kernel::to_text(kernel), sources);
                   if (!again)
                     throw std::runtime_error(sources.describe(again.error().diagnostics[0].span) + ": " +
                                              again.error().message());
                   if (canonical_text(*again) != canonical_text(kernel))
                     throw std::runtime_error("the text changed:\n" + to_text(*again));
                   interpret_stages(*again, call);
                 }});
  out.push_back({"passes", [](const Kernel& kernel, const runtime::KernelCall& call, uint64_t) {
                   interpret_stages(run_kernel_passes(kernel), call);
                 }});
  out.push_back({"loops after passes", [](const Kernel& kernel, const runtime::KernelCall& call, uint64_t) {
                   run_loops(run_kernel_passes(kernel), call, {}, false);
                 }});
  out.push_back({"loops", [](const Kernel& kernel, const runtime::KernelCall& call, uint64_t) {
                   run_loops(kernel, call, {}, false);
                 }});
  out.push_back(
      {"loops, random schedule", [](const Kernel& kernel, const runtime::KernelCall& call, uint64_t seed) {
         run_loops(kernel, call, {.random_seed = seed + 1}, seed % 2 == 0);
       }});
  out.push_back({"loops, unfused", [](const Kernel& kernel, const runtime::KernelCall& call, uint64_t seed) {
                   run_loops(kernel, call, {.fuse = false}, seed % 2 == 1);
                 }});
  out.push_back({"loops, gpu", [](const Kernel& kernel, const runtime::KernelCall& call, uint64_t seed) {
                   run_loops(kernel, call, {.gpu = true}, seed % 2 == 0);
                 }});
  return out;
}

constexpr uint64_t kSeeds = 200;

class KernelFuzz : public ::testing::TestWithParam<Backend> {};

TEST_P(KernelFuzz, AgreesWithTheStageInterpreter) {
  bool shuffled = GTEST_FLAG_GET(shuffle);
  uint64_t base =
      shuffled ? static_cast<uint64_t>(::testing::UnitTest::GetInstance()->random_seed()) * 1000003 : 0;
  int failures = 0;
  const auto number = static_cast<uint64_t>(cases(kSeeds));
  for (uint64_t seed = base; seed < base + number && failures < 3; ++seed) {
    FuzzCase c = make_fuzz_case(seed);
    if (!find_mismatch(c, GetParam())) continue;
    ++failures;
    FuzzCase small = shrink(c, GetParam());
    ADD_FAILURE() << *find_mismatch(small, GetParam()) << "\n" << describe(small);
  }
}

INSTANTIATE_TEST_SUITE_P(All, KernelFuzz, ::testing::ValuesIn(backends()), [](const auto& test) {
  std::string name;
  for (char c : test.param.name) name += (std::isalnum(static_cast<unsigned char>(c)) != 0) ? c : '_';
  return name;
});

TEST(KernelFuzzer, ExercisesEveryPass) {
  std::map<std::string, int> changed;
  kernel::KernelPassOptions options;
  options.on_change = [&](const kernel::KernelPass& pass, const kernel::Kernel&) {
    ++changed[std::string(pass.name)];
  };
  for (uint64_t seed = 0; seed < 2 * kSeeds; ++seed) run_kernel_passes(make_fuzz_case(seed).kernel, options);
  // The maker leaves no mathematical functions: other backends want none.
  for (const kernel::KernelPass& pass : kernel::kernel_passes()) {
    if (pass.name == "expand_math") continue;
    EXPECT_GE(changed[std::string(pass.name)], 3) << pass.name << " is hardly tried";
  }
}

TEST(KernelFuzzer, HasNumbersThatAreSmallAndSuchThatAreNot) {
  int small = 0, others = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const FuzzCase fuzz = make_fuzz_case(seed);
    const auto narrow = kernel::narrow_for_small_numbers(run_kernel_passes(fuzz.kernel));
    if (!narrow) continue;
    ParamLeaves params(fuzz.params.data());
    uint32_t flags = 0;
    ++(kernel::ElementProgram(narrow->condition).run(params, &flags).bits != 0 ? small : others);
  }
  EXPECT_GE(small, 3);
  EXPECT_GE(others, 3);
}

TEST(KernelFuzzer, FindsAndShrinksAWrongBackend) {
  // A backend that gets the last output element wrong where there is a band.
  Backend wrong{"wrong", [](const kernel::Kernel& kernel, const runtime::KernelCall& call, uint64_t) {
                  kernel::Kernel changed = kernel;
                  for (kernel::Stage& stage : changed.stages) {
                    if (stage.form == kernel::StageForm::kBand)
                      stage.taps = stage.taps - kernel::const_int(1);
                  }
                  interpret_stages(changed, call);
                }};
  for (uint64_t seed = 0; seed < 100; ++seed) {
    FuzzCase c = make_fuzz_case(seed);
    if (!find_mismatch(c, wrong)) continue;
    FuzzCase small = shrink(c, wrong);
    EXPECT_TRUE(find_mismatch(small, wrong).has_value());
    EXPECT_LE(small.kernel.stages.size(), c.kernel.stages.size());
    EXPECT_EQ(small.kernel.outputs.size(), 1U) << describe(small);
    return;
  }
  FAIL() << "no kernel with a band among 100";
}

}  // namespace
}  // namespace galatea::testing
