// Boxes of turned images, corner by corner.
#include "stdlib_ops/native/bbox_rotate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace galatea::native {
namespace {

BboxTurn turn_by(double degrees, std::array<double, 2> image, std::array<double, 2> canvas) {
  BboxTurn turn;
  turn.cos = std::cos(degrees * std::numbers::pi / 180);
  turn.sin = std::sin(degrees * std::numbers::pi / 180);
  turn.image = image;
  turn.canvas = canvas;
  return turn;
}

Box plane_box(double left, double top, double right, double bottom) {
  return {.lo = {left, top}, .hi = {right, bottom}};
}

void expect_box(const std::optional<Box>& found, const Box& expected) {
  ASSERT_TRUE(found);
  for (size_t d = 0; d < 2; ++d) {
    EXPECT_NEAR(found->lo[d], expected.lo[d], 1e-9);
    EXPECT_NEAR(found->hi[d], expected.hi[d], 1e-9);
  }
}

TEST(BboxRotate, IsTheHullOfTurnedCorners) {
  const Box box = plane_box(10, 20, 50, 35);
  for (const double degrees : {0.0, 12.5, 45.0, 90.0, 133.0, -70.0, 300.0}) {
    const BboxTurn turn = turn_by(degrees, {80, 60}, {200, 200});
    Box hull = plane_box(1e9, 1e9, -1e9, -1e9);
    for (const double x : {10.0, 50.0})
      for (const double y : {20.0, 35.0}) {
        // Counter-clockwise on a screen, whose y points down.
        const std::array<double, 2> at = {100 + (x - 40) * turn.cos + (y - 30) * turn.sin,
                                          100 - (x - 40) * turn.sin + (y - 30) * turn.cos};
        for (size_t d = 0; d < 2; ++d) {
          hull.lo[d] = std::min(hull.lo[d], at[d]);
          hull.hi[d] = std::max(hull.hi[d], at[d]);
        }
      }
    expect_box(turned_box(box, turn), hull);
  }
}

TEST(BboxRotate, AQuarterTurnSwapsSides) {
  // The right edge of the image becomes the upper one.
  for (const double shrink : {0.0, 0.5, 1.0}) {
    BboxTurn turn = turn_by(90, {80, 60}, {60, 80});
    turn.shrink = shrink;
    expect_box(turned_box(plane_box(70, 20, 80, 35), turn), plane_box(20, 0, 35, 10));
  }
}

TEST(BboxRotate, FixedBoxesKeepTheirSize) {
  const Box box = plane_box(30, 25, 50, 35);
  for (const double degrees : {0.0, 20.0, 44.0, 46.0, 100.0, -30.0}) {
    BboxTurn turn = turn_by(degrees, {80, 60}, {80, 60});
    const Box hull = turned_box(box, turn).value();
    turn.shrink = 1;
    const Box fixed = turned_box(box, turn).value();
    turn.shrink = 0.5;
    const Box halfway = turned_box(box, turn).value();
    const bool lies = std::abs(turn.sin) > std::abs(turn.cos);
    for (size_t d = 0; d < 2; ++d) {
      EXPECT_NEAR(fixed.hi[d] - fixed.lo[d], (d == 0) != lies ? 20 : 10, 1e-9) << degrees;
      EXPECT_NEAR(halfway.lo[d], (hull.lo[d] + fixed.lo[d]) / 2, 1e-9) << degrees;
      EXPECT_NEAR(halfway.hi[d], (hull.hi[d] + fixed.hi[d]) / 2, 1e-9) << degrees;
    }
  }
}

TEST(BboxRotate, RemovesWhatIsCutOff) {
  BboxTurn turn = turn_by(0, {100, 100}, {50, 50});
  // Three quarters of its width lie past the edge.
  const Box box = plane_box(70, 40, 90, 60);
  for (const double least : {0.0, 0.24, 0.26}) {
    turn.least_visible = least;
    const auto found = turned_box(box, turn);
    EXPECT_EQ(found.has_value(), least < 0.25);
    if (found) expect_box(found, plane_box(45, 15, 50, 35));
  }
  turn.least_visible = 0;
  expect_box(turned_box(plane_box(90, 40, 99, 60), turn), plane_box(50, 15, 50, 35));
  EXPECT_FALSE(turned_box(plane_box(50, 50, 50, 50), turn)) << "no area";
}

}  // namespace
}  // namespace galatea::native
