// Images of FITS that are compressed tile by tile: see fits.h. Formulas: FITS standard 4.0, section 10.4 and
// appendix I; R. White, "The RICE_1 algorithm" there, and "The PLIO_1 algorithm".
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <zlib.h>

#include "stdlib_ops/native/fits.h"

namespace galatea::native {
namespace {

constexpr size_t kNumRandoms = 10000;

/// Appendix I: the numbers that were added before rounding.
const std::array<float, kNumRandoms>& dither_numbers() {
  static const std::array<float, kNumRandoms> kNumbers = [] {
    std::array<float, kNumRandoms> out;
    constexpr double kFactor = 16807, kModulus = 2147483647;
    double seed = 1;
    for (float& number : out) {
      const double next = kFactor * seed;
      seed = next - kModulus * static_cast<int>(next / kModulus);
      number = static_cast<float>(seed / kModulus);
    }
    return out;
  }();
  return kNumbers;
}

int64_t big_endian(const uint8_t* from, int64_t bytes) {
  uint64_t value = 0;
  for (int64_t i = 0; i < bytes; ++i) value = value << 8 | from[i];
  const int unused = 64 - 8 * static_cast<int>(bytes);
  return static_cast<int64_t>(value << unused) >> unused;
}

void put_big_endian(uint8_t* to, int64_t bytes, int64_t value) {
  for (int64_t i = 0; i < bytes; ++i) to[i] = static_cast<uint8_t>(value >> (8 * (bytes - 1 - i)));
}

/// Whole numbers of a type as it is stored: 8 bits have no sign.
int64_t stored_integer(const uint8_t* from, int64_t bytes) {
  return bytes == 1 ? from[0] : big_endian(from, bytes);
}

/// Bits from the highest down. Past the end there are zeros, which is_past() tells.
class BitReader {
 public:
  explicit BitReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint32_t take(int count) {
    while (held_ < count) fill();
    held_ -= count;
    return static_cast<uint32_t>(bits_ >> held_ & ((uint64_t{1} << count) - 1));
  }
  /// How many zeros stand before the next one, which is taken too. Nothing where there is none.
  std::optional<int64_t> zeros() {
    int64_t count = 0;
    for (;;) {
      const uint64_t rest = held_ == 0 ? 0 : bits_ & ((uint64_t{1} << held_) - 1);
      if (rest != 0) {
        const int width = std::bit_width(rest);
        count += held_ - width;
        held_ = width - 1;
        return count;
      }
      count += held_;
      held_ = 0;
      if (at_ >= bytes_.size()) return std::nullopt;
      fill();
    }
  }
  bool is_past() const { return past_; }

