// Arrays that the GPU reads by itself: over the fake cuFile the bits of the host's reader; which arrays are whose,
// and why; what fails, and what is left of it.
#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "compiler/choose_gpu.h"
#include "runtime/session.h"
#include "stdlib_ops/native/cufile_alternative.h"
#include "stdlib_ops/native/in_file.h"
#include "stdlib_ops/native/npy_source.h"
#include "tests/fake_cuda/fake_cufile.h"
#include "tests/gpu/delivered.h"
#include "tests/gpu/planned.h"
#include "tests/gpu/test_device.h"
#include "tests/support/own_folder.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;

template <typename Function>
Function* of_cufile(const char* name) {
  return find_in_fake<Function>("libcufile.so.0", name);
}
FakeCufileCounters file_counters() {
  FakeCufileCounters out;
  of_cufile<FakeCufileCount>("fake_cufile_count")(&out);
  return out;
}
void fail_read(int64_t read, int64_t answer, int number) {
  of_cufile<FakeCufileFail>("fake_cufile_fail")(read, answer, number);
}

/// A folder of arrays, in the order of their names; their elements are numbers that differ.
class Arrays {
 public:
  explicit Arrays(const std::string& name) : root_(own_path("storage-" + name)) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~Arrays() { fs::remove_all(root_); }
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;

  Arrays& add(int64_t rows, int64_t columns, bool fortran = false) {
    std::string dictionary = fmt::format("{{'descr': '<f4', 'fortran_order': {}, 'shape': ({}, {}), }}",
                                         fortran ? "True" : "False", rows, columns);
    dictionary.resize((10 + dictionary.size() + 64) / 64 * 64 - 10, ' ');
    dictionary.back() = '\n';
    std::ofstream file(path(count_), std::ios::binary);
    file.write("\x93NUMPY\x01\x00", 8);
    const auto length = static_cast<uint16_t>(dictionary.size());
    file.write(reinterpret_cast<const char*>(&length), 2).write(dictionary.data(), length);
    for (int64_t i = 0; i < rows * columns; ++i) {
      const auto element = static_cast<float>(i + 1000 * count_);
      file.write(reinterpret_cast<const char*>(&element), 4);
    }
    ++count_;
    return *this;
  }
  int count() const { return count_; }
  std::string path(int number) const { return (root_ / fmt::format("{}.npy", 100 + number)).string(); }
  std::string root() const { return root_.string(); }

 private:
  fs::path root_;
  int count_ = 0;
};

std::string text_of_pipeline(const Arrays& arrays, const std::string& args = {},
                             const std::string& on_error = "raise", int batch = 3) {
  return fmt::format(
      "from nvidia.dali import pipeline_def, fn, types\n\n"
      "@pipeline_def(batch_size={}, num_threads=2, seed=42, on_error='{}')\n"
      "def p():\n"
      "    x = fn.readers.numpy(file_root='{}', device='gpu'{})\n"
      "    return x, x * 2\n",
      batch, on_error, arrays.root(), args);
}

constexpr std::nullopt_t kHost = std::nullopt;
constexpr runtime::DecodeChoice kGpu = runtime::DecodeChoice::kAuto;

class FakeStorage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("GALATEA_TEST_GPU")) GTEST_SKIP() << "counts and faults are the fake library's";
    device_.emplace(FakeSettings{{"GALATEA_CUFILE", "must"}});
    reset();
  }
  void TearDown() override {
    if (!device_) return;
    EXPECT_EQ(device_->errors(), "");
    EXPECT_EQ(file_counters().live, 0) << "files are registered still";
    expect_nothing_lives(device_->counters(), "at the end");
  }
  static void reset() {
    fail_read(0, 0, 0);
    of_cufile<FakeCufileReset>("fake_cufile_reset")();
  }
  /// The host's bits; of the arrays the GPU reads so many.
  Delivered expect_same(const std::string& text, int64_t reads, int64_t memory_limit = 0) {
    const Delivered wanted = deliver(text, kHost);
    EXPECT_EQ(wanted.error, "") << text;
    reset();
    Delivered found = deliver(text, kGpu, 2, memory_limit);
    EXPECT_EQ(found.error, "") << text;
    EXPECT_FALSE(found.samples.empty());
    EXPECT_TRUE(wanted.samples == found.samples) << text;
    EXPECT_EQ(found.device.storage_reads, reads) << text;
    EXPECT_EQ(file_counters().registered, reads) << text;
    return found;
  }

  std::optional<FakeCuda> device_;
};

