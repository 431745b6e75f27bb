// Rows that are left out above a window: what remains is what the library decodes there from the whole file.
#include "stdlib_ops/native/jpeg_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/native/decoding.h"

namespace galatea::native {
namespace {

/// What is left of a picture, with the made-up row on top; nothing where no rows could be left out.
std::optional<Picture> decode_without(const File& file, int rows) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  errors.emit_message = [](j_common_ptr, int) {};
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file.data(), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&info, TRUE);
  JpegSplice splice;
  const unsigned height = info.image_height;
  if (!leave_rows_out(info, rows, file.data() + file.size(), splice)) {
    EXPECT_EQ(info.image_height, height);
    EXPECT_EQ(info.client_data, nullptr);
    jpeg_destroy_decompress(&info);
    return std::nullopt;
  }
  info.out_color_space = info.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&info);
  Picture out(static_cast<int>(info.output_height), static_cast<int>(info.output_width),
              info.output_components);
  std::vector<uint8_t> row(static_cast<size_t>(out.width * out.channels));
  for (int y = 0; y < out.height; ++y) {
    JSAMPROW rows_out[] = {row.data()};
    jpeg_read_scanlines(&info, rows_out, 1);
    for (size_t i = 0; i < row.size(); ++i) out.values[out.index(y, 0, 0) + i] = row[i];
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return out;
}

struct Case {
  std::string name;
  Picture picture;
  JpegSettings settings;
};

std::vector<Case> cases() {
  std::vector<Case> out;
  for (auto [h, v] : {std::pair{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {4, 2}})
    for (int quality : {5, 60, 100})
      for (bool standard : {false, true})
        out.push_back({fmt::format("{}{} quality {}{}", h, v, quality, standard ? ", standard tables" : ""),
                       make_picture(211, 333, 3, 21),
                       {.h = h, .v = v, .quality = quality, .standard_tables = standard}});
  out.push_back({"grey", make_picture(200, 500, 1, 22), {}});
  out.push_back({"stored as RGB", make_picture(200, 350, 3, 23), {.rgb_space = true}});
  // One large difference and many small ones: the table cannot say every predictor at once.
  Picture slope(400, 264, 1);
  for (int y = 0; y < slope.height; ++y)
    for (int x = 0; x < slope.width; ++x) slope.at(y, x, 0) = (y / 8 * 4 + x / 8) % 200 / 2;
  out.push_back({"slope", slope, {.quality = 90}});
  return out;
}

TEST(JpegRows, WhatRemainsIsAsTheWholeHasIt) {
  int refused = 0, taken = 0;
  for (const Case& c : cases()) {
    const File file = encode_jpeg(c.picture, c.settings);
    const Picture full = decode_whole_jpeg(file, c.picture.channels == 1);
    const int mcu_height = 8 * c.settings.v;
    for (int rows = 1; rows < c.picture.height / mcu_height; rows += 1 + rows % 4) {
      const auto rest = decode_without(file, rows);
      // A table made for the picture may lack "no difference".
      if (!rest && !c.settings.standard_tables) {
        ++refused;
        continue;
      }
      ++taken;
      ASSERT_TRUE(rest) << c.name << ": " << rows;
      ASSERT_EQ(rest->height, full.height - (rows - 1) * mcu_height) << c.name;
      // Below the made-up row; samples between rows know the row above.
      const int skipped = mcu_height + (c.settings.v > 1 ? mcu_height : 0);
      const int first = (rows - 1) * mcu_height + skipped;
      if (first >= full.height) continue;
      EXPECT_EQ(difference(crop(*rest, skipped, 0, rest->height, rest->width),
                           crop(full, first, 0, full.height, full.width)),
                "")
          << c.name << ": " << rows;
    }
  }
  EXPECT_GT(taken, 2 * refused);
}

TEST(JpegRows, WhatIsUnusualIsLeftToTheLibrary) {
  const Picture picture = make_picture(120, 90, 3, 24);
  EXPECT_TRUE(decode_without(encode_jpeg(picture, {}), 5));
  for (const JpegSettings& settings :
       {JpegSettings{.progressive = true}, {.arithmetic = true}, {.restart_rows = 1}})
    EXPECT_FALSE(decode_without(encode_jpeg(picture, settings), 5));
  // One colour whose samples are said to be subsampled: its rows of blocks are not rows of MCUs.
  EXPECT_FALSE(decode_without(encode_jpeg(make_picture(120, 90, 1, 24), {.h = 2, .v = 2}), 3));
  // Every block differs from the one before it, so that no code says "no difference".
  Picture board(64, 72, 1);
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 72; ++x) board.at(y, x, 0) = (x / 8 + y / 8) % 2 ? 240 : 10;
  EXPECT_FALSE(decode_without(encode_jpeg(board, {}), 3));
  // Data that ends, or is interrupted, above.
  File file = encode_jpeg(picture, {});
  File cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(file.size() / 2));
  EXPECT_FALSE(decode_without(cut, 12));
  file[file.size() / 2] = 0xFF, file[file.size() / 2 + 1] = 0xD9;
  EXPECT_FALSE(decode_without(file, 12));
}

