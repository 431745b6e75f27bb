// Where the samples of a batch meet: they park, the last arrival does what the step says, all go on.
#include <algorithm>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "program_maker.h"

namespace galatea::runtime {
namespace {

using namespace testing;  // NOLINT

void meet_numbers(ProgramMaker& m, std::vector<BatchStep::Scalar> parts) {
  m.add(Opcode::kBarrier).a = static_cast<int32_t>(m.program.batch_steps.size());
  m.program.batch_steps.push_back({.scalars = std::move(parts), .totals = {}, .takes = {}});
}
int32_t meet_number(ProgramMaker& m, BatchOp op, int32_t from) {
  const int32_t to = m.reg();
  meet_numbers(m, {{op, from, to}});
  return to;
}
int32_t meet_total(ProgramMaker& m, BatchOp op, int32_t from) {
  const int32_t to = m.slot();
  m.add(Opcode::kBarrier).a = static_cast<int32_t>(m.program.batch_steps.size());
  m.program.batch_steps.push_back({.scalars = {}, .totals = {{op, from, to}}, .takes = {}});
  return to;
}
int32_t take_tensor(ProgramMaker& m, int32_t from, int32_t place) {
  Instruction& lend = m.add(Opcode::kLend);
  lend.dst = m.slot(), lend.a = from;
  const int32_t lent = lend.dst, to = m.slot();
  m.add(Opcode::kBarrier).a = static_cast<int32_t>(m.program.batch_steps.size());
  m.program.batch_steps.push_back({.scalars = {}, .totals = {}, .takes = {{lent, to, place}}});
  return to;
}
int32_t place_in_batch(ProgramMaker& m) {
  Instruction& i = m.add(Opcode::kBatchSlot);
  i.dst = m.reg();
  return i.dst;
}

struct MeetingCase {
  std::string reader;
  OnErrorPolicy policy = OnErrorPolicy::kRaise;
  int batch_size = 6;
};

/// What every program here begins with: the bytes of a sample, and its number.
struct Beginning {
  ProgramMaker m;
  std::vector<int32_t> data;
  int32_t number = -1;
  explicit Beginning(const MeetingCase& options) {
    m.program.batch_size = options.batch_size;
    m.program.prefetch_depth = 3;
    m.program.on_error = options.policy;
    m.at_line(3, "readers.file");
    data = m.read(m.source("{\"size\": 20" + options.reader + "}"));
    number = m.load(data[1], 0, DType::kI64);
    m.at_line(8, "pad");
  }
};

/// number, sum of the numbers of the batch, sum of those sums, and bytes that live over both barriers.
std::shared_ptr<const Program> sums_program(const MeetingCase& options) {
  Beginning start(options);
  ProgramMaker& m = start.m;
  int32_t doubled = m.native("test.twice", "", {start.data[0]}, true);
  const int32_t sum = meet_number(m, BatchOp::kSum, start.number);
  const int32_t sum_of_sums = meet_number(m, BatchOp::kSum, sum);
  int32_t stored = m.store(DType::kI64, {3}, {start.number, sum, sum_of_sums});
  m.output("sums", DType::kI64, {3});
  m.output("bytes", DType::kU8, {-1});
  return m.finish({stored, doubled});
}

Delivered run_meetings(const std::shared_ptr<const Program>& program, int threads) {
  static const NativeTable natives = test_natives();
  SessionOptions options;
  options.executor = threads > 0 ? ExecutorKind::kCpu : ExecutorKind::kInline;
  options.num_threads = std::max(threads, 1);
  options.allocator = std::make_shared<Allocator>();
  Delivered all;
  {
    auto session = Session::create(program, natives, options);
    EXPECT_TRUE(session.has_value()) << (session ? "" : session.error().message());
    if (session) all = deliver(**session, 2);
  }
  EXPECT_EQ(options.allocator->bytes_in_use(), 0);
  return all;
}

/// What the inline executor gives; the others must give the same.
Delivered run_everywhere(const std::shared_ptr<const Program>& program) {
  const Delivered judge = run_meetings(program, 0);
  for (int threads : {1, 4}) {
    const Delivered other = run_meetings(program, threads);
    EXPECT_EQ(other.samples, judge.samples) << threads << " threads";
    EXPECT_EQ(other.ids, judge.ids) << threads << " threads";
    EXPECT_EQ(other.errors, judge.errors) << threads << " threads";
  }
  return judge;
}

/// Of the first batch that is an error.
std::string code_of_error(const std::shared_ptr<const Program>& program) {
  static const NativeTable natives = test_natives();
  SessionOptions options;
  options.num_threads = 2;
  auto session = Session::create(program, natives, options);
  for (int batch = 0; session && batch < 4; ++batch)
    if (auto next = (*session)->next(); !next) return next.error().diagnostics.at(0).code;
  return "none";
}

std::vector<int64_t> numbers_in(const std::vector<uint8_t>& bytes, size_t count) {
  std::vector<int64_t> out(count);
  EXPECT_GE(bytes.size(), 8 * count);
  std::memcpy(out.data(), bytes.data(), 8 * count);
  return out;
}

TEST(Barrier, NumbersMeetInTheWholeBatch) {
  const Delivered all = run_everywhere(sums_program({}));
  ASSERT_EQ(all.samples.size(), 2u);
  ASSERT_EQ(all.samples[0].size(), 20u);
  for (size_t k = 0; k < 20; ++k) {
    size_t begin = k / 6 * 6, end = std::min<size_t>(begin + 6, 20);
    int64_t expected = 0;
    for (size_t other = begin; other < end; ++other) expected += static_cast<int64_t>(other);
    EXPECT_EQ(numbers_in(all.samples[1][k], 3),
              (std::vector<int64_t>{static_cast<int64_t>(k), expected,
                                    expected * static_cast<int64_t>(end - begin)}));
    EXPECT_EQ(all.samples[1][k].size(), 24 + k % 7 + 1);
    EXPECT_EQ(all.samples[1][k].back(), 2 * k);
  }
}

/// Every operation against what the words at BatchOp say.
TEST(Barrier, OperationsSayWhatBecomesOfNumbers) {
  constexpr BatchOp kAll[] = {BatchOp::kSum,   BatchOp::kMin,  BatchOp::kMax,      BatchOp::kShuffle,
                              BatchOp::kCycle, BatchOp::kPick, BatchOp::kPickOther};
  Beginning start({});
  ProgramMaker& m = start.m;
  // 32 bits that look drawn: number · 2654435761 mod 2^32.
  const int32_t drawn = m.scalar(
      ScalarOp::kAnd, DType::kI64,
      {m.scalar(ScalarOp::kMul, DType::kI64, {start.number, m.value(2654435761)}), m.value(0xFFFFFFFF)});
  std::vector<int32_t> out;
  std::vector<BatchStep::Scalar> parts;
  for (BatchOp op : kAll) {
    out.push_back(m.reg());
    parts.push_back({op, drawn, out.back()});
  }
  meet_numbers(m, std::move(parts));
  const int32_t stored = m.store(DType::kI64, {7}, out);
  m.output("met", DType::kI64, {7});
  const Delivered all = run_everywhere(m.finish({stored}));
  ASSERT_EQ(all.samples[0].size(), 20u);
  for (size_t begin = 0; begin < 20; begin += 6) {
    const size_t count = std::min<size_t>(6, 20 - begin);
    std::vector<int64_t> values;
    for (size_t k = 0; k < count; ++k) values.push_back((begin + k) * 2654435761 & 0xFFFFFFFF);
    std::vector<int64_t> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    int64_t sum = 0;
    for (int64_t v : values) sum += v;
    size_t at = 0, steps = 0;
    for (size_t k = 0; k < count; ++k) {
      const auto met = numbers_in(all.samples[0][begin + k], 7);
      EXPECT_EQ(met[0], sum);
      EXPECT_EQ(met[1], sorted.front());
      EXPECT_EQ(met[2], sorted.back());
      EXPECT_EQ(values[static_cast<size_t>(met[3])], sorted[k]);
      const auto rank =
          static_cast<size_t>(std::find(sorted.begin(), sorted.end(), values[k]) - sorted.begin());
      EXPECT_EQ(values[static_cast<size_t>(met[4])], sorted[(rank + 1) % count]);
      EXPECT_EQ(met[5], values[k] * static_cast<int64_t>(count) >> 32);
      EXPECT_NE(met[6], static_cast<int64_t>(k));
      EXPECT_TRUE(met[6] >= 0 && met[6] < static_cast<int64_t>(count));
    }
    do {
      at = static_cast<size_t>(numbers_in(all.samples[0][begin + at], 7)[4]);
      ++steps;
    } while (at != 0 && steps <= count);
    EXPECT_EQ(steps, count) << "one cycle through all";
  }
}

/// Each sample takes the bytes of the next one, and all get the sum of two numbers of each.
std::shared_ptr<const Program> tensors_program(const MeetingCase& options, int64_t unequal_from = 1000,
                                               int64_t step = 1) {
  Beginning start(options);
  ProgramMaker& m = start.m;
  const int32_t place = place_in_batch(m);
  const int32_t last = meet_number(m, BatchOp::kMax, place);
  const int32_t next = m.scalar(ScalarOp::kRem, DType::kI64,
                                {m.scalar(ScalarOp::kAdd, DType::kI64, {place, m.value(step)}),
                                 m.scalar(ScalarOp::kAdd, DType::kI64, {last, m.value(step)})});
  const int32_t taken = take_tensor(m, start.data[0], next);
  // From some number on a sample has three elements where others have two.
  const int32_t wide = m.store(DType::kI64, {3}, {start.number, place, place});
  Instruction view;
  view.op = Opcode::kView, view.dst = m.slot(), view.a = wide, view.b = 0;
  const int32_t extent = m.scalar(
      ScalarOp::kAdd, DType::kI64,
      {m.value(2), m.scalar(ScalarOp::kConvert, DType::kI64,
                            {m.scalar(ScalarOp::kGe, DType::kI64, {start.number, m.value(unequal_from)})},
                            DType::kBool)});
  view.c = m.list({extent, m.value(0), m.value(1)});
  ViewSpec spec;
  spec.ndim = spec.input_ndim = 1;
  m.program.views.push_back(spec);
  const int32_t own = view.dst;
  m.program.code.push_back(view);
  const int32_t total = meet_total(m, BatchOp::kSum, own);
  m.output("taken", DType::kU8, {-1});
  m.output("total", DType::kI64, {-1});
  return m.finish({taken, total});
}

TEST(Barrier, TensorsMeetToo) {
  const Delivered all = run_everywhere(tensors_program({}));
  ASSERT_EQ(all.samples[0].size(), 20u);
  for (size_t k = 0; k < 20; ++k) {
    const size_t begin = k / 6 * 6, count = std::min<size_t>(6, 20 - begin);
    const size_t partner = begin + (k - begin + 1) % count;
    const std::vector<uint8_t>& bytes = all.samples[0][k];
    ASSERT_EQ(bytes.size(), partner % 7 + 1 + 16);
    EXPECT_EQ(bytes[0], partner);
    int64_t sum = 0, places = 0;
    for (size_t other = 0; other < count; ++other)
      sum += static_cast<int64_t>(begin + other), places += static_cast<int64_t>(other);
    EXPECT_EQ(numbers_in({bytes.end() - 16, bytes.end()}, 2), (std::vector<int64_t>{sum, places}));
  }
}

TEST(Barrier, UnequalExtentsAreTheBatchsError) {
  EXPECT_EQ(code_of_error(tensors_program({}, 14)), "G0468");
  for (OnErrorPolicy policy : {OnErrorPolicy::kRaise, OnErrorPolicy::kSkip, OnErrorPolicy::kReplace}) {
    const Delivered all = run_everywhere(tensors_program({.policy = policy}, 14));
    // Samples 12 and 13 have two elements, 14 to 17 three; the last batch agrees again.
    EXPECT_EQ(all.samples[0].size(), 14u);
    ASSERT_EQ(all.errors.size(), 2u);
    EXPECT_NE(all.errors[0].find("[2] in place 0, [3] in place 2"), std::string::npos) << all.errors[0];
  }
}

TEST(Barrier, WhoWantsWhatIsNotThereFailsAlone) {
  EXPECT_EQ(code_of_error(tensors_program({}, 1000, 2)), "G0467");
  // Places 0 … 5 plus 2, of 7: place 4 wants 6, which nobody has.
  const Delivered raised = run_everywhere(tensors_program({}, 1000, 2));
  ASSERT_FALSE(raised.errors.empty());
  EXPECT_NE(raised.errors[0].find("place 6"), std::string::npos) << raised.errors[0];
  const Delivered skipped = run_everywhere(tensors_program({.policy = OnErrorPolicy::kSkip}, 1000, 2));
  EXPECT_TRUE(skipped.errors.empty());
  EXPECT_EQ(skipped.batch_sizes[0], (std::vector<int>{5, 5, 5, 1}));
}

TEST(Barrier, SkippedSamplesTakeNoPart) {
  const Delivered judge =
      run_everywhere(sums_program({.reader = R"(, "bad": [1, 7, 8, 19])", .policy = OnErrorPolicy::kSkip}));
  EXPECT_EQ(numbers_in(judge.samples[0][0], 3)[1], 0 + 2 + 3 + 4 + 5);
}

/// Samples of odd numbers meet in an arm, then all do.
TEST(Barrier, SamplesOfAnArmMeetAmongThemselves) {
  Beginning start({});
  ProgramMaker& m = start.m;
  const int32_t is_odd = m.scalar(ScalarOp::kAnd, DType::kI64, {start.number, m.value(1)});
  const int32_t in_arm = m.value(-1), result = m.reg();
  const auto branch_at = static_cast<size_t>(m.here());
  m.add(Opcode::kBranch).b = is_odd;
  m.program.code[branch_at].a = m.here();
  const int32_t met = meet_number(m, BatchOp::kSum, start.number);
  Instruction& odd = m.add(Opcode::kMove);
  odd.dst = result, odd.a = met;
  const auto jump_at = static_cast<size_t>(m.here());
  m.add(Opcode::kJump);
  m.program.code[branch_at].c = m.here();
  Instruction& even = m.add(Opcode::kMove);
  even.dst = result, even.a = in_arm;
  m.program.code[jump_at].a = m.here();
  const int32_t sum = meet_number(m, BatchOp::kSum, start.number);
  const int32_t stored = m.store(DType::kI64, {2}, {result, sum});
  m.output("sums", DType::kI64, {2});
  const Delivered all = run_everywhere(m.finish({stored}));
  ASSERT_EQ(all.samples[0].size(), 20u);
  EXPECT_EQ(numbers_in(all.samples[0][7], 2), (std::vector<int64_t>{7 + 9 + 11, 6 + 7 + 8 + 9 + 10 + 11}));
  EXPECT_EQ(numbers_in(all.samples[0][8], 2), (std::vector<int64_t>{-1, 6 + 7 + 8 + 9 + 10 + 11}));
}

/// A sample that fails behind a meeting: its substitute meets the others as if it had stood there at once.
TEST(Barrier, ASubstituteMeetsTheOthersAnew) {
  auto program = [](bool refuses_first) {
    Beginning start({.policy = OnErrorPolicy::kReplace});
    ProgramMaker& m = start.m;
    const std::string refuse = R"({"refuse": 9})";
    int32_t doubled = refuses_first ? m.native("test.twice", refuse, {start.data[0]}, true) : -1;
    const int32_t sum = meet_number(m, BatchOp::kSum, start.number);
    if (!refuses_first) doubled = m.native("test.twice", refuse, {start.data[0]}, true);
    const int32_t stored = m.store(DType::kI64, {2}, {start.number, sum});
    m.output("sums", DType::kI64, {2});
    m.output("bytes", DType::kU8, {-1});
    return m.finish({stored, doubled});
  };
  const Delivered before = run_everywhere(program(true)), behind = run_everywhere(program(false));
  EXPECT_EQ(behind.samples, before.samples);
  EXPECT_EQ(behind.ids, before.ids);
  EXPECT_NE(behind.ids[0][9], 9);
  EXPECT_TRUE(behind.errors.empty());
}

TEST(Barrier, SamplesThatLackMemoryDoNotHoldUpTheirBatch) {
  static const NativeTable natives = test_natives();
  for (const auto& program : {sums_program({}), tensors_program({})}) {
    const Delivered judge = run_meetings(program, 0);
    // Which sample finds how much is the threads' affair, so that it takes several runs to meet what there is.
    constexpr int kRounds = 20;
    int num_fitting = 0;
    // Room for about a batch of frames, less than the window needs.
    for (int k = 0; k < 5 * kRounds; ++k) {
      constexpr int64_t kLimits[] = {3000, 4000, 6000, 9000, 60000};
      const int64_t limit = kLimits[k % 5];
      SessionOptions options;
      options.num_threads = 4;
      options.allocator = std::make_shared<Allocator>(limit);
      auto session = Session::create(program, natives, options);
      ASSERT_TRUE(session.has_value());
      const Delivered all = deliver(**session, 1);
      // Also where samples miss what one would have lent them that found no memory.
      for (const std::string& error : all.errors)
        EXPECT_NE(error.find("memory limit"), std::string::npos) << error;
      if (limit == 60000) num_fitting += all.errors.empty();
      if (all.errors.empty()) {
        EXPECT_EQ(all.samples[0], judge.samples[0]);
      }
    }
    EXPECT_EQ(num_fitting, kRounds);
  }
}

TEST(Barrier, ASessionMayEndWhileSamplesAreParked) {
  static const NativeTable natives = test_natives();
  for (int taken = 0; taken < 4; ++taken) {
    SessionOptions options;
    options.num_threads = 2;
    options.allocator = std::make_shared<Allocator>();
    auto session = Session::create(tensors_program({}), natives, options);
    ASSERT_TRUE(session.has_value());
    for (int i = 0; i < taken; ++i) EXPECT_TRUE((*session)->next().has_value());
    session->reset();
    EXPECT_EQ(options.allocator->bytes_in_use(), 0);
  }
}

/// Five of six samples are parked when the sixth is cancelled.
TEST(Barrier, CancellingWakesWhomeverABatchWaitsFor) {
  static const NativeTable natives = test_natives();
  Beginning start({});
  ProgramMaker& m = start.m;
  int32_t doubled = m.native("test.twice", R"({"wait_at": 5})", {start.data[0]}, true);
  const int32_t sum = meet_number(m, BatchOp::kSum, start.number);
  const int32_t stored = m.store(DType::kI64, {1}, {sum});
  m.output("sum", DType::kI64, {1});
  m.output("bytes", DType::kU8, {-1});
  SessionOptions options;
  options.num_threads = 2;
  options.allocator = std::make_shared<Allocator>();
  auto session = Session::create(m.finish({stored, doubled}), natives, options);
  ASSERT_TRUE(session.has_value());
  std::thread canceller([&] {
    while (num_waiting() < 1) std::this_thread::yield();
    (*session)->cancel();
  });
  auto batch = (*session)->next();
  canceller.join();
  ASSERT_FALSE(batch.has_value());
  EXPECT_EQ(batch.error().diagnostics[0].code, "G0902");
  session->reset();
  EXPECT_EQ(options.allocator->bytes_in_use(), 0);
  EXPECT_EQ(num_waiting(), 0);
}

}  // namespace
}  // namespace galatea::runtime