TEST_F(FakeStorage, WholeArraysHaveTheHostsBits) {
  Arrays arrays("whole");
  for (int n = 0; n < 7; ++n) arrays.add(100 + 10 * n, 200);
  const Delivered found = expect_same(text_of_pipeline(arrays), 7);
  EXPECT_EQ(found.device.storage, "cuFile 1.14");
  EXPECT_EQ(found.device.storage_bytes, 7 * 130 * 200 * 4);
  EXPECT_EQ(found.device.host_reads_because, "");
  EXPECT_EQ(found.device.decoder, "");
  EXPECT_EQ(found.device.decodes, 0);
  const FakeCufileCounters files = file_counters();
  EXPECT_EQ(files.reads, 7);
  EXPECT_EQ(files.unaligned, 0);
}

/// Nothing of the arrays goes up, and nothing waits that did not before.
TEST_F(FakeStorage, LaunchesWaitsAndUploadsDoNotGrow) {
  Arrays arrays("counts");
  for (int n = 0; n < 12; ++n) arrays.add(128, 256);
  const std::string text = text_of_pipeline(arrays);
  device_->reset();
  // One thread, since several wait for each other as they come.
  const Delivered direct = deliver(text, kGpu, 1);
  const FakeCudaCounters by_itself = device_->counters();
  const FakeVariable off("GALATEA_CUFILE", "off");
  device_->reset();
  const Delivered through = deliver(text, kGpu, 1);
  const FakeCudaCounters by_host = device_->counters();
  EXPECT_TRUE(direct.samples == through.samples);
  EXPECT_EQ(direct.device.storage_reads, 12);
  EXPECT_EQ(through.device.storage_reads, 0);
  EXPECT_EQ(direct.device.launches, through.device.launches);
  EXPECT_EQ(direct.device.waits, through.device.waits);
  EXPECT_LE(by_itself.synchronizations, by_host.synchronizations);
  EXPECT_LT(by_itself.uploads, by_host.uploads);
  EXPECT_LE(by_itself.upload_bytes, by_host.upload_bytes - 12 * 128 * 256 * 4);
  EXPECT_EQ(by_itself.pageable_copies, by_host.pageable_copies);
  EXPECT_EQ(through.device.host_reads_because, "cuFile (libcufile.so.0) is not used: GALATEA_CUFILE is off");
}

TEST_F(FakeStorage, PartsInOnePieceAreReadAlone) {
  Arrays arrays("parts");
  for (int n = 0; n < 4; ++n) arrays.add(300, 200);
  const Delivered rows = expect_same(text_of_pipeline(arrays, ", roi_start=[50, 0], roi_end=[250, 200]"), 4);
  EXPECT_EQ(rows.device.storage_bytes, 4 * 200 * 200 * 4);
  const Delivered drawn =
      expect_same(text_of_pipeline(
                      arrays, ", rel_roi_start=fn.random.uniform(range=[0.0, 0.5], shape=[1]), roi_axes=[0]"),
                  4);
  EXPECT_LT(drawn.device.storage_bytes, 4 * 300 * 200 * 4);
  const Delivered columns = expect_same(text_of_pipeline(arrays, ", roi_start=[0, 50]"), 0);
  EXPECT_EQ(columns.device.host_reads_because, "4: in more than one piece of its file");
}

TEST_F(FakeStorage, WhatDoesNotSuitItIsTheHosts) {
  Arrays arrays("refused");
  arrays.add(300, 200).add(200, 300, true).add(20, 30).add(300, 100);
  const Delivered some = expect_same(text_of_pipeline(arrays), 2);
  EXPECT_EQ(some.device.host_reads_because,
            "1: in Fortran's order; 1: shorter than " + std::to_string(native::kLeastCufileBytes) + " bytes");
  const Delivered padded =
      expect_same(text_of_pipeline(arrays,
                                   ", roi_start=[-10, 0], roi_end=[310, 320], out_of_bounds_policy='pad', "
                                   "fill_value=3"),
                  0);
  EXPECT_EQ(padded.device.host_reads_because, "4: in more than one piece of its file");
}

