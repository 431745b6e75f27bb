// rotate about an axis and warp_affine with three rows, of volumes: against direct formulas in double, and what
// they refuse.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using SpaceRows = std::array<std::array<double, 4>, 3>;  // x, y, z
using SpaceExtents = std::array<int64_t, 3>;             // d, h, w

/// Values before rounding of a DHWC volume that is seen through the rows.
std::vector<double> seen_through(const SpaceRows& rows, const Tensor& in, const SpaceExtents& size,
                                 std::optional<double> fill, bool linear) {
  const int64_t channels = in.extents[3];
  const auto pixel = [&](std::array<double, 3> place, int64_t c) {  // x, y, z
    bool outside = false;
    int64_t flat = 0;
    for (size_t k = 3; k-- > 0;) {
      const auto extent = static_cast<double>(in.extents[2 - k]);
      outside |= place[k] < 0 || place[k] >= extent;
      flat = flat * in.extents[2 - k] + static_cast<int64_t>(std::clamp(place[k], 0.0, extent - 1));
    }
    return outside && fill ? *fill : in[static_cast<size_t>(flat * channels + c)];
  };
  std::vector<double> out;
  for (int64_t n = 0; n < size[0] * size[1] * size[2] * channels; ++n) {
    const int64_t at = n / channels;
    const std::array<double, 3> centre = {static_cast<double>(at % size[2]) + 0.5,
                                          static_cast<double>(at / size[2] % size[1]) + 0.5,
                                          static_cast<double>(at / size[2] / size[1]) + 0.5};
    std::array<double, 3> before{}, share{};
    for (size_t r = 0; r < 3; ++r) {
      const double place = rows[r][0] * centre[0] + rows[r][1] * centre[1] + rows[r][2] * centre[2] +
                           rows[r][3] - (linear ? 0.5 : 0);
      before[r] = std::floor(place);
      share[r] = linear ? place - before[r] : 0;
    }
    double value = 0;
    for (unsigned corner = 0; corner < 8; ++corner) {
      double weight = 1;
      std::array<double, 3> place = before;
      for (size_t r = 0; r < 3; ++r) {
        const bool next = (corner >> r & 1) != 0;
        weight *= next ? share[r] : 1 - share[r];
        place[r] += next ? 1 : 0;
      }
      if (weight > 0) value += weight * pixel(place, n % channels);
    }
    out.push_back(value);
  }
  return out;
}

/// The turn of a unit quaternion: another way to it than Rodrigues' formula.
SpaceRows turn_of(std::array<double, 3> axis, double degrees) {
  const double length = std::hypot(axis[0], axis[1], axis[2]);
  const double half = degrees * std::numbers::pi / 360, w = std::cos(half), s = std::sin(half) / length;
  const double x = axis[0] * s, y = axis[1] * s, z = axis[2] * s;
  return {{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 0},
           {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x), 0},
           {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y), 0}}};
}

/// Backwards, about the middles of both.
SpaceRows about_middles(const SpaceRows& turn, const SpaceExtents& in, const SpaceExtents& out) {
  SpaceRows rows{};
  for (size_t r = 0; r < 3; ++r) {
    rows[r][3] = static_cast<double>(in[2 - r]) / 2;
    for (size_t c = 0; c < 3; ++c) {
      rows[r][c] = turn[c][r];
      rows[r][3] -= turn[c][r] * static_cast<double>(out[2 - c]) / 2;
    }
  }
  return rows;
}

const std::vector<double> kSpaceMap = {0.8137,  -0.4051, 0.1322, 2.2019, 0.5077, 1.1033,
                                       -0.2118, -1.7191, 0.0731, 0.3017, 0.7703, 0.4093};

SpaceRows rows_of(const std::vector<double>& elements) {
  SpaceRows rows{};
  for (size_t n = 0; n < 12; ++n) rows[n / 4][n % 4] = elements[n];
  return rows;
}

/// The volume with its axes in another order.
Tensor as_layout(const Tensor& dhwc, const std::string& layout) {
  Tensor out{dhwc.dtype, {}, {}, {}};
  out.layout = Layout(layout);
  const std::string from = "DHWC";
  for (const char letter : layout) out.extents.push_back(dhwc.extents[from.find(letter)]);
  out.cells.resize(dhwc.size());
  for (size_t n = 0; n < dhwc.size(); ++n) {
    std::array<int64_t, 4> index{};
    auto rest = static_cast<int64_t>(n);
    for (size_t d = 4; d-- > 0; rest /= dhwc.extents[d]) index[d] = rest % dhwc.extents[d];
    int64_t flat = 0;
    for (size_t d = 0; d < 4; ++d) flat = flat * out.extents[d] + index[from.find(layout[d])];
    out.cells[static_cast<size_t>(flat)] = dhwc.cells[n];
  }
  return out;
}

