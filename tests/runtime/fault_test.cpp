// What fails: samples under each policy, allocations, consumers that stop or wait, sessions that end in the
// middle.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include <gtest/gtest.h>

#include "program_maker.h"
#include "runtime/fault.h"

namespace galatea::runtime {
namespace {

using namespace testing;  // NOLINT

std::unique_ptr<Session> open(const std::shared_ptr<const Program>& program, SessionOptions options = {}) {
  static const NativeTable natives = test_natives();
  auto session = Session::create(program, natives, std::move(options));
  EXPECT_TRUE(session.has_value()) << (session ? "" : session.error().message());
  return session ? std::move(*session) : nullptr;
}

SessionOptions with(ExecutorKind executor, int threads) {
  SessionOptions options;
  options.executor = executor;
  options.num_threads = threads;
  return options;
}

const std::vector<std::pair<ExecutorKind, int>> kExecutors = {
    {ExecutorKind::kInline, 1}, {ExecutorKind::kCpu, 1}, {ExecutorKind::kCpu, 3}};

TEST(OnError, RaiseFailsTheBatchAndGoesOn) {
  for (auto [executor, threads] : kExecutors) {
    // Sample 5 cannot be read; the batch of 4 … 7 is an error.
    auto session = open(mixed_program(12, 4, 2, R"("bad": [5])"), with(executor, threads));
    auto all = deliver(*session, 1);
    EXPECT_EQ(all.errors, (std::vector<std::string>{"cannot read number 5"}));
    EXPECT_EQ(all.ids[0], (std::vector<int64_t>{0, 1, 2, 3, 8, 9, 10, 11}));
  }
}

TEST(OnError, SkipDeliversTheBatchSmallerWithItsIds) {
  auto whole = deliver(*open(mixed_program(12, 4, 2), with(ExecutorKind::kInline, 1)), 1);
  for (auto [executor, threads] : kExecutors) {
    auto session = open(mixed_program(12, 4, 2, R"("bad": [4, 6, 8, 9, 10, 11])", OnErrorPolicy::kSkip),
                        with(executor, threads));
    auto all = deliver(*session, 1);
    EXPECT_TRUE(all.errors.empty());
    EXPECT_EQ(all.batch_sizes[0], (std::vector<int>{4, 2}));  // the third batch is empty, so there is none
    EXPECT_EQ(all.ids[0], (std::vector<int64_t>{0, 1, 2, 3, 5, 7}));
    std::vector<std::vector<uint8_t>> expected;
    for (size_t id : {0, 1, 2, 3, 5, 7}) expected.push_back(whole.samples[0][id]);
    EXPECT_EQ(all.samples[0], expected);
    auto statistics = session->statistics();
    EXPECT_EQ(statistics.num_skipped, 6);
    ASSERT_EQ(statistics.skipped.size(), 6u);
    EXPECT_EQ(statistics.skipped[0].source, "number 4");
    EXPECT_EQ(statistics.skipped[0].position, 4);
    EXPECT_EQ(statistics.skipped[0].diagnostic.code, "T0001");
  }
}

TEST(OnError, ReplaceTakesTheSameSubstituteForAnyBatchSize) {
  const std::string options = R"("bad": [2, 3, 9], "random_shuffle": true)";
  auto judge = deliver(
      *open(mixed_program(12, 1, 1, options, OnErrorPolicy::kReplace), with(ExecutorKind::kInline, 1)), 2);
  EXPECT_TRUE(judge.errors.empty());
  ASSERT_EQ(judge.ids[0].size(), 12u);
  for (int64_t id : judge.ids[0]) EXPECT_TRUE(id != 2 && id != 3 && id != 9);
  for (auto [executor, threads] : kExecutors) {
    auto session = open(mixed_program(12, 5, 2, options, OnErrorPolicy::kReplace), with(executor, threads));
    auto all = deliver(*session, 2);
    EXPECT_EQ(all.samples, judge.samples);
    EXPECT_EQ(all.ids, judge.ids);
    EXPECT_EQ(session->statistics().num_replaced, 6);
    EXPECT_EQ(session->statistics().replaced.size(), 6u);
  }
}

TEST(OnError, ReplaceGivesUpWhereNothingIsLeft) {
  auto session = open(mixed_program(2, 2, 1, R"("bad": [0, 1])", OnErrorPolicy::kReplace));
  auto batch = session->next();
  ASSERT_FALSE(batch.has_value());
  // The words of G0914 are the last note of the error of the sample itself.
  const std::vector<std::string>& notes = batch.error().diagnostics[0].notes;
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("substitutes in a row failed") != std::string::npos;
  }));
  auto end = session->next();
  ASSERT_TRUE(end.has_value());
  EXPECT_FALSE(end->has_value());
}

