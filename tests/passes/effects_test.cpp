// What the passes make of pipelines as people write them.
#include <gtest/gtest.h>

#include "compiler/ir/text/printer.h"
#include "compiler/ir/text/reader.h"
#include "compiler/passes/pass_runner.h"
#include "dsl/frontend.h"
#include "stdlib_ops/register_all.h"

namespace galatea {
namespace {

struct Outcome {
  std::string graph;
  std::vector<passes::Remark> remarks;

  size_t count(const std::string& text) const {
    size_t found = 0;
    for (size_t at = 0; (at = graph.find(text, at)) != std::string::npos; ++at) ++found;
    return found;
  }
  bool says(const std::string& text) const {
    for (const passes::Remark& remark : remarks)
      if (remark.text.find(text) != std::string::npos) return true;
    return false;
  }
};

/// `body` of a pipeline function, indented by four.
Outcome passes_over(const std::string& body, const std::string& options = "") {
  static const op::Registry kRegistry = [] {
    op::Registry all;
    ops::register_all(all);
    return all;
  }();
  std::string text =
      "from nvidia.dali import pipeline_def, fn, types\n\n"
      "@pipeline_def(batch_size=4, num_threads=1, seed=1, enable_conditionals=True" +
      options + ")\ndef p():\n" + body;
  SourceMap sources;
  auto staged = dsl::stage_all("p.dali-dsl", text, {}, kRegistry, sources);
  for (const Diagnostic& diagnostic : staged.diagnostics)
    if (diagnostic.severity == Severity::kError) ADD_FAILURE() << render_text(diagnostic, sources);
  if (!staged.ok || staged.graphs.size() != 1) return {};
  Outcome out;
  auto reports = passes::run_passes(*staged.graphs[0], kRegistry, {});
  EXPECT_TRUE(reports);
  if (!reports) return out;
  out.graph = to_text(*staged.graphs[0]);
  SourceMap texts;
  auto again = ir::read_graph(out.graph, texts, kRegistry);
  EXPECT_TRUE(again) << again.error().message();
  EXPECT_EQ(again ? to_text(*again) : "", out.graph);
  for (const passes::PassReport& report : *reports)
    out.remarks.insert(out.remarks.end(), report.remarks.begin(), report.remarks.end());
  return out;
}

const char* const kDecoded =
    "    encoded, label = fn.readers.file(file_root=\"photos\")\n"
    "    image = fn.decoders.image(encoded, output_type=types.RGB)\n";

TEST(Effects, DrawsOfCertainOutcomeVanish) {
  for (const char* probability : {"0.0", "1.0"}) {
    Outcome out =
        passes_over(std::string(kDecoded) + "    if fn.random.coin_flip(probability=" + probability +
                    ", dtype=types.BOOL):\n"
                    "        image = fn.gaussian_blur(image, sigma=1.0)\n"
                    "    else:\n"
                    "        image = fn.saturation(image, saturation=2.0)\n"
                    "    return image, label\n");
    EXPECT_EQ(out.count("branch"), 0u) << out.graph;
    EXPECT_EQ(out.count("random.coin_flip"), 0u) << out.graph;
    EXPECT_EQ(out.count("saturation("), probability == std::string("0.0") ? 1u : 0u) << out.graph;
  }
}

TEST(Effects, DrawsThatNothingDependsOnVanish) {
  Outcome out = passes_over(std::string(kDecoded) +
                            "    if fn.random.coin_flip(dtype=types.BOOL):\n"
                            "        unused = fn.gaussian_blur(image, sigma=1.0)\n"
                            "    return image, label\n");
  EXPECT_EQ(out.count("branch"), 0u) << out.graph;
  EXPECT_EQ(out.count("random.coin_flip"), 0u) << out.graph;
}

TEST(Effects, EachArmFinishesItsImages) {
  Outcome out =
      passes_over(std::string(kDecoded) +
                  "    image = fn.resize(image, size=[224, 224])\n"
                  "    if fn.random.coin_flip(dtype=types.BOOL):\n"
                  "        image = fn.saturation(image, saturation=2.0)\n"
                  "    else:\n"
                  "        image = fn.cast_like(0.5 * image + 64, image)\n"
                  "    image = fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout=\"CHW\",\n"
                  "                                     mean=[123.675, 116.28, 103.53],\n"
                  "                                     mirror=fn.random.coin_flip())\n"
                  "    return image, label\n");
  EXPECT_EQ(out.count("crop_mirror_normalize("), 2u) << out.graph;
  EXPECT_EQ(out.count("merge("), 1u) << out.graph;
  EXPECT_TRUE(out.says("crop_mirror_normalize is done at the end of each of 2 arms"));
}

TEST(Effects, ValidationDecodesAndResizesTheMiddle) {
  Outcome out =
      passes_over(std::string(kDecoded) +
                  "    image = fn.resize(image, resize_shorter=256)\n"
                  "    image = fn.crop_mirror_normalize(image, crop=[224, 224], dtype=types.FLOAT)\n"
                  "    return image, label\n");
  EXPECT_EQ(out.count("region_from"), 2u) << out.graph;
  EXPECT_TRUE(out.says("decoders.image makes only what resize reads of it"));
  EXPECT_TRUE(out.says("resize makes only what crop_mirror_normalize reads of it"));
  EXPECT_EQ(out.count("scaled_for"), 0u) << out.graph;
}

TEST(Effects, ScalesOnlyWhereOtherValuesAreAllowed) {
  const std::string body = std::string(kDecoded) +
                           "    image = fn.random_resized_crop(image, size=[224, 224])\n"
                           "    return image, label\n";
  EXPECT_EQ(passes_over(body).count("scaled_for"), 0u);
  Outcome out = passes_over(body, ", exact=False");
  EXPECT_EQ(out.count("scaled_for"), 1u) << out.graph;
  EXPECT_EQ(out.count("region_from"), 1u) << out.graph;
  EXPECT_TRUE(out.says("1/2, 1/4 or 1/8"));
}

TEST(Effects, DecodesTheLumaOnlyWhereOtherValuesAreAllowed) {
  const std::string body = std::string(kDecoded) +
                           "    image = fn.resize(image, size=[224, 224])\n"
                           "    gray = fn.color_space_conversion(image, image_type=types.RGB,\n"
                           "                                     output_type=types.GRAY)\n";
  Outcome out = passes_over(body + "    return gray, label\n", ", exact=False");
  EXPECT_EQ(out.count("u8[224,224,1] HWC"), 2u) << out.graph;
  EXPECT_EQ(out.count("image_type=2, output_type=0"), 1u) << out.graph;
  EXPECT_TRUE(out.says("decoders.image makes the luma only"));
  // Scaled and cut all the same.
  EXPECT_EQ(out.count("scaled_for"), 1u) << out.graph;
  out = passes_over(body + "    return gray, label\n");
  EXPECT_EQ(out.count("u8[224,224,1] HWC"), 1u) << out.graph;
  EXPECT_TRUE(out.says("with exact=False it would decode nothing else"));
  out = passes_over(body + "    return gray, fn.hue(image, hue=20.0)\n", ", exact=False");
  EXPECT_EQ(out.count("u8[224,224,1] HWC"), 1u) << out.graph;
  EXPECT_TRUE(out.says("decoders.image makes all channels: hue needs them"));
}

TEST(Effects, SaysWhyAnImageIsDecodedWhole) {
  Outcome out = passes_over(std::string(kDecoded) + "    return image, label\n");
  EXPECT_TRUE(out.says("the whole image: all of it is read"));
  out = passes_over(std::string(kDecoded) +
                    "    where = fn.reductions.mean(image) / 255.0\n"
                    "    image = fn.crop(image, crop=[16, 16], crop_pos_x=where)\n"
                    "    return image, label\n");
  EXPECT_EQ(out.count("region_from"), 0u) << out.graph;
}

TEST(Effects, ConsecutiveWarpsBecomeOne) {
  const std::string body = std::string(kDecoded) +
                           "    image = fn.rotate(image, angle=fn.random.uniform(range=[-15.0, 15.0]), "
                           "keep_size=True, fill_value=0)\n"
                           "    image = fn.flip(image, horizontal=fn.random.coin_flip())\n"
                           "    image = fn.warp_affine(image, matrix=[1.0, 0.2, 0.0, 0.1, 1.0, 0.0], "
                           "fill_value=0)\n"
                           "    image = fn.crop(image, crop=[100, 100])\n"
                           "    image = fn.warp_affine(image, matrix=[1.0, 0.0, 5.0, 0.0, 1.0, 3.0], "
                           "fill_value=0)\n"
                           "    return image, label\n";
  EXPECT_EQ(passes_over(body).count("composed_warp("), 0u);
  const Outcome out = passes_over(body, ", exact=False");
  EXPECT_EQ(out.count("composed_warp("), 1u) << out.graph;
  for (const char* gone : {"rotate(", "warp_affine(", " flip(", " crop("})
    EXPECT_EQ(out.count(gone), 0u) << gone << "\n" << out.graph;
  EXPECT_TRUE(out.says("rotate and warp_affine and warp_affine become one interpolation"));
  // What nodes that are gone would have refused is refused.
  EXPECT_EQ(out.count("crop: the window from {} to {} along H"), 1u) << out.graph;
}

TEST(Effects, WarpsStayApartWhereTheOutcomeWouldBeAnother) {
  const auto two = [&](const std::string& first, const std::string& second, const std::string& result) {
    return passes_over(std::string(kDecoded) + "    turned = fn.rotate(image, angle=10, keep_size=True" +
                           first +
                           ")\n    image = fn.warp_affine(turned, matrix=[1.0, 0.2, 0.0, 0.1, 1.0, 0.0]" +
                           second + ")\n    return " + result + "\n",
                       ", exact=False");
  };
  const std::string filled = ", fill_value=0", nearest = ", interp_type=types.INTERP_NN";
  EXPECT_EQ(two(filled, filled, "image").count("composed_warp("), 1u);
  // What repeats the edge of the image that is there may come first.
  EXPECT_EQ(two("", filled, "image").count("composed_warp("), 1u);
  struct Case {
    std::string first, second, result, why;
  };
  for (const Case& one :
       {Case{filled, "", "image", "warp_affine repeats the edge of an image that would not"},
        Case{filled + nearest, filled, "image", "rotate takes nearest neighbours"},
        Case{filled, filled + nearest, "image", "warp_affine takes nearest neighbours"},
        Case{filled, filled, "image, turned", "the image of rotate is also read elsewhere"},
        Case{filled + ", dtype=types.FLOAT", filled, "image", "rotate changes the element"}}) {
    const Outcome out = two(one.first, one.second, one.result);
    EXPECT_EQ(out.count("composed_warp("), 0u) << out.graph;
    EXPECT_TRUE(out.says("rotate and warp_affine stay two resamplings: " + one.why)) << one.why;
  }
}

TEST(Effects, ResizesOfResizesBecomeOne) {
  const std::string body = std::string(kDecoded) +
                           "    image = fn.resize(image, resize_shorter=256)\n"
                           "    image = fn.crop(image, crop=[224, 224])\n"
                           "    image = fn.flip(image, horizontal=fn.random.coin_flip())\n"
                           "    image = fn.resize(image, size=[160, 192])\n"
                           "    return image, label\n";
  EXPECT_EQ(passes_over(body).count("composed_resize("), 0u);
  const Outcome out = passes_over(body, ", exact=False");
  EXPECT_EQ(out.count("composed_resize("), 1u) << out.graph;
  for (const char* gone : {" resize(", " flip(", " crop("})
    EXPECT_EQ(out.count(gone), 0u) << gone << out.graph;
  EXPECT_TRUE(out.says("resize and resize become one resize"));
  EXPECT_EQ(out.count("crop: the window from {} to {} along H"), 1u) << out.graph;
  // The decoder makes what is read of it, small where that will do.
  EXPECT_EQ(out.count("region_from"), 1u) << out.graph;
  EXPECT_EQ(out.count("scaled_for"), 1u) << out.graph;
}

TEST(Effects, ResizesStayApartWhereTheOutcomeWouldBeAnother) {
  const auto two = [&](const std::string& first, const std::string& second,
                       const std::string& result = "image") {
    return passes_over(std::string(kDecoded) + "    small = fn." + first + "\n    image = fn." + second +
                           "\n    return " + result + "\n",
                       ", exact=False");
  };
  const std::string first = "resize(image, size=[64, 48])", second = "resize(small, size=[60, 50])";
  EXPECT_EQ(two(first, second).count("composed_resize("), 1u);
  EXPECT_EQ(two("resize(image, size=[64, 48], interp_type=types.INTERP_TRIANGULAR)", second)
                .count("composed_resize("),
            1u);
  struct Case {
    std::string first, second, result, why;
  };
  for (const Case& one : {Case{first, "resize(small, size=[224, 40])", "image",
                               "resize enlarges again what resize may make small"},
                          Case{first, second, "image, small", "the image of resize is also read elsewhere"},
                          Case{"resize(image, size=[64, 48], dtype=types.FLOAT)", second, "image",
                               "resize changes the element"},
                          Case{"resize(image, size=[64, 48], interp_type=types.INTERP_CUBIC)", second,
                               "image", "they filter differently"},
                          Case{"random_resized_crop(image, size=[64, 48])", second, "image",
                               "random_resized_crop draws what it shows"},
                          Case{first, "resize(small, size=[60, 50], roi_start=[0, -9], roi_end=[64, 48])",
                               "image", "resize may read outside of an image that would not be made"}}) {
    const Outcome out = two(one.first, one.second, one.result);
    EXPECT_EQ(out.count("composed_resize("), 0u) << out.graph;
    EXPECT_TRUE(out.says("stay two resizes: " + one.why)) << one.why;
  }
  // Without a filter that widens there is nothing to compose with.
  EXPECT_EQ(two(first, "resize(small, size=[60, 50], interp_type=types.INTERP_NN)").count("composed_resize("),
            0u);
  EXPECT_EQ(two(first, "resize(small, size=[60, 50], antialias=False)").count("composed_resize("), 0u);
}

/// Operators that read a part of a picture: the decoder makes that part, and `explain` says so.
TEST(Effects, WindowsReachTheDecoderThroughEveryReaderOfAPart) {
  const std::string crop =
      "    image = fn.crop(image, crop=[30, 40], crop_pos_x=fn.random.uniform(range=[0.0, 1.0]))\n";
  const std::pair<const char*, std::string> readers[] = {
      {"paste",
       "    image = fn.paste(image, ratio=1.5, fill_value=[3], paste_x=fn.random.uniform())\n" + crop},
      {"experimental.warp_perspective",
       "    image = fn.experimental.warp_perspective(image, matrix=[0.9, 0.1, 5.0, -0.1, 0.8, 9.0, 0.001, 0.002, "
       "1.0], size=[40, 50])\n"},
      {"galatea.random_perspective", "    image = fn.galatea.random_perspective(image, p=1.0)\n" + crop},
      {"warp_affine",
       "    image = fn.warp_affine(image, matrix=[0.9, 0.1, 5.0, -0.1, 0.8, 9.0], size=[40, 50])\n"},
      {"resize",
       "    image = fn.resize(image, size=[40, 50], roi_start=[0.2, 0.1], roi_end=[0.7, 0.6], roi_relative=True)\n"},
      {"galatea.roi_align",
       "    corner = fn.random.uniform(range=[2.0, 9.0], shape=[3, 2])\n"
       "    image = fn.galatea.roi_align(image, fn.cat(corner, corner + 20, axis=1), output_size=7)\n"},
      {"multi_paste",
       "    image = fn.multi_paste(image, output_size=[30, 30], in_anchors=[[3, 5]], shapes=[[11, 9]])\n"},
      {"slice",
       "    start = fn.roi_random_crop(roi_start=[2, 3], roi_end=[40, 50], crop_shape=[20, 20])\n"
       "    image = fn.slice(image, start=start, shape=[20, 20], axes=[0, 1])\n"}};
  for (const auto& [name, steps] : readers) {
    const Outcome out = passes_over(std::string(kDecoded) + steps + "    return image, label\n");
    EXPECT_TRUE(out.says("decoders.image makes only what")) << name << "\n" << out.graph;
  }
}

TEST(Effects, WarpsComposeWithResizesThatMagnify) {
  const auto with = [&](const std::string& steps) {
    return passes_over(std::string(kDecoded) + steps + "    return image, label\n", ", exact=False");
  };
  const std::string turn = "    image = fn.rotate(image, angle=10, keep_size=True, fill_value=0)\n";
  const std::string part = "    image = fn.crop(image, crop=[100, 120])\n";
  const auto resize = [](const std::string& size) {
    return "    image = fn.resize(image, size=[" + size + "])\n";
  };
  for (const std::string& steps : {part + resize("224, 224") + turn, part + turn + resize("224, 224"),
                                   part + resize("90, 110") + turn, part + turn + resize("90, 110")})
    EXPECT_EQ(with(steps).count("composed_warp("), 1u) << steps;
  // A resize that shrinks is a low-pass first.
  Outcome out = with(part + resize("60, 224") + turn);
  EXPECT_EQ(out.count("composed_warp("), 0u) << out.graph;
  EXPECT_TRUE(out.says("resize and rotate stay two resamplings: resize shrinks the image, which averages"));
  out = with(resize("224, 224") + turn);
  EXPECT_EQ(out.count("composed_warp("), 0u) << out.graph;
  EXPECT_TRUE(
      out.says("resize and rotate stay two resamplings: resize may shrink the image, which averages"));
  out = with(turn + resize("224, 224"));
  EXPECT_EQ(out.count("composed_warp("), 0u) << out.graph;
  EXPECT_TRUE(
      out.says("rotate and resize stay two resamplings: resize may shrink the image, which averages"));
  out = with(part + "    image = fn.resize(image, size=[224, 224], interp_type=types.INTERP_LANCZOS3)\n" +
             turn);
  EXPECT_TRUE(out.says("resize has a filter that warps do not have"));
  out = with(part + "    image = fn.resize(image, size=[224, 224], interp_type=types.INTERP_CUBIC)\n" + turn);
  EXPECT_TRUE(out.says("resize and rotate interpolate differently"));
}

TEST(Effects, CubicWarpsComposeWithTheirLike) {
  const auto two = [&](const std::string& first, const std::string& second) {
    return passes_over(
        std::string(kDecoded) + "    image = fn.rotate(image, angle=10, keep_size=True" + first +
            ")\n    image = fn.rotate(image, angle=fn.random.uniform(range=[0.0, 9.0]), keep_size=True" +
            second + ")\n    return image, label\n",
        ", exact=False");
  };
  const std::string cubic = ", fill_value=[1, 2, 3], interp_type=types.INTERP_CUBIC";
  const Outcome out = two(cubic + ", cubic_a=-1", cubic + ", cubic_a=-1");
  EXPECT_EQ(out.count("composed_warp("), 1u) << out.graph;
  EXPECT_EQ(out.count("cubic_a=-1.0"), 1u) << out.graph;
  EXPECT_EQ(out.count("fill_value=[1.0, 2.0, 3.0]"), 1u) << out.graph;
  EXPECT_TRUE(two(cubic, cubic + ", cubic_a=-1").says("rotate and rotate interpolate differently"));
  EXPECT_TRUE(two(", fill_value=0", cubic).says("rotate and rotate interpolate differently"));
}

}  // namespace
}  // namespace galatea
