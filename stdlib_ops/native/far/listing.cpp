#include "stdlib_ops/native/far/listing.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "stdlib_ops/native/far/address.h"

namespace galatea::native::far {
namespace {

constexpr size_t kMaxDepth = 16;

/// Text without references: "&amp;", "&#38;" and "&#x26;"; nothing where one is malformed or unknown.
std::optional<std::string> dereferenced(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t begin = text.find('&');
    out += text.substr(0, begin);
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin + 1);
    const size_t end = text.find(';');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view name = text.substr(0, end);
    text.remove_prefix(end + 1);
    constexpr std::pair<std::string_view, char> kNames[] = {
        {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    const auto* const known = std::ranges::find(kNames, name, &std::pair<std::string_view, char>::first);
    if (known != std::end(kNames)) {
      out += known->second;
      continue;
    }
    if (!name.starts_with('#')) return std::nullopt;
    const bool is_hex = name.starts_with("#x");
    const std::string_view digits = name.substr(is_hex ? 2 : 1);
    uint32_t code = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), code, is_hex ? 16 : 10);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || code == 0 ||
        code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
      return std::nullopt;
    // UTF-8.
    if (code < 0x80) {
      out += static_cast<char>(code);
      continue;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr int kFirst[] = {0, 0xC0, 0xE0, 0xF0};
    out += static_cast<char>(static_cast<uint32_t>(kFirst[more]) | code >> (6 * more));
    for (int k = more - 1; k >= 0; --k) out += static_cast<char>(0x80 | (code >> (6 * k) & 0x3F));
  }
  return out;
}

/// Calls `give` with the names of the elements around each text, outermost first, and the text. Returns
/// what is wrong with the document; empty: nothing.
std::string read_xml(std::string_view xml,
                     const std::function<void(const std::vector<std::string_view>&, std::string)>& give) {
  std::vector<std::string_view> path;
  bool has_root = false;
  std::string_view rest = xml;
  const auto here = [&] { return fmt::format("at byte {}", xml.size() - rest.size()); };
  for (bool is_leaf = false; !rest.empty();) {
    if (rest.front() != '<') {
      const std::string_view raw = rest.substr(0, rest.find('<'));
      const bool is_blank = raw.find_first_not_of(" \t\r\n") == std::string_view::npos;
      if (path.empty() && !is_blank && !(raw == "\xEF\xBB\xBF"))
        return "there is text outside of it " + here();
      if (is_leaf && raw.size() < rest.size() && rest.substr(raw.size()).starts_with("</")) {
        auto text = dereferenced(raw);
        if (!text) return "a reference is malformed or unknown " + here();
        give(path, std::move(*text));
        is_leaf = false;
      }
      rest.remove_prefix(raw.size());
      continue;
    }
    const auto skip_to = [&](std::string_view end) {
      const size_t at = rest.find(end);
      if (at == std::string_view::npos) return false;
      rest.remove_prefix(at + end.size());
      return true;
    };
    if (rest.starts_with("<?")) {
      if (!skip_to("?>")) return "it ends within an instruction";
      continue;
    }
    if (rest.starts_with("<!--")) {
      if (!skip_to("-->")) return "it ends within a comment";
      is_leaf = false;
      continue;
    }
    if (rest.starts_with("<!")) return "it has a document type or unparsed text " + here();
    const size_t end = rest.find('>');
    if (end == std::string_view::npos) return "it ends within a tag";
    std::string_view tag = rest.substr(1, end - 1);
    const bool closes = tag.starts_with('/');
    if (closes) tag.remove_prefix(1);
    const bool is_empty = tag.ends_with('/');  // not the slash of "</>", which is gone
    if (is_empty) tag.remove_suffix(1);
    const std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n"));
    if (name.empty() || (closes && is_empty)) return "a tag is malformed " + here();
    if (closes) {
      if (path.empty() || path.back() != name)
        return fmt::format("</{}> ends nothing {}", name.substr(0, 64), here());
      if (is_leaf) give(path, {});
      path.pop_back();
      is_leaf = false;
    } else {
      if (path.empty() && has_root) return "it has two roots";
      if (path.size() >= kMaxDepth) return "it is nested deeply " + here();
      has_root = true;
      path.push_back(name);
      is_leaf = !is_empty;
      if (is_empty) {
        give(path, {});
        path.pop_back();
      }
    }
    rest.remove_prefix(end + 1);
  }
  if (!path.empty() || !has_root) return "it ends too early";
  return {};
}

}  // namespace

Result<ListPage> parse_list_page(std::string_view xml, const std::string& shown) {
  ListPage page;
  bool is_listing = false, is_encoded = false;
  const std::string problem = read_xml(xml, [&](const std::vector<std::string_view>& path, std::string text) {
    if (path.front() != "ListBucketResult") return;
    is_listing = true;
    if (path.size() == 2 && path[1] == "IsTruncated") page.is_truncated = text == "true";
    if (path.size() == 2 && path[1] == "NextContinuationToken") page.next = std::move(text);
    if (path.size() == 2 && path[1] == "EncodingType") is_encoded = text == "url";
    if (path.size() != 3) return;
    if (path[1] == "Contents" && path[2] == "Key") page.keys.push_back(std::move(text));
    if (path[1] == "CommonPrefixes" && path[2] == "Prefix") page.prefixes.push_back(std::move(text));
  });
  if (!problem.empty() || !is_listing)
    return make_error(ErrorKind::kUser, "G0803",
                      fmt::format("cannot list {}: the answer is no listing of a bucket: {}", shown,
                                  problem.empty() ? "it is another document" : problem),
                      "check that the end point is that of a store with an interface as S3 has it");
  if (is_encoded) {
    // Spaces may come as "+", as forms have them.
    for (auto* const names : {&page.keys, &page.prefixes})
      for (std::string& name : *names) {
        std::ranges::replace(name, '+', ' ');
        name = percent_decoded(name);
      }
  }
  return page;
}

StoreError parse_store_error(std::string_view xml) {
  StoreError error;
  const std::string problem = read_xml(xml, [&](const std::vector<std::string_view>& path, std::string text) {
    if (path.size() != 2 || path[0] != "Error") return;
    if (path[1] == "Code") error.code = std::move(text);
    if (path[1] == "Message") error.message = std::move(text);
  });
  if (!problem.empty()) return {};
  return error;
}

}  // namespace galatea::native::far
