// PTX text as instructions that a test can count and run.
//
// Comes in: what NVRTC makes of a kernel's text (Nvrtc::compile_to_ptx). Goes out: the kernel's instructions with
// their operands resolved. The language is that of NVIDIA's manual "PTX ISA"; what galatea's kernels do not use
// is refused by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace galatea::testing {

/// A type as PTX writes it: u8, s32, f64, b16, pred.
struct PtxType {
  char kind = 'b';  ///< u, s, f, b, or p of a predicate
  int bits = 32;
};

/// Where a load, store or atomic operation says that its address lies. Generic addresses are looked up by the
/// hardware at each access.
enum class PtxSpace : uint8_t { kGeneric, kGlobal, kShared, kLocal, kParameter };

/// The first word of an instruction.
enum class PtxOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kMad,
  kDiv,
  kRem,
  kMin,
  kMax,
  kAbs,
  kNeg,
  kAnd,
  kOr,
  kXor,
  kNot,
  kShl,
  kShr,
  kPopc,
  kBfe,
  kPrmt,
  kShf,
  kFma,
  kSqrt,
  kSelp,
  kMov,
  kCvta,
  kCvt,
  kSetp,
  kLd,
  kSt,
  kAtom,
  kRed,
  kBar,
  kShfl,
  kBra,
  kRet,
  kExit,
  kMembar,
  kFence,
  kNanosleep,
  kUnknown
};

struct PtxOperand {
  int reg = -1;        ///< -1: a number
  uint64_t value = 0;  ///< the number, or what is added to the register (addresses)
};

struct PtxInstruction {
  std::string name;  ///< with all its suffixes: "ld.global.v4.u32"
  PtxOp op = PtxOp::kUnknown;
  std::vector<std::string> modifiers;  ///< the suffixes before the types: "global", "v4"
  PtxType type, from;                  ///< `from`: of conversions, what is converted
  PtxSpace space = PtxSpace::kGeneric;
  int guard = -1;  ///< the predicate that it asks; -1: none
  bool guard_negated = false;
  std::vector<int> to;           ///< registers that it writes
  std::vector<PtxOperand> args;  ///< those that it reads
  int target = -1;               ///< of a branch: the instruction's number
  int weight = 1;                ///< machine instructions, roughly (weight_of)
  bool has(const char* modifier) const;
};

struct PtxProgram {
  std::string name;
  std::vector<PtxInstruction> instructions;
  std::vector<int> register_bits;
  int thread_register = -1, block_register = -1, threads_register = -1;  ///< special ones; -1: not read
  int64_t shared_bytes = 0, local_bytes = 0;
};

/// Shared variables lie from here on: generic and shared addresses are the same numbers, below 2^32.
inline constexpr uint64_t kPtxShared = 1 << 20;
/// Local variables of a thread likewise.
inline constexpr uint64_t kPtxLocal = 1 << 28;

/// The only kernel of a text; functions that are called are refused.
Result<PtxProgram> read_ptx(const std::string& text);

}  // namespace galatea::testing
