// Samples that a host makes when they are wanted, and feeding from a thread that waits for room.
#include <atomic>
#include <set>
#include <thread>

#include "tests/api/host.h"

namespace galatea_pull_test {
namespace {

using namespace galatea_host;

constexpr const char* kOne = R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=3, num_threads=2, seed=7)
def one():
    x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
    return x * 2.0
)";
constexpr const char* kLate = R"(from nvidia.dali import pipeline_def, fn

@pipeline_def(batch_size=3, num_threads=2, seed=7)
def late():
    return fn.external_source(name="x") * 2.0
)";
constexpr const char* kTwo = R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=3, num_threads=2, seed=7)
def two():
    x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
    y = fn.external_source(name="y", dtype=types.FLOAT, ndim=1)
    return fn.cat(x, y, axis=0)
)";

/// Sample k of an epoch is {epoch, k}; there are `length` in an epoch.
struct Maker {
  int64_t length = 7, fails_at = -1, lies_at = -1;
  float offset = 0;
  int batch = 3;        ///< per_batch: at most so many at a time
  bool silent = false;  ///< gives nothing
  std::atomic<int> calls{0}, destroyed{0}, running{0};
  std::set<std::thread::id> threads;
  std::vector<std::pair<int64_t, int64_t>> asked;

  static void pull(void* context, galatea_pull* pull) {
    auto& self = *static_cast<Maker*>(context);
    EXPECT_EQ(++self.running, 1);
    ++self.calls;
    self.threads.insert(std::this_thread::get_id());
    self.asked.emplace_back(galatea_pull_epoch(pull), galatea_pull_sample(pull));
    const int32_t wanted = std::min(galatea_pull_num_samples(pull), self.batch);
    for (int32_t k = 0; k < wanted && !self.silent; ++k) {
      const int64_t sample = galatea_pull_sample(pull) + k;
      if (sample >= self.length) {
        galatea_pull_end(pull);
        break;
      }
      if (sample == self.fails_at) {
        galatea_pull_fail(pull, "the disk is gone");
        continue;
      }
      float values[2] = {static_cast<float>(galatea_pull_epoch(pull)) + self.offset,
                         static_cast<float>(sample)};
      const int64_t two = 2;
      galatea_tensor tensor;
      EXPECT_OK(galatea_tensor_init(&tensor, values, GALATEA_FLOAT, 1, &two));
      if (sample == self.lies_at) tensor.dtype = GALATEA_INT32;
      EXPECT_OK(galatea_pull_give(pull, &tensor, nullptr));
    }
    --self.running;
  }
  static void destroy(void* context) { ++static_cast<Maker*>(context)->destroyed; }
  galatea_pulled_input input(bool per_batch) {
    galatea_pulled_input input;
    galatea_pulled_input_init(&input);
    input.pull = pull;
    input.destroy = destroy;
    input.context = this;
    input.per_batch = per_batch;
    return input;
  }
};

/// Doubled samples of the batches until the end of an epoch; an error is its code.
std::vector<std::string> epoch(galatea_session* session) {
  std::vector<std::string> seen;
  for (int guard = 0; guard < 50; ++guard) {
    galatea_batch* taken = nullptr;
    Owned<galatea_error> error(galatea_session_next(session, -1, &taken));
    Owned<galatea_batch> batch(taken);
    if (error) {
      seen.push_back(galatea_error_code_borrow(error.get()));
      continue;
    }
    if (!batch) return seen;
    std::string text;
    for (int32_t k = 0; k < galatea_batch_num_samples(batch.get()); ++k) {
      for (float value : floats(batch.get(), 0, k)) text += std::to_string(static_cast<int>(value)) + " ";
      text += "; ";
    }
    seen.push_back(text);
  }
  ADD_FAILURE() << "no end";
  return seen;
}

using Seen = std::vector<std::string>;

