// Whether every index of a program is in range, so that the interpreter need not ask.
#include <fmt/format.h>

#include "runtime/messages.h"
#include "runtime/program.h"

namespace galatea::runtime {
namespace {

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program) {}
  Status run();

 private:
  void instruction(const Instruction& i);
  void control(const Instruction& i);
  void arms(const Instruction& i);
  void data(const Instruction& i);
  void view(const Instruction& i);
  void tables();

  void require(bool holds, std::string_view what) {
    if (!holds && problem_.empty()) problem_ = fmt::format("{}: {}", where_, what);
  }
  void index(int64_t value, size_t size, std::string_view what) {
    require(value >= 0 && value < static_cast<int64_t>(size),
            fmt::format("{} {} is not in 0 … {}", what, value, static_cast<int64_t>(size) - 1));
  }
  void reg(int32_t value) { index(value, static_cast<size_t>(program_.num_registers), "register"); }
  void slot(int32_t value) { index(value, static_cast<size_t>(program_.num_slots), "slot"); }
  void port(const Port& port) {
    require(port.is_concrete() && port.rank() <= kMaxRank, "a port that is not concrete: " + to_text(port));
  }
  void target(int32_t value) {
    index(value, program_.code.size(), "jump target");
    // Where samples meet, nobody may come later.
    require(program_.batch_steps.empty() || value > here_, "a jump leads back");
  }
  bool range(int64_t first, int64_t count) {
    bool holds = first >= 0 && count >= 0 && first + count <= static_cast<int64_t>(program_.lists.size());
    if (count == 0) return true;
    require(holds, fmt::format("list {} + {} is not within {} entries", first, count, program_.lists.size()));
    return holds;
  }
  template <typename Check>
  void each(int64_t first, int64_t count, Check check) {
    if (!range(first, count)) return;
    for (int64_t k = 0; k < count; ++k) check(program_.lists[static_cast<size_t>(first + k)]);
  }
  void registers(int64_t first, int64_t count) {
    each(first, count, [this](int32_t value) { reg(value); });
  }

  const Program& program_;
  std::string where_, problem_;
  int32_t here_ = 0;
};

/// Each arm ends right before the next, and the last where all come together.
void Verifier::arms(const Instruction& i) {
  require(program_.device >= 0, "arms of a device that is not used");
  require(i.imm >= 2 && i.imm <= 256, "a branch of another number of arms than a byte can tell");
  slot(i.b), target(i.c);
  if (!problem_.empty() || !range(i.a, int64_t{2} * i.imm)) return;
  auto before = static_cast<int32_t>(&i - program_.code.data());
  for (int32_t arm = 0; arm < i.imm && problem_.empty(); ++arm) {
    const int32_t start = start_of_arm(program_, i, arm);
    target(start);
    require(before < start && start < i.c, "the arms of a branch are not in order");
    require(wanted_in_arm(program_, i, arm) < static_cast<uint32_t>(i.imm),
            "an arm wants what no byte is taken for");
    before = start;
    if (arm == 0 || !problem_.empty()) continue;
    const Instruction& last = program_.code[static_cast<size_t>(start) - 1];
    require(last.op == Opcode::kNextArm && last.a == start && last.c == i.c,
            "an arm of a branch does not lead to the next");
  }
}

void Verifier::control(const Instruction& i) {
  switch (i.op) {
    case Opcode::kJump:
      return target(i.a);
    case Opcode::kBranch:
      return reg(i.b), target(i.a), target(i.c);
    case Opcode::kArms:
      return arms(i);
    case Opcode::kNextArm:
      return target(i.a), target(i.c);
    case Opcode::kSwitch:
      return reg(i.b), each(i.a, i.imm, [this](int32_t value) { target(value); });
    case Opcode::kAdmit:
      return reg(i.a), reg(i.b);
    case Opcode::kBarrier:
      if (i.a == kDeviceBarrier)
        return require(program_.device >= 0, "a barrier of a device that is not used");
      return index(i.a, program_.batch_steps.size(), "batch step");
    case Opcode::kReturn:
      require(i.imm == static_cast<int32_t>(program_.outputs.size()), "return does not give every output");
      return each(i.a, i.imm, [this](int32_t value) { slot(value); });
    case Opcode::kCheck:
      reg(i.b);
      index(i.a, program_.messages.size(), "message");
      if (problem_.empty())
        require(program_.messages[static_cast<size_t>(i.a)].types.size() == static_cast<size_t>(i.imm),
                "a check's values and types differ in number");
      return registers(i.c, i.imm);
    default:
      return;
  }
}

