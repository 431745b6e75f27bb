// What is wrong with a kernel of the user's own: before there is data, when its text is compiled, and of a
// sample; and the place that is shown.
#include <gtest/gtest.h>

#include <cstdlib>

#include "compiler/codegen/cuda/text_kernel.h"
#include "compiler/compile.h"
#include "dsl/frontend.h"
#include "tests/pixel/everywhere.h"
#include "tests/support/product.h"

namespace galatea {
namespace {

using testing::product;
using testing::random_array;

constexpr const char* kCopy = R"(
__global__ void copy(galatea::Tensor<const uint8_t, 3> image, galatea::Tensor<uint8_t, 3> out) {
  int x = blockIdx.x, y = blockIdx.y;
  for (int c = 0; c < out.extent(2); ++c) out(y, x, c) = image(y, x, c);
}
)";
constexpr const char *kInputs = "image: u8[h, w, c] HWC", *kOutputs = "out: u8[h, w, c] HWC",
                     *kLaunch = "<<<(w, h), 1>>>";

struct Said {
  std::string text = kCopy, name = "copy", inputs = kInputs, outputs = kOutputs, launch = kLaunch;
  std::string call = "copy(image)";
};

std::string pipeline(const Said& said) {
  return "import galatea\nfrom galatea import fn, pipeline_def, types\n\ncopy = galatea.cuda_kernel(\n    name=\"" +
         said.name + "\", inputs=\"" + said.inputs + "\", outputs=\"" + said.outputs + "\", launch=\"" +
         said.launch + "\", source=\"\"\"" + said.text +
         "\"\"\")\n\n@pipeline_def(batch_size=8)\ndef p():\n    image = fn.external_source(name=\"image\", "
         "dtype=types.UINT8, layout=\"HWC\")\n    return " +
         said.call + "\n";
}

/// The first error that is found while the pipeline is staged, "line:column: message".
std::string refusal(const Said& said) {
  SourceMap sources;
  const auto staged = dsl::stage_pipeline("own.dali-dsl", pipeline(said), {}, product().registry, sources);
  for (const Diagnostic& diagnostic : staged.diagnostics)
    if (diagnostic.severity == Severity::kError) return diagnostic.message + " | " + diagnostic.help;
  return {};
}

#define EXPECT_SAYS(text, words) EXPECT_NE((text).find(words), std::string::npos) << (text)

TEST(OwnKernelErrors, OfTheDeclaration) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_SAYS(refusal({.name = "resize"}),
              "has no function `__global__ void resize(…)` | functions marked `__global__` there: `copy`");
  EXPECT_SAYS(refusal({.text = "\nvoid copy() {}\n"}), "it has none that is marked `__global__`");
  EXPECT_SAYS(refusal({.text = "\n// __global__ void copy(int x)\n"}), "has no function");
  EXPECT_SAYS(refusal({.text = std::string("\n#include <stdint.h>") + kCopy}),
              "a kernel has no headers, and own.dali-dsl:6 includes one | leave it out");
  EXPECT_SAYS(refusal({.text = std::string("\n\n  #  include <cuda_fp16.h>") + kCopy}), "own.dali-dsl:7");
  EXPECT_EQ(refusal({.text = std::string("\n// #include <cmath>\n/*\n#include <x.h>\n*/") + kCopy}), "");
  EXPECT_SAYS(refusal({.text = std::string("\n#define galatea_kernel mine") + kCopy}),
              "a name at own.dali-dsl:6 belongs to galatea | choose one that does not begin with `galatea_`");
  EXPECT_SAYS(refusal({.text = std::string("\n\n # undef  GALATEA_RUN_BLOCK") + kCopy}), "own.dali-dsl:7");
  EXPECT_SAYS(refusal({.text = std::string("\nvoid galatea_kernel() {}") + kCopy}), "own.dali-dsl:6");
  EXPECT_EQ(refusal({.text = std::string("\n// #define galatea_kernel\n#define MINE 1") + kCopy}), "");
  EXPECT_SAYS(refusal({.inputs = "image u8"}), "there is no `:` behind a name");
  EXPECT_SAYS(refusal({.inputs = "image: u9[h, w, c]"}), "there is no element type `u9`");
  EXPECT_SAYS(refusal({.inputs = "image: f16[h, w, c]"}), "have no halves");
  EXPECT_SAYS(refusal({.inputs = "image: u8[h, w, c"}), "`]` is missing");
  EXPECT_SAYS(refusal({.inputs = "image: u8[h, w]"}), "declared to have 2 dimensions");
  EXPECT_SAYS(refusal({.inputs = "image: f32[h, w, c]"}), "declared to be of f32");
  EXPECT_SAYS(refusal({.inputs = "image: u8[h, w, c] CHW"}), "declared to have the layout CHW");
  EXPECT_SAYS(refusal({.outputs = "out: u8"}), "an output has extents");
  EXPECT_SAYS(refusal({.outputs = "out: u8[h, w, d]"}), "`d` in `d` is no extent of an input");
  EXPECT_SAYS(refusal({.outputs = "out: u8[h, (w, c]"}), "outputs");
  EXPECT_SAYS(refusal({.outputs = "out: u8[h, w, half(c)]"}), "there is no function `half`");
  EXPECT_SAYS(refusal({.outputs = "out: u8[h, w, 3000000000]"}), "would have an extent of 3000000000");
  EXPECT_SAYS(refusal({.call = "copy(image, image)"}), "declares 1 inputs, and the call gives 2");
}

