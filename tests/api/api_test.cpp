// The C API through its header alone.
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "base/json.h"
#include "tests/api/host.h"

namespace {

using namespace galatea_host;
using galatea::parse_json;

constexpr const char* kFed = R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=3, num_threads=2, seed=7)
def fed(factor: float = 2.0):
    x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
    y = x * factor
    return y, fn.reductions.sum(x)
)";

TEST(Api, CompilesFeedsAndDelivers) {
  for (bool synchronous : {false, true}) {
    auto engine = make_engine();
    auto program = compile(engine.get(), kFed);
    ASSERT_TRUE(program);
    engine.reset();  // a program lives on
    EXPECT_STREQ(galatea_program_name_borrow(program.get()), "fed");
    EXPECT_EQ(galatea_program_seed(program.get()), 7u);
    EXPECT_EQ(galatea_program_batch_size(program.get()), 3);
    auto session = start(program.get(), 8, synchronous);
    program.reset();  // so does a session
    EXPECT_EQ(galatea_session_epoch_size(session.get()), -1);
    EXPECT_OK(feed(session.get(), {{1, 2}, {3}, {}}));
    const int64_t ids[] = {70, 71};
    EXPECT_OK(feed(session.get(), {{5, 6, 7}, {8}}, ids));
    EXPECT_OK(galatea_session_end_of_feed(session.get()));
    auto first = next(session.get());
    ASSERT_TRUE(first);
    EXPECT_EQ(galatea_batch_num_samples(first.get()), 3);
    EXPECT_EQ(galatea_batch_num_outputs(first.get()), 2);
    EXPECT_EQ(floats(first.get(), 0, 0), (std::vector<float>{2, 4}));
    EXPECT_EQ(floats(first.get(), 0, 2), (std::vector<float>{}));
    EXPECT_EQ(floats(first.get(), 1, 0), (std::vector<float>{3}));
    EXPECT_STREQ(galatea_batch_sample_name_borrow(first.get(), 1), "sample 1");
    auto second = next(session.get());
    ASSERT_TRUE(second);
    EXPECT_EQ(galatea_batch_index(second.get()), 1);
    EXPECT_EQ(galatea_batch_sample_id(second.get(), 1), 71);
    EXPECT_EQ(galatea_batch_sample_id(second.get(), 2), -1);
    EXPECT_EQ(floats(second.get(), 0, 0), (std::vector<float>{10, 12, 14}));
    EXPECT_FALSE(next(session.get()));
    EXPECT_OK(feed(session.get(), {{1}}));
    auto third = next(session.get());
    ASSERT_TRUE(third);
    EXPECT_EQ(galatea_batch_epoch(third.get()), 1);
    char* json = nullptr;
    ASSERT_OK(galatea_session_statistics_json_take(session.get(), &json));
    EXPECT_EQ(parse_json(json)["samples"], 6);
    galatea_string_destroy(json);
    session.reset();
    EXPECT_EQ(floats(third.get(), 0, 0), (std::vector<float>{2}));  // and a batch
  }
}

TEST(Api, PortsSayWhatIsKnown) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kFed);
  ASSERT_TRUE(program);
  ASSERT_EQ(galatea_program_num_inputs(program.get()), 1);
  ASSERT_EQ(galatea_program_num_outputs(program.get()), 2);
  galatea_port port;
  ASSERT_OK(galatea_program_get_input(program.get(), 0, &port));
  EXPECT_STREQ(port.name, "x");
  EXPECT_EQ(port.dtype, GALATEA_FLOAT);
  EXPECT_EQ(port.ndim, 1);
  EXPECT_EQ(port.extents[0], -1);
  ASSERT_OK(galatea_program_get_output(program.get(), 1, &port));
  EXPECT_EQ(port.ndim, 0);
  EXPECT_NE(text_of(galatea_program_get_output(program.get(), 2, &port)).find("there are 2"),
            std::string::npos);
  EXPECT_NE(text_of(galatea_program_get_input(program.get(), -1, &port)).find("-1"), std::string::npos);
}

