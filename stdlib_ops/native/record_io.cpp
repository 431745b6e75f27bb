#include "stdlib_ops/native/record_io.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "runtime/memory_gate.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/paths.h"
#include "stdlib_ops/native/record_stream.h"

namespace galatea::native {
namespace {

constexpr int64_t kPartHead = 8;
constexpr int64_t kImageHead = 24;  // flag, label, id, id2

uint32_t word_at(const uint8_t* bytes) {
  uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

struct PartHead {
  uint32_t part = 0;  ///< 0 the only one, 1 the first, 2 one between, 3 the last
  int64_t size = 0;
  int64_t padded() const { return (size + 3) / 4 * 4; }
  bool ends_record() const { return part == 0 || part == 3; }
  bool begins_record() const { return part == 0 || part == 1; }
};

PartHead part_head(const uint8_t* bytes) {
  const uint32_t word = word_at(bytes + 4);
  return {word >> 29, static_cast<int64_t>(word & 0x1FFFFFFF)};
}

/// Files one behind the other, as an index of several counts their bytes.
class FilesInARow final : public ByteSource {
 public:
  explicit FilesInARow(std::vector<std::shared_ptr<const ByteSource>> files)
      : ByteSource(files.front()->name()), files_(std::move(files)) {
    for (const auto& file : files_) size_ += file->size();
  }
  Status read(int64_t offset, std::span<uint8_t> to) const override {
    return each_part(offset, static_cast<int64_t>(to.size()),
                     [&](const ByteSource& file, int64_t at, int64_t begin, int64_t bytes) {
                       return file.read(at,
                                        to.subspan(static_cast<size_t>(begin), static_cast<size_t>(bytes)));
                     });
  }
  void will_read(int64_t offset, int64_t bytes) const override {
    static_cast<void>(each_part(offset, bytes, [](const ByteSource& file, int64_t at, int64_t, int64_t part) {
      file.will_read(at, part);
      return Status();
    }));
  }

 private:
  template <typename Call>
  Status each_part(int64_t offset, int64_t bytes, Call call) const {
    int64_t done = 0;
    for (const auto& file : files_) {
      if (offset < file->size() && done < bytes) {
        const int64_t part = std::min(bytes - done, file->size() - offset);
        GALATEA_TRY(call(*file, offset, done, part));
        done += part;
        offset = 0;
      } else {
        offset -= std::min(offset, file->size());
      }
    }
    if (done < bytes) return damaged(name(), size(), fmt::format("{} bytes are missing", bytes - done));
    return {};
  }

  std::vector<std::shared_ptr<const ByteSource>> files_;
};

class RecordIoImages final : public RecordFormat {
 public:
  int64_t bytes(const ByteSource& file, const RecordPlace& place) const override {
    // Its image and its label; the record where it is read to.
    const int64_t outputs = runtime::claimed_bytes(place.size) + runtime::claimed_bytes(sizeof(float));
    return large_image(file, place) ? outputs : outputs + runtime::claimed_bytes(place.size);
  }

  Status read(const ByteSource& file, const RecordPlace& place,
              const runtime::AllocateOutput& allocate) const override {
    if (const auto image = large_image(file, place)) return read_large(file, *image, allocate);
    GALATEA_ASSIGN(const RecordBytes record, read_record(file, place));
    GALATEA_ASSIGN(const std::span<const uint8_t> joined,
                   join_record_io(record.mutable_bytes(), file.name(), place.offset));
    GALATEA_ASSIGN(const RecordIoImage found, record_io_image(joined, file.name(), place.offset));
    GALATEA_ASSIGN(runtime::Tensor * data,
                   allocate(0, DType::kU8, {static_cast<int64_t>(found.image.size())}));
    if (!found.image.empty()) std::memcpy(data->data, found.image.data(), found.image.size());
    GALATEA_ASSIGN(runtime::Tensor * label,
                   allocate(1, DType::kF32, {static_cast<int64_t>(found.labels.size())}));
    std::memcpy(label->data, found.labels.data(), found.labels.size() * sizeof(float));
    return {};
  }

 private:
  /// An image that goes straight to where it is wanted.
  struct LargeImage {
    std::vector<RecordPlace> parts;
    std::array<uint8_t, kImageHead> head;
    int64_t num_labels() const { return word_at(head.data()); }
    int64_t begin() const { return kImageHead + 4 * num_labels(); }  ///< in the first part
  };

  /// Nothing where the record is small, or not as it should be: whoever reads all of it will say why.
  static std::optional<LargeImage> large_image(const ByteSource& file, const RecordPlace& place) {
    if (place.size <= static_cast<int64_t>(kLargeText)) return std::nullopt;
    LargeImage image;
    image.parts = parts_of(file, place);
    if (image.parts.empty() || image.parts.front().size < kImageHead ||
        !file.read(image.parts.front().offset, image.head) || image.begin() > image.parts.front().size)
      return std::nullopt;
    return image;
  }

  static Status read_large(const ByteSource& file, const LargeImage& image,
                           const runtime::AllocateOutput& allocate) {
    const auto& [parts, head] = image;
    const int64_t labels = image.num_labels(), begin = image.begin();
    int64_t size = 4 * static_cast<int64_t>(parts.size() - 1) - begin;
    for (const RecordPlace& part : parts) size += part.size;
    GALATEA_ASSIGN(const runtime::Tensor* data, allocate(0, DType::kU8, {size}));
    GALATEA_ASSIGN(const runtime::Tensor* label, allocate(1, DType::kF32, {std::max<int64_t>(1, labels)}));
    if (labels == 0)
      std::memcpy(label->data, head.data() + 4, sizeof(float));
    else
      GALATEA_TRY(file.read(parts.front().offset + kImageHead,
                            {label->data, static_cast<size_t>(label->num_bytes())}));
    uint8_t* to = data->data;
    for (size_t k = 0; k < parts.size(); ++k) {
      if (k > 0) {
        std::memcpy(to, &kRecordIoMagic, sizeof kRecordIoMagic);
        to += sizeof kRecordIoMagic;
      }
      const int64_t left_out = k == 0 ? begin : 0;
      const auto bytes = static_cast<size_t>(parts[k].size - left_out);
      GALATEA_TRY(file.read(parts[k].offset + left_out, {to, bytes}));
      to += bytes;
    }
    return {};
  }

  /// Where the bytes of a record's parts lie; none where something is wrong with it.
  static std::vector<RecordPlace> parts_of(const ByteSource& file, const RecordPlace& place) {
    std::vector<RecordPlace> parts;
    const int64_t end = place.offset + place.size;
    for (int64_t at = place.offset; end - at >= kPartHead;) {
      uint8_t bytes[kPartHead];
      if (!file.read(at, bytes)) return {};
      const PartHead head = part_head(bytes);
      at += kPartHead;
      if (word_at(bytes) != kRecordIoMagic || head.begins_record() != parts.empty() || head.size > end - at)
        return {};
      parts.push_back({at, head.size});
      if (head.ends_record()) return parts;
      at += std::min(head.padded(), end - at);
    }
    return {};
  }
};

/// Keys and offsets, in any order; a record goes to the next.
Result<std::vector<RecordPlace>> places_of(const std::string& index, int64_t size) {
  GALATEA_ASSIGN(const std::string text, text_of(index, "index"));
  GALATEA_ASSIGN(const std::vector<RecordPlace> lines, parse_number_pairs(text, far::shown(index)));
  std::vector<int64_t> offsets;
  for (const RecordPlace& line : lines) offsets.push_back(line.size);  // key, offset
  std::ranges::sort(offsets);
  if (!offsets.empty() && offsets.back() > size)
    return unusable(fmt::format("the index {} has a record at {}, but there are {} bytes", far::shown(index),
                                offsets.back(), size),
                    "make the index again from these files, or leave index_path out");
  std::vector<RecordPlace> places;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const int64_t end = i + 1 < offsets.size() ? offsets[i + 1] : size;
    if (end > offsets[i]) places.push_back({offsets[i], end - offsets[i]});
  }
  return places;
}

}  // namespace

Result<std::optional<RecordPlace>> RecordIoScanner::next() {
  const int64_t begin = at_;
  for (bool within = false; at_ < file_.size();) {
    uint8_t bytes[kPartHead];
    if (file_.size() - at_ < kPartHead) return damaged(file_.name(), at_, "it ends within a record");
    GALATEA_TRY(file_.read(at_, bytes));
    const PartHead head = part_head(bytes);
    if (word_at(bytes) != kRecordIoMagic || head.begins_record() == within)
      return damaged(file_.name(), at_, "no record of a RecordIO file begins or goes on there");
    if (head.padded() > file_.size() - at_ - kPartHead)
      return damaged(file_.name(), at_,
                     fmt::format("a record of {} bytes begins there, but the file ends", head.size));
    at_ += kPartHead + head.padded();
    within = true;
    if (head.ends_record()) return RecordPlace{begin, at_ - begin};
  }
  if (at_ > begin) return damaged(file_.name(), begin, "it ends within a record");
  return std::nullopt;
}

Result<std::vector<RecordPlace>> scan_record_io(const ByteSource& file) {
  return all_places(RecordIoScanner(file));
}

Result<std::span<uint8_t>> join_record_io(std::span<uint8_t> record, const std::string& name,
                                          int64_t offset) {
  const auto size = static_cast<int64_t>(record.size());
  int64_t joined = kPartHead;  // the first part stays where it is, the others move up to it
  bool first = true, ended = false;
  for (int64_t at = 0; !ended;) {
    if (size - at < kPartHead || word_at(record.data() + at) != kRecordIoMagic)
      return damaged(name, offset + at, "no record of a RecordIO file begins or goes on there");
    const PartHead head = part_head(record.data() + at);
    if (head.begins_record() != first)
      return damaged(name, offset + at, "the parts of a record are out of order");
    if (head.size > size - at - kPartHead)
      return damaged(name, offset + at,
                     fmt::format("a part of {} bytes is longer than its record", head.size));
    if (!first) {  // what divided the parts
      std::memcpy(record.data() + joined, &kRecordIoMagic, sizeof kRecordIoMagic);
      joined += static_cast<int64_t>(sizeof kRecordIoMagic);
      std::memmove(record.data() + joined, record.data() + at + kPartHead, static_cast<size_t>(head.size));
    }
    joined += head.size;
    at += kPartHead + std::min(head.padded(), size - at - kPartHead);
    first = false;
    ended = head.ends_record();
  }
  return record.subspan(kPartHead, static_cast<size_t>(joined - kPartHead));
}

Result<RecordIoImage> record_io_image(std::span<const uint8_t> joined, const std::string& name,
                                      int64_t offset) {
  const auto size = static_cast<int64_t>(joined.size());
  if (size < kImageHead) return damaged(name, offset, "the record has no room for the header of an image");
  const int64_t labels = word_at(joined.data());
  if (labels > (size - kImageHead) / 4)
    return damaged(name, offset,
                   fmt::format("the record has no room for the {} labels that it says it has", labels));
  RecordIoImage found;
  found.labels.resize(static_cast<size_t>(std::max<int64_t>(1, labels)));
  std::memcpy(found.labels.data(), joined.data() + (labels > 0 ? kImageHead : 4),
              found.labels.size() * sizeof(float));
  std::memcpy(&found.id, joined.data() + 8, sizeof found.id);
  found.image = joined.subspan(static_cast<size_t>(kImageHead + 4 * labels));
  return found;
}

Result<std::unique_ptr<runtime::SampleSource>> open_mxnet(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_ASSIGN(std::vector<std::string> paths, paths_of(json, "path"));
  auto format = std::make_shared<const RecordIoImages>();
  if (json.value("stream", false))
    return stream_of_containers(std::move(paths), container_stream_options(json),
                                passes_over_records<RecordIoScanner>(std::move(format)));
  GALATEA_ASSIGN(const std::vector<std::string> indices, paths_of(json, "index_path"));
  if (indices.size() > 1)
    return unusable(fmt::format("readers.mxnet has {} indices", indices.size()),
                    "one index counts the bytes of all files");
  will_open_containers(paths, indices);
  std::vector<std::shared_ptr<const ByteSource>> files;
  for (const std::string& path : paths) {
    GALATEA_ASSIGN(files.emplace_back(), open_file(path));
  }
  const std::shared_ptr<const ByteSource> all =
      files.size() == 1 ? files.front() : std::make_shared<FilesInARow>(std::move(files));
  Result<std::vector<RecordPlace>> places =
      indices.empty() ? scan_record_io(*all) : places_of(indices.front(), all->size());
  if (!places) return std::unexpected(std::move(places.error()));
  auto source = std::make_unique<RecordsOfFormat>(std::move(format));
  source->add(all, *places);
  if (source->size() == 0)
    return unusable(fmt::format("no records in {}", shown_paths(paths)), "name files that hold records");
  return source;
}

}  // namespace galatea::native
