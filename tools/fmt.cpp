// galatea fmt FILE|FOLDER…: brings pipeline files into their canonical form.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "dsl/formatter/formatter.h"
#include "tools/command.h"
#include "tools/messages.h"
#include "tools/pipeline_files.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {
namespace fs = std::filesystem;

struct FmtOptions {
  std::vector<std::string> files;
  bool check = false, diff = false;
};

Result<std::string> read_stream(std::istream& in, const std::string& name) {
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad())
    return tool_error(Message::kCannotReadFile, name, std::string("it cannot be read to its end"));
  return text;
}

Result<std::string> read_source(const std::string& name) {
  std::error_code error;
  if (fs::is_directory(name, error))
    return tool_error(Message::kCannotReadFile, name, std::string("it is a folder"));
  errno = 0;
  std::ifstream file(name, std::ios::binary);
  if (!file)
    return tool_error(Message::kCannotReadFile, name,
                      std::string(errno == ENOENT ? "there is no such file" : std::strerror(errno)));
  return read_stream(file, name);
}

/// Replaces a file in one step: whoever reads it sees the old text or the new one, and its mode stays. A link
/// keeps pointing at what is replaced.
Status replace_file(const std::string& name, const std::string& text) {
  auto cannot = [&](const std::string& why) { return tool_error(Message::kCannotWrite, name, why); };
  std::error_code error;
  const fs::path target = fs::canonical(name, error);
  if (error) return cannot(error.message());
  // Renaming over a file asks only for a writable folder; who may not write the file means it.
  if (::access(target.c_str(), W_OK) != 0) return cannot(std::strerror(errno));
  struct stat before{};
  if (::stat(target.c_str(), &before) != 0) return cannot(std::strerror(errno));
  std::string partial = (target.parent_path() / ("." + target.filename().string() + ".XXXXXX")).string();
  const int descriptor = ::mkstemp(partial.data());
  if (descriptor < 0) return cannot(std::strerror(errno));
  int failure = 0;
  for (size_t done = 0; done < text.size() && failure == 0;) {
    const ssize_t count = ::write(descriptor, text.data() + done, text.size() - done);
    if (count >= 0)
      done += static_cast<size_t>(count);
    else if (errno != EINTR)
      failure = errno;
  }
  if (failure == 0 && ::fchmod(descriptor, before.st_mode & 07777) != 0) failure = errno;
  // Its owner stays where that is allowed (for root).
  if (failure == 0 && ::geteuid() == 0 && ::fchown(descriptor, before.st_uid, before.st_gid) != 0)
    failure = errno;
  if (::close(descriptor) != 0 && failure == 0) failure = errno;
  if (failure == 0 && ::rename(partial.c_str(), target.c_str()) != 0) failure = errno;
  if (failure == 0) return {};
  ::unlink(partial.c_str());
  return cannot(std::strerror(failure));
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
  const std::string shown = is_stdin ? "<stdin>" : name;
  Result<std::string> source = is_stdin ? read_stream(std::cin, shown) : read_source(name);
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
