// What the machine code of a kernel depends on, as bytes: the identity of an entry of the program cache.
//
// Comes in: a kernel after its passes with the options that it is scheduled by, or loops; and a target. Goes
// out: these without names and places, the target's name and the compiler's build, which stands for all that
// happens in between. By the kernel's own form code is found before there are loops; loops are what code
// generation is given, so kernels of different forms that come to the same loops share what is made of them.
#pragma once

#include <string>

#include "compiler/codegen/target.h"
#include "compiler/kernel/loops.h"
#include "compiler/kernel/schedule.h"

namespace galatea::codegen {

/// Equal for equal code. Expressions are written as DAGs, each distinct node once, so that the length is that
/// of the DAG.
std::string kernel_key(const kernel::LoopKernel& loops, const Target& target);
/// Of a kernel that has not been lowered; two of equal keys have equal code.
std::string kernel_key(const kernel::Kernel& kernel, const kernel::ScheduleOptions& options,
                       const Target& target);
/// A 128-bit hash of bytes as 32 hexadecimal digits; names files.
std::string hash_name(const std::string& bytes);

}  // namespace galatea::codegen
