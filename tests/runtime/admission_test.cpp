// A memory limit: it is kept, nothing fails because of what runs beside it, nobody waits for ever.
//
// Sample i of ragged_program takes (i * 37 % 11 + 1) thousand bytes for itself and as much for an output of
// its own, beside outputs that the batch owns; "unsaid" leaves out the instruction that asks for them.
#include <chrono>
#include <condition_variable>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "program_maker.h"
#include "runtime/waiting_samples.h"

namespace galatea::runtime {
namespace {

using namespace testing;  // NOLINT

constexpr int64_t kThousand = 1000;

struct Ragged {
  int batch_size = 4, prefetch_depth = 2;
  int64_t limit = 0;
  int64_t num_samples = 40;
  bool unsaid = false, barrier = false;
  OnErrorPolicy on_error = OnErrorPolicy::kRaise;
  std::string gate = "{}";  ///< of "test.gate", which stands before the memory is asked for
};

int64_t own_bytes(int64_t i) { return (i * 37 % 11 + 1) * kThousand; }

/// Waits, for sample `sample`, until `calls` calls for others were made; each call of another counts. Gives
/// its input on.
class Turnstile {
 public:
  void pass(int64_t index, int64_t awaited, int64_t calls, const NativeContext& context) {
    std::unique_lock lock(mutex_);
    if (index != awaited) ++num_passed_;
    passed_.notify_all();
    while (index == awaited && num_passed_ < calls && !context.cancelled())
      passed_.wait_for(lock, std::chrono::milliseconds(5));
  }

