#include "stdlib_ops/native/video/paint.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace galatea::native::video {
namespace {

int64_t bytes_of(const Box& box, int64_t channels) {
  return (box.y1 - box.y0) * (box.x1 - box.x0) * channels;
}

/// The part of a stored picture, of these extents, that a box of the turned one shows.
Box stored_box(const Box& box, int32_t turns, int64_t height, int64_t width) {
  switch (turns) {
    case 1:
      return {height - box.x1, box.y0, height - box.x0, box.y1};
    case 2:
      return {height - box.y1, width - box.x1, height - box.y0, width - box.x0};
    case 3:
      return {box.x0, width - box.y1, box.x1, width - box.y0};
    default:
      return box;
  }
}

/// Turns pixels clockwise; `height` and `width` are those of what comes in.
void turn(const uint8_t* from, int64_t height, int64_t width, int64_t channels, int32_t turns, uint8_t* to) {
  const int64_t rows = turns == 2 ? height : width, columns = turns == 2 ? width : height;
  for (int64_t y = 0; y < rows; ++y)
    for (int64_t x = 0; x < columns; ++x) {
      const int64_t from_y = turns == 1 ? height - 1 - x : turns == 2 ? height - 1 - y : x;
      const int64_t from_x = turns == 1 ? y : turns == 2 ? width - 1 - x : width - 1 - y;
      std::memcpy(to + (y * columns + x) * channels, from + (from_y * width + from_x) * channels,
                  static_cast<size_t>(channels));
    }
}

class Painter {
 public:
  Painter(const StreamFacts& stream, const Look& look, const Box& box, const std::string& name)
      : stream_(stream), look_(look), box_(box), name_(name) {}

  int64_t frame_bytes() const { return bytes_of(box_, channels_of(look_.colours.pixels)); }

  void fill(uint8_t* to) const {
    const int64_t channels = channels_of(look_.colours.pixels);
    for (int64_t k = 0; k < frame_bytes(); ++k) to[k] = look_.fill[static_cast<size_t>(k % channels)];
  }

  Status paint(int64_t frame, const Picture& picture, uint8_t* to) {
    if (picture.width != stream_.width || picture.height != stream_.height)
      return make_error(
          ErrorKind::kUser, "G0802",
          fmt::format("{}: frame {} is {} x {}, but the film is {} x {}", name_, frame, picture.height,
                      picture.width, stream_.height, stream_.width),
          "a clip's frames have one size: encode the film again; on_error=\"skip\" goes on without it");
    const int32_t turns = look_.is_turned ? stream_.quarter_turns : 0;
    if (turns == 0) return write_pixels(picture, look_.colours, box_, name_, to);
    const Box box = stored_box(box_, turns, picture.height, picture.width);
    unturned_.resize(static_cast<size_t>(frame_bytes()));
    GALATEA_TRY(write_pixels(picture, look_.colours, box, name_, unturned_.data()));
    turn(unturned_.data(), box.y1 - box.y0, box.x1 - box.x0, channels_of(look_.colours.pixels), turns, to);
    return {};
  }

 private:
  const StreamFacts& stream_;
  const Look& look_;
  const Box box_;
  const std::string& name_;
  std::vector<uint8_t> unturned_;
};

}  // namespace

FrameSize frame_size(const StreamFacts& stream, const Look& look) {
  FrameSize size{stream.height, stream.width};
  if (look.is_turned && stream.quarter_turns % 2 != 0) std::swap(size.height, size.width);
  return size;
}

Status paint_clip(FilmLibrary& library, const FilmFile& file, const FilmIndex& index,
                  std::span<const int64_t> frames, const Look& look, const Box& box,
                  const std::function<bool()>& cancelled, uint8_t* to) {
  Painter painter(index.stream(), look, box, file.name);
  const int64_t bytes = painter.frame_bytes();
  // Frames with their places in the clip.
  std::vector<std::pair<int64_t, int64_t>> places;
  std::vector<int64_t> wanted;
  for (size_t k = 0; k < frames.size(); ++k) {
    const auto place = static_cast<int64_t>(k);
    if (frames[k] == kFilled) {
      painter.fill(to + place * bytes);
    } else {
      places.emplace_back(frames[k], place);
      wanted.push_back(frames[k]);
    }
  }
  std::ranges::sort(places);
  std::ranges::sort(wanted);
  wanted.erase(std::ranges::unique(wanted).begin(), wanted.end());
  const auto take = [&](int64_t frame, const Picture& picture) -> Status {
    auto place = std::ranges::lower_bound(places, std::pair(frame, int64_t{0}));
    uint8_t* const first = to + place->second * bytes;
    GALATEA_TRY(painter.paint(frame, picture, first));
    for (++place; place != places.end() && place->first == frame; ++place)
      std::memcpy(to + place->second * bytes, first, static_cast<size_t>(bytes));
    return {};
  };
  return decode_frames(library, file, index, wanted, take, cancelled);
}

}  // namespace galatea::native::video
