// How far the schedules that the cost model chooses are from the best there is.
//
// Comes in: pipeline files and a folder of images. Each kernel of each pipeline is compiled with the schedule
// that was chosen and with others, drawn at random among the legal ones; the pipeline then runs, and every
// call of a kernel runs all of its forms in turn. Goes out: one line a kernel, with the fastest other form
// and what it does differently; JSON with --json.
//
//   schedule_bench --data build/samples examples/0*.dali-dsl
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/json.h"
#include "compiler/codegen/llvm_backend.h"
#include "compiler/compile.h"
#include "compiler/kernel/element_program.h"
#include "dsl/frontend.h"
#include "runtime/session.h"
#include "stdlib_ops/native/register_natives.h"
#include "stdlib_ops/register_all.h"

namespace {

using namespace galatea;  // NOLINT: a program of one file

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class Params : public kernel::LeafSource {
 public:
  explicit Params(const uint64_t* values) : values_(values) {}
  Cell leaf(const kernel::ExprNode& node, const Cell*) override { return {values_[node.index]}; }

 private:
  const uint64_t* values_;
};

/// One schedule of a kernel, and the time that it has taken.
struct Form {
  kernel::Schedule schedule;
  kernel::LoopKernel loops;
  std::shared_ptr<const runtime::KernelCode> code;
  double seconds = 0;
};

struct KernelForms {
  std::string pipeline;
  kernel::Kernel kernel;
  std::vector<Form> forms;  ///< the chosen one first
  int calls = 0;
};

constexpr int kRepetitions = 5;

/// Runs every form of a kernel; the least of a few times counts.
class AllForms : public runtime::KernelCode {
 public:
  explicit AllForms(KernelForms& forms) : forms_(forms) {}
  void run(const runtime::KernelCall& call) const override {
    std::vector<double> least(forms_.forms.size(), INFINITY);
    for (int repetition = 0; repetition < kRepetitions; ++repetition) {
      for (size_t f = 0; f < forms_.forms.size(); ++f) {
        // Another one begins each time, so that none always runs on warm memory.
        const size_t at = (f + static_cast<size_t>(repetition)) % forms_.forms.size();
        Form& form = forms_.forms[at];
        runtime::KernelCall own = call;
        own.scratch = scratch(form, call.params);
        const double begin = processor_seconds();
        form.code->run(own);
        least[at] = std::min(least[at], processor_seconds() - begin);
      }
    }
    for (size_t f = 0; f < least.size(); ++f) forms_.forms[f].seconds += least[f];
    ++forms_.calls;
  }

 private:
  uint8_t* scratch(const Form& form, const uint64_t* params) const {
    Params leaves(params);
    uint32_t flags = 0;
    kernel::ElementProgram program(kernel::layout_scratch(form.loops).bytes);
    const auto bytes = static_cast<size_t>(program.run(leaves, &flags).bits);
    constexpr size_t kAlignment = runtime::kBufferAlignment;
    if (scratch_.size() < bytes + 2 * kAlignment) scratch_.resize(bytes + 2 * kAlignment);
    const auto address = reinterpret_cast<uintptr_t>(scratch_.data());
    return scratch_.data() + (kAlignment - address % kAlignment) % kAlignment;
  }

  KernelForms& forms_;
  mutable std::vector<uint8_t> scratch_;
};

/// The backend "llvm", but each kernel in several forms.
class FormsBackend : public codegen::KernelBackend {
 public:
  FormsBackend(codegen::KernelBackend& llvm, int tries, std::vector<std::unique_ptr<KernelForms>>& all,
               std::string pipeline)
      : llvm_(llvm), tries_(tries), all_(all), pipeline_(std::move(pipeline)) {}
  std::string name() const override { return "forms"; }
  kernel::ScheduleOptions schedule_options() const override { return llvm_.schedule_options(); }
  Result<std::vector<codegen::CompiledKernel>> compile(std::span<const codegen::KernelJob> jobs) override {
    std::vector<codegen::CompiledKernel> out;
    for (const codegen::KernelJob& job : jobs) {
      GALATEA_ASSIGN(codegen::CompiledKernel made, compile_forms(*job.kernel));
      out.push_back(std::move(made));
    }
    return out;
  }

 private:
  Result<codegen::CompiledKernel> compile_forms(const kernel::Kernel& kernel) {
    auto forms = std::make_unique<KernelForms>();
    forms->pipeline = pipeline_;
    forms->kernel = kernel;
    std::map<std::string, bool> seen;
    for (int n = 0; n <= tries_; ++n) {
      kernel::ScheduleOptions options = schedule_options();
      options.random_seed = static_cast<uint64_t>(n);  // 0: the model's choice
      Form form;
      form.schedule = kernel::make_schedule(kernel, options);
      form.loops = kernel::lower(kernel, form.schedule, options);
      if (!seen.emplace(kernel::to_text(form.loops), true).second) continue;
      GALATEA_ASSIGN(codegen::CompiledKernel compiled,
                     llvm_.codegen::KernelBackend::compile(kernel, form.loops));
      form.code = std::move(compiled.code);
      forms->forms.push_back(std::move(form));
    }
    codegen::CompiledKernel out;
    out.code = std::make_shared<AllForms>(*forms);
    all_.push_back(std::move(forms));
    return out;
  }

