// What goes wrong with a GPU, as a host of the C API sees it: an error with a code, and a process that goes
// on. The GPU is that of tests/fake_cuda.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <ranges>

#include "tests/api/host.h"
#include "tests/fake_cuda/fake_cuda.h"
#include "tests/support/build_folder.h"
#include "tests/support/own_folder.h"

namespace {

using namespace galatea_host;

constexpr const char* kOnGpu = R"(from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=2, num_threads=2, seed=7)
def on_gpu():
    x = fn.external_source(name="x", dtype=types.FLOAT, ndim=1)
    return (x.gpu() * 2.0 + 1.0).cpu()
)";

// Codes of the driver.
constexpr int kOutOfMemory = 2, kUnavailable = 46, kIllegalAddress = 700;

class ApiDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string fake = galatea::testing::build_folder("/fake_cuda");
    set("GALATEA_CUDA_LIBRARY_PATH", fake.c_str());
    library_ = dlopen((fake + "/libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    ASSERT_TRUE(library_) << dlerror();
    fail(0, 0);
    engine_ = make_engine();
  }
  void TearDown() override {
    if (library_) fail(0, 0);
    for (const auto& [name, before] : std::views::reverse(before_))
      before ? setenv(name.c_str(), before->c_str(), 1) : unsetenv(name.c_str());
  }

  void set(const char* name, const char* value) {
    const char* const before = std::getenv(name);
    before_.emplace_back(name, before ? std::optional<std::string>(before) : std::nullopt);
    setenv(name, value, 1);
  }
  void fail(int64_t call, int code) {
    reinterpret_cast<FakeCudaFail*>(dlsym(library_, "fake_cuda_fail"))(call, code);
  }
  int64_t calls() {
    FakeCudaCounters counters;
    reinterpret_cast<FakeCudaCount*>(dlsym(library_, "fake_cuda_count"))(&counters);
    return counters.calls;
  }

  struct Outcome {
    std::string code, text;  ///< of the error; empty: there was none
    std::vector<float> values;
    std::string notes;
  };
  /// From a text to the first sample of a batch, on a device. `heals`: what is to fail fails while the
  /// program is made, or never.
  Outcome run(const char* device, bool heals = false) {
    Outcome out;
    auto options = make_options();
    EXPECT_OK(galatea_program_options_set_device(options.get(), device));
    galatea_program* made = nullptr;
    galatea_error* error =
        galatea_program_create_from_text(engine_.get(), "test.dali-dsl", kOnGpu, options.get(), &made);
    const Owned<galatea_program> program(made);
    if (heals) fail(0, 0);
    if (failed(error, out)) return out;
    out.notes = galatea_program_warnings_json_borrow(program.get());
    galatea_session* started = nullptr;
    error = galatea_session_create(program.get(), nullptr, &started);
    const Owned<galatea_session> session(started);
    if (failed(error, out)) return out;
    if (failed(feed(session.get(), {{1, 2, 3}, {4}}), out)) return out;
    galatea_batch* delivered = nullptr;
    error = galatea_session_next(session.get(), -1, &delivered);
    const Owned<galatea_batch> batch(delivered);
    if (failed(error, out)) return out;
    out.values = floats(batch.get(), 0, 0);
    return out;
  }
  static bool failed(galatea_error* error, Outcome& out) {
    const Owned<galatea_error> owned(error);
    if (!error) return false;
    out.code = galatea_error_code_borrow(error);
    out.text = galatea_error_text_borrow(error);
    return true;
  }

  /// The process is as it was: a pipeline runs on the CPU.
  void expect_cpu_goes_on() {
    const Outcome found = run("cpu");
    EXPECT_EQ(found.text, "");
    EXPECT_EQ(found.values, kExpected);
  }
  void expect_error(const char* device, const std::string& code, const std::string& words) {
    const Outcome found = run(device);
    EXPECT_EQ(found.code, code) << found.text;
    EXPECT_NE(found.text.find(words), std::string::npos) << found.text;
    EXPECT_NE(found.text.find("= help: "), std::string::npos) << found.text;
    expect_cpu_goes_on();
  }

  const std::vector<float> kExpected = {3, 5, 7};
  Owned<galatea_engine> engine_;
  void* library_ = nullptr;
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

TEST_F(ApiDevice, RunsOnTheGpuThatIsHere) {
  const int64_t before = calls();
  const Outcome found = run("gpu");
  EXPECT_EQ(found.text, "");
  EXPECT_EQ(found.values, kExpected);
  EXPECT_GT(calls(), before);
  expect_cpu_goes_on();
}

TEST_F(ApiDevice, MissingDriver) {
  set("GALATEA_CUDA_LIBRARY_PATH", "/no/such/folder");
  if (void* real = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL)) {
    dlclose(real);
    GTEST_SKIP() << "this machine has a CUDA driver";
  }
  expect_error("gpu", "G0950", "/no/such/folder");
  const Outcome by_itself = run("auto");
  EXPECT_EQ(by_itself.text, "");
  EXPECT_EQ(by_itself.values, kExpected);
}

