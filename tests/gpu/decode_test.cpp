// Images that the GPU decodes: over the fake nvJPEG the bits of the CPU's decoder; which images are whose;
// what fails, and what is left of it. GpuDecode.* runs on a real GPU too, within a tolerance.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "compiler/choose_gpu.h"
#include "runtime/session.h"
#include "stdlib_ops/native/nvjpeg/nvjpeg.h"
#include "tests/fake_cuda/fake_nvjpeg.h"
#include "tests/gpu/delivered.h"
#include "tests/gpu/planned.h"
#include "tests/gpu/test_device.h"
#include "tests/native/encoders.h"
#include "tests/support/own_folder.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;
using native::File;
using native::JpegSettings;
using runtime::DecodeChoice;

template <typename Function>
Function* find(const char* name) {
  return find_in_fake<Function>("libnvjpeg.so.12", name);
}
FakeNvjpegCounters jpeg_counters() {
  FakeNvjpegCounters out;
  find<FakeNvjpegCount>("fake_nvjpeg_count")(&out);
  return out;
}
void reset_jpeg() {
  find<FakeNvjpegFail>("fake_nvjpeg_fail")(0, 0);
  find<FakeNvjpegReset>("fake_nvjpeg_reset")();
}

/// A folder of files, in the order of their names.
class Folder {
 public:
  explicit Folder(const std::string& name) : root_(own_path("decode-" + name)) {
    fs::remove_all(root_);
    fs::create_directories(root_ / "class");
  }
  ~Folder() { fs::remove_all(root_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  Folder& add(const File& file) {
    const std::string name = std::to_string(100 + count_++) + ".jpg";
    std::ofstream(root_ / "class" / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
    return *this;
  }
  int count() const { return count_; }
  std::string path() const { return root_.string(); }

 private:
  fs::path root_;
  int count_ = 0;
};

File jpeg(int height, int width, const JpegSettings& settings = {}, int channels = 3) {
  return native::encode_jpeg(
      native::make_picture(height, width, channels, static_cast<uint32_t>(7 * height + width)), settings);
}

std::string pipeline(const Folder& folder, const std::string& decoder_args, const std::string& rest,
                     const std::string& decoder = "image", int batch = 4,
                     const std::string& on_error = "raise") {
  return fmt::format(
      "from nvidia.dali import pipeline_def, fn, types\n\n"
      "@pipeline_def(batch_size={}, num_threads=2, seed=42, on_error='{}')\n"
      "def p():\n"
      "    encoded, label = fn.readers.file(file_root='{}', name='Reader')\n"
      "    image = fn.decoders.{}(encoded, device='mixed'{})\n"
      "{}",
      batch, on_error, folder.path(), decoder, decoder_args, rest);
}

const char* const kAsItIs = "    return image\n";
const char* const kThroughAKernel = "    return fn.brightness(image, brightness=0.75)\n";

class FakeDecode : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("GALATEA_TEST_GPU")) GTEST_SKIP() << "counts and faults are the fake library's";
    device_.emplace();
    reset_jpeg();
  }
  void TearDown() override {
    if (!device_) return;
    EXPECT_EQ(device_->errors(), "");
    EXPECT_EQ(jpeg_counters().live, 0) << "objects of nvJPEG are left";
    expect_nothing_lives(device_->counters(), "at the end");
  }
  /// The CPU's bits, of which the GPU decodes `decodes` images.
  void expect_same(const std::string& text, int64_t decodes, int threads = 2) {
    const Delivered wanted = deliver(text, std::nullopt);
    ASSERT_EQ(wanted.error, "") << text;
    reset_jpeg();
    const Delivered found = deliver(text, DecodeChoice::kAuto, threads);
    EXPECT_EQ(found.error, "") << text;
    EXPECT_TRUE(wanted.samples == found.samples) << text;
    EXPECT_EQ(found.device.decodes, decodes) << text;
    EXPECT_EQ(jpeg_counters().decoded, decodes) << text;
  }
  /// Each call of nvJPEG fails once, in each of the ways: the CPU's bits or a clean error, and nothing is left
  /// behind. `decoders`: what runs without an error say of who decoded.
  void fail_each_call(const std::string& text, std::initializer_list<native::jpeg::Status> ways,
                      std::vector<std::string>* decoders = nullptr) {
    const Delivered wanted = deliver(text, std::nullopt);
    ASSERT_EQ(deliver(text, DecodeChoice::kAuto, 1).error, "");
    const int64_t calls = jpeg_counters().calls;
    int64_t errors = 0;
    for (const native::jpeg::Status way : ways)
      for (int64_t call = 1; call <= calls; ++call) {
        reset_jpeg();
        find<FakeNvjpegFail>("fake_nvjpeg_fail")(call, way);
        const Delivered found = deliver(text, DecodeChoice::kAuto, 1);
        const std::string when = fmt::format("call {}, status {}", call, way);
        if (found.error.empty()) {
          EXPECT_TRUE(wanted.samples == found.samples) << when;
          if (decoders) decoders->push_back(found.device.decoder);
        } else {
          EXPECT_EQ(found.error.substr(0, 5), "G0972") << when << ": " << found.error;
          ++errors;
        }
        EXPECT_EQ(jpeg_counters().live, 0) << when;
        ASSERT_EQ(device_->errors(), "") << when;
        expect_nothing_lives(device_->counters(), when);
      }
    EXPECT_GT(errors, calls);
    reset_jpeg();
    EXPECT_TRUE(deliver(text, DecodeChoice::kAuto, 1).samples == wanted.samples);
  }

