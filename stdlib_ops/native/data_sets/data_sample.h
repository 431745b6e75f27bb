// A sample of a data set, whichever container it lies in.
//
// Comes in: what a container says. Goes out: one form for all of them, which data_set.h reads and
// data_writer.h writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stdlib_ops/native/image.h"

namespace galatea::native {

enum class DataFormat : uint8_t { kFolder, kWebDataset, kTfRecord, kRecordIo, kLmdb };
/// "folder", "webdataset", "tfrecord", "recordio", "lmdb".
std::string_view name_of(DataFormat format);

/// The bytes of one file, member or feature.
struct DataPart {
  std::string extension;  ///< without the point: "jpg", "seg.png"
  std::vector<uint8_t> bytes;
  friend bool operator==(const DataPart&, const DataPart&) = default;
};

struct DataSample {
  std::string name;            ///< a path without its extension: "cat/0001"
  std::vector<double> labels;  ///< empty: the sample has none
  std::vector<DataPart> parts;
  /// What the container has beside these, by its names there: nothing of it goes on.
  std::vector<std::string> left_out = {};
};

/// Where a sample lies.
struct DataPlace {
  std::string file;
  int64_t offset = 0;  ///< of its bytes in the file
};

/// Of name, labels and parts: two samples of one digest are the same sample.
uint64_t digest_of(const DataSample& sample);
/// The part that is the picture: the first whose content says so, else the first that is neither text nor a
/// document; none where there is no such part.
std::optional<size_t> main_part(const DataSample& sample);
/// The extension of a picture's format, "jpg", from its content; "bin" where it is none.
std::string_view extension_of(Bytes bytes);
/// Takes the last extension off a path: "cat/a.b.jpg" becomes "cat/a.b", and "jpg" is returned.
std::string take_extension(std::string& path);
/// The folder in a name, "cat" of "cat/0001"; empty without one.
std::string_view folder_of(std::string_view name);
/// The one label, where it is one whole number.
std::optional<int64_t> whole_label(const DataSample& sample);

}  // namespace galatea::native
