#include "stdlib_ops/native/file_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "base/fault.h"
#include "base/json.h"
#include "runtime/messages.h"
#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/folder.h"
#include "stdlib_ops/native/paths.h"

namespace galatea::native {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr size_t kMaxListLine = 16 * 1024;
constexpr size_t kMaxList = size_t{1} << 36;
constexpr const char* kWhiteSpace = " \t\r\n\v\f";

bool has(const Json& config, const char* key) { return config.contains(key) && !config[key].is_null(); }

std::vector<std::string> filters(const Json& config, const char* key, bool with_default) {
  if (has(config, key))
    return config[key].is_string() ? std::vector<std::string>{config[key]}
                                   : config[key].get<std::vector<std::string>>();
  return with_default ? default_file_filters() : std::vector<std::string>{};
}

Result<std::vector<FileEntry>> scan_root(const Json& config) {
  const std::string root = config["file_root"];
  if (root.empty())
    return unusable("file_root is an empty string", "name the folder of the data, or \".\" for this one");
  bool case_sensitive = config.value("case_sensitive_filter", false);
  std::vector<std::string> globs = filters(config, "file_filters", true),
                           folder_globs = filters(config, "dir_filters", false);
  if (globs.empty())
    return unusable("file_filters is an empty list: no file could match",
                    "leave file_filters out, or name patterns such as \"*.jpg\"");
  GALATEA_ASSIGN(const std::vector<FolderEntry> folders, entries_of(root));
  std::vector<std::string> names, paths;  // of the classes
  for (const FolderEntry& folder : folders) {
    const std::string path = far::join(root, folder.name);
    if (!folder.is_folder) {
      if (far::is_far(path)) continue;
      // A link to nothing might have been a class.
      std::error_code error;
      static_cast<void>(fs::status(path, error));
      if (error)
        return unusable(fmt::format("cannot look at {}: {}", path, error.message()),
                        "remove the broken link or fix its permissions");
      continue;
    }
    if (!folder_globs.empty() && !matches(folder.name, folder_globs, case_sensitive)) continue;
    names.push_back(folder.name);
    paths.push_back(path);
  }
  std::vector<FileEntry> out;
  GALATEA_TRY(visit_folders(paths, [&](size_t label, const std::vector<FolderEntry>& files) -> Status {
    // Strings, not paths, which take each name apart: there may be millions.
    const std::string& path = paths[label];
    const std::string path_prefix = path.ends_with('/') ? path : path + "/", name_prefix = names[label] + "/";
    const bool is_far = far::is_far(path);
    for (const FolderEntry& file : files)
      if (!file.is_folder && matches(file.name, globs, case_sensitive))
        out.push_back({is_far ? far::join(path, file.name) : path_prefix + file.name, name_prefix + file.name,
                       static_cast<int32_t>(label)});
    return {};
  }));
  if (out.empty()) {
    return unusable(
        fmt::format("no files found in the sub-folders of {}", root),
        folders.empty()
            ? "the folder is empty; point file_root at a folder that holds one sub-folder per class"
            : "file_root must hold one sub-folder per class with image files in it; file_filters= says which "
              "names count");
  }
  return out;
}

Result<std::vector<FileEntry>> read_list(const Json& config) {
  std::string list = config["file_list"];
  if (list.empty())
    return unusable("file_list is an empty string", "name a text file with one \"path label\" a line");
  const std::string root =
      has(config, "file_root") ? config["file_root"].get<std::string>() : far::folder_of(list);
  std::error_code error;
  if (!far::is_far(list) && fs::is_directory(list, error))
    return unusable(fmt::format("the file list {} is a folder", list),
                    "name a text file, or give the folder as file_root=");
  GALATEA_ASSIGN(std::string text, text_of(list, "file list", kMaxList));
  std::istringstream in(std::move(text));
  return parse_file_list(in, far::shown(list), root);
}

Result<std::vector<FileEntry>> named_files(const Json& config) {
  auto names = config["files"].get<std::vector<std::string>>();
  if (names.empty()) return unusable("files is an empty list", "name at least one file");
  const std::string root = has(config, "file_root") ? config["file_root"].get<std::string>() : "";
  std::vector<int32_t> labels;
  if (has(config, "labels")) {
    labels = config["labels"].is_array() ? config["labels"].get<std::vector<int32_t>>()
                                         : std::vector<int32_t>{config["labels"].get<int32_t>()};
    if (labels.size() != names.size())
      return unusable(fmt::format("labels has {} entries, files has {}", labels.size(), names.size()),
                      "give one label per file");
  }
  std::vector<FileEntry> out;
  for (size_t i = 0; i < names.size(); ++i) {
    GALATEA_ASSIGN(const std::vector<std::string> files, expand_name(root, names[i]));
    for (const std::string& file : files)
      out.push_back({far::join(root, file), far::shown(file),
                     labels.empty() ? static_cast<int32_t>(out.size()) : labels[i]});
  }
  return out;
}

/// An open file that closes itself. Opening does not wait: not for the writer of a pipe that stands among
/// the files.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

class FileSource final : public runtime::SampleSource {
 public:
  explicit FileSource(std::vector<FileEntry> files) : files_(std::move(files)) {}
  int64_t size() const override { return static_cast<int64_t>(files_.size()); }
  std::string describe(int64_t index) const override { return files_[static_cast<size_t>(index)].name; }
  int64_t bytes(int64_t index) const override {
    struct stat status = {};
    if (is_far(index)) {
      const auto file = open_file(files_[static_cast<size_t>(index)].path);
      return file ? runtime::claimed_bytes((*file)->size()) + runtime::claimed_bytes(sizeof(int32_t)) : 0;
    }
    if (::stat(files_[static_cast<size_t>(index)].path.c_str(), &status) != 0) return 0;
    return runtime::claimed_bytes(status.st_size) + runtime::claimed_bytes(sizeof(int32_t));
  }

