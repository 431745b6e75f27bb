// The one entry of the compiler: a graph in, a program out.
//
// Comes in: a verified graph from staging, a backend. Goes out: a runtime::Program, and a report that explain
// prints.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "base/source.h"
#include "base/trace.h"
#include "compiler/codegen/backend.h"
#include "compiler/codegen/cuda/device_code.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/pass_runner.h"
#include "compiler/plan/device_branches.h"
#include "compiler/plan/device_report.h"
#include "compiler/plan/launches.h"
#include "compiler/plan/memory_plan.h"
#include "compiler/plan/place_by_cost.h"
#include "runtime/program.h"

namespace galatea {

/// The GPU that a program is made for.
struct GpuTarget {
  int number = 0;                               ///< as in --device gpu:N
  codegen::DeviceCompiler* compiler = nullptr;  ///< nullptr: kernels are planned, and not compiled
  plan::LaunchForm launches = plan::LaunchForm::kAuto;
  plan::SelectorForm selectors = plan::SelectorForm::kAuto;
  plan::CostFigures figures;
  runtime::DecodeChoice decoder = runtime::DecodeChoice::kAuto;
};

struct CompileOptions {
  const op::Registry* registry = nullptr;     ///< the operators; needed by the graph passes (run_passes)
  codegen::KernelBackend* backend = nullptr;  ///< nullptr: the interpreter
  std::optional<GpuTarget> gpu;               ///< nothing: all runs on the CPU
  bool outputs_on_cpu = false;                ///< also where the text leaves them on a GPU
  bool fuse = true;        ///< false: one kernel a node, every stage stored (for comparing)
  bool run_passes = true;  ///< false: the graph as it is
  bool check = true;       ///< false: what fails for every sample fails when it runs (for comparing)
  /// Whether the report shows kernels, schedules, loops and texts. Without it, those whose code is kept are
  /// not lowered.
  bool report_forms = true;
  Trace* trace = nullptr;
};

/// One kernel, as explain shows it.
struct KernelReport {
  std::string name;
  std::vector<std::string> operators;
  std::vector<uint32_t> lines;
  std::string why;  ///< what fused with what, and what did not, and why
  bool on_gpu = false;
  std::string text;       ///< of a kernel of the user's own, which has none of the forms below
  kernel::Kernel kernel;  ///< after the kernel passes
  kernel::Schedule schedule;
  kernel::LoopKernel loops;
  bool from_cache = false;
  bool first_tier = false;  ///< its code will be replaced while the program runs
  double seconds = 0;       ///< making its code; 0 where an equal kernel's code is shared
};

struct CompileReport {
  std::unique_ptr<ir::Graph> graph;  ///< after the passes
  std::vector<KernelReport> kernels;
  std::vector<passes::PassReport> passes;
  plan::MemoryReport memory;  ///< what a sample takes, in terms of the graph's symbols
  std::vector<std::string> notes;
  plan::DeviceReport device;            ///< of a program for a GPU
  int num_prepared = 0;                 ///< kernels that the passes over kernels saw: equal ones once
  int num_lowered = 0;                  ///< kernels of which loops were made
  int num_plans = 0;                    ///< how often it was planned: again where branches have to wait
  std::string device_text;              ///< CUDA, a text a launch, as it is compiled but for names
  std::vector<Diagnostic> diagnostics;  ///< warnings of the checks that need no data
};

/// Checks that need no data (check_graph.h), passes, plan, code. The report may be nullptr.
Result<std::shared_ptr<runtime::Program>> compile(const ir::Graph& graph, const SourceMap& sources,
                                                  const CompileOptions& options = {},
                                                  CompileReport* report = nullptr);

}  // namespace galatea
