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
    EXPECT_EQ(staged.sources.file(diagnostic.span.file)->position(diagnostic.span.begin).line, 11U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Windows, Rejects,
    ::testing::Values(
        Row{"fn.crop(small, crop=[20, 30])", ""},
        Row{"fn.crop(small, crop=[21, 30])", "fn.crop: a window of 21 rows does not fit an input of 20"},
        Row{"fn.crop(small, crop=[20, 31])", "fn.crop: a window of 31 columns does not fit an input of 30"},
        Row{"fn.crop(small, crop=[9, 2, 3])", ""},
        Row{"fn.crop(small, crop=[1, 2, 3, 4])",
            "fn.crop: crop needs 2 elements, (h, w), or 3, (d, h, w), not 4"},
        Row{"fn.slice(small)", "fn.slice: no window is given"},
        Row{"fn.crop(small, crop_h=5)", "fn.crop: 'crop_h' and 'crop_w' come together"},
        Row{"fn.crop(small, crop=[5, 5], crop_pos_x=1.5)", "fn.crop: crop_pos_x must lie in [0, 1], not 1.5"},
        Row{"fn.crop(small, crop=[21, 31], out_of_bounds_policy=\"pad\")", ""},
        Row{"fn.crop(rgb, crop=[h + 1, 5], crop_pos_y=0.0)",
            "fn.crop: the window from 0 to h+1 along H reaches outside the input's extent h"},
        Row{"fn.crop(rgb, crop=[h, 5])", ""},
        Row{"fn.slice(small, [0.5], [0.6], axes=[0])",
            "fn.slice: the window from 10 to 22 along H reaches outside the input's extent 20"},
        Row{"fn.slice(small, [18, 3], [3, 3], axes=[0, 1])",
            "fn.slice: the window from 18 to 21 along H reaches outside the input's extent 20"},
        Row{"fn.slice(small, [0], [3], axes=[3])",
            "fn.slice: axes names an axis that the input (layout 'HWC', 3 dimensions) does not have"},
        Row{"fn.slice(small, [0], [3], axis_names=\"D\")",
            "fn.slice: axis_names names an axis that the input (layout 'HWC', 3 dimensions) does not have"},
        Row{"small[20]", "indexing: index 20 is out of range for axis 0 of u8[20,30,3] HWC"},
        Row{"small[-21]", "indexing: index -21 is out of range for axis 0 of u8[20,30,3] HWC"},
        Row{"small[19:25]", ""},
        Row{"small[h * 0 + 20]", "indexing: index 20 is out of range for axis 0 of extent 20"},
        Row{"rgb[h]", "indexing: index h is out of range for axis 0 of extent h"}, Row{"rgb[h - 1]", ""},
        Row{"rgb[:, :, 3]", "indexing: index 3 is out of range for axis 2 of u8[?,?,3] HWC"},
        Row{"small[1, 2, 3, 4]", "4 indices for a data node of type u8[20,30,3] HWC"}));

INSTANTIATE_TEST_SUITE_P(
    Channels, Rejects,
    ::testing::Values(
        Row{"fn.crop_mirror_normalize(gray, mean=[1.0, 2.0, 3.0])",
            "fn.crop_mirror_normalize: 3 values of mean for an image of 1 channel"},
        Row{"fn.crop_mirror_normalize(rgb, mean=[1.0, 2.0, 3.0], std=[1.0, 1.0, 1.0])", ""},
        Row{"fn.crop_mirror_normalize(rgb, mean=[1.0, 2.0], std=[1.0])",
            "fn.crop_mirror_normalize: 2 values of mean for an image of 3 channels"},
        Row{"fn.crop_mirror_normalize(rgb, mean=[1.0], std=[1.0, 2.0, 3.0, 4.0])",
            "fn.crop_mirror_normalize: 4 values of std for an image of 3 channels"},
        Row{"fn.crop_mirror_normalize(rgb, std=[0.0])", "fn.crop_mirror_normalize: a std of 0"},
        Row{"fn.crop_mirror_normalize(rgb, output_layout=\"HCC\")",
            "fn.crop_mirror_normalize: output_layout \"HCC\" is not a permutation of the input's \"HWC\""},
        Row{"fn.crop_mirror_normalize(rgb, output_layout=\"CH\")",
            "fn.crop_mirror_normalize: output_layout \"CH\" is not a permutation of the input's \"HWC\""},
        Row{"fn.crop_mirror_normalize(small, crop=[40, 40])",
            "fn.crop_mirror_normalize: a window of 40 rows does not fit an input of 20"},
        Row{"fn.saturation(gray, saturation=0.5)",
            "fn.saturation: the image needs 3 channels (RGB), but is u8[?,?,1] HWC"},
        Row{"fn.hue(gray, hue=5.0)", "fn.hue: the image needs 3 channels (RGB), but is u8[?,?,1] HWC"},
        Row{"fn.color_twist(fn.transpose(rgb, perm=[2, 0, 1]), hue=5.0)",
            "fn.color_twist takes the layout HWC for input 0 (data), but gets CHW"},
        Row{"fn.hsv(fn.cat(rgb, rgb, axis=2), hue=5.0)",
            "fn.hsv: the image needs 3 channels (RGB), but is u8[?,?,6] HWC"}));

