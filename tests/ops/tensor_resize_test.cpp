// tensor_resize and debayer against their definitions, element by element, in double and in integers.
#include <algorithm>
#include <cmath>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Numbers = std::vector<double>;
using Ints = std::vector<int64_t>;

/// A tensor resampled along one axis to n cells by the triangle filter, which widens where the axis shrinks.
Numbers resampled(const Numbers& in, Ints& extents, size_t axis, int64_t n) {
  const int64_t extent = extents[axis];
  int64_t outer = 1, inner = 1;
  for (size_t d = 0; d < axis; ++d) outer *= extents[d];
  for (size_t d = axis + 1; d < extents.size(); ++d) inner *= extents[d];
  const double scale = static_cast<double>(extent) / static_cast<double>(n), radius = std::max(scale, 1.0);
  Numbers out(static_cast<size_t>(outer * n * inner));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t k = 0; k < inner; ++k) {
        const double s = (static_cast<double>(i) + 0.5) * scale;
        double sum = 0, total = 0;
        for (auto p = static_cast<int64_t>(s - radius - 1); p <= static_cast<int64_t>(s + radius + 1); ++p) {
          const double weight = std::max(0.0, 1 - std::abs(static_cast<double>(p) + 0.5 - s) / radius);
          const int64_t at = std::clamp<int64_t>(p, 0, extent - 1);
          sum += weight * in[static_cast<size_t>((o * extent + at) * inner + k)];
          total += weight;
        }
        out[static_cast<size_t>((o * n + i) * inner + k)] = sum / total;
      }
  extents[axis] = n;
  return out;
}

Numbers resampled(const Tensor& in, const Ints& axes, const Ints& sizes) {
  Numbers values = in.numbers();
  Ints extents = in.extents;
  for (size_t a = 0; a < axes.size(); ++a)
    values = resampled(values, extents, static_cast<size_t>(axes[a]), sizes[a]);
  return values;
}

Numbers doubles(const Ints& from) { return {from.begin(), from.end()}; }

TEST(TensorResize, AxesOfEachRankAndType) {
  struct Case {
    Ints extents, axes, sizes;
  };
  const Case cases[] = {{{7}, {0}, {4}},
                        {{5, 6}, {1, 0}, {9, 3}},
                        {{4, 5, 3}, {0, 2}, {6, 2}},
                        {{2, 3, 4, 2}, {0, 1, 2, 3}, {3, 2, 5, 4}},
                        {{1, 1, 1}, {0, 2}, {3, 2}},
                        {{2, 3, 2, 4, 3}, {1, 3}, {5, 2}},
                        {{1, 40}, {1}, {7}}};
  for (const DType type : {DType::kU8, DType::kI16, DType::kU16, DType::kF32})
    for (const Case& c : cases) {
      const Tensor in = random_tensor(type, c.extents, {}, 21);
      const Tensor out =
          OpRun("tensor_resize").input(in).arg("sizes", doubles(c.sizes)).arg("axes", c.axes).result();
      Ints extents = c.extents;
      for (size_t a = 0; a < c.axes.size(); ++a) extents[static_cast<size_t>(c.axes[a])] = c.sizes[a];
      EXPECT_EQ(out.extents, extents);
      EXPECT_EQ(out.dtype, type);
      expect_near(out, resampled(in, c.axes, c.sizes), is_float(type) ? 3e-6 * 255 : 0.53);
    }
}

TEST(TensorResize, OfRowsAndColumnsIsResize) {
  for (const DType type : {DType::kU8, DType::kF32})
    for (const int64_t filter : {int64_t{0}, int64_t{1}, int64_t{2}}) {
      const Tensor in = random_tensor(type, {9, 14, 3}, "HWC", 22);
      const auto run = [&](OpRun op) { return op.input(in).arg("interp_type", filter).result(); };
      const Tensor plain = run(OpRun("resize").arg("size", Numbers{6.5, 23}));
      const Tensor tensor =
          run(OpRun("tensor_resize").arg("sizes", Numbers{23, 6.5}).arg("axis_names", std::string("WH")));
      EXPECT_EQ(tensor.extents, plain.extents);
      EXPECT_EQ(tensor.numbers(), plain.numbers());
      EXPECT_EQ(tensor.layout.str(), "HWC");
    }
}

