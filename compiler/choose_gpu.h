// From `--device` to what compile() makes a program for.
//
// Comes in: "auto", "cpu", "gpu" or "gpu:N", and what the program is for. Goes out: a target, or nothing for
// the CPU; or an error that says what is missing where a GPU was insisted on. A program that is only looked
// at is planned for a GPU on any machine, and its kernels are not compiled.
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

/// "auto", "cpu", "gpu", "gpu:N".
bool is_device_name(const std::string& device);
Result<GpuChoice> choose_gpu(const std::string& device, GpuPurpose purpose,
                             const codegen::CacheOptions& cache);

/// Of a program that images of device="mixed" go through: what decodes them on this machine, in words; empty
/// where there is nothing to say.
std::string note_on_decoder(const runtime::Program& program);

}  // namespace galatea
