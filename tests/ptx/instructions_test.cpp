// What NVRTC's code for the main kernels executes, counted by running it: bits are the interpreter's, and costs
// stay below stated bounds. GALATEA_TEST_FIGURES=1 prints what docs/performance/cuda.md states.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>

#include "compiler/codegen/cuda/cubin_figures.h"
#include "compiler/codegen/cuda/emit.h"
#include "compiler/codegen/cuda/shim_backend.h"
#include "compiler/compile.h"
#include "compiler/kernel/small_indices.h"
#include "dsl/frontend.h"
#include "runtime/session.h"
#include "tests/native/encoders.h"
#include "tests/ptx/ptx_backend.h"
#include "tests/support/cases.h"
#include "tests/support/product.h"

namespace galatea::testing {
namespace {

struct Outcome {
  std::string bytes, error;
};

/// One picture of these extents through a pipeline, as a file or (`fed`) as pixels; the bytes of its first
/// output.
Outcome run(const std::string& text, codegen::KernelBackend* backend, int height, int width,
            bool fed = false) {
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
  native::Picture picture(height, width, 3);
  uint32_t random = 1;
  for (int& value : picture.values) {
    random = random * 1664525U + 1013904223U;
    value = static_cast<int>(random >> 24);
  }
  runtime::Allocator allocator;
  native::File file = native::encode_bmp(picture, {});
  std::vector<int64_t> extents = {static_cast<int64_t>(file.size())};
  if (fed) {
    extents = {height, width, 3};
    file.assign(picture.values.begin(), picture.values.end());
  }
  std::vector<runtime::Tensor> samples;
  samples.push_back(std::move(*runtime::allocate_tensor(allocator, DType::kU8, extents)));
  std::memcpy(samples[0].data, file.data(), file.size());
  if (Status given = (*session)->feed("encoded", samples); !given) return {"", given.error().message()};
  if (Status end = (*session)->end_of_feed(); !end) return {"", end.error().message()};
  auto batch = (*session)->next();
  if (!batch || !*batch) return {"", batch ? "no batch" : batch.error().message()};
  const runtime::Tensor& out = (**batch)->outputs[0].samples[0];
  return {std::string(reinterpret_cast<const char*>(out.data),
                      static_cast<size_t>(out.volume() * size_of(out.dtype))),
          ""};
}

std::string pipeline(const std::string& body, bool fed = false) {
  const char* const image =
      fed ? "    image = fn.external_source(name=\"encoded\", dtype=types.UINT8, ndim=3, layout=\"HWC\")\n"
          : "    encoded = fn.external_source(name=\"encoded\", dtype=types.UINT8, ndim=1)\n"
            "    image = fn.decoders.image(encoded)\n";
  return "from nvidia.dali import pipeline_def, fn, types\n\n\n"
         "@pipeline_def(batch_size=1, num_threads=1, seed=42)\ndef kernel():\n" +
         std::string(image) + body + "    return image\n";
}

constexpr const char* kResize = "    image = fn.resize(image, size=[224, 224])\n";
constexpr const char* kNormalize =
    "    image = fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout=\"CHW\",\n"
    "                                     mean=[123.675, 116.28, 103.53], std=[58.395, 57.12, 57.375],\n"
    "                                     mirror=fn.random.coin_flip())\n";

/// A kernel over a picture of these extents, what its code may take at most, and blocks with work. Instructions
/// are those of KernelCost::per_element(), loads those of its text.
struct MainKernel {
  std::string name, body;
  int height, width;
  double most_instructions;
  int most_generic_loads, least_shared_loads;
  int64_t blocks;
};

std::vector<MainKernel> main_kernels() {
  return {
      {"resize, normalise", std::string(kResize) + kNormalize, 375, 500, 217, 0, 60, 49},
      {"normalise", kNormalize, 224, 224, 22, 0, 0, 49},
      {"rotate", "    image = fn.rotate(image, angle=7.0, keep_size=True, fill_value=128)\n", 224, 224, 91, 0,
       0, 49},
      {"blur", "    image = fn.gaussian_blur(image, sigma=1.5)\n", 224, 224, 450, 0, 40, 49},
      {"equalize", "    image = fn.experimental.equalize(image)\n", 224, 224, 67, 0, 9, 16},
      {"mean", "    image = fn.reductions.mean(image)\n", 224, 224, 12, 0, 10, 16},
  };
}

/// Runs of instructions that are executed equally often, by name.
void print_hot(const KernelCost& cost) {
  for (size_t n = 0; n < cost.issued.size();) {
    size_t end = n;
    double weight = 0;
    std::map<std::string, int> names;
    for (; end < cost.issued.size() && cost.issued[end] == cost.issued[n]; ++end) {
      weight += cost.program.instructions[end].weight;
      ++names[cost.program.instructions[end].name];
    }
    const double share =
        weight * static_cast<double>(cost.issued[n]) * 32 / static_cast<double>(cost.elements);
    if (share > 1) {
      fmt::print("  {:5} to {:5}: {:7.2f} an element", n, end, share);
      for (const auto& [name, count] : names) fmt::print(" {}:{}", name, count);
      fmt::print("\n");
    }
    n = end;
  }
}

void expect_main_kernels(const std::shared_ptr<const codegen::Nvrtc>& nvrtc, int architecture) {
  auto judge = codegen::make_interpreter_backend();
  for (const MainKernel& kernel : main_kernels()) {
    SCOPED_TRACE(fmt::format("{}, sm_{}", kernel.name, architecture));
    PtxBackend ptx(nvrtc, architecture);
    const Outcome expected = run(pipeline(kernel.body), judge.get(), kernel.height, kernel.width);
    const Outcome found = run(pipeline(kernel.body), &ptx, kernel.height, kernel.width);
    ASSERT_EQ(expected.error, "");
    ASSERT_EQ(found.error, "");
    EXPECT_TRUE(found.bytes == expected.bytes);
    EXPECT_EQ(ptx.error(), "");
    const std::vector<KernelCost> costs = ptx.costs();
    ASSERT_FALSE(costs.empty());
    double instructions = 0;
    for (const KernelCost& cost : costs) {
      instructions += cost.per_element();
      EXPECT_LE(cost.loads(PtxSpace::kGeneric), kernel.most_generic_loads) << cost.name;
      // From sm_100 on one load takes up to four numbers of shared memory.
      const int least = kernel.least_shared_loads * (architecture < 100 ? 4 : 1) / 4;
      EXPECT_GE(cost.loads(PtxSpace::kShared), std::max(least, kernel.least_shared_loads > 0 ? 1 : 0))
          << cost.name;
      EXPECT_EQ(cost.blocks, kernel.blocks) << cost.name;
      if (!std::getenv("GALATEA_TEST_FIGURES")) continue;
      fmt::print(
          "{}: {} has {:.1f} instructions an element, {} blocks; loads: {} generic, {} global, {} shared\n",
          kernel.name, cost.name, cost.per_element(), cost.blocks, cost.loads(PtxSpace::kGeneric),
          cost.loads(PtxSpace::kGlobal), cost.loads(PtxSpace::kShared));
      print_hot(cost);
    }
    EXPECT_LE(instructions, kernel.most_instructions);
  }
}

/// The architectures of data centres that NVRTC knows: those beside sm_90 at the full scale.
std::vector<int> architectures(const codegen::Nvrtc& nvrtc) {
  std::vector<int> out;
  for (const int each : {80, 90, 100})
    if (std::ranges::binary_search(nvrtc.architectures(), each) &&
        (each == 90 || testing::scale() == testing::kWhole || std::getenv("GALATEA_TEST_FIGURES")))
      out.push_back(each);
  return out;
}

TEST(Instructions, OfMainKernels) {
  if (testing::leaves_foreign_work()) GTEST_SKIP() << testing::kForeignWork;
  auto nvrtc = codegen::Nvrtc::open();
  if (!nvrtc) GTEST_SKIP() << nvrtc.error().message();
  for (const int architecture : architectures(**nvrtc)) expect_main_kernels(*nvrtc, architecture);
}

/// Of sound, clips, warps, colours and what follows a picture: all kernels of a body together. An element is
/// one of the kernels' outputs.
TEST(Instructions, OfFurtherKernels) {
  if (testing::leaves_foreign_work()) GTEST_SKIP() << testing::kForeignWork;
  auto nvrtc = codegen::Nvrtc::open();
  if (!nvrtc) GTEST_SKIP() << nvrtc.error().message();
  auto judge = codegen::make_interpreter_backend();
  struct Further {
    const char *name, *body;
    double most_instructions, most_of_100;
  };
  const Further all[] = {
      {"clip", "    image = fn.resize(fn.stack(image, image, axis_name=\"F\"), size=[96, 96])\n", 352, 345},
      {"warp", "    image = fn.warp_affine(image, matrix=[0.9, 0.1, 5, -0.1, 1.1, 3], fill_value=0)\n", 91,
       92},
      {"decibels",
       "    sound = fn.preemphasis_filter(fn.cast(encoded[:16000], dtype=types.FLOAT) / 128.0)\n"
       "    image = fn.to_decibels(sound * sound, multiplier=10.0, cutoff_db=-80.0)\n",
       141, 131},
      {"mel bands",
       "    power = fn.reshape(fn.cast(image, dtype=types.FLOAT), shape=[128, -1], layout=\"ft\")\n"
       "    image = fn.mel_filter_bank(power, nfilter=40, sample_rate=16000.0)\n",
       411, 460},
      {"colours", "    image = fn.color_twist(image, hue=20.0, saturation=1.3, brightness=0.9)\n", 16, 18},
      {"points",
       "    image = fn.coord_transform(fn.cast(fn.reshape(image, shape=[-1, 2]), dtype=types.FLOAT),\n"
       "                               M=[0.5, 0.1, -0.1, 0.5], T=[3, 4])\n",
       20, 19},
  };
  for (const int architecture : architectures(**nvrtc)) {
    // NVRTC takes a second for each: some of them, all at the full scale.
    const bool prints = std::getenv("GALATEA_TEST_FIGURES") != nullptr;
    const size_t number =
        prints ? std::size(all) : static_cast<size_t>(scaled(static_cast<int64_t>(std::size(all)), 2));
    for (const Further& kernels : std::span(all).first(number)) {
      SCOPED_TRACE(fmt::format("{}, sm_{}", kernels.name, architecture));
      PtxBackend ptx(*nvrtc, architecture);
      const Outcome expected = run(pipeline(kernels.body), judge.get(), 128, 160);
      const Outcome found = run(pipeline(kernels.body), &ptx, 128, 160);
      ASSERT_EQ(expected.error + found.error + ptx.error(), "");
      EXPECT_TRUE(found.bytes == expected.bytes);
      double instructions = 0;
      for (const KernelCost& cost : ptx.costs()) {
        instructions += cost.per_element();
        EXPECT_EQ(cost.loads(PtxSpace::kGeneric), 0) << cost.name;
        if (prints)
          fmt::print("{}, sm_{}: {} has {:.1f} instructions an element\n", kernels.name, architecture,
                     cost.name, cost.per_element());
      }
      EXPECT_LE(instructions, architecture < 100 ? kernels.most_instructions : kernels.most_of_100);
    }
  }
}

/// A picture that is fed says nothing of its channels. What normalises it does, or what reads a matrix of three
/// columns, and all kernels before it have the forms that they have of decoded ones.
TEST(Instructions, OfFedPicturesAreThoseOfDecodedOnes) {
  if (testing::leaves_foreign_work()) GTEST_SKIP() << testing::kForeignWork;
  auto nvrtc = codegen::Nvrtc::open();
  if (!nvrtc) GTEST_SKIP() << nvrtc.error().message();
  const std::string rotate = main_kernels()[2].body;
  const std::pair<const char*, std::string> bodies[] = {
      {"one kernel", rotate + kNormalize},
      {"kernels before it",
       rotate + "    image = fn.equalize(fn.gaussian_blur(image, sigma=0.8))\n" + kNormalize},
      {"a matrix", rotate + "    image = fn.equalize(image)\n"
                            "    image = fn.hsv(image, hue=20.0, saturation=1.2)\n"}};
  const bool prints = std::getenv("GALATEA_TEST_FIGURES") != nullptr;
  const size_t number =
      prints ? std::size(bodies) : static_cast<size_t>(scaled(static_cast<int64_t>(std::size(bodies)), 2));
  for (const auto& [name, body] : std::span(bodies).first(number)) {
    SCOPED_TRACE(name);
    std::vector<KernelCost> costs[2];
    std::string bytes[2];
    for (const bool fed : {false, true}) {
      PtxBackend ptx(*nvrtc, 90);
      const Outcome found = run(pipeline(body, fed), &ptx, 96, 96, fed);
      ASSERT_EQ(found.error + ptx.error(), "");
      costs[fed ? 1 : 0] = ptx.costs();
      bytes[fed ? 1 : 0] = found.bytes;
    }
    EXPECT_TRUE(bytes[0] == bytes[1]);
    ASSERT_EQ(costs[0].size(), costs[1].size());
    for (size_t k = 0; k < costs[0].size(); ++k) {
      EXPECT_LE(costs[1][k].per_element(), 1.02 * costs[0][k].per_element()) << costs[0][k].name;
      if (prints)
        fmt::print("{}, {}: decoded {:.1f}, fed {:.1f} instructions an element\n", name, costs[0][k].name,
                   costs[0][k].per_element(), costs[1][k].per_element());
    }
  }
}

/// What AutoAugment and a normalisation behind it take of samples that drew other subpolicies: of each the
/// kernels of its own arms, of which a launch runs those of all samples.
TEST(Instructions, OfAutoAugment) {
  if (testing::scale() != testing::kWhole && !std::getenv("GALATEA_TEST_FIGURES"))
    GTEST_SKIP() << "NVRTC compiles all arms: at the full scale";
  auto nvrtc = codegen::Nvrtc::open();
  if (!nvrtc) GTEST_SKIP() << nvrtc.error().message();
  auto judge = codegen::make_interpreter_backend();
  for (const int seed : {1, 2, 3}) {
    const std::string text = fmt::format(
        "from nvidia.dali import pipeline_def, fn, types\nfrom nvidia.dali.auto_aug import auto_augment\n\n\n"
        "@pipeline_def(batch_size=1, num_threads=1, seed={}, enable_conditionals=True)\ndef kernel():\n"
        "    encoded = fn.external_source(name=\"encoded\", dtype=types.UINT8, ndim=1)\n"
        "    image = auto_augment.auto_augment(fn.decoders.image(encoded), shape=[224, 224])\n{}"
        "    return image\n",
        seed, kNormalize);
    PtxBackend ptx(*nvrtc, 90);
    const Outcome expected = run(text, judge.get(), 224, 224), found = run(text, &ptx, 224, 224);
    ASSERT_EQ(expected.error + found.error, "");
    EXPECT_TRUE(found.bytes == expected.bytes);
    double instructions = 0;
    std::string kernels;
    for (const KernelCost& cost : ptx.costs()) {
      if (cost.elements == 0) continue;
      instructions += cost.per_element();
      kernels += fmt::format("{}{} {:.1f}", kernels.empty() ? "" : ", ", cost.name, cost.per_element());
      EXPECT_EQ(cost.loads(PtxSpace::kGeneric), 0) << cost.name;
    }
    EXPECT_LE(instructions, 180) << kernels;
    if (std::getenv("GALATEA_TEST_FIGURES"))
      fmt::print("AutoAugment, normalise, seed {}: {:.1f} instructions an element: {}\n", seed, instructions,
                 kernels);
  }
}

/// The text without the form for rare calls, as nearly all calls run it.
std::string usual_form(std::string text) {
  const std::string call = "GALATEA_RUN_RARE(any_numbers, calls[number])";
  const size_t at = text.find(call);
  if (at == std::string::npos) ADD_FAILURE() << "no form for rare calls";
  return at == std::string::npos ? text : text.replace(at, call.size(), "return;");
}

/// What a thread of the resize of most trainings takes on the architectures of data centres: no local memory, or
/// one number (NVRTC 13.2, sm_100).
/// With the form for rare calls, whose frame is counted in, at the full scale: it takes NVRTC as long again.
TEST(Instructions, OfResizeTakeRegisters) {
  if (testing::leaves_foreign_work()) GTEST_SKIP() << testing::kForeignWork;
  auto nvrtc = codegen::Nvrtc::open();
  if (!nvrtc) GTEST_SKIP() << nvrtc.error().message();
  PtxBackend ptx(*nvrtc, 90);
  const Outcome found = run(pipeline(std::string(kResize) + kNormalize), &ptx, 20, 30);
  ASSERT_EQ(found.error, "");
  ASSERT_EQ(ptx.costs().size(), 1U);
  const bool print = std::getenv("GALATEA_TEST_FIGURES") != nullptr;
  const bool all = print || testing::scale() == testing::kWhole;
  struct Bound {
    int architecture;
    int64_t of_usual, of_all;
  };
  for (const Bound& most : {Bound{80, 0, 0}, {90, 0, 0}, {100, 8, 8}}) {
    if (!std::ranges::binary_search((*nvrtc)->architectures(), most.architecture)) continue;
    for (const bool usual : {true, false}) {
      if (!usual && !all) continue;
      const std::string text = ptx.costs()[0].text;
      auto cubin = (*nvrtc)->compile(codegen::cuda_prelude() + (usual ? usual_form(text) : text), "resize.cu",
                                     most.architecture);
      ASSERT_TRUE(cubin) << cubin.error().message();
      for (const codegen::CubinFigures& figures : codegen::read_cubin_figures(*cubin)) {
        const std::string where = fmt::format("{} sm_{}{}", figures.function, most.architecture,
                                              usual ? "" : ", with the form for rare calls");
        EXPECT_LE(figures.registers, 128) << where;
        EXPECT_LE(figures.local, usual ? most.of_usual : most.of_all) << where;
        EXPECT_GE(figures.shared, 32768) << where;
        if (print)
          fmt::print("{}: {} registers, {} bytes of local, {} of shared memory, {} of code\n", where,
                     figures.registers, figures.local, figures.shared, figures.code);
      }
    }
  }
}

/// Calls that are not small run the other form of the text: one of more columns than are called small, and one
/// whose tile needs more memory than a block has.
TEST(Instructions, OfLargeNumbersGiveTheSame) {
  auto shim = codegen::make_shim_backend();
  if (!shim) GTEST_SKIP() << shim.error().message();
  auto judge = codegen::make_interpreter_backend();
  struct Case {
    const char* body;
    int height, width;
  };
  for (const Case& c : {Case{"    image = fn.resize(image, size=[3, 17000])\n", 2, 5},
                        Case{"    image = fn.resize(image, size=[3, 4])\n", 5, 17000},
                        Case{"    image = fn.resize(image, size=[1, 40])\n", 2500, 41}}) {
    SCOPED_TRACE(c.body);
    const Outcome expected = run(pipeline(c.body), judge.get(), c.height, c.width);
    const Outcome found = run(pipeline(c.body), shim->get(), c.height, c.width);
    ASSERT_EQ(expected.error + found.error, "");
    EXPECT_TRUE(found.bytes == expected.bytes);
  }
}

TEST(SmallIndices, AreWhatRangesProve) {
  using namespace kernel;
  LoopKernel loops;
  loops.params = {{"rows", DType::kI64}, {"scale", DType::kF64}};
  loops.var_types = {DType::kI64, DType::kI64};
  const Expr rows = param(0, DType::kI64), cell = var(0, DType::kI64), read = var(1, DType::kI64);
  SmallIndices small(loops, Numbers::kSmall), any(loops, Numbers::kAny);
  EXPECT_TRUE(small.is_narrow(rows * rows + rows));
  EXPECT_FALSE(small.is_narrow(rows * rows * rows));
  EXPECT_FALSE(any.is_narrow(rows + rows));
  // A variable of which nothing is known, until it is clamped.
  EXPECT_FALSE(small.is_narrow(read + rows));
  EXPECT_TRUE(small.is_far_sum(read + rows));
  EXPECT_TRUE(small.is_clamp(max(min(read + rows, rows), const_int(0))));
  EXPECT_FALSE(any.is_clamp(max(min(read + rows, rows), const_int(0))));
  // What is divided gets smaller by as much, and what is left over is less than the divisor.
  const For all{0, const_int(0), rows * rows, LoopRole::kGrid, 1, 1, {}};
  small.enter(all);
  EXPECT_FALSE(small.is_narrow(cell * const_int(1000)));
  EXPECT_TRUE(small.is_narrow((cell / const_int(1000)) * const_int(1000)));
  EXPECT_TRUE(small.is_narrow((cell % rows) * const_int(1000)));
  EXPECT_FALSE(small.is_narrow((cell / rows) * const_int(1000)));
  small.leave();
  // Inside of a loop over all of a box its sides are not empty, and outside of it they may be.
  For loop{0, const_int(0), select(rows > const_int(0), rows, const_int(0)), LoopRole::kGrid, 1, 1, {}};
  for (SmallIndices* indices : {&small, &any}) {
    indices->enter(loop);
    EXPECT_TRUE(indices->is_natural(cell % rows));
    EXPECT_TRUE(indices->is_natural(cell));
    EXPECT_TRUE(indices->is_positive(rows));
    indices->leave();
    EXPECT_FALSE(indices->is_positive(rows));
  }
  // Nor are those that were computed of one: a line of pixels.
  SmallIndices lines(loops, Numbers::kSmall);
  lines.define({1, rows * const_int(3)});
  EXPECT_FALSE(lines.is_positive(read));
  lines.enter({0, const_int(0), select(rows > const_int(0), read, const_int(0)), LoopRole::kGrid, 1, 1, {}});
  EXPECT_TRUE(lines.is_positive(read));
  EXPECT_TRUE(lines.is_natural(cell % read));
  lines.leave();
  EXPECT_FALSE(lines.is_positive(read));
}

}  // namespace
}  // namespace galatea::testing
