#include "tests/oracle/run_case.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compiler/compile.h"
#include "dsl/frontend.h"
#include "runtime/session.h"
#include "tests/support/product.h"

namespace galatea::testing {
namespace {

std::string first_message(const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& d : diagnostics)
    if (d.severity == Severity::kError)
      return d.code + " " + d.message + (d.notes.empty() ? "" : " (" + d.notes[0] + ")");
  return "no error";
}

/// What the first batch tells (api/late_session.h).
std::map<std::string, dsl::InputType> types_of_inputs(const dsl::LatePipeline& late,
                                                      const OracleCase& oracle_case) {
  std::map<std::string, dsl::InputType> types;
  for (const auto& input : late.inputs) {
    types.emplace(input.name, *input.type);
    for (const auto& [name, samples] : oracle_case.inputs)
      if (name == input.name && input.wants_extents) types[name].extents = samples.front().shape;
  }
  return types;
}

DType dtype_of(const std::string& numpy) {
  for (int i = 0; i < kNumDTypes; ++i)
    if (numpy_name(static_cast<DType>(i)) == numpy) return static_cast<DType>(i);
  ADD_FAILURE() << "unknown dtype " << numpy;
  return DType::kU8;
}

}  // namespace

std::string run_case(const OracleCase& oracle_case) {
  SourceMap sources;
  dsl::FrontendOptions options;
  dsl::FrontendResult staged = dsl::stage_pipeline(oracle_case.name + ".dali-dsl", oracle_case.text, options,
                                                   product().registry, sources);
  if (staged.ok && !staged.late.empty()) {
    options.input_types = types_of_inputs(staged.late.front(), oracle_case);
    staged = dsl::stage_pipeline(oracle_case.name + ".dali-dsl", oracle_case.text, options,
                                 product().registry, sources);
  }
  if (!staged.ok) return oracle_case.refused ? "" : "staging: " + first_message(staged.diagnostics);
  CompileOptions compile_options;
  compile_options.registry = &product().registry;
  auto program = compile(*staged.graphs.at(0), sources, compile_options);
  if (!program) return oracle_case.refused ? "" : "compiling: " + program.error().message();
  runtime::SessionOptions session_options;
  session_options.executor = runtime::ExecutorKind::kInline;
  auto session = runtime::Session::create(*program, product().natives, session_options);
  if (!session) return "session: " + session.error().message();
  runtime::Allocator allocator;
  for (const auto& [name, samples] : oracle_case.inputs) {
    std::vector<runtime::Tensor> tensors;
    for (const RecordedArray& array : samples) {
      auto tensor = runtime::allocate_tensor(allocator, dtype_of(array.dtype), array.shape);
      if (!tensor) return tensor.error().message();
      if (!array.bytes.empty()) std::memcpy(tensor->data, array.bytes.data(), array.bytes.size());
      tensors.push_back(*tensor);
    }
    if (auto fed = (*session)->feed(name, tensors); !fed)
      return oracle_case.refused ? "" : "feeding " + name + ": " + fed.error().message();
  }
  if (auto status = (*session)->end_of_feed(); !status) return status.error().message();
  auto batch = (*session)->next();
  if (!batch) return oracle_case.refused ? "" : "running: " + first_message(batch.error().diagnostics);
  if (oracle_case.refused) return "";  // we may accept more, where the meaning is plain
  if (!*batch) return "no batch was delivered";
  const runtime::Batch& got = ***batch;
  if (got.outputs.size() != oracle_case.outputs.size()) return "number of outputs differs";
  for (size_t k = 0; k < got.outputs.size(); ++k) {
    if (got.outputs[k].spec.port.layout().str() != oracle_case.layouts[k])
      return "layout of output " + std::to_string(k) + ": \"" + got.outputs[k].spec.port.layout().str() +
             "\", recorded \"" + oracle_case.layouts[k] + "\"";
    if (got.outputs[k].samples.size() != oracle_case.outputs[k].size()) return "number of samples differs";
    for (size_t s = 0; s < got.outputs[k].samples.size(); ++s) {
      const runtime::Tensor& tensor = got.outputs[k].samples[s];
      RecordedArray array;
      array.dtype = std::string(numpy_name(tensor.dtype));
      array.shape.assign(tensor.extents, tensor.extents + tensor.ndim);
      array.bytes.resize(static_cast<size_t>(tensor.volume() * size_of(tensor.dtype)));
      if (!array.bytes.empty()) std::memcpy(array.bytes.data(), tensor.data, array.bytes.size());
      if (auto difference = compare(oracle_case, k, s, array)) return *difference;
    }
  }
  return "";
}

}  // namespace galatea::testing
