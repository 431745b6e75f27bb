// See compile.h. Graph passes, plan, kernel passes, schedule, code, in this order.
#include "compiler/compile.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "compiler/check_graph.h"
#include "compiler/codegen/cuda/emit_launch.h"
#include "compiler/kernel/form_key.h"
#include "compiler/kernel/passes/passes.h"
#include "compiler/op/schema.h"
#include "compiler/passes/pass_runner.h"
#include "compiler/pending_kernels.h"
#include "compiler/plan/emit_sample_program.h"
#include "compiler/plan/form_kernels.h"
#include "compiler/plan/offer_decodes.h"
#include "compiler/plan/shared_table.h"
#include "compiler/plan/value_table.h"
#include "compiler/program_options.h"

namespace galatea {
namespace {

class Compilation {
 public:
  Compilation(const SourceMap& sources, const CompileOptions& options, CompileReport* report)
      : sources_(sources),
        options_(options),
        report_(report),
        own_backend_(options.backend ? nullptr : codegen::make_interpreter_backend()),
        backend_(options.backend ? options.backend : own_backend_.get()),
        pending_(*backend_, options.gpu ? options.gpu->compiler : nullptr,
                 {.fuse = options.fuse, .lower_all = shows_forms()}) {}

  Result<std::shared_ptr<runtime::Program>> run(const ir::Graph& input) {
    auto start = std::chrono::steady_clock::now();
    auto graph = std::make_unique<ir::Graph>(input);
    plan::SharedTable table(*graph);
    if (options_.check) GALATEA_TRY(check(input, table.known()));
    passes::DeviceMapping mapping = passes::map_devices(*graph, options_.gpu.has_value());
    if (options_.outputs_on_cpu) mapping.outputs_on_gpu.assign(mapping.outputs_on_gpu.size(), false);
    if (options_.run_passes) {
      TraceScope scope(options_.trace, "passes", "compile");
      GALATEA_CHECK(options_.registry != nullptr, "compile: the graph passes need the registry");
      passes::PassOptions pass_options = passes::default_pass_options();
      pass_options.trace = options_.trace;
      pass_options.for_gpu = options_.gpu.has_value();
      pass_options.remarks = shows_forms();
      GALATEA_ASSIGN(auto reports, run_graph_passes(*graph, input, pass_options, table));
      if (report_) {
        for (passes::PassReport& report : reports)
          for (passes::Remark& remark : report.remarks)
            if (const SourceFile* file = sources_.file(remark.span.file))
              remark.text += fmt::format(" (line {})", file->position(remark.span.begin).line);
        report_->passes = std::move(reports);
      }
    }
    auto program = std::make_shared<runtime::Program>();
    set_options(*graph, *program);
    GALATEA_ASSIGN(Planned planned, make_plan(std::move(graph), table, mapping, *program));
    GALATEA_TRY(make_code(*program));
    {
      TraceScope scope(options_.trace, "emit program", "compile");
      GALATEA_TRY(plan::emit_sample_program(*planned.table, sample_plan(planned), sources_, program->seed,
                                            *program, report_ ? &report_->memory : nullptr));
    }
    if (program->device >= 0) GALATEA_TRY(make_device_code(planned, *program));
    program->compile_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (report_) report_->graph = std::move(planned.graph);
    return program;
  }

 private:
  /// A bug of ours is found at the end, when it has passed through all passes: they run once more, from the
  /// beginning and verified whole after each, so that the report says which it was.
  Result<std::vector<passes::PassReport>> run_graph_passes(ir::Graph& graph, const ir::Graph& input,
                                                           passes::PassOptions pass_options,
                                                           plan::SharedTable& table) const {
    auto reports = passes::run_passes(graph, *options_.registry, pass_options, table);
    const bool repeats = !reports && reports.error().kind == ErrorKind::kInternal &&
                         pass_options.verify == passes::VerifyPasses::kTypesAtEnd;
    if (!repeats) return reports;
    ir::Graph again = input;
    passes::map_devices(again, options_.gpu.has_value());
    pass_options.verify = passes::VerifyPasses::kAfterEach;
    auto found = passes::run_passes(again, *options_.registry, pass_options);
    return found ? std::move(reports) : std::move(found);
  }

