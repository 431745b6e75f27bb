#include "stdlib_ops/native/tfrecord.h"

#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "runtime/memory_gate.h"
#include "stdlib_ops/native/far/address.h"
#include "stdlib_ops/native/paths.h"
#include "stdlib_ops/native/record_stream.h"
#include "stdlib_ops/native/tf_example.h"

namespace galatea::native {
namespace {

using Wire = ProtobufReader::Wire;

constexpr int64_t kHead = kTfRecordHead, kTail = kTfRecordTail;

/// Tables of "slicing by 8" (Kounavis, Berry 2008): row k is a byte's part k bytes before the end.
using CrcTables = std::array<std::array<uint32_t, 256>, 8>;

constexpr CrcTables make_crc_tables() {
  CrcTables tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ (c & 1 ? 0x82F63B78U : 0U);
    tables[0][i] = c;
  }
  for (size_t k = 1; k < tables.size(); ++k)
    for (size_t i = 0; i < 256; ++i)
      tables[k][i] = (tables[k - 1][i] >> 8) ^ tables[0][tables[k - 1][i] & 0xFF];
  return tables;
}

constexpr const char* kKindNames[] = {"nothing", "texts", "float32", "int64"};

uint32_t kind_of_dtype(DType dtype) { return dtype == DType::kU8 ? 1 : dtype == DType::kF32 ? 2 : 3; }

/// One feature of one record.
class Delivery {
 public:
  Delivery(const std::string& record, const std::string& name, const TfFeature& feature, int output,
           const runtime::AllocateOutput& allocate, const RecordBytes* from)
      : record_(record), name_(name), feature_(feature), output_(output), allocate_(allocate), from_(from) {}

  Status operator()(const FeatureValues& values) const {
    if (values.kind == 0 && feature_.fixed)
      return wrong("is not in the record", "use VarLenFeature for what some records lack");
    if (values.kind != 0 && values.kind != kind_of_dtype(feature_.dtype) && !values.list.empty())
      return wrong(
          fmt::format("holds {}, not {}", kKindNames[values.kind], kKindNames[kind_of_dtype(feature_.dtype)]),
          "give the feature the type that it has in the file");
    return feature_.is_text() ? text(values) : numbers(values);
  }

 private:
  Status text(const FeatureValues& values) const {
    std::span<const uint8_t> first;
    ProtobufReader reader(values.list);
    size_t count = 0;
    while (const auto field = reader.next())
      if (field->number == 1 && field->wire == Wire::kBytes && count++ == 0) first = field->bytes;
    if (reader.is_damaged()) return wrong("is damaged");
    GALATEA_ASSIGN(runtime::Tensor * out,
                   allocate_(output_, DType::kU8, {static_cast<int64_t>(first.size())}));
    if (from_) return from_->copy(first, out->data);
    if (!first.empty()) std::memcpy(out->data, first.data(), first.size());
    return {};
  }

  Status numbers(const FeatureValues& values) const {
    int64_t count = 0, part = 1;
    if (!each_feature_number(values, [&](uint64_t) { ++count; })) return wrong("is damaged");
    for (const int64_t extent : feature_.shape) part *= extent;
    std::vector<int64_t> extents = feature_.shape;
    if (feature_.fixed && count != part)
      return wrong(fmt::format("has {} values, not {}", count, part),
                   "use VarLenFeature for what has another length in each record");
    if (!feature_.fixed) {
      if (part > 0 ? count % part != 0 : count > 0)
        return wrong(fmt::format("has {} values, which are not rows of {}", count, part),
                     "give VarLenFeature the shape of the rows that are in the file");
      extents.insert(extents.begin(), part > 0 ? count / part : 0);
    }
    GALATEA_ASSIGN(runtime::Tensor * out, allocate_(output_, feature_.dtype, extents));
    const size_t bytes = feature_.dtype == DType::kF32 ? 4 : 8;
    uint8_t* to = out->data;
    each_feature_number(values, [&](uint64_t value) {
      std::memcpy(to, &value, bytes);
      to += bytes;
    });
    return {};
  }

