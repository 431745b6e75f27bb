// Colour spaces, pad, erase, normalize, one_hot and reductions of squares against formulas in double.
#include <array>
#include <cmath>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Kind = op::LoweredOutput::Kind;
using Numbers = std::vector<double>;
using Extents = std::vector<int64_t>;
using Ints = std::vector<int64_t>;

// The ordinals of types.RGB, BGR, GRAY, YCbCr, ANY_DATA.
constexpr int64_t kRgb = 0, kBgr = 1, kGray = 2, kYcbcr = 3, kAnyData = 4;

bool tells(const std::string& message, const char* part) { return message.find(part) != std::string::npos; }

OpRun conversion(const Tensor& in, int64_t from, int64_t to) {
  OpRun run("color_space_conversion");
  run.input(in).arg("image_type", from).arg("output_type", to);
  return run;
}

TEST(ColorSpaceConversion, KnownColours) {
  // Black, white, and the primaries in BT.601 studio range, as the recommendation tabulates them.
  const Tensor rgb =
      tensor(DType::kU8, {1, 5, 3}, {0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255}, "HWC");
  const Tensor ycbcr = conversion(rgb, kRgb, kYcbcr).result();
  expect_near(ycbcr, {16, 128, 128, 235, 128, 128, 81, 90, 240, 145, 54, 34, 41, 240, 110}, 0);
  EXPECT_EQ(ycbcr.layout.str(), "HWC");
  expect_near(conversion(ycbcr, kYcbcr, kRgb).result(), rgb.numbers(), 2);
  expect_near(conversion(rgb, kRgb, kGray).result(), {0, 255, 76, 150, 29}, 0);
  expect_near(conversion(ycbcr, kYcbcr, kGray).result(), {0, 255, 76, 150, 29}, 1);
}

TEST(ColorSpaceConversion, ReordersWithoutArithmetic) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 50);
  const Tensor bgr = conversion(in, kRgb, kBgr).result();
  for (size_t n = 0; n < in.size(); ++n) EXPECT_EQ(bgr[n], in[n - n % 3 + (2 - n % 3)]);
  EXPECT_EQ(conversion(bgr, kBgr, kRgb).result().numbers(), in.numbers());
  EXPECT_EQ(conversion(bgr, kBgr, kYcbcr).result().numbers(),
            conversion(in, kRgb, kYcbcr).result().numbers());
  EXPECT_EQ(conversion(bgr, kBgr, kGray).result().numbers(), conversion(in, kRgb, kGray).result().numbers());
  const Tensor gray = random_tensor(DType::kU8, {4, 5, 1}, "HWC", 51);
  const Tensor grown = conversion(gray, kGray, kRgb).result();
  EXPECT_EQ(grown.extents, (Extents{4, 5, 3}));
  for (size_t n = 0; n < grown.size(); ++n) EXPECT_EQ(grown[n], gray[n / 3]);
  EXPECT_EQ(conversion(grown, kRgb, kGray).result().numbers(), gray.numbers());
  EXPECT_EQ(conversion(in, kYcbcr, kYcbcr).run().kinds[0], Kind::kView);
}

TEST(ColorSpaceConversion, TakesFramesAndRefusesTheRest) {
  const Tensor frames = random_tensor(DType::kU8, {2, 3, 4, 3}, "FHWC", 52);
  EXPECT_EQ(conversion(frames, kRgb, kGray).result().extents, (Extents{2, 3, 4, 1}));
  const Tensor in = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 53);
  EXPECT_TRUE(tells(conversion(in, kGray, kRgb).failure(), "has 1 channel"));
  EXPECT_TRUE(tells(
      OpRun("color_space_conversion").fixed(in).arg("image_type", kGray).arg("output_type", kRgb).failure(),
      "GRAY has 1 channel, the input is"));
  EXPECT_TRUE(tells(conversion(in, kAnyData, kRgb).failure(), "must name a colour space"));
  EXPECT_NE(conversion(random_tensor(DType::kU8, {3, 4, 5}, "CHW", 54), kRgb, kGray).failure(), "");
  EXPECT_NE(conversion(random_tensor(DType::kF32, {4, 5, 3}, "HWC", 54), kRgb, kGray).failure(), "");
  EXPECT_NE(OpRun("color_space_conversion").input(in).arg("image_type", kRgb).failure(), "");
}

