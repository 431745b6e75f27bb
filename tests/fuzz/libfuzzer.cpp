// One target for libFuzzer: ./dev fuzz NAME.
#include <algorithm>
#include <cstring>

#include "tests/fuzz/target.h"

namespace {

const galatea::fuzz::Target& target() {
  static const galatea::fuzz::Target only = galatea::fuzz::targets().front();
  return only;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  target().run(data, size);
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  std::mt19937 random(seed);
  if (!target().change || random() % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string changed = target().change(text, text, random);
  const size_t length = std::min(changed.size(), max_size);
  std::memcpy(data, changed.data(), length);
  return length;
}
