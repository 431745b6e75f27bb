#include "tools/serve/preview.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "compiler/look_at_windows.h"
#include "compiler/look_inside.h"
#include "tools/gather_sheet.h"
#include "tools/sample_trace.h"

namespace galatea::tools::serve {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 30;  // of the tensors that one preview keeps

/// The command line's options with what the page has chosen in place of them.
PipelineOptions chosen_options(PipelineOptions options, const Choice& choice) {
  for (const std::string& setting : choice.set) {
    const std::string name = setting.substr(0, setting.find('=') + 1);
    std::erase_if(options.set, [&](const std::string& other) { return other.starts_with(name); });
    options.set.push_back(setting);
  }
  if (choice.seed) options.seed = choice.seed;
  options.batch_size = std::min(choice.samples, 8);
  options.prefetch = 1;
  // One sample that fails is a row that says so, whatever becomes of it in a real run.
  options.on_error = "skip";
  return options;
}

int64_t bytes_of(const PreviewRow& row) {
  int64_t bytes = 0;
  for (const runtime::Tensor& tensor : row.values) bytes += tensor.num_bytes();
  for (const SheetCell& cell : row.cells)
    if (cell.picture) bytes += static_cast<int64_t>(cell.picture->bytes.size());
  return bytes;
}

Diagnostic too_slow() {
  Diagnostic diagnostic;
  diagnostic.message = "the samples did not come in time";
  diagnostic.help = "ask for fewer samples, or for earlier ones";
  return diagnostic;
}

/// Gives every batch to `take` until it says that there are enough, the epoch ends, or patience does.
void for_each_batch(runtime::Session& session, const Patience& patience, Reporter& reporter,
                    const std::function<bool(const runtime::Batch&)>& take) {
  while (!patience.is_over()) {
    auto next = session.next(std::chrono::milliseconds(20));
    if (!next) {
      if (!next.error().diagnostics.empty() && next.error().diagnostics[0].code == "G0901") continue;
      reporter.report(next.error());
      return;
    }
    if (!next->has_value() || !take(***next)) return;
  }
  if (!patience.is_ended()) reporter.report(too_slow());
}

class Maker {
 public:
  Maker(const PipelineHost& host, const Choice& choice, const Patience& patience)
      : host_(host), patience_(patience), preview_(std::make_shared<Preview>()) {
    preview_->choice = choice;
    reporter_.use_json(true);
  }

  std::shared_ptr<const Preview> make(const std::string& file, const PipelineOptions& options) {
    make_rows(file, options);
    Preview& preview = *preview_;
    preview.diagnostics = reporter_.take_collected();
    preview.sources.add_all(reporter_.sources());
    for (uint32_t id = 1; const SourceFile* source = preview.sources.file(id); ++id)
      preview.files.push_back(source->name());
    return preview_;
  }

 private:
  void make_rows(const std::string& file, const PipelineOptions& options) {
    PipelineOptions& chosen = preview_->options = chosen_options(options, preview_->choice);
    chosen.cancelled = &patience_.flag();
    compile_choice_.outputs_on_cpu = true;
    if (!host_.choose_device(chosen, compile_choice_, reporter_)) return;
    std::unique_ptr<ir::Graph> graph = host_.stage(file, chosen, reporter_);
    if (!graph || patience_.is_over()) return;
    if (graph->options.seed < 0) graph->options.seed = 0;  // one for all pictures of an unseeded pipeline
    change_draws(*graph, preview_->choice.draw);
    preview_->graph = std::make_unique<ir::Graph>(*graph);
    run(std::move(*graph));
  }

  /// All that is looked at becomes an output: pictures on the way, the pipeline's outputs, selectors.
  void choose_outputs(ir::Graph& graph) {
    const size_t own = graph.block(graph.exit_block()).terminator.results.size();
    add_nodes_as_outputs(graph, reporter_.sources());
    std::vector<ir::ValueId>& results = graph.blocks[graph.exit_block()].terminator.results;
    for (size_t k = 0; k < results.size(); ++k) {
      const bool is_output = k + own >= results.size();
      const std::string& name = graph.output_names[k];
      preview_->columns.push_back({name.empty() ? fmt::format("output {}", k + own - results.size()) : name,
                                   graph.type(results[k]), is_output});
    }
    preview_->branches = branches(graph);
    const op::Operator* constant = host_.registry().find("constant");
    GALATEA_CHECK(constant != nullptr, "selectors are carried out with the operator `constant`");
    Carrier carrier(graph, *constant);
    for (const ir::BlockId branch : preview_->branches) {
      results.push_back(carrier.at_exit(graph.block(branch).terminator.selector, branch));
      graph.output_names.emplace_back();
    }
  }

  void run(ir::Graph graph) {
    choose_outputs(graph);
    const auto program = host_.compile(graph, compile_choice_, nullptr, reporter_);
    if (!program || patience_.is_over()) return;
    const auto session =
        host_.open(program, nullptr, reporter_, {}, [this](const runtime::SampleFailure& failure, bool) {
          if (wants_more() && failure.position >= preview_->choice.first) add_failure(failure);
        });
    if (!session) return;
    for_each_batch(*session, patience_, reporter_, [this](const runtime::Batch& batch) {
      for (size_t i = 0; i < batch.sample_ids.size() && wants_more(); ++i) {
        if (num_passed_++ < preview_->choice.first) continue;
        add_row(batch, i);
      }
      return wants_more();
    });
  }

