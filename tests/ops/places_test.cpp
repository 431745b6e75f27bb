// Maps of places (NAME.places) and the operators behind galatea.together, against numbers by hand. What they
// are together, against masks and recorded results, is in tests/together.
#include <cmath>
#include <limits>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Numbers = std::vector<double>;
using Extents = std::vector<int64_t>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor picture(int64_t height, int64_t width, const char* layout = "HWC") {
  const bool last = std::string(layout) == "HWC";
  return random_tensor(DType::kU8, last ? Extents{height, width, 1} : Extents{1, height, width},
                       Layout(layout), 2);
}

/// The first two rows of the map of an operator on a picture of 10 x 20.
void expect_map(OpRun run, const Numbers& rows, const char* layout = "HWC") {
  Numbers whole = rows;
  whole.insert(whole.end(), {0, 0, 1});
  const Tensor map = run.input(picture(10, 20, layout)).result();
  EXPECT_EQ(map.dtype, DType::kF64);
  EXPECT_EQ(map.extents, (Extents{3, 3}));
  expect_near(map, whole, 1e-12);
}

OpRun run(const std::string& name) { return OpRun(name); }
ir::Attr list(std::vector<double> numbers) { return ir::Attr(std::move(numbers)); }

TEST(Places, OfWindowsAndMirrors) {
  expect_map(run("flip.places"), {-1, 0, 20, 0, 1, 0});
  expect_map(run("flip.places").arg("horizontal", int64_t{0}).arg("vertical", int64_t{1}),
             {1, 0, 0, 0, -1, 10}, "CHW");
  expect_map(run("flip.places").arg("horizontal", scalar(DType::kI32, 0)), {1, 0, 0, 0, 1, 0});
  expect_map(run("crop.places").arg("crop", list({4, 6})), {1, 0, -7, 0, 1, -3});
  expect_map(run("crop.places").arg("crop", list({14, 6})).arg("out_of_bounds_policy", std::string("pad")),
             {1, 0, -7, 0, 1, 2});
  expect_map(run("slice.places").arg("start", list({2, 1})).arg("shape", list({5, 5})), {1, 0, -2, 0, 1, -1});
  expect_map(
      run("slice.places").arg("start", list({3})).arg("shape", list({5})).arg("axis_names", std::string("H")),
      {1, 0, 0, 0, 1, -3});
  expect_map(run("pad.places").arg("axis_names", std::string("HW")).arg("shape", ir::Attr(Extents{30, 30})),
             {1, 0, 0, 0, 1, 0});
  // The window begins at column 7 and is mirrored: 7 goes to its right edge, 6.
  expect_map(run("crop_mirror_normalize.places").arg("crop", list({4, 6})).arg("mirror", int64_t{1}),
             {-1, 0, 13, 0, 1, -3});
  EXPECT_TRUE(says(run("crop.places").input(picture(3, 3)).arg("crop", list({4, 6})).failure(),
                   "reaches outside the input"));
}

TEST(Places, OfResizes) {
  expect_map(run("resize.places").arg("size", list({5, 40})), {2, 0, 0, 0, 0.5, 0});
  expect_map(run("resize.places").arg("size", list({-5, 40})), {2, 0, 0, 0, -0.5, 5});
  expect_map(run("resize.places")
                 .arg("size", list({10, 10}))
                 .arg("roi_start", list({5, 10}))
                 .arg("roi_end", list({10, 15})),
             {2, 0, -20, 0, 2, -10});
  for (const char* name : {"resize_crop_mirror.places", "fast_resize_crop_mirror.places"})
    expect_map(run(name).arg("size", list({20, 40})).arg("crop", list({10, 10})).arg("mirror", int64_t{1}),
               {-2, 0, 25, 0, 2, -5});
  // A window of all of it.
  expect_map(run("random_resized_crop.places")
                 .arg("size", ir::Attr(Extents{8, 8}))
                 .arg("random_area", list({1, 1}))
                 .arg("random_aspect_ratio", list({2, 2})),
             {0.4, 0, 0, 0, 0.8, 0});
}

