// Windows, mirrors, normalisation and colour against direct formulas in double.
#include <algorithm>
#include <array>
#include <cmath>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Kind = op::LoweredOutput::Kind;

double pixel(const Tensor& t, int64_t y, int64_t x, int64_t c) {
  return t[static_cast<size_t>((y * t.extents[1] + x) * t.extents[2] + c)];
}

/// out(y, x, c) over h x w x channels.
template <typename F>
std::vector<double> image_of(int64_t h, int64_t w, int64_t channels, const F& f) {
  std::vector<double> out;
  for (int64_t y = 0; y < h; ++y)
    for (int64_t x = 0; x < w; ++x)
      for (int64_t c = 0; c < channels; ++c) out.push_back(f(y, x, c));
  return out;
}

const Tensor& photo() {
  static const Tensor in = random_tensor(DType::kU8, {9, 12, 3}, "HWC", 21);
  return in;
}

TEST(Flip, MirrorsAxes) {
  for (int bits = 0; bits < 4; ++bits)
    for (const bool per_sample : {false, true}) {
      OpRun run("flip");
      run.input(photo());
      if (per_sample)
        run.arg("horizontal", scalar(DType::kI32, bits & 1)).arg("vertical", scalar(DType::kI32, bits >> 1));
      else
        run.arg("horizontal", int64_t{bits & 1}).arg("vertical", int64_t{bits >> 1});
      const OpRun::Outcome outcome = run.run();
      ASSERT_TRUE(outcome.ok());
      EXPECT_EQ(outcome.kinds[0], Kind::kView);
      expect_near(outcome.outputs[0],
                  image_of(9, 12, 3,
                           [&](int64_t y, int64_t x, int64_t c) {
                             return pixel(photo(), bits & 2 ? 8 - y : y, bits & 1 ? 11 - x : x, c);
                           }),
                  0);
    }
  EXPECT_EQ(pixel(OpRun("flip").input(photo()).result(), 0, 0, 0), pixel(photo(), 0, 11, 0));
  EXPECT_NE(OpRun("flip").input(random_tensor(DType::kU8, {4, 4}, "HW", 1)).failure(), "");
}

TEST(Crop, PlacesTheWindow) {
  const OpRun::Outcome outcome = OpRun("crop")
                                     .input(photo())
                                     .arg("crop", std::vector<double>{4, 5})
                                     .arg("crop_pos_x", 0.3)
                                     .arg("crop_pos_y", 0.9)
                                     .run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.kinds[0], Kind::kView);
  EXPECT_EQ(outcome.types[0].extents, (std::vector<int64_t>{4, 5, -1}));
  const auto y0 = std::llround(static_cast<double>(0.9f) * 5),
             x0 = std::llround(static_cast<double>(0.3f) * 7);
  expect_near(
      outcome.outputs[0],
      image_of(4, 5, 3, [&](int64_t y, int64_t x, int64_t c) { return pixel(photo(), y0 + y, x0 + x, c); }),
      0);
  const Tensor truncated = OpRun("crop")
                               .input(photo())
                               .arg("crop_h", scalar(DType::kF32, 4))
                               .arg("crop_w", scalar(DType::kF32, 5.9))
                               .arg("crop_pos_y", scalar(DType::kF32, 0.9))
                               .arg("rounding", std::string("truncate"))
                               .result();
  expect_near(
      truncated,
      image_of(4, 5, 3, [&](int64_t y, int64_t x, int64_t c) { return pixel(photo(), 4 + y, 3 + x, c); }), 0);
  EXPECT_EQ(OpRun("crop").input(photo()).result().numbers(), photo().numbers());
  EXPECT_EQ(OpRun("crop").input(photo()).arg("crop", std::vector<double>{0, 5}).result().extents,
            (std::vector<int64_t>{9, 5, 3}));
}

