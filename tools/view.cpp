// galatea view FILE -o sheet.png: a contact sheet of what a pipeline makes.
#include <algorithm>
#include <memory>

#include <fmt/core.h>

#include "compiler/look_inside.h"
#include "tools/gather_sheet.h"
#include "tools/interrupt.h"

namespace galatea::tools {
namespace {

struct ViewOptions {
  std::string file, output;
  int samples = 8, draws = 0;
  bool nodes = false, relative = false;
  std::vector<std::string> boxes, points, labels;  ///< NAME=NAME
  std::string box_format = "xyxy";
  PipelineOptions pipeline;
};

std::string check_pair(const std::string& text) {
  const auto equals = text.find('=');
  const bool is_pair = equals != std::string::npos && equals > 0 && equals + 1 < text.size();
  return is_pair ? "" : "`" + text + "` is not of the form NAME=NAME, both outputs of the pipeline";
}

SheetMarks::Pairs pairs_of(const std::vector<std::string>& texts) {
  SheetMarks::Pairs pairs;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    pairs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return pairs;
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
  const SheetMarks marks = {pairs_of(options.boxes), pairs_of(options.points), pairs_of(options.labels),
                            options.box_format, options.relative};
  if (!check_marks(marks, *graph, reporter)) return reporter.status();
  if (options.nodes) add_nodes_as_outputs(*graph, reporter.sources());
  // An unseeded pipeline draws its seed when a program is made; all draws must share one, or the samples
  // would differ too.
  if (graph->options.seed < 0 && options.draws > 0) graph->options.seed = 0;
  ContactSheet sheet;
  if (options.draws == 0) {
    if (!gather(host, *graph, choice, static_cast<size_t>(options.samples), "", sheet, reporter, marks))
      return reporter.status();
  }
  for (int draw = 0; draw < options.draws && !is_interrupted(); ++draw) {
    ir::Graph other = *graph;
    change_draws(other, draw);
    const auto rows = static_cast<size_t>(draw) + 1;
    if (!gather(host, other, choice, rows, fmt::format("draw {}  ", draw), sheet, reporter, marks))
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
  add_option(app, "--boxes", options->boxes,
             {"IMAGE=BOXES", "", "draws an output of boxes on an output; may be given several times",
              "--boxes image=boxes"})
      .one_each()
      .checked(check_pair);
  add_option(app, "--points", options->points,
             {"IMAGE=POINTS", "", "the same of points", "--points image=points"})
      .one_each()
      .checked(check_pair);
  add_option(app, "--labels", options->labels,
             {"BOXES=LABELS", "", "numbers, and colours, of drawn boxes", "--labels boxes=labels"})
      .one_each()
      .checked(check_pair);
  add_option(app, "--box-format", options->box_format,
             {"xyxy|xywh|cxcywh", "xyxy", "what the four numbers of a box are", "--box-format xywh"})
      .one_of({"xyxy", "xywh", "cxcywh"});
  add_flag(app, "--relative", options->relative,
           "boxes and points are fractions of the image, not pixels (example: --relative)");
  add_option(app, "--draws", options->draws,
             {"N", "", "N random draws of the first sample instead", "--draws 6"})
      .between(1, 200);
  add_pipeline_options(app, options->pipeline);
  add_policies_option(app, options->pipeline);
  return {app, [options](Reporter& reporter) { return run(*options, reporter); }};
}

}  // namespace galatea::tools
