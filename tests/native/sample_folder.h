// Photographs to read, drawn once.
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>

#include "tests/native/encoders.h"
#include "tests/support/build_folder.h"
#include "tests/support/own_folder.h"

namespace galatea::testing {

/// A folder with two classes of two JPEGs each, with and without subsampled chroma; `name`: of whoever draws it. It is
/// this process's own: what another checkout drew, or left there, may be other pictures.
inline std::filesystem::path sample_folder(const std::string& name) {
  namespace fs = std::filesystem;
  static std::set<fs::path> drawn;
  const fs::path folder = own_path(name + "-samples");
  if (!drawn.insert(folder).second) return folder;
  std::mt19937 random(5);
  for (int n = 0; n < 4; ++n) {
    const fs::path place = folder / ("class" + std::to_string(n / 2));
    fs::create_directories(place);
    native::Picture picture(47 + 13 * n, 71 - 9 * n, 3);
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width; ++x)
        for (int c = 0; c < 3; ++c)
          picture.at(y, x, c) = (y * 3 + x * (c + 1) + 40 * n + static_cast<int>(random() % 32)) % 256;
    native::JpegSettings settings;
    settings.h = settings.v = 1 + n % 2;
    const native::File file = native::encode_jpeg(picture, settings);
    std::ofstream(place / (std::to_string(n) + ".jpg"), std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  }
  return folder;
}

/// What `data` names for a text: a folder of films or of speech where it reads those, else the photographs. Empty:
/// they cannot be read here, since libav's headers were not there for the build, or the folder is not on this machine.
inline std::string data_of(const std::string& text, const std::filesystem::path& photographs) {
  const bool hears = text.contains("nemo_asr");
  if (!hears && !text.contains("readers.video")) return photographs.string();
  const std::string folder = GALATEA_SOURCE_DIR "/tests/";
  const std::string data = folder + (hears ? "readers/recorded/speech" : "video/films");
  const bool can_read = hears || std::filesystem::exists(build_folder("/lib/libgalatea_video.so"));
  return can_read && std::filesystem::exists(data) ? data : "";
}

}  // namespace galatea::testing