  bool wants_more() const {
    return !preview_->is_cut && preview_->rows.size() < static_cast<size_t>(preview_->choice.samples);
  }

  void add_failure(const runtime::SampleFailure& failure) {
    PreviewRow row;
    row.number = failure.position;
    row.name = failure.source;
    row.failure = render_text(failure.diagnostic, reporter_.sources());
    preview_->rows.push_back(std::move(row));
  }

  void add_row(const runtime::Batch& batch, size_t at) {
    PreviewRow row;
    row.number = batch.sample_ids[at];
    if (at < batch.sample_names.size()) row.name = batch.sample_names[at];
    const size_t columns = preview_->columns.size();
    for (size_t k = 0; k < batch.outputs.size(); ++k) {
      const runtime::Tensor& tensor = batch.outputs[k].samples[at];
      if (k < columns)
        row.values.push_back(tensor);
      else
        row.selectors.push_back(numbers_of(tensor).at(0));
    }
    for (size_t k = 0; k < columns; ++k)
      row.cells.push_back(cell_of(row.values[k], preview_->columns[k].type.layout));
    num_bytes_ += bytes_of(row);
    preview_->is_cut = num_bytes_ > kMostBytes;
    if (!preview_->is_cut || preview_->rows.empty()) preview_->rows.push_back(std::move(row));
  }

  const PipelineHost& host_;
  const Patience& patience_;
  std::shared_ptr<Preview> preview_;
  Reporter reporter_;
  CompileChoice compile_choice_;
  int num_passed_ = 0;
  int64_t num_bytes_ = 0;
};

}  // namespace

bool Preview::has_errors() const {
  return std::ranges::any_of(diagnostics, [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

std::shared_ptr<const Preview> make_preview(const PipelineHost& host, const std::string& file,
                                            const PipelineOptions& options, const Choice& choice,
                                            const Patience& patience) {
  return Maker(host, choice, patience).make(file, options);
}

namespace {

/// Of the samples that the preview shows. What cannot be said is left out: the pictures are there without it.
std::vector<DecodedWindow> windows_of(const PipelineHost& host, const Preview& preview,
                                      const ir::Graph& after_passes, CompileChoice choice,
                                      const Patience& patience) {
  WindowGraph windows = windows_as_outputs(after_passes);
  std::vector<DecodedWindow> found;
  if (windows.calls.empty()) return found;
  Reporter ignored;
  ignored.use_json(true);
  ignored.sources().add_all(preview.sources);
  choice.passes = false;
  const auto program = host.compile(windows.graph, choice, nullptr, ignored);
  const auto session = program ? host.open(program, nullptr, ignored) : nullptr;
  if (!session) return found;
  const int64_t last = preview.rows.empty() ? -1 : preview.rows.back().number;
  for_each_batch(*session, patience, ignored, [&](const runtime::Batch& batch) {
    for (size_t i = 0; i < batch.sample_ids.size(); ++i)
      for (size_t k = 0; k < windows.calls.size(); ++k)
        found.push_back({batch.sample_ids[i], windows.calls[k], numbers_of(batch.outputs[k].samples[i])});
    return batch.sample_ids.empty() || batch.sample_ids.back() != last;
  });
  std::erase_if(found, [&](const DecodedWindow& window) {
    return std::ranges::find(preview.rows, window.sample, &PreviewRow::number) == preview.rows.end();
  });
  return found;
}

}  // namespace

Measurement measure(const PipelineHost& host, const Preview& preview, const Patience& patience) {
  Measurement measurement;
  Reporter reporter;
  reporter.use_json(true);
  reporter.sources().add_all(preview.sources);
  PipelineOptions options = preview.options;
  CompileChoice choice;
  choice.outputs_on_cpu = true;
  const auto run = [&] {
    if (!host.choose_device(options, choice, reporter)) return;
    const auto program = host.compile(*preview.graph, choice, nullptr, reporter, &measurement.report);
    if (!program || patience.is_over()) return;
    const auto session = host.open(program, nullptr, reporter);
    if (!session) return;
    int num_samples = 0;
    for_each_batch(*session, patience, reporter, [&](const runtime::Batch& batch) {
      num_samples += batch.num_samples();
      return num_samples < preview.choice.samples;
    });
    measurement.statistics = session->statistics();
    if (!patience.is_over())
      measurement.windows = windows_of(host, preview, *measurement.report.graph, choice, patience);
  };
  if (preview.graph) run();
  measurement.diagnostics = reporter.take_collected();
  return measurement;
}

RowTrace trace_row(const PipelineHost& host, const Preview& preview, const PreviewRow& row) {
  Reporter reporter;
  reporter.use_json(true);
  reporter.sources().add_all(preview.sources);
  RowTrace out;
  const auto trace = trace_sample(host, *preview.graph, CompileChoice{}, {row.number, ""}, reporter);
  if (trace) out.text = trace_text(*trace);
  out.diagnostics = reporter.take_collected();
  return out;
}

}  // namespace galatea::tools::serve
