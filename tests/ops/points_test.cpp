// Operators on points, boxes and sequences, against their formulas.
#include <algorithm>
#include <cmath>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Kind = op::LoweredOutput::Kind;
using Numbers = std::vector<double>;
using Extents = std::vector<int64_t>;

/// Points with all extents declared, or none.
OpRun run_of(const std::string& name, const Tensor& in, bool known) {
  return known ? OpRun(name).fixed(in) : OpRun(name).input(in);
}

TEST(CoordFlip, MirrorsAboutTheCenter) {
  for (const int64_t n : {1, 2, 3}) {
    const Tensor in = random_tensor(DType::kF32, {11, n}, {}, 3);
    for (const bool known : {false, true})
      for (int flips = 0; flips < 8; ++flips) {
        OpRun run = run_of("coord_flip", in, known);
        const double centers[] = {0.5, 2, -3};
        for (int d = 0; d < 3; ++d) {
          const std::string letter(1, "xyz"[d]);
          run.arg("flip_" + letter, int64_t{flips >> d & 1});
          run.arg("center_" + letter, centers[d]);
        }
        const Tensor out = run.result();
        for (size_t e = 0; e < in.size(); ++e) {
          const auto d = e % static_cast<size_t>(n);
          const bool flip = (flips >> d & 1) != 0;
          EXPECT_EQ(out[e], flip ? static_cast<float>(2 * centers[d]) - static_cast<float>(in[e]) : in[e]);
        }
      }
  }
}

TEST(CoordFlip, FollowsTheLayout) {
  const Tensor in = tensor(DType::kF32, {2}, {0.25, 0.75});
  auto run = [&](const std::string& layout) { return OpRun("coord_flip").fixed(in).arg("layout", layout); };
  EXPECT_EQ(run("yx").result().numbers(), (Numbers{0.25, 0.25}));
  EXPECT_EQ(run("xy").run().kinds[0], Kind::kScalars);
  EXPECT_EQ(run("zx").arg("flip_z", int64_t{2}).result().numbers(), (Numbers{0.75, 0.25}));
  EXPECT_TRUE(says(run("xx").failure(), "order"));
  EXPECT_TRUE(says(run("ab").failure(), "order"));
  EXPECT_TRUE(says(run("x").failure(), "2 coordinates, 1 are named"));
  EXPECT_TRUE(says(OpRun("coord_flip").input(in).arg("layout", std::string("x")).failure(), "2 coordinates"));
  EXPECT_EQ(OpRun("coord_flip")
                .input(in)
                .arg("flip_x", scalar(DType::kI32, 0))
                .arg("flip_y", scalar(DType::kI32, 1))
                .arg("center_y", scalar(DType::kF32, 2))
                .result()
                .numbers(),
            (Numbers{0.25, 3.25}));
  EXPECT_EQ(OpRun("coord_flip").input(tensor(DType::kF32, {0, 2}, {})).result().extents, (Extents{0, 2}));
  EXPECT_TRUE(
      says(OpRun("coord_flip").fixed(random_tensor(DType::kF32, {2, 4}, {}, 1)).failure(), "4 coordinates"));
  EXPECT_TRUE(says(OpRun("coord_flip").input(scalar(DType::kF32, 1)).failure(), "no point"));
  EXPECT_NE(OpRun("coord_flip").input(tensor(DType::kI32, {2}, {1, 2})).failure(), "");
}

/// What is left of an image that is `size` wide, mirrored.
float mirrored(float from, float to) { return 1.0F - (from + to); }

