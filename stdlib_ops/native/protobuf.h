// The wire format of protocol buffers, as far as records of data sets use it (protobuf.dev/programming-guides/
// encoding): a message is fields of a number and a wire type each.
//
// Comes in: a message's bytes. Goes out: its fields, one behind the other, as parts of these bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace galatea::native {

class ProtobufReader {
 public:
  enum class Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
  struct Field {
    uint32_t number = 0;
    Wire wire = Wire::kVarint;
    uint64_t value = 0;              ///< of a number
    std::span<const uint8_t> bytes;  ///< of kBytes
  };

  /// Whether a field can have this key, its number and wire together: numbers begin at 1, keys have 32 bits.
  static bool is_key(uint64_t key) { return key >> 3 > 0 && key >> 32 == 0; }

  explicit ProtobufReader(std::span<const uint8_t> message) : rest_(message) {}
  /// The next field; none at the end, and where the message is damaged.
  std::optional<Field> next();
  /// Whether what is left is no field.
  bool is_damaged() const { return damaged_; }

  // ---- of packed numbers
  std::optional<uint64_t> varint();
  bool at_end() const { return rest_.empty(); }

 private:
  std::span<const uint8_t> rest_;
  bool damaged_ = false;
};

/// Calls for each number of an occurrence of a repeated field, which is one number of this wire type, or many,
/// packed; false where it is neither.
template <typename Call>
bool each_number(const ProtobufReader::Field& field, ProtobufReader::Wire wire, Call call) {
  using Wire = ProtobufReader::Wire;
  if (field.wire == wire) {
    call(field.value);
    return true;
  }
  if (field.wire != Wire::kBytes) return false;
  if (wire == Wire::kVarint) {
    ProtobufReader packed(field.bytes);
    while (!packed.at_end()) {
      const auto value = packed.varint();
      if (!value) return false;
      call(*value);
    }
    return true;
  }
  const size_t size = wire == Wire::kFixed32 ? 4 : 8;
  if (field.bytes.size() % size != 0) return false;
  for (size_t at = 0; at < field.bytes.size(); at += size) {
    uint64_t bits = 0;
    std::memcpy(&bits, field.bytes.data() + at, size);
    call(bits);
  }
  return true;
}

}  // namespace galatea::native