TEST(Crop, OutsideTheImage) {
  auto padded = [&](int64_t y, int64_t x, int64_t c, double fill) {
    return y < 0 || y >= 9 || x < 0 || x >= 12 ? fill : pixel(photo(), y, x, c);
  };
  const Tensor pad = OpRun("crop")
                         .input(photo())
                         .arg("crop", std::vector<double>{13, 6})
                         .arg("out_of_bounds_policy", std::string("pad"))
                         .arg("fill_values", 77.0)
                         .result();
  expect_near(
      pad, image_of(13, 6, 3, [&](int64_t y, int64_t x, int64_t c) { return padded(y - 2, x + 3, c, 77); }),
      0);
  const Tensor channels = OpRun("crop")
                              .input(photo())
                              .arg("crop", std::vector<double>{13, 6})
                              .arg("out_of_bounds_policy", std::string("pad"))
                              .arg("fill_values", std::vector<double>{1, 2, 300})
                              .arg("dtype", DType::kF32)
                              .result();
  expect_near(channels,
              image_of(13, 6, 3,
                       [&](int64_t y, int64_t x, int64_t c) {
                         return padded(y - 2, x + 3, c, c == 2 ? 300 : static_cast<double>(c + 1));
                       }),
              0);
  EXPECT_EQ(OpRun("crop")
                .input(photo())
                .arg("crop", std::vector<double>{13, 6})
                .arg("out_of_bounds_policy", std::string("trim_to_shape"))
                .result()
                .extents,
            (std::vector<int64_t>{9, 6, 3}));
  EXPECT_NE(OpRun("crop").input(photo()).arg("crop", std::vector<double>{13, 6}).failure().find("outside"),
            std::string::npos);
  EXPECT_NE(
      OpRun("crop").fixed(photo()).arg("crop", std::vector<double>{13, 6}).failure().find("does not fit"),
      std::string::npos);
  EXPECT_NE(OpRun("crop")
                .input(photo())
                .arg("crop", std::vector<double>{3, 6})
                .arg("crop_pos_x", scalar(DType::kF32, 1.5))
                .failure()
                .find("[0, 1]"),
            std::string::npos);
  EXPECT_NE(OpRun("crop").input(photo()).arg("crop_h", 3.0).failure().find("come together"),
            std::string::npos);
  EXPECT_NE(OpRun("crop")
                .input(photo())
                .arg("out_of_bounds_policy", std::string("mirror"))
                .failure()
                .find("unknown"),
            std::string::npos);
}

TEST(Crop, BordersRepeatTheImage) {
  auto expected = [&](auto&& place) {
    return image_of(30, 6, 3, [&](int64_t y, int64_t x, int64_t c) {
      return pixel(photo(), place(y - 11, 9), x + 3, c);
    });
  };
  auto cropped = [&](const char* policy) {  // (30 - 9) / 2 rows above: round(0.5 (9 - 30)) = -11
    return OpRun("crop")
        .input(photo())
        .arg("crop", std::vector<double>{30, 6})
        .arg("out_of_bounds_policy", std::string(policy))
        .result();
  };
  auto modulo = [](int64_t i, int64_t n) { return ((i % n) + n) % n; };
  expect_near(cropped("edge"),
              expected([](int64_t i, int64_t n) { return std::clamp<int64_t>(i, 0, n - 1); }), 0);
  expect_near(cropped("wrap"), expected(modulo), 0);
  expect_near(cropped("reflect"), expected([&](int64_t i, int64_t n) {
                return std::min(modulo(i, 2 * n), 2 * n - 1 - modulo(i, 2 * n));
              }),
              0);
  expect_near(cropped("reflect_101"), expected([&](int64_t i, int64_t n) {
                return std::min(modulo(i, 2 * n - 2), 2 * n - 2 - modulo(i, 2 * n - 2));
              }),
              0);
  EXPECT_NE(OpRun("crop")
                .input(tensor(DType::kU8, {0, 4, 3}, {}, "HWC"))
                .arg("crop", std::vector<double>{2, 2})
                .arg("out_of_bounds_policy", std::string("edge"))
                .failure()
                .find("none to repeat"),
            std::string::npos);
}

TEST(Window, VectorsOfUnknownLengthAreChecked) {
  OpRun run("slice");
  run.input(photo()).input(tensor(DType::kI32, {2}, {3, 2})).input(tensor(DType::kI32, {2}, {4, 3}));
  EXPECT_EQ(run.result().extents, (std::vector<int64_t>{3, 4, 3}));
  EXPECT_NE(OpRun("slice")
                .input(photo())
                .input(tensor(DType::kI32, {1}, {3}))
                .input(tensor(DType::kI32, {1}, {4}))
                .failure()
                .find("2 are needed"),
            std::string::npos);
}

