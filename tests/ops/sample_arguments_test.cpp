// Axes, dimensions and fill values that each sample gives, against the same call with numbers of the text.
#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Ints = std::vector<int64_t>;
using Extents = std::vector<int64_t>;

Tensor small_photo() { return random_tensor(DType::kU8, {5, 7, 3}, "HWC", 900); }

Tensor whole(const Ints& values) {
  return tensor(DType::kI32, {static_cast<int64_t>(values.size())}, {values.begin(), values.end()});
}

void expect_same(const Tensor& actual, const Tensor& expected) {
  EXPECT_EQ(actual.extents, expected.extents);
  EXPECT_EQ(actual.layout.str(), expected.layout.str());
  EXPECT_EQ(actual.cells, expected.cells);
}

TEST(AxesOfSample, SliceAsTheSameAxesOfTheText) {
  for (const Ints& axes : {Ints{0, 1}, Ints{1, 0}, Ints{2, 1}, Ints{-3, -1}}) {
    const auto cut = [&](auto given) {
      return OpRun("slice")
          .input(small_photo())
          .arg("axes", given)
          .arg("start", Ints{1, 2})
          .arg("shape", Ints{2, 1});
    };
    expect_same(cut(whole(axes)).result(), cut(axes).result());
    const auto outside = [&](auto given) {
      OpRun run("slice");
      return run.input(small_photo())
          .arg("axes", given)
          .arg("rel_start", std::vector<double>{-0.5, 0.25})
          .arg("rel_end", std::vector<double>{0.75, 1.5})
          .arg("fill_values", std::vector<double>{9.0})
          .arg("out_of_bounds_policy", std::string("pad"))
          .result();
    };
    expect_same(outside(whole(axes)), outside(axes));
  }
}

TEST(AxesOfSample, PadAsTheSameAxesOfTheText) {
  for (const Ints& axes : {Ints{0, 1}, Ints{1, 0}, Ints{-1, 0}}) {
    const auto grown = [&](auto given) {
      return OpRun("pad")
          .input(small_photo())
          .arg("axes", given)
          .arg("shape", Ints{6, 9})
          .arg("align", Ints{4, 1})
          .arg("fill_value", 3.0)
          .result();
    };
    expect_same(grown(whole(axes)), grown(axes));
  }
}

TEST(AxesOfSample, BadOnesFailTheSample) {
  const auto slice = [](const Ints& axes) {
    return OpRun("slice").input(small_photo()).arg("axes", whole(axes)).arg("end", Ints{1, 1}).failure();
  };
  EXPECT_PRED2(says, slice({0, 3}), "axes names axis 3, which is out of range: the input has 3 axes");
  EXPECT_PRED2(says, slice({-4, 1}), "axes names axis -4");
  EXPECT_PRED2(says, slice({1, -2}), "axes names axis 1 twice");
  EXPECT_PRED2(
      says, OpRun("pad").input(small_photo()).arg("axes", whole({0, 0})).arg("shape", Ints{9, 9}).failure(),
      "axes names axis 0 twice");
  EXPECT_PRED2(says, OpRun("slice").input(small_photo()).arg("axes", whole({0, 1, 2, 0})).failure(),
               "4 axes are named, the input has 3");
  EXPECT_PRED2(
      says,
      OpRun("pad").input(small_photo()).arg("axes", tensor(DType::kF32, {1}, {0})).arg("shape", 9L).failure(),
      "must be an integer or a list of integers");
}

TEST(DimensionsOfSample, ReshapeAsTheSameOfTheText) {
  for (const char* name : {"reshape", "reinterpret"}) {
    for (const Ints& dims : {Ints{1, 0, 2}, Ints{0, 1, 2, -1}, Ints{-1, 2, 1, 0}}) {
      expect_same(OpRun(name).input(small_photo()).arg("src_dims", whole(dims)).result(),
                  OpRun(name).input(small_photo()).arg("src_dims", dims).result());
    }
    EXPECT_PRED2(says, OpRun(name).input(small_photo()).arg("src_dims", whole({0, 1, 3})).failure(),
                 "src_dims names axis 3, the input has 3 axes");
    EXPECT_PRED2(says, OpRun(name).input(small_photo()).arg("src_dims", whole({0, 1})).failure(), "elements");
  }
  const auto scaled = [](auto dims) {
    return OpRun("reshape")
        .input(small_photo())
        .arg("src_dims", dims)
        .arg("rel_shape", std::vector<double>{3.0, 1.0})
        .result();
  };
  // Of 5 x 7 x 3: rows of the width, 3 for each row.
  EXPECT_EQ(scaled(whole({0, 1})).extents, (Extents{15, 7}));
  expect_same(scaled(whole({0, 1})), scaled(Ints{0, 1}));
}

TEST(FillsOfSample, AsTheSameNumbersOfTheText) {
  const auto padded = [](auto fill) {
    return OpRun("pad").input(small_photo()).arg("shape", Ints{6, 9, 3}).arg("fill_value", fill).result();
  };
  expect_same(padded(scalar(DType::kF32, 77)), padded(77.0));
  const auto erased = [](auto fill) {
    return OpRun("erase")
        .input(small_photo())
        .arg("shape", std::vector<double>{2, 3})
        .arg("fill_value", fill)
        .result();
  };
  expect_same(erased(tensor(DType::kF32, {3}, {1, 300, 2.5})), erased(std::vector<double>{1, 300, 2.5}));
  expect_same(erased(scalar(DType::kI32, 8)), erased(std::vector<double>{8}));
  EXPECT_PRED2(says,
               OpRun("erase")
                   .input(small_photo())
                   .arg("shape", std::vector<double>{2, 3})
                   .arg("fill_value", tensor(DType::kF32, {2}, {1, 2}))
                   .failure(),
               "2 values of fill_value for");
}

TEST(GetProperty, LayoutAsBytes) {
  const Tensor layout = OpRun("get_property").input(small_photo()).arg("key", std::string("layout")).result();
  EXPECT_EQ(layout.dtype, DType::kU8);
  EXPECT_EQ(layout.extents, Extents{3});
  EXPECT_EQ(layout.numbers(), (std::vector<double>{'H', 'W', 'C'}));
  const Tensor plain = random_tensor(DType::kF32, {2, 2}, {}, 901);
  EXPECT_EQ(OpRun("get_property").input(plain).arg("key", std::string("layout")).result().extents,
            Extents{0});
  EXPECT_PRED2(says, OpRun("get_property").input(plain).arg("key", std::string("size")).failure(),
               "there is no property \"size\"");
}

}  // namespace
}  // namespace galatea::ops_test
