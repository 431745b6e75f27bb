// Texts that a program made: messages show what they were made from, and arrays come with them.
#include <numeric>

#include "base/json.h"
#include "tests/api/host.h"

namespace {

using namespace galatea_host;
using galatea::parse_json;

constexpr const char* kSource = "# the author's file\nimage = photo()\nsmall = shrink(image,\n  to=3)\n";

// Line 6: a mistake in an argument; line 7: another one.
constexpr const char* kWrong = R"(from galatea import pipeline_def, fn, types

@pipeline_def(batch_size=2)
def made():
    x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
    y = fn.flip(x, horisontal=1)
    z = fn.flop(x)
    return y, z
)";

galatea_text_range range(int32_t line, int32_t column, int32_t end_line, int32_t end_column) {
  return {line, column, end_line, end_column};
}

std::string error_json(galatea_engine* engine, const char* text, const galatea_program_options* options) {
  galatea_program* program = nullptr;
  Owned<galatea_error> error(
      galatea_program_create_from_text(engine, "made.dali-dsl", text, options, &program));
  Owned<galatea_program> owned(program);
  return error ? galatea_error_json_borrow(error.get()) : "";
}

TEST(MadeText, MessagesShowWhatItWasMadeFrom) {
  auto engine = make_engine();
  auto options = make_options();
  ASSERT_OK(galatea_program_options_add_source(options.get(), "train.py", kSource));
  // All of line 6, and in it the call: the narrowest part counts.
  const auto line = range(6, 1, 6, 33), call = range(6, 9, 6, 33);
  const auto first = range(2, 1, 2, 16), second = range(3, 9, 4, 8);
  ASSERT_OK(galatea_program_options_map_range(options.get(), &line, "train.py", &first));
  ASSERT_OK(galatea_program_options_map_range(options.get(), &call, "train.py", &second));
  galatea_program* program = nullptr;
  Owned<galatea_error> error(
      galatea_program_create_from_text(engine.get(), "made.dali-dsl", kWrong, options.get(), &program));
  ASSERT_TRUE(error);
  const std::string text = galatea_error_text_borrow(error.get());
  EXPECT_NE(text.find("train.py:3:9"), std::string::npos) << text;
  EXPECT_NE(text.find("small = shrink(image,"), std::string::npos) << text;
  EXPECT_EQ(text.find("horisontal=1"), std::string::npos) << text;
  EXPECT_NE(text.find("made.dali-dsl:7:"), std::string::npos) << "line 7 has no other place: " << text;
  const auto json = parse_json(galatea_error_json_borrow(error.get()));
  ASSERT_FALSE(json.is_discarded());
  const auto& entry = json["diagnostics"][0];
  EXPECT_EQ(entry["file"], "train.py");
  EXPECT_EQ(entry["line"], 3);
  EXPECT_EQ(entry["column"], 9);
  EXPECT_EQ(entry["end_line"], 4);
  EXPECT_EQ(entry["end_column"], 8);
}

TEST(MadeText, RoundsOfALoopAreOneReport) {
  auto engine = make_engine();
  auto options = make_options();
  ASSERT_OK(galatea_program_options_add_source(options.get(), "train.py", kSource));
  const char* text = R"(from galatea import pipeline_def, fn, types

@pipeline_def(batch_size=2)
def made():
    x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
    y = fn.flop(x)
    z = fn.flop(x)
    return x
)";
  const auto place = range(3, 1, 3, 8);
  for (int32_t line : {6, 7}) {
    const auto part = range(line, 1, line, 100);
    ASSERT_OK(galatea_program_options_map_range(options.get(), &part, "train.py", &place));
  }
  const auto json = parse_json(error_json(engine.get(), text, options.get()));
  ASSERT_FALSE(json.is_discarded());
  ASSERT_EQ(json["diagnostics"].size(), 1u) << json.dump(1);
  EXPECT_EQ(json["diagnostics"][0]["notes"][0], "in 2 calls; the first is shown");
}

TEST(MadeText, ErrorsOfSamplesShowIt) {
  auto engine = make_engine();
  auto options = make_options();
  ASSERT_OK(galatea_program_options_add_source(options.get(), "train.py", kSource));
  const auto part = range(6, 9, 6, 13), place = range(2, 1, 2, 6);
  ASSERT_OK(galatea_program_options_map_range(options.get(), &part, "train.py", &place));
  auto program = compile(engine.get(), R"(from galatea import pipeline_def, fn, types

@pipeline_def(batch_size=1)
def made():
    x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
    y = x[7]
    return y
)",
                         options.get());
  ASSERT_TRUE(program);
  auto session = start(program.get(), 8, true);
  EXPECT_OK(feed(session.get(), {{1, 2}}));
  galatea_batch* batch = nullptr;
  Owned<galatea_error> error(galatea_session_next(session.get(), -1, &batch));
  Owned<galatea_batch> owned(batch);
  ASSERT_TRUE(error);
  const std::string text = galatea_error_text_borrow(error.get());
  EXPECT_NE(text.find("train.py:2"), std::string::npos) << text;
}

