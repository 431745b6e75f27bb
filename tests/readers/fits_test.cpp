// FITS: images as cfitsio reads them, the library that DALI reads them with (recorded/, by make_arrays.py), and what
// becomes of damaged files.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "stdlib_ops/native/fits.h"
#include "tests/readers/recorded_cases.h"
#include "tests/readers/run_text.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

TEST(Fits, ImagesAreReadAsCfitsioReadsThem) { expect_as_recorded("fits.json", 33); }

TEST(Fits, ElementTypesAreThoseOfDali) { expect_as_recorded("fits_types.json", 20); }

TEST(Fits, EveryHduIsAnOutput) {
  const TextRun run =
      run_text(in_folder("a, b = fn.experimental.readers.fits(files=[\"@/fits/plain.fits\"], "
                         "hdu_indices=[7, 3], dtypes=[types.FLOAT64, types.INT16], ndims=[3, 3])\n"
                         "return a, b"),
               "batch_size=1");
  ASSERT_EQ(run.errors, std::vector<std::string>());
  EXPECT_EQ(run.batch->outputs[0].samples[0].dtype, DType::kF64);
  EXPECT_EQ(run.batch->outputs[1].samples[0].dtype, DType::kI16);
  EXPECT_EQ(run.batch->outputs[1].samples[0].volume(), 24);
}

TEST(Fits, SaysWhatIsWrong) {
  const std::string call = "return fn.experimental.readers.fits(", plain = "files=\"@/fits/plain.fits\", ",
                    fits = "G0460 fn.experimental.readers.fits: ",
                    first = fits + "the first file says what all images are: ";
  EXPECT_EQ(first_error(call + ")"), fits + "nothing to read");
  EXPECT_EQ(first_error(call + plain + "hdu_indices=[0])"), fits + "there is no HDU 0");
  EXPECT_EQ(first_error(call + plain + "hdu_indices=[])"), fits + "hdu_indices is empty");
  EXPECT_EQ(first_error(call + plain + "dtypes=[types.UINT8, types.UINT8])"),
            fits + "dtypes has 2 entries, hdu_indices 1");
  EXPECT_EQ(first_error(call + plain + "hdu_indices=[99])"),
            first + kRecorded + "/fits/plain.fits has 16 HDUs; number 99 is wanted");
  EXPECT_EQ(
      first_error(call + plain + "hdu_indices=[1])"),
      first + kRecorded + "/fits/plain.fits, HDU 1 is no image of FITS that can be read: it holds no data");
  EXPECT_EQ(first_error(call + "files=\"@/fits/other.fits\")"),
            first + kRecorded + "/fits/other.fits, HDU 2: it is compressed as 'HCOMPRESS_1'");
  EXPECT_EQ(
      first_error(call + "files=\"@/fits/other.fits\", hdu_indices=[3])"),
      first + kRecorded + "/fits/other.fits, HDU 3 is no image of FITS that can be read: it is a BINTABLE");
  EXPECT_EQ(
      first_error(call + "files=\"@/u8.npy\", dtypes=[types.UINT8], ndims=[1])"),
      "G0802 " + kRecorded +
          "/u8.npy, HDU 1 is no image of FITS that can be read: its header, from byte 0 on, has no end");
  EXPECT_EQ(
      first_error(call + plain + "hdu_indices=[3], dtypes=[types.UINT8], ndims=[3])"),
      "G0802 " + kRecorded +
          "/fits/plain.fits, HDU 3 is i16[2,3,4]; it must be u8 of 3 axes, as in all files of this reader");
}

// ---- damaged ones

Status read_all(const native::ByteSource& file, int64_t hdu) {
  GALATEA_ASSIGN(const native::FitsImage image, native::find_fits_image(file, hdu));
  int64_t bytes = size_of(image.dtype);
  for (const int64_t extent : image.shape) bytes *= extent;
  EXPECT_LE(bytes, 8192 * file.size()) << "more than any compression makes";
  if (bytes > (1 << 20)) return {};
  std::vector<uint8_t> to(static_cast<size_t>(bytes) + 1);
  return native::read_fits_image(file, image, to.data());
}

/// An HDU behind a primary one without data.
std::string alone(const std::string& name, int64_t hdu) {
  const std::string whole = recorded_bytes("fits/" + name);
  const auto file = native::bytes_in_memory(name, whole);
  // Where each begins: where the one before it ends.
  std::vector<size_t> begins = {0};
  for (size_t at = whole.find("XTENSION"); at != std::string::npos; at = whole.find("XTENSION", at + 1))
    if (at % 2880 == 0) begins.push_back(at);
  begins.push_back(whole.size());
  const auto k = static_cast<size_t>(hdu) - 1;
  return whole.substr(0, begins[1]) + whole.substr(begins[k], begins[k + 1] - begins[k]);
}

TEST(DamagedFits, AnyByte) {
  if (leaves_single_threads()) GTEST_SKIP() << kSingleThread;
  for (const auto& [name, hdu] : std::vector<std::pair<std::string, int64_t>>{
           {"plain.fits", 12}, {"rice.fits", 2}, {"rounded.fits", 4}, {"gzip.fits", 3}, {"masks.fits", 3}}) {
    SCOPED_TRACE(name);
    const std::string whole = alone(name, hdu);
    ASSERT_TRUE(read_all(*native::bytes_in_memory(name, whole), 2));
    damage(
        whole, [](std::shared_ptr<const native::ByteSource> file) { return read_all(*file, 2); },
        std::string_view(" \0", 2));
  }
}

/// Every number of a header, in turn, is another one: no crash, no more memory than the file may hold.
TEST(DamagedFits, AnyNumberOfAHeader) {
  if (leaves_single_threads()) GTEST_SKIP() << kSingleThread;
  int changed = 0, errors = 0;
  for (const char* name : {"plain.fits", "rice.fits", "rounded.fits"}) {
    const std::string whole = alone(name, 2);
    for (size_t card = 2880; card + 80 <= whole.size(); card += 80) {
      if (whole.substr(card + 8, 2) != "= " || whole[card + 29] < '0' || whole[card + 29] > '9') continue;
      for (const char* number :
           {"0", "-1", "1", "2", "3", "1000", "65536", "2147483647", "4294967296", "-2147483648",
            "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1E308", "NAN", "x"}) {
        std::string bytes = whole;
        bytes.replace(card + 10, 20, fmt::format("{:>20}", number));
        const Status status = read_all(*native::bytes_in_memory("made.up", std::move(bytes)), 2);
        ++changed;
        if (status) continue;
        ++errors;
        EXPECT_EQ(status.error().kind, ErrorKind::kUser);
        EXPECT_NE(status.error().message().find("made.up"), std::string::npos);
      }
    }
  }
  EXPECT_GT(changed, 500);
  EXPECT_GT(errors, 300);
}

}  // namespace
}  // namespace galatea::testing
