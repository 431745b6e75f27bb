// Pipelines of one shape compile once, whatever their numbers: magnitudes, extents, fill values, angles.
#include <gtest/gtest.h>

#include <random>

#include <fmt/format.h>

#include "compiler/codegen/llvm_backend.h"
#include "tests/pipelines/pipeline_runner.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

std::unique_ptr<codegen::KernelBackend> fresh_backend() {
  std::string note;
  return std::move(*codegen::make_backend("llvm", &note, codegen::CacheOptions{}, codegen::Tiers::kFirst));
}

/// A policy with two arms; every number comes from the seed: 0, 1, powers of two and negative ones among
/// them.
std::string policy(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto real = [&](double low, double high) {
    static const double kSpecial[] = {0, 1, -1, 0.5, 2, -0.25, 4, 128};
    const double special = kSpecial[random() % std::size(kSpecial)];
    const double value = low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
    return fmt::format("{:.5f}", random() % 3 == 0 && special >= low && special <= high ? special : value);
  };
  // Which extents are equal is part of the shape, so they differ: even rows, odd columns.
  const auto even = 16 + 2 * (random() % 12), odd = 17 + 2 * (random() % 12);
  return fmt::format(R"(from nvidia.dali import pipeline_def, fn, types


@pipeline_def(batch_size=4, num_threads=2, seed={}, enable_conditionals=True)
def pipe():
    image = fn.external_source(name="image", dtype=types.UINT8, ndim=3, layout="HWC")
    image = fn.resize(image, size=[{}, {}])
    image = fn.brightness_contrast(image, brightness={}, contrast={}, brightness_shift={})
    if fn.random.coin_flip(probability={}, dtype=types.BOOL):
        image = fn.rotate(image, angle={}, keep_size=True, fill_value={})
        image = fn.color_twist(image, brightness={}, contrast={}, saturation={}, hue={})
        image = fn.cast(image * {} + {}, dtype=types.UINT8)
    else:
        image = fn.contrast(image, contrast={}, contrast_center={})
        image = fn.brightness(image, brightness={}, brightness_shift={})
        image = fn.erase(image, anchor=[{}, {}], shape=[{}, {}], normalized=True, fill_value={})
    return fn.crop_mirror_normalize(image, mean=[{}, {}, {}], std=[{}, {}, {}], shift={})
)",
                     random() % 1000, even, odd, real(-1, 2), real(-1, 2), real(-1, 1), real(0.1, 0.9),
                     real(-180, 180), real(0, 255), real(-2, 2), real(-2, 2), real(-2, 2), real(-180, 180),
                     real(-2, 2), real(-64, 128), real(-1, 2), real(-1, 2), real(-1, 2), real(-1, 2),
                     real(0, 0.8), real(0, 0.8), real(0, 0.5), real(0, 0.5), real(0, 255), real(0, 255),
                     real(0, 255), real(0, 255), real(0.5, 128), real(0.5, 128), real(0.5, 128), real(-8, 8));
}

TEST(Parameters, AHundredPoliciesOfOneShapeShareTheirKernels) {
  auto backend = fresh_backend();
  const PipelineWay way{"", backend.get(), true, true, 1};
  const PipelineOutcome first = run_pipeline(policy(1), 1, way);  // lives on, and its kernels with it
  ASSERT_EQ(first.staging + first.error, "") << policy(1);
  ASSERT_GT(first.program->kernels_compiled, 0);
  std::vector<PipelineOutcome> alive;
  const auto pipelines = static_cast<uint64_t>(cases(100, 8));
  for (uint64_t seed = 2; seed <= pipelines; ++seed) {
    alive.push_back(run_pipeline(policy(seed), 1, way));
    ASSERT_EQ(alive.back().staging + alive.back().error, "") << policy(seed);
    EXPECT_EQ(alive.back().program->kernels_compiled, 0) << policy(seed);
  }
}

}  // namespace
}  // namespace galatea::testing
