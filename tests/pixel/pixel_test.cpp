// Pixel functions beside built-in operators, in arms, at the edges, and in the passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/text/printer.h"
#include "compiler/ir/text/reader.h"
#include "compiler/passes/pass_runner.h"
#include "tests/pixel/everywhere.h"
#include "tests/support/build_folder.h"
#include "tests/support/product.h"

namespace galatea {
namespace {

using testing::Array;
using testing::Feed;
using testing::Outputs;
using testing::random_array;
using testing::run_everywhere;

constexpr const char* kImport = "import galatea\nfrom galatea import fn, math, pipeline_def, types\n\n";

std::string pipeline(const std::string& functions, const std::string& lines,
                     const std::string& dtype = "UINT8") {
  std::string text = kImport + functions +
                     "\n@pipeline_def(batch_size=8)\ndef p():\n    image = fn.external_source(" +
                     "name=\"image\", dtype=types." + dtype + ", layout=\"HWC\")\n";
  for (size_t at = 0; at < lines.size();) {
    const size_t end = std::min(lines.find('\n', at), lines.size());
    text += "    " + lines.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text;
}

Feed photographs(DType dtype = DType::kU8) {
  return {{"image",
           {random_array(dtype, {19, 45, 3}, 1), random_array(dtype, {3, 3, 3}, 2),
            random_array(dtype, {8, 130, 3}, 3)}}};
}

/// Outputs k and k + 1 of every sample.
void expect_near(const Outputs& outputs, size_t k, double tolerance) {
  ASSERT_GT(outputs.size(), k + 1);
  for (size_t sample = 0; sample < outputs[k].size(); ++sample) {
    const Array &a = outputs[k][sample], &b = outputs[k + 1][sample];
    ASSERT_EQ(a.extents, b.extents);
    for (size_t n = 0; n < a.values.size(); ++n)
      ASSERT_LE(std::abs(a.values[n] - b.values[n]), tolerance) << "output " << k << ", element " << n;
  }
}

TEST(PixelFunctions, EqualBuiltInOperators) {
  const Outputs outputs =
      run_everywhere(pipeline(R"(
@galatea.pixel
def brighter(image, factor):
    return lambda y, x, c: image[y, x, c] * factor

@galatea.pixel
def turned(image):
    return lambda y, x, c: image[image.height - 1 - y, image.width - 1 - x, c]

@galatea.pixel
def window(image, top, left):
    return lambda y, x, c: image[y + top, x + left, c]

@galatea.pixel
def swapped(image):
    return lambda y, x, c: image[y, x, 2 - c]
)",
                              R"(return (brighter(image, 1.25), fn.brightness(image, brightness=1.25),
    turned(image), fn.flip(image, horizontal=1, vertical=1),
    window(image, 1, 2, size=[2, 1]), image[1:3, 2:3],
    swapped(image), fn.color_space_conversion(image, image_type=types.RGB, output_type=types.BGR)))"),
                     photographs());
  for (size_t k : {0U, 2U, 4U, 6U}) expect_near(outputs, k, 0);
}

// exp(-x²/2σ²) over a 3x3 window, and the second derivative of a window of 3, against the filters.
TEST(PixelFunctions, EqualFilters) {
  const Outputs outputs = run_everywhere(
      pipeline(
          R"(
@galatea.pixel(border="reflect_101", dtype=types.FLOAT)
def blurred(image, sigma):
    weights = [math.exp(-k * k / (2 * sigma * sigma)) for k in range(-1, 2)]
    total = sum(weights)
    def at(y, x, c):
        def row(j):
            return galatea.sum(range(-1, 2), lambda i: weights[i + 1] / total * image[y + j, x + i, c])
        return galatea.sum(range(-1, 2), lambda j: weights[j + 1] / total * row(j))
    return at

@galatea.pixel(border="reflect_101", dtype=types.FLOAT)
def edges(image):
    smooth, second = [1, 2, 1], [1, -2, 1]
    def at(y, x, c):
        def weight(j, i):
            return smooth[j + 1] * second[i + 1] + second[j + 1] * smooth[i + 1]
        window = [(j, i) for j in range(-1, 2) for i in range(-1, 2)]
        return galatea.sum(window, lambda at: weight(*at) * image[y + at[0], x + at[1], c])
    return at
)",
          R"(return (blurred(image, 0.8), fn.gaussian_blur(image, window_size=3, sigma=0.8, dtype=types.FLOAT),
    edges(image), fn.laplacian(image, window_size=3, dtype=types.FLOAT)))"),
      photographs());
  expect_near(outputs, 0, 1e-3);
  expect_near(outputs, 2, 1e-3);
}

