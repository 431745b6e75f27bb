#include "tools/save.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>

#include <fmt/core.h>
#include <jpeglib.h>
#include <png.h>

#include "base/fault.h"
#include "base/scalar_op.h"
#include "tools/messages.h"

namespace galatea::tools {
namespace {

using runtime::Tensor;

/// Calls visit(offset in elements) for every element in row-major order.
template <typename Visit>
void for_each_element(const Tensor& tensor, const Visit& visit) {
  int64_t index[runtime::kMaxRank] = {};
  const int64_t count = tensor.volume();
  for (int64_t n = 0; n < count; ++n) {
    int64_t offset = 0;
    for (int d = 0; d < tensor.ndim; ++d) offset += index[d] * tensor.strides[d];
    visit(offset);
    for (int d = tensor.ndim - 1; d >= 0 && ++index[d] == tensor.extents[d]; --d) index[d] = 0;
  }
}

std::string npy_type(DType type) {
  const char kind = is_bool(type) ? 'b' : is_float(type) ? 'f' : is_signed_int(type) ? 'i' : 'u';
  return fmt::format("{}{}{}", size_of(type) == 1 ? '|' : '<', kind, size_of(type));
}

Error codec_error(const char* codec, const std::string& message) {
  return make_error(ErrorKind::kSystem, "", fmt::format("{} could not write a picture: {}", codec, message))
      .error();
}

struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf leave;
  char message[JMSG_LENGTH_MAX] = {};
};

struct PngOutput {
  std::vector<uint8_t> bytes;
  std::string message;
};

}  // namespace

std::optional<std::vector<uint8_t>> to_wav(const Tensor& tensor, const Layout& layout, uint32_t rate) {
  constexpr int64_t kMostChannels = 256;
  constexpr uint32_t kHeaderSize = 44;
  constexpr uint16_t kInteger = 1, kFloat = 3;  // RIFF's wave formats
  const bool is_sound = layout.empty() && (tensor.ndim == 1 || (tensor.ndim == 2 && tensor.extents[1] >= 1 &&
                                                                tensor.extents[1] <= kMostChannels));
  if (!is_sound ||
      (tensor.dtype != DType::kF32 && tensor.dtype != DType::kI16 && tensor.dtype != DType::kI32))
    return std::nullopt;
  if (tensor.num_bytes() > std::numeric_limits<uint32_t>::max() - kHeaderSize) return std::nullopt;
  const auto channels = static_cast<uint16_t>(tensor.ndim == 1 ? 1 : tensor.extents[1]);
  const auto element = static_cast<uint16_t>(size_of(tensor.dtype));
  const auto frame = static_cast<uint16_t>(channels * element);
  const auto size = static_cast<uint32_t>(tensor.num_bytes());
  std::vector<uint8_t> out;
  out.reserve(kHeaderSize + size);
  const auto word = [&](std::string_view text) { out.insert(out.end(), text.begin(), text.end()); };
  const auto number = [&](auto value) {
    for (size_t byte = 0; byte < sizeof value; ++byte)
      out.push_back(static_cast<uint8_t>(value >> (8 * byte)));
  };
  word("RIFF");
  number(uint32_t{kHeaderSize - 8 + size});
  word("WAVEfmt ");
  number(uint32_t{16});
  number(tensor.dtype == DType::kF32 ? kFloat : kInteger);
  number(channels);
  number(rate);
  number(uint32_t{rate * frame});
  number(frame);
  number(static_cast<uint16_t>(8 * element));
  word("data");
  number(size);
  for_each_element(tensor, [&](int64_t offset) {
    const uint8_t* from = tensor.data + offset * element;
    out.insert(out.end(), from, from + element);
  });
  return out;
}

std::vector<uint8_t> to_npy(const Tensor& tensor) {
  std::string shape;
  for (int d = 0; d < tensor.ndim; ++d) shape += fmt::format("{}{}", d > 0 ? ", " : "", tensor.extents[d]);
  if (tensor.ndim == 1) shape += ",";
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   npy_type(tensor.dtype), shape);
  // Magic, version, length and header together are a multiple of 64 bytes; the header ends with a line break.
  while ((10 + header.size() + 1) % 64 != 0) header.push_back(' ');
  header.push_back('\n');
  std::string start = "\x93NUMPY";
  for (size_t byte : {size_t{1}, size_t{0}, header.size() & 0xFF, header.size() >> 8})
    start.push_back(static_cast<char>(byte));
  start += header;
  const auto size = static_cast<size_t>(size_of(tensor.dtype));
  std::vector<uint8_t> bytes(start.size() + static_cast<size_t>(tensor.volume()) * size);
  std::memcpy(bytes.data(), start.data(), start.size());
  size_t at = start.size();
  for_each_element(tensor, [&](int64_t offset) {
    std::memcpy(&bytes[at], tensor.data + offset * static_cast<int64_t>(size), size);
    at += size;
  });
  return bytes;
}

