// galatea-samples DIR: draws the sample photographs that examples and tests run on.
//
// Goes out:
//   DIR/{buildings,fields,objects}/NN_*.{jpg,png,webp,bmp}
//       18 pictures: several sizes, JPEG of every subsampling, grey ones, one progressive, EXIF orientations
//       3, 6 and 8, a PNG, a WebP, a BMP
//   DIR-corrupt/broken/NN_*
//       4 good pictures, one cut short, one that is no picture
// The same bytes on every run.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tools/draw_samples/picture.h"
#include "tools/draw_samples/scene.h"

namespace galatea::samples {
namespace {

enum class Format : uint8_t { kJpeg, kPng, kWebp, kBmp };

struct Sample {
  SceneKind kind;
  const char* path;
  int width, height;  ///< as a viewer shows it
  Format format = Format::kJpeg;
  JpegOptions jpeg = {};
  bool grey = false;
};

constexpr auto kB = SceneKind::kBuildings;
constexpr auto kF = SceneKind::kFields;
constexpr auto kO = SceneKind::kObjects;

const Sample kSamples[] = {
    {kB, "buildings/00_wide.jpg", 640, 480, Format::kJpeg, {.subsampling = Subsampling::k420}},
    {kB, "buildings/01_full_chroma.jpg", 500, 375, Format::kJpeg, {.subsampling = Subsampling::k444}},
    {kB, "buildings/02_tall.jpg", 333, 500, Format::kJpeg, {.subsampling = Subsampling::k422}},
    {kB, "buildings/03_grey.jpg", 480, 360, Format::kJpeg, {}, true},
    {kB,
     "buildings/04_turned.jpg",
     375,
     500,
     Format::kJpeg,
     {.subsampling = Subsampling::k420, .orientation = 6}},
    {kB, "buildings/05_small.png", 160, 120, Format::kPng},
    {kF, "fields/00_large.jpg", 1200, 800, Format::kJpeg, {.subsampling = Subsampling::k420, .quality = 75}},
    {kF, "fields/01_usual.jpg", 500, 375, Format::kJpeg, {.subsampling = Subsampling::k420}},
    {kF,
     "fields/02_upside_down.jpg",
     500,
     333,
     Format::kJpeg,
     {.subsampling = Subsampling::k420, .orientation = 3}},
    {kF,
     "fields/03_progressive.jpg",
     512,
     384,
     Format::kJpeg,
     {.subsampling = Subsampling::k420, .progressive = true}},
    {kF, "fields/04_odd.jpg", 227, 151, Format::kJpeg, {.subsampling = Subsampling::k422}},
    {kF, "fields/05_modern.webp", 400, 300, Format::kWebp},
    {kO, "objects/00_usual.jpg", 500, 375, Format::kJpeg, {.subsampling = Subsampling::k420}},
    {kO, "objects/01_tall.jpg", 375, 500, Format::kJpeg, {.subsampling = Subsampling::k420}},
    {kO,
     "objects/02_turned_back.jpg",
     333,
     500,
     Format::kJpeg,
     {.subsampling = Subsampling::k422, .orientation = 8}},
    {kO, "objects/03_tiny.jpg", 120, 90, Format::kJpeg, {.subsampling = Subsampling::k444, .quality = 95}},
    {kO, "objects/04_plain.bmp", 121, 91, Format::kBmp},
    {kO, "objects/05_grey_odd.jpg", 301, 199, Format::kJpeg, {.quality = 90}, true},
};

std::vector<uint8_t> encode(const Sample& sample, uint32_t seed) {
  Picture picture = draw_scene(sample.kind, sample.width, sample.height, seed);
  if (sample.grey) picture = to_grey(picture);
  picture = stored_for_orientation(picture, sample.jpeg.orientation);
  switch (sample.format) {
    case Format::kJpeg:
      return encode_jpeg(picture, sample.jpeg);
    case Format::kPng:
      return encode_png(picture);
    case Format::kWebp:
      return encode_webp(picture);
    case Format::kBmp:
      return encode_bmp(picture);
  }
  return {};
}

void write(const std::filesystem::path& path, const std::vector<uint8_t>& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush())
    throw std::filesystem::filesystem_error("cannot write", path, std::make_error_code(std::errc::io_error));
}

size_t draw_photographs(const std::filesystem::path& directory) {
  size_t total = 0;
  uint32_t seed = 1;
  for (const Sample& sample : kSamples) {
    std::vector<uint8_t> bytes = encode(sample, seed++);
    write(directory / sample.path, bytes);
    total += bytes.size();
  }
  return total;
}

void draw_corrupt(const std::filesystem::path& directory) {
  const Sample good[] = {{kF, "00_good.jpg", 240, 180},
                         {kB, "02_good.jpg", 180, 240},
                         {kO, "04_good.png", 96, 72, Format::kPng},
                         {kO, "05_good.jpg", 200, 150}};
  uint32_t seed = 101;
  for (const Sample& sample : good) write(directory / sample.path, encode(sample, seed++));
  std::vector<uint8_t> cut = encode({kF, "", 320, 240}, seed);
  cut.resize(cut.size() / 2);
  write(directory / "01_cut_short.jpg", cut);
  const std::string_view text = "This file is named like a picture, but it is a line of text.\n";
  write(directory / "03_no_picture.jpg", {text.begin(), text.end()});
}

}  // namespace
}  // namespace galatea::samples

int main(int argc, char** argv) {
  if (argc != 2 || std::string_view(argv[1]) == "--help" || argv[1][0] == '-') {
    const bool asked = argc == 2 && std::string_view(argv[1]) == "--help";
    std::fprintf(asked ? stdout : stderr,
                 "usage: galatea-samples DIR\nDraws sample photographs into DIR (three class folders) and "
                 "DIR-corrupt.\n"
                 "example: galatea-samples build/samples\n");
    return asked ? 0 : 2;
  }
  try {
    std::filesystem::path directory = std::filesystem::path(argv[1]).lexically_normal();
    if (directory.filename().empty()) directory = directory.parent_path();  // "samples/"
    size_t total = galatea::samples::draw_photographs(directory);
    galatea::samples::draw_corrupt(directory.string() + "-corrupt/broken");
    std::fprintf(stderr, "drew %zu photographs (%.1f MB) into %s\n", std::size(galatea::samples::kSamples),
                 static_cast<double>(total) / 1e6, directory.c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "galatea-samples: %s\n", error.what());
    return 1;
  }
}
