// WebDataset archives, TFRecord and RecordIO files, one a shard.
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "stdlib_ops/native/data_sets/containers.h"
#include "stdlib_ops/native/data_sets/data_index.h"
#include "stdlib_ops/native/data_sets/data_writer.h"
#include "stdlib_ops/native/data_sets/output_file.h"
#include "stdlib_ops/native/data_sets/tar_header.h"
#include "stdlib_ops/native/protobuf_writer.h"
#include "stdlib_ops/native/record_io.h"
#include "stdlib_ops/native/tfrecord.h"

namespace galatea::native {
namespace {

namespace fs = std::filesystem;

class ShardWriter : public DataWriter {
 public:
  ShardWriter(DataFormat format, std::string folder, std::string prefix)
      : format_(format), folder_(std::move(folder)), prefix_(std::move(prefix)) {}

  Status begin(int64_t shard, int64_t first) override {
    path_ = path_of(shard);
    first_ = first;
    number_ = 0;
    GALATEA_ASSIGN(out_, OutputFile::create(path_));
    return {};
  }
  Status add(const DataSample& sample) override {
    GALATEA_TRY(put(sample, number_, *out_));
    ++number_;
    return {};
  }
  int64_t bytes() const override { return out_ ? out_->size() : 0; }
  Status end() override {
    GALATEA_TRY(close(*out_));
    GALATEA_TRY(out_->finish());
    out_.reset();
    GALATEA_TRY(write_index(format_, path_, index_path_of(path_), [](double) { return true; }));
    return {};
  }
  Result<std::unique_ptr<DataContainer>> read_back() override {
    return open_container(format_, path_, {}, first_);
  }
  Status remove_from(int64_t first) override {
    for (std::error_code error; fs::exists(path_of(first), error); ++first)
      for (const std::string& path : {path_of(first), index_path_of(path_of(first)),
                                      fs::path(path_of(first)).replace_extension(".lst").string()})
        if (::unlink(path.c_str()) != 0 && errno != ENOENT) return cannot_write(path, errno);
    return {};
  }

 protected:
  virtual Status put(const DataSample& sample, int64_t number, OutputFile& out) = 0;
  virtual Status close(OutputFile& /*out*/) { return {}; }
  const std::string& path() const { return path_; }

 private:
  std::string path_of(int64_t shard) const {
    const char* const extension = format_ == DataFormat::kWebDataset ? "tar"
                                  : format_ == DataFormat::kTfRecord ? "tfrecord"
                                                                     : "rec";
    return (fs::path(folder_) / fmt::format("{}-{:06}.{}", prefix_, shard, extension)).string();
  }

  DataFormat format_;
  std::string folder_, prefix_, path_;
  int64_t first_ = 0, number_ = 0;
  std::optional<OutputFile> out_;
};

// ---- WebDataset

/// A name as a key: no points behind the last slash, which end it, and no white space, which ends words of an
/// index.
std::string key_of(std::string name) {
  const size_t slash = name.rfind('/');
  for (size_t k = 0; k < name.size(); ++k) {
    const bool is_point = name[k] == '.' && (slash == std::string::npos || k > slash);
    if (is_point || name[k] == ' ' || name[k] == '\v' || name[k] == '\f') name[k] = '_';
  }
  return name;
}

class WebDatasetWriter final : public ShardWriter {
 public:
  using ShardWriter::ShardWriter;

  Status fit(DataSample& sample) const override {
    GALATEA_TRY(check_sample_name(sample));
    // A part that would be read as something else.
    std::erase_if(sample.parts, [&](const DataPart& part) {
      if (part.extension != "cls" && part.extension != "filename") return false;
      const auto number = number_in({reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size()});
      if (part.extension == "cls" && sample.labels.empty() && !number) return false;
      if (part.extension == "cls" && sample.labels.empty()) {
        sample.labels = {*number};
      } else {
        sample.left_out.push_back(fmt::format("the part \"{}\"", part.extension));
      }
      return true;
    });
    for (size_t k = 0; k < sample.parts.size(); ++k)
      for (size_t j = 0; j < k; ++j)
        if (sample.parts[j].extension == sample.parts[k].extension)
          return unusable(
              fmt::format("the sample \"{}\" has two parts \"{}\"", sample.name, sample.parts[k].extension));
    if (sample.parts.empty() && sample.labels.empty())
      return unusable(fmt::format("the sample \"{}\" is empty", sample.name));
    if (sample.labels.size() > 1)
      GALATEA_TRY(label_between(sample, -(int64_t{1} << 53), int64_t{1} << 53, "WebDataset"));
    return {};
  }

