// Operators that see the batch, where images lie on the GPU: their samples meet on the host, between kernels.
#include "tests/gpu/gpu_runs.h"

namespace galatea::testing {
namespace {

using GpuBatch = GpuRuns;

TEST_F(GpuBatch, ExtentsMeetAndTheKernelStaysThere) {
  expect_same(of_images("    return fn.pad(fn.flip(image), axes=[0, 1], align=8) * 0.5\n"), 1,
              {LaunchForm::kAuto, LaunchForm::kSeparate});
}

TEST_F(GpuBatch, StatisticsComeToTheHostAndGoBack) {
  expect_same(of_images("    return fn.normalize(image, batch=True, axis_names='HW', scale=30.0)\n"), 2);
  expect_same(of_images("    small = fn.resize(image, size=[9, 8])\n"
                        "    return small - fn.reductions.mean(small, axes=[], batch=True),"
                        " fn.reductions.max(small, batch=True)\n"),
              1);
}

TEST_F(GpuBatch, TensorsAreLentByTheHost) {
  expect_same(of_images("    small = fn.resize(image, size=[12, 10])\n"
                        "    other = fn.permute_batch(small, indices=fn.batch_permutation())\n"
                        "    return small * 0.5 + other * 0.5, other\n"),
              1);
}

/// The device knows who takes which arm; those who meet in one are waited for.
TEST_F(GpuBatch, ArmsThatADeviceChooses) {
  expect_same(replaced(of_images("    bright = fn.reductions.mean(image).cpu() > 120.0\n"
                                 "    out = image\n"
                                 "    if bright:\n"
                                 "        out = fn.pad(image, axes=[0])\n"
                                 "    else:\n"
                                 "        out = fn.flip(image)\n"
                                 "    return fn.pad(out, axes=[0, 1])\n"),
                       "seed=42", "seed=42, enable_conditionals=True"),
              1, {LaunchForm::kAuto, LaunchForm::kSeparate});
}

using GpuTimes = GpuOneBatch;

TEST_F(GpuTimes, BytesOfALaunchAreThoseOfItsTensors) {
  make(of_images("    return fn.brightness(image, brightness=0.5)\n"), false);
  ASSERT_TRUE(program_);
  runtime::SessionOptions options;
  options.executor = runtime::ExecutorKind::kInline;
  options.device.times_commands = true;
  auto session = runtime::Session::create(program_, product().natives, options);
  ASSERT_TRUE(session) << session.error().message();
  auto batch = (*session)->next();
  ASSERT_TRUE(batch && *batch);
  ASSERT_TRUE((**batch)->device->wait());
  int64_t bytes = 0;
  for (const runtime::Tensor& sample : (**batch)->outputs[0].samples) bytes += sample.num_bytes();
  EXPECT_GT(bytes, 0);
  int launches = 0;
  for (const runtime::CommandTime& time : (*session)->statistics().device.command_times) {
    if (!time.what.starts_with("launch of ")) continue;
    ++launches;
    // As many are read as are written, in each of the batches that were made ahead.
    EXPECT_EQ(time.bytes % time.count, 0) << time.what;
    EXPECT_EQ(time.bytes / time.count, 2 * bytes) << time.what;
  }
  EXPECT_EQ(launches, 1);
}

}  // namespace
}  // namespace galatea::testing
