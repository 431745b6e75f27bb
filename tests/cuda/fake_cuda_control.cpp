#include "tests/cuda/fake_cuda_control.h"
#include "tests/support/build_folder.h"

#include <dlfcn.h>

#include <cstdlib>

namespace galatea::testing {

namespace {

template <typename Function>
Function* entry_point(const char* name) {
  return find_in_fake<Function>("libcuda.so.1", name);
}

}  // namespace

std::string fake_cuda_folder() { return build_folder("/fake_cuda"); }

void* find_in_fake(const char* library, const char* name) {
  void* const found =
      dlopen((fake_cuda_folder() + "/" + library).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!found) ADD_FAILURE() << dlerror();
  return found ? dlsym(found, name) : nullptr;
}

FakeCuda::FakeCuda(const FakeSettings& settings) {
  setenv("GALATEA_CUDA_LIBRARY_PATH", fake_cuda_folder().c_str(), 1);
  names_.emplace_back("GALATEA_CUDA_LIBRARY_PATH");
  for (const auto& [name, value] : settings) {
    setenv(name.c_str(), value.c_str(), 1);
    names_.push_back(name);
  }
  fail(0, 0);
  execute(true);
  reset();
}

FakeCuda::~FakeCuda() {
  fail(0, 0);
  execute(true);
  for (const std::string& name : names_) unsetenv(name.c_str());
}

FakeCudaCounters FakeCuda::counters() const {
  FakeCudaCounters out;
  entry_point<FakeCudaCount>("fake_cuda_count")(&out);
  return out;
}
int64_t FakeCuda::calls(const char* entry) const {
  return entry_point<FakeCudaCalls>("fake_cuda_calls")(entry);
}
std::string FakeCuda::errors() const { return entry_point<FakeCudaErrors>("fake_cuda_errors")(); }
void FakeCuda::fail(int64_t call, int code) const { entry_point<FakeCudaFail>("fake_cuda_fail")(call, code); }
void FakeCuda::reset() const { entry_point<FakeCudaReset>("fake_cuda_reset")(); }
void FakeCuda::execute(bool on) const { entry_point<FakeCudaExecute>("fake_cuda_execute")(on ? 1 : 0); }

void FakeCuda::forbid_waits(bool forbid) const {
  entry_point<FakeCudaForbidWaits>("fake_cuda_forbid_waits")(forbid ? 1 : 0);
}
void FakeCuda::capture(runtime::cuda::StreamHandle stream, int mode) const {
  entry_point<FakeCudaCapture>("fake_cuda_capture")(stream, mode);
}
void FakeCuda::enqueue_write(const runtime::cuda::Stream& stream, runtime::cuda::DevicePointer to,
                             int64_t bytes) const {
  const auto nothing = [](void*) {};
  EXPECT_EQ(entry_point<FakeCudaEnqueue>("fake_cuda_enqueue")(
                stream.handle(), "a write", nothing, nothing, nullptr, nullptr,
                reinterpret_cast<const void*>(static_cast<uintptr_t>(to)), bytes),
            runtime::cuda::code::kSuccess);
}

FakeVariable::FakeVariable(const char* name, const std::string& value) : name_(name) {
  if (const char* const before = std::getenv(name)) before_ = before;
  setenv(name, value.c_str(), 1);
}
FakeVariable::~FakeVariable() {
  if (before_)
    setenv(name_.c_str(), before_->c_str(), 1);
  else
    unsetenv(name_.c_str());
}

std::shared_ptr<const runtime::cuda::Context> fake_context() {
  auto driver = runtime::cuda::Driver::open();
  if (!driver) {
    ADD_FAILURE() << driver.error().message();
    return nullptr;
  }
  auto context = runtime::cuda::Context::open(*driver, 0);
  if (context) return *context;
  ADD_FAILURE() << context.error().message();
  return nullptr;
}

std::string code_of(const Error& error) {
  return error.diagnostics.empty() ? "" : error.diagnostics.front().code;
}

void expect_nothing_lives(const FakeCudaCounters& counters, const std::string& when) {
  EXPECT_EQ(counters.live_contexts, 0) << when;
  EXPECT_EQ(counters.live_streams, 0) << when;
  EXPECT_EQ(counters.live_events, 0) << when;
  EXPECT_EQ(counters.live_modules, 0) << when;
  EXPECT_EQ(counters.live_graphs, 0) << when;
  EXPECT_EQ(counters.live_graph_execs, 0) << when;
  EXPECT_EQ(counters.live_allocations, 0) << when;
  EXPECT_EQ(counters.live_pinned, 0) << when;
}

}  // namespace galatea::testing
