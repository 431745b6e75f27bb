#include "tests/pipelines/each_operator.h"

#include <algorithm>
#include <map>
#include <random>
#include <string_view>

#include <fmt/format.h>

#include "tests/support/product.h"

namespace galatea::testing {
namespace {

/// `arguments`: <low,high> stands for a number, {low,high} for a whole one, written out or drawn for each sample.
struct EachCall {
  const char* name;
  const char* arguments;
};

const EachCall kEachCall[] = {
    {"resize", "size=[<3.0,9.0>, <3.0,9.0>]"},
    {"resize", "resize_shorter=<3.0,12.0>, interp_type=types.INTERP_CUBIC"},
    {"resize", "resize_longer=<3.0,14.0>, interp_type=types.INTERP_GAUSSIAN"},
    {"resize", "size=[7, 5], interp_type=types.INTERP_NN, mode=\"not_larger\""},
    {"resize_crop_mirror", "resize_shorter=<5.0,9.0>, crop=[4, 5], mirror={0,3}"},
    {"fast_resize_crop_mirror", "size=[6, 7], crop=[4, 5], mirror={0,3}"},
    {"random_resized_crop", "size=[5, 6]"},
    {"tensor_resize", "scales=[0.6, 1.4], axes=[0, 1]"},
    {"crop", "crop=[3, 4], crop_pos_x=<0.0,1.0>, out_of_bounds_policy=\"pad\", fill_values=[9.0]"},
    {"crop", "crop_w=4, crop_h=<1.0,5.0>, out_of_bounds_policy=\"reflect_101\""},
    {"slice", "rel_start=[<0.0,0.4>, 0.1], rel_shape=[0.5, <0.2,0.6>], axes=[0, 1]"},
    {"slice", "start=[{0,2}], shape=[3], axes=[0], out_of_bounds_policy=\"trim_to_shape\""},
    {"crop_mirror_normalize",
     "crop=[3, 4], mirror={0,1}, mean=[<0.0,90.0>], std=[<3.0,50.0>], "
     "out_of_bounds_policy=\"pad\""},
    {"crop_mirror_normalize", "pad_output=True, dtype=types.UINT8, scale=1.5"},
    {"flip", "horizontal={0,1}, vertical={0,1}"},
    {"rotate", "angle=<-180.0,180.0>, fill_value=7"},
    {"rotate", "angle=<-180.0,180.0>, keep_size=True, interp_type=types.INTERP_NN"},
    {"warp_affine", "matrix=[0.9, <-0.2,0.2>, 0.5, 0.1, 1.1, <-2.0,2.0>], fill_value=3"},
    {"experimental.warp_perspective",
     "matrix=[0.9, <-0.2,0.2>, 0.5, 0.1, 1.1, -0.5, 0.003, <-0.01,0.01>, 1.0], border_mode=\"reflect\""},
    {"paste", "ratio=<1.0,2.0>, fill_value=[7], paste_x=<0.0,1.0>"},
    {"jpeg_compression_distortion", "quality={1,100}"},
    {"sphere", "fill_value=5, interp_type=types.INTERP_LINEAR"},
    {"water", "ampl_x=3.0, freq_y=0.2, mask={0,1}"},
    {"jitter", "nDegree=3"},
    {"galatea.random_perspective", "distortion_scale=<0.0,0.6>"},
    {"galatea.elastic", "alpha=<0.0,9.0>, sigma=1.0"},
    {"galatea.cutout", "size=[2.0, 3.0], holes=2, fill_value=4"},
    {"galatea.auto_orient", "orientation={1,8}"},
    {"brightness", "brightness=<0.0,2.0>, brightness_shift=<-0.3,0.3>"},
    {"contrast", "contrast=<0.0,2.0>, dtype=types.FLOAT"},
    {"brightness_contrast", "brightness=<0.0,2.0>, contrast=<0.0,2.0>, dtype=types.UINT8"},
    {"saturation", "saturation=<0.0,2.0>"},
    {"hue", "hue=<-180.0,180.0>"},
    {"hsv", "hue=<-180.0,180.0>, value=<0.0,2.0>, dtype=types.FLOAT"},
    {"color_twist", "hue=<-90.0,90.0>, contrast=<0.0,2.0>"},
    {"galatea.color_jitter", "brightness=<0.0,1.0>, hue=0.2"},
    {"color_space_conversion", "image_type=types.RGB, output_type=types.YCbCr"},
    {"color_space_conversion", "image_type=types.BGR, output_type=types.GRAY"},
    {"equalize", ""},
    {"clahe", "tiles_x=2, tiles_y=3, clip_limit=<0.0,4.0>"},
    {"filter", "types.Constant([[0.5, -0.25, 1.0]], dtype=types.FLOAT), border=\"wrap\""},
    {"gaussian_blur", "sigma=<0.4,2.0>"},
    {"gaussian_blur", "window_size=5, dtype=types.FLOAT"},
    {"laplacian", "window_size=3, scale=<-1.0,1.0>, dtype=types.FLOAT"},
    {"median_blur", "window_size=3"},
    {"dilate", "mask_size={1,4}, border_mode=\"reflect_101\""},
    {"erode", "mask_size=[2, 3], iterations=2"},
    {"noise.gaussian", "stddev=<0.0,9.0>"},
    {"noise.salt_and_pepper", "prob=<0.0,1.0>"},
    {"noise.shot", "factor=<0.0,9.0>"},
    {"cast", "dtype=types.INT8"},
    {"transpose", "perm=[1, 0, 2]"},
    {"pad", "axes=[0, 1], shape=[{2,20}, 9], fill_value=3"},
    {"pad", "axes=[0], align=[4]"},
    {"erase", "anchor=[<0.0,0.7>, 0.3], shape=[0.4, <0.1,0.5>], axes=[0, 1], normalized=True, fill_value=9"},
    {"grid_mask", "tile={2,9}, ratio=<0.1,0.9>, angle=<-1.0,1.0>"},
    {"lookup_table", "keys=[3, 90, 200], values=[1.5, 90.0, 255.0], default_value=7.0, dtype=types.FLOAT"},
    {"normalize", "axes=[0, 1], epsilon=0.5"},
    {"normalize", "scale=20.0, shift=90.0, dtype=types.INT16"},
    {"coord_transform", "M=<0.5,2.0>, T=<-9.0,9.0>, dtype=types.INT16"},
    {"reductions.mean", "axes=[0, 1]"},
    {"reductions.rms", "axes=[0], keep_dims=True"},
    {"reductions.max", "axes=[1]"},
    {"reductions.min", "axes=[0]"},
    {"reductions.sum", ""},
    {"expand_dims", "axes=[1]"},
    {"copy", ""},
    {"full_like", "{0,9}"},
    {"zeros_like", "dtype=types.INT16"},
    {"ones_like", ""},
    {"reshape", "shape=[-1], layout=\"\""},
    {"shapes", "dtype=types.INT32"},
    {"debayer", "blue_position=[{0,1}, {0,1}]"},
    {"debayer", "blue_position=[1, 0], algorithm=\"edgeaware_ocv\""},
    {"multi_paste", "in_ids=[0, 1], output_size=[12, 14], out_anchors=types.Constant([[0, 1], [2, 3]])"},
    {"sequence_rearrange", "new_order=[1, 0, 1]"},
    {"element_extract", "element_map=[1]"},
    {"one_hot", "num_classes=3, axis=0"},
    {"random.normal", "mean=<-9.0,9.0>, stddev=2.0"},
    {"random.beta", "alpha=<0.5,3.0>, beta=2.0"},
    {"reductions.mean_square", "axes=[1]"},
    {"reductions.std_dev", "axes=[0, 1], keep_dims=True"},
    {"reductions.variance", "axes=[0]"},
    {"power_spectrum", "axis=0, nfft=12"},
    {"preemphasis_filter", "preemph_coeff=<-1.0,1.0>, border=\"reflect\""},
    {"to_decibels", "cutoff_db=-40.0, reference=3.0"},
    {"mfcc", "axis=1, n_mfcc=3, lifter=5.0"},
};

class EachOperatorDrawer {
 public:
  explicit EachOperatorDrawer(uint64_t seed)
      : random_(seed), call_(kEachCall[seed % std::size(kEachCall)]), seed_(seed) {}

