// Drawings of tensors that are no pictures: waveforms, spectrograms, sequences of frames.
//
// Comes in: a tensor and its layout. Goes out: a picture, and what range it shows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/layout.h"
#include "runtime/tensor.h"
#include "tools/save.h"

namespace galatea::tools {

struct Drawing {
  Pixels picture;
  std::string range;  ///< "-0.5 to 0.5", of its values, or "6 of 16 frames"
};

/// Sound, [t] or [t, channels] of at least 256 frames: time to the right; in each column a line from the least to the
/// greatest value there, of all channels.
std::optional<Drawing> draw_waveform(const runtime::Tensor& tensor, const Layout& layout);
/// A matrix with axes f and t: time to the right, frequencies upwards, from black, the least value, to white.
std::optional<Drawing> draw_spectrogram(const runtime::Tensor& tensor, const Layout& layout);
/// Frames with an axis F before those of a picture: up to six of them, first and last included, in rows of three.
std::optional<Drawing> draw_frames(const runtime::Tensor& tensor, const Layout& layout);
/// The one of them that fits; nothing for other tensors.
std::optional<Drawing> drawing_of(const runtime::Tensor& tensor, const Layout& layout);

/// Where a frame lies in what draw_frames() makes.
struct DrawnFrame {
  int left = 0, top = 0, width = 0, height = 0;
  int64_t frame = 0;
};
/// Empty: there is no such drawing of it.
std::vector<DrawnFrame> drawn_frames(const runtime::Tensor& tensor, const Layout& layout);

/// What stands under a point of a picture or a drawing.
struct DrawnPlace {
  std::string words;     ///< "column 4, row 3", "frame 2, column 4, row 3", "number 17", "band 3, window 8"
  runtime::Tensor part;  ///< of the tensor
};
/// Of what cell_of() draws. Nothing: beside it, or the part is no matter of a few numbers.
std::optional<DrawnPlace> place_under(const runtime::Tensor& tensor, const Layout& layout, int64_t x,
                                      int64_t y);

}  // namespace galatea::tools