TEST(Scalars, MayBeFedAsTensorsOfOneElement) {
  const Tensor known =
      OpRun("brightness").input(photo()).arg("brightness", scalar(DType::kF32, 0.5)).result();
  for (const std::vector<int64_t>& extents : {std::vector<int64_t>{1}, std::vector<int64_t>{1, 1}})
    EXPECT_EQ(OpRun("brightness")
                  .input(photo())
                  .fed_arg("brightness", tensor(DType::kF32, extents, {0.5}))
                  .result()
                  .numbers(),
              known.numbers());
  for (const std::vector<int64_t>& extents : {std::vector<int64_t>{2}, std::vector<int64_t>{0}}) {
    const auto count = static_cast<size_t>(extents[0]);
    EXPECT_EQ(OpRun("brightness")
                  .input(photo())
                  .fed_arg("brightness", tensor(DType::kF32, extents, std::vector<double>(count, 1.0)))
                  .failure(),
              fmt::format("brightness is one number, and has {} elements", count));
  }
  EXPECT_NE(OpRun("brightness")
                .input(photo())
                .arg("brightness", tensor(DType::kF32, {2}, {1, 2}))
                .failure()
                .find("must be a number"),
            std::string::npos)
      << "what is known is said before";
}

TEST(Slice, TakesLettersWithoutALayoutAsTheUsualOnes) {
  const std::vector<int64_t> start{2, 1}, shape{4, 3};
  for (const std::string layout : {"HW", "HWC", "DHWC"}) {
    std::vector<int64_t> extents{7, 8, 9, 10};
    extents.resize(layout.size());
    const Tensor named = random_tensor(DType::kU8, extents, Layout(layout), 22);
    Tensor unnamed = named;
    unnamed.layout = {};
    auto cut = [&](const Tensor& in) {
      return OpRun("slice").input(in).arg("start", start).arg("shape", shape).result();
    };
    EXPECT_EQ(cut(unnamed).numbers(), cut(named).numbers()) << layout;
    EXPECT_EQ(cut(unnamed).layout.str(), "");
  }
}

TEST(Slice, AbsoluteRelativeAndPositional) {
  auto box = [&](int64_t y0, int64_t x0, int64_t h, int64_t w) {
    return image_of(h, w, 3,
                    [&](int64_t y, int64_t x, int64_t c) { return pixel(photo(), y0 + y, x0 + x, c); });
  };
  expect_near(OpRun("slice")
                  .input(photo())
                  .arg("start", std::vector<int64_t>{2, 1})
                  .arg("shape", std::vector<int64_t>{5, 4})
                  .result(),
              box(1, 2, 4, 5), 0);
  expect_near(OpRun("slice")
                  .input(photo())
                  .arg("start", tensor(DType::kI32, {2}, {2, 1}))
                  .arg("end", std::vector<int64_t>{6, 9})
                  .arg("axes", std::vector<int64_t>{0, 1})
                  .result(),
              box(2, 1, 4, 8), 0);
  // 0.25 of 12 is 3; (0.25 + 0.3) of 12 is 6.6, so 7; of 9: 2.25 → 2 and 4.95 → 5.
  expect_near(OpRun("slice").input(photo()).arg("rel_start", 0.25).arg("rel_shape", 0.3).result(),
              box(2, 3, 3, 4), 0);
  expect_near(OpRun("slice")
                  .input(photo())
                  .fixed(tensor(DType::kF32, {2}, {0.25, 0.25}))
                  .fixed(tensor(DType::kF32, {2}, {0.3, 0.3}))
                  .result(),
              box(2, 3, 3, 4), 0);
  expect_near(OpRun("slice")
                  .input(photo())
                  .fixed(tensor(DType::kI64, {2}, {3, 2}))
                  .fixed(tensor(DType::kI64, {2}, {4, 3}))
                  .result(),
              box(2, 3, 3, 4), 0);
  expect_near(OpRun("slice")
                  .input(photo())
                  .fixed(tensor(DType::kF32, {1}, {2}))
                  .fixed(tensor(DType::kF32, {1}, {3}))
                  .arg("axis_names", std::string("H"))
                  .arg("normalized_anchor", false)
                  .arg("normalized_shape", false)
                  .result(),
              box(2, 0, 3, 12), 0);
  const Tensor pad = OpRun("slice")
                         .input(photo())
                         .arg("start", std::vector<int64_t>{-1})
                         .arg("end", std::vector<int64_t>{1})
                         .arg("axis_names", std::string("H"))
                         .arg("out_of_bounds_policy", std::string("pad"))
                         .arg("fill_values", 5.0)
                         .result();
  expect_near(pad,
              image_of(2, 12, 3,
                       [&](int64_t y, int64_t x, int64_t c) { return y == 0 ? 5 : pixel(photo(), 0, x, c); }),
              0);
  EXPECT_EQ(OpRun("slice")
                .input(tensor(DType::kI16, {5}, {1, 2, 3, 4, 5}))
                .arg("start", int64_t{1})
                .arg("end", int64_t{3})
                .arg("axes", std::vector<int64_t>{0})
                .result()
                .numbers(),
            (std::vector<double>{2, 3}));
}

