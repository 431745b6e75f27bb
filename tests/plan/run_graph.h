// Runs a graph text over a few ragged images.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "compiler/codegen/llvm_backend.h"
#include "compiler/compile.h"
#include "compiler/ir/text/reader.h"
#include "runtime/session.h"
#include "tests/support/product.h"

namespace galatea::testing {

inline std::vector<runtime::Tensor> ragged_images(runtime::Allocator& allocator,
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
inline std::vector<std::string> run_graph(const std::string& text, codegen::KernelBackend* backend, bool fuse,
                                          bool passes, runtime::ExecutorKind executor) {
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
  runtime::SessionOptions session_options;
  session_options.executor = executor;
  auto session = runtime::Session::create(*program, product().natives, session_options);
  EXPECT_TRUE(session) << session.error().message();
  if (!session) return {};
  runtime::Allocator allocator;
  for (const auto& input : (*program)->external_inputs)
    EXPECT_TRUE(
        (*session)->feed(input.port.name, ragged_images(allocator, {{7, 9}, {40, 61}, {1, 1}, {33, 5}})));
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

}  // namespace galatea::testing