Numbers padded(const Tensor& in, int64_t height, int64_t width, double fill) {
  Numbers out;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      out.push_back(y < in.extents[0] && x < in.extents[1] ? in[static_cast<size_t>(y * in.extents[1] + x)]
                                                           : fill);
  return out;
}

TEST(Pad, GrowsAtTheEnd) {
  for (DType type : {DType::kU8, DType::kI16, DType::kF32, DType::kI64, DType::kF64, DType::kBool}) {
    const Tensor in = tensor(type, {2, 3}, {1, 0, 1, 1, 1, 0}, "HW");
    const Tensor out = OpRun("pad").input(in).arg("shape", Ints{4, 2}).arg("fill_value", 1.0).result();
    EXPECT_EQ(out.dtype, type);
    EXPECT_EQ(out.layout.str(), "HW");
    EXPECT_EQ(out.extents, (Extents{4, 3}));
    expect_near(out, padded(in, 4, 3, 1), 0);
  }
  const Tensor in = random_tensor(DType::kU8, {5, 7}, "HW", 55);
  expect_near(OpRun("pad").input(in).arg("axis_names", std::string("W")).arg("shape", int64_t{9}).result(),
              padded(in, 5, 9, 0), 0);
  expect_near(OpRun("pad").input(in).arg("axis_names", std::string()).arg("shape", int64_t{9}).result(),
              padded(in, 9, 9, 0), 0);
  expect_near(OpRun("pad").input(in).arg("shape", int64_t{1}).arg("align", Ints{4, 7}).result(),
              padded(in, 8, 7, 0), 0);
  expect_near(OpRun("pad").input(in).arg("shape", int64_t{9}).arg("align", int64_t{8}).result(),
              padded(in, 16, 16, 0), 0);
  expect_near(OpRun("pad").input(in).arg("shape", tensor(DType::kI32, {2}, {6, 3})).result(),
              padded(in, 6, 7, 0), 0);
  // Alone in its batch, a sample is the largest.
  expect_near(OpRun("pad").input(in).result(), padded(in, 5, 7, 0), 0);
  expect_near(OpRun("pad").input(in).arg("shape", Ints{-1, 9}).result(), padded(in, 5, 9, 0), 0);
  expect_near(OpRun("pad").input(in).arg("shape", tensor(DType::kI32, {2}, {0, 9})).result(),
              padded(in, 5, 9, 0), 0);
  // Extents that every sample has are those of the batch.
  const OpRun::Outcome aligned =
      OpRun("pad").fixed(in).arg("align", int64_t{4}).arg("fill_value", 300.0).run();
  ASSERT_TRUE(aligned.ok());
  EXPECT_EQ(aligned.types[0].extents, (Extents{8, 8}));
  expect_near(aligned.outputs[0], padded(in, 8, 8, 255), 0);
}

TEST(Pad, BadArguments) {
  const Tensor in = random_tensor(DType::kU8, {5, 7}, "HW", 56);
  EXPECT_TRUE(tells(OpRun("pad").input(in).arg("shape", Ints{1, 2, 3}).failure(), "2 elements"));
  EXPECT_TRUE(tells(OpRun("pad").input(in).arg("shape", int64_t{9}).arg("align", int64_t{0}).failure(),
                    "at least 1"));
  EXPECT_TRUE(tells(
      OpRun("pad").input(in).arg("shape", int64_t{9}).arg("align", tensor(DType::kI32, {1}, {-3})).failure(),
      "at least 1"));
  EXPECT_TRUE(
      tells(OpRun("pad").input(in).arg("axes", Ints{0, -2}).arg("shape", int64_t{9}).failure(), "twice"));
}

