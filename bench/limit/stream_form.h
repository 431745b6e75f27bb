// Ways to read and write memory, one function for each width of vectors (stream_form.cpp, compiled for each).
#pragma once

#include <cstddef>
#include <cstdint>

struct StreamForm {
  bool past_cache = false;  ///< results are stored past the caches
  bool ahead = false;       ///< the input is asked for a page before it is read
  size_t block = 4096;      ///< so many bytes of the longer one are read or written in a row
};

inline constexpr size_t kLine = 64, kPage = 4096;

/// Reads all of `in` and writes all of `out`, in step with each other, block by block, so that reads and
/// writes overlap as in a kernel. Both begin with a line and are readable and writable in whole lines.
using StreamFunction = void (*)(const uint8_t* in, size_t bytes_in, uint8_t* out, size_t bytes_out,
                                StreamForm form);

void stream_by_16(const uint8_t* in, size_t bytes_in, uint8_t* out, size_t bytes_out, StreamForm form);
void stream_by_32(const uint8_t* in, size_t bytes_in, uint8_t* out, size_t bytes_out, StreamForm form);
void stream_by_64(const uint8_t* in, size_t bytes_in, uint8_t* out, size_t bytes_out, StreamForm form);
