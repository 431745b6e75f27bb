// Tensors into files: .npy for anything, .png and .jpg for pictures, .wav for sound.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/layout.h"
#include "base/result.h"
#include "runtime/tensor.h"

namespace galatea::tools {

enum class FileFormat : uint8_t { kNpy, kPng, kJpg, kWav, kMp4 };

/// Bytes of a .npy file, version 1.0, C order, little endian.
std::vector<uint8_t> to_npy(const runtime::Tensor& tensor);

/// Dense rows of bytes with 1 (grey) or 3 (RGB) channels.
struct Pixels {
  int width = 0, height = 0, channels = 3;
  std::vector<uint8_t> bytes;
};
/// The picture in a tensor: layout HW, HWC or CHW (or 2 or 3 dimensions without a layout, the channels last)
/// with 1 or 3 channels. u8 as it is; other types only with `stretch`, from their least to their greatest
/// value.
std::optional<Pixels> to_pixels(const runtime::Tensor& tensor, const Layout& layout, bool stretch);
/// What a PNG is for: to be kept, as small as it gets, or to be shown once, as soon as possible.
enum class PngUse : uint8_t { kKeep, kShow };
Result<std::vector<uint8_t>> to_png(const Pixels& pixels, PngUse use = PngUse::kKeep);
Result<std::vector<uint8_t>> to_jpg(const Pixels& pixels, int quality = 95);

/// Bytes of a .wav file at `rate` Hz: of [t] or [t, channels] without a layout, FLOAT, INT16 or INT32; nothing for
/// others.
std::optional<std::vector<uint8_t>> to_wav(const runtime::Tensor& tensor, const Layout& layout,
                                           uint32_t rate);

/// A frame of a sequence whose axis of frames is `axis`.
runtime::Tensor frame_of(const runtime::Tensor& sequence, int axis, int64_t frame);

/// Writes beside the final name and renames, so that an interruption leaves no half file.
Status write_file(const std::filesystem::path& path, const std::vector<uint8_t>& bytes);
/// A folder, with those above it.
Status make_folder(const std::filesystem::path& path);

}  // namespace galatea::tools