TEST(Pull, GivesEpochAfterEpochOnAThreadOfTheLibrary) {
  auto engine = make_engine();
  for (const char* text : {kOne, kLate}) {
    auto program = compile(engine.get(), text);
    ASSERT_TRUE(program);
    for (const bool synchronous : {false, true}) {
      for (const bool per_batch : {false, true}) {
        Maker maker;
        const auto input = maker.input(per_batch);
        auto session = start(program.get(), 8, synchronous);
        ASSERT_OK(galatea_session_pull_input(session.get(), "x", &input));
        EXPECT_EQ(epoch(session.get()), (Seen{"0 0 ; 0 2 ; 0 4 ; ", "0 6 ; 0 8 ; 0 10 ; ", "0 12 ; "}));
        EXPECT_EQ(epoch(session.get()), (Seen{"2 0 ; 2 2 ; 2 4 ; ", "2 6 ; 2 8 ; 2 10 ; ", "2 12 ; "}));
        session.reset();
        EXPECT_EQ(maker.destroyed, 1);
        EXPECT_EQ(maker.threads.size(), 1U);
        EXPECT_EQ(maker.threads.contains(std::this_thread::get_id()), synchronous);
        // Asked for each sample once, in order, and for nothing behind the second epoch.
        EXPECT_EQ(maker.asked.back().first, 1);
        EXPECT_EQ(maker.calls, per_batch ? 6 : 16);
      }
    }
  }
}

/// Gives samples of as many floats as `sizes` says, batch by batch, each filled with its number in the epoch.
struct Sized {
  std::vector<std::vector<int64_t>> sizes;

  static void pull(void* context, galatea_pull* pull) {
    const auto& self = *static_cast<Sized*>(context);
    const auto batch = static_cast<size_t>(galatea_pull_batch(pull));
    if (batch >= self.sizes.size()) return galatea_pull_end(pull);
    int64_t number = galatea_pull_sample(pull);
    for (const int64_t size : self.sizes[batch]) {
      std::vector<float> values(static_cast<size_t>(size), static_cast<float>(number++));
      galatea_tensor tensor;
      EXPECT_OK(galatea_tensor_init(&tensor, values.data(), GALATEA_FLOAT, 1, &size));
      EXPECT_OK(galatea_pull_give(pull, &tensor, nullptr));
    }
  }
};

TEST(Pull, SamplesOfOneSizeLieInARowOnceABatchOfThemWasSeen) {
  auto engine = make_engine();
  auto program = compile(engine.get(), R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=4, num_threads=1)
def handed_on():
    return fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
)");
  ASSERT_TRUE(program);
  // Expected: whether the samples of the batch lie in a row.
  Sized maker{{{16, 16, 16}, {16, 16, 16}, {32, 32}, {32, 32, 32}, {16, 48, 16, 16}, {16, 16}, {16, 16}}};
  const std::vector<bool> expected = {false, true, true, false, false, false, true};
  galatea_pulled_input input;
  galatea_pulled_input_init(&input);
  input.pull = Sized::pull;
  input.context = &maker;
  input.per_batch = true;
  auto session = start(program.get(), 8, false);
  ASSERT_OK(galatea_session_pull_input(session.get(), "x", &input));
  float number = 0;
  for (size_t at = 0; at < maker.sizes.size(); ++at) {
    galatea_batch* taken = nullptr;
    ASSERT_OK(galatea_session_next(session.get(), -1, &taken));
    Owned<galatea_batch> batch(taken);
    ASSERT_TRUE(batch);
    ASSERT_EQ(galatea_batch_num_samples(batch.get()), static_cast<int32_t>(maker.sizes[at].size()));
    bool is_row = true;
    const char* behind = nullptr;
    for (int32_t k = 0; k < galatea_batch_num_samples(batch.get()); ++k) {
      const int64_t size = maker.sizes[at][static_cast<size_t>(k)];
      EXPECT_EQ(floats(batch.get(), 0, k), std::vector<float>(static_cast<size_t>(size), number++)) << at;
      galatea_tensor tensor;
      ASSERT_OK(galatea_batch_tensor_borrow(batch.get(), 0, k, &tensor));
      const char* data = static_cast<const char*>(tensor.data);
      is_row &= !behind || data == behind;
      behind = data + size * static_cast<int64_t>(sizeof(float));
    }
    EXPECT_EQ(is_row, expected[at]) << "batch " << at;
  }
}

