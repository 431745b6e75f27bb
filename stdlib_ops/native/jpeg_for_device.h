// Which images nvJPEG decodes in place of the codecs.
#pragma once

#include <optional>

#include "stdlib_ops/native/image.h"
#include "stdlib_ops/native/nvjpeg/encoded_image.h"

namespace galatea::native {

/// The whole image, if a device may decode it in place of decode_window(), with pixels that differ by the
/// codec's own rounding only; see jpeg_for_device.cpp.
std::optional<EncodedImage> jpeg_for_device(Bytes bytes, const ImageHeader& header, const Window& window,
                                            const DecodeOptions& options);

}  // namespace galatea::native
