// What run, check, explain and view need from the layers: options of a pipeline file, staging, compiling,
// running.
//
// Comes in: options as typed. Goes out: graphs, programs and sessions; whatever is wrong goes to the
// Reporter. Nothing else in tools/ calls the compiler or starts sessions.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/choose_gpu.h"
#include "compiler/compile.h"
#include "compiler/ir/graph.h"
#include "compiler/op/operator.h"
#include "dsl/frontend.h"
#include "runtime/program.h"
#include "runtime/session.h"
#include "tools/command.h"

namespace galatea::tools {

/// The options of every subcommand that takes a pipeline file, as the command line gave them.
struct PipelineOptions {
  std::string pipeline;
  std::optional<std::string> text;        ///< in place of the file's
  std::vector<std::string> set;           ///< NAME=VALUE
  std::vector<std::string> policies;      ///< in turn, for the one that the pipeline loads
  std::vector<std::string> limits_given;  ///< NAME=VALUE
  dsl::Limits limits;                     ///< with what was given
  std::optional<int> batch_size, num_threads, prefetch;
  std::optional<int64_t> seed;
  std::optional<uint64_t> memory_limit;
  std::string device = "auto", on_error, exact, arch;
  std::vector<int> gpus;                         ///< with several_gpus: those named, where they are several
  bool gpu_is_here = false;                      ///< choose_gpu() has found what `auto` means
  const std::atomic<bool>* cancelled = nullptr;  ///< set: staging ends, without a word; may be null
};
/// `several_gpus`: --device may name more than one.
void add_pipeline_options(CLI::App* app, PipelineOptions& options, bool several_gpus = false);
/// --policies, for what runs or shows one pipeline.
void add_policies_option(CLI::App* app, PipelineOptions& options);

/// How to compile; for comparing. Never changes a value.
struct CompileChoice {
  std::string backend = "llvm";
  bool fuse = true;
  bool passes = true;        ///< false: the graph is one that they have made
  std::string cache = "on";  ///< "off", or the folder in which galatea keeps its files
  std::string tiers;         ///< "auto", "best", "first"; empty: as the settings say
  bool to_run = true;        ///< false: to be looked at, so that code for another processor will do
  GpuChoice gpu;
  bool may_stay_on_cpu = false;
  bool outputs_on_cpu = false;  ///< to be written to files, or drawn
  plan::LaunchForm launches = plan::LaunchForm::kAuto;
  runtime::DecodeChoice decoder = runtime::DecodeChoice::kAuto;
  std::string decoder_given = "auto";   ///< its word
  std::string launches_given = "auto";  ///< its word
  plan::SelectorForm selectors = plan::SelectorForm::kAuto;
  std::string selectors_given = "auto";
};
void add_compile_options(CLI::App* app, CompileChoice& choice, std::string& fuse);

/// The operators and native functions, registered once.
class PipelineHost {
 public:
  PipelineHost();
  const op::Registry& registry() const { return registry_; }
  const runtime::NativeTable& natives() const { return natives_; }

  /// Options for the language.
  static dsl::FrontendOptions frontend_options(const PipelineOptions& options);
  /// Stages the chosen pipeline. nullptr: there were errors. `origins`: with --policies, where each output
  /// comes from.
  std::unique_ptr<ir::Graph> stage(const std::string& file, const PipelineOptions& options,
                                   Reporter& reporter,
                                   std::vector<dsl::OutputOrigin>* origins = nullptr) const;
  /// Where to run; before stage(). Of several GPUs the first is planned for. False: status 3, a device that is
  /// insisted on is not here.
  bool choose_device(PipelineOptions& options, CompileChoice& choice, Reporter& reporter) const;
  /// Compiles for running. nullptr: there were errors. The report (for explain) may be nullptr.
  std::shared_ptr<const runtime::Program> compile(const ir::Graph& graph, const CompileChoice& choice,
                                                  Trace* trace, Reporter& reporter,
                                                  CompileReport* report = nullptr) const;
  /// Told of samples that are left out or replaced (SessionOptions::on_failure).
  using OnFailure = std::function<void(const runtime::SampleFailure& failure, bool replaced)>;
  /// Opens sources and starts threads. nullptr: there were errors, or an input that only a host can feed.
  std::unique_ptr<runtime::Session> open(std::shared_ptr<const runtime::Program> program, Trace* trace,
                                         Reporter& reporter, const runtime::DeviceOptions& device = {},
                                         OnFailure on_failure = {},
                                         const runtime::SessionShard& shard = {}) const;

 private:
  op::Registry registry_;
  runtime::NativeTable natives_;
};

}  // namespace galatea::tools