 private:
  Status put(const DataSample& sample, int64_t number, OutputFile& out) override {
    std::string key = key_of(sample.name);
    // Neighbours of one key would be one sample.
    if (number > 0 && key == last_key_) key += fmt::format("_{}", number);
    last_key_ = key;
    auto member = [&](const std::string& extension, std::string_view bytes) -> Status {
      const auto size = static_cast<int64_t>(bytes.size());
      GALATEA_TRY(out.write(tar_header(key + "." + extension, size)));
      GALATEA_TRY(out.write(bytes));
      return out.write(tar_padding(size));
    };
    for (const DataPart& part : sample.parts)
      GALATEA_TRY(
          member(part.extension, {reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size()}));
    if (!sample.labels.empty()) GALATEA_TRY(member("cls", fmt::format("{}", sample.labels.front())));
    if (key != sample.name) GALATEA_TRY(member("filename", sample.name));
    return {};
  }
  Status close(OutputFile& out) override { return out.write(tar_end()); }

  std::string last_key_;
};

// ---- TFRecord

class TfRecordWriter final : public ShardWriter {
 public:
  using ShardWriter::ShardWriter;

  /// The picture comes first; it is image/encoded.
  Status fit(DataSample& sample) const override {
    GALATEA_TRY(check_sample_name(sample));
    const std::optional<size_t> main = main_part(sample);
    if (!main)
      return unusable(fmt::format("the sample \"{}\" has no picture", sample.name),
                      "a TFRecord of this command has one in each record");
    std::rotate(sample.parts.begin(), sample.parts.begin() + static_cast<std::ptrdiff_t>(*main),
                sample.parts.begin() + static_cast<std::ptrdiff_t>(*main) + 1);
    for (const double label : sample.labels)
      if (!is_whole(label) && static_cast<double>(static_cast<float>(label)) != label)
        return unusable(fmt::format("the label {} of \"{}\" is no float32", label, sample.name));
    return {};
  }

 private:
  static bool is_whole(double label) {
    return std::trunc(label) == label && std::abs(label) <= 9007199254740992.0;
  }

