/* A driver from before everything that galatea needs: it has no more than its version, FAKE_CUDA_OLD_VERSION.
 */
#include <stdlib.h>

__attribute__((visibility("default"))) int cuDriverGetVersion(int* version);

int cuDriverGetVersion(int* version) {
  const char* text = getenv("FAKE_CUDA_OLD_VERSION");
  *version = text ? atoi(text) : 10020;
  return 0;
}
