// The options of every subcommand that takes a pipeline file, and what they mean to the language.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "runtime/cuda/driver.h"
#include "tools/pipeline_host.h"

namespace galatea::tools {
namespace {

/// All words up to the next option are policies.
std::string check_policy(const std::string& text) {
  return text.ends_with(".dali-dsl") ? "`" + text + "` is a pipeline: name it before --policies" : "";
}

std::string check_setting(const std::string& text) {
  auto equals = text.find('=');
  return equals == std::string::npos || equals == 0 ? "`" + text + "` is not of the form NAME=VALUE" : "";
}

/// "gpu:0,2": several GPUs of one kind, which the code of one program suits.
std::string check_several_gpus(const std::string& text) {
  if (!text.starts_with("gpu:"))
    return fmt::format("`{}` is no device: auto, cpu, gpu, gpu:N or several as in gpu:0,1", text);
  const auto driver = runtime::cuda::Driver::open();
  std::vector<std::string> seen;
  std::optional<runtime::cuda::Device> first;
  std::istringstream parts(text.substr(4) + ",");
  for (std::string part; std::getline(parts, part, ',');) {
    if (!why_no_device_name("gpu:" + part).empty())
      return fmt::format("`{}`: `{}` is no number of a GPU; several are named as in gpu:0,1", text, part);
    if (std::ranges::find(seen, part) != seen.end())
      return fmt::format("`{}` names GPU {} twice: a GPU has one session", text, part);
    seen.push_back(part);
    // One that is not here is said behind the command line, with those that are.
    const auto device = driver ? (*driver)->device(std::stoi(part)) : Result<runtime::cuda::Device>();
    if (!driver || !device) continue;
    if (!first) first = *device;
    if (first->architecture != device->architecture)
      return fmt::format(
          "`{}`: {} is of sm_{} and {} of sm_{}, and one program has the code of one kind: start a run for each "
          "kind, over `num_shards` of the reader",
          text, first->describe(), first->architecture, device->describe(), device->architecture);
  }
  return {};
}

std::string check_one_device(const std::string& text) {
  if (text.find(',') != std::string::npos && check_several_gpus(text).empty())
    return fmt::format("`{}` names several GPUs, which `galatea run` alone works on: name one", text);
  return why_no_device_name(text);
}

std::string check_devices(const std::string& text) {
  return text.find(',') != std::string::npos ? check_several_gpus(text) : why_no_device_name(text);
}

}  // namespace

void add_pipeline_options(CLI::App* app, PipelineOptions& o, bool several_gpus) {
  add_option(app, "--pipeline", o.pipeline,
             {"NAME", "the file's only one", "which pipeline of the file", "--pipeline train"});
  add_option(app, "--set", o.set,
             {"NAME=VALUE", "", "a parameter of the pipeline; may be given several times", "--set size=128"})
      .one_each()
      .checked(check_setting);
  add_option(app, "--batch-size", o.batch_size,
             {"N", "what the file says", "samples in a batch", "--batch-size 32"})
      .between(1, 1 << 20);
  add_option(app, "--threads", o.num_threads, {"N", "what the file says", "worker threads", "--threads 4"})
      .between(1, 4096);
  add_option(app, "--seed", o.seed,
             {"N", "what the file says; without one, drawn", "seed of all random draws", "--seed 42"});
  add_option(app, "--prefetch", o.prefetch, {"N", "what the file says", "batches made ahead", "--prefetch 2"})
      .between(1, 1024);
  if (several_gpus)
    add_option(app, "--device", o.device,
               {"auto|cpu|gpu[:N[,N…]]", "auto",
                "where to run; on several GPUs each takes its part of the data", "--device gpu:0,1"})
        .checked(check_devices);
  else
    add_option(app, "--device", o.device, {"auto|cpu|gpu[:N]", "auto", "where to run", "--device cpu"})
        .checked(check_one_device);
  add_option(app, "--on-error", o.on_error,
             {"raise|skip|replace", "what the file says", "what becomes of a sample that cannot be read",
              "--on-error skip"})
      .one_of({"raise", "skip", "replace"});
  add_option(app, "--exact", o.exact,
             {"on|off", "what the file says", "on: bit-equal results everywhere", "--exact off"})
      .one_of({"on", "off"});
  add_option(app, "--memory-limit", o.memory_limit,
             {"BYTES", "none", "memory that samples and batches may take", "--memory-limit 512MB"})
      .in_bytes();
  add_option(app, "--limit", o.limits_given,
             {"NAME=VALUE", "", "moves a bound of the compilation; may be given several times",
              "--limit steps=5000000"})
      .one_each()
      .checked([&o](std::string& text) { return dsl::set_limit(o.limits, text); });
  add_option(app, "--arch", o.arch,
             {"sm_NN", "the device's", "GPU architecture to plan for", "--arch sm_90"});
}

void add_policies_option(CLI::App* app, PipelineOptions& o) {
  add_option(
      app, "--policies", o.policies,
      {"POLICY…", "", "policies (JSON files or spellings), each in turn for the one that the pipeline loads",
       "--policies a.json b.json"})
      .values(1, 1000)
      .checked(check_policy);
}

void add_compile_options(CLI::App* app, CompileChoice& choice, std::string& fuse) {
  add_option(app, "--backend", choice.backend,
             {"llvm|interpreter|cuda-shim", "llvm", "what runs the kernels; all give the same bits",
              "--backend interpreter"})
      .one_of({"llvm", "interpreter", "cuda-shim"});
  add_option(app, "--cache", choice.cache,
             {"on|off|DIR", "on", "whether compiled code is kept on disk, and where (galatea settings)",
              "--cache /var/cache/galatea"})
      .not_empty();
  add_option(
      app, "--tiers", choice.tiers,
      {"auto|best|first", "auto",
       "code that takes long to compile: quick code until the best is there, or the best at once; first: "
       "quick code for all; the same bits",
       "--tiers best"})
      .one_of({"auto", "best", "first"});
  add_option(app, "--launches", choice.launches_given,
             {"auto|merged|separate", "auto",
              "on a GPU, kernels for different samples: one launch, or one each; the same bits",
              "--launches separate"})
      .one_of(choice.launches, {{"auto", plan::LaunchForm::kAuto},
                                {"merged", plan::LaunchForm::kMerged},
                                {"separate", plan::LaunchForm::kSeparate}});
  add_option(app, "--decoder", choice.decoder_given,
             {"auto|cpu|nvjpeg", "auto",
              "what decodes the images of device=\"mixed\" on a GPU; auto: nvJPEG where it is here",
              "--decoder cpu"})
      .one_of(choice.decoder, {{"auto", runtime::DecodeChoice::kAuto},
                               {"cpu", runtime::DecodeChoice::kHost},
                               {"nvjpeg", runtime::DecodeChoice::kDevice}});
  add_option(app, "--selectors", choice.selectors_given,
             {"auto|device|wait", "auto",
              "on a GPU, branches on what it computes: it chooses, or they are waited for; the same bits",
              "--selectors wait"})
      .one_of(choice.selectors, {{"auto", plan::SelectorForm::kAuto},
                                 {"device", plan::SelectorForm::kDevice},
                                 {"wait", plan::SelectorForm::kWait}});
  fuse = "on";
  add_option(app, "--fuse", fuse,
             {"on|off", "on", "whether operators share kernels; the same bits either way", "--fuse off"})
      .one_of({"on", "off"})
      .then([&choice](const std::string& text) { choice.fuse = text == "on"; });
}

dsl::FrontendOptions PipelineHost::frontend_options(const PipelineOptions& options) {
  dsl::FrontendOptions out;
  out.pipeline = options.pipeline;
  for (const std::string& text : options.set) {
    const size_t equals = text.find('=');
    out.parameters.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  out.host.batch_size = options.batch_size;
  out.host.num_threads = options.num_threads;
  out.host.prefetch_queue_depth = options.prefetch;
  out.host.seed = options.seed;
  if (options.memory_limit) out.host.memory_limit = static_cast<int64_t>(*options.memory_limit);
  if (!options.exact.empty()) out.host.exact = options.exact == "on";
  if (options.on_error == "raise") out.host.on_error = ir::OnError::kRaise;
  if (options.on_error == "skip") out.host.on_error = ir::OnError::kSkip;
  if (options.on_error == "replace") out.host.on_error = ir::OnError::kReplace;
  out.host.device = options.device;
  out.host.gpu_is_here = options.gpu_is_here;
  out.limits = options.limits;
  out.cancelled = options.cancelled;
  return out;
}

}  // namespace galatea::tools
