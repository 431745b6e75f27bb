// readers.file: which files there are, and their bytes.
//
// Comes in: the operator's arguments as JSON (file_root, file_list, files, labels, file_filters, dir_filters,
// case_sensitive_filter). Goes out: a SampleSource with outputs data (u8, 1-D) and label (i32, [1]). Order of
// the list is that of the arguments; shuffling is the reader loop's.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "runtime/memory_gate.h"
#include "runtime/native.h"

namespace galatea::native {

runtime::SourceFactory file_source_factory();

/// One file of the data set.
struct FileEntry {
  std::string path;  ///< to open; of this machine or far away
  std::string name;  ///< relative to file_root, for people
  int32_t label = 0;
};

/// The list, from the arguments (JSON text). Errors name the folder, the list and its line, or the argument.
Result<std::vector<FileEntry>> list_files(const std::string& config);

/// Where files without labels are looked for: one of three.
struct UnlabelledFiles {
  std::string root;    ///< a folder: its own files, then those of its sub-folders; what names are relative to
  std::string filter;  ///< a pattern of names in the folder
  std::vector<std::string> files = {};
  std::string list = {};  ///< a text file with a name a line
};
/// Paths to open, sorted by name where a folder is looked through.
Result<std::vector<std::string>> list_unlabelled_files(const UnlabelledFiles& wanted);

/// The images of each sub-folder of a folder, by their endings; all sorted by name. A sub-folder may have none.
Result<std::vector<std::vector<std::string>>> list_image_folders(const std::string& root);

/// The text of a file_list: one "path label" a line. `list` is its name for messages, `root` what its paths
/// are relative to.
Result<std::vector<FileEntry>> parse_file_list(std::istream& in, const std::string& list,
                                               const std::string& root);

/// One line of it that is not blank: from its end white space, digits, white space; the rest is the path.
/// `place` is for messages.
Result<FileEntry> parse_file_list_line(const std::string& line, const std::string& place,
                                       const std::string& root);
bool is_blank_list_line(const std::string& line);

}  // namespace galatea::native
