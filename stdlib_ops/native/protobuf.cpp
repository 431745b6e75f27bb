#include "stdlib_ops/native/protobuf.h"

#include <cstring>

namespace galatea::native {

std::optional<uint64_t> ProtobufReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) break;
    const uint8_t byte = rest_.front();
    rest_ = rest_.subspan(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  damaged_ = true;
  return std::nullopt;
}

std::optional<ProtobufReader::Field> ProtobufReader::next() {
  if (rest_.empty() || damaged_) return std::nullopt;
  const auto key = varint();
  if (!key) return std::nullopt;
  Field field;
  field.number = static_cast<uint32_t>(*key >> 3);
  field.wire = static_cast<Wire>(*key & 7);
  auto fixed = [&](size_t size) {
    if (rest_.size() < size) return false;
    std::memcpy(&field.value, rest_.data(), size);
    rest_ = rest_.subspan(size);
    return true;
  };
  bool whole = is_key(*key);
  switch (field.wire) {
    case Wire::kVarint: {
      const auto value = varint();
      whole = whole && value;
      field.value = value.value_or(0);
      break;
    }
    case Wire::kFixed64:
      whole = whole && fixed(8);
      break;
    case Wire::kFixed32:
      whole = whole && fixed(4);
      break;
    case Wire::kBytes: {
      const auto size = varint();
      whole = whole && size && *size <= rest_.size();
      if (!whole) break;
      field.bytes = rest_.first(*size);
      rest_ = rest_.subspan(*size);
      break;
    }
    default:  // groups, which nobody writes any more, and what is none of these
      whole = false;
  }
  if (!whole) {
    damaged_ = true;
    return std::nullopt;
  }
  return field;
}

}  // namespace galatea::native
