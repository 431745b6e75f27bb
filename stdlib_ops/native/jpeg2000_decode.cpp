// JPEG 2000 by openjpeg: only the tiles, code blocks and levels of resolution that a window needs.
//
// Comes in: a whole file (JP2 or a bare codestream), a window and a scale. Goes out: its rows, in the width of
// its samples. The header is read by hand: boxes of ISO/IEC 15444-1 annex I, markers of its annex A.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <openjpeg.h>

#include "stdlib_ops/native/image_codecs.h"

namespace galatea::native {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kBoxes = "\0\0\0\x0CjP  \r\n\x87\n"sv, kCodestream = "\xFF\x4F\xFF\x51"sv;

uint64_t be_number(Bytes bytes, size_t at, size_t size) {
  uint64_t out = 0;
  for (size_t i = 0; i < size; ++i) out = out << 8 | bytes[at + i];
  return out;
}

/// What the file says before its first tile.
struct J2kLayout {
  int64_t height = 0, width = 0, x0 = 0, y0 = 0;  ///< and where the picture begins on the reference grid
  int components = 0;
  int bits = 8;         ///< of the widest channel
  int channels = 0;     ///< palettes expanded
  bool is_ycc = false;  ///< luma and chroma (sYCC)
  bool has_boxes = false;
  bool is_subsampled = false;
  int least_eighths = 8;  ///< of its size, at which it holds a low pass that may stand for it
};

std::unexpected<Error> j2k_damaged() { return image_error("the JPEG 2000's header is damaged or cut off"); }

/// SIZ, the first marker of a codestream.
Status read_siz(Bytes stream, J2kLayout& out) {
  // Behind SOC and the marker: Lsiz, Rsiz, then the numbers.
  if (stream.size() < 42 || !starts_with(stream, kCodestream)) return j2k_damaged();
  const size_t length = be_number(stream, 4, 2);
  const auto components = static_cast<int>(be_number(stream, 40, 2));
  if (components < 1 || length != 38 + 3 * static_cast<size_t>(components) || stream.size() < 4 + length)
    return j2k_damaged();
  if (components > kMaxChannels)
    return image_error(
        fmt::format("the JPEG 2000 has {} components; at most {} are supported", components, kMaxChannels));
  const auto x1 = static_cast<int64_t>(be_number(stream, 8, 4)),
             y1 = static_cast<int64_t>(be_number(stream, 12, 4));
  out.x0 = static_cast<int64_t>(be_number(stream, 16, 4));
  out.y0 = static_cast<int64_t>(be_number(stream, 20, 4));
  out.width = x1 - out.x0;
  out.height = y1 - out.y0;
  if (out.width <= 0 || out.height <= 0) return j2k_damaged();
  out.components = out.channels = components;
  out.bits = 1;
  for (size_t c = 0; c < static_cast<size_t>(components); ++c) {
    const size_t at = 42 + 3 * c;
    out.bits = std::max(out.bits, (stream[at] & 0x7F) + 1);
    if (stream[at + 1] == 0 || stream[at + 2] == 0) return j2k_damaged();
    out.is_subsampled |= stream[at + 1] != 1 || stream[at + 2] != 1;
  }
  return {};
}

/// The least part of the size that a low pass of the transform with these levels may stand for. That of the
/// reversible one (5-3) lets so much of fine patterns through that only its half does.
int eighths_of(size_t levels, bool is_reversible) {
  return 8 >> std::min<size_t>(levels, is_reversible ? 1 : 3);
}

/// Looks for what says how the picture was transformed: COD, in the main header and in those of tiles.
void read_coding_style(Bytes stream, J2kLayout& out) {
  constexpr uint64_t kCod = 0xFF52, kCoc = 0xFF53, kStartOfTile = 0xFF90, kData = 0xFF93;
  constexpr size_t kLongestRead = 14;
  // The pixels of a low pass have their places on the reference grid.
  if (out.is_subsampled || out.x0 % 8 != 0 || out.y0 % 8 != 0) return;
  size_t tile_end = 0;
  for (size_t at = 2; at + kLongestRead <= stream.size();) {
    const uint64_t marker = be_number(stream, at, 2), length = be_number(stream, at + 2, 2);
    const bool is_of_tile = tile_end > 0;
    if (marker == kCoc || (marker == kCod && is_of_tile)) {
      out.least_eighths = 8;  // some part of the picture has another transform
      return;
    }
    if (marker == kCod) out.least_eighths = eighths_of(stream[at + 9], stream[at + 13] == 1);
    if (marker == kStartOfTile) {
      const uint64_t size = be_number(stream, at + 6, 4);  // 0: to the end
      tile_end = size == 0 ? stream.size() : at + size;
    }
    if (marker != kData) {
      at += 2 + length;
    } else if (tile_end > at) {
      at = tile_end;
    } else {
      return;  // openjpeg will say what is wrong
    }
  }
}

/// A box: its name, and what is in it.
struct J2kBox {
  std::string_view name;
  Bytes content;
};

/// The box at `at`, which moves behind it; the last one may say that it goes on to the end.
Result<J2kBox> next_box(Bytes bytes, size_t& at) {
  if (bytes.size() - at < 8) return j2k_damaged();
  uint64_t length = be_number(bytes, at, 4);
  size_t head = 8;
  if (length == 1) {
    if (bytes.size() - at < 16) return j2k_damaged();
    length = be_number(bytes, at + 8, 8);
    head = 16;
  } else if (length == 0) {
    length = bytes.size() - at;
  }
  if (length < head) return j2k_damaged();
  J2kBox box{{reinterpret_cast<const char*>(&bytes[at + 4]), 4}, {}};
  // A codestream that is cut off is openjpeg's to judge.
  const size_t whole = std::min<uint64_t>(length, bytes.size() - at);
  box.content = bytes.subspan(at + head, whole - head);
  at += whole;
  return box;
}

Status read_jp2_header(Bytes boxes, J2kLayout& out) {
  for (size_t at = 0; at < boxes.size();) {
    GALATEA_ASSIGN(const J2kBox box, next_box(boxes, at));
    if (box.name == "colr" && box.content.size() >= 7 && box.content[0] == 1)
      out.is_ycc = be_number(box.content, 3, 4) == 18;
    if (box.name == "pclr") {
      if (box.content.size() < 3 || box.content.size() < 3 + size_t{box.content[2]} || box.content[2] == 0)
        return j2k_damaged();
      out.channels = box.content[2];
      for (size_t c = 0; c < box.content[2]; ++c)
        out.bits = std::max(c == 0 ? 1 : out.bits, (box.content[3 + c] & 0x7F) + 1);
    }
  }
  return {};
}

Result<J2kLayout> read_j2k_layout(Bytes bytes) {
  J2kLayout out;
  if (!starts_with(bytes, kBoxes)) {
    GALATEA_TRY(read_siz(bytes, out));
    read_coding_style(bytes, out);
  } else {
    out.has_boxes = true;
    Bytes header;
    bool found = false;
    for (size_t at = 0; at < bytes.size() && !found;) {
      GALATEA_ASSIGN(const J2kBox box, next_box(bytes, at));
      if (box.name == "jp2h") header = box.content;
      if (box.name == "jp2c") {
        GALATEA_TRY(read_siz(box.content, out));
        read_coding_style(box.content, out);
        found = true;
      }
    }
    if (!found) return j2k_damaged();
    GALATEA_TRY(read_jp2_header(header, out));
  }
  if (out.bits > 16)
    return image_error(
        fmt::format("the JPEG 2000 has {} bits per sample; at most 16 are supported", out.bits),
        "save it with 8 or 16 bits per sample");
  return out;
}

struct J2kStream {
  Bytes bytes;
  size_t at = 0;
};

OPJ_SIZE_T read_j2k(void* to, OPJ_SIZE_T size, void* data) {
  auto* stream = static_cast<J2kStream*>(data);
  const size_t count = std::min(size, stream->bytes.size() - stream->at);
  if (count == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, stream->bytes.data() + stream->at, count);
  stream->at += count;
  return count;
}
OPJ_OFF_T skip_j2k(OPJ_OFF_T size, void* data) {
  auto* stream = static_cast<J2kStream*>(data);
  if (size < 0) return -1;
  const size_t count = std::min(static_cast<size_t>(size), stream->bytes.size() - stream->at);
  stream->at += count;
  return static_cast<OPJ_OFF_T>(count);
}
OPJ_BOOL seek_j2k(OPJ_OFF_T at, void* data) {
  auto* stream = static_cast<J2kStream*>(data);
  if (at < 0 || static_cast<size_t>(at) > stream->bytes.size()) return OPJ_FALSE;
  stream->at = static_cast<size_t>(at);
  return OPJ_TRUE;
}

/// What openjpeg said went wrong first.
struct J2kMessage {
  char text[160] = {};
};
void on_j2k_error(const char* text, void* data) {
  auto* message = static_cast<J2kMessage*>(data);
  if (message->text[0] != 0) return;
  std::snprintf(message->text, sizeof message->text, "%s", text);
  // Its sentences end with their line.
  for (size_t end = std::strlen(message->text);
       end > 0 && (message->text[end - 1] == '\n' || message->text[end - 1] == '.');)
    message->text[--end] = 0;
}
void on_j2k_note(const char*, void*) {}

/// A codec and a stream are the same type to its compiler.
template <auto kDestroy>
struct J2kDeleter {
  template <class T>
  void operator()(T* object) const {
    kDestroy(object);
  }
};
using J2kCodec = std::unique_ptr<opj_codec_t, J2kDeleter<opj_destroy_codec>>;
using J2kFile = std::unique_ptr<opj_stream_t, J2kDeleter<opj_stream_destroy>>;
using J2kImage = std::unique_ptr<opj_image_t, J2kDeleter<opj_image_destroy>>;

std::unexpected<Error> j2k_error(const J2kMessage& message) {
  return image_error(fmt::format("the JPEG 2000 cannot be decoded: {}",
                                 message.text[0] ? message.text : "its data is damaged or cut off"));
}

/// The window alone, or the whole picture.
Result<J2kImage> decode_j2k(const DecodeJob& job, const J2kLayout& layout, bool whole) {
  J2kStream data{job.bytes};
  J2kMessage message;
  const J2kCodec codec(opj_create_decompress(layout.has_boxes ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K));
  constexpr OPJ_SIZE_T kChunk = 1 << 16;
  const J2kFile file(
      opj_stream_create(std::min<OPJ_SIZE_T>(kChunk, std::max<size_t>(job.bytes.size(), 1)), OPJ_TRUE));
  if (!codec || !file) throw std::bad_alloc();
  opj_set_error_handler(codec.get(), on_j2k_error, &message);
  opj_set_warning_handler(codec.get(), on_j2k_note, nullptr);
  opj_set_info_handler(codec.get(), on_j2k_note, nullptr);
  opj_stream_set_user_data(file.get(), &data, nullptr);
  opj_stream_set_user_data_length(file.get(), job.bytes.size());
  opj_stream_set_read_function(file.get(), read_j2k);
  opj_stream_set_skip_function(file.get(), skip_j2k);
  opj_stream_set_seek_function(file.get(), seek_j2k);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  const int64_t step = 8 / job.options.eighths;
  parameters.cp_reduce = static_cast<OPJ_UINT32>(std::countr_zero(static_cast<uint64_t>(step)));
  opj_image_t* read = nullptr;
  if (!opj_setup_decoder(codec.get(), &parameters) || !opj_decoder_set_strict_mode(codec.get(), OPJ_TRUE) ||
      !opj_read_header(file.get(), codec.get(), &read))
    return j2k_error(message);
  J2kImage image(read);
  if (image->numcomps != static_cast<OPJ_UINT32>(layout.components) || image->x0 != layout.x0 ||
      image->y0 != layout.y0 || image->x1 - image->x0 != layout.width ||
      image->y1 - image->y0 != layout.height)
    return image_error("the JPEG 2000 cannot be decoded: its headers contradict each other");
  // Areas are those of the full size.
  const auto on_grid = [step](int64_t at, int64_t begin, int64_t extent) {
    return static_cast<OPJ_INT32>(begin + std::min(at * step, extent));
  };
  const Window& window = job.stored;
  if (!whole && !opj_set_decode_area(codec.get(), image.get(), on_grid(window.x0, layout.x0, layout.width),
                                     on_grid(window.y0, layout.y0, layout.height),
                                     on_grid(window.x1, layout.x0, layout.width),
                                     on_grid(window.y1, layout.y0, layout.height)))
    return j2k_error(message);
  if (!opj_decode(codec.get(), file.get(), image.get()) || !opj_end_decompress(codec.get(), file.get()))
    return j2k_error(message);
  if (image->numcomps != static_cast<OPJ_UINT32>(layout.channels))
    return image_error("the JPEG 2000 cannot be decoded: its headers contradict each other");
  return image;
}

/// Samples of one component, with its place in the window's pixels.
class J2kChannel {
 public:
  J2kChannel(const opj_image_t& image, const opj_image_comp_t& component, int bits)
      : component_(component),
        x0_(image.x0),
        y0_(image.y0),
        shift_(component.sgnd ? 1 << (component.prec - 1) : 0),
        most_((1 << component.prec) - 1),
        white_((1 << bits) - 1) {}

