// The head of every entry point of the fake driver.
#pragma once

#include <chrono>

#include "tests/fake_cuda/fake_state.h"

namespace galatea::fake_cuda {

/// One call of an entry point: holds the lock, counts, and says how the call is to fail.
class Call {
 public:
  explicit Call(const char* entry = __builtin_FUNCTION())
      : state(State::get()), lock_(state.mutex), result(state.enter(entry)) {}
  State& state;

 private:
  std::lock_guard<std::mutex> lock_;

 public:
  const Code result;
  bool fails() const { return result != code::kSuccess; }
};

/// A call that gives a stream something to do. What it takes is the fake's, which a benchmark of the host's
/// time takes off.
class WorkCall : public Call {
 public:
  explicit WorkCall(const char* entry = __builtin_FUNCTION()) : Call(entry) {}
  ~WorkCall() {
    state.counters.work_nanoseconds +=
        std::chrono::duration_cast<std::chrono::nanoseconds>(Time::now() - begin_).count();
  }
  WorkCall(const WorkCall&) = delete;
  WorkCall& operator=(const WorkCall&) = delete;

 private:
  using Time = std::chrono::steady_clock;
  Time::time_point begin_ = Time::now();
};

inline void* pointer(runtime::cuda::DevicePointer address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

}  // namespace galatea::fake_cuda

#define ENTRY extern "C" __attribute__((visibility("default")))