TEST(Erase, FillsBoxes) {
  for (DType type : {DType::kU8, DType::kI16, DType::kF32, DType::kI64, DType::kF16}) {
    const Tensor in = tensor(type, {2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, "HWC");
    auto run = [&] { return OpRun("erase").input(in); };
    const Tensor out = run().arg("anchor", Numbers{0, 1}).arg("shape", Numbers{1, 5}).result();
    EXPECT_EQ(out.dtype, type);
    EXPECT_EQ(out.layout.str(), "HWC");
    EXPECT_EQ(out.numbers(), (Numbers{1, 2, 0, 0, 0, 0, 7, 8, 9, 10, 11, 12}));
    // Two boxes, a value per channel.
    EXPECT_EQ(run()
                  .arg("anchor", tensor(DType::kF32, {4}, {-1, -1, 1, 2}))
                  .arg("shape", Numbers{2, 2, 1, 1})
                  .arg("fill_value", Numbers{77, 88})
                  .result()
                  .numbers(),
              (Numbers{77, 88, 3, 4, 5, 6, 7, 8, 9, 10, 77, 88}));
    // From trunc(0.5 * 3) to before trunc(0.5 * 3 + 0.5 * 3): column 1 and 2 of all rows.
    EXPECT_EQ(run()
                  .arg("anchor", 0.5)
                  .arg("shape", 0.5)
                  .arg("axis_names", std::string("W"))
                  .arg("normalized", true)
                  .result()
                  .numbers(),
              (Numbers{1, 2, 0, 0, 0, 0, 7, 8, 0, 0, 0, 0}));
    EXPECT_EQ(run()
                  .arg("anchor", Numbers{1, 1.5, 0.5})
                  .arg("shape", Numbers{2, 1, 1})
                  .arg("axes", Ints{0, 1, -1})
                  .arg("centered_anchor", true)
                  .result()
                  .numbers(),
              (Numbers{1, 2, 0, 4, 5, 6, 7, 8, 0, 10, 11, 12}));
    EXPECT_EQ(run().arg("shape", Numbers{1, 1}).arg("fill_value", 100.4).result()[0],
              type == DType::kF32   ? 100.4F
              : type == DType::kF16 ? 100.375
                                    : 100);
    EXPECT_EQ(run().result().numbers(), in.numbers());
    EXPECT_EQ(run().arg("shape", Numbers{-1, 1}).result().numbers(), in.numbers());
  }
}

TEST(Erase, BadArguments) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 60);
  auto run = [&] { return OpRun("erase").input(in); };
  EXPECT_TRUE(tells(run().arg("shape", Numbers{1, 1, 1}).failure(), "each box takes 2"));
  EXPECT_TRUE(tells(run().arg("anchor", Numbers{1, 1}).failure(), "shape has 0"));
  EXPECT_TRUE(
      tells(run().arg("anchor", Numbers{1, 1}).arg("shape", Numbers{1, 1, 2, 2}).failure(), "shape has 4"));
  EXPECT_TRUE(tells(run().arg("shape", Numbers(130, 1.0)).failure(), "65 boxes are too many"));
  EXPECT_TRUE(tells(run().arg("fill_value", Numbers{1, 2}).failure(), "for 3 channels"));
  EXPECT_TRUE(tells(OpRun("erase").fixed(in).arg("fill_value", Numbers{1, 2}).failure(), "for 3 channels"));
  EXPECT_TRUE(tells(OpRun("erase")
                        .input(random_tensor(DType::kU8, {4, 5}, "HW", 60))
                        .arg("fill_value", Numbers{1, 2})
                        .failure(),
                    "no axis C"));
  EXPECT_TRUE(
      tells(run().arg("normalized", true).arg("normalized_shape", true).arg("shape", Numbers{1, 1}).failure(),
            "excludes"));
  EXPECT_TRUE(tells(run().arg("axes", Ints{0, 0}).arg("shape", Numbers{1, 1}).failure(), "twice"));
  EXPECT_NE(OpRun("erase").input(scalar(DType::kBool, 1)).failure(), "");
}

/// (x - mean) / stddev per channel of an image.
Numbers per_channel(const Tensor& in, double ddof) {
  const auto channels = static_cast<size_t>(in.extents.back());
  const double count = static_cast<double>(in.size() / channels);
  Numbers mean(channels), square(channels), out;
  for (size_t n = 0; n < in.size(); ++n) mean[n % channels] += in[n] / count;
  for (size_t n = 0; n < in.size(); ++n) square[n % channels] += std::pow(in[n] - mean[n % channels], 2);
  for (size_t n = 0; n < in.size(); ++n)
    out.push_back((in[n] - mean[n % channels]) / std::sqrt(square[n % channels] / (count - ddof)));
  return out;
}