TEST(OwnKernelErrors, OfTheParameters) {
  EXPECT_SAYS(refusal({.inputs = kInputs, .call = "copy(image, 1)"}), "declares 1 inputs");
  EXPECT_SAYS(refusal({.text = "\n__global__ void copy(galatea::Tensor<const uint8_t, 3> image) {}\n"}),
              "at own.dali-dsl:6 has 1 parameters, and is called with 1 inputs and 1 outputs");
  EXPECT_SAYS(
      refusal(
          {.text = "\n\n__global__ void copy(const uint8_t* image, galatea::Tensor<uint8_t, 3> out) {}\n"}),
      "parameter 1 of `copy` at own.dali-dsl:7 is `const uint8_t* image`, but the input `image` is a "
      "`galatea::Tensor<const uint8_t, 3>`");
  EXPECT_SAYS(
      refusal(
          {.text =
               "\n__global__ void copy(galatea::Tensor<const uint8_t, 3> a, galatea::Tensor<float, 3> out) {}\n"}),
      "declare it as `galatea::Tensor<uint8_t, 3> out`");
  EXPECT_SAYS(
      refusal(
          {.text =
               "\n__global__ void copy(galatea::Tensor<uint8_t, 3> a, galatea::Tensor<uint8_t, 3> out) {}\n"}),
      "declare it as `galatea::Tensor<const uint8_t, 3> image`");
  EXPECT_SAYS(
      refusal(
          {.text =
               "\n__global__ void copy(galatea::Tensor<const uint8_t, 2> a, galatea::Tensor<uint8_t, 3> out) {}\n"}),
      "parameter 1 of `copy`");
}

TEST(OwnKernelErrors, OfTheLaunch) {
  EXPECT_SAYS(refusal({.launch = "(w, h), 1"}), "is no `<<<blocks, threads>>>`");
  EXPECT_SAYS(refusal({.launch = "<<<w>>>"}), "has 1 parts, not blocks and threads");
  EXPECT_SAYS(refusal({.launch = "<<<(w, h, 1, 1), 1>>>"}), "has no one to three parts");
  EXPECT_SAYS(refusal({.launch = "<<<w, h>>>"}), "`h` is no number of threads");
  EXPECT_SAYS(refusal({.launch = "<<<w, 0>>>"}), "`0` is no number of threads");
  EXPECT_SAYS(refusal({.launch = "<<<w, 1025>>>"}), "a block of `1025` threads is too large");
  EXPECT_SAYS(refusal({.launch = "<<<w, (32, 33)>>>"}), "is too large");
  EXPECT_SAYS(refusal({.launch = "<<<w, (1, 1, 65)>>>"}), "is too large");
  EXPECT_SAYS(refusal({.launch = "<<<0, 32>>>"}), "a grid of no blocks: `0` is 0");
  EXPECT_SAYS(refusal({.launch = "<<<(1, 70000), 32>>>"}), "a grid of 70000 blocks along y is too large");
  EXPECT_SAYS(refusal({.launch = "<<<(100000, 50000), 32>>>"}), "a grid of 5000000000 blocks is too large");
  EXPECT_SAYS(refusal({.launch = "<<<q, 32>>>"}), "`q` in `q` is no extent of an input");
  EXPECT_SAYS(refusal({.text = "\nextern __shared__ int rows[];\n" + std::string(kCopy)}),
              "shared memory without a size, at own.dali-dsl:6");
}

