// What pipelines do on a GPU: throughput, launches and host time of a batch by batch size, and how much of
// the memory's bandwidth a pointwise chain reaches.
//
// Comes in: pipeline files whose parameter `data` is a folder of images, or which are fed pictures of noise
// (one input "image", u8 HWC). Goes out: a line a measurement; JSON with --json, written after each, so that
// what was measured stays whatever comes. What fails is a line and a row with the error, and the others are
// measured; the exit status is 1 then. The GPU is what the driver has, so that over a driver that does not
// compute only counts and host times mean something.
//
//   gpu_bench --data build/samples bench/benches/imagenet_train.dali-dsl:train
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/json.h"
#include "compiler/choose_gpu.h"
#include "compiler/codegen/cuda/device_code.h"
#include "compiler/codegen/kernel_cache.h"
#include "compiler/kernel/loops.h"
#include "compiler/kernel/reader.h"
#include "compiler/kernel/schedule.h"
#include "dsl/frontend.h"
#include "runtime/cuda/batch_launch.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/driver.h"
#include "runtime/session.h"
#include "stdlib_ops/native/register_natives.h"
#include "stdlib_ops/register_all.h"

namespace {

using namespace galatea;  // NOLINT: a program of one file
using Clock = std::chrono::steady_clock;

/// A measurement that cannot be made.
[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

template <typename T>
T require(Result<T> result) {
  if (!result) fail(result.error().message());
  return std::move(*result);
}
void require(const Status& status) {
  if (!status) fail(status.error().message());
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Arguments {
  std::vector<std::string> pipelines;  ///< FILE or FILE:NAME
  std::string data, json, device = "gpu", decoder = "auto";
  std::vector<int> batch_sizes = {8, 32, 256};
  int threads = 0, height = 375, width = 500;
  double seconds = 1.0;
};

class PipelineBench {
 public:
  explicit PipelineBench(const Arguments& arguments)
      : arguments_(arguments),
        choice_(require(choose_gpu(arguments.device, GpuPurpose::kRun, codegen::default_cache_options()))),
        context_(require(
            runtime::cuda::Context::open(require(runtime::cuda::Driver::shared()), choice_.target->number))) {
    ops::register_all(registry_);
    native::register_natives(natives_);
  }

  /// With graphs; what the host takes without them; and each copy and launch by events.
  nlohmann::json run(const std::string& pipeline, int batch_size) {
    nlohmann::json row = run(pipeline, batch_size, {}, arguments_.seconds);
    const runtime::DeviceOptions plain{.graphs = false}, timed{.graphs = false, .times_commands = true};
    row["host_us_per_batch_without_graphs"] =
        run(pipeline, batch_size, plain, arguments_.seconds / 4)["host_us_per_batch"];
    row["commands"] = run(pipeline, batch_size, timed, arguments_.seconds / 4)["commands"];
    return row;
  }

  /// What a first start waits for its kernels, with nothing kept from before: compiled side by side, and
  /// those of a launch as one text.
  nlohmann::json start(const std::string& pipeline) {
    const auto driver = require(runtime::cuda::Driver::open());
    const auto nvrtc = require(codegen::Nvrtc::open(driver->major_version()));
    const auto device = require(driver->device(choice_.target->number));
    const auto seconds = [&](codegen::ArmForm form) {
      codegen::DeviceCompiler compiler(nvrtc, device.architecture, {}, form);
      const auto begin = Clock::now();
      compile(pipeline, 32, &compiler);
      const double out = seconds_since(begin);
      for (const std::string& note : compiler.take_notes()) fmt::print(stderr, "gpu_bench: {}\n", note);
      return out;
    };
    const auto linker = codegen::DeviceLinker::open(nvrtc->major_version(), nvrtc->minor_version());
    return {{"pipeline", pipeline},
            {"linker", linker ? (*linker)->path() : linker.error().message()},
            {"threads", std::thread::hardware_concurrency()},
            {"seconds", seconds(codegen::ArmForm::kApart)},
            {"seconds_of_one_text_a_launch", seconds(codegen::ArmForm::kTogether)}};
  }

  const GpuChoice& choice() const { return choice_; }

 private:
  nlohmann::json run(const std::string& pipeline, int batch_size, const runtime::DeviceOptions& device,
                     double least_seconds) {
    auto program = compile(pipeline, batch_size, choice_.compiler.get());
    runtime::SessionOptions options;
    options.num_threads = arguments_.threads;
    options.device = device;
    auto session = require(runtime::Session::create(program, natives_, options));
    const bool is_fed = !program->external_inputs.empty();
    const int depth = program->prefetch_depth;
    // Caches and pools have their size, and the window of batches in flight is full, when the clock starts.
    for (int warm = 0; warm < 2 * depth + 3; ++warm) deliver(*session, is_fed, batch_size);
    const runtime::SessionStatistics before = session->statistics();
    const auto begin = Clock::now();
    int64_t samples = 0, batches = 0, smallest = batch_size;
    do {
      const int64_t delivered = deliver(*session, is_fed, batch_size);
      samples += delivered;
      smallest = std::min(smallest, delivered);
      ++batches;
    } while (seconds_since(begin) < least_seconds || batches < 5);
    if (last_ && last_->device) require(last_->device->wait());
    const double seconds = seconds_since(begin);
    const runtime::SessionStatistics after = session->statistics();
    last_.reset();
    // Those that were made meanwhile; batches without work of kernels or nvJPEG are no enqueues.
    const int64_t made = after.device.enqueues - before.device.enqueues;
    const auto enqueues = static_cast<double>(made > 0 ? made : batches);
    const auto each = [&](int64_t now, int64_t then) { return static_cast<double>(now - then) / enqueues; };
    return {{"pipeline", pipeline},
            {"batch_size", batch_size},
            {"device", after.device.device},
            {"samples_per_second", static_cast<double>(samples) / seconds},
            {"batches", batches},
            {"samples_per_batch", static_cast<double>(samples) / static_cast<double>(batches)},
            {"samples_of_smallest_batch", smallest},
            {"host_us_per_batch",
             1e6 * (after.device.enqueue_seconds - before.device.enqueue_seconds) / enqueues},
            {"launches_per_batch", each(after.device.launches, before.device.launches)},
            {"parameter_uploads_per_batch",
             each(after.device.parameter_uploads, before.device.parameter_uploads)},
            {"decoder", after.device.decoder},
            {"decodes_per_batch", each(after.device.decodes, before.device.decodes)},
            {"storage", after.device.storage},
            {"storage_bytes_per_batch", each(after.device.storage_bytes, before.device.storage_bytes)},
            {"host_reads_because", after.device.host_reads_because},
            {"upload_bytes_per_batch", each(after.device.upload_bytes, before.device.upload_bytes)},
            {"waits_per_batch", each(after.device.waits, before.device.waits)},
            {"graph_launches_per_batch", each(after.device.graph_launches, before.device.graph_launches)},
            {"graphs_off", after.device.graphs_off},
            {"commands", commands(after.device)},
            {"device_peak_bytes", after.device.peak_bytes}};
  }

  /// Since the session began: the device's time of one, and what copies move in it.
  static nlohmann::json commands(const runtime::DeviceStatistics& statistics) {
    nlohmann::json out = nlohmann::json::array();
    for (const runtime::CommandTime& each : statistics.command_times) {
      const auto count = static_cast<double>(each.count);
      nlohmann::json row = {{"what", each.what},
                            {"per_batch", count / static_cast<double>(statistics.enqueues)},
                            {"device_us", 1e6 * each.seconds / count}};
      if (each.bytes > 0 && each.seconds > 0)
        row["bytes_per_second"] = static_cast<double>(each.bytes) / each.seconds;
      out.push_back(std::move(row));
    }
    return out;
  }

  std::shared_ptr<const runtime::Program> compile(const std::string& pipeline, int batch_size,
                                                  codegen::DeviceCompiler* compiler) {
    const size_t colon = pipeline.rfind(':');
    const std::string file = pipeline.substr(0, colon);
    SourceMap sources;
    dsl::FrontendOptions frontend;
    frontend.host.device = "gpu";
    frontend.host.gpu_is_here = true;
    frontend.host.batch_size = batch_size;
    frontend.pipeline = colon == std::string::npos ? "" : pipeline.substr(colon + 1);
    if (!arguments_.data.empty()) frontend.parameters.emplace_back("data", arguments_.data);
    auto staged = dsl::stage_pipeline(file, {}, frontend, registry_, sources);
    if (!staged.ok || staged.graphs.empty()) {
      for (const Diagnostic& diagnostic : staged.diagnostics)
        fmt::print(stderr, "{}", render_text(diagnostic, sources));
      fail(file + " does not stage");
    }
    CompileOptions options;
    options.registry = &registry_;
    options.gpu = choice_.target;
    options.gpu->compiler = compiler;
    options.gpu->decoder = arguments_.decoder == "cpu"      ? runtime::DecodeChoice::kHost
                           : arguments_.decoder == "nvjpeg" ? runtime::DecodeChoice::kDevice
                                                            : runtime::DecodeChoice::kAuto;
    return require(galatea::compile(*staged.graphs.front(), sources, options));
  }

  /// The samples of the next batch, whatever epoch it is of.
  int64_t deliver(runtime::Session& session, bool is_fed, int batch_size) {
    if (is_fed) require(session.feed("image", pictures(batch_size)));
    for (;;) {
      auto batch = require(session.next());
      if (!batch) continue;
      last_ = *batch;
      return last_->num_samples();
    }
  }

  const std::vector<runtime::Tensor>& pictures(int count) {
    const int64_t extents[] = {arguments_.height, arguments_.width, 3};
    std::mt19937 random(7);
    while (pictures_.size() < static_cast<size_t>(count)) {
      runtime::Tensor picture = require(runtime::allocate_tensor(memory_, DType::kU8, extents));
      for (int64_t i = 0; i < picture.num_bytes(); ++i) picture.data[i] = static_cast<uint8_t>(random());
      pictures_.push_back(std::move(picture));
    }
    fed_.assign(pictures_.begin(), pictures_.begin() + count);
    return fed_;
  }

  const Arguments& arguments_;
  GpuChoice choice_;
  std::shared_ptr<const runtime::cuda::Context> context_;  ///< held for all sessions: making one takes long
  op::Registry registry_;
  runtime::NativeTable natives_;
  runtime::Allocator memory_;
  std::vector<runtime::Tensor> pictures_, fed_;
  std::shared_ptr<runtime::Batch> last_;
};

/// u8 pixels to floats by six operations, each image a call of one launch.
constexpr const char* kChain = R"(kernel "chain" {
  param p0:i64 "p0"
  param p1:f32 "p1"
  param p2:f32 "p2"
  param p3:f32 "p3"
  input in0:u8 [p0:i64] dense 1 "image"
  map stage0:f32 [p0:i64] "chain" {
    body = add(mul(fma(convert.f32(load(in0:u8, axis0)), p1:f32, p2:f32), p3:f32), p2:f32)
  }
  output stage0 [0] dense 1 streaming
}
)";

nlohmann::json measure_bandwidth(const GpuChoice& choice, int num_images, double least_seconds) {
  using namespace runtime::cuda;  // NOLINT: of this function
  constexpr int64_t kElements = int64_t{1080} * 1920 * 3;
  SourceMap sources;
  const kernel::Kernel chain = require(kernel::read_kernel(kChain, sources));
  const kernel::ScheduleOptions schedule{.gpu = true};
  const kernel::LoopKernel loops = kernel::lower(chain, kernel::make_schedule(chain, schedule), schedule);
  const codegen::KernelJob job{&chain, &loops};
  const auto code = require(choice.compiler->compile({&job, 1})).front();

  auto context = require(Context::open(require(Driver::shared()), choice.target->number));
  auto module = require(Module::load(context, *code.cubin));
  const LaunchKernel launch{require(module->function(codegen::kDeviceFunction)),
                            code.inputs,
                            code.can_be_tiled,
                            code.may_fail,
                            0,
                            code.shares_phases};
  const std::shared_ptr<const Stream> stream = require(Stream::create(context));
  auto device = MemoryPool::make(context, MemoryKind::kDevice);
  BatchLaunch batch(stream, device, MemoryPool::make(context, MemoryKind::kPinned));
  std::vector<MemoryBlock> blocks;
  const auto tensor = [&](int64_t bytes) {
    blocks.push_back(require(device->acquire(bytes + runtime::kBufferPadding, stream)));
    LaunchTensor out;
    out.view.data = reinterpret_cast<void*>(static_cast<uintptr_t>(blocks.back().device()));
    out.view.extents[0] = kElements;
    out.view.strides[0] = 1;
    return out;
  };
  std::vector<std::array<LaunchTensor, 2>> images;
  for (int n = 0; n < num_images; ++n) images.push_back({tensor(kElements), tensor(4 * kElements)});
  const auto bits = [](float value) {
    return cell_from_double(DType::kF32, static_cast<double>(value)).bits;
  };
  const std::vector<uint64_t> params = {static_cast<uint64_t>(kElements), bits(1.2F), bits(3.0F), bits(0.5F)};
  const auto enqueue = [&] {
    for (int n = 0; n < num_images; ++n) batch.add_call(0, n, images[static_cast<size_t>(n)], params, 0);
    require(batch.enqueue({&launch, 1}));
  };
  for (int warm = 0; warm < 3; ++warm) enqueue();
  require(stream->synchronize());
  int64_t turns = 0;
  const auto begin = Clock::now();
  do {
    for (int n = 0; n < 10; ++n) enqueue();
    turns += 10;
    require(stream->synchronize());
  } while (seconds_since(begin) < least_seconds);
  const double seconds = seconds_since(begin);
  const double bytes = static_cast<double>(turns) * num_images * 5 * static_cast<double>(kElements);
  // What a copy on the device reaches, which reads as much as it writes.
  // More than caches hold, in blocks that a small device has as well.
  constexpr int64_t kBlock = int64_t{1} << 27, kCopied = 4 * kBlock;
  std::vector<MemoryBlock> from, to;
  for (std::vector<MemoryBlock>* side : {&from, &to})
    for (int64_t k = 0; k < kCopied / kBlock; ++k) side->push_back(require(device->acquire(kBlock, stream)));
  const auto copies_begin = Clock::now();
  int64_t copies = 0;
  do {
    for (int n = 0; n < 10; ++n)
      for (size_t k = 0; k < from.size(); ++k)
        require(stream->copy(to[k].device(), from[k].device(), kBlock));
    copies += 10;
    require(stream->synchronize());
  } while (seconds_since(copies_begin) < least_seconds);
  const double copied = static_cast<double>(copies) * static_cast<double>(2 * kCopied);
  const double chain_rate = bytes / seconds, copy_rate = copied / seconds_since(copies_begin);
  return {{"images", num_images},
          {"chain_bytes_per_second", chain_rate},
          {"copy_bytes_per_second", copy_rate},
          {"share", chain_rate / copy_rate}};
}

/// Whoever reads it finds the old text or the new one.
bool replace_file(const std::string& path, const std::string& text) {
  const std::string next = path + ".next";
  if (!(std::ofstream(next) << text).flush()) return false;
  std::error_code error;
  std::filesystem::rename(next, path, error);
  return !error;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  bool bandwidth = false, start = false;
  int bandwidth_pictures = 32;
  CLI::App app{"Pipelines on a GPU: throughput, launches, host time"};
  app.add_option("pipelines", arguments.pipelines, "FILE or FILE:PIPELINE");
  app.add_option("--data", arguments.data, "folder of images, for the parameter `data`");
  app.add_option("--batch-sizes", arguments.batch_sizes)->delimiter(',')->allow_extra_args(false);
  app.add_option("--threads", arguments.threads);
  app.add_option("--device", arguments.device);
  app.add_option("--decoder", arguments.decoder, "of device=\"mixed\"")
      ->check(CLI::IsMember({"auto", "cpu", "nvjpeg"}));
  app.add_option("--seconds", arguments.seconds, "how long each is timed, at least");
  app.add_option("--json", arguments.json, "where to write all figures");
  app.add_flag("--bandwidth", bandwidth, "also a pointwise chain over 1080p pictures");
  app.add_option("--bandwidth-pictures", bandwidth_pictures, "over so many of them")
      ->check(CLI::Range(1, 1 << 20));
  app.add_flag("--start", start, "also what a first start waits for the compilation of each pipeline");
  CLI11_PARSE(app, argc, argv);

  nlohmann::json out = {{"pipelines", nlohmann::json::array()}};
  int status = 0;
  /// One measurement, of which `row` says what it is.
  const auto measure = [&](nlohmann::json row, const auto& function) {
    try {
      function();
    } catch (const std::exception& problem) {
      fmt::print(stderr, "gpu_bench: {}: {}\n", row.dump(), problem.what());
      row["error"] = problem.what();
      out["failed"].push_back(std::move(row));
      status = 1;
    }
    if (arguments.json.empty()) return;
    if (!replace_file(arguments.json, out.dump(2) + "\n")) {
      fmt::print(stderr, "gpu_bench: {} cannot be written\n", arguments.json);
      status = 1;
    }
  };
  std::optional<PipelineBench> opened;
  measure({{"device", arguments.device}}, [&] { opened.emplace(arguments); });
  if (!opened) return status;
  PipelineBench& bench = *opened;
  if (start)
    for (const std::string& pipeline : arguments.pipelines)
      measure({{"start", pipeline}}, [&] {
        const nlohmann::json row = bench.start(pipeline);
        fmt::print("{}: {:.2f} s until its kernels are compiled, {:.2f} s with one text a launch\n", pipeline,
                   row["seconds"].get<double>(), row["seconds_of_one_text_a_launch"].get<double>());
        std::fflush(stdout);
        out["start"].push_back(row);
      });
  for (const std::string& pipeline : arguments.pipelines) {
    for (const int batch_size : arguments.batch_sizes)
      measure({{"pipeline", pipeline}, {"batch_size", batch_size}}, [&] {
        const nlohmann::json row = bench.run(pipeline, batch_size);
        fmt::print(
            "{} batch {} ({:.1f} samples): {:.0f} samples/s, {:.0f} us of the host a batch, {} launches\n",
            pipeline, batch_size, row["samples_per_batch"].get<double>(),
            row["samples_per_second"].get<double>(), row["host_us_per_batch"].get<double>(),
            row["launches_per_batch"].get<double>());
        std::fflush(stdout);
        out["pipelines"].push_back(row);
      });
  }
  if (bandwidth)
    measure({{"bandwidth", "a pointwise chain"}}, [&] {
      out["bandwidth"] = measure_bandwidth(bench.choice(), bandwidth_pictures, arguments.seconds);
      fmt::print("pointwise chain at 1080p: {:.0f} GB/s, {:.2f} of a copy\n",
                 out["bandwidth"]["chain_bytes_per_second"].get<double>() / 1e9,
                 out["bandwidth"]["share"].get<double>());
    });
  return status;
}