TEST(BbFlip, MirrorsBoxes) {
  Tensor in = random_tensor(DType::kF32, {9, 4}, {}, 3);
  for (size_t n = 0; n < in.size(); ++n) in.cells[n] = cell_from_double(DType::kF32, std::abs(in[n]) / 512);
  for (const bool known : {false, true})
    for (const bool flat : {false, true})
      for (const int64_t flips : {0, 1, 2, 3})
        for (const bool corners : {false, true}) {
          Tensor boxes = in;
          if (flat) boxes.extents = {36};
          const Tensor out = run_of("bb_flip", boxes, known)
                                 .arg("horizontal", flips & 1)
                                 .arg("vertical", flips & 2)
                                 .arg("ltrb", corners)
                                 .result();
          EXPECT_EQ(out.extents, boxes.extents);
          for (size_t box = 0; box < 9; ++box)
            for (size_t k = 0; k < 4; ++k) {
              const auto at = [&](size_t i) { return static_cast<float>(in[box * 4 + i]); };
              float expected = at(k);
              if ((flips >> (k % 2) & 1) != 0) {
                if (corners)
                  expected = 1.0F - at((k + 2) % 4);
                else if (k < 2)
                  expected = mirrored(at(k), at(k + 2));
              }
              EXPECT_EQ(out[box * 4 + k], expected) << box << " " << k << " " << flips << corners;
            }
        }
}

TEST(BbFlip, RefusesWhatIsNoBox) {
  EXPECT_TRUE(says(OpRun("bb_flip").fixed(random_tensor(DType::kF32, {3, 5}, {}, 1)).failure(), "no boxes"));
  EXPECT_TRUE(says(OpRun("bb_flip").input(random_tensor(DType::kF32, {3, 5}, {}, 1)).failure(), "5 numbers"));
  EXPECT_TRUE(says(OpRun("bb_flip").fixed(random_tensor(DType::kF32, {6}, {}, 1)).failure(), "no boxes"));
  EXPECT_TRUE(says(OpRun("bb_flip").input(random_tensor(DType::kF32, {6}, {}, 1)).failure(), "6 numbers"));
  EXPECT_EQ(OpRun("bb_flip").input(tensor(DType::kF32, {0, 4}, {})).result().extents, (Extents{0, 4}));
  EXPECT_EQ(OpRun("bb_flip")
                .fixed(tensor(DType::kF32, {4}, {0.25, 0.5, 0.5, 0.25}))
                .arg("horizontal", scalar(DType::kI32, 0))
                .arg("vertical", scalar(DType::kI32, 1))
                .result()
                .numbers(),
            (Numbers{0.25, 0.25, 0.5, 0.25}));
}

// ---- coord_transform

/// M p + T in double, of points in rows of n.
Numbers mapped(const Tensor& points, int64_t n, const Numbers& matrix, const Numbers& offset) {
  Numbers out;
  const size_t columns = static_cast<size_t>(n), rows = matrix.size() / columns;
  for (size_t p = 0; p < points.size() / columns; ++p)
    for (size_t r = 0; r < rows; ++r) {
      double sum = offset.empty() ? 0 : offset[offset.size() == 1 ? 0 : r];
      for (size_t c = 0; c < columns; ++c) sum += matrix[r * columns + c] * points[p * columns + c];
      out.push_back(sum);
    }
  return out;
}

/// Rows of n numbers and the offset after each.
Numbers joined(const Numbers& matrix, size_t n, const Numbers& offset) {
  Numbers out;
  for (size_t r = 0; r < matrix.size() / n; ++r) {
    for (size_t c = 0; c < n; ++c) out.push_back(matrix[r * n + c]);
    out.push_back(offset[offset.size() == 1 ? 0 : r]);
  }
  return out;
}

