#include "compiler/program_kernels.h"

#include <set>

#include <fmt/format.h>

#include "compiler/codegen/cuda/emit_launch.h"
#include "compiler/codegen/cuda/text_kernel.h"
#include "compiler/kernel/form_key.h"
#include "compiler/kernel/passes/passes.h"
#include "compiler/op/schema.h"

namespace galatea {
namespace {

kernel::Kernel after_kernel_passes(kernel::Kernel kernel, bool fuse) {
  kernel::KernelPassOptions options;
  // Unfused, every stage stays as its operator wrote it, for comparing.
  if (!fuse)
    options.skip = {"integer_bands",   "permute_outputs", "inline_maps",      "narrow_producers",
                    "sink_into_store", "tabulate",        "narrow_arithmetic"};
  return kernel::run_kernel_passes(std::move(kernel), options);
}

std::string keyed_form(const kernel::Kernel& kernel, bool on_gpu) {
  return (on_gpu ? "gpu " : "") + kernel::form_key(kernel);
}

}  // namespace

ProgramKernels::ProgramKernels(const CompileJob& job, codegen::KernelBackend& backend,
                               runtime::Program& program)
    : job_(job),
      backend_(backend),
      program_(program),
      pending_(backend, job.options.gpu ? job.options.gpu->compiler : nullptr,
               {.fuse = job.options.fuse, .lower_all = job.shows_forms()}) {
  program.kernels.clear();
  if (job.report) job.report->kernels.clear();
}

Result<plan::PlannedKernel> ProgramKernels::add(const ir::Graph& graph, const values::ValueTable& table,
                                                const plan::KernelGroup& group,
                                                const plan::Residence& residence) {
  plan::PlannedKernel planned;
  planned.on_gpu = group.on_gpu;
  if (group.nodes.empty()) return planned;
  plan::BuiltKernel built = plan::build_kernel(table, group, residence);
  if (built.outputs.empty()) return planned;

  KernelReport report = report_of(graph, group, built.kernel);
  if (built.text) return add_text(std::move(built), std::move(report));
  // Forms that are shown have names and places of their own.
  std::string form = keyed_form(built.kernel, group.on_gpu);
  auto known = job_.shows_forms() ? prepared_.end() : prepared_.find(form);
  if (known == prepared_.end()) {
    kernel::Kernel kernel = after_kernel_passes(std::move(built.kernel), job_.options.fuse);
    if (job_.report) ++job_.report->num_prepared;
    Prepared made;
    made.params = plan::drop_unused_params(kernel);
    GALATEA_TRY(kernel::verify(kernel));
    made.kernel = number_of(kernel, report);
    if (job_.shows_forms()) report.kernel = std::move(kernel);
    known = prepared_.insert_or_assign(std::move(form), std::move(made)).first;
  }
  planned.kernel = known->second.kernel;
  planned.inputs = std::move(built.inputs);
  planned.outputs = std::move(built.outputs);
  for (const size_t param : known->second.params) planned.params.push_back(std::move(built.params[param]));
  if (runtime::ProgramKernel& shared = program_.kernels[static_cast<size_t>(planned.kernel)];
      shared.operators != report.operators)
    shared.name = report.name;
  if (job_.report) {
    job_.report->kernels.push_back(std::move(report));
    reported_.push_back(planned.kernel);
  }
  return planned;
}

/// A kernel of the user's own, once for each text and device.
plan::PlannedKernel ProgramKernels::add_text(plan::BuiltKernel built, KernelReport report) {
  plan::PlannedKernel planned;
  planned.on_gpu = report.on_gpu;
  report.text = codegen::emit_text_kernel(built.text->kernel);
  const auto [known, is_new] = numbers_.try_emplace((report.on_gpu ? "gpu text " : "text ") + report.text,
                                                    static_cast<int>(program_.kernels.size()));
  planned.kernel = known->second;
  if (is_new) {
    program_.kernels.push_back({built.kernel.name, report.operators, nullptr, nullptr});
    pending_.add(std::move(built.text), report.on_gpu, job_.report ? job_.report->kernels.size() : 0);
  }
  planned.inputs = std::move(built.inputs);
  planned.outputs = std::move(built.outputs);
  planned.params = std::move(built.params);
  if (job_.report) {
    job_.report->kernels.push_back(std::move(report));
    reported_.push_back(planned.kernel);
  }
  return planned;
}

KernelReport ProgramKernels::report_of(const ir::Graph& graph, const plan::KernelGroup& group,
                                       const kernel::Kernel& kernel) const {
  KernelReport report;
  report.name = kernel.name;
  report.why = group.why;
  report.on_gpu = group.on_gpu;
  for (const ir::NodeId node : group.nodes) {
    report.operators.push_back(op::shown_name(graph.node(node)));
    const Span span = job_.sources.resolve(graph.node(node).span);
    if (const SourceFile* file = job_.sources.file(span.file))
      report.lines.push_back(file->position(span.begin).line);
  }
  return report;
}

/// Number of the program's kernel for this form: a policy asks for one kernel in many arms.
int ProgramKernels::number_of(const kernel::Kernel& kernel, const KernelReport& report) {
  const auto [known, is_new] =
      numbers_.try_emplace(keyed_form(kernel, report.on_gpu), static_cast<int>(program_.kernels.size()));
  if (is_new) {
    program_.kernels.push_back({kernel.name, report.operators, nullptr, nullptr});
    pending_.add(kernel, report.on_gpu, job_.report ? job_.report->kernels.size() : 0);
  }
  return known->second;
}

Status ProgramKernels::find_or_lower(std::vector<plan::PlannedKernel>& planned) {
  const int before = pending_.num_lowered();
  GALATEA_TRY(pending_.find_or_lower());
  count_lowered(before);
  for (size_t i = 0; i < pending_.size(); ++i) program_.kernels[i].device = pending_[i].gpu.device;
  for (plan::PlannedKernel& one : planned) {
    if (one.kernel < 0) continue;
    const PendingKernel& kernel = pending_[static_cast<size_t>(one.kernel)];
    one.scratch_bytes = kernel.scratch_bytes();
    one.blocks = kernel.blocks();
  }
  if (!job_.shows_forms()) return {};
  for (size_t i = 0; i < reported_.size(); ++i) {
    job_.report->kernels[i].schedule = pending_[static_cast<size_t>(reported_[i])].schedule;
    job_.report->kernels[i].loops = pending_[static_cast<size_t>(reported_[i])].loops;
  }
  return {};
}

Status ProgramKernels::make_code() {
  const kernel::ScheduleOptions options = pending_.schedule_options(false);
  std::vector<codegen::KernelJob> jobs;
  std::vector<size_t> numbers;
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (program_.kernels[i].device) continue;
    if (pending_[i].text) {
      GALATEA_ASSIGN(codegen::CompiledKernel compiled,
                     codegen::compile_for_host(pending_[i].text->kernel, job_.sources));
      program_.kernels[i].code = std::move(compiled.code);
      note_code(i, compiled.from_cache, compiled.seconds);
      continue;
    }
    if (const codegen::FoundKernel& found = pending_[i].found; found.code) {
      program_.kernels[i].code = found.code;
      note_code(i, true, found.seconds);
      continue;
    }
    jobs.push_back({&pending_[i].kernel, &pending_[i].loops, &options});
    numbers.push_back(i);
  }
  GALATEA_ASSIGN(std::vector<codegen::CompiledKernel> compiled, backend_.compile(jobs));
  for (size_t i = 0; i < compiled.size(); ++i) {
    program_.kernels[numbers[i]].code = std::move(compiled[i].code);
    note_code(numbers[i], compiled[i].from_cache, compiled[i].seconds);
    if (job_.report) job_.report->kernels[pending_[numbers[i]].report].first_tier = compiled[i].first_tier;
  }
  return {};
}