  std::optional<FakeCuda> device_;
};

Folder& add_usual(Folder& folder) {
  return folder.add(jpeg(40, 60, {.h = 2, .v = 2})).add(jpeg(33, 21)).add(jpeg(64, 48, {.h = 2}));
}

TEST_F(FakeDecode, WholeImagesAreOutputsAsTheyLie) {
  Folder folder("whole");
  expect_same(pipeline(add_usual(folder), "", kAsItIs), 3);
  expect_same(pipeline(folder, "", kAsItIs, "image", 2), 3, 1);
}

TEST_F(FakeDecode, KernelsReadThem) {
  Folder folder("kernels");
  expect_same(pipeline(add_usual(folder), "", kThroughAKernel), 3);
  expect_same(pipeline(folder, "", "    return fn.resize(image, size=[24, 24])\n"), 3);
  expect_same(pipeline(folder, ", output_type=types.GRAY", kThroughAKernel), 3);
  expect_same(pipeline(folder, ", output_type=types.BGR", kThroughAKernel), 3);
}

/// The GPU makes the whole, and kernels look at the window.
TEST_F(FakeDecode, Windows) {
  Folder folder("windows");
  add_usual(folder);
  const std::string resize = "    return fn.resize(image, size=[16, 20])\n";
  expect_same(pipeline(folder, "", "    image = fn.crop(image, crop=(21, 18))\n" + resize), 1);
  expect_same(pipeline(folder, ", crop=(30, 20)", resize, "image_crop"), 1);
  expect_same(pipeline(folder, ", rel_start=[0.1, 0.2], rel_shape=[0.8, 0.75]", resize, "image_slice"), 3);
  expect_same(
      pipeline(folder, ", rel_start=[0.1, 0.2], rel_shape=[0.8, 0.75]", kThroughAKernel, "image_slice"), 3);
  // A window as it lies in the whole is no output: the CPU makes it.
  expect_same(pipeline(folder, ", rel_start=[0.1, 0.2], rel_shape=[0.8, 0.75]", kAsItIs, "image_slice"), 0);
}

TEST_F(FakeDecode, RandomWindowsAreTheSameOnAnyNumberOfThreads) {
  Folder folder("random");
  for (int n = 0; n < 12; ++n) folder.add(jpeg(40 + 3 * n, 71 - 2 * n, {.h = 1 + n % 2, .v = 1 + n / 6}));
  const std::string text = pipeline(folder, ", random_area=[0.2, 0.9]",
                                    "    return fn.resize(image, size=[16, 20])\n", "image_random_crop");
  const Delivered wanted = deliver(text, std::nullopt);
  ASSERT_EQ(wanted.error, "");
  std::vector<int64_t> decodes;
  for (const int threads : {1, 2, 3}) {
    const Delivered found = deliver(text, DecodeChoice::kAuto, threads);
    EXPECT_EQ(found.error, "");
    EXPECT_TRUE(wanted.samples == found.samples) << threads;
    decodes.push_back(found.device.decodes);
  }
  EXPECT_GT(decodes[0], 3);
  EXPECT_LT(decodes[0], 12);  // small windows are the CPU's
  EXPECT_EQ(decodes[0], decodes[1]);
  EXPECT_EQ(decodes[0], decodes[2]);
}

