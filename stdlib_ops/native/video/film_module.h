// Opens films through the video module, which is looked for when the first one is opened.
#pragma once

#include "stdlib_ops/native/video/film.h"

namespace galatea::native::video {

/// Where the module or its libraries are missing, an error that names them.
Result<std::unique_ptr<Film>> open_film(std::shared_ptr<const ByteSource> bytes);

/// "libavcodec 59.37.100, libavformat 59.27.100 (/usr/lib/galatea/libgalatea_video.so)", or why there is none.
std::string module_text();

}  // namespace galatea::native::video
