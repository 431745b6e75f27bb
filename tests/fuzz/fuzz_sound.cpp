// Headers and frames of any bytes.
//
// Comes in: two bytes that choose the element type, whether channels become one, and a range, then a file. Must
// hold: no crash, no write outside the output, bounded memory.
#include <cstdlib>
#include <vector>

#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/sound/sound_file.h"
#include "tests/fuzz/target.h"

namespace galatea::fuzz::of_sound {
namespace {

using namespace galatea::native;

constexpr int64_t kMostElements = int64_t{1} << 18;

}  // namespace

GALATEA_FUZZ_TARGET(sound, 800)(const uint8_t* data, size_t size) {
  if (size < 2 || !SoundLibrary::shared()) return;
  const auto file = SoundFile::open(bytes_elsewhere("the file", {data + 2, size - 2}));
  if (!file) {
    require(!file.error().message().empty());
    return;
  }
  const int64_t frames = (*file)->frames(), channels = (*file)->channels();
  require(frames >= 0 && channels > 0 && (*file)->rate() > 0);
  if (frames > kMostElements / channels) return;
  const bool mono = data[0] % 2 == 1;
  const int64_t begin = data[1] * frames / 256;
  std::vector<int32_t> out(static_cast<size_t>((frames - begin) * (mono ? 1 : channels)));
  const DType dtype = kSoundTypes[data[0] / 2 % 3];
  const Status status = mono ? (*file)->read_mono(begin, frames, dtype, out.data())
                             : (*file)->read(begin, frames, dtype, out.data());
  require(status || !status.error().message().empty());
}

}  // namespace galatea::fuzz::of_sound