TEST(PixelFunctions, StandInArms) {
  const std::string functions = R"(
@galatea.pixel
def darker(image, by):
    return lambda y, x, c: image[y, x, c] - by if image[y, x, c] > by else 0
)";
  const Outputs outputs = run_everywhere(pipeline(functions, R"(mean = fn.reductions.mean(image)
if mean > 127.0:
    by, image = 40, fn.flip(image)
else:
    by = 20
if image.shape()[0] > 5:
    out = darker(image, by)
else:
    out = darker(darker(image, 10), mean / 4.0)
return out, image, by, mean)"),
                                         photographs());
  ASSERT_EQ(outputs.size(), 4U);
  for (size_t sample = 0; sample < 3; ++sample) {
    const Array &out = outputs[0][sample], &image = outputs[1][sample];
    const double by = outputs[2][sample].values[0], mean = outputs[3][sample].values[0];
    for (size_t n = 0; n < out.values.size(); ++n) {
      auto darker = [](double v, double less) { return v > less ? v - less : 0; };
      const double expected = image.extents[0] > 5
                                  ? darker(image.values[n], by)
                                  : std::nearbyint(darker(darker(image.values[n], 10), mean / 4));
      ASSERT_NEAR(out.values[n], expected, 1e-3) << "sample " << sample << ", element " << n;
    }
  }
}

// Values that are used twice, sixty times over: to walk every way to the first would take for ever.
TEST(PixelFunctions, SharedValuesAreOne) {
  const std::string functions = R"(
@galatea.pixel(dtype=types.FLOAT)
def halves(image):
    def at(y, x, c):
        t = image[y, x, c] * 1.0
        for i in range(60):
            t = 0.5 * t + t * 0.5
        return t
    return at

@galatea.pixel
def chosen(image):
    def at(y, x, c):
        t = image[y, x, c]
        for i in range(60):
            t = t if x > i else round(t * 1.0)
        return t
    return at
)";
  const Outputs outputs = run_everywhere(pipeline(functions, "return halves(image), chosen(image), image"),
                                         {{"image", {random_array(DType::kU8, {4, 5, 3}, 1)}}});
  EXPECT_EQ(outputs[0][0].values, outputs[2][0].values);
  EXPECT_EQ(outputs[1][0].values, outputs[2][0].values);
}

/// Where an element is read depends, twice each time, on an element that was read before.
std::string wandering(int rounds) {
  const std::string function =
      "@galatea.pixel\n"
      "def wander(image):\n"
      "    def at(y, x, c):\n"
      "        t = image[y, x, c]\n"
      "        for i in range(" +
      std::to_string(rounds) +
      "):\n"
      "            t = image[y + t % 3 - 1, x + t % 5 - 2, c]\n"
      "        return t\n"
      "    return at\n";
  return pipeline(function, "return wander(image), image");
}

TEST(PixelFunctions, ReadsLeadToReads) {
  constexpr int kRounds = 3, kHeight = 6, kWidth = 7;
  const Feed feed = {{"image", {random_array(DType::kU8, {kHeight, kWidth, 3}, 7)}}};
  const Outputs outputs = run_everywhere(wandering(kRounds), feed);
  const std::vector<double>& image = outputs[1][0].values;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      for (int c = 0; c < 3; ++c) {
        const auto read = [&](int row, int column) {
          row = std::clamp(row, 0, kHeight - 1), column = std::clamp(column, 0, kWidth - 1);
          return static_cast<int>(image[static_cast<size_t>((row * kWidth + column) * 3 + c)]);
        };
        int t = read(y, x);
        for (int i = 0; i < kRounds; ++i) t = read(y + t % 3 - 1, x + t % 5 - 2);
        EXPECT_EQ(outputs[0][0].values[static_cast<size_t>((y * kWidth + x) * 3 + c)], t)
            << y << ", " << x << ", " << c;
      }
  // There are 2^30 ways to the first read.
  EXPECT_EQ(testing::failure_of(wandering(30), feed), "");
}

TEST(PixelFunctions, EmptyImages) {
  const std::string functions = R"(
@galatea.pixel
def shifted(image):
    return lambda y, x, c: image[y - 1, x + 1, c] + image.bilinear(y + 0.5, x, c)
)";
  const Feed feed = {
      {"image", {random_array(DType::kU8, {0, 5, 3}, 1), random_array(DType::kU8, {5, 0, 3}, 1)}}};
  const Outputs outputs = run_everywhere(
      pipeline(functions, "return shifted(image), shifted(image, border=\"constant\", fill=3, size=[2, 2])"),
      feed);
  EXPECT_EQ(outputs[0][0].extents, (std::vector<int64_t>{0, 5, 3}));
  EXPECT_EQ(outputs[0][1].extents, (std::vector<int64_t>{5, 0, 3}));
  EXPECT_EQ(outputs[1][0].values, std::vector<double>(12, 6));
  EXPECT_NE(
      testing::failure_of(pipeline(functions, "return shifted(image, size=[2, 2])"), feed).find("no edge"),
      std::string::npos);
}

