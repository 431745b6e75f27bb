// The CUDA text of the examples' kernels, for people to read: tests/golden/cuda/*.cuda. GALATEA_BLESS=1
// writes what came out.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cuda_text/example_kernels.h"
#include "tests/support/bless.h"

namespace galatea::testing {
namespace {

std::string golden_file(const std::string& example) {
  return std::string(GALATEA_SOURCE_DIR) + "/tests/golden/cuda/" + example + ".cuda";
}

TEST(CudaText, OfTheExamplesIsWhatWasRead) {
  size_t kernels = 0;
  for (const ExampleKernels& example : example_kernels()) {
    kernels += example.kernels.size();
    const std::string text = text_of(example), file = golden_file(example.name);
    if (galatea::testing::is_blessing()) {
      std::filesystem::remove(file);
      if (!text.empty()) std::ofstream(file) << text;
      continue;
    }
    std::ifstream in(file);
    std::stringstream expected;
    expected << in.rdbuf();
    EXPECT_EQ(text, expected.str()) << file;
  }
  EXPECT_GE(kernels, 15U);
  if (galatea::testing::is_blessing()) GTEST_SKIP() << "blessed";
}

TEST(CudaText, WindowsAndResizesAreMadeInTiles) {
  size_t tiles = 0, wide = 0;
  for (const ExampleKernels& example : example_kernels()) {
    const std::string text = text_of(example);
    for (size_t at = 0; (at = text.find("GALATEA_TILES(", at)) != std::string::npos; ++at) ++tiles;
    for (size_t at = 0; (at = text.find("GALATEA_WIDE_GRID(", at)) != std::string::npos; ++at) ++wide;
  }
  EXPECT_GE(tiles, 4U);
  EXPECT_GE(wide, 4U);
}

}  // namespace
}  // namespace galatea::testing
