#include "tools/serve/security.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace galatea::tools::serve {
namespace {

/// Takes the same time wherever the texts differ, so that answers tell nothing of a token.
bool is_equal(std::string_view given, std::string_view token) {
  if (given.size() != token.size()) return false;
  unsigned difference = 0;
  for (size_t k = 0; k < token.size(); ++k)
    difference |= static_cast<unsigned char>(given[k]) ^ static_cast<unsigned char>(token[k]);
  return difference == 0;
}

}  // namespace

std::string make_token() {
  std::array<unsigned char, 16> bytes = {};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::system_error(errno, std::generic_category(), "no random numbers");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

std::string Door::address() const { return fmt::format("http://127.0.0.1:{}/?token={}", port, token); }

// Cookies are for a host with all of its ports.
std::string Door::cookie_name() const { return fmt::format("galatea-{}", port); }

bool Door::is_own_host(std::string_view host) const {
  return host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port);
}

bool Door::has_token(const Request& request) const {
  if (const auto given = request.argument("token")) return is_equal(*given, token);
  if (const auto given = request.header("x-galatea-token")) return is_equal(*given, token);
  const auto cookies = request.header("cookie");
  const auto given = cookies ? cookie_value(*cookies, cookie_name()) : std::nullopt;
  return given && is_equal(*given, token);
}

std::optional<std::string_view> Door::why_refused(const Request& request) const {
  if (request.headers.count("host") != 1 || !is_own_host(*request.header("host")))
    return "this server answers under 127.0.0.1 and localhost only";
  constexpr std::string_view kScheme = "http://";
  for (auto [at, end] = request.headers.equal_range("origin"); at != end; ++at) {
    const std::string_view origin = at->second;
    if (!origin.starts_with(kScheme) || !is_own_host(origin.substr(kScheme.size())))
      return "this server answers its own page only";
  }
  if (!has_token(request)) return "the token is missing: open the address that `galatea serve` printed";
  return std::nullopt;
}

std::optional<std::string_view> cookie_value(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const size_t end = header.find(';');
    std::string_view pair = header.substr(0, end);
    header = end == std::string_view::npos ? std::string_view() : header.substr(end + 1);
    while (pair.starts_with(' ')) pair.remove_prefix(1);
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=')
      return pair.substr(name.size() + 1);
  }
  return std::nullopt;
}

Response secured(Response response) {
  response.headers["Content-Security-Policy"] =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  response.headers["X-Content-Type-Options"] = "nosniff";
  response.headers["Referrer-Policy"] = "no-referrer";
  response.headers["Cache-Control"] = "no-store";
  return response;
}

}  // namespace galatea::tools::serve