// An image of one row is not cut by h - 1 = 0, and one column is broadcast: some samples pass.
INSTANTIATE_TEST_SUITE_P(
    Joins, Rejects,
    ::testing::Values(
        Row{"fn.stack(small, fn.resize(rgb, size=[20, 31]))",
            "fn.stack: extents differ along axis 1: 30 and 31"},
        Row{"fn.stack(rgb, fn.crop(rgb, crop=[h - 1, 0]))", ""}, Row{"fn.stack(rgb, fn.flip(rgb))", ""},
        Row{"fn.stack(rgb, fn.cast(rgb, dtype=types.FLOAT))",
            "fn.stack: inputs 0 and 1 have different element types (UINT8 and FLOAT)"},
        Row{"fn.stack(rgb, label)",
            "fn.stack: inputs 0 and 1 have different element types (UINT8 and INT32)"},
        Row{"fn.stack(rgb, rgb, axis=5)", "fn.stack: axis 5 is out of range for 4 dimensions"},
        Row{"fn.cat(rgb, gray, axis=1)", "fn.cat: extents differ along axis 2: 3 and 1"},
        Row{"fn.cat(rgb, gray, axis=2)", ""},
        Row{"fn.cat(rgb, small[0], axis=0)",
            "fn.cat: inputs 0 and 1 have different numbers of dimensions (u8[?,?,3] HWC and u8[30,3] WC)"},
        Row{"fn.cat(rgb, rgb, axis=3)", "fn.cat: axis 3 is out of range for 3 dimensions"},
        Row{"fn.cat(rgb, rgb, axis_name=\"D\")", "fn.cat: axis_name 'D' is not an axis of layout 'HWC'"},
        Row{"fn.cat(rgb, fn.crop(rgb, crop=[h - 1, 0]), axis=1)", ""},
        Row{"small + fn.resize(rgb, size=[20, 31])",
            "arithmetic: operands of extents 30 and 31 along axis 1 do not broadcast"},
        Row{"rgb + fn.crop(rgb, crop=[0, rgb.shape()[1] + 2], out_of_bounds_policy=\"pad\")", ""},
        Row{"rgb + gray", ""}, Row{"small * fn.resize(gray, size=[1, 30])", ""}, Row{"small + label", ""},
        Row{"small + small[0, :2]",
            "arithmetic: operands of extents 30 and 2 along axis 1 do not broadcast"}));

