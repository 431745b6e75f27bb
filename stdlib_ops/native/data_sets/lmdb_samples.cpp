// Samples of a database of Caffe: a Datum each (caffe, src/caffe/proto/caffe.proto).
#include <filesystem>

#include <fmt/format.h>

#include "stdlib_ops/native/data_sets/containers.h"
#include "stdlib_ops/native/lmdb.h"
#include "stdlib_ops/native/protobuf.h"

namespace galatea::native {
namespace {

class LmdbSamples final : public DataContainer {
 public:
  LmdbSamples(std::shared_ptr<const ByteSource> file, std::vector<LmdbEntry> entries)
      : file_(std::move(file)), entries_(std::move(entries)) {}

  Result<bool> next() override { return ++at_ < entries_.size(); }

  Status read(DataSample& sample) override {
    const LmdbEntry& entry = entries_[at_];
    std::string key(static_cast<size_t>(entry.key.size), '\0');
    std::vector<uint8_t> bytes(static_cast<size_t>(entry.value.size));
    GALATEA_TRY(file_->read(entry.key.offset, {reinterpret_cast<uint8_t*>(key.data()), key.size()}));
    GALATEA_TRY(file_->read(entry.value.offset, bytes));
    GALATEA_ASSIGN(const std::span<const uint8_t> value, value_of(entry, bytes, file_->name()));
    return read_datum(value, key, place(), sample);
  }

  DataPlace place() const override { return {file_->name(), entries_[at_].value.offset}; }
  double share() const override { return static_cast<double>(at_) / static_cast<double>(entries_.size()); }

 private:
  std::shared_ptr<const ByteSource> file_;
  std::vector<LmdbEntry> entries_;
  size_t at_ = SIZE_MAX;  // before the first
};

/// "00000042_cat/0001.jpg" is the name behind the number; a number alone is the name.
std::string_view name_in_key(std::string_view key) {
  const size_t digits = key.find_first_not_of("0123456789");
  return digits != std::string_view::npos && digits > 0 && key[digits] == '_' ? key.substr(digits + 1) : key;
}

}  // namespace

Status read_datum(std::span<const uint8_t> value, std::string_view key, const DataPlace& place,
                  DataSample& sample) {
  using Wire = ProtobufReader::Wire;
  std::span<const uint8_t> data;
  std::optional<int32_t> label;
  bool has_pixels = false;
  ProtobufReader reader(value);
  while (const auto field = reader.next()) {
    if (field->number == 4 && field->wire == Wire::kBytes) data = field->bytes;
    // A negative int32 is written as 64 bits.
    if (field->number == 5 && field->wire == Wire::kVarint) label = static_cast<int32_t>(field->value);
    if (field->number <= 3 && field->wire == Wire::kVarint) has_pixels = has_pixels || field->value > 0;
    if (field->number == 7 && field->wire == Wire::kVarint) has_pixels = field->value == 0;
  }
  if (reader.is_damaged()) return damaged(place.file, place.offset, "the value holds no whole Datum");
  if (has_pixels && detect_format(data) == ImageFormat::kUnknown)
    return unusable(fmt::format("{} at byte {}: the Datum holds pixels, not an encoded picture", place.file,
                                place.offset),
                    "make the database with encoded pictures (convert_imageset --encoded)");
  sample = {.name = std::string(name_in_key(key)), .labels = {}, .parts = {}};
  if (label) sample.labels = {static_cast<double>(*label)};
  std::string extension = take_extension(sample.name);
  if (extension.empty()) extension = extension_of(data);
  sample.parts.push_back({std::move(extension), {data.begin(), data.end()}});
  return {};
}

Result<std::unique_ptr<DataContainer>> open_lmdb_samples(const std::string& path) {
  GALATEA_ASSIGN(std::shared_ptr<const ByteSource> file, open_lmdb(path));
  GALATEA_ASSIGN(std::vector<LmdbEntry> entries, scan_lmdb(*file));
  return std::make_unique<LmdbSamples>(std::move(file), std::move(entries));
}

}  // namespace galatea::native
