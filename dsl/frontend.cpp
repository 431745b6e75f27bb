// The entry of the language. In: a file and options. Out: graphs and diagnostics. See frontend.h.
#include "dsl/frontend.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>

#include <fmt/format.h>

#include "base/fault.h"
#include "compiler/check_graph.h"
#include "compiler/combine_graphs.h"
#include "dsl/ast_printer.h"
#include "dsl/deep_stack.h"
#include "dsl/evaluator.h"
#include "dsl/lexer_bytes.h"
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

// Names by which people and folders tell policies apart: no two are equal.
std::vector<std::string> labels_of(const std::vector<PolicyText>& policies) {
  std::vector<std::string> labels;
  for (const PolicyText& policy : policies) {
    std::string name = std::filesystem::path(policy.file).filename().string();
    if (name.ends_with(".json")) name.resize(name.size() - 5);
    std::string label;
    for (const char c : name) {
      const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
      if (plain || (!label.empty() && label.back() != '-')) label += plain ? c : '-';
    }
    while (label.ends_with('-')) label.pop_back();
    if (label.find_first_not_of('.') == std::string::npos) label = "policy";
    auto taken = [&](const std::string& other) { return std::ranges::find(labels, other) != labels.end(); };
    const std::string plain = label;
    for (int number = 2; taken(label); ++number) label = fmt::format("{}-{}", plain, number);
    labels.push_back(std::move(label));
  }
  return labels;
}

// The pipeline with each of the policies, as one graph.
void stage_policies(Evaluator& evaluator, PipelineObject& pipeline, const FrontendOptions& options,
                    DiagnosticSink& sink, FrontendResult& result) {
  std::vector<std::unique_ptr<ir::Graph>> graphs;
  for (const PolicyText& policy : options.policies) {
    const size_t errors = sink.num_errors();
    std::unique_ptr<ir::Graph> graph = evaluator.stage_with(pipeline, policy);
    if (evaluator.late_pipeline() && sink.num_errors() == errors) {
      result.late.push_back(*evaluator.late_pipeline());
      return;
    }
    // A mistake of the pipeline would be one with each policy.
    if (!graph || sink.num_errors() > errors) return;
    graphs.push_back(std::move(graph));
  }
  // Whether an output comes once for each policy does not depend on what the policies have in common.
  std::vector<std::unique_ptr<ir::Graph>> probes;
  probes.push_back(std::make_unique<ir::Graph>(*graphs[0]));
  probes.push_back(evaluator.stage_with(pipeline, options.policies[0], true));
  if (sink.has_errors()) return;
  std::vector<size_t> dependent;
  Result<CombinedGraph> probed = combine_graphs(probes);
  for (size_t k = 0; probed && k < probed->outputs.size(); ++k)
    if (probed->outputs[k].graph == 0) dependent.push_back(probed->outputs[k].index);
  Result<CombinedGraph> combined = combine_graphs(graphs, dependent);
  if (!combined) {
    for (Diagnostic& diagnostic : combined.error().diagnostics) sink.report(std::move(diagnostic));
    return;
  }
  const std::vector<std::string> labels = labels_of(options.policies);
  for (size_t k = 0; k < combined->outputs.size(); ++k) {
    const auto [policy, index] = combined->outputs[k];
    result.outputs.push_back({policy < 0 ? "" : labels[static_cast<size_t>(policy)], index});
    if (policy < 0) continue;
    std::string& name = combined->graph->output_names[k];
    name = result.outputs.back().policy + "/" + name;
  }
  result.graphs.push_back(std::move(combined->graph));
}

// What no sample passes is found whatever else is wrong.
void check_partial(Evaluator& evaluator, DiagnosticSink& sink) {
  const std::unique_ptr<ir::Graph> graph = evaluator.take_partial();
  if (!graph) return;
  for (Diagnostic& diagnostic : check_partial_graph(*graph))
    if (diagnostic.severity != Severity::kNote) sink.report(std::move(diagnostic));
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
    if (!chosen.empty()) {
      evaluator.check_parameter_names(chosen);
      for (PipelineObject* pipeline : chosen) {
        if (!options.policies.empty()) {
          stage_policies(evaluator, *pipeline, options, sink, result);
          continue;
        }
        size_t errors = sink.num_errors();
        std::unique_ptr<ir::Graph> graph = evaluator.stage(*pipeline);
        check_partial(evaluator, sink);
        if (evaluator.late_pipeline() && sink.num_errors() == errors)
          result.late.push_back(*evaluator.late_pipeline());
        if (!graph || sink.num_errors() > errors) continue;
        if (options.observe_runs) result.runs = evaluator.add_runs_as_outputs(*graph);
        result.graphs.push_back(std::move(graph));
      }
    }
    if (module && all) evaluator.check_uncalled(*module);
    result.ok = !sink.has_errors();
    result.diagnostics = sink.take();
    evaluator.note_equal(result.diagnostics);
    if (!sources.has_made_texts()) return;
    // Rounds of a loop are one place of what the text was made from, and one report.
    DiagnosticSink places;
    for (Diagnostic& diagnostic : result.diagnostics) places.report(resolved(std::move(diagnostic), sources));
    result.diagnostics = places.take();
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

Result<std::vector<FunctionInfo>> functions_of(const std::string& file_name, std::string text,
                                               const op::Registry& registry, SourceMap& sources) {
  std::vector<FunctionInfo> functions;
  std::vector<Diagnostic> diagnostics;
  bool ok = false;
  run_deep([&] {
    DiagnosticSink sink;
    const FrontendOptions options;
    Evaluator evaluator(registry, sources, sink, options);
    const ModuleObject* module = evaluator.load_main_file(file_name, std::move(text));
    ok = module && !sink.has_errors();
    diagnostics = sink.take();
    if (!ok || !module->frame) return;
    for (const auto& [name, binding] : module->frame->env) {
      if (name.starts_with("_") || !binding.value.is(ValueKind::kFunction)) continue;
      const auto& function = binding.value.as<FunctionObject>();
      if (function.module != module) continue;
      FunctionInfo info{name, {}, function.span};
      for (const Parameter& parameter : *function.parameters) info.parameters.push_back(parameter.name);
      functions.push_back(std::move(info));
    }
  });
  if (!ok) return std::unexpected(Error{ErrorKind::kUser, std::move(diagnostics)});
  std::sort(functions.begin(), functions.end(),
            [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
  return functions;
}

std::string print_ast(const std::string& file_name, std::optional<std::string> text, SourceMap& sources,
                      std::vector<Diagnostic>& diagnostics) {
  std::string out;
  if (!text) {
    auto content = read_whole_file(file_name);
    if (!content) {
      const bool is_wrong = content.error().kind == ErrorKind::kUser;
      diagnostics.push_back(diagnose(is_wrong ? Message::kCannotRead : Message::kReadFault, {},
                                     {file_name, content.error().why}));
      return out;
    }
    text = std::move(*content);
  }
  run_deep([&] {
    uint32_t file = sources.add(file_name, std::move(*text));
    const std::string& stored = sources.file(file)->text();
    size_t bad = 0;
    if (find_invalid_utf8(stored, bad)) {
      auto at = static_cast<uint32_t>(bad);
      diagnostics.push_back(diagnose(Message::kNotUtf8, {file, at, at + 1}, {why_not_text(stored, bad)}));
      return;
    }
    std::unique_ptr<Module> module = parse_module(file, stored, diagnostics);
    out = print_module(*module);
  });
  return out;
}

}  // namespace galatea::dsl
