// Rows of bytes and of floats under a band along columns (band_row.cpp): by tables of every kind, against the
// stage interpreter, from an image behind whose padding nothing may be read; and which form is chosen.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include <fmt/format.h>

#include "base/result.h"
#include "compiler/codegen/llvm_backend.h"
#include "tests/kernel/kernel_call.h"
#include "tests/loops/loop_harness.h"

namespace galatea::testing {
namespace {

/// One band along columns. in1: the first column of each pixel; in2: its weights.
Kernel band_of(int channels, bool floats) {
  if (floats)
    return kernel_from(fmt::format(
        "kernel {{ param p0:i64 param p1:i64 param p2:i64 param p3:i64 "
        "input in0:f32 [p0:i64, p1:i64, {0}:i64] dense 3 input in1:i32 [p2:i64] dense 1 "
        "input in2:f32 [p2:i64, p3:i64] dense 2 band stage0:f32 [p0:i64, p2:i64, {0}:i64] axis 1 in f32 "
        "\"across\" "
        "{{ first = convert.i64(load(in1:i32, axis1)) taps = p3:i64 weight = load(in2:f32, axis1, tap) "
        "source = load(in0:f32 clamp, axis0, add(convert.i64(load(in1:i32, axis1)), tap), axis2) }} "
        "output stage0 [0, 1, 2] dense 3 }}",
        channels));
  return kernel_from(fmt::format(
      "kernel {{ param p0:i64 param p1:i64 param p2:i64 param p3:i64 "
      "input in0:u8 [p0:i64, p1:i64, {0}:i64] dense 3 input in1:i32 [p2:i64] dense 1 "
      "input in2:i32 [p2:i64, p3:i64] dense 2 band stage0:f32 [p0:i64, p2:i64, {0}:i64] axis 1 in i32 "
      "\"across\" "
      "{{ first = convert.i64(load(in1:i32, axis1)) taps = p3:i64 weight = load(in2:i32, axis1, tap) "
      "source = load(in0:u8 clamp, axis0, add(convert.i64(load(in1:i32, axis1)), tap), axis2) "
      "finish = mul(convert.f32(acc:i32), 6.1035156e-05:f32) }} output stage0 [0, 1, 2] dense 3 }}",
      channels));
}

/// A copy of some bytes, behind whose padding lies a page that nobody may touch.
class AtTheEdge {
 public:
  explicit AtTheEdge(const std::vector<uint8_t>& bytes) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)),
                 used = (bytes.size() + runtime::kBufferPadding + page - 1) / page * page;
    size_ = used + page;
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    GALATEA_CHECK(memory_ != MAP_FAILED, "memory for a test");
    auto* end = static_cast<uint8_t*>(memory_) + used;
    GALATEA_CHECK(mprotect(end, page, PROT_NONE) == 0, "a page without access");
    data_ = end - runtime::kBufferPadding - bytes.size();
    std::copy(bytes.begin(), bytes.end(), data_);
  }
  ~AtTheEdge() { munmap(memory_, size_); }
  AtTheEdge(const AtTheEdge&) = delete;
  AtTheEdge& operator=(const AtTheEdge&) = delete;
  uint8_t* data() const { return data_; }

 private:
  void* memory_;
  size_t size_;
  uint8_t* data_;
};

/// What the header of `prepared` says (band_row.cpp).
enum Form : int { kPlain = 0, kWindows = 1, kSpans = 2 };

struct Case {
  const char* name;
  int64_t columns, pixels, taps;
  int32_t (*first)(const Case&, int64_t pixel);
  int32_t (*weight)(std::mt19937&, const Case&);
  std::optional<Form> form;  ///< none: it depends on the target
};

int32_t evenly(const Case& c, int64_t pixel) {
  return static_cast<int32_t>((2 * pixel + 1) * c.columns / (2 * c.pixels) - c.taps / 2);
}
int32_t mirrored(const Case& c, int64_t pixel) { return evenly(c, c.pixels - 1 - pixel); }
/// Anywhere, also far outside.
int32_t scattered(const Case& c, int64_t pixel) {
  return static_cast<int32_t>((pixel * 7919) % (3 * c.columns) - c.columns);
}
/// As a resize has them: in all about 2^14.
int32_t share(std::mt19937& random, const Case& c) {
  return static_cast<int32_t>(static_cast<int64_t>(random() % 32768) / c.taps);
}
int32_t with_sign(std::mt19937& random, const Case& c) {
  return share(random, c) * (random() % 3 == 0 ? -1 : 1);
}
int32_t one(std::mt19937&, const Case&) { return 16384; }
/// The largest that 16 bits hold; as two bytes with signs they are too large.
int32_t largest_word(std::mt19937&, const Case&) { return 32767; }
int32_t largest_bytes(std::mt19937& random, const Case&) { return random() % 2 == 0 ? 32639 : -32768; }
int32_t many_bits(std::mt19937& random, const Case&) { return static_cast<int32_t>(random() % 2000000); }

