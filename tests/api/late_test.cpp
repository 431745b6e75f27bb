// Inputs without a type in the text: the first batch states it, or the host does beforehand.
#include <cstring>

#include "base/json.h"
#include "tests/api/host.h"

namespace {

using namespace galatea_host;
using galatea::parse_json;

constexpr const char* kLateText = R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=3, num_threads=2)
def late():
    x = fn.external_source(name="x")
    return x * 2, fn.reductions.sum(x)
)";

constexpr const char* kTwo = R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=3, num_threads=2, seed=7)
def late():
    x = fn.external_source(name="x")
    image = fn.external_source(name="image")
    known = fn.external_source(name="known", dtype=types.FLOAT, ndim=0)
    return x * known, fn.flip(image), fn.random.uniform(range=[0.0, 1.0])
)";

galatea_error* feed_ints(galatea_session* session, std::vector<int32_t> sample) {
  galatea_tensor tensor;
  auto length = static_cast<int64_t>(sample.size());
  EXPECT_OK(galatea_tensor_init(&tensor, sample.data(), GALATEA_INT32, 1, &length));
  return galatea_session_feed(session, "x", &tensor, 1, nullptr);
}

galatea_error* feed_image(galatea_session* session, const char* layout, int64_t h, int64_t w, int64_t c) {
  std::vector<uint8_t> pixels(static_cast<size_t>(h * w * c));
  for (size_t k = 0; k < pixels.size(); ++k) pixels[k] = static_cast<uint8_t>(k);
  const int64_t extents[] = {h, w, c};
  galatea_tensor tensor;
  EXPECT_OK(galatea_tensor_init(&tensor, pixels.data(), GALATEA_UINT8, 3, extents));
  tensor.layout = layout;
  return galatea_session_feed(session, "image", &tensor, 1, nullptr);
}

galatea_error* feed_scalar(galatea_session* session, float value) {
  galatea_tensor tensor;
  EXPECT_OK(galatea_tensor_init(&tensor, &value, GALATEA_FLOAT, 0, nullptr));
  return galatea_session_feed(session, "known", &tensor, 1, nullptr);
}

TEST(Late, TheFirstBatchStatesTheType) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kLateText);
  ASSERT_TRUE(program);
  const auto notes = parse_json(galatea_program_warnings_json_borrow(program.get()));
  ASSERT_EQ(notes["diagnostics"].size(), 1U);
  EXPECT_EQ(notes["diagnostics"][0]["severity"], "note");
  EXPECT_EQ(notes["diagnostics"][0]["line"], 5);
  EXPECT_STREQ(galatea_program_name_borrow(program.get()), "late");
  EXPECT_EQ(galatea_program_batch_size(program.get()), 3);
  EXPECT_EQ(galatea_program_num_outputs(program.get()), -1);
  ASSERT_EQ(galatea_program_num_inputs(program.get()), 1);
  galatea_port port;
  EXPECT_OK(galatea_program_get_input(program.get(), 0, &port));
  EXPECT_STREQ(port.name, "x");
  EXPECT_EQ(port.dtype, GALATEA_NO_DTYPE);
  EXPECT_EQ(port.ndim, -1);
  EXPECT_EQ(code_of(galatea_program_get_output(program.get(), 0, &port)), "G0940");

  for (bool synchronous : {false, true}) {
    auto floats_session = start(program.get(), 8, synchronous);
    auto ints_session = start(program.get(), 8, synchronous);
    galatea_batch* none = nullptr;
    EXPECT_EQ(code_of(galatea_session_next(floats_session.get(), -1, &none)), GALATEA_CODE_NOTHING_FED);
    EXPECT_EQ(galatea_session_epoch_size(floats_session.get()), -1);
    EXPECT_OK(feed(floats_session.get(), {{1, 2}, {3}}));
    EXPECT_OK(feed(floats_session.get(), {{5}}));
    EXPECT_OK(galatea_session_end_of_feed(floats_session.get()));
    EXPECT_OK(feed_ints(ints_session.get(), {4, 5}));
    auto first = next(floats_session.get());
    ASSERT_TRUE(first);
    EXPECT_EQ(floats(first.get(), 0, 0), (std::vector<float>{2, 4}));
    EXPECT_EQ(floats(first.get(), 1, 0), (std::vector<float>{3}));
    EXPECT_EQ(floats(first.get(), 0, 1), (std::vector<float>{6}));
    EXPECT_EQ(floats(next(floats_session.get()).get(), 0, 0), (std::vector<float>{10}));
    EXPECT_FALSE(next(floats_session.get())) << "the end of the epoch";
    auto ints = next(ints_session.get());
    ASSERT_TRUE(ints);
    galatea_tensor tensor;
    EXPECT_OK(galatea_batch_tensor_borrow(ints.get(), 0, 0, &tensor));
    EXPECT_EQ(tensor.dtype, GALATEA_INT32);
    int32_t values[2];
    std::memcpy(values, tensor.data, sizeof values);
    EXPECT_EQ(values[0], 8);
    EXPECT_EQ(values[1], 10);

    // Another type than the first batch's, at the source's line.
    galatea_error* error = feed_ints(floats_session.get(), {1});
    ASSERT_NE(error, nullptr);
    const auto json = parse_json(galatea_error_json_borrow(error));
    galatea_error_destroy(error);
    EXPECT_EQ(json["diagnostics"][0]["code"], "G0906");
    EXPECT_EQ(json["diagnostics"][0]["line"], 5);
  }
}

