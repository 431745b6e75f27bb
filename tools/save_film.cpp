#include "tools/save_film.h"

#include "stdlib_ops/native/video/film_module.h"
#include "tools/save.h"

namespace galatea::tools {

Result<std::optional<std::vector<uint8_t>>> to_mp4(const runtime::Tensor& clip, const Layout& layout,
                                                   int32_t frames_a_second) {
  if (layout.find('F') != 0 || clip.extents[0] < 1) return std::nullopt;
  const Layout of_frame(layout.str().substr(1));
  native::video::FrameBytes film{.frames = clip.extents[0], .frames_a_second = frames_a_second};
  std::vector<uint8_t> pixels;
  for (int64_t k = 0; k < film.frames; ++k) {
    const auto frame = to_pixels(frame_of(clip, 0, k), of_frame, false);
    if (!frame) return std::nullopt;
    film.height = frame->height;
    film.width = frame->width;
    film.channels = frame->channels;
    pixels.insert(pixels.end(), frame->bytes.begin(), frame->bytes.end());
  }
  film.pixels = pixels.data();
  return native::video::write_film(film);
}

}  // namespace galatea::tools
