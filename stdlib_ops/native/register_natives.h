// The explicit list of native functions and sources.
#pragma once

#include "runtime/native.h"

namespace galatea::native {

void register_natives(runtime::NativeTable& table);

}  // namespace galatea::native
