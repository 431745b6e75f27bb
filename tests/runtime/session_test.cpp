// The synchronous executor judges the asynchronous one; order, epochs, held batches, statistics, memory.
#include "runtime/session.h"

#include <set>

#include <gtest/gtest.h>

#include "program_maker.h"
#include "runtime/code_upgrade.h"

namespace galatea::runtime {
namespace {

using namespace testing;  // NOLINT

std::unique_ptr<Session> open_session(const std::shared_ptr<const Program>& program, ExecutorKind executor,
                                      int threads = 1) {
  static const NativeTable natives = test_natives();
  SessionOptions options;
  options.executor = executor;
  options.num_threads = threads;
  auto session = Session::create(program, natives, options);
  EXPECT_TRUE(session.has_value()) << (session ? "" : session.error().message());
  return session ? std::move(*session) : nullptr;
}

TEST(Session, ThreadsBatchSizeAndPrefetchChangeNothing) {
  const std::string shuffled = R"("random_shuffle": true, "initial_fill": 5)";
  // Samples 13 and 13 + 251 are refused by the native: size 13 leaves them out.
  Delivered judge = deliver(*open_session(mixed_program(13, 1, 1, shuffled), ExecutorKind::kInline), 3);
  ASSERT_EQ(judge.samples.size(), 3u);
  EXPECT_TRUE(judge.errors.empty());
  EXPECT_NE(judge.ids[0], judge.ids[1]);
  for (int batch_size : {1, 4, 13, 32}) {
    auto same = deliver(*open_session(mixed_program(13, batch_size, 1, shuffled), ExecutorKind::kInline), 3);
    EXPECT_EQ(same.samples, judge.samples) << batch_size;
    for (int threads : {1, 2, 4}) {
      for (int prefetch : {1, 3}) {
        auto fast = deliver(
            *open_session(mixed_program(13, batch_size, prefetch, shuffled), ExecutorKind::kCpu, threads), 3);
        EXPECT_EQ(fast.samples, judge.samples) << batch_size << " " << threads << " " << prefetch;
        EXPECT_EQ(fast.ids, judge.ids);
      }
    }
  }
}

TEST(Session, ValuesAreTheExpectedOnes) {
  auto session = open_session(mixed_program(9, 4, 2), ExecutorKind::kCpu, 2);
  std::vector<int64_t> order;
  while (true) {
    auto batch = session->next();
    ASSERT_TRUE(batch.has_value());
    if (!*batch) break;
    const Batch& b = ***batch;
    ASSERT_TRUE(b.outputs[1].contiguous);
    EXPECT_FALSE(b.outputs[0].contiguous);
    for (int k = 0; k < b.num_samples(); ++k) {
      const auto at = static_cast<size_t>(k);
      const int64_t index = b.sample_ids[at];
      order.push_back(index);
      EXPECT_EQ(b.sample_names[at], "number " + std::to_string(index));
      EXPECT_EQ(elements_of<int64_t>(b.outputs[2].samples[at]), std::vector<int64_t>{index});
      auto bytes = elements_of<uint8_t>(b.outputs[0].samples[at]);
      ASSERT_EQ(static_cast<int64_t>(bytes.size()), index % 7 + 1);
      auto sums = elements_of<float>(b.outputs[1].samples[at]);
      ASSERT_EQ(sums.size(), 6u);
      // The drawn word decides which bytes come out: odd, the doubled ones.
      auto word = static_cast<int64_t>(sums[0]) - index;
      EXPECT_GE(word, 0);
      EXPECT_LE(word, 0xFFFF);
      EXPECT_EQ(bytes[0], word % 2 ? 2 * index : index);
      for (size_t i = 1; i < 6; ++i) EXPECT_EQ(sums[i], sums[0] + static_cast<float>(i));
      // One after the other in one buffer.
      EXPECT_EQ(b.outputs[1].samples[at].data, b.outputs[1].contiguous->data() + 24 * k);
    }
  }
  EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Session, AnEpochEndsWithASmallerBatchOrIsPadded) {
  auto plain = deliver(*open_session(mixed_program(10, 4, 2), ExecutorKind::kCpu, 2), 2);
  EXPECT_EQ(plain.batch_sizes, (std::vector<std::vector<int>>{{4, 4, 2}, {4, 4, 2}}));
  auto padded =
      deliver(*open_session(mixed_program(10, 4, 2, R"("pad_last_batch": true)"), ExecutorKind::kCpu, 2), 1);
  EXPECT_EQ(padded.batch_sizes, (std::vector<std::vector<int>>{{4, 4, 4}}));
  EXPECT_EQ(padded.ids[0], (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9}));
}

TEST(Session, ShardsTogetherGiveTheWholeSetOnce) {
  for (int shards : {2, 3}) {
    std::multiset<std::vector<uint8_t>> together, whole;
    for (int shard = 0; shard < shards; ++shard) {
      auto options = R"("random_shuffle": true, "num_shards": )" + std::to_string(shards) +
                     R"(, "shard_id": )" + std::to_string(shard);
      Delivered part = deliver(*open_session(mixed_program(11, 2, 2, options), ExecutorKind::kCpu, 2), 1);
      together.insert(part.samples[0].begin(), part.samples[0].end());
    }
    Delivered all = deliver(
        *open_session(mixed_program(11, 4, 1, R"("random_shuffle": true)"), ExecutorKind::kInline), 1);
    whole.insert(all.samples[0].begin(), all.samples[0].end());
    EXPECT_EQ(together, whole);
  }
}

TEST(Session, HoldingTooManyBatchesIsAnErrorThatSaysHowMany) {
  static const NativeTable natives = test_natives();
  SessionOptions options;
  options.max_held_batches = 2;
  auto session = Session::create(mixed_program(12, 2, 2), natives, options);
  ASSERT_TRUE(session.has_value());
  std::vector<std::shared_ptr<Batch>> held;
  for (int i = 0; i < 2; ++i) held.push_back(**(*session)->next());
  auto refused = (*session)->next();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().diagnostics[0].code, "G0903");
  EXPECT_NE(refused.error().message().find("2 batches"), std::string::npos);
  auto before = bytes_of(held[1]->outputs[1].samples[0]);
  held.erase(held.begin());
  auto batch = (*session)->next();
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ((**batch)->index, 2);
  // Batches outlive the session.
  session->reset();
  EXPECT_EQ(bytes_of(held[0]->outputs[1].samples[0]), before);
}

