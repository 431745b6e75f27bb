// The fake driver in the hands of a test: its settings, its counts, its faults.
//
// Comes in: nothing; the library is found as galatea finds it, by GALATEA_CUDA_LIBRARY_PATH. Goes out: a
// context over it, and what happened. One at a time, since the environment and the library are the process's.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cuda/context.h"
#include "tests/fake_cuda/fake_cuda.h"

namespace galatea::testing {

/// The environment of the fake: {"FAKE_CUDA_DEVICES", "2"}.
using FakeSettings = std::vector<std::pair<std::string, std::string>>;

/// How a call can fail: for want of memory, which goes on later; by itself; with the device lost.
inline constexpr std::array kFaultCodes = {runtime::cuda::code::kOutOfMemory,
                                           runtime::cuda::code::kInvalidValue,
                                           runtime::cuda::code::kLaunchFailed};

class FakeCuda {
 public:
  explicit FakeCuda(const FakeSettings& settings = {});
  ~FakeCuda();
  FakeCuda(const FakeCuda&) = delete;
  FakeCuda& operator=(const FakeCuda&) = delete;

  FakeCudaCounters counters() const;
  /// Calls of one entry point: "cuGraphLaunch".
  int64_t calls(const char* entry) const;
  std::string errors() const;
  /// The n-th call from now fails with this code; 0: none.
  void fail(int64_t call, int code) const;
  void reset() const;
  void execute(bool on) const;
  /// Until told otherwise, this thread calls nothing that may wait for the device.
  void forbid_waits(bool forbid) const;
  /// Captures a stream in a mode of CUstreamCaptureMode; -1: no more.
  void capture(runtime::cuda::StreamHandle stream, int mode) const;
  /// Work of another library, which writes so many bytes there.
  void enqueue_write(const runtime::cuda::Stream& stream, runtime::cuda::DevicePointer to,
                     int64_t bytes) const;

 private:
  std::vector<std::string> names_;
};

/// A variable of the environment, for a while.
class FakeVariable {
 public:
  FakeVariable(const char* name, const std::string& value);
  ~FakeVariable();
  FakeVariable(const FakeVariable&) = delete;
  FakeVariable& operator=(const FakeVariable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

/// Where the libraries of tests/fake_cuda are.
std::string fake_cuda_folder();
/// A symbol of one of them ("libcufile.so.0"), which stays loaded; a test failure and null if it is not there.
void* find_in_fake(const char* library, const char* name);
template <typename Function>
Function* find_in_fake(const char* library, const char* name) {
  return reinterpret_cast<Function*>(find_in_fake(library, name));
}
/// The context of device 0 of the fake driver; a test failure and null if there is none.
std::shared_ptr<const runtime::cuda::Context> fake_context();
/// The first code of an error: "G0957".
std::string code_of(const Error& error);
/// Nothing of the driver's is left.
void expect_nothing_lives(const FakeCudaCounters& counters, const std::string& when);

}  // namespace galatea::testing
