// Ports: what they accept, how they print, how they look as data.
#include "base/port.h"

#include <gtest/gtest.h>

#include "base/port_json.h"

namespace galatea {
namespace {

using Extents = std::vector<int64_t>;

TEST(Port, AcceptsWhatItStates) {
  const Port image{.name = "data", .layouts = {"HWC", "CHW"}, .dtypes = {DType::kU8, DType::kF32}};
  EXPECT_EQ(image.rank(), 3);
  EXPECT_FALSE(image.is_concrete());
  EXPECT_TRUE(accepts(image, DType::kF32, Extents{4, 5, 3}));
  EXPECT_FALSE(accepts(image, DType::kI32, Extents{4, 5, 3}));
  EXPECT_FALSE(accepts(image, DType::kU8, Extents{4, 5}));
  const Port any;
  EXPECT_EQ(any.rank(), -1);
  EXPECT_TRUE(accepts(any, DType::kBool, Extents{}));
  const Port boxes{.dtypes = {DType::kF32}, .extents = {"n", 4}};
  EXPECT_TRUE(boxes.is_concrete());
  EXPECT_TRUE(accepts(boxes, DType::kF32, Extents{7, 4}));
  EXPECT_TRUE(accepts(boxes, DType::kF32, Extents{-1, -1}));
  EXPECT_FALSE(accepts(boxes, DType::kF32, Extents{7, 5}));
  const Port ranks{.layouts = {"HW", "HWC"}};
  EXPECT_EQ(ranks.rank(), -1);
  EXPECT_TRUE(accepts(ranks, DType::kU8, Extents{1, 2}));
  EXPECT_FALSE(accepts(ranks, DType::kU8, Extents{1}));
  const Port scalar{.dtypes = {DType::kI64}, .ndim = 0};
  EXPECT_TRUE(scalar.is_concrete());
  EXPECT_TRUE(accepts(scalar, DType::kI64, Extents{}));
  EXPECT_FALSE(accepts(scalar, DType::kI64, Extents{1}));
}

TEST(Port, PrintsAsPeopleReadIt) {
  EXPECT_EQ(to_text(Port{}), "any[…]");
  EXPECT_EQ(to_text(Port{.dtypes = {DType::kU8, DType::kF32}, .extents = {"n", 4, Extent()}}),
            "u8|f32[n,4,?]");
  EXPECT_EQ(to_text(Port{.layouts = {"HWC", "CHW"}, .dtypes = {DType::kU8}}), "u8[?,?,?] HWC|CHW");
  EXPECT_EQ(to_text(make_port("x", DType::kI64, 0)), "i64[]");
  EXPECT_EQ(to_text(make_port("x", DType::kU8, 3, "HWC", Extents{-1, 7, 3})), "u8[?,7,3] HWC");
  EXPECT_EQ(to_text(make_port("x", DType::kU8, 2)), "u8[?,?]");
}

TEST(Port, IsDataForBindings) {
  const Port boxes{.name = "boxes",
                   .documentation = "where things are",
                   .dtypes = {DType::kF32},
                   .extents = {"n", 4, Extent()},
                   .optional = true};
  EXPECT_EQ(json_text(port_json(boxes)),
            R"({"name":"boxes","documentation":"where things are","dtypes":["f32"],"layouts":[],"ndim":3,)"
            R"("extents":["n",4,null],"optional":true})");
  EXPECT_EQ(json_text(port_json(Port{})),
            R"({"name":"","documentation":"","dtypes":[],"layouts":[],"ndim":null,"extents":null,)"
            R"("optional":false})");
}

}  // namespace
}  // namespace galatea
