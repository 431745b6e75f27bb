// Frames of a film, exactly those that are asked for.
//
// Comes in: numbers of frames. Goes out: their pictures. Between them only what they need is decoded: decoding
// begins at the last key before a frame, or goes on where the decoder stands.
#pragma once

#include <functional>
#include <span>

#include "stdlib_ops/native/video/film_library.h"

namespace galatea::native::video {

using TakePicture = std::function<Status(int64_t frame, const Picture&)>;

/// Each of `frames`, which ascend, once, in any order. `cancelled` is asked now and then: decoding stops then.
Status decode_frames(FilmLibrary& library, const FilmFile& file, const FilmIndex& index,
                     std::span<const int64_t> frames, const TakePicture& take,
                     const std::function<bool()>& cancelled);

}  // namespace galatea::native::video
