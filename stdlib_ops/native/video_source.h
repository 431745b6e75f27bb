// Clips of films, as readers.video, readers.video_resize and experimental.readers.video list them.
//
// Comes in: films, clips of so many frames. Goes out: a source that says of each clip where it is, and decodes
// nothing: the path of its film (u8 [n]), the numbers of its frames (i64 [F], -1: filled), their height and width
// (i64 [2]), its label (i32 [1]), its number (i32: [1], that of its first frame, or [F]), and when its frames are
// shown, in seconds behind the first one of the film (f64 [F], -1: filled).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/native.h"

namespace galatea::native {

inline constexpr const char* kVideoClips = "readers.video_clips";

/// What a file list says of a clip's film: seconds or frames, from the end where they are negative.
struct FilmRange {
  std::string path;
  int32_t label = 0;
  double start = 0;
  double end = 0;
  bool has_end = false;
};
/// One "path label [start [end]]" a line; `list` is its name for messages.
Result<std::vector<FilmRange>> parse_film_list(const std::string& text, const std::string& list);

/// Which frame stands for a time that lies between two.
enum class Rounding : uint8_t { kDown, kUp };

Result<std::unique_ptr<runtime::SampleSource>> open_video_clips(const std::string& config);

}  // namespace galatea::native