TEST(Faults, TheNthAllocationFailsForEveryN) {
  auto judge = deliver(*open(mixed_program(8, 3, 2), with(ExecutorKind::kInline, 1)), 2).samples;
  for (auto [executor, threads] : kExecutors) {
    size_t num_errors = 0;
    for (int64_t n = 1; n < 60; ++n) {
      SessionOptions options = with(executor, threads);
      options.allocator = std::make_shared<Allocator>();
      // Arenas and pools try again after giving back what lies idle: twice per thread makes sure that one of
      // them fails for good.
      options.allocator->fail_after(n, 2 * threads);
      auto session = open(mixed_program(8, 3, 2), options);
      ASSERT_TRUE(session);
      auto all = deliver(*session, 2);
      num_errors += all.errors.size();
      EXPECT_LE(all.errors.size(), static_cast<size_t>(threads));
      for (const std::string& error : all.errors)
        EXPECT_NE(error.find("out of memory"), std::string::npos) << error;
      // A batch may be lost to each error; everything else is there once, and right.
      size_t num_samples = 0;
      for (size_t epoch = 0; epoch < 2; ++epoch) {
        num_samples += all.samples[epoch].size();
        for (size_t k = 0; k < all.samples[epoch].size(); ++k) {
          EXPECT_EQ(all.samples[epoch][k], judge[epoch][static_cast<size_t>(all.ids[epoch][k])]);
        }
      }
      EXPECT_GE(num_samples, 16 - 3 * all.errors.size());
      if (all.errors.empty()) {
        EXPECT_EQ(num_samples, 16u);
      }
      session.reset();
      EXPECT_EQ(options.allocator->bytes_in_use(), 0) << n;
    }
    EXPECT_GT(num_errors, 5u);
  }
}

TEST(Faults, RunningOutOfMemoryIsNamed) {
  SessionOptions options = with(ExecutorKind::kInline, 1);
  options.allocator = std::make_shared<Allocator>();
  options.allocator->fail_after(1, 1000);
  auto session = open(mixed_program(2, 2, 1), options);
  ASSERT_TRUE(session);
  auto batch = session->next();
  ASSERT_FALSE(batch.has_value());
  EXPECT_EQ(batch.error().kind, ErrorKind::kSystem);
  EXPECT_EQ(batch.error().diagnostics[0].code, "G0921");
}

TEST(Faults, ExceptionsAreTheMachinesOrOurs) {
  const auto thrown = [](auto exception) {
    try {
      throw exception;
    } catch (...) {
      return error_in_flight("a note");
    }
  };
  const Error memory = thrown(std::bad_alloc());
  EXPECT_EQ(memory.kind, ErrorKind::kSystem);
  EXPECT_EQ(memory.diagnostics[0].code, "G0921");
  EXPECT_EQ(memory.diagnostics[0].notes, std::vector<std::string>{"a note"});
  const Error refused = thrown(std::system_error(EAGAIN, std::generic_category(), "a thread"));
  EXPECT_EQ(refused.kind, ErrorKind::kSystem);
  EXPECT_NE(refused.message().find("a thread: "), std::string::npos) << refused.message();
  EXPECT_EQ(thrown(std::out_of_range("place 3")).kind, ErrorKind::kInternal);
  EXPECT_EQ(thrown(3).kind, ErrorKind::kInternal);
}

TEST(Faults, AMemoryLimitIsKeptAndNamed) {
  ProgramMaker m;
  m.program.batch_size = 2;
  m.program.memory_limit = 1 << 16;
  m.output("x", DType::kU8, {-1});
  int32_t source = m.source(R"({"size": 4})");
  auto data = m.read(source);
  m.at_line(9, "resize");
  int32_t number = m.load(data[1], 0, DType::kI64);
  int32_t size = m.scalar(ScalarOp::kMul, DType::kI64, {number, m.value(30000)});
  int32_t shape = m.list({size});
  Instruction& allocate = m.add(Opcode::kAllocate);
  allocate.dst = m.slot(), allocate.type = DType::kU8, allocate.a = shape, allocate.imm = 1;
  int32_t made = allocate.dst;
  m.add(Opcode::kRelease).a = made;
  auto program = m.finish({data[0]});
  auto session = open(program, with(ExecutorKind::kCpu, 1));
  EXPECT_TRUE(session->next().has_value());
  auto batch = session->next();
  ASSERT_FALSE(batch.has_value());
  const Diagnostic& diagnostic = batch.error().diagnostics[0];
  EXPECT_EQ(diagnostic.code, "G0920");
  EXPECT_NE(diagnostic.message.find("65536"), std::string::npos);
  EXPECT_NE(diagnostic.notes.back().find("number 3"), std::string::npos) << diagnostic.notes.back();
  EXPECT_LE(session->statistics().peak_memory_bytes, 1 << 16);
}

