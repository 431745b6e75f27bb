// Pipelines of one shape with different numbers share their code.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "compiler/codegen/llvm_backend.h"
#include "compiler/compile.h"
#include "dsl/frontend.h"
#include "tests/support/product.h"

namespace galatea::testing {
namespace {

using Program = std::shared_ptr<const runtime::Program>;

Program compile_text(const std::string& text, CompileReport* report = nullptr,
                     codegen::CacheOptions cache = {}) {
  SourceMap sources;
  dsl::FrontendResult staged = dsl::stage_pipeline("p.dali-dsl", text, {}, product().registry, sources);
  EXPECT_TRUE(staged.ok);
  if (!staged.ok) return nullptr;
  auto backend = codegen::make_llvm_backend(*codegen::host_target(), std::move(cache));
  CompileOptions options;
  options.report_forms = false;
  options.registry = &product().registry;
  options.backend = backend.get();
  auto program = compile(*staged.graphs.at(0), sources, options, report);
  EXPECT_TRUE(program) << (program ? "" : program.error().message());
  return program ? *program : nullptr;
}

std::string pipeline(int height, int width, double mean, double deviation, double angle) {
  const auto text = [](double value) { return std::to_string(value); };
  return "from nvidia.dali import pipeline_def, fn, types\n"
         "@pipeline_def(batch_size=4, num_threads=2, seed=7)\n"
         "def p():\n"
         "    encoded, label = fn.readers.file(file_root=\"" GALATEA_SOURCE_DIR
         "\")\n"
         "    image = fn.decoders.image(encoded, output_type=types.RGB)\n"
         "    image = fn.resize(image, size=[" +
         std::to_string(height) + ", " + std::to_string(width) +
         "])\n"
         "    image = fn.brightness_contrast(image, brightness=" +
         text(angle) +
         ")\n"
         "    return fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout=\"CHW\", mean=[" +
         text(mean) + ", 99.5, 103.25], std=[" + text(deviation) + ", 57.5, 58.25]), label\n";
}

TEST(SharedKernels, DifferentNumbersCompileOnce) {
  if (!codegen::host_target()) GTEST_SKIP() << "this processor is below x86-64-v3";
  const Program first = compile_text(pipeline(60, 80, 120.5, 61.5, 1.25));
  ASSERT_NE(first, nullptr);
  EXPECT_GE(first->kernels_compiled, 1);
  std::vector<Program> others;
  for (int i = 1; i < 8; ++i) {
    others.push_back(compile_text(pipeline(60 + 7 * i, 80 + 13 * i, 120.5 + i, 61.5 + i, 1.25 + 0.1 * i)));
    ASSERT_NE(others.back(), nullptr);
    EXPECT_EQ(others.back()->kernels_compiled, 0) << i;
    EXPECT_EQ(others.back()->kernels_cached, first->kernels_compiled + first->kernels_cached) << i;
  }
}

/// A warm start makes no loops; its program is the same.
TEST(SharedKernels, KeptKernelsAreNotLowered) {
  if (!codegen::host_target()) GTEST_SKIP() << "this processor is below x86-64-v3";
  const auto folder =
      std::filesystem::path(::testing::TempDir()) / ("galatea_forms_" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  const codegen::CacheOptions cache{true, folder, 1 << 24};
  const std::string text = pipeline(61, 83, 121.5, 62.5, 1.5);
  CompileReport cold, warm, living;
  Program program = compile_text(text, &cold, cache);
  ASSERT_NE(program, nullptr);
  EXPECT_GT(cold.num_lowered, 0);
  EXPECT_EQ(cold.num_lowered, program->kernels_compiled + program->kernels_cached);
  ASSERT_NE(compile_text(text, &living), nullptr);
  EXPECT_EQ(living.num_lowered, 0) << "the code lives in this process";
  const std::string listing = runtime::to_text(*program);
  program.reset();
  program = compile_text(text, &warm, cache);
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(warm.num_lowered, 0);
  EXPECT_EQ(program->kernels_compiled, 0);
  EXPECT_EQ(runtime::to_text(*program), listing);
  std::filesystem::remove_all(folder);
}

/// Arms that do the same to images of one kind are one kernel, which is prepared once.
TEST(SharedKernels, EqualGroupsArePreparedOnce) {
  if (!codegen::host_target()) GTEST_SKIP() << "this processor is below x86-64-v3";
  const auto chain = [](int links) {
    std::string text =
        "from nvidia.dali import pipeline_def, fn, types\n"
        "@pipeline_def(batch_size=4, num_threads=2, seed=7, enable_conditionals=True)\n"
        "def p():\n"
        "    encoded, label = fn.readers.file(file_root=\"" GALATEA_SOURCE_DIR
        "\")\n"
        "    image = fn.decoders.image(encoded, output_type=types.RGB)\n"
        "    image = fn.resize(image, size=[64, 64])\n";
    for (int i = 0; i < links; ++i)
      text += "    if fn.random.coin_flip(dtype=types.BOOL):\n        image = fn.rotate(image, angle=" +
              std::to_string(3 + i) + ", keep_size=True, fill_value=" + std::to_string(10 + i) + ")\n";
    return text + "    return image, label\n";
  };
  CompileReport few, many;
  const Program first = compile_text(chain(3), &few), second = compile_text(chain(12), &many);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_GE(many.kernels.size(), few.kernels.size() + 9);
  EXPECT_EQ(many.num_prepared, few.num_prepared);
  EXPECT_EQ(second->kernels.size(), first->kernels.size());
}

TEST(SharedKernels, AnotherShapeIsOtherCode) {
  if (!codegen::host_target()) GTEST_SKIP() << "this processor is below x86-64-v3";
  const Program first = compile_text(pipeline(60, 80, 120.5, 61.5, 1.25));
  std::string text = pipeline(60, 80, 120.5, 61.5, 1.25);
  text.replace(text.find("\"CHW\""), 5, "\"HWC\"");
  const Program second = compile_text(text);
  ASSERT_NE(second, nullptr);
  EXPECT_GE(second->kernels_compiled, 1);
}

}  // namespace
}  // namespace galatea::testing