TEST(Normalize, ComputesWhatIsNotGiven) {
  for (DType type :
       {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kI32, DType::kU32, DType::kF32}) {
    const Tensor in = random_tensor(type, {6, 5, 3}, "HWC", 57);
    for (int64_t ddof : {0, 1}) {
      const Tensor out =
          OpRun("normalize").input(in).arg("axis_names", std::string("HW")).arg("ddof", ddof).result();
      EXPECT_EQ(out.dtype, DType::kF32);
      EXPECT_EQ(out.layout.str(), "HWC");
      expect_near(out, per_channel(in, static_cast<double>(ddof)), 1e-4);
    }
  }
  const Tensor flat = tensor(DType::kU8, {4}, {7, 7, 7, 7});
  EXPECT_EQ(OpRun("normalize").input(flat).arg("shift", 3.0).result().numbers(), (Numbers{3, 3, 3, 3}));
  const Tensor steps = tensor(DType::kU8, {4}, {0, 2, 4, 6});
  EXPECT_EQ(OpRun("normalize").input(steps).arg("ddof", int64_t{4}).arg("shift", 3.0).result().numbers(),
            (Numbers{3, 3, 3, 3}));
  // Variance 5, and 4 more.
  expect_near(OpRun("normalize").input(steps).arg("epsilon", 4.0).arg("scale", 3.0).result(), {-3, -1, 1, 3},
              1e-6);
  EXPECT_TRUE(OpRun("normalize").input(tensor(DType::kU8, {0}, {})).result().extents == Extents{0});
}

TEST(Normalize, TakesWhatIsGiven) {
  const Tensor steps = tensor(DType::kI16, {1, 2, 2}, {0, 2, 4, 6}, "HWC");
  auto run = [&] { return OpRun("normalize").input(steps); };
  expect_near(run().arg("mean", 2.0).arg("stddev", 4.0).result(), {-.5, 0, .5, 1}, 0);
  expect_near(run().arg("mean", 2.0).arg("stddev", 3.0).arg("epsilon", 16.0).result(), {-.4, 0, .4, .8},
              1e-6);
  expect_near(run().arg("mean", Numbers{0, 2}).arg("stddev", Numbers{2, 4}).result(), {0, 0, 2, 1}, 0);
  expect_near(run()
                  .arg("mean", tensor(DType::kF32, {1, 2, 1}, {1, 5}))
                  .arg("stddev", tensor(DType::kF32, {}, {2}))
                  .result(),
              {-.5, .5, -.5, .5}, 0);
  // The variance about a given mean, over the axes where it has one element: (0 + 16) / 2 and (1 + 25) / 2.
  expect_near(run().arg("mean", Numbers{0, 1}).result(),
              {0, 1 / std::sqrt(13.0), 4 / std::sqrt(8.0), 5 / std::sqrt(13.0)}, 1e-6);
  const Tensor bytes = run()
                           .arg("mean", 2.0)
                           .arg("stddev", 4.0)
                           .arg("scale", 100.0)
                           .arg("shift", 250.0)
                           .arg("dtype", DType::kU8)
                           .result();
  EXPECT_EQ(bytes.numbers(), (Numbers{200, 250, 255, 255}));
}

