// Every call of the driver fails once, in every way that matters: a clean error, and nothing is left behind.
#include <cstring>

#include "compiler/codegen/cuda/emit.h"
#include "compiler/codegen/cuda/nvrtc.h"
#include "compiler/codegen/cuda/shim_backend.h"
#include "runtime/cuda/batch_launch.h"
#include "tests/cuda/fake_cuda_control.h"

namespace galatea::testing {
namespace {

using namespace runtime::cuda;  // NOLINT(google-build-using-namespace): everything of the wrapper

constexpr int64_t kBytes = 5000;

/// A kernel that copies its input to its output, as NVRTC gives it.
const std::string& copy_cubin() {
  static const std::string kCubin = [] {
    FakeCuda fake;
    const std::string text =
        codegen::cuda_prelude() +
        "GALATEA_KERNEL(copy_bytes, 1, 1) {\n"
        "  GALATEA_SAMPLE\n"
        "  const u8* const from = (const u8*)call.tensors[0].data;\n"
        "  u8* const to = (u8*)call.tensors[1].data;\n"
        "  GALATEA_PHASE\n"
        "    GALATEA_GRID(i, 0, call.tensors[0].extents[0]) to[i] = from[i];\n"
        "  GALATEA_END_PHASE\n"
        "  if (call.tensors[0].extents[0] == 0 && call.status) GALATEA_OR(call.status, 1u);\n"
        "}\n";
    auto nvrtc = codegen::Nvrtc::open();
    if (!nvrtc) {
      ADD_FAILURE() << nvrtc.error().message();
      return std::string();
    }
    auto cubin = (*nvrtc)->compile(text, "copy.cu", 90);
    if (!cubin) ADD_FAILURE() << cubin.error().message();
    return cubin ? *cubin : std::string();
  }();
  return kCubin;
}

/// Whether the shim can compile at all; text that it refuses is a failure, not a reason to skip. Asked before
/// the test makes its own fake: the kernel is compiled under another one.
bool has_compiler() {
  static const bool kHas = codegen::make_shim_backend().has_value();
  return kHas && (copy_cubin(), true);
}

runtime::KernelTensor bytes_at(void* data, int64_t count) {
  runtime::KernelTensor out;
  out.data = data;
  out.extents[0] = count;
  out.strides[0] = 1;
  return out;
}

/// Two streams, both pools, a launch, and the result back on the host.
Status use_everything() {
  GALATEA_ASSIGN(auto driver, Driver::open());
  GALATEA_ASSIGN(auto context, Context::open(driver, 0));
  GALATEA_ASSIGN(const std::shared_ptr<const Stream> work, Stream::create(context, Priority::kLow));
  GALATEA_ASSIGN(const std::shared_ptr<const Stream> back, Stream::create(context, Priority::kHigh));
  GALATEA_ASSIGN(auto module, Module::load(context, copy_cubin()));
  GALATEA_ASSIGN(FunctionHandle function, module->function("copy_bytes"));
  auto device = MemoryPool::make(context, MemoryKind::kDevice),
       pinned = MemoryPool::make(context, MemoryKind::kPinned);
  const std::vector<uint8_t> data(kBytes, 7);
  const LaunchKernel kernel{function, 1, true, true};
  for (int turn = 0; turn < 2; ++turn) {
    GALATEA_ASSIGN(MemoryBlock out, device->acquire(kBytes, work));
    GALATEA_ASSIGN(MemoryBlock host, pinned->acquire(kBytes, back));
    BatchLaunch batch(work, device, pinned);
    const int32_t upload = batch.add_upload(data.data(), kBytes);
    const LaunchTensor tensors[] = {
        {bytes_at(const_cast<uint8_t*>(data.data()), kBytes), upload},
        {bytes_at(reinterpret_cast<void*>(static_cast<uintptr_t>(out.device())), kBytes), -1}};
    batch.add_call(0, 0, tensors, {}, 100);
    GALATEA_ASSIGN(LaunchedBatch launched, batch.enqueue({&kernel, 1}));
    GALATEA_ASSIGN(Event done, Event::create(context));
    GALATEA_TRY(done.record(*work));
    GALATEA_TRY(back->wait_for(done));
    GALATEA_TRY(back->download(host.host(), out.device(), kBytes));
    out.also_used_by(back);
    GALATEA_TRY(back->synchronize());
    GALATEA_ASSIGN(const bool is_done, done.is_done());
    if (!is_done || launched.first_failure() || std::memcmp(host.host(), data.data(), kBytes) != 0)
      return make_error(ErrorKind::kInternal, "", "wrong bytes");
  }
  return {};
}

class Faults : public ::testing::TestWithParam<int> {};

TEST_P(Faults, EveryCallOnce) {
  if (!has_compiler()) GTEST_SKIP() << "no C++ compiler for the shim";
  FakeCuda fake;
  const auto fine = use_everything();
  ASSERT_TRUE(fine) << fine.error().message();
  const int64_t calls = fake.counters().calls;
  EXPECT_EQ(fake.errors(), "");
  expect_nothing_lives(fake.counters(), "at first");
  int64_t failures = 0;
  for (int64_t call = 1; call <= calls; ++call) {
    fake.reset();
    fake.fail(call, GetParam());
    const auto status = use_everything();
    fake.fail(0, 0);
    const std::string when = "call " + std::to_string(call);
    expect_nothing_lives(fake.counters(), when);
    EXPECT_EQ(fake.errors(), "") << when;
    if (status) continue;
    ++failures;
    const std::string code = code_of(status.error());
    EXPECT_TRUE(code == "G0951" || code == "G0953" || code == "G0955" || code == "G0957" || code == "G0958" ||
                code == "G0959" || code == "G0921")
        << when << ": " << code << " " << status.error().message();
    if (GetParam() == code::kOutOfMemory) {
      // What to do is said.
      EXPECT_TRUE(code == "G0955" || code == "G0959" || code == "G0921") << when << ": " << code;
    }
    EXPECT_NE(status.error().message(), "wrong bytes") << when;
    EXPECT_FALSE(status.error().diagnostics.front().help.empty()) << when;
  }
  // Giving back (a third of the calls, with what it takes) fails for nobody; the rest does.
  EXPECT_GT(failures, calls / 3);
  // The process goes on.
  const auto after = use_everything();
  EXPECT_TRUE(after) << after.error().message();
}

INSTANTIATE_TEST_SUITE_P(Codes, Faults,
                         ::testing::Values(code::kOutOfMemory, code::kInvalidValue, code::kLaunchFailed,
                                           code::kNoDevice));

TEST(Faults, LostDeviceIsNamed) {
  if (!has_compiler()) GTEST_SKIP() << "no C++ compiler for the shim";
  FakeCuda fake;
  auto context = fake_context();
  auto stream = *Stream::create(context);
  fake.fail(2, code::kIllegalAddress);  // the call after making the context current
  const auto status = stream->synchronize();
  ASSERT_FALSE(status);
  EXPECT_EQ(code_of(status.error()), "G0957");
  EXPECT_EQ(status.error().message(),
            "GPU 0 (Fake GPU A) stopped working: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was "
            "encountered), noticed by cuStreamSynchronize");
  // Every later call says the same.
  EXPECT_EQ(code_of(Stream::create(context).error()), "G0957");
}

/// Streams, events, code and launches take memory of the device, too.
TEST(Faults, OutOfMemoryWhereNothingIsAllocatedSaysWhatToDo) {
  FakeCuda fake;
  auto context = fake_context();
  fake.fail(4, code::kOutOfMemory);  // the range of priorities and making the context current come before
  const auto stream = Stream::create(context);
  ASSERT_FALSE(stream);
  EXPECT_EQ(code_of(stream.error()), "G0959");
  EXPECT_EQ(stream.error().message(),
            "GPU 0 (Fake GPU A) is out of memory: cuStreamCreateWithPriority failed with "
            "CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  EXPECT_NE(stream.error().diagnostics.front().help.find("end other programs"), std::string::npos);
  EXPECT_TRUE(Stream::create(context));
}

/// A device in exclusive mode whose owner is somebody else comes back when that one ends.
TEST(Faults, ADeviceThatAnotherProcessHasIsNotLost) {
  FakeCuda fake;
  auto driver = Driver::open();
  ASSERT_TRUE(driver) << driver.error().message();
  fake.fail(1, code::kDeviceUnavailable);
  const auto context = Context::open(*driver, 0);
  ASSERT_FALSE(context);
  EXPECT_EQ(code_of(context.error()), "G0960");
  EXPECT_NE(context.error().message().find("GPU 0 (Fake GPU A) is in use by another process"),
            std::string::npos)
      << context.error().message();
  EXPECT_NE(context.error().diagnostics.front().help.find("nvidia-smi"), std::string::npos);
  EXPECT_TRUE(Context::open(*driver, 0));
}

TEST(Faults, UnknownCodeIsGivenAsANumber) {
  FakeCuda fake;
  auto context = fake_context();
  auto stream = *Stream::create(context);
  fake.fail(6, 12345);  // behind the making of an event and its record
  const auto status = stream->synchronize();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(),
            "GPU 0 (Fake GPU A): cuEventSynchronize failed with code 12345 (the driver says no more)");
}

TEST(Faults, CodeForAnotherArchitecture) {
  if (!has_compiler()) GTEST_SKIP() << "no C++ compiler for the shim";
  FakeCuda fake(FakeSettings{{"FAKE_CUDA_ARCHITECTURE", "75"}});
  auto module = Module::load(fake_context(), copy_cubin());
  ASSERT_FALSE(module);
  EXPECT_EQ(code_of(module.error()), "G0958");
  EXPECT_NE(module.error().message().find("CUDA_ERROR_NO_BINARY_FOR_GPU"), std::string::npos);
}

TEST(Faults, UnknownKernel) {
  if (!has_compiler()) GTEST_SKIP() << "no C++ compiler for the shim";
  FakeCuda fake;
  auto module = Module::load(fake_context(), copy_cubin());
  ASSERT_TRUE(module) << module.error().message();
  EXPECT_EQ(code_of((*module)->function("no_such_kernel").error()), "G0958");
}

TEST(Faults, MemoryThatNobodyAllocatedStopsTheDevice) {
  if (!has_compiler()) GTEST_SKIP() << "no C++ compiler for the shim";
  FakeCuda fake;
  auto context = fake_context();
  auto module = *Module::load(context, copy_cubin());
  const std::shared_ptr<const Stream> stream = *Stream::create(context);
  auto device = MemoryPool::make(context, MemoryKind::kDevice),
       pinned = MemoryPool::make(context, MemoryKind::kPinned);
  BatchLaunch batch(stream, device, pinned);
  std::vector<uint8_t> data(64);
  const LaunchTensor tensors[] = {{bytes_at(data.data(), 64), batch.add_upload(data.data(), 64)},
                                  {bytes_at(data.data(), 64), -1}};  // of the host
  batch.add_call(0, 0, tensors, {}, 0);
  const LaunchKernel kernel{*module->function("copy_bytes"), 1, true, false};
  ASSERT_TRUE(batch.enqueue({&kernel, 1}));
  (void)stream->synchronize();
  EXPECT_EQ(code_of(stream->synchronize().error()), "G0957");
  EXPECT_NE(fake.errors().find("kernel copy_bytes uses memory that nobody allocated"), std::string::npos)
      << fake.errors();
}

/// What a kernel uses is known from its descriptors, and held against the order of streams like a copy.
TEST(Order, KernelAndCopyOnTwoStreams) {
  if (!has_compiler()) GTEST_SKIP() << "no C++ compiler for the shim";
  for (const bool is_ordered : {false, true}) {
    FakeCuda fake;
    auto context = fake_context();
    auto module = *Module::load(context, copy_cubin());
    const std::shared_ptr<const Stream> work = *Stream::create(context), back = *Stream::create(context);
    auto device = MemoryPool::make(context, MemoryKind::kDevice),
         pinned = MemoryPool::make(context, MemoryKind::kPinned);
    std::vector<uint8_t> data(kBytes, 7);
    MemoryBlock out = *device->acquire(kBytes, work), host = *pinned->acquire(kBytes, back);
    BatchLaunch batch(work, device, pinned);
    const LaunchTensor tensors[] = {
        {bytes_at(data.data(), kBytes), batch.add_upload(data.data(), kBytes)},
        {bytes_at(reinterpret_cast<void*>(static_cast<uintptr_t>(out.device())), kBytes), -1}};
    batch.add_call(0, 0, tensors, {}, 0);
    const LaunchKernel kernel{*module->function("copy_bytes"), 1, true, false};
    ASSERT_TRUE(batch.enqueue({&kernel, 1}));
    Event done = *Event::create(context);
    ASSERT_TRUE(done.record(*work));
    if (is_ordered) {
      ASSERT_TRUE(back->wait_for(done));
    }
    ASSERT_TRUE(back->download(host.host(), out.device(), kBytes));
    ASSERT_TRUE(back->synchronize());
    ASSERT_TRUE(work->synchronize());
    EXPECT_EQ(fake.counters().errors, is_ordered ? 0 : 1) << fake.errors();
    EXPECT_EQ(host.host()[kBytes - 1] == 7, is_ordered);
  }
}

}  // namespace
}  // namespace galatea::testing
