// A run that stops after any batch goes on from its state, bit for bit as if it had not stopped.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/json.h"
#include "tests/api/host.h"

namespace galatea_state_test {
namespace {

using namespace galatea_host;
using galatea::parse_json;

/// What a consumer sees, in order. A sample, the end of an epoch, or an error, which takes the place of its
/// batch.
using Events = std::vector<std::string>;

struct Settings {
  int32_t batch_size = 4, threads = 2, prefetch = 2;
  bool synchronous = false;
  const char* on_error = "raise";
};

struct Running {
  Owned<galatea_program> program;
  Owned<galatea_session> session;
};

std::string take(galatea_error* error, char* text) {
  EXPECT_EQ(text_of(error), "");
  std::string out = text ? text : "";
  galatea_string_destroy(text);
  return out;
}

std::string state_of(const galatea_session* session) {
  char* text = nullptr;
  galatea_error* error = galatea_session_state_take(session, &text);
  return take(error, text);
}

/// What next() gives, as events.
Events take_next(galatea_session* session) {
  galatea_batch* taken = nullptr;
  Owned<galatea_error> error(galatea_session_next(session, -1, &taken));
  if (error) return {std::string("error ") + galatea_error_message_borrow(error.get())};
  Owned<galatea_batch> batch(taken);
  if (!batch) return {"end"};
  Events events;
  for (int32_t sample = 0; sample < galatea_batch_num_samples(batch.get()); ++sample) {
    std::string event = std::to_string(galatea_batch_epoch(batch.get())) + "/" +
                        std::to_string(galatea_batch_sample_id(batch.get(), sample)) + ":";
    for (int32_t output = 0; output < galatea_batch_num_outputs(batch.get()); ++output) {
      galatea_tensor tensor;
      EXPECT_OK(galatea_batch_tensor_borrow(batch.get(), output, sample, &tensor));
      EXPECT_EQ(tensor.device_type, GALATEA_HOST);
      int64_t bytes = galatea_dtype_size(tensor.dtype);
      for (int d = 0; d < tensor.ndim; ++d) bytes *= tensor.extents[d];
      event.append(static_cast<const char*>(tensor.data), static_cast<size_t>(bytes));
      event += '|';
    }
    events.push_back(std::move(event));
  }
  return events;
}

class State : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / ("galatea_state_" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    // Eleven files of four bytes, but for one, at which the pipeline fails.
    for (int k = 0; k < 11; ++k) write(k, k == 6 ? "abcde" : std::string(4, static_cast<char>('a' + k)));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(int k, const std::string& bytes) {
    const auto path = folder_ / (k < 5 ? "one" : "two") / (std::to_string(k) + ".jpg");
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << bytes;
  }

  std::string reading(const std::string& reader) const {
    return "from nvidia.dali import pipeline_def, fn, types\n"
           "@pipeline_def(batch_size=4, num_threads=2, seed=7)\n"
           "def p():\n"
           "    data, label = fn.readers.file(file_root=\"" +
           folder_.string() + "\"" + reader +
           ")\n"
           "    other, _ = fn.readers.file(file_root=\"" +
           folder_.string() +
           "\", name=\"other\", random_shuffle=True, seed=5, initial_fill=3)\n"
           "    data = fn.reshape(data, shape=[4])\n"
           "    x = fn.cast(data, dtype=types.FLOAT) + fn.random.uniform(range=[0.0, 1.0])\n"
           "    return x, label, fn.cast(other, dtype=types.INT32) + fn.random.uniform(range=[0.0, 9.0], "
           "shape=[1])\n";
  }

  Running run(const std::string& text, const Settings& settings, const std::string& state = {},
              const std::function<void(galatea_session*)>& set_up = {}) {
    auto options = make_options();
    EXPECT_OK(galatea_program_options_set_batch_size(options.get(), settings.batch_size));
    EXPECT_OK(galatea_program_options_set_prefetch_depth(options.get(), settings.prefetch));
    EXPECT_OK(galatea_program_options_set_on_error(options.get(), settings.on_error));
    Running out{compile(engine_.get(), text.c_str(), options.get()), nullptr};
    if (out.program) out.session = begin(out.program.get(), settings, state);
    if (out.session && set_up) set_up(out.session.get());
    return out;
  }
  static Owned<galatea_session> begin(const galatea_program* program, const Settings& settings,
                                      const std::string& state) {
    galatea_session* session = nullptr;
    EXPECT_OK(try_begin(program, settings, state, &session));
    return Owned<galatea_session>(session);
  }
  static galatea_error* try_begin(const galatea_program* program, const Settings& settings,
                                  const std::string& state, galatea_session** session) {
    galatea_session_options options;
    galatea_session_options_init(&options);
    options.num_threads = settings.threads;
    options.synchronous = settings.synchronous;
    options.state = state.empty() ? nullptr : state.c_str();
    return galatea_session_create(program, &options, session);
  }

  /// Two epochs in one go, and again from the state behind each batch, with each of the other settings.
  void goes_on_from_each_batch(const std::string& text, const Settings& settings,
                               const std::vector<Settings>& others,
                               const std::function<void(galatea_session*)>& set_up = {}) {
    Events all;
    std::vector<std::pair<size_t, std::string>> states;
    {
      Running whole = run(text, settings, {}, set_up);
      ASSERT_TRUE(whole.session);
      for (int epochs = 0; epochs < 2;) {
        states.emplace_back(all.size(), state_of(whole.session.get()));
        const Events events = take_next(whole.session.get());
        all.insert(all.end(), events.begin(), events.end());
        if (events.back() == "end") ++epochs;
        ASSERT_LT(all.size(), 200U);
      }
    }
    for (const Settings& other : others) {
      // Compiled once; a session for each state.
      Running first = run(text, other);
      ASSERT_TRUE(first.program);
      for (const auto& [at, state] : states) {
        EXPECT_LT(state.size(), 500U);
        auto session = begin(first.program.get(), other, state);
        ASSERT_TRUE(session) << state;
        if (set_up) set_up(session.get());
        Events rest;
        const Events expected(all.begin() + static_cast<std::ptrdiff_t>(at), all.end());
        for (size_t guard = 0; rest.size() < expected.size() && guard < 200; ++guard) {
          const Events events = take_next(session.get());
          rest.insert(rest.end(), events.begin(), events.end());
        }
        EXPECT_EQ(rest, expected) << "from " << state << " with batches of " << other.batch_size;
      }
    }
  }

  const Settings inline_ = {.synchronous = true};
  std::filesystem::path folder_;
  Owned<galatea_engine> engine_ = make_engine();
};

TEST_F(State, OfAReaderWithAWindowOfShuffling) {
  for (const char* policy : {"skip", "replace"}) {
    const Settings settings = {.on_error = policy};
    goes_on_from_each_batch(reading(", random_shuffle=True, initial_fill=5"), settings,
                            {{4, 1, 1, false, policy}, {3, 3, 4, false, policy}, {1, 2, 2, true, policy}});
  }
}

TEST_F(State, OfAnErrorThatTookTheBatch) {
  // The batch is part of which samples an error takes along.
  goes_on_from_each_batch(reading(", shuffle_after_epoch=True"), {}, {{4, 3, 1}, inline_});
  // Position and shard go round from epoch to epoch.
  goes_on_from_each_batch(reading(", num_shards=2, shard_id=1, random_shuffle=True"), {},
                          {{4, 1, 3}, inline_});
}

TEST_F(State, OfPaddedEpochs) {
  const std::string text = reading(", pad_last_batch=True, random_shuffle=True");
  const Settings settings = {.on_error = "replace"};
  goes_on_from_each_batch(text, settings, {{4, 3, 1, false, "replace"}});
  Running running = run(text, settings);
  ASSERT_TRUE(running.session);
  take_next(running.session.get());
  const std::string state = state_of(running.session.get());
  Running other = run(text, {3, 2, 2, false, "replace"});
  galatea_session* session = nullptr;
  EXPECT_EQ(code_of(try_begin(other.program.get(), {}, state, &session)), "G0984");
  EXPECT_EQ(session, nullptr);
}

TEST_F(State, WithoutDataToRead) {
  const std::string text =
      "from nvidia.dali import pipeline_def, fn, types\n"
      "@pipeline_def(batch_size=4, num_threads=2, seed=7)\n"
      "def p():\n"
      "    return fn.random.uniform(range=[0.0, 1.0], shape=[3])\n";
  Running whole = run(text, {});
  ASSERT_TRUE(whole.session);
  take_next(whole.session.get());
  const std::string state = state_of(whole.session.get());
  Events expected = take_next(whole.session.get());
  const Events more = take_next(whole.session.get());
  expected.insert(expected.end(), more.begin(), more.end());
  Running other = run(text, {8, 1, 1}, state);
  EXPECT_EQ(take_next(other.session.get()), expected);
}

constexpr const char* kPulled =
    "from nvidia.dali import pipeline_def, fn, types\n"
    "@pipeline_def(batch_size=4, num_threads=2, seed=7)\n"
    "def p():\n"
    "    x = fn.external_source(name=\"x\", dtype=types.FLOAT, ndim=1)\n"
    "    return x + fn.random.uniform(range=[0.0, 1.0])\n";

/// Sample k of an epoch is a function of both; the seventh cannot be made; there are eleven.
void pull_one(void*, galatea_pull* pull) {
  const int64_t sample = galatea_pull_sample(pull);
  if (sample >= 11) return galatea_pull_end(pull);
  if (sample == 6) return galatea_pull_fail(pull, "six is missing");
  float values[2] = {static_cast<float>(galatea_pull_epoch(pull)), static_cast<float>(sample)};
  const int64_t two = 2;
  galatea_tensor tensor;
  EXPECT_OK(galatea_tensor_init(&tensor, values, GALATEA_FLOAT, 1, &two));
  EXPECT_OK(galatea_pull_give(pull, &tensor, nullptr));
}

TEST_F(State, OfInputsThatArePulledOrFed) {
  const auto pulled = [](galatea_session* session) {
    galatea_pulled_input input;
    galatea_pulled_input_init(&input);
    input.pull = pull_one;
    EXPECT_OK(galatea_session_pull_input(session, "x", &input));
  };
  goes_on_from_each_batch(kPulled, {.on_error = "skip"},
                          {{4, 1, 1, false, "skip"}, {3, 2, 4, false, "skip"}, {2, 1, 1, true, "skip"}},
                          pulled);
  // Types that come with the data: the same.
  const std::string late =
      "from nvidia.dali import pipeline_def, fn, types\n"
      "@pipeline_def(batch_size=4, num_threads=2, seed=7)\n"
      "def p():\n"
      "    return fn.external_source(name=\"x\") + fn.random.uniform(range=[0.0, 1.0])\n";
  Running whole = run(late, {.on_error = "skip"}, {}, pulled);
  char* none = nullptr;
  EXPECT_EQ(code_of(galatea_session_state_take(whole.session.get(), &none)), "G0985");
  take_next(whole.session.get());
  const std::string state = state_of(whole.session.get());
  const Events expected = take_next(whole.session.get());
  Running other = run(late, {.on_error = "skip"}, state, pulled);
  EXPECT_EQ(state_of(other.session.get()), state);
  EXPECT_EQ(take_next(other.session.get()), expected);

  // A host that feeds learns from the state where it was.
  Running fed = run(kPulled, {});
  for (float value : {1.0F, 2.0F, 3.0F}) ASSERT_OK(feed(fed.session.get(), {{value}, {value}}));
  Events first = take_next(fed.session.get());
  const std::string at = state_of(fed.session.get());
  EXPECT_EQ(parse_json(at)["batch"], 1);
  EXPECT_EQ(parse_json(at)["sample"], 2);
  Running again = run(kPulled, {4, 1, 1}, at);
  ASSERT_OK(feed(again.session.get(), {{2.0F}, {2.0F}}));
  EXPECT_EQ(take_next(again.session.get()), take_next(fed.session.get()));
}

/// A reader of the host's with eleven samples: i is the number i.
struct Counted {
  const char* first = "zero";  ///< what describe() calls sample 0

