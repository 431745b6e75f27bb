// galatea view FILE -o sheet.png: a contact sheet of what a pipeline makes.
#include <algorithm>
#include <memory>

#include <fmt/core.h>

#include "compiler/op/schema.h"
#include "tools/gather_sheet.h"
#include "tools/interrupt.h"

namespace galatea::tools {
namespace {

struct ViewOptions {
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

int run(ViewOptions options, Reporter& reporter) {
  const PipelineHost host;
  CompileChoice choice;
  choice.outputs_on_cpu = true;
  if (!host.choose_device(options.pipeline, choice, reporter)) return reporter.status();
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
  if (options.draws == 0) {
    if (!gather(host, *graph, choice, static_cast<size_t>(options.samples), "", sheet, reporter))
      return reporter.status();
  }
  for (int draw = 0; draw < options.draws && !is_interrupted(); ++draw) {
    ir::Graph other = *graph;
    change_draws(other, draw);
    const auto rows = static_cast<size_t>(draw) + 1;
    if (!gather(host, other, choice, rows, fmt::format("draw {}  ", draw), sheet, reporter))
      return reporter.status();
  }
  return finish_sheet(sheet, options.output, reporter);
}

}  // namespace

Command add_view(CLI::App& parent) {
  auto options = std::make_shared<ViewOptions>();
  CLI::App* app =
      add_subcommand(parent, "view", "Draws a contact sheet: samples in rows, outputs in columns");
  add_option(app, "file", options->file, {"FILE", "", "a pipeline file", "train.dali-dsl"}).required();
  add_option(app, "-o,--output", options->output, {"PNG", "", "where the sheet goes", "-o sheet.png"})
      .required()
      .png();
  add_option(app, "--samples", options->samples, {"N", "8", "how many samples", "--samples 4"})
      .between(1, 200);
  add_flag(app, "--nodes", options->nodes,
           "a column for every image on the way, by variable name (example: --nodes)");
  add_option(app, "--draws", options->draws,
             {"N", "", "N random draws of the first sample instead", "--draws 6"})
      .between(1, 200);
  add_pipeline_options(app, options->pipeline);
  add_policies_option(app, options->pipeline);
  return {app, [options](Reporter& reporter) { return run(*options, reporter); }};
}

}  // namespace galatea::tools
