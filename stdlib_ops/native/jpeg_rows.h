// Steps over the rows of a JPEG that lie above a window.
//
// Comes in: a decompressor whose header was read, and how many rows of MCUs to leave out. Goes out: the
// decompressor set up so that jpeg_start_decompress() begins one row above the first that is left: a row made
// up here, in the file's own code, which brings the predictors and the bit position to where the file goes
// on.
//
// Coefficients of such rows are never seen, so only the lengths of codes are looked up, several at once; the
// library would decode each value. Whatever is unusual (several scans, restarts, arithmetic coding, codes
// that do not exist, data that ends) is left to the library: then nothing has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <jpeglib.h>

namespace galatea::native {

/// Must live as long as the decompressor reads. Plain: a longjmp may leave it.
struct JpegSplice {
  static constexpr size_t kCapacity = 4096;
  uint8_t bytes[kCapacity + 16];  ///< the made-up row
  size_t size = 0;
  const uint8_t* rest = nullptr;  ///< where the file goes on behind it
  const uint8_t* end = nullptr;
  boolean (*fill_at_end)(j_decompress_ptr) = nullptr;  ///< the source's own
};

/// How many rows of MCUs lie above the rows that output row `y` is made from, at so many eighths of the size;
/// 0 where leaving them out would gain nothing or is not possible.
int rows_above(const jpeg_decompress_struct& info, int64_t y, int eighths);

/// Leaves `rows` rows of MCUs out, 1 or more; the image is `rows` - 1 rows lower then, and its first one is
/// made up. `end` is the end of the memory that the source reads. False: nothing has changed. Sets
/// client_data.
bool leave_rows_out(jpeg_decompress_struct& info, int rows, const uint8_t* end, JpegSplice& splice);

}  // namespace galatea::native
