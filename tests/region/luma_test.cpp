// Images of which only the luma is used (exact=False) against full decoding: near, because what is decoded
// then is what the file holds; untouched where colours are used or other values are not allowed; the same
// bits on every backend.
#include <cstdlib>

#include "tests/region/region_run.h"

namespace galatea {
namespace {

/// Four JPEGs and a PNG: at most two levels on average (chroma that leaves the range is cut off in RGB), and
/// not the same for all of them, so chroma was left out indeed.
void expect_near_luma(const std::string& body) {
  SCOPED_TRACE(body);
  const auto full = run_everywhere(body, ""), luma = run_everywhere(body, "exact=false");
  ASSERT_GE(full.size(), 5u);
  ASSERT_EQ(luma.size(), full.size());
  EXPECT_NE(luma, full);
  for (size_t i = 0; i < full.size(); ++i) {
    ASSERT_EQ(full[i].size(), luma[i].size());
    double sum = 0;
    for (size_t n = 0; n < full[i].size(); ++n)
      sum += std::abs(static_cast<uint8_t>(full[i][n]) - static_cast<uint8_t>(luma[i][n]));
    EXPECT_LT(sum / static_cast<double>(full[i].size()), 2.0) << "tensor " << i;
  }
}

TEST(Luma, AGreyConversion) {
  expect_near_luma(R"(  %out = color_space_conversion(%image) {image_type=0, output_type=2}
  return %out
)");
}

TEST(Luma, BehindGeometry) {
  expect_near_luma(R"(  %window = crop(%image) {crop=[24.0, 28.0], crop_pos_x=0.25, crop_pos_y=0.75}
  %mirrored = flip(%window) {horizontal=1}
  %large = resize(%mirrored) {size=[64.0, 60.0]}
  %turned = rotate(%large) {angle=20.0, fill_value=0.0, keep_size=true}
  %blurred = gaussian_blur(%turned) {window_size=[3]}
  %out = color_space_conversion(%blurred) {image_type=0, output_type=2}
  return %out
)");
}

TEST(Luma, ASaturationOfNothing) {
  expect_near_luma(R"(  %small = resize(%image) {size=[40.0, 40.0]}
  %out = saturation(%small) {saturation=0.0}
  return %out
)");
}

TEST(Luma, TwoReaders) {
  expect_near_luma(R"(  %out = color_space_conversion(%image) {image_type=0, output_type=2}
  %left = flip(%image) {horizontal=1}
  %grey = saturation(%left) {saturation=0.0}
  %back = flip(%grey) {horizontal=1}
  %one = color_space_conversion(%back) {image_type=0, output_type=2}
  %sum = resize(%one) {size=[8.0, 8.0]}
  return %out, %sum
)");
}

/// Each channel is curved before they are mixed; colours remain; another reader wants them.
TEST(Luma, NotWhereChromaIsSeen) {
  for (const char* body : {R"(  %bright = brightness_contrast(%image) {contrast=3.0}
  %out = color_space_conversion(%bright) {image_type=0, output_type=2}
  return %out
)",
                           R"(  %out = saturation(%image) {saturation=0.1}
  return %out
)",
                           R"(  %out = color_space_conversion(%image) {image_type=1, output_type=2}
  return %out
)",
                           R"(  %out = color_space_conversion(%image) {image_type=0, output_type=2}
  return %out, %image
)"})
    EXPECT_EQ(run_everywhere(body, "exact=false"), run_everywhere(body, "")) << body;
}

}  // namespace
}  // namespace galatea
