// Kernels like those of operators, as machine code of either tier, over ragged extents and every kind of
// stride: bit-equal to stages.
#include <gtest/gtest.h>

#include "compiler/codegen/llvm_backend.h"
#include "tests/kernel/targets.h"
#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"

namespace galatea::testing {
namespace {

class LlvmSamples : public ::testing::TestWithParam<codegen::Tiers> {};

void expect_equal_stages(const std::string& name, const SampleKernel& sample, const codegen::Target& target,
                         codegen::Tiers tiers) {
  const auto backend = codegen::make_llvm_backend(target, {}, tiers);
  const LoopKernel loops = lower_verified(sample.kernel, backend->schedule_options());
  const auto compiled = backend->compile(sample.kernel, loops);
  ASSERT_TRUE(compiled) << compiled.error().message();
  ASSERT_EQ(compiled->first_tier, tiers == codegen::Tiers::kFirst && target.is_x86());
  for (size_t p = 0; p < sample.params.size(); ++p)
    for (const uint64_t seed : {p + 1, p + 100, p + 200}) {
      Arena arena(sample.kernel, sample.params[p], seed);
      compiled->code->run(
          arena.call(static_cast<uint64_t>(value_of(kernel::layout_scratch(loops).bytes, sample.params[p]))));
      ASSERT_EQ(arena.take_outputs(), run_stages(sample.kernel, sample.params[p], seed))
          << name << ", parameters " << p << ", seed " << seed;
    }
}

TEST_P(LlvmSamples, EqualStages) {
  for (const auto& [name, sample] : sample_kernels())
    for (const codegen::Target& target : targets_of(name)) {
      SCOPED_TRACE(name + " for " + target.name());
      expect_equal_stages(name, sample, target, GetParam());
    }
}

INSTANTIATE_TEST_SUITE_P(Tiers, LlvmSamples, ::testing::Values(codegen::Tiers::kBest, codegen::Tiers::kFirst),
                         [](const auto& suite) {
                           return suite.param == codegen::Tiers::kBest ? "best" : "first";
                         });

}  // namespace
}  // namespace galatea::testing
