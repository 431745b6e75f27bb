// Structs whose host may have been compiled with an older or a newer header.
//
// Comes in: a host's struct and how many bytes it has. Goes out: the struct as this library knows it: fields
// that the host does not know are zero, and fields that the library does not know must be. The other way
// round, the host gets as much as it knows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>

#include "api/guard.h"
#include "runtime/messages.h"

namespace galatea::api {

/// Bytes of the structs in the header of version 0.1.0.
inline constexpr size_t kFirstTensorSize = offsetof(galatea_tensor, device_type);
inline constexpr size_t kFirstPortSize = offsetof(galatea_port, device_type);
inline constexpr size_t kFirstSessionOptionsSize = offsetof(galatea_session_options, state);
/// Of structs that are newer.
inline constexpr size_t kFirstPulledInputSize = sizeof(galatea_pulled_input);
inline constexpr size_t kFirstFunctionSize = sizeof(galatea_function);
inline constexpr size_t kFirstSourceSize = sizeof(galatea_source);
static_assert(kFirstTensorSize == 152 && kFirstPortSize == 88 && kFirstSessionOptionsSize == 40,
              "hosts of version 0.1.0 have structs of these sizes");
/// Nobody's struct is larger; what is was not initialised.
inline constexpr size_t kMostStructBytes = 4096;

inline galatea_error* check_struct_size(const char* name, size_t size, size_t first) {
  if (size >= first && size <= kMostStructBytes) return nullptr;
  return misuse(fmt::format("{} has {} bytes, and its first version has {}: it was not set up by its _init()",
                            name, size, first));
}

/// Reads what the host knows into `out`, whose other fields become zero.
template <typename Struct>
galatea_error* read_struct(const char* name, const void* given, size_t size, size_t first, Struct& out) {
  if (galatea_error* error = check_struct_size(name, size, first)) return error;
  out = Struct{};
  std::memcpy(&out, given, std::min(size, sizeof(Struct)));
  const auto* const bytes = static_cast<const unsigned char*>(given);
  for (size_t at = sizeof(Struct); at < size; ++at)
    if (bytes[at] != 0)
      return make_api_error(runtime::make_error(runtime::message::kNewerHost, name, size,
                                                galatea_version_borrow(), sizeof(Struct), at)
                                .error());
  return nullptr;
}

/// Writes what the host knows; what only the host knows becomes zero.
template <typename Struct>
void write_struct(const Struct& value, void* given, size_t size) {
  std::memcpy(given, &value, std::min(size, sizeof(Struct)));
  if (size > sizeof(Struct))
    std::memset(static_cast<unsigned char*>(given) + sizeof(Struct), 0, size - sizeof(Struct));
}

}  // namespace galatea::api
