#include "stdlib_ops/native/sound/sound_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "base/fault.h"

namespace galatea::native {
namespace {

constexpr const char* kFormats = "there are WAV, RF64, W64, AIFF, AU, CAF, FLAC, Ogg (Vorbis, Opus) and MP3";
constexpr int64_t kMostChannels = 256;
/// 12 hours at 48 kHz: what a header may claim before a byte is decoded.
constexpr int64_t kMostElements = int64_t{1} << 31;
/// No codec makes more frames of a byte: constant blocks of FLAC come nearest.
constexpr int64_t kMostFramesOfByte = 8192;
constexpr int64_t kBlockElements = 16384;
/// For a handle of libsndfile and its codec, which do not look whether they get it.
constexpr size_t kRoomOfLibsndfile = size_t{1} << 20;

/// What begins so is one of these containers.
constexpr std::array<std::string_view, 9> kMagics = {"RIFF", "RF64", "FORM", ".snd", "fLaC",
                                                     "OggS", "riff", "caff", "ID3"};

bool is_known_sound(std::span<const uint8_t, 4> head) {
  const bool is_frame_of_mpeg = head[0] == 0xFF && (head[1] & 0xE0) == 0xE0;
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return is_frame_of_mpeg ||
         std::ranges::any_of(kMagics, [&](std::string_view magic) { return text.starts_with(magic); });
}

/// Numbers of sndfile.h.
constexpr std::array kContainers = {
    0x010000,  // WAV
    0x020000,  // AIFF
    0x030000,  // AU
    0x0B0000,  // W64
    0x130000,  // WAV with an extensible header
    0x170000,  // FLAC
    0x180000,  // CAF
    0x200000,  // Ogg
    0x220000,  // RF64
    0x230000,  // MPEG
};
constexpr std::array kIntegerCodecs = {
    0x0001, 0x0002, 0x0003, 0x0004, 0x0005,  // PCM of 8, 16, 24, 32 bits, and of 8 without a sign
    0x0010, 0x0011,                          // u-law, A-law
    0x0070, 0x0071, 0x0072, 0x0073,          // ALAC
};
constexpr std::array kFloatCodecs = {
    0x0006, 0x0007,          // FLOAT, DOUBLE
    0x0060, 0x0064,          // Vorbis, Opus
    0x0080, 0x0081, 0x0082,  // MPEG layers I to III
};

constexpr int kMpegContainer = 0x230000;

/// A frame of MPEG audio, from its header (ISO 11172-3 and 13818-3).
struct MpegFrame {
  int64_t bytes = 0, samples = 0;
};
std::optional<MpegFrame> mpeg_frame(std::span<const uint8_t, 4> head) {
  constexpr int kRates[] = {44100, 48000, 32000};
  constexpr int kKilobits[5][15] = {
      {0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},  // MPEG 1, layer I
      {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},     // layer II
      {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},      // layer III
      {0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},     // MPEG 2, layer I
      {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}};         // layers II and III
  const int version = head[1] >> 3 & 3, layer = 4 - (head[1] >> 1 & 3);  // version 3: MPEG 1, 2: 2, 0: 2.5
  const int bitrate = head[2] >> 4, rate_index = head[2] >> 2 & 3, padding = head[2] >> 1 & 1;
  const bool is_frame = head[0] == 0xFF && (head[1] & 0xE0) == 0xE0 && version != 1 && layer != 4 &&
                        bitrate != 0 && bitrate != 15 && rate_index != 3;
  if (!is_frame) return std::nullopt;
  const bool is_first = version == 3;
  const int rate = kRates[rate_index] >> (is_first ? 0 : version == 2 ? 1 : 2);
  const int64_t bits = int64_t{1000} * kKilobits[is_first ? layer - 1 : layer == 1 ? 3 : 4][bitrate];
  if (layer == 1) return MpegFrame{(12 * bits / rate + padding) * 4, 384};
  const int64_t samples = layer == 3 && !is_first ? 576 : 1152;
  return MpegFrame{samples / 8 * bits / rate + padding, samples};
}

/// How many frames of sound the headers of an MPEG file announce, one behind the other from the first on; -1 where
/// its first one is a tag that says so.
Result<int64_t> mpeg_samples(const ByteSource& bytes) {
  std::array<uint8_t, 10> id{};
  if (bytes.size() < static_cast<int64_t>(id.size())) return 0;
  GALATEA_TRY(bytes.read(0, id));
  int64_t at = 0;
  if (id[0] == 'I' && id[1] == 'D' && id[2] == '3')  // seven bits of its size in each byte
    at = int64_t{10} + (int64_t{id[6]} << 21) + (id[7] << 14) + (id[8] << 7) + id[9];
  std::array<uint8_t, 200> first{};
  if (at + static_cast<int64_t>(first.size()) <= bytes.size()) GALATEA_TRY(bytes.read(at, first));
  const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
  if (text.contains("Xing") || text.contains("Info") || text.contains("VBRI")) return -1;
  int64_t samples = 0;
  for (std::array<uint8_t, 4> head{}; at + static_cast<int64_t>(head.size()) <= bytes.size();) {
    GALATEA_TRY(bytes.read(at, head));
    const auto frame = mpeg_frame(head);
    if (!frame) break;
    at += std::max<int64_t>(frame->bytes, 4);
    samples += frame->samples;
  }
  return samples;
}

template <typename T>
void round_to(std::span<const float> from, T* to) {
  // The largest number as a double: in f32 that of INT32 is one too large.
  constexpr double kFull = std::numeric_limits<T>::max();
  for (const float x : from)
    *to++ = static_cast<T>(x == x ? std::clamp(std::round(x * kFull), -kFull - 1, kFull) : 0);
}

/// Elements as FLOAT, rounded to the type of an output from its element `at` on.
void store_sound(std::span<const float> from, DType dtype, void* to, int64_t at) {
  if (dtype == DType::kI16) return round_to(from, static_cast<int16_t*>(to) + at);
  if (dtype == DType::kI32) return round_to(from, static_cast<int32_t*>(to) + at);
  std::memcpy(static_cast<float*>(to) + at, from.data(), from.size_bytes());
}

}  // namespace

SfVirtualIo SoundFile::callbacks() {
  static constexpr auto file = [](void* user) -> SoundFile& { return *static_cast<SoundFile*>(user); };
  return {.length = [](void* user) { return file(user).bytes_->size(); },
          .seek = [](int64_t offset, int whence, void* user) { return file(user).seek_byte(offset, whence); },
          .read = [](void* to, int64_t count, void* user) { return file(user).read_bytes(to, count); },
          .write = [](const void*, int64_t, void*) -> int64_t { return 0; },
          .tell = [](void* user) { return file(user).place_; }};
}

int64_t SoundFile::seek_byte(int64_t offset, int whence) {
  const int64_t size = bytes_->size(), from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? place_ : size;
  return place_ = from + std::clamp(offset, -from, size - from);
}

int64_t SoundFile::read_bytes(void* to, int64_t count) {
  const int64_t got = std::clamp<int64_t>(count, 0, bytes_->size() - place_);
  if (got == 0 || !read_) return 0;
  read_ = bytes_->read(place_, {static_cast<uint8_t*>(to), static_cast<size_t>(got)});
  if (!read_) return 0;
  place_ += got;
  return got;
}

Result<std::unique_ptr<SoundFile>> SoundFile::open(std::shared_ptr<const ByteSource> bytes) {
  GALATEA_ASSIGN(const SoundLibrary* const library, SoundLibrary::shared());
  std::array<uint8_t, 4> head{};
  if (bytes->size() >= static_cast<int64_t>(head.size())) GALATEA_TRY(bytes->read(0, head));
  if (!is_known_sound(head))
    return sound_error(fmt::format("{} is no sound of a known format", bytes->name()), kFormats);
  std::unique_ptr<SoundFile> file(new SoundFile(*library, std::move(bytes)));
  SfVirtualIo io = callbacks();
  need_room(kRoomOfLibsndfile);
  file->handle_ = library->open_virtual(&io, sf::kModeRead, &file->info_, file.get());
  if (!file->handle_) return file->error(library->message(nullptr));
  GALATEA_TRY(file->check_header());
  return file;
}

Status SoundFile::check_header() const {
  const int container = info_.format & sf::kContainerMask, codec = info_.format & sf::kCodecMask;
  if (std::ranges::find(kContainers, container) == kContainers.end() ||
      (!holds_integers() && std::ranges::find(kFloatCodecs, codec) == kFloatCodecs.end()))
    return sound_error(fmt::format("{} holds a codec that is not decoded here (number {:#x} of libsndfile)",
                                   bytes_->name(), info_.format),
                       std::string("convert it; ") + kFormats);
  if (info_.channels < 1 || info_.channels > kMostChannels || info_.samplerate < 1)
    return error(fmt::format("it claims {} channels at {} Hz", info_.channels, info_.samplerate));
  if (info_.frames < 0 || info_.frames > kMostElements / info_.channels ||
      info_.frames / kMostFramesOfByte > bytes_->size())
    return error(fmt::format("it claims {} frames of {} channels in {} bytes", info_.frames, info_.channels,
                             bytes_->size()));
  if (container == kMpegContainer) return check_mpeg_length();
  return {};
}

Status SoundFile::check_mpeg_length() const {
  // Encoders add at most so much in front of the sound and behind it, which the library takes away.
  constexpr int64_t kSpare = int64_t{4} * 1152;
  GALATEA_ASSIGN(const int64_t samples, mpeg_samples(*bytes_));
  if (samples < 0 || info_.frames >= samples - kSpare) return {};
  return sound_error(
      fmt::format("{} does not say how long it is: libsndfile takes it for {} frames, and it has about {}",
                  bytes_->name(), info_.frames, samples),
      "give the file a header again (ffmpeg -i old.mp3 -codec copy new.mp3); on_error=\"skip\" goes on without it");
}

SoundFile::~SoundFile() {
  if (handle_) library_.close(handle_);
}

bool SoundFile::holds_integers() const {
  return std::ranges::find(kIntegerCodecs, info_.format & sf::kCodecMask) != kIntegerCodecs.end();
}

std::unexpected<Error> SoundFile::error(const std::string& what) const {
  if (!read_) return std::unexpected(read_.error());
  std::string_view text = what;
  if (text.ends_with('.')) text.remove_suffix(1);
  return sound_error(fmt::format("{} cannot be decoded: {}", bytes_->name(), text));
}

Status SoundFile::seek(int64_t frame) {
  if (frame == next_) return {};
  next_ = -1;  // unknown, where it fails
  if (library_.seek(handle_, frame, SEEK_SET) != frame)
    return error(fmt::format("there is no way to frame {}: {}", frame, library_.message(handle_)));
  next_ = frame;
  return {};
}

Status SoundFile::read_next(int64_t frames, DType dtype, void* to) {
  const int64_t got = dtype == DType::kI16   ? library_.read_i16(handle_, static_cast<int16_t*>(to), frames)
                      : dtype == DType::kI32 ? library_.read_i32(handle_, static_cast<int32_t*>(to), frames)
                                             : library_.read_f32(handle_, static_cast<float*>(to), frames);
  next_ = got == frames ? next_ + frames : -1;
  if (got != frames)
    return error(
        fmt::format("its header promises {} frames, but it ends or is damaged before", info_.frames));
  return {};
}

template <typename Take>
Status SoundFile::read_blocks(int64_t begin, int64_t end, const Take& take) {
  GALATEA_TRY(seek(begin));
  std::array<float, kBlockElements> block;
  const int64_t most = kBlockElements / info_.channels;
  for (int64_t frame = begin; frame < end; frame += most) {
    const int64_t count = std::min(most, end - frame);
    GALATEA_TRY(read_next(count, DType::kF32, block.data()));
    take(std::span<float>(block).first(static_cast<size_t>(count * info_.channels)), frame - begin);
  }
  return {};
}

Status SoundFile::read(int64_t begin, int64_t end, DType dtype, void* to) {
  if (begin >= end) return {};
  if (dtype == DType::kF32 || holds_integers()) {
    GALATEA_TRY(seek(begin));
    return read_next(end - begin, dtype, to);
  }
  return read_blocks(begin, end, [&](std::span<const float> elements, int64_t frame) {
    store_sound(elements, dtype, to, frame * info_.channels);
  });
}

Status SoundFile::read_mono(int64_t begin, int64_t end, DType dtype, void* to) {
  if (begin >= end) return {};
  if (info_.channels == 1) return read(begin, end, dtype, to);
  const auto channels = static_cast<size_t>(info_.channels);
  const float share = 1.0F / static_cast<float>(channels);
  return read_blocks(begin, end, [&](std::span<float> elements, int64_t frame) {
    const size_t frames = elements.size() / channels;
    for (size_t f = 0; f < frames; ++f) {
      float sum = 0;
      for (size_t c = 0; c < channels; ++c) sum += elements[f * channels + c];
      elements[f] = sum * share;
    }
    store_sound(elements.first(frames), dtype, to, frame);
  });
}

int64_t sound_working_bytes(int64_t bytes) {
  // Windows, packets and tables of the codecs; MP3's index of frames grows with the file.
  constexpr int64_t kOfCodec = int64_t{1} << 20;
  return kOfCodec + bytes / 8;
}

}  // namespace galatea::native
