// Warps as machine code, against the stage interpreter: pixels of several elements, read from images that
// begin or end where their memory does.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include "compiler/codegen/code_module.h"
#include "compiler/codegen/llvm_backend.h"
#include "compiler/kernel/interpreter.h"
#include "compiler/kernel/schedule.h"
#include "tests/kernel/kernel_call.h"
#include "tests/kernel/targets.h"

namespace galatea::codegen {
namespace {

using kernel::Border;
using kernel::const_float;
using kernel::const_int;
using kernel::Expr;
using kernel::load;
using testing::TestTensor;

struct Form {
  DType from, to;
  int64_t channels;
  int64_t taps;  ///< either way: 1 is the nearest pixel, 2 linear, 4 cubic
  Border border;
  bool divides = false;  ///< places are divided by the image's height

  std::string name() const {
    return std::string(short_name(from)) + " to " + std::string(short_name(to)) + ", " +
           std::to_string(channels) + " channels, " + std::to_string(taps) + " taps, border " +
           std::to_string(static_cast<int>(border));
  }
};

Cell cell_of(DType type, int64_t number) {
  return is_float(type) ? cell_from_double(type, static_cast<double>(number)) : cell_from_int(type, number);
}

/// Parameters: height, width, those of the output, and the map of its places: six f32.
kernel::Kernel warp(const Form& form) {
  kernel::Kernel out;
  out.name = "warp";
  for (const char* name : {"h", "w", "out_h", "out_w"}) out.params.push_back({name, DType::kI64});
  for (const char* name : {"m00", "m01", "m02", "m10", "m11", "m12"})
    out.params.push_back({name, DType::kF32});
  const auto extent = [](int p) { return kernel::param(p, DType::kI64); };
  const Expr c = const_int(form.channels);
  out.inputs.push_back({"image", form.from, {extent(0), extent(1), c}, 3});
  const auto place = [](int first) {
    const auto number = [](int p) { return kernel::param(p, DType::kF32); };
    const auto at = [](int axis) {
      return convert(convert(kernel::axis(axis), DType::kI32), DType::kF32) + const_float(0.5);
    };
    return fma(number(first), at(1), fma(number(first + 1), at(0), number(first + 2)));
  };
  const Expr x = place(4), y = place(7);
  const auto index = [&](const Expr& e) {
    const Expr near = clamp(unary(ScalarOp::kFloor, e), const_float(-5), const_float(16777218));
    const Expr whole = convert(convert(near, DType::kI32), DType::kI64);
    return form.divides ? binary(ScalarOp::kDiv, whole, extent(0)) : whole;
  };
  // Any weights: what matters is which elements they meet.
  const DType sum = is_float(form.from) ? form.from : DType::kI64;
  Expr value;
  for (int64_t dy = 0; dy < form.taps; ++dy)
    for (int64_t dx = 0; dx < form.taps; ++dx) {
      const int64_t before = (form.taps - 1) / 2;
      const Expr pixel =
          load({kernel::LoadTarget::Kind::kInput, 0}, form.from,
               {index(y) + const_int(dy - before), index(x) + const_int(dx - before), kernel::axis(2)},
               form.border, cell_of(form.from, 7));
      const double weight = 1 + static_cast<double>(dy * form.taps + dx);
      const Expr term = convert(pixel, sum) * (is_float(sum) ? const_float(weight, sum)
                                                             : const_int(static_cast<int64_t>(weight), sum));
      value = value ? value + term : term;
    }
  if (form.taps == 1)
    value = load({kernel::LoadTarget::Kind::kInput, 0}, form.from, {index(y), index(x), kernel::axis(2)},
                 form.border, cell_of(form.from, 7));
  kernel::Stage stage;
  stage.name = "warp";
  stage.type = form.to;
  stage.extents = {extent(2), extent(3), c};
  stage.body = value.type() == form.to ? value : saturate(value, form.to);
  out.stages.push_back(std::move(stage));
  out.outputs.push_back({0, {0, 1, 2}, true, 3});
  if (auto status = kernel::verify(out); !status) throw std::runtime_error(status.error().message());
  return out;
}

/// Memory between pages that nothing may touch.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : page_(static_cast<size_t>(::sysconf(_SC_PAGESIZE))) {
    bytes_ = (bytes + page_ - 1) / page_ * page_;
    void* all = ::mmap(nullptr, bytes_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::runtime_error("no memory");
    all_ = static_cast<uint8_t*>(all);
    if (::mprotect(begin(), bytes_, PROT_READ | PROT_WRITE) != 0) throw std::runtime_error("no memory");
  }
  ~Guarded() { ::munmap(all_, bytes_ + 2 * page_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  uint8_t* begin() { return all_ + page_; }
  uint8_t* end() { return begin() + bytes_; }

 private:
  size_t page_, bytes_ = 0;
  uint8_t* all_ = nullptr;
};

/// height, width, those of the output, the angle's cosine and sine, and how far the image is moved.
struct Call {
  uint64_t height, width, out_height, out_width;
  float c, s, shift;
};
constexpr Call kCalls[] = {
    {9, 12, 8, 37, 0.8F, 0.6F, 1.3F},                                              // inside and outside
    {1, 1, 2, 19, 0.3F, 0.1F, -0.5F},                                              // one pixel
    {0, 0, 2, 17, 1.0F, 0.0F, 0.0F},                                               // none
    {0, 9000, 2, 70, 1.0F, 0.0F, 8000.0F},                                         // no rows
    {9000, 0, 2, 70, 1.0F, 0.0F, 8000.0F},                                         // no columns
    {12, 70, 10, 67, 1.0F, 0.0F, 3.25F},                                           // runs
    {60, 110, 9, 64, 0.98F, 0.2F, 20.5F},   {40, 40, 40, 40, 0.98F, 0.05F, 0.5F},  // up to the last pixel
    {40, 40, 40, 33, -0.98F, 0.05F, 39.5F},
};

std::vector<uint8_t> warped(const Form& form, const Call& call, uint8_t* image,
                            const std::function<void(const runtime::KernelCall&)>& code) {
  const auto bits = [](float v) { return cell_from_double(DType::kF32, static_cast<double>(v)).bits; };
  const uint64_t params[] = {call.height,  call.width,      call.out_height,  call.out_width,
                             bits(call.c), bits(-call.s),   bits(call.shift), bits(call.s),
                             bits(call.c), bits(call.shift)};
  TestTensor out(
      form.to, {static_cast<int64_t>(call.out_height), static_cast<int64_t>(call.out_width), form.channels});
  runtime::KernelTensor from;
  from.data = image;
  const int64_t extents[] = {static_cast<int64_t>(call.height), static_cast<int64_t>(call.width),
                             form.channels};
  const int64_t strides[] = {extents[1] * extents[2], extents[2], 1};
  std::copy(std::begin(extents), std::end(extents), from.extents);
  std::copy(std::begin(strides), std::end(strides), from.strides);
  const runtime::KernelTensor tensors[] = {from, out.view()};
  uint32_t status = 0;
  code({tensors, params, nullptr, &status});
  return out.bytes;
}

void expect_equal_at_the_edges_of_memory(const Form& form) {
  const kernel::Kernel kernel = warp(form);
  std::vector<std::pair<std::string, CompiledKernel>> compiled;
  for (const Target& target : testing::targets_of(form.name())) {
    auto backend = make_llvm_backend(target);
    const kernel::ScheduleOptions options = backend->schedule_options();
    auto code =
        backend->compile(kernel, kernel::lower(kernel, kernel::make_schedule(kernel, options), options));
    ASSERT_TRUE(code) << code.error().message();
    compiled.emplace_back(target.name(), std::move(*code));
  }
  const auto element = static_cast<size_t>(size_of(form.from));
  for (const Call& call : kCalls) {
    const size_t count = static_cast<size_t>(form.channels) * call.height * call.width;
    Guarded memory(count * element + runtime::kBufferPadding);
    for (uint8_t* image : {memory.begin(), memory.end() - runtime::kBufferPadding - count * element}) {
      std::mt19937 random(static_cast<uint32_t>(call.width));
      for (size_t i = 0; i < count; ++i)
        store_cell(
            form.from, image + i * element,
            cell_of(form.from, static_cast<int64_t>(random() % 20011) - (is_float(form.from) ? 9000 : 0)));
      const auto expected = warped(
          form, call, image, [&](const runtime::KernelCall& run) { kernel::interpret_stages(kernel, run); });
      for (const auto& [target, kernel_code] : compiled) {
        const auto actual =
            warped(form, call, image, [&](const runtime::KernelCall& run) { kernel_code.code->run(run); });
        ASSERT_EQ(expected, actual) << target << ", " << form.name() << ", " << call.height << " x "
                                    << call.width << " to " << call.out_height << " x " << call.out_width
                                    << (image == memory.begin() ? ", at the beginning" : ", at the end");
      }
    }
  }
}

class LlvmGather : public ::testing::TestWithParam<int64_t> {};

TEST_P(LlvmGather, FloatsOfEveryPixelAndBorder) {
  for (const int64_t taps : {1, 2, 4})
    for (const Border border : {Border::kClamp, Border::kConstant, Border::kReflect101})
      if (taps == 2 || border != Border::kReflect101)
        expect_equal_at_the_edges_of_memory({DType::kF32, DType::kF32, GetParam(), taps, border});
}

TEST_P(LlvmGather, OtherTypes) {
  for (const auto& [from, to] : std::vector<std::pair<DType, DType>>{{DType::kI32, DType::kI32},
                                                                     {DType::kU32, DType::kU32},
                                                                     {DType::kF32, DType::kU8},
                                                                     {DType::kU8, DType::kU8},
                                                                     {DType::kI16, DType::kF32},
                                                                     {DType::kF64, DType::kF64}})
    expect_equal_at_the_edges_of_memory({from, to, GetParam(), 2, Border::kClamp});
}

INSTANTIATE_TEST_SUITE_P(Channels, LlvmGather, ::testing::Values(1, 2, 3, 4));

/// Rows added to an image whose columns stay: columns of an image without rows lie nowhere.
TEST(LlvmGather, OfNoRowsTheColumnsAreNotRead) {
  const kernel::Kernel kernel = testing::kernel_from(
      "kernel { param p0:i64 param p1:i64 input in0:u8 [p0:i64, p1:i64, 3:i64] dense 3 "
      "map stage0:u8 [4:i64, p1:i64, 3:i64] { body = max(load(in0:u8 constant 7:u8, axis0, axis1, axis2), "
      "load(in0:u8 constant 9:u8, add(axis0, 1:i64), axis1, axis2)) } output stage0 [0, 1, 2] dense 3 }");
  constexpr uint64_t kWidth = 9000;
  Guarded memory(runtime::kBufferPadding);
  runtime::KernelTensor from{memory.end() - runtime::kBufferPadding, {0, kWidth, 3}, {kWidth * 3, 3, 1}};
  for (const Target& target : runnable_targets()) {
    auto backend = make_llvm_backend(target);
    const kernel::ScheduleOptions options = backend->schedule_options();
    auto code =
        backend->compile(kernel, kernel::lower(kernel, kernel::make_schedule(kernel, options), options));
    ASSERT_TRUE(code) << code.error().message();
    TestTensor out(DType::kU8, {4, kWidth, 3});
    const runtime::KernelTensor tensors[] = {from, out.view()};
    const uint64_t params[] = {0, kWidth};
    uint32_t status = 0;
    code->code->run({tensors, params, nullptr, &status});
    EXPECT_TRUE(std::all_of(out.bytes.begin(), out.bytes.begin() + out.count(), [](uint8_t b) {
      return b == 9;
    })) << target.name();
  }
}

/// As text of LLVM, for a target that need not be this machine's.
std::string text_of(const Form& form, TargetLevel level) {
  auto code_module = CodeModule::open();
  if (!code_module) throw std::runtime_error(code_module.error().message());
  const Target target{level};
  kernel::ScheduleOptions options;
  options.vector_bits = target.vector_bits();
  const kernel::Kernel kernel = warp(form);
  auto text = (*code_module)
                  ->llvm_text(kernel::lower(kernel, kernel::make_schedule(kernel, options), options), target);
  if (!text) throw std::runtime_error(text.error().message());
  return *text;
}

/// The tests above would hold for words as well: which pixels are read whole. Four rows of four pixels of
/// four channels are more loads than a body is worth.
TEST(LlvmGather, ReadsWholePixelsOf32Bits) {
  for (const TargetLevel level : {TargetLevel::kX86V3, TargetLevel::kX86V4, TargetLevel::kX86V4Vnni})
    for (const int64_t taps : {1, 2, 4})
      for (const int64_t channels : {1, 2, 3, 4}) {
        const std::string text =
            text_of({DType::kF32, DType::kF32, channels, taps, Border::kConstant}, level);
        EXPECT_EQ(text.find("load <4 x float>") != std::string::npos,
                  channels * taps > 2 && channels * taps <= 12)
            << channels << " channels, " << taps << " taps";
      }
}

/// Nor would they see whether rows are asked for: every fourth pixel of floats, every sixteenth of bytes, two
/// vectors of which stand side by side.
TEST(LlvmGather, AsksForRowsAhead) {
  const auto asked = [](const std::string& text) {
    size_t count = 0;
    for (size_t at = 0; (at = text.find("call void @llvm.prefetch", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  // A vector is among the rows that are inside, or has a border, or follows a row of the image.
  constexpr size_t kWays = 2;
  EXPECT_EQ(asked(text_of({DType::kF32, DType::kF32, 3, 2, Border::kConstant}, TargetLevel::kX86V4)),
            kWays * 4);
  EXPECT_EQ(asked(text_of({DType::kF32, DType::kF32, 3, 2, Border::kConstant}, TargetLevel::kX86V3)),
            kWays * 2);
  EXPECT_EQ(asked(text_of({DType::kU8, DType::kF32, 3, 2, Border::kConstant}, TargetLevel::kX86V4)),
            kWays * 2);
  // In the middle of a row that has no pixels nothing may be divided: it would raise the flag.
  EXPECT_EQ(asked(text_of({DType::kU8, DType::kF32, 3, 1, Border::kClamp, true}, TargetLevel::kX86V4)), 0U);
  EXPECT_GT(asked(text_of({DType::kU8, DType::kF32, 3, 1, Border::kClamp}, TargetLevel::kX86V4)), 0U);
}

}  // namespace
}  // namespace galatea::codegen
