#include "tools/pipeline_files.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "base/fault.h"
#include "base/folder.h"
#include "tools/messages.h"

namespace galatea::tools {
namespace fs = std::filesystem;
namespace {

Error cannot_read(const std::string& name, const std::string& why, ErrorKind kind = ErrorKind::kUser) {
  return tool_error(kind, Message::kCannotReadFile, name, why).error();
}

/// The pipeline files in and below a folder, in no order.
void find_files(const fs::path& folder, PipelineFiles& out, std::vector<std::string>& found) {
  const auto names = names_in_folder(folder.string());
  if (!names) {
    const std::error_code& error = names.error();
    out.errors.push_back(cannot_read(folder.string(), error.message(), kind_of_errno(error)));
    return;
  }
  for (const NameInFolder& entry : *names) {
    if (entry.name.starts_with('.')) continue;
    const fs::path path = folder / entry.name;
    std::error_code ignored;  // of a link that leads nowhere, which is neither
    if (entry.is_folder) {
      if (!entry.is_link) find_files(path, out, found);
    } else if (path.extension() == ".dali-dsl" && fs::is_regular_file(path, ignored)) {
      found.push_back(path.string());
    }
  }
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
