// From `--device` to what compile() makes a program for.
//
// Comes in: "auto", "cpu", "gpu" or "gpu:N", and what the program is for. Goes out: a target, or nothing for
// the CPU; or an error that says what is missing where a GPU was insisted on. A program that is only looked
// at is planned for a GPU on any machine, and its kernels are not compiled.
//
// Whether a GPU that is here can be worked with is known once a context of it is made, which takes a fifth of
// a second: so that is tried behind compiling, by programs that use it (rejected: where it is chosen, before
// anybody knows whether a kernel goes there; and where a session begins, where another program would be too
// late for hosts that have looked at this one).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compiler/compile.h"

namespace galatea {

enum class GpuPurpose : uint8_t { kRun, kLook };

struct GpuChoice {
  std::optional<GpuTarget> target;
  std::shared_ptr<codegen::DeviceCompiler> compiler;  ///< the target's
  std::string note;                                   ///< why "auto" is the CPU although a GPU is here
};

/// Empty for "auto", "cpu", "gpu" and "gpu:N". Else what is wrong with it, and what to write instead.
std::string why_no_device_name(const std::string& device);
Result<GpuChoice> choose_gpu(const std::string& device, GpuPurpose purpose,
                             const codegen::CacheOptions& cache);

struct CompiledForChoice {
  std::shared_ptr<runtime::Program> program;
  std::string note;  ///< why it is a program for the CPU after all
};
/// compile() for what choose_gpu() gave. `may_stay_on_cpu`: galatea chose ("auto"). Then a GPU that cannot be
/// worked with now (another process has it to itself, its memory is full), or that no code can be made for
/// on this machine, gives a program for the CPU, and a note. A program that uses the GPU keeps its context.
Result<CompiledForChoice> compile_for_choice(const ir::Graph& graph, const SourceMap& sources,
                                             CompileOptions options, bool may_stay_on_cpu,
                                             CompileReport* report);

/// Of a program with calls whose work a GPU may do: what decodes (device="mixed") and reads (device="gpu") for
/// them on this machine, in words; empty where there is nothing to say.
std::string note_on_alternatives(const runtime::Program& program, const runtime::NativeTable& natives);

}  // namespace galatea
