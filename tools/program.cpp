// The program galatea but for its main(): one file a subcommand; this one parses and dispatches.
//
// Comes in: the words of a command line. Goes out: an exit status. Lack of memory and mistakes of galatea are
// thrown, to be told by main(), which has words that lie ready.
#include "tools/program.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "base/settings.h"
#include "runtime/fault.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

/// Subcommands of later releases, refused by name.
constexpr const char* kLater[] = {"build"};

struct Global {
  std::string color = "auto";
  std::string diagnostics = "text";
};

void add_global_options(CLI::App* app, Global& global) {
  add_option(app, "--color", global.color,
             {"auto|always|never", "auto",
              "colours in messages; NO_COLOR=1 in the environment is --color=never", "--color=never"})
      .one_of({"auto", "always", "never"});
  add_option(app, "--diagnostics", global.diagnostics,
             {"text|json", "text",
              "how errors, warnings and notes are reported: text on stderr, or one JSON object on stdout",
              "--diagnostics=json"})
      .one_of({"text", "json"});
}

int usage_error(const std::string& message, const std::string& help, const CLI::App* app) {
  say("galatea: {}\n", message);
  if (!help.empty()) say("  {}\n", help);
  std::string path;
  for (; app && app->get_parent(); app = app->get_parent()) path = app->get_name() + " " + path;
  say("  `galatea {}--help` lists what there is\n", path);
  return kUsage;
}

/// The subcommand of a subcommand that was asked for, if there is one.
const CLI::App* innermost(const CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  auto nearest = closest_match(word, candidates);
  return nearest ? fmt::format("did you mean `{}`?", *nearest) : "";
}

int unknown_subcommand(const std::string& word, const std::vector<Command>& commands) {
  for (const char* later : kLater) {
    if (word == later)
      return usage_error(fmt::format("`{}` does not exist yet; it comes in a later release", word), "",
                         nullptr);
  }
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.app->get_name());
  return usage_error(fmt::format("there is no subcommand `{}`", word), did_you_mean(word, names), nullptr);
}

int unexpected_word(const std::string& word, const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::App* nested : app->get_subcommands(nullptr)) names.push_back(nested->get_name());
  if (names.empty()) return usage_error(fmt::format("unexpected argument `{}`", word), "", app);
  return usage_error(fmt::format("`{}` has no subcommand `{}`", app->get_name(), word),
                     did_you_mean(word, names), app);
}

int unknown_argument(const std::string& word, const CLI::App* app) {
  if (word.size() < 2 || word[0] != '-') return unexpected_word(word, app);
  std::string name = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& long_name : option->get_lnames()) names.push_back("--" + long_name);
  }
  return usage_error(fmt::format("`{}` has no option `{}`", app->get_name(), name), did_you_mean(name, names),
                     app);
}

/// CLI11's messages name the option and what is wrong with it; ours only where those would not help.
int parse_failure(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version: printed on stdout
  const auto parsed = app.get_subcommands();
  return usage_error(error.what(), "", parsed.empty() ? nullptr : innermost(parsed.front()));
}

/// Settings of galatea's own that say nothing.
void report_settings(Reporter& reporter) {
  for (SettingProblem& problem : setting_problems()) {
    Diagnostic diagnostic;
    diagnostic.severity = Severity::kWarning;
    diagnostic.message = std::move(problem.message);
    diagnostic.help = std::move(problem.help);
    reporter.report(std::move(diagnostic));
  }
}

int dispatch(CLI::App& app, const std::vector<Command>& commands, const Global& global, Reporter& reporter) {
  const auto parsed = app.get_subcommands();
  if (parsed.empty()) {
    const std::vector<std::string> extras = app.remaining();
    if (!extras.empty())
      return extras[0][0] == '-' ? unknown_argument(extras[0], &app)
                                 : unknown_subcommand(extras[0], commands);
    std::fputs(app.help().c_str(), stderr);
    return kUsage;
  }
  CLI::App* chosen = parsed.front();
  if (const std::vector<std::string> extras = app.remaining(true); !extras.empty())
    return unknown_argument(extras[0], innermost(chosen));
  const bool color =
      global.color == "always" || (global.color == "auto" && setting("NO_COLOR").empty() && is_terminal(2));
  reporter.use_color(color);
  reporter.use_json(global.diagnostics == "json");
  report_settings(reporter);
  for (const Command& command : commands) {
    if (command.app == chosen) return command.run(reporter);
  }
  return kInternalError;
}

int internal_error(const char* what) {
  say("galatea: internal error: {}\n"
      "  This is a mistake in galatea, not in the pipeline. Please report it with the pipeline file,\n"
      "  the command line, and what `galatea version` prints.\n",
      what);
  return kInternalError;
}

int run_program(int argc, char** argv) {
  install_signal_handlers();
  CLI::App app("galatea compiles data-loading pipelines and runs them.", "galatea");
  app.require_subcommand(0, 1);
  app.allow_extras();
  app.footer(
      "Exit status: 0 fine; 1 the pipeline or its data is wrong; 2 wrong usage; 3 something is missing here, "
      "or was refused by this machine (memory, a file, a thread); 4 internal error.");
  std::vector<Command> commands = {add_run(app),    add_check(app), add_fmt(app),    add_explain(app),
                                   add_view(app),   add_ops(app),   add_policy(app), add_data(app),
                                   add_lsp(app),    add_trace(app), add_serve(app),  add_settings(app),
                                   add_version(app)};
  Global global;
  app.set_version_flag("-V,--version", "galatea " GALATEA_VERSION,
                       "The version; `galatea version` says more");
  add_global_options(&app, global);
  for (const Command& command : commands) {
    std::vector<CLI::App*> apps = command.app->get_subcommands(nullptr);
    apps.push_back(command.app);
    for (CLI::App* each : apps) {
      each->allow_extras();
      add_global_options(each, global);
      each->get_formatter()->column_width(34);
    }
  }
  // `galatea help check` is `galatea check --help`.
  std::vector<const char*> words(argv, argv + argc);
  static constexpr const char* kHelp = "--help";
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    words.erase(words.begin() + 1);
    const auto is_asked = [&](const Command& command) { return command.app->get_name() == argv[2]; };
    if (argc == 2 || std::ranges::any_of(commands, is_asked)) words.push_back(kHelp);
  }
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    return parse_failure(app, error);
  }
  Reporter reporter;
  int status = kFine;
  try {
    status = dispatch(app, commands, global, reporter);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    const Error error = runtime::error_in_flight();
    status = error.kind == ErrorKind::kInternal ? internal_error(error.message().c_str()) : kMissing;
    if (error.kind != ErrorKind::kInternal) reporter.report(error);
  }
  if (status != kUsage) reporter.print_collected();
  // Printing may have failed after the command had its status.
  return status == kFine ? reporter.status() : status;
}

}  // namespace
}  // namespace galatea::tools

int galatea_program(int argc, char** argv) {
  try {
    return galatea::tools::run_program(argc, argv);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return galatea::tools::internal_error(error.what());
  }
}
