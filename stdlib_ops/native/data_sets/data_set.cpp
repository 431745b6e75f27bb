#include "stdlib_ops/native/data_sets/data_set.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/checksum.h"
#include "stdlib_ops/native/data_sets/containers.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/folder.h"
#include "stdlib_ops/native/record_io.h"
#include "stdlib_ops/native/tar.h"
#include "stdlib_ops/native/tfrecord.h"

namespace galatea::native {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhatThereIs =
    "name a folder with a sub-folder a class, archives of WebDataset, TFRecord or RecordIO files, a folder of "
    "them, a folder that holds a database (data.mdb), or a text file with \"path label\" a line";

/// Size and time of a file or a folder, as they are now.
uint64_t state_of(const std::string& path, uint64_t from) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return checksum(path, from);
  const int64_t numbers[] = {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  return checksum({reinterpret_cast<const char*>(numbers), sizeof numbers}, checksum(path, from));
}

int64_t size_of_file(const std::string& path) {
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(size);
}

bool is_database(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "data.mdb", error);
}

/// Whether a text begins with what a list of files has: a line that ends with a number.
bool is_file_list(const std::string& path) {
  std::error_code error;
  const std::string extension = fs::path(path).extension().string();
  return (extension == ".txt" || extension == ".list" || extension == ".csv") &&
         fs::is_regular_file(path, error);
}

/// Finds out what one path is, and adds its containers.
class Finder {
 public:
  Status add(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) return unreadable(path, path, ENOENT, kWhatThereIs);
    if (!fs::is_directory(status)) return add_file(path);
    if (is_database(path))
      return add(DataFormat::kLmdb, path, size_of_file((fs::path(path) / "data.mdb").string()));
    return add_folder(path);
  }
  Result<DataSource> done() && {
    if (source_.paths.empty()) return unusable("nothing is named", kWhatThereIs);
    return std::move(source_);
  }

 private:
  Status add(DataFormat format, const std::string& path, int64_t size) {
    if (!source_.paths.empty() && source_.format != format)
      return unusable(fmt::format("{} is {}, but {} is {}: one data set has one form", source_.paths.front(),
                                  name_of(source_.format), path, name_of(format)),
                      "name files of one form");
    source_.format = format;
    source_.paths.push_back(path);
    source_.sizes.push_back(size);
    source_.state = state_of(path, source_.state);
    return {};
  }

  Status add_file(const std::string& path) {
    GALATEA_ASSIGN(const std::optional<DataFormat> format, container_format(path));
    if (format) return add(*format, path, size_of_file(path));
    if (is_file_list(path)) return add(DataFormat::kFolder, path, size_of_file(path));
    if (size_of_file(path) == 0)
      return unusable(fmt::format("{} is empty", path), "copy or make it again, or leave it out");
    return unusable(fmt::format("{} is no container that is known, and no list of files", path),
                    kWhatThereIs);
  }

  /// The containers in it, by name; without any, a data set of files.
  Status add_folder(const std::string& path) {
    GALATEA_ASSIGN(const std::vector<FolderEntry> entries, entries_of(path));
    const size_t before = source_.paths.size();
    for (const FolderEntry& entry : entries) {
      if (entry.is_folder || !has_container_name(entry.name)) continue;
      const std::string file = (fs::path(path) / entry.name).string();
      GALATEA_ASSIGN(const std::optional<DataFormat> format, container_format(file));
      if (format) GALATEA_TRY(add(*format, file, size_of_file(file)));
    }
    if (source_.paths.size() > before) return {};
    GALATEA_TRY(add(DataFormat::kFolder, path, 0));
    for (const FolderEntry& entry : entries)
      if (entry.is_folder) source_.state = state_of((fs::path(path) / entry.name).string(), source_.state);
    return {};
  }

  /// A picture among the archives is not opened to see whether it is one.
  static bool has_container_name(const std::string& name) {
    return matches(name, {"*.tar", "*.rec", "*.tfrecord", "*.tfrecords", "*.record", "*-of-[0-9]*", "*.mdb"},
                   false);
  }

  DataSource source_{.state = checksum({})};
};

}  // namespace

