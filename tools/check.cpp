// galatea check FILE|FOLDER…: parses, stages and type-checks every pipeline; reads no data.
#include <algorithm>
#include <memory>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "compiler/check_graph.h"
#include "compiler/shape/graph_shapes.h"
#include "tools/pipeline_files.h"
#include "tools/pipeline_host.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  PipelineOptions pipeline;
};

std::string outputs_of(const ir::Graph& graph, const shape::GraphShapes& shapes) {
  std::vector<std::string> outputs;
  const ir::Terminator& end = graph.block(graph.exit_block()).terminator;
  for (size_t i = 0; i < end.results.size(); ++i) {
    std::string name = i < graph.output_names.size() ? graph.output_names[i] : "";
    outputs.push_back((name.empty() ? "" : name + " ") + shapes.type_text(end.results[i]));
  }
  return fmt::format("{}", fmt::join(outputs, ", "));
}

/// False: it is wrong.
bool check_file(const std::string& file, const CheckOptions& options, const PipelineHost& host,
                Reporter& reporter, std::string& text) {
  dsl::FrontendOptions frontend = PipelineHost::frontend_options(options.pipeline);
  frontend.unknown_parameters_allowed = true;
  dsl::FrontendResult result =
      options.pipeline.pipeline.empty()
          ? dsl::stage_all(file, {}, frontend, host.registry(), reporter.sources())
          : dsl::stage_pipeline(file, {}, frontend, host.registry(), reporter.sources());
  std::string outputs;
  for (const auto& graph : result.graphs) {
    shape::GraphShapes shapes(*graph);
    for (Diagnostic& diagnostic : check_graph(*graph, shapes)) {
      if (diagnostic.severity == Severity::kError) result.ok = false;
      result.diagnostics.push_back(std::move(diagnostic));
    }
    outputs += fmt::format("  {} -> {}\n", graph->name, outputs_of(*graph, shapes));
  }
  for (const dsl::LatePipeline& late : result.late) {
    std::vector<std::string> names;
    for (const auto& input : late.inputs)
      if (input.is_open()) names.push_back("`" + input.name + "`");
    outputs += fmt::format("  {} -> known when {} is fed\n", late.name, fmt::join(names, ", "));
  }
  const auto errors = std::count_if(result.diagnostics.begin(), result.diagnostics.end(),
                                    [](const Diagnostic& d) { return d.severity == Severity::kError; });
  reporter.report(std::move(result.diagnostics));
  if (!result.ok) {
    reporter.raise_status(kWrong);
    text += fmt::format("{}: {} error{}\n", file, errors, errors == 1 ? "" : "s");
    return false;
  }
  text += fmt::format("{}: fine\n{}", file, outputs);
  return true;
}

int run(const CheckOptions& options, Reporter& reporter) {
  const PipelineHost host;
  std::string text;
  const PipelineFiles named = pipeline_files(options.files);
  for (const Error& error : named.errors) reporter.report(error);
  size_t wrong = 0;
  for (const std::string& file : named.files)
    wrong += check_file(file, options, host, reporter, text) ? 0 : 1;
  // With JSON the document says it all.
  if (reporter.json()) return reporter.status();
  reporter.print(text);
  // Of a folder nobody knows what was found there.
  if (named.of_folders)
    say("{} file{}: {} fine, {} wrong\n", named.files.size(), named.files.size() == 1 ? "" : "s",
        named.files.size() - wrong, wrong);
  return reporter.status();
}

}  // namespace

Command add_check(CLI::App& parent) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* app =
      add_subcommand(parent, "check", "Parses and type-checks every pipeline of the files; reads no data");
  add_option(app, "files", options->files,
             {"FILE", "", "pipeline files, and folders of them: *.dali-dsl in and below, but nothing hidden",
              "train.dali-dsl"})
      .required();
  add_pipeline_options(app, options->pipeline);
  return {app, [options](Reporter& reporter) { return run(*options, reporter); }};
}

}  // namespace galatea::tools