TEST_F(FakeStorage, UnderALimitOfMemoryTheHostReads) {
  Arrays arrays("limit");
  for (int n = 0; n < 4; ++n) arrays.add(128, 256);
  const Delivered found = expect_same(text_of_pipeline(arrays), 0, int64_t{64} << 20);
  EXPECT_EQ(found.device.host_reads_because,
            "4: a limit on the GPU's memory, of which this way takes twice as much");
}

TEST_F(FakeStorage, FilesThatCufileDoesNotReadAreTheHosts) {
  Arrays arrays("file-system");
  for (int n = 0; n < 4; ++n) arrays.add(128, 256);
  const FakeVariable refuses("FAKE_CUFILE_REGISTER", "5008");
  const Delivered found = expect_same(text_of_pipeline(arrays), 0);
  EXPECT_EQ(found.device.host_reads_because, "4: where cuFile says CU_FILE_IO_NOT_SUPPORTED");
}

TEST_F(FakeStorage, FarFilesAreTheHosts) {
  const runtime::NativeFunction* part = product().natives.find_function(native::kNumpyPart);
  ASSERT_TRUE(part);
  const auto state = part->prepare(
      R"({"bounds": [], "count": 2, "dtype": "f32", "ndim": 2, "roi_axes": null, "out_of_bounds_policy": "error",
          "fill_value": 0.0, "cache_header_information": false})");
  ASSERT_TRUE(state) << state.error().message();
  std::string name = "https://example.com/a.npy";
  runtime::Tensor input, output;
  input.data = reinterpret_cast<uint8_t*>(name.data());
  input.set_dense(DType::kU8, std::vector<int64_t>{static_cast<int64_t>(name.size())});
  const auto& in_file = dynamic_cast<const native::InFileState&>(**state);
  const auto window = in_file.window({{&input, 1}, {}, state->get(), output});
  ASSERT_TRUE(window) << window.error().message();
  EXPECT_EQ(window->why_not, "far away");
}

TEST_F(FakeStorage, ReadsThatGiveLessGoOn) {
  Arrays arrays("less");
  for (int n = 0; n < 3; ++n) arrays.add(128, 256);
  const FakeVariable at_once("FAKE_CUFILE_AT_ONCE", "40960");
  expect_same(text_of_pipeline(arrays), 3);
  EXPECT_EQ(file_counters().reads, 3 * 4);
}

/// The sample's error names the file and the place; with on_error="skip" the others come, unless it is the GPU
/// that fails.
TEST_F(FakeStorage, ReadsThatFailAreTheirSamples) {
  Arrays arrays("fails");
  for (int n = 0; n < 5; ++n) arrays.add(128, 256);
  struct Case {
    int64_t answer;
    int number;
    std::string code, words;
    bool is_forgiven;
  };
  for (const Case& each :
       {Case{-1, EIO, "G0992", "cuFileRead failed at byte 0: Input/output error", true},
        Case{-5011, 0, "G0963", "cuFileRead failed with CU_FILE_CUDA_DRIVER_ERROR at byte 0", false},
        Case{0, 0, "G0802", "131200 bytes are missing", true}}) {
    reset();
    fail_read(2, each.answer, each.number);
    const Delivered raised = deliver(text_of_pipeline(arrays), kGpu, 1);
    EXPECT_EQ(raised.error.substr(0, 5), each.code) << raised.error;
    EXPECT_NE(raised.error.find(each.words), std::string::npos) << raised.error;
    EXPECT_NE(raised.error.find(arrays.path(1)), std::string::npos) << raised.error;
    reset();
    fail_read(2, each.answer, each.number);
    const Delivered skipped = deliver(text_of_pipeline(arrays, "", "skip", 5), kGpu, 1);
    EXPECT_EQ(skipped.error.empty(), each.is_forgiven) << skipped.error;
    EXPECT_EQ(skipped.skipped, each.is_forgiven ? 1 : 0);
    EXPECT_EQ(skipped.samples.size(), each.is_forgiven ? 2 * 4U : 0U);
    EXPECT_EQ(file_counters().live, 0);
  }
}

