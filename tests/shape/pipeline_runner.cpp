#include "tests/shape/pipeline_runner.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "compiler/check_graph.h"
#include "compiler/codegen/backend.h"
#include "compiler/compile.h"
#include "dsl/frontend.h"
#include "runtime/session.h"
#include "tests/support/product.h"

namespace galatea::shape_test {

using testing::product;

namespace {

std::unique_ptr<runtime::Session> open(const Staged& staged,
                                       std::shared_ptr<const runtime::Program>* program) {
  auto backend = codegen::make_interpreter_backend();
  CompileOptions options;
  options.registry = &product().registry;
  options.backend = backend.get();
  options.check = false;
  auto compiled = compile(*staged.graph, staged.sources, options);
  EXPECT_TRUE(compiled) << compiled.error().message();
  if (!compiled) return nullptr;
  *program = *compiled;
  runtime::SessionOptions session_options;
  session_options.executor = runtime::ExecutorKind::kInline;
  auto session = runtime::Session::create(*program, product().natives, session_options);
  EXPECT_TRUE(session) << session.error().message();
  return session ? std::move(*session) : nullptr;
}

void add_samples(const runtime::Batch& batch, std::vector<Sample>& samples) {
  for (size_t k = 0; k < batch.sample_ids.size(); ++k) {
    Sample sample;
    sample.hash = 14695981039346656037U;
    for (const auto& output : batch.outputs) {
      const runtime::Tensor& tensor = output.samples[k];
      sample.extents.emplace_back(tensor.extents, tensor.extents + tensor.ndim);
      for (int64_t i = 0; i < tensor.num_bytes(); ++i)
        sample.hash = (sample.hash ^ tensor.data[i]) * 1099511628211U;
    }
    samples.push_back(std::move(sample));
  }
}

runtime::Tensor noise(runtime::Allocator& allocator, const Image& image) {
  auto tensor = runtime::allocate_tensor(allocator, DType::kU8, {image.h, image.w, image.c});
  EXPECT_TRUE(tensor);
  std::mt19937 random(static_cast<unsigned>(image.h * 1000 + image.w));
  for (int64_t i = 0; i < tensor->volume(); ++i) tensor->data[i] = static_cast<uint8_t>(random());
  return *tensor;
}

runtime::Tensor size_of_image(runtime::Allocator& allocator, const Image& image) {
  auto tensor = runtime::allocate_tensor(allocator, DType::kI32, {2});
  EXPECT_TRUE(tensor);
  const int32_t numbers[] = {static_cast<int32_t>(image.h), static_cast<int32_t>(image.w)};
  std::memcpy(tensor->data, numbers, sizeof numbers);
  return *tensor;
}

}  // namespace

std::vector<std::string> Staged::errors() const {
  std::vector<std::string> out;
  for (const Diagnostic& d : diagnostics)
    if (d.severity == Severity::kError) out.push_back(d.code + " " + d.message);
  return out;
}

std::vector<ir::ValueId> Staged::outputs() const {
  return graph->block(graph->exit_block()).terminator.results;
}

Staged stage(const std::string& text, const std::vector<std::pair<std::string, std::string>>& parameters) {
  Staged out;
  dsl::FrontendOptions options;
  options.parameters = parameters;
  auto result = dsl::stage_pipeline("test.dali-dsl", text, options, product().registry, out.sources);
  out.diagnostics = std::move(result.diagnostics);
  if (!result.ok || result.graphs.empty()) return out;
  out.graph = std::move(result.graphs.front());
  out.shapes = std::make_unique<shape::GraphShapes>(*out.graph);
  for (Diagnostic& diagnostic : check_graph(*out.graph, *out.shapes))
    out.diagnostics.push_back(std::move(diagnostic));
  return out;
}

std::vector<Sample> run(const Staged& staged, const std::vector<Image>& images) {
  std::vector<Sample> samples;
  std::shared_ptr<const runtime::Program> program;
  auto session = open(staged, &program);
  if (!session) return samples;
  runtime::Allocator allocator;
  for (const Image& image : images) {
    for (const auto& input : program->external_inputs) {
      auto fed = session->feed(input.port.name, {input.port.name == "size" ? size_of_image(allocator, image)
                                                                           : noise(allocator, image)});
      EXPECT_TRUE(fed) << fed.error().message();
    }
    auto batch = session->next();
    if (!batch) {
      samples.push_back({batch.error().diagnostics.front().message, {}, 0});
    } else if (*batch) {
      add_samples(***batch, samples);
    }
  }
  return samples;
}

}  // namespace galatea::shape_test