Status ProgramKernels::make_device_code(const std::vector<plan::Launch>& all) {
  // A kernel of several launches is a kernel of the program for each of them.
  const std::vector<runtime::ProgramKernel> planned = program_.kernels;
  const kernel::ScheduleOptions options = pending_.schedule_options(true);
  codegen::DeviceCompiler* const compiler = job_.options.gpu->compiler;
  std::vector<plan::Launch> launches;
  std::vector<std::vector<codegen::KernelJob>> texts;
  std::vector<std::vector<int>> made;
  for (const plan::Launch& launch : all) {
    if (pending_[static_cast<size_t>(launch.kernels.front())].text) {
      const int number = plan::kernel_for_launch(program_, planned, launch, 0);
      if (compiler) GALATEA_TRY(make_device_text(launch.kernels.front(), number));
      continue;
    }
    launches.push_back(launch);
    std::vector<codegen::KernelJob>& jobs = texts.emplace_back();
    std::vector<int>& numbers = made.emplace_back();
    for (size_t k = 0; k < launch.kernels.size(); ++k) {
      const PendingKernel& pending = pending_[static_cast<size_t>(launch.kernels[k])];
      jobs.push_back({&pending.kernel, &pending.loops, &options});
      numbers.push_back(plan::kernel_for_launch(program_, planned, launch, k));
    }
  }
  if (job_.shows_forms()) job_.report->device_text = text_of(all);
  if (!compiler) return {};
  const auto lower = [&](std::span<const size_t> unknown) { lower_launches(launches, unknown); };
  GALATEA_ASSIGN(const std::vector<codegen::DeviceLaunchCode> code, compiler->compile(texts, lower));
  for (size_t l = 0; l < launches.size(); ++l)
    for (const int number : made[l]) set_device_code(number, code[l].cubin);
  for (size_t l = 0; l < launches.size(); ++l)
    for (const int kernel : launches[l].kernels)
      note_code(static_cast<size_t>(kernel), code[l].from_cache, code[l].seconds);
  return {};
}

