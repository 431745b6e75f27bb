#include "stdlib_ops/native/far/address.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "stdlib_ops/native/bytes/byte_source.h"

namespace galatea::native::far {
namespace {

/// More is no address; servers take 8 KB, keys have at most 1024 bytes.
constexpr size_t kMaxAddress = 16384;
constexpr size_t kMaxKey = 1024;
/// What may stand in an address as it is (RFC 3986, sections 2.2 and 2.3), and the "%" of what is encoded
/// already.
constexpr std::string_view kOfAddresses = ":/?#[]@!$&'()*+,;=%";

bool starts(std::string_view text, std::string_view with) { return text.starts_with(with); }

bool is_web(std::string_view path) { return starts(path, "http://") || starts(path, "https://"); }

/// Behind "scheme://".
std::string_view behind_scheme(std::string_view text) { return text.substr(text.find("://") + 3); }

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::unexpected<Error> no_address(const std::string& text, std::string_view what) {
  return unusable(fmt::format("{} is no address: {}", text, what),
                  "write https://HOST/PATH, s3://BUCKET/KEY or gs://BUCKET/KEY");
}

Result<Address> parse_web(std::string_view text) {
  Address address;
  address.shown = shown(text);
  const std::string_view rest = behind_scheme(text);
  std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  host.remove_prefix(host.rfind('@') == std::string_view::npos ? 0 : host.rfind('@') + 1);
  if (host.empty() || host.starts_with(':')) return no_address(address.shown, "it names no host");
  // What stands behind "#" is for browsers.
  address.url = percent_encoded(text.substr(0, text.find('#')), kOfAddresses);
  return address;
}

}  // namespace

bool is_far(std::string_view path) { return is_web(path) || starts(path, "s3://") || starts(path, "gs://"); }

std::string_view other_scheme(std::string_view path) {
  const size_t end = path.find("://");
  if (end == std::string_view::npos || is_far(path)) return {};
  // RFC 3986, section 3.1.
  const auto is_of_scheme = [](char c) { return (is_plain(c) && c != '_' && c != '~') || c == '+'; };
  size_t begin = end;
  while (begin > 0 && is_of_scheme(path[begin - 1])) --begin;
  return path.substr(begin, end - begin);
}

std::string_view path_of_address(std::string_view path) {
  return starts(path, "file:///") ? path.substr(7) : path;
}

Result<Address> parse_address(std::string_view text) {
  GALATEA_CHECK(is_far(text), "no far address");
  if (text.size() > kMaxAddress)
    return no_address(shown(text.substr(0, 64)) + "…", fmt::format("it has {} bytes", text.size()));
  if (std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; }))
    return no_address("one", "it holds a control character");
  if (is_web(text)) return parse_web(text);
  Address address;
  address.store = starts(text, "s3") ? Store::kAmazon : Store::kGoogle;
  address.shown = text;
  const std::string_view rest = behind_scheme(text);
  address.bucket = rest.substr(0, rest.find('/'));
  address.key = rest.substr(std::min(rest.size(), address.bucket.size() + 1));
  if (address.bucket.empty()) return no_address(address.shown, "it names no bucket");
  // A bucket becomes a part of a host's name: nothing else may stand in it.
  if (!std::ranges::all_of(address.bucket, [](char c) { return is_plain(c) && c != '~'; }))
    return no_address(address.shown, "a bucket's name has letters, digits, \"-\", \"_\" and \".\"");
  if (address.key.size() > kMaxKey)
    return no_address(shown(text.substr(0, 64)) + "…",
                      fmt::format("its key has {} bytes", address.key.size()));
  return address;
}

std::string shown(std::string_view path) {
  if (!is_web(path)) return std::string(path);
  const std::string_view scheme = path.substr(0, path.find("://") + 3);
  std::string_view rest = behind_scheme(path);
  rest = rest.substr(0, rest.find_first_of("?#"));
  const std::string_view host = rest.substr(0, rest.find('/'));
  if (const size_t at = host.rfind('@'); at != std::string_view::npos) rest.remove_prefix(at + 1);
  return fmt::format("{}{}", scheme, rest);
}

std::string join(std::string_view root, std::string_view written) {
  const std::string_view name = path_of_address(written);
  if (root.empty() || is_far(name)) return std::string(name);
  if (!is_far(root)) return (std::filesystem::path(root) / name).string();
  if (starts(name, "/")) return std::string(name);
  const bool has_slash = root.ends_with('/');
  return fmt::format("{}{}{}", root, has_slash ? "" : "/",
                     is_web(root) ? percent_encoded(name, "/:@!$&'()*+,;=") : std::string(name));
}

std::string folder_of(std::string_view path) {
  if (!is_far(path)) return std::filesystem::path(path).parent_path().string();
  if (is_web(path)) path = path.substr(0, path.find_first_of("?#"));
  const size_t begin = path.find("://") + 3, slash = path.rfind('/');
  return std::string(slash == std::string_view::npos || slash < begin ? path : path.substr(0, slash));
}

std::string percent_encoded(std::string_view text, std::string_view keep) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_plain(c) || keep.find(c) != std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? digit_value(text[i + 1]) : -1;
    const int low = high >= 0 ? digit_value(text[i + 2]) : -1;
    if (low < 0) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace galatea::native::far
