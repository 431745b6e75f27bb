#include "stdlib_ops/native/fits.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <type_traits>

#include <fmt/format.h>

#include "runtime/kernel_abi.h"

namespace galatea::native {
namespace {

constexpr int64_t kFitsBlock = 2880, kCard = 80;
constexpr int64_t kMostHeader = int64_t{16} << 20;
constexpr int64_t kMostHdus = 1 << 16;
/// No way of compression makes more of a byte; that for masks says 4,095 pixels of four bytes in two.
constexpr int64_t kMostRatio = 2048, kMostOfMask = 8192;

/// Of two numbers that are not negative; nothing where it does not fit.
std::optional<int64_t> product(int64_t a, int64_t b) {
  int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}

std::string_view trimmed(std::string_view text) {
  const size_t end = text.find_last_not_of(' ');
  text = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

/// The keywords of an HDU.
class FitsHeader {
 public:
  /// Reads it; `where` is for messages.
  static Result<FitsHeader> read(const ByteSource& file, int64_t begin, std::string where) {
    FitsHeader header;
    header.where_ = std::move(where);
    std::string block(static_cast<size_t>(kFitsBlock), '\0');
    for (int64_t at = begin;; at += kFitsBlock) {
      if (at - begin >= kMostHeader || at > file.size() - kFitsBlock)
        return bad_fits(header.where_, fmt::format("its header, from byte {} on, has no end", begin));
      GALATEA_TRY(file.read(at, {reinterpret_cast<uint8_t*>(block.data()), block.size()}));
      for (int64_t card = 0; card < kFitsBlock; card += kCard)
        if (!header.take(
                std::string_view(block).substr(static_cast<size_t>(card), static_cast<size_t>(kCard)))) {
          header.end_ = at + kFitsBlock;
          return header;
        }
    }
  }

  const std::string& first() const { return first_; }
  int64_t end() const { return end_; }  ///< behind the header, in the file
  bool has(const std::string& key) const { return values_.contains(key); }
  std::string text(const std::string& key) const {
    const auto found = values_.find(key);
    if (found == values_.end() || !found->second.starts_with('\'')) return {};
    return std::string(trimmed(std::string_view(found->second).substr(1)));
  }
  bool flag(const std::string& key) const {
    const auto found = values_.find(key);
    return found != values_.end() && found->second == "T";
  }
  Result<int64_t> integer(const std::string& key) const {
    const auto found = values_.find(key);
    if (found == values_.end()) return bad_fits(where_, fmt::format("its header has no {}", key));
    std::string_view digits = found->second;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    int64_t number = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size())
      return bad_fits(where_, fmt::format("its {} is no whole number", key));
    return number;
  }
  Result<int64_t> integer(const std::string& key, int64_t otherwise) const {
    if (!has(key)) return otherwise;
    return integer(key);
  }
  Result<double> number(const std::string& key, double otherwise) const {
    const auto found = values_.find(key);
    if (found == values_.end()) return otherwise;
    std::string digits = found->second;
    std::ranges::replace(digits, 'D', 'E');  // as Fortran writes exponents
    const char* begin = digits.data() + (digits.starts_with('+') ? 1 : 0);
    double value = 0;
    const auto parsed = std::from_chars(begin, digits.data() + digits.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || !std::isfinite(value))
      return bad_fits(where_, fmt::format("its {} is no number", key));
    return value;
  }
  /// An extent, 0 or more.
  Result<int64_t> extent(const std::string& key) const {
    GALATEA_ASSIGN(const int64_t number, integer(key));
    if (number < 0) return bad_fits(where_, fmt::format("its {} is {}", key, number));
    return number;
  }
  const std::string& where() const { return where_; }

 private:
  /// False at the end.
  bool take(std::string_view card) {
    const std::string_view key = trimmed(card.substr(0, 8));
    if (first_.empty()) first_ = key.empty() ? "?" : std::string(key);
    if (key == "END") return false;
    if (card.substr(8, 2) != "= ") return true;
    std::string_view rest = trimmed(card.substr(10));
    std::string value;
    if (rest.starts_with('\'')) {
      // A quote within a text is written twice.
      value = '\'';
      for (size_t i = 1; i < rest.size(); ++i) {
        if (rest[i] == '\'') {
          ++i;
          if (i == rest.size() || rest[i] != '\'') break;
        }
        value += rest[i];
      }
    } else {
      value = std::string(trimmed(rest.substr(0, rest.find('/'))));
    }
    values_.try_emplace(std::string(key), std::move(value));
    return true;
  }

  std::string where_, first_;
  std::map<std::string, std::string> values_;
  int64_t end_ = 0;
};

Result<DType> stored_type(const FitsHeader& header, const std::string& key) {
  GALATEA_ASSIGN(const int64_t bits, header.integer(key));
  switch (bits) {
    case 8:
      return DType::kU8;
    case 16:
      return DType::kI16;
    case 32:
      return DType::kI32;
    case 64:
      return DType::kI64;
    case -32:
      return DType::kF32;
    case -64:
      return DType::kF64;
    default:
      return bad_fits(header.where(), fmt::format("its {} is {}", key, bits));
  }
}

/// Extents by NAXIS1, NAXIS2, …, the last of them first.
Result<std::vector<int64_t>> extents_by(const FitsHeader& header, const std::string& key) {
  GALATEA_ASSIGN(const int64_t rank, header.extent(key));
  if (rank > 999) return bad_fits(header.where(), fmt::format("its {} is {}", key, rank));
  std::vector<int64_t> extents(static_cast<size_t>(rank));
  for (size_t d = 0; d < extents.size(); ++d) {
    GALATEA_ASSIGN(extents[extents.size() - 1 - d], header.extent(fmt::format("{}{}", key, d + 1)));
  }
  return extents;
}

/// Bytes of the data behind a header, without what fills the last block.
Result<int64_t> data_bytes(const FitsHeader& header) {
  GALATEA_ASSIGN(const DType type, stored_type(header, "BITPIX"));
  GALATEA_ASSIGN(std::vector<int64_t> extents, extents_by(header, "NAXIS"));
  if (extents.empty()) return 0;
  GALATEA_ASSIGN(const int64_t groups, header.integer("GCOUNT", 1));
  GALATEA_ASSIGN(const int64_t parameters, header.integer("PCOUNT", 0));
  if (extents.back() == 0 && header.flag("GROUPS")) extents.back() = 1;
  std::optional<int64_t> bytes = 1;
  for (const int64_t extent : extents) bytes = bytes ? product(*bytes, extent) : std::nullopt;
  if (bytes && (parameters < 0 || *bytes > std::numeric_limits<int64_t>::max() - parameters))
    bytes = std::nullopt;
  if (bytes) bytes = product(*bytes + parameters, size_of(type));
  if (bytes && groups >= 0) bytes = product(*bytes, groups);
  if (!bytes || groups < 0) return bad_fits(header.where(), "its data would have more bytes than any file");
  return *bytes;
}

/// What integers become by BSCALE and BZERO: the least type that holds them, as cfitsio chooses it and DALI with
/// it; of 64 bits, of which both take no notice, DOUBLE or, by the standard's convention, UINT64.
DType scaled_type(DType stored, double scale, double zero) {
  if ((scale == 1 && zero == 0) || is_float(stored)) return stored;
  if (stored == DType::kI64) return scale == 1 && zero == 0x1p63 ? DType::kU64 : DType::kF64;
  constexpr double kPastI32 = 0x1p31;
  const bool is_whole =
      zero == kPastI32 || (zero < kPastI32 && zero == std::trunc(zero) && scale == std::trunc(scale));
  if (!is_whole) return stored == DType::kI32 ? DType::kF64 : DType::kF32;
  const double a = zero + scale * static_cast<double>(min_int(stored));
  const double b = zero + scale * static_cast<double>(max_int(stored));
  const double least = std::min(a, b), most = std::max(a, b);
  if (least == -128 && most == 127) return DType::kI8;
  for (const DType type : {DType::kI16, DType::kU16, DType::kI32, DType::kU32})
    if (least >= static_cast<double>(min_int(type)) && most <= static_cast<double>(max_int(type)))
      return type;
  return DType::kF64;
}

/// One column of a table, by its TFORM: "1PB(512)", "1D".
struct Form {
  FitsColumn column;
  int64_t bytes = 0;
};

Result<Form> parse_form(const FitsHeader& header, const std::string& text) {
  Form form;
  int64_t repeat = 1;
  const char* at = text.data();
  const char* const end = at + text.size();
  if (const auto parsed = std::from_chars(at, end, repeat); parsed.ec == std::errc()) at = parsed.ptr;
  constexpr std::pair<char, int64_t> kSizes[] = {{'L', 1}, {'B', 1}, {'A', 1},  {'I', 2},
                                                 {'J', 4}, {'E', 4}, {'K', 8},  {'D', 8},
                                                 {'C', 8}, {'P', 8}, {'M', 16}, {'Q', 16}};
  const char letter = at == end ? '\0' : *at;
  const auto known = std::ranges::find(kSizes, letter, &std::pair<char, int64_t>::first);
  if (repeat < 0 || repeat > kMostHeader || (known == std::end(kSizes) && letter != 'X'))
    return bad_fits(header.where(), fmt::format("a column has the form '{}'", text));
  form.bytes = letter == 'X' ? (repeat + 7) / 8 : repeat * known->second;
  form.column.type = letter;
  if (letter == 'P' || letter == 'Q') {
    form.column.wide = letter == 'Q';
    form.column.type = at + 1 < end ? at[1] : '\0';
  }
  return form;
}

Status find_columns(const FitsHeader& header, FitsTiles& tiles) {
  GALATEA_ASSIGN(const int64_t count, header.extent("TFIELDS"));
  if (count > 999) return bad_fits(header.where(), fmt::format("its table has {} columns", count));
  const std::pair<const char*, FitsColumn*> wanted[] = {{"COMPRESSED_DATA", &tiles.data},
                                                        {"GZIP_COMPRESSED_DATA", &tiles.gzip},
                                                        {"UNCOMPRESSED_DATA", &tiles.raw},
                                                        {"ZSCALE", &tiles.scale},
                                                        {"ZZERO", &tiles.zero},
                                                        {"ZBLANK", &tiles.blank}};
  int64_t offset = 0;
  for (int64_t k = 1; k <= count; ++k) {
    GALATEA_ASSIGN(const Form form, parse_form(header, header.text(fmt::format("TFORM{}", k))));
    const std::string name = header.text(fmt::format("TTYPE{}", k));
    for (const auto& [known, column] : wanted) {
      if (name != known || form.bytes == 0) continue;
      const bool in_heap = column == &tiles.data || column == &tiles.gzip || column == &tiles.raw;
      const std::string_view types = in_heap ? "BIJED" : column == &tiles.blank ? "J" : "D";
      if (types.find(form.column.type) == std::string_view::npos)
        return bad_fits(header.where(),
                        fmt::format("its column {} has another type than its name says", name));
      *column = form.column;
      column->offset = offset;
    }
    offset += form.bytes;
  }
  if (offset > tiles.row_bytes) return bad_fits(header.where(), "its columns are wider than its rows");
  if (!tiles.data.is_there()) return bad_fits(header.where(), "its table has no COMPRESSED_DATA");
  return {};
}

/// ZNAMEn and ZVALn, and the rest of how tiles are made.
Status find_compression(const FitsHeader& header, FitsTiles& tiles) {
  const std::string name = header.text("ZCMPTYPE");
  constexpr std::pair<const char*, FitsTiles::Compression> kKnown[] = {
      {"NOCOMPRESS", FitsTiles::Compression::kNone}, {"RICE_1", FitsTiles::Compression::kRice},
      {"RICE_ONE", FitsTiles::Compression::kRice},   {"PLIO_1", FitsTiles::Compression::kPlio},
      {"GZIP_1", FitsTiles::Compression::kGzip},     {"GZIP_2", FitsTiles::Compression::kShuffledGzip}};
  const auto known =
      std::ranges::find(kKnown, name, [](const auto& entry) { return std::string_view(entry.first); });
  if (known == std::end(kKnown))
    return make_error(ErrorKind::kUser, "G0802",
                      fmt::format("{}: it is compressed as '{}'", header.where(), name),
                      "RICE_1, GZIP_1, GZIP_2, PLIO_1 and NOCOMPRESS are read; write it anew (fpack -r)");
  tiles.compression = known->second;
  for (int k = 1; header.has(fmt::format("ZNAME{}", k)); ++k) {
    const std::string parameter = header.text(fmt::format("ZNAME{}", k)), key = fmt::format("ZVAL{}", k);
    if (parameter == "BLOCKSIZE") {
      GALATEA_ASSIGN(tiles.block, header.integer(key));
    } else if (parameter == "BYTEPIX") {
      GALATEA_ASSIGN(tiles.width, header.integer(key));
    }
  }
  if (tiles.block < 1 || tiles.block > 1024 || (tiles.width != 1 && tiles.width != 2 && tiles.width != 4))
    return bad_fits(header.where(),
                    fmt::format("its blocks have {} pixels of {} bytes", tiles.block, tiles.width));
  const std::string dither = header.text("ZQUANTIZ");
  tiles.dither = dither == "SUBTRACTIVE_DITHER_1"   ? FitsTiles::Dither::kSubtractive
                 : dither == "SUBTRACTIVE_DITHER_2" ? FitsTiles::Dither::kSubtractiveWithZeros
                                                    : FitsTiles::Dither::kNone;
  GALATEA_ASSIGN(tiles.seed, header.integer("ZDITHER0", 1));
  if (tiles.seed < 1 || tiles.seed > 10000)
    return bad_fits(header.where(), fmt::format("its ZDITHER0 is {}", tiles.seed));
  if (header.has("ZSCALE")) {
    GALATEA_ASSIGN(tiles.scale_of_all, header.number("ZSCALE", 1));
  }
  if (header.has("ZZERO")) {
    GALATEA_ASSIGN(tiles.zero_of_all, header.number("ZZERO", 0));
  }
  if (header.has("ZBLANK")) {
    GALATEA_ASSIGN(tiles.blank_of_all, header.integer("ZBLANK"));
  }
  return {};
}

Result<FitsTiles> find_tiles(const FitsHeader& header, const FitsImage& image, int64_t bytes) {
  FitsTiles tiles;
  GALATEA_ASSIGN(tiles.row_bytes, header.extent("NAXIS1"));
  GALATEA_ASSIGN(tiles.rows, header.extent("NAXIS2"));
  const int64_t table = *product(tiles.row_bytes, tiles.rows);  // data_bytes() has multiplied them
  GALATEA_ASSIGN(const int64_t heap, header.integer("THEAP", table));
  if (heap < table || heap > bytes) return bad_fits(header.where(), fmt::format("its THEAP is {}", heap));
  tiles.heap = image.offset + heap;
  tiles.heap_bytes = bytes - heap;
  GALATEA_TRY(find_compression(header, tiles));
  GALATEA_TRY(find_columns(header, tiles));
  int64_t count = 1;
  for (size_t d = 0; d < image.shape.size(); ++d) {
    // Unless they are given, tiles are rows.
    const bool is_row = d + 1 == image.shape.size();
    GALATEA_ASSIGN(const int64_t extent, header.integer(fmt::format("ZTILE{}", image.shape.size() - d),
                                                        is_row ? image.shape[d] : 1));
    if (extent < 1 && image.shape[d] > 0)
      return bad_fits(header.where(), fmt::format("its tiles have an extent of {}", extent));
    tiles.extents.push_back(std::clamp<int64_t>(extent, 1, std::max<int64_t>(1, image.shape[d])));
    count *= (image.shape[d] + tiles.extents.back() - 1) / tiles.extents.back();
  }
  if (count != tiles.rows)
    return bad_fits(header.where(), fmt::format("it has {} tiles, and its table {} rows", count, tiles.rows));
  return tiles;
}

template <typename T>
T swapped(const uint8_t* from) {
  using Bits = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
  Bits bits;
  std::memcpy(&bits, from, sizeof bits);
  return std::bit_cast<T>(std::byteswap(bits));
}

template <typename Stored, typename Out>
void convert_as(const FitsImage& image, const uint8_t* from, int64_t count, uint8_t* to) {
  const bool scales = image.scale != 1 || image.zero != 0;
  for (int64_t i = 0; i < count; ++i) {
    const Stored value = swapped<Stored>(from + static_cast<size_t>(i) * sizeof(Stored));
    Out out;
    if (!scales) {
      out = static_cast<Out>(value);
    } else if constexpr (std::is_same_v<Out, uint64_t>) {
      out = static_cast<uint64_t>(value) ^ (uint64_t{1} << 63);
    } else {
      // Of integers that come out, all products and sums are whole numbers of fewer than 53 bits.
      out = static_cast<Out>(static_cast<double>(value) * image.scale + image.zero);
      if constexpr (std::is_floating_point_v<Out> && !std::is_floating_point_v<Stored>)
        if (image.blank && static_cast<int64_t>(value) == *image.blank)
          out = std::numeric_limits<Out>::quiet_NaN();
    }
    std::memcpy(to + static_cast<size_t>(i) * sizeof out, &out, sizeof out);
  }
}

template <typename Stored>
void convert_from(const FitsImage& image, const uint8_t* from, int64_t count, uint8_t* to) {
  switch (image.dtype) {
    case DType::kU8:
      return convert_as<Stored, uint8_t>(image, from, count, to);
    case DType::kI8:
      return convert_as<Stored, int8_t>(image, from, count, to);
    case DType::kU16:
      return convert_as<Stored, uint16_t>(image, from, count, to);
    case DType::kI16:
      return convert_as<Stored, int16_t>(image, from, count, to);
    case DType::kU32:
      return convert_as<Stored, uint32_t>(image, from, count, to);
    case DType::kI32:
      return convert_as<Stored, int32_t>(image, from, count, to);
    case DType::kU64:
      return convert_as<Stored, uint64_t>(image, from, count, to);
    case DType::kI64:
      return convert_as<Stored, int64_t>(image, from, count, to);
    case DType::kF32:
      return convert_as<Stored, float>(image, from, count, to);
    case DType::kF64:
      return convert_as<Stored, double>(image, from, count, to);
    case DType::kF16:
    case DType::kBool:
      break;
  }
  throw InternalError("an image of FITS has an element type that none has");
}

}  // namespace

std::unexpected<Error> bad_fits(const std::string& where, const std::string& why) {
  return make_error(ErrorKind::kUser, "G0802",
                    fmt::format("{} is no image of FITS that can be read: {}", where, why),
                    "copy or make the file again; on_error=\"skip\" goes on without it");
}

Result<FitsImage> find_fits_image(const ByteSource& file, int64_t hdu) {
  int64_t at = 0;
  for (int64_t number = 1; number <= std::min(hdu, kMostHdus); ++number) {
    const std::string where = fmt::format("{}, HDU {}", file.name(), number);
    if (number > 1 && at >= file.size())
      return make_error(
          ErrorKind::kUser, "G0802",
          fmt::format("{} has {} HDUs; number {} is wanted", file.name(), number - 1, hdu),
          "hdu_indices= counts from 1, the primary one; on_error=\"skip\" goes on without the file");
    GALATEA_ASSIGN(const FitsHeader header, FitsHeader::read(file, at, where));
    if (header.first() != (number == 1 ? "SIMPLE" : "XTENSION"))
      return bad_fits(where, fmt::format("no HDU begins at byte {}", at));
    GALATEA_ASSIGN(const int64_t bytes, data_bytes(header));
    if (bytes > file.size() - header.end())
      return bad_fits(where,
                      fmt::format("its data, {} bytes from byte {} on, are cut off", bytes, header.end()));
    if (number < hdu) {
      const int64_t blocks = bytes / kFitsBlock + (bytes % kFitsBlock != 0 ? 1 : 0);
      at = std::min(file.size(), header.end() + blocks * kFitsBlock);
      continue;
    }
    const std::string kind = number == 1 ? "IMAGE" : header.text("XTENSION");
    const bool is_compressed = kind == "BINTABLE" && header.flag("ZIMAGE");
    if (kind != "IMAGE" && !is_compressed)
      return bad_fits(where, fmt::format("it is a {}", kind.empty() ? "thing without a name" : kind));
    if (header.flag("GROUPS")) return bad_fits(where, "it holds random groups");
    FitsImage image;
    image.where = where;
    image.offset = header.end();
    const char* prefix = is_compressed ? "Z" : "";
    GALATEA_ASSIGN(image.stored, stored_type(header, fmt::format("{}BITPIX", prefix)));
    GALATEA_ASSIGN(image.shape, extents_by(header, fmt::format("{}NAXIS", prefix)));
    if (image.shape.empty()) return bad_fits(where, "it holds no data");
    if (image.shape.size() > static_cast<size_t>(runtime::kMaxRank))
      return bad_fits(where, fmt::format("it has {} axes", image.shape.size()));
    GALATEA_ASSIGN(image.scale, header.number("BSCALE", 1));
    GALATEA_ASSIGN(image.zero, header.number("BZERO", 0));
    image.dtype = scaled_type(image.stored, image.scale, image.zero);
    if (header.has("BLANK")) {
      GALATEA_ASSIGN(image.blank, header.integer("BLANK"));
    }
    std::optional<int64_t> most = size_of(image.dtype);
    for (const int64_t extent : image.shape)
      most = most ? product(*most, std::max<int64_t>(1, extent)) : std::nullopt;
    const int64_t most_ratio = header.text("ZCMPTYPE") == "PLIO_1" ? kMostOfMask : kMostRatio;
    if (!most || *most / most_ratio > file.size())
      return bad_fits(where, "it would have far more elements than the file has bytes");
    if (is_compressed) {
      GALATEA_ASSIGN(image.tiles, find_tiles(header, image, bytes));
    }
    return image;
  }
  return make_error(ErrorKind::kUser, "G0801", fmt::format("{} has no HDU {}", file.name(), hdu),
                    "hdu_indices= counts from 1, the primary one");
}

void convert_fits_elements(const FitsImage& image, const uint8_t* from, int64_t count, uint8_t* to) {
  switch (image.stored) {
    case DType::kU8:
      return convert_from<uint8_t>(image, from, count, to);
    case DType::kI16:
      return convert_from<int16_t>(image, from, count, to);
    case DType::kI32:
      return convert_from<int32_t>(image, from, count, to);
    case DType::kI64:
      return convert_from<int64_t>(image, from, count, to);
    case DType::kF32:
      return convert_from<float>(image, from, count, to);
    default:
      return convert_from<double>(image, from, count, to);
  }
}

Status read_fits_image(const ByteSource& file, const FitsImage& image, uint8_t* to) {
  if (std::ranges::find(image.shape, 0) != image.shape.end()) return {};
  if (image.tiles) return read_fits_tiles(file, image, to);
  int64_t count = 1;
  for (const int64_t extent : image.shape) count *= extent;
  constexpr int64_t kAtOnce = 1 << 14;  // elements: what is read stays in the core's cache
  std::vector<uint8_t> stored(static_cast<size_t>(std::min(kAtOnce, count) * size_of(image.stored)));
  for (int64_t at = 0; at < count; at += kAtOnce) {
    const int64_t now = std::min(kAtOnce, count - at);
    const std::span<uint8_t> bytes(stored.data(), static_cast<size_t>(now * size_of(image.stored)));
    GALATEA_TRY(file.read(image.offset + at * size_of(image.stored), bytes));
    convert_fits_elements(image, bytes.data(), now, to + at * size_of(image.dtype));
  }
  return {};
}

}  // namespace galatea::native