namespace {

/// Where the elements of a picture lie.
struct PictureAxes {
  int64_t height = 0, width = 0, channels = 1;
  int64_t row = 0, column = 0, channel = 0;  ///< strides, in elements
};

std::optional<PictureAxes> picture_axes(const Tensor& tensor, const Layout& layout) {
  constexpr int64_t kLongestSide = 65500;
  int y = layout.find('H'), x = layout.find('W'), c = layout.find('C');
  if (layout.empty() && (tensor.ndim == 2 || tensor.ndim == 3)) y = 0, x = 1, c = tensor.ndim == 3 ? 2 : -1;
  if (y < 0 || x < 0 || tensor.ndim != (c < 0 ? 2 : 3)) return std::nullopt;
  PictureAxes axes{.height = tensor.extents[y],
                   .width = tensor.extents[x],
                   .row = tensor.strides[y],
                   .column = tensor.strides[x]};
  if (c >= 0) axes.channels = tensor.extents[c], axes.channel = tensor.strides[c];
  const bool has_pixels = axes.height >= 1 && axes.width >= 1;
  if ((axes.channels != 1 && axes.channels != 3) || !has_pixels ||
      std::max(axes.height, axes.width) > kLongestSide)
    return std::nullopt;
  return axes;
}

/// Calls visit(offset in elements) for every element, row by row, channels last.
template <typename Visit>
void for_each_element(const PictureAxes& axes, const Visit& visit) {
  for (int64_t y = 0; y < axes.height; ++y)
    for (int64_t x = 0; x < axes.width; ++x)
      for (int64_t c = 0; c < axes.channels; ++c) visit(y * axes.row + x * axes.column + c * axes.channel);
}

/// `byte_at` gives the byte for an element's offset.
template <typename ByteAt>
Pixels pixels_of(const PictureAxes& axes, const ByteAt& byte_at) {
  Pixels pixels{
      static_cast<int>(axes.width), static_cast<int>(axes.height), static_cast<int>(axes.channels), {}};
  pixels.bytes.resize(static_cast<size_t>(axes.width * axes.height * axes.channels));
  uint8_t* to = pixels.bytes.data();
  for_each_element(axes, [&](int64_t offset) { *to++ = byte_at(offset); });
  return pixels;
}

/// From the least finite value, black, to the greatest, white.
template <typename ValueAt>
Pixels stretched(const PictureAxes& axes, const ValueAt& value_at) {
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  for_each_element(axes, [&](int64_t offset) {
    const double value = value_at(offset);
    if (std::isfinite(value)) least = std::min(least, value), greatest = std::max(greatest, value);
  });
  const double scale = greatest > least ? 255 / (greatest - least) : 0;
  return pixels_of(axes, [&](int64_t offset) {
    const double value = (value_at(offset) - least) * scale;
    return static_cast<uint8_t>(std::isfinite(value) ? std::clamp(value + 0.5, 0.0, 255.0) : 0.0);
  });
}

}  // namespace

std::optional<Pixels> to_pixels(const Tensor& tensor, const Layout& layout, bool stretch) {
  const std::optional<PictureAxes> axes = picture_axes(tensor, layout);
  if (!axes || (tensor.dtype != DType::kU8 && !stretch)) return std::nullopt;
  if (tensor.dtype == DType::kU8)
    return pixels_of(*axes, [&](int64_t offset) { return tensor.data[offset]; });
  const auto* floats = reinterpret_cast<const float*>(tensor.data);
  if (tensor.dtype == DType::kF32)
    return stretched(*axes, [&](int64_t offset) { return double{floats[offset]}; });
  return stretched(*axes, [&](int64_t offset) {
    return cell_to_double(tensor.dtype,
                          load_cell(tensor.dtype, tensor.data + offset * size_of(tensor.dtype)));
  });
}

Tensor frame_of(const Tensor& sequence, int axis, int64_t frame) {
  Tensor out = sequence;
  out.data += frame * sequence.strides[axis] * size_of(sequence.dtype);
  --out.ndim;
  for (int d = axis; d < out.ndim; ++d) {
    out.extents[d] = sequence.extents[d + 1];
    out.strides[d] = sequence.strides[d + 1];
  }
  return out;
}

