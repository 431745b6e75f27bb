// Times kernels alone, without a pipeline around them.
//
// Comes in: the text of `galatea explain FILE --emit=kernel` and the values of the kernel's parameters, in
// order (after
// `--`, or the first may be taken for options where it is negative). Goes out: one line a kernel and target:
// the least processor time of a call, and the median. Targets take turns, so that a busy machine spoils all
// of them alike.
//
//   kernel_bench rotate.kernel warp.kernel --params 224,224,0.97,0.22,-12,-0.22,16777218,37
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "compiler/codegen/llvm_backend.h"
#include "compiler/kernel/element_program.h"
#include "compiler/kernel/passes/passes.h"
#include "compiler/kernel/reader.h"

namespace {

using namespace galatea;  // NOLINT: a program of one file

class Params : public kernel::LeafSource {
 public:
  explicit Params(const std::vector<uint64_t>& values) : values_(values) {}
  Cell leaf(const kernel::ExprNode& node, const Cell*) override {
    return {values_.at(static_cast<size_t>(node.index))};
  }

 private:
  const std::vector<uint64_t>& values_;
};

int64_t value_of(const kernel::Expr& e, const std::vector<uint64_t>& params) {
  Params leaves(params);
  uint32_t flags = 0;
  kernel::ElementProgram program(e);
  return static_cast<int64_t>(program.run(leaves, &flags).bits);
}

struct Tensor {
  std::vector<uint8_t> bytes;
  runtime::KernelTensor view;

  Tensor(DType type, const std::vector<int64_t>& extents) {
    int64_t count = 1;
    for (size_t d = extents.size(); d-- > 0;) {
      view.extents[d] = extents[d];
      view.strides[d] = count;
      count *= extents[d];
    }
    bytes.assign(static_cast<size_t>(count * size_of(type)) + 128 + runtime::kBufferPadding, 0);
    view.data = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(bytes.data()) + 63) & ~uintptr_t{63});
    std::mt19937 random(7);
    for (int64_t i = 0; i < count; ++i) {
      const double number = std::uniform_int_distribution<int>(0, 255)(random);
      const Cell cell =
          is_float(type) ? cell_from_double(type, number) : cell_from_int(type, static_cast<int64_t>(number));
      store_cell(type, static_cast<uint8_t*>(view.data) + i * size_of(type), cell);
    }
  }
};

kernel::Kernel read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::string kernel_text = text.str();
  kernel_text.erase(0, kernel_text.find("kernel \""));
  if (const size_t end = kernel_text.find("\nschedule of"); end != std::string::npos) kernel_text.erase(end);
  SourceMap sources;
  auto kernel = kernel::read_kernel(kernel_text, sources);
  if (!kernel) throw std::runtime_error(path + ": " + kernel.error().message());
  return *kernel;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Contestant {
  std::string name;
  std::shared_ptr<const runtime::KernelCode> code;
  std::vector<Tensor> tensors;
  std::vector<runtime::KernelTensor> views;
  std::vector<uint8_t> scratch;
  std::vector<double> times;
  double compile_seconds = 0;
};

Contestant prepare(const kernel::Kernel& kernel, const codegen::Target& target,
                   const std::vector<uint64_t>& params) {
  auto backend = codegen::make_llvm_backend(target);
  const kernel::ScheduleOptions options = backend->schedule_options();
  const kernel::LoopKernel loops = kernel::lower(kernel, kernel::make_schedule(kernel, options), options);
  auto compiled = backend->compile(kernel, loops);
  if (!compiled) throw std::runtime_error(compiled.error().message());
  Contestant out{kernel.name + " " + target.name(), compiled->code, {}, {}, {}, {}, compiled->seconds};
  const auto add = [&](DType type, const std::vector<kernel::Expr>& extents) {
    std::vector<int64_t> sizes;
    for (const kernel::Expr& e : extents) sizes.push_back(value_of(e, params));
    out.tensors.emplace_back(type, sizes);
    out.views.push_back(out.tensors.back().view);
  };
  out.tensors.reserve(kernel.inputs.size() + kernel.outputs.size());
  for (const kernel::KernelInput& input : kernel.inputs) add(input.type, input.extents);
  for (const kernel::KernelOutput& output : kernel.outputs) {
    const kernel::Stage& stage = kernel.stages[static_cast<size_t>(output.stage)];
    std::vector<kernel::Expr> extents;
    for (const int axis : output.axis_of) extents.push_back(stage.extents[static_cast<size_t>(axis)]);
    add(stage.type, extents);
  }
  out.scratch.resize(static_cast<size_t>(value_of(kernel::layout_scratch(loops).bytes, params)) + 256);
  return out;
}

void run(Contestant& c, const std::vector<uint64_t>& params) {
  uint32_t status = 0;
  auto* scratch =
      reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(c.scratch.data()) + 63) & ~uintptr_t{63});
  const runtime::KernelCall call{c.views.data(), params.data(), scratch, &status};
  const double start = processor_seconds();
  c.code->run(call);
  c.times.push_back(processor_seconds() - start);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files, values;
  int rounds = 300;
  CLI::App app{"Times kernels alone"};
  app.add_option("files", files, "texts of kernels with the same parameters")->required();
  app.add_option("--params", values, "values of the kernel's parameters")->delimiter(',');
  app.add_option("--rounds", rounds, "calls of each kernel");
  CLI11_PARSE(app, argc, argv);
  try {
    std::vector<Contestant> contestants;
    std::vector<std::vector<uint64_t>> params;
    for (const std::string& file : files) {
      const kernel::Kernel kernel = read(file);
      std::vector<uint64_t> bits;
      for (size_t i = 0; i < kernel.params.size(); ++i) {
        const DType type = kernel.params[i].type;
        const double number = std::stod(values.at(i));
        bits.push_back((is_float(type) ? cell_from_double(type, number)
                                       : cell_from_int(type, static_cast<int64_t>(number)))
                           .bits);
      }
      for (const codegen::Target& target : codegen::runnable_targets()) {
        contestants.push_back(prepare(kernel, target, bits));
        params.push_back(bits);
      }
    }
    for (int round = 0; round < rounds; ++round)
      for (size_t i = 0; i < contestants.size(); ++i) run(contestants[i], params[i]);
    for (Contestant& c : contestants) {
      std::sort(c.times.begin(), c.times.end());
      fmt::print("{:<40} {:>9.1f} us least {:>9.1f} us median, compiled in {:.0f} ms\n", c.name,
                 1e6 * c.times.front(), 1e6 * c.times[c.times.size() / 2], 1e3 * c.compile_seconds);
    }
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
  return 0;
}