  /// What was decided of a graph, before there is code.
  struct Planned {
    std::unique_ptr<ir::Graph> graph;
    plan::Placement placement;
    std::unique_ptr<plan::ValueTable> table;
    plan::KernelGroups groups;
    plan::Residence residence;
    std::vector<plan::PlannedKernel> kernels;
    plan::DeviceBranches branches;
  };

  /// Without operators there is nothing to store results of arms with (a graph that is compiled as it is).
  plan::SelectorForm selectors() const {
    if (!options_.gpu) return plan::SelectorForm();
    return options_.registry ? options_.gpu->selectors : plan::SelectorForm::kWait;
  }

  plan::SamplePlan sample_plan(const Planned& planned) const {
    return {planned.groups,    planned.kernels,  planned.placement,
            planned.residence, planned.branches, selectors()};
  }

  Planned place(const ir::Graph& graph, const passes::DeviceMapping& mapping,
                const plan::WaitingBranches& waiting) const {
    Planned out;
    TraceScope scope(options_.trace, "lower operators", "compile");
    out.graph = std::make_unique<ir::Graph>(graph);
    out.table = make_table(*out.graph);
    out.placement = mapping.stated ? plan::place_as_stated(*out.graph, mapping)
                                   : plan::place_by_cost(*out.table, mapping, options_.fuse,
                                                         options_.gpu->figures, {selectors(), waiting});
    if (plan::forget_regions_of_downloads(*out.graph, *out.table, out.placement))
      out.table = make_table(*out.graph);
    offer_decodes(out);
    form_kernels(out);
    return out;
  }

  /// Everything on the CPU: the passes' graph, and their table if it is good still.
  Planned place_on_cpu(std::unique_ptr<ir::Graph> graph, plan::SharedTable& table) const {
    Planned out;
    TraceScope scope(options_.trace, "lower operators", "compile");
    out.graph = std::move(graph);
    out.table = table.take();
    form_kernels(out);
    return out;
  }

  void form_kernels(Planned& planned) const {
    TraceScope scope(options_.trace, "form kernels", "compile");
    planned.groups = plan::form_kernels(*planned.table, options_.fuse, planned.placement);
  }

  void offer_decodes(Planned& planned) const {
    if (options_.gpu->decoder != runtime::ImageDecoder::kCpu)
      planned.table->offer(plan::offer_decodes(*planned.graph, *planned.table, planned.placement));
  }

  /// Kernels, and which branches on conditions of the GPU are recorded whole. Whether the arms of one can be
  /// is known for certain when their instructions are; then planning starts again, once for all of them.
  Result<Planned> make_plan(std::unique_ptr<ir::Graph> graph, plan::SharedTable& table,
                            const passes::DeviceMapping& mapping, runtime::Program& program) {
    if (!options_.gpu) {
      if (report_) ++report_->num_plans;
      Planned placed = place_on_cpu(std::move(graph), table);
      program.device = -1;
      GALATEA_TRY(plan_kernels(placed, program));
      return placed;
    }
    plan::WaitingBranches waiting;
    Planned placed = place(*graph, mapping, waiting);
    for (;;) {
      if (report_) ++report_->num_plans;
      Planned out;
      const bool uses_gpu = placed.placement.uses_gpu();
      program.device = uses_gpu ? options_.gpu->number : -1;
      if (uses_gpu) {
        program.decoder = options_.gpu->decoder;
        placed.residence = plan::Residence(*placed.table, placed.groups);
        out = with_recorded_branches(placed, waiting);
      }
      if (out.branches.recorded.empty()) {
        placed.branches.reports = std::move(out.branches.reports);
        GALATEA_TRY(plan_kernels(placed, program));
        return placed;
      }
      out.residence = plan::Residence(*out.table, out.groups);
      GALATEA_TRY(plan_kernels(out, program));
      plan::SamplePlan drafted = sample_plan(out);
      drafted.if_all_wait = &placed.residence;
      plan::ArmFindings findings = plan::look_at_arms(*out.table, drafted, sources_, program.seed, program);
      if (findings.waiting.empty()) {
        out.branches.made_whole = plan::tensors_made_whole(*placed.table, *out.table);
        for (plan::BranchReport& branch : out.branches.reports)
          branch.doubtful = std::move(findings.doubtful[branch.block]);
        return out;
      }
      waiting.merge(findings.waiting);
      forget_kernels(program);
      // What waits costs more than was thought.
      if (!mapping.stated) placed = place(*graph, mapping, waiting);
    }
  }

