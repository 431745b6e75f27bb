// What PTX's arithmetic gives for operands; bits in, bits out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tests/ptx/ptx_program.h"

namespace galatea::testing {

/// The low bits of a value; signed ones are extended to 64.
uint64_t ptx_extend(uint64_t bits, const PtxType& type);
/// What `op` gives with the types of `i` (of an atomic operation, `op` is what it does). Nothing: not an operation that galatea's kernels use.
std::optional<uint64_t> ptx_compute(PtxOp op, const PtxInstruction& i, std::span<const uint64_t> args);

}  // namespace galatea::testing
