#include "tools/explain_levels.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/settings.h"
#include "compiler/codegen/code_module.h"
#include "compiler/codegen/cuda/emit.h"
#include "compiler/codegen/cuda/nvrtc.h"
#include "compiler/ir/text/printer.h"
#include "compiler/op/operator.h"
#include "compiler/shape/graph_shapes.h"
#include "tools/explain_memory.h"
#include "tools/messages.h"

namespace galatea::tools {
namespace {

/// One text per kernel under a line that names it. A kernel of the user's own has its text alone.
template <typename Show>
Result<std::string> for_each_kernel(const CompileReport& report, const char* comment, const Show& show,
                                    bool shows_own = false) {
  std::string text;
  for (const KernelReport& kernel : report.kernels) {
    std::string part = fmt::format("{} of the user's own: --emit=cuda shows its text\n", comment);
    if (kernel.text.empty() || shows_own) {
      GALATEA_ASSIGN(part, show(kernel));
    }
    text += fmt::format("{} kernel {}\n{}", comment, kernel.name, part);
    if (!text.ends_with('\n')) text.push_back('\n');
    text.push_back('\n');
  }
  return text;
}

std::string placement_text(kernel::Placement placement) {
  switch (placement) {
    case kernel::Placement::kInlined:
      return "computed where it is read";
    case kernel::Placement::kRing:
      return "its last rows are kept";
    case kernel::Placement::kWhole:
      return "stored whole in scratch memory";
    case kernel::Placement::kTable:
      return "a small table, computed first";
    case kernel::Placement::kOutput:
      return "stored straight to the output";
    case kernel::Placement::kTile:
      return "a tile in each block's memory";
  }
  return "";
}

std::string scratch_text(const KernelReport& kernel) {
  const kernel::Expr bytes = kernel::layout_scratch(kernel.loops).bytes;
  if (!kernel::is_const(bytes)) return "as much as the sample's size asks for";
  return fmt::format("{} bytes a sample", kernel::const_value(bytes));
}

/// "u8[240,320,3], 230400 bytes"; extents that only the run knows are "?".
std::string tensor_text(DType type, const std::vector<kernel::Expr>& extents) {
  std::string inside;
  int64_t bytes = size_of(type);
  for (const kernel::Expr& extent : extents) {
    const bool known = kernel::is_const(extent);
    inside += fmt::format("{}{}", inside.empty() ? "" : ",",
                          known ? std::to_string(kernel::const_value(extent)) : "?");
    bytes = known && bytes >= 0 ? bytes * kernel::const_value(extent) : -1;
  }
  return fmt::format("{}[{}]{}", short_name(type), inside, bytes < 0 ? "" : fmt::format(", {} bytes", bytes));
}

/// One line a stage; the small tables, of which there may be many, share one.
void describe_stages(const KernelReport& kernel, std::string& text) {
  std::vector<std::string> tables;
  std::string lines;
  for (size_t i = 0; i < kernel.kernel.stages.size(); ++i) {
    const kernel::Stage& stage = kernel.kernel.stages[i];
    const bool scheduled = i < kernel.schedule.stages.size();
    if (scheduled && kernel.schedule.stages[i].placement == kernel::Placement::kTable) {
      tables.push_back(stage.name);
      continue;
    }
    lines += fmt::format("    {} {}", stage.name, short_name(stage.type));
    if (scheduled) {
      const kernel::StageSchedule& schedule = kernel.schedule.stages[i];
      lines += fmt::format(": {}", placement_text(schedule.placement));
      if (schedule.vector_width > 1) lines += fmt::format(", {} lanes", schedule.vector_width);
      if (!schedule.reason.empty()) lines += fmt::format("; {}", schedule.reason);
    }
    lines += "\n";
  }
  text += "  stages\n";
  if (!tables.empty()) text += fmt::format("    small tables, computed first: {}\n", fmt::join(tables, ", "));
  text += lines;
}

void describe_kernel(const KernelReport& kernel, std::string& text) {
  std::vector<std::string> fused;
  for (size_t i = 0; i < kernel.operators.size(); ++i) {
    fused.push_back(i < kernel.lines.size()
                        ? fmt::format("{} (line {})", kernel.operators[i], kernel.lines[i])
                        : kernel.operators[i]);
  }
  text += fmt::format("\nkernel {}\n  fuses     {}\n", kernel.name, fmt::join(fused, ", "));
  if (!kernel.why.empty()) {
    // Neighbours that were asked several times gave the same answer each time.
    std::vector<std::string> reasons;
    std::istringstream lines(kernel.why);
    for (std::string line; std::getline(lines, line);)
      if (std::find(reasons.begin(), reasons.end(), line) == reasons.end()) reasons.push_back(line);
    text += fmt::format("  because   {}\n", fmt::join(reasons, "\n            "));
  }
  if (!kernel.text.empty()) {
    text += "  text      CUDA of the user's own (--emit=cuda shows it); it reads its inputs whole\n";
    return;
  }
  for (const kernel::KernelInput& input : kernel.kernel.inputs) {
    text += fmt::format("  reads     {}\n", tensor_text(input.type, input.extents));
  }
  for (const kernel::KernelOutput& output : kernel.kernel.outputs) {
    const kernel::Stage& stage = kernel.kernel.stages[static_cast<size_t>(output.stage)];
    std::vector<kernel::Expr> extents;
    for (int axis : output.axis_of) extents.push_back(stage.extents[static_cast<size_t>(axis)]);
    text += fmt::format("  writes    {}{}\n", tensor_text(stage.type, extents),
                        output.streaming ? ", straight into the batch" : "");
  }
  describe_stages(kernel, text);
  text += fmt::format("  scratch   {}\n", scratch_text(kernel));
}

/// The graph passes that did something; a pass may have run more than once.
void describe_passes(const CompileReport& report, std::string& text) {
  std::vector<std::string> names;
  for (const passes::PassReport& pass : report.passes)
    if ((pass.changed || !pass.remarks.empty()) &&
        std::find(names.begin(), names.end(), pass.name) == names.end())
      names.push_back(pass.name);
  if (!names.empty()) text += "\npasses\n";
  for (const std::string& name : names) {
    std::string remarks;
    for (const passes::PassReport& pass : report.passes)
      for (const passes::Remark& remark : pass.remarks)
        if (pass.name == name) remarks += "    " + remark.text + "\n";
    const auto& list = passes::pass_list();
    const auto entry =
        std::find_if(list.begin(), list.end(), [&](const auto& candidate) { return candidate.name == name; });
    text += fmt::format("  {}: {}\n{}", name, entry->summary, remarks);
  }
}

/// Where a sample waits for the others of its batch, and what they hand over.
std::string describe_meetings(const runtime::Program& program) {
  std::string text;
  for (const runtime::Instruction& i : program.code) {
    if (i.op != runtime::Opcode::kBarrier || i.a == runtime::kDeviceBarrier) continue;
    const runtime::BatchStep& step = program.batch_steps[static_cast<size_t>(i.a)];
    const size_t numbers = step.scalars.size(), tensors = step.totals.size() + step.takes.size();
    text += fmt::format("  meets     its batch, with {} {}{}", numbers + tensors,
                        tensors > 0 ? "tensor" : "number", numbers + tensors == 1 ? "" : "s");
    if (i.location >= 0) {
      const runtime::Location& location = program.locations[static_cast<size_t>(i.location)];
      text += fmt::format(" ({}, line {})", location.op, location.line);
    }
    text += "\n";
  }
  return text;
}

std::string page_for_people(const runtime::Program& program, const CompileReport& report) {
  std::string text = fmt::format("pipeline {}: batches of {}, {} threads, {} batches ahead\n", program.name,
                                 program.batch_size, program.num_threads, program.prefetch_depth);
  text += "\noutputs\n";
  for (const runtime::OutputSpec& output : program.outputs) {
    const int64_t bytes = output_bytes(output);
    text += fmt::format("  {} {}{}\n", output.port.name.empty() ? "(unnamed)" : output.port.name,
                        to_text(output.port),
                        bytes < 0 ? ", size varies" : fmt::format(", {} bytes a sample", bytes));
  }
  text += "\nfor every sample\n";
  for (const runtime::SourceSpec& source : program.sources) {
    text += fmt::format("  read      {}{}\n", source.factory,
                        source.name.empty() ? "" : " `" + source.name + "`");
  }
  for (const runtime::NativeCallSpec& call : program.natives)
    text += fmt::format("  call      {}\n", call.function);
  for (const runtime::KernelCallSpec& call : program.kernel_calls) {
    text += fmt::format("  kernel    {}\n", program.kernels[static_cast<size_t>(call.kernel)].name);
  }
  text += describe_meetings(program);
  describe_passes(report, text);
  for (const KernelReport& kernel : report.kernels) describe_kernel(kernel, text);
  text += describe_memory(program, report);
  if (report.device.used) text += "\n" + plan::to_text(report.device);
  for (const std::string& note : report.notes) text += fmt::format("\nnote: {}\n", note);
  return text;
}

/// What GALATEA_TARGET names, else this machine, else the least that we generate code for.
Result<codegen::Target> chosen_target() {
  if (const std::string name = setting("GALATEA_TARGET"); !name.empty())
    return codegen::target_from_name(name);
  return codegen::host_target().value_or(codegen::Target{});
}

/// "sm_90" as 90; without one, a common recent architecture.
Result<int> architecture_of(const std::string& arch) {
  if (arch.empty()) return 90;
  int number = 0;
  const std::string digits = arch.starts_with("sm_") ? arch.substr(3) : "";
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return tool_error(Message::kBadArchitecture, arch);
  }
  return number;
}

/// A C identifier for a kernel: "resize+flip" gives "resize_flip".
std::string identifier(const std::string& name) {
  std::string out = "k_";
  for (char c : name) out.push_back(std::isalnum(static_cast<unsigned char>(c)) ? c : '_');
  return out;
}

/// CUDA text comes from loops that were lowered for a GPU, whatever the program itself was compiled for.
std::string cuda_text(const KernelReport& report, bool fuse) {
  if (!report.text.empty()) return report.text;
  kernel::ScheduleOptions options;
  options.gpu = true;
  options.fuse = fuse;
  return codegen::emit_cuda(
      kernel::lower(report.kernel, kernel::make_schedule(report.kernel, options), options),
      identifier(report.name));
}

Result<std::string> ptx_text(const CompileReport& report, const std::string& arch, bool fuse) {
  GALATEA_ASSIGN(const int architecture, architecture_of(arch));
  GALATEA_ASSIGN(const std::shared_ptr<const codegen::Nvrtc> nvrtc, codegen::Nvrtc::open());
  return for_each_kernel(
      report, "//",
      [&](const KernelReport& k) {
        return nvrtc->compile_to_ptx(codegen::cuda_prelude() + cuda_text(k, fuse), k.name + ".cu",
                                     architecture);
      },
      true);
}

}  // namespace

