#include "program_maker.h"

#include <chrono>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "base/json.h"

namespace galatea::runtime::testing {

ProgramMaker::ProgramMaker() {
  program.name = "test";
  program.seed = 1234;
}

int32_t ProgramMaker::list(const std::vector<int32_t>& values) {
  auto first = static_cast<int32_t>(program.lists.size());
  program.lists.insert(program.lists.end(), values.begin(), values.end());
  return first;
}

int32_t ProgramMaker::constant(uint64_t bits) {
  program.constants.push_back(Cell{bits});
  return static_cast<int32_t>(program.constants.size()) - 1;
}

Instruction& ProgramMaker::add(Opcode op) {
  Instruction instruction;
  instruction.op = op;
  instruction.location = location_;
  program.code.push_back(instruction);
  return program.code.back();
}

int32_t ProgramMaker::value(int64_t number) {
  int32_t index = constant(static_cast<uint64_t>(number));
  Instruction& i = add(Opcode::kConst);
  i.dst = reg();
  i.a = index;
  return i.dst;
}

int32_t ProgramMaker::real(double number) {
  int32_t index = constant(cell_from_double(DType::kF32, number).bits);
  Instruction& i = add(Opcode::kConst);
  i.dst = reg();
  i.a = index;
  return i.dst;
}

int32_t ProgramMaker::scalar(ScalarOp op, DType type, std::vector<int32_t> operands, DType from) {
  Instruction& i = add(Opcode::kScalar);
  operands.resize(3, -1);
  i.scalar_op = op;
  i.type = type;
  i.from = from;
  i.a = operands[0], i.b = operands[1], i.c = operands[2];
  i.dst = reg();
  return i.dst;
}

void ProgramMaker::at_line(uint32_t line, const std::string& op) {
  Location location;
  location.file = "test.dali-dsl";
  location.line = location.end_line = line;
  location.column = 5;
  location.end_column = 9;
  location.text = "    call(line " + std::to_string(line) + ")";
  location.op = op;
  location.calls = {{{"test.dali-dsl", 2, 3, 2, 9, "  helper(x)"}, "train"}};
  program.locations.push_back(location);
  location_ = static_cast<int32_t>(program.locations.size()) - 1;
}

int32_t ProgramMaker::source(const std::string& config) {
  SourceSpec spec;
  spec.factory = "test.numbers";
  spec.config = config;
  spec.outputs = {make_port("bytes", DType::kU8, 1), make_port("number", DType::kI64, 0)};
  spec.location = location_;
  program.sources.push_back(spec);
  return static_cast<int32_t>(program.sources.size()) - 1;
}

std::vector<int32_t> ProgramMaker::read(int32_t index) {
  std::vector<int32_t> slots = {slot(), slot()};
  int32_t first = list(slots);
  Instruction& i = add(Opcode::kRead);
  i.a = first;
  i.b = index;
  return slots;
}

int32_t ProgramMaker::native(const std::string& function, const std::string& config,
                             const std::vector<int32_t>& inputs, bool allocates) {
  NativeCallSpec spec;
  spec.function = function;
  spec.config = config;
  spec.inputs = inputs;
  spec.output = slot();
  spec.allocates = allocates;
  if (allocates) spec.port = make_port("bytes", DType::kU8, 1);
  program.natives.push_back(spec);
  add(Opcode::kCallNative).a = static_cast<int32_t>(program.natives.size()) - 1;
  return spec.output;
}

void ProgramMaker::check(int32_t condition, const std::string& text, const std::vector<int32_t>& values,
                         const std::vector<DType>& types, const std::string& help) {
  program.messages.push_back({text, types, help});
  int32_t first = list(values);
  Instruction& i = add(Opcode::kCheck);
  i.a = static_cast<int32_t>(program.messages.size()) - 1;
  i.b = condition;
  i.c = first;
  i.imm = static_cast<int32_t>(values.size());
}

int32_t ProgramMaker::load(int32_t from, int64_t element, DType type) {
  int32_t index = value(element);
  Instruction& i = add(Opcode::kLoad);
  i.type = type;
  i.a = from;
  i.b = index;
  i.dst = reg();
  return i.dst;
}

int32_t ProgramMaker::store(DType type, const std::vector<int32_t>& extents,
                            const std::vector<int32_t>& registers) {
  int32_t shape = list(extents), values = list(registers);
  Instruction& i = add(Opcode::kStoreElements);
  i.type = type;
  i.a = shape;
  i.imm = static_cast<int32_t>(extents.size());
  i.b = values;
  i.dst = slot();
  return i.dst;
}

void ProgramMaker::output(const std::string& name, DType dtype, std::vector<int64_t> extents) {
  OutputSpec spec;
  spec.port = make_port(name, dtype, static_cast<int>(extents.size()), {}, extents);
  program.outputs.push_back(spec);
}

std::shared_ptr<const Program> ProgramMaker::finish(const std::vector<int32_t>& slots) {
  int32_t first = list(slots);
  Instruction& i = add(Opcode::kReturn);
  i.a = first;
  i.imm = static_cast<int32_t>(slots.size());
  return std::make_shared<const Program>(program);
}

int64_t number_in(const std::string& config, const std::string& key, int64_t otherwise) {
  return parse_json(config).value(key, otherwise);
}

std::atomic<int>& num_waiting() {
  static std::atomic<int> count{0};
  return count;
}

namespace {

class NumberSource final : public SampleSource {
 public:
  explicit NumberSource(const nlohmann::json& config)
      : size_(config.value("size", int64_t{10})),
        repeat_(config.value("repeat", int64_t{1})),
        knows_bytes_(config.value("knows_bytes", false)),
        bad_(config.value("bad", std::vector<int64_t>{})) {}
  int64_t size() const override { return size_; }
  std::string describe(int64_t index) const override { return "number " + std::to_string(index); }
  Status read(int64_t index, const AllocateOutput& allocate) const override {
    for (int64_t bad : bad_) {
      if (bad == index)
        return make_error(ErrorKind::kUser, "T0001", "cannot read number " + std::to_string(index),
                          "remove it");
    }
    GALATEA_ASSIGN(Tensor * bytes, allocate(0, DType::kU8, {(index % 7 + 1) * repeat_}));
    std::memset(bytes->data, static_cast<int>(index % 251), static_cast<size_t>(bytes->volume()));
    GALATEA_ASSIGN(Tensor * number, allocate(1, DType::kI64, {}));
    store_cell(DType::kI64, number->data, Cell{static_cast<uint64_t>(index)});
    return {};
  }

