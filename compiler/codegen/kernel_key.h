// What the machine code of a kernel depends on, as bytes: the identity of an entry of the program cache.
//
// Comes in: loops and a target. Goes out: the loops without names and places, the target's name and the
// compiler's build. The loops stand for kernel, schedule and schedule options: they are made from these
// alone, and they are all that code generation is given.
#pragma once

#include <string>

#include "compiler/codegen/target.h"
#include "compiler/kernel/loops.h"

namespace galatea::codegen {

/// Equal for equal code. Expressions are written as DAGs, each distinct node once, so that the length is that
/// of the DAG.
std::string kernel_key(const kernel::LoopKernel& loops, const Target& target);
/// A 128-bit hash of bytes as 32 hexadecimal digits; names files.
std::string hash_name(const std::string& bytes);

}  // namespace galatea::codegen
