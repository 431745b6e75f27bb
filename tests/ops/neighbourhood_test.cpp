// dilate, erode, median_blur and jitter against the definition: the elements under a window, one by one.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "tests/ops/op_tester.h"
#include "tests/support/cases.h"

namespace galatea::ops_test {
namespace {

using Numbers = std::vector<double>;
using Ints = std::vector<int64_t>;

/// Where index i of n is read; -1: nowhere.
int64_t read_at(const std::string& border, int64_t i, int64_t n) {
  if (i >= 0 && i < n) return i;
  if (border == "constant") return -1;
  if (border == "replicate") return std::clamp<int64_t>(i, 0, n - 1);
  while (i < 0 || i >= n) {
    if (border == "wrap")
      i += i < 0 ? n : -n;
    else if (border == "reflect")
      i = i < 0 ? -1 - i : 2 * n - 1 - i;
    else if (n == 1)
      i = 0;
    else
      i = i < 0 ? -i : 2 * (n - 1) - i;
  }
  return i;
}

/// `pick` of the elements under a window of HWC images whose element `anchor` lies on the pixel.
template <typename Pick>
Numbers under_window(const Tensor& in, const std::array<int64_t, 2>& size,
                     const std::array<int64_t, 2>& anchor, const std::string& border, const Pick& pick) {
  Numbers out;
  const int64_t h = in.extents[0], w = in.extents[1], channels = in.extents[2];
  for (int64_t y = 0; y < h; ++y)
    for (int64_t x = 0; x < w; ++x)
      for (int64_t c = 0; c < channels; ++c) {
        Numbers window;
        for (int64_t j = 0; j < size[0]; ++j)
          for (int64_t i = 0; i < size[1]; ++i) {
            const int64_t sy = read_at(border, y + j - anchor[0], h),
                          sx = read_at(border, x + i - anchor[1], w);
            if (sy >= 0 && sx >= 0) window.push_back(in[static_cast<size_t>((sy * w + sx) * channels + c)]);
          }
        out.push_back(pick(window));
      }
  return out;
}

double most(const Numbers& n) { return *std::ranges::max_element(n); }
double least(const Numbers& n) { return *std::ranges::min_element(n); }
double middle(Numbers n) {
  std::ranges::sort(n);
  return n[n.size() / 2];
}

constexpr DType kAll[] = {DType::kU8,  DType::kU16, DType::kU32, DType::kU64, DType::kI8, DType::kI16,
                          DType::kI32, DType::kI64, DType::kF16, DType::kF32, DType::kF64};

TEST(Morphology, EachTypeAndBorder) {
  for (const DType type : kAll)
    for (const char* border : {"constant", "replicate", "reflect", "reflect_101", "wrap"}) {
      SCOPED_TRACE(std::string(short_name(type)) + " " + border);
      const Tensor in = random_tensor(type, {5, 6, 2}, "HWC", 11);
      const auto run = [&](const char* name) {
        return OpRun(name)
            .input(in)
            .arg("mask_size", Ints{3, 4})
            .arg("anchor", Ints{0, 3})
            .arg("border_mode", std::string(border))
            .result();
      };
      const Tensor dilated = run("dilate");
      EXPECT_EQ(dilated.dtype, type);
      expect_near(dilated, under_window(in, {3, 4}, {0, 3}, border, most), 0);
      expect_near(run("experimental.erode"), under_window(in, {3, 4}, {0, 3}, border, least), 0);
    }
}

TEST(Morphology, SizesOfAnyKind) {
  const Tensor in = random_tensor(DType::kU8, {9, 14, 1}, "HWC", 12);
  for (const std::array<int64_t, 2> size :
       std::initializer_list<std::array<int64_t, 2>>{{1, 1}, {1, 8}, {9, 2}, {17, 31}, {10, 16}})
    for (const char* border : {"constant", "reflect_101", "wrap"}) {
      SCOPED_TRACE(std::to_string(size[0]) + " x " + std::to_string(size[1]) + " " + border);
      const Numbers expected = under_window(in, size, {size[0] / 2, size[1] / 2}, border, least);
      OpRun known("erode"), late("erode");
      known.input(in).arg("mask_size", Ints{size[0], size[1]}).arg("border_mode", std::string(border));
      late.input(in)
          .arg("mask_size", tensor(DType::kI32, {2}, {double(size[0]), double(size[1])}))
          .arg("border_mode", std::string(border));
      expect_near(known.result(), expected, 0);
      expect_near(late.result(), expected, 0);
    }
}

TEST(Morphology, IterationsAreALargerMask) {
  const Tensor in = random_tensor(DType::kF32, {7, 8, 3}, "HWC", 13);
  const Tensor thrice = OpRun("dilate").input(in).arg("iterations", int64_t{3}).result();
  Tensor step = in;
  for (int n = 0; n < 3; ++n) step = OpRun("dilate").input(step).result();
  expect_near(thrice, step.numbers(), 0);
  const Tensor off = OpRun("dilate")
                         .input(in)
                         .arg("mask_size", Ints{2, 3})
                         .arg("anchor", tensor(DType::kI32, {2}, {0, 1}))
                         .arg("iterations", int64_t{2})
                         .result();
  expect_near(off, under_window(in, {3, 5}, {0, 2}, "constant", most), 0);
}

TEST(Morphology, LayoutsAndDegenerateImages) {
  const Tensor hwc = random_tensor(DType::kU8, {1, 1, 3}, "HWC", 14);
  expect_near(OpRun("dilate").input(hwc).arg("mask_size", Ints{12}).result(), hwc.numbers(), 0);
  const Tensor line = random_tensor(DType::kU8, {1, 6, 1}, "HWC", 14);
  expect_near(OpRun("dilate").input(line).arg("border_mode", std::string("reflect_101")).result(),
              under_window(line, {3, 3}, {1, 1}, "reflect_101", most), 0);
  const Tensor frames = random_tensor(DType::kU8, {2, 3, 4, 5}, "FCHW", 15);
  const Tensor out = OpRun("erode").input(frames).result();
  for (int64_t plane = 0; plane < 6; ++plane) {
    const auto from = static_cast<std::ptrdiff_t>(plane * 20);
    const Numbers own = frames.numbers(), made = out.numbers();
    const Tensor one =
        tensor(DType::kU8, {4, 5, 1}, Numbers(own.begin() + from, own.begin() + from + 20), "HWC");
    EXPECT_EQ(Numbers(made.begin() + from, made.begin() + from + 20),
              under_window(one, {3, 3}, {1, 1}, "constant", least));
  }
  EXPECT_EQ(OpRun("dilate").input(tensor(DType::kU8, {0, 4, 3}, {}, "HWC")).result().size(), 0U);
}

TEST(Morphology, SaysWhatIsWrong) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 16);
  const auto words = [&](const char* arg, const ir::Attr& value) {
    return OpRun("dilate").input(in).arg(arg, value).failure();
  };
  EXPECT_TRUE(says(words("mask_size", Ints{3, 0}), "mask_size is 0"));
  EXPECT_TRUE(says(words("mask_size", Ints{3, 3, 3}), "2 elements"));
  EXPECT_TRUE(says(words("anchor", Ints{3, 0}), "anchor 3 lies outside"));
  EXPECT_TRUE(says(words("iterations", int64_t{0}), "iterations is 0"));
  EXPECT_TRUE(says(words("border_mode", std::string("mirror")), "mirror"));
  EXPECT_TRUE(says(OpRun("erode").input(in).arg("mask_size", tensor(DType::kI32, {2}, {3, -1})).failure(),
                   "not 1 to 8191"));
  EXPECT_TRUE(says(OpRun("erode").input(in).arg("anchor", tensor(DType::kI32, {2}, {3, 0})).failure(),
                   "anchor 3 lies outside"));
}

