// A contact sheet: a table of pictures and words with labels, as one picture.
//
// Comes in: cells row by row. Goes out: RGB pixels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/save.h"

namespace galatea::tools {

/// A box on a picture, or a point: all in fractions of the picture.
struct SheetMark {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  int color = 0;     ///< equal numbers are one colour
  std::string name;  ///< at its corner; empty: none
  bool is_point = false;
};

struct SheetCell {
  std::optional<Pixels> picture;  ///< shrunk to fit; small ones are enlarged by whole factors
  std::vector<SheetMark> marks;   ///< over the picture
  std::string text;               ///< shown instead of a picture
  std::string caption;            ///< small, under it: type and shape
};

struct ContactSheet {
  std::vector<std::string> column_labels;
  std::vector<std::string> row_labels;
  std::vector<std::vector<SheetCell>> rows;
};

/// Draws it; `cell_size` is the side of the square that a picture must fit into.
Pixels draw(const ContactSheet& sheet, int cell_size = 208);
/// Averages (shrinking) or repeats (enlarging by a whole factor) so that the picture fits into a square.
Pixels fit(const Pixels& pixels, int size);

}  // namespace galatea::tools