TEST(MadeText, RefusesWhatIsNoRange) {
  auto options = make_options();
  const auto good = range(1, 1, 1, 2);
  EXPECT_NE(text_of(galatea_program_options_map_range(options.get(), &good, "train.py", &good))
                .find("there is no source 'train.py'"),
            std::string::npos);
  ASSERT_OK(galatea_program_options_add_source(options.get(), "train.py", ""));
  EXPECT_OK(galatea_program_options_map_range(options.get(), &good, "train.py", &good));
  for (const auto& bad : {range(0, 1, 1, 2), range(1, 0, 1, 2), range(2, 1, 1, 1), range(1, 3, 1, 2)}) {
    EXPECT_NE(text_of(galatea_program_options_map_range(options.get(), &bad, "train.py", &good)), "");
    EXPECT_NE(text_of(galatea_program_options_map_range(options.get(), &good, "train.py", &bad)), "");
  }
  EXPECT_NE(text_of(galatea_program_options_add_source(options.get(), "", "")), "");
  EXPECT_NE(text_of(galatea_program_options_add_source(nullptr, "a", "")), "");
  EXPECT_NE(text_of(galatea_program_options_map_range(options.get(), nullptr, "train.py", &good)), "");
}

constexpr const char* kLoads = R"(import numpy as np
from galatea import pipeline_def, fn, types

@pipeline_def(batch_size=1)
def made():
    x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
    return x, types.Constant(np.load("table.npy"))
)";

TEST(MadeText, ArraysComeByName) {
  auto engine = make_engine();
  auto options = make_options();
  // Columns of a 3 x 100 matrix as rows: strides are followed.
  std::vector<float> numbers(300);
  std::iota(numbers.begin(), numbers.end(), 0.5F);
  const int64_t extents[] = {100, 3};
  galatea_tensor tensor;
  ASSERT_OK(galatea_tensor_init(&tensor, numbers.data(), GALATEA_FLOAT, 2, extents));
  tensor.strides[0] = 1;
  tensor.strides[1] = 100;
  ASSERT_OK(galatea_program_options_add_array(options.get(), "table.npy", &tensor));
  std::vector<float> wanted;
  for (size_t i = 0; i < 100; ++i)
    for (size_t j = 0; j < 3; ++j) wanted.push_back(numbers[j * 100 + i]);
  std::fill(numbers.begin(), numbers.end(), 0.0F);  // it was copied
  auto program = compile(engine.get(), kLoads, options.get());
  ASSERT_TRUE(program);
  auto session = start(program.get(), 8, true);
  EXPECT_OK(feed(session.get(), {{1}}));
  auto batch = next(session.get());
  ASSERT_TRUE(batch);
  std::vector<float> found(300);
  EXPECT_OK(galatea_batch_copy_to_host(batch.get(), 1, 0, found.data(), 300 * sizeof(float)));
  EXPECT_EQ(found, wanted);
}

TEST(MadeText, RefusesArraysThatAreNone) {
  auto engine = make_engine();
  auto options = make_options();
  const auto json = parse_json(error_json(engine.get(), kLoads, options.get()));
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["diagnostics"][0]["code"], "G0604");
  float number = 0;
  int64_t extents[] = {1'000'001};
  galatea_tensor tensor;
  ASSERT_OK(galatea_tensor_init(&tensor, &number, GALATEA_FLOAT, 1, extents));
  EXPECT_NE(text_of(galatea_program_options_add_array(options.get(), "t", &tensor)), "");
  extents[0] = -1;
  tensor.extents[0] = -1;
  EXPECT_NE(text_of(galatea_program_options_add_array(options.get(), "t", &tensor)), "");
  tensor.extents[0] = 1;
  tensor.data = nullptr;
  EXPECT_NE(text_of(galatea_program_options_add_array(options.get(), "t", &tensor)), "");
  EXPECT_NE(text_of(galatea_program_options_add_array(options.get(), "t", nullptr)), "");
  tensor.data = &number;
  EXPECT_NE(text_of(galatea_program_options_add_array(nullptr, "t", &tensor)), "");
  EXPECT_NE(text_of(galatea_program_options_add_array(options.get(), "", &tensor)), "");
}

}  // namespace
