// Random pipelines over decoded images: whatever windows are pushed through them, all outputs are those of
// the unfused stage interpreter over whole images.
#include <fmt/format.h>

#include <random>

#include "tests/region/region_run.h"
#include "tests/support/cases.h"

namespace galatea {
namespace {

/// Writes graphs: a decoded image, operators on it, an `if` or two around some of them, crops or resizes of
/// the end; every extent stays at least 12.
class PipelineWriter {
 public:
  explicit PipelineWriter(uint32_t seed) : random_(seed) {}

  std::string write() {
    text_ = "^0:\n";
    std::string image = "image";
    int pieces = 1 + below(3);
    for (int n = 0; n < pieces; ++n) {
      image = below(3) == 0 ? branch(image) : chain(image, 1 + below(3));
    }
    std::string out = last(image);
    std::string second = below(3) == 0 ? last(image) : out;
    return text_ + "  return %" + out + (second == out ? "" : ", %" + second) + "\n";
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  std::string name() { return fmt::format("v{}", ++names_); }
  std::string draw(double low, double high) {
    std::string value = name();
    text_ += fmt::format("  %{} = random.uniform() {{range=[{:.1f}, {:.1f}]}} key={:#x}\n", value, low, high,
                         ++keys_);
    return value;
  }
  std::string line(const std::string& op, const std::string& input, const std::string& args) {
    std::string value = name();
    text_ += fmt::format("  %{} = {}(%{}) {{{}}}\n", value, op, input, args);
    return value;
  }

  std::string step(const std::string& image) {
    switch (below(9)) {
      case 0:
        return line("brightness", image, "brightness=%" + draw(0.5, 1.5));
      case 1:
        return line("saturation", image, "saturation=1.5");
      case 2:
        return line("gaussian_blur", image, fmt::format("window_size={}", 3 + 2 * below(2)));
      case 3:
        return line("flip", image, fmt::format("horizontal={}, vertical={}", below(2), below(2)));
      case 4:
        return line("resize", image, "resize_shorter=" + std::to_string(20 + below(30)));
      case 5:
        return line(
            "resize", image,
            fmt::format("size=[{}.0, {}.0], interp_type={}", 20 + below(30), 20 + below(30), below(4)));
      case 6:
        return line("crop", image,
                    fmt::format("crop=[{0}.0, {0}.0], crop_pos_x=%{1}, out_of_bounds_policy=\"pad\"",
                                16 + below(9), draw(0, 1)));
      case 7:
        return line("laplacian", image, "dtype=u8");
      default:
        return line("color_twist", image, "hue=20.0");
    }
  }
  std::string chain(std::string image, int length) {
    for (int n = 0; n < length; ++n) image = step(image);
    return image;
  }

  std::string branch(const std::string& image) {
    std::string coin = name();
    text_ += fmt::format("  %{} = random.coin_flip() key={:#x}\n", coin, ++keys_);
    int first = ++blocks_, second = ++blocks_, join = ++blocks_;
    text_ += fmt::format("  branch %{} ^{}, ^{}\n^{}(^{}):\n", coin, first, second, first, block_);
    std::string a = chain(image, 1 + below(2));
    text_ += fmt::format("  jump ^{}\n^{}(^{}):\n", join, second, block_);
    std::string b = chain(image, below(2));
    text_ += fmt::format("  jump ^{}\n^{}(^{}, ^{}):\n", join, join, first, second);
    block_ = join;
    std::string merged = name();
    text_ += fmt::format("  %{} = merge(%{}, %{}) : u8[?,?,3] HWC\n", merged, a, b);
    return merged;
  }

  std::string last(const std::string& image) {
    switch (below(4)) {
      case 0:
        return line("crop", image, "crop=[12.0, 10.0], crop_pos_y=%" + draw(0, 1));
      case 1:
        return line("crop_mirror_normalize", image,
                    "crop=[10.0, 12.0], mirror=1, mean=[120.0], std=[60.0], crop_pos_x=%" + draw(0, 1));
      case 2: {
        std::string value = name();
        text_ += fmt::format("  %{} = random_resized_crop(%{}) {{size=[9, 8]}} key={:#x}\n", value, image,
                             ++keys_);
        return value;
      }
      default:
        return step(line("crop", image, "crop=[11.0, 12.0], crop_pos_y=%" + draw(0, 1)));
    }
  }

  std::mt19937 random_;
  std::string text_;
  int names_ = 0, keys_ = 0x100, blocks_ = 0, block_ = 0;
};

TEST(Region, RandomPipelines) {
  const auto pipelines = static_cast<uint32_t>(testing::cases(24, 6));
  size_t windows = 0;
  for (uint32_t seed = 1; seed <= pipelines; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    // Machine code for some only: it is what takes the time.
    windows += expect_equal_to_whole_images(PipelineWriter(seed).write(), seed % 6 == 0);
    if (::testing::Test::HasFatalFailure() || ::testing::Test::HasNonfatalFailure()) return;
  }
  // Most of them read less than everything.
  EXPECT_GT(windows, pipelines);
}

}  // namespace
}  // namespace galatea
