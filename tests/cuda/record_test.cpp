// What a sample records, before any driver is involved: addresses, memory, the order of launches.
#include "runtime/device_record.h"

#include <algorithm>
#include <map>

#include "runtime/launch_order.h"
#include "tests/cuda/twin_program.h"

namespace galatea::testing {
namespace {

using runtime::DeviceArena;
using runtime::LaunchOrder;
using runtime::Opcode;
namespace vm = runtime::virtual_memory;

TEST(VirtualMemory, RegionsAndOffsetsComeBack) {
  for (const int region :
       {vm::kArena, vm::kFirstOutput, vm::kFirstChunk - 1, vm::kFirstChunk, vm::kEnd - 1}) {
    for (const int64_t offset : {int64_t{0}, int64_t{1}, -(int64_t{1} << 46), int64_t{1} << 46}) {
      const uint64_t address = vm::address(region, offset);
      EXPECT_TRUE(vm::holds(address));
      EXPECT_EQ(vm::region_of(address), region);
      EXPECT_EQ(vm::offset_of(address), offset);
    }
  }
  // What hosts and devices have: 57 bits at most, and the kernel's half.
  for (const uint64_t address : {uint64_t{0}, uint64_t{4096}, (uint64_t{1} << 57) - 1, ~uint64_t{0}})
    EXPECT_FALSE(vm::holds(address));
}

TEST(DeviceArena, BlocksNeverOverlapWhileTheyLive) {
  DeviceArena arena;
  struct Live {
    int64_t offset, bytes;
  };
  std::map<int32_t, Live> live;
  uint64_t state = 1;
  const auto next = [&](uint64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33) % below;
  };
  int64_t most = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    if (!live.empty() && next(5) < 2) {
      auto at = live.begin();
      std::advance(at, next(live.size()));
      arena.release(at->first);
      live.erase(at);
      continue;
    }
    if (live.size() > 8) continue;
    const auto bytes = static_cast<int64_t>(next(5000));
    const int32_t block = arena.acquire(bytes);
    const int64_t offset = vm::offset_of(arena.address(block));
    EXPECT_EQ(offset % runtime::kDeviceAlignment, 0);
    int64_t now = 0;
    for (const auto& [other, where] : live) {
      EXPECT_TRUE(offset >= where.offset + where.bytes || where.offset >= offset + bytes) << turn;
      now += runtime::device_bytes(where.bytes);
    }
    most = std::max(most, now + runtime::device_bytes(bytes));
    live[block] = {offset, bytes + runtime::kBufferPadding};
    EXPECT_LE(offset + bytes, arena.peak_bytes());
  }
  EXPECT_GE(arena.peak_bytes(), most);
  EXPECT_LT(arena.peak_bytes(), 2 * most);  // gaps are used again
  arena.reset();
  EXPECT_EQ(arena.peak_bytes(), 0);
  EXPECT_EQ(vm::offset_of(arena.address(arena.acquire(1))), 0);
}

TEST(DeviceArena, ABlockLivesAsLongAsItsLastReference) {
  DeviceArena arena;
  const int32_t first = arena.acquire(1000);
  arena.retain(first);
  arena.release(first);
  EXPECT_NE(arena.address(arena.acquire(1000)), arena.address(first));
  arena.release(first);
  EXPECT_EQ(arena.address(arena.acquire(1000)), arena.address(first));
}

/// One byte in, one byte out.
int32_t step(TwinMaker& m, int32_t slot, int32_t launch = -1) {
  const int32_t n = m.value(1);
  return m.call("scale", {slot}, {n, m.real(1), m.real(0)}, DType::kU8, {n}, launch);
}

Result<LaunchOrder> order_of(const TwinRecipe& recipe) {
  return runtime::launch_order(*make_twins(recipe, 1).gpu);
}