  static galatea_error* open(void* context, const char*, void** state) {
    *state = context;
    return nullptr;
  }
  static int64_t num_samples(void*) { return 11; }
  static void describe(void* state, int64_t index, char* text, size_t size) {
    const std::string name = index == 0 ? static_cast<Counted*>(state)->first : std::to_string(index);
    std::snprintf(text, size, "%s", name.c_str());
  }
  static galatea_error* read(void*, int64_t index, galatea_read* read) {
    if (index == 6) return galatea_error_create("six is missing");
    void* data = nullptr;
    galatea_error* error = galatea_read_output_borrow(read, 0, GALATEA_FLOAT, 0, nullptr, &data);
    if (data) *static_cast<float*>(data) = static_cast<float>(index);
    return error;
  }
  void add_to(galatea_engine* engine) {
    static const char* const outputs[] = {"number: f32[]", nullptr};
    galatea_source source;
    galatea_source_init(&source);
    source.name = "readers.counted";
    source.outputs = outputs;
    source.open = open;
    source.num_samples = num_samples;
    source.describe = describe;
    source.read = read;
    source.context = this;
    EXPECT_OK(galatea_engine_register_source(engine, &source));
  }
};

TEST_F(State, OfAReaderOfTheHost) {
  Counted counted;
  counted.add_to(engine_.get());
  const std::string text =
      "from galatea import fn, pipeline_def\n"
      "@pipeline_def(batch_size=4, num_threads=2, seed=7)\n"
      "def p():\n"
      "    x = fn.readers.counted(random_shuffle=True, initial_fill=3, num_shards=2, shard_id=1)\n"
      "    return x + fn.random.uniform(range=[0.0, 1.0])\n";
  goes_on_from_each_batch(text, {.on_error = "skip"},
                          {{4, 1, 1, false, "skip"}, {3, 2, 4, false, "skip"}, {2, 1, 1, true, "skip"}});
  Running running = run(text, {});
  ASSERT_TRUE(running.session);
  const std::string state = state_of(running.session.get());
  // The same number of samples, one of which has another name.
  Counted other{"nought"};
  auto engine = make_engine();
  other.add_to(engine.get());
  auto program = compile(engine.get(), text.c_str());
  ASSERT_TRUE(program);
  galatea_session* session = nullptr;
  EXPECT_EQ(code_of(try_begin(program.get(), {}, state, &session)), "G0982");
  EXPECT_EQ(session, nullptr);
}

TEST_F(State, OfSomethingElseIsAnErrorThatSaysWhat) {
  const std::string text = reading(", random_shuffle=True");
  Running running = run(text, {.on_error = "skip"});
  ASSERT_TRUE(running.session);
  take_next(running.session.get());
  const std::string state = state_of(running.session.get());
  const auto why = [&](galatea_program* program, const std::string& given) {
    galatea_session* session = nullptr;
    const std::string code = code_of(try_begin(program, {}, given, &session));
    EXPECT_EQ(session, nullptr) << given;
    return code;
  };
  galatea_session_options no_text;
  galatea_session_options_init(&no_text);
  no_text.state = "";
  galatea_session* session = nullptr;
  EXPECT_EQ(code_of(galatea_session_create(running.program.get(), &no_text, &session)), "G0980");
  EXPECT_EQ(why(running.program.get(), "{}"), "G0980");
  EXPECT_EQ(why(running.program.get(), state.substr(0, state.size() / 2)), "G0980");
  std::string changed = state;
  changed[changed.find("\"sample\":") + 9] ^= 1;
  EXPECT_EQ(why(running.program.get(), changed), "G0980");
  // Other arguments of the reader, other operators.
  EXPECT_EQ(why(run(reading(""), {}).program.get(), state), "G0981");
  std::string other = text;
  other.replace(other.find("[0.0, 1.0]"), 10, "[0.0, 2.0]");
  EXPECT_EQ(why(run(other, {}).program.get(), state), "G0981");
  auto options = make_options();
  ASSERT_OK(galatea_program_options_set_seed(options.get(), 8));
  EXPECT_EQ(why(compile(engine_.get(), text.c_str(), options.get()).get(), state), "G0983");
  // The data may lie elsewhere, but must be the same.
  const std::filesystem::path moved = folder_.string() + "_moved";
  std::filesystem::remove_all(moved);
  std::filesystem::copy(folder_, moved, std::filesystem::copy_options::recursive);
  std::string elsewhere = text;
  for (size_t at = 0; (at = elsewhere.find(folder_.string() + "\"", at)) != std::string::npos; at += 1)
    elsewhere.replace(at, folder_.string().size(), moved.string());
  const Events expected = take_next(running.session.get());
  EXPECT_EQ(take_next(run(elsewhere, {.on_error = "skip"}, state).session.get()), expected);
  std::filesystem::rename(moved / "two" / "9.jpg", moved / "two" / "99.jpg");
  EXPECT_EQ(why(run(elsewhere, {}, {}).program.get(), state), "G0982");
  std::filesystem::remove_all(moved);
  // Names of variables, threads and comments are no matter.
  std::string renamed = text;
  for (size_t at = 0; (at = renamed.find(" x ", at)) != std::string::npos; ++at)
    renamed.replace(at, 3, " y ");
  renamed.replace(renamed.find("return x"), 8, "return y");
  EXPECT_EQ(take_next(run("# Renamed.\n" + renamed, {4, 3, 1, false, "skip"}, state).session.get()),
            expected);
}

}  // namespace
}  // namespace galatea_state_test
