// Outputs of native functions that may lie in a file as they are, where a device may read them by itself.
//
// Comes in: a call. Goes out: where its output lies, or why it cannot be taken from there as it is. The fact is
// the function's; who reads it so is an alternative's (cufile_alternative.h), which knows no format.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/device_alternative.h"
#include "runtime/native.h"

namespace galatea::native {

/// The output, dense and in C order, byte for byte.
struct FileWindow {
  std::string path;  ///< of this machine
  int64_t offset = 0, bytes = 0;
  std::string why_not;  ///< not empty: the host has something to do ("in Fortran's order")
};

/// What a function prepares where its output may be such a window.
class InFileState : public runtime::NativeState {
 public:
  /// An error is what the host would say of the file. Thread-safe.
  virtual Result<FileWindow> window(const runtime::NativeArguments& call) const = 0;
};

}  // namespace galatea::native
