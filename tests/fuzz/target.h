// What a fuzz target is: a function that survives any bytes. fuzz_test.cpp runs all of them, as a test; libfuzzer.cpp
// one, steered by what it reaches.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace galatea::fuzz {

struct Target {
  const char* name;  ///< its kept inputs are tests/fuzz/corpus/NAME/
  int inputs;        ///< new ones of a usual run: what a sanitizer's build takes about two seconds for
  void (*run)(const uint8_t* data, size_t size);
  /// Another input, of this one and another; for texts that few changed bytes leave as they should be.
  std::string (*change)(const std::string& input, const std::string& other, std::mt19937& random) = nullptr;
};

/// All that are linked, in the order of their names.
std::vector<Target> targets();

/// Declared by the files of the targets.
struct Declared {
  explicit Declared(const Target& target);
};

/// What must hold.
inline void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace galatea::fuzz

/// GALATEA_FUZZ_TARGET(name, inputs[, change])(const uint8_t* data, size_t size) { … }
#define GALATEA_FUZZ_TARGET(NAME, INPUTS, ...)                     \
  static void survive_##NAME(const uint8_t* data, size_t size);    \
  static const ::galatea::fuzz::Declared declared_##NAME(          \
      {#NAME, INPUTS, survive_##NAME __VA_OPT__(, ) __VA_ARGS__}); \
  static void survive_##NAME