  std::unexpected<Error> wrong(const std::string& what, std::string help = {}) const {
    if (help.empty()) help = "make the record again";
    return make_error(ErrorKind::kUser, "G0802", fmt::format("{}: feature \"{}\" {}", record_, name_, what),
                      help + "; on_error=\"skip\" goes on without the record");
  }

  const std::string& record_;
  const std::string& name_;
  const TfFeature& feature_;
  int output_;
  const runtime::AllocateOutput& allocate_;
  const RecordBytes* from_;
};

using Features = std::map<std::string, TfFeature>;

class TfExamples final : public RecordFormat {
 public:
  explicit TfExamples(Features features) : features_(std::move(features)) {}

  int64_t bytes(const ByteSource& file, const RecordPlace& place) const override {
    // The record where it is read to, and what its parts become: not more than it has bytes, eight of each.
    return scratch_bytes(place, texts_of(file, place)) + runtime::claimed_bytes(place.size) +
           static_cast<int64_t>(features_.size()) * runtime::claimed_bytes(1);
  }

  Status read(const ByteSource& file, const RecordPlace& place,
              const runtime::AllocateOutput& allocate) const override {
    GALATEA_ASSIGN(const RecordBytes record, read_record(file, place, texts_of(file, place)));
    const std::span<const uint8_t> bytes = record.bytes();
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    if (length != bytes.size() - kHead - kTail)
      return damaged(file.name(), place.offset,
                     fmt::format("the record says that it has {} bytes, the index {}", length,
                                 bytes.size() - kHead - kTail));
    return deliver_example(bytes.subspan(kHead, length), name_of_record(file, place), features_, allocate,
                           &record);
  }

 private:
  /// Large texts go from the file to where they are wanted: Features, entries, Feature, BytesList.
  static std::vector<RecordPlace> texts_of(const ByteSource& file, const RecordPlace& place) {
    static constexpr uint32_t kTexts[] = {1, 1, 2, 1, 1};
    return large_texts(file, {place.offset + kHead, place.size - kHead - kTail}, kTexts);
  }

  Features features_;
};

/// The places of a file's records, from its index or by looking.
Result<std::vector<RecordPlace>> places_in(const ByteSource& file, const std::string* index) {
  if (!index) return scan_tfrecord(file);
  GALATEA_ASSIGN(const std::string text, text_of(*index, "index"));
  const std::string index_name = far::shown(*index);
  GALATEA_ASSIGN(std::vector<RecordPlace> places, parse_number_pairs(text, index_name));
  for (const RecordPlace& place : places)
    if (place.size < kHead + kTail || place.size > file.size() || place.offset > file.size() - place.size)
      return unusable(fmt::format("the index {} has a record of {} bytes at {}, but {} has {} bytes",
                                  index_name, place.size, place.offset, file.name(), file.size()),
                      "make the index again from this file, or leave index_path out");
  if (const auto shared = shared_bytes(places))
    return unusable(
        fmt::format("the index {} has a record of {} bytes at {} in {}, within that of {} bytes at {}",
                    index_name, places[shared->second].size, places[shared->second].offset, file.name(),
                    places[shared->first].size, places[shared->first].offset),
        "make the index again from this file, or leave index_path out");
  return places;
}

}  // namespace

uint32_t masked_crc32c(std::span<const uint8_t> bytes) {
  static constexpr CrcTables kTables = make_crc_tables();
  uint32_t c = 0xFFFFFFFFU;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    word ^= c;
    c = 0;
    for (size_t k = 0; k < 8; ++k) c ^= kTables[7 - k][word >> (8 * k) & 0xFF];
  }
  for (const uint8_t byte : bytes) c = (c >> 8) ^ kTables[0][(c ^ byte) & 0xFF];
  return std::rotr(~c, 15) + 0xA282EAD8U;
}

std::map<std::string, TfFeature> features_of(const nlohmann::json& features) {
  std::map<std::string, TfFeature> out;
  for (const auto& [name, feature] : features.items())
    out[name] = {.dtype = *dtype_from_short_name(feature["dtype"].get<std::string>()),
                 .fixed = feature["fixed"],
                 .shape = feature["shape"]};
  return out;
}

