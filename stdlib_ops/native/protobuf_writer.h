// Messages of protocol buffers, written (protobuf.h reads them).
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace galatea::native {

class ProtobufWriter {
 public:
  void number(uint32_t field, uint64_t value) {
    varint(uint64_t{field} << 3);
    varint(value);
  }
  void bytes(uint32_t field, std::string_view content) {
    varint(uint64_t{field} << 3 | 2);
    varint(content.size());
    message_ += content;
  }
  void bytes(uint32_t field, std::span<const uint8_t> content) {
    bytes(field, {reinterpret_cast<const char*>(content.data()), content.size()});
  }
  void float32(uint32_t field, float value) {
    varint(uint64_t{field} << 3 | 5);
    char bits[sizeof value];
    std::memcpy(bits, &value, sizeof value);
    message_.append(bits, sizeof bits);
  }
  const std::string& message() const { return message_; }

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) message_ += static_cast<char>(value | 0x80);
    message_ += static_cast<char>(value);
  }
  std::string message_;
};

}  // namespace galatea::native
