// Ports as data, for `galatea ops --json`, the C API and what generates bindings from them.
#pragma once

#include "base/json.h"
#include "base/port.h"

namespace galatea {

/// {"name", "documentation", "dtypes": ["u8", …], "layouts": ["HWC", …], "ndim": 3 or null, "extents":
/// [number, name or null, …] or null, "optional"}. Empty lists: any.
nlohmann::ordered_json port_json(const Port& port);

}  // namespace galatea