TEST(CoordTransform, MapsPoints) {
  for (const int64_t n : {1, 2, 3, 6})
    for (const int64_t rows : {1, 2, 3})
      for (const bool known : {false, true}) {
        const Tensor in = random_tensor(DType::kF32, {7, n}, {}, 3);
        Numbers matrix, offset;
        for (int64_t e = 0; e < rows * n; ++e)
          matrix.push_back(0.25 * static_cast<double>((e * 7 + 3) % 11) - 1);
        for (int64_t r = 0; r < rows; ++r) offset.push_back(static_cast<double>(r) - 0.5);
        if (matrix.size() == 1) continue;  // one number scales
        auto run = [&] { return run_of("coord_transform", in, known); };
        const double tolerance = 1e-4;  // f32 sums of up to 6 products below 1000
        Tensor out = run().arg("M", matrix).result();
        EXPECT_EQ(out.extents, (Extents{7, rows}));
        expect_near(out, mapped(in, n, matrix, {}), tolerance);
        expect_near(run().arg("M", matrix).arg("T", offset).result(), mapped(in, n, matrix, offset),
                    tolerance);
        expect_near(run().arg("M", matrix).arg("T", 3.0).result(), mapped(in, n, matrix, {3}), tolerance);
        const Numbers both = joined(matrix, static_cast<size_t>(n), offset);
        expect_near(run().arg("MT", both).result(), mapped(in, n, matrix, offset), tolerance);
        // As tensors.
        expect_near(run()
                        .arg("M", tensor(DType::kF32, {rows, n}, matrix))
                        .arg("T", tensor(DType::kF32, {rows}, offset))
                        .result(),
                    mapped(in, n, matrix, offset), tolerance);
        expect_near(run().arg("MT", tensor(DType::kF32, {rows, n + 1}, both)).result(),
                    mapped(in, n, matrix, offset), tolerance);
      }
}

TEST(CoordTransform, ScalesByOneNumber) {
  const Tensor in = random_tensor(DType::kF32, {20, 2}, {}, 3);
  Numbers twice, moved;
  for (size_t e = 0; e < in.size(); ++e) {
    twice.push_back(2 * in[e]);
    moved.push_back(2 * in[e] + (e % 2 == 0 ? 1 : -4));
  }
  for (const bool known : {false, true}) {
    auto run = [&] { return run_of("coord_transform", in, known); };
    EXPECT_EQ(run().result().numbers(), in.numbers());
    for (const char* name : {"M", "MT"}) {
      EXPECT_EQ(run().arg(name, 2.0).result().numbers(), twice);
      EXPECT_EQ(run().arg(name, Numbers{2}).result().numbers(), twice);
      EXPECT_EQ(run().arg(name, scalar(DType::kF32, 2)).result().numbers(), twice);
    }
    expect_near(run().arg("M", 2.0).arg("T", Numbers{1, -4}).result(), moved, 1e-4);
    EXPECT_TRUE(says(run().arg("T", Numbers{1, 2, 3}).failure(), "T has 3 numbers"));
  }
}

TEST(CoordTransform, MixesColoursOfImages) {
  const Tensor in = random_tensor(DType::kU8, {5, 7, 3}, "HWC", 5);
  const OpRun::Outcome out = OpRun("coord_transform")
                                 .input(in, {false, false, true})
                                 .arg("M", Numbers{0.25, 0.5, 0.125})
                                 .arg("dtype", DType::kU8)
                                 .run();
  ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
  EXPECT_EQ(out.outputs[0].extents, (Extents{5, 7, 1}));
  EXPECT_EQ(out.outputs[0].layout.str(), "HWC");
  for (size_t p = 0; p < 35; ++p)  // exact in f32
    EXPECT_EQ(out.outputs[0][p],
              saturate(DType::kU8, 0.25 * in[p * 3] + 0.5 * in[p * 3 + 1] + 0.125 * in[p * 3 + 2]));
}

TEST(CoordTransform, ManyRows) {
  const Tensor point = tensor(DType::kF32, {1, 2}, {1, 2});
  const auto run = [&](size_t rows) {
    std::vector<double> m(2 * rows);
    for (size_t i = 0; i < m.size(); ++i) m[i] = static_cast<double>(i);
    return OpRun("coord_transform").fixed(point).arg("M", m);
  };
  const Tensor made = run(64).result();
  ASSERT_EQ(made.extents, (std::vector<int64_t>{1, 64}));
  for (size_t r = 0; r < 64; ++r) EXPECT_EQ(made[r], 2.0 * r + 2 * (2.0 * r + 1)) << r;
  EXPECT_TRUE(says(run(65).failure(), "M has 65 rows, up to 64 are taken"));
}

