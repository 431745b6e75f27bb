// Operators and forms of arguments that random pipelines seldom write (pipeline_generator.cpp has the common
// ones).
#include "tests/pipelines/ordered.h"
#include "tests/pipelines/pipeline_generator.h"

namespace galatea::testing {

PipelineGenerator::Call PipelineGenerator::seldom(const Image& image) {
  if (pixel_functions_ && chance(60)) return seldom_pixel(image);
  switch (below(11)) {
    case 9:
      return seldom_preset(image);
    case 5:
    case 6:
    case 7:
      return seldom_tensor(image);
    case 8:
      return seldom_mask(image);
    case 0:
      return seldom_resize(image);
    case 1:
      return seldom_warp(image);
    case 2:
    case 10:
      return seldom_statistic(image);
    case 3:
      return seldom_batch(image);
    default:
      return seldom_view(image);
  }
}

PipelineGenerator::Call PipelineGenerator::seldom_resize(const Image& image) {
  const std::string& x = image.name;
  Image out = image;
  switch (below(4)) {
    case 0:
      // Extents differ from sample to sample.
      return {Ordered{"fn.resize({}, size=fn.random.uniform(range=[{}, {}], shape=[2]))", x, real(9, 20),
                      real(21, 50)}
                  .text,
              out};
    case 1:
      return {Ordered{"fn.resize({}, size={}, roi_start=[{}, {}], roi_end=[{}, {}], roi_relative=True)", x,
                      extents(), real(0, 0.4), real(0, 0.4), real(0.5, 1), real(0.5, 1)}
                  .text,
              out};
    case 2:
      return {Ordered{"fn.resize({}, size={}, mode=\"{}\", interp_type=types.{})", x, extents(),
                      pick<std::string>({"not_smaller", "not_larger"}),
                      pick<std::string>({"INTERP_LANCZOS3", "INTERP_GAUSSIAN"})}
                  .text,
              out};
    default:
      // So that it shrinks by much: large, then small.
      return {Ordered{"fn.resize(fn.resize({}, size=[{}, {}]), size=[{}, {}])", x, whole(90, 130),
                      whole(140, 180), whole(9, 24), whole(9, 24)}
                  .text,
              out};
  }
}

/// Other libraries' numbers, of bytes.
PipelineGenerator::Call PipelineGenerator::seldom_preset(const Image& image) {
  Image out = image;
  out.dtype = "UINT8";
  const std::string x = Ordered{"fn.cast({}, dtype=types.UINT8)", image.name}.text;
  const std::string preset = pick<std::string>({"pil", "torchvision", "opencv"});
  const std::string enhancer = pick<std::string>({"pil", "torchvision"});
  const std::string filter = pick<std::string>({"INTERP_NN", "INTERP_LINEAR"});
  const bool is_rgb = image.known && image.channels == 3;
  switch (below(is_rgb ? 12 : 9)) {
    case 0:
      out.fixed_size = true;
      return {Ordered{"fn.resize({}, size={}, interp_type=types.{}, compat=\"{}\")", x, extents(),
                      pick<std::string>({"INTERP_NN", "INTERP_LINEAR", "INTERP_CUBIC"}), preset}
                  .text,
              out};
    case 1:
      out.fixed_size = true;
      return {Ordered{"fn.resize({}, size={}, interp_type=types.{}, compat=\"pil\")", x, extents(),
                      pick<std::string>({"INTERP_BOX", "INTERP_HAMMING", "INTERP_LANCZOS3"})}
                  .text,
              out};
    case 2:
      return {Ordered{"fn.brightness_contrast({}, brightness={}, contrast={}, compat=\"{}\")", x,
                      scalar(0, 2), scalar(0, 2), enhancer}
                  .text,
              out};
    case 3:
      return {Ordered{"fn.gaussian_blur({}, sigma={}, compat=\"{}\")", x, scalar(0.4, 3),
                      pick<std::string>({"pil", "opencv"})}
                  .text,
              out};
    case 4:
      return {Ordered{"fn.equalize({}, compat=\"{}\")", x, preset}.text, out};
    case 5:
      return {Ordered{"fn.warp_affine({}, matrix=[{}, {}, {}, {}, {}, {}], interp_type=types.{}, "
                      "fill_value={}, compat=\"{}\")",
                      x, real(0.5, 1.5), real(-0.5, 0.5), real(-8, 8), real(-0.5, 0.5), real(0.5, 1.5),
                      real(-8, 8), filter, whole(0, 255), preset}
                  .text,
              out};
    case 6:
      return {Ordered{"fn.galatea.random_perspective({}, distortion_scale={}, interp_type=types.{}, "
                      "fill_value={}, compat=\"{}\")",
                      x, scalar(0, 0.8), filter, whole(0, 255), preset}
                  .text,
              out};
    case 7:
      out.fixed_size = true;
      return {Ordered{"fn.random_resized_crop({}, size={}, interp_type=types.{}, compat=\"{}\")", x,
                      extents(), pick<std::string>({"INTERP_NN", "INTERP_LINEAR", "INTERP_CUBIC"}), preset}
                  .text,
              out};
    case 9:
      return {Ordered{"fn.color_twist({}, hue={}, saturation={}, contrast={}, brightness={}, compat=\"{}\")",
                      x, scalar(-180, 180), scalar(0, 2), scalar(0, 2), scalar(0, 2), enhancer}
                  .text,
              out};
    case 10:
      return {Ordered{"fn.{}, compat=\"{}\")",
                      pick<std::string>({"hue(" + x + ", hue=40", "saturation(" + x + ", saturation=1.5"}),
                      enhancer}
                  .text,
              out};
    case 11:
      out.channels = 1;
      return {Ordered{"fn.color_space_conversion({}, image_type=types.RGB, output_type=types.GRAY, "
                      "compat=\"{}\")",
                      x, preset}
                  .text,
              out};
    default:
      return {Ordered{"fn.rotate({}, angle={}, keep_size=True, interp_type=types.{}, compat=\"{}\")", x,
                      scalar(-180, 180), filter, preset}
                  .text,
              out};
  }
}

PipelineGenerator::Call PipelineGenerator::seldom_warp(const Image& image) {
  const std::string& x = image.name;
  const std::string kind = pick<std::string>({"INTERP_LINEAR", "INTERP_NN", "INTERP_CUBIC"});
  const std::string scale = Ordered{"fn.transforms.scale(scale=[{}, {}], center=[{}, {}])", real(0.5, 1.5),
                                    real(0.5, 1.5), real(0, 16), real(0, 16)}
                                .text;
  const std::string offset =
      Ordered{"fn.transforms.translation(offset=[{}, {}])", scalar(-8, 8), scalar(-8, 8)}.text;
  switch (below(8)) {
    case 5: {
      // The best of some boxes is an image again.
      Image out = image;
      out.fixed_size = false;
      const std::string boxes = fresh(), kept = fresh(), count = whole(1, 5);
      line(Ordered{"{} = fn.random.uniform(range=[{}, {}], shape=[{}, 4])", boxes, real(-8, 4), real(9, 40),
                   count}
               .text);
      line(
          Ordered{"{} = fn.galatea.nms({}, fn.random.uniform(range=[0.0, 1.0], shape=[{}]), "
                  "iou_threshold={}, max_boxes=1)",
                  kept, boxes, count, real(0, 1)}
              .text);
      return {Ordered{"fn.galatea.roi_align({}, fn.galatea.take({}, {}), output_size=[{}, {}], "
                      "sampling_ratio={}, aligned={})[0]",
                      x, boxes, kept, whole(16, 40), whole(16, 40), whole(-1, 3),
                      pick<std::string>({"True", "False"})}
                  .text,
              out};
    }
    case 6: {
      Image out = image;
      const bool by_sample = chance(60);
      out.fixed_size &= !by_sample;
      return {Ordered{"fn.galatea.auto_orient({}, orientation={})", x,
                      by_sample ? "fn.random.uniform(values=[1.0, 3.0, 6.0, 7.0], dtype=types.INT32)"
                                : whole(1, 8)}
                  .text,
              out};
    }
    case 3:
      return {Ordered{"fn.experimental.warp_perspective({}, matrix=[{}, {}, {}, {}, {}, {}, {}, {}, 1.0], "
                      "interp_type=types.{}, border_mode=\"{}\", pixel_origin=\"{}\", fill_value={})",
                      x, real(0.5, 1.5), real(-0.5, 0.5), real(-8, 8), real(-0.5, 0.5), real(0.5, 1.5),
                      real(-8, 8), real(-0.02, 0.02), real(-0.02, 0.02), kind,
                      pick<std::string>({"constant", "replicate", "reflect", "reflect_101", "wrap"}),
                      pick<std::string>({"corner", "center"}), real(0, 255)}
                  .text,
              image};
    case 4: {
      Image out = image;
      out.fixed_size = true;
      const std::string places = fresh(), extent = whole(9, 40);
      line(Ordered{"{} = fn.random.uniform(range=[{}, {}], shape=[{}, {}])", places, real(-8, 2), real(9, 40),
                   extent, extent}
               .text);
      return {Ordered{"fn.experimental.remap({}, {}, {} * {}, interp=types.{})", x, places, places,
                      real(0.5, 1.5),
                      pick<std::string>({"INTERP_LINEAR", "INTERP_NN", "INTERP_CUBIC", "INTERP_LANCZOS3"})}
                  .text,
              out};
    }
    case 7: {
      // A slice of a volume is an image again.
      const std::string volume = Ordered{"fn.stack({}, fn.flip({}), axis_name=\"D\")", x, x}.text;
      const std::string axis =
          chance(50) ? Ordered{"[{}, {}, 1.0]", real(-1, 1), real(-1, 1)}.text
                     : Ordered{"fn.random.uniform(range=[{}, 2.0], shape=[3])", real(0.1, 1)}.text;
      const std::string angle = scalar(-180, 180);
      const std::string call =
          chance(50) ? Ordered{"fn.rotate({}, angle={}, axis={}, keep_size={}", volume, angle, axis,
                               pick<std::string>({"True", "False"})}
                           .text
                     : Ordered{"fn.warp_affine({}, fn.transforms.rotation(angle={}, axis={}), "
                               "inverse_map={}",
                               volume, angle, axis, pick<std::string>({"True", "False"})}
                           .text;
      Image out = image;
      out.fixed_size = false;
      return {Ordered{"{}, interp_type=types.{}, fill_value={})[0]", call, kind, real(0, 255)}.text, out};
    }
    case 0:
      return {
          Ordered{"fn.warp_affine({}, fn.transforms.combine({}, {}), interp_type=types.{}, fill_value={})", x,
                  scale, offset, kind, real(0, 255)}
              .text,
          image};
    case 1:
      return {Ordered{"fn.warp_affine({}, {}, inverse_map=False, interp_type=types.{}, fill_value={})", x,
                      scale, kind, real(0, 255)}
                  .text,
              image};
    default:
      return {
          Ordered{"fn.warp_affine({}, fn.transforms.crop(from_end=[{}, {}], to_start=[{}, {}], to_end=[30.0, "
                  "30.0]), interp_type=types.{}, fill_value={})",
                  x, real(16, 40), real(16, 40), real(-4, 8), real(-4, 8), kind, real(0, 255)}
              .text,
          image};
  }
}

PipelineGenerator::Call PipelineGenerator::seldom_statistic(const Image& image) {
  const std::string& x = image.name;
  const std::string mean = fresh(), found = fresh();
  switch (below(4)) {
    case 0:
      line(Ordered{"{} = fn.reductions.mean({})", mean, x}.text, mean + " = 100.0");
      line(Ordered{"{} = fn.reductions.variance({}, {})", found, x, mean}.text, found + " = 500.0");
      return {Ordered{"fn.cast(({} - {}) / math.sqrt({} + {}) * {}, dtype=types.{})", x, mean, found,
                      real(1, 4), real(1, 64), image.dtype}
                  .text,
              image};
    case 1:
      line(Ordered{"{} = fn.reductions.rms({})", found, x}.text, found + " = 100.0");
      return {
          Ordered{"fn.cast({} * {} / ({} + 1), dtype=types.{})", x, real(0, 255), found, image.dtype}.text,
          image};
    case 2:
      line(Ordered{"{} = fn.reductions.mean_square({})", found, x}.text, found + " = 10000.0");
      return {
          Ordered{"fn.contrast({}, contrast={}, contrast_center=math.sqrt({}))", x, scalar(0, 2), found}.text,
          image};
    default:
      return {Ordered{"fn.brightness({}, brightness=fn.random.normal(mean={}, stddev={}))", x, real(0.5, 1.5),
                      real(0, 0.5)}
                  .text,
              image};
  }
}

/// What sees the other samples of the batch, of those that come here.
PipelineGenerator::Call PipelineGenerator::seldom_batch(const Image& image) {
  const std::string& x = image.name;
  switch (below(4)) {
    case 0:
      return {Ordered{"fn.pad({}, axis_names=\"HW\", fill_value={})", x, whole(0, 255)}.text, image};
    case 1:
      return {Ordered{"fn.permute_batch({}, indices=fn.batch_permutation())", x}.text, image};
    case 2:
      return {Ordered{"fn.cast(fn.normalize({}, batch=True, scale={}, shift={}), dtype=types.{})", x,
                      real(10, 60), real(60, 160), image.dtype}
                  .text,
              image};
    default: {
      const std::string mean = fresh();
      line(Ordered{"{} = fn.reductions.mean({}, batch=True)", mean, x}.text, mean + " = 100.0");
      return {Ordered{"fn.contrast({}, contrast={}, contrast_center={})", x, scalar(0, 2), mean}.text, image};
    }
  }
}

PipelineGenerator::Call PipelineGenerator::seldom_view(const Image& image) {
  const std::string& x = image.name;
  Image out = image;
  switch (below(4)) {
    case 0:
      return {Ordered{"{}[{}:-{}, {}:]", x, whole(0, 2), whole(1, 2), whole(0, 3)}.text, out};
    case 1:
      // The channels stay where they are; rows and columns become one axis, and two again.
      return {Ordered{"fn.reshape(fn.reshape({}, rel_shape=[1, 1, 1]), layout=\"HWC\")", x}.text, out};
    case 2:
      return {Ordered{"fn.transpose(fn.transpose({}, perm=[2, 0, 1]), perm=[1, 2, 0])", x}.text, out};
    default: {
      const std::string bytes = Ordered{"fn.cast({}, dtype=types.UINT8)", x}.text;
      return {Ordered{"fn.cast(({} & {}) | ({} ^ {}), dtype=types.{})", bytes, whole(0, 255), bytes,
                      whole(0, 255), image.dtype}
                  .text,
              out};
    }
  }
}

/// Tensors of one value, other types of the same bytes, sequences, points.
PipelineGenerator::Call PipelineGenerator::seldom_tensor(const Image& image) {
  const std::string& x = image.name;
  const std::string found = fresh();
  switch (below(10)) {
    case 6:
    case 8:
      return seldom_boxes(image);
    case 9:
      // A value for each frame.
      return {Ordered{"fn.brightness(fn.stack({}, fn.flip({}), axis_name=\"F\"), "
                      "brightness=fn.per_frame(fn.random.uniform(range=[{}, {}], shape=[2])))[{}]",
                      x, x, real(0, 0.9), real(1, 2), whole(0, 1)}
                  .text,
              image};
    case 0:
      return {Ordered{"fn.cast(fn.copy({}) + fn.ones_like({}) * {} - fn.zeros_like({}, dtype=types.FLOAT), "
                      "dtype=types.{})",
                      x, x, real(0, 64), x, image.dtype}
                  .text,
              image};
    case 1:
      return {Ordered{"fn.squeeze(fn.expand_dims({}, axes=[{}], new_axis_names=\"Q\"), axis_names=\"Q\")", x,
                      below(4)}
                  .text,
              image};
    case 2:
      // There and back.
      return {Ordered{"fn.reinterpret(fn.reinterpret({}, dtype=types.{}), dtype=types.{})", x,
                      pick<std::string>({"UINT8", "INT8"}), image.dtype}
                  .text,
              image};
    case 3:
      return {Ordered{"fn.cast(math.max({}, fn.full_like({}, {})) * fn.full({}, shape=[1, 1]) + "
                      "fn.ones(shape=[1]) * {} - fn.zeros(shape=[1, 1]), dtype=types.{})",
                      x, x, real(0, 200), scalar(0.5, 2), real(0, 16), image.dtype}
                  .text,
              image};
    case 4:
      return {Ordered{"fn.element_extract(fn.sequence_rearrange(fn.stack({}, fn.flip({}), axis_name=\"F\"), "
                      "new_order=[{}, {}, {}]), element_map=[{}])",
                      x, x, whole(0, 1), whole(0, 1), whole(0, 1), whole(0, 2)}
                  .text,
              image};
    case 5:
      return {Ordered{"fn.cast(fn.coord_transform({}, M={}, T={}), dtype=types.{})", x,
                      image.known && image.channels == 3 && chance(60)
                          ? Ordered{"[{}, {}, {}, 0, 1, {}, {}, 0, 0.5]", real(-1, 1), real(-1, 1),
                                    real(-1, 1), real(-1, 1), real(-1, 1)}
                                .text
                          : scalar(-1, 2),
                      scalar(-8, 8), image.dtype}
                  .text,
              image};
    default:
      line(
          Ordered{"{} = fn.coord_flip(fn.bb_flip(fn.bbox_paste(fn.random.uniform(range=[{}, {}], "
                  "shape=[4]), ratio={}, paste_x=fn.random.uniform(range=[0.0, 1.0])), "
                  "vertical=fn.random.coin_flip())[:2], flip_y=fn.random.coin_flip())",
                  found, real(0, 0.2), real(0.3, 0.5), real(1, 3)}
              .text);
      return {
          Ordered{"fn.brightness({}, brightness={}[0] + {}[1] + 0.1 * fn.roi_random_crop(crop_shape=[{}], "
                  "roi_start=[0], roi_shape=[{}])[0])",
                  x, found, found, whole(1, 4), whole(1, 6)}
              .text,
          image};
  }
}

/// What detectors are trained with.
PipelineGenerator::Call PipelineGenerator::seldom_boxes(const Image& image) {
  const std::string &x = image.name, found = fresh(), other = fresh();
  const std::string boxes = Ordered{"fn.constant(fdata=[0.1, {}, 0.6, 0.9, 0.3, 0.2, {}, 0.5], shape=[2, 4])",
                                    real(0, 0.5), real(0.4, 1)}
                                .text;
  const std::string labels = "fn.constant(idata=[3, 7], shape=[2])";
  switch (below(7)) {
    case 3:
      line(Ordered{"{} = fn.bbox_rotate({}, angle={}, input_shape=fn.shapes({}), mode=\"{}\", keep_size={})",
                   found, boxes, scalar(-180, 180), x, pick<std::string>({"expand", "fixed", "halfway"}),
                   pick<std::string>({"True", "False"})}
               .text);
      return {Ordered{"fn.brightness({}, brightness=1 + 0.1 * fn.reductions.sum({}))", x, found}.text, image};
    case 4:
      line(
          Ordered{"{}, {}, left = fn.random_bbox_crop({}, thresholds=[0.0, {}], scaling=[0.3, 1.0], "
                  "total_num_attempts={})",
                  found, other, boxes, real(0.1, 0.5), whole(1, 20)}
              .text);
      return {Ordered{"fn.slice({}, {}, {}, axis_names=\"WH\")", x, found, other}.text,
              {.name = {}, .dtype = image.dtype, .channels = image.channels, .known = image.known}};
    case 5:
      line(Ordered{"{} = fn.galatea.batched_nms({}, fn.constant(fdata=[0.5, 0.9]), {}, iou_threshold={})",
                   found, boxes, labels, real(0, 1)}
               .text);
      line(Ordered{"{} = fn.one_hot(fn.galatea.take({}, {}), num_classes={}, on_value={})", other, labels,
                   found, whole(4, 9), whole(1, 9)}
               .text);
      return {Ordered{"fn.brightness({}, brightness=1 + 0.02 * fn.reductions.sum({}))", x, other}.text,
              image};
    case 6:
      line(
          Ordered{"{} = fn.segmentation.random_mask_pixel(fn.cast({} / 64, dtype=types.UINT8), "
                  "foreground={}, threshold={})",
                  found, x, pick<std::string>({"0", "1", "fn.random.coin_flip()"}), whole(0, 3)}
              .text);
      return {Ordered{"fn.brightness({}, brightness=1 + 0.01 * fn.reductions.sum({}))", x, found}.text,
              image};
    case 0:
      line(Ordered{
          "{}, {} = fn.box_encoder({}, {}, anchors=[0.0, 0.0, 0.5, 0.5, 0.2, {}, 0.7, 0.8, 0.0, 0.0, 1.0, "
          "1.0], criteria={}, offset={}, scale=2.0)",
          found, other, boxes, labels, real(0, 0.5), real(0, 1), pick<std::string>({"True", "False"})}
               .text);
      return {
          Ordered{
              "fn.brightness({}, brightness=1 + 0.1 * fn.reductions.sum({}) + 0.01 * fn.reductions.max({}))",
              x, found, other}
              .text,
          image};
    case 1:
      line(Ordered{
          "{} = fn.segmentation.random_object_bbox(fn.cast({} / 64, dtype=types.UINT8), format=\"box\", "
          "foreground_prob={}, {}threshold={})",
          found, x, real(0, 1),
          pick<std::string>({"", "ignore_class=True, ", "classes=[0, 2], ", "k_largest=2, "}), whole(0, 2)}
               .text);
      return {Ordered{"fn.brightness({}, brightness=1 + 0.02 * fn.reductions.sum({}))", x, found}.text,
              image};
    default:
      line(Ordered{"{}, {}, left = fn.ssd_random_crop({}, {}, {}, num_attempts={})", found, other, x, boxes,
                   labels, whole(1, 3)}
               .text);
      return {Ordered{"fn.brightness({}, brightness=1 + 0.1 * fn.reductions.max({}))", found, other}.text,
              {.name = {}, .dtype = image.dtype, .channels = image.channels, .known = image.known}};
  }
}

/// What covers pixels, moves each of them, or adds noise.
PipelineGenerator::Call PipelineGenerator::seldom_mask(const Image& image) {
  const std::string& x = image.name;
  switch (below(image.known && image.channels == 3 ? 9 : 8)) {
    case 8: {
      Image out = image;
      out.dtype = "UINT8";
      return {
          Ordered{"fn.jpeg_compression_distortion(fn.cast({}, dtype=types.UINT8), quality={})", x,
                  pick<std::string>({whole(1, 100), "fn.random.uniform(range=[1, 100], dtype=types.INT32)"})}
              .text,
          out};
    }
    case 5:
      return {Ordered{"fn.galatea.random_perspective({}, distortion_scale={}, p={}, fill_value={}, "
                      "interp_type=types.{})",
                      x, scalar(0, 1), real(0.5, 1), real(0, 255),
                      pick<std::string>({"INTERP_LINEAR", "INTERP_NN", "INTERP_CUBIC"})}
                  .text,
              image};
    case 6:
      return {Ordered{"fn.galatea.elastic({}, alpha={}, sigma={}, fill_value={})", x, scalar(0, 64),
                      real(0, 2), real(0, 255)}
                  .text,
              image};
    case 7:
      return {Ordered{"fn.galatea.cutout({}, size=[{}, {}], holes={}, p={}, fill_value={})", x, real(0, 20),
                      real(0, 20), whole(1, 4), scalar(0, 1), real(0, 255)}
                  .text,
              image};
    case 4:
      return {Ordered{"fn.paste({}, ratio={}, fill_value=[{}], paste_x={}, min_canvas_size={})", x,
                      real(1, 1.6), whole(0, 255), scalar(0, 1), real(0, 40)}
                  .text,
              image};
    case 1:
      return {Ordered{"fn.sphere({}, fill_value={}, interp_type=types.{}, mask={})", x, real(0, 255),
                      pick<std::string>({"INTERP_LINEAR", "INTERP_NN"}),
                      pick<std::string>({"1", "fn.random.coin_flip()"})}
                  .text,
              image};
    case 2:
      return {Ordered{"fn.water({}, ampl_x={}, ampl_y={}, freq_x={}, phase_y={}, interp_type=types.{})", x,
                      real(-9, 9), real(0, 9), real(0, 0.5), real(-1, 1),
                      pick<std::string>({"INTERP_LINEAR", "INTERP_NN"})}
                  .text,
              image};
    case 0:
      return {Ordered{"fn.grid_mask({}, tile={}, ratio={}, angle={}, shift_x={})", x, whole(3, 30),
                      real(0, 1), scalar(-1, 1), real(-8, 8)}
                  .text,
              image};
    default:
      return {Ordered{"fn.noise.gaussian({}, mean={}, stddev={})", x, real(-8, 8), scalar(0, 16)}.text,
              image};
  }
}

PipelineGenerator::Call PipelineGenerator::seldom_pixel(const Image& image) {
  std::string element, number = "0.0";
  switch (below(4)) {
    case 0:
      number = scalar(-1, 2);
      element = Ordered{"image[y + {}, x - {}, c] * k + {}", whole(-4, 4), whole(-4, 4), real(-32, 32)}.text;
      break;
    case 1:
      element =
          Ordered{
              "galatea.sum(range(-1, 2), lambda j: galatea.sum(range(-2, 2), lambda i: "
              "image[y + j, x + i, c] * {})) / {}",
              real(0.1, 1), real(4, 16)}
              .text;
      break;
    case 2:
      number = scalar(-8, 8);
      element =
          Ordered{"image.bilinear(y * {} + k, x * {} - {}, c)", real(0.4, 1.6), real(0.4, 1.6), real(-8, 8)}
              .text;
      break;
    default:
      element =
          Ordered{"image[y, x, c] * ({} - y / image.height) if x > {} else image[y, image.width - 1 - x, c]",
                  real(0.5, 2), whole(0, 30)}
              .text;
  }
  const std::string border = pick<std::string>({"clamp", "reflect_101", "constant"});
  return {Ordered{"galatea.pixel(lambda image, k: lambda y, x, c: {})({}, {}, border=\"{}\")", element,
                  image.name, number, border}
              .text,
          image};
}

}  // namespace galatea::testing