/// How many rows a window is worth.
TEST(JpegRows, FewRowsAreNotWorthIt) {
  const File file = encode_jpeg(make_picture(400, 240, 3, 25), {.h = 2, .v = 2});
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file.data(), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&info, TRUE);
  EXPECT_EQ(rows_above(info, 0, 8), 0);
  EXPECT_EQ(rows_above(info, 40, 8), 0);
  EXPECT_EQ(rows_above(info, 207, 8), 11);  // one row of samples is looked at above the window's own, 12
  EXPECT_EQ(rows_above(info, 208, 8), 12);
  EXPECT_EQ(rows_above(info, 104, 4), 12);
  jpeg_destroy_decompress(&info);
}

TEST(JpegRows, WindowsOfLargePicturesAreCropsOfTheWhole) {
  Random random(26);
  for (const Case& c : cases()) {
    const File file = encode_jpeg(c.picture, c.settings);
    const Picture full = decode_whole_jpeg(file, c.picture.channels == 1);
    for (int i = 0; i < 25; ++i) {
      const int y0 = draw(random, full.height), x0 = draw(random, full.width);
      const Window w{y0, x0, y0 + 1 + draw(random, full.height - y0), x0 + 1 + draw(random, full.width - x0)};
      auto decoded = decode(file, {.type = ImageType::kAny}, w);
      ASSERT_TRUE(decoded) << c.name << ": " << decoded.error().message();
      ASSERT_EQ(difference(*decoded, crop(full, static_cast<int>(w.y0), static_cast<int>(w.x0),
                                          static_cast<int>(w.y1), static_cast<int>(w.x1))),
                "")
          << c.name << " [" << w.y0 << ", " << w.y1 << ") x [" << w.x0 << ", " << w.x1 << ")";
    }
  }
}

/// Where the whole file decodes in spite of what was done to it, a window is its crop.
TEST(JpegRows, DamagedDataIsDecodedAsTheLibraryDoes) {
  Random random(27);
  const File files[] = {encode_jpeg(make_picture(240, 333, 3, 28), {.quality = 40}),
                        encode_jpeg(make_picture(240, 333, 3, 28), {.v = 2, .quality = 40})};
  int decoded_anyway = 0, left_out = 0;
  for (int round = 0; round < 300; ++round) {
    File file = files[round % 2];
    for (int flips = 1 + draw(random, 2); flips > 0; --flips)
      file[file.size() / 5 + random() % (file.size() * 4 / 5)] ^= static_cast<uint8_t>(1U << draw(random, 8));
    auto full = decode(file);
    if (!full) continue;
    ++decoded_anyway;
    if (decode_without(file, 8)) ++left_out;
    const Window w{160 + draw(random, 40), draw(random, 60), 201 + draw(random, 39), 61 + draw(random, 80)};
    auto part = decode(file, {}, w);
    ASSERT_TRUE(part) << part.error().message();
    ASSERT_EQ(difference(*part, crop(*full, static_cast<int>(w.y0), static_cast<int>(w.x0),
                                     static_cast<int>(w.y1), static_cast<int>(w.x1))),
              "")
        << round;
  }
  EXPECT_GT(decoded_anyway, 100);
  EXPECT_GT(left_out, 30);
}

}  // namespace
}  // namespace galatea::native
