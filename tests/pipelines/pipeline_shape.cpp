// Chains, branches, outputs: what a random pipeline is made of around its operators (pipeline_generator.cpp).
#include <algorithm>

#include "tests/pipelines/ordered.h"
#include "tests/pipelines/pipeline_generator.h"

namespace galatea::testing {

PipelineGenerator::Image PipelineGenerator::step(const Image& from) {
  using Make = Call (PipelineGenerator::*)(const Image&);
  static constexpr Make kMakes[] = {&PipelineGenerator::point,  &PipelineGenerator::color,
                                    &PipelineGenerator::move,   &PipelineGenerator::window,
                                    &PipelineGenerator::warp,   &PipelineGenerator::sample,
                                    &PipelineGenerator::filter, &PipelineGenerator::statistic,
                                    &PipelineGenerator::join,   &PipelineGenerator::seldom};
  // Those that never change extents.
  static constexpr Make kKeeping[] = {&PipelineGenerator::point, &PipelineGenerator::color,
                                      &PipelineGenerator::filter, &PipelineGenerator::statistic,
                                      &PipelineGenerator::mirror};
  --budget_;
  Call call = arms_ > 0 ? (this->*kKeeping[below(static_cast<int>(std::size(kKeeping)))])(from)
                        : (this->*kMakes[below(static_cast<int>(std::size(kMakes)))])(from);
  Image out = call.result;
  out.name = fresh();
  const bool same_type = out.dtype == from.dtype && out.channels == from.channels;
  line(Ordered{"{} = {}", out.name, call.text}.text,
       same_type ? Ordered{"{} = {}", out.name, from.name}.text
                 : Ordered{"{} = fn.cast({}, dtype=types.{})", out.name, from.name, out.dtype}.text);
  return out;
}

PipelineGenerator::Image PipelineGenerator::as_type(const Image& image, const Image& like) {
  Image out = image;
  out.name = fresh();
  out.dtype = like.dtype;
  std::string text = Ordered{"fn.cast({}, dtype=types.{})", image.name, like.dtype}.text;
  if (image.channels != like.channels) {
    out.channels = like.channels;
    text =
        Ordered{
            "fn.cast(fn.color_space_conversion(fn.cast({}, dtype=types.UINT8), image_type=types.{}, "
            "output_type=types.{}), dtype=types.{})",
            image.name, image.channels == 3 ? "RGB" : "GRAY", like.channels == 3 ? "RGB" : "GRAY", like.dtype}
            .text;
  }
  line(Ordered{"{} = {}", out.name, text}.text, image.channels == like.channels && image.dtype == like.dtype
                                                    ? Ordered{"{} = {}", out.name, image.name}.text
                                                    : "");
  return out;
}

std::string PipelineGenerator::condition(const Image& image) {
  if (conditions_of_images_ && chance(75)) {
    const std::string asked = chance(50) ? image.name : "other";
    const std::string first = Ordered{"fn.reductions.mean({}) > {}", asked, real(60, 180)}.text;
    switch (below(4)) {
      case 0:
        return Ordered{"{} and fn.reductions.max({}) > {}", first, asked, real(100, 250)}.text;
      case 1:
        return Ordered{"{} or fn.random.uniform(range=[0.0, 1.0]) < {}", first, real(0.2, 0.8)}.text;
      default:
        return first;
    }
  }
  switch (below(4)) {
    case 0:
      return Ordered{"fn.random.coin_flip(probability={}, dtype=types.BOOL)", real(0.2, 0.8)}.text;
    case 1:
      return Ordered{"fn.random.uniform(range=[0.0, 1.0]) < {}", real(0.2, 0.8)}.text;
    case 2:
      return Ordered{"fn.reductions.mean({}) > {}", image.name, real(60, 180)}.text;
    default:
      return "fn.random.choice(3) == 1";
  }
}

PipelineGenerator::Image PipelineGenerator::branch(const Image& from, int depth) {
  const std::string result = fresh();
  Image joined = from;
  line(Ordered{"if {}:", condition(from)}.text);
  arms_ += conditions_of_images_ ? 1 : 0;
  for (int arm = 0; arm < 2; ++arm) {
    if (arm == 1) line("else:");
    ++indent_;
    const Image end = as_type(chain(from, below(3), depth + 1), from);
    line(Ordered{"{} = {}", result, end.name}.text, Ordered{"{} = {}", result, from.name}.text);
    --indent_;
    joined.known &= end.known;
  }
  arms_ -= conditions_of_images_ ? 1 : 0;
  joined.name = result;
  joined.fixed_size = false;
  return joined;
}

/// One arm turns the image over, and what follows may read a window of the result: a view of a part.
PipelineGenerator::Image PipelineGenerator::turned(const Image& from) {
  Image out = from;
  out.name = fresh();
  line(Ordered{"if fn.reductions.mean(other) > {}:", real(60, 180)}.text);
  ++indent_;
  line(Ordered{"{} = {}", out.name, mirror(from).text}.text, Ordered{"{} = {}", out.name, from.name}.text);
  --indent_;
  line("else:");
  ++indent_;
  line(Ordered{"{} = {}", out.name, from.name}.text);
  --indent_;
  --budget_;
  const Call seen = window(out);
  Image result = seen.result;
  result.name = fresh();
  line(Ordered{"{} = {}", result.name, seen.text}.text, Ordered{"{} = {}", result.name, out.name}.text);
  return result;
}

// The same by functions and an index: one branch of many ways.
PipelineGenerator::Image PipelineGenerator::choice(const Image& from, int depth) {
  const std::string result = fresh();
  Image joined = from, argument = from;
  argument.name = "chosen";
  const int ways = 2 + below(4);
  const bool by_image = conditions_of_images_ && chance(60);
  arms_ += by_image ? 1 : 0;
  std::string functions;
  for (int way = 0; way < ways; ++way) {
    const std::string function = fresh();
    functions += (way > 0 ? ", " : "") + function;
    line(Ordered{"def {}(chosen):", function}.text);
    ++indent_;
    const Image end = as_type(chain(argument, below(3), depth + 1), argument);
    line(Ordered{"return {}", end.name}.text, "return chosen");
    --indent_;
    joined.known &= end.known;
  }
  arms_ -= by_image ? 1 : 0;
  const std::string index =
      by_image
          ? Ordered{"fn.cast(fn.reductions.mean(other) * {}.0 / 255.0, dtype=types.UINT8)", ways - 1}.text
          : Ordered{"fn.random.choice({})", ways}.text;
  line(Ordered{"{} = select([{}], {}, {})", result, functions, index, from.name}.text,
       Ordered{"{} = {}", result, from.name}.text);
  joined.name = result;
  joined.fixed_size = false;
  return joined;
}

PipelineGenerator::Image PipelineGenerator::chain(Image from, int count, int depth) {
  for (int i = 0; i < count && budget_ > 0; ++i) {
    if (depth < 3 && chance(conditions_of_images_ ? 45 : 22))
      from = chance(30) ? choice(from, depth) : branch(from, depth);
    else
      from = step(from);
  }
  return from;
}

void PipelineGenerator::begin() {
  indent_ = 0;
  line("import galatea");
  line("from galatea import select");
  line("from nvidia.dali import pipeline_def, fn, math, types");
  line("");
  line("");
  line(Ordered{"@pipeline_def(batch_size=4, num_threads=2, seed={}, enable_conditionals=True)",
               whole(0, 1 << 20)}
           .text);
  line("def pipe():");
  indent_ = 1;
}

GeneratedPipeline PipelineGenerator::make() {
  begin();
  budget_ = 3 + below(10);
  Image image;
  image.name = "image";
  if (chance(50)) {
    line("encoded = fn.external_source(name=\"encoded\", dtype=types.UINT8, ndim=1)");
    static const std::vector<std::string> kDecoders = {"image(encoded)",
                                                       "image(encoded, output_type=types.BGR)",
                                                       "image_random_crop(encoded)",
                                                       "slice",
                                                       "crop",
                                                       "window"};
    std::string decoder = pick(kDecoders);
    if (decoder == "slice")
      decoder = Ordered{"image_slice(encoded, rel_start=[{}, {}], rel_shape=[{}, {}], axes=[0, 1])",
                        real(0, 0.3), real(0, 0.3), real(0.3, 0.7), real(0.3, 0.7)}
                    .text;
    if (decoder == "window") {
      line(
          Ordered{"anchor, window = fn.random_crop_generator(fn.peek_image_shape(encoded), "
                  "random_area=[{}, {}])",
                  real(0.1, 0.4), real(0.5, 1)}
              .text);
      decoder = "image_slice(encoded, start=anchor, shape=window, axes=[0, 1])";
    }
    if (decoder == "crop")
      decoder = Ordered{"image_crop(encoded, crop=[{}, {}])", whole(3, 6), whole(3, 6)}.text;
    line(Ordered{"image = fn.decoders.{}", decoder}.text, "image = fn.decoders.image(encoded)");
    image.known = true;
  } else {
    line("image = fn.external_source(name=\"image\", dtype=types.UINT8, ndim=3, layout=\"HWC\")");
  }
  if (conditions_of_images_)
    line("other = fn.external_source(name=\"other\", dtype=types.UINT8, ndim=3, layout=\"HWC\")");
  const int count = budget_;
  std::vector<std::string> outputs;
  Image end = conditions_of_images_ && chance(50) ? turned(image) : image;
  while (budget_ > 0 && static_cast<int>(outputs.size()) < 2) {
    end = chain(end, 1 + below(count), 0);
    if (chance(30)) outputs.push_back(end.name);
  }
  end = chain(end, std::max(budget_, 0), 0);
  outputs.push_back(end.name);
  if (chance(30)) outputs.push_back(Ordered{"fn.shapes({})", end.name}.text);
  if (chance(20))
    outputs.push_back(Ordered{"fn.reductions.std_dev({0}, fn.reductions.mean({0}))", end.name}.text);
  if (chance(10)) outputs.push_back(Ordered{"fn.stack({0}, {0})", end.name}.text);
  if (chance(10)) outputs.push_back(Ordered{"fn.reductions.sum({0}, axes=[0, 1])", end.name}.text);
  std::string list;
  for (const std::string& output : outputs) list += (list.empty() ? "" : ", ") + output;
  line("return " + list, "return " + end.name);
  return {std::move(lines_)};
}

}  // namespace galatea::testing
