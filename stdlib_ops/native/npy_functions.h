// decoders.numpy: arrays whose bytes the samples bring.
//
// numpy.peek: input 0 = a .npy file (u8 [n]). Results: the array's extents (i64). An array of another number of
// axes than the configuration says is the sample's error.
// numpy.decode: the same input; output: the array in C order, its elements converted to the output's type
// (convert_elements.h).
// Configuration of both: the number of axes.
#pragma once

#include <vector>

#include "runtime/native.h"

namespace galatea::native {

inline constexpr const char* kNumpyPeek = "numpy.peek";
inline constexpr const char* kNumpyDecode = "numpy.decode";

std::vector<runtime::NativeFunction> numpy_functions();

}  // namespace galatea::native
