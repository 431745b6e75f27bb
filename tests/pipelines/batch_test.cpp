// Operators that see their batch, in whole pipelines: the same bits in every way of running, who counts as
// the batch, and what the author is told. Numbers are held to DALI's in tests/oracle (group "batch").
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "compiler/codegen/llvm_backend.h"
#include "compiler/compile.h"
#include "dsl/frontend.h"
#include "tests/native/sample_folder.h"
#include "tests/pipelines/pipeline_runner.h"
#include "tests/support/cases.h"
#include "tests/support/own_folder.h"
#include "tests/support/product.h"
#include "tests/support/statistics.h"
#include "tests/support/tiers.h"

namespace galatea::testing {
namespace {

std::string of_fed(const std::string& body) {
  return "from nvidia.dali import fn, pipeline_def, types\n\n"
         "@pipeline_def(batch_size=4, num_threads=2, seed=7, enable_conditionals=True)\n"
         "def p():\n"
         "    image = fn.external_source(name='image', dtype=types.UINT8, ndim=3, layout='HWC')\n" +
         body;
}

std::string of_files(const std::string& body) {
  return "from nvidia.dali import fn, pipeline_def, types\n\n"
         "@pipeline_def(batch_size=4, num_threads=2, seed=7, enable_conditionals=True)\n"
         "def p(data: str = '.'):\n"
         "    encoded, label = fn.readers.file(file_root=data)\n"
         "    image = fn.decoders.image(encoded)\n" +
         body;
}

const char* const kBodies[] = {
    "    return fn.pad(image, axis_names='HW')\n",
    "    small = fn.resize(image, resize_shorter=fn.random.uniform(range=[8.0, 20.0]))\n"
    "    return fn.crop_mirror_normalize(fn.pad(small, axes=[0, 1], align=4), mean=[9.0, 8.0, 7.0])\n",
    "    other = fn.permute_batch(image, indices=fn.batch_permutation(no_fixed_points=True))\n"
    "    return fn.resize(image, size=[9, 9]) * 0.25 + fn.resize(other, size=[9, 9]) * 0.75, other\n",
    "    other = fn.permute_batch(fn.flip(image), indices=fn.batch_permutation(allow_repetitions=True))\n"
    "    return other[1:5, 1:5], fn.permute_batch(image[:, 2:4], indices=[3, 2, 1, 0]), image\n",
    "    small = fn.resize(image, size=[6, 7])\n"
    "    mixed, label = fn.galatea.mixup(small, fn.reductions.max(image), num_classes=256, alpha=0.5)\n"
    "    return mixed, label, *fn.galatea.cutmix(small, fn.reductions.mean(small, axes=[0, 1]))\n",
    "    boxes = fn.random.uniform(range=[0.0, 0.5], shape=[3, 4])\n"
    "    labels = fn.random.uniform(range=[0, 9], dtype=types.INT32, shape=[3, 2])\n"
    "    picture, boxes, labels = fn.galatea.mosaic(image, boxes, labels, size=[50, 60], fill_value=[1, 2, 3], "
    "bbox_layout='xyWH', min_visible=0.5)\n"
    "    return fn.flip(picture), boxes, labels, fn.galatea.mosaic(image, size=20)\n",
    "    return fn.normalize(image, batch=True, axis_names='HW', scale=20.0, shift=50.0, "
    "dtype=types.UINT8)\n",
    "    blurred = fn.gaussian_blur(image, sigma=1.5)\n"
    "    return fn.normalize(blurred, batch=True, mean=90.0), fn.normalize(blurred * 0.5, batch=True, "
    "ddof=1)\n",
    "    mean = fn.reductions.mean(image, axis_names='HW', keep_dims=True, batch=True)\n"
    "    return image - mean, fn.reductions.sum(image, batch=True), fn.reductions.min(image, axes=[0, 1], "
    "batch=True)\n",
    "    small = fn.resize(image, size=[6, 5])\n"
    "    return small - fn.reductions.mean(small, axes=[], batch=True)\n",
    "    bright = fn.reductions.mean(image) > 120.0\n"
    "    out = image\n"
    "    if bright:\n"
    "        out = fn.pad(image, axes=[0])\n"
    "    else:\n"
    "        out = fn.pad(image, axes=[0])\n"
    "    return out, fn.batch_permutation(), fn.reductions.max(image, batch=True)\n",
};

/// The stage interpreter, unfused, one thread, no passes: what all others must give.
TEST(Batch, EveryWayOfRunningGivesTheSameBits) {
  auto judge = codegen::make_interpreter_backend(true);
  auto loops = codegen::make_interpreter_backend();
  std::string note;
  auto llvm = codegen::make_backend("llvm", &note, codegen::default_cache_options(), testing::tiers());
  ASSERT_TRUE(llvm) << llvm.error().message();
  const std::string data = sample_folder("batch").string();
  size_t compared = 0;
  for (int64_t number = 0; const char* body : kBodies) {
    ++number;
    for (const std::string& text : {of_fed(body), of_files(body)}) {
      const PipelineOutcome wanted =
          run_pipeline(text, 3, {"stages", judge.get(), false, false, 1, {}}, data);
      ASSERT_EQ(wanted.staging + wanted.error, "") << text;
      const PipelineWay ways[] = {{"loops", loops.get(), true, true, 1, {}},
                                  {"llvm", llvm->get(), true, true, 3, {}}};
      for (size_t k = 0; k < std::size(ways); ++k) {
        if (!takes_turn(number, k, 2)) continue;
        EXPECT_EQ(difference(wanted, run_pipeline(text, 3, ways[k], data)), "") << ways[k].name << "\n"
                                                                                << text;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 2 * std::size(kBodies));
}

struct Compiled {
  std::shared_ptr<runtime::Program> program;
  std::vector<Diagnostic> diagnostics;
  std::string errors;
  SourceMap sources;
};

Compiled compile_text(const std::string& text, const std::string& data, ir::OnError on_error,
                      int batch_size = 4) {
  Compiled out;
  dsl::FrontendOptions frontend;
  frontend.host.batch_size = batch_size;
  frontend.host.on_error = on_error;
  if (text.find("(data: str") != std::string::npos) frontend.parameters.emplace_back("data", data);
  auto staged = dsl::stage_pipeline("batch.dali-dsl", text, frontend, product().registry, out.sources);
  for (const Diagnostic& d : staged.diagnostics) out.errors += render_text(d, out.sources);
  if (!staged.ok) return out;
  auto loops = codegen::make_interpreter_backend();
  CompileOptions options;
  options.registry = &product().registry;
  options.backend = loops.get();
  CompileReport report;
  auto program = compile(*staged.graphs.at(0), out.sources, options, &report);
  if (!program) {
    out.errors += program.error().message();
    return out;
  }
  out.program = *program;
  out.diagnostics = std::move(report.diagnostics);
  return out;
}

struct BatchOutcome {
  /// Per batch and sample: extents, then bytes of output 0.
  std::vector<std::vector<std::pair<std::vector<int64_t>, std::string>>> batches;
  std::vector<int64_t> ids;
  std::string error;
};

BatchOutcome run_compiled(const Compiled& compiled, int threads, int64_t memory_limit = 0) {
  BatchOutcome out;
  runtime::SessionOptions options;
  options.executor = threads > 0 ? runtime::ExecutorKind::kCpu : runtime::ExecutorKind::kInline;
  options.num_threads = std::max(1, threads);
  options.allocator = std::make_shared<runtime::Allocator>(memory_limit);
  auto session = runtime::Session::create(compiled.program, product().natives, options);
  if (!session) {
    out.error = session.error().message();
    return out;
  }
  for (;;) {
    auto batch = (*session)->next();
    if (!batch) {
      for (const Diagnostic& d : batch.error().diagnostics) out.error += render_text(d, compiled.sources);
      return out;
    }
    if (!*batch) return out;
    auto& samples = out.batches.emplace_back();
    for (const runtime::Tensor& t : (**batch)->outputs[0].samples)
      samples.push_back({{t.extents, t.extents + t.ndim},
                         std::string(reinterpret_cast<const char*>(t.data),
                                     static_cast<size_t>(t.volume() * size_of(t.dtype)))});
    out.ids.insert(out.ids.end(), (**batch)->sample_ids.begin(), (**batch)->sample_ids.end());
  }
}

/// Four photographs in the sample folder: 47 + 13 n rows, 71 - 9 n columns.
TEST(Batch, TheLastSmallerBatchIsABatch) {
  const std::string data = sample_folder("batch").string();
  const Compiled three =
      compile_text(of_files("    return fn.pad(image, axes=[0, 1])\n"), data, ir::OnError::kRaise, 3);
  ASSERT_TRUE(three.program) << three.errors;
  for (int threads : {0, 1, 3}) {
    const BatchOutcome got = run_compiled(three, threads);
    ASSERT_EQ(got.error, "");
    ASSERT_EQ(got.batches.size(), 2u);
    for (const auto& sample : got.batches[0]) EXPECT_EQ(sample.first, (std::vector<int64_t>{73, 71, 3}));
    EXPECT_EQ(got.batches[1].at(0).first, (std::vector<int64_t>{86, 44, 3}));
  }
}

/// What the batch computes of one sample alone is what the sample computes.
TEST(Batch, OfOneSampleIsTheSample) {
  const std::string data = sample_folder("batch").string();
  const std::pair<const char*, const char*> kPairs[] = {
      {"fn.normalize(image, batch=True, axis_names='HW')", "fn.normalize(image, axis_names='HW')"},
      {"fn.normalize(image, batch=True, stddev=9.0)", "fn.normalize(image, stddev=9.0)"},
      {"fn.reductions.mean(image, batch=True)", "fn.reductions.mean(image)"},
      {"fn.reductions.mean(image, axes=[0], batch=True, dtype=types.UINT8)",
       "fn.reductions.mean(image, axes=[0], dtype=types.UINT8)"},
      {"fn.reductions.sum(image, axes=[1], batch=True, dtype=types.FLOAT)",
       "fn.reductions.sum(image, axes=[1], dtype=types.FLOAT)"},
      {"fn.pad(image)", "image"},
  };
  for (const auto& [whole, own] : kPairs) {
    const Compiled a = compile_text(of_files(std::string("    return ") + whole + "\n"), data,
                                    ir::OnError::kRaise, 1),
                   b = compile_text(of_files(std::string("    return ") + own + "\n"), data,
                                    ir::OnError::kRaise, 1);
    ASSERT_TRUE(a.program && b.program) << a.errors << b.errors;
    const BatchOutcome got = run_compiled(a, 2), wanted = run_compiled(b, 2);
    EXPECT_EQ(got.error, "");
    EXPECT_EQ(got.batches.size(), 4u);
    EXPECT_TRUE(got.batches == wanted.batches) << whole;
  }
}

std::vector<size_t> places(const runtime::Program& program, runtime::Opcode op) {
  std::vector<size_t> out;
  for (size_t at = 0; at < program.code.size(); ++at)
    if (program.code[at].op == op) out.push_back(at);
  return out;
}

/// Samples wait with the bytes of their files; where one may be left out, once it is decoded.
TEST(Batch, ExtentsMeetBeforeAnythingIsDecoded) {
  const std::string data = sample_folder("batch").string();
  const std::string text =
      of_files("    one = fn.pad(image, axes=[0])\n    return one, fn.pad(image, axes=[1])\n");
  for (const ir::OnError policy : {ir::OnError::kRaise, ir::OnError::kSkip, ir::OnError::kReplace}) {
    const Compiled compiled = compile_text(text, data, policy);
    ASSERT_TRUE(compiled.program) << compiled.errors;
    const auto barriers = places(*compiled.program, runtime::Opcode::kBarrier);
    const auto calls = places(*compiled.program, runtime::Opcode::kCallNative);
    const auto kernels = places(*compiled.program, runtime::Opcode::kCallKernel);
    ASSERT_FALSE(barriers.empty() || calls.empty() || kernels.empty());
    if (policy == ir::OnError::kRaise) {
      EXPECT_EQ(barriers.size(), 1u) << "both meet at once";
      EXPECT_LT(barriers.back(), calls.back()) << to_text(*compiled.program);
    } else {
      EXPECT_GT(barriers.front(), calls.back()) << to_text(*compiled.program);
    }
  }
}

/// What is taken from another sample is made where that can hold it: nothing is copied to be lent.
TEST(Batch, WhatIsLentIsMadeInMemoryOfItsOwn) {
  const std::string data = sample_folder("batch").string();
  const Compiled compiled =
      compile_text(of_files("    other = fn.permute_batch(fn.flip(image)[2:, :], indices=[3, 2, 1, 0])\n"
                            "    return fn.resize(other, size=[8, 8])\n"),
                   data, ir::OnError::kRaise);
  ASSERT_TRUE(compiled.program) << compiled.errors;
  const auto& code = compiled.program->code;
  EXPECT_EQ(std::count_if(code.begin(), code.end(),
                          [](const auto& i) { return i.op == runtime::Opcode::kAllocate && i.b == 1; }),
            1)
      << to_text(*compiled.program);
}

/// The picture with most rows is cut off behind its header: the others do not grow to its size.
TEST(Batch, AFailedSampleIsNoPartOfTheBatch) {
  namespace fs = std::filesystem;
  const fs::path whole = sample_folder("batch"), folder = own_path("damaged");
  fs::remove_all(folder);
  fs::copy(whole, folder, fs::copy_options::recursive);
  const fs::path largest = folder / "class1" / "3.jpg";
  fs::resize_file(largest, fs::file_size(largest) / 2);
  const std::string text = of_files("    return fn.pad(image, axes=[0, 1])\n");
  for (int threads : {0, 3}) {
    const BatchOutcome raised =
        run_compiled(compile_text(text, folder.string(), ir::OnError::kRaise), threads);
    EXPECT_NE(raised.error.find("3.jpg"), std::string::npos) << raised.error;
    const BatchOutcome skipped =
        run_compiled(compile_text(text, folder.string(), ir::OnError::kSkip), threads);
    EXPECT_EQ(skipped.error, "");
    EXPECT_EQ(skipped.ids, (std::vector<int64_t>{0, 1, 2}));
    for (const auto& sample : skipped.batches.at(0))
      EXPECT_EQ(sample.first, (std::vector<int64_t>{73, 71, 3}));
    const BatchOutcome replaced =
        run_compiled(compile_text(text, folder.string(), ir::OnError::kReplace), threads);
    EXPECT_EQ(replaced.error, "");
    ASSERT_EQ(replaced.ids.size(), 4u);
    EXPECT_NE(replaced.ids[3], 3);
    for (const auto& sample : replaced.batches.at(0))
      EXPECT_EQ(sample.first, (std::vector<int64_t>{73, 71, 3}));
  }
  fs::remove_all(folder);
}

TEST(Batch, AMemoryLimitIsKeptOrTheErrorSaysWhatToRaise) {
  const std::string data = sample_folder("batch").string();
  const Compiled compiled =
      compile_text(of_files("    return fn.normalize(image, batch=True, axis_names='HW')\n"), data,
                   ir::OnError::kRaise, 2);
  ASSERT_TRUE(compiled.program) << compiled.errors;
  const BatchOutcome free = run_compiled(compiled, 2);
  ASSERT_EQ(free.error, "");
  bool failed = false, passed = false;
  for (const int64_t limit : {60'000, 120'000, 4'000'000}) {
    for (int threads : {0, 1, 3}) {
      const BatchOutcome got = run_compiled(compiled, threads, limit);
      if (got.error.empty()) {
        EXPECT_TRUE(got.batches == free.batches);
        passed = true;
      } else {
        EXPECT_NE(got.error.find("raise memory_limit"), std::string::npos) << got.error;
        failed = true;
      }
    }
  }
  EXPECT_TRUE(failed && passed);
}

/// Permutations depend on the samples of the batch, not on how they are run.
TEST(Batch, PermutationsAreDrawnBySamples) {
  const std::string data = sample_folder("batch").string();
  for (const char* arguments : {"", "no_fixed_points=True", "allow_repetitions=True",
                                "allow_repetitions=True, no_fixed_points=True"}) {
    const Compiled compiled =
        compile_text(of_files("    return fn.batch_permutation(" + std::string(arguments) + "), label\n"),
                     data, ir::OnError::kRaise);
    ASSERT_TRUE(compiled.program) << compiled.errors;
    const BatchOutcome judge = run_compiled(compiled, 0);
    ASSERT_EQ(judge.error, "");
    EXPECT_TRUE(run_compiled(compiled, 3).batches == judge.batches);
    std::set<int32_t> all;
    for (size_t k = 0; k < 4; ++k) {
      int32_t place = -1;
      std::memcpy(&place, judge.batches.at(0).at(k).second.data(), sizeof place);
      EXPECT_TRUE(place >= 0 && place < 4);
      if (std::string(arguments).find("no_fixed") != std::string::npos) {
        EXPECT_NE(place, static_cast<int32_t>(k));
      }
      all.insert(place);
    }
    if (std::string(arguments).find("repetitions") == std::string::npos) {
      EXPECT_EQ(all.size(), 4u);
    }
  }
}

/// Each place that a sample may get is as likely: chi-square at the level 0.001, of three degrees of freedom or two.
TEST(Batch, PlacesAreAsLikely) {
  const std::string data = sample_folder("batch").string();
  for (const char* arguments : {"", "no_fixed_points=True", "allow_repetitions=True",
                                "allow_repetitions=True, no_fixed_points=True"}) {
    const Compiled compiled =
        compile_text(of_files(fmt::format("    drawn = [fn.batch_permutation({}) for _ in range(120)]\n"
                                          "    return fn.stack(*drawn), label\n",
                                          arguments)),
                     data, ir::OnError::kRaise);
    ASSERT_TRUE(compiled.program) << compiled.errors;
    const BatchOutcome outcome = run_compiled(compiled, 0);
    ASSERT_EQ(outcome.error, "");
    for (size_t sample = 0; sample < 4; ++sample) {
      const std::string& bytes = outcome.batches.at(0).at(sample).second;
      std::vector<int32_t> places(bytes.size() / sizeof(int32_t));
      std::memcpy(places.data(), bytes.data(), bytes.size());
      std::vector<int> counts(4, 0);
      for (const int32_t place : places) ++counts.at(static_cast<size_t>(place));
      const bool moves = std::string_view(arguments).find("no_fixed") != std::string_view::npos;
      if (moves) {
        EXPECT_EQ(counts[sample], 0);
        counts.erase(counts.begin() + static_cast<std::ptrdiff_t>(sample));
      }
      EXPECT_LT(chi_square(counts), moves ? 13.82 : 16.27) << arguments << ", sample " << sample;
    }
  }
}

/// A label that is the data gets the data's numbers: the same partner, the same ratio.
TEST(Batch, MixupMixesLabelsAsItMixesData) {
  const std::string data = sample_folder("batch").string();
  const Compiled compiled = compile_text(of_files("    means = fn.reductions.mean(image, axes=[0, 1])\n"
                                                  "    mixed, label = fn.galatea.mixup(means, means)\n"
                                                  "    return fn.cat(mixed, label, means), label\n"),
                                         data, ir::OnError::kRaise);
  ASSERT_TRUE(compiled.program) << compiled.errors;
  const BatchOutcome outcome = run_compiled(compiled, 3);
  ASSERT_EQ(outcome.error, "");
  const auto& batch = outcome.batches.at(0);
  ASSERT_EQ(batch.size(), 4u);
  constexpr size_t kBytes = 3 * sizeof(float);
  for (const auto& [extents, bytes] : batch) {
    ASSERT_EQ(bytes.size(), 3 * kBytes);
    EXPECT_EQ(bytes.substr(0, kBytes), bytes.substr(kBytes, kBytes));
    EXPECT_NE(bytes.substr(0, kBytes), bytes.substr(2 * kBytes));
  }
}

TEST(Batch, TheAuthorIsToldOnce) {
  const std::string data = sample_folder("batch").string();
  auto notes = [&](const std::string& body) {
    const Compiled compiled = compile_text(of_files(body), data, ir::OnError::kRaise);
    EXPECT_TRUE(compiled.program) << compiled.errors;
    std::string out;
    for (const Diagnostic& d : compiled.diagnostics) out += render_text(d, compiled.sources);
    return out;
  };
  const std::string both =
      notes("    a = fn.pad(image, axes=[0])\n    return fn.normalize(a, batch=True), label\n");
  EXPECT_NE(both.find("G0466"), std::string::npos) << both;
  EXPECT_NE(both.find("this call looks at all samples of one, and so do others"), std::string::npos) << both;
  EXPECT_EQ(both.find("G0466"), both.rfind("G0466")) << both;
  EXPECT_EQ(notes("    return fn.pad(image, axes=[0, 1], shape=[90, 90]), label\n"), "");
  EXPECT_EQ(notes("    return fn.pad(fn.resize(image, size=[9, 9]))\n"), "");
}

}  // namespace
}  // namespace galatea::testing
