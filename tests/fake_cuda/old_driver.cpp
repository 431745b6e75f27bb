// A driver from before everything that galatea needs: it has no more than its version, FAKE_CUDA_OLD_VERSION.
#include <cstdlib>

extern "C" __attribute__((visibility("default"))) int cuDriverGetVersion(int* version) {
  const char* text = std::getenv("FAKE_CUDA_OLD_VERSION");
  *version = text != nullptr ? std::atoi(text) : 10020;
  return 0;
}