TEST(MedianBlur, EachTypeAndWindow) {
  for (const DType type : {DType::kU8, DType::kU16, DType::kU32, DType::kI8, DType::kI16, DType::kI32,
                           DType::kF16, DType::kF32}) {
    const Tensor in = random_tensor(type, {6, 7, 2}, "HWC", 21);
    for (const std::array<int64_t, 2> size :
         std::initializer_list<std::array<int64_t, 2>>{{3, 3}, {1, 5}, {5, 3}, {7, 7}}) {
      SCOPED_TRACE(std::string(short_name(type)) + " " + std::to_string(size[0]) + " x " +
                   std::to_string(size[1]));
      // The network of 49 numbers takes as long as all others together.
      if (size[0] * size[1] > 15 && !testing::takes("49 " + std::string(short_name(type)))) continue;
      const Numbers expected = under_window(in, size, {size[0] / 2, size[1] / 2}, "replicate", middle);
      const Tensor known = OpRun("median_blur").input(in).arg("window_size", Ints{size[0], size[1]}).result();
      EXPECT_EQ(known.dtype, type);
      expect_near(known, expected, 0);
      if (size[0] * size[1] > 15) continue;
      const Tensor late = tensor(DType::kI32, {2}, {double(size[0]), double(size[1])});
      expect_near(OpRun("experimental.median_blur").input(in).arg("window_size", late).result(), expected, 0);
    }
  }
  const Tensor in = random_tensor(DType::kU8, {10, 12, 1}, "HWC", 22);
  expect_near(OpRun("median_blur").input(in).arg("window_size", int64_t{9}).result(),
              under_window(in, {9, 9}, {4, 4}, "replicate", middle), 0);
}

