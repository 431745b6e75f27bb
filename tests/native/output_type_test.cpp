// What output_type and dtype mean, against formulas in double; and image.peek against what decoding gives.
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "base/scalar_op.h"
#include "stdlib_ops/native/image_functions.h"
#include "tests/native/decoding.h"

namespace galatea::native {
namespace {

double clamp8(double value) { return std::fmin(std::fmax(value, 0.0), 255.0); }

/// One pixel, r g b in 0..255, by ITU-R BT.601.
std::vector<double> formula(ImageType type, double r, double g, double b) {
  switch (type) {
    case ImageType::kGray:
      return {0.299 * r + 0.587 * g + 0.114 * b};
    case ImageType::kYCbCr:
      return {16 + (65.481 * r + 128.553 * g + 24.966 * b) / 255,
              128 + (-37.797 * r - 74.203 * g + 112.0 * b) / 255,
              128 + (112.0 * r - 93.786 * g - 18.214 * b) / 255};
    case ImageType::kBgr:
      return {b, g, r};
    default:
      return {r, g, b};
  }
}

TEST(OutputType, FollowsTheFormulas) {
  Picture picture = make_picture(40, 60, 3, 1);
  for (const File& file : {encode_png(picture), encode_bmp(picture, {}), encode_webp(picture, -1)})
    for (ImageType type : {ImageType::kRgb, ImageType::kBgr, ImageType::kGray, ImageType::kYCbCr}) {
      auto decoded = decode(file, {.type = type});
      ASSERT_TRUE(decoded);
      for (int y = 0; y < 40; ++y)
        for (int x = 0; x < 60; ++x) {
          std::vector<double> expected =
              formula(type, picture.at(y, x, 0), picture.at(y, x, 1), picture.at(y, x, 2));
          ASSERT_EQ(decoded->channels, static_cast<int>(expected.size()));
          // Half a level, and a little for arithmetic in float.
          for (int c = 0; c < decoded->channels; ++c)
            ASSERT_NEAR(decoded->at(y, x, c), clamp8(expected[static_cast<size_t>(c)]), 0.5001);
        }
    }
}

TEST(OutputType, GreySourcesInColour) {
  Picture grey = make_picture(20, 30, 1, 2);
  auto rgb = decode(encode_png(grey), {.type = ImageType::kBgr});
  auto ycbcr = decode(encode_png(grey), {.type = ImageType::kYCbCr});
  ASSERT_TRUE(rgb && ycbcr);
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 30; ++x) {
      for (int c = 0; c < 3; ++c) ASSERT_EQ(rgb->at(y, x, c), grey.at(y, x, 0));
      ASSERT_NEAR(ycbcr->at(y, x, 0), 16 + 219.0 / 255 * grey.at(y, x, 0), 0.5001);
      ASSERT_EQ(ycbcr->at(y, x, 1), 128);
      ASSERT_EQ(ycbcr->at(y, x, 2), 128);
    }
}

TEST(OutputType, JpegToStudioRange) {
  File file = encode_jpeg(make_picture(32, 48, 3, 3), {.h = 2, .v = 2});
  Picture rgb = decode_whole_jpeg(file);
  auto decoded = decode(file, {.type = ImageType::kYCbCr});
  ASSERT_TRUE(decoded);
  for (int y = 0; y < 32; ++y)
    for (int x = 0; x < 48; ++x) {
      auto expected = formula(ImageType::kYCbCr, rgb.at(y, x, 0), rgb.at(y, x, 1), rgb.at(y, x, 2));
      for (int c = 0; c < 3; ++c)
        ASSERT_NEAR(decoded->at(y, x, c), clamp8(expected[static_cast<size_t>(c)]), 0.5001);
    }
}

/// Of other types than bytes: 1/16 and 1/2 of white in place of 16/255 and 128/255, not rounded to bytes first.
/// What DALI 2.4 gives of a PNG with these pixels, times 255.
TEST(OutputType, StudioRangeOfOtherTypesThanBytes) {
  const std::vector<std::array<float, 6>> pixels = {{0, 0, 0, 15.9375F, 127.5F, 127.5F},
                                                    {28, 18, 30, 35.139076F, 131.28836F, 131.03502F},
                                                    {120, 120, 150, 121.9335F, 140.67648F, 125.35718F},
                                                    {255, 255, 255, 234.9375F, 127.5F, 127.5F}};
  Picture picture(1, static_cast<int>(pixels.size()), 3);
  for (size_t k = 0; k < picture.values.size(); ++k)
    picture.values[k] = static_cast<int>(pixels[k / 3][k % 3]);
  const File file = encode_png(picture);
  const auto floats = raw_window(file, {.type = ImageType::kYCbCr, .dtype = DType::kF32});
  const auto words = raw_window(file, {.type = ImageType::kYCbCr, .dtype = DType::kU16});
  ASSERT_TRUE(floats && words);
  for (size_t k = 0; k < picture.values.size(); ++k) {
    const double expected = pixels[k / 3][3 + k % 3];
    EXPECT_NEAR(255 * cell_to_double(DType::kF32, load_cell(DType::kF32, &(*floats)[4 * k])), expected, 1e-4);
    EXPECT_NEAR(static_cast<double>(cell_to_int(DType::kU16, load_cell(DType::kU16, &(*words)[2 * k]))),
                257 * expected, 0.55);
  }
}

/// value / full of the range of `dtype`: integers 0..max, floats 0..1.
void expect_dtype(const File& file, const Picture& source, DType dtype) {
  auto bytes = raw_window(file, {.type = ImageType::kAny, .dtype = dtype});
  ASSERT_TRUE(bytes) << bytes.error().message();
  double full = source.bits == 16 ? 65535.0 : 255.0;
  for (size_t i = 0; i < source.values.size(); ++i) {
    Cell cell = load_cell(dtype, &(*bytes)[i * static_cast<size_t>(size_of(dtype))]);
    if (dtype == DType::kF32) {
      ASSERT_EQ(static_cast<float>(cell_to_double(dtype, cell)), static_cast<float>(source.values[i] / full));
    } else if (dtype == DType::kF16) {
      ASSERT_NEAR(cell_to_double(dtype, cell), source.values[i] / full, 0x1p-11);
    } else {
      ASSERT_EQ(cell_to_int(dtype, cell),
                std::llround(source.values[i] * static_cast<double>(max_int(dtype)) / full))
          << source.values[i];
    }
  }
}

TEST(DTypes, FillTheirRange) {
  for (DType dtype : {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kU32, DType::kI32, DType::kF16,
                      DType::kF32}) {
    SCOPED_TRACE(short_name(dtype));
    Picture narrow = make_picture(20, 30, 3, 4);
    expect_dtype(encode_png(narrow), narrow, dtype);
    Picture wide = make_picture(20, 30, 3, 5, 16);
    expect_dtype(encode_png(wide), wide, dtype);
    File jpeg = encode_jpeg(narrow, {});
    expect_dtype(jpeg, decode_whole_jpeg(jpeg), dtype);
  }
}

/// What the runtime gives a native function, as far as these ask for it.
class Call final : public runtime::NativeContext {
 public:
  Call(const runtime::NativeFunction& function, const std::string& config, const File& file) : file_(file) {
    if (function.prepare) state_ = function.prepare(config).value();
    state = state_.get();
    input_.data = file_.data();
    int64_t size = static_cast<int64_t>(file_.size());
    input_.set_dense(DType::kU8, {&size, 1});
    inputs = {&input_, 1};
  }
  Status allocate_output(DType, const std::vector<int64_t>&) override {
    return make_error(ErrorKind::kInternal, "G0000", "not expected");
  }
  Result<uint8_t*> scratch(int64_t bytes) override { return scratch_.bytes(bytes); }
  std::shared_ptr<void> thread_object(const void*,
                                      const std::function<std::shared_ptr<void>()>& make) override {
    return make();
  }
  bool cancelled() const override { return false; }

