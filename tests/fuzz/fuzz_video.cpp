// Films: all bytes are the file.
//
// Must hold: no crash; errors name the file; what can be listed is decoded, or an error.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/video/paint.h"

namespace galatea::native::video {
namespace {

constexpr int64_t kMostFrames = 8, kSide = 16;

void require(bool condition) {
  if (!condition) std::abort();
}

void decode(std::span<const uint8_t> bytes) {
  FilmLibrary library({});
  const FilmFile file{.name = "made.up", .identity = "made.up", .open = [bytes] {
                        return bytes_elsewhere("made.up", bytes);
                      }};
  const auto index = library.index_of(file);
  if (!index) return require(index.error().message().contains("made.up"));
  std::vector<int64_t> frames;
  for (int64_t k = 0; k < std::min((*index)->num_frames(), kMostFrames); ++k) frames.push_back(k);
  const StreamFacts& stream = (*index)->stream();
  const Box corner{0, 0, std::min<int64_t>(stream.height, kSide), std::min<int64_t>(stream.width, kSide)};
  std::vector<uint8_t> pixels(frames.size() * kSide * kSide * 3);
  const Status done =
      paint_clip(library, file, **index, frames, {}, corner, [] { return false; }, pixels.data());
  require(done || done.error().message().contains("made.up"));
}

}  // namespace
}  // namespace galatea::native::video

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  galatea::native::video::decode({data, size});
  return 0;
}
