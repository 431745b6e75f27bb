// Operators and readers that a host or a plug-in adds, and what becomes of those that are wrong.
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "tests/api/host.h"

namespace galatea_plugin_test {
namespace {

using namespace galatea_host;

std::string reason(galatea_error* error) {
  Owned<galatea_error> owned(error);
  return error ? std::string(galatea_error_code_borrow(error)) + ": " + galatea_error_message_borrow(error)
               : "";
}

/// "fn.host.add(x, y=[…])": what `run` adds, and how it fails.
struct Adder {
  int prepared = 0, released = 0, destroyed = 0;
  const char* fails = "";

  static galatea_error* prepare(void* context, const char* arguments, void** state) {
    auto& self = *static_cast<Adder*>(context);
    ++self.prepared;
    if (std::string(self.fails) == "prepare") return galatea_error_create("no such table");
    auto* amount = new float(galatea::parse_json(arguments)["amount"].get<float>());
    *state = amount;
    return nullptr;
  }
  static void release(void* state) { delete static_cast<float*>(state); }
  static galatea_error* run(void* context, void* state, galatea_call* call) {
    galatea_tensor in, out;
    EXPECT_OK(galatea_call_input_borrow(call, 0, &in));
    EXPECT_NE(reason(galatea_call_input_borrow(call, 1, &out)), "");
    EXPECT_OK(galatea_call_output_borrow(call, &out));
    void* scratch = nullptr;
    EXPECT_OK(galatea_call_scratch_borrow(call, 64, &scratch));
    EXPECT_NE(scratch, nullptr);
    EXPECT_NE(reason(galatea_call_set_extents(call, 1, in.extents)), "");
    EXPECT_EQ(galatea_call_is_cancelled(call), 0);
    for (int64_t k = 0; k < in.extents[0]; ++k) {
      const float value = static_cast<const float*>(in.data)[k];
      if (value < 0 && std::string(static_cast<Adder*>(context)->fails) == "run")
        return galatea_error_create("a negative number");
      static_cast<float*>(out.data)[k] = value + *static_cast<const float*>(state);
    }
    return nullptr;
  }
  static void destroy(void* context) { ++static_cast<Adder*>(context)->destroyed; }