std::unique_ptr<char, decltype(&galatea_string_destroy)> ports_of(galatea_session* session) {
  char* text = nullptr;
  EXPECT_OK(galatea_session_ports_json_take(session, &text));
  return {text, galatea_string_destroy};
}

TEST(Late, TheSessionKnowsItsPortsOnceItWasFed) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kLateText);
  ASSERT_TRUE(program);
  auto session = start(program.get());
  const auto before = parse_json(ports_of(session.get()).get());
  EXPECT_EQ(before["name"], "late");
  EXPECT_TRUE(before["inputs"][0]["dtypes"].empty());
  EXPECT_TRUE(before["outputs"].is_null());
  EXPECT_OK(feed_ints(session.get(), {4, 5}));
  const auto after = parse_json(ports_of(session.get()).get());
  EXPECT_EQ(after["inputs"][0]["dtypes"][0], "i32");
  ASSERT_EQ(after["outputs"].size(), 2U);
  EXPECT_EQ(after["outputs"][0]["dtypes"][0], "i32");
  EXPECT_EQ(after["outputs"][0]["ndim"], 1);
  // The program itself is still open: another session may be fed floats.
  galatea_port port;
  EXPECT_OK(galatea_program_get_input(program.get(), 0, &port));
  EXPECT_EQ(port.dtype, GALATEA_NO_DTYPE);
}

TEST(Late, AnIndexMayBeAnInput) {
  auto engine = make_engine();
  auto program = compile(engine.get(), R"(from nvidia.dali import pipeline_def, fn

@pipeline_def(batch_size=2, num_threads=1)
def late():
    return fn.external_source(name="known")[fn.external_source(name="x")[0]:]
)");
  ASSERT_TRUE(program);
  EXPECT_EQ(galatea_program_num_inputs(program.get()), 2) << "both are seen though neither has a type";
}

TEST(Late, AnInputBehindAnotherOnesTypeComesToLightWithIt) {
  auto engine = make_engine();
  auto program = compile(engine.get(), R"(from nvidia.dali import pipeline_def, fn

@pipeline_def(batch_size=1, num_threads=1)
def late():
    x = fn.external_source(name="x")
    if x[0] > 1:
        y = fn.external_source(name="known") + 1.0
    else:
        y = 7.0
    return y
)");
  ASSERT_TRUE(program);
  for (const int32_t x : {2, 1}) {
    auto session = start(program.get());
    EXPECT_OK(feed_ints(session.get(), {x}));
    galatea_batch* none = nullptr;
    EXPECT_EQ(code_of(galatea_session_next(session.get(), 0, &none)), GALATEA_CODE_NOTHING_FED);
    EXPECT_OK(feed_scalar(session.get(), 3));
    auto batch = next(session.get());
    ASSERT_TRUE(batch);
    EXPECT_EQ(floats(batch.get(), 0, 0), (std::vector<float>{x > 1 ? 4.0F : 7.0F}));
  }
}

TEST(Late, WaitsForEveryInput) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kTwo);
  ASSERT_TRUE(program);
  ASSERT_EQ(galatea_program_num_inputs(program.get()), 3);
  galatea_port port;
  EXPECT_OK(galatea_program_get_input(program.get(), 2, &port));
  EXPECT_STREQ(port.name, "known");
  EXPECT_EQ(port.dtype, GALATEA_FLOAT);
  EXPECT_EQ(port.ndim, 0);
  program.reset();
  program = compile(engine.get(), kTwo);
  auto session = start(program.get());
  program.reset();  // a session lives on
  EXPECT_OK(feed_scalar(session.get(), 3));
  EXPECT_OK(feed_ints(session.get(), {4, 5}));
  galatea_batch* none = nullptr;
  EXPECT_EQ(code_of(galatea_session_next(session.get(), 0, &none)), GALATEA_CODE_NOTHING_FED);
  EXPECT_EQ(code_of(galatea_session_end_of_feed(session.get())), "G0906");
  EXPECT_EQ(code_of(feed(session.get(), {{1.5F}})), "G0906") << "the first batch was of integers";
  EXPECT_OK(feed_image(session.get(), "HWC", 2, 3, 1));
  auto batch = next(session.get());
  ASSERT_TRUE(batch);
  EXPECT_EQ(floats(batch.get(), 0, 0), (std::vector<float>{12, 15}));
  galatea_tensor tensor;
  EXPECT_OK(galatea_batch_tensor_borrow(batch.get(), 1, 0, &tensor));
  EXPECT_STREQ(tensor.layout, "HWC");
  EXPECT_EQ(static_cast<const uint8_t*>(tensor.data)[0], 2) << "mirrored";
}

