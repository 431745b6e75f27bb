// nvJPEG in place of the native functions that decode images (runtime/device_alternative.h).
#pragma once

#include "runtime/device_alternative.h"

namespace galatea::native {

runtime::DeviceAlternativeFactory nvjpeg_factory();

}  // namespace galatea::native
