// The windows that read_bounds() and region_of() give, against the indices that evaluating every element in
// fact reads.
#include "compiler/values/read_bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "compiler/values/narrow_stages.h"
#include "tests/graph/element_evaluator.h"
#include "tests/graph/graph_text.h"
#include "tests/graph/sample_operators.h"

namespace galatea::testing {
namespace {

using namespace ir;

/// What %y of the body reads of %x. %u and %v are numbers that no definition yields, so that a test can
/// choose them.
std::string one_reader(const std::string& body) {
  return "pipeline @p() {\n^0:\n  %file, %label = files() {root=\"a\"}\n  %z = decode(%file)\n  %u = "
         "mean(%z)\n  %w = flip(%z)\n  %v = mean(%w)\n"
         "  %x = decode(%file)\n" +
         body + "  return %y\n}\n";
}

TEST(NarrowStages, LeavesWhatIsReadWhole) {
  Graph graph = graph_of(one_reader("  %y = gather(%x)\n"));
  NodeId node = graph.value(named(graph, "y")).node;
  op::Lowering lowering = op::lower_node(graph, node), narrow = values::narrow_stages(lowering);
  for (size_t s = 0; s < lowering.stages.size(); ++s)
    EXPECT_TRUE(kernel::same(lowering.stages[s].body, narrow.stages[s].body));
}

class ReadBounds : public ::testing::Test {
 protected:
  std::mt19937 random_{1};
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  double unit() { return static_cast<double>(random_()) / 4294967296.0; }
};

TEST_F(ReadBounds, ZoomIsExact) {
  Graph graph = graph_of(one_reader("  %y = random_zoom(%x) {size=[5, 3]} key=0x3\n"));
  for (int n = 0; n < 40; ++n) {
    Sample sample{1 + below(30), 1 + below(30), {}, static_cast<uint64_t>(below(1000))};
    EXPECT_EQ(check_sample(graph, sample), 0)
        << sample.height << "x" << sample.width << " key " << sample.key;
  }
}

TEST_F(ReadBounds, ResizeOfAPartIsExact) {
  Graph graph = graph_of(one_reader("  %y = resize(%x) {size=[5, 3], start=%u, end=%v}\n"));
  for (int n = 0; n < 40; ++n) {
    // Parts beyond the image and flipped ones (end before start) too. For a flipped part the filter is as
    // narrow as it gets.
    Sample sample{1 + below(30),
                  1 + below(30),
                  {{named(graph, "u"), unit() * 2 - 0.5}, {named(graph, "v"), unit() * 2 - 0.5}}};
    EXPECT_EQ(check_sample(graph, sample), 0) << sample.height << "x" << sample.width;
  }
}

TEST_F(ReadBounds, HostileNumbersStayInside) {
  Graph graph = graph_of(one_reader("  %y = resize(%x) {size=[5, 3], start=%u, end=%v}\n"));
  const double kInf = std::numeric_limits<double>::infinity();
  const double kHostile[] = {0.0, 1.0, kInf, -kInf, std::nan(""), 1e30, 3e38, 1e-40, -7.0, -1e18};
  for (double u : kHostile)
    for (double v : kHostile)
      for (int64_t extent : {1, 7})
        check_sample(graph, {extent, 8 - extent, {{named(graph, "u"), u}, {named(graph, "v"), v}}});
}

TEST_F(ReadBounds, ReflectedWindow) {
  // Three rows from row `top` on, with windows wider than the image, and far outside of it.
  for (int top : {0, 1, 4, 9, 30, -6, -40}) {
    for (int window : {1, 3, 5, 11}) {
      Graph graph = graph_of(one_reader("  %y = blur(%x) {window=" + std::to_string(window) +
                                        ", top=" + std::to_string(top) + ", rows=3} : u8[3,?,3] HWC\n"));
      for (int64_t height : {1, 2, 6, 12, 50}) check_sample(graph, {height, 5, {}});
    }
  }
}

TEST_F(ReadBounds, ReflectedWindowInTheMiddleIsExact) {
  Graph graph = graph_of(one_reader("  %y = blur(%x) {window=5, top=20, rows=3} : u8[3,?,3] HWC\n"));
  EXPECT_EQ(check_sample(graph, {50, 5, {}}), 0);
  EXPECT_EQ(check_sample(graph, {24, 5, {}}), 0);
}

TEST_F(ReadBounds, PerSampleWindow) {
  Graph graph = graph_of(one_reader(
      "  %i = convert(%u) {dtype=i64}\n  %y = blur(%x) {window=%i, top=2, rows=2} : u8[2,?,3] HWC\n"));
  for (double window : {1.0, 3.0, 7.0, 9e18, -9e18, 2147483647.0}) {
    if (window > 100) {
      // Too many taps to be run: legal bounds are all that is asked.
      Sample sample{9, 5, {{named(graph, "u"), window}}};
      Evaluator evaluator(graph, sample);
      Window found = window_of(*values::region_of(graph, named(graph, "x")), evaluator);
      EXPECT_EQ(found.begin[0], 0);
      EXPECT_EQ(found.end[0], 9);
    } else {
      check_sample(graph, {9, 5, {{named(graph, "u"), window}}});
    }
  }
}

TEST_F(ReadBounds, ThroughViews) {
  Graph graph =
      graph_of(one_reader("  %f = flip(%x)\n  %c = crop(%f) {size=[6, 4], y=%u, x=%v}\n  %g = flip(%c)\n  %y "
                          "= blur(%g) {window=3, top=1, rows=2}\n"));
  for (int n = 0; n < 20; ++n)
    check_sample(graph,
                 {6 + below(20), 4 + below(20), {{named(graph, "u"), unit()}, {named(graph, "v"), unit()}}});
  EXPECT_EQ(check_sample(graph, {30, 30, {{named(graph, "u"), 0.5}, {named(graph, "v"), 0.5}}}), 0);
  // The readers are those behind the views.
  std::vector<ValueId> readers;
  ASSERT_TRUE(values::region_of(graph, named(graph, "x"), &readers));
  EXPECT_EQ(readers, std::vector<ValueId>{named(graph, "y")});
}

TEST_F(ReadBounds, GatherReadsAllRows) {
  Graph graph = graph_of(one_reader("  %y = gather(%x)\n"));
  Sample sample{7, 9, {}};
  Evaluator evaluator(graph, sample);
  auto bounds = values::read_bounds(graph, graph.value(named(graph, "y")).node, 0);
  ASSERT_TRUE(bounds);
  EXPECT_EQ(window_of(*bounds, evaluator).end, (std::vector<int64_t>{7, 9, 3}));
  check_sample(graph, sample);
}

TEST_F(ReadBounds, ShapesReadNothing) {
  Graph graph = graph_of(one_reader("  %y = shapes(%x)\n"));
  Sample sample{7, 9, {}};
  Evaluator evaluator(graph, sample);
  auto bounds = values::read_bounds(graph, graph.value(named(graph, "y")).node, 0);
  ASSERT_TRUE(bounds);
  EXPECT_EQ(window_of(*bounds, evaluator).end, (std::vector<int64_t>{0, 0, 0}));
  // Something must be decoded nevertheless: one pixel.
  EXPECT_EQ(window_of(*values::region_of(graph, named(graph, "x")), evaluator).end,
            (std::vector<int64_t>{1, 1, 1}));
}

TEST_F(ReadBounds, ReturnedOrNativeIsUnknown) {
  Graph graph = graph_of(
      "pipeline @p() {\n^0:\n %file, %label = files() {root=\"a\"}\n %x = decode(%file)\n %y = crop(%x) "
      "{size=[2, 2]}\n return %x, %y\n}");
  EXPECT_FALSE(values::region_of(graph, named(graph, "x")));
  EXPECT_FALSE(values::read_bounds(graph, graph.value(named(graph, "x")).node, 0));
}

}  // namespace
}  // namespace galatea::testing
