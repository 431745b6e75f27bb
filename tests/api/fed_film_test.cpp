// Films that a host feeds: from a thread that waits for room, pulled, beside a reader, and gone on with from a state.
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/api/host.h"

namespace galatea_fed_film_test {
namespace {

using namespace galatea_host;
using Events = std::vector<std::string>;

std::string bytes_of_film(const char* name) {
  std::ifstream file(std::string(GALATEA_SOURCE_DIR) + "/tests/video/films/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

galatea_tensor tensor_of(const std::string& bytes) {
  galatea_tensor tensor;
  const auto size = static_cast<int64_t>(bytes.size());
  EXPECT_OK(galatea_tensor_init(&tensor, const_cast<char*>(bytes.data()), GALATEA_UINT8, 1, &size));
  return tensor;
}

/// Sequences of 10 of a film's 25 frames, two a batch, each with a draw of its own.
std::string text_of_films(const std::string& more = {}) {
  return "from nvidia.dali import pipeline_def, fn, types\n\n@pipeline_def(batch_size=2, num_threads=2, "
         "seed=7)\ndef films():\n    clip = fn.inputs.video(name=\"film\", sequence_length=10)\n"
         "    return fn.reductions.mean(clip, axes=[1, 2, 3]), fn.random.uniform(range=[0, 1])" +
         more + "\n";
}

/// Bytes of a sample's outputs.
std::string sample_of(const galatea_batch* batch, int32_t sample) {
  std::string out;
  for (int32_t output = 0; output < galatea_batch_num_outputs(batch); ++output) {
    galatea_tensor tensor;
    EXPECT_OK(galatea_batch_tensor_borrow(batch, output, sample, &tensor));
    int64_t bytes = galatea_dtype_size(tensor.dtype);
    for (int d = 0; d < tensor.ndim; ++d) bytes *= tensor.extents[d];
    out.append(static_cast<const char*>(tensor.data), static_cast<size_t>(bytes));
  }
  return out;
}

/// The samples until the end of an epoch, or the code of an error; "|" behind each batch.
Events run_on(galatea_session* session, int most_batches = 1000) {
  Events events;
  for (int number = 0; number < most_batches; ++number) {
    galatea_batch* taken = nullptr;
    const std::string code = code_of(galatea_session_next(session, 60'000, &taken));
    if (!code.empty()) {
      events.push_back(code);
      return events;
    }
    if (!taken) return events;
    const Owned<galatea_batch> batch(taken);
    for (int32_t k = 0; k < galatea_batch_num_samples(taken); ++k) events.push_back(sample_of(taken, k));
    events.emplace_back("|");
  }
  return events;
}

Owned<galatea_session> start_by(galatea_program* program, bool waits, const std::string& state = {}) {
  galatea_session_options options;
  galatea_session_options_init(&options);
  options.wait_for_feed = waits ? 1 : 0;
  options.state = state.empty() ? nullptr : state.c_str();
  galatea_session* session = nullptr;
  EXPECT_OK(galatea_session_create(program, &options, &session));
  return Owned<galatea_session>(session);
}

galatea_error* feed_film(galatea_session* session, const std::string& film) {
  const galatea_tensor tensor = tensor_of(film);
  return galatea_session_feed(session, "film", &tensor, 1, nullptr);
}

class FedFilms : public ::testing::Test {
 protected:
  void SetUp() override {
    engine_ = make_engine();
    program_ = compile(engine_.get(), text_of_films().c_str());
    ASSERT_NE(program_, nullptr);
    const auto session = start_by(program_.get(), false);
    Owned<galatea_error> error(feed_film(session.get(), film_));
    if (error && std::strcmp(galatea_error_code_borrow(error.get()), "G0998") == 0)
      GTEST_SKIP() << "SKIPPED: " << galatea_error_text_borrow(error.get());
    ASSERT_FALSE(error);
    ASSERT_OK(galatea_session_end_of_feed(session.get()));
    once_ = run_on(session.get());
    ASSERT_EQ(once_.size(), 5U);  // 2 + 1 samples, each batch with its end
  }

  static std::string state_of(const galatea_session* session) {
    char* text = nullptr;
    EXPECT_OK(galatea_session_state_take(session, &text));
    std::string state = text ? text : "";
    galatea_string_destroy(text);
    return state;
  }

  const std::string film_ = bytes_of_film("vp9.webm"), other_ = bytes_of_film("vp8.webm");
  Owned<galatea_engine> engine_;
  Owned<galatea_program> program_;
  Events once_;
};

TEST_F(FedFilms, AreFedByAThreadThatWaitsForRoom) {
  const auto session = start_by(program_.get(), true);
  std::thread feeder([&] {
    for (int k = 0; k < 5; ++k) {
      const galatea_tensor tensor = tensor_of(film_);
      EXPECT_OK(
          galatea_session_feed_within(session.get(), 60'000, "film", &tensor, 1, nullptr, nullptr, nullptr));
    }
    EXPECT_OK(galatea_session_end_of_feed(session.get()));
  });
  const Events events = run_on(session.get());
  feeder.join();
  ASSERT_EQ(events.size(), 25U);
  for (size_t k = 0; k < once_.size(); ++k) EXPECT_EQ(events[k], once_[k]);
  // Nobody takes: what is fed beyond the batches made ahead finds no room in time.
  const galatea_tensor tensor = tensor_of(film_);
  std::string code;
  for (int k = 0; k < 20 && code.empty(); ++k)
    code =
        code_of(galatea_session_feed_within(session.get(), 1, "film", &tensor, 1, nullptr, nullptr, nullptr));
  EXPECT_EQ(code, GALATEA_CODE_QUEUE_FULL);
}

struct Shelf {
  const std::string* film = nullptr;
  int64_t films = 0;
  static void pull(void* context, galatea_pull* pull) {
    const auto& self = *static_cast<Shelf*>(context);
    if (galatea_pull_sample(pull) >= self.films) return galatea_pull_end(pull);
    const galatea_tensor tensor = tensor_of(*self.film);
    EXPECT_OK(galatea_pull_give(pull, &tensor, nullptr));
  }
  galatea_pulled_input input() {
    galatea_pulled_input input;
    galatea_pulled_input_init(&input);
    input.pull = pull;
    input.context = this;
    return input;
  }
};

TEST_F(FedFilms, ArePulled) {
  Shelf shelf{&film_, 3};
  const auto session = start_by(program_.get(), false);
  const galatea_pulled_input input = shelf.input();
  ASSERT_OK(galatea_session_pull_input(session.get(), "film", &input));
  const Events events = run_on(session.get());
  ASSERT_EQ(events.size(), 15U);
  for (size_t k = 0; k < once_.size(); ++k) EXPECT_EQ(events[k], once_[k]);
  EXPECT_EQ(run_on(session.get()).size(), 15U);  // the next epoch
}

TEST_F(FedFilms, AreNotPulledWhereNobodyCouldSayWhichOneIsNext) {
  const auto first = start_by(program_.get(), false);
  ASSERT_OK(feed_film(first.get(), film_));
  EXPECT_EQ(run_on(first.get(), 1).size(), 3U);
  Shelf shelf{&film_, 3};
  const galatea_pulled_input input = shelf.input();
  const auto second = start_by(program_.get(), false, state_of(first.get()));
  ASSERT_OK(galatea_session_pull_input(second.get(), "film", &input));
  EXPECT_EQ(run_on(second.get()), Events{"G0975"});

  const auto two = compile(
      engine_.get(), text_of_films(", fn.external_source(name=\"x\", dtype=types.FLOAT, ndim=1)").c_str());
  const auto beside = start_by(two.get(), false);
  for (const char* name : {"film", "x"}) ASSERT_OK(galatea_session_pull_input(beside.get(), name, &input));
  EXPECT_EQ(run_on(beside.get()), Events{"G0975"});
}

TEST_F(FedFilms, GoOnFromAStateInTheirMiddle) {
  // The whole run: two films, and the first again.
  const auto whole = start_by(program_.get(), false);
  for (const std::string* film : {&film_, &other_, &film_}) ASSERT_OK(feed_film(whole.get(), *film));
  ASSERT_OK(galatea_session_end_of_feed(whole.get()));
  const Events expected = run_on(whole.get());
  ASSERT_EQ(expected.size(), 15U);
  const std::string* const films[] = {&film_, &other_, &film_};
  for (int stop = 0; stop <= 6; ++stop) {
    SCOPED_TRACE(stop);
    const auto first = start_by(program_.get(), false);
    for (const std::string* film : films) ASSERT_OK(feed_film(first.get(), *film));
    Events events = run_on(first.get(), stop);
    const auto second = start_by(program_.get(), false, state_of(first.get()));
    // Of three batches, two are behind the first film's end.
    for (int film = stop / 2; film < 3; ++film) ASSERT_OK(feed_film(second.get(), *films[film]));
    ASSERT_OK(galatea_session_end_of_feed(second.get()));
    const Events rest = run_on(second.get());
    events.insert(events.end(), rest.begin(), rest.end());
    EXPECT_EQ(events, expected);
  }
}

TEST_F(FedFilms, WhatWasAtWorkIsFedFirst) {
  const auto first = start_by(program_.get(), false);
  ASSERT_OK(feed_film(first.get(), film_));
  EXPECT_EQ(run_on(first.get(), 1).size(), 3U);
  const auto second = start_by(program_.get(), false, state_of(first.get()));
  // One that has a single sequence of 10.
  const std::string text = text_of(feed_film(second.get(), bytes_of_film("mjpeg.avi")));
  EXPECT_NE(text.find("external input 'film': the state stands behind sample 2"), std::string::npos) << text;
  ASSERT_OK(feed_film(second.get(), film_));
  EXPECT_EQ(run_on(second.get(), 1), Events(once_.begin() + 3, once_.end()));
}

TEST_F(FedFilms, SayWhichInputIsWrong) {
  const auto session = start_by(program_.get(), false);
  const std::string text = text_of(feed_film(session.get(), std::string(200, 'x')));
  EXPECT_NE(text.find("it was fed to 'film'"), std::string::npos) << text;
  EXPECT_NE(text.find("in inputs.video"), std::string::npos) << text;
  std::string damaged = bytes_of_film("h264.mkv");
  for (size_t k = damaged.size() / 2; k < damaged.size() / 2 + 700; ++k)
    damaged[k] = static_cast<char>(k * 7);
  ASSERT_OK(feed_film(session.get(), damaged));
  galatea_batch* batch = nullptr;
  const std::string failed = text_of(galatea_session_next(session.get(), -1, &batch));
  const Owned<galatea_batch> owned(batch);
  EXPECT_NE(failed.find("part 0 of what was fed to 'film'"), std::string::npos) << failed;
  EXPECT_NE(failed.find("in inputs.video"), std::string::npos) << failed;
}

}  // namespace
}  // namespace galatea_fed_film_test
