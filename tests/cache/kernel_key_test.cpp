// The key: equal for equal loops wherever they were made, different for whatever may change the code.
#include "compiler/codegen/kernel_key.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "compiler/codegen/build_id.h"
#include "compiler/kernel/form_key.h"
#include "compiler/kernel/passes/passes.h"
#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"
#include "tests/support/cases.h"

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

// ---- of kernels that have not been lowered

const Target kSome{};

/// What may be sold for another kernel's code must have come to the same loops.
TEST(FormKey, EqualKeysMeanEqualLoops) {
  std::map<std::string, std::string> loops_by_form;
  std::set<std::string> loops, texts;
  for (const bool again : {false, true})
    for (const auto& [name, sample] : sample_kernels()) {
      if (!testing::takes(name)) continue;
      for (const int bits : {256, 512})
        for (const int cost : {3, 20})
          for (const bool fuse : {true, false})
            for (const uint64_t seed : again ? std::vector<uint64_t>{2} : std::vector<uint64_t>{0, 1, 2}) {
              kernel::ScheduleOptions options;
              options.vector_bits = bits, options.fuse = fuse, options.random_seed = seed;
              options.look_up_cost = cost;
              const std::string made = kernel_key(loops_of(sample.kernel, options), kSome);
              const std::string form = kernel_key(sample.kernel, options, kSome);
              const auto [known, is_new] = loops_by_form.try_emplace(form, made);
              EXPECT_EQ(known->second, made) << name;
              EXPECT_TRUE(!again || !is_new) << name;
              loops.insert(made);
              texts.insert(kernel::canonical_text(sample.kernel) + kernel::options_key(options));
            }
    }
  EXPECT_EQ(loops_by_form.size(), texts.size());
  EXPECT_GT(loops.size(), testing::kSanitized ? 30U : 40U);
  EXPECT_LT(loops.size(), loops_by_form.size());
}

TEST(FormKey, NamesAndPlacesDoNotCount) {
  for (const auto& [name, sample] : sample_kernels()) {
    kernel::Kernel k = sample.kernel;
    const std::string key = kernel_key(k, {}, kSome);
    k.name = "another name";
    for (auto& param : k.params) param.name += "x";
    for (auto& input : k.inputs) input.name += "x";
    for (auto& stage : k.stages) stage.name += "x", stage.span = {1, 2, 3};
    EXPECT_EQ(kernel_key(k, {}, kSome), key) << name;
  }
}

TEST(FormKey, EveryPartOfAKernelCounts) {
  using namespace kernel;  // NOLINT
  Kernel base;
  base.params = {{"p", DType::kI64}, {"q", DType::kI64}};
  base.inputs = {{"in", DType::kU8, {param(0, DType::kI64), const_int(3)}, 1}};
  Stage stage;
  stage.extents = {param(0, DType::kI64), const_int(3)};
  stage.body = convert(load({LoadTarget::Kind::kInput, 0}, DType::kU8, {axis(0), axis(1)}), DType::kF32);
  base.stages = {stage, stage};
  base.outputs = {{1, {0, 1}, false, 1}};
  const Expr number = param(1, DType::kI64);
  const std::vector<std::function<void(Kernel&)>> changes = {
      [](Kernel&) {},
      [](Kernel& k) { k.params[1].type = DType::kI32; },
      [](Kernel& k) { k.params.pop_back(); },
      [](Kernel& k) { k.inputs[0].type = DType::kI8; },
      [&](Kernel& k) { k.inputs[0].extents[1] = number; },
      [](Kernel& k) { k.inputs[0].dense_axes = 2; },
      [](Kernel& k) { k.inputs.push_back(k.inputs[0]); },
      [](Kernel& k) { k.stages.pop_back(); },
      [](Kernel& k) { k.stages[0].form = StageForm::kScan; },
      [](Kernel& k) { k.stages[0].type = DType::kF16; },
      [&](Kernel& k) { k.stages[0].extents[0] = number; },
      [&](Kernel& k) { k.stages[0].body = k.stages[0].body + k.stages[0].body; },
      [](Kernel& k) { k.stages[1].body = const_float(1); },
      [](Kernel& k) { k.stages[0].band_axis = 1; },
      [&](Kernel& k) { k.stages[0].first = number; },
      [&](Kernel& k) { k.stages[0].taps = number; },
      [&](Kernel& k) { k.stages[0].weight = number; },
      [&](Kernel& k) { k.stages[0].source = number; },
      [](Kernel& k) { k.stages[0].accumulator = DType::kF64; },
      [](Kernel& k) { k.stages[0].combiner = Combiner::kMax; },
      [&](Kernel& k) { k.stages[0].reduce_extents = {number}; },
      [](Kernel& k) { k.stages[0].scan_axis = 1; },
      [&](Kernel& k) { k.stages[0].finish = number; },
      [](Kernel& k) { k.outputs[0].stage = 0; },
      [](Kernel& k) { k.outputs[0].axis_of = {1, 0}; },
      [](Kernel& k) { k.outputs[0].streaming = true; },
      [](Kernel& k) { k.outputs[0].dense_axes = 2; },
      [](Kernel& k) { k.outputs.push_back(k.outputs[0]); },
  };
  std::set<std::string> keys;
  for (const auto& change : changes) {
    Kernel changed = base;
    change(changed);
    keys.insert(kernel_key(changed, {}, kSome));
  }
  EXPECT_EQ(keys.size(), changes.size());
}

