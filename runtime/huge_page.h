// What allocation and arenas know of the system's large pages.
#pragma once

#include <cstdint>

namespace galatea::runtime {

/// x86-64 and AArch64 with small pages of 4 kB.
inline constexpr int64_t kHugePage = int64_t{1} << 21;

}  // namespace galatea::runtime
