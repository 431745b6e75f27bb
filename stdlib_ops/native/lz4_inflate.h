// decoders.inflate: tensors that were compressed, whole or chunk by chunk.
//
// inflate.lz4: input 0 = compressed bytes (u8 [n]); behind it the lists that the configuration says are fed,
// offsets before sizes (integers, 1-D). Output: what they hold; with chunks a leading axis counts these.
// Configuration: {"chunked": true, "offsets": [0, 17], "sizes": null, "fed_offsets": false, "fed_sizes": true}.
// A chunk is a block of LZ4, without a frame (lz4 block format, version 1.6).
#pragma once

#include "runtime/native.h"

namespace galatea::native {

inline constexpr const char* kInflateLz4 = "inflate.lz4";

runtime::NativeFunction inflate_function();

}  // namespace galatea::native
