// TFRecord: files of records of TensorFlow, and the tf.train.Example that each of them holds.
//
// A file is records: a length (u64, little endian), a checksum of the length, so many bytes, a checksum of
// them. Checksums are CRC-32C, masked: ((c >> 15) | (c << 17)) + 0xA282EAD8 (TensorFlow, core/lib/hash/crc32c.h).
//
// Comes in: the arguments of readers.tfrecord as JSON. Goes out: a source with an output a feature, in the
// order of their names.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/port.h"
#include "runtime/native.h"
#include "stdlib_ops/native/record_source.h"

namespace galatea::native {

/// What a reader wants of a record, by its name there.
struct TfFeature {
  DType dtype = DType::kI64;   ///< kI64, kF32, or kU8: the first of its texts, as bytes
  bool fixed = true;           ///< as many values as `shape` has room for
  std::vector<int64_t> shape;  ///< of all, or of each of the parts that a variable length consists of
  bool is_text() const { return dtype == DType::kU8; }
};
/// JSON: {"name": {"dtype": "i64", "fixed": true, "shape": [1]}, …}.
std::map<std::string, TfFeature> features_of(const nlohmann::json& features);
Port port_of(const std::string& name, const TfFeature& feature);

/// The records of a file, found from length to length. Each length is checked against its checksum.
class TfRecordScanner {
 public:
  explicit TfRecordScanner(const ByteSource& file) : file_(file) {}
  /// The next record; none at the end of the file.
  Result<std::optional<RecordPlace>> next();

 private:
  const ByteSource& file_;
  int64_t at_ = 0;
};
Result<std::vector<RecordPlace>> scan_tfrecord(const ByteSource& file);
/// What stands around the bytes of a record: length and its checksum before them, their checksum behind.
inline constexpr int64_t kTfRecordHead = 12, kTfRecordTail = 4;
uint32_t masked_crc32c(std::span<const uint8_t> bytes);

/// Hands out what a tf.train.Example says of the features. `record` names it for messages; `from`: what it is a
/// part of, where texts may have been left out.
Status deliver_example(std::span<const uint8_t> example, const std::string& record,
                       const std::map<std::string, TfFeature>& features,
                       const runtime::AllocateOutput& allocate, const RecordBytes* from = nullptr);

Result<std::unique_ptr<runtime::SampleSource>> open_tfrecord(const std::string& config);

}  // namespace galatea::native
