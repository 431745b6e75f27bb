// SIGINT: the first asks for an orderly end, the second ends at once.
#pragma once

namespace galatea::tools {

/// From here on SIGINT is ours, and a reader that goes away (`| head`) is no signal.
void install_signal_handlers();
bool is_interrupted();

/// While one lives, an interruption is left to the code that asks is_interrupted(); otherwise it ends the
/// program with status 130.
class OrderlyEnd {
 public:
  OrderlyEnd();
  ~OrderlyEnd();
  OrderlyEnd(const OrderlyEnd&) = delete;
  OrderlyEnd& operator=(const OrderlyEnd&) = delete;
};

}  // namespace galatea::tools
