// See everywhere.h.
#include "tests/pixel/everywhere.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compiler/codegen/cuda/shim_backend.h"
#include "compiler/codegen/llvm_backend.h"
#include "compiler/ir/text/printer.h"
#include "compiler/ir/text/reader.h"
#include "compiler/ir/text/verifier.h"
#include "dsl/frontend.h"
#include "runtime/session.h"
#include "tests/kernel/targets.h"
#include "tests/support/product.h"
#include "tests/support/tiers.h"

namespace galatea::testing {
namespace {

struct Way {
  std::string name;
  std::unique_ptr<codegen::KernelBackend> backend;
  bool fuse = true;
};

std::vector<Way> ways_of(const std::string& text) {
  std::vector<Way> ways;
  ways.push_back({"stages", codegen::make_interpreter_backend(true), true});
  ways.push_back({"stages, unfused", codegen::make_interpreter_backend(true), false});
  ways.push_back({"loops", codegen::make_interpreter_backend(false), true});
  const std::vector<codegen::Target> targets = targets_of(text);
  for (const codegen::Target& target : targets)
    ways.push_back({target.name(), codegen::make_llvm_backend(target, {}, testing::tiers()), true});
  if (!targets.empty())
    ways.push_back({targets.front().name() + ", first tier, unfused",
                    codegen::make_llvm_backend(targets.front(), {}, codegen::Tiers::kFirst), false});
  if (auto shim = codegen::make_shim_backend()) ways.push_back({"cuda-shim", std::move(*shim), true});
  return ways;
}

struct Ran {
  Outputs outputs;
  std::string error;
};

Array array_of(const runtime::Tensor& tensor) {
  Array out{tensor.dtype, {tensor.extents, tensor.extents + tensor.ndim}, {}, {}};
  const auto bytes = static_cast<size_t>(tensor.volume()) * size_of(tensor.dtype);
  if (bytes > 0) out.bytes.assign(tensor.data, tensor.data + bytes);
  for (size_t at = 0; at < bytes; at += size_of(tensor.dtype))
    out.values.push_back(cell_to_double(tensor.dtype, load_cell(tensor.dtype, tensor.data + at)));
  return out;
}

Ran run(const ir::Graph& graph, const SourceMap& sources, const Feed& feed, const Way& way) {
  CompileOptions options;
  options.registry = &product().registry;
  options.backend = way.backend.get();
  options.fuse = way.fuse;
  auto program = compile(graph, sources, options);
  if (!program) return {{}, program.error().message()};
  runtime::SessionOptions session_options;
  session_options.executor = runtime::ExecutorKind::kInline;
  auto session = runtime::Session::create(*program, product().natives, session_options);
  if (!session) return {{}, session.error().message()};
  runtime::Allocator allocator;
  for (const auto& [name, samples] : feed) {
    std::vector<runtime::Tensor> tensors;
    for (const Array& array : samples) {
      auto tensor = runtime::allocate_tensor(allocator, array.dtype, array.extents);
      if (!tensor) return {{}, tensor.error().message()};
      if (!array.bytes.empty()) std::memcpy(tensor->data, array.bytes.data(), array.bytes.size());
      tensors.push_back(std::move(*tensor));
    }
    if (Status fed = (*session)->feed(name, tensors); !fed) return {{}, fed.error().message()};
  }
  if (!feed.empty())
    if (Status ended = (*session)->end_of_feed(); !ended) return {{}, ended.error().message()};
  auto batch = (*session)->next();
  if (!batch) return {{}, batch.error().message()};
  if (!*batch) return {{}, "no batch"};
  Ran out;
  for (const auto& output : (***batch).outputs) {
    out.outputs.emplace_back();
    for (const runtime::Tensor& tensor : output.samples) out.outputs.back().push_back(array_of(tensor));
  }
  return out;
}

}  // namespace

Array random_array(DType dtype, std::vector<int64_t> extents, uint64_t seed) {
  Array out{dtype, std::move(extents), {}, {}};
  int64_t volume = 1;
  for (int64_t extent : out.extents) volume *= extent;
  const auto element = static_cast<size_t>(size_of(dtype));
  out.bytes.resize(static_cast<size_t>(volume) * element);
  for (size_t at = 0; at < out.bytes.size(); at += element) {
    const uint32_t word = philox(seed, at, 0, 0);
    const Cell cell = is_bool(dtype)    ? cell_from_int(dtype, word & 1)
                      : is_float(dtype) ? cell_from_double(dtype, static_cast<double>(word) * 0x1p-31 - 1)
                                        : cell_from_int(dtype, word >> 7);
    store_cell(dtype, &out.bytes[at], cell);
    out.values.push_back(cell_to_double(dtype, load_cell(dtype, &out.bytes[at])));
  }
  return out;
}

std::unique_ptr<ir::Graph> stage(const std::string& text, SourceMap& sources) {
  dsl::FrontendResult staged = dsl::stage_pipeline("pixel.dali-dsl", text, {}, product().registry, sources);
  for (const Diagnostic& diagnostic : staged.diagnostics)
    if (diagnostic.severity == Severity::kError) ADD_FAILURE() << render_text(diagnostic, sources);
  if (!staged.ok || staged.graphs.empty()) {
    ADD_FAILURE() << "not staged:\n" << text;
    return nullptr;
  }
  if (Status verified = ir::verify(*staged.graphs[0]); !verified)
    ADD_FAILURE() << verified.error().message() << "\n" << ir::to_text(*staged.graphs[0]);
  return std::move(staged.graphs[0]);
}

Outputs run_everywhere(const std::string& text, const Feed& feed) {
  SourceMap sources;
  auto graph = stage(text, sources);
  if (!graph) return {};
  // The graph as its own text says the same.
  SourceMap again;
  auto read = ir::read_graph(ir::to_text(*graph), again, product().registry);
  if (!read) {
    ADD_FAILURE() << read.error().message() << "\n" << ir::to_text(*graph);
    return {};
  }
  EXPECT_EQ(ir::to_text(*read), ir::to_text(*graph));
  std::optional<Outputs> expected;
  for (const Way& way : ways_of(text)) {
    Ran ran = run(*graph, sources, feed, way);
    EXPECT_EQ(ran.error, "") << way.name << "\n" << text;
    if (!expected) expected = ran.outputs;
    EXPECT_EQ(ran.outputs == *expected, true) << way.name << " differs from the stages\n" << text;
  }
  return *expected;
}

Outputs run_stages(const std::string& text, const Feed& feed) {
  SourceMap sources;
  auto graph = stage(text, sources);
  if (!graph) return {};
  Ran ran = run(*graph, sources, feed, {"stages", codegen::make_interpreter_backend(true), true});
  EXPECT_EQ(ran.error, "") << text;
  return ran.outputs;
}

std::string failure_of(const std::string& text, const Feed& feed) {
  SourceMap sources;
  auto graph = stage(text, sources);
  if (!graph) return {};
  return run(*graph, sources, feed, {"stages", codegen::make_interpreter_backend(true), true}).error;
}

}  // namespace galatea::testing