TEST(Api, ParametersAndOptionsAreSetByName) {
  auto engine = make_engine();
  auto options = make_options();
  ASSERT_OK(galatea_program_options_set_parameter(options.get(), "factor", "3"));
  ASSERT_OK(galatea_program_options_set_parameter(options.get(), "factor", "0.5"));
  ASSERT_OK(galatea_program_options_set_batch_size(options.get(), 5));
  ASSERT_OK(galatea_program_options_set_seed(options.get(), 99));
  ASSERT_OK(galatea_program_options_set_backend(options.get(), "interpreter"));
  auto program = compile(engine.get(), kFed, options.get());
  ASSERT_TRUE(program);
  EXPECT_EQ(galatea_program_batch_size(program.get()), 5);
  EXPECT_EQ(galatea_program_seed(program.get()), 99u);
  auto session = start(program.get());
  ASSERT_OK(feed(session.get(), {{4}}));
  auto batch = next(session.get());
  ASSERT_TRUE(batch);
  EXPECT_EQ(floats(batch.get(), 0, 0), (std::vector<float>{2}));
  galatea_program* refused = nullptr;
  ASSERT_OK(galatea_program_options_set_parameter(options.get(), "factr", "1"));
  auto text =
      text_of(galatea_program_create_from_text(engine.get(), "test.dali-dsl", kFed, options.get(), &refused));
  EXPECT_NE(text.find("factr"), std::string::npos) << text;
  EXPECT_EQ(refused, nullptr);
}

TEST(Api, OptionsThatMakeNoSenseAreRefused) {
  auto options = make_options();
  EXPECT_NE(text_of(galatea_program_options_set_batch_size(options.get(), 0)).find("at least 1"),
            std::string::npos);
  EXPECT_NE(text_of(galatea_program_options_set_num_threads(options.get(), -1)).find("at least 1"),
            std::string::npos);
  EXPECT_NE(text_of(galatea_program_options_set_prefetch_depth(options.get(), 0)).find("at least 1"),
            std::string::npos);
  EXPECT_NE(text_of(galatea_program_options_set_memory_limit(options.get(), 0)).find("at least 1"),
            std::string::npos);
  for (const char* device : {"tpu", "gpu:", "gpu:-1", "gpu:1x"})
    EXPECT_NE(text_of(galatea_program_options_set_device(options.get(), device))
                  .find(std::string("`") + device + "` is no device: auto, cpu, gpu or gpu:N"),
              std::string::npos)
        << device;
  EXPECT_NE(text_of(galatea_program_options_set_device(options.get(), "gpu:99999999999"))
                .find("the number is too large: GPUs are numbered from 0"),
            std::string::npos);
  EXPECT_NE(text_of(galatea_program_options_set_decoder(options.get(), "gpu")).find("nvjpeg"),
            std::string::npos);
  EXPECT_OK(galatea_program_options_set_decoder(options.get(), "cpu"));
  EXPECT_NE(text_of(galatea_program_options_set_on_error(options.get(), "ignore")).find("ignore"),
            std::string::npos);
  EXPECT_NE(text_of(galatea_program_options_set_backend(options.get(), "magic")).find("magic"),
            std::string::npos);
  EXPECT_NE(text_of(galatea_program_options_set_tiers(options.get(), "second")).find("auto, best, first"),
            std::string::npos);
  EXPECT_NE(text_of(galatea_program_options_set_tiers(options.get(), nullptr)).find("NULL"),
            std::string::npos);
  EXPECT_NE(text_of(galatea_program_options_set_limit(options.get(), "step", 5)).find("did you mean `steps`"),
            std::string::npos);
  EXPECT_NE(text_of(galatea_program_options_set_limit(options.get(), "steps", 0)).find("from 1 to"),
            std::string::npos);
  EXPECT_NE(text_of(galatea_program_options_set_limit(options.get(), nullptr, 5)).find("NULL"),
            std::string::npos);
  EXPECT_OK(galatea_program_options_set_limit(options.get(), "steps", 5'000'000));
  EXPECT_OK(galatea_program_options_set_on_error(options.get(), "skip"));
  EXPECT_OK(galatea_program_options_set_device(options.get(), "gpu:1"));
  EXPECT_NE(text_of(galatea_program_options_set_pipeline(options.get(), nullptr)).find("NULL"),
            std::string::npos);
}