TEST(Places, OfWarps) {
  // A quarter to the left: the right edge comes to the top.
  expect_map(run("rotate.places").arg("angle", 90.0), {0, 1, 0, -1, 0, 20});
  const double c = std::cos(0.5), s = std::sin(0.5);
  const double degrees = 0.5 * 180 / 3.14159265358979323846;
  const Tensor map =
      run("rotate.places").input(picture(10, 20)).arg("angle", degrees).arg("keep_size", true).result();
  expect_near(map, {c, s, 10 - 10 * c - 5 * s, -s, c, 5 + 10 * s - 5 * c, 0, 0, 1}, 1e-6);
  const ir::Attr matrix = list({2, 0, 3, 0, 4, 5});
  expect_map(run("warp_affine.places").arg("matrix", matrix), {0.5, 0, -1.5, 0, 0.25, -1.25});
  expect_map(run("warp_affine.places").arg("matrix", matrix).arg("inverse_map", false), {2, 0, 3, 0, 4, 5});
  EXPECT_TRUE(
      says(run("warp_affine.places").input(picture(4, 4)).arg("matrix", list({1, 1, 0, 1, 1, 0})).failure(),
           "boxes and points cannot follow it"));
}

TEST(Places, OfPerspective) {
  const ir::Attr matrix = list({2, 0, 3, 0, 4, 5, 0, 0, 1});
  const char* name = "experimental.warp_perspective.places";
  expect_map(run(name).arg("matrix", matrix), {0.5, 0, -1.5, 0, 0.25, -1.25});
  expect_map(run(name).arg("matrix", matrix).arg("inverse_map", false), {2, 0, 3, 0, 4, 5});
  // Centres of pixels are half a pixel from their corners.
  expect_map(
      run(name).arg("matrix", matrix).arg("inverse_map", false).arg("pixel_origin", std::string("center")),
      {2, 0, 2.5, 0, 4, 3.5});
  const ir::Attr flat = list({1, 1, 0, 1, 1, 0, 0, 0, 1});
  EXPECT_TRUE(says(run(name).input(picture(4, 4)).arg("matrix", flat).failure(), "boxes and points cannot"));
  expect_map(run("galatea.random_perspective.places").arg("p", 0.0), {1, 0, 0, 0, 1, 0});
  const Tensor still = run("galatea.random_perspective.places")
                           .input(picture(10, 20))
                           .arg("p", 1.0)
                           .arg("distortion_scale", 0.0)
                           .result();
  ASSERT_EQ(still.size(), 9U);
  EXPECT_GT(still[8], 0);
  for (size_t k = 0; k < 9; ++k) EXPECT_NEAR(still[k] / still[8], k % 4 == 0 ? 1 : 0, 1e-12) << k;
}

TEST(Places, OfACanvas) {
  expect_map(
      run("paste.places").arg("ratio", 2.0).arg("fill_value", ir::Attr(Extents{7})).arg("paste_y", 1.0),
      {1, 0, 10, 0, 1, 10});
}

// ---- boxes

Tensor boxes(const Numbers& numbers) {
  return tensor(DType::kF32, {static_cast<int64_t>(numbers.size()) / 4, 4}, numbers);
}
Tensor map_of(const Numbers& numbers) { return tensor(DType::kF64, {3, 3}, numbers); }
const Numbers kUnmoved = {1, 0, 0, 0, 1, 0, 0, 0, 1};

TEST(TogetherBoxes, FormatsThereAndBack) {
  const Numbers corners = {2, 3, 6, 8, 0, 0, 20, 10};
  const struct {
    const char* format;
    Numbers numbers;
  } forms[] = {
      {"xyxy", corners}, {"xywh", {2, 3, 4, 5, 0, 0, 20, 10}}, {"cxcywh", {4, 5.5, 4, 5, 10, 5, 20, 10}}};
  for (const auto& [format, numbers] : forms)
    for (const bool relative : {false, true}) {
      Numbers given = numbers;
      for (size_t i = 0; relative && i < given.size(); ++i) given[i] /= i % 2 == 0 ? 20 : 10;
      const auto with = [&](const char* name, const Tensor& in) {
        return OpRun(name)
            .input(in)
            .input(picture(10, 20))
            .arg("format", std::string(format))
            .arg("relative", relative)
            .result();
      };
      expect_near(with("together.corners", boxes(given)), corners, 1e-5);
      expect_near(with("together.format", boxes(corners)), given, 1e-5);
    }
  EXPECT_EQ(OpRun("together.corners").input(boxes({})).input(picture(1, 1)).result().extents,
            (Extents{0, 4}));
  EXPECT_TRUE(says(OpRun("together.corners")
                       .input(tensor(DType::kF32, {1, 5}, {1, 2, 3, 4, 5}))
                       .input(picture(4, 4))
                       .failure(),
                   "has 5 numbers, a box has 4"));
}

