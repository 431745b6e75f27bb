// Graph text to batches: the same graph on the interpreters and on machine code, fused and not, must give the
// same bytes.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "compiler/ir/text/reader.h"
#include "compiler/op/operator.h"
#include "tests/plan/run_graph.h"
#include "tests/support/tiers.h"

namespace galatea {
namespace {

using testing::product;
using testing::run_graph;

void expect_same_everywhere(const std::string& text) {
  auto judge = codegen::make_interpreter_backend(true);
  auto expected = run_graph(text, judge.get(), false, false, runtime::ExecutorKind::kInline);
  ASSERT_FALSE(expected.empty());
  std::string note;
  auto llvm = codegen::make_backend("llvm", &note, codegen::default_cache_options(), testing::tiers());
  ASSERT_TRUE(llvm);
  auto loops = codegen::make_interpreter_backend();
  for (codegen::KernelBackend* backend : {judge.get(), loops.get(), llvm->get()})
    for (bool fuse : {false, true})
      for (bool passes : {false, true})
        for (auto executor : {runtime::ExecutorKind::kInline, runtime::ExecutorKind::kCpu})
          EXPECT_EQ(expected, run_graph(text, backend, fuse, passes, executor))
              << backend->name() << (fuse ? " fused" : "") << (passes ? " passes" : "");
}

TEST(Plan, ResizeAndNormalize) {
  expect_same_everywhere(R"(pipeline @p(batch_size=4, num_threads=2, seed=1) {
^0:
  %image = external_source() {dtype=u8, ndim=3, layout="HWC"} : u8[?,?,?] HWC name="images"
  %coin = random.coin_flip() : i32[] key=0x123
  %resized = resize(%image) {size=[24.0, 32.0]} : u8[24,32,?] HWC
  %out = crop_mirror_normalize(%resized) {mean=[123.675, 116.28, 103.53], std=[58.395, 57.12, 57.375], mirror=%coin} : f32[?,24,32] CHW
  return %out
}
)");
}

/// Views that the batch wants as they are: copied by kernels where runs are short, else by runs.
TEST(Plan, ViewsBecomeOutputs) {
  expect_same_everywhere(R"(pipeline @p(batch_size=4, num_threads=2, seed=1) {
^0:
  %image = external_source() {dtype=u8, ndim=3, layout="HWC"} : u8[?,?,?] HWC name="images"
  %coin = random.coin_flip() : i32[] key=0x123
  %mirrored = flip(%image) {horizontal=%coin, vertical=%coin} : u8[?,?,?] HWC
  %upside_down = flip(%image) {horizontal=0, vertical=1} : u8[?,?,?] HWC
  %turned = transpose(%image) {perm=[1, 0, 2]} : u8[?,?,?] WHC
  %planes = transpose(%image) {perm=[2, 0, 1]} : u8[?,?,?] CHW
  return %mirrored, %upside_down, %turned, %planes
}
)");
}

/// Windows of integer weights, blended, mirrored and cropped in one kernel.
TEST(Plan, FiltersMirroredAndCropped) {
  expect_same_everywhere(R"(pipeline @p(batch_size=4, num_threads=2, seed=1) {
^0:
  %image = external_source() {dtype=u8, ndim=3, layout="HWC"} : u8[?,?,?] HWC name="images"
  %coin = random.coin_flip() : i32[] key=0x123
  %large = resize(%image) {size=[24.0, 32.0]} : u8[24,32,?] HWC
  %edges = laplacian(%large) {window_size=[5]} : u8[24,32,?] HWC
  %whole = crop_mirror_normalize(%edges) {mean=[1.5], std=[2.0], mirror=%coin} : f32[?,24,32] CHW
  %smooth = gaussian_blur(%edges) {window_size=[3]} : u8[24,32,?] HWC
  %part = crop_mirror_normalize(%smooth) {crop=[9.0, 17.0], dtype=u8, mirror=%coin} : u8[?,9,17] CHW
  return %whole, %part
}
)");
}

