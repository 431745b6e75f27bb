// Pipelines as programs for a GPU that need not be here.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "compiler/compile.h"
#include "dsl/frontend.h"
#include "tests/support/product.h"

namespace galatea::testing {

struct Planned {
  std::shared_ptr<runtime::Program> program;
  CompileReport report;
  std::string error;  ///< empty: all is well
};

inline Planned plan_for_gpu(const std::string& text, plan::LaunchForm launches = plan::LaunchForm::kAuto,
                            codegen::DeviceCompiler* compiler = nullptr,
                            plan::SelectorForm selectors = plan::SelectorForm::kAuto,
                            const plan::CostFigures& figures = {}) {
  Planned out;
  SourceMap sources;
  dsl::FrontendOptions frontend;
  frontend.host.device = "gpu";
  frontend.host.gpu_is_here = true;
  auto staged = dsl::stage_pipeline("test.dali-dsl", text, frontend, product().registry, sources);
  for (const Diagnostic& diagnostic : staged.diagnostics) out.error += render_text(diagnostic, sources);
  if (!staged.ok || staged.graphs.empty()) return out;
  CompileOptions options;
  options.registry = &product().registry;
  options.gpu = GpuTarget{
      .number = 0, .compiler = compiler, .launches = launches, .selectors = selectors, .figures = figures};
  auto program = compile(*staged.graphs.front(), sources, options, &out.report);
  if (!program) {
    out.error += program.error().message();
    return out;
  }
  out.program = *program;
  return out;
}

}  // namespace galatea::testing
