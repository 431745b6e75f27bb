#include "stdlib_ops/native/video/colour.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "stdlib_ops/native/video/rgb_avx2.h"
#include "stdlib_ops/native/video/stretch.h"

namespace galatea::native::video {
namespace {

constexpr int kPoint = 13;      ///< bits behind the point of a coefficient
constexpr int kSixteenths = 4;  ///< bits behind the point of interpolated chroma
/// Films that do not say count as BT.709 from this height on, as players have it.
constexpr int32_t kRowsOfHd = 720;

struct Coefficients {
  int32_t y = 0, r_cr = 0, b_cb = 0, g_cb = 0, g_cr = 0;
};

Coefficients coefficients_of(Matrix matrix, bool is_full_range) {
  const double kr = matrix == Matrix::kBt709 ? 0.2126 : matrix == Matrix::kBt2020 ? 0.2627 : 0.299;
  const double kb = matrix == Matrix::kBt709 ? 0.0722 : matrix == Matrix::kBt2020 ? 0.0593 : 0.114;
  const double kg = 1 - kr - kb;
  const double chroma = is_full_range ? 1 : 255.0 / 224;
  const auto fixed = [](double value) { return static_cast<int32_t>(std::lround(value * (1 << kPoint))); };
  return {.y = fixed(is_full_range ? 1 : 255.0 / 219),
          .r_cr = fixed(chroma * 2 * (1 - kr)),
          .b_cb = fixed(chroma * 2 * (1 - kb)),
          .g_cb = fixed(chroma * 2 * kb * (1 - kb) / kg),
          .g_cr = fixed(chroma * 2 * kr * (1 - kr) / kg)};
}

/// Where a sample of half resolution stands: between two, nearer to one.
struct Between {
  int64_t near = 0, far = 0;
};
Between between(int64_t at, int64_t samples) {
  const int64_t near = std::min(at / 2, samples - 1);
  const int64_t far = at % 2 == 0 ? near - 1 : near + 1;
  return {near, std::clamp<int64_t>(far, 0, samples - 1)};
}

template <typename Integer>
uint8_t byte_of(Integer value) {
  return static_cast<uint8_t>(std::clamp<Integer>(value, 0, 255));
}

// Loops over a line. What they read and write are lines of different memory, which compilers have to be told.

/// Three lines of a channel each, side by side.
void interleave(const uint8_t* __restrict a, const uint8_t* __restrict b, const uint8_t* __restrict c,
                int64_t count, uint8_t* __restrict to) {
  for (int64_t k = 0; k < count; ++k) {
    to[3 * k] = a[k];
    to[3 * k + 1] = b[k];
    to[3 * k + 2] = c[k];
  }
}

/// The luma of BT.601, rounded half up.
void weigh_rgb(const uint8_t* __restrict r, const uint8_t* __restrict g, const uint8_t* __restrict b,
               int64_t count, uint8_t* __restrict to) {
  constexpr int kBits = 14;
  constexpr int32_t kRed = 4899, kGreen = 9617, kBlue = (1 << kBits) - kRed - kGreen;
  for (int64_t k = 0; k < count; ++k)
    to[k] = static_cast<uint8_t>((r[k] * kRed + g[k] * kGreen + b[k] * kBlue + (1 << (kBits - 1))) >> kBits);
}

/// to = grey + chroma, without the places behind the point. `Sum` holds the sum.
template <typename Sum>
void add_and_clamp(const int32_t* __restrict grey, const int32_t* __restrict chroma, int places,
                   int64_t count, uint8_t* __restrict to) {
  for (int64_t k = 0; k < count; ++k) to[k] = byte_of((Sum{grey[k]} + chroma[k]) >> places);
}

/// to = cb_factor cb + cr_factor cr.
void mix(const int32_t* __restrict cb, int32_t cb_factor, const int32_t* __restrict cr, int32_t cr_factor,
         int64_t count, int32_t* __restrict to) {
  for (int64_t k = 0; k < count; ++k) to[k] = cb_factor * cb[k] + cr_factor * cr[k];
}

template <typename Sample>
void weigh(const Sample* __restrict from, int32_t factor, int32_t offset, int64_t count,
           int32_t* __restrict to) {
  for (int64_t k = 0; k < count; ++k) to[k] = from[k] * factor + offset;
}

/// 3/4 of one line and 1/4 of another, times 4.
template <typename Sample, typename Quarters>
void between_lines(const Sample* __restrict near, const Sample* __restrict far, int64_t count,
                   Quarters* __restrict to) {
  for (int64_t k = 0; k < count; ++k) to[k] = static_cast<Quarters>(near[k] * 3 + far[k]);
}

/// Two samples for each of those of a line that have neighbours.
void between_columns(const int32_t* __restrict line, int64_t count, int32_t offset, int32_t* __restrict to) {
  for (int64_t k = 0; k < count; ++k) {
    to[2 * k] = line[k] * 3 + line[k - 1] - offset;
    to[2 * k + 1] = line[k] * 3 + line[k + 1] - offset;
  }
}

/// Rows of one picture, as integers, for any columns.
template <typename Sample>
class Rows {
 public:
  explicit Rows(const Picture& picture) : picture_(picture) {}

