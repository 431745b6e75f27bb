// galatea fmt FILE|FOLDER…: brings pipeline files into their canonical form.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "base/fault.h"
#include "dsl/formatter/formatter.h"
#include "tools/command.h"
#include "tools/files.h"
#include "tools/messages.h"
#include "tools/pipeline_files.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

struct FmtOptions {
  std::vector<std::string> files;
  bool check = false, diff = false;
};

std::string name_of_source(const std::string& name) { return name == "-" ? "<stdin>" : name; }

Result<std::string> read_source(const std::string& name) {
  auto text = name == "-" ? read_to_end(STDIN_FILENO) : read_whole_file(name);
  if (text) return std::move(*text);
  return tool_error(text.error().kind, Message::kCannotReadFile, name_of_source(name), text.error().why);
}

/// The place of the first difference, as a diagnostic for programs.
Diagnostic not_canonical(const std::string& name, const std::string& before, const std::string& after,
                         SourceMap& sources) {
  Diagnostic diagnostic = format_diagnostic(Message::kNotCanonical, fmt::make_format_args(name));
  const auto [first, other] = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  const auto at = static_cast<uint32_t>(first - before.begin());
  diagnostic.span = {sources.add(name, before), at, at};
  return diagnostic;
}

enum class Outcome { kFailed, kCanonical, kOther };

Outcome format_file(const std::string& name, const FmtOptions& options, Reporter& reporter,
                    std::string& out) {
  const bool is_stdin = name == "-";
  const std::string shown = name_of_source(name);
  Result<std::string> source = read_source(name);
  if (!source) {
    reporter.report(source.error());
    return Outcome::kFailed;
  }
  dsl::FormatResult result = dsl::format_source(shown, *source, reporter.sources());
  if (!result.diagnostics.empty()) {
    reporter.report(std::move(result.diagnostics));
    return Outcome::kFailed;
  }
  const Outcome outcome = result.changed ? Outcome::kOther : Outcome::kCanonical;
  if (options.diff) out += dsl::unified_diff(shown, *source, result.text);
  if (options.check) {
    if (!result.changed) return outcome;
    if (reporter.json()) {
      reporter.report(not_canonical(shown, *source, result.text, reporter.sources()));
      return outcome;
    }
    if (!options.diff) out += shown + "\n";
    reporter.raise_status(kWrong);
    return outcome;
  }
  if (options.diff) return outcome;
  if (is_stdin) {
    out += result.text;
  } else if (result.changed) {
    if (Status written = replace_file(name, result.text); !written) {
      reporter.report(written.error());
      return Outcome::kFailed;
    }
    if (!reporter.json()) out += fmt::format("{}: formatted\n", name);
  }
  return outcome;
}

int run(const FmtOptions& options, Reporter& reporter) {
  const PipelineFiles named = pipeline_files(options.files);
  for (const Error& error : named.errors) reporter.report(error);
  std::string out;
  size_t other = 0, failed = 0;
  // A file that fails does not keep the others from being formatted.
  for (const std::string& name : named.files) {
    const Outcome outcome = format_file(name, options, reporter, out);
    other += outcome == Outcome::kOther ? 1 : 0;
    failed += outcome == Outcome::kFailed ? 1 : 0;
  }
  if (!out.empty()) reporter.print(out);
  // Of a folder nobody knows what was found there.
  if (named.of_folders && !reporter.json())
    say("{} file{}: {} {}, {} canonical already{}\n", named.files.size(), named.files.size() == 1 ? "" : "s",
        other, options.check || options.diff ? "would change" : "formatted",
        named.files.size() - other - failed, failed == 0 ? "" : fmt::format(", {} failed", failed));
  return reporter.status();
}

}  // namespace

Command add_fmt(CLI::App& parent) {
  auto options = std::make_shared<FmtOptions>();
  CLI::App* app = add_subcommand(parent, "fmt", "Brings pipeline files into their canonical form, in place");
  add_option(
      app, "files", options->files,
      {"FILE", "",
       "pipeline files, and folders of them: *.dali-dsl in and below, but nothing hidden; - reads stdin "
       "and writes stdout",
       "train.dali-dsl"})
      .required();
  add_flag(app, "--check", options->check,
           "write nothing; list the files that would change, and end with status 1 if there are any "
           "(example: --check)");
  add_flag(app, "--diff", options->diff, "write nothing; show what would change (example: --diff)");
  return {app, [options](Reporter& reporter) { return run(*options, reporter); }};
}

}  // namespace galatea::tools
