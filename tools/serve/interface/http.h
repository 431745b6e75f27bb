// What galatea and its HTTP module (libgalatea_http.so) say to each other: requests and responses.
//
// Comes in: a request as bytes on a connection of this machine. Goes out: the response of a handler. The module
// alone links cpp-httplib, and what that stands on; it is opened by `galatea serve`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace galatea::tools::serve {

struct Request {
  std::string method, path, body;                   ///< "GET", "/api/frame"
  std::multimap<std::string, std::string> headers;  ///< names in lower case
  std::multimap<std::string, std::string> query;    ///< decoded

  /// The first of a name; nothing where there is none.
  std::optional<std::string> header(const std::string& name) const { return first(headers, name); }
  std::optional<std::string> argument(const std::string& name) const { return first(query, name); }

 private:
  static std::optional<std::string> first(const std::multimap<std::string, std::string>& entries,
                                          const std::string& name) {
    const auto found = entries.find(name);
    return found == entries.end() ? std::nullopt : std::optional(found->second);
  }
};

struct Response {
  int status = 200;
  std::string type = "application/json", body;
  std::map<std::string, std::string> headers = {};
};

/// Called by many threads at once.
using Handler = std::function<Response(const Request&)>;

/// Listens on 127.0.0.1 from its making on.
class HttpServer {
 public:
  virtual ~HttpServer() = default;
  virtual int port() const = 0;
  /// Answers until stop(), which any thread may call; waits for the answers that are being made.
  virtual void run(const Handler& handler) = 0;
  virtual void stop() = 0;
};

inline constexpr size_t kMostBody = size_t{1} << 20;  ///< bytes of a request's body

struct ModuleTable {
  uint32_t interface = 0;
  const char* version = nullptr;  ///< of galatea
  /// 0: any free port. nullptr: the port is taken, or may not be listened on.
  std::unique_ptr<HttpServer> (*listen)(int port) = nullptr;
};
inline constexpr uint32_t kModuleInterface = 1;
inline constexpr const char* kModuleSymbol = "galatea_http_module";
using ModuleEntry = const ModuleTable* (*)();

}  // namespace galatea::tools::serve