  const Sample* plane_row(int plane, int64_t y) const {
    return reinterpret_cast<const Sample*>(picture_.planes[plane] + y * picture_.strides[plane]);
  }

  /// Columns of the chroma that the columns [x0, x1) of the picture are between.
  std::pair<int64_t, int64_t> chroma_columns(int64_t x0, int64_t x1) const {
    const int64_t first = x0 >> picture_.shift_x, last = (x1 - 1) >> picture_.shift_x;
    return {std::max<int64_t>(first - 1, 0), std::min(last + 2, chroma_width())};
  }
  int32_t middle() const { return 1 << (picture_.bits - 1 + kSixteenths); }

  /// Cb (plane 1) or Cr (2) of a row, at the columns that there are, in quarters.
  template <typename Quarters>
  void chroma(int plane, int64_t y, std::pair<int64_t, int64_t> columns, Quarters* line) const {
    const auto [from, until] = columns;
    if (picture_.shift_y == 0) {
      const Sample* const row = plane_row(plane, y);
      for (int64_t k = from; k < until; ++k) line[k] = static_cast<Quarters>(row[k] * 4);
    } else {
      const Between rows = between(y, (int64_t{picture_.height} + 1) / 2);
      const Sample *const near = plane_row(plane, rows.near), *const far = plane_row(plane, rows.far);
      between_lines(near + from, far + from, until - from, line + from);
    }
  }

  /// A line of chroma, or of sums of it, at every column of the picture: four times as large, less `offset`.
  void spread(const int32_t* line, int64_t x0, int64_t x1, int32_t offset, int32_t* to) const {
    if (picture_.shift_x == 0) {
      for (int64_t x = x0; x < x1; ++x) to[x - x0] = line[x] * 4 - offset;
      return;
    }
    const int64_t width = chroma_width();
    const auto at = [&](int64_t x) {
      const Between columns = between(x, width);
      return line[columns.near] * 3 + line[columns.far] - offset;
    };
    // Pairs whose neighbours are all there, without looking for the edge.
    int64_t x = x0;
    for (; x < x1 && (x % 2 != 0 || x < 2); ++x) to[x - x0] = at(x);
    const int64_t pairs = std::max<int64_t>(std::min(x1 - x, 2 * (width - 1) - x) / 2, 0);
    between_columns(line + x / 2, pairs, offset, to + (x - x0));
    x += 2 * pairs;
    for (; x < x1; ++x) to[x - x0] = at(x);
  }

  int64_t chroma_width() const {
    return picture_.shift_x == 0 ? picture_.width : (int64_t{picture_.width} + 1) / 2;
  }