/// What only the run tells the extents of is an input.
TEST(Normalize, TakesTensorsOfAnyExtents) {
  const Tensor steps = tensor(DType::kI16, {2, 2}, {0, 2, 4, 6});
  auto run = [&](const char* inputs) {
    return OpRun("normalize.given").input(steps).arg("inputs", std::string(inputs));
  };
  const Tensor rows = tensor(DType::kF32, {2, 1}, {1, 5}), columns = tensor(DType::kF32, {1, 2}, {2, 4});
  expect_near(run("mean stddev").input(rows).input(columns).result(), {-.5, .25, -.5, .25}, 0);
  // (1 + 1) / 2 about a row's mean.
  expect_near(run("mean").arg("axes", Ints{1}).input(rows).result(), {-1, 1, -1, 1}, 1e-6);
  // Of a column the mean is computed: 2 and 4.
  expect_near(run("stddev").arg("axes", Ints{0}).input(columns).result(), {-1, -.5, 1, .5}, 1e-6);
  const Tensor none = tensor(DType::kF32, {1, 2}, {0, 4});
  expect_near(run("mean stddev").input(rows).input(none).arg("shift", 7.0).result(), {7, 7.25, 7, 7.25}, 0);
  expect_near(run("mean stddev").input(rows).input(none).arg("epsilon", 9.0).result(),
              {-1. / 3, .2, -1. / 3, .2}, 1e-6);
  EXPECT_TRUE(says(run("mean").arg("axes", Ints{1}).input(tensor(DType::kF32, {3, 1}, {1, 2, 3})).failure(),
                   "mean has extent 3 along axis 0, the input has 2"));
  EXPECT_EQ(run("mean stddev").input(rows).input(columns).arg("dtype", DType::kU8).result().numbers(),
            (Numbers{0, 0, 0, 0}));
  EXPECT_TRUE(tells(OpRun("normalize").input(steps).fed_arg("mean", rows).failure(), "over which axes"));
}

TEST(Normalize, BadArguments) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 58);
  auto run = [&] { return OpRun("normalize").input(in); };
  EXPECT_TRUE(tells(run().arg("axes", Ints{}).failure(), "at least one axis"));
  EXPECT_TRUE(tells(run().arg("axes", Ints{0}).arg("mean", 1.0).arg("stddev", 1.0).failure(), "are numbers"));
  EXPECT_TRUE(tells(run().arg("stddev", 0.0).failure(), "must not be 0"));
  EXPECT_TRUE(tells(run().arg("ddof", int64_t{-1}).failure(), "negative"));
  EXPECT_TRUE(tells(run().arg("epsilon", -1.0).failure(), "negative"));
  EXPECT_TRUE(tells(run().arg("mean", tensor(DType::kF32, {3}, {1, 2, 3})).failure(), "of 3 dimensions"));
  EXPECT_TRUE(tells(run().arg("mean", Numbers{1, 2}).failure(), "has extent 2 along axis 2"));
  EXPECT_TRUE(
      tells(OpRun("normalize").fixed(in).arg("mean", Numbers{1, 2}).failure(), "has extent 2 along axis 2"));
  EXPECT_TRUE(tells(OpRun("normalize")
                        .input(random_tensor(DType::kU8, {4, 5}, "HW", 58))
                        .arg("mean", Numbers{1, 2})
                        .failure(),
                    "no axis C"));
  EXPECT_TRUE(tells(run().arg("mean", Numbers{1, 2, 3}).arg("axes", Ints{2}).failure(), "is reduced to 1"));
  EXPECT_TRUE(tells(run().arg("dtype", DType::kI64).failure(), "up to 32 bits"));
  EXPECT_TRUE(tells(run().arg("batch", true).arg("mean", Numbers{1, 2, 3}).failure(), "one number each"));
  EXPECT_NE(OpRun("normalize").input(scalar(DType::kBool, 1)).failure(), "");
}

