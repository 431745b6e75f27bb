// The native functions of encoded images: "image.peek", "image.decode", "image.decode_window".
//
// image.peek: input 0 = bytes (u8, 1-D); results: height, width, channels (i64) of the decoded tensor.
// Configuration: adjust_orientation, output_type. image.decode, image.decode_window: input 0 = bytes, scalars
// y0, x0, y1, x1 (i64, oriented coordinates, inside the image); output u8 (or `dtype`) [y1-y0, x1-x0, C].
// With `paged` in the configuration, the first scalar (i64) of all three is the picture's number in its file.
// image.orientation: input 0 = bytes; result: the EXIF orientation that the file states, 1 where it states none.
#pragma once

#include "runtime/native.h"
#include "stdlib_ops/native/image.h"

namespace galatea::native {

inline constexpr const char* kImagePeek = "image.peek";
inline constexpr const char* kImageOrientation = "image.orientation";
inline constexpr const char* kImageDecode = "image.decode";
inline constexpr const char* kImageDecodeWindow = "image.decode_window";
/// What decodes JPEGs in their place on a GPU.
inline constexpr const char* kNvjpeg = "nvJPEG";

runtime::NativeFunction image_peek_function();
runtime::NativeFunction image_orientation_function();
/// The same function under each of its names.
runtime::NativeFunction image_decode_function(std::string name);
/// What a call of it is to do.
struct DecodeCall {
  Bytes bytes;
  Window window;
  DecodeOptions options;
};
DecodeCall decode_call(std::span<const runtime::Tensor> inputs, std::span<const Cell> scalars,
                       const runtime::NativeState* state);
/// Whether that is what a native function of this name does.
bool decodes_images(std::string_view name);

}  // namespace galatea::native
