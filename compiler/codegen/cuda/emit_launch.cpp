#include "compiler/codegen/cuda/emit_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/codegen/cuda/emit.h"

namespace galatea::codegen {

namespace {

/// Functions that run a call's part of a block; on the host, phases are loops over its threads. They are not
/// inlined: NVRTC takes a fifth less time over ten functions than over one of their size, and a block calls
/// one once.
constexpr const char* kArms = R"(#ifdef __CUDACC__
#define GALATEA_ARM(name) \
  static __device__ __noinline__ void name(const galatea_call& call, u32 tile, u32 tiles, u8* shared)
#define GALATEA_RUN(name) name(calls[number], tile, tiles, shared)
#define GALATEA_ARMS(name, ...)
#else
#define GALATEA_ARM(name) \
  static void name(const galatea_call& call, u32 tile, u32 tiles, u8* shared, int threads, int permuted)
#define GALATEA_RUN(name) name(call, tile, tiles, shared, threads, permuted)
// How many kernels; tensors that each reads and writes.
#define GALATEA_ARMS(name, ...) \
  extern "C" __attribute__((visibility("default"))) const int name##_arms[] = {__VA_ARGS__};
#endif
)";

int num_tensors(const kernel::LoopKernel& loops) {
  int count = 0;
  for (const kernel::LoopBuffer& buffer : loops.buffers) count = std::max(count, buffer.tensor + 1);
  return count;
}

}  // namespace

std::string emit_cuda_launch(std::span<const kernel::LoopKernel* const> kernels, const std::string& name) {
  if (kernels.size() == 1) return emit_cuda(*kernels.front(), name);
  std::string out = kArms;
  std::vector<int> tensors = {static_cast<int>(kernels.size())};
  for (size_t k = 0; k < kernels.size(); ++k) {
    out += emit_cuda_arm(*kernels[k], fmt::format("{}_{}", name, k)) + "\n";
    const int inputs = num_inputs(*kernels[k]);
    tensors.insert(tensors.end(), {inputs, num_tensors(*kernels[k]) - inputs});
  }
  out += fmt::format("GALATEA_ARMS({}, {})\n", name, fmt::join(tensors, ", "));
  int64_t memory = 0;
  for (const kernel::LoopKernel* loops : kernels) memory = std::max(memory, block_memory(*loops));
  out += fmt::format("{}({}, 0, 0) {{\n  GALATEA_SAMPLE\n",
                     std::any_of(kernels.begin(), kernels.end(),
                                 [](const kernel::LoopKernel* loops) { return is_made_in_tiles(*loops); })
                         ? "GALATEA_TILE_KERNEL"
                         : "GALATEA_KERNEL",
                     name);
  out += memory > 0 ? fmt::format("  GALATEA_SHARED({})\n", memory) : "  u8* const shared = 0;\n";
  out += "  switch (call.kernel) {\n";
  for (size_t k = 0; k < kernels.size(); ++k)
    out += fmt::format("    case {0}: GALATEA_RUN({1}_{0}); break;\n", k, name);
  return out + "  }\n}\n";
}

}  // namespace galatea::codegen