/// Clipped to the picture; what has no area is (0, 0, 0, 0), and stays it when it is turned.
TEST(TogetherBoxes, VisibleParts) {
  const auto visible = [](const Numbers& in) {
    return OpRun("together.visible").input(boxes(in)).input(picture(10, 20));
  };
  expect_near(visible({-3, 2, 5, 40, 30, 1, 40, 5, 4, 4, 4, 6}).result(),
              {0, 2, 5, 10, 0, 0, 0, 0, 0, 0, 0, 0}, 0);
  const Numbers turned = {0, 1, 0, -1, 0, 10, 0, 0, 1};  // x' = y, y' = 10 - x
  expect_near(visible({1, 2, 4, 3, 3, 3, 3, 8}).fixed(map_of(turned)).result(), {2, 6, 3, 9, 0, 0, 0, 0},
              1e-6);
  // Behind the horizon of a perspective: w = 1 - x / 4.
  const Numbers tilted = {1, 0, 0, 0, 1, 0, -0.25, 0, 1};
  expect_near(visible({1, 1, 2, 2, 1, 1, 5, 2}).fixed(map_of(tilted)).result(),
              {1 / 0.75, 1 / 0.75, 4, 4, 0, 0, 0, 0}, 1e-5);
}

TEST(TogetherBoxes, MapsMultiply) {
  const Numbers scale = {2, 0, 0, 0, 3, 0, 0, 0, 1}, shift = {1, 0, 5, 0, 1, 7, 0, 0, 1};
  const Tensor picture = random_tensor(DType::kU8, {2, 3, 3}, "HWC", 1);
  expect_near(OpRun("together.compose").fixed(map_of(scale)).fixed(map_of(shift)).input(picture).result(),
              {2, 0, 10, 0, 3, 21, 0, 0, 1}, 0);
  expect_near(OpRun("together.compose").fixed(map_of(shift)).fixed(map_of(scale)).input(picture).result(),
              {2, 0, 5, 0, 3, 7, 0, 0, 1}, 0);
}

TEST(TogetherBoxes, SharesDecide) {
  const Tensor corners = boxes({0, 0, 4, 4, 0, 0, 4, 4, 0, 0, 4, 4, 0, 0, 4, 4});
  const Tensor visible = boxes({0, 0, 4, 4, 0, 0, 2, 4, 0, 0, 1, 4, 0, 0, 0, 0});
  const auto seen = [&](double least) {
    return OpRun("together.seen")
        .input(corners)
        .input(visible)
        .fixed(map_of(kUnmoved))
        .arg("min_visible", least)
        .result()
        .numbers();
  };
  EXPECT_EQ(seen(0), (Numbers{1, 1, 1, 0}));
  EXPECT_EQ(seen(0.25), (Numbers{1, 1, 1, 0}));
  EXPECT_EQ(seen(0.5), (Numbers{1, 1, 0, 0}));
  EXPECT_EQ(seen(1), (Numbers{1, 0, 0, 0}));
  expect_near(OpRun("together.boxes").input(corners).input(visible).fixed(map_of(kUnmoved)).result(),
              visible.numbers(), 0);
  // Numbers that are none are not seen.
  const Numbers nowhere = {kNan, kNan, kNan, kNan, kNan, kNan, 0, 0, 1};
  EXPECT_EQ(OpRun("together.seen").input(corners).input(visible).fixed(map_of(nowhere)).result().numbers(),
            (Numbers{0, 0, 0, 0}));
}