TEST(Late, ATypeThatDoesNotFitIsRefusedAndAnotherMayCome) {
  auto engine = make_engine();
  auto program = compile(engine.get(), R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=2, num_threads=1)
def late():
    image = fn.external_source(name="image")
    return fn.hue(image, hue=10)
)");
  ASSERT_TRUE(program);
  auto session = start(program.get());
  galatea_error* error = feed_image(session.get(), "CHW", 3, 4, 5);
  ASSERT_NE(error, nullptr);
  const auto json = parse_json(galatea_error_json_borrow(error));
  galatea_error_destroy(error);
  EXPECT_EQ(json["diagnostics"][0]["code"], "G0458");
  EXPECT_EQ(json["diagnostics"][0]["line"], 6);
  EXPECT_EQ(code_of(feed_image(session.get(), "HW", 3, 4, 3)), "G0906") << "three axes, two letters";
  EXPECT_OK(feed_image(session.get(), "HWC", 3, 4, 3));
  EXPECT_TRUE(next(session.get()));
}

TEST(Late, TheHostMayStateTypesBeforehand) {
  auto engine = make_engine();
  auto options = make_options();
  EXPECT_OK(galatea_program_options_set_input_type(options.get(), "x", GALATEA_FLOAT, 1, nullptr));
  auto program = compile(engine.get(), kLateText, options.get());
  ASSERT_TRUE(program);
  EXPECT_EQ(galatea_program_num_outputs(program.get()), 2);
  EXPECT_STREQ(galatea_program_warnings_text_borrow(program.get()), "");
  auto session = start(program.get());
  EXPECT_OK(feed(session.get(), {{1, 2}}));
  EXPECT_EQ(floats(next(session.get()).get(), 0, 0), (std::vector<float>{2, 4}));

  EXPECT_EQ(code_of(galatea_program_options_set_input_type(options.get(), "x", GALATEA_NO_DTYPE, 1, nullptr)),
            "G0940");
  EXPECT_EQ(code_of(galatea_program_options_set_input_type(options.get(), "x", GALATEA_FLOAT, 2, "HWC")),
            "G0940");
  // What cannot work is an error of the compilation then.
  EXPECT_OK(galatea_program_options_set_input_type(options.get(), "x", GALATEA_BOOL, 1, nullptr));
  galatea_program* refused = nullptr;
  EXPECT_NE(code_of(galatea_program_create_from_text(engine.get(), "test.dali-dsl", kLateText, options.get(),
                                                     &refused)),
            "");
  EXPECT_EQ(refused, nullptr);
}

constexpr const char* kExtentsDecide = R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=2, num_threads=1)
def late():
    x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
    return fn.full(7.0, shape=fn.cast(x, dtype=types.INT32)), x
)";

std::vector<int64_t> extents(const galatea_batch* batch, int32_t sample) {
  galatea_tensor tensor;
  EXPECT_OK(galatea_batch_tensor_borrow(batch, 0, sample, &tensor));
  return {tensor.extents, tensor.extents + tensor.ndim};
}