 private:
  void fill() {
    past_ = past_ || at_ >= bytes_.size();
    bits_ = bits_ << 8 | (at_ < bytes_.size() ? bytes_[at_++] : 0);
    held_ += 8;
  }
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  uint64_t bits_ = 0;
  int held_ = 0;
  bool past_ = false;
};

/// Differences of neighbours, in blocks that say how many low bits of each are written plainly.
template <typename Pixel>
bool decode_rice(std::span<const uint8_t> bytes, int64_t block, std::span<int32_t> pixels) {
  constexpr int kBits = 8 * sizeof(Pixel);
  constexpr int kOfSplit = kBits == 8 ? 3 : kBits == 16 ? 4 : 5;
  constexpr int kPlain = kBits == 8 ? 6 : kBits == 16 ? 14 : 25;
  using Wrapping = std::make_unsigned_t<Pixel>;
  BitReader in(bytes);
  auto last = static_cast<Wrapping>(in.take(kBits));
  for (size_t at = 0; at < pixels.size();) {
    const size_t end = std::min(pixels.size(), at + static_cast<size_t>(block));
    const int split = static_cast<int>(in.take(kOfSplit)) - 1;
    if (split > kPlain) return false;
    for (; at < end; ++at) {
      uint32_t difference = 0;
      if (split == kPlain) {
        difference = in.take(kBits);
      } else if (split >= 0) {
        const std::optional<int64_t> high = in.zeros();
        if (!high || *high > std::numeric_limits<uint32_t>::max() >> split) return false;
        difference = static_cast<uint32_t>(*high) << split | in.take(split);
      }
      // Even numbers stand for differences of 0 and more, odd ones for those below.
      const uint32_t change = (difference & 1) != 0 ? ~(difference >> 1) : difference >> 1;
      last = static_cast<Wrapping>(last + change);
      pixels[at] = static_cast<Pixel>(last);
    }
    if (in.is_past()) return false;
  }
  return !in.is_past();
}

/// Runs of zeros and of a value, by instructions of 16 bits: a code in the upper four, a number in the others.
/// What no instruction reaches is zero.
bool decode_plio(std::span<const uint8_t> bytes, std::span<int32_t> pixels) {
  const size_t words = bytes.size() / 2;
  const auto word = [&](size_t at) { return static_cast<uint32_t>(bytes[2 * at]) << 8 | bytes[2 * at + 1]; };
  if (words < 3) return false;
  // The third word is the length of a list as it was first, or a negative version: its head has another form.
  const bool is_old = word(2) > 0 && word(2) < 0x8000;
  if (!is_old && words < 5) return false;
  size_t at = is_old ? 3 : word(1);
  const size_t end = is_old ? word(2) : size_t{word(4)} << 15 | word(3);
  if (end > words) return false;
  std::ranges::fill(pixels, 0);
  size_t pixel = 0;
  uint32_t value = 1;
  while (at < end) {
    const uint32_t code = word(at) >> 12, number = word(at) & 0xFFF;
    ++at;
    size_t run = 0, set = 0;  // pixels of it, and of its last that have the value
    switch (code) {
      case 0:
        run = number;
        break;
      case 1:
        if (at == end) return false;
        value = word(at++) << 12 | number;
        break;
      case 2:
      case 6:
        value += number;
        break;
      case 3:
      case 7:
        value -= number;
        break;
      case 4:
        run = set = number;
        break;
      case 5:
        run = number;
        set = std::min<size_t>(1, run);
        break;
      default:
        return false;
    }
    if (code >= 6) run = set = 1;
    if (run > pixels.size() - pixel) return false;
    pixel += run;
    std::ranges::fill(pixels.subspan(pixel - set, set), static_cast<int32_t>(value));
  }
  return true;
}

/// Everything that the bytes hold, which is no more than `out` has room for; how much that is, or -1.
int64_t gunzip(std::span<const uint8_t> bytes, std::span<uint8_t> out) {
  z_stream stream = {};
  constexpr int kGzipOrZlib = 15 + 32;
  if (bytes.size() > std::numeric_limits<uInt>::max() || out.size() > std::numeric_limits<uInt>::max() ||
      inflateInit2(&stream, kGzipOrZlib) != Z_OK)
    return -1;
  stream.next_in = const_cast<uint8_t*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = ::inflate(&stream, Z_FINISH);
  const auto made = static_cast<int64_t>(out.size()) - static_cast<int64_t>(stream.avail_out);
  inflateEnd(&stream);
  return status == Z_STREAM_END ? made : -1;
}

class TileReader {
 public:
  TileReader(const ByteSource& file, const FitsImage& image)
      : file_(file), image_(image), tiles_(*image.tiles), row_(static_cast<size_t>(tiles_.row_bytes)) {}

  Status read(uint8_t* to) {
    const size_t rank = image_.shape.size();
    std::vector<int64_t> tile(rank), begin(rank), extents(rank);
    for (int64_t row = 0; row < tiles_.rows; ++row) {
      int64_t rest = row;
      count_ = 1;
      for (size_t d = rank; d-- > 0;) {
        const int64_t along = (image_.shape[d] + tiles_.extents[d] - 1) / tiles_.extents[d];
        tile[d] = rest % along;
        rest /= along;
        begin[d] = tile[d] * tiles_.extents[d];
        extents[d] = std::min(tiles_.extents[d], image_.shape[d] - begin[d]);
        count_ *= extents[d];
      }
      GALATEA_TRY(decode(row));
      scatter(begin, extents, to);
    }
    return {};
  }

 private:
  std::unexpected<Error> bad(int64_t row, const std::string& why) const {
    return bad_fits(image_.where, fmt::format("tile {} {}", row + 1, why));
  }

