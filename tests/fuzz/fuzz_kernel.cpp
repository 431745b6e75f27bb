// The text form of kernels.
//
// Must hold: no crash; what is accepted prints, and reads back as the same text; an error says something.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compiler/kernel/kernel.h"
#include "tests/fuzz/target.h"

namespace galatea::fuzz::of_kernel {

GALATEA_FUZZ_TARGET(kernel, 6000)(const uint8_t* data, size_t size) {
  if (size > 4096) return;
  SourceMap sources;
  auto kernel = kernel::read_kernel(std::string(reinterpret_cast<const char*>(data), size), sources);
  if (!kernel) {
    require(!kernel.error().message().empty());
    return;
  }
  std::string text = to_text(*kernel);
  auto again = kernel::read_kernel(text, sources);
  require(again && to_text(*again) == text);
}

}  // namespace galatea::fuzz::of_kernel