  void forget_kernels(runtime::Program& program) {
    kernels_.clear();
    prepared_.clear();
    pending_.clear();
    reported_.clear();
    program.kernels.clear();
    if (report_) report_->kernels.clear();
  }

  Planned with_recorded_branches(const Planned& placed, const plan::WaitingBranches& waiting) const {
    TraceScope scope(options_.trace, "branches of the GPU", "compile");
    Planned out;
    out.graph = std::make_unique<ir::Graph>(*placed.graph);
    out.placement = placed.placement;
    out.branches = plan::record_branches(*out.graph, *placed.table, placed.groups, options_.registry,
                                         selectors(), waiting, out.placement);
    if (out.branches.recorded.empty()) return out;
    const Status verified = ir::verify(*out.graph);
    GALATEA_CHECK(verified.has_value(), verified ? std::string() : verified.error().message());
    out.table = make_table(*out.graph, out.branches.stored);
    offer_decodes(out);
    form_kernels(out);
    return out;
  }

  Status plan_kernels(Planned& planned, runtime::Program& program) {
    TraceScope scope(options_.trace, "lower kernels", "compile");
    for (const plan::KernelGroup& group : planned.groups.groups) {
      GALATEA_ASSIGN(plan::PlannedKernel kernel,
                     plan_kernel(*planned.graph, *planned.table, group, planned.residence, program));
      planned.kernels.push_back(std::move(kernel));
    }
    return lower_kernels(planned.kernels, program);
  }

  Status check(const ir::Graph& graph, op::KnownLowerings& known) const {
    TraceScope scope(options_.trace, "check", "compile");
    std::vector<Diagnostic> found = check_graph(graph, &known);
    const auto first_warning = std::stable_partition(
        found.begin(), found.end(), [](const Diagnostic& d) { return d.severity == Severity::kError; });
    if (first_warning == found.begin()) {
      if (report_) report_->diagnostics = std::move(found);
      return {};
    }
    return std::unexpected(Error{ErrorKind::kUser, std::move(found)});
  }

  static std::unique_ptr<plan::ValueTable> make_table(const ir::Graph& graph,
                                                      std::set<ir::ValueId> stored = {}) {
    auto table = std::make_unique<plan::ValueTable>(graph, plan::TableUse::kPlan, std::move(stored));
    table->fill();
    return table;
  }

  Result<plan::PlannedKernel> plan_kernel(const ir::Graph& graph, const plan::ValueTable& table,
                                          const plan::KernelGroup& group, const plan::Residence& residence,
                                          runtime::Program& program) {
    plan::PlannedKernel planned;
    planned.on_gpu = group.on_gpu;
    if (group.nodes.empty()) return planned;
    plan::BuiltKernel built = plan::build_kernel(table, group, residence);
    if (built.outputs.empty()) return planned;

    KernelReport report;
    report.name = built.kernel.name;
    report.why = group.why;
    report.on_gpu = group.on_gpu;
    for (ir::NodeId node : group.nodes) {
      report.operators.push_back(op::shown_name(graph.node(node)));
      if (const SourceFile* file = sources_.file(graph.node(node).span.file))
        report.lines.push_back(file->position(graph.node(node).span.begin).line);
    }
    // Forms that are shown have names and places of their own.
    std::string form = (group.on_gpu ? "gpu " : "") + kernel::form_key(built.kernel);
    auto known = shows_forms() ? prepared_.end() : prepared_.find(form);
    if (known == prepared_.end()) {
      kernel::Kernel kernel = run_passes(std::move(built.kernel));
      if (report_) ++report_->num_prepared;
      Prepared made;
      made.params = plan::drop_unused_params(kernel);
      GALATEA_TRY(kernel::verify(kernel));
      made.kernel = number_of(kernel, report, program);
      if (shows_forms()) report.kernel = std::move(kernel);
      known = prepared_.insert_or_assign(std::move(form), std::move(made)).first;
    }
    planned.kernel = known->second.kernel;
    planned.inputs = std::move(built.inputs);
    planned.outputs = std::move(built.outputs);
    for (const size_t param : known->second.params) planned.params.push_back(std::move(built.params[param]));
    if (runtime::ProgramKernel& shared = program.kernels[static_cast<size_t>(planned.kernel)];
        shared.operators != report.operators)
      shared.name = report.name;
    if (report_) {
      report_->kernels.push_back(std::move(report));
      reported_.push_back(planned.kernel);
    }
    return planned;
  }