TEST_F(FakeStorage, AFileThatIsBrokenIsTheHostsToDescribe) {
  Arrays arrays("broken");
  arrays.add(128, 256).add(128, 256);
  fs::resize_file(arrays.path(1), 1000);
  const std::string text = text_of_pipeline(arrays, ", dtype=types.FLOAT, ndim=2");
  const Delivered wanted = deliver(text, kHost, 1), found = deliver(text, kGpu, 1);
  EXPECT_EQ(wanted.error.substr(0, 5), "G0802");
  EXPECT_EQ(found.error, wanted.error);
}

TEST_F(FakeStorage, ItIsUsedWhereItReadsStorageDirectlyOrMust) {
  Arrays arrays("choice");
  for (int n = 0; n < 3; ++n) arrays.add(128, 256);
  const FakeVariable choice("GALATEA_CUFILE", "auto");
  EXPECT_EQ(expect_same(text_of_pipeline(arrays), 3).device.storage, "cuFile 1.14");
  const FakeVariable storage("FAKE_CUFILE_STORAGE", "0");
  const Delivered none = expect_same(text_of_pipeline(arrays), 0);
  EXPECT_EQ(none.device.storage, "");
  EXPECT_NE(none.device.host_reads_because.find("reads no storage of this machine directly"),
            std::string::npos);
  const FakeVariable must("GALATEA_CUFILE", "must");
  expect_same(text_of_pipeline(arrays), 3);
  const FakeVariable driver("FAKE_CUFILE_DRIVER", "5001");
  EXPECT_EQ(deliver(text_of_pipeline(arrays), kGpu).error.substr(0, 5), "G0962");
}

/// Each call of the driver fails once: the host's bits or a clean error, and nothing is left behind.
TEST_F(FakeStorage, CallsOfTheDriverThatFailLeaveNothing) {
  Arrays arrays("driver");
  for (int n = 0; n < 3; ++n) arrays.add(128, 256);
  const std::string text = text_of_pipeline(arrays);
  const Delivered wanted = deliver(text, kHost);
  device_->reset();
  ASSERT_EQ(deliver(text, kGpu, 1).error, "");
  const int64_t calls = device_->counters().calls;
  ASSERT_GT(calls, 20);
  int64_t errors = 0;
  for (const int code : {runtime::cuda::code::kOutOfMemory, 719})
    for (int64_t call = 1; call <= calls; ++call) {
      device_->reset();
      reset();
      device_->fail(call, code);
      const Delivered found = deliver(text, kGpu, 1);
      device_->fail(0, 0);
      const std::string when = fmt::format("call {}, code {}", call, code);
      if (found.error.empty())
        EXPECT_TRUE(wanted.samples == found.samples) << when;
      else
        ++errors;
      EXPECT_EQ(file_counters().live, 0) << when;
      ASSERT_EQ(device_->errors(), "") << when;
      expect_nothing_lives(device_->counters(), when);
    }
  EXPECT_GT(errors, 0);
}

TEST(Storage, ExplainSaysWhatIsRead) {
  Arrays arrays("explain");
  arrays.add(128, 256);
  const Planned planned = plan_for_gpu(text_of_pipeline(arrays), plan::LaunchForm::kAuto);
  ASSERT_TRUE(planned.program) << planned.error;
  const auto& reads = planned.report.device.reads;
  ASSERT_EQ(reads.size(), 1U);
  EXPECT_TRUE(planned.report.device.decodes.empty());
  EXPECT_EQ(reads[0].what, "the results of numpy_part");
  EXPECT_EQ(reads[0].why,
            "where cuFile is here it reads those that suit it; the CPU the others, before they go up");
  ASSERT_EQ(reads[0].suited.size(), 2U);
  const std::string text = to_text(planned.report.device);
  EXPECT_NE(text.find("read for the GPU:\n"), std::string::npos) << text;
  EXPECT_NE(text.find(reads[0].suited[0]), std::string::npos) << text;
}

}  // namespace
}  // namespace galatea::testing
