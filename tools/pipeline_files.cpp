#include "tools/pipeline_files.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "base/fault.h"
#include "tools/messages.h"

namespace galatea::tools {
namespace fs = std::filesystem;
namespace {

Error cannot_read(const std::string& name, const std::string& why, ErrorKind kind = ErrorKind::kUser) {
  return tool_error(kind, Message::kCannotReadFile, name, why).error();
}

/// The pipeline files in and below a folder, in no order.
void find_files(const fs::path& folder, PipelineFiles& out, std::vector<std::string>& found) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const fs::path& path = at->path();
    if (path.filename().string().starts_with('.')) continue;
    std::error_code ignored;  // of a link that leads nowhere, which is neither
    if (at->is_directory(ignored)) {
      if (!at->is_symlink(ignored)) find_files(path, out, found);
    } else if (path.extension() == ".dali-dsl" && at->is_regular_file(ignored)) {
      found.push_back(path.string());
    }
  }
  if (error) out.errors.push_back(cannot_read(folder.string(), error.message(), kind_of_errno(error)));
}

}  // namespace

PipelineFiles pipeline_files(const std::vector<std::string>& arguments) {
  PipelineFiles out;
  std::unordered_set<std::string> seen;
  const auto add = [&](const std::string& name) {
    if (seen.insert(name).second) out.files.push_back(name);
  };
  for (const std::string& name : arguments) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      add(name);
      continue;
    }
    out.of_folders = true;
    std::vector<std::string> found;
    const size_t errors = out.errors.size();
    find_files(name, out, found);
    if (found.empty() && out.errors.size() == errors)
      out.errors.push_back(cannot_read(name, "the folder holds no *.dali-dsl file"));
    std::sort(found.begin(), found.end());
    std::for_each(found.begin(), found.end(), add);
  }
  return out;
}

}  // namespace galatea::tools
