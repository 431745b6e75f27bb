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
#include <string>
#include <vector>

#include "runtime/native.h"
#include "stdlib_ops/native/record_source.h"

namespace galatea::native {

/// The records of a file, found from part to part.
Result<std::vector<RecordPlace>> scan_record_io(const ByteSource& file);
/// Joins the parts of a record in place, and returns what is in it. `name` and `offset` are for messages.
Result<std::span<uint8_t>> join_record_io(std::span<uint8_t> record, const std::string& name, int64_t offset);

Result<std::unique_ptr<runtime::SampleSource>> open_mxnet(const std::string& config);

}  // namespace galatea::native
