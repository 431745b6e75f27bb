// The entry of the language. In: a file and options. Out: graphs and diagnostics. See frontend.h.
#include "dsl/frontend.h"

#include <fstream>
#include <functional>
#include <sstream>

#include "dsl/ast_printer.h"
#include "dsl/deep_stack.h"
#include "dsl/evaluator.h"
#include "dsl/lexer.h"
#include "dsl/parser.h"

namespace galatea::dsl {
namespace {

std::string list_names(const std::vector<PipelineObject*>& pipelines) {
  std::string names;
  for (const PipelineObject* pipeline : pipelines)
    names += (names.empty() ? "`" : ", `") + pipeline->name + "`";
  return names;
}

// The pipeline that the host named, or the only one; nullptr after an error.
PipelineObject* choose(Evaluator& evaluator, const FrontendOptions& options, const std::string& file_name) {
  const std::vector<PipelineObject*>& all = evaluator.pipelines();
  if (options.pipeline.empty() && all.size() == 1) return all[0];
  if (all.empty()) {
    evaluator.fail(Message::kNoPipeline, {}, {file_name});
    return nullptr;
  }
  std::vector<std::string> names;
  for (PipelineObject* pipeline : all) {
    if (pipeline->name == options.pipeline) return pipeline;
    names.push_back(pipeline->name);
  }
  if (options.pipeline.empty()) {
    evaluator.fail(Message::kSeveralPipelines, all[1]->span, {file_name, list_names(all)});
    return nullptr;
  }
  Diagnostic diagnostic =
      diagnose(Message::kUnknownPipeline, {}, {file_name, options.pipeline, list_names(all)});
  if (auto near = closest_match(options.pipeline, names)) diagnostic.help = "did you mean `" + *near + "`?";
  evaluator.report(std::move(diagnostic));
  return nullptr;
}

FrontendResult run(const std::string& file_name, std::optional<std::string> text,
                   const FrontendOptions& options, const op::Registry& registry, SourceMap& sources,
                   bool all) {
  FrontendResult result;
  run_deep([&] {
    DiagnosticSink sink;
    Evaluator evaluator(registry, sources, sink, options);
    ModuleObject* module = evaluator.load_main_file(file_name, std::move(text));
    for (const PipelineObject* pipeline : evaluator.pipelines()) {
      PipelineInfo entry{pipeline->name, {}, pipeline->span};
      for (const Parameter& parameter : *pipeline->function->parameters)
        entry.parameters.push_back(parameter.name);
      result.pipelines.push_back(std::move(entry));
    }
    std::vector<PipelineObject*> chosen;
    if (module && all) {
      chosen = evaluator.pipelines();
    } else if (module) {
      // A file that failed to give its pipelines has been reported; that it has none would only repeat it.
      bool explained = sink.has_errors() && evaluator.pipelines().empty();
      PipelineObject* one = explained ? nullptr : choose(evaluator, options, file_name);
      if (one) chosen.push_back(one);
    }
    if (!chosen.empty() && evaluator.check_parameter_names(chosen)) {
      for (PipelineObject* pipeline : chosen) {
        size_t errors = sink.num_errors();
        std::unique_ptr<ir::Graph> graph = evaluator.stage(*pipeline);
        if (evaluator.late_pipeline() && sink.num_errors() == errors)
          result.late.push_back(*evaluator.late_pipeline());
        if (graph && sink.num_errors() == errors) result.graphs.push_back(std::move(graph));
      }
    }
    result.ok = !sink.has_errors();
    result.diagnostics = sink.take();
  });
  return result;
}

}  // namespace

FrontendResult stage_pipeline(const std::string& file_name, std::optional<std::string> text,
                              const FrontendOptions& options, const op::Registry& registry,
                              SourceMap& sources) {
  return run(file_name, std::move(text), options, registry, sources, false);
}

FrontendResult stage_all(const std::string& file_name, std::optional<std::string> text,
                         const FrontendOptions& options, const op::Registry& registry, SourceMap& sources) {
  return run(file_name, std::move(text), options, registry, sources, true);
}

std::string print_ast(const std::string& file_name, std::optional<std::string> text, SourceMap& sources,
                      std::vector<Diagnostic>& diagnostics) {
  std::string out;
  if (!text) {
    std::ifstream file(file_name, std::ios::binary);
    if (!file) {
      diagnostics.push_back(
          diagnose(Message::kCannotRead, {}, {file_name, "there is no such file, or no permission"}));
      return out;
    }
    std::stringstream content;
    content << file.rdbuf();
    text = content.str();
  }
  run_deep([&] {
    uint32_t file = sources.add(file_name, std::move(*text));
    const std::string& stored = sources.file(file)->text();
    size_t bad = 0;
    if (find_invalid_utf8(stored, bad)) {
      auto at = static_cast<uint32_t>(bad);
      diagnostics.push_back(diagnose(Message::kNotUtf8, {file, at, at + 1}, {std::to_string(bad)}));
      return;
    }
    std::unique_ptr<Module> module = parse_module(file, stored, diagnostics);
    out = print_module(*module);
  });
  return out;
}

}  // namespace galatea::dsl
