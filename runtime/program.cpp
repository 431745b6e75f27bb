// Programs as text, one line an instruction.
#include "runtime/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text_writer.h"

namespace galatea::runtime {
namespace {

constexpr std::array<std::string_view, 30> kOpcodeNames = {"const",
                                                           "scalar",
                                                           "move",
                                                           "philox",
                                                           "sample_index",
                                                           "node_key",
                                                           "batch_slot",
                                                           "extent",
                                                           "load",
                                                           "jump",
                                                           "branch",
                                                           "switch",
                                                           "check",
                                                           "admit",
                                                           "allocate",
                                                           "allocate_output",
                                                           "view",
                                                           "copy_slot",
                                                           "constant_tensor",
                                                           "make_dense",
                                                           "lend",
                                                           "store_elements",
                                                           "read",
                                                           "feed",
                                                           "call_native",
                                                           "call_kernel",
                                                           "release",
                                                           "to_host",
                                                           "arms",
                                                           "next_arm"};

std::string slots(const std::vector<int32_t>& list) {
  std::vector<std::string> names;
  for (int32_t slot : list) names.push_back(fmt::format("s{}", slot));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string registers(const std::vector<int32_t>& list) {
  std::vector<std::string> names;
  for (int32_t index : list) names.push_back(fmt::format("r{}", index));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Operands of one instruction; forwards by kind.
class InstructionPrinter {
 public:
  explicit InstructionPrinter(const Program& program) : program_(program) {}
  std::string operands(const Instruction& i) const;

 private:
  std::vector<int32_t> list(int32_t first, int32_t count) const {
    if (first < 0 || count < 0 ||
        static_cast<size_t>(first) + static_cast<size_t>(count) > program_.lists.size())
      return {};
    return {program_.lists.begin() + first, program_.lists.begin() + first + count};
  }
  std::string scalar(const Instruction& i) const;
  std::string check(const Instruction& i) const;
  std::string view(const Instruction& i) const;
  std::string native(const Instruction& i) const;
  std::string arms(const Instruction& i) const;
  std::string meeting(const BatchStep& step) const;
  std::string kernel(const Instruction& i) const;
  std::string data(const Instruction& i) const;

  const Program& program_;
};

std::string InstructionPrinter::scalar(const Instruction& i) const {
  std::string text = fmt::format("r{} = {}.{}", i.dst, name_of(i.scalar_op), short_name(i.type));
  if (is_conversion(i.scalar_op)) text += fmt::format(" from {}", short_name(i.from));
  const int32_t operands[] = {i.a, i.b, i.c};
  for (int k = 0; k < num_operands(i.scalar_op); ++k)
    text += fmt::format("{} r{}", k == 0 ? "" : ",", operands[k]);
  return text;
}

std::string InstructionPrinter::check(const Instruction& i) const {
  return fmt::format("r{} \"{}\" [{}]", i.b, program_.messages[static_cast<size_t>(i.a)].text,
                     registers(list(i.c, i.imm)));
}

std::string InstructionPrinter::view(const Instruction& i) const {
  const ViewSpec& view = program_.views[static_cast<size_t>(i.b)];
  int n = view.ndim;
  if (view.reshape) return fmt::format("s{} = reshape s{} to [{}]", i.dst, i.a, registers(list(i.c, n)));
  if (view.window_origin) {
    return fmt::format("s{} = window s{} extents [{}] origin [{}]", i.dst, i.a, registers(list(i.c, n)),
                       registers(list(i.c + n, n)));
  }
  std::vector<int> dims(view.input_dim.begin(), view.input_dim.begin() + n);
  return fmt::format("s{} = s{} dims [{}] extents [{}] start [{}] step [{}]", i.dst, i.a,
                     fmt::join(dims, ", "), registers(list(i.c, n)),
                     registers(list(i.c + n, view.input_ndim)),
                     registers(list(i.c + n + view.input_ndim, n)));
}

std::string InstructionPrinter::native(const Instruction& i) const {
  const NativeCallSpec& call = program_.natives[static_cast<size_t>(i.a)];
  std::string text = fmt::format("{} ({})", call.function, slots(call.inputs));
  if (!call.scalars.empty()) text += fmt::format(" scalars ({})", registers(call.scalars));
  if (call.output >= 0) text += fmt::format(" -> s{}{}", call.output, call.allocates ? " (allocates)" : "");
  if (!call.scalar_results.empty()) text += fmt::format(" -> {}", registers(call.scalar_results));
  if (!call.config.empty()) text += " " + call.config;
  return text;
}

std::string guard_text(std::string_view word, const CallGuard& guard) {
  if (guard.largest > 1) return fmt::format("{} s{} is {}", word, guard.slot, guard.wanted);
  return fmt::format("{} {}s{}", word, guard.wanted ? "" : "not ", guard.slot);
}

std::string InstructionPrinter::arms(const Instruction& i) const {
  std::vector<std::string> arms;
  for (int32_t arm = 0; arm < i.imm; ++arm)
    arms.push_back(fmt::format("{}: @{}", wanted_in_arm(program_, i, arm), start_of_arm(program_, i, arm)));
  return fmt::format("s{} -> [{}], together at @{}", i.b, fmt::join(arms, ", "), i.c);
}

std::string InstructionPrinter::meeting(const BatchStep& step) const {
  std::vector<std::string> parts;
  for (const BatchStep::Scalar& part : step.scalars)
    parts.push_back(fmt::format("r{} = {} r{}", part.to, name_of(part.op), part.from));
  for (const BatchStep::Total& part : step.totals)
    parts.push_back(fmt::format("s{} = {} s{}", part.to, name_of(part.op), part.from));
  for (const BatchStep::Take& part : step.takes)
    parts.push_back(fmt::format("s{} = s{} of place r{}", part.to, part.from, part.place));
  return fmt::format("of the batch: {}", fmt::join(parts, ", "));
}

std::string InstructionPrinter::kernel(const Instruction& i) const {
  const KernelCallSpec& call = program_.kernel_calls[static_cast<size_t>(i.a)];
  std::string text =
      fmt::format("{} ({}) params ({}) scratch r{}", program_.kernels[static_cast<size_t>(call.kernel)].name,
                  slots(call.tensors), registers(call.params), call.scratch_bytes);
  if (call.blocks >= 0) text += fmt::format(" blocks r{}", call.blocks);
  for (size_t g = 0; g < call.guards.size(); ++g) text += guard_text(g == 0 ? " if" : " and", call.guards[g]);
  return text;
}

std::string InstructionPrinter::data(const Instruction& i) const {
  switch (i.op) {
    case Opcode::kAllocate:
      return fmt::format("s{} = {}[{}]{}", i.dst, short_name(i.type), registers(list(i.a, i.imm)),
                         i.b == 1 ? " to lend" : "");
    case Opcode::kAllocateOutput:
      return fmt::format("s{} = output {} {}[{}]", i.dst, i.b, short_name(i.type),
                         registers(list(i.a, i.imm)));
    case Opcode::kCopySlot:
    case Opcode::kMakeDense:
    case Opcode::kLend:
    case Opcode::kToHost:
      return fmt::format("s{} = s{}", i.dst, i.a);
    case Opcode::kConstantTensor: {
      const ConstantTensor& tensor = *program_.constant_tensors[static_cast<size_t>(i.a)];
      return fmt::format("s{} = constant {} {}[{}]", i.dst, i.a, short_name(tensor.type()),
                         fmt::join(tensor.extents(), ", "));
    }
    case Opcode::kStoreElements: {
      auto extents = list(i.a, i.imm);
      int64_t volume = 1;
      for (int32_t extent : extents) volume *= extent;
      return fmt::format("s{} = {}[{}] ({})", i.dst, short_name(i.type), fmt::join(extents, ", "),
                         registers(list(i.b, static_cast<int32_t>(volume))));
    }
    case Opcode::kRead: {
      const SourceSpec& source = program_.sources[static_cast<size_t>(i.b)];
      return fmt::format("{} {} -> {}", i.b, source.factory,
                         slots(list(i.a, static_cast<int32_t>(source.outputs.size()))));
    }
    case Opcode::kFeed:
      return fmt::format("s{}{} = input {} \"{}\"", i.dst, i.a < 0 ? "" : fmt::format(", s{}", i.a), i.b,
                         program_.external_inputs[static_cast<size_t>(i.b)].port.name);
    default:
      return fmt::format("s{}", i.a);
  }
}

std::string InstructionPrinter::operands(const Instruction& i) const {
  switch (i.op) {
    case Opcode::kConst:
      return fmt::format("r{} = 0x{:x}", i.dst, program_.constants[static_cast<size_t>(i.a)].bits);
    case Opcode::kScalar:
      return scalar(i);
    case Opcode::kMove:
      return fmt::format("r{} = r{}", i.dst, i.a);
    case Opcode::kPhilox:
      return fmt::format("r{} = key r{}, counter r{} r{}, word {}", i.dst, i.a, i.b, i.c, i.imm);
    case Opcode::kSampleIndex:
      return fmt::format("r{} = source {}", i.dst, i.a);
    case Opcode::kNodeKey:
      return fmt::format("r{} = 0x{:x}, epoch of source {}", i.dst,
                         program_.constants[static_cast<size_t>(i.a)].bits, i.b);
    case Opcode::kBatchSlot:
      return fmt::format("r{}", i.dst);
    case Opcode::kExtent:
      return fmt::format("r{} = s{} axis {}", i.dst, i.a, i.imm);
    case Opcode::kLoad:
      return fmt::format("r{} = s{}[r{}] {}", i.dst, i.a, i.b, short_name(i.type));
    case Opcode::kJump:
      return fmt::format("@{}", i.a);
    case Opcode::kArms:
      return arms(i);
    case Opcode::kNextArm:
      return fmt::format("@{}, together at @{}", i.a, i.c);
    case Opcode::kBranch:
      return fmt::format("r{} ? @{} : @{}", i.b, i.a, i.c);
    case Opcode::kSwitch:
      return fmt::format("r{} -> @[{}]", i.b, fmt::join(list(i.a, i.imm), ", "));
    case Opcode::kCheck:
      return check(i);
    case Opcode::kAdmit:
      return fmt::format("r{} bytes, r{} of outputs", i.a, i.b);
    case Opcode::kView:
      return view(i);
    case Opcode::kCallNative:
      return native(i);
    case Opcode::kCallKernel:
      return kernel(i);
    case Opcode::kBarrier:
      if (i.a == kDeviceBarrier) return i.imm != 0 ? "device, waits" : "device";
      return meeting(program_.batch_steps[static_cast<size_t>(i.a)]);
    case Opcode::kReturn:
      return slots(list(i.a, i.imm));
    default:
      return data(i);
  }
}

}  // namespace

std::string_view name_of(BatchOp op) {
  constexpr std::array<std::string_view, 7> kNames = {"sum",   "min",  "max",       "shuffle",
                                                      "cycle", "pick", "pick_other"};
  return kNames[static_cast<size_t>(op)];
}

std::string_view name_of(Opcode op) {
  if (op == Opcode::kBarrier) return "barrier";
  if (op == Opcode::kReturn) return "return";
  return kOpcodeNames[static_cast<size_t>(op)];
}

bool may_decode_on_device(const Program& program) {
  return std::any_of(program.code.begin(), program.code.end(),
                     [](const Instruction& i) { return i.op == Opcode::kCallNative && i.on_device; });
}

int64_t fixed_bytes(const OutputSpec& spec) {
  int64_t extents[kMaxRank];
  const std::vector<Extent>& stated = spec.port.extents;
  if (static_cast<int>(stated.size()) != spec.port.rank() || stated.size() > kMaxRank) return -1;
  for (size_t d = 0; d < stated.size(); ++d) {
    extents[d] = stated[d].number();
    if (extents[d] < 0) return -1;
  }
  return dense_bytes(spec.port.dtype(), {extents, stated.size()}).value_or(-1);
}

std::string to_text(const Program& program) {
  if (auto status = verify(program); !status) return status.error().message() + "\n";
  TextWriter out;
  out.line(fmt::format("program {} batch_size={} num_threads={} prefetch_depth={} seed={}{}", program.name,
                       program.batch_size, program.num_threads, program.prefetch_depth, program.seed,
                       program.device < 0 ? "" : fmt::format(" gpu={}", program.device)));
  out.indent();
  for (size_t i = 0; i < program.sources.size(); ++i) {
    const SourceSpec& source = program.sources[i];
    std::vector<std::string> ports;
    for (const Port& port : source.outputs) ports.push_back(to_text(port));
    out.line(fmt::format("source {} {} \"{}\" {} : {}", i, source.factory, source.name, source.config,
                         fmt::join(ports, ", ")));
  }
  for (const ExternalInput& input : program.external_inputs) {
    out.line(fmt::format("input \"{}\" {} ndim={} {}", input.port.name, short_name(input.port.dtype()),
                         input.port.rank(), input.port.layout().str()));
  }
  for (const OutputSpec& output : program.outputs) {
    out.line(fmt::format("output \"{}\" {}[{}] {}{}", output.port.name, short_name(output.port.dtype()),
                         fmt::join(output.port.numbers(), ", "), output.port.layout().str(),
                         output.on_device ? " gpu" : ""));
  }
  for (const ProgramKernel& kernel : program.kernels)
    out.line(fmt::format("kernel {} ({}){}", kernel.name, fmt::join(kernel.operators, " + "),
                         kernel.device ? " gpu" : ""));
  out.line(fmt::format("registers {} slots {}", program.num_registers, program.num_slots));
  InstructionPrinter printer(program);
  for (size_t i = 0; i < program.code.size(); ++i) {
    const Instruction& instruction = program.code[i];
    std::string where;
    if (instruction.location >= 0) {
      const Location& location = program.locations[static_cast<size_t>(instruction.location)];
      where = fmt::format("  # {}{}line {}", location.op, location.op.empty() ? "" : ", ", location.line);
    }
    out.line(fmt::format("{:4} {} {}{}{}", i, name_of(instruction.op), printer.operands(instruction),
                         instruction.on_device ? " gpu" : "", where));
  }
  return out.take();
}

}  // namespace galatea::runtime