TEST(OwnKernelErrors, OfASample) {
  const auto failure = [](const Said& said, std::vector<int64_t> extents) {
    return testing::failure_of(pipeline(said),
                               {{"image", {random_array(DType::kU8, std::move(extents), 1)}}});
  };
  EXPECT_EQ(failure({}, {3, 4, 3}), "");
  EXPECT_SAYS(failure({}, {0, 4, 3}), "a grid of 0 blocks along y (`h`)");
  EXPECT_SAYS(failure({.inputs = "image: u8[h, w, 3]", .outputs = "out: u8[h, w, 3]"}, {3, 4, 1}),
              "has an extent of 1 along dimension 2, and is declared to have 3");
  EXPECT_SAYS(
      failure({.inputs = "image: u8[n, n, c]", .outputs = "out: u8[n, n, c]", .launch = "<<<(n, n), 1>>>"},
              {3, 4, 1}),
      "has an extent of 4 along dimension 1, and `n` is 3");
  EXPECT_SAYS(failure({.outputs = "out: u8[h - 5, w, c]"}, {3, 4, 1}),
              "would have an extent of -2 (`h - 5`)");
  EXPECT_SAYS(failure({.outputs = "out: u8[h, w / (c - 1), c]"}, {3, 4, 1}), "divides by zero");
}

/// The errors of the text's compiler, "place: message".
std::vector<std::string> errors_of_text(const std::string& text) {
  SourceMap sources;
  auto staged =
      dsl::stage_pipeline("own.dali-dsl", pipeline({.text = text}), {}, product().registry, sources);
  EXPECT_TRUE(staged.ok);
  if (!staged.ok) return {};
  auto backend = codegen::make_interpreter_backend(true);
  CompileOptions options;
  options.registry = &product().registry;
  options.backend = backend.get();
  auto program = compile(*staged.graphs.at(0), sources, options);
  std::vector<std::string> out;
  if (program) return out;
  EXPECT_EQ(program.error().kind, ErrorKind::kUser);
  for (const Diagnostic& diagnostic : program.error().diagnostics) {
    EXPECT_EQ(diagnostic.code, "G0570");
    out.push_back(sources.describe(diagnostic.span) + ": " + diagnostic.message);
  }
  return out;
}

// The text begins on line 5 of the file.
TEST(OwnKernelErrors, OfTheTextAreAtItsLines) {
  std::string text = kCopy;
  EXPECT_TRUE(errors_of_text(text).empty());
  const std::string name = "image(y, x, c)";
  text.replace(text.find(name), name.size(), "picture(y, x, c)");
  auto errors = errors_of_text(text);
  ASSERT_FALSE(errors.empty());
  EXPECT_TRUE(errors[0].starts_with("own.dali-dsl:8:58: the kernel `copy` does not compile: ")) << errors[0];
  // What is wrong with a call of ours is the user's line, too.
  text = kCopy;
  text.replace(text.find(name), name.size(), "image(y, x)");
  errors = errors_of_text(text);
  ASSERT_FALSE(errors.empty());
  EXPECT_TRUE(errors[0].starts_with("own.dali-dsl:8:")) << errors[0];
  EXPECT_SAYS(errors[0], "as many indices as it has dimensions");
}

/// What the text says of a sample of 3 x 4 x 3, for the statement `body`.
std::string said_of(const std::string& body) {
  const std::string text =
      "\n__global__ void copy(galatea::Tensor<const uint8_t, 3> image, galatea::Tensor<uint8_t, 3> out) {\n  "
      "int x = blockIdx.x, y = blockIdx.y;\n  " +
      body + "\n}\n";
  return testing::failure_of(pipeline({.text = text}), {{"image", {random_array(DType::kU8, {3, 4, 3}, 1)}}});
}

