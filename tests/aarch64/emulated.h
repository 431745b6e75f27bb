// Calls of kernels on an emulated AArch64 processor.
//
// Comes in: a code object for AArch64 and a call as the runtime makes it. Goes out: the same memory as after
// a call on this processor. One emulator serves all calls of a test; what it cannot do is thrown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "runtime/code_loader.h"
#include "runtime/kernel_abi.h"

namespace galatea::testing {

class EmulatedProcessor {
 public:
  EmulatedProcessor();
  ~EmulatedProcessor();
  EmulatedProcessor(const EmulatedProcessor&) = delete;
  EmulatedProcessor& operator=(const EmulatedProcessor&) = delete;

  /// Why there is no emulator here; nothing if there is one.
  static std::optional<std::string> missing();

  /// `types` are those of the call's tensors, `ranks` their ranks.
  void run(const runtime::CodeObject& code, const runtime::KernelCall& call, size_t params,
           const std::vector<DType>& types, const std::vector<int>& ranks, uint64_t scratch_bytes);

 private:
  void send(const void* from, size_t size);
  void receive(void* to, size_t size);
  [[noreturn]] void fail(const std::string& what);

  int process_ = -1, to_ = -1, from_ = -1;
};

}  // namespace galatea::testing
