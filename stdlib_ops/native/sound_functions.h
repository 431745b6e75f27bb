// Native functions of encoded sound (sound_file.h).
//
// sound.peek:   input 0 = the bytes of a file (u8 [n]). Results, i64: frames, channels, rate in Hz.
// sound.decode: the same input; scalars: the first frame that is wanted, and the one behind the last; output: f32,
//               i16 or i32, [frames] where the configuration says {"downmix": true}, else [frames, channels].
#pragma once

#include <vector>

#include "runtime/native.h"

namespace galatea::native {

inline constexpr const char* kSoundPeek = "sound.peek";
inline constexpr const char* kSoundDecode = "sound.decode";

std::vector<runtime::NativeFunction> sound_functions();

}  // namespace galatea::native
