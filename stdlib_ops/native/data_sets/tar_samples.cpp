// Samples of a WebDataset archive.
#include <charconv>
#include <cmath>

#include "stdlib_ops/native/data_sets/containers.h"
#include "stdlib_ops/native/webdataset.h"

namespace galatea::native {
namespace {

std::string_view text_of_part(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class TarSamples final : public DataContainer {
 public:
  explicit TarSamples(std::shared_ptr<const ByteSource> archive)
      : archive_(std::move(archive)), scanner_(*archive_) {}

  Result<bool> next() override {
    for (;;) {
      GALATEA_ASSIGN(std::optional<TarSample> sample, scanner_.next());
      if (!sample) return false;
      at_ = std::move(*sample);
      // "d/.hidden" is a part of a sample without a name, which other systems leave in archives.
      if (!webdataset_base(at_.parts.front().name).ends_with('/')) return true;
      pass_over("hidden files");
    }
  }

  Status read(DataSample& sample) override {
    sample = {.name = std::string(webdataset_base(at_.parts.front().name)), .labels = {}, .parts = {}};
    for (const TarPart& part : at_.parts) {
      std::vector<uint8_t> bytes(static_cast<size_t>(part.size));
      GALATEA_TRY(archive_->read(part.offset, bytes));
      const auto label = part.extension == "cls" ? number_in(text_of_part(bytes)) : std::nullopt;
      if (label && sample.labels.empty()) {
        sample.labels = {*label};
      } else if (part.extension == "filename") {
        sample.name = text_of_part(bytes);
      } else {
        sample.parts.push_back({part.extension, std::move(bytes)});
      }
    }
    return {};
  }

  DataPlace place() const override { return {archive_->name(), at_.parts.front().offset}; }
  double share() const override {
    return static_cast<double>(at_.parts.front().offset) / static_cast<double>(archive_->size());
  }

 private:
  std::shared_ptr<const ByteSource> archive_;
  WebDatasetScanner scanner_;
  TarSample at_;
};

}  // namespace

std::optional<double> number_in(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.remove_suffix(1);
  while (text.starts_with(' ')) text.remove_prefix(1);
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number =
      end.ec == std::errc() && end.ptr == text.data() + text.size() && std::isfinite(value);
  return is_number ? std::optional(value) : std::nullopt;
}

Result<std::unique_ptr<DataContainer>> open_webdataset_samples(const std::string& path) {
  GALATEA_ASSIGN(std::shared_ptr<const ByteSource> archive, open_file(path));
  return std::make_unique<TarSamples>(std::move(archive));
}

}  // namespace galatea::native