  galatea_function function() {
    static const char* const inputs[] = {"x: f32[n] W", nullptr};
    static const char* const arguments[] = {"amount: float = 1.5", nullptr};
    galatea_function f;
    galatea_function_init(&f);
    f.name = "host.add";
    f.documentation = "Adds a number.\nTo every element.";
    f.inputs = inputs;
    f.output = "sum: f32[n]";
    f.arguments = arguments;
    f.prepare = prepare;
    f.release = release;
    f.run = run;
    f.context = this;
    f.destroy = destroy;
    return f;
  }
};

std::string pipeline(const std::string& result) {
  return "from galatea import fn, pipeline_def, types\n"
         "@pipeline_def(batch_size=2, num_threads=2, seed=1)\n"
         "def p():\n"
         "    x = fn.external_source(name=\"x\", dtype=types.FLOAT, ndim=1, layout=\"W\")\n"
         "    return " +
         result + "\n";
}

std::string why_refused(galatea_engine* engine, const std::string& text) {
  galatea_program* program = nullptr;
  std::string out =
      text_of(galatea_program_create_from_text(engine, "test.dali-dsl", text.c_str(), nullptr, &program));
  galatea_program_destroy(program);
  return out;
}

TEST(HostFunction, IsAnOperatorLikeOthers) {
  Adder adder;
  {
    auto engine = make_engine();
    const auto function = adder.function();
    ASSERT_OK(galatea_engine_register_function(engine.get(), &function));
    auto program =
        compile(engine.get(), pipeline("fn.host.add(x) * 2.0, fn.host.add(x, amount=-1), "
                                       "fn.host.add(fn.host.add(x) * 2.0, amount=0), fn.host.add(x[::2])")
                                  .c_str());
    ASSERT_TRUE(program);
    engine.reset();
    auto session = start(program.get());
    ASSERT_OK(feed(session.get(), {{1, 2, 4}, {3}}));
    auto batch = next(session.get());
    ASSERT_TRUE(batch);
    EXPECT_EQ(floats(batch.get(), 0, 0), (std::vector<float>{5, 7, 11}));
    EXPECT_EQ(floats(batch.get(), 1, 1), (std::vector<float>{2}));
    EXPECT_EQ(floats(batch.get(), 2, 0), (std::vector<float>{5, 7, 11}));
    EXPECT_EQ(floats(batch.get(), 3, 0), (std::vector<float>{2.5, 5.5}));
    EXPECT_EQ(adder.destroyed, 0);
  }
  EXPECT_EQ(adder.destroyed, 1);
  EXPECT_GE(adder.prepared, 2);
}

TEST(HostFunction, WhatItSaysIsTheSamplesError) {
  Adder adder;  // outlives the engine, which tells it of its end
  auto engine = make_engine();
  adder.fails = "run";
  const auto function = adder.function();
  ASSERT_OK(galatea_engine_register_function(engine.get(), &function));
  auto program = compile(engine.get(), pipeline("fn.host.add(x)").c_str());
  auto session = start(program.get());
  ASSERT_OK(feed(session.get(), {{1, 2}, {-3}}));
  galatea_batch* batch = nullptr;
  const std::string text = text_of(galatea_session_next(session.get(), -1, &batch));
  EXPECT_NE(text.find("error[G0978]: a negative number"), std::string::npos) << text;
  EXPECT_NE(text.find("test.dali-dsl:5"), std::string::npos) << text;
  EXPECT_NE(text.find("sample 1 of batch 0"), std::string::npos) << text;
  adder.fails = "prepare";
  galatea_session* other = nullptr;
  EXPECT_EQ(reason(galatea_session_create(program.get(), nullptr, &other)), "G0978: no such table");
}

TEST(HostFunction, CallsAreCheckedAgainstItsPorts) {
  Adder adder;  // outlives the engine, which tells it of its end
  auto engine = make_engine();
  const auto function = adder.function();
  ASSERT_OK(galatea_engine_register_function(engine.get(), &function));
  EXPECT_NE(why_refused(engine.get(), pipeline("fn.host.add(fn.cast(x, dtype=types.UINT8))")), "");
  EXPECT_NE(why_refused(engine.get(), pipeline("fn.host.add(fn.reductions.sum(x))")), "");
  EXPECT_NE(why_refused(engine.get(), pipeline("fn.host.add(x, amuont=1)")).find("amount"),
            std::string::npos);
  EXPECT_NE(why_refused(engine.get(), pipeline("fn.host.add(x, amount=\"much\")")), "");
  EXPECT_NE(why_refused(engine.get(), pipeline("fn.host.ad(x)")).find("fn.host.add"), std::string::npos);
}

TEST(HostFunction, AShapeThatMakesNoSenseIsTheSamplesError) {
  struct Shape {
    std::vector<int64_t> extents;
    static galatea_error* shape(void* context, void*, galatea_call* call) {
      const auto& extents = static_cast<Shape*>(context)->extents;
      if (extents.empty()) return nullptr;
      galatea_tensor none;
      EXPECT_NE(reason(galatea_call_output_borrow(call, &none)), "");
      return galatea_call_set_extents(call, static_cast<int32_t>(extents.size()), extents.data());
    }
    static galatea_error* run(void*, void*, galatea_call* call) {
      galatea_tensor out;
      EXPECT_OK(galatea_call_output_borrow(call, &out));
      for (int64_t k = 0; k < out.extents[0] * out.extents[1]; ++k) static_cast<float*>(out.data)[k] = 7;
      return nullptr;
    }
  } shape;
  auto engine = make_engine();
  static const char* const inputs[] = {"x: any[...]", nullptr};
  galatea_function function;
  galatea_function_init(&function);
  function.name = "host.make";
  function.inputs = inputs;
  function.output = "y: f32[?,2]";
  function.shape = Shape::shape;
  function.run = Shape::run;
  function.context = &shape;
  ASSERT_OK(galatea_engine_register_function(engine.get(), &function));
  auto program = compile(engine.get(), pipeline("fn.host.make(x)").c_str());
  auto session = start(program.get(), 8, true);
  const auto outcome = [&](std::vector<int64_t> extents) -> std::string {
    shape.extents = std::move(extents);
    EXPECT_OK(feed(session.get(), {{1}}));
    galatea_batch* taken = nullptr;
    std::string why = reason(galatea_session_next(session.get(), -1, &taken));
    Owned<galatea_batch> batch(taken);
    if (!batch) return why;
    galatea_tensor tensor;
    EXPECT_OK(galatea_batch_tensor_borrow(batch.get(), 0, 0, &tensor));
    return std::to_string(tensor.extents[0]) + "x" + std::to_string(tensor.extents[1]);
  };
  EXPECT_EQ(outcome({3, 2}), "3x2");
  EXPECT_EQ(outcome({0, 2}), "0x2");
  EXPECT_NE(outcome({}).find("shape was not said"), std::string::npos);
  EXPECT_NE(outcome({3}).find("1 extents were given"), std::string::npos);
  EXPECT_NE(outcome({3, 4}).find("host.make"), std::string::npos);  // the port says 2
  for (const int64_t extent : {int64_t{-1}, int64_t{1} << 62}) {
    const std::string why = outcome({extent, 2});
    EXPECT_EQ(why.find('x'), why.find("extents")) << why;
    EXPECT_TRUE(why.starts_with("G")) << why;
  }
  EXPECT_EQ(outcome({1, 2}), "1x2");
}

TEST(HostFunction, WrongDeclarationsAreRefused) {
  Adder adder;  // outlives the engine, which tells it of its end
  auto engine = make_engine();
  const auto refused = [&](auto change) {
    galatea_function function = adder.function();
    change(function);
    return reason(galatea_engine_register_function(engine.get(), &function));
  };
  using F = galatea_function;
  EXPECT_EQ(refused([](F& f) { f.size = 8; }).substr(0, 5), "G0940");
  for (const char* name : {"", "1st", "a..b", "resize", "resize.more", "random"})
    EXPECT_EQ(refused([&](F& f) { f.name = name; }).substr(0, 5), "G0979") << name;
  EXPECT_NE(refused([](F& f) { f.run = nullptr; }).find("`run` is NULL"), std::string::npos);
  for (const char* port : {"f32[n]", "y: f33[n]", "y: f32[n", "y: f32[-1]", "y: f32[n] HW", "y: f32[...]",
                           "y: f32[a,b,c,d,e,f,g,h,i]", "y: f32[m]"})
    EXPECT_EQ(refused([&](F& f) { f.output = port; }).substr(0, 5), "G0979") << port;
  for (const char* argument : {"amount", "amount: number", "amount: int = 1.5", "amount: int = x",
                               "device: int", "seed: int = 1", "a b: int"}) {
    const char* const arguments[] = {argument, nullptr};
    EXPECT_EQ(refused([&](F& f) { f.arguments = arguments; }).substr(0, 5), "G0979") << argument;
  }
  EXPECT_EQ(adder.destroyed, 0);
  EXPECT_EQ(refused([](F&) {}), "");
  EXPECT_NE(refused([](F&) {}).find("there is an operator of this name"), std::string::npos);
  // Not once a program was made.
  ASSERT_TRUE(compile(engine.get(), pipeline("x").c_str()));
  EXPECT_NE(refused([](F& f) { f.name = "host.late"; }).find("has made a program"), std::string::npos);
}

/// Five samples: {u8[2,3], f32[]}; what it says of itself and what it delivers can differ.
struct Numbers {
  int64_t size = 5;
  galatea_dtype dtype = GALATEA_UINT8;
  std::vector<int64_t> extents = {2, 3};
  int32_t first = 0, second = 1;  ///< output numbers
  const char* fails = "";
  std::atomic<int> opened{0}, closed{0}, destroyed{0};