  int64_t bytes(int64_t index) const override {
    return knows_bytes_ ? claimed_bytes((index % 7 + 1) * repeat_) + claimed_bytes(sizeof(int64_t)) : 0;
  }

 private:
  int64_t size_, repeat_;
  bool knows_bytes_;
  std::vector<int64_t> bad_;
};

struct TwiceState final : NativeState {
  int refuse = -1;
  bool wait = false;
  int wait_at = -1;
};

Status twice(NativeContext& context) {
  const auto& state = *static_cast<const TwiceState*>(context.state);
  const Tensor& input = context.inputs[0];
  if (state.wait || (input.volume() > 0 && input.data[0] == state.wait_at)) {
    ++num_waiting();
    while (!context.cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --num_waiting();
  }
  if (input.volume() > 0 && input.data[0] == state.refuse)
    return make_error(ErrorKind::kUser, "T0002", "refuses " + std::to_string(state.refuse));
  // Scratch memory and a thread's object take part, so that their failures are seen.
  GALATEA_ASSIGN(uint8_t* scratch, context.scratch(input.volume() + 100));
  auto factor = std::static_pointer_cast<int>(
      context.thread_object(&num_waiting(), [] { return std::make_shared<int>(2); }));
  GALATEA_TRY(context.allocate_output(DType::kU8, {input.volume()}));
  for (int64_t k = 0; k < input.volume(); ++k) scratch[k] = static_cast<uint8_t>(input.data[k] * *factor);
  std::memcpy(context.output->data, scratch, static_cast<size_t>(input.volume()));
  return {};
}

/// out f32[2,3] = first element of the input + parameter + place.
class AddCode final : public KernelCode {
 public:
  void run(const KernelCall& call) const override {
    const KernelTensor& in = call.tensors[0];
    const KernelTensor& out = call.tensors[1];
    float base = static_cast<float>(*static_cast<const uint8_t*>(in.data)) +
                 static_cast<float>(cell_to_double(DType::kF32, Cell{call.params[0]}));
    call.scratch[0] = 1;
    for (int64_t y = 0; y < out.extents[0]; ++y) {
      for (int64_t x = 0; x < out.extents[1]; ++x) {
        static_cast<float*>(out.data)[y * out.strides[0] + x * out.strides[1]] =
            base + static_cast<float>(y * out.extents[1] + x);
      }
    }
  }
};

}  // namespace

NativeTable test_natives() {
  NativeTable table;
  table.add(
      SourceFactory{"test.numbers", [](const std::string& config) -> Result<std::unique_ptr<SampleSource>> {
                      return std::make_unique<NumberSource>(parse_json(config));
                    }});
  NativeFunction function;
  function.name = "test.twice";
  function.category = "decode";
  function.prepare = [](const std::string& config) -> Result<std::shared_ptr<NativeState>> {
    auto state = std::make_shared<TwiceState>();
    auto json = parse_json(config.empty() ? "{}" : config);
    state->refuse = json.value("refuse", -1);
    state->wait = json.value("wait", false);
    state->wait_at = json.value("wait_at", -1);
    return state;
  };
  function.call = twice;
  table.add(std::move(function));
  return table;
}

std::shared_ptr<const Program> mixed_program(int64_t size, int batch_size, int prefetch_depth,
                                             const std::string& reader_options, OnErrorPolicy on_error) {
  ProgramMaker m;
  m.program.batch_size = batch_size;
  m.program.prefetch_depth = prefetch_depth;
  m.program.on_error = on_error;
  m.at_line(3, "readers.file");
  int32_t source = m.source("{\"size\":" + std::to_string(size) +
                            (reader_options.empty() ? "" : "," + reader_options) + "}");
  auto data = m.read(source);
  m.at_line(4, "decoders.image");
  int32_t doubled = m.native("test.twice", "{\"refuse\": 13}", {data[0]}, true);
  m.at_line(5, "random.uniform");
  int32_t key_constant = m.constant(99);
  Instruction& key = m.add(Opcode::kNodeKey);
  key.dst = m.reg(), key.a = key_constant, key.b = source;
  int32_t key_register = key.dst;
  Instruction& index = m.add(Opcode::kSampleIndex);
  index.dst = m.reg(), index.a = source;
  int32_t index_register = index.dst;
  int32_t zero = m.value(0);
  Instruction& draw = m.add(Opcode::kPhilox);
  draw.dst = m.reg(), draw.a = key_register, draw.b = index_register, draw.c = zero, draw.imm = 2;
  int32_t word = m.scalar(ScalarOp::kAnd, DType::kU32, {draw.dst, m.value(0xFFFF)});
  int32_t drawn = m.scalar(ScalarOp::kConvert, DType::kF32, {word}, DType::kU32);
  // Odd words give the doubled bytes, even ones the bytes as read.
  int32_t is_odd = m.scalar(ScalarOp::kAnd, DType::kU32, {word, m.value(1)});
  int32_t chosen = m.slot();
  int32_t branch_at = m.here();
  Instruction branch;
  branch.op = Opcode::kBranch, branch.b = is_odd, branch.a = branch_at + 1, branch.c = branch_at + 3;
  m.program.code.push_back(branch);
  Instruction& if_odd = m.add(Opcode::kCopySlot);
  if_odd.dst = chosen, if_odd.a = doubled;
  m.add(Opcode::kJump).a = branch_at + 4;
  Instruction& if_even = m.add(Opcode::kCopySlot);
  if_even.dst = chosen, if_even.a = data[0];
  m.add(Opcode::kRelease).a = doubled;
  // The kernel stores straight into the output.
  m.at_line(6, "arith.add");
  int32_t shape = m.list({m.value(2), m.value(3)});
  Instruction& out = m.add(Opcode::kAllocateOutput);
  out.dst = m.slot(), out.type = DType::kF32, out.a = shape, out.imm = 2, out.b = 1;
  int32_t stored = out.dst;
  int32_t scratch = m.value(64);
  m.program.kernels.push_back({"add", {"arith.add"}, std::make_shared<AddCode>()});
  m.program.kernel_calls.push_back({0, {data[0], stored}, {drawn}, scratch});
  m.add(Opcode::kCallKernel).a = 0;
  m.output("bytes", DType::kU8, {-1});
  m.output("sums", DType::kF32, {2, 3});
  m.output("number", DType::kI64, {});
  return m.finish({chosen, stored, data[1]});
}

std::vector<uint8_t> bytes_of(const Tensor& tensor) {
  std::vector<uint8_t> bytes(static_cast<size_t>(tensor.num_bytes()));
  copy_dense(tensor, bytes.data());
  return bytes;
}

Delivered deliver(Session& session, int num_epochs) {
  Delivered all;
  for (int epoch = 0; epoch < num_epochs; ++epoch) {
    all.samples.emplace_back();
    all.ids.emplace_back();
    all.batch_sizes.emplace_back();
    for (int64_t index = 0;;) {
      auto batch = session.next();
      if (!batch) {
        all.errors.push_back(batch.error().message());
        ++index;
        if (all.errors.size() > 1000) return all;
        continue;
      }
      if (!*batch) break;
      EXPECT_EQ((**batch)->epoch, epoch);
      EXPECT_EQ((**batch)->index, index++);
      all.batch_sizes.back().push_back((**batch)->num_samples());
      for (int k = 0; k < (**batch)->num_samples(); ++k) {
        std::vector<uint8_t> bytes;
        for (const Batch::Output& output : (**batch)->outputs) {
          auto part = bytes_of(output.samples[static_cast<size_t>(k)]);
          bytes.insert(bytes.end(), part.begin(), part.end());
        }
        all.samples.back().push_back(std::move(bytes));
        all.ids.back().push_back((**batch)->sample_ids[static_cast<size_t>(k)]);
      }
    }
  }
  return all;
}

}  // namespace galatea::runtime::testing