TEST(Session, StatisticsCountWhatWasDelivered) {
  auto session = open_session(mixed_program(10, 4, 2), ExecutorKind::kCpu, 2);
  deliver(*session, 1);
  auto statistics = session->statistics();
  EXPECT_EQ(statistics.samples, 10);
  EXPECT_EQ(statistics.batches, 3);
  ASSERT_EQ(statistics.operators.size(), 3u);
  EXPECT_EQ(statistics.operators[0].name, "readers.file");
  EXPECT_EQ(statistics.operators[0].line, 3u);
  EXPECT_EQ(statistics.operators[2].name, "arith.add");
  // One call of each for each sample; times add up to those of the categories.
  double seconds = 0;
  for (const OperatorTime& time : statistics.operators) {
    EXPECT_EQ(time.calls, 10) << time.name;
    EXPECT_GT(time.seconds, 0) << time.name;
    seconds += time.seconds;
  }
  EXPECT_NEAR(seconds, statistics.read_seconds + statistics.decode_seconds + statistics.compute_seconds,
              1e-9);
  EXPECT_EQ(statistics.operators[0].kind, "read");
  EXPECT_EQ(statistics.operators[1].kind, "decode");
  EXPECT_EQ(statistics.operators[2].kind, "kernel");
  EXPECT_GT(statistics.peak_memory_bytes, 0);
  EXPECT_EQ(session->epoch_size(), 10);
  EXPECT_EQ(session->reader_meta().at("test.numbers").epoch_size, 10);
}

