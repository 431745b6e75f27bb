#include "stdlib_ops/native/tar.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace galatea::native {
namespace {

constexpr int64_t kTarBlock = 512;
/// Names and pax records beyond this are no names.
constexpr int64_t kMaxExtension = int64_t{1} << 20;

struct Header {
  char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, linkname[100], magic[6],
      version[2], uname[32], gname[32], device_major[8], device_minor[8], prefix[155], unused[12];
};
static_assert(sizeof(Header) == kTarBlock);

template <size_t N>
std::string_view field_text(const char (&field)[N]) {
  return {field, static_cast<size_t>(std::find(field, field + N, '\0') - field)};
}

/// Octal digits between spaces and zeros; or, where the first bit is set, big-endian bytes (GNU, star).
template <size_t N>
std::optional<int64_t> field_number(const char (&field)[N]) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(field);
  int64_t value = 0;
  if (bytes[0] & 0x80) {
    if (bytes[0] & 0x40) return std::nullopt;  // negative
    value = bytes[0] & 0x3F;
    for (size_t i = 1; i < N; ++i) {
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | bytes[i];
    }
    return value;
  }
  std::string_view text = field_text(field);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.empty()) return 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// The sum of all bytes, those of the checksum counted as spaces; historic writers summed signed characters.
bool is_intact(const Header& header) {
  const auto said = field_number(header.checksum);
  int64_t plain = 8 * ' ', with_sign = 8 * ' ';
  const char* const begin = reinterpret_cast<const char*>(&header);
  for (int64_t i = 0; i < kTarBlock; ++i) {
    if (begin + i >= header.checksum && begin + i < header.checksum + sizeof header.checksum) continue;
    plain += static_cast<unsigned char>(begin[i]);
    with_sign += static_cast<signed char>(begin[i]);
  }
  return said && (*said == plain || *said == with_sign);
}

bool is_zero(const Header& header) {
  const char* const begin = reinterpret_cast<const char*>(&header);
  return std::all_of(begin, begin + kTarBlock, [](char byte) { return byte == 0; });
}

}  // namespace

Result<std::string> TarReader::extension(int64_t offset, int64_t size) const {
  if (size > kMaxExtension)
    return damaged(archive_.name(), offset, fmt::format("a name of {} bytes would begin there", size));
  std::string text(static_cast<size_t>(size), '\0');
  GALATEA_TRY(archive_.read(offset, {reinterpret_cast<uint8_t*>(text.data()), text.size()}));
  return text;
}

// Records of "LENGTH KEY=VALUE\n", LENGTH in decimal and counting itself.
Status TarReader::take_pax(const std::string& records, int64_t offset) {
  for (std::string_view rest = records; !rest.empty();) {
    size_t length = 0;
    const auto end = std::from_chars(rest.data(), rest.data() + rest.size(), length);
    const auto digits = static_cast<size_t>(end.ptr - rest.data());
    if (end.ec != std::errc() || length > rest.size() || length < digits + 3 || rest[digits] != ' ' ||
        rest[length - 1] != '\n')
      return damaged(archive_.name(), offset, "an extended header is malformed");
    const std::string_view record = rest.substr(digits + 1, length - digits - 2);
    rest.remove_prefix(length);
    const size_t equals = record.find('=');
    if (equals == std::string_view::npos)
      return damaged(archive_.name(), offset, "an extended header is malformed");
    const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    // Of a sparse member the name in GNU's record is its own, and "path" a made-up one.
    if (key.starts_with("GNU.sparse.")) next_is_sparse_ = true;
    if (key == "GNU.sparse.name" || (key == "path" && !next_is_sparse_)) next_name_ = std::string(value);
    if (key != "size") continue;
    int64_t size = 0;
    const auto size_end = std::from_chars(value.data(), value.data() + value.size(), size);
    if (size_end.ec != std::errc() || size_end.ptr != value.data() + value.size() || size < 0)
      return damaged(archive_.name(), offset, "an extended header has no size where it says that it has one");
    next_size_ = size;
  }
  return {};
}

Result<std::optional<TarMember>> TarReader::next() {
  while (at_ < archive_.size()) {
    Header header;
    if (archive_.size() - at_ < kTarBlock) return damaged(archive_.name(), at_, "it ends within a header");
    GALATEA_TRY(archive_.read(at_, {reinterpret_cast<uint8_t*>(&header), sizeof header}));
    if (is_zero(header)) break;  // two blocks of zeros end an archive; one does here
    const auto stated = field_number(header.size);
    if (!is_intact(header) || !stated)
      return damaged(archive_.name(), at_, "no header of a tar archive begins there: its checksum is wrong");
    const bool is_extension = std::strchr("LKxg", header.type) && header.type != '\0';
    // Links and devices have no bytes, whatever their size says.
    const bool has_bytes = !std::strchr("123456", header.type) || header.type == '\0';
    const int64_t offset = at_ + kTarBlock;
    const int64_t size = !has_bytes ? 0 : is_extension ? *stated : next_size_.value_or(*stated);
    if (size > archive_.size() - offset)
      return damaged(archive_.name(), at_,
                     fmt::format("a member of {} bytes begins there, but the archive has {} bytes left", size,
                                 archive_.size() - offset));
    const int64_t padding = -size & (kTarBlock - 1);
    if (padding > archive_.size() - offset - size)
      return damaged(archive_.name(), archive_.size(), "it ends within a block: it was cut off");
    at_ = offset + size + padding;
    if (is_extension) {
      GALATEA_ASSIGN(std::string text, extension(offset, size));
      if (header.type == 'x') GALATEA_TRY(take_pax(text, offset));
      if (header.type == 'L') next_name_ = text.substr(0, text.find('\0'));
      continue;
    }
    TarMember member{.name = {}, .offset = offset, .size = size};
    if (next_name_) {
      member.name = std::move(*next_name_);
    } else {
      const std::string_view prefix =
          std::memcmp(header.magic, "ustar", 6) == 0 ? field_text(header.prefix) : std::string_view();
      member.name = fmt::format("{}{}{}", prefix, prefix.empty() ? "" : "/", field_text(header.name));
    }
    next_name_.reset();
    next_size_.reset();
    if (std::exchange(next_is_sparse_, false) || header.type == 'S')
      return damaged(archive_.name(), offset - kTarBlock,
                     fmt::format("the member {} is sparse; make the archive without --sparse", member.name));
    if (header.type == '0' || header.type == '\0' || header.type == '7') return member;
  }
  return std::nullopt;
}

}  // namespace galatea::native
