#include "tools/policy/policy_tools.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/core.h>

#include "base/fault.h"
#include "policy/messages.h"
#include "policy/reader.h"
#include "policy/spelling.h"
#include "tools/messages.h"

namespace galatea::tools {
namespace fs = std::filesystem;

std::optional<policy::Document> load_policy(const std::string& name, Reporter& reporter) {
  std::error_code error;
  if (name.ends_with(".json") || fs::exists(name, error)) {
    policy::ReadResult read = policy::read_policy_file(name, reporter.sources());
    reporter.report(std::move(read.diagnostics));
    return std::move(read.document);
  }
  Result<policy::Document> made = policy::document_of(name);
  if (made) return std::move(*made);
  reporter.report(made.error());
  return std::nullopt;
}

void write_result(const std::string& path, const std::string& text, Reporter& reporter) {
  if (path.empty()) return reporter.print(text);
  const std::string partial = path + ".partial";
  int failure = write_whole_file(partial, text);
  if (failure == 0 && ::rename(partial.c_str(), path.c_str()) != 0) failure = errno;
  if (failure == 0) return;
  std::error_code ignored;
  fs::remove(partial, ignored);
  reporter.report(
      tool_error(kind_of_errno(failure), Message::kCannotWrite, path, std::strerror(failure)).error());
}

}  // namespace galatea::tools
