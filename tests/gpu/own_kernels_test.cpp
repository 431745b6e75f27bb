// Kernels of the user's own on a device: the bits of the CPU, and launches of their own.
#include <set>

#include "tests/gpu/gpu_runs.h"

namespace galatea::testing {
namespace {

constexpr const char* kTurned = R"("""
// Turned within each block of 40 columns, and a sum that threads of a block make together.
__global__ void turned(galatea::Tensor<const uint8_t, 3> image, float by, galatea::Tensor<uint8_t, 3> out,
                       galatea::Tensor<float, 2> sums) {
  __shared__ float part[40];
  int x = blockIdx.x * 40 + threadIdx.x, y = blockIdx.y, c = blockIdx.z;
  part[threadIdx.x] = x < image.extent(1) ? (float)image(y, x, c) * by : 0.0f;
  __syncthreads();
  int count = min(image.extent(1) - (int)blockIdx.x * 40, 40);
  if (threadIdx.x < count) out(y, x, c) = (uint8_t)(part[count - 1 - threadIdx.x]);
  if (threadIdx.x != 0 || c != 0) return;
  float sum = 0;
  for (int k = 0; k < count; ++k) sum += part[k];
  sums(y, blockIdx.x) = sum;
}
""")";

std::string with_kernel(const std::string& lines) {
  return replaced(
      of_images(lines), "\n@pipeline_def",
      "import galatea\n\nturned = galatea.cuda_kernel(name='turned', inputs=['image: u8[h, w, 3] HWC', "
      "'by: f32'], outputs=['out: u8[h, w, 3] HWC', 'sums: f32[h, ceil_div(w, 40)]'], "
      "launch='<<<(ceil_div(w, 40), h, 3), 40>>>', source=" +
          std::string(kTurned) + ")\n\n@pipeline_def");
}

TEST_F(GpuRuns, OwnKernels) {
  // Between kernels of the compiler's, which do not fuse with it; a factor of the host's and one of the GPU's.
  expect_same(with_kernel("    image = fn.resize(image, size=[30, 90])\n"
                          "    a, sums = turned(image, fn.random.uniform(range=[0.1, 1.0]))\n"
                          "    b, more = turned(fn.flip(a), fn.reductions.mean(image) / 255)\n"
                          "    return a.cpu() + 1, b.cpu(), sums.cpu(), more.cpu(), label\n"),
              4, {LaunchForm::kMerged, LaunchForm::kSeparate});
}

TEST_F(GpuRuns, OwnKernelsInArms) {
  expect_same(replaced(with_kernel("    image = fn.resize(image, size=[20, 50])\n"
                                   "    if fn.random.coin_flip():\n"
                                   "        image, sums = turned(image, 0.5)\n"
                                   "    else:\n"
                                   "        image = fn.flip(image)\n"
                                   "    if fn.reductions.mean(image) > 60:\n"
                                   "        image, sums = turned(image, 0.75)\n"
                                   "    return image.cpu(), label\n"),
                       "seed=42)", "seed=42, enable_conditionals=True)"),
              3, {LaunchForm::kMerged, LaunchForm::kSeparate});
}

TEST(OwnKernelsPlanned, AreLaunchedAlone) {
  const Planned planned =
      plan_for_gpu(with_kernel("    a, sums = turned(fn.resize(image, size=[20, 50]), 0.5)\n"
                               "    return fn.brightness(a, brightness=2.0), sums\n"));
  ASSERT_EQ(planned.error, "");
  size_t own = 0;
  for (const runtime::ProgramKernel& kernel : planned.program->kernels) {
    if (!kernel.device || !kernel.device->has_grid) continue;
    ++own;
    EXPECT_EQ(kernel.device->threads, 40);
    EXPECT_EQ(kernel.device->inputs, 2);
  }
  EXPECT_EQ(own, 1u);
  std::set<int32_t> launches;
  for (const runtime::KernelCallSpec& call : planned.program->kernel_calls) launches.insert(call.launch);
  EXPECT_EQ(launches.size(), 3u);
}

}  // namespace
}  // namespace galatea::testing