/// Only the best code is kept on disk. Each word has kernels of its own: what lives in memory is not
/// compiled.
TEST(Api, TiersSayWhichCodeIsMade) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("galatea_api_tiers_" + std::to_string(::getpid()));
  const char* before = std::getenv("GALATEA_CACHE_DIR");
  const std::string kept = before ? before : "";
  ::setenv("GALATEA_CACHE_DIR", folder.c_str(), 1);
  const auto files = [&] {
    size_t count = 0;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error))
      count += at->is_regular_file() ? 1 : 0;
    return count;
  };
  auto engine = make_engine();
  for (const auto& [tiers, filter] :
       {std::pair<std::string, std::string>{"first", "LINEAR"}, {"best", "NN"}, {"auto", "CUBIC"}}) {
    const std::string text =
        "from nvidia.dali import fn, pipeline_def, types\n"
        "@pipeline_def(batch_size=1, num_threads=1, seed=1)\n"
        "def p():\n"
        "    x = fn.random.uniform(range=[0.0, 1.0], shape=[16, 16, 3])\n"
        "    y = fn.rotate(fn.reshape(x, layout=\"HWC\"), angle=30, fill_value=0.5, "
        "interp_type=types.INTERP_" +
        filter +
        ")\n"
        "    return fn.reductions.sum(y)\n";
    auto options = make_options(), slow = make_options();
    ASSERT_OK(galatea_program_options_set_tiers(options.get(), tiers.c_str()));
    ASSERT_OK(galatea_program_options_set_backend(slow.get(), "interpreter"));
    const auto result = [&](galatea_program* program) {
      auto session = start(program);
      auto batch = next(session.get());
      return floats(batch.get(), 0, 0);
    };
    const size_t files_before = files();
    auto program = compile(engine.get(), text.c_str(), options.get());
    ASSERT_TRUE(program);
    if (tiers != "auto") {
      EXPECT_EQ(files() > files_before, tiers == "best") << tiers;
    }
    const auto expected = result(compile(engine.get(), text.c_str(), slow.get()).get());
    EXPECT_EQ(result(program.get()), expected) << tiers;
  }
  before ? ::setenv("GALATEA_CACHE_DIR", kept.c_str(), 1) : ::unsetenv("GALATEA_CACHE_DIR");
  std::filesystem::remove_all(folder);
}

TEST(Api, ErrorsHaveTextAndJson) {
  auto engine = make_engine();
  galatea_program* program = nullptr;
  const char* text =
      "from nvidia.dali import pipeline_def, fn, types\n\n@pipeline_def(batch_size=2)\ndef p():\n    x = "
      "fn.external_source(name=\"x\", dtype=types.UINT8, ndim=3)\n    return fn.resise(x, size=[4, 4])\n";
  Owned<galatea_error> error(
      galatea_program_create_from_text(engine.get(), "typo.dali-dsl", text, nullptr, &program));
  ASSERT_TRUE(error);
  EXPECT_EQ(program, nullptr);
  EXPECT_EQ(galatea_error_get_kind(error.get()), GALATEA_ERROR_USER);
  std::string rendered = galatea_error_text_borrow(error.get());
  EXPECT_NE(rendered.find("typo.dali-dsl:6"), std::string::npos) << rendered;
  EXPECT_NE(rendered.find("^"), std::string::npos);
  auto json = parse_json(galatea_error_json_borrow(error.get()));
  ASSERT_FALSE(json["diagnostics"].empty());
  EXPECT_EQ(json["diagnostics"][0]["line"], 6);
  EXPECT_EQ(json["diagnostics"][0]["code"], galatea_error_code_borrow(error.get()));
  EXPECT_EQ(json["diagnostics"][0]["message"], galatea_error_message_borrow(error.get()));
  EXPECT_NE(
      text_of(galatea_program_create_from_file(engine.get(), "/nonexistent/x.dali-dsl", nullptr, &program))
          .find("/nonexistent/x.dali-dsl"),
      std::string::npos);
}

TEST(Api, RunTimeErrorsNameTheLine) {
  auto engine = make_engine();
  auto program = compile(engine.get(), R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=1, num_threads=1)
def p():
    data, label = fn.readers.file(file_root="no/such/folder")
    return data
)");
  ASSERT_TRUE(program);
  galatea_session* session = nullptr;
  auto text = text_of(galatea_session_create(program.get(), nullptr, &session));
  EXPECT_EQ(session, nullptr);
  EXPECT_NE(text.find("no/such/folder"), std::string::npos) << text;
  EXPECT_NE(text.find("test.dali-dsl:5"), std::string::npos) << text;
}