  bool shows_forms() const { return report_ != nullptr && options_.report_forms; }

  kernel::Kernel run_passes(kernel::Kernel kernel) const {
    kernel::KernelPassOptions pass_options;
    // Unfused, every stage stays as its operator wrote it, for comparing.
    if (!options_.fuse)
      pass_options.skip = {"integer_bands",   "permute_outputs", "inline_maps",      "narrow_producers",
                           "sink_into_store", "tabulate",        "narrow_arithmetic"};
    return kernel::run_kernel_passes(std::move(kernel), pass_options);
  }

  /// Number of the program's kernel for this canonical form: a policy asks for one kernel in many arms.
  int number_of(const kernel::Kernel& kernel, const KernelReport& report, runtime::Program& program) {
    const std::string canonical = (report.on_gpu ? "gpu " : "") + kernel::form_key(kernel);
    const auto [known, is_new] = kernels_.try_emplace(canonical, static_cast<int>(program.kernels.size()));
    if (is_new) {
      program.kernels.push_back({kernel.name, report.operators, nullptr, nullptr});
      pending_.add(kernel, report.on_gpu, report_ ? report_->kernels.size() : 0);
    }
    return known->second;
  }

  /// Kernels whose code is kept need no loops; all others get theirs.
  Status lower_kernels(std::vector<plan::PlannedKernel>& planned, runtime::Program& program) {
    GALATEA_TRY(pending_.find_or_lower());
    for (size_t i = 0; i < pending_.size(); ++i) program.kernels[i].device = pending_[i].gpu.device;
    for (plan::PlannedKernel& one : planned)
      if (one.kernel >= 0) one.scratch_bytes = pending_[static_cast<size_t>(one.kernel)].scratch_bytes();
    if (report_) report_->num_lowered = pending_.num_lowered();
    if (!shows_forms()) return {};
    for (size_t i = 0; i < reported_.size(); ++i) {
      report_->kernels[i].schedule = pending_[static_cast<size_t>(reported_[i])].schedule;
      report_->kernels[i].loops = pending_[static_cast<size_t>(reported_[i])].loops;
    }
    return {};
  }

  /// The code of all kernels at once, so that they can be compiled side by side.
  Status make_code(runtime::Program& program) {
    TraceScope scope(options_.trace, "kernels", "compile");
    const kernel::ScheduleOptions options = pending_.schedule_options(false);
    std::vector<codegen::KernelJob> jobs;
    std::vector<size_t> numbers;
    for (size_t i = 0; i < pending_.size(); ++i) {
      if (program.kernels[i].device) continue;
      if (const codegen::FoundKernel& found = pending_[i].found; found.code) {
        program.kernels[i].code = found.code;
        note_code(i, true, found.seconds, program);
        continue;
      }
      jobs.push_back({&pending_[i].kernel, &pending_[i].loops, &options});
      numbers.push_back(i);
    }
    GALATEA_ASSIGN(std::vector<codegen::CompiledKernel> compiled, backend_->compile(jobs));
    for (size_t i = 0; i < compiled.size(); ++i) {
      program.kernels[numbers[i]].code = std::move(compiled[i].code);
      note_code(numbers[i], compiled[i].from_cache, compiled[i].seconds, program);
      if (report_) report_->kernels[pending_[numbers[i]].report].first_tier = compiled[i].first_tier;
    }
    return {};
  }

  void note_code(size_t kernel, bool from_cache, double seconds, runtime::Program& program) {
    ++(from_cache ? program.kernels_cached : program.kernels_compiled);
    if (!report_) return;
    report_->kernels[pending_[kernel].report].from_cache = from_cache;
    report_->kernels[pending_[kernel].report].seconds = seconds;
  }

