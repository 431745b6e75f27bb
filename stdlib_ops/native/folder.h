// What lies in a folder, and which of it a reader takes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/folder.h"
#include "base/result.h"

namespace galatea::native {

using FolderEntry = NameInFolder;

/// What a folder holds, of this machine or far away, sorted by the bytes of the names. A link to a folder is one.
Result<std::vector<FolderEntry>> entries_of(const std::string& folder);
/// Calls `take` with the number of each folder and what it holds, in their order. Folders far away are asked for
/// several at a time: a bucket takes a round trip for every thousand names.
Status visit_folders(const std::vector<std::string>& folders,
                     const std::function<Status(size_t, const std::vector<FolderEntry>&)>& take);

/// Patterns of the shell (fnmatch): whether one of them fits.
bool matches(const std::string& name, const std::vector<std::string>& globs, bool case_sensitive);
/// What readers.file takes where nothing else is said.
std::vector<std::string> default_file_filters();
/// Those of them that are images.
std::vector<std::string> image_file_filters();

}  // namespace galatea::native
