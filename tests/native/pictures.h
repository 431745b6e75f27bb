// Files of pictures/: what others encoded and decoded (pictures/make_pictures.py).
#pragma once

#include "base/fault.h"
#include "tests/native/encoders.h"

namespace galatea::native {

inline File read_picture(const std::string& name) {
  const std::string bytes = read_whole_file(GALATEA_SOURCE_DIR "/tests/native/pictures/" + name).value_or("");
  return {bytes.begin(), bytes.end()};
}

}  // namespace galatea::native
