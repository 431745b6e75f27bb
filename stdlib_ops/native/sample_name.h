// The name of a sample, as its source says it: the path of a file.
#pragma once

#include "runtime/native.h"

namespace galatea::native {

inline constexpr const char* kSampleName = "sample.name";

/// Its bytes as u8[n]. The configuration is the number of the source in the program.
runtime::NativeFunction sample_name_function();

}  // namespace galatea::native