void ProgramKernels::set_device_code(int number, std::shared_ptr<const std::string> cubin) {
  auto& known = program_.kernels[static_cast<size_t>(number)].device;
  auto with_code = std::make_shared<runtime::DeviceKernel>(*known);
  with_code->cubin = std::move(cubin);
  known = std::move(with_code);
}

/// The code of a kernel of the user's own, for the kernel of that number, which is it or a copy of it.
Status ProgramKernels::make_device_text(int kernel, int number) {
  const op::TextKernel& text = pending_[static_cast<size_t>(kernel)].text->kernel;
  GALATEA_ASSIGN(codegen::DeviceLaunchCode code,
                 codegen::compile_for_device(text, *job_.options.gpu->compiler, job_.sources));
  set_device_code(number, std::move(code.cubin));
  note_code(static_cast<size_t>(kernel), code.from_cache, code.seconds);
  return {};
}

/// Loops for launches whose code is not kept.
void ProgramKernels::lower_launches(const std::vector<plan::Launch>& launches,
                                    std::span<const size_t> numbers) {
  std::set<size_t> kernels;
  for (const size_t launch : numbers)
    for (const int kernel : launches[launch].kernels) kernels.insert(static_cast<size_t>(kernel));
  const int before = pending_.num_lowered();
  pending_.lower(std::vector<size_t>(kernels.begin(), kernels.end()));
  count_lowered(before);
}

/// For people: with the names that the compiled texts do without.
std::string ProgramKernels::text_of(const std::vector<plan::Launch>& launches) const {
  std::string out;
  for (size_t number = 0; number < launches.size(); ++number) {
    if (const auto& own = pending_[static_cast<size_t>(launches[number].kernels.front())].text) {
      out += fmt::format("// launch {}\n{}\n", number, codegen::emit_text_kernel(own->kernel));
      continue;
    }
    std::vector<const kernel::LoopKernel*> loops;
    for (const int kernel : launches[number].kernels)
      loops.push_back(&pending_[static_cast<size_t>(kernel)].loops);
    out += fmt::format("// launch {}\n{}\n", number,
                       codegen::emit_cuda_launch(loops, fmt::format("launch_{}", number)));
  }
  return out;
}

void ProgramKernels::note_code(size_t kernel, bool from_cache, double seconds) {
  ++(from_cache ? program_.kernels_cached : program_.kernels_compiled);
  if (!job_.report) return;
  job_.report->kernels[pending_[kernel].report].from_cache = from_cache;
  job_.report->kernels[pending_[kernel].report].seconds = seconds;
}

void ProgramKernels::count_lowered(int before) const {
  if (job_.report) job_.report->num_lowered += pending_.num_lowered() - before;
}

}  // namespace galatea
