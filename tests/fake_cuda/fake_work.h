// What a stream or a node of a graph does: copies and launches, as functions over host memory.
#pragma once

#include <vector>

#include "tests/fake_cuda/fake_state.h"

namespace galatea::fake_cuda {

enum class CopyKind : uint8_t { kUpload, kDownload, kOnDevice };

struct Work {
  std::string what;
  std::function<void(const Stream::Operation&)> run;
  std::vector<const void*> addresses;  ///< that the driver is told of, one an allocation or more
  /// Memory that the driver does not know: read before the call returns, and written before it does.
  bool reads_pageable = false, writes_pageable = false;
  int64_t launches = 0, blocks = 0, uploads = 0, downloads = 0, device_copies = 0, bytes = 0;
  void count(FakeCudaCounters& counters) const;
};

Code make_copy(State& state, CopyKind kind, void* to, const void* from, size_t bytes, Work& out);
/// The arguments are those of galatea's kernels, read at once.
Code make_launch(State& state, runtime::cuda::FunctionHandle function, unsigned blocks, unsigned threads,
                 void** arguments, Work& out);

}  // namespace galatea::fake_cuda
