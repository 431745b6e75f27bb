// Any text through the language: lexer, parser, evaluator, verifier. Half of the changes are made at tokens.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include "tests/fuzz/dsl_harness.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/token_mutator.h"

namespace galatea::fuzz::of_dsl {

GALATEA_FUZZ_TARGET(dsl, 130, mutate_tokens)(const uint8_t* data, size_t size) {
  const std::string wrong = run_dsl(std::string(reinterpret_cast<const char*>(data), size));
  if (wrong.empty()) return;
  std::cerr << wrong << "\n";
  std::abort();
}

}  // namespace galatea::fuzz::of_dsl