TEST(CoordTransform, RefusesWhatDoesNotFit) {
  const Tensor in = random_tensor(DType::kF32, {5, 2}, {}, 5);
  for (const bool known : {false, true}) {
    auto run = [&] { return run_of("coord_transform", in, known); };
    EXPECT_TRUE(says(run().arg("M", Numbers{1, 2, 3}).failure(), "3 numbers of M"));
    EXPECT_TRUE(says(run().arg("MT", Numbers{1, 2, 3, 4}).failure(), "4 numbers of MT"));
    EXPECT_TRUE(
        says(run().arg("M", Numbers{1, 2, 3, 4}).arg("T", Numbers{1, 2, 3}).failure(), "T has 3 numbers"));
    EXPECT_NE(run().arg("M", tensor(DType::kF32, {2, 3}, Numbers(6, 1))).failure(), "");
    EXPECT_TRUE(says(run().arg("MT", 1.0).arg("M", 1.0).failure(), "excludes"));
    EXPECT_TRUE(
        says(run().arg("M", tensor(DType::kF32, {4}, Numbers(4, 1))).failure(), "a matrix is needed"));
    EXPECT_TRUE(says(run().arg("dtype", DType::kF64).failure(), "no points of"));
    EXPECT_TRUE(says(run().arg("M", Numbers{}).failure(), "empty"));
    EXPECT_TRUE(says(run().arg("M", std::string("x")).failure(), "not a list of numbers"));
  }
}

/// Of a sequence of points each frame has arguments of its own.
TEST(Points, ArgumentsPerFrame) {
  constexpr int64_t kFrames = 3, kPoints = 5;
  const Tensor in = random_tensor(DType::kF32, {kFrames, kPoints, 2}, "FNX", 8);
  Tensor matrices = random_tensor(DType::kF32, {kFrames, 2, 3}, "F**", 9);
  Tensor flips = tensor(DType::kI32, {kFrames}, {0, 1, 1}, "F");
  const Tensor mapped_frames = OpRun("coord_transform").input(in).arg("MT", matrices).result();
  const Tensor flipped = OpRun("coord_flip").input(in).arg("flip_x", flips).result();
  EXPECT_EQ(mapped_frames.layout.str(), "FNX");
  const auto part = [](const Tensor& t, size_t frame, std::vector<int64_t> extents) {
    const size_t size = t.size() / kFrames;
    const auto begin = t.cells.begin() + static_cast<std::ptrdiff_t>(frame * size);
    return Tensor{t.dtype, std::move(extents), {}, {begin, begin + static_cast<std::ptrdiff_t>(size)}};
  };
  for (size_t f = 0; f < kFrames; ++f) {
    const Tensor frame = part(in, f, {kPoints, 2});
    EXPECT_EQ(part(mapped_frames, f, {kPoints, 2}).numbers(),
              OpRun("coord_transform").input(frame).arg("MT", part(matrices, f, {2, 3})).result().numbers());
    EXPECT_EQ(part(flipped, f, {kPoints, 2}).numbers(),
              OpRun("coord_flip").input(frame).arg("flip_x", part(flips, f, {})).result().numbers());
  }
}

// ---- sequences

TEST(ElementExtract, GivesFrames) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 3}, "FHW", 5);
  for (const bool known : {false, true}) {
    const OpRun::Outcome out =
        run_of("element_extract", in, known).arg("element_map", Extents{0, 3, 0}).run();
    ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
    ASSERT_EQ(out.outputs.size(), 3U);
    for (size_t k = 0; k < 3; ++k) {
      // Few known elements are scalars.
      EXPECT_EQ(out.kinds[k], known ? Kind::kScalars : Kind::kView);
      EXPECT_EQ(out.outputs[k].extents, (Extents{5, 3}));
      EXPECT_EQ(out.outputs[k].layout.str(), "HW");
      for (size_t e = 0; e < 15; ++e) EXPECT_EQ(out.outputs[k][e], in[(k == 1 ? 45U : 0U) + e]);
    }
    EXPECT_TRUE(says(run_of("element_extract", in, known).arg("element_map", Extents{4}).failure(),
                     "there is no frame 4 among 4"));
    EXPECT_TRUE(says(run_of("element_extract", in, known).arg("element_map", Extents{-1}).failure(),
                     "there is no frame -1"));
  }
  EXPECT_TRUE(says(OpRun("element_extract").input(in).arg("element_map", Extents{}).failure(), "empty"));
  EXPECT_TRUE(says(OpRun("element_extract")
                       .input(random_tensor(DType::kU8, {4, 5, 3}, "HWC", 5))
                       .arg("element_map", int64_t{1})
                       .failure(),
                   "no sequence"));
  EXPECT_EQ(OpRun("element_extract")
                .input(random_tensor(DType::kU8, {4, 5}, {}, 5))
                .arg("element_map", int64_t{1})
                .result()
                .extents,
            Extents{5});
}

