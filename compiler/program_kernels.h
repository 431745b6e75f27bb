// The kernels of a program that is being planned: each form once, and what becomes of it until it has code.
//
// Comes in: groups of nodes, one after the other; then launches. Goes out: for each group which of the
// program's kernels computes it, and with which tensors and parameters; the code of all of them, in the
// program and in the report. Passes over kernels run once for groups of equal forms, and nothing is lowered
// whose code is kept.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/compile_job.h"
#include "compiler/pending_kernels.h"
#include "compiler/plan/emit_sample_program.h"
#include "compiler/plan/form_kernels.h"

namespace galatea {

class ProgramKernels {
 public:
  /// Begins anew: the program and the report have no kernels behind it.
  ProgramKernels(const CompileJob& job, codegen::KernelBackend& backend, runtime::Program& program);

  /// The kernel of a group of nodes; none (-1) where nothing is to be computed.
  Result<plan::PlannedKernel> add(const ir::Graph& graph, const values::ValueTable& table,
                                  const plan::KernelGroup& group, const plan::Residence& residence);
  /// Kernels whose code is kept need no loops; all others get theirs. `planned`: what add() gave.
  Status find_or_lower(std::vector<plan::PlannedKernel>& planned);
  /// The code of the CPU's kernels, all at once, so that they can be compiled side by side.
  Status make_code();
  /// The code of launches: the kernels of one launch are one text.
  Status make_device_code(const std::vector<plan::Launch>& launches);

 private:
  /// What became of a group's kernel: which of the program's it is, and which of its parameters that one has.
  struct Prepared {
    int kernel = -1;
    std::vector<size_t> params;
  };

  plan::PlannedKernel add_text(plan::BuiltKernel built, KernelReport report);
  Status make_device_text(int kernel, int number);
  void set_device_code(int number, std::shared_ptr<const std::string> cubin);
  KernelReport report_of(const ir::Graph& graph, const plan::KernelGroup& group,
                         const kernel::Kernel& kernel) const;
  int number_of(const kernel::Kernel& kernel, const KernelReport& report);
  void lower_launches(const std::vector<plan::Launch>& launches, std::span<const size_t> numbers);
  std::string text_of(const std::vector<plan::Launch>& launches) const;
  void note_code(size_t kernel, bool from_cache, double seconds);
  void count_lowered(int before) const;

  const CompileJob& job_;
  codegen::KernelBackend& backend_;
  runtime::Program& program_;
  std::map<std::string, int> numbers_;                  ///< by the form of the kernel after its passes
  std::unordered_map<std::string, Prepared> prepared_;  ///< by the form of the kernel as it was built
  PendingKernels pending_;                              ///< the program's, in order
  std::vector<int> reported_;                           ///< the program's kernel of each of the report's
};

}  // namespace galatea
