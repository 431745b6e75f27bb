#include "tools/policy/policy_tools.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>

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
  errno = 0;
  {
    std::ofstream file(partial, std::ios::binary | std::ios::trunc);
    file << text;
    file.flush();
    if (!file) {
      const std::string why = std::strerror(errno ? errno : EIO);
      std::error_code ignored;
      fs::remove(partial, ignored);
      return reporter.report(tool_error(Message::kCannotWrite, path, why).error());
    }
  }
  std::error_code error;
  fs::rename(partial, path, error);
  if (error) reporter.report(tool_error(Message::kCannotWrite, path, error.message()).error());
}

}  // namespace galatea::tools
