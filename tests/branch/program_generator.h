// Random programs that are valid both here and in Python, and mean the same in both: a function of three ints
// and two bools with branches, loops, early ends, short-circuits, calls, recursion, and tuples, lists and
// dicts of numbers.
//
// Integers stay small and operators are those on which C and Python agree, so that whether a number is known
// while staging or comes from data cannot matter.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace galatea::testing {

struct GeneratorOptions {
  bool wide = false;     ///< INT64: a constant that meets data in a merge must be data, too
  bool changes = false;  ///< lists and dicts also change in place, and have several names
};

/// The numbers that `f` of a generated program returns.
inline constexpr int kNumResults = 8;

class ProgramGenerator {
 public:
  ProgramGenerator(uint64_t seed, GeneratorOptions options) : random_(seed), options_(options) {}
  /// Text that defines `f(a, b, c, p, q)`.
  std::string make();

 private:
  bool chance(int percent) { return below(100) < percent; }
  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  const std::string& pick(const std::vector<std::string>& from) {
    return from[static_cast<size_t>(below(static_cast<int>(from.size())))];
  }
  void line(const std::string& text);
  std::string fresh(const std::string& stem) { return stem + std::to_string(++num_names_); }

  std::string literal();
  std::string integer(int depth);
  std::string small(int depth);  ///< 0 … 255
  std::string boolean(int depth);
  std::string condition(int depth);
  std::string tuple(int depth);
  std::string list(int depth);
  std::string dict(int depth);
  void suite(int depth);
  void statement(int depth);
  void assignment(int depth);
  void change(int depth);
  void choose(int depth);
  void for_loop(int depth);
  void while_loop(int depth);
  void loop_body(const std::string& counter, int depth);
  void jump(int depth);
  void early_return();
  void helpers();
  void begin_function(const std::string& head, std::vector<std::string> ints, std::vector<std::string> bools);
  std::string results();

  std::mt19937_64 random_;
  GeneratorOptions options_;
  std::string text_;
  int indent_ = 0, budget_ = 0, num_names_ = 0, loops_ = 0;
  bool in_main_ = false, in_comprehension_ = false;
  std::vector<std::string> ints_, bools_, tuples_, lists_, dicts_;
  std::vector<std::string> counters_;  ///< static ints of the loops around
  std::vector<std::string> calls_;     ///< functions of two ints that give an int
};

}  // namespace galatea::testing
