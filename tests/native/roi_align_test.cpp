// RoIAlign of boxes that each have their own number of samples: bins of linear images, of which the mean of samples
// at regular places is the middle; what boxes reach, by their corners.
#include "stdlib_ops/native/roi_align.h"
#include "tests/native/plain_call.h"

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace galatea::native {
namespace {

constexpr int64_t kHeight = 40, kWidth = 50;

double linear(double x, double y, double channel) { return (3 * x - 2 * y + 90) * (1 + channel); }

/// Rows of `rest` elements with one element of another value behind each.
template <typename T>
struct Padded {
  Padded(DType dtype, std::vector<int64_t> extents) {
    tensor.set_dense(dtype, extents);
    const int64_t row = extents.back() + 1;
    int64_t size = row;
    for (int d = tensor.ndim - 2; d >= 0; --d) {
      tensor.strides[d] = size;
      size *= extents[static_cast<size_t>(d)];
    }
    memory.assign(static_cast<size_t>(size), T(77));
    tensor.data = reinterpret_cast<uint8_t*>(memory.data());
  }
  std::vector<T> memory;
  runtime::Tensor tensor;
};

std::string config_of(int rows, int columns, int ratio, bool aligned, const std::string& layout = "") {
  return "{\"rows\": " + std::to_string(rows) + ", \"columns\": " + std::to_string(columns) +
         ", \"sampling_ratio\": " + std::to_string(ratio) + ", \"aligned\": " + (aligned ? "true" : "false") +
         ", \"layout\": \"" + layout + "\"}";
}

struct BoxCase {
  std::string layout;
  int channels = 3;
  bool aligned = false;
  int ratio = -1;
  int64_t first_row = 0, first_column = 0;  ///< of the window
  size_t frames_at = 0;
};

/// Every bin against the middle of the bin, for frames of which the second is 100 more.
template <typename In, typename Out>
void expect_middles(const BoxCase& c, DType in, DType out) {
  // Frames may stand anywhere; in the output they stand in front.
  std::string letters = c.layout;
  letters.insert(c.frames_at, "F");
  std::vector<int64_t> extents;
  const auto extent_of = [&](char letter, int64_t h, int64_t w) {
    return letter == 'F' ? 2 : letter == 'H' ? h : letter == 'W' ? w : c.channels;
  };
  for (const char letter : letters)
    extents.push_back(extent_of(letter, kHeight - c.first_row, kWidth - c.first_column));
  Padded<In> window(in, extents);
  std::array<int64_t, 128> at{};
  const auto each = [&](const std::vector<int64_t>& of, const std::string& names, const auto& body) {
    int64_t volume = 1;
    for (const int64_t extent : of) volume *= extent;
    for (int64_t n = 0; n < volume; ++n) {
      int64_t rest = n;
      at.fill(0);
      for (size_t d = of.size(); d-- > 0; rest /= of[d]) at[static_cast<size_t>(names[d])] = rest % of[d];
      body();
    }
  };
  const auto offset_in = [&](const runtime::Tensor& tensor, const std::string& names) {
    int64_t offset = 0;
    for (size_t d = 0; d < names.size(); ++d) offset += at[static_cast<size_t>(names[d])] * tensor.strides[d];
    return static_cast<size_t>(offset);
  };
  each(extents, letters, [&] {
    window.memory[offset_in(window.tensor, letters)] =
        static_cast<In>(linear(static_cast<double>(at['W'] + c.first_column),
                               static_cast<double>(at['H'] + c.first_row), static_cast<double>(at['C'])) +
                        100.0 * static_cast<double>(at['F']));
  });
  // The last is larger than the first by far, and so is its number of samples.
  const std::vector<float> corners = {12, 15, 14, 16.5, 11, 13, 48, 38, 11, 13.5, 30.25, 22};
  Padded<float> boxes(DType::kF32, {3, 4});
  for (size_t n = 0; n < corners.size(); ++n) boxes.memory[n / 4 * 5 + n % 4] = corners[n];
  const int rows = 2, columns = 3;
  std::string named = "FN" + c.layout;
  std::vector<int64_t> made;
  for (const char letter : named) made.push_back(letter == 'N' ? 3 : extent_of(letter, rows, columns));
  runtime::Tensor output;
  output.set_dense(out, made);
  std::vector<Out> memory(static_cast<size_t>(output.volume()));
  output.data = reinterpret_cast<uint8_t*>(memory.data());
  const runtime::NativeFunction function = roi_align_functions()[1];
  const auto state = function.prepare(config_of(rows, columns, c.ratio, c.aligned, letters)).value();
  const std::array<runtime::Tensor, 2> inputs = {window.tensor, boxes.tensor};
  const std::array<Cell, 5> scalars = {
      cell_from_double(DType::kF32, 1), cell_from_int(DType::kI64, c.first_row),
      cell_from_int(DType::kI64, c.first_column), cell_from_int(DType::kI64, kHeight),
      cell_from_int(DType::kI64, kWidth)};
  testing::PlainCall context;
  context.inputs = inputs;
  context.scalars = scalars;
  context.output = &output;
  context.state = state.get();
  ASSERT_TRUE(function.call(context));
  each(made, named, [&] {
    const size_t box = static_cast<size_t>(at['N']) * 4;
    const auto middle = [&](size_t start, int64_t bin, int bins) {
      const double length = static_cast<double>(corners[box + start + 2] - corners[box + start]);
      return static_cast<double>(corners[box + start]) + (static_cast<double>(bin) + 0.5) * length / bins -
             (c.aligned ? 0.5 : 0);
    };
    const double expected =
        linear(middle(0, at['W'], columns), middle(1, at['H'], rows), static_cast<double>(at['C'])) +
        100.0 * static_cast<double>(at['F']);
    const auto got = static_cast<double>(memory[offset_in(output, named)]);
    // Integers are rounded, whatever the noise of sums.
    constexpr double kTolerance = std::is_floating_point_v<Out> ? 2e-3 : 0.502;
    EXPECT_NEAR(got, expected, kTolerance) << c.layout << " " << c.ratio;
  });
}

TEST(RoiAlign, ABinOfALinearImageIsItsMiddle) {
  for (const std::string layout : {"HWC", "CHW", "HW"})
    for (const bool aligned : {false, true})
      for (const int ratio : {-1, 0, 5})
        for (const int channels : {1, 2, 3, 4, 7}) {
          if (layout == "HW" && channels > 1) continue;
          expect_middles<float, float>({layout, channels, aligned, ratio}, DType::kF32, DType::kF32);
        }
  expect_middles<float, float>({"HWC", 3, true, -1, 8, 5}, DType::kF32, DType::kF32);
  expect_middles<float, float>({"HWC", 3, true, -1, 0, 0, 2}, DType::kF32, DType::kF32);
  expect_middles<float, float>({"CHW", 2, true, 7, 8, 5, 1}, DType::kF32, DType::kF32);
  expect_middles<uint16_t, uint16_t>({"CHW", 2, true, -1, 8, 5}, DType::kU16, DType::kU16);
  expect_middles<int16_t, float>({"HWC", 4, false, -1}, DType::kI16, DType::kF32);
}

struct Reached {
  std::string error;
  std::vector<int64_t> numbers;
};
Reached reach(const std::vector<float>& corners, const std::string& config, double scale = 1) {
  const auto n = static_cast<int64_t>(corners.size() / 4);
  Padded<float> boxes(DType::kF32, {n, 4});
  for (size_t k = 0; k < corners.size(); ++k) boxes.memory[k / 4 * 5 + k % 4] = corners[k];
  const runtime::NativeFunction function = roi_align_functions()[0];
  const auto state = function.prepare(config).value();
  const std::array<runtime::Tensor, 1> inputs = {boxes.tensor};
  const std::array<Cell, 1> scalars = {cell_from_double(DType::kF32, scale)};
  std::array<Cell, 4> results{};
  testing::PlainCall context;
  context.inputs = inputs;
  context.scalars = scalars;
  context.scalar_results = results;
  context.state = state.get();
  Reached out;
  if (const Status status = function.call(context); !status) {
    out.error = status.error().message();
    return out;
  }
  for (const Cell& cell : results) out.numbers.push_back(cell_to_int(DType::kI64, cell));
  return out;
}

TEST(RoiAlign, ReachesTheCornersAndLittleMore) {
  const std::vector<int64_t> found =
      reach({10, 20, 30.5, 40, 50, 60, 45, 55}, config_of(7, 7, 2, true), 0.5).numbers;
  // Rows 9.5 … 29.5, columns 4.5 … 24.5; the second box ends before it starts.
  ASSERT_EQ(found.size(), 4U);
  const double ends[] = {9.5, 29.5, 4.5, 24.5};
  for (size_t k = 0; k < 4; k += 2) {
    EXPECT_LE(static_cast<double>(found[k]), ends[k]);
    EXPECT_GE(static_cast<double>(found[k]), ends[k] - 3);
    EXPECT_GE(static_cast<double>(found[k + 1]), std::floor(ends[k + 1]) + 2)
        << "two pixels of the last sample";
    EXPECT_LE(static_cast<double>(found[k + 1]), ends[k + 1] + 5);
  }
  EXPECT_EQ(reach({}, config_of(7, 7, -1, false)).numbers, (std::vector<int64_t>{0, 1, 0, 1}));
}

TEST(RoiAlign, RefusesWhatIsNoBoxOfAnImage) {
  const auto says = [](const Reached& reached, const char* words) {
    return reached.error.find(words) != std::string::npos;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(
      says(reach({0, 0, 1, 1, 0, nan, 1, 1}, config_of(7, 7, 2, true)), "box 1 reaches to nan of rows"));
  EXPECT_TRUE(says(reach({0, 0, INFINITY, 1}, config_of(7, 7, 2, true)), "box 0 reaches to inf of columns"));
  EXPECT_TRUE(says(reach({0, 0, 2e7F, 1}, config_of(7, 7, 2, true)), "reaches to 20000000"));
  EXPECT_TRUE(
      says(reach({0, 0, 9000, 9000}, config_of(1, 1, -1, true)), "a bin of box 0 has 81000000 samples"));
  EXPECT_TRUE(reach({0, 0, 9000, 9000}, config_of(2, 2, -1, true)).error.empty());
}

}  // namespace
}  // namespace galatea::native
