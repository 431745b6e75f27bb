// Any text through the language: lexer, parser, evaluator, verifier. Half of libFuzzer's changes are made at
// tokens.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "tests/fuzz/dsl_harness.h"
#include "tests/fuzz/token_mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string wrong = galatea::fuzz::run_dsl(std::string(reinterpret_cast<const char*>(data), size));
  if (wrong.empty()) return 0;
  std::cerr << wrong << "\n";
  std::abort();
}

#ifdef GALATEA_LIBFUZZER
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  std::string mutated = galatea::fuzz::mutate_tokens(text, text, random);
  size_t length = std::min(mutated.size(), max_size);
  std::memcpy(data, mutated.data(), length);
  return length;
}
#endif
