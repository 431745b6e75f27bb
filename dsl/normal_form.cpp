// Unicode Standard Annex 15: decompose, order marks by their classes, compose. The tables are those of characters
// that names may have; syllables of Hangul go by arithmetic (The Unicode Standard, 3.12).
#include "dsl/normal_form.h"

#include <algorithm>
#include <iterator>

#include "dsl/unicode.h"

namespace galatea::dsl {
namespace {

struct NameRange {
  char32_t first, last;
};
struct Shift {
  char32_t first, last;
  int distance;
};
struct Decomposition {
  char32_t from;
  const char* to;
};
struct Pair {
  char32_t first, second, composed;
};
struct CombiningClass {
  char32_t first, last;
  int number;
};
#include "dsl/normal_form.inc"

constexpr char32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11A7;
constexpr char32_t kNumLeads = 19, kNumVowels = 21, kNumTails = 28;
constexpr char32_t kNumSyllables = kNumLeads * kNumVowels * kNumTails;

/// The run of a table that holds the character, or null.
template <typename Run, size_t n>
const Run* run_of(const Run (&table)[n], char32_t c) {
  const auto* past = std::ranges::upper_bound(table, c, {}, &Run::first);
  return past != std::begin(table) && c <= std::prev(past)->last ? std::prev(past) : nullptr;
}

int class_of(char32_t c) {
  const CombiningClass* run = run_of(kClasses, c);
  return run ? run->number : 0;
}

void append_decomposed(std::u32string& out, char32_t c) {
  if (c >= kSyllables && c < kSyllables + kNumSyllables) {
    const char32_t index = c - kSyllables, tail = index % kNumTails;
    out += kLeads + index / (kNumVowels * kNumTails);
    out += kVowels + index / kNumTails % kNumVowels;
    if (tail > 0) out += kTails + tail;
    return;
  }
  const auto* several = std::ranges::lower_bound(kDecompositions, c, {}, &Decomposition::from);
  if (several != std::end(kDecompositions) && several->from == c)
    out += decode_utf8(several->to);
  else if (const Shift* shift = run_of(kShifts, c))
    out += static_cast<char32_t>(static_cast<int>(c) + shift->distance);
  else
    out += c;
}

/// Marks that follow one character, in the order of their classes.
void order_marks(std::u32string& text) {
  for (auto at = text.begin(); at != text.end();) {
    const auto end = std::find_if(at, text.end(), [](char32_t c) { return class_of(c) == 0; });
    std::stable_sort(at, end, [](char32_t a, char32_t b) { return class_of(a) < class_of(b); });
    at = end == text.end() ? end : std::next(end);
  }
}

/// The one character that two are; 0: they are none.
char32_t composed(char32_t a, char32_t b) {
  if (a >= kLeads && a < kLeads + kNumLeads && b >= kVowels && b < kVowels + kNumVowels)
    return kSyllables + ((a - kLeads) * kNumVowels + (b - kVowels)) * kNumTails;
  const bool is_open = a >= kSyllables && a < kSyllables + kNumSyllables && (a - kSyllables) % kNumTails == 0;
  if (is_open && b > kTails && b < kTails + kNumTails) return a + (b - kTails);
  const auto key = [](const Pair& pair) { return std::pair(pair.first, pair.second); };
  const auto* found = std::ranges::lower_bound(kPairs, std::pair(a, b), {}, key);
  return found != std::end(kPairs) && key(*found) == std::pair(a, b) ? found->composed : 0;
}

std::u32string compose(const std::u32string& text) {
  std::u32string out;
  size_t base = std::u32string::npos;  // of the last character that is no mark
  int last_class = 0;                  // of what stands between it and the next
  for (const char32_t c : text) {
    const int own = class_of(c);
    const bool is_next_to = base != std::u32string::npos && base + 1 == out.size();
    const bool meets = base != std::u32string::npos && (is_next_to || (last_class != 0 && last_class < own));
    if (const char32_t one = meets ? composed(out[base], c) : 0) {
      out[base] = one;
      continue;
    }
    if (own == 0) base = out.size();
    last_class = own;
    out += c;
  }
  return out;
}

}  // namespace

bool is_name_character(char32_t c, bool is_first) {
  return run_of(kNameStart, c) != nullptr || (!is_first && run_of(kNameInside, c) != nullptr);
}

std::string normal_form(std::string_view name) {
  std::u32string decomposed;
  for (const char32_t c : decode_utf8(name)) append_decomposed(decomposed, c);
  order_marks(decomposed);
  return encode_utf8(compose(decomposed));
}

}  // namespace galatea::dsl