 private:
  const Picture& picture_;
};

/// Where the lines of a row are put together.
struct Lines {
  Lines(int64_t width, int64_t chroma_width)
      : grey(static_cast<size_t>(width)), chroma(grey.size()), mixed(static_cast<size_t>(chroma_width)) {
    for (auto& line : narrow) line.resize(std::max(grey.size(), mixed.size()));
    for (auto& line : bytes) line.resize(grey.size());
  }
  std::vector<int32_t> grey, chroma;      ///< at the columns of the box
  std::vector<int32_t> mixed, narrow[2];  ///< at those of the chroma: a sum of both, Cb and Cr
  std::vector<uint8_t> bytes[3];
};

/// Samples scaled to 8 bits, rounded half up.
template <typename Sample>
void scale_line(const Sample* from, int64_t count, int bits, uint8_t* to) {
  const int shift = bits - 8, half = shift == 0 ? 0 : 1 << (shift - 1);
  for (int64_t k = 0; k < count; ++k) to[k] = byte_of((from[k] + half) >> shift);
}

#ifdef __x86_64__
/// Films as most are, by write_rgb_row_avx2().
class QuickRgbWriter {
 public:
  static bool can_write(const Picture& picture, const Colours& colours) {
    return picture.kind == Picture::Kind::kYuv && picture.bits == 8 && picture.shift_x == 1 &&
           !is_stretched(picture) && (colours.pixels == Pixels::kRgb || colours.pixels == Pixels::kBgr);
  }

  QuickRgbWriter(const Picture& picture, const Colours& colours, Matrix matrix, const Box& box)
      : picture_(picture), box_(box), rows_(picture) {
    const Coefficients is = coefficients_of(matrix, picture.is_full_range);
    const int32_t black = picture.is_full_range ? 0 : 16 << kSixteenths;
    factors_ = {.y = is.y,
                .r_cr = is.r_cr,
                .b_cb = is.b_cb,
                .g_cb = is.g_cb,
                .g_cr = is.g_cr,
                .offset = (1 << (kPoint + kSixteenths - 1)) - black * is.y,
                .is_bgr = colours.pixels == Pixels::kBgr};
    for (auto& line : chroma_) line.resize(static_cast<size_t>(1 + rows_.chroma_width() + kChromaBehind));
  }

  void row(int64_t y, uint8_t* to) {
    const auto columns = rows_.chroma_columns(box_.x0, box_.x1);
    for (int plane : {1, 2}) {
      int16_t* const line = chroma_[plane - 1].data() + 1;
      rows_.chroma(plane, y, columns, line);
      // Next to the edge stands the edge.
      line[columns.first - 1] = line[columns.first];
      line[columns.second] = line[columns.second - 1];
    }
    write_rgb_row_avx2(rows_.plane_row(0, y), chroma_[0].data() + 1, chroma_[1].data() + 1, box_.x0, box_.x1,
                       picture_.width, factors_, to);
  }

 private:
  const Picture& picture_;
  const Box box_;
  const Rows<uint8_t> rows_;
  RgbFactors factors_;
  std::vector<int16_t> chroma_[2];  ///< from column -1 on
};
#endif

template <typename Sample>
class PixelWriter {
 public:
  PixelWriter(const Picture& picture, const Colours& colours, Matrix matrix, const Box& box)
      : picture_(picture),
        pixels_(colours.pixels),
        box_(box),
        is_(coefficients_of(matrix, picture.is_full_range)),
        rows_(picture),
        lines_(box.x1 - box.x0, rows_.chroma_width()) {
    if (is_stretched(picture)) stretched_.emplace(picture, box.x0, box.x1);
  }

