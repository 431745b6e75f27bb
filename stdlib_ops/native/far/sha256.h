// SHA-256 (FIPS 180-4) and HMAC (RFC 2104): what requests are signed by, and what copies on disk are named
// by.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace galatea::native::far {

using Digest = std::array<uint8_t, 32>;

Digest sha256(std::string_view text);
Digest hmac_sha256(std::string_view key, std::string_view text);
/// Lower-case hexadecimal digits.
std::string hex(const Digest& digest);
/// The same bytes as a key.
std::string_view bytes_of(const Digest& digest);

}  // namespace galatea::native::far
