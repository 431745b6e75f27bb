// Samples of a TFRecord file.
#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "stdlib_ops/native/data_sets/containers.h"
#include "stdlib_ops/native/tf_example.h"
#include "stdlib_ops/native/tfrecord.h"

namespace galatea::native {
namespace {

/// The usual names, the first that a record has counts.
constexpr const char* kImageNames[] = {"image/encoded", "image", "image_raw", "encoded", "jpg", "png"};
constexpr const char* kLabelNames[] = {"image/class/label", "label", "image/label", "cls", "class"};
constexpr const char* kFileNames[] = {"image/filename", "filename", "__key__"};
/// What the others say already.
constexpr const char* kImplied[] = {"image/format", "image/class/text", "image/height",
                                    "image/width",  "image/channels",   "image/colorspace"};

using Features = std::vector<std::pair<std::string, FeatureValues>>;

/// The first text of a feature, and whether there are more.
struct Texts {
  std::span<const uint8_t> first;
  size_t count = 0;
};
Texts texts_of_feature(const FeatureValues& values) {
  Texts texts;
  ProtobufReader reader(values.list);
  while (const auto field = reader.next())
    if (field->number == 1 && field->wire == ProtobufReader::Wire::kBytes && texts.count++ == 0)
      texts.first = field->bytes;
  return texts;
}

std::string as_text(std::span<const uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

class TfRecordSamples final : public DataContainer {
 public:
  TfRecordSamples(std::shared_ptr<const ByteSource> file, DataFeatures features, int64_t number)
      : file_(std::move(file)), scanner_(*file_), features_(std::move(features)), number_(number - 1) {}

  Result<bool> next() override {
    GALATEA_ASSIGN(const std::optional<RecordPlace> place, scanner_.next());
    if (!place) return false;
    at_ = *place;
    ++number_;
    return true;
  }

  Status read(DataSample& sample) override {
    std::vector<uint8_t> record(static_cast<size_t>(at_.size));
    GALATEA_TRY(file_->read(at_.offset, record));
    const std::span<const uint8_t> bytes =
        std::span(record).subspan(kTfRecordHead, record.size() - kTfRecordHead - kTfRecordTail);
    uint32_t said = 0;
    std::memcpy(&said, record.data() + record.size() - kTfRecordTail, sizeof said);
    if (masked_crc32c(bytes) != said)
      return damaged(file_->name(), at_.offset, "the checksum of the record's content is wrong");
    Features features;
    const bool is_whole = each_feature(bytes, [&](std::string_view name, const FeatureValues& values) {
      features.emplace_back(name, values);
    });
    if (!is_whole) return damaged(file_->name(), at_.offset, "the record holds no whole tf.train.Example");
    return take(features, sample);
  }

  DataPlace place() const override { return {file_->name(), at_.offset}; }
  double share() const override {
    return static_cast<double>(at_.offset) / static_cast<double>(file_->size());
  }

 private:
  /// The feature of the name that was asked for, or of the first usual one; null where there is none.
  template <size_t N>
  const Features::value_type* find(const Features& features, const std::string& wanted,
                                   const char* const (&usual)[N], bool (*fits)(uint32_t kind)) const {
    auto named = [&](std::string_view name) -> const Features::value_type* {
      const auto at = std::ranges::find_if(
          features, [&](const auto& feature) { return feature.first == name && fits(feature.second.kind); });
      return at == features.end() ? nullptr : &*at;
    };
    if (!wanted.empty()) return named(wanted);
    for (const char* name : usual)
      if (const auto* found = named(name)) return found;
    return nullptr;
  }

  Status take(const Features& features, DataSample& sample) const {
    auto is_text = [](uint32_t kind) { return kind == 1; };
    auto is_number = [](uint32_t kind) { return kind == 2 || kind == 3; };
    const auto* const image = find(features, features_.image, kImageNames, is_text);
    const auto* const label = find(features, features_.label, kLabelNames, is_number);
    const auto* const name = find(features, features_.name, kFileNames, is_text);
    if (!image) return no_image(features);
    sample = {.name = fmt::format("{:08}", number_), .labels = {}, .parts = {}};
    const Bytes encoded = texts_of_feature(image->second).first;
    std::string extension(extension_of(encoded));
    if (name) {
      sample.name = as_text(texts_of_feature(name->second).first);
      if (std::string named = take_extension(sample.name); !named.empty()) extension = std::move(named);
    }
    sample.parts.push_back({std::move(extension), {encoded.begin(), encoded.end()}});
    if (label && !take_labels(label->second, sample.labels))
      return damaged(file_->name(), at_.offset, fmt::format("the feature \"{}\" is damaged", label->first));
    for (const auto& feature : features) {
      if (&feature == image || &feature == label || &feature == name) continue;
      if (std::ranges::find(kImplied, feature.first) != std::end(kImplied)) continue;
      const Texts texts = texts_of_feature(feature.second);
      if (feature.second.kind == 1 && texts.count == 1 && feature.first.find('/') == std::string::npos) {
        sample.parts.push_back({feature.first, {texts.first.begin(), texts.first.end()}});
      } else {
        sample.left_out.push_back(fmt::format("the feature \"{}\"", feature.first));
      }
    }
    return {};
  }

  static bool take_labels(const FeatureValues& values, std::vector<double>& labels) {
    return each_feature_number(values, [&](uint64_t value) {
      labels.push_back(values.kind == 2
                           ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(value)))
                           : static_cast<double>(static_cast<int64_t>(value)));
    });
  }

  Status no_image(const Features& features) const {
    std::vector<std::string> names;
    for (const auto& [name, values] : features) names.push_back(name);
    std::ranges::sort(names);
    return unusable(
        fmt::format("{} at byte {}: the record has no text feature \"{}\"; it has {}", file_->name(),
                    at_.offset, features_.image.empty() ? "image/encoded" : features_.image,
                    names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))),
        "--image-feature names the one that holds the picture");
  }

  std::shared_ptr<const ByteSource> file_;
  TfRecordScanner scanner_;
  DataFeatures features_;
  int64_t number_;
  RecordPlace at_;
};

}  // namespace

Result<std::unique_ptr<DataContainer>> open_tfrecord_samples(const std::string& path,
                                                             const DataFeatures& features, int64_t first) {
  GALATEA_ASSIGN(std::shared_ptr<const ByteSource> file, open_file(path));
  return std::make_unique<TfRecordSamples>(std::move(file), features, first);
}

}  // namespace galatea::native
