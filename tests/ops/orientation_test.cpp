// galatea.auto_orient against the table of EXIF 2.3 (section 4.6.4, tag 0x0112), which says on which side of the
// upright picture the first stored row and column are: stored pixels are put there one by one.
#include <array>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

enum class Side : uint8_t { kTop, kBottom, kLeft, kRight };
using enum Side;

/// Of the orientations 1 to 8: the side of the first row, and that of the first column.
constexpr std::array<std::array<Side, 2>, 8> kSides = {{{kTop, kLeft},
                                                        {kTop, kRight},
                                                        {kBottom, kRight},
                                                        {kBottom, kLeft},
                                                        {kLeft, kTop},
                                                        {kRight, kTop},
                                                        {kRight, kBottom},
                                                        {kLeft, kBottom}}};

/// How far from the top or the left edge something lies that is so far from a side.
int64_t from_edge(Side side, int64_t distance, int64_t extent) {
  return side == kTop || side == kLeft ? distance : extent - 1 - distance;
}

Tensor upright(const Tensor& stored, int orientation) {
  const auto [row_side, column_side] = kSides[static_cast<size_t>(orientation - 1)];
  const bool exchanged = row_side == kLeft || row_side == kRight;
  const auto h = static_cast<size_t>(stored.layout.find('H')),
             w = static_cast<size_t>(stored.layout.find('W'));
  Tensor out = stored;
  if (exchanged) std::swap(out.extents[h], out.extents[w]);
  for (size_t n = 0; n < stored.size(); ++n) {
    std::vector<int64_t> at(stored.extents.size());
    auto rest = static_cast<int64_t>(n);
    for (size_t d = at.size(); d-- > 0; rest /= stored.extents[d]) at[d] = rest % stored.extents[d];
    const int64_t row = from_edge(row_side, at[h], stored.extents[h]);
    const int64_t column = from_edge(column_side, at[w], stored.extents[w]);
    at[h] = exchanged ? column : row;
    at[w] = exchanged ? row : column;
    int64_t to = 0;
    for (size_t d = 0; d < at.size(); ++d) to = to * out.extents[d] + at[d];
    out.cells[static_cast<size_t>(to)] = stored.cells[n];
  }
  return out;
}

TEST(AutoOrient, FollowsTheTableOfExif) {
  const std::pair<const char*, std::vector<int64_t>> images[] = {{"HWC", {3, 5, 2}}, {"CHW", {2, 4, 3}},
                                                                 {"HW", {3, 4}},     {"HW", {1, 1}},
                                                                 {"HWC", {1, 6, 1}}, {"HW", {0, 3}}};
  for (const auto& [layout, extents] : images)
    for (const DType dtype : {DType::kU8, DType::kF32, DType::kI16})
      for (int orientation = 1; orientation <= 8; ++orientation) {
        const Tensor in = random_tensor(dtype, extents, Layout(layout), 5);
        const Tensor expected = upright(in, orientation);
        const Tensor by_text =
            OpRun("galatea.auto_orient").input(in).arg("orientation", int64_t{orientation}).result();
        const Tensor by_sample = OpRun("galatea.auto_orient")
                                     .fixed(in)
                                     .arg("orientation", scalar(DType::kI32, orientation))
                                     .result();
        for (const Tensor& out : {by_text, by_sample}) {
          EXPECT_EQ(out.extents, expected.extents) << layout << orientation;
          EXPECT_EQ(out.numbers(), expected.numbers()) << layout << orientation;
          EXPECT_EQ(out.layout.str(), layout);
        }
      }
}

TEST(AutoOrient, ZeroIsNotStated) {
  const Tensor in = random_tensor(DType::kU8, {2, 3}, "HW", 1);
  EXPECT_EQ(OpRun("galatea.auto_orient").input(in).arg("orientation", int64_t{0}).result().numbers(),
            in.numbers());
  EXPECT_EQ(
      OpRun("galatea.auto_orient").input(in).arg("orientation", scalar(DType::kI64, 0)).result().numbers(),
      in.numbers());
}

TEST(AutoOrient, PlacesFollowPixels) {
  // The place of the middle of each stored pixel, moved, is the middle of where the pixel went.
  const int64_t h = 3, w = 4;
  std::vector<double> numbers;
  for (int n = 0; n < h * w; ++n) numbers.push_back(n);
  const Tensor in = tensor(DType::kU8, {h, w}, numbers, "HW");
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const auto run = [&](const char* name) {
      return OpRun(name).fixed(in).arg("orientation", scalar(DType::kI32, orientation)).result();
    };
    const Tensor out = run("galatea.auto_orient"), map = run("galatea.auto_orient.places");
    for (int64_t y = 0; y < h; ++y)
      for (int64_t x = 0; x < w; ++x) {
        const double px = static_cast<double>(x) + 0.5, py = static_cast<double>(y) + 0.5;
        const double to_x = map[0] * px + map[1] * py + map[2], to_y = map[3] * px + map[4] * py + map[5];
        const auto at = static_cast<size_t>((to_y - 0.5) * static_cast<double>(out.extents[1]) + to_x - 0.5);
        EXPECT_EQ(out.integer(at), y * w + x) << orientation;
      }
  }
}

TEST(AutoOrient, RefusesAngles) {
  const Tensor in = random_tensor(DType::kU8, {2, 3}, "HW", 1);
  EXPECT_TRUE(says(OpRun("galatea.auto_orient").input(in).arg("orientation", int64_t{90}).failure(),
                   "90 is no orientation of EXIF"));
  EXPECT_TRUE(
      says(OpRun("galatea.auto_orient").input(in).arg("orientation", scalar(DType::kI32, 9)).failure(),
           "the orientation 9 is none of EXIF"));
}

TEST(PeekImageOrientation, IsWhatTheHeaderStates) {
  const Tensor bytes = random_tensor(DType::kU8, {8}, {}, 1);
  const Tensor out = OpRun("galatea.peek_image_orientation").input(bytes).native({6}).result();
  EXPECT_EQ(out.dtype, DType::kI32);
  EXPECT_TRUE(out.extents.empty());
  EXPECT_EQ(out.integer(0), 6);
}

}  // namespace
}  // namespace galatea::ops_test