// A Gaussian blurs along the axes that keep their extents, too; whether it is one, here only the sample says.
TEST(TensorResize, FilterOfTheSampleIsThatOfTheText) {
  constexpr int64_t kGaussian = 5;
  for (const DType type : {DType::kU8, DType::kF32})
    for (int64_t filter = 0; filter <= kGaussian; ++filter) {
      const auto run = [&](OpRun op) {
        return op.input(random_tensor(type, {6, 7, 4}, {}, 25))
            .arg("sizes", Numbers{9})
            .arg("axes", Ints{1})
            .result();
      };
      const Tensor in_text = run(OpRun("tensor_resize").arg("mag_filter", filter));
      const Tensor in_sample =
          run(OpRun("tensor_resize").arg("mag_filter", scalar(DType::kI32, static_cast<double>(filter))));
      // Of bytes the first axis has weights of 14 bits. The text knows of other filters that it is the one that
      // changes.
      const bool are_first_alike = type != DType::kU8 || filter == kGaussian;
      expect_near(in_sample, in_text.numbers(), are_first_alike ? 0 : 1);
    }
}

/// Where one element of a ramp is found.
double place_of(const Tensor& out, size_t n) { return out[n]; }

TEST(TensorResize, AlignmentHoldsAPlace) {
  Numbers ramp(10);
  for (size_t n = 0; n < ramp.size(); ++n) ramp[n] = static_cast<double>(n) + 0.5;
  const Tensor in = tensor(DType::kF32, {10}, ramp);
  // 10 * 0.46 = 4.6 becomes 5: cells are as far apart as 1 / 0.46, and begin or end where the tensor does.
  const auto run = [&](double alignment) {
    return OpRun("tensor_resize")
        .input(in)
        .arg("scales", 0.46)
        .arg("alignment", alignment)
        .arg("antialias", false)
        .result();
  };
  const double step = 1 / 0.46;
  EXPECT_NEAR(place_of(run(0), 1), 1.5 * step, 1e-4);
  EXPECT_NEAR(place_of(run(1), 3), 10 - 1.5 * step, 1e-4);
  EXPECT_NEAR(place_of(run(0.5), 2), 5, 1e-4);
}

TEST(TensorResize, KnownExtents) {
  const auto type = [](OpRun op) { return op.run().types.at(0).extents; };
  const Tensor in = random_tensor(DType::kU8, {6, 7, 3}, {}, 23);
  const auto of = [&](Numbers sizes, const char* rounding) {
    return type(OpRun("tensor_resize")
                    .fixed(in)
                    .arg("sizes", std::move(sizes))
                    .arg("axes", Ints{0, 1})
                    .arg("size_rounding", std::string(rounding)));
  };
  EXPECT_EQ(of({3.5, 4}, "round"), (Ints{4, 4, 3}));
  EXPECT_EQ(of({3.5, -4.2}, "truncate"), (Ints{3, 4, 3}));
  EXPECT_EQ(of({3.5, 4.2}, "ceil"), (Ints{4, 5, 3}));
  EXPECT_EQ(of({0.2, 0}, "truncate"), (Ints{1, -1, 3}));
  EXPECT_EQ(type(OpRun("tensor_resize").fixed(in).arg("scales", Numbers{0.5, 1.5}).arg("axes", Ints{0, 1})),
            (Ints{3, 11, 3}));
  EXPECT_EQ(type(OpRun("tensor_resize")
                     .fixed(in)
                     .arg("sizes", 4.0)
                     .arg("axes", Ints{0})
                     .arg("mode", std::string("not_larger"))),
            (Ints{-1, -1, -1}));
}

TEST(TensorResize, BadArguments) {
  const Tensor in = random_tensor(DType::kU8, {6, 8, 3}, "HWC", 24);
  const auto message = [&](OpRun op) { return op.input(in).failure(); };
  const auto sized = [] { return OpRun("tensor_resize").arg("sizes", 4.0); };
  EXPECT_TRUE(says(message(OpRun("tensor_resize")), "neither sizes nor scales"));
  EXPECT_TRUE(says(message(sized().arg("scales", 1.0)), "exclude each other"));
  EXPECT_TRUE(says(message(OpRun("tensor_resize").arg("scales", 0.5).arg("mode", std::string("not_smaller"))),
                   "no meaning with scales"));
  EXPECT_TRUE(says(message(sized().arg("mode", std::string("fit"))), "unknown mode"));
  EXPECT_TRUE(says(message(sized().arg("size_rounding", std::string("floor"))), "unknown size_rounding"));
  EXPECT_TRUE(says(message(sized().arg("axes", Ints{3})), "out of range"));
  EXPECT_TRUE(says(message(sized().arg("axes", Ints{1, -2})), "named twice"));
  EXPECT_TRUE(says(message(sized().arg("axis_names", std::string("D"))), "no axis 'D'"));
  EXPECT_TRUE(says(message(sized().arg("axes", Ints{1}).arg("alignment", Numbers{0, 1})), "takes 1 element"));
  EXPECT_TRUE(says(message(sized().arg("roi_start", 1.0)), "come together"));
  EXPECT_TRUE(says(message(sized().arg("dtype", DType::kI16)), "neither the input's type"));
  EXPECT_TRUE(says(message(OpRun("tensor_resize").arg("sizes", scalar(DType::kF32, 1e9))), "not an extent"));
  EXPECT_TRUE(says(OpRun("tensor_resize").input(tensor(DType::kU8, {0, 4}, {})).arg("sizes", 3.0).failure(),
                   "without elements"));
  EXPECT_TRUE(
      says(OpRun("tensor_resize").input(scalar(DType::kF32, 3)).arg("sizes", 3.0).failure(), "a scalar"));
}