INSTANTIATE_TEST_SUITE_P(
    Shapes, Rejects,
    ::testing::Values(
        Row{"fn.reshape(small, shape=[20, 90])", ""},
        Row{"fn.reshape(small, shape=[20, 91])",
            "fn.reshape: u8[20,30,3] HWC has 1800 elements, shape [20, 91] has 1820"},
        Row{"fn.reshape(small, shape=[7, -1])",
            "fn.reshape: u8[20,30,3] HWC has 1800 elements, shape [7, -1] has 7"},
        Row{"fn.reshape(small, shape=[-1, -1])", "fn.reshape: more than one extent of shape is negative"},
        Row{"fn.reshape(rgb, shape=[h, -1])", ""},
        Row{"fn.reshape(rgb, shape=[h, rgb.shape()[1], 4])",
            "fn.reshape: the new shape has 4*h*w elements, the input 3*h*w"},
        Row{"fn.reshape(rgb, shape=[h * 2, -1, 3])", ""},
        Row{"fn.reshape(rgb, rel_shape=[2, 1, 1])",
            "fn.reshape: the new shape has 6*h*w elements, the input 3*h*w"},
        Row{"fn.reshape(rgb, src_dims=[0, 1])",
            "fn.reshape: the new shape has h*w elements, the input 3*h*w"},
        Row{"fn.reshape(rgb, src_dims=[0, 3])", "fn.reshape: src_dims names axis 3, the input has 3 axes"},
        Row{"fn.reshape(rgb, layout=\"HW\")", "fn.reshape: layout 'HW' does not have 3 letters"},
        Row{"fn.reshape(rgb, shape=y)",
            "argument shape of fn.reshape must be an integer or a list of integers, but the data node given "
            "is f32[?]"},
        Row{"fn.transpose(rgb, perm=[0, 1])",
            "fn.transpose: perm [0, 1] is not a permutation of the 3 axes of u8[?,?,3] HWC"},
        Row{"fn.transpose(rgb, perm=[0, 1, 1])", "fn.transpose: perm [0, 1, 1] names axis 1 twice"},
        Row{"fn.transpose(rgb, output_layout=\"HW\")",
            "fn.transpose: output_layout 'HW' does not have 3 letters"},
        Row{"fn.reductions.sum(rgb, axes=[3])",
            "fn.reductions.sum: axes: 3 is out of range for an input of 3 dimensions"},
        Row{"fn.reductions.sum(rgb, axes=[0, 0])", "fn.reductions.sum: an axis is named twice"},
        Row{"fn.reductions.mean(rgb, axis_names=\"D\")",
            "fn.reductions.mean: axis_names: the input (u8[?,?,3] HWC) has no axis 'D'"}));

INSTANTIATE_TEST_SUITE_P(
    Filters, Rejects,
    ::testing::Values(
        Row{"fn.resize(rgb, size=[1, 2, 3])", "fn.resize: size takes 2 elements, or one for all, not 3"},
        Row{"fn.resize(rgb)", "fn.resize: no size"},
        Row{"fn.resize(rgb, size=[4, 4], resize_x=3)",
            "fn.resize: size, resize_x/resize_y, resize_shorter and resize_longer exclude each other"},
        Row{"fn.resize(rgb, size=[4, 4], roi_start=[0, 0])",
            "fn.resize: roi_start and roi_end come together"},
        Row{"fn.resize(rgb, size=y)", ""},
        Row{"fn.resize(rgb, size=fn.stack(x, x, x))",
            "fn.resize: size takes 2 elements, or one for all, not 3"},
        Row{"fn.resize(label, size=[4, 4])",
            "fn.resize takes UINT8, INT16, UINT16 or FLOAT as input 0 (data), but gets INT32"},
        Row{"fn.gaussian_blur(rgb, window_size=4)",
            "fn.gaussian_blur: window_size must be odd, between 1 and 8191 (or 0: from sigma); got 4"},
        Row{"fn.gaussian_blur(rgb, sigma=[1.0, 2.0, 3.0])",
            "fn.gaussian_blur: sigma takes 2 elements, or one for all, not 3"},
        Row{"fn.laplacian(rgb, window_size=8)",
            "fn.laplacian: window_size must be odd, between 3 and 31; got 8"},
        Row{"fn.laplacian(rgb, window_size=25)", ""},
        Row{"fn.flip(label)",
            "fn.flip takes the layout HWC, CHW, DHWC, CDHW or DCHW for input 0 (data), but gets a tensor of 1 dimension "
            "without a layout"},
        Row{"fn.decoders.image(rgb)",
            "fn.decoders.image takes u8[?] as input 0 (data), but gets u8[?,?,3] HWC"},
        Row{"fn.random.uniform(range=[1.0, 2.0, 3.0])", "fn.random.uniform: range needs two numbers, (a, b)"},
        Row{"fn.random.choice([1, 2, 3], p=[0.5, 0.5])", "fn.random.choice: 2 probabilities for 3 choices"},
        Row{"fn.random.coin_flip(probability=1.5)",
            "fn.random.coin_flip: probability must lie in [0, 1], not 1.5"}));

}  // namespace
}  // namespace galatea::shape_test
