// Samples that are files: of a folder with a folder a class, or of a list.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/fault.h"
#include "stdlib_ops/native/data_sets/containers.h"
#include "stdlib_ops/native/file_source.h"
#include "stdlib_ops/native/folder.h"

namespace galatea::native {
namespace {

namespace fs = std::filesystem;

Status read_file_sample(const std::string& path, std::string name, std::optional<int64_t> label,
                        DataSample& sample) {
  GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file, open_file(path));
  std::string extension = take_extension(name);
  sample = {.name = std::move(name), .labels = {}, .parts = {}};
  if (label) sample.labels = {static_cast<double>(*label)};
  sample.parts.push_back({std::move(extension), std::vector<uint8_t>(static_cast<size_t>(file->size()))});
  return file->read(0, sample.parts.front().bytes);
}

/// Memory for the names of one class.
class ClassFolders final : public DataContainer {
 public:
  explicit ClassFolders(std::string root) : root_(std::move(root)) {}

  Status open() {
    GALATEA_ASSIGN(const std::vector<FolderEntry> entries, entries_of(root_));
    for (const FolderEntry& entry : entries)
      if (entry.is_folder) classes_.push_back(entry.name);
    has_classes_ = !classes_.empty();
    // Lists, and what is said of the data, belong there; samples do not.
    for (const FolderEntry& entry : entries)
      if (has_classes_ && !entry.is_folder && matches(entry.name, filters_, false))
        pass_over("files beside the folders of classes");
    if (!has_classes_) classes_.emplace_back();
    return {};
  }

  Result<bool> next() override {
    ++file_;
    while (file_ >= files_.size()) {
      if (++class_ >= classes_.size()) return false;
      GALATEA_ASSIGN(const std::vector<FolderEntry> entries, entries_of(fs::path(root_) / classes_[class_]));
      files_.clear();
      file_ = 0;
      for (const FolderEntry& entry : entries) {
        if (entry.is_folder) {
          pass_over(fmt::format("folders within {}", has_classes_ ? "the folder of a class" : "it"));
        } else if (matches(entry.name, filters_, false)) {
          files_.push_back(entry.name);
        } else {
          std::string name = entry.name;
          const std::string extension = take_extension(name);
          pass_over(extension.empty() ? "files without an extension" : "files *." + extension);
        }
      }
    }
    return true;
  }

  Status read(DataSample& sample) override {
    const std::optional<int64_t> label =
        has_classes_ ? std::optional(static_cast<int64_t>(class_)) : std::nullopt;
    return read_file_sample(place().file, name(), label, sample);
  }

  DataPlace place() const override { return {(fs::path(root_) / name()).string(), 0}; }
  double share() const override {
    const double within =
        files_.empty() ? 0 : static_cast<double>(file_) / static_cast<double>(files_.size());
    return (static_cast<double>(class_) + within) / static_cast<double>(classes_.size());
  }

 private:
  std::string name() const { return has_classes_ ? classes_[class_] + "/" + files_[file_] : files_[file_]; }

  std::string root_;
  bool has_classes_ = false;
  std::vector<std::string> classes_, files_;   ///< one class without a name: files of the folder itself
  size_t class_ = SIZE_MAX, file_ = SIZE_MAX;  // before the first
  std::vector<std::string> filters_ = default_file_filters();
};

class FileList final : public DataContainer {
 public:
  explicit FileList(std::string path) : path_(std::move(path)), in_(path_, std::ios::binary) {}

  Status open() {
    if (!in_) return unusable(fmt::format("cannot open the file list {}", path_), "check its permissions");
    std::error_code error;
    size_ = static_cast<double>(std::max<uintmax_t>(1, fs::file_size(path_, error)));
    return {};
  }

  Result<bool> next() override {
    for (std::string line; std::getline(in_, line);) {
      ++number_;
      read_ += static_cast<double>(line.size() + 1);
      if (is_blank_list_line(line)) continue;
      GALATEA_ASSIGN(entry_, parse_file_list_line(line, fmt::format("{}:{}", path_, number_),
                                                  fs::path(path_).parent_path()));
      return true;
    }
    if (in_.bad()) return unusable(fmt::format("cannot read the file list {} to its end", path_));
    return false;
  }

  Status read(DataSample& sample) override {
    // Below one folder whatever the list says: "../more/cat.jpg" is "more/cat.jpg".
    fs::path name;
    for (const fs::path& part : fs::path(entry_.name).lexically_normal().relative_path())
      if (part != "..") name /= part;
    return read_file_sample(entry_.path, name.string(), entry_.label, sample);
  }

  DataPlace place() const override { return {entry_.path, 0}; }
  double share() const override { return std::min(1.0, read_ / size_); }

 private:
  std::string path_;
  std::ifstream in_;
  double read_ = 0, size_ = 1;
  size_t number_ = 0;
  FileEntry entry_;
};

}  // namespace

Result<std::unique_ptr<DataContainer>> open_class_folders(const std::string& path) {
  auto folders = std::make_unique<ClassFolders>(path);
  GALATEA_TRY(folders->open());
  return folders;
}

Result<std::unique_ptr<DataContainer>> open_file_list(const std::string& path) {
  auto list = std::make_unique<FileList>(path);
  GALATEA_TRY(list->open());
  return list;
}

}  // namespace galatea::native
