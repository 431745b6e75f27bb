// A film by libav: its demuxer over our bytes, and one decoder.
//
// Nothing else of libav is reached: no protocol, no file that the film names, and of the demuxers and codecs
// those of a list.
#pragma once

#include <memory>

#include "stdlib_ops/native/video/film.h"

namespace galatea::native::video {

Result<std::unique_ptr<Film>> open_libav_film(std::shared_ptr<const ByteSource> bytes);

}  // namespace galatea::native::video
