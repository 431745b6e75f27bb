// Pipelines of one shape with different numbers share their code.
#include <gtest/gtest.h>

#include "compiler/codegen/llvm_backend.h"
#include "compiler/compile.h"
#include "dsl/frontend.h"
#include "tests/support/product.h"

namespace galatea::testing {
namespace {

using Program = std::shared_ptr<const runtime::Program>;

Program compile_text(const std::string& text) {
  SourceMap sources;
  dsl::FrontendResult staged = dsl::stage_pipeline("p.dali-dsl", text, {}, product().registry, sources);
  EXPECT_TRUE(staged.ok);
  if (!staged.ok) return nullptr;
  auto backend = codegen::make_llvm_backend(*codegen::host_target());
  CompileOptions options;
  options.registry = &product().registry;
  options.backend = backend.get();
  auto program = compile(*staged.graphs.at(0), sources, options);
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
