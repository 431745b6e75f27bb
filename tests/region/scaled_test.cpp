// Images decoded at a smaller size (exact=False) against full decoding: near where the resize makes them
// smaller anyway, equal where it does not or the file cannot be scaled; and the same bits on every backend.
#include <cstdlib>

#include "tests/region/region_run.h"

namespace galatea {
namespace {

/// Mean difference of bytes.
double mean_difference(const std::string& a, const std::string& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    sum += std::abs(static_cast<uint8_t>(a[i]) - static_cast<uint8_t>(b[i]));
  return sum / static_cast<double>(a.size());
}

constexpr size_t kUpright = 2;  ///< JPEGs that are not turned

/// The upright JPEGs differ a little, so they were scaled indeed; the others come whole.
void expect_near(const std::string& body) {
  SCOPED_TRACE(body);
  auto full = run_everywhere(body, ""), scaled = run_everywhere(body, "exact=false");
  ASSERT_EQ(full.size(), 5u);
  ASSERT_EQ(scaled.size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    if (i < kUpright) {
      EXPECT_NE(scaled[i], full[i]) << "photograph " << i;
      EXPECT_LT(mean_difference(scaled[i], full[i]), 3.0) << "photograph " << i;
    } else {
      EXPECT_EQ(scaled[i], full[i]) << "photograph " << i;
    }
  }
}

TEST(Scaled, AQuarter) {
  expect_near(R"(  %out = resize(%image) {size=[10.0, 9.0]}
  return %out
)");
}

TEST(Scaled, AnEighth) {
  expect_near(R"(  %out = resize(%image) {size=[5.0, 4.0]}
  return %out
)");
}

/// Where the window lies within a pixel of the small image counts: it would be off by up to seven pixels.
TEST(Scaled, AWindowInTheMiddle) {
  expect_near(
      R"(  %out = resize(%image) {size=[10.0, 9.0], roi_start=[5.0, 11.0], roi_end=[43.0, 44.0], antialias=true}
  return %out
)");
}

TEST(Scaled, MirroredAndCroppedAfterwards) {
  expect_near(R"(  %small = resize(%image) {resize_shorter=12.0}
  %out = crop_mirror_normalize(%small) {crop=[10.0, 10.0], mirror=1, dtype=u8}
  return %out
)");
}

TEST(Scaled, ADecodedWindow) {
  expect_near(R"(  %window = decoders.image_crop(%encoded) {crop=[31.0, 33.0], crop_pos_x=0.3, crop_pos_y=0.9}
  %out = resize(%window) {size=[8.0, 9.0]}
  return %out
)");
}

TEST(Scaled, NotWhereItIsLargerThanHalf) {
  const std::string body = R"(  %out = resize(%image) {size=[40.0, 40.0]}
  return %out
)";
  EXPECT_EQ(run_everywhere(body, "exact=false"), run_everywhere(body, ""));
}

TEST(Scaled, NotWithoutAntialiasing) {
  const std::string body = R"(  %out = resize(%image) {size=[8.0, 8.0], antialias=false}
  return %out
)";
  EXPECT_EQ(run_everywhere(body, "exact=false"), run_everywhere(body, ""));
}

}  // namespace
}  // namespace galatea
