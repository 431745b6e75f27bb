#include "stdlib_ops/native/far/sha256.h"

#include <bit>
#include <cstring>

namespace galatea::native::far {
namespace {

constexpr size_t kHashBlock = 64;

/// The first 32 bits of the fractional parts of roots of the first primes: square roots are where hashing
/// starts (5.3.3), cube roots the constants of the rounds (4.2.2).
struct Constants {
  std::array<uint32_t, 8> start{};
  std::array<uint32_t, 64> round{};
};

/// floor(root · 2^32) mod 2^32, in whole numbers: the largest r with r^degree <= prime · 2^(32 · degree).
uint32_t fraction_of_root(uint32_t prime, int degree) {
  __extension__ using Wide = unsigned __int128;
  uint64_t root = 0;
  for (int bit = 36; bit >= 0; --bit) {
    const uint64_t next = root | uint64_t{1} << bit;
    Wide power = next, most = prime;
    for (int k = 1; k < degree; ++k) power *= next;
    most <<= 32 * degree;
    if (power <= most) root = next;
  }
  return static_cast<uint32_t>(root);
}

Constants make_constants() {
  Constants out;
  uint32_t prime = 2;
  for (size_t i = 0; i < out.round.size(); ++prime) {
    bool is_prime = true;
    for (uint32_t d = 2; d * d <= prime; ++d) is_prime = is_prime && prime % d != 0;
    if (!is_prime) continue;
    if (i < out.start.size()) out.start[i] = fraction_of_root(prime, 2);
    out.round[i++] = fraction_of_root(prime, 3);
  }
  return out;
}

const Constants& constants() {
  static const Constants table = make_constants();
  return table;
}

// The functions and the computation have the names of the standard (4.1.2, 6.2.2).
void take_block(std::array<uint32_t, 8>& hash, const uint8_t* block) {
  const std::array<uint32_t, 64>& k = constants().round;
  std::array<uint32_t, 64> w{};
  for (size_t t = 0; t < 16; ++t) {
    uint32_t word = 0;
    std::memcpy(&word, block + 4 * t, sizeof word);
    w[t] = std::endian::native == std::endian::little ? __builtin_bswap32(word) : word;
  }
  for (size_t t = 16; t < 64; ++t) {
    const uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
    const uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
  auto [a, b, c, d, e, f, g, h] = hash;
  for (size_t t = 0; t < 64; ++t) {
    const uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t choice = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
    const uint32_t t1 = h + sum1 + choice + k[t] + w[t], t2 = sum0 + majority;
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<uint32_t, 8> after = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < hash.size(); ++i) hash[i] += after[i];
}

}  // namespace

Digest sha256(std::string_view text) {
  std::array<uint32_t, 8> hash = constants().start;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  size_t at = 0;
  for (; text.size() - at >= kHashBlock; at += kHashBlock) take_block(hash, bytes + at);
  // The rest, a one bit, zeros, and the length in bits (5.1.1): one block or two.
  std::array<uint8_t, 2 * kHashBlock> last{};
  const size_t rest = text.size() - at;
  if (rest > 0) std::memcpy(last.data(), bytes + at, rest);
  last[rest] = 0x80;
  const size_t padded = rest + 9 <= kHashBlock ? kHashBlock : 2 * kHashBlock;
  const uint64_t bits = uint64_t{text.size()} * 8;
  for (size_t i = 0; i < 8; ++i) last[padded - 1 - i] = static_cast<uint8_t>(bits >> (8 * i));
  for (size_t block = 0; block < padded; block += kHashBlock) take_block(hash, last.data() + block);
  Digest out;
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint8_t>(hash[i / 4] >> (24 - 8 * (i % 4)));
  return out;
}

Digest hmac_sha256(std::string_view key, std::string_view text) {
  Digest hashed;
  if (key.size() > kHashBlock) {
    hashed = sha256(key);
    key = bytes_of(hashed);
  }
  std::string inner(kHashBlock, '\x36'), outer(kHashBlock, '\x5C');
  for (size_t i = 0; i < key.size(); ++i) {
    inner[i] = static_cast<char>(inner[i] ^ key[i]);
    outer[i] = static_cast<char>(outer[i] ^ key[i]);
  }
  const Digest first = sha256(inner.append(text));
  return sha256(outer.append(bytes_of(first)));
}

std::string hex(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const uint8_t byte : digest) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace galatea::native::far
