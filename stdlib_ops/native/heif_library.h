// libheif, opened at run time: few pipelines need it, and it brings whole video codecs.
//
// Built without its headers: what is declared here is that part of its C interface which has stayed as it is
// since version 1.4. It decodes HEIC by libde265 and AVIF by libaom or dav1d.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace galatea::native {

struct HeifContext;
struct HeifImageHandle;
struct HeifImage;

struct HeifError {
  int code, subcode;
  const char* message;
};

namespace heif {
inline constexpr int kMemoryAllocationError = 6;
inline constexpr int kSecurityLimitExceeded = 1000;  ///< its subcode where a file asks for too much
inline constexpr int kColorspaceRgb = 1;
inline constexpr int kChromaRgb = 10, kChromaRgba = 11;          ///< 8 bits
inline constexpr int kChromaWideRgb = 14, kChromaWideRgba = 15;  ///< 16 bits, least significant byte first
inline constexpr int kChannelInterleaved = 10;
}  // namespace heif

class HeifLibrary {
 public:
  static constexpr const char* kName = "libheif.so.1";

  /// Opened at the first call in a process, and never closed.
  static Result<const HeifLibrary*> shared();
  static Result<std::unique_ptr<const HeifLibrary>> open(const char* name);

  HeifContext* (*context_alloc)() = nullptr;
  void (*context_free)(HeifContext*) = nullptr;
  /// The bytes must live as long as the context.
  HeifError (*context_read)(HeifContext*, const void* bytes, size_t size, const void* options) = nullptr;
  HeifError (*primary_handle)(HeifContext*, HeifImageHandle** out) = nullptr;
  void (*handle_release)(const HeifImageHandle*) = nullptr;
  int (*handle_width)(const HeifImageHandle*) = nullptr;  ///< after turning and cropping
  int (*handle_height)(const HeifImageHandle*) = nullptr;
  int (*handle_has_alpha)(const HeifImageHandle*) = nullptr;
  int (*handle_bits)(const HeifImageHandle*) = nullptr;  ///< of a channel; negative: not stated
  HeifError (*decode)(const HeifImageHandle*, HeifImage** out, int colorspace, int chroma,
                      const void* options) = nullptr;
  int (*image_width)(const HeifImage*, int channel) = nullptr;
  int (*image_height)(const HeifImage*, int channel) = nullptr;
  int (*image_bits)(const HeifImage*, int channel) = nullptr;
  const uint8_t* (*image_plane)(const HeifImage*, int channel, int* stride) = nullptr;
  void (*image_release)(const HeifImage*) = nullptr;
  /// From version 1.13 on; null before.
  void (*set_max_threads)(HeifContext*, int threads) = nullptr;
};

}  // namespace galatea::native
