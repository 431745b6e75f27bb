// JSON documents: nlohmann's, with its parser and its writer compiled once. Both are templates that cost more
// to compile than most files that need a document or two.
//
// Comes in: text, or a document. Goes out: the other.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>

#include <nlohmann/json_fwd.hpp>

namespace galatea {

/// Memory for lists of values: where the system has none, from a reserve. The destructor of a document
/// gathers its parts in such a list, and what a destructor throws ends the process.
void* take_json_memory(size_t bytes);
void give_json_memory(void* memory) noexcept;

template <typename Document>
struct JsonListAllocator {
  using value_type = Document;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;
  using propagate_on_container_move_assignment = std::true_type;
  using is_always_equal = std::true_type;

  Document* allocate(size_t count) {
    if (count > std::numeric_limits<size_t>::max() / sizeof(Document)) throw std::bad_array_new_length();
    return static_cast<Document*>(take_json_memory(count * sizeof(Document)));
  }
  void deallocate(Document* memory, size_t) noexcept { give_json_memory(memory); }
};

}  // namespace galatea

/// What nlohmann's lists of values take their memory from.
template <>
class std::allocator<nlohmann::json> : public galatea::JsonListAllocator<nlohmann::json> {
 public:
  allocator() = default;
  template <typename Other>
  allocator(const std::allocator<Other>&) noexcept {}  // NOLINT: allocators convert
  friend bool operator==(const allocator&, const allocator&) { return true; }
};
template <>
class std::allocator<nlohmann::ordered_json> : public galatea::JsonListAllocator<nlohmann::ordered_json> {
 public:
  allocator() = default;
  template <typename Other>
  allocator(const std::allocator<Other>&) noexcept {}  // NOLINT: allocators convert
  friend bool operator==(const allocator&, const allocator&) { return true; }
};

#include <nlohmann/json.hpp>

namespace galatea {

/// What a text says; a discarded value (is_discarded()), which has no members, where it is not JSON.
nlohmann::json parse_json(std::string_view text);
/// The same with members in the order of the text.
nlohmann::ordered_json parse_ordered_json(std::string_view text);

/// On one line, or with so many spaces a level. Bytes that are no UTF-8 are replaced.
std::string json_text(const nlohmann::json& document, int indent = -1);
std::string json_text(const nlohmann::ordered_json& document, int indent = -1);
/// A string with its quotes, as json_text() has it.
std::string json_quoted(std::string_view text);

}  // namespace galatea
