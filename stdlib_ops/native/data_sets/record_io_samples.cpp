// Samples of a RecordIO file, with the names of the list beside it.
#include <charconv>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "stdlib_ops/native/data_sets/containers.h"
#include "stdlib_ops/native/record_io.h"

namespace galatea::native {
namespace {

namespace fs = std::filesystem;

class RecordIoSamples final : public DataContainer {
 public:
  RecordIoSamples(std::shared_ptr<const ByteSource> file, const std::string& list, int64_t first)
      : file_(std::move(file)),
        scanner_(*file_),
        list_(list),
        lines_(list, std::ios::binary),
        number_(first - 1) {}

  Result<bool> next() override {
    GALATEA_ASSIGN(const std::optional<RecordPlace> place, scanner_.next());
    if (!place) return false;
    at_ = *place;
    ++number_;
    if (lines_.is_open()) std::getline(lines_, line_);
    return true;
  }

  Status read(DataSample& sample) override {
    std::vector<uint8_t> record(static_cast<size_t>(at_.size));
    GALATEA_TRY(file_->read(at_.offset, record));
    GALATEA_ASSIGN(const std::span<uint8_t> joined, join_record_io(record, file_->name(), at_.offset));
    GALATEA_ASSIGN(const RecordIoImage found, record_io_image(joined, file_->name(), at_.offset));
    sample = {.name = fmt::format("{:08}", number_),
              .labels = {found.labels.begin(), found.labels.end()},
              .parts = {}};
    std::string extension(extension_of(found.image));
    if (lines_.is_open()) {
      GALATEA_TRY(take_name(found.id, sample.name));
      if (std::string named = take_extension(sample.name); !named.empty()) extension = std::move(named);
    }
    sample.parts.push_back({std::move(extension), {found.image.begin(), found.image.end()}});
    return {};
  }

  DataPlace place() const override { return {file_->name(), at_.offset}; }
  double share() const override {
    return static_cast<double>(at_.offset) / static_cast<double>(file_->size());
  }

 private:
  /// A line is "NUMBER<tab>LABELS…<tab>PATH"; its number is the record's.
  Status take_name(uint64_t id, std::string& name) const {
    uint64_t number = 0;
    const auto end = std::from_chars(line_.data(), line_.data() + line_.size(), number);
    const size_t tab = line_.rfind('\t');
    if (end.ec != std::errc() || tab == std::string::npos || number != id)
      return unusable(
          fmt::format("{} does not name the record {} of {} at byte {}", list_, id, file_->name(),
                      at_.offset),
          "the list beside a .rec file has a line a record, in its order; without the list, records "
          "are numbered");
    name = line_.substr(tab + 1);
    while (name.ends_with('\r')) name.pop_back();
    return {};
  }

  std::shared_ptr<const ByteSource> file_;
  RecordIoScanner scanner_;
  std::string list_;
  std::ifstream lines_;
  std::string line_;
  int64_t number_;
  RecordPlace at_;
};

}  // namespace

Result<std::unique_ptr<DataContainer>> open_record_io_samples(const std::string& path, int64_t first) {
  GALATEA_ASSIGN(std::shared_ptr<const ByteSource> file, open_file(path));
  return std::make_unique<RecordIoSamples>(std::move(file), fs::path(path).replace_extension(".lst").string(),
                                           first);
}

}  // namespace galatea::native