TEST(Pull, ASampleThatCannotBeMadeIsItsError) {
  auto engine = make_engine();
  for (const char* policy : {"raise", "skip"}) {
    auto options = make_options();
    ASSERT_OK(galatea_program_options_set_on_error(options.get(), policy));
    auto program = compile(engine.get(), kOne, options.get());
    for (const bool per_batch : {false, true}) {
      Maker maker;
      maker.fails_at = 4;
      const auto input = maker.input(per_batch);
      auto session = start(program.get());
      ASSERT_OK(galatea_session_pull_input(session.get(), "x", &input));
      const std::string second = std::string(policy) == "raise" ? "G0976" : "0 6 ; 0 10 ; ";
      EXPECT_EQ(epoch(session.get()), (Seen{"0 0 ; 0 2 ; 0 4 ; ", second, "0 12 ; "})) << policy;
    }
  }
}

TEST(Pull, WhatIsWrongWithABatchIsAnErrorAndTheNextOneComes) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kOne);
  Maker liar, silent, failing;  // outlive the sessions
  liar.lies_at = 4;
  auto input = liar.input(true);
  auto session = start(program.get());
  ASSERT_OK(galatea_session_pull_input(session.get(), "x", &input));
  EXPECT_EQ(epoch(session.get()), (Seen{"0 0 ; 0 2 ; 0 4 ; ", "G0906", "0 12 ; "}));

  silent.silent = true;
  input = silent.input(false);
  session = start(program.get());
  ASSERT_OK(galatea_session_pull_input(session.get(), "x", &input));
  galatea_batch* batch = nullptr;
  EXPECT_NE(text_of(galatea_session_next(session.get(), -1, &batch)).find("gave nothing"), std::string::npos);
  galatea_session_cancel(session.get());
  EXPECT_EQ(code_of(galatea_session_next(session.get(), -1, &batch)), GALATEA_CODE_CANCELLED);

  // Nothing that could say the type.
  auto late = compile(engine.get(), kLate);
  failing.fails_at = 0;
  failing.batch = 1;
  input = failing.input(true);
  session = start(late.get());
  ASSERT_OK(galatea_session_pull_input(session.get(), "x", &input));
  EXPECT_EQ(epoch(session.get()).front(), "G0976");
}

TEST(Pull, InputsGoSideBySideAndEndTogether) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kTwo);
  Maker x, y, small;  // outlive the sessions
  y.length = 5;
  y.offset = 10;
  auto session = start(program.get());
  const auto first = x.input(false), second = y.input(true);
  ASSERT_OK(galatea_session_pull_input(session.get(), "x", &first));
  galatea_batch* batch = nullptr;
  EXPECT_NE(text_of(galatea_session_next(session.get(), -1, &batch)).find("'y'"), std::string::npos);
  ASSERT_OK(galatea_session_pull_input(session.get(), "y", &second));
  EXPECT_EQ(epoch(session.get()), (Seen{"0 0 10 0 ; 0 1 10 1 ; 0 2 10 2 ; ", "0 3 10 3 ; 0 4 10 4 ; "}));
  EXPECT_EQ(epoch(session.get()).size(), 2U);
  // Of another number of samples: that batch is an error.
  small.batch = 2;
  const auto third = x.input(false), fourth = small.input(true);
  session = start(program.get());
  ASSERT_OK(galatea_session_pull_input(session.get(), "x", &third));
  ASSERT_OK(galatea_session_pull_input(session.get(), "y", &fourth));
  EXPECT_NE(
      text_of(galatea_session_next(session.get(), -1, &batch)).find("2 samples were given, but 'x' has 3"),
      std::string::npos);
}

TEST(Pull, WrongCallsAreRefused) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kOne);
  auto session = start(program.get());
  Maker maker;
  auto input = maker.input(false);
  EXPECT_EQ(code_of(galatea_session_pull_input(session.get(), "z", &input)), "G0905");
  input.pull = nullptr;
  EXPECT_EQ(code_of(galatea_session_pull_input(session.get(), "x", &input)), "G0940");
  EXPECT_EQ(maker.destroyed, 0);
  input = maker.input(false);
  ASSERT_OK(galatea_session_pull_input(session.get(), "x", &input));
  EXPECT_EQ(code_of(galatea_session_pull_input(session.get(), "x", &input)), "G0975");
  EXPECT_EQ(code_of(feed(session.get(), {{1}})), "G0975");
  EXPECT_EQ(code_of(galatea_session_end_of_feed(session.get())), "G0975");
  EXPECT_TRUE(next(session.get()));
  session.reset();
  EXPECT_EQ(maker.destroyed, 1);
}

