// galatea check FILE|FOLDER…: parses, stages and type-checks every pipeline; reads no data.
#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "base/fault.h"
#include "compiler/check_graph.h"
#include "compiler/shape/graph_shapes.h"
#include "dsl/formatter/formatter.h"
#include "tools/files.h"
#include "tools/pipeline_files.h"
#include "tools/pipeline_host.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  bool fix = false, unsafe_fixes = false, diff = false;
  PipelineOptions pipeline;

  bool edits() const { return fix || unsafe_fixes || diff; }
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

/// The file, or `text` in its place, staged as the options say.
dsl::FrontendResult stage_file(const std::string& file, std::optional<std::string> text,
                               const CheckOptions& options, const PipelineHost& host, SourceMap& sources) {
  dsl::FrontendOptions frontend = PipelineHost::frontend_options(options.pipeline);
  frontend.unknown_parameters_allowed = true;
  return options.pipeline.pipeline.empty()
             ? dsl::stage_all(file, std::move(text), frontend, host.registry(), sources)
             : dsl::stage_pipeline(file, std::move(text), frontend, host.registry(), sources);
}

/// Writes into the file, or shows, what its diagnostics say to write, and what that brings to light as well.
/// The text that is left; nothing after an error.
std::optional<std::string> fix_file(const std::string& file, const CheckOptions& options,
                                    const PipelineHost& host, Reporter& reporter, std::string& out) {
  const auto read = read_whole_file(file);
  if (!read) return std::nullopt;  // staging it says why
  std::string text = *read;
  constexpr int kMostRounds = 20;
  size_t fixed = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    SourceMap sources;
    const dsl::FrontendResult result = stage_file(file, text, options, host, sources);
    uint32_t number = 0;
    for (const Diagnostic& diagnostic : result.diagnostics)
      for (const Edit& edit : diagnostic.edits)
        if (const SourceFile* of = sources.file(edit.span.file); of && of->name() == file)
          number = edit.span.file;
    size_t applied = 0;
    std::string next =
        number == 0 ? text : with_edits(text, number, result.diagnostics, options.unsafe_fixes, applied);
    if (applied == 0 || next == text) break;
    text = std::move(next);
    fixed += applied;
  }
  if (fixed == 0) return text;
  if (options.diff) {
    out += dsl::unified_diff(file, *read, text);
  } else if (Status written = replace_file(file, text); !written) {
    reporter.report(written.error());
    return std::nullopt;
  } else if (!reporter.json()) {
    out += fmt::format("{}: {} mistake{} mended\n", file, fixed, fixed == 1 ? "" : "s");
  }
  return text;
}

/// False: it is wrong.
bool check_file(const std::string& file, const CheckOptions& options, const PipelineHost& host,
                Reporter& reporter, std::string& text) {
  const std::optional<std::string> fixed =
      options.edits() ? fix_file(file, options, host, reporter, text) : std::nullopt;
  dsl::FrontendResult result = stage_file(file, fixed, options, host, reporter.sources());
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
  text += fmt::format("{}: fine{}\n{}", file, outputs.empty() ? ", without a pipeline" : "", outputs);
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
  add_flag(
      app, "--fix", options->fix,
      "write into the files what the help of diagnostics says, where nothing else can be meant (example: --fix)");
  add_flag(app, "--unsafe-fixes", options->unsafe_fixes,
           "the same, and what is likeliest where more can be meant (example: --unsafe-fixes)");
  add_flag(app, "--diff", options->diff,
           "write nothing; show what --fix or --unsafe-fixes would change (example: --fix --diff)");
  add_pipeline_options(app, options->pipeline);
  return {app, [options](Reporter& reporter) { return run(*options, reporter); }};
}

}  // namespace galatea::tools
