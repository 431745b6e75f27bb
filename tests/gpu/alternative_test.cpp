// Alternatives to native functions on a device, made up here: registered by name, they take over the samples
// that suit them, two of them in one batch, and write what the host would have.
#include <cstring>

#include "runtime/cuda/alternative.h"
#include "runtime/session.h"
#include "stdlib_ops/common/prelude.h"
#include "tests/gpu/delivered.h"
#include "tests/gpu/planned.h"
#include "tests/gpu/test_device.h"

namespace galatea::testing {
namespace {

using namespace ops;
using Bytes = std::vector<uint8_t>;

/// In front of the output the device makes something else.
constexpr int64_t kHead = 24;

void fill_ramp(uint8_t first, int64_t step, int64_t count, uint8_t* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<uint8_t>(first + i * step);
}

/// Takes the samples that begin with an even byte.
class Ramp final : public runtime::DeviceAlternative {
 public:
  Ramp(runtime::DeviceMeans means, std::shared_ptr<const runtime::cuda::Stream> stream, int64_t step)
      : means_(std::move(means)), stream_(std::move(stream)), step_(step) {}

  const std::shared_ptr<const runtime::cuda::Stream>& stream() const override { return stream_; }

  Result<std::optional<runtime::DeviceWork>> begin(const runtime::NativeArguments& call) override {
    const uint8_t first = call.inputs[0].data[0];
    if (first % 2 != 0) return std::nullopt;
    const runtime::cuda::Context::Scope scope(*means_.context);
    runtime::DeviceWork work;
    work.bytes = kHead + call.output.volume();
    work.first = kHead;
    work.strides = {1};
    auto job = std::make_unique<Job>();
    job->bytes = work.bytes;
    GALATEA_ASSIGN(job->block, means_.pinned->acquire(work.bytes, stream_));
    std::memset(job->block.host(), 0xEE, kHead);
    fill_ramp(first, step_, call.output.volume(), job->block.host() + kHead);
    work.job = std::move(job);
    return work;
  }
  Status run(std::unique_ptr<runtime::DeviceJob>& job, runtime::cuda::DevicePointer to) override {
    const auto& own = static_cast<const Job&>(*job);
    GALATEA_TRY(stream_->upload(to, own.block.host(), own.bytes));
    job.reset();
    return {};
  }
  Status finish() override { return {}; }

 private:
  struct Job final : runtime::DeviceJob {
    runtime::cuda::MemoryBlock block;
    int64_t bytes = 0;
  };
  runtime::DeviceMeans means_;
  std::shared_ptr<const runtime::cuda::Stream> stream_;
  int64_t step_;
};

class RampLibrary final : public runtime::DeviceLibrary {
 public:
  explicit RampLibrary(int64_t step) : step_(step) {}
  std::string describe() const override { return fmt::format("ramps of {}", step_); }
  std::string path() const override { return "nowhere"; }
  Result<std::shared_ptr<runtime::DeviceAlternative>> open(const runtime::DeviceMeans& means) const override {
    GALATEA_ASSIGN(auto stream, runtime::cuda::Stream::create(means.context, means.priority));
    return std::make_shared<Ramp>(means, std::move(stream), step_);
  }

