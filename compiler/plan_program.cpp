#include "compiler/plan_program.h"

#include <set>

#include "compiler/ir/text/verifier.h"
#include "compiler/plan/offer_work.h"
#include "compiler/plan/place_by_cost.h"

namespace galatea {
namespace {

/// Without operators there is nothing to store results of arms with (a graph that is compiled as it is).
plan::SelectorForm selectors_of(const CompileOptions& options) {
  if (!options.gpu) return plan::SelectorForm();
  return options.registry ? options.gpu->selectors : plan::SelectorForm::kWait;
}

/// Of a graph of which a GPU may do a part.
std::unique_ptr<values::ValueTable> plan_table_of(const ir::Graph& graph, std::set<ir::ValueId> stored = {}) {
  auto table = std::make_unique<values::ValueTable>(graph, values::TableUse::kPlan, std::move(stored));
  table->fill();
  table->settle_checks_at_hand();
  return table;
}

void group_nodes(const CompileJob& job, PlannedProgram& planned) {
  const TraceScope scope = job.trace("form kernels");
  planned.groups = plan::form_kernels(*planned.table, job.options.fuse, planned.placement);
}

void offer_work_of(const CompileJob& job, PlannedProgram& planned) {
  planned.table->offer(plan::offer_work(*planned.graph, *planned.table, planned.placement,
                                        job.options.gpu->decoder != runtime::DecodeChoice::kHost));
}

/// Everything on the CPU: the passes' graph, and their table if it is good still.
PlannedProgram place_on_cpu(const CompileJob& job, std::unique_ptr<ir::Graph> graph,
                            values::SharedTable& table) {
  PlannedProgram out;
  const TraceScope scope = job.trace("lower operators");
  out.graph = std::move(graph);
  out.table = table.take();
  group_nodes(job, out);
  return out;
}

/// As the text says, or as it costs least, given that these branches wait.
PlannedProgram place_with_gpu(const CompileJob& job, const ir::Graph& graph, const op::DeviceMapping& mapping,
                              const plan::WaitingBranches& waiting) {
  PlannedProgram out;
  const TraceScope scope = job.trace("lower operators");
  out.graph = std::make_unique<ir::Graph>(graph);
  out.table = plan_table_of(*out.graph);
  out.selectors = selectors_of(job.options);
  out.placement = mapping.stated ? plan::place_as_stated(*out.graph, mapping)
                                 : plan::place_by_cost(*out.table, mapping, job.options.fuse,
                                                       job.options.gpu->figures, {out.selectors, waiting});
  if (plan::forget_regions_of_downloads(*out.graph, *out.table, out.placement))
    out.table = plan_table_of(*out.graph);
  offer_work_of(job, out);
  group_nodes(job, out);
  return out;
}

/// The same with those branches in a form in which both arms can be recorded.
PlannedProgram with_recorded_branches(const CompileJob& job, const PlannedProgram& placed,
                                      const plan::WaitingBranches& waiting) {
  const TraceScope scope = job.trace("branches of the GPU");
  PlannedProgram out;
  out.graph = std::make_unique<ir::Graph>(*placed.graph);
  out.placement = placed.placement;
  out.selectors = placed.selectors;
  out.branches = plan::record_branches(*out.graph, *placed.table, placed.groups, job.options.registry,
                                       out.selectors, waiting, out.placement);
  if (out.branches.recorded.empty()) return out;
  const Status verified = ir::verify(*out.graph);
  GALATEA_CHECK(verified.has_value(), verified ? std::string() : verified.error().message());
  out.table = plan_table_of(*out.graph, out.branches.stored);
  offer_work_of(job, out);
  group_nodes(job, out);
  return out;
}

Status add_kernels(const CompileJob& job, codegen::KernelBackend& backend, runtime::Program& program,
                   PlannedProgram& planned) {
  const TraceScope scope = job.trace("lower kernels");
  planned.kernels = std::make_unique<ProgramKernels>(job, backend, program);
  for (const plan::KernelGroup& group : planned.groups.groups) {
    GALATEA_ASSIGN(plan::PlannedKernel kernel,
                   planned.kernels->add(*planned.graph, *planned.table, group, planned.residence));
    planned.planned_kernels.push_back(std::move(kernel));
  }
  return planned.kernels->find_or_lower(planned.planned_kernels);
}

}  // namespace

// Which branches on conditions of the GPU are recorded whole: whether the arms of one can be is known for
// certain when their instructions are. Then planning starts again, once for all of them.
Result<PlannedProgram> plan_program(const CompileJob& job, std::unique_ptr<ir::Graph> graph,
                                    values::SharedTable& table, const op::DeviceMapping& mapping,
                                    codegen::KernelBackend& backend, runtime::Program& program) {
  auto count_plan = [&] {
    if (job.report) ++job.report->num_plans;
  };
  program.device = -1;
  if (!job.options.gpu) {
    count_plan();
    PlannedProgram placed = place_on_cpu(job, std::move(graph), table);
    GALATEA_TRY(add_kernels(job, backend, program, placed));
    return placed;
  }
  plan::WaitingBranches waiting;
  PlannedProgram placed = place_with_gpu(job, *graph, mapping, waiting);
  for (;;) {
    count_plan();
    PlannedProgram recorded;
    const bool uses_gpu = placed.placement.uses_gpu();
    program.device = uses_gpu ? job.options.gpu->number : -1;
    if (uses_gpu) {
      program.decoder = job.options.gpu->decoder;
      placed.residence = plan::Residence(*placed.table, placed.groups);
      recorded = with_recorded_branches(job, placed, waiting);
    }
    if (recorded.branches.recorded.empty()) {
      placed.branches.reports = std::move(recorded.branches.reports);
      GALATEA_TRY(add_kernels(job, backend, program, placed));
      return placed;
    }
    recorded.residence = plan::Residence(*recorded.table, recorded.groups);
    GALATEA_TRY(add_kernels(job, backend, program, recorded));
    plan::SamplePlan drafted = recorded.sample_plan();
    drafted.if_all_wait = &placed.residence;
    plan::ArmFindings findings =
        plan::look_at_arms(*recorded.table, drafted, job.sources, program.seed, program);
    if (findings.waiting.empty()) {
      recorded.branches.made_whole = plan::tensors_made_whole(*placed.table, *recorded.table);
      for (plan::BranchReport& branch : recorded.branches.reports)
        branch.doubtful = std::move(findings.doubtful[branch.block]);
      return recorded;
    }
    waiting.merge(findings.waiting);
    // Waiting costs more than was thought.
    if (!mapping.stated) placed = place_with_gpu(job, *graph, mapping, waiting);
  }
}

}  // namespace galatea
