// Small values whose extents no type tells: they live in registers, and are stored only where they leave.
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/compile.h"
#include "dsl/frontend.h"
#include "runtime/session.h"
#include "tests/support/product.h"

namespace galatea {
namespace {

using testing::product;

/// The outputs of one sample, an image of `height` x `width`, as integers; empty after a failure.
std::vector<std::vector<int64_t>> run(const std::string& returned, int64_t height, int64_t width) {
  const std::string text =
      "from nvidia.dali import pipeline_def, fn, types\n\n@pipeline_def(batch_size=1)\ndef p():\n"
      "    x = fn.external_source(name=\"x\", dtype=types.UINT8, ndim=3, layout=\"HWC\")\n"
      "    s = fn.shapes(x)\n"
      "    return " +
      returned + "\n";
  SourceMap sources;
  dsl::FrontendResult staged = dsl::stage_pipeline("small.dali-dsl", text, {}, product().registry, sources);
  EXPECT_TRUE(staged.ok) << returned;
  if (!staged.ok) return {};
  CompileOptions options;
  options.registry = &product().registry;
  auto program = compile(*staged.graphs.at(0), sources, options);
  EXPECT_TRUE(program) << returned << ": " << program.error().message();
  if (!program) return {};
  runtime::SessionOptions session_options;
  session_options.executor = runtime::ExecutorKind::kInline;
  auto session = runtime::Session::create(*program, product().natives, session_options);
  EXPECT_TRUE(session) << returned << ": " << session.error().message();
  if (!session) return {};
  runtime::Allocator allocator;
  auto image = runtime::allocate_tensor(allocator, DType::kU8, {height, width, 3});
  if (!image) return {};
  std::memset(image->data, 0, static_cast<size_t>(image->volume()));
  EXPECT_TRUE((*session)->feed("x", {*image}));
  EXPECT_TRUE((*session)->end_of_feed());
  auto batch = (*session)->next();
  EXPECT_TRUE(batch && *batch) << returned;
  if (!batch || !*batch) return {};
  std::vector<std::vector<int64_t>> outputs;
  for (const auto& output : (***batch).outputs) {
    const runtime::Tensor& tensor = output.samples.at(0);
    EXPECT_EQ(tensor.dtype, DType::kI64);
    const auto* numbers = reinterpret_cast<const int64_t*>(tensor.data);
    outputs.emplace_back(numbers, numbers + tensor.volume());
  }
  return outputs;
}

using Outputs = std::vector<std::vector<int64_t>>;

// As people take height and width: a scalar anchor and a scalar extent.
TEST(SmallValues, SliceByScalars) {
  EXPECT_EQ(run("fn.slice(s, 0, 1, axes=(0,)), fn.slice(s, 1, 1, axes=(0,))", 5, 7), (Outputs{{5}, {7}}));
}

TEST(SmallValues, SliceByConstants) {
  EXPECT_EQ(run("fn.slice(s, types.Constant([1]), types.Constant([2]), axes=[0])", 5, 7), (Outputs{{7, 3}}));
  EXPECT_EQ(run("s[1:], s[:1], s[::-1]", 5, 7), (Outputs{{7, 3}, {5}, {3, 7, 5}}));
}

}  // namespace
}  // namespace galatea
