// Which windows a run decodes: seen where the decoder is called, not computed a second time.
//
// Comes in: calls of the native decoder. Goes out: per file, the window in stored coordinates. Two
// implementations stand behind this header: box_recorder.cpp for the program that records, no_recorder.cpp
// for the one that is timed, which sees the C API and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "include/galatea.h"

namespace galatea::bench {

struct Box {
  int64_t y0 = 0, x0 = 0, y1 = 0, x1 = 0;
};

class BoxRecorder {
 public:
  BoxRecorder();
  ~BoxRecorder();
  /// An engine whose decoders tell this recorder; an error if this program cannot record. To be destroyed
  /// before the recorder.
  galatea_error* make_engine(galatea_engine** engine);
  /// The window that was decoded last from this file; nothing where none was.
  std::optional<Box> last(const std::string& path);

 private:
  struct Seen;
  std::unique_ptr<Seen> seen_;
};

}  // namespace galatea::bench