 private:
  File file_;
  runtime::Tensor input_;
  std::shared_ptr<runtime::NativeState> state_;
  TestScratch scratch_;
};

TEST(Peek, SaysWhatDecodingGives) {
  runtime::NativeFunction peek = image_peek_function();
  std::vector<File> files;
  for (int channels = 1; channels <= 4; ++channels)
    files.push_back(encode_png(make_picture(12, 17, channels, 6), {.orientation = 2 * channels}));
  files.push_back(encode_png(make_picture(12, 17, 3, 6), {.transparency = {1, 2, 3}}));
  files.push_back(
      encode_png(Picture(12, 17, 1), {.palette = true, .colors = {1, 2, 3}, .transparency = {7}}));
  for (int orientation = 0; orientation <= 8; ++orientation)
    files.push_back(encode_jpeg(make_picture(12, 17, 3, 7), {.orientation = orientation}));
  files.push_back(encode_jpeg(make_picture(12, 17, 1, 8), {}));
  files.push_back(encode_jpeg(make_picture(12, 17, 4, 8), {.cmyk = true}));
  files.push_back(encode_webp(make_picture(12, 17, 3, 9), 80));
  files.push_back(encode_webp(make_picture(12, 17, 4, 9), 80));
  files.push_back(encode_bmp(make_picture(12, 17, 3, 9), {.bits = 32}));
  files.push_back(encode_bmp(Picture(12, 17, 1), {.bits = 8, .colors = {9, 9, 9}}));
  files.push_back(encode_bmp(Picture(12, 17, 1), {.bits = 8, .colors = {9, 8, 9}}));
  for (size_t i = 0; i < files.size(); ++i)
    for (int type = 0; type <= 4; ++type)
      for (bool adjust : {true, false}) {
        Call call(peek,
                  "{\"output_type\": " + std::to_string(type) +
                      ", \"adjust_orientation\": " + (adjust ? "true}" : "false}"),
                  files[i]);
        Cell results[5];
        call.scalar_results = results;
        ASSERT_TRUE(peek.call(call));
        auto decoded = decode(files[i], {.type = static_cast<ImageType>(type), .adjust_orientation = adjust});
        ASSERT_TRUE(decoded) << "file " << i << ", type " << type << ": " << decoded.error().message();
        EXPECT_EQ(cell_to_int(DType::kI64, results[0]), decoded->height) << "file " << i;
        EXPECT_EQ(cell_to_int(DType::kI64, results[1]), decoded->width) << "file " << i;
        EXPECT_EQ(cell_to_int(DType::kI64, results[2]), decoded->channels) << "file " << i;
        EXPECT_EQ(decoded->height * decoded->width, 12 * 17) << "file " << i;
        const int64_t eighths = cell_to_int(DType::kI64, results[3]);
        EXPECT_TRUE(eighths == 8 || (eighths == 1 && detect_format(files[i]) == ImageFormat::kJpeg));
        EXPECT_EQ(cell_to_int(DType::kI64, results[4]), 0) << "no low pass";
      }
}

TEST(Orientation, IsWhatTheFileStates) {
  const runtime::NativeFunction function = image_orientation_function();
  const auto stated = [&](const File& file) {
    Call call(function, {}, file);
    Cell result;
    call.scalar_results = {&result, 1};
    EXPECT_TRUE(function.call(call));
    return cell_to_int(DType::kI64, result);
  };
  const Picture picture = make_picture(12, 17, 3, 11);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    EXPECT_EQ(stated(encode_jpeg(picture, {.orientation = orientation})), orientation);
    EXPECT_EQ(stated(encode_png(picture, {.orientation = orientation})), orientation);
    EXPECT_EQ(stated(with_webp_exif(encode_webp(picture, -1), picture, orientation)), orientation);
  }
  EXPECT_EQ(stated(encode_jpeg(picture, {})), 1);
  EXPECT_EQ(stated(encode_jpeg(picture, {.orientation = 9})), 1);
  EXPECT_EQ(stated(encode_bmp(picture, {})), 1);
  Call call(function, {}, File{1, 2, 3});
  Cell result;
  call.scalar_results = {&result, 1};
  EXPECT_FALSE(function.call(call));
}

TEST(DecodeFunction, DecodesTheWindowItIsTold) {
  Picture picture = make_picture(12, 17, 3, 10);
  runtime::NativeFunction function = image_decode_function("image.decode_window");
  Call call(function, R"({"output_type": 1, "dtype": "u16"})", encode_png(picture));
  Cell window[] = {cell_from_int(DType::kI64, 2), cell_from_int(DType::kI64, 3),
                   cell_from_int(DType::kI64, 9), cell_from_int(DType::kI64, 11)};
  call.scalars = window;
  std::vector<uint16_t> pixels(7 * 8 * 3);
  runtime::Tensor output;
  output.data = reinterpret_cast<uint8_t*>(pixels.data());
  call.output = &output;
  ASSERT_TRUE(function.call(call));
  for (int y = 0; y < 7; ++y)
    for (int x = 0; x < 8; ++x)
      for (int c = 0; c < 3; ++c)
        ASSERT_EQ(pixels[static_cast<size_t>((y * 8 + x) * 3 + c)], 257 * picture.at(y + 2, x + 3, 2 - c));
}

}  // namespace
}  // namespace galatea::native
