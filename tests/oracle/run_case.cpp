#include "tests/oracle/run_case.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

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

RecordedArray recorded(const runtime::Tensor& tensor) {
  RecordedArray array;
  array.dtype = std::string(numpy_name(tensor.dtype));
  array.shape.assign(tensor.extents, tensor.extents + tensor.ndim);
  array.bytes.resize(static_cast<size_t>(tensor.volume() * size_of(tensor.dtype)));
  if (!array.bytes.empty()) std::memcpy(array.bytes.data(), tensor.data, array.bytes.size());
  return array;
}

std::expected<std::shared_ptr<runtime::Program>, std::string> compile_case(const OracleCase& oracle_case) {
  SourceMap sources;
  dsl::FrontendOptions options;
  // What a text leaves to chance is the same in every run: a test at a level of 0.001 fails now and then else.
  if (!oracle_case.text.contains("seed=")) options.host.seed = 7;
  const auto stage = [&] {
    return dsl::stage_pipeline(oracle_case.name + ".dali-dsl", oracle_case.text, options, product().registry,
                               sources);
  };
  dsl::FrontendResult staged = stage();
  if (staged.ok && !staged.late.empty()) {
    options.input_types = types_of_inputs(staged.late.front(), oracle_case);
    staged = stage();
  }
  if (!staged.ok) return std::unexpected("staging: " + first_message(staged.diagnostics));
  CompileOptions compile_options;
  compile_options.registry = &product().registry;
  auto program = compile(*staged.graphs.at(0), sources, compile_options);
  if (!program) return std::unexpected("compiling: " + program.error().message());
  return *program;
}

std::expected<void, std::string> feed(runtime::Session& session, const OracleCase& oracle_case) {
  runtime::Allocator allocator;
  for (const auto& [name, samples] : oracle_case.inputs) {
    std::vector<runtime::Tensor> tensors;
    for (const RecordedArray& array : samples) {
      auto tensor = runtime::allocate_tensor(allocator, dtype_of(array.dtype), array.shape);
      if (!tensor) return std::unexpected(tensor.error().message());
      if (!array.bytes.empty()) std::memcpy(tensor->data, array.bytes.data(), array.bytes.size());
      tensors.push_back(*tensor);
    }
    if (auto fed = session.feed(name, tensors); !fed)
      return std::unexpected("feeding " + name + ": " + fed.error().message());
  }
  return {};
}

}  // namespace

std::expected<CaseOutputs, std::string> outputs_of(const OracleCase& oracle_case, int batches) {
  auto program = compile_case(oracle_case);
  if (!program) return std::unexpected(program.error());
  runtime::SessionOptions options;
  options.executor = runtime::ExecutorKind::kInline;
  auto session = runtime::Session::create(*program, product().natives, options);
  if (!session) return std::unexpected("session: " + session.error().message());
  CaseOutputs out;
  for (int n = 0; n < batches; ++n) {
    if (auto fed = feed(**session, oracle_case); !fed) return std::unexpected(fed.error());
    if (n + 1 == batches)
      if (auto status = (*session)->end_of_feed(); !status) return std::unexpected(status.error().message());
    auto batch = (*session)->next();
    if (!batch) return std::unexpected("running: " + first_message(batch.error().diagnostics));
    if (!*batch) return std::unexpected("no batch was delivered");
    const runtime::Batch& got = ***batch;
    out.layouts.clear();
    out.samples.resize(got.outputs.size());
    for (size_t k = 0; k < got.outputs.size(); ++k) {
      out.layouts.push_back(got.outputs[k].spec.port.layout().str());
      for (const runtime::Tensor& tensor : got.outputs[k].samples) out.samples[k].push_back(recorded(tensor));
    }
  }
  return out;
}

std::string run_case(const OracleCase& oracle_case) {
  const auto got = outputs_of(oracle_case);
  // What DALI refuses we may accept, where the meaning is plain.
  if (oracle_case.refused) return "";
  if (!got) return got.error();
  if (got->samples.size() != oracle_case.outputs.size()) return "number of outputs differs";
  for (size_t k = 0; k < got->samples.size(); ++k) {
    if (got->layouts[k] != oracle_case.layouts[k])
      return "layout of output " + std::to_string(k) + ": \"" + got->layouts[k] + "\", recorded \"" +
             oracle_case.layouts[k] + "\"";
    if (got->samples[k].size() != oracle_case.outputs[k].size()) return "number of samples differs";
    for (size_t s = 0; s < got->samples[k].size(); ++s)
      if (auto difference = compare(oracle_case, k, s, got->samples[k][s])) return *difference;
  }
  return "";
}

}  // namespace galatea::testing