/// The columns of an image without rows are as many as the result's, and lie nowhere.
TEST(PixelFunctions, RowsThatAreNotThereAreNotRead) {
  const std::string functions = R"(
@galatea.pixel(border="constant", fill=3, size=[4, 300])
def shifted(image):
    return lambda y, x, c: image[y - 1, x, c] + 2 * image[y + 1, x, c]
)";
  const std::string body =
      "columns = fn.slice(image, 0, 300, axes=[1])\n"
      "return shifted(columns), shifted(columns, border=\"constant\", size=[2, 300]), "
      "shifted(columns + 1, dtype=types.INT32)";
  const Feed feed = {
      {"image", {random_array(DType::kU8, {0, 300, 3}, 1), random_array(DType::kU8, {2, 300, 3}, 1)}}};
  const Outputs outputs = run_everywhere(pipeline(functions, body), feed);
  EXPECT_EQ(outputs[0][0].values, std::vector<double>(4 * 300 * 3, 9));
  EXPECT_EQ(outputs[1][0].values, std::vector<double>(2 * 300 * 3, 9));
  EXPECT_EQ(outputs[2][0].values, std::vector<double>(4 * 300 * 3, 9));
  EXPECT_NE(outputs[0][1].values, std::vector<double>(4 * 300 * 3, 9));
}

TEST(PixelFunctions, AnIntegerDivisionByZeroIsTheSamplesError) {
  const std::string functions = R"(
@galatea.pixel
def quotient(image):
    return lambda y, x, c: 1000 // (image[y, x, c] % 2)

@galatea.pixel(dtype=types.INT32)
def guarded(image):
    def at(y, x, c):
        odd = image[y, x, c] % 2
        if odd == 0:
            return -1
        return 1000 // odd
    return at
)";
  EXPECT_NE(testing::failure_of(pipeline(functions, "return quotient(image)"), photographs()).find("by zero"),
            std::string::npos);
  const Outputs outputs = run_everywhere(pipeline(functions, "return guarded(image), image"), photographs());
  for (size_t n = 0; n < outputs[0][0].values.size(); ++n)
    ASSERT_EQ(outputs[0][0].values[n], std::fmod(outputs[1][0].values[n], 2) == 0 ? -1 : 1000);
}

// A mirror of the left edge past the image, any distance away.
TEST(PixelFunctions, FarBorders) {
  const Outputs outputs = run_everywhere(pipeline(R"(
@galatea.pixel(border="reflect_101")
def far(image):
    return lambda y, x, c: image[-y, 3 * x - 301, c]
)",
                                                  "return far(image), image"),
                                         photographs());
  for (size_t sample = 0; sample < 3; ++sample) {
    const Array &out = outputs[0][sample], &in = outputs[1][sample];
    const int64_t w = in.extents[1];
    for (int64_t n = 0; n < static_cast<int64_t>(out.values.size()); ++n) {
      const int64_t y = n / 3 / w, period = 2 * (w - 1);
      int64_t x = (((3 * (n / 3 % w) - 301) % period) + period) % period;
      x = std::min(x, period - x);
      ASSERT_EQ(out.values[static_cast<size_t>(n)], in.values[static_cast<size_t>((y * w + x) * 3 + n % 3)]);
    }
  }
}

// ---- passes and plan

std::string after_passes(const std::string& text) {
  SourceMap sources;
  auto graph = testing::stage(text, sources);
  if (!graph) return {};
  CompileOptions options;
  options.registry = &testing::product().registry;
  CompileReport report;
  auto program = compile(*graph, sources, options, &report);
  EXPECT_TRUE(program) << program.error().message();
  std::string kernels;
  for (const KernelReport& kernel : report.kernels) kernels += "kernel " + kernel.name + "\n";
  return (report.graph ? ir::to_text(*report.graph) : "") + kernels;
}

