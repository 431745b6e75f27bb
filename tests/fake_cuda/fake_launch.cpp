// One launch: its blocks one after the other, by the code that the fake NVRTC made of the kernel's text.
#include <set>

#include "runtime/cuda/batch_launch.h"
#include "tests/fake_cuda/fake_state.h"

namespace galatea::fake_cuda {

namespace {

using runtime::KernelTensor;
using runtime::cuda::DeviceCall;
using BlockCode = void (*)(const void* calls, const uint32_t* first_blocks, uint32_t num_calls,
                           uint32_t block, int threads, int permuted);

template <typename T>
const T* at(uint64_t address) {
  return reinterpret_cast<const T*>(address);
}

/// Notes what the launch touches. False: something is not there.
bool note_uses(State& state, const Launch& launch, const Stream::Operation& operation) {
  bool fine = true;
  std::set<const void*> read, written;
  const auto look = [&](const void* address, bool is_write, const char* name) {
    const Allocation* found = state.memory.find(address);
    // One allocation many times: the first says it all.
    if (found && !(is_write ? written : read).insert(found).second) return;
    fine = state.use(address, operation, is_write, name) && fine;
  };
  look(launch.calls, false, "descriptors");
  look(launch.first_blocks, false, "the table of blocks");
  if (!fine) return false;
  const auto* calls = static_cast<const DeviceCall*>(launch.calls);
  for (uint32_t c = 0; c < launch.num_calls; ++c) {
    look(at<void>(calls[c].tensors), false, "tensors");
    if (calls[c].num_guards > 0) look(at<void>(calls[c].guards), false, "guards");
    if (calls[c].params) look(at<void>(calls[c].params), false, "parameters");
    if (!fine) return false;
    const auto* tensors = at<KernelTensor>(calls[c].tensors);
    const auto& arms = launch.function->arms;
    if (!arms.empty() && calls[c].kernel >= arms.size()) {
      state.complain("a call names a kernel that the function does not hold");
      return false;
    }
    const auto [inputs, outputs] =
        arms.empty() ? std::pair(launch.function->inputs, launch.function->outputs) : arms[calls[c].kernel];
    for (uint32_t g = 0; g < calls[c].num_guards; ++g)
      look(at<void>(at<runtime::cuda::DeviceGuard>(calls[c].guards)[g].flag), false, "a guard");
    for (int t = 0; t < inputs + outputs; ++t) look(tensors[t].data, t >= inputs, "a tensor");
    if (calls[c].scratch) look(at<void>(calls[c].scratch), true, "scratch");
    if (calls[c].status) look(at<void>(calls[c].status), true, "status");
  }
  return fine;
}

}  // namespace

void run_launch(State& state, const Launch& launch, const Stream::Operation& operation) {
  if (!state.executes || !note_uses(state, launch, operation)) return;
  const auto run = reinterpret_cast<BlockCode>(launch.function->code);
  for (uint32_t turn = 0; turn < launch.blocks; ++turn) {
    // Blocks have no order either.
    const uint32_t block = state.settings.permuted ? launch.blocks - 1 - turn : turn;
    run(launch.calls, launch.first_blocks, launch.num_calls, block, static_cast<int>(launch.threads),
        state.settings.permuted ? 1 : 0);
  }
}

}  // namespace galatea::fake_cuda
