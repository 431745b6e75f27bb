// The HTTP module: found beside galatea, opened once.
#pragma once

#include <memory>

#include "base/result.h"
#include "tools/serve/interface/http.h"

namespace galatea::tools::serve {

/// Listens on a port of 127.0.0.1; 0: any free one. An error: the module is not there, or the port is taken.
Result<std::unique_ptr<HttpServer>> listen_on_loopback(int port);

}  // namespace galatea::tools::serve
