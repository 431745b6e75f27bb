// Every number of every picture format, set to numbers that no writer would write there: at each byte of a small
// file, in each width and byte order, 0, 1, -1, the largest ones, the size of the file and the place itself.
//
// Held: the file is decoded, or a user's error says something; what is asked of memory is bounded, and nothing is
// written beside the output (raw_window looks).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "stdlib_ops/native/heif_library.h"
#include "tests/native/decoding.h"
#include "tests/native/pictures.h"
#include "tests/native/sample_pictures.h"
#include "tests/support/address_space.h"
#include "tests/support/cases.h"

namespace galatea::native {
namespace {

/// What a field of some bytes is set to.
std::vector<uint64_t> numbers_for(size_t file_size, size_t at, size_t width) {
  const uint64_t ones = width == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * width) - 1;
  return {0,
          1,
          ones,
          ones - 7,
          ones / 2,
          ones / 2 + 1,
          width > 1 ? uint64_t{file_size} : uint64_t{3},
          width > 1 ? uint64_t{at} : uint64_t{16}};
}

File with_number(File file, size_t at, size_t width, uint64_t number, bool is_little) {
  for (size_t byte = 0; byte < width; ++byte)
    file[at + byte] = static_cast<uint8_t>(number >> 8 * (is_little ? byte : width - 1 - byte));
  return file;
}

void look(const File& file) {
  const auto header = read_header(file);
  if (!header) {
    EXPECT_EQ(header.error().kind, ErrorKind::kUser) << header.error().message();
    EXPECT_FALSE(header.error().message().empty());
    return;
  }
  // A forged size is tried on its last pixel.
  const Window all = whole(*header);
  const bool is_small = all.height() * all.width() <= 1 << 12;
  const auto decoded = raw_window(file, {}, is_small ? all : Window{all.y1 - 1, all.x1 - 1, all.y1, all.x1});
  if (decoded) return;
  EXPECT_EQ(decoded.error().kind, ErrorKind::kUser) << decoded.error().message();
  EXPECT_FALSE(decoded.error().message().empty());
}

/// A run takes every so manieth of all numbers, of which the test's scale says how many.
void sweep(const Sample& sample) {
  ASSERT_TRUE(decode(sample.file)) << sample.name;
  const testing::AddressSpace limit(uint64_t{512} << 20);
  const int64_t step = 101 - testing::scale();
  int64_t number = static_cast<int64_t>(sample.file.size()) % step;
  for (size_t at = 0; at < sample.file.size(); ++at)
    for (const size_t width : {1, 2, 4, 8}) {
      if (at + width > sample.file.size()) continue;
      for (const uint64_t value : numbers_for(sample.file.size(), at, width))
        for (const bool is_little : {false, true}) {
          if (++number % step != 0 || (width == 1 && is_little)) continue;
          SCOPED_TRACE(fmt::format("{}: {} bytes at {} = {}, {} endian", sample.name, width, at, value,
                                   is_little ? "little" : "big"));
          look(with_number(sample.file, at, width, value, is_little));
          if (::testing::Test::HasFailure()) return;
        }
    }
}

TEST(HostilePictures, OfTheFormatsThatAreAlwaysThere) {
  for (const Sample& sample : samples()) {
    sweep(sample);
    if (HasFailure()) return;
  }
}

TEST(HostilePictures, OfAvifAndHeif) {
  if (const auto library = HeifLibrary::shared(); !library)
    GTEST_SKIP() << "SKIPPED: " << library.error().message();
  for (const char* name : {"grey.avif", "rgb.avif", "alpha.avif", "rgb.heic", "turned.heic"}) {
    sweep({name, read_picture(name)});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace galatea::native
