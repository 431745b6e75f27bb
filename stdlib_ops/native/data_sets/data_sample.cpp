#include "stdlib_ops/native/data_sets/data_sample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/checksum.h"

namespace galatea::native {
namespace {

/// Sizes keep neighbours apart: "ab", "c" is not "a", "bc".
uint64_t with_text(std::string_view text, uint64_t from) {
  const uint64_t size = text.size();
  char bytes[sizeof size];
  std::memcpy(bytes, &size, sizeof size);
  return checksum(text, checksum({bytes, sizeof bytes}, from));
}

}  // namespace

std::string_view name_of(DataFormat format) {
  constexpr std::string_view kNames[] = {"folder", "webdataset", "tfrecord", "recordio", "lmdb"};
  return kNames[static_cast<size_t>(format)];
}

uint64_t digest_of(const DataSample& sample) {
  uint64_t digest = with_text(sample.name, checksum({}));
  digest = with_text(
      {reinterpret_cast<const char*>(sample.labels.data()), sample.labels.size() * sizeof(double)}, digest);
  for (const DataPart& part : sample.parts) {
    digest = with_text(part.extension, digest);
    digest = with_text({reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size()}, digest);
  }
  return digest;
}

std::optional<size_t> main_part(const DataSample& sample) {
  const auto at = std::ranges::find_if(
      sample.parts, [](const DataPart& part) { return detect_format(part.bytes) != ImageFormat::kUnknown; });
  if (at != sample.parts.end()) return static_cast<size_t>(at - sample.parts.begin());
  constexpr std::string_view kDocuments[] = {"txt", "json", "cls", "cls2", "xml", "yaml", "id", "index"};
  for (size_t k = 0; k < sample.parts.size(); ++k)
    if (std::ranges::find(kDocuments, sample.parts[k].extension) == std::end(kDocuments)) return k;
  return std::nullopt;
}

std::string_view extension_of(Bytes bytes) { return format_extension(detect_format(bytes)); }

std::string take_extension(std::string& path) {
  const size_t slash = path.rfind('/'), point = path.rfind('.');
  const size_t begin = slash == std::string::npos ? 0 : slash + 1;
  if (point == std::string::npos || point <= begin) return {};
  std::string extension = path.substr(point + 1);
  path.resize(point);
  return extension;
}

std::string_view folder_of(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
}

std::optional<int64_t> whole_label(const DataSample& sample) {
  if (sample.labels.size() != 1) return std::nullopt;
  const double label = sample.labels.front();
  if (std::trunc(label) != label || std::abs(label) > 9007199254740992.0) return std::nullopt;
  return static_cast<int64_t>(label);
}

}  // namespace galatea::native
