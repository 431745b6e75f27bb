// See delivered.h.
#include "tests/gpu/delivered.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

#include "compiler/choose_gpu.h"
#include "runtime/session.h"
#include "tests/gpu/planned.h"

namespace galatea::testing {

Delivered deliver(const std::string& text, std::optional<runtime::DecodeChoice> decoder, int threads,
                  int64_t memory_limit) {
  Delivered out;
  SourceMap sources;
  dsl::FrontendOptions frontend;
  frontend.host.device = decoder ? "gpu" : "cpu";
  frontend.host.gpu_is_here = decoder.has_value();
  auto staged = dsl::stage_pipeline("test.dali-dsl", text, frontend, product().registry, sources);
  for (const Diagnostic& diagnostic : staged.diagnostics) out.error += render_text(diagnostic, sources);
  if (!staged.ok) return out;
  out.error.clear();
  CompileOptions options;
  options.registry = &product().registry;
  const auto backend = codegen::make_interpreter_backend();
  options.backend = backend.get();
  GpuChoice choice;
  if (decoder) {
    auto found = choose_gpu("gpu", GpuPurpose::kRun, codegen::default_cache_options());
    if (!found) return out.error = found.error().message(), out;
    choice = std::move(*found);
    options.gpu = choice.target;
    options.gpu->decoder = *decoder;
  }
  auto program = compile(*staged.graphs.front(), sources, options);
  if (!program) return out.error = program.error().message(), out;
  runtime::SessionOptions session_options;
  session_options.executor = threads > 1 ? runtime::ExecutorKind::kCpu : runtime::ExecutorKind::kInline;
  session_options.num_threads = threads;
  session_options.device.memory_limit = memory_limit;
  auto session = runtime::Session::create(*program, product().natives, session_options);
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