TEST(Slice, ScalarsForOneAxis) {
  const Tensor vector = tensor(DType::kI64, {3}, {5, 7, 3});
  const std::vector<int64_t> axis = {0};
  EXPECT_EQ(OpRun("slice")
                .input(vector)
                .input(scalar(DType::kI32, 1))
                .input(scalar(DType::kI32, 2))
                .arg("axes", axis)
                .result()
                .numbers(),
            (std::vector<double>{7, 3}));
  // One number does not do for two axes.
  EXPECT_NE(OpRun("slice")
                .input(photo())
                .input(scalar(DType::kI32, 1))
                .input(scalar(DType::kI32, 2))
                .failure()
                .find("need 2 elements"),
            std::string::npos);
}

// The difference of such ends is past all integers.
TEST(Slice, EndsPastAllIntegers) {
  const auto run = [&](const char* start, double from, const char* end, double to) {
    return OpRun("slice")
        .input(photo())
        .arg("axis_names", std::string("HW"))
        .arg(start, tensor(DType::kF32, {2}, {from, 0}))
        .arg(end, tensor(DType::kF32, {2}, {to, 1}))
        .failure();
  };
  for (const double far : {1e18, 1e30, 3e38}) {
    EXPECT_NE(run("rel_start", 0.25, "rel_shape", -far), "") << far;
    EXPECT_NE(run("rel_start", 0.25, "rel_end", -far), "") << far;
    EXPECT_NE(run("rel_start", -far, "rel_end", far), "") << far;
    EXPECT_NE(run("rel_start", far, "rel_shape", far), "") << far;
    EXPECT_NE(run("rel_start", -far, "rel_shape", far), "") << far;
  }
}

TEST(Slice, BadArguments) {
  EXPECT_NE(OpRun("slice")
                .input(photo())
                .arg("start", std::vector<int64_t>{2, 1})
                .arg("shape", std::vector<int64_t>{50, 4})
                .failure()
                .find("outside"),
            std::string::npos);
  EXPECT_NE(OpRun("slice")
                .input(photo())
                .arg("start", std::vector<int64_t>{5, 5})
                .arg("end", std::vector<int64_t>{2, 6})
                .failure()
                .find("before its start"),
            std::string::npos);
  EXPECT_NE(
      OpRun("slice").input(photo()).arg("end", int64_t{3}).arg("shape", int64_t{2}).failure().find("exclude"),
      std::string::npos);
  EXPECT_NE(OpRun("slice")
                .input(photo())
                .arg("start", std::vector<int64_t>{1, 2, 3})
                .failure()
                .find("takes 2 elements"),
            std::string::npos);
  EXPECT_NE(OpRun("slice")
                .input(tensor(DType::kU8, {3}, {1, 2, 3}))
                .arg("start", int64_t{1})
                .failure()
                .find("layout"),
            std::string::npos);
  EXPECT_NE(OpRun("slice")
                .input(photo())
                .input(tensor(DType::kF32, {3}, {0, 0, 0}))
                .input(tensor(DType::kF32, {2}, {1, 1}))
                .failure()
                .find("elements"),
            std::string::npos);
}