TEST(Api, FeedsAreChecked) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kFed);
  ASSERT_TRUE(program);
  auto session = start(program.get());
  galatea_batch* batch = nullptr;
  EXPECT_EQ(code_of(galatea_session_next(session.get(), -1, &batch)), GALATEA_CODE_NOTHING_FED);
  float value = 1;
  const int64_t one = 1, bad = -1;
  galatea_tensor tensor;
  ASSERT_OK(galatea_tensor_init(&tensor, &value, GALATEA_FLOAT, 1, &one));
  EXPECT_NE(text_of(galatea_session_feed(session.get(), "y", &tensor, 1, nullptr)).find("'x'"),
            std::string::npos);
  EXPECT_NE(text_of(galatea_session_feed(session.get(), "x", &tensor, 0, nullptr)).find("0 samples"),
            std::string::npos);
  std::vector<galatea_tensor> many(4, tensor);
  EXPECT_NE(text_of(galatea_session_feed(session.get(), "x", many.data(), 4, nullptr)).find("4 samples"),
            std::string::npos);
  tensor.dtype = GALATEA_INT32;
  EXPECT_NE(text_of(galatea_session_feed(session.get(), "x", &tensor, 1, nullptr)).find("INT32"),
            std::string::npos);
  tensor.dtype = static_cast<galatea_dtype>(55);
  EXPECT_NE(text_of(galatea_session_feed(session.get(), "x", &tensor, 1, nullptr)).find("55"),
            std::string::npos);
  EXPECT_NE(text_of(galatea_tensor_init(&tensor, &value, GALATEA_FLOAT, 9, &one)).find("9 dimensions"),
            std::string::npos);
  EXPECT_NE(text_of(galatea_tensor_init(&tensor, &value, GALATEA_FLOAT, 1, &bad)).find("negative"),
            std::string::npos);
  EXPECT_EQ(galatea_dtype_size(GALATEA_FLOAT16), 2);
  EXPECT_EQ(galatea_dtype_size(static_cast<galatea_dtype>(12)), 0);
  // Strides of the host are honoured.
  float strided[] = {1, 9, 2, 9, 3, 9};
  const int64_t three = 3;
  ASSERT_OK(galatea_tensor_init(&tensor, strided, GALATEA_FLOAT, 1, &three));
  tensor.strides[0] = 2;
  ASSERT_OK(galatea_session_feed(session.get(), "x", &tensor, 1, nullptr));
  auto fed = next(session.get());
  ASSERT_TRUE(fed);
  EXPECT_EQ(floats(fed.get(), 0, 0), (std::vector<float>{2, 4, 6}));
}

constexpr const char* kDense = R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=2, num_threads=2, seed=7)
def dense():
    x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
    return fn.stack(fn.reductions.sum(x), fn.reductions.max(x)), x
)";

TEST(Api, DlpackKeepsTheMemoryAndCountsAsHeld) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kDense);
  ASSERT_TRUE(program);
  auto session = start(program.get(), 1);
  for (int i = 0; i < 3; ++i) ASSERT_OK(feed(session.get(), {{1, 2}, {3, 4, 5}}));
  auto batch = next(session.get());
  ASSERT_TRUE(batch);
  EXPECT_FALSE(galatea_batch_is_dense(batch.get(), 1));
  galatea_dl_managed_tensor* tensor = nullptr;
  EXPECT_NE(text_of(galatea_batch_dlpack_take(batch.get(), 1, -1, &tensor)).find("different extents"),
            std::string::npos);
  EXPECT_EQ(tensor, nullptr);
  ASSERT_OK(galatea_batch_dlpack_take(batch.get(), 1, 1, &tensor));
  EXPECT_EQ(tensor->dl_tensor.ndim, 1);
  EXPECT_EQ(tensor->dl_tensor.shape[0], 3);
  EXPECT_EQ(tensor->dl_tensor.strides[0], 1);
  EXPECT_EQ(tensor->dl_tensor.dtype.code, 2);
  EXPECT_EQ(tensor->dl_tensor.dtype.bits, 32);
  EXPECT_EQ(tensor->dl_tensor.device.device_type, 1);
  batch.reset();
  EXPECT_EQ(static_cast<const float*>(tensor->dl_tensor.data)[2], 5);
  galatea_batch* refused = nullptr;
  EXPECT_EQ(code_of(galatea_session_next(session.get(), -1, &refused)), GALATEA_CODE_TOO_MANY_HELD);
  tensor->deleter(tensor);
  batch = next(session.get());
  ASSERT_TRUE(batch);
  if (galatea_batch_is_dense(batch.get(), 0)) {
    galatea_tensor whole;
    ASSERT_OK(galatea_batch_dense_borrow(batch.get(), 0, &whole));
    EXPECT_EQ(whole.ndim, 2);
    EXPECT_EQ(whole.extents[0], 2);
    EXPECT_EQ(whole.extents[1], 2);
    const auto* data = static_cast<const float*>(whole.data);
    EXPECT_EQ((std::vector<float>{data, data + 4}), (std::vector<float>{3, 2, 12, 5}));
  } else {
    ADD_FAILURE() << "extents are known, so the output is one tensor";
  }
}