  const char* name() const { return call_.name; }

  std::string text() {
    const op::Operator* op = product().registry.find(call_.name);
    GALATEA_CHECK(op != nullptr, std::string("no operator ") + call_.name);
    const Port& port = op->inputs.front();
    std::string lines = input(port);
    const std::string call = fmt::format("fn.{}(x{})", call_.name, arguments());
    lines += fmt::format(R"(
    whole = {0}
    y = fn.reshape(fn.cast(x, dtype=types.FLOAT), shape=[-1], layout="")
    if fn.random.coin_flip(dtype=types.BOOL):
        y = fn.reshape(fn.cast({0}, dtype=types.FLOAT), shape=[-1], layout="")
    return whole, y
)",
                         call);
    return fmt::format(R"(from nvidia.dali import pipeline_def, fn, types


@pipeline_def(batch_size=4, num_threads=2, seed={}, enable_conditionals=True)
def pipe():
    x = fn.external_source(name="image", dtype=types.UINT8, layout="HWC", shape=[-1, -1, 3])
{})",
                       seed_, lines);
  }

 private:
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }
  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

  /// Images of a type, layout, number of channels and extents that the operator may accept.
  std::string input(const Port& port) {
    std::string lines;
    switch (below(8)) {
      case 0:
        lines += "    x = fn.crop(x, crop=[1, 1])\n";
        break;
      case 1:
        lines += "    x = fn.crop(x, crop=[1, 6])\n";
        break;
      case 2:
        lines += "    x = fn.crop(x, crop=[5, 1])\n";
        break;
      case 3:
        if (below(4) == 0) lines += "    x = fn.crop(x, crop=[0, 4])\n";
        break;
      case 4:
        // The canvas of a rotation would have as many rows.
        if (below(6) == 0 && std::string_view(call_.name) != "rotate")
          lines += "    x = fn.resize(x, size=[1, 32768], interp_type=types.INTERP_NN)\n";
        break;
      default:
        break;
    }
    static const std::vector<std::string> kChannels = {"x",
                                                       "x",
                                                       "x[:, :, 0:1]",
                                                       "x[:, :, 1:3]",
                                                       "fn.cat(x, x[:, :, 1:2], axis=2)",
                                                       "fn.cat(x, x[:, :, 0:2], axis=2)"};
    lines += fmt::format("    x = {}\n", pick(kChannels));
    static const std::map<DType, std::string> kTypes = {
        {DType::kU8, "x"},
        {DType::kF32, "x * 0.75 - 20"},
        {DType::kI16, "fn.cast(x * 90 - 9000, dtype=types.INT16)"},
        {DType::kU16, "fn.cast(x * 200, dtype=types.UINT16)"},
        {DType::kI8, "fn.cast(x * 0.5, dtype=types.INT8)"},
        {DType::kI32, "fn.cast(x * 70000 - 9000, dtype=types.INT32)"},
        {DType::kF16, "fn.cast(x * 0.5, dtype=types.FLOAT16)"},
        {DType::kI64, "fn.cast(x, dtype=types.INT64) * 3000000000"},
        {DType::kF64, "fn.cast(x, dtype=types.FLOAT64) / 3"}};
    std::vector<std::string> types;
    for (const auto& [type, text] : kTypes)
      if (port.dtypes.empty() || std::ranges::find(port.dtypes, type) != port.dtypes.end())
        types.push_back(text);
    lines += fmt::format("    x = {}\n", pick(types));
    static const std::map<std::string, std::string> kLayouts = {
        {"HWC", "x"},
        {"HWC ", "x"},
        {"CHW", "fn.transpose(x, perm=[2, 0, 1])"},
        {"HW", "x[:, :, 0]"},
        {"DHWC", "fn.stack(x, fn.flip(x), axis=0, axis_name=\"D\")"},
        {"FHWC", "fn.stack(x, fn.flip(x), axis=0, axis_name=\"F\")"},
        {"FCHW", "fn.transpose(fn.stack(x, fn.flip(x), axis=0, axis_name=\"F\"), perm=[0, 3, 1, 2])"}};
    std::vector<std::string> layouts;
    for (const auto& [layout, text] : kLayouts) {
      const std::string frame = layout.substr(layout.starts_with("F") ? 1 : 0, 4);
      const std::string known = frame.substr(0, frame.find(' '));
      if (port.layouts.empty() || std::ranges::find(port.layouts, known) != port.layouts.end())
        layouts.push_back(text);
    }
    return lines + fmt::format("    x = {}\n", layouts.empty() ? "x" : pick(layouts));
  }

  /// The arguments with numbers in place of their ranges.
  std::string arguments() {
    std::string out = call_.arguments;
    for (size_t at = 0; (at = out.find_first_of("<{", at)) != std::string::npos;) {
      const bool whole = out[at] == '{';
      const size_t end = out.find(whole ? '}' : '>', at);
      const size_t comma = out.find(',', at);
      const double low = std::stod(out.substr(at + 1, comma - at - 1));
      const double high = std::stod(out.substr(comma + 1, end - comma - 1));
      const double drawn = low + (high - low) * static_cast<double>(below(1001)) / 1000;
      std::string number = whole ? fmt::format("{}", static_cast<int>(drawn)) : fmt::format("{:.4f}", drawn);
      if (below(2) == 0 && high > low)
        number = whole ? fmt::format("fn.random.uniform(values=[{}, {}], dtype=types.INT32)",
                                     static_cast<int>(low), static_cast<int>(high))
                       : fmt::format("fn.random.uniform(range=[{:.4f}, {:.4f}])", low, high);
      out.replace(at, end - at + 1, number);
      at += number.size();
    }
    return out.empty() ? out : ", " + out;
  }

  std::mt19937_64 random_;
  const EachCall& call_;
  uint64_t seed_;
};

}  // namespace

EachOperator each_operator(uint64_t seed) {
  EachOperatorDrawer drawer(seed);
  return {drawer.name(), drawer.text()};
}

std::vector<std::string> each_operator_names() {
  std::vector<std::string> names;
  for (const EachCall& call : kEachCall) names.emplace_back(call.name);
  return names;
}

}  // namespace galatea::testing