  codegen::KernelBackend& llvm_;
  int tries_;
  std::vector<std::unique_ptr<KernelForms>>& all_;
  std::string pipeline_;
};

std::string placement_name(kernel::Placement placement) {
  static constexpr const char* kNames[] = {"inlined", "row ring", "whole", "table", "output"};
  return kNames[static_cast<size_t>(placement)];
}

/// "blur: whole for row ring", stage by stage.
std::string what_differs(const KernelForms& forms, const Form& other) {
  std::string out;
  for (size_t s = 0; s < forms.kernel.stages.size(); ++s) {
    const kernel::StageSchedule &a = forms.forms[0].schedule.stages[s], &b = other.schedule.stages[s];
    if (a.placement == b.placement && a.lanes == b.lanes) continue;
    const std::string name = forms.kernel.stages[s].name;
    out += (out.empty() ? "" : "; ") + (name.empty() ? fmt::format("stage {}", s) : name) + ": ";
    out += a.placement == b.placement ? "other lanes"
                                      : placement_name(b.placement) + " for " + placement_name(a.placement);
  }
  return out;
}

struct Options {
  std::vector<std::string> files;
  std::string data, json;
  int tries = 12, batches = 4;
};

/// Compiles and runs one file; false, with a line on stderr, where that fails.
bool measure(const std::string& file, const Options& options, const op::Registry& registry,
             const runtime::NativeTable& natives, codegen::KernelBackend& llvm,
             std::vector<std::unique_ptr<KernelForms>>& all) {
  const auto fail = [&](const std::string& words) {
    fmt::print(stderr, "schedule_bench: {}: {}\n", file, words);
    return false;
  };
  std::ifstream in(file);
  if (!in) return fail("cannot be read");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  SourceMap sources;
  dsl::FrontendOptions frontend;
  frontend.host.batch_size = 8;
  if (!options.data.empty()) frontend.parameters.emplace_back("data", options.data);
  dsl::FrontendResult staged = dsl::stage_pipeline(file, text, frontend, registry, sources);
  if (!staged.ok) return fail(staged.diagnostics.empty() ? "is no pipeline" : staged.diagnostics[0].message);
  FormsBackend backend(llvm, options.tries, all, staged.graphs.at(0)->name);
  CompileOptions compile_options;
  compile_options.registry = &registry;
  compile_options.backend = &backend;
  auto program = compile(*staged.graphs.at(0), sources, compile_options);
  if (!program) return fail(program.error().message());
  if (!(*program)->external_inputs.empty()) return fail("only a host can feed it");
  runtime::SessionOptions session_options;
  session_options.executor = runtime::ExecutorKind::kInline;
  auto session = runtime::Session::create(*program, natives, session_options);
  if (!session) return fail(session.error().message());
  for (int b = 0; b < options.batches; ++b) {
    auto batch = (*session)->next();
    if (!batch) return fail(batch.error().message());
    if (!*batch) break;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times the legal schedules of the kernels of pipelines");
  Options options;
  app.add_option("files", options.files)->required();
  app.add_option("--data", options.data, "the pipelines' parameter data");
  app.add_option("--tries", options.tries, "random schedules drawn for each kernel");
  app.add_option("--batches", options.batches, "batches of 8");
  app.add_option("--json", options.json);
  CLI11_PARSE(app, argc, argv);

  op::Registry registry;
  ops::register_all(registry);
  runtime::NativeTable natives;
  native::register_natives(natives);
  std::string note;
  auto llvm = codegen::make_backend("llvm", &note, codegen::CacheOptions{});
  if (!llvm || (*llvm)->name() != "llvm") {
    fmt::print(stderr, "schedule_bench: no code generator: {}\n", llvm ? note : llvm.error().message());
    return 1;
  }
  std::vector<std::unique_ptr<KernelForms>> all;
  bool fine = true;
  for (const std::string& file : options.files)
    fine = measure(file, options, registry, natives, **llvm, all) && fine;

  nlohmann::json json = nlohmann::json::array();
  double logs = 0, worst = 1;
  int compared = 0;
  fmt::print("{:<44} {:>6} {:>9} {:>7}  {}\n", "kernel", "forms", "us a call", "of best", "the best does");
  for (const auto& forms : all) {
    if (forms->calls == 0) continue;
    const Form& chosen = forms->forms[0];
    const Form& best = *std::min_element(forms->forms.begin(), forms->forms.end(),
                                         [](const Form& a, const Form& b) { return a.seconds < b.seconds; });
    const double ratio = chosen.seconds / best.seconds, us = 1e6 * chosen.seconds / forms->calls;
    const std::string words = ratio < 1.03 ? "the same, within 3 %" : what_differs(*forms, best);
    fmt::print("{:<44} {:>6} {:>9.2f} {:>7.2f}  {}\n", forms->kernel.name.substr(0, 44), forms->forms.size(),
               us, ratio, words);
    json.push_back({{"pipeline", forms->pipeline},
                    {"kernel", forms->kernel.name},
                    {"forms", forms->forms.size()},
                    {"us_per_call", us},
                    {"of_best", ratio},
                    {"best", words}});
    if (forms->forms.size() < 2) continue;
    logs += std::log(ratio);
    worst = std::max(worst, ratio);
    ++compared;
  }
  if (compared > 0)
    fmt::print("{} kernels with a choice: {:.3f} of the best on average (geometric), {:.3f} at worst\n",
               compared, std::exp(logs / compared), worst);
  if (!options.json.empty()) std::ofstream(options.json) << json.dump(1) << "\n";
  return fine ? 0 : 1;
}