/// Windows over channels, columns and planes whose neighbours lie apart.
TEST(Plan, WindowsOverScatteredRows) {
  expect_same_everywhere(R"(pipeline @p(batch_size=4, num_threads=2, seed=1) {
^0:
  %image = external_source() {dtype=u8, ndim=3, layout="HWC"} : u8[?,?,?] HWC name="images"
  %channel = slice(%image) {start=[1], shape=[1], axes=[2]} : u8[?,?,1] HWC
  %colours = debayer(%channel) {blue_position=[0, 1]} : u8[?,?,3] HWC
  %planes = transpose(%image) {perm=[2, 0, 1]} : u8[?,?,?] CHW
  %smooth = gaussian_blur(%planes) {window_size=[5]} : u8[?,?,?] CHW
  %turned = transpose(%image) {perm=[1, 0, 2], transpose_layout=false} : u8[?,?,?] HWC
  %edges = laplacian(%turned) {window_size=[3]} : u8[?,?,?] HWC
  return %colours, %smooth, %edges
}
)");
}

CompileReport compiled(const std::string& reading) {
  SourceMap sources;
  auto graph = ir::read_graph(R"(pipeline @p(batch_size=4, num_threads=2, seed=1) {
^0:
  %image = external_source() {dtype=u8, ndim=3, layout="HWC"} : u8[?,?,?] HWC name="images"
  %channel = slice(%image) {start=[1], shape=[1], axes=[2]} : u8[?,?,1] HWC
  %out = )" + reading + R"(
  return %out
}
)",
                              sources, product().registry);
  CompileOptions options;
  options.registry = &product().registry;
  CompileReport report;
  EXPECT_TRUE(graph && compile(*graph, sources, options, &report)) << reading;
  return report;
}

/// A window fetches each element of the view many times, so they are put side by side first; what reads each
/// once follows the view's strides.
TEST(Plan, AWindowHasItsRowsSideBySide) {
  const CompileReport window = compiled("debayer(%channel) {blue_position=[0, 1]} : u8[?,?,3] HWC");
  ASSERT_EQ(window.kernels.size(), 1U);
  EXPECT_EQ(window.kernels[0].kernel.stages.front().name, "slice");
  const CompileReport point = compiled("brightness(%channel) {brightness=2.0} : u8[?,?,1] HWC");
  ASSERT_EQ(point.kernels.size(), 1U);
  EXPECT_EQ(point.kernels[0].kernel.name, "brightness");
}

/// Also where a user says how many: loops over pixels then repeat the channels inside.
TEST(Plan, FewChannelsAreStructure) {
  const auto channels = [](const char* sizes, const char* type) {
    const CompileReport report =
        compiled(fmt::format("tensor_resize(%image) {{sizes={}, axes=[0, 2]}} : {}", sizes, type));
    EXPECT_EQ(report.kernels.size(), 1U);
    return report.kernels.empty() ? "" : to_text(report.kernels[0].kernel.stages.back().extents.back());
  };
  EXPECT_EQ(channels("[24.0, 2.0]", "u8[24,?,2] HWC"), "2:i64");
  EXPECT_NE(channels("[24.0, 5.0]", "u8[24,?,5] HWC"), "5:i64");
}

/// What an expression compares with is the parameter that a stage has as its extent: only then do loops know
/// that lanes inside need no test.
TEST(Plan, AnExtentIsOneParameter) {
  SourceMap sources;
  auto graph = ir::read_graph(R"(pipeline @p(batch_size=4, num_threads=2, seed=1) {
^0:
  %image = external_source() {dtype=u8, ndim=3, layout="HWC"} : u8[?,?,?] HWC name="images"
  %resized = resize(%image) {size=[24.0, 32.0]} : u8[24,32,?] HWC
  %out = rotate(%resized) {angle=13.0, keep_size=true, fill_value=0.0} : u8[24,32,?] HWC
  return %out
}
)",
                              sources, product().registry);
  ASSERT_TRUE(graph) << graph.error().message();
  CompileOptions options;
  options.registry = &product().registry;
  CompileReport report;
  ASSERT_TRUE(compile(*graph, sources, options, &report));
  ASSERT_EQ(report.kernels.size(), 1u);
  const kernel::Stage& last = report.kernels[0].kernel.stages.back();
  int comparisons = 0;
  kernel::for_each_node(last.body, [&](const kernel::Expr& e) {
    if (e->kind != kernel::ExprKind::kOp || e->op != ScalarOp::kLt || e->args[1].type() != DType::kI64)
      return;
    ++comparisons;
    EXPECT_TRUE(same(e->args[1], last.extents[0]) || same(e->args[1], last.extents[1]))
        << to_text(e->args[1]);
  });
  EXPECT_GE(comparisons, 4);
}

}  // namespace
}  // namespace galatea
