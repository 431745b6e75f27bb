// galatea explain FILE: a pipeline at any level of its compilation; galatea explain G0203: the page of a
// diagnostic.
#include <memory>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "tools/explain_levels.h"
#include "tools/messages.h"
#include "tools/pipeline_host.h"

namespace galatea::tools {
namespace {

struct Options {
  std::string what, emit, fuse;
  PipelineOptions pipeline;
  CompileChoice compile;
};

bool is_code(const std::string& text) {
  return text.size() == 5 && text[0] == 'G' && text.find_first_not_of("0123456789", 1) == std::string::npos;
}

/// {0} and {} stand for what is filled in: shown as dots.
std::string with_dots(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t close = text[i] == '{' ? text.find('}', i) : std::string_view::npos;
    if (close != std::string_view::npos) {
      out += "...";
      i = close;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

int explain_code(const std::string& code, Reporter& reporter) {
  std::string text;
  std::vector<std::string> codes;
  for (const DiagnosticPage& page : all_diagnostic_pages()) {
    codes.emplace_back(page.code);
    if (page.code != code) continue;
    text += fmt::format("{}: {}\n", code, with_dots(page.text));
    const std::string help = with_dots(page.help);
    if (help.find_first_not_of(". ") != std::string::npos) text += fmt::format("  What to do: {}\n", help);
  }
  if (text.empty()) {
    auto nearest = closest_match(code, codes);
    fmt::print(stderr, "galatea: there is no diagnostic {}{}\n", code,
               nearest ? fmt::format("; did you mean {}?", *nearest) : "");
    return kUsage;
  }
  reporter.print(text);
  return kFine;
}

int run(const Options& options, Reporter& reporter) {
  if (is_code(options.what)) return explain_code(options.what, reporter);
  if (options.emit == "ast") {
    std::vector<Diagnostic> diagnostics;
    std::string text = dsl::print_ast(options.what, {}, reporter.sources(), diagnostics);
    reporter.report(std::move(diagnostics));
    reporter.print(text);
    return reporter.status();
  }
  const PipelineHost host;
  std::unique_ptr<ir::Graph> graph = host.stage(options.what, options.pipeline, reporter);
  if (graph == nullptr) return reporter.status();
  CompileReport report;
  auto program = host.compile(*graph, options.compile, nullptr, reporter, &report);
  if (program == nullptr) return reporter.status();
  Result<std::string> text =
      emit_level(options.emit, *program, report, options.pipeline.arch, options.compile.fuse);
  if (!text) {
    reporter.report(text.error());
  } else {
    reporter.print(*text);
  }
  return reporter.status();
}

}  // namespace

Command add_explain(CLI::App& parent) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      parent.add_subcommand("explain", "Shows what a pipeline becomes; or the page of a diagnostic");
  add_option(app, "what", options->what,
             {"FILE|CODE", "", "a pipeline file, or the code of a diagnostic", "G0203"})
      ->required();
  add_option(app, "--emit", options->emit,
             {"ast|graph|plan|kernel|loops|llvm|asm|cuda|ptx", "a page for people", "which level to print",
              "--emit graph"})
      ->check(CLI::IsMember({"ast", "graph", "plan", "kernel", "loops", "llvm", "asm", "cuda", "ptx"})
                  .description(""));
  add_pipeline_options(app, options->pipeline);
  add_compile_options(app, options->compile, options->fuse);
  return {app, [options](Reporter& reporter) { return run(*options, reporter); }};
}

}  // namespace galatea::tools