TEST(CropMirrorNormalize, NormalisesIntoTheLayout) {
  const std::vector<double> mean = {100, 110, 120}, std = {50, 60, 70};
  for (const bool mirrored : {false, true})
    for (const std::string layout : {"CHW", "HWC"}) {
      const Tensor out = OpRun("crop_mirror_normalize")
                             .input(photo())
                             .arg("crop", std::vector<double>{5, 6})
                             .arg("mirror", scalar(DType::kI32, mirrored))
                             .arg("mean", mean)
                             .arg("std", tensor(DType::kF32, {3}, std))
                             .arg("scale", 2.0)
                             .arg("shift", 0.5)
                             .arg("output_layout", layout)
                             .result();
      EXPECT_EQ(out.layout.str(), layout);
      std::vector<double> expected;
      auto value = [&](int64_t y, int64_t x, int64_t c) {
        return 2 * (pixel(photo(), 2 + y, 3 + (mirrored ? 5 - x : x), c) - mean[static_cast<size_t>(c)]) /
                   std[static_cast<size_t>(c)] +
               0.5;
      };
      if (layout == "HWC")
        expected = image_of(5, 6, 3, value);
      else
        expected = image_of(3, 5, 6, [&](int64_t c, int64_t y, int64_t x) { return value(y, x, c); });
      expect_near(out, expected, 1e-5);
    }
}

TEST(CropMirrorNormalize, TypesPaddingAndNeutralParameters) {
  const Tensor half = OpRun("crop_mirror_normalize")
                          .input(photo())
                          .arg("dtype", DType::kF16)
                          .arg("mean", 128.0)
                          .arg("std", 64.0)
                          .result();
  for (size_t n = 0; n < 9 * 12; ++n) EXPECT_NEAR(half[n], (photo()[n * 3] - 128) / 64, 2e-3);
  EXPECT_EQ(OpRun("crop_mirror_normalize")
                .input(photo())
                .arg("dtype", DType::kU8)
                .arg("output_layout", std::string(""))
                .result()
                .numbers(),
            photo().numbers());
  const Tensor rounded = OpRun("crop_mirror_normalize")
                             .input(photo())
                             .arg("dtype", DType::kI8)
                             .arg("output_layout", std::string("HWC"))
                             .arg("mean", 30.0)
                             .arg("std", 2.0)
                             .result();
  for (size_t n = 0; n < rounded.size(); ++n)
    ASSERT_EQ(rounded[n], saturate(DType::kI8, (photo()[n] - 30) / 2));
  const Tensor padded = OpRun("crop_mirror_normalize")
                            .fixed(photo())
                            .arg("pad_output", true)
                            .arg("mean", 100.0)
                            .arg("output_layout", std::string("HWC"))
                            .arg("out_of_bounds_policy", std::string("pad"))
                            .arg("fill_values", std::vector<double>{1, 2, 3, 9})
                            .result();
  const Tensor zero =
      OpRun("crop_mirror_normalize").input(photo()).arg("pad_output", true).arg("fill_values", 9.0).result();
  ASSERT_EQ(zero.extents, (std::vector<int64_t>{4, 9, 12}));
  EXPECT_EQ(zero[3 * 9 * 12], 0);
  expect_near(
      padded,
      image_of(9, 12, 4,
               [&](int64_t y, int64_t x, int64_t c) { return c == 3 ? 9 : pixel(photo(), y, x, c) - 100; }),
      1e-5);
  const Tensor outside = OpRun("crop_mirror_normalize")
                             .input(photo())
                             .arg("crop", std::vector<double>{11, 12})
                             .arg("out_of_bounds_policy", std::string("pad"))
                             .arg("fill_values", 7.0)
                             .arg("mean", 100.0)
                             .arg("mirror", int64_t{1})
                             .arg("output_layout", std::string("HWC"))
                             .result();
  expect_near(outside,
              image_of(11, 12, 3,
                       [&](int64_t y, int64_t x, int64_t c) {
                         return y < 1 || y > 9 ? 7 : pixel(photo(), y - 1, 11 - x, c) - 100;
                       }),
              1e-5);
}