  /// What a column of the row describes in the heap, into bytes_.
  Status fetch(int64_t row, const FitsColumn& column) {
    bytes_.clear();
    if (!column.is_there()) return {};
    const int64_t width = column.wide ? 8 : 4;
    const int64_t count = big_endian(row_.data() + column.offset, width);
    const int64_t offset = big_endian(row_.data() + column.offset + width, width);
    const int64_t element = column.type == 'B' ? 1 : column.type == 'I' ? 2 : column.type == 'D' ? 8 : 4;
    if (count < 0 || offset < 0 || offset > tiles_.heap_bytes ||
        count > (tiles_.heap_bytes - offset) / element)
      return bad(row, fmt::format("has {} elements from byte {} of {}", count, offset, tiles_.heap_bytes));
    bytes_.resize(static_cast<size_t>(count * element));
    return file_.read(tiles_.heap + offset, bytes_);
  }

  /// The tile's elements that come out, into tile_.
  Status decode(int64_t row) {
    tile_.resize(static_cast<size_t>(count_ * size_of(image_.dtype)));
    const int64_t place = image_.offset + row * tiles_.row_bytes;
    GALATEA_TRY(file_.read(place, row_));
    GALATEA_TRY(fetch(row, tiles_.data));
    const bool is_scaled = (tiles_.scale.is_there() || tiles_.scale_of_all) && is_float(image_.stored);
    if (!bytes_.empty()) {
      if (is_scaled) return decode_quantized(row);
      return decode_exact(row, tiles_.compression);
    }
    // Tiles of floats that are no good for rounding are kept apart.
    GALATEA_TRY(fetch(row, tiles_.gzip));
    if (!bytes_.empty()) return decode_exact(row, FitsTiles::Compression::kGzip);
    GALATEA_TRY(fetch(row, tiles_.raw));
    if (!bytes_.empty()) return decode_exact(row, FitsTiles::Compression::kNone);
    return bad(row, "is missing");
  }

  /// Unpacks bytes_ into big-endian elements in plain_; how many bytes each has.
  Result<int64_t> unpack(int64_t row, FitsTiles::Compression compression) {
    constexpr int64_t kWidest = 8;
    if (compression == FitsTiles::Compression::kNone) {
      plain_ = bytes_;
    } else {
      plain_.resize(static_cast<size_t>(count_ * kWidest));
      const int64_t made = gunzip(bytes_, plain_);
      if (made < 0) return bad(row, "cannot be decompressed");
      plain_.resize(static_cast<size_t>(made));
    }
    const auto bytes = static_cast<int64_t>(plain_.size());
    const int64_t width = bytes / count_;
    if (bytes % count_ != 0 || (width != 1 && width != 2 && width != 4 && width != 8))
      return bad(row, fmt::format("has {} bytes for {} pixels", bytes, count_));
    if (compression == FitsTiles::Compression::kShuffledGzip) {
      std::vector<uint8_t> together(plain_.size());
      for (int64_t b = 0; b < width; ++b)
        for (int64_t i = 0; i < count_; ++i)
          together[static_cast<size_t>(i * width + b)] = plain_[static_cast<size_t>(b * count_ + i)];
      plain_ = std::move(together);
    }
    return width;
  }

  /// Whole numbers, into integers_.
  Status decode_integers(int64_t row) {
    integers_.resize(static_cast<size_t>(count_));
    if (tiles_.compression == FitsTiles::Compression::kPlio) {
      if (!decode_plio(bytes_, integers_)) return bad(row, "cannot be decompressed");
      return {};
    }
    if (tiles_.compression == FitsTiles::Compression::kRice) {
      const bool is_whole = tiles_.width == 1   ? decode_rice<uint8_t>(bytes_, tiles_.block, integers_)
                            : tiles_.width == 2 ? decode_rice<int16_t>(bytes_, tiles_.block, integers_)
                                                : decode_rice<int32_t>(bytes_, tiles_.block, integers_);
      if (!is_whole) return bad(row, "cannot be decompressed");
      return {};
    }
    GALATEA_ASSIGN(const int64_t width, unpack(row, tiles_.compression));
    if (width > 4) return bad(row, "has numbers of 64 bits");
    for (int64_t i = 0; i < count_; ++i)
      integers_[static_cast<size_t>(i)] =
          static_cast<int32_t>(stored_integer(plain_.data() + i * width, width));
    return {};
  }

