// A small bitmap font for labels on pictures: printable ASCII, 5 by 7 in a cell of 6 by 9.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace galatea::tools {

inline constexpr int kGlyphWidth = 5, kGlyphHeight = 8;  ///< the eighth row holds descenders
inline constexpr int kCellWidth = 6, kCellHeight = 10;

/// Rows from the top; bit 4 is the leftmost pixel. What is not printable ASCII gives a box.
const std::array<uint8_t, kGlyphHeight>& glyph(char c);

}  // namespace galatea::tools
