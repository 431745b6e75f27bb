// Suppression of overlaps, against the definition taken literally: the best box that is left is kept, and what
// overlaps it goes, until none is left.
#include "stdlib_ops/native/nms.h"
#include "tests/native/plain_call.h"

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace galatea::native {
namespace {

float overlap(const Corners& a, const Corners& b) {
  const auto area = [](const Corners& box) { return (box.right - box.left) * (box.bottom - box.top); };
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float both = (width > 0 ? width : 0) * (height > 0 ? height : 0);
  return both / (area(a) + area(b) - both);
}

std::vector<int64_t> kept_literally(const std::vector<Corners>& boxes, const std::vector<float>& scores,
                                    const std::vector<int64_t>& classes, const NmsOptions& options) {
  std::vector<bool> left(boxes.size());
  for (size_t n = 0; n < boxes.size(); ++n)
    left[n] = static_cast<double>(scores[n]) > options.score_threshold;
  std::vector<int64_t> kept;
  while (options.max_boxes < 0 || static_cast<int64_t>(kept.size()) < options.max_boxes) {
    size_t best = boxes.size();
    for (size_t n = 0; n < boxes.size(); ++n)
      if (left[n] && (best == boxes.size() || scores[n] > scores[best])) best = n;
    if (best == boxes.size()) break;
    kept.push_back(static_cast<int64_t>(best));
    left[best] = false;
    for (size_t n = 0; n < boxes.size(); ++n)
      if ((classes.empty() || classes[n] == classes[best]) &&
          static_cast<double>(overlap(boxes[best], boxes[n])) > options.iou_threshold)
        left[n] = false;
  }
  return kept;
}

TEST(Nms, KeepsTheBestOfWhatOverlaps) {
  std::mt19937 random(3);
  const auto below = [&](uint32_t n) { return static_cast<float>(random() % n); };
  int kept_of_all = 0, boxes_of_all = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<Corners> boxes(random() % 70);
    std::vector<float> scores;
    std::vector<int64_t> classes;
    for (Corners& box : boxes) {
      const float x = below(12), y = below(12);  // overlaps that are equal to a threshold
      box = {x, y, x + below(7), y + below(7)};  // some without an area
      scores.push_back(below(9) / 8);            // ties
      classes.push_back(static_cast<int64_t>(random() % 3) - 1);
    }
    for (const double threshold : {0.0, 0.3, 0.5, 1.0})
      for (const int64_t most : {-1, 4})
        for (const double score : {-1.0, 0.25})
          for (const bool by_class : {false, true}) {
            const NmsOptions options{threshold, score, most};
            const auto of = by_class ? classes : std::vector<int64_t>();
            const auto kept = suppress_overlaps(boxes, scores, of, options);
            ASSERT_TRUE(kept);
            ASSERT_EQ(*kept, kept_literally(boxes, scores, of, options))
                << round << " " << threshold << " " << most << " " << by_class;
            kept_of_all += static_cast<int>(kept->size());
            boxes_of_all += static_cast<int>(boxes.size());
          }
  }
  EXPECT_GT(kept_of_all * 20, boxes_of_all);
  EXPECT_LT(kept_of_all * 2, boxes_of_all);
}

TEST(Nms, EndsWhenItIsCancelled) {
  const std::vector<Corners> boxes(3);
  const std::vector<float> scores(3);
  EXPECT_FALSE(suppress_overlaps(boxes, scores, {}, {.score_threshold = -1}, [] { return true; }));
}

class NmsCall final : public testing::PlainCall {
 public:
  Status allocate_output(DType dtype, const std::vector<int64_t>& extents) override {
    made.set_dense(dtype, extents);
    memory.assign(static_cast<size_t>(made.volume()), -1);
    made.data = reinterpret_cast<uint8_t*>(memory.data());
    output = &made;
    return {};
  }

  runtime::Tensor made;
  std::vector<int64_t> memory;
};

/// Runs the function on rows of which every other one is something else.
struct Ran {
  std::string error;
  std::vector<int64_t> kept;
};
Ran run(const std::vector<float>& boxes, const std::vector<float>& scores) {
  const auto n = static_cast<int64_t>(scores.size());
  std::vector<float> box_memory(boxes.size() * 2, 1e9F), score_memory(scores.size() * 3, 1e9F);
  for (size_t k = 0; k < boxes.size(); ++k) box_memory[k / 4 * 8 + k % 4] = boxes[k];
  for (size_t k = 0; k < scores.size(); ++k) score_memory[k * 3] = scores[k];
  std::array<runtime::Tensor, 2> inputs;
  inputs[0].set_dense(DType::kF32, std::array<int64_t, 2>{n, 4});
  inputs[0].strides[0] = 8;
  inputs[0].data = reinterpret_cast<uint8_t*>(box_memory.data());
  inputs[1].set_dense(DType::kF32, std::array<int64_t, 1>{n});
  inputs[1].strides[0] = 3;
  inputs[1].data = reinterpret_cast<uint8_t*>(score_memory.data());
  const std::array<Cell, 2> scalars = {
      cell_from_double(DType::kF64, 0.5),
      cell_from_double(DType::kF64, -std::numeric_limits<double>::infinity())};
  const runtime::NativeFunction function = nms_function();
  const auto state = function.prepare("{\"max_boxes\": -1}").value();
  NmsCall call;
  call.inputs = inputs;
  call.scalars = scalars;
  call.state = state.get();
  Ran out;
  if (const Status status = function.call(call); !status)
    out.error = status.error().message();
  else
    out.kept = call.memory;
  return out;
}

TEST(Nms, ReadsRowsWithGapsAndRefusesWhatIsNoNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(run({0, 0, 4, 4, 0, 0, 4, 3, 9, 9, 10, 10}, {0.5, 0.75, 0.25}).kept,
            (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(run({}, {}).kept.empty());
  EXPECT_NE(run({0, 0, 4, nan}, {1}).error.find("box 0 has the coordinate nan"), std::string::npos);
  EXPECT_NE(run({0, 0, 4, 4, 0, 0, INFINITY, 3}, {1, 1}).error.find("box 1 has the coordinate inf"),
            std::string::npos);
  EXPECT_NE(run({0, 0, 4, 4, 0, 0, 4, 3}, {1, nan}).error.find("the score of box 1 is not a number"),
            std::string::npos);
}

}  // namespace
}  // namespace galatea::native