Result<std::optional<DataFormat>> container_format(const std::string& path) {
  GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file, open_file(path));
  uint8_t head[512] = {};
  const auto there = static_cast<size_t>(std::min<int64_t>(file->size(), sizeof head));
  GALATEA_TRY(file->read(0, std::span(head, there)));
  uint32_t word = 0, magic = 0;
  std::memcpy(&word, head, sizeof word);
  std::memcpy(&magic, head + 16, sizeof magic);
  if (there >= 8 && word == kRecordIoMagic) return DataFormat::kRecordIo;
  uint32_t checksum_of_length = 0;
  std::memcpy(&checksum_of_length, head + 8, sizeof checksum_of_length);
  if (there >= 12 && masked_crc32c(std::span<const uint8_t>(head, 8)) == checksum_of_length)
    return DataFormat::kTfRecord;
  if (there >= 24 && magic == 0xBEEFC0DE) return DataFormat::kLmdb;
  if (there == sizeof head && TarReader(*file).next()) return DataFormat::kWebDataset;
  // Its first member may be what is damaged.
  if (there == sizeof head && std::memcmp(head + 257, "ustar", 5) == 0) return DataFormat::kWebDataset;
  return std::nullopt;
}

Result<DataSource> find_data(const std::vector<std::string>& paths) {
  Finder finder;
  for (const std::string& path : paths) {
    if (far::is_far(path))
      return unusable(fmt::format("{} is not on this machine", far::shown(path)),
                      "copy it here; readers of pipelines read it where it is");
    GALATEA_TRY(finder.add(path));
  }
  return std::move(finder).done();
}

Result<std::unique_ptr<DataContainer>> open_container(DataFormat format, const std::string& path,
                                                      const DataFeatures& features, int64_t first) {
  switch (format) {
    case DataFormat::kFolder: {
      std::error_code error;
      return fs::is_directory(path, error) ? open_class_folders(path) : open_file_list(path);
    }
    case DataFormat::kWebDataset:
      return open_webdataset_samples(path);
    case DataFormat::kTfRecord:
      return open_tfrecord_samples(path, features, first);
    case DataFormat::kRecordIo:
      return open_record_io_samples(path, first);
    case DataFormat::kLmdb:
      return open_lmdb_samples(path);
  }
  GALATEA_CHECK(false, "a form of data that does not exist");
}

DataSet::DataSet(DataSource source, DataFeatures features)
    : source_(std::move(source)), features_(std::move(features)) {
  for (const int64_t size : source_.sizes) all_bytes_ += size;
}

Result<bool> DataSet::next() {
  for (;;) {
    if (!open_) {
      if (at_ == source_.paths.size()) return false;
      auto opened = open_container(source_.format, source_.paths[at_], features_, samples_);
      if (!opened) {
        bytes_behind_ += source_.sizes[at_++];
        return std::unexpected(std::move(opened.error()));
      }
      open_ = std::move(*opened);
    }
    Result<bool> more = open_->next();
    if (more && *more) {
      ++samples_;
      return true;
    }
    passed_over_.insert(open_->passed_over().begin(), open_->passed_over().end());
    open_.reset();
    bytes_behind_ += source_.sizes[at_++];
    if (!more) return more;
  }
}

Status DataSet::read(DataSample& sample) { return open_->read(sample); }

DataPlace DataSet::place() const { return open_->place(); }

double DataSet::share() const {
  if (at_ == source_.paths.size()) return 1;
  const double within = open_ ? open_->share() : 0;
  if (all_bytes_ == 0) return (static_cast<double>(at_) + within) / static_cast<double>(source_.paths.size());
  return (static_cast<double>(bytes_behind_) + within * static_cast<double>(source_.sizes[at_])) /
         static_cast<double>(all_bytes_);
}

}  // namespace galatea::native
