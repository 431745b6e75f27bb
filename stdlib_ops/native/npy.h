// .npy: arrays of NumPy on disk (numpy.lib.format, versions 1 to 3).
//
// Comes in: a file; which part of it is wanted. Goes out: its element type and shape; the part, in C order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "stdlib_ops/native/bytes.h"

namespace galatea::native {

struct NpyHeader {
  DType dtype = DType::kU8;
  bool fortran_order = false;
  std::vector<int64_t> shape;
  int64_t data_offset = 0;
};

/// Reads the header, and holds it against the size of the file.
Result<NpyHeader> read_npy_header(const ByteSource& file);
/// The dictionary of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}. `name` is the file,
/// for messages.
Result<NpyHeader> parse_npy_dictionary(std::string_view text, const std::string& name);

/// What is wrong with an array: G0802, the user's.
std::unexpected<Error> bad_array(const std::string& name, const std::string& why);

/// The part from `start` (which may lie outside, below 0 too) of the extents `shape`, in C order, into `to`.
/// What lies outside stays as it is in `to`.
Status read_npy_part(const ByteSource& file, const NpyHeader& header, const std::vector<int64_t>& start,
                     const std::vector<int64_t>& shape, uint8_t* to);

}  // namespace galatea::native