void Verifier::view(const Instruction& i) {
  slot(i.dst), slot(i.a), index(i.b, program_.views.size(), "view");
  if (!problem_.empty()) return;
  const ViewSpec& view = program_.views[static_cast<size_t>(i.b)];
  require(view.ndim >= 0 && view.ndim <= kMaxRank && view.input_ndim >= 0 && view.input_ndim <= kMaxRank,
          "a view's rank is out of range");
  for (int d = 0; d < view.ndim && problem_.empty() && !view.reshape && !view.window_origin; ++d) {
    require(view.input_dim[static_cast<size_t>(d)] >= -1 &&
                view.input_dim[static_cast<size_t>(d)] < view.input_ndim,
            "a view's input axis is out of range");
  }
  int count = view.reshape ? view.ndim : view.window_origin ? 2 * view.ndim : 2 * view.ndim + view.input_ndim;
  registers(i.c, count);
}

void Verifier::data(const Instruction& i) {
  switch (i.op) {
    case Opcode::kAllocateOutput:
      index(i.b, program_.outputs.size(), "output");
      [[fallthrough]];
    case Opcode::kAllocate:
      slot(i.dst), require(i.imm >= 0 && i.imm <= kMaxRank, "rank out of range");
      return registers(i.a, i.imm);
    case Opcode::kView:
      return view(i);
    case Opcode::kCopySlot:
    case Opcode::kMakeDense:
    case Opcode::kLend:
    case Opcode::kToHost:
      return slot(i.dst), slot(i.a);
    case Opcode::kConstantTensor:
      return slot(i.dst), index(i.a, program_.constant_tensors.size(), "constant tensor");
    case Opcode::kStoreElements: {
      slot(i.dst), require(i.imm >= 0 && i.imm <= kMaxRank, "rank out of range");
      int64_t volume = 1;
      each(i.a, i.imm, [&](int32_t extent) {
        require(extent >= 0 && extent <= 1 << 20 && volume <= 1 << 20, "extent out of range");
        volume *= extent;
      });
      if (problem_.empty()) registers(i.b, volume);
      return;
    }
    case Opcode::kRead:
      index(i.b, program_.sources.size(), "source");
      if (problem_.empty())
        each(i.a, static_cast<int64_t>(program_.sources[static_cast<size_t>(i.b)].outputs.size()),
             [this](int32_t value) { slot(value); });
      if (problem_.empty() && i.c >= 0)
        each(i.c, static_cast<int64_t>(program_.sources[static_cast<size_t>(i.b)].outputs.size()),
             [this](int32_t value) {
               if (value >= 0) index(value, program_.outputs.size(), "output");
             });
      return;
    case Opcode::kFeed:
      if (i.a >= 0) slot(i.a);
      return slot(i.dst), index(i.b, program_.external_inputs.size(), "external input");
    case Opcode::kRelease:
      return slot(i.a);
    case Opcode::kCallNative:
      index(i.a, program_.natives.size(), "native call");
      if (!problem_.empty() || !i.on_device) return;
      return require(program_.device >= 0 && program_.natives[static_cast<size_t>(i.a)].output >= 0 &&
                         !program_.natives[static_cast<size_t>(i.a)].alternative.empty(),
                     "no device can do the work of this call");
    case Opcode::kCallKernel: {
      index(i.a, program_.kernel_calls.size(), "kernel call");
      if (!problem_.empty()) return;
      const KernelCallSpec& call = program_.kernel_calls[static_cast<size_t>(i.a)];
      const bool has_device = program_.kernels[static_cast<size_t>(call.kernel)].device != nullptr;
      return require(has_device == i.on_device, "the kernel's code is not for where the call runs");
    }
    default:
      return control(i);
  }
}

void Verifier::instruction(const Instruction& i) {
  if (i.location != -1) index(i.location, program_.locations.size(), "location");
  here_ = static_cast<int32_t>(&i - program_.code.data());
  require(!i.on_device || program_.device >= 0, "it is of a device that is not used");
  switch (i.op) {
    case Opcode::kConst:
      return reg(i.dst), index(i.a, program_.constants.size(), "constant");
    case Opcode::kScalar: {
      reg(i.dst);
      const int32_t operands[] = {i.a, i.b, i.c};
      for (int k = 0; k < 3; ++k)
        k < num_operands(i.scalar_op) ? reg(operands[k]) : require(operands[k] == -1, "too many operands");
      return;
    }
    case Opcode::kMove:
      return reg(i.dst), reg(i.a);
    case Opcode::kPhilox:
      return reg(i.dst), reg(i.a), reg(i.b), reg(i.c),
             require(i.imm >= 0 && i.imm < 4, "word is not in 0 … 3");
    case Opcode::kSampleIndex:
      reg(i.dst);
      if (i.a != -1) index(i.a, program_.sources.size(), "source");
      return;
    case Opcode::kNodeKey:
      reg(i.dst), index(i.a, program_.constants.size(), "constant");
      if (i.b != -1) index(i.b, program_.sources.size(), "source");
      return;
    case Opcode::kBatchSlot:
      return reg(i.dst);
    case Opcode::kExtent:
      return reg(i.dst), slot(i.a), require(i.imm >= 0 && i.imm < kMaxRank, "axis out of range");
    case Opcode::kLoad:
      return reg(i.dst), slot(i.a), reg(i.b);
    default:
      return data(i);
  }
}