/// A network that sorts every sequence of zeros and ones sorts everything.
TEST(MedianBlur, TheNetworkSorts) {
  for (const int64_t n : {3, 5, 7, 9}) {
    Numbers bits;
    for (int64_t pattern = 0; pattern < int64_t{1} << n; ++pattern)
      for (int64_t k = 0; k < n; ++k) bits.push_back(static_cast<double>(pattern >> k & 1));
    const Tensor in = tensor(DType::kU8, {int64_t{1} << n, n, 1}, bits, "HWC");
    const Tensor out = OpRun("median_blur").input(in).arg("window_size", Ints{1, n}).result();
    for (int64_t pattern = 0; pattern < int64_t{1} << n; ++pattern)
      EXPECT_EQ(out[static_cast<size_t>(pattern * n + n / 2)],
                std::popcount(static_cast<uint64_t>(pattern)) > n / 2 ? 1 : 0);
  }
}

TEST(MedianBlur, SaysWhatIsWrong) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 23);
  for (const int64_t size : {0, 4, 257})
    EXPECT_TRUE(says(OpRun("median_blur").input(in).arg("window_size", size).failure(), "must be odd"));
  EXPECT_TRUE(says(OpRun("median_blur").input(in).arg("window_size", scalar(DType::kI32, 2)).failure(),
                   "must be odd"));
  EXPECT_EQ(OpRun("median_blur").input(tensor(DType::kU8, {4, 0, 3}, {}, "HWC")).result().size(), 0U);
}

TEST(Jitter, ShowsNeighbours) {
  constexpr int64_t kHeight = 24, kWidth = 30;
  Numbers places;
  for (int64_t p = 0; p < kHeight * kWidth; ++p) places.insert(places.end(), {double(p), double(p)});
  const Tensor in = tensor(DType::kF32, {kHeight, kWidth, 2}, places, "HWC");
  for (const int64_t degree : {1, 2, 5}) {
    const Tensor out = OpRun("jitter").input(in).arg("nDegree", degree).key(5).sample(3).result();
    std::map<std::pair<int64_t, int64_t>, int> shifts;
    int inner = 0;
    for (int64_t y = 0; y < kHeight; ++y)
      for (int64_t x = 0; x < kWidth; ++x) {
        const auto n = static_cast<size_t>(2 * (y * kWidth + x));
        EXPECT_EQ(out[n], out[n + 1]);
        const int64_t dy = out.integer(n) / kWidth - y, dx = out.integer(n) % kWidth - x;
        EXPECT_TRUE(dy >= -(degree / 2) && dy < degree - degree / 2) << dy;
        EXPECT_TRUE(dx >= -(degree / 2) && dx < degree - degree / 2) << dx;
        if (y < 2 || x < 2 || y >= kHeight - 2 || x >= kWidth - 2) continue;
        ++inner, ++shifts[{dy, dx}];
      }
    // Chi-square of degree^2 equally likely shifts, at a level of 0.001.
    const double expected = static_cast<double>(inner) / static_cast<double>(degree * degree);
    double chi = 0;
    for (const auto& [shift, count] : shifts) chi += (count - expected) * (count - expected) / expected;
    EXPECT_EQ(shifts.size(), static_cast<size_t>(degree * degree));
    EXPECT_LT(chi, degree == 1 ? 0.001 : degree == 2 ? 16.27 : 51.18);
  }
  expect_near(OpRun("jitter").input(in).arg("mask", scalar(DType::kI32, 0)).result(), in.numbers(), 0);
  EXPECT_TRUE(says(OpRun("jitter").input(in).arg("nDegree", int64_t{0}).failure(), "nDegree is 0"));
}

}  // namespace
}  // namespace galatea::ops_test
