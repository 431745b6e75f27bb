// Kernels generated for AArch64 agree with the stage interpreter bit for bit, on an emulated processor.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "compiler/codegen/code_module.h"
#include "compiler/codegen/llvm/generate.h"
#include "compiler/kernel/passes/passes.h"
#include "compiler/kernel/reader.h"
#include "tests/aarch64/emulated.h"
#include "tests/kernel/fuzz_kernel.h"
#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

constexpr codegen::Target kTarget{codegen::TargetLevel::kAarch64};

class Aarch64 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (auto why = EmulatedProcessor::missing()) GTEST_SKIP() << *why;
    auto code_module = codegen::CodeModule::open();
    ASSERT_TRUE(code_module) << code_module.error().message();
    module_ = *code_module;
    processor_.emplace();
  }

  static kernel::ScheduleOptions options() {
    kernel::ScheduleOptions out;
    out.vector_bits = kTarget.vector_bits();
    out.look_up_cost = kTarget.look_up_cost();
    return out;
  }

  void run(const Kernel& kernel, const LoopKernel& loops, const runtime::KernelCall& call) {
    auto code = module_->compile(loops, kTarget);
    if (!code) throw std::runtime_error(code.error().message());
    std::vector<DType> types;
    std::vector<int> ranks;
    for (const kernel::KernelInput& input : kernel.inputs) {
      types.push_back(input.type);
      ranks.push_back(static_cast<int>(input.extents.size()));
    }
    for (const kernel::KernelOutput& output : kernel.outputs) {
      types.push_back(kernel.stages[static_cast<size_t>(output.stage)].type);
      ranks.push_back(static_cast<int>(output.axis_of.size()));
    }
    const std::vector<uint64_t> params(call.params, call.params + kernel.params.size());
    const int64_t scratch = value_of(kernel::layout_scratch(loops).bytes, params);
    processor_->run(*code, call, params.size(), types, ranks, static_cast<uint64_t>(scratch));
  }

  std::shared_ptr<const codegen::CodeModule> module_;
  std::optional<EmulatedProcessor> processor_;
};

#ifdef PLAIN
/// As tests/cache/link_object_test.cpp, which knows what the numbers mean.
TEST_F(Aarch64, ObjectsOfTheCCompiler) {
  std::ifstream in(PLAIN, std::ios::binary);
  const runtime::CodeObject object =
      codegen::link_object(std::string((std::istreambuf_iterator<char>(in)), {}), "galatea_kernel");
  constexpr uint32_t kWords[4] = {11, 22, 33, 44};
  const uint32_t chosen[] = {5, 23, 77 * 22, 1U << 11, 44 ^ 9, 123456, 33, 44};
  for (uint64_t n = 0; n < 8; ++n) {
    const uint64_t params[] = {n, n + 1};
    uint32_t status = 0;
    processor_->run(object, {nullptr, params, nullptr, &status}, 2, {}, {}, 0);
    EXPECT_EQ(status, chosen[n] + kWords[(n + 1) & 3]) << n;
  }
}
#endif

TEST_F(Aarch64, KernelsLikeThoseOfOperators) {
  for (const auto& [name, sample] : sample_kernels()) {
    const LoopKernel loops = lower_verified(sample.kernel, options());
    for (size_t p = 0; p < sample.params.size(); ++p) {
      Arena arena(sample.kernel, sample.params[p], p + 1);
      run(sample.kernel, loops, arena.call(0));
      ASSERT_EQ(arena.take_outputs(), run_stages(sample.kernel, sample.params[p], p + 1))
          << name << ", parameters " << p;
    }
  }
}

/// Tables of 256 bytes, which are looked up in registers; the schedule would rather compute what is cheap.
TEST_F(Aarch64, LookUps) {
  SourceMap nowhere;
  for (const char* index : {"axis1", "sub(sub(p1:i64, 1:i64), axis1)"})
    for (const char* output :
         {"stage1 [0, 1, 2] dense 3 }", "stage3 [0, 1, 2] dense 3 }", "stage4 [0, 1, 2] dense 3 }"}) {
      std::string text =
          R"(kernel { param p0:i64 param p1:i64 param p2:f32 param p3:f32 input in0:u8 [p0:i64, p1:i64, 3:i64] dense 3
    map stage0:u8 [256:i64] { body = saturate.u8(fma(convert.f32(mul(axis0, axis0)), p2:f32, p3:f32)) }
    map stage1:u8 [p0:i64, p1:i64, 3:i64] { body = load(stage0:u8, convert.i64(load(in0:u8, axis0, INDEX, axis2))) }
    map stage2:u8 [p0:i64, p1:i64, 3:i64] { body = saturate.u8(fma(convert.f32(load(stage1:u8, axis0, axis1, 2:i64)), p2:f32, convert.f32(load(stage1:u8, axis0, axis1, axis2)))) }
    map stage3:u8 [p0:i64, p1:i64, 3:i64] { body = load(stage0:u8, convert.i64(load(stage2:u8, axis0, axis1, axis2))) }
    map stage4:f32 [p0:i64, p1:i64, 3:i64] { body = mul(convert.f32(load(stage3:u8, axis0, axis1, axis2)), p2:f32) }
    output )";
      text += output;
      text.replace(text.find("INDEX"), 5, index);
      const auto kernel = kernel::read_kernel(text, nowhere);
      ASSERT_TRUE(kernel) << kernel.error().message();
      kernel::ScheduleOptions how = options();
      how.look_up_cost = 1;
      for (uint64_t width : {1, 15, 16, 33, 200}) {
        const std::vector<uint64_t> params = {3, width, cell_from_double(DType::kF32, 0.0041).bits,
                                              cell_from_double(DType::kF32, 3.3).bits};
        Arena arena(*kernel, params, width);
        run(*kernel, lower_verified(*kernel, how), arena.call(0));
        ASSERT_EQ(arena.take_outputs(), run_stages(*kernel, params, width)) << text << width;
      }
    }
}

TEST_F(Aarch64, RandomKernels) {
  const Backend backend{"aarch64",
                        [this](const Kernel& kernel, const runtime::KernelCall& call, uint64_t seed) {
                          // After the passes or not, with the usual schedule or a random one: by the seed.
                          const Kernel chosen = seed % 2 == 0 ? run_kernel_passes(kernel) : kernel;
                          kernel::ScheduleOptions how = options();
                          how.random_seed = seed % 3 == 0 ? seed + 1 : 0;
                          run(chosen, lower_verified(chosen, how), call);
                        }};
  const char* wanted = std::getenv("GALATEA_FUZZ_SEEDS");
  const uint64_t seeds = wanted ? std::strtoull(wanted, nullptr, 10) : static_cast<uint64_t>(cases(40, 8));
  int failures = 0;
  for (uint64_t seed = 1000; seed < 1000 + seeds && failures < 2; ++seed) {
    const FuzzCase c = make_fuzz_case(seed);
    if (!find_mismatch(c, backend)) continue;
    ++failures;
    const FuzzCase small = shrink(c, backend);
    ADD_FAILURE() << "seed " << seed << ": " << *find_mismatch(small, backend) << "\n" << describe(small);
  }
}

}  // namespace
}  // namespace galatea::testing