  void will_read(int64_t index) const override { will_open(files_[static_cast<size_t>(index)].path); }

  Status read(int64_t index, const AllocateOutput& allocate) const override {
    const FileEntry& entry = files_[static_cast<size_t>(index)];
    if (is_far(index)) return read_far(entry, allocate);
    Descriptor file(entry.path);
    struct stat status = {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return unreadable(entry);
    if (!S_ISREG(status.st_mode))
      return unusable(fmt::format("{} is not a regular file", entry.path),
                      "take it out of the folder or the list; on_error=\"skip\" lets the run go on "
                      "without it");
    GALATEA_TRY(fits(entry, status.st_size));
    GALATEA_ASSIGN(runtime::Tensor * data, allocate(0, DType::kU8, {static_cast<int64_t>(status.st_size)}));
    const iovec whole{data->data, static_cast<size_t>(status.st_size)};
    int64_t at = DiskWatch::of_process().read_cached(file.get(), 0, {&whole, 1});
    while (at < status.st_size) {
      ssize_t count = ::pread(file.get(), data->data + at, static_cast<size_t>(status.st_size - at), at);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return unreadable(entry);
      if (count == 0)
        return unusable(fmt::format("{} became shorter while it was read: {} of {} bytes", entry.path, at,
                                    status.st_size),
                        "do not change the data while it is in use");
      at += count;
    }
    return give_label(entry, allocate);
  }

 private:
  bool is_far(int64_t index) const { return far::is_far(files_[static_cast<size_t>(index)].path); }

  Status read_far(const FileEntry& entry, const AllocateOutput& allocate) const {
    GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file, open_file(entry.path));
    GALATEA_TRY(fits(entry, file->size()));
    GALATEA_ASSIGN(runtime::Tensor * data, allocate(0, DType::kU8, {file->size()}));
    GALATEA_TRY(file->read(0, {data->data, static_cast<size_t>(file->size())}));
    return give_label(entry, allocate);
  }
  Status fits(const FileEntry& entry, int64_t bytes) const {
    if (bytes <= memory_) return {};
    return unusable(fmt::format("{} has {} bytes, more than the memory of this machine ({})",
                                far::shown(entry.path), bytes, memory_),
                    "take it out of the folder or the list; on_error=\"skip\" lets the run go on "
                    "without it");
  }
  static Status give_label(const FileEntry& entry, const AllocateOutput& allocate) {
    GALATEA_ASSIGN(runtime::Tensor * label, allocate(1, DType::kI32, {1}));
    std::memcpy(label->data, &entry.label, sizeof entry.label);
    return {};
  }
  static std::unexpected<Error> unreadable(const FileEntry& entry) {
    const int number = errno;
    if (kind_of_errno(number) == ErrorKind::kSystem)
      return runtime::make_error(runtime::message::kSampleFault, entry.path, std::strerror(number));
    return native::unreadable(
        entry.path, entry.path, number,
        "check that the file exists and may be read; on_error=\"skip\" lets the run go on without it");
  }
  std::vector<FileEntry> files_;
  const int64_t memory_ = memory_of_machine();
};

}  // namespace