/// Batches in flight: what was decoded into pinned memory is up before another image goes there.
TEST_F(FakeDecode, ManyOfOneSize) {
  Folder folder("one-size");
  for (uint32_t n = 0; n < 40; ++n)
    folder.add(native::encode_jpeg(native::make_picture(32, 40, 3, n), {.h = 2, .v = 2}));
  const std::string text = pipeline(folder, "", kThroughAKernel);
  for (const int threads : {1, 2, 3}) expect_same(text, 40, threads);
}

/// An image does not fill a device: those of a batch share four streams, which wait for nobody but each other.
TEST_F(FakeDecode, ImagesOfABatchAreDecodedSideBySide) {
  Folder folder("streams");
  for (int n = 0; n < 8; ++n) folder.add(jpeg(30 + n, 40, {.h = 2, .v = 2}));
  for (const auto& [batch, streams] : {std::pair{1, 1}, {3, 3}, {8, 4}}) {
    expect_same(pipeline(folder, "", kThroughAKernel, "image", batch), 8, 1);
    EXPECT_EQ(jpeg_counters().streams, streams) << batch;
  }
  // Their codes, too.
  expect_same(pipeline(folder, ", hybrid_huffman_threshold=1000", kAsItIs, "image", 8), 8, 2);
}

/// Who decodes codes, and who gives work to the device, holds nothing that another thread's codes wait for.
TEST_F(FakeDecode, HostPhasesWaitForNobody) {
  Folder folder("meeting");
  for (int n = 0; n < 12; ++n) folder.add(jpeg(30 + n, 40, {.h = 2, .v = 2}));
  for (const char* phase : {"host", "device"}) {
    const FakeVariable variable("FAKE_NVJPEG_MEETS", phase);
    expect_same(pipeline(folder, "", kThroughAKernel, "image", 2), 12, 2);
    EXPECT_EQ(jpeg_counters().met, 1) << phase;
  }
}

/// Images of which nvJPEG would make something else, in batches with others.
TEST_F(FakeDecode, TheCpuDecodesTheOthers) {
  Folder folder("others");
  const native::Picture picture = native::make_picture(30, 26, 3, 9);
  folder.add(jpeg(40, 60, {.h = 2, .v = 2}))
      .add(jpeg(41, 30, {.orientation = 6}))
      .add(native::encode_png(picture))
      .add(jpeg(28, 36, {.progressive = true}))
      .add(jpeg(28, 36, {}, 1))
      .add(jpeg(24, 20, {.cmyk = true}, 4))
      .add(jpeg(24, 20, {.rgb_space = true}))
      .add(jpeg(50, 32, {.arithmetic = true}))
      .add(jpeg(35, 35, {.restart_rows = 1}))
      .add(native::encode_webp(picture, 80))
      .add(jpeg(31, 37));
  // Colour of: the first, the progressive one, the one with restarts, the last.
  expect_same(pipeline(folder, "", kThroughAKernel), 4);
  expect_same(pipeline(folder, "", kAsItIs), 4);
  // Grey is a plane of its own then, and turned images are as they are stored.
  expect_same(pipeline(folder, ", output_type=types.GRAY, adjust_orientation=False", kThroughAKernel), 6);
  // Nothing that nvJPEG makes.
  expect_same(pipeline(folder, ", dtype=types.FLOAT", kThroughAKernel), 0);
  expect_same(pipeline(folder, ", output_type=types.YCbCr", kThroughAKernel), 0);
}

TEST_F(FakeDecode, CodesOfLargeImagesAreTheDevicesWork) {
  Folder folder("large");
  folder.add(jpeg(40, 60))
      .add(jpeg(20, 20))
      .add(jpeg(64, 48, {.progressive = true}))
      .add(jpeg(90, 31, {.h = 2}));
  expect_same(pipeline(folder, ", hybrid_huffman_threshold=2000", kThroughAKernel), 4);
  EXPECT_EQ(jpeg_counters().device_entropy, 2);  // not of the small one, not of the progressive one
  EXPECT_EQ(jpeg_counters().host_entropy, 2);
}

