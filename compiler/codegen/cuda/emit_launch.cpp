#include "compiler/codegen/cuda/emit_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "compiler/codegen/cuda/emit.h"
#include "compiler/codegen/kernel_key.h"

namespace galatea::codegen {

namespace {

/// Functions that run a call's part of a block; on the host, phases are loops over its threads. They are not
/// inlined: NVRTC takes a fifth less time over ten functions than over one of their size, and a block calls
/// one once. Compiled apart, they are found by their names. On a GPU they end their thread: who does not
/// return has no registers to save for its caller.
constexpr const char* kArms = R"(#ifndef GALATEA_ARM
#ifdef __CUDACC__
#ifdef __CUDACC_RDC__
#define GALATEA_ARM_LINKAGE extern "C"
#else
#define GALATEA_ARM_LINKAGE static
#endif
#define GALATEA_ARM(name) \
  GALATEA_ARM_LINKAGE __device__ __noinline__ __attribute__((noreturn)) \
  void name(const galatea_call& call, u32 tile, u32 tiles, u8* shared)
#define GALATEA_ARM_END asm volatile("exit;"); __builtin_unreachable();
#define GALATEA_RUN(name) name(calls[number], tile, tiles, shared)
#define GALATEA_ARMS(name, ...)
#else
#define GALATEA_ARM(name) \
  static void name(const galatea_call& call, u32 tile, u32 tiles, u8* shared, int threads, int permuted)
#define GALATEA_ARM_END
#define GALATEA_RUN(name) name(call, tile, tiles, shared, threads, permuted)
// How many kernels; tensors that each reads and writes.
#define GALATEA_ARMS(name, ...) \
  extern "C" __attribute__((visibility("default"))) const int name##_arms[] = {__VA_ARGS__};
#endif
#endif
)";

int num_tensors(const kernel::LoopKernel& loops) {
  int count = 0;
  for (const kernel::LoopBuffer& buffer : loops.buffers) count = std::max(count, buffer.tensor + 1);
  return count;
}

/// Of a thread. Two blocks of tiles share a processor (GALATEA_TILE_KERNEL), three others. Compiled apart, an
/// arm would take whatever makes it a little faster by itself, and all arms of its launches would pay.
constexpr int kMostTileRegisters = 128, kMostRegisters = 80;

std::string arm_text(const kernel::LoopKernel& loops, const std::string& name, const std::string& body) {
  return fmt::format("// {}\nGALATEA_ARM({}) {}", loops.name, name, body);
}

/// What is launched; `names`: the functions of the kernels.
std::string entry_text(std::span<const kernel::LoopKernel* const> kernels,
                       const std::vector<std::string>& names, const std::string& name) {
  std::vector<int> tensors = {static_cast<int>(kernels.size())};
  int64_t memory = 0;
  bool in_tiles = false;
  for (const kernel::LoopKernel* loops : kernels) {
    const int inputs = num_inputs(*loops);
    tensors.insert(tensors.end(), {inputs, num_tensors(*loops) - inputs});
    memory = std::max(memory, block_memory(*loops));
    in_tiles = in_tiles || is_made_in_tiles(*loops);
  }
  std::string out = fmt::format("GALATEA_ARMS({}, {})\n", name, fmt::join(tensors, ", "));
  out += fmt::format("{}({}, 0, 0) {{\n  GALATEA_SAMPLE\n",
                     in_tiles ? "GALATEA_TILE_KERNEL" : "GALATEA_KERNEL", name);
  out += memory > 0 ? fmt::format("  GALATEA_SHARED({})\n", memory) : "  u8* const shared = 0;\n";
  out += "  switch (call.kernel) {\n";
  for (size_t k = 0; k < kernels.size(); ++k)
    out += fmt::format("    case {}: GALATEA_RUN({}); break;\n", k, names[k]);
  return out + "  }\n}\n";
}

}  // namespace

std::string emit_cuda_launch(std::span<const kernel::LoopKernel* const> kernels, const std::string& name) {
  if (kernels.size() == 1) return emit_cuda(*kernels.front(), name);
  std::string out = kArms;
  std::vector<std::string> names;
  for (const kernel::LoopKernel* loops : kernels) {
    names.push_back(fmt::format("{}_{}", name, names.size()));
    out += arm_text(*loops, names.back(), emit_cuda_arm(*loops)) + "\n";
  }
  return out + entry_text(kernels, names, name);
}

LaunchUnits emit_cuda_units(std::span<const kernel::LoopKernel* const> kernels, const std::string& name) {
  if (kernels.size() == 1) return {{}, emit_cuda(*kernels.front(), name)};
  LaunchUnits out;
  std::vector<std::string> names;
  std::set<std::string> known;
  out.entry = kArms;
  for (const kernel::LoopKernel* loops : kernels) {
    const std::string body = emit_cuda_arm(*loops);
    names.push_back("galatea_arm_" + hash_name(body));
    if (!known.insert(names.back()).second) continue;
    out.arms.push_back({kArms + arm_text(*loops, names.back(), body),
                        is_made_in_tiles(*loops) ? kMostTileRegisters : kMostRegisters});
    out.entry += fmt::format("GALATEA_ARM({});\n", names.back());
  }
  out.entry += entry_text(kernels, names, name);
  return out;
}

std::string LaunchUnits::together() const {
  std::string out;
  for (const Arm& arm : arms) out += arm.text;
  return out + entry;
}

}  // namespace galatea::codegen