TEST(FormKey, EveryPartOfANodeCounts) {
  using namespace kernel;  // NOLINT
  const Expr i = axis(0), j = axis(1);
  const LoadTarget in{LoadTarget::Kind::kInput, 0};
  const std::vector<Expr> bodies = {
      i,
      j,
      reduce_axis(0),
      tap(),
      accumulator(DType::kI64),
      accumulator(DType::kI32),
      param(0, DType::kI64),
      param(1, DType::kI64),
      param(0, DType::kI32),
      const_int(5),
      const_int(6),
      const_int(5, DType::kI32),
      user_constant(DType::kI64, {5}, 77),
      i + j,
      j + i,
      i - j,
      (i + j) * (i + j),
      (i + j) * (j + i),
      load(in, DType::kU8, {i}),
      load(in, DType::kU8, {i}, Border::kClamp),
      load(in, DType::kU8, {i}, Border::kConstant, {1}),
      load(in, DType::kU8, {i}, Border::kConstant, {2}),
      load({LoadTarget::Kind::kInput, 1}, DType::kU8, {i}),
      load({LoadTarget::Kind::kStage, 0}, DType::kU8, {i}),
      load(in, DType::kI8, {i}),
      philox_word(param(0, DType::kU64), param(1, DType::kU64), param(2, DType::kU64), 0),
      philox_word(param(0, DType::kU64), param(1, DType::kU64), param(2, DType::kU64), 1),
      symbol(SymbolKind::kExtent, DType::kI64, 0, 1),
      symbol(SymbolKind::kExtent, DType::kI64, 1, 0),
      symbol(SymbolKind::kElement, DType::kI64, 0, 1),
  };
  std::set<std::string> keys;
  for (const Expr& body : bodies) {
    Kernel k;
    k.stages.emplace_back();
    k.stages[0].body = body;
    keys.insert(kernel_key(k, {}, kSome));
  }
  EXPECT_EQ(keys.size(), bodies.size());
}

/// Which of the user's numbers are the same one counts, and not which they are.
TEST(FormKey, OriginsCountByWhichAreEqual) {
  using namespace kernel;  // NOLINT
  const auto with = [](uint64_t first, uint64_t second) {
    Kernel k;
    k.stages.resize(2);
    k.stages[0].body = user_constant(DType::kI64, {5}, first);
    k.stages[1].body = user_constant(DType::kI64, {5}, second);
    return kernel_key(k, {}, kSome);
  };
  EXPECT_EQ(with(11, 11), with(13, 13));
  EXPECT_EQ(with(11, 13), with(13, 17));
  EXPECT_EQ((std::set{with(0, 0), with(11, 0), with(0, 11), with(11, 11), with(11, 13)}.size()), 5U);
}

TEST(FormKey, OptionsTargetAndBuildCount) {
  const kernel::Kernel k = sample_kernels().front().second.kernel;
  std::set<std::string> keys;
  kernel::ScheduleOptions options;
  keys.insert(kernel_key(k, options, kSome));
  keys.insert(kernel_key(k, {.gpu = true}, kSome));
  keys.insert(kernel_key(k, {.fuse = false}, kSome));
  keys.insert(kernel_key(k, {.vector_bits = 128}, kSome));
  keys.insert(kernel_key(k, {.look_up_cost = 5}, kSome));
  keys.insert(kernel_key(k, {.random_seed = 1}, kSome));
  keys.insert(kernel_key(k, options, {TargetLevel::kX86V4}));
  keys.insert(kernel_key(k, options, {TargetLevel::kX86V3, true}));
  keys.insert(kernel_key(loops_of(k, options), kSome));
  EXPECT_EQ(keys.size(), 9U);
  for (const std::string& key : keys) EXPECT_NE(key.find(build_id()), std::string::npos);
}

TEST(HashName, NamesFiles) {
  EXPECT_EQ(hash_name("").size(), 32U);
  EXPECT_EQ(hash_name("a").find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(hash_name("a"), hash_name("b"));
}

}  // namespace
}  // namespace galatea::codegen
