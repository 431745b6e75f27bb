// Files that are cut off, changed, absurd or mislabelled: an error with words, never a crash, a leak or part
// of a picture.
#include <malloc.h>

#include <cstring>

#include <gtest/gtest.h>

#include "tests/native/decoding.h"
#include "tests/native/sample_pictures.h"
#include "tests/support/cases.h"

namespace galatea::native {
namespace {

TEST(Damage, FilesCutOffGiveAnErrorOrTheTruePixels) {
  for (const Sample& sample : samples()) {
    Picture full = decode(sample.file).value();
    Picture top = crop(full, 0, 0, 3, 5);
    size_t errors = 0;
    for (size_t length = 0; length < sample.file.size(); ++length) {
      File cut(sample.file.begin(), sample.file.begin() + static_cast<ptrdiff_t>(length));
      auto decoded = decode(cut);
      if (decoded) {
        // Only what carries no pixels may be missing; without EXIF the picture may lie on its side. Of a text
        // the last number may have lost digits.
        const bool is_last_number = sample.name == "pnm text" && length + 5 > sample.file.size();
        if (sample.name != "webp exif" && !is_last_number) {
          ASSERT_EQ(difference(*decoded, full), "") << sample.name << " cut to " << length;
        }
      } else {
        ++errors;
        ASSERT_FALSE(decoded.error().message().empty());
        ASSERT_EQ(decoded.error().kind, ErrorKind::kUser);
      }
      auto part = decode(cut, {}, Window{0, 0, 3, 5});
      if (part && sample.name != "webp exif") {
        ASSERT_EQ(difference(*part, top), "") << sample.name << " cut to " << length;
      }
    }
    EXPECT_GE(errors, sample.file.size() * 3 / 4) << sample.name;
  }
}

TEST(Damage, ChangedBitsNeverCrash) {
  Random random(5);
  for (const Sample& sample : samples()) {
    int decoded_anyway = 0, refused = 0;
    for (int round = 0; round < 400; ++round) {
      File file = sample.file;
      for (int flips = 1 + draw(random, 4); flips > 0; --flips) {
        // Half of the changes hit the headers.
        size_t at = random() % (draw(random, 2) ? file.size() : std::min<size_t>(file.size(), 64));
        file[at] ^= static_cast<uint8_t>(1U << draw(random, 8));
      }
      auto header = read_header(file);
      if (!header) {
        ++refused;
        ASSERT_FALSE(header.error().message().empty());
        continue;
      }
      DecodeOptions options{.type = static_cast<ImageType>(draw(random, 5)),
                            .dtype = draw(random, 2) ? DType::kU8 : DType::kU16};
      Window all = whole(*header);
      // A forged size is tried on a small window; decode() checks the memory around it.
      Window window =
          all.height() * all.width() <= 1 << 16 ? all : Window{all.y1 - 1, all.x1 - 1, all.y1, all.x1};
      auto decoded = decode(file, options, window);
      ++(decoded ? decoded_anyway : refused);
      ASSERT_TRUE(decoded || !decoded.error().message().empty());
    }
    EXPECT_GT(refused, 0) << sample.name;
    EXPECT_EQ(refused + decoded_anyway, 400) << sample.name;
  }
}

void set_be(File& file, size_t at, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    file[at + static_cast<size_t>(i)] = static_cast<uint8_t>(value >> 8 * (bytes - 1 - i));
}

TEST(Damage, AbsurdSizesAreRefusedBeforeMemoryIsTaken) {
  Picture rgb = make_picture(19, 22, 3, 6);
  File png = encode_png(rgb);
  set_be(png, 16, 0x7FFFFFFF, 4), set_be(png, 20, 0x7FFFFFFF, 4);
  auto header = read_header(png);
  ASSERT_FALSE(header);
  EXPECT_NE(header.error().message().find("2147483647 x 2147483647"), std::string::npos)
      << header.error().message();

  File empty = encode_png(rgb);
  set_be(empty, 16, 0, 4);
  header = read_header(empty);
  ASSERT_FALSE(header);
  EXPECT_NE(header.error().message().find("empty"), std::string::npos) << header.error().message();

  File bmp = encode_bmp(rgb, {});
  set_be(bmp, 18, 0xFFFFFF7F, 4), set_be(bmp, 22, 0xFFFFFF7F, 4);
  EXPECT_FALSE(read_header(bmp));

  // Within the limit, but not with this little data.
  for (bool interlaced : {false, true}) {
    File large = encode_png(rgb, {.interlaced = interlaced});
    set_be(large, 16, 1 << 14, 4), set_be(large, 20, 1 << 14, 4);
    ASSERT_TRUE(read_header(large));
    TestScratch none(0);
    ImageHeader claimed = read_header(large).value();
    uint8_t pixel[3];
    Status status = decode_window(large, claimed, {0, 0, 1, 1}, {}, none, pixel);
    ASSERT_FALSE(status);
    // libpng may find the wrong checksum first; either way no memory was asked for.
    EXPECT_EQ(status.error().message().find("limit"), std::string::npos) << status.error().message();
  }
}

TEST(Damage, HeadersThatContradictTheDecodersAreRefused) {
  File file = encode_jpeg(make_picture(19, 22, 3, 7), {});
  ImageHeader header = read_header(file).value();
  header.height = 10000;
  std::vector<uint8_t> output(3);
  TestScratch scratch;
  EXPECT_FALSE(decode_window(file, header, {9999, 0, 10000, 1}, {}, scratch, output.data()));
}

TEST(Damage, MislabelledContentIsAnError) {
  Picture rgb = make_picture(19, 22, 3, 8);
  File jpeg = encode_jpeg(rgb, {});
  struct Label {
    const char* magic;
    size_t length;
  };
  for (Label label : {Label{"\x89PNG\r\n\x1A\n", 8}, Label{"BM", 2}, Label{"RIFF1234WEBP", 12}}) {
    File file = jpeg;
    std::memcpy(file.data(), label.magic, label.length);
    EXPECT_FALSE(decode(file)) << label.magic;
  }
  File png = encode_png(rgb);
  std::memcpy(png.data(), "\xFF\xD8\xFF", 3);
  EXPECT_FALSE(decode(png));
  for (const char* text : {"", "B", "BM", "GIF89a, not a picture that is known here", "path 1\npath 2\n",
                           "\xFF\xD8\xFF", "\xFF\xD8\xFF\xD9", "RIFF....WEBP"}) {
    auto decoded = decode(File(text, text + std::strlen(text)));
    ASSERT_FALSE(decoded) << text;
    EXPECT_FALSE(decoded.error().diagnostics.at(0).help.empty()) << text;
  }
}

TEST(Damage, TooManyScansAreRefused) {
  // A progressive file whose first scan is repeated: each costs a pass over all coefficients.
  File file = encode_jpeg(make_picture(19, 22, 1, 9), {.progressive = true});
  auto marker_at = [&](size_t from, uint8_t marker) {
    while (!(file[from] == 0xFF && file[from + 1] == marker)) ++from;
    return static_cast<ptrdiff_t>(from);
  };
  ptrdiff_t scan = marker_at(0, 0xDA), next = marker_at(static_cast<size_t>(scan), 0xC4);
  auto repeated = [&](int times) {
    File many(file.begin(), file.begin() + next);
    for (int i = 0; i < times; ++i) many.insert(many.end(), file.begin() + scan, file.begin() + next);
    many.insert(many.end(), file.begin() + next, file.end());
    return many;
  };
  ASSERT_TRUE(decode(repeated(100)));
  auto decoded = decode(repeated(400));
  ASSERT_FALSE(decoded);
  EXPECT_NE(decoded.error().message().find("scans"), std::string::npos) << decoded.error().message();
}

TEST(Damage, ScratchErrorsPassThrough) {
  for (const Sample& sample : samples()) {
    ImageHeader header = read_header(sample.file).value();
    TestScratch none(0);
    uint8_t pixel[4];
    Status status = decode_window(sample.file, header, {0, 0, 1, 1}, {}, none, pixel);
    ASSERT_FALSE(status) << sample.name;
    EXPECT_NE(status.error().message().find("memory limit"), std::string::npos)
        << sample.name << ": " << status.error().message();
  }
}

TEST(Damage, ErrorsLeakNothing) {
  if (testing::kSanitized) GTEST_SKIP() << "the leak checker of the address sanitizer looks for itself";
  std::vector<Sample> all = samples();
  auto fail_all = [&] {
    for (const Sample& sample : all)
      for (size_t part = 1; part < 8; ++part)
        (void)decode(File(sample.file.begin(),
                          sample.file.begin() + static_cast<ptrdiff_t>(sample.file.size() * part / 8)));
  };
  constexpr int kRounds = 120;
  for (int i = 0; i < 20; ++i) fail_all();
  size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  for (int i = 0; i < kRounds; ++i) fail_all();
  size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
  // A single lost decoder is some hundred bytes, and there were many rounds of each.
  EXPECT_LE(after, before + kRounds * 64);
}

}  // namespace
}  // namespace galatea::native