/// Two arms of calls: `first` and `second` say each call's shared launch.
TwinRecipe arms(const std::vector<int32_t>& first, const std::vector<int32_t>& second) {
  return [=](TwinMaker& m) {
    int32_t slot = m.store(DType::kU8, {1}, {m.value(3)});
    const int32_t merged = m.slot();
    const auto arm = [&](const std::vector<int32_t>& launches) {
      int32_t at = slot;
      for (const int32_t launch : launches) at = step(m, at, launch);
      m.copy(merged, at);
    };
    m.branch(m.value(1), [&] { arm(first); }, [&] { arm(second); });
    m.device_output("out", DType::kU8, {1});
    return std::vector<int32_t>{step(m, merged)};
  };
}

TEST(LaunchOrder, FollowsTheCodeWhereNothingIsShared) {
  FakeCuda fake;
  auto order = order_of(arms({-1, -1}, {-1}));
  ASSERT_TRUE(order) << order.error().message();
  EXPECT_EQ(order->num_launches(), 4);
  EXPECT_EQ(order->launch_of, (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST(LaunchOrder, SharedLaunchesSuitEveryWay) {
  FakeCuda fake;
  // Calls 0, 1 in one arm, 2, 3, 4 in the other; 1 and 3 go together: behind 2, in front of 4.
  auto order = order_of(arms({-1, 7}, {-1, 7, -1}));
  ASSERT_TRUE(order) << order.error().message();
  EXPECT_EQ(order->num_launches(), 5);
  const auto& launch = order->launch_of;
  EXPECT_EQ(launch[1], launch[3]);
  EXPECT_LT(launch[0], launch[1]);
  EXPECT_LT(launch[2], launch[3]);
  EXPECT_LT(launch[3], launch[4]);
  EXPECT_EQ(launch[5], 4);
}

/// The same program, of whose one branch both arms are recorded.
runtime::Program with_both_arms(runtime::Program program) {
  auto& code = program.code;
  const auto branch =
      std::find_if(code.begin(), code.end(), [](const auto& i) { return i.op == Opcode::kBranch; });
  const int32_t second = branch->c;
  runtime::Instruction& end = code[static_cast<size_t>(second) - 1];
  EXPECT_EQ(end.op, Opcode::kJump);
  const auto first = static_cast<int32_t>(branch - code.begin()) + 1;
  branch->op = Opcode::kArms, branch->a = static_cast<int32_t>(program.lists.size());
  branch->b = 0, branch->c = end.a, branch->imm = 2;
  program.lists.insert(program.lists.end(), {first, 1, second, 0});
  end.op = Opcode::kNextArm, end.c = end.a, end.a = second;
  return program;
}

TEST(LaunchOrder, OfTwoArmsThatAreRecordedOneRuns) {
  FakeCuda fake;
  const runtime::Program branching = *make_twins(arms({-1, 7}, {-1, 7, -1}), 1).gpu;
  const runtime::Program recorded = with_both_arms(branching);
  EXPECT_TRUE(runtime::verify(recorded));
  auto one = runtime::launch_order(branching), both = runtime::launch_order(recorded);
  ASSERT_TRUE(one && both);
  EXPECT_EQ(one->launch_of, both->launch_of);
  EXPECT_FALSE(runtime::launch_order(with_both_arms(*make_twins(arms({1, 2}, {2, 1}), 1).gpu)));
}

TEST(LaunchOrder, RefusesWhatNoOrderSuits) {
  FakeCuda fake;
  auto crossed = order_of(arms({1, 2}, {2, 1}));
  ASSERT_FALSE(crossed);
  EXPECT_NE(crossed.error().message().find("no order of launches"), std::string::npos);
  auto twice = order_of(arms({1, 1}, {-1}));
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message().find("no order of launches"), std::string::npos);
  auto mixed = order_of([](TwinMaker& m) {
    const int32_t slot = m.store(DType::kU8, {1}, {m.value(3)}), n = m.value(1);
    const int32_t one = m.call("scale", {slot}, {n, m.real(1), m.real(0)}, DType::kU8, {n}, 1);
    m.device_output("out", DType::kI64, {});
    return std::vector<int32_t>{m.call("total", {one}, {n}, DType::kI64, {}, 1)};
  });
  ASSERT_FALSE(mixed);
  EXPECT_NE(mixed.error().message().find("share a launch"), std::string::npos);
}

}  // namespace
}  // namespace galatea::testing
