// Objects of masks: their boxes against a flood fill, which of them are taken and how often.
#include "stdlib_ops/native/object_bbox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "base/scalar_op.h"
#include "stdlib_ops/native/mask_objects.h"
#include "tests/native/plain_call.h"

namespace galatea::native {
namespace {

/// A dense mask, or one whose pixels lie `step` elements apart.
struct LabelMask {
  LabelMask(DType dtype, std::vector<int64_t> extents, const std::vector<int64_t>& labels, int64_t step = 1) {
    tensor.set_dense(dtype, extents);
    const auto size = static_cast<size_t>(size_of(dtype));
    memory.resize(labels.size() * size * static_cast<size_t>(step) + 1);
    for (int d = 0; d < tensor.ndim; ++d) tensor.strides[d] *= step;
    for (size_t n = 0; n < labels.size(); ++n)
      store_cell(dtype, memory.data() + n * size * static_cast<size_t>(step),
                 cell_from_int(dtype, labels[n]));
    tensor.data = memory.data();
  }
  std::vector<uint8_t> memory;
  runtime::Tensor tensor;
};

using Corners = std::vector<int64_t>;  ///< begins, then ends
using Objects = std::multiset<std::pair<int64_t, Corners>>;

/// Pixel by pixel, as one would by hand.
Objects flooded(const std::vector<int64_t>& extents, const std::vector<int64_t>& labels, int64_t background) {
  Objects objects;
  const size_t ndim = extents.size();
  std::vector<int64_t> strides(ndim, 1);
  for (size_t d = ndim; d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  std::vector<bool> seen(labels.size(), false);
  for (size_t first = 0; first < labels.size(); ++first) {
    if (seen[first] || labels[first] == background) continue;
    Corners box(2 * ndim);
    for (size_t d = 0; d < ndim; ++d) box[d] = extents[d];
    std::vector<size_t> todo = {first};
    seen[first] = true;
    while (!todo.empty()) {
      const size_t at = todo.back();
      todo.pop_back();
      for (size_t d = 0; d < ndim; ++d) {
        const int64_t place = static_cast<int64_t>(at) / strides[d] % extents[d];
        box[d] = std::min(box[d], place);
        box[ndim + d] = std::max(box[ndim + d], place + 1);
        for (const int64_t step : {-1, 1}) {
          if (place + step < 0 || place + step >= extents[d]) continue;
          const auto next = static_cast<size_t>(static_cast<int64_t>(at) + step * strides[d]);
          if (seen[next] || labels[next] != labels[first]) continue;
          seen[next] = true;
          todo.push_back(next);
        }
      }
    }
    objects.emplace(labels[first], box);
  }
  return objects;
}

Objects found(const runtime::Tensor& mask, int32_t background) {
  const MaskObjects objects =
      MaskObjects::find(mask, [&](int32_t label) { return label != background; }).value();
  Objects all;
  for (size_t n = 0; n < objects.size(); ++n) {
    Corners box;
    for (int d = 0; d < mask.ndim; ++d) box.push_back(objects.begin(n, d));
    for (int d = 0; d < mask.ndim; ++d) box.push_back(objects.end(n, d));
    all.emplace(objects.label(n), box);
  }
  return all;
}

TEST(MaskObjects, AreThoseOfAFloodFill) {
  std::mt19937 random(7);
  const std::vector<std::vector<int64_t>> shapes = {{1},       {40},         {1, 1},         {1, 90},
                                                    {90, 1},   {17, 23},     {9, 150},       {6, 7, 8},
                                                    {5, 1, 9}, {3, 4, 2, 5}, {2, 3, 2, 3, 2}};
  const DType types[] = {DType::kU8,  DType::kI8,  DType::kU16, DType::kI16,
                         DType::kU32, DType::kI32, DType::kBool};
  size_t objects = 0;
  for (const auto& shape : shapes)
    for (const DType type : types)
      for (const int64_t step : {1, 3}) {
        // From noise to few large objects.
        const unsigned most = type == DType::kBool ? 2 : 2 + random() % 3;
        int64_t volume = 1;
        for (const int64_t extent : shape) volume *= extent;
        std::vector<int64_t> labels;
        int64_t label = 0;
        const unsigned keep = random() % 4;
        for (int64_t n = 0; n < volume; ++n) {
          if (random() % 4 >= keep) label = random() % most;
          labels.push_back(label);
        }
        const LabelMask mask(type, shape, labels, step);
        for (const int32_t background : {0, 1, 9}) {
          const Objects expected = flooded(shape, labels, background);
          objects += expected.size();
          ASSERT_EQ(found(mask.tensor, background), expected);
        }
      }
  EXPECT_GT(objects, 1000U);
}

TEST(MaskObjects, JoinsWhatMeetsLate) {
  // A comb, whose teeth are one object in the last row only; a spiral; U and its inside.
  const std::vector<int64_t> comb = {1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(found(LabelMask(DType::kU8, {3, 5}, comb).tensor, 0), (Objects{{1, {0, 0, 3, 5}}}));
  const std::vector<int64_t> spiral = {1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1,
                                       0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(found(LabelMask(DType::kU8, {5, 5}, spiral).tensor, 0), (Objects{{1, {0, 0, 5, 5}}}));
  const std::vector<int64_t> corners = {1, 0, 0, 1};
  EXPECT_EQ(found(LabelMask(DType::kU8, {2, 2}, corners).tensor, 0),
            (Objects{{1, {0, 0, 1, 1}}, {1, {1, 1, 2, 2}}}));
  // Labels past the end of INT32 are negative ones.
  EXPECT_EQ(found(LabelMask(DType::kU32, {1, 2}, {4294967295, 0}).tensor, 0), (Objects{{-1, {0, 0, 1, 1}}}));
}

TEST(MaskObjects, StopsWhereItIsCancelled) {
  const LabelMask mask(DType::kU8, {2, 2}, {1, 0, 0, 1});
  EXPECT_FALSE(MaskObjects::find(mask.tensor, [](int32_t) { return true; }, [] { return true; }));
}

struct Answer {
  Corners box;
  int64_t label = 0;
  std::string error;
};

/// Draw number n.
Answer answer(const std::vector<runtime::Tensor>& inputs, const ObjectBboxOptions& options, uint64_t n,
              int64_t background = 0, int64_t least = 0, bool wanted = true) {
  const runtime::NativeFunction function = object_bbox_function();
  const auto state = function.prepare(to_json(options)).value();
  const auto ndim = static_cast<size_t>(inputs[0].ndim);
  std::vector<Cell> scalars;
  for (int word = 0; word < 4; ++word) scalars.push_back(cell_from_int(DType::kI64, philox(5, n, 0, word)));
  scalars.push_back(cell_from_int(DType::kI64, wanted ? 1 : 0));
  scalars.push_back(cell_from_int(DType::kI64, background));
  scalars.resize(scalars.size() + ndim, cell_from_int(DType::kI64, least));
  std::vector<Cell> results(2 * ndim + 1);
  testing::PlainCall call;
  call.inputs = inputs;
  call.scalars = scalars;
  call.scalar_results = results;
  call.state = state.get();
  Answer made;
  if (const Status status = function.call(call); !status) {
    made.error = status.error().diagnostics.front().message;
    return made;
  }
  for (size_t k = 0; k < 2 * ndim; ++k) made.box.push_back(cell_to_int(DType::kI64, results[k]));
  made.label = cell_to_int(DType::kI64, results.back());
  return made;
}

/// Columns 0 to 7 are objects of labels 1 1 1 2 2 3 3 3 (as many pixels high as `heights` says).
LabelMask bars() {
  constexpr std::array<int64_t, 8> kLabels = {1, 1, 1, 2, 2, 3, 3, 3}, kHeights = {4, 1, 2, 3, 1, 2, 2, 1};
  std::vector<int64_t> labels(4 * 16, 0);
  for (size_t k = 0; k < kLabels.size(); ++k)
    for (size_t y = 0; y < static_cast<size_t>(kHeights[k]); ++y) labels[y * 16 + 2 * k] = kLabels[k];
  return {DType::kU8, {4, 16}, labels};
}

/// Bar k is taken with probability shares[k]: chi-square at a level of 0.001; where it is 0, never.
void expect_shares(const ObjectBboxOptions& options, const std::array<double, 8>& shares, int64_t least = 0,
                   const std::vector<runtime::Tensor>& lists = {}) {
  constexpr double kLimits[] = {0, 10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32};  // by degrees of freedom
  constexpr int kDraws = 2000;
  const LabelMask mask = bars();
  std::vector<runtime::Tensor> inputs = {mask.tensor};
  inputs.insert(inputs.end(), lists.begin(), lists.end());
  std::array<int, 8> counts{};
  for (uint64_t n = 0; n < kDraws; ++n) {
    const Answer made = answer(inputs, options, n, 0, least);
    ASSERT_EQ(made.error, "");
    ASSERT_EQ(made.box[3], made.box[1] + 1);
    ++counts.at(static_cast<size_t>(made.box[1] / 2));
  }
  double chi_square = 0;
  size_t likely = 0;
  for (size_t k = 0; k < counts.size(); ++k) {
    const double expected = shares[k] * kDraws;
    if (expected == 0) {
      EXPECT_EQ(counts[k], 0) << "bar " << k;
      continue;
    }
    ++likely;
    chi_square += (counts[k] - expected) * (counts[k] - expected) / expected;
  }
  EXPECT_LE(chi_square, kLimits[likely - 1]);
}

TEST(ObjectBbox, ClassesAreAsLikelyAndTheirObjects) {
  constexpr double kNinth = 1.0 / 9, kSixth = 1.0 / 6;
  expect_shares({}, {kNinth, kNinth, kNinth, kSixth, kSixth, kNinth, kNinth, kNinth});
  ObjectBboxOptions options;
  options.classes = {{3, 1, 7}};
  expect_shares(options, {kSixth, kSixth, kSixth, 0, 0, kSixth, kSixth, kSixth});
  options.weights = {{1, 3, 5}};
  expect_shares(options, {0.25, 0.25, 0.25, 0, 0, 0.25 / 3, 0.25 / 3, 0.25 / 3});
  // Labels 1, 2, 3, … where nobody says them.
  options.classes.reset();
  options.weights = {{0, 3, 1}};
  expect_shares(options, {0, 0, 0, 0.375, 0.375, 0.25 / 3, 0.25 / 3, 0.25 / 3});
  // Sums of weights that are no number any more.
  options.weights = {{1.7e308, 1.7e308}};
  expect_shares(options, {kSixth, kSixth, kSixth, 0.25, 0.25, 0, 0, 0});
}

TEST(ObjectBbox, WithoutClassesAllObjectsAreAsLikely) {
  ObjectBboxOptions options;
  options.ignore_class = true;
  expect_shares(options, {0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125});
  // Heights 4, 3, and the first of those with 2.
  options.k_largest = 3;
  constexpr double kThird = 1.0 / 3;
  expect_shares(options, {kThird, 0, kThird, kThird, 0, 0, 0, 0});
}

TEST(ObjectBbox, TheLargestOfAClass) {
  ObjectBboxOptions options;
  options.k_largest = 2;
  constexpr double kSixth = 1.0 / 6;
  expect_shares(options, {kSixth, 0, kSixth, kSixth, kSixth, kSixth, kSixth, 0});
}

TEST(ObjectBbox, ListsOfTheSample) {
  const LabelMask classes(DType::kI64, {2}, {1, 3});
  std::vector<float> numbers = {1, 1, 2};
  runtime::Tensor weights;
  const std::array<int64_t, 1> extents = {2};
  weights.set_dense(DType::kF32, extents);
  weights.strides[0] = 2;
  weights.data = reinterpret_cast<uint8_t*>(numbers.data());
  ObjectBboxOptions options;
  options.fed_classes = options.fed_weights = true;
  constexpr double kFirst = 1.0 / 9, kLast = 2.0 / 9;
  expect_shares(options, {kFirst, kFirst, kFirst, 0, 0, kLast, kLast, kLast}, 0, {classes.tensor, weights});
}

TEST(ObjectBbox, IsTheWholeMaskWhereThereIsNone) {
  const LabelMask mask = bars();
  const Corners whole = {0, 0, 4, 16};
  const Answer large = answer({mask.tensor}, {}, 1, 0, 2);
  EXPECT_EQ(large.box, whole);  // each is one pixel wide
  EXPECT_EQ(large.label, 0);
  EXPECT_EQ(answer({mask.tensor}, {}, 1, 0, 0, false).box, whole);
  ObjectBboxOptions options;
  options.classes = {{0, -1, 9}};
  const Answer unwanted = answer({mask.tensor}, options, 1, 0, 0, false);
  EXPECT_EQ(unwanted.label, -2);
  options.classes = {{0, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()}};
  EXPECT_EQ(answer({mask.tensor}, options, 1, 0, 0, false).label, std::numeric_limits<int32_t>::max() - 1);
  options.classes = std::vector<int64_t>{};
  EXPECT_EQ(answer({mask.tensor}, options, 1).box, whole);
  const LabelMask empty(DType::kU8, {0, 3}, {});
  EXPECT_EQ(answer({empty.tensor}, {}, 1).box, (Corners{0, 0, 0, 3}));
  const LabelMask other(DType::kU8, {3, 0}, {});
  EXPECT_EQ(answer({other.tensor}, {}, 1).box, (Corners{0, 0, 3, 0}));
}

TEST(ObjectBbox, RefusesWhatCannotBe) {
  const LabelMask mask = bars();
  ObjectBboxOptions options;
  options.classes = {{1, int64_t{1} << 40}};
  EXPECT_NE(answer({mask.tensor}, options, 1).error.find("no label of 32 bits"), std::string::npos);
  options.classes = {{1, 5}};
  options.has_background = true;
  EXPECT_NE(answer({mask.tensor}, options, 1, 5).error.find("class 5 is the background"), std::string::npos);
  options.weights = {{1, 2, 3}};
  EXPECT_NE(answer({mask.tensor}, options, 1).error.find("3 class weights for 2 classes"), std::string::npos);
  options.weights = {{1, NAN}};
  options.classes.reset();
  options.fed_weights = true;
  std::vector<float> numbers = {1, -2};
  runtime::Tensor weights;
  const std::array<int64_t, 1> extents = {2};
  weights.set_dense(DType::kF32, extents);
  weights.data = reinterpret_cast<uint8_t*>(numbers.data());
  options.weights.reset();
  EXPECT_NE(answer({mask.tensor, weights}, options, 1).error.find("a class weight is -2"), std::string::npos);
  // Nobody has memory for these; their extents alone are looked at.
  runtime::Tensor huge;
  const std::array<int64_t, 2> wide = {1, int64_t{1} << 31}, many = {1 << 17, 1 << 17};
  huge.set_dense(DType::kU8, wide);
  EXPECT_NE(answer({huge}, {}, 1).error.find("2147483648 pixels along axis 1"), std::string::npos);
  huge.set_dense(DType::kU8, many);
  EXPECT_NE(answer({huge}, {}, 1).error.find("17179869184 pixels"), std::string::npos);
}

}  // namespace
}  // namespace galatea::native
