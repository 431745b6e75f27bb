// Reads whole numbers through a span that begins at an odd address: undefined behaviour that only a check
// inside the standard library's header sees. The test passes where the sanitizer stops it.
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

int main() {
  std::vector<char> bytes(16);
  const std::span<const int32_t> values(reinterpret_cast<const int32_t*>(bytes.data() + 1), 2);
  std::printf("%d\n", values[1]);
}
