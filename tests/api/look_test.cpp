// Looking at a pipeline: the pictures on the way as outputs, other random numbers for the same samples.
#include <numeric>

#include "tests/api/host.h"

namespace {

using namespace galatea_host;

constexpr const char* kLooked = R"(from galatea import pipeline_def, fn, types

@pipeline_def(batch_size=2, seed=3)
def looked():
    x = fn.external_source(name="x", dtype=types.UINT8, layout="HWC")
    small = fn.resize(x, size=[2, 2])
    if fn.random.coin_flip(dtype=types.BOOL):
        hidden = fn.flip(small)
        end = hidden
    else:
        end = small
    number = fn.reductions.sum(small)
    return fn.cast(end, dtype=types.FLOAT), fn.random.uniform(), number
)";

std::vector<std::string> output_names(const galatea_program* program) {
  std::vector<std::string> names;
  for (int32_t k = 0; k < galatea_program_num_outputs(program); ++k) {
    galatea_port port;
    EXPECT_OK(galatea_program_get_output(program, k, &port));
    names.emplace_back(port.name);
  }
  return names;
}

/// A batch of two pictures of 4 x 4 that were fed.
Owned<galatea_batch> batch_of(galatea_program* program) {
  auto session = start(program, 8, true);
  std::vector<uint8_t> bytes(48);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  const int64_t extents[] = {4, 4, 3};
  galatea_tensor tensors[2];
  for (galatea_tensor& tensor : tensors)
    EXPECT_OK(galatea_tensor_init(&tensor, bytes.data(), GALATEA_UINT8, 3, extents));
  EXPECT_OK(galatea_session_feed(session.get(), "x", tensors, 2, nullptr));
  return next(session.get());
}

template <typename T>
std::vector<T> elements(const galatea_batch* batch, int32_t output, size_t count) {
  std::vector<T> out(count);
  EXPECT_OK(galatea_batch_copy_to_host(batch, output, 0, out.data(), count * sizeof(T)));
  return out;
}

TEST(Look, PicturesOnTheWayAreOutputs) {
  auto engine = make_engine();
  auto options = make_options();
  ASSERT_OK(galatea_program_options_set_nodes(options.get(), 1));
  auto program = compile(engine.get(), kLooked, options.get());
  ASSERT_TRUE(program);
  // Not what is in an arm, and no numbers.
  const std::vector<std::string> names = output_names(program.get());
  ASSERT_EQ(names.size(), 6U) << testing::PrintToString(names);
  EXPECT_EQ(names[0], "x = external_source, line 5");
  EXPECT_EQ(names[1], "small = resize, line 6");
  EXPECT_EQ(names[2], "end");
  EXPECT_EQ(names[5], "number");
  auto batch = batch_of(program.get());
  ASSERT_TRUE(batch);
  std::vector<uint8_t> fed(48);
  std::iota(fed.begin(), fed.end(), uint8_t{0});
  EXPECT_EQ(elements<uint8_t>(batch.get(), 0, 48), fed);
  const auto small = elements<uint8_t>(batch.get(), 1, 12);
  EXPECT_EQ(elements<uint64_t>(batch.get(), 5, 1)[0],
            std::accumulate(small.begin(), small.end(), uint64_t{0}));

  ASSERT_OK(galatea_program_options_set_nodes(options.get(), 0));
  EXPECT_EQ(output_names(compile(engine.get(), kLooked, options.get()).get()).size(), 3U);
  EXPECT_NE(text_of(galatea_program_options_set_nodes(nullptr, 1)), "");
}

TEST(Look, PlacesAreThoseThatPeopleWrote) {
  auto engine = make_engine();
  auto options = make_options();
  ASSERT_OK(galatea_program_options_set_nodes(options.get(), 1));
  ASSERT_OK(galatea_program_options_add_source(options.get(), "a.py", "\n\n\nsmall = shrink(x)\n"));
  const galatea_text_range line = {6, 5, 6, 39}, place = {4, 1, 4, 18};
  ASSERT_OK(galatea_program_options_map_range(options.get(), &line, "a.py", &place));
  auto program = compile(engine.get(), kLooked, options.get());
  ASSERT_TRUE(program);
  EXPECT_EQ(output_names(program.get())[1], "small = resize, line 4");
}

TEST(Look, DrawsChangeWhatIsDrawnAlone) {
  auto engine = make_engine();
  std::vector<float> drawn;
  for (int32_t draw : {0, 0, 1, 2}) {
    auto options = make_options();
    ASSERT_OK(galatea_program_options_set_draw(options.get(), draw));
    auto program = compile(engine.get(), kLooked, options.get());
    ASSERT_TRUE(program);
    EXPECT_EQ(galatea_program_seed(program.get()), 3U);
    auto batch = batch_of(program.get());
    ASSERT_TRUE(batch);
    drawn.push_back(elements<float>(batch.get(), 1, 1)[0]);
  }
  EXPECT_EQ(drawn[0], drawn[1]);
  EXPECT_NE(drawn[0], drawn[2]);
  EXPECT_NE(drawn[0], drawn[3]);
  EXPECT_NE(drawn[2], drawn[3]);
  auto options = make_options();
  EXPECT_NE(text_of(galatea_program_options_set_draw(options.get(), -1)).find("at least 0"),
            std::string::npos);
  EXPECT_NE(text_of(galatea_program_options_set_draw(nullptr, 1)), "");
}

}  // namespace
