// galatea view FILE -o sheet.png: a contact sheet of what a pipeline makes.
#include <algorithm>
#include <memory>

#include <fmt/core.h>

#include "compiler/op/schema.h"
#include "tools/contact_sheet.h"
#include "tools/interrupt.h"
#include "tools/pipeline_host.h"

namespace galatea::tools {
namespace {

struct Options {
  std::string file, output;
  int samples = 8, draws = 0;
  bool nodes = false;
  PipelineOptions pipeline;
};

bool is_image(const ir::Type& type) {
  if (type.layout.empty()) return type.ndim == 3 && type.dtype == DType::kU8;
  return type.layout.find('H') >= 0 && type.layout.find('W') >= 0 && type.ndim <= 3;
}

/// Adds every image-valued node that all samples pass through to the outputs, before the pipeline's own.
void add_nodes_as_outputs(ir::Graph& graph, const SourceMap& sources) {
  const ir::BlockId exit = graph.exit_block();
  ir::Terminator& end = graph.blocks[exit].terminator;
  std::vector<ir::ValueId> results;
  std::vector<std::string> names;
  for (ir::ValueId id = 0; id < graph.values.size(); ++id) {
    const ir::Value& value = graph.value(id);
    const ir::Node* node = graph.defining_node(id);
    if (node != nullptr && (node->op == nullptr || node->span.file == 0)) continue;
    const ir::BlockId block = node != nullptr ? node->block : value.block;
    if (value.variable.empty() || !is_image(value.type) || !graph.dominates(block, exit)) continue;
    if (std::find(end.results.begin(), end.results.end(), id) != end.results.end()) continue;
    std::string name = value.variable;
    if (node != nullptr) {
      const SourceFile* file = sources.file(node->span.file);
      name += fmt::format(" = {}, line {}", op::shown_name(*node),
                          file ? file->position(node->span.begin).line : 0);
    }
    results.push_back(id);
    names.push_back(std::move(name));
  }
  // The pipeline's outputs follow; they may lack names.
  graph.output_names.resize(end.results.size());
  results.insert(results.end(), end.results.begin(), end.results.end());
  names.insert(names.end(), graph.output_names.begin(), graph.output_names.end());
  end.results = std::move(results);
  graph.output_names = std::move(names);
}

/// Other random values for the same samples: new keys for what draws, the reader's order as it was.
void change_draws(ir::Graph& graph, int draw) {
  for (ir::Node& node : graph.nodes) {
    if (node.op == nullptr || !node.op->random || node.op->source) continue;
    node.key ^= static_cast<uint64_t>(draw) * 0x9E3779B97F4A7C15u;
  }
}

std::string elements_text(const runtime::Tensor& tensor) {
  constexpr int64_t kShown = 48;
  const int64_t count = tensor.volume();
  std::string text;
  int64_t index[runtime::kMaxRank] = {};
  for (int64_t n = 0; n < std::min(count, kShown); ++n) {
    int64_t offset = 0;
    for (int d = 0; d < tensor.ndim; ++d) offset += index[d] * tensor.strides[d];
    const Cell cell = load_cell(tensor.dtype, tensor.data + offset * size_of(tensor.dtype));
    if (n > 0) text += ' ';
    text += is_float(tensor.dtype) ? fmt::format("{:.4g}", cell_to_double(tensor.dtype, cell))
                                   : fmt::format("{}", cell_to_int(tensor.dtype, cell));
    for (int d = tensor.ndim - 1; d >= 0 && ++index[d] == tensor.extents[d]; --d) index[d] = 0;
  }
  if (count > kShown) text += " ...";
  return count == 0 ? "(empty)" : text;
}

std::string caption_of(const runtime::Tensor& tensor, const Layout& layout) {
  std::string extents;
  for (int d = 0; d < tensor.ndim; ++d) extents += fmt::format("{}{}", d > 0 ? "x" : "", tensor.extents[d]);
  return fmt::format("{} {}{}{}", short_name(tensor.dtype), tensor.ndim == 0 ? "scalar" : extents,
                     layout.empty() ? "" : " ", layout.str());
}

SheetCell cell_of(const runtime::Tensor& tensor, const Layout& layout) {
  SheetCell cell;
  // Without a layout only bytes are taken for a picture: a small matrix is easier to read as numbers.
  const bool may_be_picture = !layout.empty() || (tensor.ndim == 3 && tensor.dtype == DType::kU8);
  if (may_be_picture) cell.picture = to_pixels(tensor, layout, true);
  if (!cell.picture) cell.text = elements_text(tensor);
  cell.caption = caption_of(tensor, layout);
  return cell;
}

void add_batch(const runtime::Batch& batch, size_t limit, const std::string& label, ContactSheet& sheet) {
  if (sheet.column_labels.empty()) {
    for (size_t k = 0; k < batch.outputs.size(); ++k) {
      const std::string& name = batch.outputs[k].spec.name;
      sheet.column_labels.push_back(name.empty() ? fmt::format("output {}", k) : name);
    }
  }
  for (int i = 0; i < batch.num_samples() && sheet.rows.size() < limit; ++i) {
    const auto at = static_cast<size_t>(i);
    std::vector<SheetCell> row;
    for (const runtime::Batch::Output& output : batch.outputs)
      row.push_back(cell_of(output.samples[at], output.spec.layout));
    sheet.rows.push_back(std::move(row));
    std::string name = at < batch.sample_names.size() ? batch.sample_names[at] : "";
    sheet.row_labels.push_back(fmt::format("{}sample {}  {}", label, batch.sample_ids[at], name));
  }
}

/// Runs the graph until the sheet has `limit` rows or the epoch ends. False: an error was reported.
bool gather(const PipelineHost& host, const ir::Graph& graph, size_t limit, const std::string& label,
            ContactSheet& sheet, Reporter& reporter) {
  auto program = host.compile(graph, {}, nullptr, reporter);
  if (program == nullptr) return false;
  auto session = host.open(program, nullptr, reporter);
  if (session == nullptr) return false;
  while (sheet.rows.size() < limit && !is_interrupted()) {
    auto next = session->next(std::chrono::milliseconds(100));
    if (!next) {
      if (!next.error().diagnostics.empty() && next.error().diagnostics[0].code == "G0901") continue;
      reporter.report(next.error());
      return false;
    }
    if (!next->has_value()) break;
    add_batch(***next, limit, label, sheet);
  }
  return true;
}

int run(Options options, Reporter& reporter) {
  const PipelineHost host;
  if (!host.device_is_here(options.pipeline, reporter)) return reporter.status();
  // No more is made than is shown; a sample does not depend on the batch that it comes in.
  if (!options.pipeline.batch_size)
    options.pipeline.batch_size = options.draws > 0 ? 1 : std::min(options.samples, 8);
  if (!options.pipeline.prefetch) options.pipeline.prefetch = 1;
  std::unique_ptr<ir::Graph> graph = host.stage(options.file, options.pipeline, reporter);
  if (graph == nullptr) return reporter.status();
  if (options.nodes) add_nodes_as_outputs(*graph, reporter.sources());
  // An unseeded pipeline draws its seed when a program is made; all draws must share one, or the samples
  // would differ too.
  if (graph->options.seed < 0 && options.draws > 0) graph->options.seed = 0;
  ContactSheet sheet;
  const OrderlyEnd orderly;
  if (options.draws == 0) {
    if (!gather(host, *graph, static_cast<size_t>(options.samples), "", sheet, reporter))
      return reporter.status();
  }
  for (int draw = 0; draw < options.draws && !is_interrupted(); ++draw) {
    ir::Graph other = *graph;
    change_draws(other, draw);
    const auto rows = static_cast<size_t>(draw) + 1;
    if (!gather(host, other, rows, fmt::format("draw {}  ", draw), sheet, reporter)) return reporter.status();
  }
  if (is_interrupted()) {
    fmt::print(stderr, "galatea: interrupted after {} samples; no sheet was written\n", sheet.rows.size());
    return kInterrupted;
  }
  auto png = to_png(draw(sheet));
  if (!png) {
    reporter.report(png.error());
  } else if (auto written = write_file(options.output, *png); !written) {
    reporter.report(written.error());
  } else {
    reporter.print(options.output + "\n");
  }
  return reporter.status();
}

}  // namespace

Command add_view(CLI::App& parent) {
  auto options = std::make_shared<Options>();
  CLI::App* app = parent.add_subcommand("view", "Draws a contact sheet: samples in rows, outputs in columns");
  add_option(app, "file", options->file, {"FILE", "", "a pipeline file", "train.dali-dsl"})->required();
  add_option(app, "-o,--output", options->output, {"PNG", "", "where the sheet goes", "-o sheet.png"})
      ->required();
  add_option(app, "--samples", options->samples, {"N", "8", "how many samples", "--samples 4"})
      ->check(CLI::Range(1, 200).description(""));
  app->add_flag("--nodes", options->nodes,
                "a column for every image on the way, by variable name (example: --nodes)");
  add_option(app, "--draws", options->draws,
             {"N", "", "N random draws of the first sample instead", "--draws 6"})
      ->check(CLI::Range(1, 200).description(""));
  add_pipeline_options(app, options->pipeline);
  return {app, [options](Reporter& reporter) { return run(*options, reporter); }};
}

}  // namespace galatea::tools
