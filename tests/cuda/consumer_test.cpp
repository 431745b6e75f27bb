// Consumers of outputs on the device: their streams wait instead of the host, memory is used again behind
// what they do, limits are kept, sessions come and go.
#include <thread>

#include "api/handles.h"
#include "runtime/cuda/memory_pool.h"
#include "tests/cuda/twin_program.h"

namespace galatea::testing {
namespace {

using runtime::ExecutorKind;
using runtime::Session;
using runtime::SessionOptions;
using runtime::cuda::MemoryBlock;
using runtime::cuda::MemoryKind;
using runtime::cuda::MemoryPool;
using runtime::cuda::Stream;

std::unique_ptr<Session> open(const std::shared_ptr<const runtime::Program>& program,
                              SessionOptions options = {}) {
  if (options.num_threads == 0) options.num_threads = 2;
  auto session = Session::create(program, twin_natives(), std::move(options));
  EXPECT_TRUE(session.has_value()) << (session ? "" : session.error().message());
  return session ? std::move(*session) : nullptr;
}

void expect_none(galatea_error* error) {
  EXPECT_EQ(error, nullptr) << (error ? galatea_error_message_borrow(error) : "");
  galatea_error_destroy(error);
}

void expect_message(galatea_error* error, const std::string& part) {
  ASSERT_NE(error, nullptr) << part;
  EXPECT_NE(std::string(galatea_error_message_borrow(error)).find(part), std::string::npos)
      << galatea_error_message_borrow(error);
  galatea_error_destroy(error);
}

/// The outputs of everything() that a consumer takes whole: u8[10] a sample.
constexpr int kPicked = 2;
constexpr int64_t kPickedBytes = 10;

/// Reads every batch's "picked" on a stream of the consumer's own, and gives it back at once. The stream is
/// told to wait unless `order` is -1.
std::vector<uint8_t> read_on_stream(Session& session, const std::shared_ptr<const Stream>& stream,
                                    bool is_ordered, FakeCuda& fake) {
  auto pinned = MemoryPool::make(stream->context(), MemoryKind::kPinned);
  std::vector<std::pair<MemoryBlock, int64_t>> read;
  for (int epoch = 0; epoch < 3; ++epoch) {
    while (auto batch = session.next().value()) {
      const galatea_batch handle{*batch, {}};
      EXPECT_EQ(galatea_batch_output_device(&handle, kPicked), 0);
      EXPECT_EQ(galatea_batch_output_device(&handle, 6), -1);
      galatea_tensor first;
      expect_none(galatea_batch_tensor_borrow(&handle, kPicked, 0, &first));
      EXPECT_EQ(first.device_type, GALATEA_CUDA);
      EXPECT_EQ(first.device, 0);
      expect_none(galatea_batch_tensor_borrow(&handle, 6, 0, &first));
      EXPECT_EQ(first.device_type, GALATEA_HOST);
      const int64_t synchronizations = fake.counters().synchronizations;
      galatea_dl_managed_tensor* tensor = nullptr;
      expect_none(galatea_batch_dlpack_take_for_stream(
          &handle, kPicked, -1, is_ordered ? reinterpret_cast<intptr_t>(stream->handle()) : -1, &tensor));
      if (!tensor) return {};
      EXPECT_EQ(fake.counters().synchronizations, synchronizations);
      EXPECT_EQ(tensor->dl_tensor.device.device_type, 2);
      EXPECT_EQ(tensor->dl_tensor.device.device_id, 0);
      const int64_t bytes = tensor->dl_tensor.shape[0] * tensor->dl_tensor.shape[1];
      EXPECT_EQ(bytes, (*batch)->num_samples() * kPickedBytes);
      MemoryBlock to = *pinned->acquire(bytes, stream);
      EXPECT_TRUE(stream->download(to.host(), reinterpret_cast<uintptr_t>(tensor->dl_tensor.data), bytes));
      read.emplace_back(std::move(to), bytes);
      tensor->deleter(tensor);
    }
  }
  EXPECT_TRUE(stream->synchronize());
  std::vector<uint8_t> out;
  for (const auto& [block, bytes] : read) out.insert(out.end(), block.host(), block.host() + bytes);
  return out;
}

TEST(DeviceConsumer, ItsStreamWaitsAndItsMemoryIsUsedAgainBehindIt) {
  FakeCuda fake;
  const TwinProgram twins = make_twins(everything("\"size\": 24"), 4);
  std::vector<uint8_t> expected;
  for (const auto& epoch : judge(twins, 3).outputs)
    for (const auto& sample : epoch)
      expected.insert(expected.end(), sample[kPicked].begin(), sample[kPicked].end());
  {
    auto session = open(twins.gpu);
    const std::shared_ptr<const Stream> stream = *Stream::create(fake_context());
    EXPECT_EQ(read_on_stream(*session, stream, true, fake), expected);
    EXPECT_EQ(fake.errors(), "");
    EXPECT_LT(fake.counters().allocations, 60);  // used again
  }
  expect_nothing_lives(fake.counters(), "afterwards");
  // Without the order, the fake notices.
  auto session = open(twins.gpu);
  const std::shared_ptr<const Stream> stream = *Stream::create(fake_context());
  read_on_stream(*session, stream, false, fake);
  EXPECT_NE(fake.errors().find("nothing orders the two"), std::string::npos);
}

TEST(DeviceConsumer, TheHostCopiesOrWaits) {
  FakeCuda fake;
  const TwinProgram twins = make_twins(everything("\"size\": 6"), 6);
  const TwinDelivered expected = judge(twins, 1);
  auto session = open(twins.gpu);
  auto batch = session->next().value();
  ASSERT_TRUE(batch);
  session.reset();  // the batch lives on
  const galatea_batch handle{*batch, {}};
  batch->reset();
  std::vector<uint8_t> whole(6 * kPickedBytes), one(kPickedBytes);
  expect_none(galatea_batch_copy_to_host(&handle, kPicked, -1, whole.data(), 6 * kPickedBytes));
  for (size_t k = 0; k < 6; ++k) {
    expect_none(
        galatea_batch_copy_to_host(&handle, kPicked, static_cast<int32_t>(k), one.data(), kPickedBytes));
    EXPECT_EQ(one, expected.outputs[0][k][kPicked]);
    EXPECT_TRUE(std::equal(one.begin(), one.end(), whole.begin() + static_cast<std::ptrdiff_t>(k) * 10));
    int64_t label = -1;
    expect_none(galatea_batch_copy_to_host(&handle, 6, static_cast<int32_t>(k), &label, 8));
    EXPECT_EQ(label, static_cast<int64_t>(k));
  }
  galatea_dl_managed_tensor* tensor = nullptr;
  expect_none(galatea_batch_dlpack_take(&handle, 0, 3, &tensor));
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->dl_tensor.device.device_type, 2);
  tensor->deleter(tensor);
  expect_none(galatea_batch_wait(&handle));
  EXPECT_EQ(fake.errors(), "");
  expect_message(galatea_batch_copy_to_host(&handle, kPicked, 0, one.data(), 3), "10 bytes to copy, not 3");
  expect_message(galatea_batch_copy_to_host(&handle, kPicked, 6, one.data(), 10), "sample 6 does not exist");
  expect_message(galatea_batch_copy_to_host(&handle, 9, 0, one.data(), 10), "output 9 does not exist");
  expect_message(galatea_batch_copy_to_host(&handle, 0, -1, one.data(), 10), "different extents");
  expect_message(galatea_batch_make_stream_wait(&handle, 0), "does not allow");
  expect_message(galatea_batch_dlpack_take_for_stream(&handle, kPicked, 0, 0, &tensor), "does not allow");
  galatea_dl_managed_tensor_versioned* versioned = nullptr;
  expect_none(galatea_batch_dlpack_versioned_take(&handle, kPicked, 0, 0, 0, &versioned));
  EXPECT_EQ(versioned->dl_tensor.device.device_type, 2);
  versioned->deleter(versioned);
  EXPECT_EQ(tensor, nullptr);
}

TEST(DeviceConsumer, MemoryStaysWithinItsLimit) {
  FakeCuda fake;
  const TwinProgram twins = make_twins(everything("\"size\": 24"), 4, 1);
  const TwinDelivered expected = judge(twins, 2);
  SessionOptions options;
  options.executor = ExecutorKind::kInline;
  int64_t needed = 0;
  {
    auto session = open(twins.gpu, options);
    deliver_all(*session, 2);
    needed = session->statistics().device.peak_bytes;
  }
  EXPECT_GT(needed, 0);
  // It is enough for sessions that work ahead, too: batches take memory in order, and wait for their turn.
  for (const int threads : {1, 3}) {
    runtime::Program ahead = *twins.gpu;
    ahead.prefetch_depth = 4;
    SessionOptions several;
    several.num_threads = threads;
    several.device.memory_limit = needed;
    auto session = open(std::make_shared<runtime::Program>(ahead), several);
    const TwinDelivered found = deliver_all(*session, 2);
    EXPECT_EQ(found.errors, expected.errors) << threads;
    EXPECT_TRUE(found == expected) << threads;
    EXPECT_LE(session->statistics().device.peak_bytes, needed);
  }
  // What the first run took is enough; less gives the same bytes for as long as it goes, else says so.
  bool some_failed = false, some_fitted = false;
  for (const int64_t limit : {needed, needed * 3 / 4, needed / 2, needed / 4, int64_t{1000}}) {
    options.device.memory_limit = limit;
    auto session = open(twins.gpu, options);
    if (!session) continue;
    const TwinDelivered found = deliver_all(*session, 2);
    EXPECT_LE(session->statistics().device.peak_bytes, limit);
    some_fitted = some_fitted || found.errors.empty();
    EXPECT_TRUE(!found.errors.empty() || found == expected) << limit;
    for (const std::string& error : found.errors) {
      some_failed = true;
      EXPECT_NE(error.find("would pass the limit on device memory of " + std::to_string(limit)),
                std::string::npos)
          << error;
    }
    EXPECT_TRUE(limit < needed || found == expected);
  }
  EXPECT_TRUE(some_failed);
  EXPECT_TRUE(some_fitted);
  EXPECT_EQ(fake.errors(), "");
  expect_nothing_lives(fake.counters(), "afterwards");
}

/// A limit on the host's memory: samples wait, start over, or are errors, also around the device's barriers.
TEST(DeviceConsumer, TheHostsMemoryHasItsOwnLimit) {
  FakeCuda fake;
  for (const auto& [name, recipe] :
       {std::pair<std::string, TwinRecipe>{"everything", everything()}, {"round_trip", round_trip()}}) {
    const TwinProgram twins = make_twins(recipe, 5, 3);
    const TwinDelivered expected = judge(twins, 1);
    int fitted = 0, failed = 0;
    for (const int64_t limit : {300, 700, 1500, 4000, 16000, 64000}) {
      for (const auto executor : {ExecutorKind::kInline, ExecutorKind::kCpu}) {
        SessionOptions options;
        options.executor = executor;
        options.num_threads = 4;
        options.allocator = std::make_shared<runtime::Allocator>(limit);
        auto session = Session::create(twins.gpu, twin_natives(), options);
        if (!session) continue;  // the outputs of a batch take more
        const TwinDelivered found = deliver_all(**session, 1);
        session->reset();
        (found.errors.empty() ? fitted : failed) += 1;
        EXPECT_TRUE(!found.errors.empty() || found == expected) << name << ", " << limit;
        for (const std::string& error : found.errors)
          EXPECT_NE(error.find("memory limit"), std::string::npos) << error;
        EXPECT_EQ(options.allocator->bytes_in_use(), 0);
      }
    }
    EXPECT_GT(fitted, 2) << name;
    EXPECT_GT(failed, 0) << name;
  }
  EXPECT_EQ(fake.errors(), "");
  expect_nothing_lives(fake.counters(), "afterwards");
}

TEST(DeviceConsumer, ADeviceThatIsFullSaysSoAndTheProcessGoesOn) {
  FakeCuda fake(FakeSettings{{"FAKE_CUDA_MEMORY", "20000"}});
  const TwinProgram twins = make_twins(everything("\"size\": 24"), 24);
  auto session = open(twins.gpu);
  for (int turn = 0; turn < 2; ++turn) {
    auto batch = session->next();
    ASSERT_FALSE(batch);
    EXPECT_EQ(code_of(batch.error()), "G0955");
    EXPECT_FALSE(session->next().value());  // the end of the epoch
  }
  session.reset();
  EXPECT_TRUE(judge(twins, 1).errors.empty());
  expect_nothing_lives(fake.counters(), "afterwards");
}

TEST(DeviceConsumer, SessionsEndAtAnyTime) {
  FakeCuda fake;
  for (const auto& recipe : {everything(), round_trip()}) {
    const TwinProgram twins = make_twins(recipe, 3, 3);
    for (int taken = 0; taken < 5; ++taken) {
      for (const bool cancels : {false, true}) {
        auto session = open(twins.gpu);
        std::vector<std::shared_ptr<runtime::Batch>> held;
        for (int i = 0; i < taken; ++i) {
          auto batch = session->next();
          ASSERT_TRUE(batch && *batch);
          if (i % 2 == 0) held.push_back(**batch);
        }
        if (cancels) session->cancel();
        session.reset();
        held.clear();
        expect_nothing_lives(fake.counters(), "after " + std::to_string(taken));
      }
    }
  }
  EXPECT_EQ(fake.errors(), "");
}

TEST(DeviceConsumer, SeveralSessionsSideBySide) {
  FakeCuda fake(FakeSettings{{"FAKE_CUDA_DEVICES", "2"}});
  const TwinProgram first = make_twins(everything(), 5), second = make_twins(round_trip(), 4);
  const TwinDelivered expected_first = judge(first, 2), expected_second = judge(second, 2);
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      SessionOptions options;
      options.device.number = k % 2;
      options.device.priority = k < 2 ? runtime::DevicePriority::kLow : runtime::DevicePriority::kHigh;
      auto session = open(k < 2 ? first.gpu : second.gpu, options);
      ASSERT_TRUE(session);
      EXPECT_TRUE(deliver_all(*session, 2) == (k < 2 ? expected_first : expected_second)) << k;
      EXPECT_EQ(session->statistics().device.device, k % 2 ? "GPU 1 (Fake GPU B)" : "GPU 0 (Fake GPU A)");
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fake.errors(), "");
  expect_nothing_lives(fake.counters(), "afterwards");
}

