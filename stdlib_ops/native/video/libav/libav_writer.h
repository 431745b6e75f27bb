// Frames as an MP4 file, by libav's own encoder of MPEG-4 part 2: there is one in every build of libav.
#pragma once

#include "stdlib_ops/native/video/film.h"

namespace galatea::native::video {

Result<std::vector<uint8_t>> write_libav_film(const FrameBytes& frames);

}  // namespace galatea::native::video
