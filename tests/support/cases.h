// How much random testing a run does: one scale for every generator.
//
// Comes in: how many cases a generator makes at its full size. Goes out: how many it makes in this run:
// GALATEA_TEST_SCALE percent of them, at least one. `./dev test` makes three in a hundred (a sanitizer's build,
// where each case takes several times as long, one), `./dev test --all` all of them; `./dev fuzz` goes on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace galatea::testing {

inline constexpr int64_t kWhole = 100;
/// Whether what is tested is under the thread sanitizer, and under any. Each build says so in main.cpp: the tests
/// themselves are compiled once for the usual one and the address sanitizer's.
extern const bool kSanitizesThreads, kSanitized;

/// Cases that generators of this program have made so far; main.cpp holds it against the program's budget.
inline int64_t& cases_made() {
  static int64_t number = 0;
  return number;
}

/// In percent.
inline int64_t scale() {
  const char* const text = std::getenv("GALATEA_TEST_SCALE");
  return text ? std::clamp<int64_t>(std::atoll(text), 1, kWhole) : kSanitized ? 1 : 3;
}

/// Of `full`, as many as this run's scale says, and `least` at any scale.
inline int64_t scaled(int64_t full, int64_t least = 1) {
  return std::max(std::min(least, full), full * scale() / kWhole);
}

/// Of `full` cases, those that this run makes; they count as work.
inline int64_t cases(int64_t full, int64_t least = 1) {
  const int64_t number = scaled(full, least);
  cases_made() += number;
  return number;
}

/// Of things that can each be tried in several ways: whether this run tries thing `number` in way `way`. At the full
/// scale each in every way; else each in one way, in turn; under the thread sanitizer one thing in four.
inline bool takes_turn(int64_t number, size_t way, size_t ways) {
  const size_t turns = kSanitizesThreads ? 4 * ways : ways;
  return scale() == kWhole || static_cast<size_t>(number) % turns == way;
}

/// Of a table's cases a usual run takes one in so many. Those that a sanitizer's build takes are among the others'.
inline uint64_t one_of() { return kSanitized ? 6 : 3; }

/// Whether the hash of the name is among one in one_of(): the same names everywhere. Neighbours in a table run the
/// same code.
inline bool in_share(std::string_view name) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return (hash >> 32) % one_of() == 0;
}

/// Of a table: whether this run takes the case of this name.
inline bool takes(std::string_view name) { return scale() == kWhole || in_share(name); }

/// Whether this run leaves to others what runs on one thread: the thread sanitizer has nothing to say of it. The usual
/// build does it, the address sanitizer's, and `--all`.
inline bool leaves_single_threads() { return kSanitizesThreads && scale() != kWhole; }
inline constexpr const char* kSingleThread =
    "what runs on one thread: in the usual build, under the address sanitizer, or at the full scale";

/// Whether this run leaves to others what another's library alone does (NVRTC, when it compiles our texts): no sanitizer
/// sees into it. The usual build does it, and `--all`.
inline bool leaves_foreign_work() { return kSanitized && scale() != kWhole; }
inline constexpr const char* kForeignWork =
    "what NVRTC makes of texts, which no sanitizer sees into: in the usual build, or at the full scale";

}  // namespace galatea::testing
