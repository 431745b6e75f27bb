// What the subcommands share: exit statuses, reporting, declaring options.
//
// Comes in: the command line. Goes out: one Command per subcommand; results on stdout, everything else on
// stderr.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "base/source.h"
#include "tools/command_line.h"

namespace galatea::tools {

enum ExitStatus : int {
  kFine = 0,
  kWrong = 1,    ///< the pipeline or its data
  kUsage = 2,    ///< the command line
  kMissing = 3,  ///< a device, driver or library that is not here; what the machine refused
  kInternalError = 4,
  kInterrupted = 130,
};

/// Collects and prints diagnostics, and remembers the exit status that they ask for.
class Reporter {
 public:
  void use_json(bool json) { json_ = json; }
  void use_color(bool color) { color_ = color; }
  bool color() const { return color_; }
  bool json() const { return json_; }
  SourceMap& sources() { return sources_; }

  /// Text goes to stderr at once; JSON waits for print_collected().
  void report(Diagnostic diagnostic);
  void report(std::vector<Diagnostic> diagnostics);
  void report(const Error& error);
  /// Every diagnostic passes through it before it is shown: for what a command runs that is no file of the
  /// user's.
  void change_reports(std::function<void(Diagnostic&)> change) { change_ = std::move(change); }
  /// What has been collected since, which is then not printed; nothing in text mode.
  std::vector<Diagnostic> take_collected() { return std::exchange(collected_, {}); }
  /// The JSON document, once, on stdout; nothing in text mode. Comes before any other document.
  void print_collected();
  /// A result on stdout, after the diagnostics.
  void print(std::string_view text);
  int status() const { return status_; }
  void raise_status(int status);

 private:
  void write_stdout(std::string_view text);

  SourceMap sources_;
  std::vector<Diagnostic> collected_;
  std::function<void(Diagnostic&)> change_;
  bool json_ = false, color_ = false, printed_ = false;
  int status_ = kFine;
};

/// One subcommand: its options live in the closure.
struct Command {
  CLI::App* app = nullptr;
  std::function<int(Reporter&)> run;
};

Command add_run(CLI::App& parent);
Command add_check(CLI::App& parent);
Command add_fmt(CLI::App& parent);
Command add_explain(CLI::App& parent);
Command add_view(CLI::App& parent);
Command add_ops(CLI::App& parent);
Command add_policy(CLI::App& parent);
Command add_data(CLI::App& parent);
Command add_lsp(CLI::App& parent);
Command add_trace(CLI::App& parent);
Command add_serve(CLI::App& parent);
Command add_settings(CLI::App& parent);
Command add_version(CLI::App& parent);

/// Is this stream a terminal that can show colours and a moving line?
bool is_terminal(int descriptor);

}  // namespace galatea::tools
