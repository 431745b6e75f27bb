#include "tests/pipelines/pipeline_generator.h"

#include <algorithm>

#include "tests/pipelines/ordered.h"

namespace galatea::testing {
std::string GeneratedPipeline::text() const {
  std::string out;
  for (const PipelineLine& line : lines)
    out += std::string(static_cast<size_t>(line.indent) * 4, ' ') + line.text + "\n";
  return out;
}

PipelineGenerator::PipelineGenerator(PipelineSeeds seeds)
    : shape_(seeds.shape),
      numbers_(seeds.numbers),
      largest_extent_(seeds.shape % 4 == 1 ? 96 : 40),
      pixel_functions_(seeds.shape % 5 == 3) {}

std::vector<std::string> PipelineGenerator::operators() {
  return {"batch_permutation",
          "bb_flip",
          "bbox_paste",
          "bbox_rotate",
          "box_encoder",
          "brightness",
          "brightness_contrast",
          "cast",
          "cast_like",
          "cat",
          "clahe",
          "color_space_conversion",
          "color_twist",
          "constant",
          "contrast",
          "coord_flip",
          "coord_transform",
          "copy",
          "crop",
          "crop_mirror_normalize",
          "debayer",
          "decoders.image",
          "decoders.image_crop",
          "decoders.image_random_crop",
          "decoders.image_slice",
          "dilate",
          "element_extract",
          "equalize",
          "erase",
          "erode",
          "experimental.remap",
          "experimental.warp_perspective",
          "expand_dims",
          "fast_resize_crop_mirror",
          "filter",
          "flip",
          "full",
          "full_like",
          "galatea.auto_orient",
          "galatea.batched_nms",
          "galatea.color_jitter",
          "galatea.cutmix",
          "galatea.cutout",
          "galatea.elastic",
          "galatea.mixup",
          "galatea.mosaic",
          "galatea.nms",
          "galatea.random_perspective",
          "galatea.roi_align",
          "galatea.take",
          "gaussian_blur",
          "grid_mask",
          "hsv",
          "hue",
          "jitter",
          "jpeg_compression_distortion",
          "laplacian",
          "lookup_table",
          "median_blur",
          "multi_paste",
          "noise.gaussian",
          "noise.salt_and_pepper",
          "noise.shot",
          "normalize",
          "one_hot",
          "ones",
          "ones_like",
          "pad",
          "paste",
          "peek_image_shape",
          "per_frame",
          "permute_batch",
          "random.beta",
          "random.choice",
          "random.coin_flip",
          "random.normal",
          "random.uniform",
          "random_bbox_crop",
          "random_crop_generator",
          "random_resized_crop",
          "reductions.max",
          "reductions.mean",
          "reductions.mean_square",
          "reductions.min",
          "reductions.rms",
          "reductions.std_dev",
          "reductions.sum",
          "reductions.variance",
          "reinterpret",
          "reshape",
          "resize",
          "resize_crop_mirror",
          "roi_random_crop",
          "rotate",
          "saturation",
          "segmentation.random_mask_pixel",
          "segmentation.random_object_bbox",
          "sequence_rearrange",
          "shapes",
          "slice",
          "sphere",
          "squeeze",
          "ssd_random_crop",
          "stack",
          "tensor_resize",
          "transforms.combine",
          "transforms.crop",
          "transforms.rotation",
          "transforms.scale",
          "transforms.shear",
          "transforms.translation",
          "transpose",
          "warp_affine",
          "water",
          "zeros",
          "zeros_like"};
}

void PipelineGenerator::line(std::string text, std::string shorter) {
  lines_.push_back({indent_, std::move(text), std::move(shorter)});
}

// ---- numbers

std::string PipelineGenerator::real(double low, double high) {
  static const double kSpecial[] = {0, 1, -1, 0.5, 2, -2, 0.25, 4, 128, 255};
  double value = low + (high - low) * static_cast<double>(numbers_() >> 11) * 0x1p-53;
  const double special = kSpecial[numbers_() % std::size(kSpecial)];
  if (numbers_() % 3 == 0 && special >= low && special <= high) value = special;
  std::string text = Ordered{"{:.6g}", value}.text;
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string PipelineGenerator::whole(int low, int high) {
  return std::to_string(low + static_cast<int>(numbers_() % static_cast<uint64_t>(high - low + 1)));
}

std::string PipelineGenerator::extent() {
  constexpr int kLow = 16;  // larger than any filter has taps
  const int count = largest_extent_ - kLow + 1;
  int value = kLow + static_cast<int>(numbers_() % static_cast<uint64_t>(count));
  while (std::find(extents_.begin(), extents_.end(), value) != extents_.end() &&
         static_cast<int>(extents_.size()) + 1 < count)
    value = value == largest_extent_ ? kLow : value + 1;
  extents_.push_back(value);
  return std::to_string(value);
}

std::string PipelineGenerator::scalar(double low, double high) {
  if (!chance(35)) return real(low, high);
  const std::string a = real(low, (low + high) / 2), b = real((low + high) / 2, high);
  if (chance(15))
    return Ordered{"{} + {} * fn.random.beta(alpha={}, beta={})", a, real(0, (high - low) / 2), real(0.1, 4),
                   real(0.1, 4)}
        .text;
  // Both may have come out as the middle; an empty range is refused.
  return a == b ? a : Ordered{"fn.random.uniform(range=[{}, {}])", a, b}.text;
}

// ---- operators

PipelineGenerator::Call PipelineGenerator::point(const Image& image) {
  const std::string& x = image.name;
  switch (below(7)) {
    case 5:
      return {Ordered{"fn.noise.salt_and_pepper({}, prob={}, salt_vs_pepper={})", x, real(0, 0.5), real(0, 1)}
                  .text,
              image};
    case 6:
      return {
          Ordered{"fn.lookup_table(fn.cast({}, dtype=types.UINT8), keys=[3, 100, 255], values=[{}, {}, {}], "
                  "default_value={}, dtype=types.{})",
                  x, real(0, 255), real(0, 255), real(0, 255), real(0, 255), image.dtype}
              .text,
          image};
    case 0:
      return {Ordered{"fn.brightness({}, brightness={})", x, scalar(-0.5, 2)}.text, image};
    case 1:
      return {
          Ordered{"fn.contrast({}, contrast={}, contrast_center={})", x, scalar(-0.5, 2), real(0, 255)}.text,
          image};
    case 2:
      return {Ordered{"fn.brightness_contrast({}, brightness={}, contrast={}, brightness_shift={})", x,
                      scalar(0, 2), scalar(0, 2), real(-0.5, 0.5)}
                  .text,
              image};
    case 3: {
      Image out = image;
      out.dtype = element_type();
      return {Ordered{"fn.cast({}, dtype=types.{})", x, out.dtype}.text, out};
    }
    default:
      return arithmetic(image);
  }
}

PipelineGenerator::Call PipelineGenerator::arithmetic(const Image& image) {
  const std::string& x = image.name;
  std::string value;
  switch (below(6)) {
    case 0:
      value = Ordered{"{} * {} + {}", x, scalar(-1, 2), real(-64, 64)}.text;
      break;
    case 1:
      value = Ordered{"255 - {}", x}.text;
      break;
    case 2:
      value = Ordered{"({} > {}) * {}", x, whole(0, 255), x}.text;
      break;
    case 3:
      value = Ordered{"{} / {} * {}", x, real(0.25, 4), scalar(0, 2)}.text;
      break;
    case 4:
      value = Ordered{"math.max({} - {}, {})", x, real(0, 64), real(-8, 8)}.text;
      break;
    default:
      value = Ordered{"math.sqrt(math.abs({} * {}))", x, real(0, 8)}.text;
      break;
  }
  return {Ordered{"fn.cast({}, dtype=types.{})", value, image.dtype}.text, image};
}

PipelineGenerator::Call PipelineGenerator::color(const Image& image) {
  if (image.channels != 3) return point(image);
  const std::string& x = image.name;
  Image out = image;
  switch (below(7)) {
    case 6:
      out.dtype = pick<std::string>({"UINT8", "FLOAT"});
      return {Ordered{"fn.galatea.color_jitter(fn.cast({}, dtype=types.UINT8){}, brightness={}, contrast={}, "
                      "saturation=[{}, {}], hue={})",
                      x, out.dtype == "FLOAT" ? " / 255.0" : "", scalar(0, 1), real(0, 1), real(0, 1),
                      real(1, 2), scalar(0, 0.5)}
                  .text,
              out};
    case 0:
      return {Ordered{"fn.color_twist({}, hue={}, saturation={}, contrast={}, brightness={})", x,
                      scalar(-180, 180), scalar(0, 2), scalar(0, 2), scalar(0, 2)}
                  .text,
              image};
    case 1:
      return {Ordered{"fn.hsv({}, hue={}, saturation={}, value={}, dtype=types.{})", x, scalar(-180, 180),
                      scalar(0, 2), scalar(0, 2), image.dtype}
                  .text,
              image};
    case 2:
      return {Ordered{"fn.hue({}, hue={})", x, scalar(-180, 180)}.text, image};
    case 3:
      return {Ordered{"fn.saturation({}, saturation={})", x, scalar(0, 2)}.text, image};
    default: {
      // Colour spaces are for bytes.
      const bool grey = chance(50);
      out.dtype = "UINT8";
      out.known = true;
      out.channels = grey ? 1 : 3;
      return {Ordered{"fn.color_space_conversion(fn.cast({}, dtype=types.UINT8), image_type=types.RGB, "
                      "output_type=types.{})",
                      x, grey ? "GRAY" : pick<std::string>({"BGR", "YCbCr"})}
                  .text,
              out};
    }
  }
}

PipelineGenerator::Call PipelineGenerator::mirror(const Image& image) {
  return {Ordered{"fn.flip({}, horizontal={}, vertical={})", image.name,
                  pick<std::string>({"1", "fn.random.coin_flip()"}),
                  pick<std::string>({"0", "1", "fn.random.coin_flip()"})}
              .text,
          image};
}

PipelineGenerator::Call PipelineGenerator::move(const Image& image) {
  const std::string& x = image.name;
  switch (below(4)) {
    case 0:
      return mirror(image);
    case 1:
      return {
          Ordered{"fn.transpose({}, perm=[1, 0, 2], transpose_layout=False, output_layout=\"HWC\")", x}.text,
          image};
    case 2: {
      Image out = image;
      out.fixed_size = true;
      return {Ordered{"fn.pad({}, axes=[0, 1], shape={}, fill_value={})", x, extents(), real(0, 255)}.text,
              image};
    }
    default:
      return {Ordered{"fn.erase({}, anchor=[{}, {}], shape=[{}, {}], normalized=True, fill_value={})", x,
                      real(0, 0.8), real(0, 0.8), real(0, 0.5), real(0, 0.5), real(0, 255)}
                  .text,
              image};
  }
}

PipelineGenerator::Call PipelineGenerator::window(const Image& image) {
  const std::string& x = image.name;
  Image out = image;
  switch (below(4)) {
    case 0:
      out.fixed_size = true;
      return {Ordered{"fn.crop({}, crop={}, crop_pos_x={}, crop_pos_y={}, out_of_bounds_policy=\"pad\", "
                      "fill_values=[{}])",
                      x, extents(), scalar(0, 1), scalar(0, 1), real(0, 255)}
                  .text,
              out};
    case 1:
      return {Ordered{"fn.slice({}, rel_start=[{}, {}], rel_shape=[{}, {}], axes=[0, 1])", x, real(0, 0.4),
                      real(0, 0.4), real(0.2, 0.6), real(0.2, 0.6)}
                  .text,
              out};
    case 2:
      out.fixed_size = true;
      out.dtype = pick<std::string>({"UINT8", "FLOAT"});
      return {Ordered{"fn.crop_mirror_normalize({}, crop={}, out_of_bounds_policy=\"{}\", mean=[{}], "
                      "std=[{}], shift={}, mirror={}, dtype=types.{}, output_layout=\"HWC\")",
                      x, extents(), pick<std::string>({"pad", "trim_to_shape"}), real(0, 255), real(0.5, 128),
                      real(-8, 128), pick<std::string>({"0", "1", "fn.random.coin_flip()"}), out.dtype}
                  .text,
              out};
    default:
      out.dtype = pick<std::string>({"UINT8", "FLOAT"});
      return {Ordered{"fn.crop_mirror_normalize({}, mean=[{}], std=[{}], mirror={}, dtype=types.{}, "
                      "output_layout=\"HWC\")",
                      x, real(0, 255), real(0.5, 128), pick<std::string>({"1", "fn.random.coin_flip()"}),
                      out.dtype}
                  .text,
              out};
  }
}

PipelineGenerator::Call PipelineGenerator::warp(const Image& image) {
  const std::string& x = image.name;
  const std::string kind = pick<std::string>({"INTERP_LINEAR", "INTERP_NN"});
  const std::string fill = chance(60) ? Ordered{", fill_value={}", real(0, 255)}.text : "";
  Image out = image;
  switch (below(4)) {
    case 0:
      return {Ordered{"fn.rotate({}, angle={}, keep_size=True, interp_type=types.{}{})", x, scalar(-180, 180),
                      kind, fill}
                  .text,
              out};
    case 1:
      return {Ordered{"fn.rotate({}, angle={}, interp_type=types.{}, fill_value={})", x, scalar(-180, 180),
                      kind, real(0, 255)}
                  .text,
              out};
    case 2:
      out.fixed_size = true;
      return {Ordered{"fn.warp_affine({}, matrix=[{}, {}, {}, {}, {}, {}], size={}, interp_type=types.{}{})",
                      x, real(0.5, 1.5), real(-0.5, 0.5), real(-8, 8), real(-0.5, 0.5), real(0.5, 1.5),
                      real(-8, 8), extents(), kind, fill}
                  .text,
              out};
    default:
      return {Ordered{"fn.warp_affine({}, fn.transforms.{}, interp_type=types.{}{})", x,
                      chance(50) ? Ordered{"rotation(angle={})", scalar(-90, 90)}.text
                                 : Ordered{"shear(shear=[{}, {}])", real(-1, 1), real(-1, 1)}.text,
                      kind, fill}
                  .text,
              out};
  }
}

PipelineGenerator::Call PipelineGenerator::sample(const Image& image) {
  const std::string& x = image.name;
  const std::string kind =
      pick<std::string>({"INTERP_LINEAR", "INTERP_TRIANGULAR", "INTERP_CUBIC", "INTERP_NN"});
  Image out = image;
  switch (below(5)) {
    case 4:
      return {Ordered{"fn.tensor_resize({}, {}, interp_type=types.{}, alignment={}, size_rounding=\"{}\")", x,
                      pick<std::string>(
                          {"scales=[0.7, 1.3], axes=[0, 1]", "scales=[0.6, 1.0], axes=[0, 2]",
                           "sizes=[9], axes=[0]", "sizes=[7.5], axes=[1]",
                           "sizes=[6, 0], axes=[1, 0], mode=\"stretch\"",
                           "sizes=[11, 9], axes=[0, 1], roi_start=0.9, roi_end=0.2, roi_relative=True"}),
                      kind, scalar(0, 1), pick<std::string>({"round", "truncate", "ceil"})}
                  .text,
              out};
    case 3:
      out.fixed_size = true;
      return {
          Ordered{"fn.{}resize_crop_mirror({}, resize_shorter={}, crop=({}, {}), crop_pos_x={}, mirror={}, "
                  "interp_type=types.{})",
                  chance(40) ? "fast_" : "", x, extent(), extent(), extent(), scalar(0, 1),
                  pick<std::string>({"0", "1", "2", "fn.random.coin_flip()"}),
                  pick<std::string>({"INTERP_LINEAR", "INTERP_NN", "INTERP_CUBIC"})}
              .text,
          out};
    case 0:
      out.fixed_size = true;
      return {Ordered{"fn.resize({}, size={}, interp_type=types.{}, antialias={})", x, extents(), kind,
                      pick<std::string>({"True", "False"})}
                  .text,
              out};
    case 1:
      return {Ordered{"fn.resize({}, resize_shorter={}, interp_type=types.{})", x, extent(), kind}.text, out};
    default:
      out.fixed_size = true;
      return {Ordered{"fn.random_resized_crop({}, size={}, random_area=[{}, {}])", x, extents(),
                      real(0.1, 0.4), real(0.5, 1)}
                  .text,
              out};
  }
}

/// What looks at the pixels around, what makes noise of them, and what mixes samples.
PipelineGenerator::Call PipelineGenerator::neighbours(const Image& image) {
  const std::string& x = image.name;
  Image out = image;
  switch (below(image.fixed_size ? 10 : 7)) {
    case 0:
      return {Ordered{"fn.median_blur({}, window_size=[{}, {}])", x, pick<std::string>({"1", "3"}),
                      pick<std::string>({"3", "5"})}
                  .text,
              image};
    case 1:
      out.dtype = "UINT8";
      return {
          Ordered{
              "fn.clahe(fn.cast({}, dtype=types.UINT8), tiles_x={}, tiles_y={}, clip_limit={}, luma_only={})",
              x, pick<std::string>({"1", "2", "3"}), pick<std::string>({"1", "4"}), scalar(0, 5),
              pick<std::string>({"True", "False"})}
              .text,
          out};
    case 2:
      return {Ordered{"fn.noise.shot({}, factor={})", x, scalar(0, 20)}.text, image};
    case 3:
      out.dtype = "UINT8";
      return {Ordered{"fn.jitter(fn.cast({}, dtype=types.UINT8), nDegree={})", x, whole(1, 6)}.text, out};
    case 5:
      out.fixed_size = true;
      return {Ordered{"fn.galatea.mosaic({}, size={}, fill_value={})", x, extents(), real(0, 255)}.text, out};
    case 6:
      out.dtype = "UINT8";
      out.channels = 3;
      out.known = true;
      return {
          Ordered{
              "fn.debayer(fn.cast({}, dtype=types.UINT8)[:, :, 0:1], blue_position=[{}, {}], algorithm=\"{}\")",
              x, pick<std::string>({"0", "1"}), pick<std::string>({"0", "1"}),
              pick<std::string>({"bilinear_ocv", "edgeaware_ocv", "vng_ocv"})}
              .text,
          out};
    case 7:
      return {Ordered{"fn.galatea.mixup({}, alpha={})", x, scalar(0.1, 4)}.text, image};
    case 8:
      return {Ordered{"fn.galatea.cutmix({}, alpha={})", x, scalar(0.1, 4)}.text, image};
    case 9:
      return {
          Ordered{
              "fn.multi_paste({}, fn.flip({}), out_anchors_rel=[0.0, 0.0, 0.5, 0.25], shapes_rel=[1.0, 1.0, {}, {}])",
              x, x, pick<std::string>({"0.25", "0.1"}), pick<std::string>({"0.5", "0.7"})}
              .text,
          image};
    default:
      return {Ordered{"fn.{}({}, mask_size={}, border_mode=\"{}\", iterations={})",
                      pick<std::string>({"dilate", "erode"}), x,
                      pick<std::string>(
                          {"3", "[2, 11]", "[1, 3]", "fn.random.uniform(range=[1, 4], dtype=types.INT32)"}),
                      pick<std::string>({"constant", "reflect", "reflect_101", "wrap"}), whole(1, 2)}
                  .text,
              image};
  }
}

PipelineGenerator::Call PipelineGenerator::filter(const Image& image) {
  if (chance(40)) return neighbours(image);
  const std::string& x = image.name;
  switch (below(5)) {
    case 0:
      return {Ordered{"fn.gaussian_blur({}, sigma={}, window_size={})", x, scalar(0.4, 3),
                      pick<std::string>({"3", "5", "9"})}
                  .text,
              image};
    case 1:
      return {Ordered{"fn.gaussian_blur({}, sigma=fn.random.uniform(range=[{}, {}]))", x, real(0.4, 0.8),
                      real(0.8, 2)}
                  .text,
              image};
    case 2:
      return {Ordered{"fn.laplacian({}, window_size={}, scale=[{}])", x, pick<std::string>({"3", "5"}),
                      real(-1, 1)}
                  .text,
              image};
    case 3:
      return {
          Ordered{
              "fn.filter({}, types.Constant([[{}, {}, {}], [{}, {}, {}]], dtype=types.FLOAT), border=\"{}\")",
              x, real(-1, 1), real(-1, 1), real(-1, 1), real(-1, 1), real(0, 1), real(-1, 1),
              pick<std::string>({"reflect_101", "reflect_1001", "wrap", "clamp", "constant"})}
              .text,
          image};
    default:
      return {Ordered{"fn.cast(fn.laplacian({}, window_size=3, dtype=types.FLOAT) * {}, dtype=types.{})", x,
                      real(0, 2), image.dtype}
                  .text,
              image};
  }
}

PipelineGenerator::Call PipelineGenerator::statistic(const Image& image) {
  const std::string& x = image.name;
  const std::string mean = fresh();
  Image out = image;
  switch (below(6)) {
    case 5:
      out.dtype = "UINT8";
      return {Ordered{"fn.equalize(fn.cast({}, dtype=types.UINT8))", x}.text, out};
    case 0:
      line(Ordered{"{} = fn.reductions.mean({})", mean, x}.text, mean + " = 100.0");
      return {Ordered{"fn.contrast({}, contrast={}, contrast_center={})", x, scalar(0, 2), mean}.text, image};
    case 1:
      line(Ordered{"{} = fn.reductions.max({})", mean, x}.text, mean + " = 200");
      return {Ordered{"fn.cast({} * {} / ({} + {}), dtype=types.{})", x, real(0, 255), mean, real(1, 4),
                      image.dtype}
                  .text,
              image};
    case 2:
      out.dtype = "FLOAT";
      return {Ordered{"fn.normalize({}, axes=[0, 1], epsilon={}, scale={}, shift={})", x, real(0.5, 4),
                      real(0.5, 64), real(-8, 128)}
                  .text,
              out};
    case 3:
      line(Ordered{"{} = fn.reductions.mean({}, axes=[0, 1], keep_dims=True)", mean, x}.text);
      return {Ordered{"fn.cast({} - {} * {}, dtype=types.{})", x, mean, real(0, 1), image.dtype}.text, image};
    default:
      line(Ordered{"{} = fn.reductions.min({})", mean, x}.text, mean + " = 3");
      return {Ordered{"fn.cast(math.abs({} - {}), dtype=types.{})", x, mean, image.dtype}.text, image};
  }
}

PipelineGenerator::Call PipelineGenerator::join(const Image& image) {
  const std::string& x = image.name;
  const std::string other = fresh();
  switch (below(3)) {
    case 0:
      line(Ordered{"{} = fn.flip({}, horizontal=1)", other, x}.text, Ordered{"{} = {}", other, x}.text);
      return {Ordered{"fn.cat({}, {}, axis={})", x, other, below(2)}.text, image};
    case 1: {
      const std::string blurred = chance(50)
                                      ? Ordered{"fn.gaussian_blur({}, window_size=3)", x}.text
                                      : Ordered{"fn.brightness({}, brightness={})", x, scalar(0, 2)}.text;
      line(Ordered{"{} = {}", other, blurred}.text, Ordered{"{} = {}", other, x}.text);
      const std::string weight = real(-0.5, 1.5);
      return {Ordered{"fn.cast({} * {} + {} * {}, dtype=types.{})", x, weight, other, real(0, 1), image.dtype}
                  .text,
              image};
    }
    default:
      line(Ordered{"{} = fn.cast_like(fn.flip({}, vertical=1), {})", other, x, x}.text,
           Ordered{"{} = {}", other, x}.text);
      return {Ordered{"fn.cast(math.max({}, {}), dtype=types.{})", x, other, image.dtype}.text, image};
  }
}

}  // namespace galatea::testing
