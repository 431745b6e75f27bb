// What the protocol's documents look like: positions, places, addresses, errors (LSP 3.17).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/json.h"
#include "tools/lsp/text_buffer.h"

namespace galatea::tools::lsp {

using Json = nlohmann::json;

/// Codes of JSON-RPC and of the protocol.
enum class ErrorCode : int {
  kParse = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternal = -32603,
  kNotInitialized = -32002,
  kRequestFailed = -32803,
  kCancelled = -32800,
};

/// What a request is answered with instead of a result.
struct RequestError : std::runtime_error {
  RequestError(ErrorCode error_code, const std::string& message)
      : std::runtime_error(message), code(error_code) {}
  ErrorCode code;
};

Json to_json(Position position);
Json to_json(Range range);
/// Throws RequestError where the document is none.
Position position_of(const Json& json);
Range range_of(const Json& json);

/// "file:///data/a%20b.dali-dsl" → "/data/a b.dali-dsl"; other addresses as they are.
std::string path_of(std::string_view uri);
std::string uri_of(std::string_view path);

}  // namespace galatea::tools::lsp
