#include "tools/contact_sheet.h"

#include <algorithm>

#include "tools/font.h"

namespace galatea::tools {
namespace {

struct Rgb {
  uint8_t r, g, b;
};
constexpr Rgb kPaper = {250, 250, 248}, kInk = {30, 34, 40}, kFaint = {120, 124, 130},
              kBack = {232, 233, 235};
constexpr int kGap = 10;

class Canvas {
 public:
  Canvas(int width, int height) : pixels_{width, height, 3, {}} {
    pixels_.bytes.resize(static_cast<size_t>(width) * static_cast<size_t>(height) * 3);
    fill(0, 0, width, height, kPaper);
  }
  void set(int x, int y, Rgb color) {
    if (x < 0 || y < 0 || x >= pixels_.width || y >= pixels_.height) return;
    uint8_t* at =
        &pixels_
             .bytes[(static_cast<size_t>(y) * static_cast<size_t>(pixels_.width) + static_cast<size_t>(x)) *
                    3];
    at[0] = color.r, at[1] = color.g, at[2] = color.b;
  }
  void fill(int x0, int y0, int width, int height, Rgb color) {
    for (int y = y0; y < y0 + height; ++y) {
      for (int x = x0; x < x0 + width; ++x) set(x, y, color);
    }
  }
  /// Text in one line, cut to `width` pixels.
  void text(int x, int y, std::string_view words, int width, Rgb color) {
    const auto room = static_cast<size_t>(std::max(width / kCellWidth, 1));
    std::string shown(words.substr(0, room));
    if (words.size() > room) shown.back() = '~';
    for (char c : shown) {
      const auto& rows = glyph(c);
      for (int row = 0; row < kGlyphHeight; ++row) {
        for (int column = 0; column < kGlyphWidth; ++column) {
          if (rows[static_cast<size_t>(row)] >> (kGlyphWidth - 1 - column) & 1)
            set(x + column, y + row, color);
        }
      }
      x += kCellWidth;
    }
  }
  void picture(int x0, int y0, const Pixels& source) {
    for (int y = 0; y < source.height; ++y) {
      for (int x = 0; x < source.width; ++x) {
        const size_t at =
            (static_cast<size_t>(y) * static_cast<size_t>(source.width) + static_cast<size_t>(x)) *
            static_cast<size_t>(source.channels);
        const uint8_t* p = &source.bytes[at];
        set(x0 + x, y0 + y, source.channels == 1 ? Rgb{p[0], p[0], p[0]} : Rgb{p[0], p[1], p[2]});
      }
    }
  }
  /// An outline of two pixels; the corners are the outermost pixels.
  void outline(int x0, int y0, int x1, int y1, Rgb color) {
    constexpr int kThick = 2;
    fill(x0, y0, x1 - x0 + 1, kThick, color);
    fill(x0, y1 - kThick + 1, x1 - x0 + 1, kThick, color);
    fill(x0, y0, kThick, y1 - y0 + 1, color);
    fill(x1 - kThick + 1, y0, kThick, y1 - y0 + 1, color);
  }
  Pixels take() { return std::move(pixels_); }