TEST(Api, CancellingAndEndingInTheMiddle) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kFed);
  ASSERT_TRUE(program);
  auto session = start(program.get());
  for (int i = 0; i < 20; ++i) ASSERT_OK(feed(session.get(), {{1, 2}, {3}}));
  EXPECT_TRUE(next(session.get()));
  std::thread other([&] { galatea_session_cancel(session.get()); });
  other.join();
  galatea_batch* batch = nullptr;
  EXPECT_EQ(code_of(galatea_session_next(session.get(), 1000, &batch)), GALATEA_CODE_CANCELLED);
  auto again = start(program.get());
  for (int i = 0; i < 20; ++i) ASSERT_OK(feed(again.get(), {{1, 2}, {3}}));
}

TEST(Api, NullIsAnErrorWhereItIsNotAllowed) {
  EXPECT_NE(text_of(galatea_engine_create(nullptr)).find("NULL"), std::string::npos);
  EXPECT_NE(text_of(galatea_engine_create(nullptr)).find("[G0940]"), std::string::npos);
  galatea_program* program = nullptr;
  EXPECT_NE(text_of(galatea_program_create_from_file(nullptr, "x", nullptr, &program)).find("NULL"),
            std::string::npos);
  galatea_session* session = nullptr;
  EXPECT_NE(text_of(galatea_session_create(nullptr, nullptr, &session)).find("NULL"), std::string::npos);
  galatea_batch* batch = nullptr;
  EXPECT_NE(text_of(galatea_session_next(nullptr, 0, &batch)).find("NULL"), std::string::npos);
  galatea_engine_destroy(nullptr);
  galatea_program_destroy(nullptr);
  galatea_session_destroy(nullptr);
  galatea_batch_destroy(nullptr);
  galatea_error_destroy(nullptr);
  galatea_string_destroy(nullptr);
  galatea_session_cancel(nullptr);
  EXPECT_STREQ(galatea_version_borrow(), "0.2.0");
}

TEST(Api, EnginesAndProgramsServeManyThreads) {
  auto engine = make_engine();
  auto program = compile(engine.get(), kFed);
  ASSERT_TRUE(program);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      auto own = compile(engine.get(), kFed);
      if (!own) return;
      for (galatea_program* each : {own.get(), program.get()}) {
        auto session = start(each);
        EXPECT_OK(feed(session.get(), {{1, 2}}));
        auto batch = next(session.get());
        EXPECT_EQ(floats(batch.get(), 0, 0), (std::vector<float>{2, 4}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Api, SeveralPoliciesGiveOutputsOfTheirOwn) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("galatea_api_policies_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  auto engine = make_engine();
  auto options = make_options();
  for (const char* name : {"mild", "wild"}) {
    const std::string file = (folder / (std::string(name) + ".json")).string();
    std::ofstream(file) << R"({"format": "augment-policy", "version": 1, "bins": 11, "augmentations": )"
                           R"({"rotate": {"range": [0, 30]}}, "policy": ["rotate", 1, )"
                        << (name[0] == 'm' ? 1 : 9) << "]}";
    EXPECT_OK(galatea_program_options_add_policy(options.get(), file.c_str()));
  }
  auto program = compile(engine.get(), R"(from galatea import fn, pipeline_def, types
from galatea.auto_aug import policy

@pipeline_def(batch_size=2, seed=7)
def fed():
    x = fn.external_source(name="x", dtype=types.UINT8, layout="HWC", ndim=3)
    y = policy.load("any.json")(x)
    return y, fn.reductions.sum(x)
)",
                         options.get());
  ASSERT_TRUE(program);
  const char* const names[] = {"mild/y", "wild/y", "output1"};
  ASSERT_EQ(galatea_program_num_outputs(program.get()), 3);
  for (int32_t k = 0; k < 3; ++k) {
    galatea_port port;
    EXPECT_OK(galatea_program_get_output(program.get(), k, &port));
    EXPECT_STREQ(port.name, names[k]);
  }
  EXPECT_NE(text_of(galatea_program_options_add_policy(options.get(), nullptr)), "");
  EXPECT_NE(text_of(galatea_program_options_add_policy(nullptr, "a.json")), "");
  std::filesystem::remove_all(folder);
}

}  // namespace
