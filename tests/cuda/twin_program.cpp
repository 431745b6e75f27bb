#include "tests/cuda/twin_program.h"

#include <map>

#include "compiler/codegen/backend.h"
#include "compiler/codegen/cuda/device_code.h"
#include "compiler/kernel/loops.h"
#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"

namespace galatea::testing {
namespace {

using namespace kernel;  // NOLINT(google-build-using-namespace): kernels are written with its builder
using runtime::Opcode;

Expr i64(int index) { return param(index, DType::kI64); }
Expr of(int input, std::vector<Expr> at, DType type = DType::kU8) {
  return load({LoadTarget::Kind::kInput, input}, type, std::move(at));
}

Kernel vector_kernel(const std::string& name, std::vector<std::pair<std::string, DType>> params, int inputs,
                     DType out, Expr body) {
  Kernel k;
  k.name = name;
  for (auto& [param_name, type] : params) k.params.push_back({param_name, type});
  for (int i = 0; i < inputs; ++i) k.inputs.push_back({"x" + std::to_string(i), DType::kU8, {i64(0)}, 0});
  Stage stage;
  stage.name = name;
  stage.type = out;
  stage.extents = {i64(0)};
  stage.body = std::move(body);
  k.stages.push_back(std::move(stage));
  k.outputs.push_back({0, {0}, true, 1});
  return k;
}

Kernel total_kernel() {
  Kernel k;
  k.name = "total";
  k.params.push_back({"n", DType::kI64});
  k.inputs.push_back({"x", DType::kU8, {i64(0)}, 0});
  Stage stage;
  stage.form = StageForm::kReduce;
  stage.name = "total";
  stage.type = stage.accumulator = DType::kI64;
  stage.combiner = Combiner::kSum;
  stage.reduce_extents = {i64(0)};
  stage.body = convert(of(0, {reduce_axis(0)}), DType::kI64);
  k.stages.push_back(std::move(stage));
  k.outputs.push_back({0, {}, false, 0});
  return k;
}

Kernel make_kernel(const std::string& name) {
  const Expr x = of(0, {axis(0)});
  if (name == "scale")
    return vector_kernel(
        name, {{"n", DType::kI64}, {"gain", DType::kF32}, {"shift", DType::kF32}}, 1, DType::kU8,
        saturate(fma(convert(x, DType::kF32), param(1, DType::kF32), param(2, DType::kF32)), DType::kU8));
  if (name == "add")
    return vector_kernel(name, {{"n", DType::kI64}}, 2, DType::kU8,
                         x + of(1, {axis(0)}) * const_int(3, DType::kU8));
  if (name == "look_up") {
    Kernel k = vector_kernel(name, {{"n", DType::kI64}}, 2, DType::kU8, of(1, {convert(x, DType::kI64)}));
    k.inputs[1].extents = {const_int(256)};
    return k;
  }
  if (name == "divide")
    return vector_kernel(name, {{"n", DType::kI64}, {"from", DType::kI64}}, 1, DType::kI64,
                         const_int(1000) / (convert(x, DType::kI64) - i64(1)));
  if (name == "total") return total_kernel();
  if (name == "pick") {
    Kernel k = vector_kernel(name, {{"n", DType::kI64}, {"m", DType::kI64}, {"first", DType::kI64}}, 1,
                             DType::kU8, of(0, {axis(0) + i64(2)}));
    k.inputs[0].extents = {i64(1)};
    return k;
  }
  GALATEA_CHECK(name == "blur", "no kernel has this name");
  return gaussian(Border::kClamp, 3).kernel;
}

struct Compiled {
  runtime::ProgramKernel cpu, gpu;
  Expr scratch;
};

/// Compiled once for the whole run of tests.
const Compiled& compiled(const std::string& name) {
  static std::map<std::string, Compiled> all;
  static std::map<std::string, Kernel> kernels;
  auto [at, is_new] = all.try_emplace(name);
  if (!is_new) return at->second;
  const Kernel& kernel = kernels.try_emplace(name, make_kernel(name)).first->second;
  const LoopKernel loops = lower_verified(kernel, {.gpu = true});
  auto backend = codegen::make_interpreter_backend(true);
  auto host = backend->compile(kernel, loops);
  auto nvrtc = codegen::Nvrtc::open();
  GALATEA_CHECK(host && nvrtc, "no compiler");
  codegen::DeviceCompiler compiler(*nvrtc, 90, {});
  const codegen::KernelJob job{&kernel, &loops};
  auto device = compiler.compile({&job, 1});
  GALATEA_CHECK(device.has_value(), device ? "" : device.error().message());
  const codegen::DeviceCode& code = device->front();
  at->second.cpu = {name, {name}, host->code, nullptr};
  at->second.gpu = {
      name,
      {name},
      nullptr,
      std::make_shared<runtime::DeviceKernel>(runtime::DeviceKernel{
          code.cubin, code.inputs, code.can_be_tiled, code.may_fail, 0, code.shares_phases, code.divisors})};
  at->second.scratch = layout_scratch(loops).bytes;
  return at->second;
}

/// The most scratch that a call of a test needs.
int64_t scratch_bytes(const std::string& name) {
  std::vector<uint64_t> params = {4096, 4096, 4096};
  if (name == "blur") params = {12, 12, 5, 2};
  return value_of(compiled(name).scratch, params);
}

Status stretch(runtime::NativeContext& context) {
  const auto& n = static_cast<const runtime::NativeContext&>(context).scalars[0];
  const auto count = static_cast<int64_t>(n.bits);
  GALATEA_TRY(context.allocate_output(DType::kU8, {count}));
  for (int64_t k = 0; k < count; ++k)
    context.output->data[k] = static_cast<uint8_t>(context.inputs[0].data[0] + 7 * k);
  return {};
}

}  // namespace

const runtime::NativeTable& twin_natives() {
  static const runtime::NativeTable kTable = [] {
    runtime::NativeTable table = runtime::testing::test_natives();
    runtime::NativeFunction function;
    function.name = "test.stretch";
    function.category = "decode";
    function.call = stretch;
    table.add(std::move(function));
    return table;
  }();
  return kTable;
}

TwinMaker::TwinMaker(bool gpu) : gpu_(gpu) { program.device = gpu ? 0 : -1; }

int32_t TwinMaker::kernel(const std::string& name) {
  for (size_t k = 0; k < kernel_names_.size(); ++k)
    if (kernel_names_[k] == name) return static_cast<int32_t>(k);
  kernel_names_.push_back(name);
  program.kernels.push_back(gpu_ ? compiled(name).gpu : compiled(name).cpu);
  return static_cast<int32_t>(kernel_names_.size()) - 1;
}

void TwinMaker::add_call(const std::string& name, const std::vector<int32_t>& inputs, int32_t output,
                         const std::vector<int32_t>& params, int32_t launch) {
  runtime::KernelCallSpec spec;
  spec.kernel = kernel(name);
  spec.tensors = inputs;
  spec.tensors.push_back(output);
  spec.params = params;
  if (gpu_) {
    if (const int64_t bytes = scratch_bytes(name); bytes > 0) spec.scratch_bytes = value(bytes);
    spec.launch = launch;
  }
  program.kernel_calls.push_back(std::move(spec));
  runtime::Instruction& i = add(Opcode::kCallKernel);
  i.a = static_cast<int32_t>(program.kernel_calls.size()) - 1;
  i.on_device = gpu_;
}

int32_t TwinMaker::call(const std::string& name, const std::vector<int32_t>& inputs,
                        const std::vector<int32_t>& params, DType dtype, const std::vector<int32_t>& extents,
                        int32_t launch) {
  const int32_t shape = list(extents);
  runtime::Instruction& i = add(Opcode::kAllocate);
  const int32_t made = slot();
  i.dst = made, i.type = dtype, i.a = shape, i.imm = static_cast<int32_t>(extents.size());
  i.on_device = gpu_;
  add_call(name, inputs, made, params, launch);
  return made;
}

int32_t TwinMaker::call_output(int output, const std::string& name, const std::vector<int32_t>& inputs,
                               const std::vector<int32_t>& params, DType dtype,
                               const std::vector<int32_t>& extents) {
  const int32_t shape = list(extents);
  runtime::Instruction& i = add(Opcode::kAllocateOutput);
  const int32_t made = slot();
  i.dst = made, i.type = dtype, i.a = shape, i.imm = static_cast<int32_t>(extents.size()), i.b = output;
  i.on_device = gpu_;
  add_call(name, inputs, made, params, -1);
  return made;
}

int32_t TwinMaker::to_host(int32_t from) {
  runtime::Instruction& i = add(gpu_ ? Opcode::kToHost : Opcode::kCopySlot);
  i.dst = slot(), i.a = from;
  return i.dst;
}

void TwinMaker::barrier(bool waits) {
  if (!gpu_) return;
  runtime::Instruction& i = add(Opcode::kBarrier);
  i.a = runtime::kDeviceBarrier, i.imm = waits ? 1 : 0;
}

void TwinMaker::copy(int32_t to, int32_t from) {
  runtime::Instruction& i = add(Opcode::kCopySlot);
  i.dst = to, i.a = from;
}

int32_t TwinMaker::extent(int32_t of_slot, int axis) {
  runtime::Instruction& i = add(Opcode::kExtent);
  i.dst = reg(), i.a = of_slot, i.imm = axis;
  return i.dst;
}

void TwinMaker::device_output(const std::string& name, DType dtype, std::vector<int64_t> extents) {
  output(name, dtype, std::move(extents));
  program.outputs.back().on_device = gpu_;
}

int32_t TwinMaker::strided(int32_t of_slot, int32_t count, int32_t first, int64_t step) {
  const int32_t registers = list({count, first, value(step)});
  runtime::ViewSpec spec;
  spec.ndim = spec.input_ndim = 1;
  program.views.push_back(spec);
  runtime::Instruction& i = add(Opcode::kView);
  i.dst = slot(), i.a = of_slot, i.b = static_cast<int32_t>(program.views.size()) - 1, i.c = registers;
  return i.dst;
}

int32_t TwinMaker::window(int32_t of_slot, int32_t whole, int32_t origin) {
  const int32_t registers = list({whole, origin});
  runtime::ViewSpec spec;
  spec.ndim = spec.input_ndim = 1;
  spec.window_origin = true;
  program.views.push_back(spec);
  runtime::Instruction& i = add(Opcode::kView);
  i.dst = slot(), i.a = of_slot, i.b = static_cast<int32_t>(program.views.size()) - 1, i.c = registers;
  return i.dst;
}

int32_t TwinMaker::table(const std::vector<uint8_t>& elements) {
  std::vector<Cell> cells;
  for (const uint8_t element : elements) cells.push_back(Cell{element});
  program.constant_tensors.push_back(std::make_shared<runtime::ConstantTensor>(
      DType::kU8, std::vector<int64_t>{static_cast<int64_t>(elements.size())}, cells));
  runtime::Instruction& i = add(Opcode::kConstantTensor);
  i.dst = slot(), i.a = static_cast<int32_t>(program.constant_tensors.size()) - 1;
  return i.dst;
}

void TwinMaker::branch(int32_t condition, const std::function<void()>& then,
                       const std::function<void()>& otherwise) {
  const auto at = static_cast<size_t>(here());
  add(Opcode::kBranch).b = condition;
  program.code[at].a = here();
  then();
  const auto jump = static_cast<size_t>(here());
  add(Opcode::kJump);
  program.code[at].c = here();
  otherwise();
  program.code[jump].a = here();
}

TwinProgram make_twins(const TwinRecipe& recipe, int batch_size, int prefetch_depth,
                       runtime::OnErrorPolicy on_error) {
  TwinProgram out;
  for (const bool gpu : {false, true}) {
    TwinMaker m(gpu);
    m.program.batch_size = batch_size;
    m.program.prefetch_depth = prefetch_depth;
    m.program.on_error = on_error;
    const auto slots = recipe(m);
    (gpu ? out.gpu : out.cpu) = m.finish(slots);
  }
  return out;
}

TwinDelivered deliver_all(runtime::Session& session, int num_epochs) {
  TwinDelivered all;
  for (int epoch = 0; epoch < num_epochs; ++epoch) {
    auto& samples = all.outputs.emplace_back();
    auto& ids = all.ids.emplace_back();
    for (;;) {
      auto batch = session.next();
      if (!batch) {
        all.errors.push_back(batch.error().message());
        if (all.errors.size() > 100) return all;
        continue;
      }
      if (!*batch) break;
      const runtime::Batch& b = ***batch;
      for (size_t k = 0; k < b.sample_ids.size(); ++k) {
        ids.push_back(b.sample_ids[k]);
        auto& sample = samples.emplace_back();
        for (const auto& output : b.outputs) {
          const runtime::Tensor& tensor = output.samples[k];
          EXPECT_EQ(tensor.memory == runtime::Memory::kDevice, output.spec.on_device);
          std::vector<uint8_t> bytes(static_cast<size_t>(tensor.num_bytes()));
          if (tensor.memory == runtime::Memory::kHost) {
            bytes = runtime::testing::bytes_of(tensor);
          } else if (auto status = b.device->download(tensor, bytes.data()); !status) {
            all.errors.push_back(status.error().message());
            return all;
          }
          if (output.contiguous) {
            EXPECT_EQ(tensor.data, output.contiguous->data() + static_cast<int64_t>(k) * tensor.num_bytes());
          }
          sample.push_back(std::move(bytes));
        }
      }
    }
  }
  return all;
}

TwinDelivered judge(const TwinProgram& twins, int num_epochs) {
  runtime::SessionOptions options;
  options.executor = runtime::ExecutorKind::kInline;
  auto session = runtime::Session::create(twins.cpu, twin_natives(), options);
  if (!session) {
    ADD_FAILURE() << session.error().message();
    return {};
  }
  return deliver_all(**session, num_epochs);
}

// ---- recipes

namespace {

/// u8[n] of the sample, n, and its number.
struct Data {
  int32_t bytes = -1, n = -1, number = -1, number_slot = -1;
};

Data read_sample(TwinMaker& m, const std::string& reader_options) {
  m.at_line(3, "readers.file");
  const int32_t source = m.source("{" + reader_options + "}");
  const auto slots = m.read(source);
  Data out;
  out.number_slot = slots[1];
  out.number = m.load(slots[1], 0, DType::kI64);
  out.n = m.scalar(ScalarOp::kAdd, DType::kI64,
                   {m.value(20), m.scalar(ScalarOp::kMul, DType::kI64, {out.number, m.value(5)})});
  m.at_line(4, "decoders.image");
  runtime::NativeCallSpec spec;
  spec.function = "test.stretch";
  spec.inputs = {slots[0]};
  spec.scalars = {out.n};
  spec.output = out.bytes = m.slot();
  spec.allocates = true;
  spec.port = make_port("bytes", DType::kU8, 1);
  m.program.natives.push_back(spec);
  m.add(Opcode::kCallNative).a = static_cast<int32_t>(m.program.natives.size()) - 1;
  return out;
}

int32_t is_odd(TwinMaker& m, int32_t number) {
  return m.scalar(ScalarOp::kAnd, DType::kI64, {number, m.value(1)});
}

}  // namespace

TwinRecipe everything(const std::string& reader_options) {
  return [reader_options](TwinMaker& m) {
    const Data data = read_sample(m, reader_options);
    const int32_t n = data.n, ten = m.value(10), zero = m.value(0);
    m.at_line(5, "brightness");
    const int32_t bright = m.call("scale", {data.bytes}, {n, m.real(1.5), m.real(-3)}, DType::kU8, {n});
    m.at_line(6, "arm");
    const int32_t merged = m.slot();
    m.branch(
        is_odd(m, data.number),
        [&] {
          // Two inputs: of the device, and of the host (again).
          const int32_t sum = m.call("add", {bright, data.bytes}, {n}, DType::kU8, {n});
          m.add(Opcode::kRelease).a = bright;
          const int32_t again = m.call("scale", {sum}, {n, m.real(0.5), m.real(9)}, DType::kU8, {n});
          m.copy(merged, again);
        },
        [&] {
          // Backwards, through a view of the device; and a few elements of the host's, far apart.
          const int32_t last = m.scalar(ScalarOp::kSub, DType::kI64, {n, m.value(1)});
          const int32_t turned = m.strided(bright, n, last, -1);
          const int32_t sparse = m.strided(data.bytes, ten, zero, 2);
          const int32_t few = m.call("pick", {sparse}, {ten, ten, zero}, DType::kU8, {ten});
          const int32_t more = m.call("add", {few, sparse}, {ten}, DType::kU8, {ten});
          const int32_t all = m.call("pick", {turned}, {n, n, zero}, DType::kU8, {n});
          const int32_t first = m.call("total", {more}, {ten}, DType::kI64, {});
          const int32_t sum = m.call("add", {all, data.bytes}, {n}, DType::kU8, {n});
          m.add(Opcode::kRelease).a = first;
          m.copy(merged, sum);
        });
    m.at_line(7, "window");
    // Elements 100 … 100 + n of something longer, of which nothing else is there.
    const int32_t origin = m.value(100);
    const int32_t whole = m.scalar(ScalarOp::kAdd, DType::kI64, {n, m.value(300)});
    const int32_t part = m.window(data.bytes, whole, origin);
    const int32_t picked = m.call("pick", {part}, {ten, whole, m.value(107)}, DType::kU8, {ten});
    m.at_line(8, "look_up");
    std::vector<uint8_t> squares(256);
    for (size_t k = 0; k < squares.size(); ++k) squares[k] = static_cast<uint8_t>(k * k);
    const int32_t table = m.table(squares);
    m.device_output("bytes", DType::kU8, {-1});
    m.device_output("total", DType::kI64, {});
    m.device_output("picked", DType::kU8, {10});
    m.device_output("number", DType::kI64, {});
    m.device_output("read", DType::kU8, {-1});
    m.device_output("either", DType::kU8, {10});
    m.output("label", DType::kI64, {});
    const int32_t bytes = m.call_output(0, "look_up", {merged, table}, {n}, DType::kU8, {n});
    m.at_line(9, "total");
    const int32_t total = m.call_output(1, "total", {merged}, {n}, DType::kI64, {});
    // Made by the device or by the host, as the sample has it.
    const int32_t either = m.slot();
    m.branch(
        is_odd(m, data.number), [&] { m.copy(either, picked); },
        [&] { m.copy(either, m.strided(data.bytes, ten, zero, 1)); });
    m.barrier(false);
    return std::vector<int32_t>{bytes, total, picked, data.number_slot, data.bytes, either, data.number_slot};
  };
}

TwinRecipe round_trip(const std::string& reader_options) {
  return [reader_options](TwinMaker& m) {
    const Data data = read_sample(m, reader_options);
    const int32_t n = data.n;
    m.at_line(5, "reductions.mean");
    const int32_t bright = m.call("scale", {data.bytes}, {n, m.real(1.5), m.real(-3)}, DType::kU8, {n});
    const int32_t shift = m.reg();
    const int32_t zero = m.real(0);
    m.branch(
        is_odd(m, data.number),
        [&] {
          const int32_t total = m.call("total", {bright}, {n}, DType::kI64, {});
          const int32_t known = m.to_host(total);
          const int32_t part = m.to_host(m.strided(bright, m.value(5), m.value(2), 3));
          m.barrier(true);
          const int32_t sum = m.load(known, 0, DType::kI64);
          const int32_t more = m.scalar(
              ScalarOp::kAdd, DType::kI64,
              {sum, m.scalar(ScalarOp::kConvert, DType::kI64, {m.load(part, 4, DType::kU8)}, DType::kU8)});
          const int32_t low = m.scalar(ScalarOp::kAnd, DType::kI64, {more, m.value(63)});
          const int32_t real = m.scalar(ScalarOp::kConvert, DType::kF32, {low}, DType::kI64);
          runtime::Instruction& move = m.add(Opcode::kMove);
          move.dst = shift, move.a = real;
        },
        [&] {
          runtime::Instruction& move = m.add(Opcode::kMove);
          move.dst = shift, move.a = zero;
        });
    m.at_line(6, "gaussian_blur");
    m.device_output("bytes", DType::kU8, {-1});
    m.output("same", DType::kU8, {-1});
    const int32_t out = m.call_output(0, "scale", {bright}, {n, m.real(1), shift}, DType::kU8, {n});
    const int32_t same = m.to_host(out);
    m.barrier(true);
    return std::vector<int32_t>{out, same};
  };
}

}  // namespace galatea::testing
