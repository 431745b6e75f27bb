// One line each: what `check` says of arguments, layouts and extents that cannot fit. The runs of
// check_test.cpp show that it is right to.
#include <gtest/gtest.h>

#include <regex>

#include "tests/shape/pipeline_runner.h"

namespace galatea::shape_test {
namespace {

struct Row {
  const char* lines;  ///< may use rgb u8[h,w,3] HWC, gray u8[h2,w2,1] HWC, small u8[20,30,3] HWC, x i64[]
  const char* error;  ///< "": accepted
};

constexpr const char* kPrelude =
    "from nvidia.dali import pipeline_def, fn, types\n"
    "@pipeline_def(batch_size=1, num_threads=1, seed=5)\n"
    "def p():\n"
    "    encoded, label = fn.readers.file(file_root=\"data\")\n"
    "    rgb = fn.decoders.image(encoded)\n"
    "    gray = fn.decoders.image(encoded, output_type=types.GRAY)\n"
    "    small = fn.resize(rgb, size=[20, 30])\n"
    "    h = rgb.shape()[0]\n"
    "    x = fn.external_source(name=\"x\", dtype=types.INT64, ndim=0)\n"
    "    y = fn.external_source(name=\"y\", dtype=types.FLOAT, ndim=1)\n"
    "    return ";

void PrintTo(const Row& row, std::ostream* out) { *out << row.lines; }

class Rejects : public ::testing::TestWithParam<Row> {};

TEST_P(Rejects, WithTheReason) {
  const Staged staged = stage(std::string(kPrelude) + GetParam().lines + "\n");
  std::string text;
  for (const std::string& error : staged.errors()) text += (text.empty() ? "" : "; ") + error.substr(6);
  EXPECT_EQ(text, GetParam().error);
  for (const Diagnostic& diagnostic : staged.diagnostics) {
    if (diagnostic.severity != Severity::kError) continue;
    ASSERT_TRUE(diagnostic.span.valid());
    EXPECT_EQ(staged.sources.file(diagnostic.span.file)->position(diagnostic.span.begin).line, 12U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Windows, Rejects,
    ::testing::Values(
        Row{"fn.crop(small, crop=[20, 30])", ""}, Row{"fn.crop(small, crop=[21, 30])", "?"},
        Row{"fn.crop(small, crop=[20, 31])", "?"}, Row{"fn.crop(small, crop=[1, 2, 3])", "?"},
        Row{"fn.crop(small, crop_h=5)", "?"}, Row{"fn.crop(small, crop=[5, 5], crop_pos_x=1.5)", "?"},
        Row{"fn.crop(small, crop=[21, 31], out_of_bounds_policy=\"pad\")", ""},
        Row{"fn.crop(rgb, crop=[h + 1, 5], crop_pos_y=0.0)", "?"}, Row{"fn.crop(rgb, crop=[h, 5])", ""},
        Row{"fn.slice(small, [0.5], [0.6], axes=[0])", "?"},
        Row{"fn.slice(small, [18, 3], [3, 3], axes=[0, 1])", "?"},
        Row{"fn.slice(small, [0], [3], axes=[3])", "?"},
        Row{"fn.slice(small, [0], [3], axis_names=\"D\")", "?"}, Row{"small[20]", "?"},
        Row{"small[-21]", "?"}, Row{"small[19:25]", "?"}, Row{"small[h * 0 + 20]", "?"}, Row{"rgb[h]", "?"},
        Row{"rgb[h - 1]", ""}, Row{"rgb[:, :, 3]", "?"}, Row{"small[1, 2, 3, 4]", "?"}));

INSTANTIATE_TEST_SUITE_P(
    Channels, Rejects,
    ::testing::Values(Row{"fn.crop_mirror_normalize(gray, mean=[1.0, 2.0, 3.0])", "?"},
                      Row{"fn.crop_mirror_normalize(rgb, mean=[1.0, 2.0, 3.0], std=[1.0, 1.0, 1.0])", ""},
                      Row{"fn.crop_mirror_normalize(rgb, mean=[1.0, 2.0], std=[1.0])", "?"},
                      Row{"fn.crop_mirror_normalize(rgb, mean=[1.0], std=[1.0, 2.0, 3.0, 4.0])", "?"},
                      Row{"fn.crop_mirror_normalize(rgb, std=[0.0])", "?"},
                      Row{"fn.crop_mirror_normalize(rgb, output_layout=\"HCC\")", "?"},
                      Row{"fn.crop_mirror_normalize(rgb, output_layout=\"CH\")", "?"},
                      Row{"fn.crop_mirror_normalize(small, crop=[40, 40])", "?"},
                      Row{"fn.saturation(gray, saturation=0.5)", "?"}, Row{"fn.hue(gray, hue=5.0)", "?"},
                      Row{"fn.color_twist(fn.transpose(rgb, perm=[2, 0, 1]), hue=5.0)", "?"},
                      Row{"fn.hsv(fn.cat(rgb, rgb, axis=2), hue=5.0)", "?"}));

INSTANTIATE_TEST_SUITE_P(
    Joins, Rejects,
    ::testing::Values(
        Row{"fn.stack(small, fn.resize(rgb, size=[20, 31]))", "?"},
        Row{"fn.stack(rgb, fn.crop(rgb, crop=[h - 1, 0]))", "?"}, Row{"fn.stack(rgb, fn.flip(rgb))", ""},
        Row{"fn.stack(rgb, fn.cast(rgb, dtype=types.FLOAT))", "?"}, Row{"fn.stack(rgb, label)", "?"},
        Row{"fn.stack(rgb, rgb, axis=5)", "?"}, Row{"fn.cat(rgb, gray, axis=1)", "?"},
        Row{"fn.cat(rgb, gray, axis=2)", ""}, Row{"fn.cat(rgb, small[0], axis=0)", "?"},
        Row{"fn.cat(rgb, rgb, axis=3)", "?"}, Row{"fn.cat(rgb, rgb, axis_name=\"D\")", "?"},
        Row{"fn.cat(rgb, fn.crop(rgb, crop=[h - 1, 0]), axis=1)", "?"},
        Row{"small + fn.resize(rgb, size=[20, 31])", "?"},
        Row{"rgb + fn.crop(rgb, crop=[0, rgb.shape()[1] + 2], out_of_bounds_policy=\"pad\")", "?"},
        Row{"rgb + gray", ""}, Row{"small * fn.resize(gray, size=[1, 30])", ""}, Row{"small + label", ""},
        Row{"small + small[0, :2]", "?"}));

INSTANTIATE_TEST_SUITE_P(
    Shapes, Rejects,
    ::testing::Values(
        Row{"fn.reshape(small, shape=[20, 90])", ""}, Row{"fn.reshape(small, shape=[20, 91])", "?"},
        Row{"fn.reshape(small, shape=[7, -1])", "?"}, Row{"fn.reshape(small, shape=[-1, -1])", "?"},
        Row{"fn.reshape(rgb, shape=[h, -1])", ""}, Row{"fn.reshape(rgb, shape=[h, rgb.shape()[1], 4])", "?"},
        Row{"fn.reshape(rgb, shape=[h * 2, -1, 3])", "?"}, Row{"fn.reshape(rgb, rel_shape=[2, 1, 1])", "?"},
        Row{"fn.reshape(rgb, src_dims=[0, 1])", "?"}, Row{"fn.reshape(rgb, src_dims=[0, 3])", "?"},
        Row{"fn.reshape(rgb, layout=\"HW\")", "?"}, Row{"fn.reshape(rgb, shape=y)", "?"},
        Row{"fn.transpose(rgb, perm=[0, 1])", "?"}, Row{"fn.transpose(rgb, perm=[0, 1, 1])", "?"},
        Row{"fn.transpose(rgb, output_layout=\"HW\")", "?"}, Row{"fn.reductions.sum(rgb, axes=[3])", "?"},
        Row{"fn.reductions.sum(rgb, axes=[0, 0])", "?"},
        Row{"fn.reductions.mean(rgb, axis_names=\"D\")", "?"}));

INSTANTIATE_TEST_SUITE_P(Filters, Rejects,
                         ::testing::Values(Row{"fn.resize(rgb, size=[1, 2, 3])", "?"},
                                           Row{"fn.resize(rgb)", "?"},
                                           Row{"fn.resize(rgb, size=[4, 4], resize_x=3)", "?"},
                                           Row{"fn.resize(rgb, size=[4, 4], roi_start=[0, 0])", "?"},
                                           Row{"fn.resize(rgb, size=y)", ""},
                                           Row{"fn.resize(rgb, size=fn.stack(x, x, x))", "?"},
                                           Row{"fn.resize(label, size=[4, 4])", "?"},
                                           Row{"fn.gaussian_blur(rgb, window_size=4)", "?"},
                                           Row{"fn.gaussian_blur(rgb, sigma=[1.0, 2.0, 3.0])", "?"},
                                           Row{"fn.laplacian(rgb, window_size=8)", "?"},
                                           Row{"fn.laplacian(rgb, window_size=25)", "?"},
                                           Row{"fn.flip(label)", "?"}, Row{"fn.decoders.image(rgb)", "?"},
                                           Row{"fn.random.uniform(range=[1.0, 2.0, 3.0])", "?"},
                                           Row{"fn.random.choice([1, 2, 3], p=[0.5, 0.5])", "?"},
                                           Row{"fn.random.coin_flip(probability=1.5)", "?"}));

}  // namespace
}  // namespace galatea::shape_test