bool is_blank_list_line(const std::string& line) {
  return line.size() <= kMaxListLine && line.find_last_not_of(kWhiteSpace) == std::string::npos;
}

Result<FileEntry> parse_file_list_line(const std::string& line, const std::string& place,
                                       const std::string& root) {
  if (line.size() > kMaxListLine)
    return unusable(fmt::format("{}: the line is longer than {} bytes", place, kMaxListLine),
                    "write one \"path label\" a line");
  size_t end = line.find_last_not_of(kWhiteSpace);
  size_t digits = line.find_last_not_of("0123456789", end);
  bool has_label =
      digits != end && digits != std::string::npos && std::strchr(kWhiteSpace, line[digits]) != nullptr;
  size_t path_end = has_label ? line.find_last_not_of(kWhiteSpace, digits) : std::string::npos;
  if (!has_label || path_end == std::string::npos) {
    return unusable(fmt::format("{}: expected \"path label\" with a non-negative label, found \"{}\"", place,
                                line.substr(0, end + 1)),
                    "write the file's path, a space and a whole number");
  }
  std::string_view text = std::string_view(line).substr(digits + 1, end - digits);
  FileEntry entry;
  if (std::from_chars(text.data(), text.data() + text.size(), entry.label).ec != std::errc())
    return unusable(fmt::format("{}: the label {} does not fit in 32 bits", place, text),
                    "number the classes from 0");
  entry.name = line.substr(0, path_end + 1);
  if (entry.name.find('\0') != std::string::npos)
    return unusable(fmt::format("{}: the path holds a zero byte", place), "the file list must be plain text");
  entry.path = far::join(root, entry.name);
  entry.name = far::shown(entry.name);
  return entry;
}

Result<std::vector<FileEntry>> parse_file_list(std::istream& in, const std::string& list,
                                               const std::string& root) {
  std::vector<FileEntry> out;
  std::string line;
  for (size_t number = 1; std::getline(in, line); ++number) {
    std::string place = fmt::format("{}:{}", list, number);
    if (is_blank_list_line(line)) continue;
    GALATEA_ASSIGN(FileEntry entry, parse_file_list_line(line, place, root));
    out.push_back(std::move(entry));
  }
  if (in.bad()) return unusable(fmt::format("cannot read the file list {} to its end", list));
  if (out.empty())
    return unusable(fmt::format("the file list {} names no files", list), "write one \"path label\" a line");
  return out;
}

