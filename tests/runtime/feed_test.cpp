// External inputs: batches of the size that was fed, epochs that end where the feed does, errors of the host.
#include <chrono>

#include <gtest/gtest.h>

#include "base/scalar_op.h"
#include "program_maker.h"

namespace galatea::runtime {
namespace {

using namespace testing;  // NOLINT

/// Two inputs, a: u8[?], b: i64; outputs a, b and the sample's number.
std::shared_ptr<const Program> fed_program(int batch_size) {
  ProgramMaker m;
  m.program.batch_size = batch_size;
  m.program.external_inputs = {{make_port("a", DType::kU8, 1)}, {make_port("b", DType::kI64, 0)}};
  std::vector<int32_t> slots;
  for (int32_t input : {0, 1}) {
    Instruction& feed = m.add(Opcode::kFeed);
    feed.dst = m.slot(), feed.b = input;
    slots.push_back(feed.dst);
  }
  Instruction& number = m.add(Opcode::kSampleIndex);
  number.dst = m.reg(), number.a = -1;
  int32_t index = number.dst;
  slots.push_back(m.store(DType::kI64, {}, {index}));
  m.output("a", DType::kU8, {-1});
  m.output("b", DType::kI64, {});
  m.output("number", DType::kI64, {});
  return m.finish(slots);
}

std::unique_ptr<Session> open(const std::shared_ptr<const Program>& program, ExecutorKind executor,
                              int num_threads = 2) {
  static const NativeTable natives = test_natives();
  SessionOptions options;
  options.executor = executor;
  options.num_threads = num_threads;
  auto session = Session::create(program, natives, options);
  EXPECT_TRUE(session.has_value());
  return std::move(*session);
}

/// Tensors over the caller's memory.
Tensor borrow(uint8_t* data, std::vector<int64_t> extents, DType dtype = DType::kU8) {
  Tensor tensor;
  tensor.data = data;
  tensor.set_dense(dtype, extents);
  return tensor;
}

void feed_both(Session& session, int count, uint8_t first, const std::vector<int64_t>& ids = {}) {
  std::vector<uint8_t> bytes;
  std::vector<int64_t> numbers;
  for (int k = 0; k < count; ++k) {
    bytes.push_back(static_cast<uint8_t>(first + k));
    numbers.push_back(1000 + first + k);
  }
  std::vector<Tensor> a, b;
  for (size_t k = 0; k < bytes.size(); ++k) {
    a.push_back(borrow(&bytes[k], {1}));
    b.push_back(borrow(reinterpret_cast<uint8_t*>(&numbers[k]), {}, DType::kI64));
  }
  ASSERT_TRUE(session.feed("a", a, ids).has_value());
  ASSERT_TRUE(session.feed("b", b).has_value());
  // The session has copied: what the host does with its memory no longer matters.
  std::fill(bytes.begin(), bytes.end(), uint8_t{0xEE});
}

TEST(Feed, BatchesHaveTheSizeThatWasFedAndEpochsEndWithTheFeed) {
  for (ExecutorKind executor : {ExecutorKind::kInline, ExecutorKind::kCpu}) {
    auto session = open(fed_program(4), executor);
    EXPECT_EQ(session->epoch_size(), -1);
    feed_both(*session, 4, 10);
    feed_both(*session, 2, 20);
    ASSERT_TRUE(session->end_of_feed().has_value());
    feed_both(*session, 1, 30, {77});
    ASSERT_TRUE(session->end_of_feed().has_value());
    auto all = deliver(*session, 2);
    EXPECT_TRUE(all.errors.empty());
    EXPECT_EQ(all.batch_sizes, (std::vector<std::vector<int>>{{4, 2}, {1}}));
    EXPECT_EQ(all.ids, (std::vector<std::vector<int64_t>>{{0, 1, 2, 3, 4, 5}, {77}}));
    std::vector<uint8_t> fifth = {20, 0xFC, 3, 0, 0, 0, 0, 0, 0,
                                  4,  0,    0, 0, 0, 0, 0, 0};  // 20, 1020, number 4
    EXPECT_EQ(all.samples[0][4], fifth);
    EXPECT_EQ(all.samples[1][0].back(), 0);
    EXPECT_EQ(all.samples[1][0][9], 77);
  }
}

TEST(Feed, MemoryOfABatchServesLaterOnes) {
  static const NativeTable natives = test_natives();
  SessionOptions options;
  options.executor = ExecutorKind::kInline;
  options.allocator = std::make_shared<Allocator>();
  auto session = Session::create(fed_program(4), natives, options);
  ASSERT_TRUE(session.has_value());
  int64_t warm = 0;
  for (int batch = 0; batch < 50; ++batch) {
    feed_both(**session, 4, static_cast<uint8_t>(batch));
    auto next = (*session)->next();
    ASSERT_TRUE(next.has_value() && *next);
    if (batch == 9) warm = options.allocator->num_allocations();
  }
  EXPECT_EQ(options.allocator->num_allocations(), warm);
  session->reset();
  EXPECT_EQ(options.allocator->bytes_in_use(), 0);
}

/// Batches that take less than a thread needs to fall asleep: a consumer that looks for its batch before it
/// sleeps must hear of each. (It looks where a processor is idle, so on one more than the threads.)
TEST(Feed, AConsumerHearsOfEveryOneOfManyShortBatches) {
  auto session = open(fed_program(4), ExecutorKind::kCpu, 1);
  for (int batch = 0; batch < 5000; ++batch) {
    feed_both(*session, 1 + batch % 4, static_cast<uint8_t>(batch));
    auto next = session->next();
    ASSERT_TRUE(next.has_value() && *next);
    EXPECT_EQ((**next)->num_samples(), 1 + batch % 4);
  }
}

/// Quick batches, so that it looks, and then one that is never done.
TEST(Feed, ATimeoutIsKeptByAConsumerThatLooks) {
  ProgramMaker m;
  m.program.batch_size = 1;
  m.program.external_inputs = {{make_port("a", DType::kU8, 1)}};
  Instruction& fed = m.add(Opcode::kFeed);
  fed.dst = m.slot(), fed.b = 0;
  const int32_t input = fed.dst;
  const int32_t doubled = m.native("test.twice", R"({"wait_at": 200})", {input}, true);
  m.output("x", DType::kU8, {-1});
  auto session = open(m.finish({doubled}), ExecutorKind::kCpu, 1);
  const auto feed = [&](uint8_t value) {
    ASSERT_TRUE(session->feed("a", {borrow(&value, {1})}).has_value());
  };
  for (int batch = 0; batch < 20; ++batch) {
    feed(1);
    ASSERT_TRUE(session->next().has_value());
  }
  feed(200);
  for (int timeout_ms : {0, 1, 20}) {
    auto none = session->next(std::chrono::milliseconds(timeout_ms));
    ASSERT_FALSE(none.has_value());
    EXPECT_EQ(none.error().diagnostics[0].code, "G0901");
  }
}

TEST(Feed, NothingFedIsAnErrorNotAHang) {
  for (ExecutorKind executor : {ExecutorKind::kInline, ExecutorKind::kCpu}) {
    auto session = open(fed_program(4), executor);
    auto batch = session->next();
    ASSERT_FALSE(batch.has_value());
    EXPECT_EQ(batch.error().diagnostics[0].code, "G0904");
    EXPECT_NE(batch.error().message().find("'a'"), std::string::npos);
    feed_both(*session, 3, 1);
    auto after = session->next();
    ASSERT_TRUE(after.has_value());
    EXPECT_EQ((**after)->num_samples(), 3);
  }
}

TEST(Feed, WhatDoesNotFitIsRefused) {
  auto session = open(fed_program(2), ExecutorKind::kCpu);
  uint8_t bytes[16] = {};
  auto code_of = [&](const std::string& name, const std::vector<Tensor>& samples,
                     const std::vector<int64_t>& ids = {}) {
    auto status = session->feed(name, samples, ids);
    return status ? std::string("taken")
                  : status.error().diagnostics[0].code + " " + status.error().message();
  };
  EXPECT_NE(code_of("c", {borrow(bytes, {1})}).find("'a', 'b'"), std::string::npos);
  EXPECT_TRUE(code_of("c", {borrow(bytes, {1})}).starts_with("G0905"));
  EXPECT_TRUE(code_of("a", {}).starts_with("G0906"));
  EXPECT_NE(code_of("a", {}).find("0 samples"), std::string::npos);
  EXPECT_NE(code_of("a", std::vector<Tensor>(3, borrow(bytes, {1}))).find("3 samples"), std::string::npos);
  EXPECT_NE(code_of("a", {borrow(bytes, {1}, DType::kI8)}).find("INT8"), std::string::npos);
  EXPECT_NE(code_of("a", {borrow(bytes, {1, 1})}).find("2 dimensions"), std::string::npos);
  EXPECT_NE(code_of("a", {borrow(nullptr, {1})}).find("no memory"), std::string::npos);
  EXPECT_NE(code_of("a", {borrow(bytes, {1})}, {1, 2}).find("2 ids"), std::string::npos);
  EXPECT_EQ(code_of("a", {borrow(bytes, {1})}), "taken");
  EXPECT_NE(code_of("b", std::vector<Tensor>(2, borrow(bytes, {}, DType::kI64))).find("'a' was fed 1"),
            std::string::npos);
  EXPECT_FALSE(session->end_of_feed().has_value());
  EXPECT_EQ(code_of("b", {borrow(bytes, {}, DType::kI64)}), "taken");
  EXPECT_TRUE(session->end_of_feed().has_value());
}

TEST(Feed, WhatIsFedCountsTowardsTheLimit) {
  ProgramMaker m;
  m.program.memory_limit = 30'000;
  m.program.external_inputs = {{make_port("a", DType::kU8, 1)}};
  Instruction& feed = m.add(Opcode::kFeed);
  feed.dst = m.slot(), feed.b = 0;
  const int32_t slot = feed.dst;
  m.output("a", DType::kU8, {-1});
  const auto program = m.finish({slot});
  for (ExecutorKind executor : {ExecutorKind::kInline, ExecutorKind::kCpu}) {
    auto session = open(program, executor);
    std::vector<uint8_t> bytes(9000, 7);
    const std::vector<Tensor> batch = {borrow(bytes.data(), {9000})};
    int64_t num_fed = 0, num_refused = 0;
    for (int round = 0; round < 40; ++round) {
      auto status = session->feed("a", batch);
      num_fed += status.has_value();
      if (status) continue;
      EXPECT_EQ(status.error().diagnostics[0].code, "G0924");
      EXPECT_FALSE(status.error().diagnostics[0].help.empty());
      ++num_refused;
      ASSERT_GT(num_fed, 0);
      auto taken = session->next();
      ASSERT_TRUE(taken.has_value()) << taken.error().message();
      EXPECT_EQ(bytes_of((**taken)->outputs[0].samples[0]), bytes);
      --num_fed;
    }
    EXPECT_GT(num_refused, 5);
    EXPECT_LE(session->statistics().peak_memory_bytes, 30'000);
  }
}

/// Input a: u8[?], of which every tensor is as many samples as its first element says; outputs it and the part.
std::shared_ptr<const Program> parts_program(int batch_size) {
  ProgramMaker m;
  m.program.batch_size = batch_size;
  m.program.natives.emplace_back().function = "first element";
  m.program.external_inputs = {{.port = make_port("a", DType::kU8, 1), .parts = 0}};
  Instruction& feed = m.add(Opcode::kFeed);
  feed.dst = m.slot(), feed.a = m.slot(), feed.b = 0;
  const std::vector<int32_t> slots = {feed.dst, feed.a};
  m.output("a", DType::kU8, {-1});
  m.output("part", DType::kI64, {1});
  return m.finish(slots);
}

NativeTable natives_that_count() {
  NativeTable natives = test_natives();
  NativeFunction function;
  function.name = "first element";
  function.category = "compute";
  function.call = [](NativeContext& context) -> Status {
    const int64_t count = context.inputs[0].data[0];
    if (count > 100) return make_error(ErrorKind::kUser, "T0003", "there are too many parts");
    context.scalar_results[0] = cell_from_int(DType::kI64, count);
    return {};
  };
  natives.add(std::move(function));
  return natives;
}

TEST(Feed, ATensorMayBeManySamples) {
  const NativeTable natives = natives_that_count();
  for (ExecutorKind executor : {ExecutorKind::kInline, ExecutorKind::kCpu}) {
    SessionOptions options;
    options.executor = executor;
    options.num_threads = 2;
    auto session = Session::create(parts_program(2), natives, options);
    ASSERT_TRUE(session.has_value());
    uint8_t five[] = {5}, one[] = {1}, many[] = {200};
    EXPECT_FALSE((*session)->feed("a", {borrow(many, {1})}).has_value());
    EXPECT_FALSE((*session)->feed("a", {borrow(five, {1})}, {7}).has_value());
    ASSERT_TRUE((*session)->feed("a", {borrow(five, {1}), borrow(one, {1})}).has_value());
    ASSERT_TRUE((*session)->end_of_feed().has_value());
    std::vector<std::vector<int64_t>> parts;
    for (auto batch = (*session)->next(); *batch; batch = (*session)->next()) {
      std::vector<int64_t>& numbers = parts.emplace_back();
      for (const Tensor& number : (**batch)->outputs[1].samples)
        numbers.push_back(*reinterpret_cast<const int64_t*>(number.data));
    }
    EXPECT_EQ(parts, (std::vector<std::vector<int64_t>>{{0, 1}, {2, 3}, {4}, {0}}));
  }
}

TEST(Feed, ReplacingNeedsAReader) {
  Program program = *fed_program(1);
  program.on_error = OnErrorPolicy::kReplace;
  auto session = Session::create(std::make_shared<Program>(program), test_natives(), {});
  ASSERT_FALSE(session.has_value());
  EXPECT_EQ(session.error().diagnostics[0].code, "G0908");
}

TEST(Feed, TheEndOfAFeedNeedsAFeed) {
  ProgramMaker m;
  m.output("x", DType::kI64, {});
  auto session = open(m.finish({m.store(DType::kI64, {}, {m.value(1)})}), ExecutorKind::kInline);
  auto ended = session->end_of_feed();
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().diagnostics[0].code, "G0909");
}

TEST(Feed, TheQueueIsBounded) {
  auto session = open(fed_program(1), ExecutorKind::kInline);
  uint8_t byte = 0;
  int fed = 0;
  while (fed < 10000 && session->feed("a", {borrow(&byte, {1})})) ++fed;
  EXPECT_EQ(fed, 256);
}

}  // namespace
}  // namespace galatea::runtime
