#include "tests/region/region_run.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compiler/codegen/llvm_backend.h"
#include "compiler/compile.h"
#include "compiler/ir/text/reader.h"
#include "compiler/values/windows.h"
#include "runtime/session.h"
#include "tests/support/product.h"
#include "tests/support/tiers.h"
#include "tools/draw_samples/picture.h"
#include "tools/draw_samples/scene.h"

namespace galatea {
namespace {

using testing::product;

samples::Picture noise(int width, int height) {
  samples::Picture picture = samples::make_picture(width, height, 3);
  uint32_t state = 12345;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c) {
        state = state * 1664525u + 1013904223u;
        // Smooth, with noise on it: every coefficient of the blocks is in use.
        picture.at(x, y)[c] = static_cast<uint8_t>((x * 3 + y * (c + 1)) / 2 % 200 + (state >> 28) * 3);
      }
  return picture;
}

/// Encoded photographs of all samplings and orientations, down to one pixel.
std::vector<std::vector<uint8_t>> photographs() {
  using samples::Subsampling;
  std::vector<std::vector<uint8_t>> out;
  auto add = [&](int width, int height, samples::JpegOptions options) {
    out.push_back(
        encode_jpeg(samples::stored_for_orientation(noise(width, height), options.orientation), options));
  };
  add(64, 51, {Subsampling::k420, 90});
  add(45, 57, {Subsampling::k444, 80, true});
  add(51, 60, {Subsampling::k422, 85, false, 6});
  add(58, 47, {Subsampling::k420, 85, false, 8});
  out.push_back(encode_png(noise(40, 33)));
  return out;
}

}  // namespace

std::vector<std::string> run_on_photographs(const std::string& blocks, const RegionRun& how, size_t* marked) {
  const std::string head = "^0:\n";
  EXPECT_EQ(blocks.substr(0, head.size()), head);
  std::string text = "pipeline @p(batch_size=5, num_threads=2, seed=5" +
                     (how.options.empty() ? "" : ", " + how.options) +
                     ") {\n^0:\n  %encoded = external_source() {dtype=u8, ndim=1} name=\"encoded\"\n"
                     "  %image = decoders.image(%encoded)\n" +
                     blocks.substr(head.size()) + "}\n";
  SourceMap sources;
  auto graph = ir::read_graph(text, sources, product().registry);
  EXPECT_TRUE(graph) << graph.error().message() << " at "
                     << sources.describe(graph.error().diagnostics[0].span);
  if (!graph) return {};
  CompileOptions options;
  options.registry = &product().registry;
  options.backend = how.backend;
  options.fuse = how.fuse;
  options.run_passes = how.passes;
  CompileReport report;
  auto program = compile(*graph, sources, options, &report);
  EXPECT_TRUE(program) << program.error().message();
  if (!program) return {};
  *marked = 0;
  for (const ir::Node& node : report.graph->nodes)
    if (node.op && node.find_arg(values::kRegionFromArg)) ++*marked;
  runtime::SessionOptions session_options;
  session_options.executor = runtime::ExecutorKind::kInline;
  auto session = runtime::Session::create(*program, product().natives, session_options);
  EXPECT_TRUE(session) << session.error().message();
  if (!session) return {};
  runtime::Allocator allocator;
  std::vector<runtime::Tensor> fed;
  for (const auto& bytes : photographs()) {
    auto tensor = runtime::allocate_tensor(allocator, DType::kU8, {static_cast<int64_t>(bytes.size())});
    EXPECT_TRUE(tensor);
    std::memcpy(tensor->data, bytes.data(), bytes.size());
    fed.push_back(*tensor);
  }
  EXPECT_TRUE((*session)->feed("encoded", fed));
  EXPECT_TRUE((*session)->end_of_feed());
  auto batch = (*session)->next();
  EXPECT_TRUE(batch) << batch.error().message();
  std::vector<std::string> out;
  if (!batch || !*batch) return {};
  for (const auto& output : (**batch)->outputs)
    for (const runtime::Tensor& sample : output.samples)
      out.emplace_back(reinterpret_cast<const char*>(sample.data),
                       static_cast<size_t>(sample.volume() * size_of(sample.dtype)));
  return out;
}

size_t expect_equal_to_whole_images(const std::string& blocks, bool machine_code) {
  SCOPED_TRACE(blocks);
  size_t marked = 0;
  auto judge = codegen::make_interpreter_backend(true), loops = codegen::make_interpreter_backend();
  auto expected = run_on_photographs(blocks, {judge.get(), false, false}, &marked);
  EXPECT_EQ(expected.size() % 5, 0u);
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(marked, 0u);
  if (expected.empty()) return 0;
  EXPECT_EQ(run_on_photographs(blocks, {judge.get(), false}, &marked), expected) << "stages";
  EXPECT_EQ(run_on_photographs(blocks, {loops.get(), false}, &marked), expected) << "loops, unfused";
  EXPECT_EQ(run_on_photographs(blocks, {loops.get(), true}, &marked), expected) << "loops, fused";
  if (!machine_code) return marked;
  std::string note;
  auto llvm = codegen::make_backend("llvm", &note, codegen::default_cache_options(), testing::tiers());
  EXPECT_TRUE(llvm);
  if (!llvm) return marked;
  EXPECT_EQ(run_on_photographs(blocks, {llvm->get(), false}, &marked), expected) << "machine code, unfused";
  EXPECT_EQ(run_on_photographs(blocks, {llvm->get(), true}, &marked), expected) << "machine code, fused";
  return marked;
}

std::vector<std::string> run_everywhere(const std::string& body, const std::string& options) {
  const std::string blocks = "^0:\n" + body;
  size_t marked = 0;
  auto judge = codegen::make_interpreter_backend(true), loops = codegen::make_interpreter_backend();
  auto out = run_on_photographs(blocks, {judge.get(), false, true, options}, &marked);
  EXPECT_EQ(run_on_photographs(blocks, {loops.get(), true, true, options}, &marked), out) << body;
  std::string note;
  auto llvm = codegen::make_backend("llvm", &note, codegen::default_cache_options(), testing::tiers());
  EXPECT_TRUE(llvm);
  if (!llvm) return out;
  EXPECT_EQ(run_on_photographs(blocks, {llvm->get(), true, true, options}, &marked), out) << body;
  return out;
}

}  // namespace galatea
