// The contact sheet, its font, and the progress line.
#include "tools/contact_sheet.h"

#include <algorithm>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "tools/font.h"
#include "tools/progress.h"

namespace galatea::tools {
namespace {

TEST(Font, EveryGlyphIsDrawnAndDiffers) {
  std::set<std::array<uint8_t, kGlyphHeight>> seen;
  for (char c = ' '; c <= '~'; ++c) EXPECT_TRUE(seen.insert(glyph(c)).second) << c;
  for (uint8_t row : glyph(' ')) EXPECT_EQ(row, 0);
  EXPECT_EQ(glyph('\xE5'), glyph('\n'));
  EXPECT_EQ(glyph('L')[6], 0x1F);
}

TEST(Fit, AveragesWhenShrinkingAndRepeatsWhenEnlarging) {
  Pixels two{2, 2, 1, {0, 100, 200, 101}};
  Pixels one = fit(two, 1);
  EXPECT_EQ(one.width, 1);
  EXPECT_EQ(one.bytes, std::vector<uint8_t>{100});
  Pixels six = fit(two, 7);
  EXPECT_EQ(six.width, 6);
  EXPECT_EQ(six.height, 6);
  EXPECT_EQ(six.bytes[2], 0);
  EXPECT_EQ(six.bytes[3], 100);
  EXPECT_EQ(six.bytes[35], 101);
  Pixels flat = fit({1000, 1, 1, std::vector<uint8_t>(1000, 7)}, 10);
  EXPECT_EQ(flat.width, 10);
  EXPECT_EQ(flat.height, 1);
}

/// A box from the middle to the lower right corner of a black picture, which is enlarged to 40 x 40; its outline
/// is two pixels, a point is three with a rim. What lies outside, or is no number, is not drawn.
TEST(ContactSheet, MarksLieOnPictures) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto colored = [](std::vector<SheetMark> marks) {
    ContactSheet sheet;
    sheet.column_labels = {"image"};
    SheetCell cell;
    cell.picture = Pixels{2, 2, 3, std::vector<uint8_t>(12, 0)};
    cell.marks = std::move(marks);
    sheet.rows = {{cell}};
    const Pixels drawn = draw(sheet, 40);
    std::set<std::pair<int, int>> places;  // x, y
    for (int i = 0; i < drawn.width * drawn.height; ++i) {
      const uint8_t* p = &drawn.bytes[static_cast<size_t>(i) * 3];
      // The only saturated colours are those of marks.
      if (std::max({p[0], p[1], p[2]}) - std::min({p[0], p[1], p[2]}) > 100)
        places.emplace(i % drawn.width, i / drawn.width);
    }
    return places;
  };
  const auto box = colored({{.x0 = 0.5, .y0 = 0.5, .x1 = 1, .y1 = 1}});
  EXPECT_EQ(box.size(), 20U * 20 - 16 * 16);
  EXPECT_EQ(box.rbegin()->first - box.begin()->first, 19);
  const auto left_half = colored({{.x0 = 0, .y0 = 0, .x1 = 0.5, .y1 = 1}});
  EXPECT_EQ(left_half.rbegin()->first, box.begin()->first - 1);
  EXPECT_EQ(colored({{.x0 = -3, .y0 = -3, .x1 = 9, .y1 = 9}}).size(), 40U * 40 - 36 * 36);
  EXPECT_EQ(colored({{.x0 = 0.5, .y0 = 0.5, .is_point = true}}).size(), 9U);
  EXPECT_TRUE(colored({{.x0 = 1.5, .y0 = 0.5, .is_point = true}}).empty());
  EXPECT_TRUE(colored({{.x0 = nan, .y0 = 0, .x1 = 1, .y1 = 1}}).empty());
  EXPECT_GT(colored({{.x0 = 0.5, .y0 = 0.5, .x1 = 1, .y1 = 1, .name = "7"}}).size(), box.size());
}

TEST(ContactSheet, PicturesStandInTheirCells) {
  ContactSheet sheet;
  sheet.column_labels = {"image", "label"};
  sheet.row_labels = {"sample 0", "sample 1"};
  for (uint8_t red : {200, 100}) {
    SheetCell picture, words;
    picture.picture = Pixels{2, 2, 3, {red, 0, 0, red, 0, 0, red, 0, 0, red, 0, 0}};
    words.text = "3";
    sheet.rows.push_back({picture, words});
  }
  Pixels drawn = draw(sheet, 40);
  EXPECT_EQ(drawn.width, 10 + 2 * 50);
  auto count = [&](uint8_t red) {
    int found = 0;
    for (size_t i = 0; i < drawn.bytes.size(); i += 3)
      found += drawn.bytes[i] == red && drawn.bytes[i + 1] == 0 && drawn.bytes[i + 2] == 0;
    return found;
  };
  EXPECT_EQ(count(200), 40 * 40);
  EXPECT_EQ(count(100), 40 * 40);
}

TEST(ContactSheet, LongTextIsCutAndWrapped) {
  ContactSheet sheet;
  sheet.column_labels = {std::string(500, 'x')};
  SheetCell cell;
  cell.text = std::string(5000, '8');
  sheet.rows.push_back({cell});
  Pixels drawn = draw(sheet, 60);
  // Nothing is drawn right of the cell.
  for (int y = 0; y < drawn.height; ++y) {
    for (int x = 70; x < drawn.width; ++x) {
      ASSERT_EQ(
          drawn.bytes[(static_cast<size_t>(y) * static_cast<size_t>(drawn.width) + static_cast<size_t>(x)) *
                      3],
          250);
    }
  }
}

TEST(Progress, LineFitsTheTerminal) {
  EXPECT_EQ(progress_line(50, 100, 5, 80),
            "[====================                    ] 50/100 samples  10/s  0:05 left");
  EXPECT_EQ(progress_line(50, -1, 5, 80), "50 samples  10/s  0:05");
  EXPECT_EQ(progress_line(0, 100, 0, 80).substr(0, 3), "[  ");
  EXPECT_EQ(progress_line(36000, 72000, 36000, 200).substr(42), " 36000/72000 samples  1/s  10:00:00 left");
  for (int columns = 1; columns < 100; ++columns) {
    EXPECT_LT(progress_line(123456, 999999, 17, columns).size(), static_cast<size_t>(columns) + 1) << columns;
    EXPECT_LT(bar_line(0.5, "12/50 trials, 2 running", columns).size(), static_cast<size_t>(columns))
        << columns;
  }
  EXPECT_EQ(bar_line(0.5, "half", 20), "[======      ] half");
  EXPECT_EQ(bar_line(7, "all", 15), "[========] all");
  EXPECT_EQ(bar_line(0.5, "no room", 12), "no room");
}

}  // namespace
}  // namespace galatea::tools
