// Kernels of the user's own: their text around the user's, and its code.
//
// Comes in: CUDA text with one function that a plan calls (compiler/op/text_kernel.h). Goes out: a text that
// NVRTC compiles for a GPU and a C++17 compiler for the host, launched and called as the compiler's own
// kernels are; and its code. What the compilers say of the user's text is said at the user's lines.
//
// On a GPU the blocks of a sample are blocks of the launch, as many as there may be; each runs one or several
// of the user's blocks, whose number it keeps in shared memory. On the host a block's threads run one after
// the other, or, where the text has barriers, in turns from barrier to barrier, on stacks of their own.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/source.h"
#include "compiler/codegen/backend.h"
#include "compiler/codegen/cuda/device_code.h"
#include "compiler/op/text_kernel.h"

namespace galatea::codegen {

/// What is compiled behind cuda_prelude().
std::string emit_text_kernel(const op::TextKernel& kernel);
/// What a launch has to know; the cubin is null.
std::shared_ptr<const runtime::DeviceKernel> describe_text_kernel(const op::TextKernel& kernel);
/// Stacks of a block's threads, where these wait for each other on the host; else 0.
int64_t host_scratch_bytes(const op::TextKernel& kernel);

/// The user's errors are at the lines of the text, in a file of `sources` where it has that.
Result<CompiledKernel> compile_for_host(const op::TextKernel& kernel, const SourceMap& sources);
Result<DeviceLaunchCode> compile_for_device(const op::TextKernel& kernel, DeviceCompiler& compiler,
                                            const SourceMap& sources);

/// What a compiler has said, "FILE:LINE:COLUMN: error: TEXT" or "FILE(LINE): error: TEXT", as an error of the
/// user's. Lines of other files are of the call: they are said, without a place, where nothing else
/// is.
Error error_of_text(const op::TextKernel& kernel, const std::string& log, const SourceMap& sources);

}  // namespace galatea::codegen