std::string decoding(const std::string& lines) {
  return std::string(kImport) + R"(
@galatea.pixel
def window(image, top):
    return lambda y, x, c: image[y + top, x + 7, c] + image[y + top + 3, x, c]

@pipeline_def(batch_size=8)
def p():
    encoded, label = fn.readers.file(file_root=")" +
         testing::build_folder("/samples") + "\")\n    image = fn.decoders.image(encoded)\n" + lines;
}

TEST(PixelFunctions, ImagesAreDecodedNoFurtherThanTheyAreRead) {
  const std::string text = after_passes(decoding("    return window(image, 5, size=[10, 20])\n"));
  EXPECT_NE(text.find("region_from"), std::string::npos) << text;
}

TEST(PixelFunctions, NeighboursShareTheirKernel) {
  const std::string text = after_passes(
      decoding("    image = fn.resize(image, size=[40, 50])\n    image = window(image, 2)\n"
               "    return fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout=\"CHW\")\n"));
  EXPECT_NE(text.find("kernel resize+window+crop_mirror_normalize\n"), std::string::npos) << text;
}

// What is decoded in part gives the values of the whole.
TEST(PixelFunctions, RegionsGiveTheSameValues) {
  const std::string lines = "    part = window(image, 5, size=[10, 20])\n";
  const Outputs alone = run_everywhere(decoding(lines + "    return part\n"), {});
  const Outputs beside = run_everywhere(decoding(lines + "    return part, image\n"), {});
  ASSERT_FALSE(alone.empty() || beside.empty());
  EXPECT_TRUE(alone[0] == beside[0]);
}

TEST(PixelFunctions, EqualCallsAreComputedOnce) {
  const std::string text = after_passes(decoding("    return window(image, 5), window(image, 5)\n"));
  EXPECT_EQ(text.find("pixel("), text.rfind("pixel(")) << text;
}

uint64_t kernel_of(const std::string& text) {
  SourceMap sources;
  auto graph = testing::stage(text, sources);
  if (!graph) return 0;
  CompileOptions options;
  options.registry = &testing::product().registry;
  CompileReport report;
  auto program = compile(*graph, sources, options, &report);
  EXPECT_TRUE(program && report.kernels.size() == 1);
  return report.kernels.empty() ? 0 : kernel::hash_of(report.kernels[0].kernel);
}

TEST(PixelFunctions, NumbersAreParametersOfTheKernel) {
  auto text = [](const std::string& a, const std::string& b) {
    return pipeline("@galatea.pixel\ndef f(image):\n    return lambda y, x, c: " + a +
                        " * image[y, x, c] + (x if y > " + b + " else c)\n",
                    "return f(image)");
  };
  EXPECT_EQ(kernel_of(text("0.7", "17")), kernel_of(text("1.3", "99")));
  EXPECT_NE(kernel_of(text("0.7", "17")), kernel_of(text("0.7 * x", "17")));
}

// A graph may come from a file: whatever stands in the expression is checked.
TEST(PixelFunctions, ForeignExpressionsAreChecked) {
  auto failure = [](const std::string& body, const std::string& more = "") {
    SourceMap sources;
    const std::string text =
        "pipeline @p(batch_size=1, num_threads=1, seed=1, prefetch_queue_depth=2, outputs=[\"o\"]) {\n^0:\n"
        "  %i = external_source() {dtype=u8, layout=\"HWC\"} : u8[?,?,?] HWC name=\"i\"\n"
        "  %o = pixel(%i) {function=\"f\", rank=3, like=0, body=\"" +
        body + "\"" + more + "} : u8[?,?,?] HWC\n  return %o\n}\n";
    auto graph = ir::read_graph(text, sources, testing::product().registry);
    return graph ? std::string() : graph.error().message();
  };
  EXPECT_EQ(failure("load(in0:u8 clamp, axis0, axis1, axis2)"), "");
  EXPECT_EQ(failure("symbol.extent(0, 2):i64"), "");
  for (const char* body : {"",
                           "axis3",
                           "load(in0:u8, axis0, axis1, axis2)",
                           "load(in1:u8 clamp, axis0, axis1, axis2)",
                           "load(in0:u8 clamp, axis0, axis1)",
                           "load(in0:f32 clamp, axis0, axis1, axis2)",
                           "load(stage0:u8 clamp, axis0, axis1, axis2)",
                           "p0:f32",
                           "v0:f32",
                           "tap",
                           "acc:f32",
                           "raxis0",
                           "symbol.extent(0, 3):i64",
                           "symbol.extent(1, 0):i64",
                           "symbol.element(0, 0):u8",
                           "symbol.node_key(0, 0):u64",
                           "load_flat(b0:u8, axis0)",
                           "add(1:f32, 1:i32)",
                           "sqrt(axis0)",
                           "add(1:f32"})
    EXPECT_NE(failure(body), "") << body;
  EXPECT_NE(failure("axis0", ", channels=0"), "");
  EXPECT_NE(failure("axis0", ", size=[0.0, 1.0]"), "");
}

}  // namespace
}  // namespace galatea
