// libFuzzer: any text through the language. Run with tests/fuzz/corpus_dsl as the corpus.
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "tests/fuzz/dsl_harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string wrong = galatea::fuzz::run_dsl(std::string(reinterpret_cast<const char*>(data), size));
  if (wrong.empty()) return 0;
  std::cerr << wrong << "\n";
  std::abort();
}
