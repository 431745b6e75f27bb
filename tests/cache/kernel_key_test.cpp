// The key: equal for equal loops wherever they were made, different for whatever may change the code.
#include "compiler/codegen/kernel_key.h"

#include <gtest/gtest.h>

#include <set>

#include "compiler/codegen/build_id.h"
#include "compiler/kernel/passes/passes.h"
#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"

namespace galatea::codegen {
namespace {

using testing::sample_kernels;

kernel::LoopKernel loops_of(const kernel::Kernel& k, kernel::ScheduleOptions options = {}) {
  return kernel::lower(k, kernel::make_schedule(k, options), options);
}

TEST(KernelKey, NamesAndPlacesDoNotCount) {
  for (const auto& [name, sample] : sample_kernels()) {
    kernel::LoopKernel loops = loops_of(sample.kernel);
    const std::string key = kernel_key(loops, {});
    loops.name = "another name";
    for (auto& buffer : loops.buffers) buffer.name += "x";
    for (auto& param : loops.params) param.name += "x";
    for (auto& statement : loops.body) statement.span = {1, 2, 3};
    EXPECT_EQ(kernel_key(loops, {}), key) << name;
  }
}

TEST(KernelKey, EqualKernelsMadeApartHaveOneKey) {
  const auto first = sample_kernels(), second = sample_kernels();
  for (size_t i = 0; i < first.size(); ++i)
    EXPECT_EQ(kernel_key(loops_of(first[i].second.kernel), {}),
              kernel_key(loops_of(second[i].second.kernel), {}))
        << first[i].first;
}

/// Loops whose texts differ have different keys, and the other way round: the printer is the witness.
TEST(KernelKey, DiffersWhereTheLoopsDiffer) {
  std::set<std::string> texts, keys;
  size_t made = 0;
  for (const auto& [name, sample] : sample_kernels()) {
    for (const int bits : {256, 512}) {
      for (const bool fuse : {true, false}) {
        for (const uint64_t seed : {0, 1, 2, 3}) {
          kernel::ScheduleOptions options;
          options.vector_bits = bits, options.fuse = fuse, options.random_seed = seed;
          kernel::LoopKernel loops = loops_of(sample.kernel, options);
          loops.name.clear();
          texts.insert(kernel::to_text(loops));
          keys.insert(kernel_key(loops, {}));
          ++made;
        }
      }
    }
  }
  EXPECT_EQ(texts.size(), keys.size());
  EXPECT_GT(texts.size(), 40U);
  EXPECT_LT(texts.size(), made);
}

TEST(KernelKey, TargetAndBuildCount) {
  const kernel::LoopKernel loops = loops_of(sample_kernels().front().second.kernel);
  std::set<std::string> keys;
  for (const TargetLevel level : {TargetLevel::kX86V3, TargetLevel::kX86V4, TargetLevel::kX86V4Vnni})
    keys.insert(kernel_key(loops, {level}));
  EXPECT_EQ(keys.size(), 3U);
  for (const std::string& key : keys) EXPECT_NE(key.find(build_id()), std::string::npos);
  EXPECT_EQ(build_id().size(), 32U);
}

TEST(KernelKey, EveryConstantCounts) {
  using namespace kernel;  // NOLINT
  const auto with = [](const Expr& value) {
    LoopKernel loops;
    loops.var_types = {DType::kI64};
    loops.body.push_back({Let{0, value}, {}});
    return kernel_key(loops, {});
  };
  const Expr p = param(0, DType::kI64);
  std::set<std::string> keys;
  for (int64_t n : {-1, 2, 127, 128, 129, 16384}) keys.insert(with(p * const_int(n)));
  keys.insert(with(p + const_int(2)));
  keys.insert(with(param(1, DType::kI64) * const_int(2)));
  EXPECT_EQ(keys.size(), 8U);
}

TEST(KernelKey, GrowsWithTheGraphAndNotWithItsPaths) {
  using namespace kernel;  // NOLINT
  const auto with = [](int depth) {
    Expr e = param(0, DType::kI64);
    for (int i = 0; i < depth; ++i) e = e * e + const_int(3);
    LoopKernel loops;
    loops.var_types = {DType::kI64};
    loops.body.push_back({Let{0, e}, {}});
    return kernel_key(loops, {}).size();
  };
  EXPECT_LT(with(60), 4 * with(30));
}

TEST(HashName, NamesFiles) {
  EXPECT_EQ(hash_name("").size(), 32U);
  EXPECT_EQ(hash_name("a").find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(hash_name("a"), hash_name("b"));
}

}  // namespace
}  // namespace galatea::codegen
