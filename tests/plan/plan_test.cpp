// Graph text to batches: the same graph on the interpreters and on machine code, fused and not, must give the
// same bytes.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "compiler/codegen/llvm_backend.h"
#include "compiler/compile.h"
#include "compiler/op/operator.h"
#include "runtime/session.h"
#include "tests/support/product.h"

namespace galatea {
namespace {

using testing::product;

std::vector<runtime::Tensor> ragged_images(runtime::Allocator& allocator,
                                           const std::vector<std::pair<int64_t, int64_t>>& sizes) {
  std::mt19937 random(7);
  std::vector<runtime::Tensor> out;
  for (auto [h, w] : sizes) {
    auto tensor = runtime::allocate_tensor(allocator, DType::kU8, {h, w, 3});
    EXPECT_TRUE(tensor);
    for (int64_t i = 0; i < tensor->volume(); ++i) tensor->data[i] = static_cast<uint8_t>(random());
    out.push_back(*tensor);
  }
  return out;
}

/// Bytes of every output of every sample.
std::vector<std::string> run(const std::string& text, codegen::KernelBackend* backend, bool fuse, bool passes,
                             runtime::ExecutorKind executor) {
  SourceMap sources;
  auto graph = ir::read_graph(text, sources, product().registry);
  EXPECT_TRUE(graph) << graph.error().message() << " at "
                     << sources.describe(graph.error().diagnostics[0].span);
  if (!graph) return {};
  CompileOptions options;
  options.registry = &product().registry;
  options.backend = backend;
  options.fuse = fuse;
  options.run_passes = passes;
  auto program = compile(*graph, sources, options);
  EXPECT_TRUE(program) << program.error().message();
  if (!program) return {};
  if (getenv("DUMP")) std::fputs(runtime::to_text(**program).c_str(), stderr);
  runtime::SessionOptions session_options;
  session_options.executor = executor;
  auto session = runtime::Session::create(*program, product().natives, session_options);
  EXPECT_TRUE(session) << session.error().message();
  if (!session) return {};
  runtime::Allocator allocator;
  for (const auto& input : (*program)->external_inputs)
    EXPECT_TRUE((*session)->feed(input.name, ragged_images(allocator, {{7, 9}, {40, 61}, {1, 1}, {33, 5}})));
  EXPECT_TRUE((*session)->end_of_feed());
  std::vector<std::string> out;
  auto batch = (*session)->next();
  EXPECT_TRUE(batch) << batch.error().message();
  if (!batch || !*batch) return {};
  for (const auto& output : (**batch)->outputs)
    for (const runtime::Tensor& sample : output.samples) {
      EXPECT_TRUE(sample.is_dense());
      out.emplace_back(reinterpret_cast<const char*>(sample.data),
                       static_cast<size_t>(sample.volume() * size_of(sample.dtype)));
    }
  return out;
}

void expect_same_everywhere(const std::string& text) {
  auto judge = codegen::make_interpreter_backend(true);
  auto expected = run(text, judge.get(), false, false, runtime::ExecutorKind::kInline);
  ASSERT_FALSE(expected.empty());
  std::string note;
  auto llvm = codegen::make_backend("llvm", &note);
  ASSERT_TRUE(llvm);
  auto loops = codegen::make_interpreter_backend();
  for (codegen::KernelBackend* backend : {judge.get(), loops.get(), llvm->get()})
    for (bool fuse : {false, true})
      for (bool passes : {false, true})
        for (auto executor : {runtime::ExecutorKind::kInline, runtime::ExecutorKind::kCpu})
          EXPECT_EQ(expected, run(text, backend, fuse, passes, executor))
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

using Affine = std::array<double, 6>;

std::array<double, 2> at(const Affine& m, const std::array<double, 2>& p) {
  return {m[0] * p[0] + m[1] * p[1] + m[2], m[3] * p[0] + m[4] * p[1] + m[5]};
}

/// The bilinear blend at a place that is counted from corners of pixels; `fill` outside.
double blend(const runtime::Tensor& image, const std::array<double, 2>& place, int64_t channel, double fill) {
  const int64_t h = image.extents[0], w = image.extents[1];
  const double x = place[0] - 0.5, y = place[1] - 0.5;
  const auto left = static_cast<int64_t>(std::floor(x)), top = static_cast<int64_t>(std::floor(y));
  double sum = 0;
  for (const int64_t row : {top, top + 1})
    for (const int64_t column : {left, left + 1}) {
      const bool inside = row >= 0 && row < h && column >= 0 && column < w;
      const double value = inside ? image.data[(row * w + column) * 3 + channel] : fill;
      sum += value * (1 - std::abs(x - static_cast<double>(column))) *
             (1 - std::abs(y - static_cast<double>(row)));
    }
  return sum;
}

/// Three warps and a mirror, composed by hand: one blend, and images in between that end where they end.
TEST(Plan, ComposedWarps) {
  const std::string text = R"(pipeline @p(batch_size=4, num_threads=2, seed=1, exact=false) {
^0:
  %image = external_source() {dtype=u8, ndim=3, layout="HWC"} : u8[?,?,?] HWC name="images"
  %turned = rotate(%image) {angle=20.0, keep_size=true, fill_value=10.0} : u8[?,?,?] HWC
  %mirrored = flip(%turned) {horizontal=1} : u8[?,?,?] HWC
  %sheared = warp_affine(%mirrored) {matrix=[1.0, 0.2, -3.0, 0.1, 0.9, 2.0], fill_value=200.0} : u8[?,?,?] HWC
  %moved = warp_affine(%sheared) {matrix=[1.0, 0.0, 2.25, 0.0, 1.0, -1.75], fill_value=30.0} : u8[?,?,?] HWC
  return %moved
}
)";
  auto judge = codegen::make_interpreter_backend(true);
  const auto composed = run(text, judge.get(), true, true, runtime::ExecutorKind::kInline);
  std::string note;
  auto llvm = codegen::make_backend("llvm", &note);
  ASSERT_TRUE(llvm);
  EXPECT_EQ(composed, run(text, llvm->get(), true, true, runtime::ExecutorKind::kCpu));
  EXPECT_NE(composed, run(text, judge.get(), true, false, runtime::ExecutorKind::kInline));
  runtime::Allocator allocator;
  const auto images = ragged_images(allocator, {{7, 9}, {40, 61}, {1, 1}, {33, 5}});
  ASSERT_EQ(composed.size(), images.size());
  const double turn = 20.0 * std::acos(-1.0) / 180, c = std::cos(turn), s = std::sin(turn);
  const Affine move = {1, 0, 2.25, 0, 1, -1.75}, shear = {1, 0.2, -3, 0.1, 0.9, 2};
  int64_t compared = 0, beside = 0;
  for (size_t i = 0; i < images.size(); ++i) {
    const auto h = static_cast<double>(images[i].extents[0]), w = static_cast<double>(images[i].extents[1]);
    const Affine mirror = {-1, 0, w, 0, 1, 0};
    const Affine rotate = {c, -s, w / 2 - (c * w / 2 - s * h / 2), s, c, h / 2 - (s * w / 2 + c * h / 2)};
    const auto outside = [&](const std::array<double, 2>& p) {
      return p[0] < 0 || p[0] >= w || p[1] < 0 || p[1] >= h;
    };
    const auto on_edge = [&](const std::array<double, 2>& p) {
      return std::min({std::abs(p[0]), std::abs(p[0] - w), std::abs(p[1]), std::abs(p[1] - h)}) < 1e-3;
    };
    for (int64_t n = 0; n < images[i].volume(); ++n) {
      const int64_t pixel = n / 3;
      const std::array<double, 2> place = {static_cast<double>(pixel % images[i].extents[1]) + 0.5,
                                           static_cast<double>(pixel / images[i].extents[1]) + 0.5};
      const auto moved = at(move, place), sheared = at(shear, moved);
      if (on_edge(moved) || on_edge(sheared)) continue;
      const double wanted = outside(moved)     ? 30
                            : outside(sheared) ? 200
                                               : blend(images[i], at(rotate, at(mirror, sheared)), n % 3, 10);
      const auto got = static_cast<double>(static_cast<uint8_t>(composed[i][static_cast<size_t>(n)]));
      ASSERT_NEAR(got, wanted, 0.51) << "image " << i << ", element " << n;
      ++compared;
      beside += outside(moved) || outside(sheared);
    }
  }
  EXPECT_GT(compared, 5000);
  EXPECT_GT(beside, 500);
}

}  // namespace
}  // namespace galatea