TEST(Session, MemoryIsFlatOverAThousandBatches) {
  static const NativeTable natives = test_natives();
  SessionOptions options;
  options.num_threads = 2;
  options.allocator = std::make_shared<Allocator>();
  auto session = Session::create(mixed_program(200, 2, 2, R"("random_shuffle": true)", OnErrorPolicy::kSkip),
                                 natives, options);
  ASSERT_TRUE(session.has_value());
  int64_t count = 0;
  for (int batches = 0; batches < 1000;) {
    auto batch = (*session)->next();
    ASSERT_TRUE(batch.has_value());
    if (!*batch) continue;
    if (++batches == 200) count = options.allocator->num_allocations();
  }
  // The one delivered, the two prefetched and the one begun: four batches of two samples, six small blocks
  // each. How many of them are alive at once is a matter of which thread runs first; what one block more a
  // batch comes to, twenty times that, is not.
  constexpr int64_t kBlock = 64 + kBufferPadding;
  EXPECT_LE(options.allocator->peak_bytes(), int64_t{4} * 2 * 6 * kBlock);
  // Sizes differ, so a few more blocks may be made after the first batches, but far fewer than one a batch.
  EXPECT_LE(options.allocator->num_allocations() - count, 100);
  session->reset();
  EXPECT_EQ(options.allocator->bytes_in_use(), 0);
}

TEST(Session, ProgramsThatDoNotFitAreRefused) {
  static const NativeTable natives = test_natives();
  auto code_of = [&](const std::shared_ptr<const Program>& program) {
    auto session = Session::create(program, natives);
    return session ? std::string("accepted") : session.error().diagnostics[0].code;
  };
  Program broken = *mixed_program(4, 2, 1);
  broken.code[0].a = 1 << 20;
  EXPECT_EQ(code_of(std::make_shared<Program>(broken)), "G0931");
  Program unknown = *mixed_program(4, 2, 1);
  unknown.natives[0].function = "test.thrice";
  EXPECT_EQ(code_of(std::make_shared<Program>(unknown)), "G0930");
  EXPECT_EQ(code_of(mixed_program(4, 2, 1, R"("num_shards": 5)")), "G0907");
  EXPECT_EQ(code_of(mixed_program(0, 2, 1)), "G0907");
  EXPECT_EQ(code_of(mixed_program(4, 2, 1)), "accepted");
}

/// An upgrade that notes what it is asked for.
class NotingUpgrade final : public CodeUpgrade {
 public:
  void begin() override { ++begun; }
  void finish(bool) override {}
  UpgradeReport report() const override { return {}; }
  std::atomic<int> begun = 0;
};
class FirstTierCode final : public UpgradedCode {
 public:
  FirstTierCode(std::shared_ptr<const KernelCode> code, std::shared_ptr<CodeUpgrade> upgrade)
      : code_(std::move(code)), upgrade_(std::move(upgrade)) {}
  void run(const KernelCall& call) const override { code_->run(call); }
  bool is_first_tier() const override { return true; }
  const std::shared_ptr<CodeUpgrade>& upgrade() const override { return upgrade_; }

 private:
  std::shared_ptr<const KernelCode> code_;
  std::shared_ptr<CodeUpgrade> upgrade_;
};

TEST(Session, BetterCodeIsBegunWithTheSecondBatch) {
  for (const ExecutorKind executor : {ExecutorKind::kInline, ExecutorKind::kCpu}) {
    const auto upgrade = std::make_shared<NotingUpgrade>();
    auto program = std::make_shared<Program>(*mixed_program(9, 4, 2));
    for (ProgramKernel& kernel : program->kernels)
      kernel.code = std::make_shared<FirstTierCode>(std::move(kernel.code), upgrade);
    auto session = open_session(program, executor, 2);
    ASSERT_TRUE(session->next().has_value());
    EXPECT_EQ(upgrade->begun, 0) << "one batch may be all that is wanted";
    ASSERT_TRUE(session->next().has_value());
    EXPECT_EQ(upgrade->begun, 1);
    while (session->next().value().has_value()) {
    }
    EXPECT_EQ(upgrade->begun, 1);
  }
}

}  // namespace
}  // namespace galatea::runtime
