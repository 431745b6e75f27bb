// JPEG 2000 decoded at a level of its own resolution (exact=False) against full decoding: near it, also where
// the window begins amid a pixel of the low pass.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "tests/native/jpeg2000_encoder.h"
#include "tests/readers/run_text.h"
#include "tests/support/own_folder.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;

/// Slopes of two numbers a pixel: a low pass that lies half of its own pixel off differs by seven. What is in the
/// last half of a low pass's pixel has no other behind it, so the edges differ by as much.
native::Picture waves() {
  native::Picture picture(160, 200, 3);
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x)
      for (int c = 0; c < 3; ++c)
        picture.at(y, x, c) =
            static_cast<int>(std::lround(128 + 50 * std::sin(x / 22.0 + c) + 50 * std::cos(y / 18.0)));
  return picture;
}

std::vector<int> bytes_of(const TextRun& run) {
  EXPECT_EQ(run.errors, std::vector<std::string>());
  if (!run.errors.empty()) return {};
  const runtime::Tensor& image = run.batch->outputs[0].samples[0];
  return {image.data, image.data + image.num_bytes()};
}

TEST(LowPasses, StandForWhatAResizeMakesSmaller) {
  const fs::path path = own_path("low_pass.jp2");
  const native::File file = native::encode_jpeg2000(waves(), {.rate = 2});
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  for (const char* resized :
       {"fn.decoders.image(encoded), size=[70, 80]", "fn.decoders.image(encoded), size=[33, 40]",
        "fn.decoders.image(encoded), size=[20, 16]",
        "fn.decoders.image(encoded), size=[12, 11], roi_start=[13, 21], roi_end=[121, 133]",
        "fn.decoders.image_crop(encoded, crop=[101, 99], crop_pos_x=0.37), size=[12, 12]"}) {
    SCOPED_TRACE(resized);
    const auto run = [&](const char* options) {
      return bytes_of(run_text(fmt::format("encoded, label = fn.readers.file(files=[\"{}\"])\n"
                                           "return fn.resize({}, antialias=True)",
                                           path.string(), resized),
                               options));
    };
    const std::vector<int> full = run("batch_size=1"), scaled = run("batch_size=1, exact=False");
    ASSERT_EQ(full.size(), scaled.size());
    EXPECT_NE(full, scaled);
    double sum = 0;
    for (size_t i = 0; i < full.size(); ++i) sum += std::abs(full[i] - scaled[i]);
    EXPECT_LT(sum / static_cast<double>(full.size()), 3);  // as of JPEG (tests/region/scaled_test.cpp)
  }
  fs::remove(path);
}

}  // namespace
}  // namespace galatea::testing