  static galatea_error* open(void* context, const char*, void** state) {
    auto& self = *static_cast<Numbers*>(context);
    if (std::string(self.fails) == "open") return galatea_error_create("the disk is gone");
    ++self.opened;
    *state = context;
    return nullptr;
  }
  static void close(void* state) { ++static_cast<Numbers*>(state)->closed; }
  static int64_t num_samples(void* state) { return static_cast<Numbers*>(state)->size; }
  static galatea_error* read(void* state, int64_t index, galatea_read* read) {
    const auto& self = *static_cast<Numbers*>(state);
    if (std::string(self.fails) == "read" && index == 3) return galatea_error_create("three is missing");
    void *bytes = nullptr, *number = nullptr;
    // A plug-in that does not look at errors is told all the same.
    galatea_error_destroy(galatea_read_output_borrow(read, self.first, self.dtype,
                                                     static_cast<int32_t>(self.extents.size()),
                                                     self.extents.data(), &bytes));
    if (bytes) std::memset(bytes, static_cast<int>(index), 1);
    galatea_error_destroy(galatea_read_output_borrow(read, self.second, GALATEA_FLOAT, 0, nullptr, &number));
    if (number) *static_cast<float*>(number) = static_cast<float>(index);
    return nullptr;
  }
  static void destroy(void* context) { ++static_cast<Numbers*>(context)->destroyed; }
  galatea_source source() {
    static const char* const outputs[] = {"bytes: u8[2,3]", "number: f32[]", nullptr};
    galatea_source s;
    galatea_source_init(&s);
    s.name = "readers.numbers";
    s.outputs = outputs;
    s.open = open;
    s.close = close;
    s.num_samples = num_samples;
    s.read = read;
    s.context = this;
    s.destroy = destroy;
    return s;
  }
};

constexpr const char* kNumbers =
    "from galatea import fn, pipeline_def, types\n"
    "@pipeline_def(batch_size=2, num_threads=2, seed=1)\n"
    "def p():\n"
    "    bytes, number = fn.readers.numbers(random_shuffle=True, num_shards=1, shard_id=0)\n"
    "    return bytes, number * 2.0\n";

TEST(HostSource, IsAReaderLikeOthers) {
  Numbers numbers;
  {
    auto engine = make_engine();
    const auto source = numbers.source();
    ASSERT_OK(galatea_engine_register_source(engine.get(), &source));
    auto program = compile(engine.get(), kNumbers);
    ASSERT_TRUE(program);
    auto session = start(program.get());
    EXPECT_EQ(galatea_session_epoch_size(session.get()), 5);
    float sum = 0;
    int count = 0;
    while (auto batch = next(session.get()))
      for (int32_t k = 0; k < galatea_batch_num_samples(batch.get()); ++k, ++count)
        sum += floats(batch.get(), 1, k)[0];
    EXPECT_EQ(count, 5);
    EXPECT_EQ(sum, 20);
    session.reset();
    EXPECT_EQ(numbers.opened, 1);
    EXPECT_EQ(numbers.closed, 1);
    EXPECT_EQ(numbers.destroyed, 0);
  }
  EXPECT_EQ(numbers.destroyed, 1);
}

TEST(HostSource, WhatItDeliversIsComparedWithItsPorts) {
  const auto outcome = [](auto change) {
    Numbers numbers;
    change(numbers);
    auto engine = make_engine();
    const auto source = numbers.source();
    EXPECT_OK(galatea_engine_register_source(engine.get(), &source));
    auto program = compile(engine.get(), kNumbers);
    galatea_session* made = nullptr;
    const std::string why = reason(galatea_session_create(program.get(), nullptr, &made));
    if (!made) return why;
    Owned<galatea_session> session(made);
    for (int k = 0; k < 4; ++k) {
      galatea_batch* batch = nullptr;
      const std::string failed = text_of(galatea_session_next(session.get(), -1, &batch));
      galatea_batch_destroy(batch);
      if (!failed.empty()) return failed;
    }
    return std::string();
  };
  using N = Numbers;
  EXPECT_EQ(outcome([](N&) {}), "");
  for (const std::string& lie :
       {outcome([](N& n) { n.dtype = GALATEA_INT8; }), outcome([](N& n) { n.extents = {6}; }),
        outcome([](N& n) { n.extents = {3, 2}; }), outcome([](N& n) { n.extents = {-2, 3}; }),
        outcome([](N& n) { n.second = 2; }), outcome([](N& n) { n.second = -1; }),
        outcome([](N& n) { n.second = 0; }), outcome([](N& n) { n.first = 1; }),
        outcome([](N& n) { n.dtype = GALATEA_NO_DTYPE; })}) {
    EXPECT_NE(lie.find("readers.numbers"), std::string::npos) << lie;
    EXPECT_NE(lie.find("test.dali-dsl:4"), std::string::npos) << lie;
    EXPECT_NE(lie.find("of batch 0 in epoch 0"), std::string::npos) << lie;
  }
  EXPECT_EQ(outcome([](N& n) { n.fails = "open"; }), "G0978: the disk is gone");
  EXPECT_NE(outcome([](N& n) { n.fails = "read"; }).find("three is missing"), std::string::npos);
  EXPECT_NE(outcome([](N& n) { n.size = 0; }), "");
  EXPECT_NE(outcome([](N& n) { n.size = -7; }).find("-7 samples"), std::string::npos);
}

TEST(HostSource, WrongDeclarationsAreRefused) {
  Numbers numbers;
  auto engine = make_engine();
  const auto refused = [&](auto change) {
    galatea_source source = numbers.source();
    change(source);
    return reason(galatea_engine_register_source(engine.get(), &source)) != "";
  };
  using S = galatea_source;
  static const char* const none[] = {nullptr};
  static const char* const vague[] = {"x: u8|f32[2]", nullptr};
  static const char* const twice[] = {"x: u8[2]", "x: u8[2]", nullptr};
  static const char* const common[] = {"shard_id: int = 0", nullptr};
  EXPECT_TRUE(refused([](S& s) { s.read = nullptr; }));
  EXPECT_TRUE(refused([](S& s) { s.name = "readers.file"; }));
  EXPECT_TRUE(refused([](S& s) { s.outputs = nullptr; }));
  EXPECT_TRUE(refused([](S& s) { s.outputs = none; }));
  EXPECT_TRUE(refused([](S& s) { s.outputs = vague; }));
  EXPECT_TRUE(refused([](S& s) { s.outputs = twice; }));
  EXPECT_TRUE(refused([](S& s) { s.arguments = common; }));
  EXPECT_EQ(numbers.destroyed, 0);
  EXPECT_FALSE(refused([](S&) {}));
}

TEST(HostText, FunctionsOfATextAreOperators) {
  auto engine = make_engine();
  ASSERT_OK(galatea_engine_register_text(engine.get(), "host", "host.dali-dsl",
                                         "from galatea import fn, types\n"
                                         "def _half(x):\n"
                                         "    return x * 0.5\n"
                                         "def soft(x, amount=1.0):\n"
                                         "    return _half(x) + amount\n"
                                         "def softer(x):\n"
                                         "    return fn.host.soft(fn.host.soft(x), amount=0.0)\n"));
  EXPECT_NE(
      reason(galatea_engine_register_text(engine.get(), "host", "host.dali-dsl", "def f(x):\n    return x\n"))
          .find("registered already"),
      std::string::npos);
  EXPECT_NE(
      reason(galatea_engine_register_text(engine.get(), "host", "b.dali-dsl", "def soft(x):\n    return x\n"))
          .find("there is an operator of this name"),
      std::string::npos);
  EXPECT_NE(
      reason(galatea_engine_register_text(engine.get(), "", "c.dali-dsl", "x = 1\n")).find("no function"),
      std::string::npos);
  const std::string wrong =
      text_of(galatea_engine_register_text(engine.get(), "", "d.dali-dsl", "def f(x:\n    return x\n"));
  EXPECT_NE(wrong.find("d.dali-dsl:1"), std::string::npos) << wrong;
  char* json = nullptr;
  ASSERT_OK(galatea_engine_operators_json_take(engine.get(), &json));
  const auto document = galatea::parse_json(json);
  galatea_string_destroy(json);
  ASSERT_EQ(document["texts"].size(), 2U);
  EXPECT_EQ(document["texts"][0]["name"], "host.soft");
  EXPECT_EQ(document["texts"][0]["parameters"], galatea::parse_json(R"(["x", "amount"])"));
  auto program = compile(engine.get(), pipeline("fn.host.softer(x)").c_str());
  ASSERT_TRUE(program);
  auto session = start(program.get());
  ASSERT_OK(feed(session.get(), {{2}, {4}}));
  auto batch = next(session.get());
  EXPECT_EQ(floats(batch.get(), 0, 1), (std::vector<float>{1.5}));
  // What fails in it is shown there, with the line that called.
  const std::string text = why_refused(engine.get(), pipeline("fn.host.soft(\"no\")"));
  EXPECT_NE(text.find("host.dali-dsl:3"), std::string::npos) << text;
  EXPECT_NE(text.find("test.dali-dsl:5"), std::string::npos) << text;
}

std::filesystem::path plugin() { return GALATEA_EXAMPLE_PLUGIN; }

TEST(Plugin, TheExampleAddsAnOperatorAReaderAndAText) {
  const auto data =
      std::filesystem::path(testing::TempDir()) / ("galatea_acme_" + std::to_string(::getpid()));
  // Five pictures; picture n has n everywhere but for its last pixel, which is 90.
  std::string bytes;
  for (char n = 0; n < 5; ++n) bytes += std::string(63, n) + "Z";
  std::ofstream(data, std::ios::binary) << bytes;
  auto engine = make_engine();
  ASSERT_OK(galatea_engine_load_plugin(engine.get(), plugin().c_str()));
  auto options = make_options();
  ASSERT_OK(galatea_program_options_set_parameter(options.get(), "path", data.c_str()));
  galatea_program* made = nullptr;
  ASSERT_OK(galatea_program_create_from_file(
      engine.get(), GALATEA_SOURCE_DIR "/examples/plugin/plugin.dali-dsl", options.get(), &made));
  Owned<galatea_program> program(made);
  auto session = start(program.get());
  EXPECT_EQ(galatea_session_epoch_size(session.get()), 5);
  int seen = 0;
  while (auto batch = next(session.get())) {
    for (int32_t k = 0; k < galatea_batch_num_samples(batch.get()); ++k, ++seen) {
      galatea_tensor blocks, mosaic, number;
      ASSERT_OK(galatea_batch_tensor_borrow(batch.get(), 0, k, &blocks));
      ASSERT_OK(galatea_batch_tensor_borrow(batch.get(), 1, k, &mosaic));
      ASSERT_OK(galatea_batch_tensor_borrow(batch.get(), 2, k, &number));
      const int64_t n = *static_cast<const int64_t*>(number.data);
      EXPECT_EQ(galatea_batch_sample_id(batch.get(), k), n);
      EXPECT_EQ(galatea_batch_sample_name_borrow(batch.get(), k), "picture " + std::to_string(n));
      EXPECT_EQ(blocks.extents[0], 3);
      const auto* small = static_cast<const uint8_t*>(blocks.data);
      const auto* large = static_cast<const uint8_t*>(mosaic.data);
      EXPECT_EQ(small[0], n);
      EXPECT_EQ(small[8], (3 * n + 90) / 4);  // of the last block only four pixels are in the picture
      EXPECT_EQ(mosaic.extents[0], 8);
      EXPECT_EQ(large[0], n);
      EXPECT_EQ(large[63], (3 * n + 90) / 4);
    }
  }
  EXPECT_EQ(seen, 5);
  ASSERT_OK(galatea_program_options_set_parameter(options.get(), "path", "/no/such/file"));
  ASSERT_OK(galatea_program_create_from_file(
      engine.get(), GALATEA_SOURCE_DIR "/examples/plugin/plugin.dali-dsl", options.get(), &made));
  Owned<galatea_program> other(made);
  galatea_session* none = nullptr;
  const std::string text = text_of(galatea_session_create(other.get(), nullptr, &none));
  EXPECT_NE(text.find("/no/such/file cannot be opened"), std::string::npos) << text;
  EXPECT_NE(text.find("plugin.dali-dsl:"), std::string::npos) << text;
  std::filesystem::remove(data);
}

TEST(Plugin, WhatIsNoPluginIsRefusedWithItsName) {
  auto engine = make_engine();
  EXPECT_NE(reason(galatea_engine_load_plugin(engine.get(), "/no/such.so")).find("/no/such.so"),
            std::string::npos);
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("galatea_plugins_" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "text.so") << "this is no library";
  EXPECT_EQ(reason(galatea_engine_load_plugin(engine.get(), (folder / "text.so").c_str())).substr(0, 5),
            "G0986");
  // The library itself is one, but no plug-in: it has no entry.
  std::filesystem::remove(folder / "text.so");
  std::filesystem::create_symlink(plugin(), folder / "acme.so");
  std::ofstream(folder / "notes.txt") << "not loaded";
  galatea_engine_options* options = nullptr;
  ASSERT_OK(galatea_engine_options_create(&options));
  ASSERT_OK(galatea_engine_options_add_plugin_folder(options, folder.c_str()));
  galatea_engine* made = nullptr;
  ASSERT_OK(galatea_engine_create_with_options(options, &made));
  galatea_engine_destroy(made);
  // Twice the same: its names are taken.
  std::filesystem::create_symlink(plugin(), folder / "acme2.so");
  const std::string twice = reason(galatea_engine_create_with_options(options, &made));
  EXPECT_NE(twice.find("acme2.so"), std::string::npos) << twice;
  EXPECT_NE(twice.find("there is an operator of this name"), std::string::npos) << twice;
  EXPECT_EQ(made, nullptr);
  ASSERT_OK(galatea_engine_options_add_plugin_folder(options, "/no/such/folder"));
  std::filesystem::remove(folder / "acme2.so");
  EXPECT_NE(reason(galatea_engine_create_with_options(options, &made)).find("/no/such/folder"),
            std::string::npos);
  galatea_engine_options_destroy(options);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace galatea_plugin_test