TEST(Faults, SamplesThatFitOnlyOneAtATimeAreRunOneAtATime) {
  for (int threads : {1, 4}) {
    ProgramMaker m;
    m.program.batch_size = 3;
    m.program.prefetch_depth = 3;
    m.program.memory_limit = 100'000;
    m.output("x", DType::kU8, {-1});
    int32_t source = m.source(R"({"size": 60})");
    auto data = m.read(source);
    int32_t shape = m.list({m.value(70'000)});
    Instruction& allocate = m.add(Opcode::kAllocate);
    allocate.dst = m.slot(), allocate.type = DType::kU8, allocate.a = shape, allocate.imm = 1;
    int32_t doubled = m.native("test.twice", "", {data[0]}, true);
    auto all = deliver(*open(m.finish({doubled}), with(ExecutorKind::kCpu, threads)), 3);
    EXPECT_TRUE(all.errors.empty()) << all.errors.front();
    for (const auto& epoch : all.ids) EXPECT_EQ(epoch.size(), 60u);
  }
}

/// Every sample waits in its native until the session is cancelled.
std::shared_ptr<const Program> waiting_program() {
  ProgramMaker m;
  m.program.batch_size = 4;
  int32_t source = m.source(R"({"size": 100})");
  auto data = m.read(source);
  int32_t never = m.native("test.twice", R"({"wait": true})", {data[0]}, true);
  m.output("x", DType::kU8, {-1});
  return m.finish({never});
}

TEST(Cancellation, ATimeOutIsAnErrorAndNothingIsLost) {
  auto session = open(waiting_program(), with(ExecutorKind::kCpu, 2));
  auto batch = session->next(std::chrono::milliseconds(20));
  ASSERT_FALSE(batch.has_value());
  EXPECT_EQ(batch.error().diagnostics[0].code, "G0901");
  EXPECT_NE(batch.error().message().find("20 ms"), std::string::npos);
}

TEST(Cancellation, CancelWakesTheConsumer) {
  auto session = open(waiting_program(), with(ExecutorKind::kCpu, 2));
  std::thread canceller([&] {
    while (num_waiting() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    session->cancel();
  });
  auto batch = session->next();
  canceller.join();
  ASSERT_FALSE(batch.has_value());
  EXPECT_EQ(batch.error().diagnostics[0].code, "G0902");
  EXPECT_EQ(session->next().error().diagnostics[0].code, "G0902");
  session.reset();
  EXPECT_EQ(num_waiting(), 0);
}

TEST(Cancellation, CancelStopsTheInlineExecutorToo) {
  auto session = open(waiting_program(), with(ExecutorKind::kInline, 1));
  std::thread canceller([&] {
    while (num_waiting() < 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    session->cancel();
  });
  auto batch = session->next();
  canceller.join();
  ASSERT_FALSE(batch.has_value());
  EXPECT_EQ(batch.error().diagnostics[0].code, "G0902");
}

TEST(Cancellation, EndlessLoopsAreLeft) {
  ProgramMaker m;
  m.output("x", DType::kI64, {1});
  int32_t one = m.value(1);
  m.add(Opcode::kJump).a = m.here() - 1;
  auto program = m.finish({m.store(DType::kI64, {1}, {one})});
  auto session = open(program, with(ExecutorKind::kCpu, 2));
  EXPECT_FALSE(session->next(std::chrono::milliseconds(5)).has_value());
}

TEST(Sessions, MayEndAtAnyMoment) {
  for (int taken = 0; taken < 6; ++taken) {
    SessionOptions options = with(ExecutorKind::kCpu, 3);
    options.allocator = std::make_shared<Allocator>();
    auto session = open(mixed_program(12, 2, 4), options);
    for (int i = 0; i < taken; ++i) EXPECT_TRUE(session->next().has_value());
    session.reset();
    EXPECT_EQ(options.allocator->bytes_in_use(), 0);
  }
}

}  // namespace
}  // namespace galatea::runtime