TEST(Late, ExtentsOfTheFirstBatchDecideHowManyDimensionsThereAre) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kExtentsDecide);
  ASSERT_TRUE(program);
  const auto notes = parse_json(galatea_program_warnings_json_borrow(program.get()));
  ASSERT_EQ(notes["diagnostics"].size(), 1U);
  EXPECT_EQ(notes["diagnostics"][0]["code"], "G0444");
  EXPECT_EQ(notes["diagnostics"][0]["line"], 6);
  EXPECT_EQ(galatea_program_num_outputs(program.get()), -1);
  galatea_port port;
  EXPECT_OK(galatea_program_get_input(program.get(), 0, &port));
  EXPECT_EQ(port.dtype, GALATEA_FLOAT) << "the text says it";

  using Extents = std::vector<int64_t>;
  auto two = start(program.get()), three = start(program.get());
  EXPECT_OK(feed(two.get(), {{2, 3}, {4, 1}}));
  auto batch = next(two.get());
  ASSERT_TRUE(batch);
  EXPECT_EQ(extents(batch.get(), 0), (Extents{2, 3}));
  EXPECT_EQ(extents(batch.get(), 1), (Extents{4, 1}));
  EXPECT_OK(feed(three.get(), {{2, 3, 1}}));
  batch = next(three.get());
  ASSERT_TRUE(batch);
  EXPECT_EQ(extents(batch.get(), 0), (Extents{2, 3, 1}));

  // Another length than the first batch's, at the source's line.
  galatea_error* error = feed(two.get(), {{2, 3}, {1, 2, 3}});
  ASSERT_NE(error, nullptr);
  const auto json = parse_json(galatea_error_json_borrow(error));
  galatea_error_destroy(error);
  EXPECT_EQ(json["diagnostics"][0]["code"], "G0906");
  EXPECT_EQ(json["diagnostics"][0]["line"], 5);
  const auto words = json["diagnostics"][0]["message"].get<std::string>();
  EXPECT_NE(words.find("sample 1 is f32[3]"), std::string::npos) << words;
  EXPECT_OK(feed(two.get(), {{5, 2}}));
  EXPECT_EQ(extents(next(two.get()).get(), 0), (Extents{5, 2}));
}

TEST(Late, SamplesThatDifferInTheExtentsThatDecideAreRefused) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kExtentsDecide);
  ASSERT_TRUE(program);
  auto session = start(program.get());
  galatea_error* error = feed(session.get(), {{2, 3}, {4}});
  ASSERT_NE(error, nullptr);
  const auto json = parse_json(galatea_error_json_borrow(error));
  galatea_error_destroy(error);
  EXPECT_EQ(json["diagnostics"][0]["code"], "G0460");
  EXPECT_EQ(json["diagnostics"][0]["line"], 6);
  const auto notes = json["diagnostics"][0]["notes"].dump();
  EXPECT_NE(notes.find("samples of the input `x` differ in extents"), std::string::npos) << notes;
  EXPECT_OK(feed(session.get(), {{2, 3}})) << "as if nothing had been fed";
  EXPECT_TRUE(next(session.get()));
}

TEST(Late, DeclaredExtentsAreCompiledAtOnce) {
  auto engine = make_engine();
  std::string text = kExtentsDecide;
  const std::string rank = "ndim=1";
  text.replace(text.find(rank), rank.size(), "shape=[2]");
  auto program = compile(engine.get(), text.c_str());
  ASSERT_TRUE(program);
  EXPECT_EQ(galatea_program_num_outputs(program.get()), 2);
  EXPECT_STREQ(galatea_program_warnings_text_borrow(program.get()), "");
  auto session = start(program.get());
  EXPECT_EQ(code_of(feed(session.get(), {{1, 2, 3}})), "G0906");
  EXPECT_OK(feed(session.get(), {{2, 3}}));
  EXPECT_TRUE(next(session.get()));
}

TEST(Late, SessionsDrawByOneSeed) {
  auto engine = make_engine();
  auto program = compile(engine.get(), R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=1, num_threads=1)
def late():
    x = fn.external_source(name="x")
    return x, fn.random.uniform(range=[0.0, 1.0])
)");
  ASSERT_TRUE(program);
  std::vector<std::vector<float>> drawn;
  for (int k = 0; k < 2; ++k) {
    auto session = start(program.get());
    if (k == 0) {
      EXPECT_OK(feed(session.get(), {{1}}));
    } else {
      EXPECT_OK(feed_ints(session.get(), {1}));  // another specialisation
    }
    drawn.push_back(floats(next(session.get()).get(), 1, 0));
  }
  EXPECT_EQ(drawn[0], drawn[1]);
}

TEST(Late, CancelledAndEndedBeforeAnythingWasFed) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kLateText);
  ASSERT_TRUE(program);
  auto session = start(program.get());
  EXPECT_EQ(code_of(galatea_session_feed(session.get(), "nobody", nullptr, 0, nullptr)), "G0905");
  EXPECT_EQ(code_of(galatea_session_feed(session.get(), "x", nullptr, 0, nullptr)), "G0906");
  EXPECT_OK(galatea_session_end_of_feed(session.get()));
  EXPECT_FALSE(next(session.get())) << "an empty epoch";
  galatea_session_cancel(session.get());
  galatea_batch* none = nullptr;
  EXPECT_EQ(code_of(galatea_session_next(session.get(), -1, &none)), GALATEA_CODE_CANCELLED);
  char* statistics = nullptr;
  EXPECT_OK(galatea_session_statistics_json_take(session.get(), &statistics));
  EXPECT_EQ(parse_json(statistics)["samples"], 0);
  galatea_string_destroy(statistics);
}

}  // namespace