Result<std::vector<FileEntry>> list_files(const std::string& config) {
  Json json = parse_json(config);
  GALATEA_CHECK(json.is_object(), "readers.file: configuration is not a JSON object");
  if (has(json, "files") && has(json, "file_list"))
    return unusable("files and file_list exclude each other", "give one of them");
  if (has(json, "labels") && !has(json, "files"))
    return unusable("labels needs files",
                    "give files=[…] with labels=[…], or let file_root's sub-folders number the classes");
  if (has(json, "files")) return named_files(json);
  if (has(json, "file_list")) return read_list(json);
  if (has(json, "file_root")) return scan_root(json);
  return unusable("readers.file needs file_root, files or file_list",
                  "name the folder of the data: file_root=\"photos\"");
}

Result<std::vector<std::string>> list_unlabelled_files(const UnlabelledFiles& wanted) {
  std::vector<std::string> out;
  const std::string& root = wanted.root;
  if (!wanted.files.empty()) {
    for (const std::string& name : wanted.files) {
      GALATEA_ASSIGN(const std::vector<std::string> files, expand_name(root, name));
      for (const std::string& file : files) out.push_back(far::join(root, file));
    }
    return out;
  }
  if (!wanted.list.empty()) {
    const std::string beside = root.empty() ? far::folder_of(wanted.list) : root;
    GALATEA_ASSIGN(const std::string text, text_of(wanted.list, "file list"));
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      const size_t end = line.find_last_not_of(kWhiteSpace);
      if (end == std::string::npos) continue;
      if (line.find('\0') != std::string::npos)
        return unusable(fmt::format("the file list {} holds a zero byte", far::shown(wanted.list)),
                        "the file list must be plain text");
      out.push_back(far::join(beside, line.substr(0, end + 1)));
    }
    if (out.empty())
      return unusable(fmt::format("the file list {} names no files", far::shown(wanted.list)),
                      "write one path a line");
    return out;
  }
  GALATEA_ASSIGN(const std::vector<FolderEntry> entries, entries_of(root));
  for (const FolderEntry& entry : entries)
    if (!entry.is_folder && matches(entry.name, {wanted.filter}, true))
      out.push_back(far::join(root, entry.name));
  std::vector<std::string> folders;
  for (const FolderEntry& entry : entries)
    if (entry.is_folder) folders.push_back(far::join(root, entry.name));
  GALATEA_TRY(visit_folders(folders, [&](size_t k, const std::vector<FolderEntry>& files) -> Status {
    for (const FolderEntry& file : files)
      if (!file.is_folder && matches(file.name, {wanted.filter}, true))
        out.push_back(far::join(folders[k], file.name));
    return {};
  }));
  if (out.empty())
    return unusable(fmt::format("no files \"{}\" in {} and its sub-folders", wanted.filter, root),
                    "file_filter= says which names count");
  return out;
}

Result<std::vector<std::vector<std::string>>> list_image_folders(const std::string& root) {
  const std::vector<std::string> images = image_file_filters();
  std::vector<std::vector<std::string>> out;
  GALATEA_ASSIGN(const std::vector<FolderEntry> folders, entries_of(root));
  for (const FolderEntry& folder : folders) {
    if (!folder.is_folder) continue;
    const fs::path path = fs::path(root) / folder.name;
    GALATEA_ASSIGN(const std::vector<FolderEntry> files, entries_of(path));
    out.emplace_back();
    for (const FolderEntry& file : files)
      if (!file.is_folder && matches(file.name, images, false))
        out.back().push_back((path / file.name).string());
  }
  return out;
}

runtime::SourceFactory file_source_factory() {
  return {"readers.file",
          [](const std::string& config) -> Result<std::unique_ptr<runtime::SampleSource>> {
            GALATEA_ASSIGN(std::vector<FileEntry> files, list_files(config));
            return std::make_unique<FileSource>(std::move(files));
          },
          {{.name = "data", .documentation = "the bytes of a file", .dtypes = {DType::kU8}, .ndim = 1},
           {.name = "label",
            .documentation = "the number of its class",
            .dtypes = {DType::kI32},
            .extents = {1}}}};
}

}  // namespace galatea::native
