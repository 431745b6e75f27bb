// Pipelines of one shape compile once, whatever their numbers: magnitudes, extents, fill values, angles.
#include <gtest/gtest.h>

#include "compiler/codegen/llvm_backend.h"
#include "tests/pipelines/pipeline_generator.h"
#include "tests/pipelines/pipeline_runner.h"

namespace galatea::testing {
namespace {

std::unique_ptr<codegen::KernelBackend> fresh_backend() {
  std::string note;
  return std::move(*codegen::make_backend("llvm", &note, codegen::CacheOptions{}));
}

constexpr uint64_t kShapes = 12, kPipelines = 100;

TEST(Parameters, AHundredPipelinesOfOneShapeCompileNothingAfterTheFirst) {
  for (uint64_t shape = 1; shape <= kShapes; ++shape) {
    auto backend = fresh_backend();
    const PipelineWay way{"", backend.get(), true, true, 1};
    const std::string first_text = PipelineGenerator({shape, 1}).make().text();
    const PipelineOutcome first = run_pipeline(first_text, 1, way);  // lives on, and its kernels with it
    ASSERT_EQ(first.staging, "") << first_text;
    ASSERT_TRUE(first.program) << first.error;
    EXPECT_GT(first.program->kernels_compiled, 0);
    for (uint64_t numbers = 2; numbers <= kPipelines; ++numbers) {
      const std::string text = PipelineGenerator({shape, numbers}).make().text();
      const PipelineOutcome outcome = run_pipeline(text, 1, way);
      ASSERT_EQ(outcome.staging, "") << text;
      if (!outcome.program) continue;  // fails for every sample, which is said before it is compiled
      ASSERT_EQ(outcome.program->kernels_compiled, 0) << "shape " << shape << "\n"
                                                      << first_text << "\n"
                                                      << text;
    }
  }
}

}  // namespace
}  // namespace galatea::testing
