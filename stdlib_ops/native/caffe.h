// Records of Caffe and Caffe2 in LMDB: a Datum (caffe.proto) holds an image and a label; TensorProtos
// (caffe2.proto) hold tensors one behind the other: an image, a label, others, a box.
//
// What a record's image is, encoded or pixels, and which numbers its tensors have, stands in each record; a
// reader gives all samples the same types, so its arguments say them, or the first record does.
//
// Comes in: the arguments of readers.caffe and readers.caffe2 as JSON. Goes out: what they deliver, and sources
// that do.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/port.h"
#include "runtime/native.h"
#include "stdlib_ops/native/record_source.h"

namespace galatea::native {

/// image (u8: bytes, or HWC) and label (i32[1], of no element where the record has none), as far as they are
/// wanted.
Result<std::vector<Port>> caffe_ports(const nlohmann::json& config);
/// Hands out what a Datum holds. `record` names it for messages; `from`: what it is a part of, where texts may have
/// been left out.
Status deliver_datum(std::span<const uint8_t> datum, const std::string& record,
                     const std::vector<Port>& ports, const runtime::AllocateOutput& allocate,
                     const RecordBytes* from = nullptr);
Result<std::unique_ptr<runtime::SampleSource>> open_caffe(const std::string& config);

/// The numbers of label_type, as Caffe2 has them.
enum class LabelKind : uint8_t { kSingle = 0, kSparse = 1, kDense = 2, kWeightedSparse = 3, kNone = 4 };

/// What a reader wants of TensorProtos, and what that becomes.
struct TensorProtosLayout {
  bool image = true, bbox = false;
  LabelKind label = LabelKind::kSingle;
  int64_t num_labels = 1;
  int64_t additional = 0;
  std::vector<Port> ports;  ///< image, label, additional_0 …, bbox, as far as they are wanted
};
Result<TensorProtosLayout> tensor_protos_layout(const nlohmann::json& config);
Status deliver_tensor_protos(std::span<const uint8_t> protos, const std::string& record,
                             const TensorProtosLayout& layout, const runtime::AllocateOutput& allocate,
                             const RecordBytes* from = nullptr);
Result<std::unique_ptr<runtime::SampleSource>> open_caffe2(const std::string& config);

/// Whether so many bytes are all elements of these extents, of a byte each.
bool holds_all(const std::vector<int64_t>& extents, size_t bytes);
/// A record that its reader cannot take: G0802.
std::unexpected<Error> bad_record(const std::string& record, const std::string& what,
                                  const std::string& help);
/// Memory for output `k`, if its port takes that: another type or rank than the first record's is the record's
/// error.
Result<runtime::Tensor*> allocate_as(const std::vector<Port>& ports, size_t k, DType dtype,
                                     const std::vector<int64_t>& extents, const std::string& record,
                                     const runtime::AllocateOutput& allocate);

}  // namespace galatea::native