/// Baseline files of full chroma, in one call a batch; the others as ever.
TEST_F(FakeDecode, TheJpegEngineDecodesWhatSuitsIt) {
  Folder folder("engine");
  folder.add(jpeg(40, 60))
      .add(jpeg(28, 36, {.progressive = true}))
      .add(jpeg(24, 20, {.cmyk = true}, 4))
      .add(jpeg(33, 21, {.h = 2, .v = 2}))
      .add(jpeg(50, 50, {.restart_rows = 1}))
      .add(jpeg(31, 37))
      .add(jpeg(64, 48, {.h = 2}));
  const auto expect_by_engine = [&](const std::string& args, int64_t decodes, int64_t by_engine,
                                    int64_t batches) {
    expect_same(pipeline(folder, args, kThroughAKernel), decodes);
    EXPECT_EQ(jpeg_counters().by_engine, by_engine) << args;
    EXPECT_EQ(jpeg_counters().engine_batches, batches) << args;
  };
  expect_by_engine("", 6, 0, 0);  // there is none
  const std::string text = pipeline(folder, "", kThroughAKernel);
  EXPECT_EQ(deliver(text, DecodeChoice::kAuto).device.decoder, "nvJPEG 12.4");
  const FakeVariable engine("FAKE_NVJPEG_ENGINE", "1");
  EXPECT_EQ(deliver(text, DecodeChoice::kAuto).device.decoder, "nvJPEG 12.4 with the GPU's JPEG engine");
  expect_by_engine("", 6, 3, 2);
  expect_by_engine(", hw_decoder_load=0.0", 6, 0, 0);
  expect_by_engine(", hw_decoder_load=0.9", 6, 5, 2);
  expect_by_engine(", output_type=types.BGR", 6, 3, 2);
  // A batch of files that are all its.
  Folder all("engine-all");
  for (int n = 0; n < 24; ++n) all.add(jpeg(30 + n, 40));
  for (const int threads : {1, 2, 3}) {
    expect_same(pipeline(all, "", kThroughAKernel, "image", 8), 24, threads);
    EXPECT_EQ(jpeg_counters().by_engine, 24);
    EXPECT_EQ(jpeg_counters().engine_batches, 3);
    EXPECT_EQ(jpeg_counters().streams, 1);
  }
}

/// Two formats in a batch are two calls.
TEST_F(FakeDecode, TheJpegEngineTakesABatchAFormat) {
  const FakeVariable engine("FAKE_NVJPEG_ENGINE", "1");
  Folder folder("engine-formats");
  folder.add(jpeg(40, 60)).add(jpeg(28, 36, {}, 1)).add(jpeg(24, 20)).add(jpeg(30, 30, {}, 1));
  expect_same(pipeline(folder, ", output_type=types.ANY_DATA", kAsItIs), 4);
  EXPECT_EQ(jpeg_counters().by_engine, 4);
  EXPECT_EQ(jpeg_counters().engine_batches, 2);
}

/// Those go where they would go without an engine.
TEST_F(FakeDecode, WhatTheJpegEngineRefusesIsTheOthers) {
  const FakeVariable engine("FAKE_NVJPEG_ENGINE", "1");
  Folder folder("engine-refused");
  int64_t odd = 0;
  for (int n = 0; n < 9; ++n) {
    const File file = jpeg(40 + n, 41 - n);
    odd += file.size() % 2 == 1 ? 1 : 0;
    folder.add(file);
  }
  ASSERT_GT(odd, 0);
  ASSERT_LT(odd, 9);
  const FakeVariable refuses("FAKE_NVJPEG_REFUSES", "engine");
  expect_same(pipeline(folder, "", kThroughAKernel), 9);
  EXPECT_EQ(jpeg_counters().by_engine, odd);
  EXPECT_EQ(jpeg_counters().host_entropy, 9 - odd);
}

/// At creation: there is none, or memory is wanted for. In the midst of a batch: an error of the batch.
TEST_F(FakeDecode, EveryCallOfTheJpegEngineFailsOnce) {
  const FakeVariable engine("FAKE_NVJPEG_ENGINE", "1");
  Folder folder("engine-faults");
  folder.add(jpeg(40, 60)).add(jpeg(33, 21, {.h = 2, .v = 2})).add(jpeg(50, 50)).add(jpeg(20, 30));
  namespace status = native::jpeg::status;
  std::vector<std::string> decoders;
  fail_each_call(pipeline(folder, "", kThroughAKernel, "image", 2),
                 {status::kAllocatorFailure, status::kExecutionFailed, status::kArchMismatch}, &decoders);
  // Where the engine's handle is refused there is none, by either status but that of memory.
  EXPECT_EQ(std::ranges::count(decoders, "nvJPEG 12.4"), 2);
}

