// The form of gathers (lower_gather.cpp): what it looks like, that its shortcuts change nothing, that every
// way through it is taken.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"
#include "tests/support/bless.h"

namespace galatea::testing {
namespace {

using namespace galatea::kernel;  // NOLINT

std::vector<std::pair<std::string, SampleKernel>> warps() {
  return {{"nearest", warp()},
          {"linear_filled", warp_linear(DType::kU8, true)},
          {"linear_edge", warp_linear(DType::kU8, false)},
          {"shift_filled", warp_linear(DType::kU8, true, false)},
          {"linear_f32", warp_linear(DType::kF32, true)},
          {"to_planes", warp_to_planes()}};
}

/// Calls `change` with every branch of the loops, outer ones first.
void for_each_branch(Block& block, const std::function<void(If&)>& change) {
  for (Statement& statement : block) {
    if (auto* n = std::get_if<For>(&statement.node)) for_each_branch(n->body, change);
    if (auto* n = std::get_if<Phase>(&statement.node)) for_each_branch(n->body, change);
    if (auto* n = std::get_if<If>(&statement.node)) {
      change(*n);
      for_each_branch(n->then_body, change);
      for_each_branch(n->else_body, change);
    }
  }
}

bool agrees(const SampleKernel& sample, const LoopKernel& loops) {
  for (size_t p = 0; p < sample.params.size(); ++p)
    if (run_loops(sample.kernel, loops, sample.params[p], p + 1) !=
        run_stages(sample.kernel, sample.params[p], p + 1))
      return false;
  return true;
}

TEST(Gathers, HaveThisForm) {
  for (const auto& [name, sample] : warps()) {
    const std::string text = to_text(lower_verified(sample.kernel, {}));
    const std::filesystem::path path =
        std::filesystem::path(GALATEA_SOURCE_DIR) / "tests/golden/loops" / ("gather_" + name + ".loops");
    if (galatea::testing::is_blessing()) {
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << text;
      continue;
    }
    std::ifstream file(path);
    std::stringstream expected;
    expected << file.rdbuf();
    EXPECT_EQ(text, expected.str()) << path;
  }
}

TEST(Gathers, ShortcutsChangeNothing) {
  for (const auto& [name, sample] : warps()) {
    LoopKernel loops = lower_verified(sample.kernel, {});
    int shortcuts = 0;
    for_each_branch(loops.body, [&](If& branch) {
      if (!branch.shortcut) return;
      ++shortcuts;
      branch.condition = const_bool(false);
    });
    EXPECT_GE(shortcuts, 2) << name;
    EXPECT_TRUE(agrees(sample, loops)) << name;
  }
}

/// Without its statements, either side of a shortcut would be missed by some call. One pixel alone is inside
/// or outside: the last way of `nearest` is for groups of lanes that have both (the code generators' tests).
TEST(Gathers, BothSidesOfShortcutsAreTaken) {
  for (const auto& [name, sample] : warps()) {
    const LoopKernel loops = lower_verified(sample.kernel, {});
    int count = 0;
    LoopKernel counted = loops;
    for_each_branch(counted.body, [&](If& branch) { count += branch.shortcut ? 1 : 0; });
    for (int k = 0; k < count; ++k)
      for (const bool first : {true, false}) {
        LoopKernel broken = loops;
        int at = 0;
        for_each_branch(broken.body, [&](If& branch) {
          if (branch.shortcut && at++ == k) (first ? branch.then_body : branch.else_body).clear();
        });
        if (name == "nearest" && k == count - 1 && !first) continue;
        EXPECT_FALSE(agrees(sample, broken))
            << name << ": the " << (first ? "shortcut" : "other way") << " of " << k << " is never taken";
      }
  }
}

/// Offsets beyond 31 bits: one row, a stride of 2^31. Only the loop of 64 bits may run.
TEST(Gathers, OfLargeImagesUse64Bits) {
  const Kernel kernel = warp().kernel;
  LoopKernel loops = lower_verified(kernel, {});
  for_each_branch(loops.body, [&](If& branch) {
    const bool vector = std::any_of(branch.then_body.begin(), branch.then_body.end(), [](const Statement& s) {
      const auto* loop = std::get_if<For>(&s.node);
      return loop && loop->role == LoopRole::kVector;
    });
    if (vector) branch.then_body.clear();
  });
  const std::vector<uint64_t> params = {1, 12, 8, 21, cell_from_double(DType::kF32, 0.9).bits};
  std::vector<uint8_t> image(12 * 3 + runtime::kBufferPadding);
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<uint8_t>(31 * i + 7);
  const auto run = [&](const std::function<void(const runtime::KernelCall&)>& code) {
    std::vector<uint8_t> out(8 * 21 * 3 + runtime::kBufferPadding, 0xCD);
    runtime::KernelTensor tensors[2];
    tensors[0] = {image.data(), {1, 12, 3}, {int64_t{1} << 31, 3, 1}};
    tensors[1] = {out.data(), {8, 21, 3}, {63, 3, 1}};
    code({tensors, params.data(), nullptr, nullptr});
    return out;
  };
  EXPECT_EQ(run([&](const runtime::KernelCall& call) { interpret_loops(loops, call, false); }),
            run([&](const runtime::KernelCall& call) { interpret_stages(kernel, call); }));
}

}  // namespace
}  // namespace galatea::testing
