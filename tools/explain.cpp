// galatea explain FILE: a pipeline at any level of its compilation; galatea explain G0203: the page of a
// diagnostic.
#include <memory>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "tools/diagnostic_page.h"
#include "tools/explain_levels.h"
#include "tools/explain_presets.h"
#include "tools/messages.h"
#include "tools/pipeline_host.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

struct ExplainOptions {
  std::string what, emit, fuse;
  PipelineOptions pipeline;
  CompileChoice compile;
};

bool is_code(const std::string& text) {
  return text.size() == 5 && text[0] == 'G' && text.find_first_not_of("0123456789", 1) == std::string::npos;
}

int explain_code(const std::string& code, Reporter& reporter) {
  std::vector<std::string> codes;
  for (const PageText& page : page_texts()) {
    if (page.code == code) {
      reporter.print(page_for_terminal(page, all_diagnostic_pages()));
      return kFine;
    }
    codes.push_back(page.code);
  }
  const auto nearest = closest_match(code, codes);
  say("galatea: there is no diagnostic {}{}\n", code,
      nearest ? fmt::format("; did you mean {}?", *nearest) : "");
  return kUsage;
}

int run(ExplainOptions options, Reporter& reporter) {
  if (is_code(options.what)) return explain_code(options.what, reporter);
  if (options.emit == "ast") {
    std::vector<Diagnostic> diagnostics;
    std::string text = dsl::print_ast(options.what, {}, reporter.sources(), diagnostics);
    reporter.report(std::move(diagnostics));
    reporter.print(text);
    return reporter.status();
  }
  const PipelineHost host;
  options.compile.to_run = false;
  if (!host.choose_device(options.pipeline, options.compile, reporter)) return reporter.status();
  std::unique_ptr<ir::Graph> graph = host.stage(options.what, options.pipeline, reporter);
  if (graph == nullptr) return reporter.status();
  // Calls as they were written, before passes turn them into others.
  const std::string presets = options.emit.empty() ? describe_presets(*graph, reporter.sources()) : "";
  CompileReport report;
  auto program = host.compile(*graph, options.compile, nullptr, reporter, &report);
  if (program == nullptr) return reporter.status();
  Result<std::string> text =
      options.emit == "plan" && reporter.json() && report.device.used
          ? plan::to_json(report.device)
          : emit_level(options.emit, *program, report, options.pipeline.arch, options.compile.fuse);
  if (!text) {
    reporter.report(text.error());
  } else {
    reporter.print(*text + presets);
  }
  return reporter.status();
}

}  // namespace

Command add_explain(CLI::App& parent) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* app =
      add_subcommand(parent, "explain", "Shows what a pipeline becomes; or the page of a diagnostic");
  add_option(app, "what", options->what,
             {"FILE|CODE", "", "a pipeline file, or the code of a diagnostic", "G0203"})
      .required();
  add_option(app, "--emit", options->emit,
             {"ast|graph|plan|kernel|loops|llvm|asm|cuda|ptx", "a page for people", "which level to print",
              "--emit graph"})
      .one_of({"ast", "graph", "plan", "kernel", "loops", "llvm", "asm", "cuda", "ptx"});
  add_pipeline_options(app, options->pipeline);
  add_policies_option(app, options->pipeline);
  add_compile_options(app, options->compile, options->fuse);
  return {app, [options](Reporter& reporter) { return run(*options, reporter); }};
}

}  // namespace galatea::tools
