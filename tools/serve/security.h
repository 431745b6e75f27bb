// Who may ask: those who have the token, under the server's own name, from its own page.
//
// Comes in: a request. Goes out: whether it is answered. Pure functions but for make_token().
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/serve/interface/http.h"

namespace galatea::tools::serve {

/// 32 hexadecimal digits from the system's source of randomness.
std::string make_token();

/// The door of one server.
struct Door {
  std::string token;
  int port = 0;

  /// What to type into a browser.
  std::string address() const;
  /// Holds the token for requests of the page's elements, which send no header of ours.
  std::string cookie_name() const;
  /// Why the request is refused; nothing: it is let in. The reason holds nothing of the request.
  std::optional<std::string_view> why_refused(const Request& request) const;

 private:
  bool is_own_host(std::string_view host) const;
  bool has_token(const Request& request) const;
};

/// The value of a cookie in a Cookie header.
std::optional<std::string_view> cookie_value(std::string_view header, std::string_view name);

/// With the headers that keep the page to itself: nothing is loaded from elsewhere, kept, or framed.
Response secured(Response response);

}  // namespace galatea::tools::serve
