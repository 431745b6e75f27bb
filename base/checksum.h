// A 64-bit checksum of bytes (FNV-1a): stable from run to run and machine to machine. It finds damage, not
// malice.
#pragma once

#include <cstdint>
#include <string_view>

namespace galatea {

/// Any change of a single byte changes the result. `from`: the checksum of what came before.
inline uint64_t checksum(std::string_view bytes, uint64_t from = 0xCBF29CE484222325U) {
  uint64_t hash = from;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

}  // namespace galatea
