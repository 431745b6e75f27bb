#include "stdlib_ops/native/data_sets/tar_header.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace galatea::native {
namespace {

constexpr size_t kTarBlock = 512;
/// Eleven octal digits.
constexpr int64_t kMostUstarSize = (int64_t{1} << 33) - 1;

struct Ustar {
  char name[100] = {}, mode[8] = {}, uid[8] = {}, gid[8] = {}, size[12] = {}, mtime[12] = {},
       checksum[8] = {};
  char type = '0';
  char linkname[100] = {}, magic[6] = {'u', 's', 't', 'a', 'r', '\0'}, version[2] = {'0', '0'};
  char uname[32] = {}, gname[32] = {}, device_major[8] = {}, device_minor[8] = {}, prefix[155] = {},
       unused[12] = {};
};
static_assert(sizeof(Ustar) == kTarBlock);

template <size_t N>
void put_octal(char (&field)[N], int64_t value) {
  const std::string digits = fmt::format("{:0{}o}", value, N - 1);
  std::memcpy(field, digits.data(), N - 1);
}

std::string ustar(std::string_view name, std::string_view prefix, int64_t size, char type) {
  Ustar header;
  std::ranges::copy(name.substr(0, sizeof header.name), header.name);
  std::ranges::copy(prefix, header.prefix);
  put_octal(header.mode, 0644);
  put_octal(header.uid, 0);
  put_octal(header.gid, 0);
  put_octal(header.size, size);
  put_octal(header.mtime, 0);
  header.type = type;
  // The checksum is that of the header with blanks in its place: six digits, a zero, a blank.
  std::memset(header.checksum, ' ', sizeof header.checksum);
  int64_t sum = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&header);
  for (size_t i = 0; i < kTarBlock; ++i) sum += bytes[i];
  const std::string digits = fmt::format("{:06o}", sum);
  std::memcpy(header.checksum, digits.data(), 6);
  header.checksum[6] = '\0';
  return {reinterpret_cast<const char*>(&header), kTarBlock};
}

/// "LENGTH KEY=VALUE\n", where LENGTH counts itself.
std::string pax_record(std::string_view key, std::string_view value) {
  const size_t rest = key.size() + value.size() + 3;
  size_t length = rest;
  while (length != rest + std::to_string(length).size()) length = rest + std::to_string(length).size();
  return fmt::format("{} {}={}\n", length, key, value);
}

}  // namespace

std::string tar_header(std::string_view name, int64_t size) {
  std::string_view last = name, prefix;
  if (name.size() > sizeof(Ustar::name)) {
    // Divided at a slash, if both parts find room then.
    const size_t slash = name.rfind('/', sizeof(Ustar::prefix));
    if (slash != std::string_view::npos && slash > 0 && name.size() - slash - 1 <= sizeof(Ustar::name)) {
      prefix = name.substr(0, slash);
      last = name.substr(slash + 1);
    }
  }
  std::string pax;
  if (last.size() > sizeof(Ustar::name)) pax += pax_record("path", name);
  if (size > kMostUstarSize) pax += pax_record("size", std::to_string(size));
  std::string header;
  if (!pax.empty()) {
    header = ustar("PaxHeader", "", static_cast<int64_t>(pax.size()), 'x') + pax;
    header += tar_padding(static_cast<int64_t>(pax.size()));
  }
  return header + ustar(last, prefix, size > kMostUstarSize ? 0 : size, '0');
}

std::string_view tar_padding(int64_t size) {
  static constexpr char kZeros[kTarBlock] = {};
  const auto over = static_cast<size_t>(size) % kTarBlock;
  return {kZeros, over == 0 ? 0 : kTarBlock - over};
}

std::string tar_end() { return std::string(2 * kTarBlock, '\0'); }

}  // namespace galatea::native
