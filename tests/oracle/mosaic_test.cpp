// galatea.mosaic in whole pipelines: canvases, boxes and labels by the arithmetic of their definition, done over from
// what the canvas shows; and how the draws are distributed (chi-square at the level 0.001).
//
// Every pixel of a picture tells its sample and its place, so that a canvas tells who met where.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "tests/oracle/run_case.h"
#include "tests/support/statistics.h"

namespace galatea::testing {
namespace {

constexpr int64_t kHeight = 40, kWidth = 52, kFill = -7;

template <typename T>
RecordedArray array_of(const std::string& dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  RecordedArray out{dtype, std::move(shape), std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
  return out;
}

struct Sample {
  int64_t height, width;
  std::vector<std::array<float, 4>> boxes;  ///< left, top, right, bottom in pixels
  std::vector<int32_t> labels;
};

/// Ragged, one of a single pixel, one without boxes; boxes that reach beyond their picture, and one without an area.
std::vector<Sample> samples() {
  std::vector<Sample> out;
  for (int64_t n = 0; n < 6; ++n) {
    Sample sample{n == 2 ? 1 : 9 + 4 * n, n == 2 ? 1 : 33 - 3 * n, {}, {}};
    for (int64_t k = 0; k < (n == 4 ? 0 : n + 1); ++k) {
      const auto x = static_cast<float>(3 * k), y = static_cast<float>(2 * k);
      sample.boxes.push_back({x, y, x + static_cast<float>(k == 2 ? 0 : 7 + n), y + 6.5f});
      sample.labels.push_back(static_cast<int32_t>(100 * n + k));
    }
    out.push_back(std::move(sample));
  }
  return out;
}

int32_t pixel_of(int64_t sample, int64_t y, int64_t x) {
  return static_cast<int32_t>(sample * 10000 + y * 100 + x);
}

/// A pipeline with the samples as one batch. With `relative` boxes are x, y, width, height as fractions.
OracleCase mosaic_case(const std::string& more, bool relative) {
  OracleCase out;
  out.name = "mosaic";
  const std::vector<Sample> all = samples();
  out.text = fmt::format(
      "from galatea import fn, pipeline_def, types\n\n\n@pipeline_def(batch_size={}, num_threads=1, seed=11)\ndef p():\n"
      "    image = fn.external_source(name=\"image\", dtype=types.INT32, ndim=3, layout=\"HWC\")\n"
      "    boxes = fn.external_source(name=\"boxes\", dtype=types.FLOAT, ndim=2)\n"
      "    labels = fn.external_source(name=\"labels\", dtype=types.INT32, ndim=1)\n"
      "    a, b, c = fn.galatea.mosaic(image, boxes, labels, size=[{}, {}], fill_value={}{}{})\n    return a, b, c\n",
      all.size(), kHeight, kWidth, kFill, relative ? ", bbox_layout=\"xyWH\"" : ", bbox_normalized=False",
      more);
  for (size_t n = 0; n < all.size(); ++n) {
    const Sample& sample = all[n];
    std::vector<int32_t> pixels;
    for (int64_t y = 0; y < sample.height; ++y)
      for (int64_t x = 0; x < sample.width; ++x) pixels.push_back(pixel_of(static_cast<int64_t>(n), y, x));
    out.inputs["image"].push_back(array_of("int32", {sample.height, sample.width, 1}, pixels));
    std::vector<float> numbers;
    const auto w = static_cast<float>(sample.width), h = static_cast<float>(sample.height);
    for (const auto& [left, top, right, bottom] : sample.boxes) {
      const std::array<float, 4> row =
          relative ? std::array{left / w, top / h, (right - left) / w, (bottom - top) / h}
                   : std::array{left, top, right, bottom};
      numbers.insert(numbers.end(), row.begin(), row.end());
    }
    const auto count = static_cast<int64_t>(sample.boxes.size());
    out.inputs["boxes"].push_back(array_of("float32", {count, 4}, numbers));
    out.inputs["labels"].push_back(array_of("int32", {count}, sample.labels));
  }
  return out;
}

struct Meeting {
  int64_t row = 0, column = 0;
  std::array<size_t, 4> who{};
};

/// The canvas of pictures that meet so.
std::vector<int32_t> canvas_of(const Meeting& m) {
  static const std::vector<Sample> all = samples();
  std::vector<int32_t> out;
  for (int64_t y = 0; y < kHeight; ++y)
    for (int64_t x = 0; x < kWidth; ++x) {
      const size_t who = m.who[(y < m.row ? 0u : 2u) + (x < m.column ? 0u : 1u)];
      const int64_t i = y < m.row ? y - m.row + all[who].height : y - m.row;
      const int64_t j = x < m.column ? x - m.column + all[who].width : x - m.column;
      const bool inside = i >= 0 && i < all[who].height && j >= 0 && j < all[who].width;
      out.push_back(inside ? pixel_of(static_cast<int64_t>(who), i, j) : static_cast<int32_t>(kFill));
    }
  return out;
}

/// Who met where, by the pixels at the four corners; nothing where no meeting makes this canvas.
std::optional<Meeting> meeting_of(const std::vector<int32_t>& canvas) {
  const auto sample_at = [&](int64_t y, int64_t x) {
    return static_cast<size_t>(canvas[static_cast<size_t>(y * kWidth + x)] / 10000);
  };
  const auto place_at = [&](int64_t y, int64_t x) {
    return canvas[static_cast<size_t>(y * kWidth + x)] % 10000;
  };
  for (int64_t y = 1; y < kHeight; ++y)
    for (int64_t x = 1; x < kWidth; ++x) {
      // The last picture begins here.
      if (canvas[static_cast<size_t>(y * kWidth + x)] == kFill || place_at(y, x) != 0) continue;
      const Meeting meeting{
          y, x, {sample_at(y - 1, x - 1), sample_at(y - 1, x), sample_at(y, x - 1), sample_at(y, x)}};
      if (std::ranges::any_of(meeting.who, [](size_t who) { return who >= samples().size(); })) continue;
      if (canvas_of(meeting) == canvas) return meeting;
    }
  return std::nullopt;
}

std::vector<int32_t> integers_of(const RecordedArray& array) {
  std::vector<int32_t> out;
  for (int64_t n = 0; n < array.num_elements(); ++n) out.push_back(static_cast<int32_t>(array.element(n)));
  return out;
}

/// Boxes and labels of the mosaic, by their definition.
void expect_boxes(const Meeting& m, const RecordedArray& boxes, const RecordedArray& labels, double least,
                  bool relative) {
  const std::vector<Sample> all = samples();
  std::vector<std::array<double, 4>> wanted;
  std::vector<int32_t> numbers;
  for (size_t k = 0; k < 4; ++k) {
    const Sample& sample = all[m.who[k]];
    const auto dx = static_cast<double>(k % 2 == 0 ? m.column - sample.width : m.column);
    const auto dy = static_cast<double>(k < 2 ? m.row - sample.height : m.row);
    for (size_t n = 0; n < sample.boxes.size(); ++n) {
      const auto& [left, top, right, bottom] = sample.boxes[n];
      const std::array<double, 4> clipped = {std::clamp(left + dx, 0.0, static_cast<double>(kWidth)),
                                             std::clamp(top + dy, 0.0, static_cast<double>(kHeight)),
                                             std::clamp(right + dx, 0.0, static_cast<double>(kWidth)),
                                             std::clamp(bottom + dy, 0.0, static_cast<double>(kHeight))};
      const double visible = (clipped[2] - clipped[0]) * (clipped[3] - clipped[1]);
      const double area = static_cast<double>(right - left) * static_cast<double>(bottom - top);
      if (visible <= 0 || visible < least * area) continue;
      wanted.push_back(clipped);
      numbers.push_back(sample.labels[n]);
    }
  }
  EXPECT_EQ(boxes.shape, (std::vector<int64_t>{static_cast<int64_t>(wanted.size()), 4}));
  ASSERT_EQ(integers_of(labels), numbers);
  for (size_t n = 0; n < wanted.size(); ++n)
    for (size_t c = 0; c < 4; ++c) {
      double number = wanted[n][c];
      if (relative)
        number =
            (c < 2 ? number : number - wanted[n][c - 2]) / static_cast<double>(c % 2 == 0 ? kWidth : kHeight);
      EXPECT_NEAR(static_cast<double>(boxes.element(static_cast<int64_t>(4 * n + c))), number, 1e-5);
    }
}

TEST(Mosaic, ShowsFourSamplesAroundAPoint) {
  const int batches = 30;
  const auto count = static_cast<int>(samples().size());
  for (const bool relative : {false, true}) {
    const double least = relative ? 0.3712 : 0;
    const auto got = outputs_of(mosaic_case(relative ? ", min_visible=0.3712" : "", relative), batches);
    ASSERT_TRUE(got) << got.error();
    EXPECT_EQ(got->layouts, (std::vector<std::string>{"HWC", "", ""}));
    std::vector<int> others(5), rows(5), columns(5);
    for (int n = 0; n < batches * count; ++n) {
      const auto at = static_cast<size_t>(n);
      const RecordedArray& canvas = got->samples[0][at];
      ASSERT_EQ(canvas.shape, (std::vector<int64_t>{kHeight, kWidth, 1}));
      const std::optional<Meeting> meeting = meeting_of(integers_of(canvas));
      ASSERT_TRUE(meeting) << n;
      EXPECT_EQ(meeting->who[0], static_cast<size_t>(n % count));
      for (size_t k = 1; k < 4; ++k) {
        ASSERT_NE(meeting->who[k], meeting->who[0]);
        ++others[(meeting->who[k] + samples().size() - meeting->who[0] - 1) % samples().size()];
      }
      // From a quarter to three quarters: 20 rows, and 26 columns, of which the last is left out for equal parts.
      ASSERT_TRUE(meeting->row >= 10 && meeting->row < 30 && meeting->column >= 13 && meeting->column < 39);
      ++rows[static_cast<size_t>((meeting->row - 10) / 4)];
      if (meeting->column < 38) ++columns[static_cast<size_t>((meeting->column - 13) / 5)];
      expect_boxes(*meeting, got->samples[1][at], got->samples[2][at], least, relative);
    }
    // Of four degrees of freedom.
    EXPECT_LT(chi_square(others), 18.47);
    EXPECT_LT(chi_square(rows), 18.47);
    EXPECT_LT(chi_square(columns), 18.47);
  }
}

/// What a sample without company meets is itself.
TEST(Mosaic, OfOneSample) {
  OracleCase alone = mosaic_case(", center_range=[0.5, 0.5]", false);
  alone.text.replace(alone.text.find("batch_size=6"), 12, "batch_size=1");
  for (auto& [name, of_all] : alone.inputs) of_all.resize(1);
  const auto got = outputs_of(alone);
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(integers_of(got->samples[0][0]), canvas_of({20, 26, {0, 0, 0, 0}}));
}

TEST(Mosaic, SaysWhatIsWrong) {
  const auto failure = [](const std::string& more, auto change) {
    OracleCase wrong = mosaic_case(more, false);
    change(wrong);
    const auto got = outputs_of(wrong);
    return got ? std::string("nothing") : got.error();
  };
  const auto as_it_is = [](OracleCase&) {};
  const auto expect = [](const std::string& message, const char* part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(failure(", center_range=[0.75, 0.25]", as_it_is), "center_range is (0.75, 0.25)");
  expect(failure(", center_range=0.5", as_it_is), "center_range has 1 numbers");
  expect(failure(", min_visible=1.5", as_it_is), "min_visible is 1.5");
  expect(failure(", bbox_layout=\"xyz\"", as_it_is), "no layout of boxes");
  expect(failure("", [](OracleCase& c) { c.text.replace(c.text.find("size=[40, 52]"), 13, "size=[40, 0]"); }),
         "size has 0");
  expect(
      failure("", [](OracleCase& c) { c.text.replace(c.text.find("layout=\"HWC\""), 12, "layout=\"XYC\""); }),
      "no axes H and W");
  expect(
      failure("",
              [](OracleCase& c) { c.inputs["boxes"][1] = array_of<float>("float32", {1, 4}, {9, 1, 3, 4}); }),
      "labels for 1 boxes");
  expect(failure("",
                 [](OracleCase& c) {
                   c.inputs["boxes"][1] = array_of<float>("float32", {2, 4}, {0, 0, 3, 4, 9, 1, 3, 4});
                 }),
         "reaches from 9 to 3 along x");
  expect(failure("",
                 [](OracleCase& c) {
                   c.inputs["boxes"][1] = array_of<float>("float32", {2, 3}, {0, 0, 3, 4, 9, 1});
                 }),
         "a box has 4 numbers, not 3");
}

}  // namespace
}  // namespace galatea::testing
