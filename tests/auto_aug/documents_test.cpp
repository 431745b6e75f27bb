// What documents and timm's strings make of pictures, where ranges end and numbers are limited.
#include <gtest/gtest.h>

#include "tests/auto_aug/run_text.h"

namespace galatea::testing {
namespace {

constexpr int kDocumentSamples = 12;

/// Each sample is the input and then the numbers that the text's last line stacks.
void expect_all_zero(const std::string& definitions, const std::string& numbers, size_t count) {
  const auto samples = run_text(R"(
from galatea import fn, math, pipeline_def, types
from galatea.auto_aug import augmentations as a, policy, timm
from galatea.auto_aug.core import signed_bin

def apart(x, y):
    x = fn.cast(x, dtype=types.FLOAT)
    return fn.reductions.max(math.abs(x - fn.cast(y, dtype=types.FLOAT)))

)" + definitions + R"(

@pipeline_def(batch_size=12, num_threads=1, seed=5)
def p():
    x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
    noise = fn.random.uniform(range=[0.0, 255.0], shape=[14, 11, 3])
    image = fn.reshape(fn.cast(noise, dtype=types.UINT8), layout="HWC")
    return fn.cat(x, fn.stack()" + numbers +
                                    "))\n",
                                kDocumentSamples);
  ASSERT_EQ(samples.size(), static_cast<size_t>(kDocumentSamples));
  for (const auto& sample : samples) {
    ASSERT_EQ(sample.size(), 1 + count);
    for (size_t i = 1; i <= count; ++i) EXPECT_EQ(sample[i], 0) << "number " << i;
  }
}

/// timm keeps more bits than a byte has, or fewer than none, where `mmax` lets levels go beyond 10.
TEST(TimmPictures, LevelsBeyondTenKeepAllBitsOrNone) {
  expect_all_zero(R"(
def run(name, std, image):
    return timm.operation(name, 30, timm._options(std, 30, 128, 250, 0.45, None))(image)
)",
                  R"(
        apart(run("PosterizeIncreasing", 0.0, image), 0 * image),
        apart(run("PosterizeIncreasing", 1.0, image), 0 * image),
        apart(run("Posterize", 0.0, image), image),
        apart(run("PosterizeOriginal", 1.0, image), image)
)",
                  4);
}

TEST(PolicyPictures, BlursAndLimitedKernels) {
  expect_all_zero(R"(
def document(row, mag):
    return policy.define({"bins": 5, "augmentations": {"row": row}, "policy": {"apply": "row", "mag": mag}})

blur = {"op": "gaussian_blur", "range": [0, 2]}
sharp = {"op": "sharpness", "range": [0, 4], "param": "sharpness_kernel", "clamp": [None, 0.75]}
shifted = {"op": "sharpness", "range": [-3, 1], "param": "sharpness_kernel_shifted", "clamp": [-0.5, None]}
masked = {"op": "posterize", "range": [0, 8], "param": "posterize_mask0", "clamp": [3, None]}
level = {"level": 10, "std": 0.001, "clip": [10, 10]}

def sharpened(image, m):
    return a.sharpness.op(image, types.Constant(a.sharpness_kernel(m)))
)",
                  R"(
        apart(document(blur, {"bin": 0})(image), image),
        apart(document(blur, {"bin": 3})(image), fn.gaussian_blur(image, sigma=1.5)),
        apart(document(blur, {"uniform_level": [0, 10], "clip": [7.5, 7.5]})(image), fn.gaussian_blur(image, sigma=1.5)),
        apart(document(sharp, {"bin": 4})(image), sharpened(image, 0.75)),
        apart(document(sharp, level)(image), sharpened(image, 0.75)),
        apart(document(shifted, {"bin": 0})(image), sharpened(image, -0.5)),
        apart(document(masked, {"bin": 0})(image), image & 224)
)",
                  7);
}

}  // namespace
}  // namespace galatea::testing
