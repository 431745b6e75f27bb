#include "tests/cuda_text/example_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/codegen/cuda/emit.h"
#include "compiler/codegen/llvm_backend.h"
#include "compiler/compile.h"
#include "compiler/kernel/schedule.h"
#include "dsl/frontend.h"
#include "tests/support/product.h"

namespace galatea::testing {
namespace {

std::vector<kernel::LoopKernel> kernels_of(const std::string& text, std::set<std::string>& known) {
  std::vector<kernel::LoopKernel> out;
  SourceMap sources;
  dsl::FrontendResult staged = dsl::stage_pipeline("example.dali-dsl", text, {}, product().registry, sources);
  EXPECT_TRUE(staged.ok);
  auto backend = codegen::make_interpreter_backend();
  for (const auto& graph : staged.graphs) {
    CompileOptions options;
    options.registry = &product().registry;
    options.backend = backend.get();
    CompileReport report;
    auto program = compile(*graph, sources, options, &report);
    EXPECT_TRUE(program) << (program ? "" : program.error().message());
    for (const KernelReport& each : report.kernels) {
      if (!each.text.empty()) continue;  // a kernel of the user's own has no loops
      const kernel::ScheduleOptions gpu{.gpu = true};
      kernel::LoopKernel loops = kernel::lower(each.kernel, kernel::make_schedule(each.kernel, gpu), gpu);
      if (known.insert(codegen::emit_cuda(loops, "same")).second) out.push_back(std::move(loops));
    }
  }
  return out;
}

}  // namespace

const std::vector<ExampleKernels>& example_kernels() {
  static const std::vector<ExampleKernels> kAll = [] {
    std::vector<std::filesystem::path> files;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(GALATEA_SOURCE_DIR) + "/examples"))
      if (entry.path().extension() == ".dali-dsl") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<ExampleKernels> out;
    std::set<std::string> known;
    for (const auto& file : files) {
      std::ifstream in(file);
      std::stringstream text;
      text << in.rdbuf();
      out.push_back({file.stem().string(), kernels_of(text.str(), known)});
    }
    return out;
  }();
  return kAll;
}

std::string name_of(const ExampleKernels& example, size_t number) {
  return "k" + example.name + "_" + std::to_string(number);
}
std::string text_of(const ExampleKernels& example, size_t number) {
  return codegen::emit_cuda(example.kernels[number], name_of(example, number)) + "\n";
}
std::string text_of(const ExampleKernels& example) {
  std::string text;
  for (size_t k = 0; k < example.kernels.size(); ++k) text += text_of(example, k);
  return text;
}

}  // namespace galatea::testing
