// Time since the process was started.
#pragma once

namespace galatea::tools {

/// In seconds, on the steady clock. Before main() has begun, the loading of libraries has taken its time:
/// that counts too.
double seconds_since_process_start();

}  // namespace galatea::tools
