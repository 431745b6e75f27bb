// The GPU of these tests: the fake driver, or this machine's where GALATEA_TEST_GPU says so (./dev
// gpu-check).
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include "tests/cuda/fake_cuda_control.h"

namespace galatea::testing {

class TestDevice {
 public:
  TestDevice() {
    if (std::getenv("GALATEA_TEST_GPU"))
      hold_context();
    else
      fake_.emplace();
  }
  void reset() const {
    if (fake_) fake_->reset();
  }
  /// Of the fake; all zero on a device.
  FakeCudaCounters counters() const { return fake_ ? fake_->counters() : FakeCudaCounters(); }
  /// Of the fake: the n-th call from now fails with this code; 0: none.
  void fail(int64_t call, int code) const {
    if (fake_) fake_->fail(call, code);
  }
  bool is_fake() const { return fake_.has_value(); }
  /// What the fake has seen that a device would not forgive.
  std::string errors() const { return fake_ ? fake_->errors() : ""; }

 private:
  /// Of a real device, for all tests of the process: making one takes longer than most of them.
  static void hold_context() {
    static const auto kHeld = [] {
      auto driver = runtime::cuda::Driver::shared();
      return driver ? runtime::cuda::Context::open(*driver, 0) : std::unexpected(driver.error());
    }();
    (void)kHeld;
  }

  std::optional<FakeCuda> fake_;
};

}  // namespace galatea::testing
