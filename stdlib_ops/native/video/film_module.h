// Opens and writes films through the video module, which is looked for when it is first needed.
#pragma once

#include "stdlib_ops/native/video/film.h"

namespace galatea::native::video {

/// Where the module or its libraries are missing, an error that names them.
Result<std::unique_ptr<Film>> open_film(std::shared_ptr<const ByteSource> bytes);

/// The bytes of an MP4 file (MPEG-4 part 2, BT.601, limited range, nearly without loss). The same frames become the
/// same bytes with the same libav.
Result<std::vector<uint8_t>> write_film(const FrameBytes& frames);

/// "libavcodec 59.37.100, libavformat 59.27.100 (/usr/lib/galatea/libgalatea_video.so)", or why there is none.
std::string module_text();

}  // namespace galatea::native::video
