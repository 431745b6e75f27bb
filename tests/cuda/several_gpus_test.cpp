// Several GPUs from one program: a session on each, each over its shard of the data. Four devices of the fake
// driver, which notices a stream of one that uses memory of another.
#include <algorithm>
#include <map>
#include <thread>

#include "runtime/cuda/memory_pool.h"
#include "tests/cuda/twin_program.h"

namespace galatea::testing {
namespace {

using runtime::Session;
using runtime::SessionOptions;
using runtime::SessionShard;

constexpr int kGpus = 4;

std::unique_ptr<Session> open_on(const std::shared_ptr<const runtime::Program>& program, int gpu) {
  SessionOptions options;
  options.num_threads = 2;
  options.device.number = gpu;
  options.shard = {.number = gpu, .count = kGpus};
  auto session = Session::create(program, twin_natives(), std::move(options));
  EXPECT_TRUE(session.has_value()) << (session ? "" : session.error().message());
  return session ? std::move(*session) : nullptr;
}

/// Outputs by number of the sample in the data set, of all epochs of one session.
using Samples = std::map<int64_t, std::vector<std::vector<uint8_t>>>;
Samples by_number(const TwinDelivered& delivered, size_t epoch) {
  Samples out;
  for (size_t k = 0; k < delivered.ids[epoch].size(); ++k)
    out.emplace(delivered.ids[epoch][k], delivered.outputs[epoch][k]);
  return out;
}

TEST(SeveralGpus, ASessionEachGivesAllSamplesOnce) {
  FakeCuda fake(FakeSettings{{"FAKE_CUDA_DEVICES", std::to_string(kGpus)}});
  const TwinProgram twins = make_twins(everything("\"size\": 23"), 4);
  std::vector<TwinDelivered> found(kGpus);
  {
    std::vector<std::unique_ptr<Session>> sessions;
    for (int gpu = 0; gpu < kGpus; ++gpu) sessions.push_back(open_on(twins.gpu, gpu));
    std::vector<std::thread> threads;
    for (size_t gpu = 0; gpu < kGpus; ++gpu)
      threads.emplace_back([&, gpu] { found[gpu] = deliver_all(*sessions[gpu], 1); });
    for (std::thread& thread : threads) thread.join();
    for (int gpu = 0; gpu < kGpus; ++gpu)
      EXPECT_EQ(sessions[static_cast<size_t>(gpu)]->statistics().device.device,
                "GPU " + std::to_string(gpu) + " (Fake GPU " + static_cast<char>('A' + gpu) + ")");
  }
  Samples together;
  for (const TwinDelivered& each : found) {
    EXPECT_TRUE(each.errors.empty());
    EXPECT_GE(each.ids[0].size(), 23U / kGpus);
    for (auto& [number, outputs] : by_number(each, 0))
      EXPECT_TRUE(together.emplace(number, outputs).second) << number;
  }
  EXPECT_EQ(together.size(), 23U);
  EXPECT_EQ(fake.errors(), "");
  expect_nothing_lives(fake.counters(), "afterwards");
}

/// A session of the CPU over the same shard delivers the same bytes.
TEST(SeveralGpus, AShardIsTheSameWhereverItRuns) {
  FakeCuda fake(FakeSettings{{"FAKE_CUDA_DEVICES", std::to_string(kGpus)}});
  const TwinProgram twins = make_twins(round_trip("\"size\": 17, \"num_shards\": 2, \"shard_id\": 1"), 3);
  for (int gpu = 0; gpu < kGpus; ++gpu) {
    SessionOptions options;
    options.executor = runtime::ExecutorKind::kInline;
    options.shard = {.number = gpu, .count = kGpus};
    auto on_cpu = Session::create(twins.cpu, twin_natives(), options);
    ASSERT_TRUE(on_cpu) << on_cpu.error().message();
    auto on_gpu = open_on(twins.gpu, gpu);
    ASSERT_TRUE(on_gpu);
    // Shards rotate: each epoch has another part of the data.
    EXPECT_TRUE(deliver_all(*on_gpu, 3) == deliver_all(**on_cpu, 3)) << gpu;
  }
  EXPECT_EQ(fake.errors(), "");
}

TEST(SeveralGpus, TheFakeNoticesMemoryOfAnotherOne) {
  FakeCuda fake(FakeSettings{{"FAKE_CUDA_DEVICES", "2"}});
  const auto driver = *runtime::cuda::Driver::open();
  const auto first = *runtime::cuda::Context::open(driver, 0),
             second = *runtime::cuda::Context::open(driver, 1);
  const auto pool = runtime::cuda::MemoryPool::make(first, runtime::cuda::MemoryKind::kDevice);
  const std::shared_ptr<const runtime::cuda::Stream> own = *runtime::cuda::Stream::create(first),
                                                     other = *runtime::cuda::Stream::create(second);
  const auto from = *pool->acquire(64, own), to = *pool->acquire(64, own);
  ASSERT_TRUE(other->copy(to.device(), from.device(), 64));
  ASSERT_TRUE(other->synchronize());
  EXPECT_NE(fake.errors().find("on GPU 1 uses memory of GPU 0"), std::string::npos);
}

TEST(SeveralGpus, AShardThatThereIsNot) {
  FakeCuda fake;
  const TwinProgram twins = make_twins(everything("\"size\": 3"), 2);
  for (const SessionShard shard :
       {SessionShard{1, 1}, {-1, 2}, {0, 0}, {0, SessionShard::kMost + 1}, {0, 4}}) {
    SessionOptions options;
    options.shard = shard;
    const auto session = Session::create(twins.cpu, twin_natives(), options);
    ASSERT_FALSE(session) << shard.number << " of " << shard.count;
    EXPECT_EQ(code_of(session.error()), shard.count == 4 ? "G0907" : "G0909") << session.error().message();
  }
}

}  // namespace
}  // namespace galatea::testing
