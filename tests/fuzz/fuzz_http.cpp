// A browser that asks for anything: the first line of the input is a method and a target, then come headers, an
// empty line, and a body. `TOKEN` stands for the server's.
//
// Must hold: no crash; who lacks the token, or comes from elsewhere, gets 403; every answer but the page's own
// files is JSON that holds nothing of the request.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json.h"
#include "tests/fuzz/target.h"
#include "tools/serve/server.h"

namespace galatea::fuzz::of_http {
namespace {

using namespace galatea::tools::serve;

constexpr const char* kToken = "0123456789abcdef0123456789abcdef";

/// What stands before a separator; `text` keeps what stands behind it.
std::string take_until(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  std::string part(text.substr(0, at));
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return part == "TOKEN" ? kToken : part;
}

Request request_of(std::string_view text) {
  Request request;
  request.method = take_until(text, ' ');
  const std::string target = take_until(text, '\n');
  std::string_view rest = target;
  request.path = take_until(rest, '?');
  while (!rest.empty()) {
    const std::string pair = take_until(rest, '&');
    std::string_view value = pair;
    std::string name = take_until(value, '=');
    request.query.emplace(std::move(name), value == "TOKEN" ? kToken : std::string(value));
  }
  while (!text.empty() && !text.starts_with('\n')) {
    const std::string line = take_until(text, '\n');
    std::string_view value = line;
    std::string name = take_until(value, ':');
    request.headers.emplace(std::move(name), std::string(value));
  }
  request.body = text;
  return request;
}

Server& server() {
  static Server& made = *[] {
    static const tools::PipelineHost host;
    auto* server =
        new Server(host, "/nowhere/at/all.dali-dsl", {}, Door{kToken, 8123});  // as long as the process
    server->end();  // nothing is compiled, and nobody waits
    return server;
  }();
  return made;
}

bool is_let_in(const Request& request) {
  const auto host = request.header("host");
  const bool knows_host =
      request.headers.count("host") == 1 && (host == "127.0.0.1:8123" || host == "localhost:8123");
  bool has_token = false;
  for (const auto* entries : {&request.headers, &request.query})
    for (const auto& [name, value] : *entries)
      has_token = has_token || value.find(kToken) != std::string::npos;
  return knows_host && has_token;
}

}  // namespace

GALATEA_FUZZ_TARGET(http, 8000)(const uint8_t* data, size_t size) {
  const Request request = request_of({reinterpret_cast<const char*>(data), size});
  const Response response = server().answer(request);
  require(response.status == 403 || is_let_in(request));
  require(response.headers.contains("Content-Security-Policy"));
  if (response.type == "application/json") require(parse_json(response.body).is_object());
}

}  // namespace galatea::fuzz::of_http