Result<std::vector<uint8_t>> to_png(const Pixels& pixels, PngUse use) {
  PngOutput output;
  auto on_error = [](png_structp png, png_const_charp message) {
    static_cast<PngOutput*>(png_get_error_ptr(png))->message = message;
    std::longjmp(png_jmpbuf(png), 1);
  };
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &output, on_error, nullptr);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  if (info == nullptr) return std::unexpected(codec_error("libpng", "out of memory"));
  // Nothing with a destructor may begin between here and the last call of libpng: its errors come back by
  // longjmp.
  if (setjmp(png_jmpbuf(png)) != 0) {
    png_destroy_write_struct(&png, &info);
    return std::unexpected(codec_error("libpng", output.message));
  }
  png_set_write_fn(
      png, &output,
      [](png_structp p, png_bytep data, size_t size) {
        auto* out = static_cast<PngOutput*>(png_get_io_ptr(p));
        out->bytes.insert(out->bytes.end(), data, data + size);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(pixels.width), static_cast<png_uint_32>(pixels.height), 8,
               pixels.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (use == PngUse::kShow) {
    png_set_compression_level(png, 1);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);  // none is tried but this
  }
  png_write_info(png, info);
  const auto row_bytes = static_cast<size_t>(pixels.width) * static_cast<size_t>(pixels.channels);
  for (int y = 0; y < pixels.height; ++y)
    png_write_row(png, &pixels.bytes[static_cast<size_t>(y) * row_bytes]);
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return std::move(output.bytes);
}

Result<std::vector<uint8_t>> to_jpg(const Pixels& pixels, int quality) {
  jpeg_compress_struct encoder;
  JpegErrors errors;
  encoder.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = [](j_common_ptr common) {
    auto* own = reinterpret_cast<JpegErrors*>(common->err);
    common->err->format_message(common, own->message);
    std::longjmp(own->leave, 1);
  };
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  if (setjmp(errors.leave) != 0) {  // as with libpng: nothing with a destructor below
    jpeg_destroy_compress(&encoder);
    std::free(memory);
    return std::unexpected(codec_error("libjpeg", errors.message));
  }
  jpeg_create_compress(&encoder);
  jpeg_mem_dest(&encoder, &memory, &size);
  encoder.image_width = static_cast<JDIMENSION>(pixels.width);
  encoder.image_height = static_cast<JDIMENSION>(pixels.height);
  encoder.input_components = pixels.channels;
  encoder.in_color_space = pixels.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, quality, TRUE);
  jpeg_start_compress(&encoder, TRUE);
  const auto row_bytes = static_cast<size_t>(pixels.width) * static_cast<size_t>(pixels.channels);
  while (encoder.next_scanline < encoder.image_height) {
    auto row = const_cast<JSAMPROW>(&pixels.bytes[encoder.next_scanline * row_bytes]);
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  std::vector<uint8_t> bytes(memory, memory + size);
  std::free(memory);
  return bytes;
}

Status make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    return tool_error(kind_of_errno(error), Message::kCannotMakeFolder, path.string(), error.message());
  return {};
}

Status write_file(const std::filesystem::path& path, const std::vector<uint8_t>& bytes) {
  std::error_code error;
  // A link keeps pointing at what is replaced.
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error && kind_of_errno(error) == ErrorKind::kSystem)
    return tool_error(ErrorKind::kSystem, Message::kCannotWrite, path.string(), error.message());
  const std::filesystem::path& target = error ? path : real;
  // A file is replaced in one step. What is none (a device, a pipe) takes the bytes itself; so does what has
  // its name from the system (/dev/stdout), whatever is behind it.
  const std::filesystem::file_status old = std::filesystem::status(target, error);
  const std::string spelled = path.lexically_normal().string();
  const bool in_place = (std::filesystem::exists(old) && !std::filesystem::is_regular_file(old)) ||
                        spelled.starts_with("/dev/") || spelled.starts_with("/proc/");
  std::filesystem::path written = target;
  if (!in_place) written += ".partial";
  const auto cannot = [&](int number) {
    std::error_code ignored;
    if (!in_place) std::filesystem::remove(written, ignored);
    return tool_error(kind_of_errno(number), Message::kCannotWrite, path.string(), std::strerror(number));
  };
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const int number = write_whole_file(written, text)) return cannot(number);
  if (!in_place && ::rename(written.c_str(), target.c_str()) != 0) return cannot(errno);
  return {};
}

}  // namespace galatea::tools
