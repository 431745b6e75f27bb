// What galatea and its video module (libgalatea_video.so) say to each other.
//
// Comes in: the bytes of a film. Goes out: the packets of its first video stream in the order of the file, and
// the pictures that a decoder makes of them. A packet is known by its number in that order, and a picture by
// the number of the packet that it came from, whatever the order in which pictures are shown. Frames become a film
// the other way.
//
// The module alone links libav. It is opened when the first film is (film_module.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "stdlib_ops/native/bytes/byte_source.h"

namespace galatea::native::video {

inline constexpr int64_t kNoTime = INT64_MIN;

struct StreamFacts {
  int32_t width = 0, height = 0;               ///< of the stored pictures
  int32_t tick_count = 1, ticks_a_second = 1;  ///< a unit of time is tick_count / ticks_a_second seconds
  int32_t quarter_turns = 0;                   ///< clockwise, that the file asks its viewers for
};

struct PacketFacts {
  int64_t time = kNoTime;  ///< when it is shown; if the file does not say, when it is decoded
  int32_t bytes = 0;
  bool is_key = false;
  bool is_shown = true;  ///< false: it is decoded for others' sake (an edit list cuts it off)
  bool has_show_time = true;
};

enum class Matrix : uint8_t { kUnknown, kBt601, kBt709, kBt2020, kOther };

/// A decoded picture: planes Y, Cb, Cr; Y alone; or G, B, R. Samples of more than 8 bits take two bytes.
struct Picture {
  enum class Kind : uint8_t { kYuv, kGrey, kRgb };
  int64_t packet = 0;
  int32_t width = 0, height = 0;
  Kind kind = Kind::kYuv;
  int32_t bits = 8;
  int32_t shift_x = 0, shift_y = 0;  ///< of the chroma: 1 where it has half the columns or rows
  bool is_full_range = false;
  Matrix matrix = Matrix::kUnknown;
  const uint8_t* planes[3] = {};
  ptrdiff_t strides[3] = {};  ///< in bytes
};

/// An open film, for one thread at a time. What is wrong with it is the user's error, and names it.
class Film {
 public:
  virtual ~Film() = default;
  virtual const StreamFacts& stream() const = 0;
  /// Goes on to the next packet, and keeps it; nothing at the end.
  virtual Result<std::optional<PacketFacts>> next_packet() = 0;
  /// Before a packet that is shown at `time` or earlier, as near as the file allows; the decoder forgets what it
  /// has. kNoTime: before the first packet.
  virtual Status seek(int64_t time) = 0;
  /// Gives the kept packet to the decoder under this number. Where its own picture is not wanted, it is decoded
  /// only if others need it.
  virtual Status decode(int64_t number, bool is_wanted) = 0;
  /// No packet follows: the pictures that are held back come out.
  virtual Status finish() = 0;
  /// The next picture that is ready, valid until the next call; nothing: a packet has to come first.
  virtual Result<std::optional<Picture>> next_picture() = 0;
};

/// Frames that become a film.
struct FrameBytes {
  const uint8_t* pixels = nullptr;  ///< [frames, height, width, channels], without gaps
  int64_t frames = 0;
  int32_t height = 0, width = 0;
  int32_t channels = 3;  ///< RGB, or 1: grey
  int32_t frames_a_second = 30;
};

/// What the module gives away. Only the first two fields are read before they have been compared.
struct ModuleTable {
  uint32_t interface = 0;
  const char* version = nullptr;    ///< of galatea
  const char* libraries = nullptr;  ///< "libavcodec 59.37.100, …"
  Result<std::unique_ptr<Film>> (*open)(std::shared_ptr<const ByteSource> bytes) = nullptr;
  /// The bytes of an MP4 file.
  Result<std::vector<uint8_t>> (*write)(const FrameBytes& frames) = nullptr;
};
inline constexpr uint32_t kModuleInterface = 2;
inline constexpr const char* kModuleSymbol = "galatea_video_module";
using ModuleEntry = const ModuleTable* (*)();

}  // namespace galatea::native::video
