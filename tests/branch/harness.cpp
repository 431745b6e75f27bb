// See harness.h. In: a text and numbers per sample. Out: numbers per sample, or the first error.
#include "tests/branch/harness.h"

#include <algorithm>
#include <cstring>

#include "base/scalar_op.h"
#include "compiler/codegen/llvm_backend.h"
#include "compiler/compile.h"
#include "dsl/frontend.h"
#include "tests/support/product.h"
#include "tests/support/tiers.h"

namespace galatea::testing {
namespace {

template <typename T>
void store_as(double value, uint8_t* to) {
  auto typed = static_cast<T>(value);
  std::memcpy(to, &typed, sizeof typed);
}

void store(DType dtype, double value, uint8_t* to) {
  switch (dtype) {
    case DType::kBool:
    case DType::kU8:
      return store_as<uint8_t>(value, to);
    case DType::kI8:
      return store_as<int8_t>(value, to);
    case DType::kU16:
      return store_as<uint16_t>(value, to);
    case DType::kI16:
      return store_as<int16_t>(value, to);
    case DType::kU32:
      return store_as<uint32_t>(value, to);
    case DType::kI32:
      return store_as<int32_t>(value, to);
    case DType::kU64:
      return store_as<uint64_t>(value, to);
    case DType::kI64:
      return store_as<int64_t>(value, to);
    case DType::kF16: {
      uint16_t bits = float_to_half(static_cast<float>(value));
      std::memcpy(to, &bits, sizeof bits);
      return;
    }
    case DType::kF32:
      return store_as<float>(value, to);
    case DType::kF64:
      return store_as<double>(value, to);
  }
}

template <typename T>
double load_as(const uint8_t* from) {
  T typed;
  std::memcpy(&typed, from, sizeof typed);
  return static_cast<double>(typed);
}

double load(DType dtype, const uint8_t* from) {
  switch (dtype) {
    case DType::kBool:
    case DType::kU8:
      return *from;
    case DType::kI8:
      return load_as<int8_t>(from);
    case DType::kU16:
      return load_as<uint16_t>(from);
    case DType::kI16:
      return load_as<int16_t>(from);
    case DType::kU32:
      return load_as<uint32_t>(from);
    case DType::kI32:
      return load_as<int32_t>(from);
    case DType::kU64:
      return static_cast<double>(load_as<uint64_t>(from));
    case DType::kI64:
      return static_cast<double>(load_as<int64_t>(from));
    case DType::kF16:
      return half_to_float(load_as<uint16_t>(from));
    case DType::kF32:
      return load_as<float>(from);
    case DType::kF64:
      return load_as<double>(from);
  }
  return 0;
}

std::string describe(const std::vector<Diagnostic>& diagnostics, const SourceMap& sources) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    if (d.severity == Severity::kError) out += render_text(d, sources);
  }
  return out;
}

Status feed_all(runtime::Session& session, const std::vector<Input>& inputs, size_t batch_size) {
  if (inputs.empty()) return {};  // a pipeline of readers
  size_t total = inputs[0].values.size();
  for (size_t begin = 0; begin < total; begin += batch_size) {
    size_t count = std::min(batch_size, total - begin);
    for (const Input& input : inputs) {
      std::vector<uint64_t> memory(count);
      std::vector<runtime::Tensor> tensors(count);
      for (size_t i = 0; i < count; ++i) {
        tensors[i].data = reinterpret_cast<uint8_t*>(&memory[i]);
        tensors[i].set_dense(input.dtype, {});
        store(input.dtype, input.values[begin + i], tensors[i].data);
      }
      if (Status fed = session.feed(input.name, tensors); !fed) return fed;
    }
  }
  return session.end_of_feed();
}

}  // namespace

Outcome run_text(const std::string& text, const std::vector<Input>& inputs, const Way& way) {
  Outcome out;
  SourceMap sources;
  dsl::FrontendOptions options;
  options.host.batch_size = way.batch_size;
  options.host.num_threads = way.threads;
  dsl::FrontendResult staged =
      dsl::stage_pipeline("program.dali-dsl", text, options, product().registry, sources);
  for (const Diagnostic& d : staged.diagnostics) {
    if (d.severity == Severity::kError) out.codes.push_back(d.code);
  }
  auto fail = [&](const std::vector<Diagnostic>& diagnostics) {
    out.error = describe(diagnostics, sources);
    if (out.error.empty()) out.error = "an error without a diagnostic";
    return out;
  };
  if (!staged.ok) return fail(staged.diagnostics);
  std::string note;
  auto backend =
      codegen::make_backend(way.backend, &note, codegen::default_cache_options(), testing::tiers());
  if (!backend) return fail(backend.error().diagnostics);
  CompileOptions compile_options;
  compile_options.registry = &product().registry;
  compile_options.backend = backend->get();
  compile_options.fuse = way.fuse;
  auto program = compile(*staged.graphs.at(0), sources, compile_options);
  if (!program) return fail(program.error().diagnostics);
  runtime::SessionOptions session_options;
  session_options.executor = way.executor;
  session_options.sources = &sources;
  auto session = runtime::Session::create(*program, product().natives, session_options);
  if (!session) return fail(session.error().diagnostics);
  if (Status fed = feed_all(**session, inputs, static_cast<size_t>(way.batch_size)); !fed)
    return fail(fed.error().diagnostics);
  while (true) {
    auto batch = (*session)->next();
    if (!batch) return fail(batch.error().diagnostics);
    if (!*batch) return out;
    for (int s = 0; s < (**batch)->num_samples(); ++s) {
      std::vector<double> numbers;
      for (const auto& output : (**batch)->outputs) {
        const runtime::Tensor& tensor = output.samples[static_cast<size_t>(s)];
        for (int64_t i = 0; i < tensor.volume(); ++i)
          numbers.push_back(load(tensor.dtype, tensor.data + i * size_of(tensor.dtype)));
      }
      out.samples.push_back(std::move(numbers));
    }
  }
}

}  // namespace galatea::testing
