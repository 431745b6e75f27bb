// The text form of kernels.
//
// Must hold: no crash; what is accepted prints, and reads back as the same text; an error says something.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compiler/kernel/kernel.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galatea;
  auto require = [](bool condition) {
    if (!condition) std::abort();
  };
  if (size > 4096) return 0;
  SourceMap sources;
  auto kernel = kernel::read_kernel(std::string(reinterpret_cast<const char*>(data), size), sources);
  if (!kernel) {
    require(!kernel.error().message().empty());
    return 0;
  }
  std::string text = to_text(*kernel);
  auto again = kernel::read_kernel(text, sources);
  require(again && to_text(*again) == text);
  return 0;
}
