// libsndfile, opened at run time: few pipelines need it, and it brings the codecs of FLAC, Vorbis, Opus and MP3.
//
// Built without its headers: what is declared here is that part of its C interface which has stayed as it is
// since version 1.0.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace galatea::native {

struct SndFile;

struct SfInfo {
  int64_t frames;
  int samplerate, channels, format, sections, seekable;
};

struct SfVirtualIo {
  int64_t (*length)(void* user);
  int64_t (*seek)(int64_t offset, int whence, void* user);
  int64_t (*read)(void* to, int64_t count, void* user);
  int64_t (*write)(const void* from, int64_t count, void* user);
  int64_t (*tell)(void* user);
};

namespace sf {
inline constexpr int kModeRead = 0x10;
inline constexpr int kContainerMask = 0x0FFF0000, kCodecMask = 0x0000FFFF;
}  // namespace sf

class SoundLibrary {
 public:
  /// Opened at the first call in a process, and never closed.
  static Result<const SoundLibrary*> shared();
  /// `name` for the loader; a Python wheel of soundfile is looked at where the loader does not know it.
  static Result<std::unique_ptr<const SoundLibrary>> open(const std::string& name);

  SndFile* (*open_virtual)(SfVirtualIo*, int mode, SfInfo*, void* user) = nullptr;
  int (*close)(SndFile*) = nullptr;
  const char* (*message)(SndFile*) = nullptr;  ///< of the last error; null: of the last that opened nothing
  int64_t (*seek)(SndFile*, int64_t frames, int whence) = nullptr;
  int64_t (*read_i16)(SndFile*, int16_t* to, int64_t frames) = nullptr;
  int64_t (*read_i32)(SndFile*, int32_t* to, int64_t frames) = nullptr;
  int64_t (*read_f32)(SndFile*, float* to, int64_t frames) = nullptr;
};

/// An error about a file of sound: G0802.
std::unexpected<Error> sound_error(std::string message, std::string help = {});

}  // namespace galatea::native