Result<std::string> emit_level(const std::string& level, const runtime::Program& program,
                               const CompileReport& report, const std::string& arch, bool fuse) {
  if (level.empty()) return page_for_people(program, report);
  if (level == "graph") {
    const shape::GraphShapes shapes(*report.graph);
    return ir::to_text(*report.graph, shapes.type_texts());
  }
  if (level == "plan")
    return runtime::to_text(program) + (report.device.used ? "\n" + plan::to_text(report.device) : "");
  if (level == "kernel") {
    return for_each_kernel(report, "//", [](const KernelReport& k) -> Result<std::string> {
      return kernel::to_text(k.kernel) + kernel::to_text(k.kernel, k.schedule);
    });
  }
  if (level == "loops") {
    return for_each_kernel(
        report, "//", [](const KernelReport& k) -> Result<std::string> { return kernel::to_text(k.loops); });
  }
  if (level == "llvm" || level == "asm") {
    GALATEA_ASSIGN(const codegen::Target target, chosen_target());
    GALATEA_ASSIGN(const std::shared_ptr<const codegen::CodeModule> code, codegen::CodeModule::open());
    return for_each_kernel(report, ";", [&](const KernelReport& k) -> Result<std::string> {
      // Its loops are for blocks of threads.
      if (k.on_gpu) return std::string("; runs on the GPU: --emit=cuda and --emit=ptx show its code\n");
      return level == "llvm" ? code->llvm_text(k.loops, target) : code->assembly(k.loops, target);
    });
  }
  if (level == "ptx") return ptx_text(report, arch, fuse);
  // What every kernel needs stands before the first: the whole can be compiled as it is.
  if (report.device.used) return codegen::cuda_prelude() + "\n" + report.device_text;
  GALATEA_ASSIGN(const std::string kernels,
                 for_each_kernel(
                     report, "//",
                     [&](const KernelReport& k) -> Result<std::string> { return cuda_text(k, fuse); }, true));
  return codegen::cuda_prelude() + "\n" + kernels;
}

}  // namespace galatea::tools