TEST(DeviceConsumer, BatchesOfTheHostsOwnSize) {
  FakeCuda fake;
  const TwinRecipe recipe = [](TwinMaker& m) {
    m.program.external_inputs.push_back({make_port("bytes", DType::kU8, 1)});
    runtime::Instruction& feed = m.add(runtime::Opcode::kFeed);
    const int32_t data = m.slot();
    feed.dst = data, feed.b = 0;
    const int32_t n = m.extent(data, 0);
    m.device_output("bytes", DType::kU8, {-1});
    m.device_output("total", DType::kI64, {});
    const int32_t out = m.call_output(0, "scale", {data}, {n, m.real(2), m.real(1)}, DType::kU8, {n});
    return std::vector<int32_t>{out, m.call_output(1, "total", {out}, {n}, DType::kI64, {})};
  };
  const TwinProgram twins = make_twins(recipe, 8);
  const auto feed_and_deliver = [&](const std::shared_ptr<const runtime::Program>& program) {
    auto session = open(program);
    uint8_t next = 0;
    for (const int count : {3, 8, 1}) {
      std::vector<std::vector<uint8_t>> bytes(static_cast<size_t>(count));
      std::vector<runtime::Tensor> tensors;
      for (auto& each : bytes) {
        each.assign(1 + next % 5, next);
        ++next;
        runtime::Tensor tensor;
        const int64_t extents[] = {static_cast<int64_t>(each.size())};
        tensor.set_dense(DType::kU8, extents);
        tensor.data = each.data();
        tensors.push_back(tensor);
      }
      EXPECT_TRUE(session->feed("bytes", tensors));
    }
    EXPECT_TRUE(session->end_of_feed());
    return deliver_all(*session, 1);
  };
  const TwinDelivered expected = feed_and_deliver(twins.cpu);
  EXPECT_EQ(expected.ids[0].size(), 12U);
  EXPECT_TRUE(feed_and_deliver(twins.gpu) == expected);
  EXPECT_EQ(fake.errors(), "");
}

}  // namespace
}  // namespace galatea::testing