  /// Whether all of its rows and columns are there.
  bool covers(int64_t height, int64_t width) const {
    return component_.data && component_.w > 0 && component_.h > 0 && component_.prec >= 1 &&
           component_.prec <= 16 && row_of(height - 1) < component_.h && column_of(width - 1) < component_.w;
  }
  /// The samples that show at pixels [x0, x1) of row `y`, in the width of the widest channel, to every
  /// `step`-th place of numbers T.
  template <class T>
  void read(int64_t y, int64_t x0, int64_t x1, uint8_t* out, int64_t step) const {
    const OPJ_INT32* row = component_.data + row_of(y) * component_.w;
    const auto put_number = [&](int64_t x, int number) {
      const T value = static_cast<T>(number);
      std::memcpy(out + (x - x0) * step * static_cast<int64_t>(sizeof value), &value, sizeof value);
    };
    const auto put = [&](int64_t x, OPJ_INT32 sample) {
      const int value = std::clamp(sample + shift_, 0, most_);
      put_number(x,
                 most_ == white_ ? value : static_cast<int>((int64_t{value} * white_ + most_ / 2) / most_));
    };
    if (component_.dx == 1) {
      row += column_of(x0);
      const int shift = shift_, most = most_;
      if (most_ == white_)
        for (int64_t x = x0; x < x1; ++x) put_number(x, std::clamp(*row++ + shift, 0, most));
      else
        for (int64_t x = x0; x < x1; ++x) put(x, *row++);
    } else {
      for (int64_t x = x0; x < x1; ++x) put(x, row[column_of(x)]);
    }
  }