TEST(OneHot, TurnsOnTheClass) {
  for (DType type : {DType::kU8, DType::kI32, DType::kU64, DType::kF32, DType::kF64}) {
    const OpRun::Outcome few = OpRun("one_hot").input(scalar(type, 2)).arg("num_classes", int64_t{4}).run();
    ASSERT_TRUE(few.ok());
    EXPECT_EQ(few.kinds[0], Kind::kScalars);
    EXPECT_EQ(few.outputs[0].numbers(), (Numbers{0, 0, 1, 0}));
    const Tensor many = OpRun("one_hot").input(scalar(type, 2)).arg("num_classes", int64_t{40}).result();
    for (size_t k = 0; k < 40; ++k) EXPECT_EQ(many[k], k == 2 ? 1 : 0);
  }
  const Tensor mask = tensor(DType::kI16, {2, 2}, {0, 1, -1, 2}, "HW");
  const Tensor last = OpRun("one_hot")
                          .input(mask)
                          .arg("num_classes", int64_t{2})
                          .arg("on_value", 300.0)
                          .arg("off_value", 3.0)
                          .arg("dtype", DType::kU8)
                          .arg("axis_name", std::string("C"))
                          .result();
  EXPECT_EQ(last.layout.str(), "HWC");
  EXPECT_EQ(last.extents, (Extents{2, 2, 2}));
  EXPECT_EQ(last.numbers(), (Numbers{255, 3, 3, 255, 3, 3, 3, 3}));
  const Tensor first =
      OpRun("one_hot").input(mask).arg("num_classes", int64_t{2}).arg("axis", int64_t{0}).result();
  EXPECT_EQ(first.layout.str(), "");
  EXPECT_EQ(first.numbers(), (Numbers{1, 0, 0, 0, 0, 1, 0, 0}));
  const Tensor one = tensor(DType::kI32, {1}, {1});
  EXPECT_EQ(OpRun("one_hot").fixed(one).arg("num_classes", int64_t{3}).result().extents, (Extents{3}));
  EXPECT_EQ(
      OpRun("one_hot").fixed(one).arg("num_classes", int64_t{3}).arg("axis", int64_t{0}).result().extents,
      (Extents{3, 1}));
}

TEST(OneHot, BadArguments) {
  const Tensor mask = tensor(DType::kI16, {2, 2}, {0, 1, -1, 2}, "HW");
  auto run = [&] { return OpRun("one_hot").input(mask).arg("num_classes", int64_t{3}); };
  EXPECT_TRUE(tells(run().arg("axis", int64_t{3}).failure(), "out of range"));
  EXPECT_TRUE(tells(run().arg("axis", int64_t{-2}).failure(), "out of range"));
  EXPECT_TRUE(tells(run().arg("axis_name", std::string("CD")).failure(), "one letter"));
  EXPECT_TRUE(tells(run().arg("axis_name", std::string("H")).failure(), "already"));
  EXPECT_TRUE(tells(OpRun("one_hot").input(mask).arg("num_classes", int64_t{-1}).failure(), "negative"));
  EXPECT_TRUE(tells(OpRun("one_hot")
                        .input(tensor(DType::kI16, {2, 2}, {0, 1, -1, 2}))
                        .arg("num_classes", int64_t{2})
                        .arg("axis_name", std::string("C"))
                        .failure(),
                    "needs an input with a layout"));
  EXPECT_EQ(OpRun("one_hot").input(mask).result().extents, (std::vector<int64_t>{2, 2, 0})) << "no classes";
}

TEST(Squares, AgainstPlainSums) {
  for (DType type : {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kI32, DType::kF32}) {
    const Tensor in = random_tensor(type, {6, 5, 3}, "HWC", 59);
    Numbers square(3), root, mean(3), variance(3), deviation;
    for (size_t n = 0; n < in.size(); ++n) square[n % 3] += in[n] * in[n] / 30, mean[n % 3] += in[n] / 30;
    for (size_t n = 0; n < in.size(); ++n) variance[n % 3] += std::pow(in[n] - mean[n % 3], 2) / 29;
    for (double s : square) root.push_back(std::sqrt(s));
    for (double v : variance) deviation.push_back(std::sqrt(v));
    auto near = [](double x) { return 1e-5 * std::abs(x) + 1e-6; };
    auto reduced = [&](const char* name) {
      OpRun run(name);
      run.input(in).arg("axis_names", std::string("HW"));
      return run;
    };
    expect_near(reduced("reductions.mean_square").result(), square, near(square[0]));
    expect_near(reduced("reductions.rms").result(), root, near(root[0]));
    for (const bool kept : {false, true}) {
      const Tensor about = tensor(DType::kF32, kept ? Extents{1, 1, 3} : Extents{3}, mean);
      for (const bool keep_dims : {false, true}) {
        auto spread = [&](const char* name) {
          return reduced(name).input(about).arg("ddof", int64_t{1}).arg("keep_dims", keep_dims).result();
        };
        expect_near(spread("reductions.variance"), variance, 10 * near(variance[0]));
        expect_near(spread("reductions.std_dev"), deviation, 10 * near(deviation[0]));
        EXPECT_EQ(spread("reductions.std_dev").extents, (keep_dims ? Extents{1, 1, 3} : Extents{3}));
      }
    }
  }
}