  void row(int64_t y, uint8_t* to) {
    if (picture_.kind == Picture::Kind::kRgb) {
      planes(y, {2, 0, 1});
      if (pixels_ == Pixels::kGrey) {
        weigh_rgb(lines_.bytes[0].data(), lines_.bytes[1].data(), lines_.bytes[2].data(), count(), to);
        return;
      }
    } else if (pixels_ == Pixels::kYcbcr) {
      ycbcr(y);
    } else if (pixels_ == Pixels::kGrey) {
      luma(y, to);
      return;
    } else if (picture_.kind == Picture::Kind::kGrey) {
      luma(y, lines_.bytes[0].data());
      lines_.bytes[1] = lines_.bytes[2] = lines_.bytes[0];
    } else {
      rgb(y);
    }
    const int first = pixels_ == Pixels::kBgr ? 2 : 0;
    interleave(lines_.bytes[first].data(), lines_.bytes[1].data(), lines_.bytes[2 - first].data(), count(),
               to);
  }

 private:
  int64_t count() const { return box_.x1 - box_.x0; }
  /// Behind the point of chroma at every pixel.
  int chroma_places() const { return stretched_ ? kStretchPlaces - (picture_.bits - 8) : kSixteenths; }
  int32_t black() const { return picture_.is_full_range ? 0 : 16 << (picture_.bits - 8); }

  void planes(int64_t y, std::array<int, 3> order) {
    for (size_t k = 0; k < 3; ++k)
      scale_line(rows_.plane_row(order[k], y) + box_.x0, count(), picture_.bits, lines_.bytes[k].data());
  }

  void luma(int64_t y, uint8_t* to) {
    const Sample* const from = rows_.plane_row(0, y) + box_.x0;
    const int places = kPoint + picture_.bits - 8;
    const int32_t offset = (1 << (places - 1)) - black() * is_.y, factor = is_.y;
    for (int64_t k = 0; k < count(); ++k) to[k] = byte_of((from[k] * factor + offset) >> places);
  }

  /// The chroma of a row, as mix_chroma() wants it.
  void take_chroma(int64_t y) {
    for (int plane : {1, 2}) {
      int32_t* const line = lines_.narrow[plane - 1].data();
      if (stretched_) {
        stretched_->row(plane, y, line);
      } else {
        rows_.chroma(plane, y, rows_.chroma_columns(box_.x0, box_.x1), line);
      }
    }
  }

  /// lines_.chroma = cb Cb + cr Cr at every column, around 0. Chroma is multiplied where there is little of it: a
  /// matrix and what lies between samples may change places.
  void mix_chroma(int32_t cb, int32_t cr) {
    const auto mix_columns = [&](int64_t from, int64_t until, std::vector<int32_t>& to) {
      mix(lines_.narrow[0].data() + from, cb, lines_.narrow[1].data() + from, cr, until - from,
          to.data() + from);
    };
    if (stretched_) {
      mix_columns(0, count(), lines_.chroma);
      return;
    }
    const auto [from, until] = rows_.chroma_columns(box_.x0, box_.x1);
    mix_columns(from, until, lines_.mixed);
    rows_.spread(lines_.mixed.data(), box_.x0, box_.x1, (cb + cr) * rows_.middle(), lines_.chroma.data());
  }

  void rgb(int64_t y) {
    take_chroma(y);
    const int places = kPoint + chroma_places() + picture_.bits - 8;
    const int32_t factor = is_.y << chroma_places();
    weigh(rows_.plane_row(0, y) + box_.x0, factor, (1 << (places - 1)) - black() * factor, count(),
          lines_.grey.data());
    const std::pair<int32_t, int32_t> factors[] = {{0, is_.r_cr}, {-is_.g_cb, -is_.g_cr}, {is_.b_cb, 0}};
    for (size_t c = 0; c < 3; ++c) {
      mix_chroma(factors[c].first, factors[c].second);
      uint8_t* const to = lines_.bytes[c].data();
      if (stretched_)
        add_and_clamp<int64_t>(lines_.grey.data(), lines_.chroma.data(), places, count(), to);
      else
        add_and_clamp<int32_t>(lines_.grey.data(), lines_.chroma.data(), places, count(), to);
    }
  }