 private:
  std::mutex mutex_;
  std::condition_variable passed_;
  int64_t num_passed_ = 0;
};

struct TurnstileState final : NativeState {
  int64_t sample = -1, calls = 0;
  std::shared_ptr<Turnstile> turnstile = std::make_shared<Turnstile>();
};

NativeTable natives() {
  NativeTable table = test_natives();
  NativeFunction gate;
  gate.name = "test.gate";
  gate.category = "compute";
  gate.prepare = [](const std::string& config) -> Result<std::shared_ptr<NativeState>> {
    auto state = std::make_shared<TurnstileState>();
    state->sample = number_in(config, "sample", -1);
    state->calls = number_in(config, "calls", 0);
    return state;
  };
  gate.call = [](NativeContext& context) -> Status {
    const auto& state = static_cast<const TurnstileState&>(*context.state);
    const auto index = static_cast<int64_t>(load_cell(DType::kI64, context.inputs[0].data).bits);
    state.turnstile->pass(index, state.sample, state.calls, context);
    return {};
  };
  table.add(std::move(gate));
  return table;
}

std::shared_ptr<const Program> ragged_program(const Ragged& ragged) {
  ProgramMaker m;
  m.program.batch_size = ragged.batch_size;
  m.program.prefetch_depth = ragged.prefetch_depth;
  m.program.memory_limit = ragged.limit;
  m.program.on_error = ragged.on_error;
  m.at_line(3, "readers.file");
  auto data =
      m.read(m.source("{\"knows_bytes\": true, \"size\":" + std::to_string(ragged.num_samples) + "}"));
  m.at_line(4, "gate");
  m.native("test.gate", ragged.gate, {data[1]}, false);
  m.at_line(5, "decoders.image");
  auto op = [&](ScalarOp what, int32_t a, int32_t b) { return m.scalar(what, DType::kI64, {a, b}); };
  const int32_t number = m.load(data[1], 0, DType::kI64);
  const int32_t factor = op(
      ScalarOp::kAdd, op(ScalarOp::kRem, op(ScalarOp::kMul, number, m.value(37)), m.value(11)), m.value(1));
  const int32_t bytes = op(ScalarOp::kMul, factor, m.value(kThousand));
  const int32_t asked =
      op(ScalarOp::kAdd, op(ScalarOp::kAdd, bytes, op(ScalarOp::kDiv, bytes, m.value(8))), m.value(128));
  if (!ragged.unsaid) {
    Instruction& admit = m.add(Opcode::kAdmit);
    admit.a = asked, admit.b = asked;
  }
  const int32_t shape = m.list({bytes});
  Instruction& own = m.add(Opcode::kAllocate);
  own.dst = m.slot(), own.type = DType::kU8, own.a = shape, own.imm = 1;
  if (ragged.barrier) {
    m.program.batch_steps.emplace_back();
    m.at_line(6, "pad");
    m.add(Opcode::kBarrier).a = 0;
  }
  m.at_line(7, "resize");
  Instruction& out = m.add(Opcode::kAllocateOutput);
  out.dst = m.slot(), out.type = DType::kU8, out.a = shape, out.imm = 1, out.b = 0;
  const int32_t stored = out.dst;
  const int32_t fixed_shape = m.list({m.value(500)});
  Instruction& fixed = m.add(Opcode::kAllocateOutput);
  fixed.dst = m.slot(), fixed.type = DType::kU8, fixed.a = fixed_shape, fixed.imm = 1, fixed.b = 1;
  const int32_t fixed_slot = fixed.dst;
  m.output("ragged", DType::kU8, {-1});
  m.output("fixed", DType::kU8, {500});
  m.output("number", DType::kI64, {});
  return m.finish({stored, fixed_slot, data[1]});
}

std::unique_ptr<Session> open(const Ragged& ragged, ExecutorKind executor, int threads,
                              std::shared_ptr<Allocator> allocator = nullptr) {
  static const NativeTable table = natives();
  SessionOptions options;
  options.executor = executor;
  options.num_threads = threads;
  options.allocator = std::move(allocator);
  auto session = Session::create(ragged_program(ragged), table, options);
  EXPECT_TRUE(session.has_value()) << (session ? "" : session.error().message());
  return session ? std::move(*session) : nullptr;
}

/// What a run gives: of each batch its ids and sizes, or its error.
struct Outcome {
  std::vector<std::string> batches;
  bool operator==(const Outcome&) const = default;
};

Outcome run(Session& session) {
  Outcome outcome;
  for (;;) {
    auto batch = session.next();
    if (!batch) {
      const Diagnostic& diagnostic = batch.error().diagnostics[0];
      outcome.batches.push_back(diagnostic.code + ": " + diagnostic.message + diagnostic.span_text);
      if (outcome.batches.size() > 1000) return outcome;
      continue;
    }
    if (!*batch) return outcome;
    std::string text;
    for (size_t k = 0; k < (**batch)->sample_ids.size(); ++k) {
      const int64_t id = (**batch)->sample_ids[k];
      text += std::to_string(id) + " ";
      EXPECT_EQ((**batch)->outputs[0].samples[k].extents[0], own_bytes(id));
      EXPECT_EQ(elements_of<int64_t>((**batch)->outputs[2].samples[k]), std::vector<int64_t>{id});
    }
    outcome.batches.push_back(text);
  }
}

/// The least that a batch of this program can do with: its outputs, and its largest sample beside them.
int64_t least(int batch_size) { return batch_size * 13 * kThousand + 30 * kThousand; }

TEST(Admission, TheLimitIsKeptAndNothingFails) {
  for (bool unsaid : {false, true}) {
    for (int batch_size : {1, 4, 7}) {
      for (int prefetch : {1, 3}) {
        Ragged ragged{.batch_size = batch_size, .prefetch_depth = prefetch, .unsaid = unsaid};
        const Outcome judge = run(*open(ragged, ExecutorKind::kInline, 1));
        for (int64_t limit : {least(batch_size), 2 * least(batch_size), 10 * least(batch_size)}) {
          ragged.limit = limit;
          EXPECT_EQ(run(*open(ragged, ExecutorKind::kInline, 1)), judge);
          for (int threads : {1, 2, 5}) {
            auto allocator = std::make_shared<Allocator>(limit);
            auto session = open(ragged, ExecutorKind::kCpu, threads, allocator);
            EXPECT_EQ(run(*session), judge) << limit << " " << threads << " " << prefetch;
            session.reset();
            EXPECT_LE(allocator->peak_bytes(), limit);
            EXPECT_GT(allocator->peak_bytes(), limit / 20);
            EXPECT_EQ(allocator->bytes_in_use(), 0);
          }
        }
      }
    }
  }
}

/// A batch of what was read takes its bytes once, whether the source knows them or not.
TEST(Admission, WhatIsReadIntoTheBatchIsClaimedOnce) {
  static const NativeTable table = natives();
  constexpr int kBatch = 4, kSamples = 28;
  const int64_t largest = claimed_bytes(7 * kThousand);
  for (const bool knows_bytes : {true, false}) {
    ProgramMaker m;
    m.program.batch_size = kBatch;
    m.program.prefetch_depth = 3;
    m.program.memory_limit = kBatch * largest + largest / 2;
    m.at_line(3, "readers.file");
    const auto data = m.read(
        m.source(fmt::format(R"({{"knows_bytes": {}, "size": {}, "repeat": 1000}})", knows_bytes, kSamples)));
    m.program.code.back().c = m.list({0, 1});
    m.output("bytes", DType::kU8, {-1});
    m.output("number", DType::kI64, {});
    const auto program = m.finish(data);
    for (const ExecutorKind executor : {ExecutorKind::kInline, ExecutorKind::kCpu}) {
      SessionOptions options;
      options.executor = executor;
      options.num_threads = 3;
      options.allocator = std::make_shared<Allocator>(program->memory_limit);
      const auto session = Session::create(program, table, options);
      ASSERT_TRUE(session) << session.error().message();
      const Delivered all = deliver(**session, 2);
      EXPECT_EQ(all.errors, std::vector<std::string>());
      for (const auto& epoch : all.samples) {
        ASSERT_EQ(epoch.size(), static_cast<size_t>(kSamples));
        for (size_t i = 0; i < epoch.size(); ++i) {
          ASSERT_EQ(epoch[i].size(), (i % 7 + 1) * 1000 + sizeof(int64_t));
          EXPECT_EQ(epoch[i].front(), i);
        }
      }
      EXPECT_LE(options.allocator->peak_bytes(), program->memory_limit);
    }
  }
}

TEST(Admission, WhatIsTooLargeForTheLimitIsThatSamplesError) {
  for (OnErrorPolicy policy : {OnErrorPolicy::kRaise, OnErrorPolicy::kSkip, OnErrorPolicy::kReplace}) {
    // Samples of ten and eleven thousand bytes do not fit, whatever runs beside them.
    Ragged ragged{.batch_size = 1, .limit = 23 * kThousand, .on_error = policy};
    const Outcome judge = run(*open(ragged, ExecutorKind::kInline, 1));
    const auto named = [](const std::string& batch) {
      return batch.starts_with("G0920: this sample needs ");
    };
    const auto num_errors = std::count_if(judge.batches.begin(), judge.batches.end(), named);
    EXPECT_EQ(num_errors, policy == OnErrorPolicy::kRaise ? 7 : 0);
    for (int threads : {1, 4}) EXPECT_EQ(run(*open(ragged, ExecutorKind::kCpu, threads)), judge) << threads;
  }
}

TEST(Admission, TheErrorSaysWhatWasNeededAndWhere) {
  Ragged ragged{.batch_size = 1, .limit = 15 * kThousand, .num_samples = 1};
  for (bool unsaid : {false, true}) {
    ragged.unsaid = unsaid;
    ragged.limit = unsaid ? 1500 : 2000;
    for (ExecutorKind executor : {ExecutorKind::kInline, ExecutorKind::kCpu}) {
      auto session = open(ragged, executor, 2);
      auto batch = session->next();
      ASSERT_FALSE(batch.has_value());
      const Diagnostic& diagnostic = batch.error().diagnostics[0];
      EXPECT_EQ(diagnostic.code, "G0920");
      EXPECT_NE(diagnostic.message.find(std::to_string(ragged.limit)), std::string::npos)
          << diagnostic.message;
      EXPECT_FALSE(diagnostic.help.empty());
      EXPECT_NE(diagnostic.notes.back().find("number 0"), std::string::npos);
      EXPECT_EQ(session->sources().describe(diagnostic.span).substr(0, 15), "test.dali-dsl:5");
    }
  }
}

TEST(Admission, OutputsOfABatchThatExceedTheLimitAreRefusedAtOnce) {
  static const NativeTable table = natives();
  auto session = Session::create(ragged_program({.batch_size = 100, .limit = 40 * kThousand}), table);
  ASSERT_FALSE(session.has_value());
  EXPECT_EQ(session.error().diagnostics[0].code, "G0926");
}

TEST(Admission, YoungerBatchesGiveUpWhatTheOldestNeeds) {
  // Sample 2 (nine thousand bytes, twice) asks only when two younger ones have begun; their outputs are in
  // its way.
  Ragged ragged{.batch_size = 1, .prefetch_depth = 6, .num_samples = 8};
  const Outcome judge = run(*open(ragged, ExecutorKind::kInline, 1));
  ragged.gate = R"({"sample": 2, "calls": 4})";
  ragged.limit = 26 * kThousand;
  EXPECT_EQ(run(*open(ragged, ExecutorKind::kCpu, 2)), judge);
}

TEST(Admission, SamplesAtABarrierKeepTheirMemory) {
  Ragged ragged{.batch_size = 4, .barrier = true};
  const Outcome judge = run(*open(ragged, ExecutorKind::kInline, 1));
  ragged.limit = 120 * kThousand;
  for (int threads : {1, 3}) {
    EXPECT_EQ(run(*open(ragged, ExecutorKind::kCpu, threads)), judge);
    EXPECT_EQ(run(*open(ragged, ExecutorKind::kInline, threads)), judge);
  }
  // Half of a batch leaves no room for the other half, ever: errors, and an end.
  ragged.limit = 40 * kThousand;
  for (int threads : {1, 3}) {
    auto session = open(ragged, ExecutorKind::kCpu, threads);
    const Outcome outcome = run(*session);
    EXPECT_EQ(outcome.batches.size(), 10u);
    EXPECT_TRUE(std::any_of(outcome.batches.begin(), outcome.batches.end(),
                            [](const std::string& batch) { return batch.starts_with("G0920"); }));
  }
}

TEST(Admission, AConsumerThatHoldsTheMemoryIsToldAndLosesNothing) {
  for (ExecutorKind executor : {ExecutorKind::kInline, ExecutorKind::kCpu}) {
    Ragged ragged{.batch_size = 4, .num_samples = 12};
    const Outcome judge = run(*open(ragged, ExecutorKind::kInline, 1));
    ragged.limit = least(4);
    auto session = open(ragged, executor, 2);
    std::vector<std::shared_ptr<Batch>> held;
    Outcome outcome;
    for (int num_refusals = 0;;) {
      auto batch = session->next();
      if (!batch && executor == ExecutorKind::kCpu) {
        EXPECT_EQ(batch.error().diagnostics[0].code, "G0925") << batch.error().message();
        ASSERT_FALSE(held.empty());
        held.clear();
        ASSERT_LT(++num_refusals, 5);
        continue;
      }
      if (!batch) break;  // one thread cannot wait in the middle of a batch
      if (!*batch) {
        EXPECT_GE(num_refusals, 1);
        break;
      }
      std::string ids;
      for (int64_t id : (**batch)->sample_ids) ids += std::to_string(id) + " ";
      outcome.batches.push_back(ids);
      held.push_back(**batch);
    }
    if (executor == ExecutorKind::kCpu) {
      EXPECT_EQ(outcome, judge);
    }
  }
}

/// Any two batches in a row pass the limit, so that each waits for the one before to be let go. A thread that gets no
/// processor may do so too late, which is no sooner an error than a consumer is waited for, and loses nothing.
TEST(Admission, AnotherThreadOfTheConsumerMayLetGo) {
  constexpr std::chrono::milliseconds kPatience{500};
  Ragged ragged{.batch_size = 4, .num_samples = 12};
  ragged.limit = 50 * kThousand;
  auto session = open(ragged, ExecutorKind::kCpu, 2);
  int num_batches = 0;
  bool is_late = false;
  std::thread releasing;
  for (;;) {
    const auto begin = std::chrono::steady_clock::now();
    auto batch = session->next();
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (releasing.joinable()) releasing.join();
    if (!batch) {
      ASSERT_EQ(batch.error().diagnostics[0].code, "G0925") << batch.error().message();
      EXPECT_GE(waited, kPatience);
      ASSERT_FALSE(std::exchange(is_late, true)) << "nothing is held any more";
      continue;
    }
    is_late = false;
    if (!*batch) break;
    ++num_batches;
    releasing = std::thread([held = std::move(**batch)]() mutable {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      held.reset();
    });
    batch->reset();
  }
  EXPECT_EQ(num_batches, 3);
}

TEST(Admission, SessionsEndWhileSamplesWait) {
  for (int taken = 0; taken < 3; ++taken) {
    auto allocator = std::make_shared<Allocator>(least(2));
    Ragged ragged{.batch_size = 2, .prefetch_depth = 4};
    ragged.limit = least(2);
    auto session = open(ragged, ExecutorKind::kCpu, 4, allocator);
    for (int i = 0; i < taken; ++i) ASSERT_TRUE(session->next().has_value());
    session.reset();
    EXPECT_EQ(allocator->bytes_in_use(), 0);
  }
}

TEST(Admission, FailingAllocationsLoseNoClaims) {
  for (int64_t n = 1; n < 80; n += 3) {
    Ragged ragged{.batch_size = 4, .num_samples = 16};
    ragged.limit = least(4);
    auto allocator = std::make_shared<Allocator>(ragged.limit);
    allocator->fail_after(n, 4);
    auto session = open(ragged, ExecutorKind::kCpu, 2, allocator);
    const Outcome first = run(*session);
    for (const std::string& batch : first.batches)
      EXPECT_FALSE(batch.starts_with("G092") && batch[4] != '1') << batch;
    allocator->fail_after(int64_t{1} << 40, 0);
    // The second epoch has all the memory there is.
    const Outcome second = run(*session);
    EXPECT_EQ(second.batches.size(), 4u);
    for (const std::string& batch : second.batches) EXPECT_FALSE(batch.starts_with("G")) << batch;
  }
}

TEST(Scheduling, BatchesOfOneKeepEveryThreadBusy) {
  // Sample 0 waits inside its call until every other thread has been in one.
  for (int threads : {2, 4, 8}) {
    Ragged ragged{.batch_size = 1, .prefetch_depth = 1, .num_samples = 24};
    ragged.gate = R"({"sample": 0, "calls": )" + std::to_string(threads - 1) + "}";
    auto session = open(ragged, ExecutorKind::kCpu, threads);
    auto first = session->next(std::chrono::seconds(60));
    ASSERT_TRUE(first.has_value()) << first.error().message();
    EXPECT_EQ((**first)->sample_ids, std::vector<int64_t>{0});
  }
}

TEST(MemoryGate, GivesNoMoreThanTheLimit) {
  Allocator allocator(1000);
  MemoryGate gate(allocator);
  EXPECT_TRUE(gate.try_claim(600));
  EXPECT_FALSE(gate.try_claim(500));
  EXPECT_FALSE(gate.try_claim(int64_t{1} << 60));
  {
    auto outside = allocator.allocate(300);
    ASSERT_TRUE(outside.has_value());
    EXPECT_FALSE(gate.try_claim(100));
    EXPECT_EQ(gate.bytes_free(), 1000 - 600 - 300 - kBufferPadding);
  }
  gate.set_waiting(true);
  EXPECT_FALSE(gate.try_claim(1));
  EXPECT_TRUE(gate.claim_in_turn(400));
  gate.release(1000);
  EXPECT_EQ(gate.bytes_free(), 1000);
}

TEST(MemoryGate, ArenasStayWithinTheirClaims) {
  Allocator allocator(10'000);
  MemoryGate gate(allocator);
  {
    Arena arena(allocator, &gate);
    arena.wake(10'000);
    arena.add_budget(3000);
    ASSERT_TRUE(gate.try_claim(3000));
    const int32_t a = *arena.acquire(2000);
    EXPECT_EQ(gate.bytes_free(), 7000);
    // A need that nobody stated is claimed when it is met.
    const int32_t b = *arena.acquire(2000);
    EXPECT_EQ(gate.bytes_free(), 10'000 - 2 * claimed_bytes(2000));
    EXPECT_EQ(arena.lacking(), 0);
    ASSERT_TRUE(gate.try_claim(5000));
    ASSERT_FALSE(arena.acquire(3000).has_value());
    EXPECT_GT(arena.lacking(), 0);
    // Room of its own is used again instead.
    arena.release(a);
    arena.release(b);
    EXPECT_TRUE(arena.acquire(3000).has_value());
    arena.reset();
    arena.sleep();
    EXPECT_EQ(gate.bytes_free(), 5000 - arena.retained_bytes());
    arena.shrink_idle();
    EXPECT_EQ(gate.bytes_free(), 5000);
  }
  gate.release(5000);
  EXPECT_EQ(gate.bytes_free(), 10'000);
  EXPECT_EQ(allocator.bytes_in_use(), 0);
}

}  // namespace
}  // namespace galatea::runtime
