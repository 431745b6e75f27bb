// WebDataset: tar archives whose members of one name, but for what follows its first point, are one sample.
//
// Comes in: the arguments of readers.webdataset as JSON. Goes out: a source with an output for each entry of
// `ext`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/native.h"
#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/tar.h"

namespace galatea::native {

/// A part of a sample: "000/cat.seg.png" is the extension "seg.png" of the sample "000/cat".
struct TarPart {
  std::string extension, name;  ///< name: that of the member; empty: an index did not say
  int64_t offset = 0, size = 0;
};
struct TarSample {
  std::vector<TarPart> parts;
};

/// The samples of an archive: neighbours of one name. Names that begin with a point in the archive's root are
/// nobody's.
class WebDatasetScanner {
 public:
  explicit WebDatasetScanner(const ByteSource& archive) : reader_(archive) {}
  /// The next sample; none at the end of the archive. An error comes behind the samples that are whole.
  Result<std::optional<TarSample>> next();

 private:
  TarReader reader_;
  std::optional<TarSample> begun_;
  std::optional<Error> damage_;
};
Result<std::vector<TarSample>> scan_webdataset(const ByteSource& archive);
/// What the parts of a sample have in common: "000/cat.seg.png" belongs to "000/cat".
std::string_view webdataset_base(std::string_view name);
/// The same from an index: "v1.2 COUNT", then a line a sample of "EXTENSION OFFSET SIZE NAME" for each part
/// (without NAME in v1.1). `name` is the index, for messages; `archive_size` what offsets are held against.
Result<std::vector<TarSample>> parse_webdataset_index(std::string_view text, const std::string& name,
                                                      int64_t archive_size);

Result<std::unique_ptr<runtime::SampleSource>> open_webdataset(const std::string& config);

}  // namespace galatea::native
