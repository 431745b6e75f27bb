#include "base/json.h"

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>

namespace galatea {
namespace {

/// Pages that nobody has touched take no memory.
struct JsonReserve {
  std::mutex mutex;
  size_t used = 0, live = 0;
  alignas(std::max_align_t) std::array<std::byte, size_t{1} << 20> bytes{};

  bool holds(const void* memory) const {
    const auto* at = static_cast<const std::byte*>(memory);
    return !std::less<>()(at, bytes.data()) && std::less<>()(at, bytes.data() + bytes.size());
  }
};
constinit JsonReserve g_json_reserve;

template <typename Document>
std::string text_of(const Document& document, int indent) {
  return document.dump(indent, ' ', false, Document::error_handler_t::replace);
}

}  // namespace

void* take_json_memory(size_t bytes) {
  if (void* memory = ::operator new(bytes, std::nothrow)) return memory;
  JsonReserve& reserve = g_json_reserve;
  const std::lock_guard lock(reserve.mutex);
  if (bytes > reserve.bytes.size() - reserve.used) throw std::bad_alloc();
  void* const memory = reserve.bytes.data() + reserve.used;
  constexpr size_t kAlignment = alignof(std::max_align_t);
  reserve.used =
      std::min((reserve.used + bytes + kAlignment - 1) / kAlignment * kAlignment, reserve.bytes.size());
  ++reserve.live;
  return memory;
}

void give_json_memory(void* memory) noexcept {
  JsonReserve& reserve = g_json_reserve;
  if (!reserve.holds(memory)) return ::operator delete(memory);
  const std::lock_guard lock(reserve.mutex);
  if (--reserve.live == 0) reserve.used = 0;
}

nlohmann::json parse_json(std::string_view text) {
  return nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
}
nlohmann::ordered_json parse_ordered_json(std::string_view text) {
  return nlohmann::ordered_json::parse(text.begin(), text.end(), nullptr, false);
}

std::string json_text(const nlohmann::json& document, int indent) { return text_of(document, indent); }
std::string json_text(const nlohmann::ordered_json& document, int indent) {
  return text_of(document, indent);
}
std::string json_quoted(std::string_view text) { return text_of(nlohmann::json(text), -1); }

}  // namespace galatea