/// In 16 lanes of f32, the mean of 0.1 forty thousand times was 1e-5 off, that of a 1080p picture 3e-3.
TEST(Sums, OfManyFloatsLoseNothing) {
  constexpr int64_t kCount = 40000;
  const Tensor constant = tensor(DType::kF32, {kCount}, Numbers(kCount, 0.1F));
  const Tensor mixed = random_tensor(DType::kF32, {kCount}, "", 7);
  for (const Tensor& in : {constant, mixed}) {
    double sum = 0, square = 0, spread = 0;
    for (size_t n = 0; n < in.size(); ++n) sum += in[n], square += in[n] * in[n];
    const auto about = static_cast<double>(static_cast<float>(sum / kCount + 1));
    for (size_t n = 0; n < in.size(); ++n) spread += std::pow(in[n] - about, 2);
    const auto expect_close = [&](OpRun run, double expected) {
      // The result is rounded to f32, and distances are.
      EXPECT_NEAR(run.input(in).result()[0] / expected, 1, 1.2e-7) << expected;
    };
    expect_close(OpRun("reductions.sum"), sum);
    expect_close(OpRun("reductions.mean"), sum / kCount);
    expect_close(OpRun("reductions.mean_square"), square / kCount);
    expect_close(OpRun("reductions.rms"), std::sqrt(square / kCount));
    const Tensor mean = scalar(DType::kF32, about);
    EXPECT_NEAR(OpRun("reductions.variance").input(in).input(mean).result()[0] / (spread / kCount), 1, 4e-7);
    EXPECT_NEAR(OpRun("reductions.std_dev").input(in).input(mean).result()[0] / std::sqrt(spread / kCount), 1,
                2e-7);
  }
  // All equal: nothing is left of them.
  for (const double left : OpRun("normalize").input(constant).result().numbers()) ASSERT_EQ(left, 0);
}

TEST(Squares, CornersAndBadArguments) {
  const Tensor in = tensor(DType::kU8, {2, 2}, {3, 4, 0, 0}, "HW");
  EXPECT_EQ(
      OpRun("reductions.rms").input(in).arg("axes", int64_t{1}).arg("dtype", DType::kU8).result().numbers(),
      (Numbers{4, 0}));  // sqrt(12.5)
  EXPECT_EQ(OpRun("reductions.rms").input(in).arg("axes", Ints{}).result().numbers(), in.numbers());
  auto variance = [&](Tensor mean) {
    OpRun run("reductions.variance");
    run.input(in).input(std::move(mean));
    return run;
  };
  EXPECT_EQ(variance(tensor(DType::kF32, {2, 2}, {1, 1, 1, 1})).arg("axes", Ints{}).result().numbers(),
            (Numbers{0, 0, 0, 0}));
  EXPECT_TRUE(
      tells(variance(scalar(DType::kF32, 2)).arg("ddof", int64_t{4}).failure(), "ddof=4 leaves nothing"));
  EXPECT_TRUE(tells(variance(scalar(DType::kF32, 2)).arg("ddof", int64_t{-4}).failure(), "negative"));
  EXPECT_TRUE(tells(variance(scalar(DType::kF32, 2)).arg("axes", int64_t{0}).failure(), "the mean is"));
  EXPECT_TRUE(
      tells(variance(tensor(DType::kF32, {3}, {1, 2, 3})).arg("axes", int64_t{0}).failure(), "extent 3"));
  EXPECT_NE(variance(scalar(DType::kU8, 2)).failure(), "");
  EXPECT_TRUE(tells(OpRun("reductions.mean_square").input(tensor(DType::kU8, {0}, {})).failure(), "nothing"));
  EXPECT_NE(OpRun("reductions.variance").input(in).failure(), "");
}

}  // namespace
}  // namespace galatea::ops_test
