// Runs a pipeline text over fed samples, with kernels in the interpreter.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/compile.h"
#include "dsl/frontend.h"
#include "runtime/session.h"
#include "tests/support/product.h"

namespace galatea::testing {

/// The first output of one batch: the numbers of each sample. The text has an input `x` of one FLOAT; `count`
/// samples are fed.
inline std::vector<std::vector<float>> run_text(const std::string& text, int64_t count) {
  SourceMap sources;
  dsl::FrontendResult staged = dsl::stage_pipeline("p.dali-dsl", text, {}, product().registry, sources);
  for (const Diagnostic& d : staged.diagnostics) ADD_FAILURE() << d.code << " " << d.message;
  if (!staged.ok) return {};
  CompileOptions options;
  options.registry = &product().registry;
  auto program = compile(*staged.graphs.at(0), sources, options);
  if (!program) return ADD_FAILURE() << program.error().message(), std::vector<std::vector<float>>{};
  runtime::SessionOptions session_options;
  session_options.executor = runtime::ExecutorKind::kInline;
  auto session = runtime::Session::create(*program, product().natives, session_options);
  if (!session) return ADD_FAILURE() << session.error().message(), std::vector<std::vector<float>>{};
  runtime::Allocator allocator;
  std::vector<runtime::Tensor> samples;
  for (int64_t i = 0; i < count; ++i) {
    samples.push_back(*runtime::allocate_tensor(allocator, DType::kF32, std::vector<int64_t>{1}));
    *reinterpret_cast<float*>(samples.back().data) = -1;
  }
  EXPECT_TRUE((*session)->feed("x", samples));
  EXPECT_TRUE((*session)->end_of_feed());
  auto batch = (*session)->next();
  if (!batch || !*batch) return ADD_FAILURE() << "no batch", std::vector<std::vector<float>>{};
  std::vector<std::vector<float>> out;
  for (const runtime::Tensor& tensor : (***batch).outputs.at(0).samples) {
    const auto* begin = reinterpret_cast<const float*>(tensor.data);
    out.emplace_back(begin, begin + tensor.volume());
  }
  return out;
}

}  // namespace galatea::testing
