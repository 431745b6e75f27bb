// galatea-samples DIR: draws the sample photographs that examples and tests run on.
//
// Goes out:
//   DIR/{buildings,fields,objects}/NN_*.{jpg,png,webp,bmp}
//       18 pictures: several sizes, JPEG of every subsampling, grey ones, one progressive, EXIF orientations
//       3, 6 and 8, a PNG, a WebP, a BMP
//   DIR-corrupt/broken/NN_*
//       4 good pictures, one cut short, one that is no picture
// galatea-samples --photographs N DIR: N photographs as data sets have them, all of 500 × 375 pixels, JPEG of
// 4:2:0, about 110 kB each; on all processors.
//
// The same bytes on every run.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

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

constexpr int kPhotographQuality = 97;

/// Photograph number `k`, in the folder of its class.
std::pair<std::filesystem::path, Sample> photograph(int k) {
  constexpr std::pair<SceneKind, const char*> kClasses[] = {
      {kB, "buildings"}, {kF, "fields"}, {kO, "objects"}};
  const auto& [kind, folder] = kClasses[k % 3];
  char name[16] = {};
  std::snprintf(name, sizeof(name), "%06d.jpg", k);
  return {std::filesystem::path(folder) / name,
          {kind, "", 500, 375, Format::kJpeg, {.quality = kPhotographQuality}}};
}

/// Whoever ends this program early finds whole pictures.
void write(const std::filesystem::path& path, const std::vector<uint8_t>& bytes) {
  std::filesystem::create_directories(path.parent_path());
  const std::filesystem::path partial = path.string() + ".partial";
  std::ofstream out(partial, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush())
    throw std::filesystem::filesystem_error("cannot write", path, std::make_error_code(std::errc::io_error));
  out.close();
  std::filesystem::rename(partial, path);
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

size_t draw_data_set(const std::filesystem::path& directory, int count) {
  std::atomic<int> next = 0;
  std::atomic<size_t> total = 0;
  const auto draw = [&] {
    for (int k = next++; k < count; k = next++) {
      const auto [path, sample] = photograph(k);
      const std::vector<uint8_t> bytes = encode(sample, static_cast<uint32_t>(1000 + k));
      write(directory / path, bytes);
      total += bytes.size();
    }
  };
  std::vector<std::future<void>> threads;
  for (unsigned k = 0; k < std::max(1U, std::thread::hardware_concurrency()); ++k)
    threads.push_back(std::async(std::launch::async, draw));
  for (std::future<void>& each : threads) each.get();  // with what it threw
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

/// "buildings/" without the slash, so that the corrupt ones lie beside it.
std::filesystem::path folder_of(const char* text) {
  std::filesystem::path out = std::filesystem::path(text).lexically_normal();
  return out.filename().empty() ? out.parent_path() : out;
}

struct Arguments {
  int photographs = 0;  ///< 0: the samples
  std::filesystem::path folder;
};

/// Nothing: they are not understood.
std::optional<Arguments> parse(int argc, char** argv) {
  Arguments out;
  if (argc == 4 && std::string_view(argv[1]) == "--photographs") {
    const char* const end = argv[2] + std::strlen(argv[2]);
    if (std::from_chars(argv[2], end, out.photographs).ptr != end || out.photographs < 1) return std::nullopt;
  } else if (argc != 2) {
    return std::nullopt;
  }
  if (argv[argc - 1][0] == '-') return std::nullopt;
  out.folder = folder_of(argv[argc - 1]);
  return out;
}

}  // namespace
}  // namespace galatea::samples

int main(int argc, char** argv) {
  using namespace galatea::samples;  // NOLINT: of this program
  const auto arguments = parse(argc, argv);
  if (!arguments) {
    const bool asked = argc == 2 && std::string_view(argv[1]) == "--help";
    std::fprintf(
        asked ? stdout : stderr,
        "usage: galatea-samples [--photographs N] DIR\n"
        "Draws sample photographs into DIR (three class folders) and DIR-corrupt, or N of one size into DIR.\n"
        "example: galatea-samples build/samples\n");
    return asked ? 0 : 2;
  }
  try {
    const auto& [photographs, folder] = *arguments;
    const size_t total = photographs > 0 ? draw_data_set(folder, photographs) : draw_photographs(folder);
    if (photographs == 0) draw_corrupt(folder.string() + "-corrupt/broken");
    std::fprintf(stderr, "drew %zu photographs (%.1f MB) into %s\n",
                 photographs > 0 ? static_cast<size_t>(photographs) : std::size(kSamples),
                 static_cast<double>(total) / 1e6, folder.c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "galatea-samples: %s\n", error.what());
    return 1;
  }
}
