// Beside a consumer that uses CUDA in its own way: default streams a thread, graphs being captured, threads
// that must not wait.
#include <thread>

#include "api/handles.h"
#include "runtime/cuda/memory_pool.h"
#include "tests/cuda/twin_program.h"

namespace galatea::testing {
namespace {

using runtime::Session;
using runtime::SessionOptions;
using runtime::cuda::Context;
using runtime::cuda::legacy_stream;
using runtime::cuda::MemoryBlock;
using runtime::cuda::MemoryKind;
using runtime::cuda::MemoryPool;
using runtime::cuda::per_thread_stream;
using runtime::cuda::Stream;
using runtime::cuda::StreamHandle;
namespace capture_mode = runtime::cuda::capture_mode;
namespace code = runtime::cuda::code;

constexpr int64_t kPoolBytes = 1000;

struct PoolsBeside {
  FakeCuda fake;
  std::shared_ptr<const Context> context = fake_context();
  std::shared_ptr<const Stream> own = *Stream::create(context);
  std::shared_ptr<MemoryPool> device = MemoryPool::make(context, MemoryKind::kDevice);
  std::shared_ptr<MemoryPool> pinned = MemoryPool::make(context, MemoryKind::kPinned);
};

std::unique_ptr<Session> open_twins(const std::shared_ptr<const runtime::Program>& program) {
  SessionOptions options;
  options.num_threads = 2;
  auto session = Session::create(program, twin_natives(), std::move(options));
  EXPECT_TRUE(session.has_value()) << (session ? "" : session.error().message());
  return session ? std::move(*session) : nullptr;
}

/// A consumer that reads every batch on its default stream and lets go of it on another thread, so that the
/// handle means another stream there.
TEST(Consumer, ItsDefaultStreamIsAnotherOneOnTheThreadThatLetsGo) {
  for (const StreamHandle handle : {legacy_stream(), per_thread_stream()}) {
    FakeCuda fake;
    const TwinProgram twins = make_twins(everything("\"size\": 24"), 4);
    constexpr int kPicked = 2;
    constexpr int64_t kPickedBytes = 10;
    std::vector<uint8_t> expected, found;
    const TwinDelivered judged = judge(twins, 1);
    for (const auto& sample : judged.outputs.at(0))
      expected.insert(expected.end(), sample[kPicked].begin(), sample[kPicked].end());
    {
      auto session = open_twins(twins.gpu);
      ASSERT_TRUE(session);
      const auto consumer = Stream::borrow(fake_context(), handle);
      auto pinned = MemoryPool::make(consumer->context(), MemoryKind::kPinned);
      std::vector<std::pair<MemoryBlock, int64_t>> read;
      while (auto batch = session->next().value()) {
        galatea_dl_managed_tensor* tensor = nullptr;
        {
          const galatea_batch taken{std::move(*batch), {}};
          ASSERT_EQ(galatea_batch_dlpack_take_for_stream(&taken, kPicked, -1,
                                                         reinterpret_cast<intptr_t>(handle), &tensor),
                    nullptr);
        }
        const int64_t bytes = tensor->dl_tensor.shape[0] * kPickedBytes;
        MemoryBlock to = *pinned->acquire(bytes, consumer);
        ASSERT_TRUE(
            consumer->download(to.host(), reinterpret_cast<uintptr_t>(tensor->dl_tensor.data), bytes));
        read.emplace_back(std::move(to), bytes);
        std::thread([tensor] { tensor->deleter(tensor); }).join();
      }
      ASSERT_TRUE(consumer->synchronize());
      for (const auto& [block, bytes] : read) found.insert(found.end(), block.host(), block.host() + bytes);
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(fake.errors(), "");
  }
}

/// A framework captures a training step in the mode that forbids most to all threads, while batches are made.
TEST(Capture, BatchesAreMadeWhileTheHostCapturesAGraph) {
  FakeCuda fake;
  const TwinProgram twins = make_twins(everything("\"size\": 24"), 4);
  const TwinDelivered expected = judge(twins, 2);
  const auto training = *Stream::create(fake_context());
  fake.capture(training->handle(), capture_mode::kGlobal);
  {
    auto session = open_twins(twins.gpu);
    ASSERT_TRUE(session);
    EXPECT_TRUE(deliver_all(*session, 2) == expected);
  }
  fake.capture(training->handle(), -1);
  EXPECT_EQ(fake.errors(), "");
  // The fake notices who does not exchange the mode.
  fake.capture(training->handle(), capture_mode::kGlobal);
  const runtime::cuda::DriverApi& api = training->context()->api();
  runtime::cuda::EventHandle event = nullptr;
  ASSERT_EQ(training->context()->call_raw(api.create_event, &event, 0), code::kSuccess);
  EXPECT_EQ(api.query_event.function(event), code::kCaptureUnsupported);
  training->context()->release(api.destroy_event, event);
  fake.capture(training->handle(), -1);
  EXPECT_NE(fake.errors().find("breaks a graph's capture"), std::string::npos);
}

/// What the thread had chosen for itself stands afterwards.
TEST(Capture, TheThreadsModeIsItsOwnAgain) {
  PoolsBeside f;
  const auto& exchange = f.context->api().exchange_capture_mode;
  int mode = capture_mode::kThreadLocal;
  exchange.function(&mode);
  {
    const Context::Scope scope(*f.context);
    const MemoryBlock block = *f.device->acquire(kPoolBytes, f.own);
  }
  const MemoryBlock block = *f.device->acquire(kPoolBytes, f.own);
  mode = capture_mode::kGlobal;
  exchange.function(&mode);
  EXPECT_EQ(mode, capture_mode::kThreadLocal);
}

/// Memory that comes back while its consumer's stream is captured: who gets it next still comes behind what
/// the stream was given before.
TEST(Capture, MemoryLetGoWithinACaptureIsUsedAgainBehindTheStream) {
  PoolsBeside f;
  const std::shared_ptr<const Stream> theirs = *Stream::create(f.context);
  const auto consumer = Stream::borrow(f.context, theirs->handle());
  const MemoryBlock source = *f.pinned->acquire(kPoolBytes, f.own),
                    target = *f.pinned->acquire(kPoolBytes, f.own);
  std::fill_n(source.host(), kPoolBytes, uint8_t{7});
  MemoryBlock block = *f.device->acquire(kPoolBytes, f.own);
  const auto address = block.device();
  ASSERT_TRUE(f.own->upload(address, source.host(), kPoolBytes));
  runtime::cuda::Event ready = *runtime::cuda::Event::create(f.context);
  ASSERT_TRUE(ready.record(*f.own));
  ASSERT_TRUE(consumer->wait_for(ready));
  block.also_used_by(consumer);
  ASSERT_TRUE(consumer->download(target.host(), address, kPoolBytes));
  f.fake.capture(theirs->handle(), capture_mode::kGlobal);
  block = MemoryBlock();
  // As long as that lasts nobody gets it.
  EXPECT_NE(f.device->acquire(kPoolBytes, f.own)->device(), address);
  f.fake.capture(theirs->handle(), -1);
  std::vector<MemoryBlock> blocks;
  while (blocks.empty() || blocks.back().device() != address) {
    ASSERT_LT(blocks.size(), 3U);
    blocks.push_back(*f.device->acquire(kPoolBytes, f.own));
  }
  const MemoryBlock zeros = *f.pinned->acquire(kPoolBytes, f.own);
  std::fill_n(zeros.host(), kPoolBytes, uint8_t{0});
  ASSERT_TRUE(f.own->upload(address, zeros.host(), kPoolBytes));
  ASSERT_TRUE(f.own->synchronize());
  EXPECT_EQ(target.host()[0], 7);
  EXPECT_EQ(f.fake.errors(), "");
}

TEST(Capture, ABatchIsNotTakenForAStreamThatIsBeingCaptured) {
  FakeCuda fake;
  const TwinProgram twins = make_twins(everything("\"size\": 24"), 4);
  auto session = open_twins(twins.gpu);
  ASSERT_TRUE(session);
  const auto training = *Stream::create(fake_context());
  auto batch = *session->next().value();
  const galatea_batch handle{batch, {}};
  fake.capture(training->handle(), capture_mode::kThreadLocal);
  galatea_error* const error =
      galatea_batch_make_stream_wait(&handle, reinterpret_cast<intptr_t>(training->handle()));
  fake.capture(training->handle(), -1);
  ASSERT_NE(error, nullptr);
  EXPECT_NE(std::string(galatea_error_message_borrow(error)).find("take the batch before the capture begins"),
            std::string::npos);
  galatea_error_destroy(error);
  EXPECT_EQ(fake.errors(), "");
}

TEST(Waiting, ThreadsSleepUnlessTheyAreToldToSpin) {
  for (const bool spins : {false, true}) {
    const FakeVariable variable("GALATEA_CUDA_SPIN", spins ? "1" : "0");
    FakeCuda fake;
    const TwinProgram twins = make_twins(round_trip(), 4);
    const TwinDelivered expected = judge(twins, 1);
    auto session = open_twins(twins.gpu);
    ASSERT_TRUE(session);
    EXPECT_TRUE(deliver_all(*session, 1) == expected);
    EXPECT_GT(fake.counters().synchronizations, 0);
    EXPECT_EQ(fake.counters().spinning_waits, spins ? fake.counters().synchronizations : 0);
  }
}

/// Sizes that grow leave pinned memory behind, which goes back beside who asks for more.
TEST(Waiting, WhoTakesPinnedMemoryDoesNotWaitForTheDevice) {
  PoolsBeside f;
  f.fake.forbid_waits(true);
  int64_t bytes = 1 << 12;
  for (int turn = 0; turn < 30; ++turn, bytes += bytes / 4) {
    const auto first = f.pinned->acquire(bytes, f.own), second = f.pinned->acquire(bytes, f.own);
    EXPECT_TRUE(first && second);
  }
  f.fake.forbid_waits(false);
  f.pinned.reset();
  EXPECT_GT(f.fake.calls("cuMemFreeHost"), 20);
  EXPECT_EQ(f.fake.counters().live_pinned, 0);
  EXPECT_EQ(f.fake.errors(), "");
}

TEST(DeviceLost, IsWhatTheDriverNeverTakesBack) {
  for (const int lost : {214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 999})
    EXPECT_TRUE(runtime::cuda::is_device_lost(lost)) << lost;
  for (const int other : {0, 1, 2, 100, 201, 400, 600, 701, 704, 720, 801, 900, 906, 907})
    EXPECT_FALSE(runtime::cuda::is_device_lost(other)) << other;
}

}  // namespace
}  // namespace galatea::testing
