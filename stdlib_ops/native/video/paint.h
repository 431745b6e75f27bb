// Clips as tensors.
//
// Comes in: a film, numbers of frames, a window. Goes out: bytes [F, H, W, C] of that window.
#pragma once

#include <array>

#include "stdlib_ops/native/video/clip.h"
#include "stdlib_ops/native/video/colour.h"
#include "stdlib_ops/native/video/frames.h"

namespace galatea::native::video {

struct Look {
  Colours colours;
  bool is_turned = false;  ///< as the file asks its viewers to
  std::array<uint8_t, 3> fill = {};
};

/// Of the frames as they are looked at.
struct FrameSize {
  int64_t height = 0, width = 0;
};
FrameSize frame_size(const StreamFacts& stream, const Look& look);

/// `frames` may hold kFilled, and the same frame several times. `box` is within frame_size().
Status paint_clip(FilmLibrary& library, const FilmFile& file, const FilmIndex& index,
                  std::span<const int64_t> frames, const Look& look, const Box& box,
                  const std::function<bool()>& cancelled, uint8_t* to);

}  // namespace galatea::native::video
