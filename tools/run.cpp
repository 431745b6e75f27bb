// galatea run FILE: runs a pipeline over its data; saves, traces and summarises on request.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>

#include <fmt/core.h>

#include "runtime/code_upgrade.h"
#include "tools/interrupt.h"
#include "tools/pipeline_host.h"
#include "tools/process_clock.h"
#include "tools/progress.h"
#include "tools/save.h"
#include "tools/save_film.h"
#include "tools/say.h"
#include "tools/summary.h"

namespace galatea::tools {
namespace fs = std::filesystem;
namespace {

struct RunOptions {
  std::string file, save, format = "npy", stats, trace, fuse, cuda_graphs = "on";
  std::optional<int64_t> epochs, batches, rate;
  PipelineOptions pipeline;
  CompileChoice compile;
};

/// Writes the outputs of delivered samples, numbered from 0.
class SampleWriter {
 public:
  /// `origins`: of pipelines with several policies; else empty.
  SampleWriter(std::string folder, FileFormat format, std::optional<int64_t> rate,
               std::vector<dsl::OutputOrigin> origins)
      : folder_(std::move(folder)), format_(format), rate_(rate), origins_(std::move(origins)) {}
  Status write(const runtime::Batch& batch);

 private:
  Result<std::pair<std::vector<uint8_t>, const char*>> encode(const runtime::Tensor& tensor,
                                                              const Layout& layout) const;
  fs::path folder_of(size_t output) const;