  /// Which calls are launched together, and their code: the kernels of one launch are one text.
  Status make_device_code(const Planned& made_plan, runtime::Program& program) {
    TraceScope scope(options_.trace, "kernels of the GPU", "compile");
    std::vector<plan::Launch> launches = plan::plan_launches(program, options_.gpu->launches);
    if (report_)
      report_->device =
          plan::report_device(program, launches, made_plan.placement.why, made_plan.branches, sources_);
    // A kernel of several launches is a kernel of the program for each of them.
    const std::vector<runtime::ProgramKernel> planned = program.kernels;
    const kernel::ScheduleOptions options = pending_.schedule_options(true);
    std::vector<std::vector<codegen::KernelJob>> texts;
    std::vector<std::vector<int>> made;
    for (plan::Launch& launch : launches) {
      std::vector<codegen::KernelJob>& jobs = texts.emplace_back();
      std::vector<int>& numbers = made.emplace_back();
      for (size_t k = 0; k < launch.kernels.size(); ++k) {
        const int kernel = launch.kernels[k];
        const PendingKernel& pending = pending_[static_cast<size_t>(kernel)];
        jobs.push_back({&pending.kernel, &pending.loops, &options});
        numbers.push_back(plan::kernel_for_launch(program, planned, launch, k));
      }
    }
    if (shows_forms()) report_->device_text = text_of(launches);
    if (!options_.gpu->compiler) return {};
    const auto lower = [&](std::span<const size_t> unknown) { lower_launches(launches, unknown); };
    GALATEA_ASSIGN(const std::vector<codegen::DeviceLaunchCode> code,
                   options_.gpu->compiler->compile(texts, lower));
    for (size_t l = 0; l < launches.size(); ++l)
      for (size_t k = 0; k < made[l].size(); ++k) {
        auto& known = program.kernels[static_cast<size_t>(made[l][k])].device;
        auto with_code = std::make_shared<runtime::DeviceKernel>(*known);
        with_code->cubin = code[l].cubin;
        known = std::move(with_code);
      }
    for (size_t l = 0; l < launches.size(); ++l)
      for (int kernel : launches[l].kernels)
        note_code(static_cast<size_t>(kernel), code[l].from_cache, code[l].seconds, program);
    return {};
  }

  /// Loops for launches whose code is not kept.
  void lower_launches(const std::vector<plan::Launch>& launches, std::span<const size_t> numbers) {
    std::set<size_t> kernels;
    for (const size_t launch : numbers)
      for (const int kernel : launches[launch].kernels) kernels.insert(static_cast<size_t>(kernel));
    pending_.lower(std::vector<size_t>(kernels.begin(), kernels.end()));
    if (report_) report_->num_lowered = pending_.num_lowered();
  }

  /// For people: with the names that the compiled texts do without.
  std::string text_of(const std::vector<plan::Launch>& launches) const {
    std::string out;
    for (size_t number = 0; number < launches.size(); ++number) {
      std::vector<const kernel::LoopKernel*> loops;
      for (int kernel : launches[number].kernels)
        loops.push_back(&pending_[static_cast<size_t>(kernel)].loops);
      out += fmt::format("// launch {}\n{}\n", number,
                         codegen::emit_cuda_launch(loops, fmt::format("launch_{}", number)));
    }
    return out;
  }

  /// What became of a group's kernel: which of the program's it is, and which of its parameters that one has.
  struct Prepared {
    int kernel = -1;
    std::vector<size_t> params;
  };

  const SourceMap& sources_;
  const CompileOptions& options_;
  CompileReport* report_;
  std::unique_ptr<codegen::KernelBackend> own_backend_;
  codegen::KernelBackend* backend_;
  std::map<std::string, int> kernels_;
  std::unordered_map<std::string, Prepared> prepared_;  ///< by the form of the kernel as it was built
  PendingKernels pending_;                              ///< the program's, in order
  std::vector<int> reported_;                           ///< the program's kernel of each of the report's
};

}  // namespace

Result<std::shared_ptr<runtime::Program>> compile(const ir::Graph& graph, const SourceMap& sources,
                                                  const CompileOptions& options, CompileReport* report) {
  return Compilation(sources, options, report).run(graph);
}

}  // namespace galatea
