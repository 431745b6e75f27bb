// Drawings of tensors that are no pictures: waveforms, spectrograms, sequences of frames.
//
// Comes in: a tensor and its layout. Goes out: a picture, and what range it shows.
#pragma once

#include <optional>
#include <string>

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

}  // namespace galatea::tools
