// Files that `run --save` writes, read back with other means than they were written with.
#include "tools/save.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>

#include <gtest/gtest.h>
#include <jpeglib.h>
#include <png.h>

#include "base/scalar_op.h"
#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/sound/sound_file.h"
#include "tests/support/own_folder.h"

namespace galatea::tools {
namespace {

/// A tensor over memory that the test owns.
template <typename T>
runtime::Tensor tensor_of(std::vector<T>& values, DType dtype, std::vector<int64_t> extents) {
  runtime::Tensor tensor;
  tensor.data = reinterpret_cast<uint8_t*>(values.data());
  tensor.dtype = dtype;
  tensor.ndim = static_cast<int>(extents.size());
  int64_t stride = 1;
  for (int d = tensor.ndim - 1; d >= 0; --d) {
    tensor.extents[d] = extents[static_cast<size_t>(d)];
    tensor.strides[d] = stride;
    stride *= tensor.extents[d];
  }
  return tensor;
}

TEST(Npy, HeaderAndElements) {
  std::vector<float> values = {0.5f, -1.0f, 2.0f, 3.0f, 4.0f, 5.0f};
  auto bytes = to_npy(tensor_of(values, DType::kF32, {2, 3}));
  ASSERT_EQ(bytes.size(), 128u + 24u);
  EXPECT_EQ(std::memcmp(bytes.data(), "\x93NUMPY\x01\x00\x76\x00", 10), 0);
  std::string header(bytes.begin() + 10, bytes.begin() + 128);
  EXPECT_EQ(header.substr(0, header.find('}') + 1),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(header.back(), '\n');
  EXPECT_EQ(std::memcmp(&bytes[128], values.data(), 24), 0);
}

TEST(Wav, IsWhatLibsndfileReads) {
  if (const auto library = native::SoundLibrary::shared(); !library)
    GTEST_SKIP() << library.error().message();
  std::vector<float> floats = {0.5F, -2.0F, 0.25F, 1.0F, 0.0F, -0.125F};
  std::vector<int16_t> shorts = {-32768, 0, 7, 32767};
  const auto open = [](const std::optional<std::vector<uint8_t>>& bytes) {
    auto file = native::SoundFile::open(
        native::bytes_in_memory("x.wav", std::string(bytes.value().begin(), bytes.value().end())));
    EXPECT_TRUE(file);
    return std::move(*file);
  };
  const auto stereo = open(to_wav(tensor_of(floats, DType::kF32, {3, 2}), {}, 22050));
  EXPECT_EQ(stereo->channels(), 2);
  EXPECT_EQ(stereo->rate(), 22050);
  std::vector<float> read(6);
  ASSERT_TRUE(stereo->read(0, 3, DType::kF32, read.data()));
  EXPECT_EQ(read, floats);
  const auto mono = open(to_wav(tensor_of(shorts, DType::kI16, {4}), {}, 8000));
  std::vector<int16_t> again(4);
  ASSERT_TRUE(mono->read(0, 4, DType::kI16, again.data()));
  EXPECT_EQ(again, shorts);
}

TEST(Wav, IsOfSoundAlone) {
  std::vector<float> values(600);
  EXPECT_FALSE(to_wav(tensor_of(values, DType::kF32, {10, 20, 3}), {}, 8000));
  EXPECT_FALSE(to_wav(tensor_of(values, DType::kF32, {2, 300}), {}, 8000));
  EXPECT_FALSE(to_wav(tensor_of(values, DType::kF32, {20, 30}), Layout("HW"), 8000));
  EXPECT_FALSE(to_wav(tensor_of(values, DType::kU8, {600}), {}, 8000));
  EXPECT_FALSE(to_wav(tensor_of(values, DType::kF32, {}), {}, 8000));
}

TEST(Npy, ShapesOfFewDimensionsAndOtherTypes) {
  std::vector<uint16_t> values = {1, 2, 3};
  auto text = [](const std::vector<uint8_t>& bytes) { return std::string(bytes.begin(), bytes.end()); };
  EXPECT_NE(text(to_npy(tensor_of(values, DType::kU16, {3})))
                .find("'<u2', 'fortran_order': False, 'shape': (3,), }"),
            std::string::npos);
  EXPECT_NE(
      text(to_npy(tensor_of(values, DType::kF16, {}))).find("'<f2', 'fortran_order': False, 'shape': (), }"),
      std::string::npos);
  std::vector<uint8_t> flags = {1, 0};
  EXPECT_NE(text(to_npy(tensor_of(flags, DType::kBool, {2, 1}))).find("'|b1'"), std::string::npos);
  EXPECT_NE(text(to_npy(tensor_of(flags, DType::kU8, {2, 0}))).find("(2, 0)"), std::string::npos);
}

TEST(Npy, StridedViewsAreWrittenInOrder) {
  std::vector<uint8_t> values = {0, 1, 2, 3, 4, 5};
  runtime::Tensor mirrored = tensor_of(values, DType::kU8, {2, 3});
  mirrored.data += 2;
  mirrored.strides[1] = -1;
  auto bytes = to_npy(mirrored);
  EXPECT_EQ(std::vector<uint8_t>(bytes.end() - 6, bytes.end()), (std::vector<uint8_t>{2, 1, 0, 5, 4, 3}));
}

std::vector<uint8_t> ramp(int count) {
  std::vector<uint8_t> values(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) values[static_cast<size_t>(i)] = static_cast<uint8_t>(i * 7);
  return values;
}

TEST(Pixels, LayoutsGiveTheSamePicture) {
  std::vector<uint8_t> interleaved = ramp(4 * 5 * 3), planar(60);
  for (size_t p = 0; p < 20; ++p) {
    for (size_t c = 0; c < 3; ++c) planar[c * 20 + p] = interleaved[p * 3 + c];
  }
  auto hwc = to_pixels(tensor_of(interleaved, DType::kU8, {4, 5, 3}), "HWC", false);
  auto chw = to_pixels(tensor_of(planar, DType::kU8, {3, 4, 5}), "CHW", false);
  ASSERT_TRUE(hwc && chw);
  EXPECT_EQ(hwc->width, 5);
  EXPECT_EQ(hwc->height, 4);
  EXPECT_EQ(hwc->bytes, interleaved);
  EXPECT_EQ(chw->bytes, interleaved);
}

TEST(Pixels, OnlyPicturesArePictures) {
  std::vector<uint8_t> bytes = ramp(60);
  EXPECT_FALSE(to_pixels(tensor_of(bytes, DType::kU8, {60}), "", false));
  EXPECT_FALSE(to_pixels(tensor_of(bytes, DType::kU8, {4, 5, 2}), "HWC", false));
  EXPECT_FALSE(to_pixels(tensor_of(bytes, DType::kU8, {0, 5, 3}), "HWC", false));
  std::vector<float> floats = {-1, 0, 1, 3};
  EXPECT_FALSE(to_pixels(tensor_of(floats, DType::kF32, {2, 2}), "HW", false));
  auto stretched = to_pixels(tensor_of(floats, DType::kF32, {2, 2}), "HW", true);
  ASSERT_TRUE(stretched);
  EXPECT_EQ(stretched->bytes, (std::vector<uint8_t>{0, 64, 128, 255}));
}

TEST(Png, ReadsBackExactly) {
  Pixels pixels{5, 4, 3, ramp(60)};
  auto bytes = to_png(pixels);
  ASSERT_TRUE(bytes);
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  ASSERT_TRUE(png_image_begin_read_from_memory(&image, bytes->data(), bytes->size()));
  image.format = PNG_FORMAT_RGB;
  ASSERT_EQ(image.width, 5u);
  ASSERT_EQ(image.height, 4u);
  std::vector<uint8_t> read(60);
  ASSERT_TRUE(png_image_finish_read(&image, nullptr, read.data(), 0, nullptr));
  EXPECT_EQ(read, pixels.bytes);
}

TEST(Jpg, ReadsBackNearly) {
  for (int channels : {1, 3}) {
    Pixels pixels{16, 8, channels, std::vector<uint8_t>(static_cast<size_t>(16 * 8 * channels), 90)};
    auto bytes = to_jpg(pixels);
    ASSERT_TRUE(bytes);
    jpeg_decompress_struct decoder;
    jpeg_error_mgr errors;
    decoder.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&decoder);
    jpeg_mem_src(&decoder, bytes->data(), bytes->size());
    ASSERT_EQ(jpeg_read_header(&decoder, TRUE), JPEG_HEADER_OK);
    jpeg_start_decompress(&decoder);
    EXPECT_EQ(decoder.output_width, 16u);
    EXPECT_EQ(decoder.output_height, 8u);
    EXPECT_EQ(decoder.output_components, channels);
    std::vector<uint8_t> row(static_cast<size_t>(16 * channels));
    JSAMPROW at = row.data();
    jpeg_read_scanlines(&decoder, &at, 1);
    EXPECT_NEAR(row[0], 90, 2);
    jpeg_abort_decompress(&decoder);
    jpeg_destroy_decompress(&decoder);
  }
}

TEST(WriteFile, WritesWholeFilesAndSaysWhyNot) {
  const std::filesystem::path folder = galatea::testing::make_own_folder("galatea_save");
  ASSERT_TRUE(make_folder(folder / "a/b"));
  ASSERT_TRUE(write_file(folder / "a/b/x.bin", {1, 2, 3}));
  EXPECT_EQ(std::filesystem::file_size(folder / "a/b/x.bin"), 3u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "a/b"), {}), 1);
  auto missing = write_file(folder / "none/x.bin", {1});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kUser);
  EXPECT_NE(missing.error().message().find("none/x.bin"), std::string::npos);
  auto under_file = make_folder(folder / "a/b/x.bin/c");
  ASSERT_FALSE(under_file);
  EXPECT_FALSE(write_file(folder / "a", {1}));
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a/b"));
  std::filesystem::remove_all(folder);
}

