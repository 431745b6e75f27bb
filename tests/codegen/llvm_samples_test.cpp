// Kernels like those of operators, as machine code of either tier, over ragged extents and every kind of
// stride: bit-equal to stages.
#include <gtest/gtest.h>

#include "compiler/codegen/llvm_backend.h"
#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"

namespace galatea::testing {
namespace {

using Form = std::tuple<codegen::Target, codegen::Tiers>;
class LlvmSamples : public ::testing::TestWithParam<Form> {};

TEST_P(LlvmSamples, EqualStages) {
  const auto& [target, tiers] = GetParam();
  auto backend = codegen::make_llvm_backend(target, {}, tiers);
  for (const auto& [name, sample] : sample_kernels()) {
    const LoopKernel loops = lower_verified(sample.kernel, backend->schedule_options());
    auto compiled = backend->compile(sample.kernel, loops);
    ASSERT_TRUE(compiled) << name << ": " << compiled.error().message();
    ASSERT_EQ(compiled->first_tier, tiers == codegen::Tiers::kFirst && target.is_x86()) << name;
    for (size_t p = 0; p < sample.params.size(); ++p)
      for (const uint64_t seed : {p + 1, p + 100, p + 200}) {
        Arena arena(sample.kernel, sample.params[p], seed);
        compiled->code->run(arena.call(
            static_cast<uint64_t>(value_of(kernel::layout_scratch(loops).bytes, sample.params[p]))));
        ASSERT_EQ(arena.take_outputs(), run_stages(sample.kernel, sample.params[p], seed))
            << name << ", parameters " << p << ", seed " << seed;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, LlvmSamples,
                         ::testing::Combine(::testing::ValuesIn(codegen::runnable_targets()),
                                            ::testing::Values(codegen::Tiers::kBest, codegen::Tiers::kFirst)),
                         [](const auto& suite) {
                           std::string name = std::get<0>(suite.param).name();
                           if (std::get<1>(suite.param) == codegen::Tiers::kFirst) name += "_first_tier";
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace galatea::testing
