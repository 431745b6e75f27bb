// Small pictures of every format that is always there, each with its name: for tests that damage them.
#pragma once

#include <string>
#include <vector>

#include "tests/native/encoders.h"

namespace galatea::native {

struct Sample {
  std::string name;
  File file;
};

std::vector<Sample> samples();

}  // namespace galatea::native