Port port_of(const std::string& name, const TfFeature& feature) {
  Port port;
  port.name = name;
  port.dtypes = {feature.dtype};
  if (!feature.fixed || feature.is_text()) port.extents.emplace_back();
  if (!feature.is_text()) port.extents.insert(port.extents.end(), feature.shape.begin(), feature.shape.end());
  port.ndim = static_cast<int>(port.extents.size());
  return port;
}

Result<std::optional<RecordPlace>> TfRecordScanner::next() {
  if (at_ >= file_.size()) return std::nullopt;
  uint8_t head[kHead];
  if (file_.size() - at_ < kHead + kTail) return damaged(file_.name(), at_, "it ends within a record");
  GALATEA_TRY(file_.read(at_, head));
  uint64_t length = 0;
  uint32_t checksum = 0;
  std::memcpy(&length, head, sizeof length);
  std::memcpy(&checksum, head + sizeof length, sizeof checksum);
  if (masked_crc32c({head, sizeof length}) != checksum)
    return damaged(file_.name(), at_, "no TFRecord begins there");
  if (length > static_cast<uint64_t>(file_.size() - at_ - kHead - kTail))
    return damaged(file_.name(), at_,
                   fmt::format("a record of {} bytes begins there, but the file ends", length));
  const RecordPlace place{at_, kHead + static_cast<int64_t>(length) + kTail};
  at_ += place.size;
  return place;
}

Result<std::vector<RecordPlace>> scan_tfrecord(const ByteSource& file) {
  return all_places(TfRecordScanner(file));
}

Status deliver_example(std::span<const uint8_t> example, const std::string& record,
                       const std::map<std::string, TfFeature>& features,
                       const runtime::AllocateOutput& allocate, const RecordBytes* from) {
  std::vector<FeatureValues> found(features.size());
  const bool is_whole = each_feature(example, [&](std::string_view name, const FeatureValues& values) {
    const auto at = features.find(std::string(name));
    if (at != features.end()) found[static_cast<size_t>(std::distance(features.begin(), at))] = values;
  });
  if (!is_whole)
    return make_error(ErrorKind::kUser, "G0802", fmt::format("{} holds no whole tf.train.Example", record),
                      "make the record again; on_error=\"skip\" goes on without it");
  int output = 0;
  for (const auto& [name, feature] : features) {
    GALATEA_TRY(Delivery(record, name, feature, output, allocate, from)(found[static_cast<size_t>(output)]));
    ++output;
  }
  return {};
}

Result<std::unique_ptr<runtime::SampleSource>> open_tfrecord(const std::string& config) {
  const nlohmann::json json = parse_json(config);
  GALATEA_ASSIGN(std::vector<std::string> paths, paths_of(json, "path"));
  auto format = std::make_shared<const TfExamples>(features_of(json["features"]));
  if (json.value("stream", false))
    return stream_of_containers(std::move(paths), container_stream_options(json),
                                passes_over_records<TfRecordScanner>(std::move(format)));
  GALATEA_ASSIGN(const std::vector<std::string> indices, paths_of(json, "index_path"));
  if (!indices.empty() && indices.size() != paths.size())
    return unusable(fmt::format("readers.tfrecord has {} files and {} indices", paths.size(), indices.size()),
                    "give one index for each file, in the same order, or none");
  will_open_containers(paths, indices);
  auto source = std::make_unique<RecordsOfFormat>(std::move(format));
  for (size_t i = 0; i < paths.size(); ++i) {
    GALATEA_ASSIGN(const std::shared_ptr<const ByteSource> file, open_file(paths[i]));
    GALATEA_ASSIGN(const std::vector<RecordPlace> places,
                   places_in(*file, indices.empty() ? nullptr : &indices[i]));
    source->add(file, places);
  }
  if (source->size() == 0)
    return unusable(fmt::format("no records in {}", shown_paths(paths)), "name files that hold records");
  return source;
}

}  // namespace galatea::native