TEST(TogetherBoxes, RowsThatAreMarked) {
  const auto rows = [](const Tensor& data, const Numbers& marks) {
    double count = 0;
    for (const double mark : marks) count += mark;
    return OpRun("together.rows")
        .input(data)
        .input(tensor(DType::kI32, {static_cast<int64_t>(marks.size())}, marks))
        .arg("count", scalar(DType::kI32, count));
  };
  for (const DType type : {DType::kU8, DType::kI64, DType::kF32, DType::kF64, DType::kBool}) {
    const Tensor data = random_tensor(type, {6, 2, 3}, {}, 9);
    for (const Numbers& marks :
         {Numbers{0, 1, 1, 0, 0, 1}, Numbers{1, 1, 1, 1, 1, 1}, Numbers{0, 0, 0, 0, 0, 0}}) {
      Numbers expected;
      for (size_t row = 0; row < marks.size(); ++row)
        for (size_t i = 0; marks[row] != 0 && i < 6; ++i) expected.push_back(data[6 * row + i]);
      const Tensor out = rows(data, marks).result();
      EXPECT_EQ(out.numbers(), expected);
      EXPECT_EQ(out.extents, (Extents{static_cast<int64_t>(expected.size()) / 6, 2, 3}));
    }
  }
  EXPECT_EQ(rows(tensor(DType::kI32, {0}, {}), {}).result().extents, (Extents{0}));
  EXPECT_TRUE(says(rows(tensor(DType::kI32, {2}, {1, 2}), {1}).failure(), "there are 2 rows for 1 boxes"));
  EXPECT_TRUE(says(rows(scalar(DType::kI32, 1), {1}).failure(), "has no rows"));
}

// ---- points and masks

TEST(TogetherPoints, PlacesAndFractions) {
  const Tensor points = tensor(DType::kF32, {3, 2}, {0.5, 0.5, 0.1, 1, 0.25, 0.2});
  expect_near(OpRun("together.pixels").input(points).input(picture(10, 20)).arg("relative", true).result(),
              {10, 5, 2, 10, 5, 2}, 1e-6);
  EXPECT_EQ(OpRun("together.pixels").input(points).input(picture(10, 20)).result().numbers(),
            points.numbers());
  const Tensor map = map_of({2, 0, 1, 0, -1, 10, 0, 0, 1});
  const Tensor pixels = tensor(DType::kF32, {1, 2, 2}, {3, 4, 9.5, 0});
  expect_near(OpRun("together.points").input(pixels).fixed(map).input(picture(10, 20)).result(),
              {7, 6, 20, 10}, 0);
  expect_near(
      OpRun("together.points").input(pixels).fixed(map).input(picture(10, 20)).arg("relative", true).result(),
      {0.35, 0.6, 1, 1}, 1e-6);
  EXPECT_TRUE(says(
      OpRun("together.pixels").input(tensor(DType::kF32, {1, 3}, {1, 2, 3})).input(picture(4, 4)).failure(),
      "has 3 numbers, a point has 2"));
}

TEST(TogetherPoints, InsideNowAndBefore) {
  // The left and the top edge belong to the picture, the others do not.
  const Tensor points = tensor(DType::kF32, {5, 2}, {0, 0, 20, 5, 19.5, 9.5, 5, 10, -0.5, 3});
  const auto inside = [&] {
    return OpRun("together.inside").input(points).fixed(map_of(kUnmoved)).input(picture(10, 20));
  };
  EXPECT_EQ(inside().result().numbers(), (Numbers{1, 0, 1, 0, 0}));
  EXPECT_EQ(inside().input(tensor(DType::kBool, {5}, {0, 1, 1, 1, 1})).result().numbers(),
            (Numbers{0, 0, 1, 0, 0}));
}

TEST(TogetherMask, HasTheExtentsOfThePicture) {
  const Tensor mask = picture(10, 20);
  EXPECT_EQ(OpRun("together.mask").input(mask).input(picture(10, 20, "CHW")).result().numbers(),
            mask.numbers());
  EXPECT_TRUE(says(OpRun("together.mask").input(mask).input(picture(20, 10)).failure(),
                   "the mask has 10 x 20 pixels, the image 20 x 10"));
}

}  // namespace
}  // namespace galatea::ops_test
