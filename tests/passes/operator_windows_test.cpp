// The windows that the library's operators read, as read_bounds() tells them, against the elements that
// evaluating them reads: exact, not merely enough.
#include <gtest/gtest.h>

#include <random>

#include "compiler/ir/text/reader.h"
#include "stdlib_ops/register_all.h"
#include "tests/graph/element_evaluator.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

/// %y of the body reads %x; %u and %v are numbers that the test chooses.
ir::Graph graph_of_body(const std::string& body) {
  static const op::Registry kRegistry = [] {
    op::Registry all;
    ops::register_all(all);
    return all;
  }();
  SourceMap sources;
  auto graph = ir::read_graph(
      "pipeline @p() {\n^0:\n  %file = external_source() {dtype=u8, ndim=1} name=\"e\"\n  %z = "
      "decoders.image(%file)\n  %u = reductions.mean(%z)\n"
      "  %w = flip(%z)\n  %v = reductions.mean(%w)\n  %x = decoders.image(%file)\n" +
          body + "  return %y\n}\n",
      sources, kRegistry);
  if (graph) return std::move(*graph);
  ADD_FAILURE() << render_text(graph.error().diagnostics[0], sources);
  return {};
}

struct Case {
  const char* name;
  const char* body;
};

class OperatorWindows : public ::testing::TestWithParam<Case> {};

TEST_P(OperatorWindows, AreExact) {
  ir::Graph graph = graph_of_body(GetParam().body);
  ASSERT_FALSE(graph.blocks.empty());
  std::mt19937 random(1);
  auto unit = [&] { return static_cast<double>(random()) / 4294967296.0; };
  const int64_t samples = testing::scaled(16, testing::kSanitized ? 1 : 2);
  for (int64_t n = 0; n < samples; ++n) {
    Sample sample{4 + static_cast<int64_t>(random() % 24),
                  4 + static_cast<int64_t>(random() % 24),
                  {{named(graph, "u"), unit()}, {named(graph, "v"), unit()}},
                  random() % 1000};
    EXPECT_EQ(check_sample(graph, sample), 0) << sample.height << "x" << sample.width;
  }
}

const Case kCases[] = {
    {"random_resized_crop", "  %y = random_resized_crop(%x) {size=[5, 6]} key=0x51\n"},
    {"random_resized_crop_cubic", "  %y = random_resized_crop(%x) {size=[5, 6], interp_type=2} key=0x51\n"},
    {"random_resized_crop_nearest", "  %y = random_resized_crop(%x) {size=[5, 6], interp_type=0} key=0x51\n"},
    {"random_resized_crop_of_pillow",
     "  %y = random_resized_crop(%x) {size=[5, 6], compat=\"pil\"} key=0x51\n"},
    {"resize_of_a_region",
     "  %s = stack(%u, %v)\n  %y = resize(%x) {size=[5.0, 6.0], roi_start=%s, roi_end=[1.0, 0.9], "
     "roi_relative=true}\n"},
    {"resize", "  %y = resize(%x) {size=[5.0, 6.0]}\n"},
    {"resize_shorter", "  %y = resize(%x) {resize_shorter=5.0}\n"},
    {"crop_mirror_normalize",
     "  %y = crop_mirror_normalize(%x) {crop=[3.0, 4.0], crop_pos_x=%u, mirror=1, dtype=f32}\n"},
    {"blur_of_a_crop",
     "  %c = crop(%x) {crop=[3.0, 4.0], crop_pos_x=%u}\n  %y = gaussian_blur(%c) {sigma=1.0}\n"},
    {"slice",
     "  %s = stack(%u, %v)\n  %c = slice(%x, %s, %s) {out_of_bounds_policy=\"trim_to_shape\"}\n  %y = "
     "brightness(%c)\n"},
    {"index",
     "  %c = index(%x) {kinds=[\"slice\", \"slice\"], lo_0=1, hi_0=3, lo_1=-3}\n  %y = brightness(%c)\n"},
    {"gaussian_blur", "  %y = gaussian_blur(%x) {sigma=1.0}\n"},
    {"equalize_of_a_crop", "  %c = crop(%x) {crop=[3.0, 4.0], crop_pos_x=%u}\n  %y = equalize(%c)\n"},
    {"lookup_of_a_crop",
     "  %c = crop(%x) {crop=[3.0, 4.0], crop_pos_x=%u}\n  %y = lookup_table(%c) {keys=[1, 2], values=[3.0, "
     "4.0]}\n"},
    {"paste",
     "  %c = paste(%x) {ratio=1.5, fill_value=[3], paste_x=%u, paste_y=%v}\n  %y = brightness(%c)\n"},
    {"crop_of_a_paste",
     "  %p = paste(%x) {ratio=1.5, fill_value=[3], paste_x=%u, paste_y=%v}\n  %y = crop(%p) {crop=[4.0, "
     "3.0]}\n"},
    {"color_twist", "  %y = color_twist(%x) {hue=20.0}\n"},
};

INSTANTIATE_TEST_SUITE_P(Library, OperatorWindows, ::testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace galatea::testing