 private:
  // A picture that begins between two samples of a narrower channel begins before the first of them.
  size_t row_of(int64_t y) const {
    if (component_.dy == 1) return static_cast<size_t>(y);
    return static_cast<size_t>(std::max<int64_t>((y + y0_) / component_.dy - component_.y0, 0));
  }
  size_t column_of(int64_t x) const {
    if (component_.dx == 1) return static_cast<size_t>(x);
    return static_cast<size_t>(std::max<int64_t>((x + x0_) / component_.dx - component_.x0, 0));
  }

  const opj_image_comp_t& component_;
  int64_t x0_, y0_;
  int shift_, most_, white_;
};

/// sYCC (IEC 61966-2-1 amendment 1: full range, the constants of BT.601) to RGB.
void ycc_to_rgb(int* pixel, int white) {
  const double half = (white + 1) / 2.0, luma = pixel[0], blue = pixel[1] - half, red = pixel[2] - half;
  const double rgb[] = {luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue};
  for (int c = 0; c < 3; ++c) pixel[c] = static_cast<int>(std::clamp(rgb[c] + 0.5, 0.0, double(white)));
}

template <class T>
void put_rows(const J2kLayout& layout, const std::vector<J2kChannel>& channels, const Window& part,
              uint8_t* row, RowSink& sink) {
  const int64_t count = layout.channels;
  const auto read = [&]<class U>(int64_t y, U, uint8_t* out) {
    for (int64_t c = 0; c < count; ++c)
      channels[static_cast<size_t>(c)].template read<U>(y, part.x0, part.x1,
                                                        out + c * static_cast<int64_t>(sizeof(U)), count);
  };
  if (!layout.is_ycc || count < 3) {
    for (int64_t y = part.y0; y < part.y1; ++y) {
      read(y, T(), row);
      sink.put(y - part.y0, row);
    }
    return;
  }
  std::vector<int> samples(static_cast<size_t>(part.width() * count));
  for (int64_t y = part.y0; y < part.y1; ++y) {
    read(y, int(), reinterpret_cast<uint8_t*>(samples.data()));
    for (int64_t x = 0; x < part.width(); ++x) ycc_to_rgb(samples.data() + x * count, (1 << layout.bits) - 1);
    for (size_t i = 0; i < samples.size(); ++i) {
      const T value = static_cast<T>(samples[i]);
      std::memcpy(row + i * sizeof value, &value, sizeof value);
    }
    sink.put(y - part.y0, row);
  }
}

}  // namespace

