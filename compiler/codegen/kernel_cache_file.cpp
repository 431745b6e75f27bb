// The form of a file of the program cache.
//
// Header (56 bytes), key, facts, code. Every byte is under the checksum: those of the header stand before it.
// Numbers are little-endian, as the machines are that the code is for.
#include <cstring>

#include "base/checksum.h"
#include "compiler/codegen/kernel_cache.h"

namespace galatea::codegen {
namespace {

constexpr char kMagic[8] = {'G', 'A', 'L', 'K', 'E', 'R', 'N', '\n'};
constexpr uint32_t kFormat = 2;

struct Header {
  char magic[8];
  uint32_t format;
  uint32_t header_bytes;
  uint64_t key_bytes;
  uint64_t facts_bytes;
  uint64_t code_bytes;
  uint64_t entry;
  uint64_t checksum;
};
static_assert(sizeof(Header) == 56 && offsetof(Header, checksum) == 48);

uint64_t checksum_of(const Header& header, std::string_view rest) {
  const std::string_view head(reinterpret_cast<const char*>(&header), offsetof(Header, checksum));
  return checksum(rest, checksum(head));
}

}  // namespace

std::string encode_entry(const std::string& key, const runtime::CodeObject& object,
                         const std::string& facts) {
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.format = kFormat;
  header.header_bytes = sizeof(Header);
  header.key_bytes = key.size();
  header.facts_bytes = facts.size();
  header.code_bytes = object.bytes.size();
  header.entry = object.entry;
  const std::string rest = key + facts + object.bytes;
  header.checksum = checksum_of(header, rest);
  return std::string(reinterpret_cast<const char*>(&header), sizeof(Header)) + rest;
}

DecodedEntry decode_entry(const std::string& bytes, const std::string& key) {
  Header header = {};
  if (bytes.size() < sizeof(Header)) return {std::nullopt, "it is cut off", ""};
  std::memcpy(&header, bytes.data(), sizeof(Header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0)
    return {std::nullopt, "it is no file of galatea's", ""};
  if (header.format != kFormat || header.header_bytes != sizeof(Header))
    return {std::nullopt, "it is of another version", ""};
  const std::string_view rest = std::string_view(bytes).substr(sizeof(Header));
  if (header.key_bytes > rest.size() || header.facts_bytes > rest.size() - header.key_bytes ||
      header.code_bytes != rest.size() - header.key_bytes - header.facts_bytes)
    return {std::nullopt, "its length is wrong", ""};
  if (header.checksum != checksum_of(header, rest)) return {std::nullopt, "its checksum is wrong", ""};
  if (header.entry >= header.code_bytes) return {std::nullopt, "its code has no entry", ""};
  if (rest.substr(0, header.key_bytes) != key) return {};
  const std::string_view behind_key = rest.substr(header.key_bytes);
  return {runtime::CodeObject{std::string(behind_key.substr(header.facts_bytes)), header.entry}, "",
          std::string(behind_key.substr(0, header.facts_bytes))};
}

}  // namespace galatea::codegen
