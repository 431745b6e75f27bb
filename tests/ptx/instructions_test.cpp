// What NVRTC's code for the main kernels executes, counted by running it: bits are the interpreter's, and costs
// stay below what docs/gpu.md states. GALATEA_TEST_FIGURES=1 runs them at the sizes of its table, and prints.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "compiler/compile.h"
#include "dsl/frontend.h"
#include "runtime/session.h"
#include "tests/ptx/ptx_backend.h"
#include "tests/support/product.h"

namespace galatea::testing {
namespace {

struct Outcome {
  std::string bytes, error;
};

/// One picture of these extents through a pipeline; the bytes of its first output.
Outcome run(const std::string& text, codegen::KernelBackend* backend, int height, int width) {
  SourceMap sources;
  dsl::FrontendOptions frontend;
  frontend.host.batch_size = 1;
  frontend.host.device = "cpu";
  dsl::FrontendResult staged =
      dsl::stage_pipeline("kernel.dali-dsl", text, frontend, product().registry, sources);
  if (!staged.ok) return {"", render_text(staged.diagnostics.front(), sources)};
  CompileOptions options;
  options.registry = &product().registry;
  options.backend = backend;
  auto program = compile(*staged.graphs.at(0), sources, options);
  if (!program) return {"", program.error().message()};
  runtime::SessionOptions session_options;
  session_options.executor = runtime::ExecutorKind::kInline;
  session_options.sources = &sources;
  auto session = runtime::Session::create(*program, product().natives, session_options);
  if (!session) return {"", session.error().message()};
  runtime::Allocator allocator;
  std::vector<runtime::Tensor> samples;
  samples.push_back(std::move(*runtime::allocate_tensor(allocator, DType::kU8, {height, width, 3})));
  uint32_t random = 1;
  for (int64_t k = 0; k < samples[0].volume(); ++k) {
    random = random * 1664525U + 1013904223U;
    samples[0].data[k] = static_cast<uint8_t>(random >> 24);
  }
  if (Status fed = (*session)->feed("image", samples); !fed) return {"", fed.error().message()};
  if (Status end = (*session)->end_of_feed(); !end) return {"", end.error().message()};
  auto batch = (*session)->next();
  if (!batch || !*batch) return {"", batch ? "no batch" : batch.error().message()};
  const runtime::Tensor& out = (**batch)->outputs[0].samples[0];
  return {std::string(reinterpret_cast<const char*>(out.data),
                      static_cast<size_t>(out.volume() * size_of(out.dtype))),
          ""};
}

std::string pipeline(const std::string& body) {
  return "from nvidia.dali import pipeline_def, fn, types\n\n\n"
         "@pipeline_def(batch_size=1, num_threads=1, seed=42)\ndef kernel():\n"
         "    image = fn.external_source(name=\"image\", dtype=types.UINT8, ndim=3, layout=\"HWC\")\n" +
         body + "    return image\n";
}

constexpr const char* kResize = "    image = fn.resize(image, size=[224, 224])\n";
constexpr const char* kNormalize =
    "    image = fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout=\"CHW\",\n"
    "                                     mean=[123.675, 116.28, 103.53], std=[58.395, 57.12, 57.375],\n"
    "                                     mirror=fn.random.coin_flip())\n";

void print_hot(const KernelCost& cost) {
  if (!std::getenv("GALATEA_TEST_HOT")) return;
  // Runs of instructions that are executed equally often.
  for (size_t n = 0; n < cost.issued.size();) {
    size_t end = n;
    double weight = 0;
    while (end < cost.issued.size() && cost.issued[end] == cost.issued[n])
      weight += cost.program.instructions[end++].weight;
    const double share =
        weight * static_cast<double>(cost.issued[n]) * 32 / static_cast<double>(cost.elements);
    if (share > 1) {
      std::map<std::string, int> names;
      for (size_t k = n; k < end; ++k)
        names[cost.program.instructions[k].name] += std::max(1, cost.program.instructions[k].weight);
      fmt::print("    {:5}-{:5} issued {:9} : {:7.2f} an element", n, end, cost.issued[n], share);
      for (const auto& [name, count] : names) fmt::print(" {}:{}", name, count);
      fmt::print("\n");
    }
    n = end;
  }
}

struct MainKernel {
  std::string name, body;
  int height, width;
};

std::vector<MainKernel> main_kernels() {
  return {
      {"resize, normalise", std::string(kResize) + kNormalize, 375, 500},
      {"normalise", kNormalize, 224, 224},
      {"warp", "    image = fn.warp_affine(image, matrix=(1.0, 0.1, -5.0, -0.1, 1.0, 9.0), fill_value=128)\n",
       224, 224},
      {"blur", "    image = fn.gaussian_blur(image, sigma=1.5)\n", 224, 224},
      {"equalize", "    image = fn.experimental.equalize(image)\n", 224, 224},
      {"mean", "    image = fn.reductions.mean(image)\n", 224, 224},
  };
}

TEST(Instructions, OfMainKernels) {
  auto nvrtc = codegen::Nvrtc::open();
  if (!nvrtc) GTEST_SKIP() << nvrtc.error().message();
  auto judge = codegen::make_interpreter_backend();
  for (const MainKernel& kernel : main_kernels()) {
    PtxBackend ptx(*nvrtc, 90);
    const Outcome expected = run(pipeline(kernel.body), judge.get(), kernel.height, kernel.width);
    const Outcome found = run(pipeline(kernel.body), &ptx, kernel.height, kernel.width);
    EXPECT_EQ(expected.error, "") << kernel.name;
    EXPECT_EQ(found.error, "") << kernel.name;
    EXPECT_TRUE(found.bytes == expected.bytes) << kernel.name;
    EXPECT_EQ(ptx.error(), "") << kernel.name;
    for (const KernelCost& cost : ptx.costs()) {
      fmt::print(
          "{} {}: {:.1f} an element of {}, {} blocks, generic {} global {} shared {}, {} instructions\n",
          kernel.name, cost.name, cost.per_element(), cost.elements, cost.blocks,
          cost.loads(PtxSpace::kGeneric), cost.loads(PtxSpace::kGlobal), cost.loads(PtxSpace::kShared),
          cost.program.instructions.size());
      print_hot(cost);
    }
  }
}

}  // namespace
}  // namespace galatea::testing