TEST_F(FakeDecode, WhatNvjpegRefusesIsTheCpus) {
  Folder folder("refused");
  int64_t odd = 0;
  for (int n = 0; n < 9; ++n) {
    File file = jpeg(40 + n, 41 - n);
    odd += file.size() % 2 == 1 ? 1 : 0;
    folder.add(file);
  }
  ASSERT_GT(odd, 0);
  ASSERT_LT(odd, 9);
  for (const char* where : {"parse", "support", "host"}) {
    const FakeVariable refuses("FAKE_NVJPEG_REFUSES", where);
    SCOPED_TRACE(where);
    expect_same(pipeline(folder, "", kThroughAKernel), odd);
    expect_same(pipeline(folder, ", hybrid_huffman_threshold=1", kThroughAKernel), odd);
  }
}

/// The host's decoder says what is wrong, in its words.
TEST_F(FakeDecode, DamagedFilesGiveTheErrorsOfTheCpu) {
  for (const std::string on_error : {"raise", "skip"}) {
    Folder folder("damaged-" + on_error);
    File cut = jpeg(60, 60);
    cut.resize(cut.size() / 2);
    folder.add(jpeg(40, 60)).add(cut).add(jpeg(20, 20));
    const std::string text = pipeline(folder, "", kThroughAKernel, "image", 4, on_error);
    const Delivered wanted = deliver(text, std::nullopt), found = deliver(text, DecodeChoice::kAuto);
    EXPECT_EQ(wanted.error, found.error);
    EXPECT_EQ(wanted.error.empty(), on_error == "skip");
    EXPECT_TRUE(wanted.samples == found.samples);
    EXPECT_EQ(found.samples.size(), on_error == "skip" ? 2U : 0U);
  }
}

TEST_F(FakeDecode, WhatTheHostReadsTheHostDecodes) {
  Folder folder("host");
  add_usual(folder);
  expect_same(pipeline(folder, "", "    return fn.flip(image.cpu(), horizontal=1)\n"), 0);
  expect_same(pipeline(folder, "", "    return fn.brightness(image, brightness=0.5), image.cpu()\n"), 0);
  // A view that is an output is copied, which the host does with what it made.
  expect_same(pipeline(folder, "", "    return fn.flip(image, horizontal=1)\n"), 0);
}

/// Behind a barrier that waits, images have their real addresses.
TEST_F(FakeDecode, ABarrierInTheMiddle) {
  Folder folder("barrier");
  add_usual(folder);
  expect_same(pipeline(folder, "",
                       "    mean = fn.reductions.mean(image)\n"
                       "    return fn.gaussian_blur(image, sigma=mean.cpu() / 64.0 + 0.5)\n"),
              3);
}

TEST_F(FakeDecode, Choices) {
  Folder folder("choices");
  const std::string text = pipeline(add_usual(folder), "", kThroughAKernel);
  const Delivered wanted = deliver(text, std::nullopt);
  EXPECT_EQ(deliver(text, DecodeChoice::kDevice).device.decoder, "nvJPEG 12.4");
  EXPECT_EQ(jpeg_counters().decoded, 3);
  reset_jpeg();
  const Delivered by_cpu = deliver(text, DecodeChoice::kHost);
  EXPECT_TRUE(wanted.samples == by_cpu.samples);
  EXPECT_EQ(by_cpu.device.decoder, "");
  EXPECT_EQ(jpeg_counters().calls, 0);

  const FakeVariable old("FAKE_NVJPEG_VERSION", "12.0");
  const Delivered found = deliver(text, DecodeChoice::kAuto);
  EXPECT_EQ(found.error, "");
  EXPECT_TRUE(wanted.samples == found.samples);
  EXPECT_EQ(jpeg_counters().calls, 0);
  const std::string refused = deliver(text, DecodeChoice::kDevice).error;
  EXPECT_EQ(refused.substr(0, 5), "G0971") << refused;
  EXPECT_NE(refused.find("version 12.0"), std::string::npos) << refused;
}

TEST_F(FakeDecode, EveryCallOfNvjpegFailsOnce) {
  Folder folder("faults");
  add_usual(folder).add(jpeg(50, 50));
  namespace status = native::jpeg::status;
  fail_each_call(pipeline(folder, ", hybrid_huffman_threshold=2000", kThroughAKernel, "image", 2),
                 {status::kAllocatorFailure, status::kExecutionFailed, status::kBadJpeg});
}