TEST(VolumeWarp, EveryTypeFilterBorderAndLayout) {
  for (DType type : {DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kF32})
    for (const SpaceExtents& extents : {SpaceExtents{4, 5, 7}, {1, 3, 2}, {1, 1, 1}})
      for (const bool linear : {false, true})
        for (const std::optional<double> fill : {std::optional<double>{}, std::optional<double>{9}}) {
          const Tensor in = random_tensor(type, {extents[0], extents[1], extents[2], 2}, "DHWC", 31);
          const std::vector<double> wanted = seen_through(rows_of(kSpaceMap), in, extents, fill, linear);
          Tensor plain;
          for (const std::string layout : {"DHWC", "CDHW", "DCHW"}) {
            SCOPED_TRACE(std::string(short_name(type)) + " " + layout + (linear ? " linear" : ""));
            OpRun run = OpRun("warp_affine").input(as_layout(in, layout)).arg("matrix", kSpaceMap);
            if (fill) run.arg("fill_value", *fill);
            const Tensor out = run.arg("interp_type", int64_t{linear ? 1 : 0}).result();
            ASSERT_EQ(out.layout.str(), layout);
            if (layout == "DHWC") {
              expect_near(out, wanted,
                          !linear               ? 0
                          : type == DType::kF32 ? 2e-3
                          : type == DType::kU8  ? 0.51
                                                : 0.6);
              plain = out;
            } else {
              EXPECT_EQ(out.cells, as_layout(plain, layout).cells);
            }
          }
        }
}

/// Keys' weights of four pixels of each axis, of a shift along z alone: 1-D.
TEST(VolumeWarp, Cubic) {
  const Tensor in = random_tensor(DType::kF32, {6, 2, 3, 1}, "DHWC", 5);
  const Tensor out = OpRun("warp_affine")
                         .input(in)
                         .arg("matrix", std::vector<double>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0.25})
                         .arg("interp_type", int64_t{2})
                         .result();
  constexpr std::array<double, 4> kWeights = {-0.0703125, 0.8671875, 0.2265625,
                                              -0.0234375};  // a = -1/2, t = 1/4
  std::vector<double> wanted;
  for (int64_t n = 0; n < 36; ++n) {
    double sum = 0;
    for (int64_t k = 0; k < 4; ++k)
      sum += kWeights[static_cast<size_t>(k)] *
             in[static_cast<size_t>(std::clamp<int64_t>(n / 6 + k - 1, 0, 5) * 6 + n % 6)];
    wanted.push_back(sum);
  }
  expect_near(out, wanted, 1e-3);
}

/// There and back: the inverse of three rows, and size of the text and of a sample.
TEST(VolumeWarp, ForwardIsTheInverseAndSizes) {
  const Tensor in = random_tensor(DType::kF32, {4, 5, 7, 2}, "DHWC", 32);
  // The inverse by Gauss and Jordan, in double.
  std::array<std::array<double, 7>, 3> work{};
  for (size_t r = 0; r < 3; ++r) {
    for (size_t c = 0; c < 3; ++c) work[r][c] = static_cast<float>(kSpaceMap[r * 4 + c]);
    work[r][3 + r] = 1;
    work[r][6] = -static_cast<double>(static_cast<float>(kSpaceMap[r * 4 + 3]));
  }
  for (size_t p = 0; p < 3; ++p) {
    for (double& value : work[p])
      if (&value != &work[p][p]) value /= work[p][p];
    work[p][p] = 1;
    for (size_t r = 0; r < 3; ++r) {
      if (r == p) continue;
      const double factor = work[r][p];
      for (size_t c = 0; c < 7; ++c) work[r][c] -= factor * work[p][c];
    }
  }
  SpaceRows back{};
  for (size_t r = 0; r < 3; ++r)
    for (size_t c = 0; c < 4; ++c) back[r][c] = work[r][3 + c];
  const Tensor matrix = tensor(DType::kF32, {3, 4}, kSpaceMap);
  for (const bool by_input : {false, true}) {
    OpRun run = OpRun("warp_affine").input(in);
    by_input ? run.fixed(matrix) : run.arg("matrix", matrix);
    const Tensor out =
        run.arg("inverse_map", false).arg("fill_value", 1.0).arg("size", scalar(DType::kF32, 3.9)).result();
    ASSERT_EQ(out.extents, (std::vector<int64_t>{3, 3, 3, 2}));
    expect_near(out, seen_through(back, in, {3, 3, 3}, 1, true), 2e-3);
  }
  const Tensor out = OpRun("warp_affine")
                         .input(in)
                         .arg("matrix", kSpaceMap)
                         .arg("size", std::vector<double>{2, 6.5, 0.4})
                         .result();
  ASSERT_EQ(out.extents, (std::vector<int64_t>{2, 7, 1, 2}));
  expect_near(out, seen_through(rows_of(kSpaceMap), in, {2, 7, 1}, {}, true), 2e-3);
}