void Verifier::tables() {
  auto all_slots = [this](const std::vector<int32_t>& list) {
    for (int32_t value : list) slot(value);
  };
  auto all_registers = [this](const std::vector<int32_t>& list) {
    for (int32_t value : list) reg(value);
  };
  for (size_t n = 0; n < program_.natives.size(); ++n) {
    where_ = fmt::format("native call {}", n);
    const NativeCallSpec& call = program_.natives[n];
    all_slots(call.inputs), all_registers(call.scalars), all_registers(call.scalar_results);
    if (call.output != -1) slot(call.output);
    require(!call.allocates || call.output != -1, "it makes an output that it does not have");
    if (call.allocates) port(call.port);
    require(call.ranges.empty() || call.ranges.size() == call.scalar_results.size(),
            "results and their ranges differ in number");
  }
  for (size_t n = 0; n < program_.kernel_calls.size(); ++n) {
    where_ = fmt::format("kernel call {}", n);
    const KernelCallSpec& call = program_.kernel_calls[n];
    index(call.kernel, program_.kernels.size(), "kernel");
    if (problem_.empty())
      require((program_.kernels[static_cast<size_t>(call.kernel)].code != nullptr) !=
                  (program_.kernels[static_cast<size_t>(call.kernel)].device != nullptr),
              "the kernel has no code, or code for two processors");
    all_slots(call.tensors), all_registers(call.params);
    if (problem_.empty())
      if (const auto& device = program_.kernels[static_cast<size_t>(call.kernel)].device)
        for (const int32_t divisor : device->divisors) index(divisor, call.params.size(), "divisor");
    if (call.scratch_bytes != -1) reg(call.scratch_bytes);
    if (call.blocks != -1) reg(call.blocks);
    for (const CallGuard& guard : call.guards) slot(guard.slot);
    if (problem_.empty())
      require(call.guards.empty() || program_.kernels[static_cast<size_t>(call.kernel)].device,
              "a call of the host has a guard");
  }
  for (size_t n = 0; n < program_.batch_steps.size(); ++n) {
    where_ = fmt::format("batch step {}", n);
    const BatchStep& step = program_.batch_steps[n];
    for (const BatchStep::Scalar& part : step.scalars) reg(part.from), reg(part.to);
    for (const BatchStep::Total& part : step.totals) {
      slot(part.from), slot(part.to);
      require(part.op <= BatchOp::kMax, "tensors meet for a place");
    }
    for (const BatchStep::Take& part : step.takes) slot(part.from), slot(part.to), reg(part.place);
  }
  where_ = "program";
  require(program_.batch_size >= 1 && program_.batch_size <= 1 << 24,
          fmt::format("batch size {}", program_.batch_size));
  require(!program_.code.empty() && program_.num_registers >= 0 && program_.num_slots >= 0, "no code");
  for (const OutputSpec& output : program_.outputs) {
    require(!output.on_device || program_.device >= 0, "an output is of a device that is not used");
    port(output.port);
  }
  for (const ExternalInput& input : program_.external_inputs) port(input.port);
  for (const SourceSpec& source : program_.sources)
    for (const Port& output : source.outputs) port(output);
  if (problem_.empty()) {
    Opcode last = program_.code.back().op;
    require(last == Opcode::kReturn || last == Opcode::kJump || last == Opcode::kBranch ||
                last == Opcode::kSwitch || last == Opcode::kNextArm,
            "the code runs past its end");
  }
}

Status Verifier::run() {
  tables();
  for (size_t n = 0; n < program_.code.size() && problem_.empty(); ++n) {
    where_ = fmt::format("instruction {} ({})", n, name_of(program_.code[n].op));
    instruction(program_.code[n]);
  }
  if (!problem_.empty()) return make_error(message::kBadProgram, problem_);
  return {};
}

}  // namespace

Status verify(const Program& program) { return Verifier(program).run(); }

}  // namespace galatea::runtime
