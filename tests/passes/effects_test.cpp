// What the passes make of pipelines as people write them.
#include <gtest/gtest.h>

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
  EXPECT_TRUE(out.says("decoders.image makes all colours: hue needs them"));
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

}  // namespace
}  // namespace galatea
