// Operators that see the batch, for a batch of one sample; batches of several are in
// tests/pipelines/batch_test.cpp.
#include <cmath>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Ints = std::vector<int64_t>;

bool has_words(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PermuteBatch, TakesATensorAsItIs) {
  const Tensor in = random_tensor(DType::kF32, {3, 4}, "HW", 1);
  expect_near(OpRun("permute_batch").input(in).arg("indices", Ints{0}).result(), in.numbers(), 0);
  const Tensor places = tensor(DType::kI32, {}, {0});
  expect_near(OpRun("permute_batch").input(in).arg("indices", places).result(), in.numbers(), 0);
}

// Long lists make expressions that are not deep.
TEST(PermuteBatch, LongLists) {
  std::vector<int64_t> places(4096);
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i);
  EXPECT_TRUE(OpRun("permute_batch").input(scalar(DType::kU8, 5)).arg("indices", places).run().ok());
  places.resize(4097);
  EXPECT_TRUE(says(OpRun("permute_batch").input(scalar(DType::kU8, 5)).arg("indices", places).failure(),
                   "indices has 4097 places"));
}

TEST(PermuteBatch, BadIndices) {
  const Tensor in = random_tensor(DType::kF32, {3, 4}, "HW", 1);
  EXPECT_TRUE(has_words(OpRun("permute_batch").input(in).arg("indices", Ints{}).failure(), "empty list"));
  EXPECT_TRUE(
      has_words(OpRun("permute_batch").input(in).arg("indices", Ints{0, -1}).failure(), "-1 is no place"));
  const Tensor two = tensor(DType::kI32, {2}, {0, 0});
  EXPECT_TRUE(has_words(OpRun("permute_batch").input(in).arg("indices", two).failure(), "a sample has one"));
}

TEST(BatchPermutation, OfOneSampleIsItself) {
  for (const bool repeats : {false, true})
    for (const bool moves : {false, true}) {
      const Tensor place =
          OpRun("batch_permutation").arg("allow_repetitions", repeats).arg("no_fixed_points", moves).result();
      EXPECT_EQ(place.dtype, DType::kI32);
      EXPECT_EQ(place.numbers(), std::vector<double>{0});
    }
}

TEST(BatchParts, OfOneSampleAreItsOwn) {
  const Tensor in = tensor(DType::kU8, {2, 3}, {1, 2, 3, 4, 5, 9}, "HW");
  expect_near(OpRun("batch.total").input(in).arg("op", std::string("max")).result(), in.numbers(), 0);
  EXPECT_TRUE(has_words(OpRun("batch.total").input(in).arg("op", std::string("mean")).failure(), "none of"));
  EXPECT_EQ(OpRun("batch.count").input(in).result()[0], 6);
  EXPECT_EQ(OpRun("batch.count").input(in).arg("axes", Ints{1}).result()[0], 3);
  const Tensor sums = tensor(DType::kU64, {2}, {7, 18});
  const Tensor count = tensor(DType::kI64, {}, {4}), none = tensor(DType::kI64, {}, {0});
  expect_near(OpRun("batch.mean").input(sums).input(count).result(), {1.75, 4.5}, 0);
  expect_near(OpRun("batch.mean").input(sums).input(count).arg("dtype", DType::kU8).result(), {2, 4}, 0);
  EXPECT_TRUE(
      has_words(OpRun("batch.mean").input(sums).input(none).failure(), "nothing to take the value of"));
}

TEST(BatchParts, NormalizeInSteps) {
  const Tensor in = tensor(DType::kU8, {2, 2}, {1, 3, 5, 9}, "HW");
  const Tensor mean = tensor(DType::kF32, {1, 2}, {3, 6});
  expect_near(OpRun("normalize.squares").input(in).fixed(mean).arg("axes", Ints{0}).result(), {8, 18}, 0);
  const Tensor squares = tensor(DType::kF32, {1, 2}, {8, 18}), count = tensor(DType::kI64, {}, {2});
  expect_near(OpRun("normalize.batch")
                  .input(in)
                  .fixed(mean)
                  .fixed(squares)
                  .input(count)
                  .arg("axes", Ints{0})
                  .result(),
              {-1, -1, 1, 1}, 0);
  // A mean that is given is no input.
  expect_near(OpRun("normalize.batch")
                  .input(in)
                  .fixed(squares)
                  .input(count)
                  .arg("axes", Ints{0})
                  .arg("mean", 3.0)
                  .result(),
              {-1, 0, 1, 2}, 0);
}

}  // namespace
}  // namespace galatea::ops_test
