// Files of pictures/: what others encoded and decoded (pictures/make_pictures.py).
#pragma once

#include <fstream>
#include <iterator>

#include "tests/native/encoders.h"

namespace galatea::native {

inline File read_picture(const std::string& name) {
  std::ifstream in(std::string(GALATEA_SOURCE_DIR "/tests/native/pictures/") + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace galatea::native