TEST(Pull, EndsWhileTheHostIsAsked) {
  struct Slow {
    std::atomic<bool> asked{false};
    static void pull(void* context, galatea_pull* pull) {
      static_cast<Slow*>(context)->asked = true;
      while (!galatea_pull_is_cancelled(pull)) std::this_thread::yield();
    }
  } slow;
  auto engine = make_engine();
  auto program = compile(engine.get(), kOne);
  auto session = start(program.get());
  galatea_pulled_input input;
  galatea_pulled_input_init(&input);
  input.pull = Slow::pull;
  input.context = &slow;
  ASSERT_OK(galatea_session_pull_input(session.get(), "x", &input));
  galatea_batch* batch = nullptr;
  EXPECT_EQ(code_of(galatea_session_next(session.get(), 1, &batch)), GALATEA_CODE_TIMEOUT);
  while (!slow.asked) std::this_thread::yield();
  session.reset();
}

TEST(FeedWithin, WaitsForRoomAndTheConsumerWaitsForTheFeed) {
  auto engine = make_engine();
  for (const char* text : {kOne, kLate}) {
    auto program = compile(engine.get(), text);
    galatea_session_options options;
    galatea_session_options_init(&options);
    options.wait_for_feed = 1;
    galatea_session* made = nullptr;
    ASSERT_OK(galatea_session_create(program.get(), &options, &made));
    Owned<galatea_session> session(made);
    constexpr int kBatches = 40;
    std::atomic<int> releases{0};
    float numbers[kBatches];
    std::thread feeder([&] {
      const int64_t one = 1;
      for (int k = 0; k < kBatches; ++k) {
        numbers[k] = static_cast<float>(k);
        galatea_tensor tensor;
        EXPECT_OK(galatea_tensor_init(&tensor, numbers + k, GALATEA_FLOAT, 1, &one));
        const auto release = [](void* context) { ++*static_cast<std::atomic<int>*>(context); };
        EXPECT_OK(galatea_session_feed_within(session.get(), -1, "x", &tensor, 1, nullptr,
                                              k % 2 ? +release : nullptr, &releases));
      }
      EXPECT_OK(galatea_session_end_of_feed(session.get()));
    });
    const Seen seen = epoch(session.get());
    feeder.join();
    ASSERT_EQ(seen.size(), size_t{kBatches});
    for (int k = 0; k < kBatches; ++k) EXPECT_EQ(seen[static_cast<size_t>(k)], std::to_string(2 * k) + " ; ");
    session.reset();
    EXPECT_EQ(releases, kBatches / 2);
  }
}

TEST(FeedWithin, SaysThatTheQueueStayedFull) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kOne);
  auto session = start(program.get(), 8, true);  // nobody works on what waits
  float value = 3;
  const int64_t one = 1;
  galatea_tensor tensor;
  ASSERT_OK(galatea_tensor_init(&tensor, &value, GALATEA_FLOAT, 1, &one));
  int fed = 0;
  std::string code;
  while (code.empty() && fed < 100) {
    code = code_of(galatea_session_feed_within(session.get(), 0, "x", &tensor, 1, nullptr, nullptr, nullptr));
    fed += code.empty();
  }
  EXPECT_EQ(code, "G0974");
  EXPECT_EQ(fed, 2);  // the prefetch depth
  EXPECT_TRUE(next(session.get()));
  EXPECT_OK(galatea_session_feed_within(session.get(), 0, "x", &tensor, 1, nullptr, nullptr, nullptr));
  // A cancelled session keeps nobody waiting.
  std::thread other([&] { galatea_session_cancel(session.get()); });
  EXPECT_EQ(
      code_of(galatea_session_feed_within(session.get(), -1, "x", &tensor, 1, nullptr, nullptr, nullptr)),
      GALATEA_CODE_CANCELLED);
  other.join();
}

}  // namespace
}  // namespace galatea_pull_test