bool is_jpeg2000(Bytes bytes) { return starts_with(bytes, kBoxes) || starts_with(bytes, kCodestream); }

Result<ImageHeader> read_jpeg2000_header(Bytes bytes, int64_t /*page*/) {
  GALATEA_ASSIGN(const J2kLayout layout, read_j2k_layout(bytes));
  ImageHeader header;
  header.height = layout.height;
  header.width = layout.width;
  header.channels = layout.channels;
  header.bits = layout.bits > 8 ? 16 : 8;
  header.white = (1 << layout.bits) - 1;
  header.least_eighths = layout.least_eighths;
  header.is_low_pass = true;
  return header;
}

Status decode_jpeg2000(const DecodeJob& job) {
  GALATEA_ASSIGN(const J2kLayout layout, read_j2k_layout(job.bytes));
  const Window& window = job.stored;
  const auto scaled = [&](int64_t extent) { return (extent * job.options.eighths + 7) / 8; };
  const bool is_all = window.height() == scaled(layout.height) && window.width() == scaled(layout.width);
  // Chroma that is stored smaller begins at even places.
  bool whole = layout.is_subsampled || is_all;
  Result<J2kImage> decoded = decode_j2k(job, layout, whole);
  // Some damage the library finds only where it looks for single tiles.
  if (!decoded && !whole) decoded = decode_j2k(job, layout, whole = true);
  GALATEA_ASSIGN(const J2kImage image, std::move(decoded));
  // Where the window was decoded alone, its first pixel is the image's.
  const Window part = whole ? window : Window{0, 0, window.height(), window.width()};
  std::vector<J2kChannel> channels;
  for (OPJ_UINT32 c = 0; c < image->numcomps; ++c) {
    channels.emplace_back(*image, image->comps[c], layout.bits);
    if (!channels.back().covers(part.y1, part.x1))
      return image_error("the JPEG 2000 cannot be decoded: a component is not there");
  }
  const int bytes = layout.bits > 8 ? 2 : 1;
  const auto memory = job.scratch.bytes(window.width() * layout.channels * bytes);
  if (!memory) return std::unexpected(memory.error());
  const ImageType type = job.options.type;
  const bool converted = type == ImageType::kAny || (type == ImageType::kRgb && layout.channels == 3) ||
                         (type == ImageType::kGray && layout.channels == 1);
  RowSink sink = job.sink(layout.channels, 8 * bytes, converted);
  if (bytes == 2)
    put_rows<uint16_t>(layout, channels, part, *memory, sink);
  else
    put_rows<uint8_t>(layout, channels, part, *memory, sink);
  return {};
}

/// Numbers of 32 bits of all components, twice (tiles, and the image that they go into), and the code blocks.
int64_t jpeg2000_working_bytes(Bytes bytes, const ImageHeader& header, int64_t /*page*/) {
  const int64_t row = header.width * header.channels * 6;
  return header.height * header.width * header.channels * 12 + 4 * static_cast<int64_t>(bytes.size()) + row;
}

}  // namespace galatea::native
