// See delivered.h.
#include "tests/gpu/delivered.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

#include "runtime/session.h"
#include "tests/gpu/planned.h"

namespace galatea::testing {

Compiled compile_text(const std::string& text, const op::Registry& registry,
                      std::optional<runtime::DecodeChoice> decoder) {
  Compiled out;
  SourceMap sources;
  dsl::FrontendOptions frontend;
  frontend.host.device = decoder ? "gpu" : "cpu";
  frontend.host.gpu_is_here = decoder.has_value();
  auto staged = dsl::stage_pipeline("test.dali-dsl", text, frontend, registry, sources);
  if (!staged.ok) {
    for (const Diagnostic& diagnostic : staged.diagnostics) out.error += render_text(diagnostic, sources);
    return out;
  }
  CompileOptions options;
  options.registry = &registry;
  const auto backend = codegen::make_interpreter_backend();
  options.backend = backend.get();
  if (decoder) {
    auto found = choose_gpu("gpu", GpuPurpose::kRun, codegen::default_cache_options());
    if (!found) return out.error = found.error().message(), std::move(out);
    out.choice = std::move(*found);
    options.gpu = out.choice.target;
    options.gpu->decoder = *decoder;
  }
  auto program = compile(*staged.graphs.front(), sources, options);
  if (!program) return out.error = program.error().message(), std::move(out);
  out.program = std::move(*program);
  return out;
}

Delivered deliver(const std::string& text, std::optional<runtime::DecodeChoice> decoder, int threads,
                  int64_t memory_limit) {
  Delivered out;
  const Compiled compiled = compile_text(text, product().registry, decoder);
  if (!compiled.program) return out.error = compiled.error, out;
  runtime::SessionOptions session_options;
  session_options.executor = threads > 1 ? runtime::ExecutorKind::kCpu : runtime::ExecutorKind::kInline;
  session_options.num_threads = threads;
  session_options.device.memory_limit = memory_limit;
  auto session = runtime::Session::create(compiled.program, product().natives, session_options);
  const auto say = [&](const Error& error) {
    out.error = error.diagnostics.front().code + " " + error.message();
  };
  if (!session) return say(session.error()), out;
  for (;;) {
    auto batch = (*session)->next();
    if (!batch) {
      say(batch.error());
      break;
    }
    if (!*batch) break;
    for (const auto& output : (**batch)->outputs)
      for (const runtime::Tensor& sample : output.samples) {
        std::string bytes(static_cast<size_t>(sample.num_bytes()), '\0');
        auto* to = reinterpret_cast<uint8_t*>(bytes.data());
        if (sample.memory == runtime::Memory::kDevice) {
          if (const Status status = (**batch)->device->download(sample, to); !status)
            return say(status.error()), out;
        } else {
          runtime::copy_dense(sample, to);
        }
        const std::span extents(sample.extents, static_cast<size_t>(sample.ndim));
        out.samples.push_back(fmt::format("{}:", fmt::join(extents, "x")) + bytes);
      }
  }
  out.device = (*session)->statistics().device;
  out.skipped = (*session)->statistics().num_skipped;
  return out;
}

}  // namespace galatea::testing