/// Every call of the driver likewise.
TEST_F(FakeDecode, CallsOfTheDriverFailUnderIt) {
  Folder folder("driver-faults");
  add_usual(folder);
  const std::string text = pipeline(folder, "", kThroughAKernel, "image", 2);
  const Delivered wanted = deliver(text, std::nullopt);
  device_->reset();
  ASSERT_EQ(deliver(text, DecodeChoice::kAuto, 1).error, "");
  const int64_t calls = device_->counters().calls;
  for (int64_t call = 1; call <= calls; call += 3) {
    device_->fail(call, runtime::cuda::code::kOutOfMemory);
    const Delivered found = deliver(text, DecodeChoice::kAuto, 1);
    device_->fail(0, 0);
    const std::string when = fmt::format("call {}", call);
    EXPECT_TRUE(!found.error.empty() || wanted.samples == found.samples) << when;
    EXPECT_EQ(jpeg_counters().live, 0) << when;
    ASSERT_EQ(device_->errors(), "") << when;
    expect_nothing_lives(device_->counters(), when);
  }
}

/// nvJPEG's memory counts too; what does not fit comes later, or is an error that names the limit.
TEST_F(FakeDecode, ALimitOfTheDevicesMemoryIsKept) {
  Folder folder("limit");
  for (int n = 0; n < 16; ++n) folder.add(jpeg(120 + n, 100));
  const std::string text = pipeline(folder, "", kThroughAKernel);
  const Delivered wanted = deliver(text, std::nullopt);
  const int64_t enough = deliver(text, DecodeChoice::kAuto).device.peak_bytes;
  int64_t delivered = 0, refused = 0;
  for (int64_t limit = enough; limit > enough / 16; limit = limit * 3 / 4) {
    const Delivered found = deliver(text, DecodeChoice::kAuto, 2, limit);
    EXPECT_LE(found.device.peak_bytes, limit);
    if (found.error.empty()) {
      EXPECT_TRUE(wanted.samples == found.samples) << limit;
      ++delivered;
    } else {
      EXPECT_EQ(found.error.substr(0, 5), "G0956") << found.error;
      ++refused;
    }
  }
  EXPECT_GT(delivered, 0);
  EXPECT_GT(refused, 0);
}

/// On a real GPU as well: how far nvJPEG's pixels are from the CPU's.
TEST(GpuDecode, PixelsAreThoseOfTheCpuButForRounding) {
  const TestDevice device;
  if (std::getenv("GALATEA_TEST_GPU") && !native::Nvjpeg::open()) GTEST_SKIP() << "no nvJPEG on this machine";
  Folder folder("tolerance");
  for (const int v : {1, 2})
    for (const int h : {1, 2})
      for (const bool progressive : {false, true})
        folder.add(jpeg(375, 500, {.h = h, .v = v, .progressive = progressive}));
  folder.add(jpeg(1100, 1000, {.h = 2, .v = 2}));
  const std::string text = pipeline(folder, "", kAsItIs);
  const Delivered wanted = deliver(text, std::nullopt), found = deliver(text, DecodeChoice::kDevice);
  ASSERT_EQ(wanted.error + found.error, "");
  EXPECT_EQ(found.device.decodes, folder.count());
  ASSERT_EQ(wanted.samples.size(), found.samples.size());
  for (size_t s = 0; s < wanted.samples.size(); ++s) {
    const std::string &a = wanted.samples[s], &b = found.samples[s];
    ASSERT_EQ(a.substr(0, a.find(':')), b.substr(0, b.find(':')));
    double sum = 0;
    int most = 0;
    for (size_t i = a.find(':') + 1; i < a.size(); ++i) {
      const int apart = std::abs(static_cast<uint8_t>(a[i]) - static_cast<uint8_t>(b[i]));
      sum += apart;
      most = std::max(most, apart);
    }
    const double mean = sum / static_cast<double>(a.size());
    EXPECT_LE(mean, 1.0) << "image " << s;
    EXPECT_LE(most, 16) << "image " << s;
    ::testing::Test::RecordProperty(fmt::format("image_{}", s),
                                    fmt::format("mean {:.3f}, most {}", mean, most));
  }
}

}  // namespace
}  // namespace galatea::testing
