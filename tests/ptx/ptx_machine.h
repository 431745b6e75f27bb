// Runs PTX on the host, one block after the other, and counts what it executes.
//
// Comes in: a program, its three arguments (calls, first blocks, their number) and a block's number. Goes out:
// what the block has written, and how often a warp was given each instruction: once for all of its threads
// that take it, so that idle threads cost what they cost on a device.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/ptx/ptx_program.h"

namespace galatea::testing {

class PtxMachine {
 public:
  static constexpr int kThreads = 256, kWarp = 32;

  explicit PtxMachine(const PtxProgram& program);
  /// What is wrong, in words; empty: nothing. Global addresses are those of the host.
  std::string run_block(const std::array<uint64_t, 3>& arguments, uint32_t block);
  /// Per instruction: of warps, all blocks together.
  const std::vector<uint64_t>& issued() const { return issued_; }

 private:
  enum class State : uint8_t { kRuns, kAtBarrier, kAtShuffle, kDone };
  struct Thread {
    int at = 0;
    State state = State::kRuns;
    std::span<uint64_t> registers;
    std::span<uint32_t> executed;
    std::span<uint8_t> local;
  };
  void run(Thread& thread);
  bool step(Thread& thread, const PtxInstruction& i);
  void shuffle(int warp);
  uint64_t value(const Thread& thread, const PtxOperand& operand, const PtxType& type) const;
  void set(Thread& thread, int reg, uint64_t value);
  uint8_t* memory(Thread& thread, uint64_t address, int64_t bytes);
  void load(Thread& thread, const PtxInstruction& i);
  void store(Thread& thread, const PtxInstruction& i);
  void atomic(Thread& thread, const PtxInstruction& i);
  void fail(const std::string& what);

  const PtxProgram& program_;
  std::array<uint64_t, 3> arguments_{};
  std::vector<uint8_t> shared_, local_;
  std::vector<uint64_t> registers_;
  std::vector<uint32_t> executed_;
  std::vector<Thread> threads_;
  std::vector<uint64_t> issued_;
  std::string error_;
};

}  // namespace galatea::testing
