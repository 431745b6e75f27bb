#include "tools/lsp/protocol.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include <fmt/core.h>

namespace galatea::tools::lsp {
namespace {

constexpr std::string_view kFileScheme = "file://";

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

uint32_t unsigned_of(const Json& json, const char* member) {
  const auto found = json.is_object() ? json.find(member) : json.end();
  if (!json.is_object() || found == json.end() || !found->is_number_unsigned())
    throw RequestError(ErrorCode::kInvalidParams, fmt::format("a position needs `{}`, from 0", member));
  return static_cast<uint32_t>(std::min<uint64_t>(found->get<uint64_t>(), UINT32_MAX));
}

}  // namespace

Json to_json(Position position) { return {{"line", position.line}, {"character", position.character}}; }
Json to_json(Range range) { return {{"start", to_json(range.begin)}, {"end", to_json(range.end)}}; }

Position position_of(const Json& json) { return {unsigned_of(json, "line"), unsigned_of(json, "character")}; }

Range range_of(const Json& json) {
  if (!json.is_object() || !json.contains("start") || !json.contains("end"))
    throw RequestError(ErrorCode::kInvalidParams, "a range needs `start` and `end`");
  return {position_of(json["start"]), position_of(json["end"])};
}

std::string path_of(std::string_view uri) {
  if (!uri.starts_with(kFileScheme)) return std::string(uri);
  uri.remove_prefix(kFileScheme.size());
  // A host's name stands before the path; ours is the only one.
  if (const size_t slash = uri.find('/'); slash != std::string_view::npos) uri.remove_prefix(slash);
  std::string path;
  for (size_t at = 0; at < uri.size(); ++at) {
    const int high = uri[at] == '%' && at + 2 < uri.size() ? hex_digit(uri[at + 1]) : -1;
    const int low = high < 0 ? -1 : hex_digit(uri[at + 2]);
    path += low < 0 ? uri[at] : static_cast<char>(high * 16 + low);
    if (low >= 0) at += 2;
  }
  return path;
}

std::string uri_of(std::string_view path) {
  if (!path.starts_with('/')) return std::string(path);
  std::string uri(kFileScheme);
  for (const char c : path) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) || std::string_view("-._~/").contains(c);
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

}  // namespace galatea::tools::lsp