TEST(WriteFile, LinksKeepPointing) {
  const std::filesystem::path folder = galatea::testing::make_own_folder("galatea_link");
  ASSERT_TRUE(make_folder(folder / "a"));
  ASSERT_TRUE(write_file(folder / "a/x.bin", {1}));
  std::filesystem::create_symlink("a/x.bin", folder / "link");
  ASSERT_TRUE(write_file(folder / "link", {1, 2, 3}));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(std::filesystem::file_size(folder / "a/x.bin"), 3u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);
  std::filesystem::remove_all(folder);
}

// Renaming a file over a device or a pipe would take it from everybody.
TEST(WriteFile, WhatIsNoFileTakesTheBytes) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_TRUE(write_file("/proc/self/fd/" + std::to_string(ends[1]), {7, 8}));
  uint8_t bytes[3] = {};
  EXPECT_EQ(::read(ends[0], bytes, sizeof(bytes)), 2);
  EXPECT_EQ(bytes[1], 8);
  ::close(ends[0]);
  ::close(ends[1]);

  const std::filesystem::path folder = galatea::testing::make_own_folder("galatea_fifo"),
                              fifo = folder / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(write_file(fifo, {9}));
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
  EXPECT_EQ(::read(reader, bytes, sizeof(bytes)), 1);
  EXPECT_EQ(bytes[0], 9);
  ::close(reader);
  std::filesystem::remove_all(folder);

  const auto full = write_file("/dev/full", {1});
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().message().find("No space left"), std::string::npos) << full.error().message();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

}  // namespace
}  // namespace galatea::tools
