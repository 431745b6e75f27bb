// Pixel functions mean what CPython says: it runs the same text, element by element, in double.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "tests/pixel/everywhere.h"

namespace galatea {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Array;
using testing::Feed;
using testing::Outputs;
using testing::random_array;

struct Input {
  std::string name, layout;
  std::vector<Array> samples;
};
struct Case {
  std::string name;
  std::string functions;  ///< of the file
  std::string pipeline;   ///< statements of the pipeline, with a return
  std::vector<Input> inputs;
  double tolerance = 1e-4;  ///< relative to 1 + |value|; integers may also fall to the other side of a tie
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string indented(const std::string& lines) {
  std::string out;
  for (size_t at = 0; at < lines.size();) {
    const size_t end = std::min(lines.find('\n', at), lines.size());
    out += "    " + lines.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

std::string text_of(const Case& c) {
  std::string text = "import galatea\nfrom galatea import fn, math, pipeline_def, types\n\n" + c.functions +
                     "\n@pipeline_def(batch_size=8)\ndef p():\n";
  for (const Input& input : c.inputs)
    text += "    " + input.name + " = fn.external_source(name=\"" + input.name + "\", dtype=types." +
            std::string(types_name(input.samples[0].dtype)) +
            ", ndim=" + std::to_string(input.samples[0].extents.size()) +
            (input.layout.empty() ? "" : ", layout=\"" + input.layout + "\"") + ")\n";
  return text + indented(c.pipeline);
}

json run_python(const Case& c, size_t sample) {
  json asked = {{"text", text_of(c)}, {"inputs", json::object()}};
  for (const Input& input : c.inputs)
    asked["inputs"][input.name] = {{"extents", input.samples[sample].extents},
                                   {"values", input.samples[sample].values},
                                   {"layout", input.layout}};
  // Integers must be integers for Python's //, % and indices.
  for (const Input& input : c.inputs) {
    const Array& array = input.samples[sample];
    if (is_float(array.dtype)) continue;
    json values = json::array();
    for (double v : array.values)
      is_bool(array.dtype) ? values.push_back(v != 0) : values.push_back(static_cast<int64_t>(v));
    asked["inputs"][input.name]["values"] = values;
  }
  const fs::path file =
      fs::path(::testing::TempDir()) / ("galatea_pixel_" + std::to_string(::getpid()) + ".json");
  std::ofstream(file) << json_text(asked);
  const std::string command =
      "python3 '" GALATEA_SOURCE_DIR "/tests/pixel/in_python.py' '" + file.string() + "' 2>&1";
  std::string output;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  char buffer[4096];
  for (size_t size; (size = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, size);
  const int status = pclose(pipe);
  fs::remove(file);
  EXPECT_EQ(status, 0) << output;
  return status == 0 ? parse_json(output) : json();
}

class AgainstPython : public ::testing::TestWithParam<Case> {};

TEST_P(AgainstPython, EqualValues) {
  if (std::system("python3 -c 'import ast' >/dev/null 2>&1") != 0) GTEST_SKIP() << "python3 is not installed";
  const Case& c = GetParam();
  Feed feed;
  for (const Input& input : c.inputs) feed[input.name] = input.samples;
  const Outputs outputs = testing::run_everywhere(text_of(c), feed);
  ASSERT_FALSE(outputs.empty());
  size_t compared = 0;
  for (size_t sample = 0; sample < outputs[0].size(); ++sample) {
    const json expected = run_python(c, sample);
    ASSERT_EQ(expected.size(), outputs.size());
    for (size_t k = 0; k < outputs.size(); ++k) {
      const Array& actual = outputs[k][sample];
      ASSERT_EQ(actual.extents, expected[k]["extents"].get<std::vector<int64_t>>()) << "sample " << sample;
      for (size_t n = 0; n < actual.values.size(); ++n, ++compared) {
        double wanted = expected[k]["values"][n].get<double>();
        const double near = c.tolerance * (1 + std::abs(wanted));
        if (!is_float(actual.dtype)) {
          const double low = cell_to_double(actual.dtype, cell_from_int(actual.dtype, min_int(actual.dtype)));
          const double high =
              cell_to_double(actual.dtype, cell_from_int(actual.dtype, max_int(actual.dtype)));
          const bool tie = std::abs(std::abs(wanted - std::floor(wanted)) - 0.5) < near;
          wanted = std::clamp(wanted, low, high);
          if (!tie) {
            ASSERT_EQ(actual.values[n], std::nearbyint(wanted))
                << "output " << k << ", sample " << sample << ", element " << n;
          } else {
            ASSERT_LE(std::abs(actual.values[n] - wanted), 0.5 + near);
          }
          continue;
        }
        ASSERT_LE(std::abs(actual.values[n] - wanted), near)
            << "output " << k << ", sample " << sample << ", element " << n;
      }
    }
  }
  EXPECT_GT(compared, 20U);
}

/// Ragged images: one larger than a vector, one of a single pixel, one in between.
std::vector<Array> images(DType dtype, uint64_t seed, bool first_channels = false) {
  std::vector<Array> out;
  for (auto [h, w] : {std::pair<int64_t, int64_t>{7, 37}, {1, 1}, {5, 4}})
    out.push_back(random_array(
        dtype, first_channels ? std::vector<int64_t>{3, h, w} : std::vector<int64_t>{h, w, 3}, ++seed));
  return out;
}
std::vector<Array> planes(DType dtype, uint64_t seed) {
  std::vector<Array> out;
  for (auto [h, w] : {std::pair<int64_t, int64_t>{4, 33}, {3, 2}, {1, 9}})
    out.push_back(random_array(dtype, {h, w}, ++seed));
  return out;
}
std::vector<Array> scalars(DType dtype, uint64_t seed) {
  return {random_array(dtype, {}, seed), random_array(dtype, {}, seed + 1),
          random_array(dtype, {}, seed + 2)};
}

std::vector<Case> cases() {
  const Input image{"image", "HWC", images(DType::kU8, 1)};
  const Input real{"real", "HWC", images(DType::kF32, 20)};
  const Input strength{"strength", "", scalars(DType::kF32, 40)};
  std::vector<Case> all;
  all.push_back(
      {"Vignette",
       R"(
@galatea.pixel
def vignette(image, strength):
    def at(y, x, c):
        dy, dx = y / image.height - 0.5, x / image.width - 0.5
        return image[y, x, c] * (1.0 - strength * (dy * dy + dx * dx))
    return at
)",
       "return vignette(image, strength), vignette(real, strength), vignette(image, 0.3, dtype=types.FLOAT)",
       {image, real, strength}});
  const std::string window = R"(
@galatea.pixel
def sharpen(image):
    def at(y, x, c):
        around = galatea.sum(range(-1, 2), lambda j: galatea.sum(range(-1, 2), lambda i: image[y + j, x + i, c]))
        return 10 * image[y, x, c] - around
    return at

@galatea.pixel
def far(image):
    return lambda y, x, c: image[y - 17, 2 * x - 40, c] + image[3 - y, x + 9, 2 - c]
)";
  all.push_back(
      {"WindowsAndBorders",
       window,
       "return (sharpen(image), sharpen(image, border=\"reflect_101\"), sharpen(image, fill=9), "
       "far(image, dtype=types.INT16), far(real, border=\"reflect_101\"), far(real, border=\"constant\"))",
       {image, real}});
  all.push_back({"Bilinear",
                 R"(
@galatea.pixel
def turn(image, angle):
    s, k = 0.6, 0.8
    def at(y, x, c):
        dy, dx = y - image.height / 2, x - image.width / 2
        return image.bilinear(image.height / 2 + k * dy - s * dx * angle, image.width / 2 + s * dy + k * dx, c)
    return at
)",
                 "return turn(image, strength), turn(real, strength, border=\"reflect_101\"), turn(image, "
                 "1.0, fill=100)",
                 {image, real, strength}});
  all.push_back(
      {"SeveralImages",
       R"(
@galatea.pixel
def paste(image, mask, table):
    def at(y, x, c):
        if mask[y, x] > 100:
            return image[y, x, c]
        value = image[y, x, 0] % 256 // 64
        if value == 0 or (x % 5 == 2 and y > 0):
            return table[value] * 20.0
        elif value == 1:
            shade = table[1]
        else:
            shade = 0.25
        return shade * (image[y, x, c] % 1000)
    return at
)",
       "return paste(image, mask, table), paste(mask=mask, image=real, table=table, fill=-3)",
       {image, Input{"real", "HWC", images(DType::kI32, 3)}, Input{"mask", "HW", planes(DType::kU8, 60)},
        Input{"table",
              "",
              {random_array(DType::kF32, {4}, 5), random_array(DType::kF32, {2}, 6),
               random_array(DType::kF32, {9}, 7)}}}});
  all.push_back({"Arithmetic",
                 R"(
def wave(t):
    return math.sin(t) if t < 3.0 else math.cos(t) - 1

@galatea.pixel(dtype=types.FLOAT)
def mixed(image, strength):
    def at(y, x, c):
        v = image[y, x, c]
        a = wave(v / 50) + math.exp(-abs(v - 128) / 40) * max(v, 30 * c) + min(x, y, 3)
        b = int(v / 7.0) + round(v / 3) + float(v > 100) + bool(v & 4) + (v >> 2) + (v ^ 21) + (v | 3) + -v
        k = 100 // (v + 1) if v % 2 == 0 else (v * v) // 3
        chosen = 1 if 50 <= v < 200 and not v == 77 else 2
        return a + b + k * chosen + math.clamp(v * strength, -5.0, 60.0) + math.sqrt(v) + math.atan2(y, x + 1) + [0.5, v, 3][c]
    return at
)",
                 "return mixed(image, strength)",
                 {image, strength}});
  all.push_back({"OtherShapes",
                 R"(
@galatea.pixel(size=[6, 40], channels=2, dtype=types.INT32)
def checkers(side):
    return lambda y, x, c: 255 if (x // side + y // side) % 2 == c else 0

@galatea.pixel
def luma(image):
    return lambda y, x: 0.299 * image[y, x, 0] + 0.587 * image[y, x, 1] + 0.114 * image[y, x, 2]

@galatea.pixel
def spread(plane):
    return lambda y, x, c: plane[y, x] * (c + 1)

@galatea.pixel
def half(image):
    return lambda y, x, c: galatea.sum([0, 1], lambda j: image[2 * y + j, 2 * x, c] + image[2 * y + j, 2 * x + 1, c]) / 4
)",
                 "return checkers(3), luma(image), spread(plane, channels=4), half(image, size=[3, 5]), "
                 "luma(planar), half(planar)",
                 {image, Input{"plane", "HW", planes(DType::kU8, 70)},
                  Input{"planar", "CHW", images(DType::kU8, 80, true)}}});
  all.push_back(
      {"Types",
       R"(
@galatea.pixel
def blend(a, b):
    return lambda y, x, c: (a[y, x, c] + b[y, x, c]) / 2

@galatea.pixel
def chosen(a, b):
    return lambda y, x, c: a[y, x, c] if b[y, x, c] else 7
)",
       "return blend(s8, u16), blend(u16, s8), blend(f16, f64), blend(f64, s32), chosen(s32, flag), "
       "blend(s8, s32, dtype=types.INT16)",
       {Input{"s8", "HWC", images(DType::kI8, 101)}, Input{"u16", "HWC", images(DType::kU16, 102)},
        Input{"f16", "HWC", images(DType::kF16, 103)}, Input{"f64", "HWC", images(DType::kF64, 104)},
        Input{"s32", "HWC", images(DType::kI16, 105)}, Input{"flag", "HWC", images(DType::kBool, 106)}},
       1e-3});
  all.push_back({"FromOutside",
                 R"(
def offsets(n):
    return [(j, i) for j in range(n) for i in range(n) if (j + i) % 2 == 0]
)",
                 R"(gain = strength * 0.5 + 1.0
weights = {"near": 0.75, "far": 0.25}
@galatea.pixel
def local(image, *, scale=1.0):
    h = image.height
    def at(y, x, c):
        total = 0.0
        for j, i in offsets(3):
            weight = weights["near" if j == i else "far"]
            if y + j >= h:
                continue
            total += weight * image[y + j, x + i, c]
        return total * gain * scale
    return at
return local(image), local(real, scale=0.5))",
                 {image, real, strength}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Pixel, AgainstPython, ::testing::ValuesIn(cases()),
                         [](const auto& suite) { return suite.param.name; });

}  // namespace
}  // namespace galatea
