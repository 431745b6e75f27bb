// The header of a member of a tar archive: POSIX ustar, with a pax header before it where that has no room
// (tar.h reads them).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace galatea::native {

/// What stands before the member's bytes. Owners and times are zero: the same content gives the same archive.
std::string tar_header(std::string_view name, int64_t size);
/// Zeros behind the bytes of a member, to whole blocks.
std::string_view tar_padding(int64_t size);
/// What ends an archive.
std::string tar_end();

}  // namespace galatea::native
