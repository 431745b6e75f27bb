#include "tools/command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/core.h>

#include "base/settings.h"

namespace galatea::tools {

void Reporter::report(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::kError) raise_status(kWrong);
  if (json_) {
    collected_.push_back(std::move(diagnostic));
    return;
  }
  std::string text = render_text(diagnostic, sources_, {.color = color_});
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void Reporter::report(std::vector<Diagnostic> diagnostics) {
  for (Diagnostic& diagnostic : diagnostics) report(std::move(diagnostic));
}

void Reporter::report(const Error& error) {
  for (const Diagnostic& diagnostic : error.diagnostics) report(diagnostic);
  switch (error.kind) {
    case ErrorKind::kUser:
      raise_status(kWrong);
      break;
    case ErrorKind::kSystem:
      raise_status(kMissing);
      break;
    case ErrorKind::kInternal:
      raise_status(kInternalError);
      break;
  }
}

uint32_t Reporter::own_file(const SourceFile& file) {
  for (uint32_t id = 1; const SourceFile* known = sources_.file(id); ++id) {
    if (known->name() == file.name()) return id;
  }
  return sources_.add(file.name(), file.text());
}

Span Reporter::brought_over(Span span, const SourceMap& from) {
  const SourceFile* theirs = from.file(span.file);
  if (theirs == nullptr) return {};
  const uint32_t id = own_file(*theirs);
  const SourceFile& ours = *sources_.file(id);
  auto offset_of = [&](uint32_t offset) {
    const LineColumn at = theirs->position(offset);
    const std::string_view line = ours.line(at.line);
    if (line.data() == nullptr) return static_cast<uint32_t>(ours.text().size());
    size_t byte = 0;
    for (uint32_t column = 1; column < at.column && byte < line.size(); ++column) {
      do ++byte;
      while (byte < line.size() && (static_cast<unsigned char>(line[byte]) & 0xC0) == 0x80);
    }
    return static_cast<uint32_t>(line.data() - ours.text().data()) + static_cast<uint32_t>(byte);
  };
  return {id, offset_of(span.begin), offset_of(span.end)};
}

Diagnostic Reporter::brought_over(Diagnostic diagnostic, const SourceMap& from) {
  diagnostic.span = brought_over(diagnostic.span, from);
  for (Label& label : diagnostic.labels) label.span = brought_over(label.span, from);
  for (CallSite& call : diagnostic.calls) call.span = brought_over(call.span, from);
  return diagnostic;
}

void Reporter::report(Error error, const SourceMap& from) {
  for (Diagnostic& diagnostic : error.diagnostics) diagnostic = brought_over(std::move(diagnostic), from);
  report(error);
}

void Reporter::print_collected() {
  if (!json_ || printed_) return;
  printed_ = true;
  write_stdout(render_json(collected_, sources_) + "\n");
}

void Reporter::print(std::string_view text) {
  print_collected();
  write_stdout(text);
}

void Reporter::write_stdout(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  // A reader that has seen enough (`| head`) is no failure.
  if (errno == EPIPE || status_ != kFine) return;
  fmt::print(stderr, "galatea: cannot write to stdout: {}\n", std::strerror(errno));
  raise_status(kWrong);
}

void Reporter::raise_status(int status) { status_ = std::max(status_, status); }

std::string describe(const OptionHelp& help) {
  std::string text = help.meaning;
  text += *help.default_value ? fmt::format(" (default: {}; example: {})", help.default_value, help.example)
                              : fmt::format(" (example: {})", help.example);
  return text;
}

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1 && setting("TERM") != "dumb"; }

}  // namespace galatea::tools
