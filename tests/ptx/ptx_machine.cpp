// Threads run to a barrier one after the other; those of a warp meet at shuffles. See ptx_machine.h.
#include "tests/ptx/ptx_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tests/ptx/ptx_arithmetic.h"

namespace galatea::testing {

PtxMachine::PtxMachine(const PtxProgram& program)
    : program_(program),
      shared_(static_cast<size_t>(program.shared_bytes)),
      local_(static_cast<size_t>(program.local_bytes * kThreads)),
      registers_(program.register_bits.size() * kThreads),
      executed_(program.instructions.size() * kThreads),
      threads_(kThreads),
      issued_(program.instructions.size()) {}

std::string PtxMachine::run_block(const std::array<uint64_t, 3>& arguments, uint32_t block) {
  arguments_ = arguments;
  const size_t registers = program_.register_bits.size(), instructions = program_.instructions.size(),
               local = local_.size() / kThreads;
  std::ranges::fill(shared_, uint8_t{0xa5});
  std::ranges::fill(executed_, 0U);
  for (int t = 0; t < kThreads; ++t) {
    const auto k = static_cast<size_t>(t);
    threads_[k] = {0, State::kRuns, std::span(registers_).subspan(k * registers, registers),
                   std::span(executed_).subspan(k * instructions, instructions),
                   std::span(local_).subspan(k * local, local)};
    if (program_.thread_register >= 0) set(threads_[k], program_.thread_register, k);
    if (program_.block_register >= 0) set(threads_[k], program_.block_register, block);
    if (program_.threads_register >= 0) set(threads_[k], program_.threads_register, kThreads);
  }
  const auto all = [&](State state) {
    return std::ranges::all_of(threads_,
                               [&](const Thread& t) { return t.state == state || t.state == State::kDone; });
  };
  while (error_.empty() && !all(State::kDone)) {
    for (Thread& thread : threads_) run(thread);
    for (int warp = 0; warp < kThreads / kWarp; ++warp) shuffle(warp);
    if (!all(State::kAtBarrier)) continue;
    for (Thread& thread : threads_)
      if (thread.state == State::kAtBarrier) thread.state = State::kRuns;
  }
  for (size_t n = 0; n < instructions; ++n)
    for (size_t t = 0; t < kThreads; t += kWarp) {
      uint32_t most = 0;
      for (size_t lane = 0; lane < kWarp; ++lane) most = std::max(most, threads_[t + lane].executed[n]);
      issued_[n] += most;
    }
  return error_;
}

void PtxMachine::run(Thread& thread) {
  while (thread.state == State::kRuns && error_.empty()) {
    const PtxInstruction& i = program_.instructions[static_cast<size_t>(thread.at)];
    ++thread.executed[static_cast<size_t>(thread.at)];
    ++thread.at;
    if (i.guard >= 0 && ((thread.registers[static_cast<size_t>(i.guard)] & 1U) != 0) == i.guard_negated)
      continue;
    if (!step(thread, i)) fail(i.name);
  }
}

void PtxMachine::fail(const std::string& what) {
  if (error_.empty()) error_ = fmt::format("{} runs \"{}\", which is not known here", program_.name, what);
}

bool PtxMachine::step(Thread& thread, const PtxInstruction& i) {
  const PtxOp op = i.op;
  if (op == PtxOp::kBra) {
    thread.at = i.target;
  } else if (op == PtxOp::kLd) {
    load(thread, i);
  } else if (op == PtxOp::kSt) {
    store(thread, i);
  } else if (op == PtxOp::kAtom || op == PtxOp::kRed) {
    atomic(thread, i);
  } else if (op == PtxOp::kBar) {
    thread.state = State::kAtBarrier;
  } else if (op == PtxOp::kShfl) {
    thread.state = State::kAtShuffle;
  } else if (op == PtxOp::kRet || op == PtxOp::kExit) {
    thread.state = State::kDone;
  } else if (op == PtxOp::kMembar || op == PtxOp::kFence || op == PtxOp::kNanosleep) {
    return true;  // blocks and threads run one after the other
  } else if (op == PtxOp::kMov && (i.to.size() > 1 || i.args.size() > 1)) {
    // A register as its parts, or parts as a register.
    const int bits = i.type.bits / static_cast<int>(std::max(i.to.size(), i.args.size()));
    uint64_t all = 0;
    for (size_t k = i.args.size(); k-- > 0;)
      all = (i.args.size() > 1 ? all << bits : 0) |
            value(thread, i.args[k], {'u', i.args.size() > 1 ? bits : 64});
    for (size_t k = 0; k < i.to.size(); ++k) set(thread, i.to[k], all >> (static_cast<size_t>(bits) * k));
  } else {
    std::array<uint64_t, 4> args{};
    if (i.args.size() > args.size() || i.to.size() != 1) return false;
    const PtxType& type = op == PtxOp::kCvt ? i.from : i.type;
    for (size_t k = 0; k < i.args.size(); ++k)
      args[k] = value(thread, i.args[k],
                      (op == PtxOp::kShl || op == PtxOp::kShr) && k == 1 ? PtxType{'u', 32} : type);
    const auto result = ptx_compute(op, i, std::span(args).first(i.args.size()));
    if (!result) return false;
    set(thread, i.to[0], *result);
  }
  return true;
}

/// Values go down by a distance; who has no other keeps its own.
void PtxMachine::shuffle(int warp) {
  const auto lanes = std::span(threads_).subspan(static_cast<size_t>(warp) * kWarp, kWarp);
  if (!std::ranges::all_of(lanes, [](const Thread& t) { return t.state == State::kAtShuffle; })) return;
  const PtxInstruction& i = program_.instructions[static_cast<size_t>(lanes[0].at - 1)];
  if (!i.has("down")) return fail(i.name);
  std::array<uint64_t, kWarp> values{};
  for (size_t k = 0; k < kWarp; ++k) values[k] = value(lanes[k], i.args[0], {'u', 32});
  for (size_t k = 0; k < kWarp; ++k) {
    const uint64_t from = k + value(lanes[k], i.args[1], {'u', 32});
    set(lanes[k], i.to[0], values[from < kWarp ? from : k]);
    if (i.to.size() > 1) set(lanes[k], i.to[1], from < kWarp ? 1 : 0);
    lanes[k].state = State::kRuns;
  }
}

uint64_t PtxMachine::value(const Thread& thread, const PtxOperand& operand, const PtxType& type) const {
  return ptx_extend(operand.reg < 0 ? operand.value : thread.registers[static_cast<size_t>(operand.reg)],
                    type);
}

void PtxMachine::set(Thread& thread, int reg, uint64_t value) {
  thread.registers[static_cast<size_t>(reg)] =
      ptx_extend(value, {'u', program_.register_bits[static_cast<size_t>(reg)]});
}

uint8_t* PtxMachine::memory(Thread& thread, uint64_t address, int64_t bytes) {
  const auto inside = [&](uint64_t base, std::span<uint8_t> all) {
    return address >= base && address - base + static_cast<uint64_t>(bytes) <= all.size();
  };
  if (inside(kPtxShared, shared_)) return shared_.data() + (address - kPtxShared);
  if (inside(kPtxLocal, thread.local)) return thread.local.data() + (address - kPtxLocal);
  if (address >> 32 != 0) return reinterpret_cast<uint8_t*>(address);
  fail(fmt::format("address {:#x}", address));
  return nullptr;
}

void PtxMachine::load(Thread& thread, const PtxInstruction& i) {
  const uint64_t at = i.args[0].reg < 0
                          ? i.args[0].value
                          : thread.registers[static_cast<size_t>(i.args[0].reg)] + i.args[0].value;
  if (i.space == PtxSpace::kParameter) return set(thread, i.to[0], arguments_[at]);
  const int64_t bytes = i.type.bits / 8;
  for (size_t k = 0; k < i.to.size(); ++k) {
    const uint8_t* from = memory(thread, at + k * static_cast<uint64_t>(bytes), bytes);
    if (!from) return;
    uint64_t read = 0;
    std::memcpy(&read, from, static_cast<size_t>(bytes));
    set(thread, i.to[k], ptx_extend(read, i.type));
  }
}

void PtxMachine::store(Thread& thread, const PtxInstruction& i) {
  const uint64_t at = value(thread, i.args[0], {'u', 64}) + (i.args[0].reg < 0 ? 0 : i.args[0].value);
  const int64_t bytes = i.type.bits / 8;
  for (size_t k = 1; k < i.args.size(); ++k) {
    const uint64_t written = value(thread, i.args[k], {'u', 64});
    uint8_t* to = memory(thread, at + (k - 1) * static_cast<uint64_t>(bytes), bytes);
    if (!to) return;
    std::memcpy(to, &written, static_cast<size_t>(bytes));
  }
}

void PtxMachine::atomic(Thread& thread, const PtxInstruction& i) {
  const uint64_t at = value(thread, i.args[0], {'u', 64}) + (i.args[0].reg < 0 ? 0 : i.args[0].value);
  const auto bytes = static_cast<size_t>(i.type.bits / 8);
  uint8_t* place = memory(thread, at, static_cast<int64_t>(bytes));
  if (!place) return;
  static constexpr std::pair<const char*, PtxOp> kOperations[] = {
      {"add", PtxOp::kAdd}, {"min", PtxOp::kMin}, {"max", PtxOp::kMax}, {"or", PtxOp::kOr}};
  PtxOp operation = PtxOp::kUnknown;
  for (const auto& [name, op] : kOperations)
    if (i.has(name)) operation = op;
  uint64_t old = 0;
  std::memcpy(&old, place, bytes);
  const std::array<uint64_t, 2> args = {ptx_extend(old, i.type), value(thread, i.args[1], i.type)};
  const auto result = ptx_compute(operation, i, args);
  if (!result) return fail(i.name);
  std::memcpy(place, &*result, bytes);
  if (!i.to.empty()) set(thread, i.to[0], old);
}

}  // namespace galatea::testing
