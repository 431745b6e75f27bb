// A hundred policies of one family: the first compiles kernels, the others none.
#include <gtest/gtest.h>

#include <random>

#include "compiler/codegen/llvm_backend.h"
#include "compiler/compile.h"
#include "dsl/frontend.h"
#include "tests/support/cases.h"
#include "tests/support/product.h"

namespace galatea::testing {
namespace {

constexpr const char* kNames[] = {"shear_x",
                                  "shear_y",
                                  "translate_x_no_shape",
                                  "translate_y_no_shape",
                                  "rotate",
                                  "brightness",
                                  "contrast",
                                  "color",
                                  "sharpness",
                                  "posterize",
                                  "solarize",
                                  "solarize_add",
                                  "invert",
                                  "equalize",
                                  "auto_contrast"};
constexpr size_t kPlain = 3;  ///< the last of them have no magnitudes

/// Sub-policies of two operations with chances, bins and ranges of their own; every operation comes in each
/// stage.
std::string random_policy(uint32_t seed) {
  std::mt19937 random(seed);
  auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const size_t count = std::size(kNames);
  std::string rows;
  for (size_t row = 0; row < count + below(10); ++row) {
    rows += "[";
    for (size_t stage = 0; stage < 2; ++stage) {
      const size_t which = row < count ? (row + 4 * stage) % count : below(static_cast<uint32_t>(count));
      const bool plain = which >= count - kPlain;
      rows += std::string("(a.") + kNames[which] + ", 0." + std::to_string(1 + below(9)) + ", " +
              (plain ? "None" : std::to_string(below(11))) + "), ";
    }
    rows += "], ";
  }
  return "from galatea import fn, pipeline_def, types\n"
         "from galatea.auto_aug import augmentations as a\n"
         "from galatea.auto_aug.auto_augment import apply_auto_augment\n"
         "from galatea.auto_aug.core import Policy\n"
         "@pipeline_def(batch_size=16, num_threads=2, seed=1)\n"
         "def p():\n"
         "    encoded, label = fn.readers.file(file_root=\"" GALATEA_SOURCE_DIR
         "\")\n"
         "    image = fn.decoders.image(encoded, output_type=types.RGB)\n"
         "    image = fn.resize(image, size=[224, 224])\n"
         "    return apply_auto_augment(Policy(\"random\", 11, [" +
         rows + "]), image, fill_value=" + std::to_string(below(256)) + "), label\n";
}

/// Also where the first begins with quick code, whether the best has replaced it by then or not.
class PoliciesOfTiers : public ::testing::TestWithParam<codegen::Tiers> {};

TEST_P(PoliciesOfTiers, AHundredCompileNothingAfterTheFirst) {
  if (!codegen::host_target()) GTEST_SKIP() << "this processor is below x86-64-v3";
  auto backend = codegen::make_llvm_backend(*codegen::host_target(), {}, GetParam());
  const auto number = static_cast<uint32_t>(cases(100, 4));
  std::shared_ptr<const runtime::Program> first;  // keeps its kernels in the process
  for (uint32_t seed = 0; seed <= number; ++seed) {
    SourceMap sources;
    dsl::FrontendResult staged =
        dsl::stage_pipeline("p.dali-dsl", random_policy(seed), {}, product().registry, sources);
    for (const Diagnostic& d : staged.diagnostics) ADD_FAILURE() << d.code << " " << d.message;
    ASSERT_TRUE(staged.ok);
    CompileOptions options;
    options.registry = &product().registry;
    options.backend = backend.get();
    auto program = compile(*staged.graphs.at(0), sources, options);
    ASSERT_TRUE(program) << program.error().message();
    if (seed == number / 2)
      for (const auto& upgrade : runtime::upgrades_of(*first)) upgrade->begin();
    if (seed == 0) {
      first = *program;
      EXPECT_EQ(runtime::upgrades_of(*first).size(), GetParam() == codegen::Tiers::kFirst ? 1U : 0U);
      EXPECT_GE(first->kernels_compiled, 10);
      continue;
    }
    EXPECT_EQ((*program)->kernels_compiled, 0) << "policy " << seed;
    EXPECT_EQ((*program)->kernels_cached, first->kernels_compiled) << "policy " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Tiers, PoliciesOfTiers,
                         ::testing::Values(codegen::Tiers::kBest, codegen::Tiers::kFirst),
                         [](const auto& suite) {
                           return suite.param == codegen::Tiers::kBest ? "best" : "first";
                         });

}  // namespace
}  // namespace galatea::testing
