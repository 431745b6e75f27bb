// decoders.video and the readers of films: the native functions behind them.
//
// video.peek: input 0 = the bytes of a film (u8 [n]); scalars: of the arguments that the configuration lists as
// "given", one each. Results: how many frames the clip has, their height and width (i64).
// video.decode: the same; output: the clip, u8 [F, H, W, C]. Six further scalars say the window of it that is
// wanted: where it begins along F, H, W, and where it ends.
// video.sequences: input 0 = a film that was fed; result: how many sequences of "sequence_length" frames it has.
// video.peek and video.decode with "is_fed" are of one of them: its samples share index and decoders.
// video.clip: input 0 = the path of a film (u8 [n]), input 1 = the numbers of the frames (i64 [F], -1: filled).
// Scalars: the window. Output as of video.decode.
#pragma once

#include <string>
#include <vector>

#include "runtime/native.h"
#include "stdlib_ops/native/video/film_library.h"

namespace galatea::native {

inline constexpr const char* kVideoPeek = "video.peek";
inline constexpr const char* kVideoDecode = "video.decode";
inline constexpr const char* kVideoSequences = "video.sequences";
inline constexpr const char* kVideoClip = "video.clip";

std::vector<runtime::NativeFunction> video_functions();

/// A film by its path, of this machine or far away.
video::FilmFile film_at(const std::string& path);

}  // namespace galatea::native
