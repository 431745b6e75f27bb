// The interpreter's loop: scalars, jumps and checks. Tensors are in sample_tensors.cpp, calls in
// sample_calls.cpp.
#include "runtime/sample_program.h"

#include <algorithm>
#include <utility>

#include "runtime/messages.h"
#include "runtime/random.h"

namespace galatea::runtime {

Frame::Frame(std::shared_ptr<const LoadedProgram> loaded, Allocator& allocator, MemoryGate* gate)
    : loaded_(std::move(loaded)),
      program_(*loaded_->program),
      // At a barrier a whole batch of frames is parked.
      arena_(allocator, gate,
             program_.batch_steps.empty() ? Arena::Pieces::kHugePages : Arena::Pieces::kAsNeeded),
      claim_(gate, arena_) {
  registers_.resize(static_cast<size_t>(program_.num_registers));
  slots_.resize(static_cast<size_t>(program_.num_slots));
  blocks_.assign(slots_.size(), -1);
  outputs_.resize(program_.outputs.size());
  if (program_.device < 0) return;
  twins_.resize(slots_.size());
  windows_.resize(slots_.size());
}

void Frame::begin(const SampleInput& input, OutputSink& sink) {
  input_ = input;
  sink_ = &sink;
  pc_ = 0;
  batch_step_ = barrier_location_ = -1;
  meeting_error_.reset();
  failed_together_ = false;
  admitted_ = refused_ = false;
  claim_.begin(input.batch_bytes, input.expected);
  std::fill(registers_.begin(), registers_.end(), Cell{});
}

void Frame::end() {
  for (Tensor& slot : slots_) slot = Tensor{};
  for (Tensor& output : outputs_) output = Tensor{};
  std::fill(blocks_.begin(), blocks_.end(), -1);
  if (program_.device >= 0) forget_device();
  arena_.reset();
  claim_.end();
}

/// False: a division by zero.
inline bool Frame::evaluate_scalar(const Instruction& i) {
  Cell& result = registers_[static_cast<size_t>(i.dst)];
  if (i.op == Opcode::kConst) {
    result = program_.constants[static_cast<size_t>(i.a)];
    return true;
  }
  // Operands that the operation has not are -1.
  const Cell* registers = registers_.data();
  const Cell operands[3] = {registers[i.a], i.b < 0 ? Cell{} : registers[i.b],
                            i.c < 0 ? Cell{} : registers[i.c]};
  uint32_t flags = 0;
  result = evaluate(i.scalar_op, i.type, i.from, operands, &flags);
  return (flags & kFlagDivisionByZero) == 0;
}

Result<Frame::Outcome> Frame::run(Worker& worker) {
  const Instruction* code = program_.code.data();
  if (std::exchange(at_device_barrier_, false)) GALATEA_TRY(leave_device_barrier());
  if (doubt_) GALATEA_TRY(settle_doubt());
  if (meeting_error_) {
    const std::unique_ptr<Error> error = std::move(meeting_error_);
    return std::unexpected(loaded_->located(std::move(*error), barrier_location_));
  }
  if (std::exchange(refused_, false)) {
    Error error = claim_.refusal().error();
    if (!refusal_note_.empty()) error.diagnostics.front().notes.push_back(std::exchange(refusal_note_, {}));
    return std::unexpected(loaded_->located(std::move(error), code[pc_].location));
  }
  for (;;) {
    const Instruction& i = code[pc_];
    if (claim_.is_limited() && !std::exchange(admitted_, false)) {
      auto admitted = admit(i);
      if (!admitted) return std::unexpected(loaded_->located(std::move(admitted.error()), i.location));
      if (!*admitted) {
        admitted_ = true;  // once run() is called again
        return Outcome::kWaits;
      }
    }
    ++pc_;
    // Most of a program, and next to nothing each: what every other instruction passes through would be most
    // of their time.
    if (i.op == Opcode::kScalar || i.op == Opcode::kConst) {
      if (evaluate_scalar(i)) continue;
      return fail_at(i, make_error(message::kDivisionByZero).error());
    }
    if (worker.cancelled && worker.cancelled->load(std::memory_order_relaxed))
      return make_error(message::kCancelled);
    if (i.op == Opcode::kBarrier) {
      at_device_barrier_ = i.a == kDeviceBarrier;
      waits_for_device_ = at_device_barrier_ && i.imm != 0;
      // What a sample has recorded when it is done is enqueued as well.
      if (at_device_barrier_ && !waits_for_device_ && code[pc_].op == Opcode::kReturn) {
        at_device_barrier_ = false;
        continue;
      }
      if (!at_device_barrier_) batch_step_ = i.a;
      barrier_location_ = i.location;
      return Outcome::kBarrier;
    }
    Status status = i.op == Opcode::kReturn ? finish_outputs(i) : step(i, worker);
    if (!status) return fail_at(i, std::move(status.error()));
    if (i.op == Opcode::kReturn) return Outcome::kDone;
  }
}

Result<bool> Frame::admit(const Instruction& i) {
  switch (i.op) {
    case Opcode::kAdmit:
      return claim_.ask({int_register(i.a), int_register(i.b)});
    case Opcode::kRead:
      return claim_.ask_to_read(loaded_->sources[static_cast<size_t>(i.b)].bytes(input_.reads[i.b]),
                                i.c >= 0);
    case Opcode::kCallNative:
      return claim_.ask_for_call(working_bytes(i));
    default:
      // What the sample is expected to take is asked for at its start.
      return pc_ == 0 ? claim_.ask({}) : true;
  }
}

Status Frame::step(const Instruction& i, Worker& worker) {
  auto reg = [this](int32_t index) -> Cell& { return registers_[static_cast<size_t>(index)]; };
  switch (i.op) {
    case Opcode::kMove:
      reg(i.dst) = reg(i.a);
      return {};
    case Opcode::kPhilox:
      reg(i.dst) = Cell{philox(reg(i.a).bits, reg(i.b).bits, reg(i.c).bits, i.imm)};
      return {};
    case Opcode::kSampleIndex:
      reg(i.dst) = Cell{static_cast<uint64_t>(i.a < 0 ? input_.number : input_.reads[i.a].index)};
      return {};
    case Opcode::kNodeKey: {
      int64_t epoch = i.b < 0 ? input_.epoch : input_.reads[i.b].epoch;
      reg(i.dst) = Cell{mix(program_.constants[static_cast<size_t>(i.a)].bits, static_cast<uint64_t>(epoch))};
      return {};
    }
    case Opcode::kBatchSlot:
      reg(i.dst) = Cell{static_cast<uint64_t>(input_.slot)};
      return {};
    case Opcode::kExtent:
      reg(i.dst) = Cell{static_cast<uint64_t>(slots_[static_cast<size_t>(i.a)].extents[i.imm])};
      return {};
    case Opcode::kLoad:
      return load(i);
    case Opcode::kJump:
    case Opcode::kNextArm:
      pc_ = static_cast<size_t>(i.a);
      return {};
    case Opcode::kBranch:
      pc_ = static_cast<size_t>(reg(i.b).bits != 0 ? i.a : i.c);
      return {};
    case Opcode::kSwitch:
      return switch_to(i);
    case Opcode::kCheck:
      return reg(i.b).bits != 0 ? Status{} : check(i);
    case Opcode::kAdmit:
    case Opcode::kArms:
      return {};
    case Opcode::kAllocate:
      return allocate(i);
    case Opcode::kAllocateOutput:
      return allocate_output(i);
    case Opcode::kView:
      return view(i);
    case Opcode::kCopySlot:
      copy_slot(i.dst, i.a);
      return {};
    case Opcode::kConstantTensor:
      set_slot(i.dst, view_of(program_.constant_tensors[static_cast<size_t>(i.a)]), -1);
      return {};
    case Opcode::kMakeDense:
      return make_dense(i.dst, i.a);
    case Opcode::kLend:
      return lend(i);
    case Opcode::kStoreElements:
      return store_elements(i);
    case Opcode::kRead:
      return read(i, worker);
    case Opcode::kFeed:
      if (input_.feed_failures && input_.feed_failures[i.b])
        return std::unexpected(*input_.feed_failures[i.b]);
      set_slot(i.dst, *input_.feeds[i.b], -1);
      if (i.a >= 0) set_slot(i.a, part_of_feed(i.b), -1);
      return {};
    case Opcode::kCallNative:
      return call_native(i, worker);
    case Opcode::kCallKernel:
      return i.on_device ? record_call(i, worker) : call_kernel(i, worker);
    case Opcode::kRelease:
      set_slot(i.a, Tensor{}, -1);
      return {};
    case Opcode::kToHost:
      return to_host(i);
    case Opcode::kConst:
    case Opcode::kScalar:
    case Opcode::kBarrier:
    case Opcode::kReturn:
      break;  // run() sees to them
  }
  return {};
}

Status Frame::switch_to(const Instruction& i) {
  Cell cell = registers_[static_cast<size_t>(i.b)];
  // Cells of narrow unsigned types are zero-extended, of signed ones sign-extended: one comparison serves
  // all.
  if (cell.bits >= static_cast<uint64_t>(i.imm))
    return make_error(message::kBadSelector, cell_to_int(i.type, cell), i.imm);
  pc_ = static_cast<size_t>(list(i.a + static_cast<int32_t>(cell.bits)));
  return {};
}

namespace {

std::string format_cell(DType type, Cell cell) {
  if (is_bool(type)) return cell.bits ? "True" : "False";
  if (is_float(type)) return fmt::format("{:g}", cell_to_double(type, cell));
  if (type == DType::kU64) return fmt::format("{}", cell.bits);
  return fmt::format("{}", cell_to_int(type, cell));
}

}  // namespace

Status Frame::check(const Instruction& i) {
  const CheckMessage& message = program_.messages[static_cast<size_t>(i.a)];
  std::string text;
  size_t value = 0;
  for (size_t at = 0; at < message.text.size(); ++at) {
    if (message.text.compare(at, 2, "{}") == 0 && value < message.types.size()) {
      text += format_cell(message.types[value],
                          registers_[static_cast<size_t>(list(i.c + static_cast<int32_t>(value)))]);
      ++value;
      ++at;
    } else {
      text += message.text[at];
    }
  }
  auto error = make_error(message::kCheckFailed, text);
  error.error().diagnostics.front().help = message.help;
  return error;
}

}  // namespace galatea::runtime
