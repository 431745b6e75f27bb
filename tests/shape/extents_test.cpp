// The extents that are shown are the extents that samples have, whatever the unknowns are.
#include <gtest/gtest.h>

#include <map>

#include "tests/shape/pipeline_runner.h"

namespace galatea::shape_test {
namespace {

std::string body(const std::string& lines) {
  return "from nvidia.dali import pipeline_def, fn, types\n"
         "@pipeline_def(batch_size=1, num_threads=1, seed=5)\n"
         "def p():\n"
         "    image = fn.external_source(name=\"image\", dtype=types.UINT8, layout=\"HWC\")\n" +
         lines;
}

/// The types of the outputs, "; " between them.
std::string types(const std::string& lines) {
  Staged staged = stage(body(lines));
  std::string text;
  for (const std::string& error : staged.errors()) text += error + "\n";
  if (!staged.graph) return text;
  for (ir::ValueId output : staged.outputs())
    text += (text.empty() ? "" : "; ") + staged.shapes->type_text(output);
  return text;
}

TEST(Extents, Named) {
  EXPECT_EQ(types("    return image, fn.flip(image)\n"), "u8[h,w,c] HWC; u8[h,w,c] HWC");
  EXPECT_EQ(types("    return fn.transpose(image, perm=[2, 0, 1])\n"), "u8[c,h,w] CHW");
  EXPECT_EQ(types("    return image, fn.cat(image, image, axis=1)\n"), "u8[h,w,c] HWC; u8[h,2*w,c] HWC");
  EXPECT_EQ(types("    return image, fn.stack(image, image)\n"), "u8[h,w,c] HWC; u8[2,h,w,c]");
  EXPECT_EQ(types("    return image, fn.reshape(image, shape=[-1])\n"), "u8[h,w,c] HWC; u8[h*w*c]");
  EXPECT_EQ(types("    return image, fn.crop(image, crop=[4, 0])\n"), "u8[h,w,c] HWC; u8[4,w,c] HWC");
  EXPECT_EQ(types("    return image, image[2:]\n"), "u8[h,w,c] HWC; u8[h2,w,c] HWC");
  EXPECT_EQ(
      types("    s = image.shape()\n    return image, fn.resize(image, size=fn.stack(s[0] * 2, s[1]))\n"),
      "u8[h,w,c] HWC; u8[h2,w2,c] HWC")
      << "a size from outside may be 0, which means: not given";
  EXPECT_EQ(types("    return fn.resize(image, size=[8, 9])\n"), "u8[8,9,c] HWC");
  EXPECT_EQ(types("    return image, fn.crop_mirror_normalize(image, mean=[1.0, 2.0, 3.0], std=[4.0])\n"),
            "u8[h,w,c] HWC; f32[3,h,w] CHW")
      << "any other number of channels is an error";
  EXPECT_EQ(types("    return image, fn.crop_mirror_normalize(image, mean=[1.0], std=[4.0])\n"),
            "u8[h,w,c] HWC; f32[c,h,w] CHW");
  EXPECT_EQ(types("    return fn.crop_mirror_normalize(image, std=[1.0, 2.0, 3.0], pad_output=True)\n"),
            "f32[4,h,w] CHW");
}

TEST(Extents, BranchesShareOrPart) {
  EXPECT_EQ(types("    if fn.random.coin_flip(dtype=types.BOOL):\n"
                  "        y = fn.flip(image)\n"
                  "    else:\n"
                  "        y = image\n"
                  "    return image, y\n"),
            "u8[h,w,c] HWC; u8[h,w,c] HWC");
  EXPECT_EQ(types("    if fn.random.coin_flip(dtype=types.BOOL):\n"
                  "        y = fn.crop(image, crop=[4, 0])\n"
                  "    else:\n"
                  "        y = image\n"
                  "    return image, y\n"),
            "u8[h,w,c] HWC; u8[h2,w,c] HWC");
}

/// The unknowns' values as far as samples show them, then every extent that they decide. How many that were.
int compare(Staged& staged, const Sample& sample) {
  std::map<int, int64_t> known;
  const auto outputs = staged.outputs();
  int compared = 0;
  for (bool binding : {true, false}) {
    for (size_t k = 0; k < outputs.size(); ++k) {
      const auto& extents = staged.shapes->table().info(outputs[k]).extents;
      EXPECT_EQ(extents.size(), sample.extents[k].size());
      for (size_t d = 0; d < extents.size() && d < sample.extents[k].size(); ++d) {
        const shape::Polynomial p = staged.shapes->facts().polynomial(extents[d]);
        const bool bare =
            p.terms().size() == 1 && p.terms().begin()->first.size() == 1 && p.terms().begin()->second == 1;
        if (binding) {
          if (bare) known.emplace(p.terms().begin()->first[0], sample.extents[k][d]);
          continue;
        }
        int64_t value = 0;
        bool decided = true;
        for (const auto& [monomial, coefficient] : p.terms()) {
          int64_t term = coefficient;
          for (int number : monomial) {
            decided &= known.contains(number);
            if (decided) term *= known[number];
          }
          value += term;
        }
        if (!decided) continue;
        ++compared;
        EXPECT_EQ(value, sample.extents[k][d])
            << "output " << k << ", dimension " << d << " of " << staged.shapes->type_text(outputs[k]);
        const kernel::ScalarRange range = staged.shapes->facts().range(extents[d]);
        EXPECT_TRUE(range.low <= sample.extents[k][d] && sample.extents[k][d] <= range.high);
      }
    }
  }
  return compared;
}

TEST(Extents, AreThoseOfTheRun) {
  Staged staged =
      stage(body("    a = fn.crop(image, crop=[4, 5])\n"
                 "    b = fn.cat(image, fn.flip(image), axis=0)\n"
                 "    c = fn.reshape(b, shape=[-1])\n"
                 "    d = fn.resize(image, resize_shorter=9)\n"
                 "    e = fn.random_resized_crop(image, size=[6, 7])\n"
                 "    f = b[2:-1, ::2]\n"
                 "    g = fn.reductions.sum(f, axes=[0])\n"
                 "    s = image.shape()\n"
                 "    h = fn.resize(image, size=fn.stack(s[0] + 3, s[1]))\n"
                 "    i = fn.cat(h, h, axis=1)\n"
                 "    if fn.random.coin_flip(dtype=types.BOOL):\n"
                 "        j = fn.crop(i, crop=[2, 0])\n"
                 "    else:\n"
                 "        j = fn.flip(i)\n"
                 "    k = fn.stack(j, fn.brightness(j, brightness=0.5))\n"
                 "    l = fn.crop_mirror_normalize(d, output_layout=\"CHW\", dtype=types.FLOAT)\n"
                 "    m = fn.reshape(image, rel_shape=[2, 0.5, 1])\n"
                 "    return image, a, b, c, d, e, f, g, h, i, j, k, l, m\n"));
  ASSERT_TRUE(staged.graph) << staged.errors().front();
  EXPECT_EQ(staged.errors().size(), 0U);
  const std::vector<Image> images = {{8, 10, 3}, {20, 6, 3}, {31, 14, 3}, {5, 6, 3}};
  const auto samples = run(staged, images);
  ASSERT_EQ(samples.size(), images.size());
  for (const Sample& sample : samples) {
    ASSERT_EQ(sample.failure, "");
    EXPECT_GT(compare(staged, sample), 30);
  }
}

}  // namespace
}  // namespace galatea::shape_test
