// The kernel fuzzer on machine code: every target that this machine runs, and either tier, agrees with the
// stage interpreter, bit for bit.
#include <gtest/gtest.h>

#include "compiler/codegen/llvm_backend.h"
#include "compiler/kernel/element_program.h"
#include "compiler/kernel/passes/passes.h"
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

void run_compiled(const codegen::Target& target, codegen::Tiers tiers, const kernel::Kernel& kernel,
                  const runtime::KernelCall& call, uint64_t random_seed) {
  auto backend = codegen::make_llvm_backend(target, {}, tiers);
  kernel::ScheduleOptions options = backend->schedule_options();
  options.random_seed = random_seed;
  kernel::LoopKernel loops = kernel::lower(kernel, kernel::make_schedule(kernel, options), options);
  auto compiled = backend->compile(kernel, loops);
  if (!compiled) throw std::runtime_error(compiled.error().message());
  ParamLeaves leaves(call.params);
  uint32_t flags = 0;
  kernel::ElementProgram bytes(kernel::layout_scratch(loops).bytes);
  std::vector<uint64_t> scratch(bytes.run(leaves, &flags).bits / 8 + 32, 0xA5A5A5A5A5A5A5A5);
  runtime::KernelCall with_scratch = call;
  with_scratch.scratch =
      reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
  compiled->code->run(with_scratch);
}

std::vector<Backend> backends() {
  std::vector<Backend> out;
  for (const codegen::Target& target : codegen::runnable_targets()) {
    for (const codegen::Tiers tiers : {codegen::Tiers::kBest, codegen::Tiers::kFirst})
      out.push_back(
          {target.name() + (tiers == codegen::Tiers::kBest ? "" : " first tier"),
           [target, tiers](const kernel::Kernel& kernel, const runtime::KernelCall& call, uint64_t seed) {
             // After the passes or not, with the usual schedule or a random one: by the seed.
             run_compiled(target, tiers, seed % 2 == 0 ? run_kernel_passes(kernel) : kernel, call,
                          seed % 3 == 0 ? seed + 1 : 0);
           }});
  }
  return out;
}

class LlvmFuzz : public ::testing::TestWithParam<Backend> {};

TEST_P(LlvmFuzz, AgreesWithTheStageInterpreter) {
  const char* wanted = std::getenv("GALATEA_FUZZ_SEEDS");
  const uint64_t seeds = wanted ? std::strtoull(wanted, nullptr, 10) : static_cast<uint64_t>(cases(40, 8));
  int failures = 0;
  for (uint64_t seed = 1000; seed < 1000 + seeds && failures < 2; ++seed) {
    FuzzCase c = make_fuzz_case(seed);
    auto mismatch = find_mismatch(c, GetParam());
    if (!mismatch) continue;
    ++failures;
    FuzzCase small = shrink(c, GetParam());
    ADD_FAILURE() << "seed " << seed << ": " << *find_mismatch(small, GetParam()) << "\n" << describe(small);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, LlvmFuzz, ::testing::ValuesIn(backends()), [](const auto& test) {
  std::string name;
  for (char c : test.param.name) name += (std::isalnum(static_cast<unsigned char>(c)) != 0) ? c : '_';
  return name;
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LlvmFuzz);

}  // namespace
}  // namespace galatea::testing
