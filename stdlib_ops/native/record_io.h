// RecordIO: files of records of MXNet, with images and their labels.
//
// A record is parts that begin at multiples of 4: a magic number (u32, 0xCED7230A), a word whose upper three
// bits say which part it is (0 the only one, 1 the first, 2 one between, 3 the last) and whose others how many
// bytes it has, the bytes, zeros. Where the magic number stands within the bytes, the writer divides them
// there and leaves it out. The bytes are a header (flag u32, label f32, id u64, id2 u64), `flag` labels (f32),
// and the image. (dmlc-core, recordio.h; mxnet, image_recordio.h.)
//
// Comes in: the arguments of readers.mxnet as JSON. Goes out: a source with image and label.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/native.h"
#include "stdlib_ops/native/record_source.h"

namespace galatea::native {

/// The records of a file, found from part to part.
class RecordIoScanner {
 public:
  explicit RecordIoScanner(const ByteSource& file) : file_(file) {}
  /// The next record; none at the end of the file.
  Result<std::optional<RecordPlace>> next();

 private:
  const ByteSource& file_;
  int64_t at_ = 0;
};
Result<std::vector<RecordPlace>> scan_record_io(const ByteSource& file);
/// Joins the parts of a record in place, and returns what is in it. `name` and `offset` are for messages.
Result<std::span<uint8_t>> join_record_io(std::span<uint8_t> record, const std::string& name, int64_t offset);

/// What a record of an image holds.
struct RecordIoImage {
  std::vector<float> labels;  ///< at least one
  uint64_t id = 0;
  std::span<const uint8_t> image;
};
/// Takes a joined record apart. `name` and `offset` are for messages.
Result<RecordIoImage> record_io_image(std::span<const uint8_t> joined, const std::string& name,
                                      int64_t offset);

inline constexpr uint32_t kRecordIoMagic = 0xCED7230A;
inline constexpr int64_t kMostRecordIoPart = (int64_t{1} << 29) - 1;

Result<std::unique_ptr<runtime::SampleSource>> open_mxnet(const std::string& config);

}  // namespace galatea::native
