// A file of sound: WAV (also RF64, W64), AIFF, AU, CAF, FLAC, Ogg (Vorbis, Opus) and MP3, recognised by content.
//
// Comes in: bytes, wherever they lie. Goes out: how many frames there are, of how many channels, at which rate, and the elements of
// any range of frames. A frame is one element of each channel.
//
// libsndfile decodes; containers and codecs that are not named in sound_file.cpp are refused before or after it
// looked at a header, so that code for what nobody asked for does not run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/dtype.h"
#include "base/result.h"
#include "stdlib_ops/native/bytes/byte_source.h"
#include "stdlib_ops/native/sound/sound_library.h"

namespace galatea::native {

/// What sounds are decoded to.
inline constexpr DType kSoundTypes[] = {DType::kF32, DType::kI16, DType::kI32};

class SoundFile {
 public:
  /// Of the bytes, only those are read that the header and the frames that are asked for need.
  static Result<std::unique_ptr<SoundFile>> open(std::shared_ptr<const ByteSource> bytes);
  SoundFile(const SoundFile&) = delete;
  SoundFile& operator=(const SoundFile&) = delete;
  ~SoundFile();

  int64_t frames() const { return info_.frames; }
  int64_t channels() const { return info_.channels; }
  int64_t rate() const { return info_.samplerate; }

  /// The frames [begin, end), of [0, frames()], frame by frame; one of kSoundTypes.
  ///   FLOAT         full scale is 1, and floats of a file stay what they are
  ///   INT16, INT32  the upper bits of a file's integers; of what a file has as floats, or makes from floats
  ///                 (Vorbis, Opus, MP3), round(x * 32767) or round(x * 2147483647), clamped
  Status read(int64_t begin, int64_t end, DType dtype, void* to);
  /// The same, of each frame the mean of its channels: FLOAT, or that mean rounded as above.
  Status read_mono(int64_t begin, int64_t end, DType dtype, void* to);

 private:
  SoundFile(const SoundLibrary& library, std::shared_ptr<const ByteSource> bytes)
      : library_(library), bytes_(std::move(bytes)) {}
  static SfVirtualIo callbacks();
  int64_t seek_byte(int64_t offset, int whence);
  int64_t read_bytes(void* to, int64_t count);
  Status check_header() const;
  /// MP3 of a variable rate whose first frame has no tag: the library guesses its length from that frame.
  Status check_mpeg_length() const;
  bool holds_integers() const;
  Status seek(int64_t frame);
  /// Reads the next frames, or says that the file ends before `end`.
  Status read_next(int64_t frames, DType dtype, void* to);
  /// Blocks of FLOAT frames, which `take` gets one behind the other.
  template <typename Take>
  Status read_blocks(int64_t begin, int64_t end, const Take& take);
  /// What the library could not read, or else `what` is wrong with the file.
  std::unexpected<Error> error(const std::string& what) const;

  const SoundLibrary& library_;
  std::shared_ptr<const ByteSource> bytes_;
  int64_t place_ = 0;  ///< in bytes_, of the library's next read
  Status read_;        ///< the first read that failed
  int64_t next_ = 0;   ///< the frame that the library decodes next; -1 behind an error
  SndFile* handle_ = nullptr;
  SfInfo info_{};
};

/// What a sound of so many bytes takes beside its output while it is decoded.
int64_t sound_working_bytes(int64_t bytes);

}  // namespace galatea::native
