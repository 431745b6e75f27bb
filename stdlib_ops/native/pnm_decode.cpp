// PNM, by hand: PBM, PGM and PPM, as text (P1 to P3) and as bytes (P4 to P6), by the manual pages of Netpbm.
//
// Comes in: a whole file and a window. Goes out: its rows. Rows of bytes lie where their number says; text is
// read from its beginning to the window's end.
#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "stdlib_ops/native/image_codecs.h"

namespace galatea::native {
namespace {

bool is_blank(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit_byte(uint8_t c) { return c >= '0' && c <= '9'; }

struct PnmLayout {
  bool is_text = false, is_bits = false;
  int channels = 1;
  int64_t height = 0, width = 0, most = 1;  ///< most: the sample that is white
  size_t pixels = 0;                        ///< where they begin
  int sample_bytes() const { return most > 255 ? 2 : 1; }
  int64_t row_bytes() const { return is_bits ? (width + 7) / 8 : width * channels * sample_bytes(); }
};

/// Numbers between blanks and comments, which end with their line.
class PnmText {
 public:
  PnmText(Bytes bytes, size_t at) : bytes_(bytes), at_(at) {}

  size_t at() const { return at_; }
  /// The next number, if there is one of at most `most`.
  std::optional<int64_t> number(int64_t most) {
    skip_blanks();
    if (at_ >= bytes_.size() || !is_digit_byte(bytes_[at_])) return std::nullopt;
    int64_t value = 0;
    for (; at_ < bytes_.size() && is_digit_byte(bytes_[at_]); ++at_) {
      value = 10 * value + (bytes_[at_] - '0');
      if (value > most) return std::nullopt;
    }
    return value;
  }
  /// The next digit alone: bits need no blanks between them.
  std::optional<int64_t> bit() {
    skip_blanks();
    if (at_ >= bytes_.size() || (bytes_[at_] != '0' && bytes_[at_] != '1')) return std::nullopt;
    return bytes_[at_++] - '0';
  }

 private:
  void skip_blanks() {
    while (at_ < bytes_.size() && (is_blank(bytes_[at_]) || bytes_[at_] == '#')) {
      if (bytes_[at_] == '#')
        while (at_ < bytes_.size() && bytes_[at_] != '\n' && bytes_[at_] != '\r') ++at_;
      else
        ++at_;
    }
  }

  Bytes bytes_;
  size_t at_;
};

Result<PnmLayout> read_pnm_layout(Bytes bytes) {
  const int kind = bytes[1] - '0';
  PnmLayout out;
  out.is_text = kind <= 3;
  out.is_bits = kind == 1 || kind == 4;
  out.channels = kind % 3 == 0 ? 3 : 1;
  PnmText text(bytes, 2);
  const auto width = text.number(UINT32_MAX), height = text.number(UINT32_MAX);
  const auto most = out.is_bits ? std::optional<int64_t>(1) : text.number(UINT32_MAX);
  if (!width || !height || !most) return image_error("the PNM's header is damaged or cut off");
  if (*most < 1 || *most > 65535)
    return image_error(
        fmt::format("the PNM's header is damaged: its largest value is {}, not 1 to 65535", *most));
  out.width = *width;
  out.height = *height;
  out.most = *most;
  // One blank stands between the header and bytes.
  out.pixels = text.at();
  if (!out.is_text) {
    if (out.pixels >= bytes.size() || !is_blank(bytes[out.pixels]))
      return image_error("the PNM's header is damaged or cut off");
    ++out.pixels;
  }
  return out;
}

std::unexpected<Error> pnm_cut_off(const PnmLayout& pnm) {
  return image_error(fmt::format("the PNM is damaged or cut off: {} x {} pixels of {} samples are not there",
                                 pnm.height, pnm.width, pnm.channels));
}

/// Samples above white are white.
void put_sample(const PnmLayout& pnm, int64_t value, int64_t at, uint8_t* out) {
  if (pnm.is_bits)
    value = value ? 0 : 255;  // a set bit is black
  else
    value = std::min(value, pnm.most);
  if (pnm.sample_bytes() == 1) {
    out[at] = static_cast<uint8_t>(value);
  } else {
    const auto wide = static_cast<uint16_t>(value);
    std::memcpy(out + 2 * at, &wide, sizeof wide);
  }
}

/// The window's part of a row of bytes.
void read_pnm_row(const PnmLayout& pnm, const uint8_t* row, const Window& window, uint8_t* out) {
  const int64_t first = window.x0 * pnm.channels, count = window.width() * pnm.channels;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = first + i;
    const int64_t value = pnm.is_bits               ? row[at / 8] >> (7 - at % 8) & 1
                          : pnm.sample_bytes() == 1 ? row[at]
                                                    : row[2 * at] << 8 | row[2 * at + 1];
    put_sample(pnm, value, i, out);
  }
}

Status decode_pnm_text(const DecodeJob& job, const PnmLayout& pnm, uint8_t* row, RowSink& sink) {
  const Window& window = job.stored;
  PnmText text(job.bytes, pnm.pixels);
  for (int64_t y = 0; y < window.y1; ++y) {
    for (int64_t i = 0; i < pnm.width * pnm.channels; ++i) {
      const auto value = pnm.is_bits ? text.bit() : text.number(UINT32_MAX);
      if (!value) return pnm_cut_off(pnm);
      const int64_t at = i - window.x0 * pnm.channels;
      if (y >= window.y0 && at >= 0 && at < window.width() * pnm.channels) put_sample(pnm, *value, at, row);
    }
    if (y >= window.y0) sink.put(y - window.y0, row);
  }
  return {};
}

}  // namespace

bool is_pnm(Bytes bytes) {
  return bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' &&
         (is_blank(bytes[2]) || bytes[2] == '#');
}

Result<ImageHeader> read_pnm_header(Bytes bytes, int64_t /*page*/) {
  GALATEA_ASSIGN(const PnmLayout pnm, read_pnm_layout(bytes));
  ImageHeader header;
  header.height = pnm.height;
  header.width = pnm.width;
  header.channels = pnm.channels;
  header.bits = 8 * pnm.sample_bytes();
  header.white = pnm.is_bits ? 255 : static_cast<double>(pnm.most);
  return header;
}

Status decode_pnm(const DecodeJob& job) {
  GALATEA_ASSIGN(const PnmLayout pnm, read_pnm_layout(job.bytes));
  const Window& window = job.stored;
  const auto row_bytes = static_cast<size_t>(pnm.row_bytes());
  const size_t rest = job.bytes.size() - pnm.pixels;
  // A sample of text is a digit at least.
  const auto least = static_cast<size_t>(pnm.is_text ? pnm.width * pnm.channels : pnm.row_bytes());
  if (rest / least < static_cast<size_t>(pnm.height)) return pnm_cut_off(pnm);
  const auto memory = job.scratch.bytes(window.width() * pnm.channels * pnm.sample_bytes());
  if (!memory) return std::unexpected(memory.error());
  const ImageType type = job.options.type;
  const bool converted = type == ImageType::kAny || (type == ImageType::kRgb && pnm.channels == 3) ||
                         (type == ImageType::kGray && pnm.channels == 1);
  RowSink sink = job.sink(pnm.channels, 8 * pnm.sample_bytes(), converted);
  if (pnm.is_text) return decode_pnm_text(job, pnm, *memory, sink);
  // Bytes of which every value may be there are pixels already.
  const bool is_plain = !pnm.is_bits && pnm.most == 255;
  for (int64_t y = window.y0; y < window.y1; ++y) {
    const uint8_t* row = &job.bytes[pnm.pixels + static_cast<size_t>(y) * row_bytes];
    if (!is_plain) read_pnm_row(pnm, row, window, *memory);
    sink.put(y - window.y0, is_plain ? row + window.x0 * pnm.channels : *memory);
  }
  return {};
}

int64_t pnm_working_bytes(Bytes, const ImageHeader& header, int64_t /*page*/) {
  return header.width * header.channels * (header.bits / 8);
}

}  // namespace galatea::native
