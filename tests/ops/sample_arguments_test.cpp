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

/// Of a length that only the run tells: as many axes as each sample names.
TEST(AxesOfSample, AsManyAsTheSampleSays) {
  const auto list = [](const Ints& values) {
    return tensor(DType::kF32, {static_cast<int64_t>(values.size())}, {values.begin(), values.end()});
  };
  for (const Ints& axes : {Ints{1}, Ints{1, 0}, Ints{0, -1}, Ints{2, 0, 1}}) {
    const auto count = static_cast<std::ptrdiff_t>(axes.size());
    const Ints all_starts = {2, 1, 0}, all_shapes = {1, 3, 1};
    const Ints starts(all_starts.begin(), all_starts.begin() + count);
    const Ints shapes(all_shapes.begin(), all_shapes.begin() + count);
    const auto sliced = [&](bool open) {
      OpRun run("slice");
      run.input(small_photo());
      const auto give = [&](const char* name, const Ints& values) {
        open ? run.fed_arg(name, whole(values)) : run.arg(name, values);
      };
      give("axes", axes);
      give("start", starts);
      give("shape", shapes);
      return run.arg("out_of_bounds_policy", std::string("pad")).result();
    };
    expect_same(sliced(true), sliced(false));
    const auto padded = [&](bool open) {
      OpRun run("pad");
      run.input(small_photo());
      open ? run.fed_arg("axes", whole(axes)) : run.arg("axes", axes);
      return run.arg("shape", Ints(axes.size(), 8)).arg("align", 3L).arg("fill_value", 3.0).result();
    };
    expect_same(padded(true), padded(false));
    const auto by_inputs = [&](bool open) {
      OpRun run("slice");
      run.input(small_photo()).input(list(starts)).input(list(shapes));
      open ? run.fed_arg("axes", whole(axes)) : run.arg("axes", axes);
      return run.arg("normalized_anchor", false)
          .arg("normalized_shape", false)
          .arg("out_of_bounds_policy", std::string("pad"))
          .result();
    };
    expect_same(by_inputs(true), by_inputs(false));
  }
}

TEST(AxesOfSample, BadOnesOfAnyNumberFailTheSample) {
  const auto slice = [](const Ints& axes, const Ints& end) {
    return OpRun("slice")
        .input(small_photo())
        .fed_arg("axes", whole(axes))
        .fed_arg("end", whole(end))
        .failure();
  };
  EXPECT_PRED2(says, slice({0, 1, 2, 0}, {1}), "4 axes are named, the input has 3");
  EXPECT_PRED2(says, slice({}, {1}), "0 axes are named");
  EXPECT_PRED2(says, slice({1, -2}, {1}), "axes names axis 1 twice");
  EXPECT_PRED2(says, slice({3}, {1}), "axis 3, which is out of range");
  EXPECT_PRED2(says, slice({0}, {1, 1}), "end has 2 elements for 1 axes");
  EXPECT_PRED2(says, slice({0, 1, 2}, {1, 1}), "end has 2 elements for 3 axes");
  EXPECT_PRED2(
      says, OpRun("pad").input(small_photo()).fed_arg("axes", whole({0})).arg("shape", Ints{9, 9}).failure(),
      "shape has 2 elements for 1 axes");
  EXPECT_PRED2(says,
               OpRun("slice")
                   .input(small_photo())
                   .input(tensor(DType::kF32, {2}, {0, 0}))
                   .input(tensor(DType::kF32, {2}, {1, 1}))
                   .fed_arg("axes", whole({1}))
                   .failure(),
               "input 1 has 2 elements for 1 axes");
}

/// A list with one element for all, of a length that only the run tells.
TEST(ListsOfSample, OneElementStandsForAll) {
  const auto blurred = [](const std::vector<double>& sigma) {
    const auto n = static_cast<int64_t>(sigma.size());
    return OpRun("gaussian_blur")
        .input(small_photo())
        .fed_arg("sigma", tensor(DType::kF32, {n}, sigma))
        .result();
  };
  expect_same(blurred({1.5}), blurred({1.5, 1.5}));
  EXPECT_PRED2(says,
               OpRun("gaussian_blur")
                   .input(small_photo())
                   .fed_arg("sigma", tensor(DType::kF32, {3}, {1, 1, 1}))
                   .failure(),
               "sigma has 3 elements, 2 are needed");
  EXPECT_PRED2(says, OpRun("random.uniform").fed_arg("range", tensor(DType::kF32, {1}, {1})).failure(),
               "range has 1 elements, 2 are needed");
}

/// Boxes whose number only the run tells, against the same of the text.
TEST(BoxesOfSample, AsManyAsTheSampleSays) {
  using Doubles = std::vector<double>;
  for (const auto& [anchor, shape] : std::vector<std::pair<Doubles, Doubles>>{
           {{}, {}}, {{0.1, 0.2}, {0.5, 0.25}}, {{0.1, 0.2, 0.6, 0}, {0.3, 0.25, 0.25, 2}}})
    for (const bool anchored : {true, false})
      for (const bool normalized : {true, false}) {
        const auto n = static_cast<int64_t>(shape.size());
        OpRun given("erase"), fed("erase.boxes");
        fed.input(small_photo()).input(tensor(DType::kF32, {n}, shape));
        given.input(small_photo()).arg("shape", shape);
        if (anchored) fed.input(tensor(DType::kF32, {n}, anchor));
        if (anchored) given.arg("anchor", anchor);
        for (OpRun* run : {&given, &fed})
          run->arg("axis_names", std::string("HW"))
              .arg("fill_value", Doubles{1, 2, 3})
              .arg("centered_anchor", true)
              .arg(normalized ? "normalized" : "normalized_shape", true);
        expect_same(fed.result(), given.result());
      }
  const auto boxes = [](int64_t anchors, int64_t shapes) {
    return OpRun("erase.boxes")
        .input(small_photo())
        .input(tensor(DType::kF32, {shapes}, Doubles(static_cast<size_t>(shapes), 1)))
        .input(tensor(DType::kF32, {anchors}, Doubles(static_cast<size_t>(anchors), 1)))
        .failure();
  };
  EXPECT_PRED2(says, boxes(3, 3), "shape has 3 numbers; each box takes 2");
  EXPECT_PRED2(says, boxes(2, 4), "anchor has 2 numbers, shape has 4");
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
