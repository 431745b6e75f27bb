// Programs in segments: samples park, the last arrival runs the batch step, all go on.
#include <cstring>

#include <gtest/gtest.h>

#include "program_maker.h"

namespace galatea::runtime {
namespace {

using namespace testing;  // NOLINT

/// Register `from` of every sample is summed into register `to` of each.
class SumStep final : public BatchStep {
 public:
  SumStep(int32_t from, int32_t to, bool fails = false) : from_(from), to_(to), fails_(fails) {}
  Status run(std::span<StepSample> samples) const override {
    if (fails_) return make_error(ErrorKind::kUser, "T0003", "the step fails");
    uint64_t sum = 0;
    for (StepSample& sample : samples) sum += sample.registers[static_cast<size_t>(from_)].bits;
    for (StepSample& sample : samples) sample.registers[static_cast<size_t>(to_)].bits = sum;
    return {};
  }

 private:
  int32_t from_, to_;
  bool fails_;
};

/// number, sum of the numbers of the batch, sum of those sums, and bytes that live over both barriers.
std::shared_ptr<const Program> barrier_program(int batch_size, const std::string& options,
                                               OnErrorPolicy policy, bool fails = false) {
  ProgramMaker m;
  m.program.batch_size = batch_size;
  m.program.prefetch_depth = 3;
  m.program.on_error = policy;
  int32_t source = m.source("{\"size\": 20" + options + "}");
  auto data = m.read(source);
  int32_t doubled = m.native("test.twice", "", {data[0]}, true);
  int32_t number = m.load(data[1], 0, DType::kI64);
  int32_t sum = m.reg(), sum_of_sums = m.reg();
  m.program.batch_steps = {std::make_shared<SumStep>(number, sum),
                           std::make_shared<SumStep>(sum, sum_of_sums, fails)};
  m.add(Opcode::kBarrier).a = 0;
  m.at_line(8, "normalize");
  m.add(Opcode::kBarrier).a = 1;
  int32_t stored = m.store(DType::kI64, {3}, {number, sum, sum_of_sums});
  m.output("sums", DType::kI64, {3});
  m.output("bytes", DType::kU8, {-1});
  return m.finish({stored, doubled});
}

Delivered run(const std::shared_ptr<const Program>& program, ExecutorKind executor, int threads) {
  static const NativeTable natives = test_natives();
  SessionOptions options;
  options.executor = executor;
  options.num_threads = threads;
  options.allocator = std::make_shared<Allocator>();
  Delivered all;
  {
    auto session = Session::create(program, natives, options);
    EXPECT_TRUE(session.has_value());
    all = deliver(**session, 2);
  }
  EXPECT_EQ(options.allocator->bytes_in_use(), 0);
  return all;
}

TEST(Barrier, TheStepSeesTheWholeBatch) {
  for (int threads : {0, 1, 2, 4}) {
    auto all = run(barrier_program(6, "", OnErrorPolicy::kRaise),
                   threads ? ExecutorKind::kCpu : ExecutorKind::kInline, threads);
    ASSERT_EQ(all.samples.size(), 2u);
    ASSERT_EQ(all.samples[0].size(), 20u);
    for (size_t k = 0; k < 20; ++k) {
      size_t begin = k / 6 * 6, end = std::min<size_t>(begin + 6, 20);
      int64_t values[3], expected = 0;
      for (size_t other = begin; other < end; ++other) expected += static_cast<int64_t>(other);
      std::memcpy(values, all.samples[1][k].data(), 24);
      EXPECT_EQ(values[0], static_cast<int64_t>(k));
      EXPECT_EQ(values[1], expected);
      EXPECT_EQ(values[2], expected * static_cast<int64_t>(end - begin));
      EXPECT_EQ(all.samples[1][k].size(), 24 + k % 7 + 1);
      EXPECT_EQ(all.samples[1][k].back(), 2 * k);
    }
  }
}

TEST(Barrier, SkippedSamplesTakeNoPart) {
  auto judge =
      run(barrier_program(6, R"(, "bad": [1, 7, 8, 19])", OnErrorPolicy::kSkip), ExecutorKind::kInline, 1);
  int64_t values[3];
  std::memcpy(values, judge.samples[0][0].data(), 24);
  EXPECT_EQ(values[1], 0 + 2 + 3 + 4 + 5);
  for (int threads : {1, 3}) {
    EXPECT_EQ(run(barrier_program(6, R"(, "bad": [1, 7, 8, 19])", OnErrorPolicy::kSkip), ExecutorKind::kCpu,
                  threads)
                  .samples,
              judge.samples);
  }
}

TEST(Barrier, AFailingStepIsTheBatchsError) {
  for (int threads : {0, 2}) {
    auto all = run(barrier_program(10, "", OnErrorPolicy::kRaise, true),
                   threads ? ExecutorKind::kCpu : ExecutorKind::kInline, threads);
    EXPECT_EQ(all.errors, (std::vector<std::string>(4, "the step fails")));
  }
}

TEST(Barrier, SamplesThatLackMemoryDoNotHoldUpTheirBatch) {
  static const NativeTable natives = test_natives();
  Program program = *barrier_program(6, "", OnErrorPolicy::kRaise);
  auto judge = run(std::make_shared<Program>(program), ExecutorKind::kInline, 1);
  // Room for about a batch of frames, less than the window needs.
  for (int64_t limit : {3000, 4000, 6000, 9000}) {
    SessionOptions options;
    options.num_threads = 4;
    options.allocator = std::make_shared<Allocator>(limit);
    auto session = Session::create(std::make_shared<Program>(program), natives, options);
    ASSERT_TRUE(session.has_value());
    auto all = deliver(**session, 1);
    for (const std::string& error : all.errors) EXPECT_NE(error.find("memory limit"), std::string::npos);
    if (all.errors.empty()) {
      EXPECT_EQ(all.samples[0], judge.samples[0]);
    }
  }
}

TEST(Barrier, ASessionMayEndWhileSamplesAreParked) {
  static const NativeTable natives = test_natives();
  for (int taken = 0; taken < 4; ++taken) {
    SessionOptions options;
    options.num_threads = 2;
    options.allocator = std::make_shared<Allocator>();
    auto session = Session::create(barrier_program(6, "", OnErrorPolicy::kRaise), natives, options);
    ASSERT_TRUE(session.has_value());
    for (int i = 0; i < taken; ++i) EXPECT_TRUE((*session)->next().has_value());
    session->reset();
    EXPECT_EQ(options.allocator->bytes_in_use(), 0);
  }
}

}  // namespace
}  // namespace galatea::runtime
