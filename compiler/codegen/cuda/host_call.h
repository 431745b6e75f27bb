// A call of device code on the host.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/kernel_abi.h"
#include "runtime/program.h"

namespace galatea::codegen {

/// `galatea_call` of the prelude for a call whose memory is the host's, and the counters of its blocks.
struct HostCall {
  explicit HostCall(const runtime::KernelCall& call)
      : tensors(call.tensors), params(call.params), scratch(call.scratch), status(call.status) {
    counters = words_.data();
  }
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;

  const runtime::KernelTensor* tensors;
  const uint64_t* params;
  uint8_t* scratch;
  uint32_t* status;
  uint32_t kernel = 0, num_guards = 0;
  const void* guards = nullptr;
  uint32_t* counters = nullptr;

 private:
  std::array<uint32_t, runtime::kCallCounters> words_{};
};

}  // namespace galatea::codegen