  /// Elements as they were.
  Status decode_exact(int64_t row, FitsTiles::Compression compression) {
    const int64_t stored = size_of(image_.stored);
    if (compression == FitsTiles::Compression::kRice || compression == FitsTiles::Compression::kPlio) {
      if (is_float(image_.stored) || stored > 4) return bad(row, "cannot have been compressed so");
      GALATEA_TRY(decode_integers(row));
      plain_.resize(static_cast<size_t>(count_ * stored));
      for (int64_t i = 0; i < count_; ++i)
        put_big_endian(plain_.data() + i * stored, stored, integers_[static_cast<size_t>(i)]);
    } else {
      GALATEA_ASSIGN(const int64_t width, unpack(row, compression));
      if (width != stored) {
        if (is_float(image_.stored)) return bad(row, fmt::format("has pixels of {} bytes", width));
        std::vector<uint8_t> elements(static_cast<size_t>(count_ * stored));
        for (int64_t i = 0; i < count_; ++i)
          put_big_endian(elements.data() + i * stored, stored,
                         stored_integer(plain_.data() + i * width, width));
        plain_ = std::move(elements);
      }
    }
    convert_fits_elements(image_, plain_.data(), count_, tile_.data());
    return {};
  }

  double column_number(const FitsColumn& column, const std::optional<double>& of_all,
                       double otherwise) const {
    if (!column.is_there()) return of_all.value_or(otherwise);
    return std::bit_cast<double>(big_endian(row_.data() + column.offset, 8));
  }

  /// Floats that were rounded to multiples of a scale.
  Status decode_quantized(int64_t row) {
    GALATEA_TRY(decode_integers(row));
    const double scale = column_number(tiles_.scale, tiles_.scale_of_all, 1);
    const double zero = column_number(tiles_.zero, tiles_.zero_of_all, 0);
    std::optional<int64_t> blank = tiles_.blank_of_all;
    if (tiles_.blank.is_there()) blank = big_endian(row_.data() + tiles_.blank.offset, 4);
    if (image_.dtype == DType::kF32)
      spread<float>(row, scale, zero, blank);
    else
      spread<double>(row, scale, zero, blank);
    return {};
  }

  template <typename T>
  void spread(int64_t row, double scale, double zero, std::optional<int64_t> blank) {
    constexpr int32_t kZero = -2147483646;  // stands for 0 itself
    const std::array<float, kNumRandoms>& numbers = dither_numbers();
    size_t seed = static_cast<size_t>(row + tiles_.seed - 1) % kNumRandoms;
    auto start = [&] { return static_cast<size_t>(numbers[seed] * 500); };
    size_t next = start();
    for (int64_t i = 0; i < count_; ++i) {
      const int32_t value = integers_[static_cast<size_t>(i)];
      T out;
      if (tiles_.dither == FitsTiles::Dither::kNone)
        out = static_cast<T>(value * scale + zero);
      else if (tiles_.dither == FitsTiles::Dither::kSubtractiveWithZeros && value == kZero)
        out = 0;
      else
        out = static_cast<T>((static_cast<double>(value) - static_cast<double>(numbers[next]) + 0.5) * scale +
                             zero);
      if (blank && value == *blank) out = std::numeric_limits<T>::quiet_NaN();
      std::memcpy(tile_.data() + static_cast<size_t>(i) * sizeof out, &out, sizeof out);
      if (++next < kNumRandoms) continue;
      seed = (seed + 1) % kNumRandoms;
      next = start();
    }
  }

  /// From tile_ to its place in the image.
  void scatter(const std::vector<int64_t>& begin, const std::vector<int64_t>& extents, uint8_t* to) const {
    const size_t rank = extents.size();
    const int64_t size = size_of(image_.dtype);
    const int64_t line = extents[rank - 1] * size;
    std::vector<int64_t> at(rank);
    const uint8_t* from = tile_.data();
    for (int64_t left = count_ / extents[rank - 1]; left > 0; --left, from += line) {
      int64_t place = 0;
      for (size_t d = 0; d < rank; ++d) place = place * image_.shape[d] + begin[d] + at[d];
      std::memcpy(to + place * size, from, static_cast<size_t>(line));
      for (size_t d = rank - 1; d-- > 0;) {
        if (++at[d] < extents[d]) break;
        at[d] = 0;
      }
    }
  }

  const ByteSource& file_;
  const FitsImage& image_;
  const FitsTiles& tiles_;
  int64_t count_ = 0;  ///< pixels of the tile
  std::vector<uint8_t> row_, bytes_, plain_, tile_;
  std::vector<int32_t> integers_;
};

}  // namespace

Status read_fits_tiles(const ByteSource& file, const FitsImage& image, uint8_t* to) {
  return TileReader(file, image).read(to);
}

}  // namespace galatea::native