// ---- debayer

/// What of each pixel is known, and the means of what is not; Bayer tiles begin at (1, 1).
Numbers bilinear(const Tensor& in, const Ints& blue) {
  const int64_t h = in.extents[0], w = in.extents[1];
  Numbers out;
  for (int64_t y = 0; y < h; ++y)
    for (int64_t x = 0; x < w; ++x)
      for (int64_t colour = 0; colour < 3; ++colour) {
        if (h < 3 || w < 3) {
          out.push_back(0);
          continue;
        }
        const int64_t cy = std::clamp<int64_t>(y, 1, h - 2), cx = std::clamp<int64_t>(x, 1, w - 2);
        const auto colour_of = [&](int64_t py, int64_t px) -> int64_t {
          const bool blue_row = ((py + 1) & 1) == blue[0], blue_column = ((px + 1) & 1) == blue[1];
          return blue_row != blue_column ? 1 : blue_row ? 2 : 0;
        };
        const auto value = [&](int64_t py, int64_t px) {
          return in.integer(static_cast<size_t>(py * w + px));
        };
        if (colour_of(cy, cx) == colour) {
          out.push_back(static_cast<double>(value(cy, cx)));
          continue;
        }
        int64_t sum = 0, count = 0;
        for (int64_t py = cy - 1; py <= cy + 1; ++py)
          for (int64_t px = cx - 1; px <= cx + 1; ++px)
            if (colour_of(py, px) == colour) {
              sum += value(py, px);
              ++count;
            }
        out.push_back(std::floor(static_cast<double>(sum) / static_cast<double>(count) + 0.5));
      }
  return out;
}

TEST(Debayer, MeansOfNeighbours) {
  for (const DType type : {DType::kU8, DType::kU16})
    for (const Ints& extents : {Ints{1, 1}, Ints{2, 9}, Ints{3, 3}, Ints{6, 7}, Ints{5, 40}})
      for (const Ints& blue : {Ints{0, 0}, Ints{0, 1}, Ints{1, 0}, Ints{1, 1}}) {
        const Tensor in = random_tensor(type, extents, "HW", 31);
        const Tensor out = OpRun("debayer").input(in).arg("blue_position", blue).result();
        EXPECT_EQ(out.extents, (Ints{extents[0], extents[1], 3}));
        EXPECT_EQ(out.layout.str(), "HWC");
        EXPECT_EQ(out.numbers(), bilinear(in, blue));
      }
}

TEST(Debayer, OneColourEverywhere) {
  const Tensor in = tensor(DType::kU8, {9, 10}, Numbers(90, 200), "HW");
  for (const char* algorithm : {"bilinear_ocv", "edgeaware_ocv", "vng_ocv", "gray_ocv"})
    for (const double value : OpRun("debayer")
                                  .input(in)
                                  .arg("blue_position", Ints{0, 1})
                                  .arg("algorithm", std::string(algorithm))
                                  .result()
                                  .numbers())
      ASSERT_EQ(value, 200) << algorithm;
}

TEST(Debayer, BadArguments) {
  const Tensor in = random_tensor(DType::kU8, {6, 8}, "HW", 33);
  const auto message = [&](OpRun op) { return op.input(in).failure(); };
  const auto placed = [] { return OpRun("debayer").arg("blue_position", Ints{0, 1}); };
  EXPECT_TRUE(says(message(OpRun("debayer").arg("blue_position", Ints{0, 2})), "no place in a tile"));
  EXPECT_TRUE(says(message(OpRun("debayer").arg("blue_position", tensor(DType::kI32, {2}, {-1, 0}))),
                   "blue_position -1 is no place"));
  EXPECT_TRUE(says(message(OpRun("debayer").arg("blue_position", Ints{0, 1, 1})), "takes 2 elements"));
  EXPECT_TRUE(says(message(placed().arg("algorithm", std::string("fast"))), "unknown algorithm"));
  EXPECT_TRUE(says(message(placed().arg("algorithm", std::string("default_npp"))), "library for GPUs"));
  EXPECT_TRUE(
      says(placed().input(random_tensor(DType::kU8, {6, 8, 3}, "HWC", 1)).failure(), "of 3 channels"));
  EXPECT_TRUE(says(placed()
                       .arg("algorithm", std::string("vng_ocv"))
                       .input(random_tensor(DType::kU16, {6, 8}, "HW", 1))
                       .failure(),
                   "UINT8 alone"));
}

}  // namespace
}  // namespace galatea::ops_test
