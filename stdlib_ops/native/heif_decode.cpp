// AVIF and HEIF by libheif, where this machine has it: the whole primary picture, then the window.
//
// Comes in: a whole file and a window. Goes out: its rows, RGB or RGBA, of 8 or 16 bits. The library turns and
// crops as the file says, so there is no orientation left to apply.
#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "runtime/messages.h"
#include "stdlib_ops/native/heif_library.h"
#include "stdlib_ops/native/image_codecs.h"

namespace galatea::native {
namespace {

/// Whether the file's first box names one of these brands, as its major one or as one that it fits.
bool has_brand(Bytes bytes, std::initializer_list<std::string_view> brands) {
  if (bytes.size() < 16 || !starts_with(bytes, "ftyp", 4)) return false;
  const size_t stated = static_cast<size_t>(bytes[0]) << 24 | static_cast<size_t>(bytes[1]) << 16 |
                        static_cast<size_t>(bytes[2]) << 8 | bytes[3];
  const size_t end = std::min(stated, bytes.size());
  // Behind the major brand stands its version.
  for (size_t at = 8; at + 4 <= end; at += at == 8 ? 8 : 4)
    for (const std::string_view brand : brands)
      if (starts_with(bytes, brand, at)) return true;
  return false;
}

/// The primary picture of a file.
class HeifPicture {
 public:
  explicit HeifPicture(const HeifLibrary& library) : library_(library) {}
  HeifPicture(const HeifPicture&) = delete;
  HeifPicture& operator=(const HeifPicture&) = delete;
  ~HeifPicture() {
    if (image_) library_.image_release(image_);
    if (handle_) library_.handle_release(handle_);
    if (context_) library_.context_free(context_);
  }

  Status open(Bytes bytes) {
    context_ = library_.context_alloc();
    if (!context_) throw std::bad_alloc();
    // Samples have their threads already.
    if (library_.set_max_threads) library_.set_max_threads(context_, 0);
    GALATEA_TRY(said(library_.context_read(context_, bytes.data(), bytes.size(), nullptr)));
    return said(library_.primary_handle(context_, &handle_));
  }
  ImageHeader header() const {
    ImageHeader out;
    out.height = library_.handle_height(handle_);
    out.width = library_.handle_width(handle_);
    out.channels = library_.handle_has_alpha(handle_) ? 4 : 3;
    const int bits = library_.handle_bits(handle_);
    out.bits = bits > 8 ? 16 : 8;
    out.white = bits > 8 ? (1 << bits) - 1 : 255;
    return out;
  }
  /// RGB, or RGBA where the picture has that: rows, `stride` bytes apart.
  Result<const uint8_t*> decode(const ImageHeader& header, int* stride) {
    const bool alpha = header.channels == 4, wide = header.bits == 16;
    GALATEA_TRY(said(library_.decode(handle_, &image_, heif::kColorspaceRgb,
                                     wide    ? alpha ? heif::kChromaWideRgba : heif::kChromaWideRgb
                                     : alpha ? heif::kChromaRgba
                                             : heif::kChromaRgb,
                                     nullptr)));
    const int channel = heif::kChannelInterleaved;
    const uint8_t* plane = library_.image_plane(image_, channel, stride);
    if (!plane || library_.image_height(image_, channel) != header.height ||
        library_.image_width(image_, channel) != header.width ||
        library_.image_bits(image_, channel) != (wide ? library_.handle_bits(handle_) : 8))
      return image_error("the picture cannot be decoded: its headers contradict each other");
    return plane;
  }

 private:
  Status said(HeifError error) const {
    if (error.code == 0) return {};
    if (error.code == heif::kMemoryAllocationError && error.subcode != heif::kSecurityLimitExceeded)
      return runtime::make_error(runtime::message::kNoMemory);
    return image_error(fmt::format("libheif cannot decode the picture: {}",
                                   error.message ? error.message : "no reason given"));
  }

  const HeifLibrary& library_;
  HeifContext* context_ = nullptr;
  HeifImageHandle* handle_ = nullptr;
  HeifImage* image_ = nullptr;
};

}  // namespace

bool is_avif(Bytes bytes) { return has_brand(bytes, {"avif", "avis"}); }
bool is_heif(Bytes bytes) {
  return has_brand(bytes, {"heic", "heix", "heim", "heis", "hevc", "mif1", "msf1"});
}

Result<ImageHeader> read_heif_header(Bytes bytes, int64_t /*page*/) {
  GALATEA_ASSIGN(const HeifLibrary* library, HeifLibrary::shared());
  HeifPicture picture(*library);
  GALATEA_TRY(picture.open(bytes));
  return picture.header();
}

Status decode_heif(const DecodeJob& job) {
  GALATEA_ASSIGN(const HeifLibrary* library, HeifLibrary::shared());
  HeifPicture picture(*library);
  GALATEA_TRY(picture.open(job.bytes));
  const ImageHeader& header = job.header;
  int stride = 0;
  GALATEA_ASSIGN(const uint8_t* rows, picture.decode(header, &stride));
  const ImageType type = job.options.type;
  RowSink sink = job.sink(header.channels, header.bits,
                          type == ImageType::kAny || (type == ImageType::kRgb && header.channels == 3));
  const Window& window = job.stored;
  const int64_t pixel = int64_t{header.channels} * (header.bits / 8);
  sink.put(0, rows + window.y0 * stride + window.x0 * pixel, stride, window.height());
  return {};
}

/// YCbCr, what the codec keeps beside it, and RGB.
int64_t heif_working_bytes(Bytes bytes, const ImageHeader& header, int64_t /*page*/) {
  return header.height * header.width * (header.bits / 8) * 16 + 2 * static_cast<int64_t>(bytes.size()) +
         (8 << 20);
}

}  // namespace galatea::native