 private:
  Pixels pixels_;
};

/// Lines of at most `columns` characters.
std::vector<std::string> wrapped(const std::string& text, size_t columns) {
  std::vector<std::string> lines(1);
  for (char c : text) {
    if (c == '\n') {
      lines.emplace_back();
      continue;
    }
    if (lines.back().size() >= columns) lines.emplace_back();
    lines.back().push_back(c);
  }
  return lines;
}

/// Colours that tell neighbours apart, on dark and on light pictures.
constexpr Rgb kMarks[] = {{255, 80, 60},  {40, 200, 90},  {70, 140, 255}, {255, 200, 30},
                          {230, 90, 230}, {30, 210, 210}, {255, 140, 30}, {160, 120, 255}};

/// Marks of a picture that was drawn at (left, top). What lies outside it is not drawn.
void draw_marks(Canvas& canvas, const std::vector<SheetMark>& marks, int left, int top, const Pixels& shown) {
  const auto place = [](double fraction, int from, int length) {
    const double at = std::clamp(fraction, 0.0, 1.0) * length;
    return from + std::min(static_cast<int>(at), length - 1);
  };
  const auto is_number = [](const SheetMark& m) {
    return m.x0 == m.x0 && m.y0 == m.y0 && m.x1 == m.x1 && m.y1 == m.y1;
  };
  for (const SheetMark& mark : marks) {
    if (!is_number(mark)) continue;
    const Rgb color = kMarks[static_cast<unsigned>(mark.color) % std::size(kMarks)];
    const int x0 = place(mark.x0, left, shown.width), y0 = place(mark.y0, top, shown.height);
    if (mark.is_point) {
      const bool inside = mark.x0 >= 0 && mark.x0 < 1 && mark.y0 >= 0 && mark.y0 < 1;
      if (inside) canvas.fill(x0 - 2, y0 - 2, 5, 5, kInk);
      if (inside) canvas.fill(x0 - 1, y0 - 1, 3, 3, color);
      continue;
    }
    // The last pixel that a box covers: its end is exclusive.
    const int x1 = std::max(place(mark.x1, left, shown.width + 1) - 1, x0);
    const int y1 = std::max(place(mark.y1, top, shown.height + 1) - 1, y0);
    canvas.outline(x0, y0, x1, y1, color);
    if (mark.name.empty()) continue;
    const int width = static_cast<int>(mark.name.size()) * kCellWidth + 2;
    canvas.fill(x0, y0, width, kCellHeight, color);
    canvas.text(x0 + 2, y0 + 2, mark.name, width, kInk);
  }
}

void draw_cell(Canvas& canvas, const SheetCell& cell, int x, int y, int width, int size) {
  canvas.fill(x, y, width, size, kBack);
  if (cell.picture) {
    Pixels fitted = fit(*cell.picture, size);
    const int left = x + (size - fitted.width) / 2, top = y + (size - fitted.height) / 2;
    canvas.picture(left, top, fitted);
    draw_marks(canvas, cell.marks, left, top, fitted);
  } else {
    const std::vector<std::string> lines = wrapped(cell.text, static_cast<size_t>((width - 16) / kCellWidth));
    const int room = (size - 16) / kCellHeight;
    for (int i = 0; i < std::min(static_cast<int>(lines.size()), room); ++i) {
      canvas.text(x + 8, y + 8 + i * kCellHeight, lines[static_cast<size_t>(i)], width - 16, kInk);
    }
  }
  canvas.text(x, y + size + 3, cell.caption, width, kFaint);
}

/// Columns without a picture are narrow, unless they have much to say.
std::vector<int> column_widths(const ContactSheet& sheet, int cell_size) {
  constexpr int kNarrow = 96;
  std::vector<int> widths(std::max<size_t>(sheet.column_labels.size(), 1), std::min(kNarrow, cell_size));
  for (const auto& row : sheet.rows) {
    for (size_t i = 0; i < std::min(row.size(), widths.size()); ++i) {
      if (row[i].picture || row[i].text.size() > 60) widths[i] = cell_size;
    }
  }
  return widths;
}

}  // namespace

Pixels fit(const Pixels& pixels, int size) {
  const int longer = std::max(pixels.width, pixels.height);
  const int factor = std::max(size / longer, 1);
  Pixels out{pixels.width * factor, pixels.height * factor, pixels.channels, {}};
  if (longer > size) {
    out.width = std::max<int>(1, static_cast<int>(int64_t{pixels.width} * size / longer));
    out.height = std::max<int>(1, static_cast<int>(int64_t{pixels.height} * size / longer));
  }
  const auto channels = static_cast<size_t>(pixels.channels);
  for (int y = 0; y < out.height; ++y) {
    // The source rows and columns that a pixel covers; at least one.
    const int64_t y0 = int64_t{y} * pixels.height / out.height;
    const int64_t y1 = std::max(y0 + 1, int64_t{y + 1} * pixels.height / out.height);
    for (int x = 0; x < out.width; ++x) {
      const int64_t x0 = int64_t{x} * pixels.width / out.width;
      const int64_t x1 = std::max(x0 + 1, int64_t{x + 1} * pixels.width / out.width);
      for (size_t c = 0; c < channels; ++c) {
        int64_t sum = 0;
        for (int64_t sy = y0; sy < y1; ++sy) {
          for (int64_t sx = x0; sx < x1; ++sx)
            sum += pixels.bytes[static_cast<size_t>(sy * pixels.width + sx) * channels + c];
        }
        const int64_t count = (y1 - y0) * (x1 - x0);
        out.bytes.push_back(static_cast<uint8_t>((sum + count / 2) / count));
      }
    }
  }
  return out;
}

Pixels draw(const ContactSheet& sheet, int cell_size) {
  const std::vector<int> widths = column_widths(sheet, cell_size);
  std::vector<int> left = {kGap};
  for (int width : widths) left.push_back(left.back() + width + kGap);
  const int rows = static_cast<int>(sheet.rows.size());
  const int row_height = kCellHeight + 4 + cell_size + kCellHeight + kGap;  // row label, cell, caption
  const int header = kGap + kCellHeight + 4;
  Canvas canvas(left.back(), header + rows * row_height + kGap);
  for (size_t i = 0; i < sheet.column_labels.size(); ++i) {
    canvas.text(left[i], kGap, sheet.column_labels[i], widths[i], kInk);
  }
  for (int row = 0; row < rows; ++row) {
    const int y = header + row * row_height;
    const auto& cells = sheet.rows[static_cast<size_t>(row)];
    if (static_cast<size_t>(row) < sheet.row_labels.size()) {
      canvas.text(kGap, y + 2, sheet.row_labels[static_cast<size_t>(row)], left.back() - 2 * kGap, kFaint);
    }
    for (size_t i = 0; i < std::min(cells.size(), widths.size()); ++i) {
      draw_cell(canvas, cells[i], left[i], y + kCellHeight + 4, widths[i], cell_size);
    }
  }
  return canvas.take();
}

}  // namespace galatea::tools
