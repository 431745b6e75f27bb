// cuFile in place of native functions whose outputs lie in files as they are (in_file.h).
//
// A worker's thread reads into memory of the device that nothing uses any more, so that an error is the sample's
// and reads of a batch run side by side; with its batch the device copies it to its place.
#pragma once

#include "runtime/device_alternative.h"

namespace galatea::native {

inline constexpr const char* kCufile = "cuFile";
/// What is shorter the host reads sooner: a file costs cuFile a registration. A guess that no device has measured.
inline constexpr int64_t kLeastCufileBytes = int64_t{64} << 10;

runtime::DeviceAlternativeFactory cufile_factory();

}  // namespace galatea::native
