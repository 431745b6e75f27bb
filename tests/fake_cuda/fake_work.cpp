#include "tests/fake_cuda/fake_work.h"

#include <cstring>

namespace galatea::fake_cuda {

void Work::count(FakeCudaCounters& counters) const {
  counters.launches += launches;
  counters.blocks += blocks;
  counters.uploads += uploads;
  counters.downloads += downloads;
  counters.device_copies += device_copies;
  counters.upload_bytes += uploads * bytes;
  counters.download_bytes += downloads * bytes;
}

Code make_copy(State& state, CopyKind kind, void* to, const void* from, size_t bytes, Work& out) {
  out.what = kind == CopyKind::kUpload ? "upload" : kind == CopyKind::kDownload ? "download" : "copy";
  const auto is_inside = [&](const void* address) {
    const Allocation* found = state.memory.find(address);
    return !found || found->holds(address, static_cast<int64_t>(bytes));
  };
  if (!is_inside(to) || !is_inside(from)) {
    state.complain(out.what + " reaches past the end of its allocation");
    return code::kInvalidValue;
  }
  out.reads_pageable = !state.memory.find(from);
  out.writes_pageable = !state.memory.find(to);
  out.addresses = {to, from};
  out.bytes = static_cast<int64_t>(bytes);
  (kind == CopyKind::kUpload     ? out.uploads
   : kind == CopyKind::kDownload ? out.downloads
                                 : out.device_copies) = 1;
  std::shared_ptr<std::string> kept;
  if (out.reads_pageable) kept = std::make_shared<std::string>(static_cast<const char*>(from), bytes);
  const bool to_pageable = out.writes_pageable;
  out.run = [=, &state](const Stream::Operation& operation) {
    if (!state.executes) return;
    if (!kept && !state.use(from, operation, false, "source")) return;
    if (!to_pageable && !state.use(to, operation, true, "target")) return;
    std::memcpy(to, kept ? kept->data() : from, bytes);
  };
  return code::kSuccess;
}

Code make_launch(State& state, runtime::cuda::FunctionHandle function, unsigned blocks, unsigned threads,
                 void** arguments, Work& out) {
  if (blocks == 0 || threads == 0 || threads > 1024) return code::kInvalidValue;
  Launch launch;
  launch.function = reinterpret_cast<Function*>(function);
  launch.blocks = blocks;
  launch.threads = threads;
  std::memcpy(&launch.calls, arguments[0], sizeof(launch.calls));
  std::memcpy(&launch.first_blocks, arguments[1], sizeof(launch.first_blocks));
  std::memcpy(&launch.num_calls, arguments[2], sizeof(launch.num_calls));
  out.what = "kernel " + launch.function->name;
  out.addresses = {launch.calls, launch.first_blocks};
  out.launches = 1;
  out.blocks = blocks;
  out.run = [launch, &state](const Stream::Operation& operation) { run_launch(state, launch, operation); };
  return code::kSuccess;
}

}  // namespace galatea::fake_cuda
