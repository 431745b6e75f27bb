// Memory that goes from stream to stream: the pools order its owners, and the fake driver notices where
// nothing does.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <thread>

#include "runtime/cuda/memory_pool.h"
#include "tests/cuda/fake_cuda_control.h"

namespace galatea::testing {
namespace {

using runtime::cuda::Event;
using runtime::cuda::MemoryBlock;
using runtime::cuda::MemoryKind;
using runtime::cuda::MemoryPool;
using runtime::cuda::Stream;

constexpr int64_t kBlockBytes = 1000;

struct TwoStreams {
  explicit TwoStreams(int64_t limit = 0, const std::string& memory = "1073741824")
      : fake(FakeSettings{{"FAKE_CUDA_MEMORY", memory}}),
        context(fake_context()),
        a(*Stream::create(context)),
        b(*Stream::create(context)),
        device(MemoryPool::make(context, MemoryKind::kDevice, limit)),
        pinned(MemoryPool::make(context, MemoryKind::kPinned, limit)) {}
  FakeCuda fake;
  std::shared_ptr<const runtime::cuda::Context> context;
  std::shared_ptr<Stream> a, b;
  std::shared_ptr<MemoryPool> device, pinned;
};

TEST(Order, MissingEventIsNoticed) {
  TwoStreams f;
  MemoryBlock host = *f.pinned->acquire(kBlockBytes, f.a), there = *f.device->acquire(kBlockBytes, f.a);
  std::memset(host.host(), 7, kBlockBytes);
  ASSERT_TRUE(f.a->upload(there.device(), host.host(), kBlockBytes));
  MemoryBlock back = *f.pinned->acquire(kBlockBytes, f.b);
  ASSERT_TRUE(f.b->download(back.host(), there.device(), kBlockBytes));
  ASSERT_TRUE(f.b->synchronize());
  ASSERT_TRUE(f.a->synchronize());
  EXPECT_EQ(f.fake.counters().errors, 1) << f.fake.errors();
  EXPECT_NE(f.fake.errors().find("nothing orders the two"), std::string::npos) << f.fake.errors();
  // And the bytes are wrong: the copy up had not happened yet.
  EXPECT_NE(back.host()[0], 7);
}

TEST(Order, EventOrdersStreams) {
  TwoStreams f;
  MemoryBlock host = *f.pinned->acquire(kBlockBytes, f.a), there = *f.device->acquire(kBlockBytes, f.a);
  std::memset(host.host(), 7, kBlockBytes);
  ASSERT_TRUE(f.a->upload(there.device(), host.host(), kBlockBytes));
  Event event = *Event::create(f.context);
  ASSERT_TRUE(event.record(*f.a));
  ASSERT_TRUE(f.b->wait_for(event));
  MemoryBlock back = *f.pinned->acquire(kBlockBytes, f.b);
  ASSERT_TRUE(f.b->download(back.host(), there.device(), kBlockBytes));
  ASSERT_TRUE(f.b->synchronize());
  EXPECT_EQ(f.fake.errors(), "");
  EXPECT_EQ(back.host()[kBlockBytes - 1], 7);
}

/// Two streams may write one allocation side by side, but no byte of it: neither of the two, nor one that a
/// third use means by all of it.
TEST(Order, BytesThatTwoStreamsWriteAreNoticed) {
  TwoStreams f;
  const MemoryBlock there = *f.device->acquire(kBlockBytes, f.a);
  f.fake.enqueue_write(*f.a, there.device(), 500);
  f.fake.enqueue_write(*f.b, there.device() + 500, 500);
  ASSERT_TRUE(f.a->synchronize() && f.b->synchronize());
  EXPECT_EQ(f.fake.errors(), "");

  const MemoryBlock meeting = *f.device->acquire(kBlockBytes, f.a);
  f.fake.enqueue_write(*f.a, meeting.device(), 501);
  f.fake.enqueue_write(*f.b, meeting.device() + 500, 500);
  ASSERT_TRUE(f.a->synchronize() && f.b->synchronize());
  EXPECT_EQ(f.fake.counters().errors, 1) << f.fake.errors();

  f.fake.reset();
  const MemoryBlock read = *f.device->acquire(kBlockBytes, f.a), back = *f.pinned->acquire(kBlockBytes, f.b);
  f.fake.enqueue_write(*f.a, read.device(), 10);
  ASSERT_TRUE(f.b->download(back.host(), read.device(), kBlockBytes));
  ASSERT_TRUE(f.b->synchronize() && f.a->synchronize());
  EXPECT_EQ(f.fake.counters().errors, 1) << f.fake.errors();
}

TEST(Order, ResultsAreNotThereBeforeTheyAreWaitedFor) {
  TwoStreams f;
  MemoryBlock host = *f.pinned->acquire(kBlockBytes, f.a), there = *f.device->acquire(kBlockBytes, f.a);
  MemoryBlock back = *f.pinned->acquire(kBlockBytes, f.a);
  std::memset(host.host(), 7, kBlockBytes);
  std::memset(back.host(), 0, kBlockBytes);
  ASSERT_TRUE(f.a->upload(there.device(), host.host(), kBlockBytes));
  ASSERT_TRUE(f.a->download(back.host(), there.device(), kBlockBytes));
  EXPECT_EQ(back.host()[0], 0);
  ASSERT_TRUE(f.a->synchronize());
  EXPECT_EQ(back.host()[0], 7);
}

TEST(MemoryPool, BlocksGoFromStreamToStreamBehindAnEvent) {
  TwoStreams f;
  MemoryBlock host = *f.pinned->acquire(kBlockBytes, f.a);
  host.also_used_by(f.b);
  runtime::cuda::DevicePointer first = 0;
  {
    MemoryBlock there = *f.device->acquire(kBlockBytes, f.a);
    first = there.device();
    ASSERT_TRUE(f.a->upload(there.device(), host.host(), kBlockBytes));
  }
  MemoryBlock again = *f.device->acquire(kBlockBytes, f.b);
  EXPECT_EQ(again.device(), first);
  EXPECT_EQ(f.fake.counters().stream_waits, 1);
  ASSERT_TRUE(f.b->upload(again.device(), host.host(), kBlockBytes));
  ASSERT_TRUE(f.b->synchronize());
  EXPECT_EQ(f.fake.errors(), "");
  EXPECT_EQ(f.fake.counters().synchronizations, 1);
}

TEST(MemoryPool, TheSameStreamWaitsForNothing) {
  TwoStreams f;
  MemoryBlock host = *f.pinned->acquire(kBlockBytes, f.a);
  for (int turn = 0; turn < 10; ++turn) {
    MemoryBlock there = *f.device->acquire(kBlockBytes, f.a);
    ASSERT_TRUE(f.a->upload(there.device(), host.host(), kBlockBytes));
  }
  EXPECT_EQ(f.fake.counters().allocations, 1);
  EXPECT_EQ(f.fake.counters().stream_waits, 0);
  EXPECT_EQ(f.fake.counters().synchronizations, 0);
  EXPECT_LE(f.fake.counters().live_events, 2);
}

TEST(MemoryPool, PinnedMemoryIsNotWrittenWhileACopyReadsIt) {
  TwoStreams f;
  MemoryBlock first_there = *f.device->acquire(kBlockBytes, f.a),
              second_there = *f.device->acquire(kBlockBytes, f.a);
  for (int turn = 1; turn <= 2; ++turn) {
    MemoryBlock host = *f.pinned->acquire(kBlockBytes, f.a);
    std::memset(host.host(), turn, kBlockBytes);
    ASSERT_TRUE(f.a->upload((turn == 1 ? first_there : second_there).device(), host.host(), kBlockBytes));
  }
  MemoryBlock back = *f.pinned->acquire(2 * kBlockBytes, f.a);
  ASSERT_TRUE(f.a->download(back.host(), first_there.device(), kBlockBytes));
  ASSERT_TRUE(f.a->download(back.host() + kBlockBytes, second_there.device(), kBlockBytes));
  ASSERT_TRUE(f.a->synchronize());
  EXPECT_EQ(back.host()[0], 1);
  EXPECT_EQ(back.host()[kBlockBytes], 2);
  EXPECT_EQ(f.fake.errors(), "");
}

TEST(MemoryPool, KeepsItsLimit) {
  TwoStreams f(4096);
  {
    MemoryBlock small = *f.device->acquire(1500, f.a);
    auto too_much = f.device->acquire(3000, f.a);
    ASSERT_FALSE(too_much);
    EXPECT_EQ(code_of(too_much.error()), "G0956");
    EXPECT_EQ(too_much.error().kind, ErrorKind::kUser);
  }
  // What is idle makes room.
  MemoryBlock large = *f.device->acquire(3000, f.a);
  EXPECT_TRUE(large);
  EXPECT_LE(f.device->peak_bytes(), 4096);
  EXPECT_EQ(f.device->idle_bytes(), 0);
  EXPECT_EQ(f.fake.counters().live_allocations, 1);
}

TEST(MemoryPool, PinnedLimitWaitsForTheDevice) {
  TwoStreams f(2048);
  MemoryBlock there = *f.device->acquire(kBlockBytes, f.a);
  for (int turn = 0; turn < 5; ++turn) {
    auto host = f.pinned->acquire(kBlockBytes, f.a);
    ASSERT_TRUE(host) << host.error().message();
    ASSERT_TRUE(f.a->upload(there.device(), host->host(), kBlockBytes));
  }
  EXPECT_LE(f.pinned->peak_bytes(), 2048);
  EXPECT_EQ(f.fake.counters().pinned_allocations, 1);  // waited for, not made anew
}

/// Sizes that grow leave blocks behind that nobody asks for again.
TEST(MemoryPool, PinnedMemoryThatNobodyUsesGoesBack) {
  TwoStreams f;
  int64_t bytes = 1 << 12, most_used = 0, most_there = 0;
  for (int turn = 0; turn < 30; ++turn, bytes += bytes / 4) {
    const MemoryBlock first = *f.pinned->acquire(bytes, f.a), second = *f.pinned->acquire(bytes, f.a);
    most_used = std::max(most_used, f.pinned->bytes_in_use());
    most_there = std::max(most_there, f.pinned->bytes_in_use() + f.pinned->idle_bytes());
    EXPECT_LE(f.pinned->idle_bytes(), most_used) << turn;
  }
  EXPECT_LE(most_there, 2 * most_used);
  EXPECT_EQ(f.fake.errors(), "");
}

/// A device that is batches behind: what it still reads is in use, and blocks go round.
TEST(MemoryPool, PinnedMemoryBehindWhichTheDeviceLagsIsKept) {
  TwoStreams f;
  const MemoryBlock there = *f.device->acquire(1 << 17, f.a), other = *f.device->acquire(64, f.a);
  std::deque<Event> passed;
  for (int turn = 0; turn < 200; ++turn) {
    // What the samples made, and their descriptors; some batches have more.
    std::vector<MemoryBlock> blocks;
    for (const int64_t bytes : {64 << 10, turn % 10 == 9 ? 90 << 10 : 35 << 10}) {
      blocks.push_back(*f.pinned->acquire(bytes, f.a));
      ASSERT_TRUE(f.a->upload(there.device(), blocks.back().host(), bytes));
      // The fake device does something each time somebody asks whether it is done.
      for (int k = 0; k < 16; ++k) ASSERT_TRUE(f.a->copy(other.device(), there.device(), 64));
    }
    passed.push_back(*Event::create(f.context));
    ASSERT_TRUE(passed.back().record(*f.a));
    MemoryPool::give_back(std::move(blocks));
    if (passed.size() > 2) {
      ASSERT_TRUE(passed.front().synchronize());
      passed.pop_front();
    }
  }
  EXPECT_LE(f.fake.counters().pinned_allocations, 12);
  ASSERT_TRUE(f.a->synchronize());
  EXPECT_EQ(f.fake.errors(), "");
}

TEST(MemoryPool, ThreadsShareIt) {
  constexpr int64_t kLimit = 64 * 1024;
  TwoStreams f(kLimit);
  std::atomic<int> refused = 0, wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        const std::shared_ptr<const Stream> stream = thread % 2 == 0 ? f.a : f.b;
        for (int turn = 0; turn < 100; ++turn) {
          const int64_t bytes = 500 + 700 * ((turn * 7 + thread) % 12);
          auto host = f.pinned->acquire(bytes, stream);
          auto there = f.device->acquire(bytes, stream);
          if (!host || !there) {
            for (const Error* error : {host ? nullptr : &host.error(), there ? nullptr : &there.error()})
              if (error && code_of(*error) != "G0956") ++wrong;
            ++refused;
            continue;
          }
          std::memset(host->host(), thread, static_cast<size_t>(bytes));
          if (!stream->upload(there->device(), host->host(), bytes)) ++wrong;
        }
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LT(refused, 200);
  EXPECT_LE(f.device->peak_bytes(), kLimit);
  EXPECT_LE(f.pinned->peak_bytes(), kLimit);
  EXPECT_EQ(f.device->bytes_in_use(), 0);
  ASSERT_TRUE(f.a->synchronize());
  ASSERT_TRUE(f.b->synchronize());
  EXPECT_EQ(f.fake.errors(), "");
}

TEST(MemoryPool, DeviceOutOfMemoryIsNamed) {
  TwoStreams f(0, "1000000");
  {
    MemoryBlock most = *f.device->acquire(600000, f.a);
    auto more = f.device->acquire(600000, f.a);
    ASSERT_FALSE(more);
    EXPECT_EQ(code_of(more.error()), "G0955");
    EXPECT_NE(more.error().message().find("GPU 0 (Fake GPU A) is out of memory"), std::string::npos)
        << more.error().message();
  }
  // Another size, after what lies idle was given back.
  auto other = f.device->acquire(900000, f.a);
  EXPECT_TRUE(other) << other.error().message();
}

}  // namespace
}  // namespace galatea::testing