 private:
  int64_t step_;
};

std::string name_of_ramp(int64_t step) { return fmt::format("ramp by {}", step); }

/// The device's way of steps 1 and 2; of others nobody has one.
Operator ramp() {
  Operator out;
  out.name = "made_up_ramp";
  out.kind = OperatorKind::kNative;
  out.inputs = {{.name = "data", .dtypes = {DType::kU8}, .ndim = 1}};
  out.min_inputs = out.max_inputs = 1;
  out.args = {{.name = "step", .kind = ArgKind::kInt, .default_value = int64_t{1}}};
  out.devices = {"cpu", "mixed"};
  out.type_rule = [](const TypeContext&) -> Types {
    return std::vector{ir::Type{DType::kU8, 1, "T", ir::Device::kCpu, {-1}}};
  };
  out.define = [](RecipeBuilder& b) {
    op::NativeOutput native;
    native.function = "ramp.make";
    native.inputs = {0};
    native.scalars = {i64(b.integer("step"))};
    native.device = {.name = name_of_ramp(b.integer("step"))};
    b.output_native(0, std::move(native), {b.extent(0, 0) * i64(3)});
  };
  return out;
}

enum class Machine : uint8_t { kHasBoth, kHasOne };

struct MadeUpRamps {
  op::Registry registry;
  runtime::NativeTable natives;
  explicit MadeUpRamps(Machine machine) {
    ops::register_all(registry);
    registry.add(ramp());
    natives.add(runtime::NativeFunction{.name = "ramp.make",
                                        .category = "decode",
                                        .prepare = {},
                                        .call = [](runtime::NativeContext& context) -> Status {
                                          fill_ramp(context.inputs[0].data[0],
                                                    cell_to_int(DType::kI64, context.scalars[0]),
                                                    context.output->volume(), context.output->data);
                                          return {};
                                        }});
    for (const int64_t step : {1, 2})
      natives.add(runtime::DeviceAlternativeFactory{
          name_of_ramp(step), [=](int) -> Result<std::shared_ptr<const runtime::DeviceLibrary>> {
            if (machine == Machine::kHasOne && step == 2)
              return galatea::make_error(ErrorKind::kSystem, "G0970", "ramps of 2 are not here", "");
            return std::make_shared<const RampLibrary>(step);
          }});
  }
};

struct RampsMade {
  std::vector<Bytes> samples;
  std::string error;
  runtime::DeviceStatistics device;
};

/// What the samples that begin with these bytes give; `decoder` nothing: on the CPU.
RampsMade make_ramps(const std::string& body, const Bytes& firsts,
                     std::optional<runtime::DecodeChoice> decoder, Machine machine = Machine::kHasBoth) {
  const MadeUpRamps made_up(machine);
  const std::string text = fmt::format(
      "from nvidia.dali import pipeline_def, fn, types\n\n"
      "@pipeline_def(batch_size={}, num_threads=2, seed=3)\ndef p():\n"
      "    data = fn.external_source(name='data', dtype=types.UINT8, ndim=1)\n{}",
      firsts.size(), body);
  RampsMade out;
  const Compiled compiled = compile_text(text, made_up.registry, decoder);
  if (!compiled.program) return out.error = compiled.error, out;
  runtime::SessionOptions session_options;
  session_options.executor = runtime::ExecutorKind::kInline;
  auto session = runtime::Session::create(compiled.program, made_up.natives, session_options);
  if (!session) return out.error = session.error().message(), out;
  runtime::Allocator allocator;
  std::vector<runtime::Tensor> fed;
  for (size_t i = 0; i < firsts.size(); ++i) {
    auto tensor = runtime::allocate_tensor(allocator, DType::kU8, {static_cast<int64_t>(5 + 7 * i)});
    EXPECT_TRUE(tensor);
    std::memset(tensor->data, firsts[i], static_cast<size_t>(tensor->num_bytes()));
    fed.push_back(*tensor);
  }
  EXPECT_TRUE((*session)->feed("data", fed));
  EXPECT_TRUE((*session)->end_of_feed());
  auto batch = (*session)->next();
  if (!batch) return out.error = batch.error().message(), out;
  for (const runtime::Tensor& sample : (**batch)->outputs[0].samples) {
    Bytes& bytes = out.samples.emplace_back(static_cast<size_t>(sample.num_bytes()));
    if (sample.memory == runtime::Memory::kDevice)
      EXPECT_TRUE((**batch)->device->download(sample, bytes.data()));
    else
      runtime::copy_dense(sample, bytes.data());
  }
  out.device = (*session)->statistics().device;
  return out;
}

const char* const kTwoRamps =
    "    a = fn.made_up_ramp(data, device='mixed')\n"
    "    b = fn.made_up_ramp(data, step=2, device='mixed')\n"
    "    return fn.cast(a, dtype=types.FLOAT) - b\n";

class Alternatives : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(device_.errors(), ""); }
  TestDevice device_;
};

TEST_F(Alternatives, TwoTakeOverTheSamplesThatSuitThem) {
  const Bytes firsts = {4, 7, 90, 33, 200};
  const RampsMade wanted = make_ramps(kTwoRamps, firsts, std::nullopt);
  ASSERT_EQ(wanted.error, "");
  const RampsMade found = make_ramps(kTwoRamps, firsts, runtime::DecodeChoice::kAuto);
  EXPECT_EQ(found.error, "");
  EXPECT_EQ(found.samples, wanted.samples);
  EXPECT_EQ(found.device.decodes, 6);
  EXPECT_EQ(found.device.decoder, "ramps of 1, ramps of 2");
}

TEST_F(Alternatives, OneThatIsMissingIsTheHosts) {
  const Bytes firsts = {4, 6};
  const RampsMade wanted = make_ramps(kTwoRamps, firsts, std::nullopt);
  const RampsMade found = make_ramps(kTwoRamps, firsts, runtime::DecodeChoice::kAuto, Machine::kHasOne);
  EXPECT_EQ(found.error, "");
  EXPECT_EQ(found.samples, wanted.samples);
  EXPECT_EQ(found.device.decodes, 2);
  EXPECT_NE(make_ramps(kTwoRamps, firsts, runtime::DecodeChoice::kDevice, Machine::kHasOne)
                .error.find("ramps of 2 are not here"),
            std::string::npos);
  EXPECT_EQ(make_ramps(kTwoRamps, firsts, runtime::DecodeChoice::kHost).device.decodes, 0);
}

TEST_F(Alternatives, OneThatIsNotRegisteredIsRefused) {
  const RampsMade found = make_ramps("    return 2.0 * fn.made_up_ramp(data, step=3, device='mixed')\n", {4},
                                     runtime::DecodeChoice::kAuto);
  EXPECT_NE(found.error.find("ramp by 3"), std::string::npos) << found.error;
}

}  // namespace
}  // namespace galatea::testing
