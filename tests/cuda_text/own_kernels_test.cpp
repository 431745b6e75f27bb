// NVRTC compiles what stands around a kernel of the user's own, for each element type, and its errors are at
// the user's lines.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/codegen/cuda/cubin_figures.h"
#include "compiler/codegen/cuda/emit.h"
#include "compiler/codegen/cuda/nvrtc.h"
#include "compiler/codegen/cuda/text_kernel.h"

namespace galatea::testing {
namespace {

/// Inputs and outputs of every type, a number, barriers, shared memory, all four names of CUDA.
op::TextKernel kernel_of_every_type(const std::string& line) {
  op::TextKernel out;
  out.function = "own";
  out.file = "own.cu";
  out.block = {16, 8, 2};
  std::string parameters, body;
  for (int k = 0; k < kNumDTypes; ++k) {
    const auto type = static_cast<DType>(k);
    if (type == DType::kF16) continue;
    out.inputs.push_back({type, 3, false});
    out.outputs.push_back({type, 1, false});
    parameters += fmt::format("galatea::Tensor<const {}, 3> in{}, ", op::c_name(type), k);
    body += fmt::format("  out{}(threadIdx.x) = in{}(blockIdx.x, threadIdx.y, gridDim.z);\n", k, k);
  }
  out.inputs.push_back({DType::kF32, 0, true});
  parameters += "float by";
  for (int k = 0; k < kNumDTypes; ++k)
    if (static_cast<DType>(k) != DType::kF16)
      parameters += fmt::format(", galatea::Tensor<{}, 1> out{}", op::c_name(static_cast<DType>(k)), k);
  out.text = fmt::format(
      "__device__ void own({}) {{\n  __shared__ float part[256];\n  part[threadIdx.z] = by * blockDim.y;\n"
      "  __syncthreads();\n{}\n{}  atomicAdd(&out{}(0), part[1]);\n}}\n",
      parameters, line, body, static_cast<int>(DType::kF32));
  return out;
}

TEST(CudaText, AroundAKernelOfTheUsersOwn) {
  auto nvrtc = codegen::Nvrtc::open();
  if (!nvrtc) GTEST_SKIP() << nvrtc.error().message();
  const auto compile = [&](const op::TextKernel& kernel, int architecture) {
    return (*nvrtc)->compile(codegen::cuda_prelude() + codegen::emit_text_kernel(kernel), "around own",
                             architecture);
  };
  for (const int architecture : {75, (*nvrtc)->architectures().back()}) {
    const auto cubin = compile(kernel_of_every_type(""), architecture);
    ASSERT_TRUE(cubin) << cubin.error().message();
    const auto figures = codegen::read_cubin_figures(*cubin);
    ASSERT_EQ(figures.size(), 1U);
    EXPECT_EQ(figures[0].function, "galatea_kernel");
    // The user's, the number of the block, and what newer devices keep for themselves.
    EXPECT_GE(figures[0].shared, 1024 + 12);
    EXPECT_LE(figures[0].shared, 1024 + 16 + 1024);
  }
  SourceMap sources;
  for (const char* const wrong : {"  unknown = 1;", "  out0(1, 2) = 3;"}) {
    const op::TextKernel kernel = kernel_of_every_type(wrong);
    sources.add("own.cu", kernel.text);
    const auto cubin = compile(kernel, 90);
    ASSERT_FALSE(cubin);
    const Error error = codegen::error_of_text(kernel, cubin.error().message(), sources);
    EXPECT_TRUE(sources.describe(error.diagnostics[0].span).starts_with("own.cu:5:"))
        << error.diagnostics[0].message;
  }
}

}  // namespace
}  // namespace galatea::testing