TEST(SequenceRearrange, PutsFramesInOrder) {
  const Tensor in = random_tensor(DType::kI16, {4, 5, 3}, "FHW", 5);
  const std::vector<std::pair<Extents, bool>> orders = {{{3, 0, 0}, false},   {{0, 1, 2, 3}, true},
                                                        {{3, 2, 1, 0}, true}, {{0, 2}, true},
                                                        {{2}, true},          {{1, 1}, false}};
  for (const auto& [order, is_view] : orders)
    for (const bool per_sample : {false, true}) {
      OpRun run = OpRun("sequence_rearrange").input(in);
      if (per_sample)
        run.arg("new_order", tensor(DType::kI32, {static_cast<int64_t>(order.size())},
                                    Numbers(order.begin(), order.end())));
      else
        run.arg("new_order", order);
      const OpRun::Outcome out = run.run();
      ASSERT_TRUE(out.ok()) << out.error << out.failed_check;
      EXPECT_EQ(out.kinds[0], is_view && !per_sample ? Kind::kView : Kind::kStage);
      EXPECT_EQ(out.outputs[0].layout.str(), "FHW");
      EXPECT_EQ(out.outputs[0].extents, (Extents{static_cast<int64_t>(order.size()), 5, 3}));
      for (size_t f = 0; f < order.size(); ++f)
        for (size_t e = 0; e < 15; ++e)
          EXPECT_EQ(out.outputs[0][f * 15 + e], in[static_cast<size_t>(order[f]) * 15 + e]);
    }
  auto refused = [&](Extents order) {
    return OpRun("sequence_rearrange").input(in).arg("new_order", std::move(order)).failure();
  };
  EXPECT_TRUE(says(refused({4}), "there is no frame 4 among 4"));
  EXPECT_TRUE(says(refused({0, -1}), "there is no frame -1"));
  EXPECT_TRUE(says(refused({}), "empty"));
  EXPECT_TRUE(
      says(OpRun("sequence_rearrange").input(in).arg("new_order", tensor(DType::kI32, {2}, {1, 7})).failure(),
           "there is no frame 7 among 4"));
}

/// An order whose length only the run tells is an input.
TEST(SequenceRearrange, TakesAnOrderOfAnyLength) {
  const Tensor in = tensor(DType::kI16, {3, 2}, {0, 1, 10, 11, 20, 21}, "FX");
  auto run = [&](const std::vector<double>& order) {
    const double least = order.empty() ? 0 : *std::min_element(order.begin(), order.end());
    const double most = order.empty() ? 0 : *std::max_element(order.begin(), order.end());
    return OpRun("sequence_rearrange.given")
        .input(in)
        .input(tensor(DType::kI32, {static_cast<int64_t>(order.size())}, order))
        .input(scalar(DType::kI32, least))
        .input(scalar(DType::kI32, most));
  };
  const Tensor out = run({2, 0, 2, 1}).result();
  EXPECT_EQ(out.extents, (Extents{4, 2}));
  EXPECT_EQ(out.layout.str(), "FX");
  EXPECT_EQ(out.numbers(), (Numbers{20, 21, 0, 1, 20, 21, 10, 11}));
  EXPECT_EQ(run({1}).result().numbers(), (Numbers{10, 11}));
  EXPECT_TRUE(says(run({0, 3}).failure(), "there is no frame 3 among 3"));
  EXPECT_TRUE(says(run({-1, 0}).failure(), "there is no frame -1 among 3"));
  EXPECT_TRUE(says(run({}).failure(), "empty result sequences"));
}

}  // namespace
}  // namespace galatea::ops_test