  /// As they are stored, chroma at every pixel.
  void ycbcr(int64_t y) {
    scale_line(rows_.plane_row(0, y) + box_.x0, count(), picture_.bits, lines_.bytes[0].data());
    if (picture_.kind == Picture::Kind::kGrey) {
      for (int plane : {1, 2}) std::ranges::fill(lines_.bytes[plane], uint8_t{128});
      return;
    }
    take_chroma(y);
    const int places = chroma_places() + picture_.bits - 8;
    const int32_t offset = (128 << places) + (1 << (places - 1));
    for (int plane : {1, 2}) {
      mix_chroma(plane == 1 ? 1 : 0, plane == 2 ? 1 : 0);
      for (int64_t k = 0; k < count(); ++k)
        lines_.bytes[plane][static_cast<size_t>(k)] =
            byte_of((lines_.chroma[static_cast<size_t>(k)] + offset) >> places);
    }
  }

  const Picture& picture_;
  const Pixels pixels_;
  const Box box_;
  const Coefficients is_;
  Rows<Sample> rows_;
  Lines lines_;
  std::optional<StretchedChroma<Sample>> stretched_;  ///< of odd extents
};

template <typename Writer>
void write_rows(const Picture& picture, const Colours& colours, Matrix matrix, const Box& box, uint8_t* to) {
  Writer writer(picture, colours, matrix, box);
  const int64_t bytes = (box.x1 - box.x0) * channels_of(colours.pixels);
  for (int64_t y = box.y0; y < box.y1; ++y, to += bytes) writer.row(y, to);
}

#ifdef __x86_64__
/// The same loops, all of them compiled into this one for vectors of 32 bytes.
template <typename Writer>
[[gnu::target("avx2"), gnu::flatten]] void write_rows_avx2(const Picture& picture, const Colours& colours,
                                                           Matrix matrix, const Box& box, uint8_t* to) {
  write_rows<Writer>(picture, colours, matrix, box, to);
}
#endif

template <typename Sample>
void write_rows_by([[maybe_unused]] Loops loops, const Picture& picture, const Colours& colours,
                   Matrix matrix, const Box& box, uint8_t* to) {
#ifdef __x86_64__
  if (loops == Loops::kOfThisMachine && __builtin_cpu_supports("avx2")) {
    if (QuickRgbWriter::can_write(picture, colours))
      return write_rows_avx2<QuickRgbWriter>(picture, colours, matrix, box, to);
    return write_rows_avx2<PixelWriter<Sample>>(picture, colours, matrix, box, to);
  }
#endif
  write_rows<PixelWriter<Sample>>(picture, colours, matrix, box, to);
}

}  // namespace

Status write_pixels(const Picture& picture, const Colours& colours, const Box& box, const std::string& name,
                    uint8_t* to, Loops loops) {
  Matrix matrix = colours.is_tagged ? picture.matrix : Matrix::kBt601;
  if (matrix == Matrix::kUnknown) matrix = picture.height >= kRowsOfHd ? Matrix::kBt709 : Matrix::kBt601;
  const bool is_rgb = picture.kind == Picture::Kind::kRgb;
  if (matrix == Matrix::kOther && !is_rgb)
    return make_error(
        ErrorKind::kUser, "G0802",
        fmt::format("{} is tagged with a colour matrix other than BT.601, BT.709 and BT.2020", name),
        "leave color_space= out, which takes every film for BT.601, or convert the film");
  if (is_rgb && colours.pixels == Pixels::kYcbcr)
    return make_error(ErrorKind::kUser, "G0802",
                      fmt::format("{} holds RGB, of which no Y, Cb and Cr are stored", name),
                      "decode it to types.RGB and convert with fn.color_space_conversion");
  if (box.y0 >= box.y1 || box.x0 >= box.x1) return {};
  if (picture.bits > 8) {
    write_rows_by<uint16_t>(loops, picture, colours, matrix, box, to);
  } else {
    write_rows_by<uint8_t>(loops, picture, colours, matrix, box, to);
  }
  return {};
}

}  // namespace galatea::native::video