  fs::path folder_;
  FileFormat format_;
  std::optional<int64_t> rate_;  ///< frames a second of sound or of films
  std::vector<dsl::OutputOrigin> origins_;
  int64_t next_ = 0;
};

fs::path SampleWriter::folder_of(size_t output) const {
  if (origins_.empty()) return folder_ / fmt::format("out{}", output);
  const dsl::OutputOrigin& origin = origins_[output];
  return folder_ / origin.policy / fmt::format("out{}", origin.index);
}

Result<std::pair<std::vector<uint8_t>, const char*>> SampleWriter::encode(const runtime::Tensor& tensor,
                                                                          const Layout& layout) const {
  constexpr int64_t kSoundRate = 16000, kFilmRate = 30;
  // What is neither a picture or clip of bytes nor sound keeps its values: .npy, whatever the format.
  if (format_ == FileFormat::kWav) {
    if (auto bytes = to_wav(tensor, layout, static_cast<uint32_t>(rate_.value_or(kSoundRate))))
      return std::pair{std::move(*bytes), "wav"};
  } else if (format_ == FileFormat::kMp4) {
    GALATEA_ASSIGN(auto bytes, to_mp4(tensor, layout, static_cast<int32_t>(rate_.value_or(kFilmRate))));
    if (bytes) return std::pair{std::move(*bytes), "mp4"};
  } else if (format_ != FileFormat::kNpy) {
    if (auto pixels = to_pixels(tensor, layout, false)) {
      const bool png = format_ == FileFormat::kPng;
      GALATEA_ASSIGN(auto bytes, png ? to_png(*pixels) : to_jpg(*pixels));
      return std::pair{std::move(bytes), png ? "png" : "jpg"};
    }
  }
  return std::pair{to_npy(tensor), "npy"};
}

Status SampleWriter::write(const runtime::Batch& batch) {
  for (int i = 0; i < batch.num_samples(); ++i, ++next_) {
    for (size_t k = 0; k < batch.outputs.size(); ++k) {
      const fs::path folder = folder_of(k);
      if (next_ == 0) GALATEA_TRY(make_folder(folder));
      const runtime::Batch::Output& output = batch.outputs[k];
      GALATEA_ASSIGN(auto file, encode(output.samples[static_cast<size_t>(i)], output.spec.port.layout()));
      GALATEA_TRY(write_file(folder / fmt::format("{:06}.{}", next_, file.second), file.first));
    }
  }
  return {};
}

/// In traces: threads that compile beside the run, behind any that the run may have.
constexpr uint32_t kFirstBackgroundThread = 10'000;

struct Progressed {
  int64_t samples = 0, batches = 0;
  std::string stopped;
};

/// What one session makes: all of it, or one GPU's part.
struct Part {
  std::unique_ptr<runtime::Session> session;
  std::optional<SampleWriter> writer;  ///< with --save
  int64_t epochs_left = 0, batches_of_epoch = 0, samples = 0, batches = 0;
};

/// How many samples the run will deliver, -1 if unknown.
int64_t expected_samples(const RunOptions& options, const std::vector<Part>& parts, int batch_size) {
  int64_t epoch = 0;
  for (const Part& part : parts) {
    const int64_t own = part.session->epoch_size();
    if (own < 0) return -1;
    epoch += own;
  }
  if (options.batches)
    return *options.batches * batch_size;  // an upper bound: an epoch's last batch may be smaller
  return epoch * options.epochs.value_or(1);
}

/// Takes batches, of several sessions in turn, until the run is over, something fails, or the user
/// interrupts.
Progressed deliver(const RunOptions& options, std::vector<Part>& parts, int batch_size, Reporter& reporter) {
  const OrderlyEnd orderly;
  Progress progress(expected_samples(options, parts, batch_size), is_terminal(STDERR_FILENO));
  Progressed done;
  for (Part& part : parts) part.epochs_left = options.batches ? INT64_MAX : options.epochs.value_or(1);
  const auto is_over = [](const Part& part) { return part.epochs_left == 0; };
  size_t turn = 0;
  while (!std::ranges::all_of(parts, is_over) && (!options.batches || done.batches < *options.batches)) {
    if (is_interrupted()) {
      done.stopped = "interrupted";
      break;
    }
    Part& part = parts[turn % parts.size()];
    if (is_over(part)) {
      ++turn;
      continue;
    }
    auto next = part.session->next(std::chrono::milliseconds(100));
    if (!next) {
      if (!next.error().diagnostics.empty() && next.error().diagnostics[0].code == "G0901") {  // nothing yet
        progress.update(done.samples);
        continue;
      }
      progress.clear();
      reporter.report(next.error());
      done.stopped = "by an error";
      break;
    }
    if (!next->has_value()) {  // the end of an epoch
      part.epochs_left = part.batches_of_epoch == 0 ? 0 : part.epochs_left - 1;
      part.batches_of_epoch = 0;
      continue;
    }
    const runtime::Batch& batch = ***next;
    if (part.writer) {
      if (auto written = part.writer->write(batch); !written) {
        progress.clear();
        reporter.report(written.error());
        done.stopped = "by an error";
        break;
      }
    }
    ++turn, ++done.batches, ++part.batches, ++part.batches_of_epoch;
    part.samples += batch.num_samples();
    done.samples += batch.num_samples();
    progress.update(done.samples);
  }
  return done;
}

void report_failures(const std::vector<runtime::SampleFailure>& failures, const char* what,
                     Reporter& reporter) {
  for (const runtime::SampleFailure& failure : failures) {
    Diagnostic diagnostic = failure.diagnostic;
    diagnostic.severity = Severity::kWarning;
    diagnostic.notes.push_back(fmt::format("`{}` was {}", failure.source, what));
    reporter.report(std::move(diagnostic));
  }
}

/// What is said of code that was replaced, or could not be.
void finish_code(const runtime::Program& program, RunSummary& summary, Trace* trace, Reporter& reporter) {
  const int64_t now_ns = trace != nullptr ? trace->now_ns() : 0;
  const auto now = std::chrono::steady_clock::now();
  const auto ns = [](auto duration) {
    return static_cast<int64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
  };
  for (const auto& upgrade : runtime::upgrades_of(program)) {
    upgrade->finish(summary.stopped == "interrupted");
    const runtime::UpgradeReport report = upgrade->report();
    for (const runtime::BackgroundCompilation& one : report.compilations) {
      summary.background_seconds += std::chrono::duration<double>(one.end - one.begin).count();
      if (trace == nullptr) continue;
      trace->add({"best code of " + one.kernel, "compile",
                  kFirstBackgroundThread + static_cast<uint32_t>(one.thread), now_ns + ns(one.begin - now),
                  ns(one.end - one.begin), ""});
    }
    for (const std::string& problem : report.problems) {
      Diagnostic diagnostic;
      diagnostic.severity = Severity::kNote;
      diagnostic.message = problem;
      reporter.report(std::move(diagnostic));
    }
  }
  const runtime::TierCount tiers = runtime::count_tiers(program);
  summary.first_tier = tiers.first_tier;
  summary.replaced = tiers.first_tier - tiers.left;
}

void write_traces(const std::string& file, std::span<const NamedTrace> traces, Reporter& reporter) {
  const std::string text = trace_json(traces);
  if (auto written = write_file(file, {text.begin(), text.end()}); !written) reporter.report(written.error());
}

/// One session, or one a GPU of those named, each over its shard. Empty: there were errors. Where there is a
/// trace, each of several GPUs gets one beside it.
std::vector<Part> open_parts(const PipelineHost& host, const RunOptions& options,
                             const std::shared_ptr<const runtime::Program>& program,
                             const std::vector<dsl::OutputOrigin>& origins, std::vector<NamedTrace>& traces,
                             Reporter& reporter) {
  const FileFormat format = options.format == "png"   ? FileFormat::kPng
                            : options.format == "jpg" ? FileFormat::kJpg
                            : options.format == "wav" ? FileFormat::kWav
                            : options.format == "mp4" ? FileFormat::kMp4
                                                      : FileFormat::kNpy;
  const std::vector<int>& gpus = options.pipeline.gpus;
  runtime::DeviceOptions device;
  device.graphs = options.cuda_graphs == "on";
  std::vector<Part> parts(std::max<size_t>(gpus.size(), 1));
  for (size_t k = 0; k < parts.size(); ++k) {
    fs::path folder = options.save;
    if (!gpus.empty()) {
      device.number = gpus[k];
      folder /= fmt::format("gpu{}", gpus[k]);
    }
    const runtime::SessionShard shard{static_cast<int>(k), static_cast<int>(parts.size())};
    if (!traces.empty() && gpus.size() > 1)
      traces.push_back({fmt::format("GPU {}", gpus[k]), std::make_unique<Trace>(*traces.front().trace)});
    Trace* const trace = traces.empty() ? nullptr : traces.back().trace.get();
    parts[k].session = host.open(program, trace, reporter, device, {}, shard);
    if (parts[k].session == nullptr) return {};
    if (!options.save.empty()) parts[k].writer.emplace(folder.string(), format, options.rate, origins);
  }
  return parts;
}

int run(RunOptions options, Reporter& reporter) {
  const PipelineHost host;
  options.compile.outputs_on_cpu = !options.save.empty();
  if (!host.choose_device(options.pipeline, options.compile, reporter)) return reporter.status();
  std::vector<NamedTrace> traces;
  if (!options.trace.empty())
    traces.push_back({options.pipeline.gpus.size() > 1 ? "galatea" : "", std::make_unique<Trace>()});
  Trace* const trace = traces.empty() ? nullptr : traces.front().trace.get();
  std::unique_ptr<ir::Graph> graph;
  std::vector<dsl::OutputOrigin> origins;
  {
    TraceScope scope(trace, "stage", "compile");
    graph = host.stage(options.file, options.pipeline, reporter, &origins);
  }
  if (graph == nullptr) return reporter.status();
  auto program = host.compile(*graph, options.compile, trace, reporter);
  if (program == nullptr) return reporter.status();
  std::vector<Part> parts = open_parts(host, options, program, origins, traces, reporter);
  if (parts.empty()) return reporter.status();

  const double startup = seconds_since_process_start();
  Progressed done = deliver(options, parts, program->batch_size, reporter);
  RunSummary summary;
  std::vector<runtime::SessionStatistics> statistics;
  for (const Part& part : parts) {
    statistics.push_back(part.session->statistics());
    statistics.back().samples = part.samples;
    statistics.back().batches = part.batches;
  }
  if (parts.size() > 1) summary.parts = statistics;
  summary.statistics = together(std::move(statistics));
  summary.startup_seconds = startup;
  summary.kernels_compiled = program->kernels_compiled;
  summary.kernels_cached = program->kernels_cached;
  summary.seed = program->seed;
  summary.stopped = done.stopped;
  report_failures(summary.statistics.skipped, "skipped", reporter);
  report_failures(summary.statistics.replaced, "replaced", reporter);
  parts.clear();
  finish_code(*program, summary, trace, reporter);
  if (trace != nullptr) write_traces(options.trace, traces, reporter);
  if (done.stopped == "interrupted") {
    say("galatea: interrupted after {} samples in {} batches\n", done.samples, done.batches);
  }
  if (options.stats == "json") reporter.print(summary_json(summary));
  if (options.stats == "text") reporter.print(summary_text(summary));
  return done.stopped == "interrupted" ? static_cast<int>(kInterrupted) : reporter.status();
}

}  // namespace

Command add_run(CLI::App& parent) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* app = add_subcommand(parent, "run", "Runs a pipeline over its data");
  add_option(app, "file", options->file, {"FILE", "", "a pipeline file", "train.dali-dsl"}).required();
  add_pipeline_options(app, options->pipeline, true);
  add_policies_option(app, options->pipeline);
  const Option epochs =
      add_option(app, "--epochs", options->epochs, {"N", "1", "passes over the data", "--epochs 3"})
          .between(int64_t{1}, int64_t{1} << 40);
  add_option(app, "--batches", options->batches,
             {"N", "", "stop after N batches, however many epochs that takes", "--batches 100"})
      .between(int64_t{1}, int64_t{1} << 40)
      .not_with(epochs);
  add_option(app, "--save", options->save,
             {"DIR", "",
              "write output k of every sample as DIR/out<k>/NNNNNN.npy, with --policies what depends on them "
              "as DIR/POLICY/out<k>/NNNNNN.npy, of several GPUs below DIR/gpu<N>",
              "--save out"})
      .not_empty();
  add_option(
      app, "--format", options->format,
      {"npy|png|jpg|wav|mp4", "npy",
       "for --save: png or jpg for outputs that are pictures of bytes, wav for those that are sound, mp4 for clips "
       "of bytes, .npy for the others",
       "--format png"})
      .one_of({"npy", "png", "jpg", "wav", "mp4"});
  add_option(
      app, "--rate", options->rate,
      {"HZ", "", "how many frames a second files have: 16000 for --format wav, 30 for mp4 unless given",
       "--rate 22050"})
      .between(int64_t{1}, int64_t{1} << 24);
  add_option(app, "--stats", options->stats,
             {"text|json", "", "end with a summary on stdout", "--stats json"})
      .one_of({"text", "json"});
  add_option(app, "--trace", options->trace,
             {"FILE", "",
              "write a Chrome trace (chrome://tracing, Perfetto); each of several GPUs is a process of it",
              "--trace run.json"})
      .not_empty();
  add_option(
      app, "--cuda-graphs", options->cuda_graphs,
      {"on|off", "on", "on a GPU: what comes again goes to the driver as one graph", "--cuda-graphs off"})
      .one_of({"on", "off"});
  add_compile_options(app, options->compile, options->fuse);
  return {app, [options](Reporter& reporter) { return run(*options, reporter); }};
}

}  // namespace galatea::tools