TEST(CropMirrorNormalize, BadArguments) {
  auto message = [&](OpRun run) { return run.fixed(photo()).failure(); };
  EXPECT_NE(
      message(OpRun("crop_mirror_normalize").arg("mean", std::vector<double>{1, 2})).find("2 values of mean"),
      std::string::npos);
  EXPECT_NE(message(OpRun("crop_mirror_normalize").arg("std", 0.0)).find("std of 0"), std::string::npos);
  EXPECT_NE(message(OpRun("crop_mirror_normalize").arg("std", scalar(DType::kF32, 0))).find("must not be 0"),
            std::string::npos);
  EXPECT_NE(
      message(OpRun("crop_mirror_normalize").arg("output_layout", std::string("HW"))).find("permutation"),
      std::string::npos);
  EXPECT_NE(message(OpRun("crop_mirror_normalize").arg("dtype", DType::kI32)).find("FLOAT16"),
            std::string::npos);
  EXPECT_NE(OpRun("crop_mirror_normalize")
                .input(random_tensor(DType::kU8, {4, 4, 1}, "HWC", 1))
                .arg("mean", std::vector<double>{1, 2, 3})
                .failure()
                .find("channels"),
            std::string::npos);
}

// ---- colour

// DALI refuses them, too, wherever the window lies if it may be padded.
TEST(Crop, FillValuesAreOneOrOneForEachChannel) {
  for (const char* name : {"crop", "crop_mirror_normalize"}) {
    const auto run = [&](size_t count) {
      return OpRun(name)
          .input(photo())
          .arg("crop", std::vector<double>{13, 6})
          .arg("out_of_bounds_policy", std::string("pad"))
          .arg("fill_values", std::vector<double>(count, 1.0));
    };
    for (size_t count : {2U, 4U, 100'000U})
      EXPECT_TRUE(says(run(count).failure(), "values of fill_values for 3 channels")) << name << count;
    EXPECT_EQ(run(3).result().cells, run(1).result().cells) << name;
  }
  // Of axes without a name the last counts as channels.
  const Tensor plain = tensor(DType::kU8, {1, 2}, {7, 8});
  const auto slice = [&](std::vector<double> fill) {
    return OpRun("slice")
        .fixed(plain)
        .arg("start", std::vector<int64_t>{-1})
        .arg("shape", std::vector<int64_t>{2})
        .arg("axes", std::vector<int64_t>{0})
        .arg("out_of_bounds_policy", std::string("pad"))
        .arg("fill_values", std::move(fill));
  };
  EXPECT_EQ(slice({4, 5}).result().numbers(), (std::vector<double>{4, 5, 7, 8}));
  EXPECT_TRUE(says(slice({4, 5, 6}).failure(), "values of fill_values for 2 channels"));
}

TEST(Brightness, IsOneMultiplyAdd) {
  for (DType type : {DType::kU8, DType::kI16, DType::kF32}) {
    const Tensor in = random_tensor(type, {4, 5, 3}, "HWC", 22);
    const double center = type == DType::kU8    ? 128
                          : type == DType::kI16 ? 16384
                                                : 0.5,
                 range = type == DType::kU8    ? 255
                         : type == DType::kI16 ? 32767
                                               : 1;
    const double tolerance = is_float(type) ? 1e-5 : 1;
    const Tensor a =
        OpRun("brightness").input(in).arg("brightness", 1.3).arg("brightness_shift", -0.1).result();
    const Tensor b = OpRun("contrast").input(in).arg("contrast", scalar(DType::kF32, 0.7)).result();
    const Tensor c = OpRun("brightness_contrast")
                         .input(in)
                         .arg("brightness", -1.0)
                         .arg("brightness_shift", 1.0)
                         .arg("contrast", 1.4)
                         .arg("contrast_center", 0.25)
                         .result();
    std::vector<double> ea, eb, ec;
    for (double v : in.numbers()) {
      ea.push_back(saturate(type, -0.1 * range + 1.3 * v));
      eb.push_back(saturate(type, center + 0.7 * (v - center)));
      ec.push_back(saturate(type, range - (0.25 + 1.4 * (v - 0.25))));
    }
    expect_near(a, ea, tolerance);
    expect_near(b, eb, tolerance);
    expect_near(c, ec, tolerance);
  }
  const Tensor wide =
      OpRun("brightness").input(photo()).arg("brightness_shift", 0.5).arg("dtype", DType::kF32).result();
  expect_near(
      wide,
      image_of(9, 12, 3, [&](int64_t y, int64_t x, int64_t c) { return pixel(photo(), y, x, c) + 0.5; }),
      1e-4);
  EXPECT_NE(OpRun("brightness").input(photo()).arg("dtype", DType::kI64).failure().find("dtype"),
            std::string::npos);
}

using Matrix = std::array<std::array<double, 3>, 3>;

Matrix multiply(const Matrix& a, const Matrix& b) {
  Matrix out{};
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j)
      for (size_t k = 0; k < 3; ++k) out[i][j] += a[i][k] * b[k][j];
  return out;
}

Matrix inverse(Matrix m) {
  Matrix out = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (size_t i = 0; i < 3; ++i) {  // Gauss-Jordan; the pivots of the YIQ matrix are far from zero
    const double pivot = m[i][i];
    for (size_t j = 0; j < 3; ++j) m[i][j] /= pivot, out[i][j] /= pivot;
    for (size_t r = 0; r < 3; ++r) {
      if (r == i) continue;
      const double factor = m[r][i];
      for (size_t j = 0; j < 3; ++j) m[r][j] -= factor * m[i][j], out[r][j] -= factor * out[i][j];
    }
  }
  return out;
}

std::vector<double> twisted(const Tensor& in, double hue, double saturation, double value, double brightness,
                            double contrast, double center) {
  const Matrix p = {{{.299, .587, .114}, {.596, -.274, -.321}, {.211, -.523, .311}}};
  const double h = hue * M_PI / 180;
  const Matrix turn = {{{1, 0, 0}, {0, std::cos(h), std::sin(h)}, {0, -std::sin(h), std::cos(h)}}},
               scale = {{{1, 0, 0}, {0, saturation, 0}, {0, 0, saturation}}};
  const Matrix m = multiply(inverse(p), multiply(turn, multiply(scale, p)));
  return image_of(in.extents[0], in.extents[1], 3, [&](int64_t y, int64_t x, int64_t c) {
    double sum = 0;
    for (int64_t k = 0; k < 3; ++k)
      sum += m[static_cast<size_t>(c)][static_cast<size_t>(k)] * value * pixel(in, y, x, k);
    return brightness * (center + contrast * (sum - center));
  });
}

void expect_color(const Tensor& out, std::vector<double> expected) {
  for (double& e : expected) e = saturate(out.dtype, e);
  expect_near(out, expected, is_float(out.dtype) ? 2e-4 : 1);
}

TEST(Color, MatricesOfYiq) {
  expect_color(OpRun("hue").input(photo()).arg("hue", 70.0).result(), twisted(photo(), 70, 1, 1, 1, 1, 128));
  expect_color(OpRun("saturation")
                   .input(photo())
                   .arg("saturation", scalar(DType::kF32, 1.7))
                   .arg("dtype", DType::kF32)
                   .result(),
               twisted(photo(), 0, static_cast<double>(1.7f), 1, 1, 1, 128));
  expect_color(
      OpRun("hsv").input(photo()).arg("hue", -30.0).arg("saturation", 0.4).arg("value", 1.2).result(),
      twisted(photo(), -30, 0.4, 1.2, 1, 1, 128));
  expect_color(OpRun("color_twist")
                   .input(photo())
                   .arg("hue", 15.0)
                   .arg("saturation", 1.3)
                   .arg("contrast", 0.8)
                   .arg("brightness", 1.1)
                   .result(),
               twisted(photo(), 15, 1.3, 1, 1.1, 0.8, 128));
  const Tensor floats = random_tensor(DType::kF32, {4, 5, 3}, "HWC", 23);
  expect_color(OpRun("color_twist").input(floats).arg("hue", 15.0).arg("contrast", 0.8).result(),
               twisted(floats, 15, 1, 1, 1, 0.8, 0.5));
  EXPECT_EQ(OpRun("hsv").input(floats).result().dtype, DType::kU8);
  EXPECT_EQ(OpRun("saturation").input(photo()).result().numbers(), photo().numbers());
  EXPECT_EQ(OpRun("hue").input(photo()).arg("hue", 0.0).result().numbers(), photo().numbers());
}

TEST(Color, NeedsThreeChannels) {
  const Tensor gray = random_tensor(DType::kU8, {4, 4, 1}, "HWC", 1);
  EXPECT_NE(OpRun("hue").fixed(gray).failure().find("3 channels"), std::string::npos);
  EXPECT_NE(OpRun("hue").input(gray).failure().find("3 channels"), std::string::npos);
}

}  // namespace
}  // namespace galatea::ops_test
