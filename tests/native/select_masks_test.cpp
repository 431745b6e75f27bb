// Polygons and vertices of some masks, against rows that are picked by hand.
#include "stdlib_ops/native/select_masks.h"
#include "tests/native/plain_call.h"

#include <cstring>

#include <gtest/gtest.h>

namespace galatea::native {
namespace {

/// A tensor with two axes, or one, and its memory; every other row and column is something else.
struct Rows {
  Rows(std::vector<int64_t> extents, const std::vector<int32_t>& values) {
    tensor.dtype = DType::kI32;
    tensor.ndim = static_cast<int>(extents.size());
    const int64_t columns = extents.size() == 2 ? extents[1] : 1;
    memory.assign(static_cast<size_t>(4 * extents[0] * columns + 4), -77);
    for (size_t n = 0; n < values.size(); ++n) {
      const auto row = static_cast<int64_t>(n) / columns, column = static_cast<int64_t>(n) % columns;
      memory[static_cast<size_t>(row * 4 * columns + column * 2)] = values[n];
    }
    std::copy(extents.begin(), extents.end(), tensor.extents);
    tensor.strides[0] = 4 * columns;
    tensor.strides[1] = 2;
    tensor.data = reinterpret_cast<uint8_t*>(memory.data());
  }
  std::vector<int32_t> memory;
  runtime::Tensor tensor;
};

struct Selected {
  std::string error;
  std::vector<int32_t> polygons, vertices;
};

Selected select(const std::vector<int32_t>& ids, const std::vector<int32_t>& polygons, bool reindex = false) {
  // Nine vertices, 100 and 101, 200 and 201, …
  std::vector<int32_t> numbers;
  for (int32_t n = 0; n < 9; ++n) numbers.insert(numbers.end(), {100 * n, 100 * n + 1});
  Rows id_rows({static_cast<int64_t>(ids.size())}, ids);
  Rows polygon_rows({static_cast<int64_t>(polygons.size() / 3), 3}, polygons);
  Rows vertex_rows({9, 2}, numbers);
  const runtime::Tensor inputs[] = {id_rows.tensor, polygon_rows.tensor, vertex_rows.tensor};
  const std::vector<runtime::NativeFunction> functions = select_masks_functions();
  const auto state = functions[0].prepare(reindex ? "{\"reindex\": true}" : "{}").value();
  Cell counts[2];
  testing::PlainCall call;
  call.inputs = inputs;
  call.state = state.get();
  call.scalar_results = counts;
  Selected out;
  if (const Status status = functions[0].call(call); !status) {
    out.error = status.error().message();
    return out;
  }
  const std::array<int64_t, 2> columns = {3, 2};
  for (size_t k = 0; k < 2; ++k) {
    const std::array<int64_t, 2> extents = {cell_to_int(DType::kI64, counts[k]), columns[k]};
    std::vector<int32_t>& made = k == 0 ? out.polygons : out.vertices;
    made.assign(static_cast<size_t>(extents[0] * extents[1]), 0);
    runtime::Tensor output;
    output.set_dense(DType::kI32, extents);
    output.data = reinterpret_cast<uint8_t*>(made.data());
    call.inputs = std::span(inputs).first(k == 0 ? 2 : 3);
    call.output = &output;
    EXPECT_TRUE(functions[k + 1].call(call));
  }
  return out;
}

using Numbers = std::vector<int32_t>;
const Numbers kThree = {5, 0, 2, 7, 2, 3, 9, 6, 9};

TEST(SelectMasks, FollowsTheOrderOfTheIds) {
  const Selected two = select({9, 5}, kThree);
  EXPECT_EQ(two.error, "");
  EXPECT_EQ(two.polygons, (Numbers{9, 0, 3, 5, 3, 5}));
  EXPECT_EQ(two.vertices, (Numbers{600, 601, 700, 701, 800, 801, 0, 1, 100, 101}));
  EXPECT_EQ(select({9, 5}, kThree, true).polygons, (Numbers{0, 0, 3, 1, 3, 5}));
  const Selected none = select({}, kThree);
  EXPECT_TRUE(none.error.empty() && none.polygons.empty() && none.vertices.empty());
}

TEST(SelectMasks, KeepsEveryPolygonOfAMask) {
  const Selected masks = select({5, 7}, {5, 1, 2, 7, 0, 1, 8, 50, 40, 5, 4, 4, 5, 0, 2}, true);
  EXPECT_EQ(masks.error, "") << "mask 8 is not looked at";
  EXPECT_EQ(masks.polygons, (Numbers{0, 0, 1, 0, 1, 1, 0, 1, 3, 1, 3, 4}));
  EXPECT_EQ(masks.vertices, (Numbers{100, 101, 0, 1, 100, 101, 0, 1}));
}

TEST(SelectMasks, RefusesWhatIsNotThere) {
  const auto says = [](const Selected& selected, const char* words) {
    return selected.error.find(words) != std::string::npos;
  };
  EXPECT_TRUE(says(select({5, 9, 5}, kThree), "mask 5 is selected twice"));
  EXPECT_TRUE(says(select({5, 6}, kThree), "mask 6 is selected, and no polygon"));
  EXPECT_TRUE(says(select({5}, {5, 0, 10}, true), "polygon of mask 5 has the vertices 0 to 10, there are 9"));
  EXPECT_TRUE(says(select({5}, {5, -1, 3}), "vertices -1 to 3"));
  EXPECT_TRUE(says(select({5}, {5, 4, 3}), "vertices 4 to 3"));
  EXPECT_TRUE(says(select({5}, {5, INT32_MIN, INT32_MAX}), "there are 9"));
}

}  // namespace
}  // namespace galatea::native