const Case kCases[] = {
    {"to a ninth", 300, 33, 19, evenly, share, kSpans},
    {"to a ninth, mirrored", 290, 32, 19, mirrored, with_sign, kSpans},
    {"to a fifth, sixteen taps", 201, 40, 16, evenly, with_sign, kSpans},
    {"to a fifth, seventeen taps", 167, 33, 17, evenly, share, kSpans},
    {"to a twentieth", 900, 45, 41, evenly, share, kSpans},
    {"to one pixel", 130, 1, 261, evenly, share, kSpans},
    {"few columns, far apart", 33, 5, 14, evenly, share, {}},
    {"to two thirds", 60, 40, 4, evenly, share, kWindows},
    {"anywhere", 200, 50, 23, scattered, share, {}},
    {"anywhere, three columns", 3, 50, 9, scattered, with_sign, {}},
    {"all weight on each", 300, 20, 31, evenly, one, {}},
    {"largest word", 400, 18, 3, evenly, largest_word, {}},
    {"largest bytes", 400, 18, 2, evenly, largest_bytes, {}},
    {"too large", 400, 18, 21, evenly, many_bits, kPlain},
    {"no pixel", 100, 0, 9, evenly, share, {}},
};

class LlvmSpans : public ::testing::TestWithParam<codegen::Target> {};

void compare(const codegen::Target& target, int channels, bool floats) {
  constexpr int64_t kHeight = 3;
  std::mt19937 random(7);
  const Kernel kernel = band_of(channels, floats);
  auto backend = codegen::make_llvm_backend(target);
  const LoopKernel loops = lower_verified(kernel, backend->schedule_options());
  auto compiled = backend->compile(kernel, loops);
  ASSERT_TRUE(compiled) << compiled.error().message();
  const auto prepared = std::find_if(loops.buffers.begin(), loops.buffers.end(),
                                     [](const auto& buffer) { return buffer.name.contains("_prepared"); });
  ASSERT_NE(prepared, loops.buffers.end()) << to_text(loops);
  const kernel::ScratchLayout layout = kernel::layout_scratch(loops);
  const Expr& header = layout.offsets[static_cast<size_t>(prepared - loops.buffers.begin())];
  for (const Case& c : kCases) {
    const auto elements = static_cast<size_t>(kHeight * c.columns * channels);
    std::vector<uint8_t> bytes(elements);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() % 8 == 0 ? 255 : random());
    std::vector<int32_t> first, weights;
    for (int64_t i = 0; i < c.pixels; ++i) first.push_back(c.first(c, i));
    for (int64_t i = 0; i < c.pixels * c.taps; ++i) weights.push_back(c.weight(random, c));
    std::vector<float> levels(bytes.begin(), bytes.end()), shares(weights.begin(), weights.end());
    auto image = floats ? TestTensor::of(DType::kF32, {kHeight, c.columns, channels}, levels)
                        : TestTensor::of(DType::kU8, {kHeight, c.columns, channels}, bytes);
    const AtTheEdge lent(image.bytes);
    runtime::KernelTensor seen = image.view();
    seen.data = lent.data();
    auto first_tensor = TestTensor::of(DType::kI32, {c.pixels}, first),
         weight_tensor = floats ? TestTensor::of(DType::kF32, {c.pixels, c.taps}, shares)
                                : TestTensor::of(DType::kI32, {c.pixels, c.taps}, weights);
    const std::vector<uint64_t> params{kHeight, static_cast<uint64_t>(c.columns),
                                       static_cast<uint64_t>(c.pixels), static_cast<uint64_t>(c.taps)};
    std::vector<uint64_t> scratch(static_cast<size_t>(value_of(layout.bytes, params)) / 8 + 64, ~uint64_t{0});
    auto* aligned =
        reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~uintptr_t{63});
    const auto run = [&](const auto& code) {
      TestTensor out(DType::kF32, {kHeight, c.pixels, channels});
      const runtime::KernelTensor tensors[] = {seen, first_tensor.view(), weight_tensor.view(), out.view()};
      uint32_t status = 0;
      code(runtime::KernelCall{tensors, params.data(), aligned, &status});
      return out.bytes;
    };
    const auto wanted = run([&](const runtime::KernelCall& call) { kernel::interpret_stages(kernel, call); });
    const auto made = run([&](const runtime::KernelCall& call) { compiled->code->run(call); });
    ASSERT_EQ(wanted, made) << c.name << ", " << channels << " channels" << (floats ? " of floats" : "");
    int32_t form = 0;
    std::memcpy(&form, aligned + value_of(header, params), sizeof form);
    if (!floats && c.form && target.is_x86()) {
      EXPECT_EQ(form, *c.form) << c.name << ", " << channels << " channels";
    }
  }
}

TEST_P(LlvmSpans, EqualStages) {
  for (int channels = 1; channels <= 4; ++channels)
    for (const bool floats : {false, true}) compare(GetParam(), channels, floats);
}

INSTANTIATE_TEST_SUITE_P(Targets, LlvmSpans, ::testing::ValuesIn(codegen::runnable_targets()),
                         [](const auto& test) {
                           std::string name;
                           for (char c : test.param.name())
                             name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                           return name;
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LlvmSpans);

}  // namespace
}  // namespace galatea::testing
