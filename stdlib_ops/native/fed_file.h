// Files whose names the samples bring: the native functions of io.file.read, and how others open such a file.
//
// file.size: input 0 = a name (u8 or i8 [n], up to a zero byte). Result: the file's size in bytes (i64).
// file.read: the same input; output: the bytes, u8 [size].
//
// A sample is looked at twice, first for its size: the file stays open from one call to the next.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/native.h"
#include "stdlib_ops/native/bytes.h"

namespace galatea::native {

inline constexpr const char* kFileSize = "file.size";
inline constexpr const char* kFileRead = "file.read";

/// Bytes of a tensor of one axis, which may have gaps: `copy` is where they go then.
std::span<const uint8_t> bytes_of_input(const runtime::Tensor& tensor, std::vector<uint8_t>& copy);
/// How large that copy becomes.
int64_t bytes_of_copy(const runtime::Tensor& tensor);

/// The name of a file that a tensor holds.
Result<std::string> name_of_fed_file(const runtime::Tensor& tensor);

/// Opens the file, for this call and the thread's next one of fed_file().
Result<std::shared_ptr<const ByteSource>> look_at_fed_file(runtime::NativeContext& context,
                                                           const runtime::Tensor& name);
/// The file that the thread looked at last, if that is its name; else opens it.
Result<std::shared_ptr<const ByteSource>> fed_file(runtime::NativeContext& context,
                                                   const runtime::Tensor& name);

std::vector<runtime::NativeFunction> fed_file_functions();

}  // namespace galatea::native
