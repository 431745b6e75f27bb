// fn.transforms.* against matrices written out in double, and what they refuse.
#include <cmath>
#include <numbers>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Numbers = std::vector<double>;

const Tensor& given() {
  static const Tensor in = tensor(DType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6});
  return in;
}

TEST(Transforms, MatricesOfThePlane) {
  const double a = 30 * std::numbers::pi / 180, c = std::cos(a), s = std::sin(a);
  expect_near(OpRun("transforms.rotation").arg("angle", 30.0).result(), {c, -s, 0, s, c, 0}, 1e-7);
  expect_near(OpRun("transforms.rotation")
                  .arg("angle", scalar(DType::kF32, 390))
                  .arg("center", Numbers{1, 2})
                  .result(),
              {c, -s, 1 - (c - 2 * s), s, c, 2 - (s + 2 * c)}, 1e-6);
  expect_near(OpRun("transforms.scale").arg("scale", Numbers{2, 4}).arg("center", Numbers{3, 5}).result(),
              {2, 0, -3, 0, 4, -15}, 0);
  expect_near(OpRun("transforms.translation").arg("offset", tensor(DType::kF32, {2}, {7, 8})).result(),
              {1, 0, 7, 0, 1, 8}, 0);
  expect_near(OpRun("transforms.shear").arg("shear", Numbers{0.5, 3}).arg("center", Numbers{2, 4}).result(),
              {1, 0.5, -2, 3, 1, -6}, 0);
  expect_near(OpRun("transforms.shear").arg("angles", Numbers{45, 0}).result(), {1, 1, 0, 0, 1, 0}, 1e-7);
  expect_near(OpRun("transforms.crop")
                  .arg("from_start", Numbers{10, 20})
                  .arg("from_end", Numbers{30, 60})
                  .arg("to_end", 10.0)
                  .result(),
              {0.5, 0, -5, 0, 0.25, -5}, 1e-6);
}

TEST(Transforms, OrderOfJoining) {
  auto move = [&] { return OpRun("transforms.translation").input(given()).arg("offset", Numbers{10, 20}); };
  expect_near(move().result(), {1, 2, 13, 4, 5, 26}, 0);
  expect_near(move().arg("reverse_order", true).result(), {1, 2, 53, 4, 5, 146}, 0);
  auto combine = [&] {
    return OpRun("transforms.combine")
        .input(given())
        .fixed(tensor(DType::kF32, {2, 3}, {1, 0, 10, 0, 1, 20}))
        .fixed(tensor(DType::kF32, {2, 3}, {2, 0, 0, 0, 3, 0}));
  };
  expect_near(combine().result(), {2, 4, 26, 12, 15, 78}, 0);
  expect_near(combine().arg("reverse_order", true).result(), {2, 6, 53, 8, 15, 146}, 0);
}

TEST(Transforms, Space) {
  expect_near(OpRun("transforms.shear").arg("shear", tensor(DType::kF32, {2, 1}, {0.5, 3})).result(),
              {1, 0.5, 0, 3, 1, 0}, 0);
  expect_near(
      OpRun("transforms.shear").fed_arg("shear", tensor(DType::kF32, {3, 2}, {1, 2, 3, 4, 5, 6})).result(),
      {1, 1, 2, 0, 3, 1, 4, 0, 5, 6, 1, 0}, 0);
  const Tensor turned =
      OpRun("transforms.rotation").arg("angle", 120.0).arg("axis", Numbers{5, 5, 5}).result();
  expect_near(turned, {0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0}, 1e-7);  // x to y to z to x
  expect_near(OpRun("transforms.shear").arg("shear", Numbers{1, 2, 3, 4, 5, 6}).result(),
              {1, 1, 2, 0, 3, 1, 4, 0, 5, 6, 1, 0}, 0);
  expect_near(OpRun("transforms.scale").arg("scale", 2.0).arg("ndim", int64_t{3}).result(),
              {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0}, 0);
  EXPECT_EQ(OpRun("transforms.scale").arg("scale", 2.0).result().extents, (std::vector<int64_t>{1, 2}));
}

TEST(Transforms, TheResultIsAFewScalars) {
  const OpRun::Outcome outcome = OpRun("transforms.rotation").input(given()).arg("angle", 1.0).run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.kinds[0], op::LoweredOutput::Kind::kScalars);
  EXPECT_EQ(outcome.types[0].extents, (std::vector<int64_t>{2, 3}));
}

TEST(Transforms, BadArguments) {
  const Tensor space = tensor(DType::kF32, {3, 4}, Numbers(12, 1));
  auto run = [](const char* name) { return OpRun(std::string("transforms.") + name); };
  const std::vector<std::pair<std::string, std::string>> kFailures = {
      {run("rotation").fixed(space).arg("angle", 1.0).failure(), "a matrix [2, 3] is needed"},
      {run("rotation").input(space).arg("angle", 1.0).failure(), "3 x 4, 2 x 3 is needed"},
      {run("rotation").arg("angle", 1.0).arg("axis", Numbers{1, 2}).failure(), "3 are needed"},
      {run("rotation").arg("angle", 1.0).arg("axis", Numbers{0, 0, 0}).failure(), "no direction"},
      {run("rotation").arg("angle", 1.0).arg("axis", tensor(DType::kF32, {3}, {0, 0, 0})).failure(),
       "no direction"},
      {run("rotation").arg("angle", 1.0).arg("center", Numbers{1, 2, 3}).failure(), "center takes 2"},
      {run("shear").failure(), "there is no shear"},
      {run("shear").arg("shear", Numbers{1, 2}).arg("angles", Numbers{1, 2}).failure(), "exclude"},
      {run("shear").arg("shear", Numbers{1, 2, 3, 4}).failure(), "has 4 elements"},
      {run("shear").arg("angles", Numbers{91, 0}).failure(), "not within"},
      {run("shear").arg("angles", tensor(DType::kF32, {2}, {0, -91})).failure(), "not within"},
      {run("translation").fixed(given()).arg("offset", 1.0).failure(), "offset has 1 element"},
      {run("scale").arg("scale", 1.0).arg("ndim", int64_t{9}).failure(), "9 coordinates"},
      {run("crop").arg("from_start", Numbers{1, 2}).arg("from_end", Numbers{1, 2, 3}).failure(), "takes 2"},
      {run("crop").arg("from_start", 1.0).failure(), "no extent"},
      {run("combine").fixed(given()).fixed(space).failure(), "a matrix [2, 3] is needed"},
  };
  for (const auto& [message, part] : kFailures)
    EXPECT_NE(message.find(part), std::string::npos) << part << ": " << message;
}

}  // namespace
}  // namespace galatea::ops_test