// On the CPU, where what is outside would be somebody else's memory.
TEST(OwnKernelErrors, WhatIsOutsideOfATensor) {
  EXPECT_EQ(said_of("for (int c = 0; c < 3; ++c) out(y, x, c) = image(2 - y, 3 - x, 2 - c);"), "");
  EXPECT_SAYS(said_of("out(y, x, 3) = 1;"),
              "the kernel asks for element 3 along dimension 2 of parameter 2, which has 3 there");
  EXPECT_SAYS(said_of("out(y + 7000, x, 0) = 1;"),
              "element 7000 along dimension 0 of parameter 2, which has 3 there");
  EXPECT_SAYS(said_of("out(y, x, 0) = image(y, x - 1, 0);"),
              "element -1 along dimension 1 of parameter 1, which has 4 there");
  // A larger number than a status word has room for, and a tensor that the text makes.
  EXPECT_SAYS(said_of("out(-2000000000, x, 0) = 1;"), "element -524287 along dimension 0");
  EXPECT_SAYS(said_of("galatea::Tensor<uint8_t, 1> row = {out.data, {4}, {1}}; row(4) = 1;"),
              "element 4 along dimension 0 of a tensor of its own");
  // Where threads wait for each other as well.
  EXPECT_SAYS(said_of("__syncthreads(); out(y, 4, 0) = 1; __syncthreads();"),
              "element 4 along dimension 1 of parameter 2, which has 4 there");
}

TEST(OwnKernelErrors, WhatAGpuHasNot) {
  const auto with = [](const std::string& statement) {
    std::string text = kCopy;
    return errors_of_text(text.replace(text.find("  int x"), 0, statement));
  };
  const auto fill = [](const std::string& words) {
    return "  __shared__ float rows[" + words +
           "];\n  for (int i = 0; i < out.extent(0); ++i) rows[i * 7919] = rows[image(0, 0, 0)] + i;\n";
  };
  EXPECT_TRUE(with(fill("12 * 1024")).empty());
  auto errors = with(fill("14 * 1024"));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(errors[0].starts_with(
      "own.dali-dsl:7:3: the kernel `copy` does not compile: its __shared__ arrays take about 56 KiB, and a "
      "block of a GPU has 48 KiB"))
      << errors[0];
  errors = with("  throw 3;\n");
  ASSERT_FALSE(errors.empty());
  EXPECT_TRUE(errors[0].starts_with("own.dali-dsl:7:")) << errors[0];
}

TEST(OwnKernelErrors, WithoutACompiler) {
  const char* const before = std::getenv("GALATEA_CXX");
  const std::string kept = before ? before : "";
  setenv("GALATEA_CXX", "/nowhere/c++", 1);
  op::TextKernel kernel;
  kernel.function = "copy";
  kernel.text = "__device__ void copy() {}";
  const auto code = codegen::compile_for_host(kernel, {});
  before ? setenv("GALATEA_CXX", kept.c_str(), 1) : unsetenv("GALATEA_CXX");
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().kind, ErrorKind::kSystem);
  EXPECT_EQ(code.error().diagnostics[0].code, "G0571");
  EXPECT_SAYS(code.error().message(), "the C++ compiler \"/nowhere/c++\" could not be started");
}

TEST(OwnKernelErrors, AsNvrtcWordsThem) {
  SourceMap sources;
  sources.add("warp.cu", "one\n  two three\nfour\n");
  op::TextKernel kernel;
  kernel.function = "warp";
  kernel.file = "warp.cu";
  const Error error = codegen::error_of_text(
      kernel,
      "NVRTC refuses its text:\nwarp.cu(2): error: identifier \"two\" is undefined\n    two three\n    ^\n\n"
      "warp.cu(3): error #20: identifier \"four\" is undefined\n\n"
      "k.cu(402): error: static assertion failed\n  static_assert(…);\n"
      "  detected during instantiation of \"T &f()\" at line 1 of warp.cu\n\nk.cu(7): error: no function\n"
      "3 errors detected in the compilation of \"k.cu\".\n",
      sources);
  ASSERT_EQ(error.diagnostics.size(), 3u);
  EXPECT_EQ(error.kind, ErrorKind::kUser);
  EXPECT_EQ(sources.describe(error.diagnostics[0].span), "warp.cu:2:3");
  EXPECT_EQ(error.diagnostics[0].message,
            "the kernel `warp` does not compile: identifier \"two\" is undefined");
  EXPECT_EQ(sources.describe(error.diagnostics[1].span), "warp.cu:3:1");
  EXPECT_EQ(sources.describe(error.diagnostics[2].span), "warp.cu:1:1");
  const Error of_call = codegen::error_of_text(kernel, "around warp(7): error: no function\n", sources);
  ASSERT_EQ(of_call.diagnostics.size(), 1u);
  EXPECT_FALSE(of_call.diagnostics[0].span.valid());
  EXPECT_EQ(of_call.diagnostics[0].message,
            "the kernel `warp` does not compile: in the call of it: no function");
}

}  // namespace
}  // namespace galatea
