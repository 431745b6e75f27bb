// Engines with options, what they tell, and what they and their programs say of themselves as JSON.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <mutex>

#include "base/json.h"
#include "tests/api/host.h"

namespace galatea_engine_test {
namespace {

using namespace galatea_host;
using galatea::parse_json;

struct DestroyOptions {
  void operator()(galatea_engine_options* p) const { galatea_engine_options_destroy(p); }
};
using EngineOptions = std::unique_ptr<galatea_engine_options, DestroyOptions>;

EngineOptions engine_options() {
  galatea_engine_options* options = nullptr;
  EXPECT_OK(galatea_engine_options_create(&options));
  return EngineOptions(options);
}

Owned<galatea_engine> make_engine(const EngineOptions& options) {
  galatea_engine* engine = nullptr;
  EXPECT_OK(galatea_engine_create_with_options(options.get(), &engine));
  return Owned<galatea_engine>(engine);
}

/// A pipeline whose kernel nobody has compiled before.
std::string unique_pipeline(int k) {
  std::string text =
      "from nvidia.dali import fn, pipeline_def, types\n"
      "@pipeline_def(batch_size=1, num_threads=1, seed=1)\n"
      "def p():\n"
      "    x = fn.external_source(name=\"x\", dtype=types.FLOAT, ndim=1)\n"
      "    return x";
  for (int i = 0; i <= k; ++i) text += " * x + 1.5";
  return text + "\n";
}

size_t files_in(const std::filesystem::path& folder) {
  size_t count = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    count += at->is_regular_file() ? 1 : 0;
  return count;
}

TEST(Engine, KeepsCodeWhereItsHostSays) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("galatea_engine_" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  auto best = make_options();
  ASSERT_OK(galatea_program_options_set_tiers(best.get(), "best"));
  auto options = engine_options();
  ASSERT_OK(galatea_engine_options_set_cache_folder(options.get(), folder.c_str()));
  auto engine = make_engine(options);
  ASSERT_TRUE(compile(engine.get(), unique_pipeline(7).c_str(), best.get()));
  const size_t kept = files_in(folder);
  EXPECT_GT(kept, 0U);
  // Nothing more where there is no room, or where nothing is to be kept.
  ASSERT_OK(galatea_engine_options_set_cache_size(options.get(), 0));
  engine = make_engine(options);
  ASSERT_TRUE(compile(engine.get(), unique_pipeline(8).c_str(), best.get()));
  EXPECT_EQ(files_in(folder), kept);
  EXPECT_NE(code_of(galatea_engine_options_set_cache_size(options.get(), -1)), "");
  auto nothing = engine_options();
  ASSERT_OK(galatea_engine_options_set_cache_folder(nothing.get(), ""));
  engine = make_engine(nothing);
  EXPECT_TRUE(compile(engine.get(), unique_pipeline(9).c_str(), best.get()));
  std::filesystem::remove_all(folder);
}

struct Log {
  std::vector<std::pair<galatea_log_level, std::string>> lines;
  static void tell(void* context, galatea_log_level level, const char* message) {
    static_cast<Log*>(context)->lines.emplace_back(level, message);
  }
  bool has(galatea_log_level level, const std::string& words) const {
    for (const auto& [each, text] : lines)
      if (each == level && text.find(words) != std::string::npos) return true;
    return false;
  }
};

TEST(Engine, TellsItsHostWhatIsNoError) {
  Log log;
  auto options = engine_options();
  ASSERT_OK(galatea_engine_options_set_log(options.get(), Log::tell, &log));
  ::setenv("GALATEA_FAR_CACHE_SIZE", "plenty", 1);
  auto engine = make_engine(options);
  ::unsetenv("GALATEA_FAR_CACHE_SIZE");
  EXPECT_TRUE(log.has(GALATEA_LOG_WARNING,
                      "GALATEA_FAR_CACHE_SIZE=plenty is no size: the default, 10GB, is in force"));
  options.reset();
  auto skip = make_options();
  ASSERT_OK(galatea_program_options_set_on_error(skip.get(), "skip"));
  auto program = compile(engine.get(),
                         "from nvidia.dali import fn, pipeline_def, types\n"
                         "@pipeline_def(batch_size=2, num_threads=1, seed=1)\n"
                         "def p():\n"
                         "    x = fn.external_source(name=\"x\", dtype=types.FLOAT, ndim=1)\n"
                         "    return fn.reshape(x, shape=[2])\n",
                         skip.get());
  ASSERT_TRUE(program);
  EXPECT_TRUE(log.has(GALATEA_LOG_DETAIL, "compiled 'p' in "));
  auto session = start(program.get());
  ASSERT_OK(feed(session.get(), {{1, 2}, {3}}));
  EXPECT_EQ(galatea_batch_num_samples(next(session.get()).get()), 1);
  EXPECT_TRUE(log.has(GALATEA_LOG_WARNING, "epoch 0, sample 1 (sample 1) was left out: ["));
  for (const auto& [level, text] : log.lines) EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

std::string take(galatea_error* error, char*& text) {
  EXPECT_EQ(text_of(error), "");
  std::string out = text ? text : "";
  galatea_string_destroy(text);
  text = nullptr;
  return out;
}

TEST(Engine, SaysWhatOperatorsThereAre) {
  auto engine = make_engine(nullptr);
  char* text = nullptr;
  galatea_error* error = galatea_engine_operators_json_take(engine.get(), &text);
  const auto json = parse_json(take(error, text));
  ASSERT_TRUE(json.contains("operators"));
  bool has_resize = false;
  for (const auto& op : json["operators"]) {
    if (op["name"] != "resize") continue;
    has_resize = true;
    EXPECT_TRUE(op["args"].contains("size"));
    EXPECT_EQ(op["kind"], "kernel");
  }
  EXPECT_TRUE(has_resize);
  EXPECT_NE(code_of(galatea_engine_operators_json_take(nullptr, &text)), "");
}

TEST(Engine, SaysThePortsOfAProgram) {
  auto engine = make_engine(nullptr);
  const auto ports = [&](const char* source) {
    auto program = compile(engine.get(), source);
    char* text = nullptr;
    galatea_error* error = galatea_program_ports_json_take(program.get(), &text);
    return parse_json(take(error, text));
  };
  const auto known = ports(
      "from nvidia.dali import fn, pipeline_def, types\n"
      "@pipeline_def(batch_size=5, num_threads=1, seed=1)\n"
      "def known():\n"
      "    x = fn.external_source(name=\"x\", dtype=types.UINT8, ndim=3, layout=\"HWC\")\n"
      "    y = fn.resize(x, size=[4, 6])\n"
      "    return y, fn.reductions.mean(y)\n");
  EXPECT_EQ(known["name"], "known");
  EXPECT_EQ(known["batch_size"], 5);
  const auto has = [](const auto& port, const char* expected) {
    const auto members = parse_json(expected);
    for (const auto& [key, value] : members.items())
      EXPECT_EQ(port[key], value) << key << " of " << galatea::json_text(port);
  };
  has(known["inputs"][0], R"({"name": "x", "dtypes": ["u8"], "ndim": 3, "layouts": ["HWC"]})");
  ASSERT_EQ(known["outputs"].size(), 2U);
  has(known["outputs"][0], R"({"name": "y", "dtypes": ["u8"], "ndim": 3, "layouts": ["HWC"],
                               "extents": [4, 6, null], "device": "cpu"})");
  has(known["outputs"][1], R"({"dtypes": ["f32"], "ndim": 0, "device": "cpu"})");
  const auto late = ports(
      "from nvidia.dali import fn, pipeline_def\n"
      "@pipeline_def(batch_size=5, num_threads=1, seed=1)\n"
      "def late():\n"
      "    return fn.external_source(name=\"x\") * 2.0\n");
  EXPECT_TRUE(late["outputs"].is_null());
  has(late["inputs"][0], R"({"name": "x", "dtypes": [], "ndim": null})");
}

/// growth_host.c has the whole of it, for hosts of four headers.
TEST(Growth, AFieldThatTheLibraryDoesNotHaveIsNamed) {
  struct {
    galatea_session_options known;
    int64_t future;
  } options;
  galatea_session_options_init_sized(&options.known, sizeof options);
  EXPECT_EQ(options.known.size, static_cast<int32_t>(sizeof options));
  EXPECT_EQ(options.future, 0);
  auto engine = make_engine(nullptr);
  auto program = compile(engine.get(), unique_pipeline(0).c_str());
  galatea_session* session = nullptr;
  options.future = int64_t{1} << 32;
  EXPECT_EQ(code_of(galatea_session_create(program.get(), &options.known, &session)), "G0977");
  const std::string text = text_of(galatea_session_create(program.get(), &options.known, &session));
  EXPECT_NE(text.find("galatea_session_options has 72 bytes, of which this library (0.2.0) knows 64, and "
                      "byte 68 is not zero"),
            std::string::npos)
      << text;
  options.future = 0;
  EXPECT_OK(galatea_session_create(program.get(), &options.known, &session));
  galatea_session_destroy(session);
}

TEST(Dlpack, OfVersionOneSaysItsVersionAndWhoMayWrite) {
  auto engine = make_engine(nullptr);
  auto program = compile(engine.get(),
                         "from nvidia.dali import pipeline_def, fn, types\n"
                         "@pipeline_def(batch_size=2, num_threads=2, seed=7)\n"
                         "def p():\n"
                         "    x = fn.external_source(name=\"x\", dtype=types.FLOAT, ndim=1)\n"
                         "    return fn.reductions.sum(x), x\n");
  auto session = start(program.get(), 1);
  for (int k = 0; k < 2; ++k) ASSERT_OK(feed(session.get(), {{1, 2}, {3, 4, 5}}));
  auto batch = next(session.get());
  galatea_dl_managed_tensor_versioned *whole = nullptr, *one = nullptr;
  ASSERT_OK(galatea_batch_dlpack_versioned_take(batch.get(), 0, -1, 0, 0, &whole));
  EXPECT_NE(code_of(galatea_batch_dlpack_versioned_take(batch.get(), 1, 1, 0, 8, &one)), "");
  EXPECT_EQ(one, nullptr);
  ASSERT_OK(galatea_batch_dlpack_versioned_take(batch.get(), 1, 1, -1, GALATEA_DL_READ_ONLY, &one));
  EXPECT_EQ(whole->version.major, 1U);
  EXPECT_EQ(whole->flags, 0U);
  EXPECT_EQ(one->flags, GALATEA_DL_READ_ONLY);
  EXPECT_EQ(whole->dl_tensor.shape[0], 2);
  EXPECT_EQ(one->dl_tensor.shape[0], 3);
  batch.reset();
  EXPECT_EQ(static_cast<const float*>(whole->dl_tensor.data)[1], 12);
  EXPECT_EQ(static_cast<const float*>(one->dl_tensor.data)[2], 5);
  galatea_batch* refused = nullptr;
  EXPECT_EQ(code_of(galatea_session_next(session.get(), -1, &refused)), GALATEA_CODE_TOO_MANY_HELD);
  whole->deleter(whole);
  one->deleter(one);
  EXPECT_TRUE(next(session.get()));
}

}  // namespace
}  // namespace galatea_engine_test