TEST_F(ApiDevice, UnfitDrivers) {
  set("FAKE_CUDA_DRIVER_VERSION", "11010");
  expect_error("gpu", "G0951", "it is for CUDA 11.1");
  unsetenv("FAKE_CUDA_DRIVER_VERSION");
  set("FAKE_CUDA_INIT", "803");
  expect_error("gpu", "G0952", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
  unsetenv("FAKE_CUDA_INIT");
  set("FAKE_CUDA_DEVICES", "0");
  expect_error("gpu", "G0953", "has no device");
  expect_error("gpu:9", "G0953", "there is no GPU 9: ");
  set("FAKE_CUDA_DEVICES", "2");
  expect_error(
      "gpu:2", "G0954",
      "there is no GPU 2: 2 can be used here, numbered from 0: GPU 0 (Fake GPU A), GPU 1 (Fake GPU B)");
}

TEST_F(ApiDevice, NvrtcThatCannotCompile) {
  // Code that is kept needs no NVRTC.
  set("GALATEA_CACHE", "0");
  set("FAKE_NVRTC_VERSION", "10020");
  // A machine may have another, which makes code that the fake driver does not load.
  const Outcome old = run("gpu");
  EXPECT_TRUE(old.code == "G0568" || old.code == "G0958") << old.text;
  expect_cpu_goes_on();
  unsetenv("FAKE_NVRTC_VERSION");
  set("FAKE_NVRTC_FAIL", "7");
  expect_error("gpu", "G0569", "libnvrtc-builtins");
  set("FAKE_NVRTC_FAIL", "6");
  // Where no other program saves the same text, or removes it.
  const auto folder = galatea::testing::own_path("refused");
  std::filesystem::create_directories(folder);
  set("TMPDIR", folder.c_str());
  const std::string saved = "the text is saved in ";
  const Outcome refused = run("gpu");
  EXPECT_EQ(refused.code, "G0561") << refused.text;
  const size_t at = refused.text.find(saved);
  ASSERT_NE(at, std::string::npos) << refused.text;
  const std::string file = refused.text.substr(at + saved.size());
  EXPECT_TRUE(std::filesystem::remove(file.substr(0, file.find('\n')))) << file;
  EXPECT_TRUE(std::filesystem::remove(folder)) << "something else is left there";
  expect_cpu_goes_on();
}

TEST_F(ApiDevice, OutOfMemory) {
  set("FAKE_CUDA_MEMORY", "256");
  const Outcome found = run("gpu");
  EXPECT_EQ(found.code, "G0955") << found.text;
  expect_cpu_goes_on();
}

/// A GPU that nobody insisted on: one that is full, or that another process has, is a note.
TEST_F(ApiDevice, ByItselfAPipelineStaysOnTheCpu) {
  const std::string words = "a GPU is here, and the pipeline runs on the CPU: GPU 0 (Fake GPU A) is ";
  set("FAKE_CUDA_MEMORY", "256");
  const Outcome full = run("auto");
  EXPECT_EQ(full.text, "");
  EXPECT_EQ(full.values, kExpected);
  EXPECT_NE(full.notes.find(words + "out of memory"), std::string::npos) << full.notes;
  unsetenv("FAKE_CUDA_MEMORY");
  const int64_t before = calls();
  const Outcome free = run("auto");
  EXPECT_EQ(free.values, kExpected) << free.text;
  EXPECT_EQ(free.notes.find("the CPU"), std::string::npos) << free.notes;
  const int64_t all = calls() - before;
  int64_t stayed = 0;
  for (const int code : {kOutOfMemory, kUnavailable})
    for (int64_t call = 1; call <= all; ++call) {
      SCOPED_TRACE(testing::Message() << "call " << call << ", code " << code);
      fail(call, code);
      const Outcome found = run("auto", true);
      EXPECT_EQ(found.text, "");
      EXPECT_EQ(found.values, kExpected);
      stayed += found.notes.find("the pipeline runs on the CPU: ") == std::string::npos ? 0 : 1;
    }
  // What opens the driver, looks at devices, makes a context and a stream, and takes memory.
  EXPECT_GT(stayed, 20);
}

/// Every call of the driver fails once, for lack of memory or for good; then the next one of this process
/// succeeds.
TEST_F(ApiDevice, EveryCallFailsOnce) {
  const int64_t before = calls();
  ASSERT_EQ(run("gpu").values, kExpected);
  const int64_t all = calls() - before;
  ASSERT_GT(all, 20);
  int64_t errors = 0;
  for (const int code : {kOutOfMemory, kIllegalAddress})
    for (int64_t call = 1; call <= all; ++call) {
      SCOPED_TRACE(testing::Message() << "call " << call << ", code " << code);
      fail(call, code);
      const Outcome found = run("gpu");
      if (found.text.empty()) {
        EXPECT_EQ(found.values, kExpected);
      } else {
        ++errors;
        const std::string& it = found.code;
        EXPECT_TRUE(code == kIllegalAddress ? it == "G0957" : it == "G0955" || it == "G0959" || it == "G0921")
            << found.text;
      }
      if (call % 16 == 1) expect_cpu_goes_on();
      fail(0, 0);
      if (HasFailure()) return;
    }
  EXPECT_GT(errors, all / 2);
  EXPECT_EQ(run("gpu").values, kExpected);
}

}  // namespace
