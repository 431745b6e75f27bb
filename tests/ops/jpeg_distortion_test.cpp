// What jpeg_compression_distortion asks its native function for, and what it refuses. Its numbers are those of
// DALI and Pillow: tests/oracle/cases_jpeg.py.
#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

OpRun distortion(const std::vector<int64_t>& extents, const char* layout) {
  OpRun run("jpeg_compression_distortion");
  run.input(random_tensor(DType::kU8, extents, Layout(layout), 1));
  return run;
}

TEST(JpegDistortion, QualitiesAreFromOneToAHundred) {
  for (const auto& [given, nearest] : {std::pair{37, 37}, {0, 1}, {-3, 1}, {101, 100}}) {
    const OpRun::Outcome out =
        distortion({2, 5, 6, 3}, "FHWC").arg("quality", scalar(DType::kI32, given)).run();
    ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
    ASSERT_EQ(out.natives.size(), 1U);
    EXPECT_EQ(out.natives[0].scalars, (std::vector<int64_t>{nearest})) << given;
    EXPECT_EQ(out.natives[0].extents, (std::vector<int64_t>{2, 5, 6, 3}));
  }
}

TEST(JpegDistortion, RefusesWhatJpegCannotHold) {
  EXPECT_TRUE(says(distortion({5, 6, 4}, "HWC").failure(), "4 channels, not three"));
  EXPECT_TRUE(says(distortion({1, 65501, 3}, "HWC").failure(), "too large for JPEG"));
  EXPECT_EQ(distortion({1, 65500, 3}, "HWC").run().failed_check, "");
}

}  // namespace
}  // namespace galatea::ops_test