  static std::string text_feature(std::span<const uint8_t> bytes) {
    ProtobufWriter list, feature;
    list.bytes(1, bytes);
    feature.bytes(1, list.message());
    return feature.message();
  }
  static std::string text_feature(std::string_view text) {
    return text_feature({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }
  static std::string label_feature(const std::vector<double>& labels) {
    const bool are_whole = std::ranges::all_of(labels, is_whole);
    ProtobufWriter list, feature;
    for (const double label : labels) {
      if (are_whole) {
        list.number(1, static_cast<uint64_t>(static_cast<int64_t>(label)));
      } else {
        list.float32(1, static_cast<float>(label));
      }
    }
    feature.bytes(are_whole ? 3 : 2, list.message());
    return feature.message();
  }

  Status put(const DataSample& sample, int64_t, OutputFile& out) override {
    ProtobufWriter features, example;
    auto add = [&](std::string_view name, const std::string& feature) {
      ProtobufWriter entry;
      entry.bytes(1, name);
      entry.bytes(2, feature);
      features.bytes(1, entry.message());
    };
    const DataPart& picture = sample.parts.front();
    add("image/encoded", text_feature(picture.bytes));
    add("image/format", text_feature(picture.extension));
    add("image/filename", text_feature(sample.name + "." + picture.extension));
    if (!sample.labels.empty()) add("image/class/label", label_feature(sample.labels));
    if (const std::string_view folder = folder_of(sample.name); !folder.empty())
      add("image/class/text", text_feature(folder));
    for (const DataPart& part : std::span(sample.parts).subspan(1))
      add(part.extension, text_feature(part.bytes));
    example.bytes(1, features.message());
    const std::string& content = example.message();
    const uint64_t length = content.size();
    uint8_t head[kTfRecordHead];
    std::memcpy(head, &length, sizeof length);
    const uint32_t of_length = masked_crc32c({head, sizeof length});
    const uint32_t of_content =
        masked_crc32c({reinterpret_cast<const uint8_t*>(content.data()), content.size()});
    std::memcpy(head + sizeof length, &of_length, sizeof of_length);
    GALATEA_TRY(out.write(std::span<const uint8_t>(head)));
    GALATEA_TRY(out.write(content));
    return out.write(std::span(reinterpret_cast<const uint8_t*>(&of_content), sizeof of_content));
  }
};

// ---- RecordIO

class RecordIoWriter final : public ShardWriter {
 public:
  using ShardWriter::ShardWriter;

  Status fit(DataSample& sample) const override {
    GALATEA_TRY(fit_picture(sample));
    GALATEA_TRY(check_sample_name(sample));
    for (const double label : sample.labels)
      if (static_cast<double>(static_cast<float>(label)) != label)
        return unusable(fmt::format("the label {} of \"{}\" is no float32", label, sample.name),
                        "RecordIO holds labels as float32");
    return {};
  }

  Status begin(int64_t shard, int64_t first) override {
    GALATEA_TRY(ShardWriter::begin(shard, first));
    GALATEA_ASSIGN(list_, OutputFile::create(fs::path(path()).replace_extension(".lst").string()));
    return {};
  }

 private:
  Status put(const DataSample& sample, int64_t number, OutputFile& out) override {
    // One label stands in the header, several behind it.
    const auto count = static_cast<uint32_t>(sample.labels.size() > 1 ? sample.labels.size() : 0);
    const auto label = static_cast<float>(count == 0 ? sample.labels.front() : 0);
    const uint64_t ids[2] = {static_cast<uint64_t>(number), 0};
    std::string record(24, '\0');
    std::memcpy(record.data(), &count, 4);
    std::memcpy(record.data() + 4, &label, 4);
    std::memcpy(record.data() + 8, ids, 16);
    std::string labels;
    for (const double each : sample.labels) {
      const auto value = static_cast<float>(each);
      if (count > 0) record.append(reinterpret_cast<const char*>(&value), 4);
      labels += fmt::format("{}\t", each);
    }
    const DataPart& picture = sample.parts.front();
    record.append(reinterpret_cast<const char*>(picture.bytes.data()), picture.bytes.size());
    GALATEA_TRY(write_parts(record, out));
    return list_->write(fmt::format("{}\t{}{}.{}\n", number, labels, sample.name, picture.extension));
  }

  /// Divided where the magic number stands at a multiple of four, which is left out there.
  static Status write_parts(std::string_view record, OutputFile& out) {
    std::vector<size_t> ends;
    for (size_t at = 0; at + 4 <= record.size(); at += 4) {
      uint32_t word = 0;
      std::memcpy(&word, record.data() + at, 4);
      if (word == kRecordIoMagic) ends.push_back(at);
    }
    ends.push_back(record.size());
    size_t begin = 0;
    for (size_t k = 0; k < ends.size(); ++k) {
      const size_t size = ends[k] - begin;
      if (size > static_cast<size_t>(kMostRecordIoPart))
        return unusable(fmt::format("a record of {} bytes is too large for RecordIO", record.size()));
      const uint32_t kind = ends.size() == 1 ? 0 : k == 0 ? 1 : k + 1 < ends.size() ? 2 : 3;
      const uint32_t head[2] = {kRecordIoMagic, kind << 29 | static_cast<uint32_t>(size)};
      GALATEA_TRY(out.write(std::span(reinterpret_cast<const uint8_t*>(head), sizeof head)));
      GALATEA_TRY(out.write(record.substr(begin, size)));
      GALATEA_TRY(out.write(std::string_view("\0\0\0", (4 - size % 4) % 4)));
      begin = ends[k] + 4;
    }
    return {};
  }

  Status close(OutputFile&) override { return list_->finish(); }

  std::optional<OutputFile> list_;
};

}  // namespace

std::unique_ptr<DataWriter> shard_writer(DataFormat format, const std::string& folder,
                                         const std::string& prefix) {
  if (format == DataFormat::kWebDataset) return std::make_unique<WebDatasetWriter>(format, folder, prefix);
  if (format == DataFormat::kTfRecord) return std::make_unique<TfRecordWriter>(format, folder, prefix);
  GALATEA_CHECK(format == DataFormat::kRecordIo, "a form that is not written in shards");
  return std::make_unique<RecordIoWriter>(format, folder, prefix);
}

}  // namespace galatea::native
