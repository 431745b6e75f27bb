// A folder with a folder a class, and labels.txt: "path label" a line, for readers.file(file_list=…).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/fault.h"
#include "stdlib_ops/native/data_sets/data_writer.h"
#include "stdlib_ops/native/data_sets/output_file.h"
#include "stdlib_ops/native/file_source.h"

namespace galatea::native {
namespace {

namespace fs = std::filesystem;

/// A file descriptor that closes itself.
class Handle {
 public:
  explicit Handle(int fd) : fd_(fd) {}
  ~Handle() { close(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle(Handle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  int close() { return fd_ < 0 ? 0 : ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

/// A file of a sample, and what it held.
struct WrittenFile {
  std::string path;  ///< in the folder
  std::string extension;
  size_t size;
};
struct WrittenSample {
  std::string name;
  std::vector<double> labels;
  std::vector<WrittenFile> files;
};

class WrittenFiles final : public DataContainer {
 public:
  WrittenFiles(std::string folder, std::vector<WrittenSample> samples)
      : folder_(std::move(folder)), samples_(std::move(samples)) {}
  Result<bool> next() override { return ++at_ < samples_.size(); }
  Status read(DataSample& sample) override {
    const WrittenSample& written = samples_[at_];
    sample = {.name = written.name, .labels = written.labels, .parts = {}};
    for (const WrittenFile& file : written.files) {
      GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> source,
                     open_file((fs::path(folder_) / file.path).string()));
      sample.parts.push_back({file.extension, std::vector<uint8_t>(static_cast<size_t>(source->size()))});
      GALATEA_TRY(source->read(0, sample.parts.back().bytes));
    }
    return {};
  }
  DataPlace place() const override {
    return {(fs::path(folder_) / samples_[at_].files.front().path).string(), 0};
  }
  double share() const override { return static_cast<double>(at_) / static_cast<double>(samples_.size()); }

 private:
  std::string folder_;
  std::vector<WrittenSample> samples_;
  size_t at_ = SIZE_MAX;  // before the first
};

class FolderWriter final : public DataWriter {
 public:
  explicit FolderWriter(std::string folder)
      : folder_(std::move(folder)), root_(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

  Status fit(DataSample& sample) const override {
    if (!sample.labels.empty()) {
      GALATEA_ASSIGN(const int64_t label, label_between(sample, 0, INT32_MAX, "a folder"));
      // Sorted, the folders are in the order of the labels.
      if (folder_of(sample.name).empty()) sample.name = fmt::format("{:04}/{}", label, sample.name);
    }
    if (sample.parts.empty())
      return unusable(fmt::format("the sample \"{}\" has nothing but a label", sample.name));
    GALATEA_TRY(check_sample_name(sample));
    for (const DataPart& part : sample.parts)
      if (const std::string path = sample.name + "." + part.extension;
          path == kList || path == kConversionState)
        return unusable(
            fmt::format("the sample \"{}\" would be {}, which the folder has for itself", sample.name, path),
            "--on-error skip goes on without the sample");
    return {};
  }

  int64_t most_samples() const override { return 1000; }

  Status begin(int64_t, int64_t) override {
    if (root_.get() < 0) return cannot_write(folder_, errno);
    written_.clear();
    lines_.clear();
    bytes_ = 0;
    return {};
  }

  Status add(const DataSample& sample) override {
    WrittenSample written{.name = sample.name, .labels = sample.labels, .files = {}};
    for (const DataPart& part : sample.parts) {
      WrittenFile file{sample.name + "." + part.extension, part.extension, part.bytes.size()};
      GALATEA_TRY(put(file.path, part.bytes));
      bytes_ += static_cast<int64_t>(part.bytes.size());
      written.files.push_back(std::move(file));
    }
    if (!sample.labels.empty()) {
      const size_t main = main_part(sample).value_or(0);
      lines_ += fmt::format("{} {}\n", written.files[main].path, *whole_label(sample));
    }
    written_.push_back(std::move(written));
    return {};
  }

  int64_t bytes() const override { return bytes_; }

  Status end() override {
    replaces_ = false;
    if (lines_.empty()) return {};
    Handle list(::openat(root_.get(), kList.data(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (list.get() < 0 || ::ftruncate(list.get(), mark_) != 0 || ::lseek(list.get(), mark_, SEEK_SET) < 0)
      return cannot_write(folder_ + "/" + std::string(kList), errno);
    if (const int number = write_all(list.get(), lines_))
      return cannot_write(folder_ + "/" + std::string(kList), number);
    if (list.close() != 0) return cannot_write(folder_ + "/" + std::string(kList), errno);
    mark_ += static_cast<int64_t>(lines_.size());
    return {};
  }

  Result<std::unique_ptr<DataContainer>> read_back() override {
    return std::make_unique<WrittenFiles>(folder_, std::move(written_));
  }

  int64_t mark() const override { return mark_; }
  /// The files of the samples that were being written are there already, whole or not.
  Status go_on(int64_t mark) override {
    mark_ = mark;
    replaces_ = true;
    return {};
  }

  Status remove_from(int64_t first) override {
    if (first > 0) return {};
    std::ifstream list(folder_ + "/" + std::string(kList), std::ios::binary);
    for (std::string line; std::getline(list, line);) {
      const auto entry = parse_file_list_line(line, std::string(kList), "");
      if (!entry || !check_sample_name({.name = entry->name, .labels = {}, .parts = {}})) continue;
      if (const Handle folder = folder_of_file(entry->name, false); folder.get() >= 0)
        ::unlinkat(folder.get(), last_of(entry->name), 0);
    }
    ::unlinkat(root_.get(), kList.data(), 0);
    return {};
  }

 private:
  static constexpr std::string_view kList = "labels.txt";

  static const char* last_of(const std::string& path) { return path.c_str() + (path.rfind('/') + 1); }

  /// The folder that a path names a file of, link by link: no link is followed. Negative: errno says why.
  Handle folder_of_file(const std::string& path, bool make) const {
    Handle at(::dup(root_.get()));
    for (size_t begin = 0, end = 0; at.get() >= 0 && (end = path.find('/', begin)) != std::string::npos;
         begin = end + 1) {
      const std::string part = path.substr(begin, end - begin);
      if (make && ::mkdirat(at.get(), part.c_str(), 0777) != 0 && errno != EEXIST) return Handle(-1);
      at = Handle(::openat(at.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    }
    return at;
  }

  Status put(const std::string& path, const std::vector<uint8_t>& bytes) const {
    const std::string shown = folder_ + "/" + path;
    const Handle folder = folder_of_file(path, true);
    if (folder.get() < 0) return cannot_write(shown, errno);
    if (replaces_) ::unlinkat(folder.get(), last_of(path), 0);
    Handle file(
        ::openat(folder.get(), last_of(path), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (file.get() < 0) return cannot_write(shown, errno);
    int number = write_all(file.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (file.close() != 0 && number == 0) number = errno;
    if (number != 0) return cannot_write(shown, number);
    return {};
  }

  std::string folder_;
  Handle root_;
  std::vector<WrittenSample> written_;
  std::string lines_;
  int64_t bytes_ = 0, mark_ = 0;
  bool replaces_ = false;
};

}  // namespace

std::unique_ptr<DataWriter> folder_writer(const std::string& folder) {
  return std::make_unique<FolderWriter>(folder);
}

}  // namespace galatea::native