TEST(VolumeRotate, TurnsAboutAnAxis) {
  const SpaceExtents extents = {4, 5, 7};
  const Tensor in = random_tensor(DType::kF32, {4, 5, 7, 1}, "DHWC", 33);
  for (const auto& axis : {std::array<double, 3>{1, 0, 0}, {0, 3, 0}, {0, 0, -2}, {1, -2, 0.5}})
    for (const double degrees : {33.0, -123.4, 400.0}) {
      SCOPED_TRACE(degrees);
      const Tensor vector = tensor(DType::kF32, {3}, {axis.begin(), axis.end()});
      const SpaceRows turn = turn_of(axis, degrees);
      const Tensor kept =
          OpRun("rotate").input(in).arg("angle", degrees).arg("axis", vector).arg("keep_size", true).result();
      expect_near(kept, seen_through(about_middles(turn, extents, extents), in, extents, {}, true), 4e-3);
      const Tensor whole = OpRun("rotate")
                               .input(in)
                               .arg("angle", scalar(DType::kF32, degrees))
                               .arg("axis", std::vector<double>{axis.begin(), axis.end()})
                               .arg("fill_value", 5.0)
                               .result();
      const SpaceExtents canvas = {whole.extents[0], whole.extents[1], whole.extents[2]};
      expect_near(whole, seen_through(about_middles(turn, extents, canvas), in, canvas, 5, true), 4e-3);
      for (size_t r = 0; r < 3; ++r) {
        double length = 0, most = 0;
        int64_t like = 0;
        for (size_t c = 0; c < 3; ++c) {
          const double share = std::abs(turn[r][c]);
          length += share * static_cast<double>(extents[2 - c]);
          if (share > most) most = share, like = extents[2 - c];
        }
        const auto n = static_cast<int64_t>(std::ceil(length - 0.01));
        EXPECT_EQ(canvas[2 - r], n + (n + like) % 2) << "row " << r;
      }
    }
}

/// Quarter turns move pixels alone: +90 degrees about z takes x to y, rows and columns turn clockwise.
TEST(VolumeRotate, QuarterTurns) {
  const Tensor in = random_tensor(DType::kU8, {2, 3, 4, 1}, "DHWC", 34);
  const Tensor out =
      OpRun("rotate").input(in).arg("angle", 90.0).arg("axis", std::vector<double>{0, 0, 1}).result();
  ASSERT_EQ(out.extents, (std::vector<int64_t>{2, 4, 3, 1}));
  for (size_t z = 0; z < 2; ++z)
    for (size_t y = 0; y < 4; ++y)
      for (size_t x = 0; x < 3; ++x) EXPECT_EQ(out[(z * 4 + y) * 3 + x], in[(z * 3 + (2 - x)) * 4 + y]);
}

TEST(VolumeWarp, BadArguments) {
  using Doubles = std::vector<double>;
  const Tensor in = random_tensor(DType::kU8, {2, 4, 3, 3}, "DHWC", 42);
  const Tensor image = random_tensor(DType::kU8, {4, 3, 3}, "HWC", 42);
  const auto warp = [&] { return OpRun("warp_affine").input(in); };
  const auto rotate = [&] { return OpRun("rotate").input(in).arg("angle", 1.0); };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Doubles flat = {1, 2, 0, 0, 2, 4, 0, 0, 1, 1, 1, 0};
  for (const auto& [message, part] : std::vector<std::pair<std::string, std::string>>{
           {warp().arg("matrix", Doubles{1, 0, 0, 1}).failure(), "has 4 elements, 3 x 4 are needed"},
           {OpRun("warp_affine").input(image).arg("matrix", kSpaceMap).failure(), "2 x 3 are needed"},
           {warp().fixed(tensor(DType::kF32, {3, 3}, Doubles(9, 1))).failure(), "2 x 3 is needed"},
           {warp().fixed(tensor(DType::kF32, {4, 4}, Doubles(16, 1))).failure(), "3 x 4 is needed"},
           {warp().arg("matrix", flat).arg("inverse_map", false).failure(), "no inverse"},
           {warp().arg("matrix", tensor(DType::kF32, {3, 4}, flat)).arg("inverse_map", false).failure(),
            "no inverse"},
           {warp().arg("matrix", kSpaceMap).arg("size", Doubles{1, 2}).failure(), "3 elements"},
           {warp().arg("matrix", kSpaceMap).arg("compat", std::string("pil")).failure(), "no volumes"},
           {rotate().arg("axis", Doubles{0, 1}).failure(), "axis has 2 elements"},
           {rotate().arg("axis", Doubles{0, 0, 0}).failure(), "no direction"},
           {rotate().arg("axis", Doubles{0, nan, 0}).failure(), "the axis has the element nan"},
           {rotate().arg("axis", tensor(DType::kF32, {3}, {0, 0, 0})).failure(), "no direction"},
           {rotate().arg("axis", tensor(DType::kF32, {3}, {1, nan, 0})).failure(), "no direction"},
           {rotate().arg("axis", Doubles{0, 0, 1}).arg("size", Doubles{1, 2}).failure(), "3 elements"},
           {rotate().arg("size", Doubles{1, 2, 3}).failure(), "2 elements"},
           {OpRun("rotate")
                .input(tensor(DType::kU8, {0, 4, 3, 1}, {}, "DHWC"))
                .arg("angle", 1.0)
                .arg("size", 2.0)
                .arg("axis", Doubles{0, 0, 1})
                .failure(),
            "a volume of 0 x 4 x 3 has no edge to repeat"}})
    EXPECT_NE(message.find(part), std::string::npos) << part << ": " << message;
}

}  // namespace
}  // namespace galatea::ops_test
