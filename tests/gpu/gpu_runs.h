// Pipelines on a device of a test, held to the interpreter: the fixture, and texts.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/choose_gpu.h"
#include "tests/gpu/planned.h"
#include "tests/gpu/test_device.h"
#include "tests/native/sample_folder.h"
#include "tests/pipelines/pipeline_runner.h"

namespace galatea::testing {

using plan::LaunchForm;
using plan::SelectorForm;

/// Moving costs nothing and the CPU is slow: whatever can run on the GPU does.
inline plan::CostFigures all_on_gpu() {
  return {.host_element = 1e6, .gpu_element = 0, .gpu_call = 0, .byte_over_bus = 0, .transfer = 0, .wait = 0};
}

inline GpuTarget target(const GpuChoice& choice, LaunchForm launches,
                        SelectorForm selectors = SelectorForm::kAuto) {
  GpuTarget out = *choice.target;
  out.launches = launches;
  out.selectors = selectors;
  out.figures = all_on_gpu();
  // The fake nvJPEG makes the CPU's bits, a real one does not (decode_test.cpp).
  if (std::getenv("GALATEA_TEST_GPU")) out.decoder = runtime::DecodeChoice::kHost;
  return out;
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

class GpuRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    auto found = choose_gpu("gpu", GpuPurpose::kRun, codegen::default_cache_options());
    ASSERT_TRUE(found) << found.error().message();
    choice_ = std::move(*found);
    judge_ = codegen::make_interpreter_backend(true);
    loops_ = codegen::make_interpreter_backend();
  }

  PipelineOutcome expected(const std::string& text, uint64_t images = 11, int scale = 1, int batch_size = 4) {
    PipelineWay way{"stages, unfused", judge_.get(), false, false, 1, {}};
    way.scale = scale;
    way.batch_size = batch_size;
    return run_pipeline(text, images, way, data_of(text, data()));
  }
  /// `least` of its kernels must run on the GPU.
  void expect_same(const std::string& text, size_t least,
                   std::vector<LaunchForm> forms = {LaunchForm::kAuto}) {
    expect_outcome(text, expected(text), least, std::move(forms));
  }
  void expect_outcome(const std::string& text, const PipelineOutcome& wanted, size_t least,
                      std::vector<LaunchForm> forms = {LaunchForm::kAuto}, int batch_size = 4) {
    ASSERT_EQ(wanted.staging + wanted.error, "") << text;
    for (const LaunchForm form : forms) {
      device_.reset();
      const int threads = form == LaunchForm::kSeparate ? 1 : 2;
      PipelineWay way{"gpu", loops_.get(), true, true, threads, target(choice_, form)};
      way.batch_size = batch_size;
      const PipelineOutcome found = run_pipeline(text, 11, way, data_of(text, data()));
      EXPECT_EQ(difference(wanted, found), "") << text;
      EXPECT_EQ(device_.errors(), "") << text;
      if (!found.program) continue;
      size_t count = 0;
      for (const runtime::KernelCallSpec& call : found.program->kernel_calls)
        count += call.launch >= 0 ? 1 : 0;
      EXPECT_GE(count, least) << text;
    }
  }
  static std::string data() {
    static const std::string folder = sample_folder("gpu").string();
    return folder;
  }

  TestDevice device_;
  GpuChoice choice_;
  std::unique_ptr<codegen::KernelBackend> judge_, loops_;
};

/// One batch of a program that is compiled once.
class GpuOneBatch : public GpuRuns {
 protected:
  void make(const std::string& text, bool outputs_on_cpu) {
    program_ = nullptr;
    dsl::FrontendOptions frontend;
    frontend.host.device = "gpu";
    frontend.parameters.emplace_back("data", data());
    auto staged = dsl::stage_pipeline("test.dali-dsl", text, frontend, product().registry, sources_);
    ASSERT_TRUE(staged.ok);
    CompileOptions options;
    options.registry = &product().registry;
    options.backend = loops_.get();
    options.gpu = target(choice_, LaunchForm::kAuto);
    options.outputs_on_cpu = outputs_on_cpu;
    auto program = compile(*staged.graphs.at(0), sources_, options);
    ASSERT_TRUE(program) << program.error().message();
    program_ = *program;
  }
  struct Outcome {
    std::string bytes, error;
    int64_t waits = 0;
    int64_t synchronizations = 0, downloads = 0;  ///< of the fake driver
    int64_t calls = 0;                            ///< of the fake driver, until the result was there
  };
  Outcome run() {
    Outcome out;
    runtime::SessionOptions options;
    options.executor = runtime::ExecutorKind::kInline;
    options.sources = &sources_;
    auto session = runtime::Session::create(program_, product().natives, options);
    auto batch = session ? (*session)->next() : std::unexpected(session.error());
    if (!batch) {
      out.error = batch.error().message();
      return out;
    }
    out.waits = (*session)->statistics().device.waits;
    out.synchronizations = device_.counters().synchronizations;
    out.downloads = device_.counters().downloads;
    out.calls = device_.counters().calls;
    for (const runtime::Tensor& sample : (**batch)->outputs[0].samples)
      if (sample.memory == runtime::Memory::kHost)
        out.bytes.append(reinterpret_cast<const char*>(sample.data), static_cast<size_t>(sample.num_bytes()));
    return out;
  }

  SourceMap sources_;
  std::shared_ptr<const runtime::Program> program_;
};

/// A pipeline whose `image` lies on the GPU.
inline std::string of_images(const std::string& rest) {
  return "from nvidia.dali import pipeline_def, fn, types\n\n"
         "@pipeline_def(batch_size=4, num_threads=2, seed=42)\n"
         "def p(data: str = '.'):\n"
         "    encoded, label = fn.readers.file(file_root=data, name='Reader')\n"
         "    image = fn.decoders.image(encoded, output_type=types.RGB, device='mixed')\n" +
         rest;
}

/// The same with `select`.
inline std::string with_select(const std::string& text) {
  return replaced(text, "import pipeline_def, fn, types\n",
                  "import pipeline_def, fn, types\nfrom galatea import select\n");
}

inline size_t count_arms(const runtime::Program& program) {
  return static_cast<size_t>(std::count_if(program.code.begin(), program.code.end(),
                                           [](const auto& i) { return i.op == runtime::Opcode::kArms; }));
}

}  // namespace galatea::testing
