// Searches the table of suggestions.inc. See suggest.h.
#include "dsl/suggest.h"

#include <algorithm>
#include <ranges>

#include "base/diagnostic.h"
#include "dsl/lookalikes.h"

namespace galatea::dsl {
namespace {

constexpr std::string_view kAny = "";

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_name_char(char c) {
  return is_upper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// crop_pos_x for crop_x: all words of the name, in their order, and others between them. One word says too
// little.
bool has_words_of(std::string_view candidate, std::string_view word) {
  if (!word.contains('_') || candidate.size() <= word.size()) return false;
  const std::string within = "_" + std::string(candidate) + "_";
  size_t from = 0;
  for (const auto part : std::views::split(word, '_')) {
    const size_t at = within.find("_" + std::string(std::string_view(part)) + "_", from);
    if (at == std::string::npos) return false;
    from = at + 1;
  }
  return true;
}

// `vals` for `values`: its first and last letter, and others of it in their order, half of it at least.
bool is_abbreviation(std::string_view word, std::string_view candidate) {
  if (candidate.size() <= word.size() || candidate.size() > 2 * word.size() ||
      word.front() != candidate.front() || word.back() != candidate.back())
    return false;
  size_t at = 0;
  for (const char c : candidate) at += at < word.size() && word[at] == c ? 1 : 0;
  return at == word.size();
}

}  // namespace

const std::vector<Suggestion>& all_suggestions() {
  static const std::vector<Suggestion> table = {
#define OPERATOR(name, write, words) {Place::kOperator, kAny, name, write, words},
#define ARGUMENT(owner, name, write) {Place::kArgument, owner, name, write, ""},
#define RENAMED(owner, name, write) {Place::kArgument, owner, name, write, "", true},
#define ADVICE(owner, name, words) {Place::kArgument, owner, name, "", words},
#define TYPE(name, write) {Place::kType, kAny, name, write, ""},
#define MEMBER(name, write, words) {Place::kNodeMember, kAny, name, write, words},
#define STATIC_MEMBER(owner, name, words) {Place::kStaticMember, owner, name, "", words},
#define NAME(name, words) {Place::kName, kAny, name, "", words},
#define SPELLING(name, write) {Place::kName, kAny, name, write, ""},
#define PARAMETER(owner, name, write) {Place::kParameter, owner, name, write, ""},
#define PARAMETER_ADVICE(owner, name, words) {Place::kParameter, owner, name, "", words},
#define TYPE_ADVICE(name, words) {Place::kType, kAny, name, "", words},
#include "dsl/suggestions.inc"
#undef PARAMETER
#undef PARAMETER_ADVICE
#undef TYPE_ADVICE
#undef OPERATOR
#undef ARGUMENT
#undef RENAMED
#undef ADVICE
#undef TYPE
#undef MEMBER
#undef STATIC_MEMBER
#undef NAME
#undef SPELLING
  };
  return table;
}

std::string snake_case(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    // A word begins at a capital after a small letter, or at the last of several capitals: RGBToHSV.
    bool after_small = i > 0 && !is_upper(name[i - 1]) && name[i - 1] != '_' && name[i - 1] != '.';
    bool last_capital =
        i > 0 && is_upper(name[i - 1]) && i + 1 < name.size() && name[i + 1] >= 'a' && name[i + 1] <= 'z';
    if (is_upper(name[i]) && (after_small || last_capital)) out.push_back('_');
    out.push_back(is_upper(name[i]) ? static_cast<char>(name[i] - 'A' + 'a') : name[i]);
  }
  return out;
}

const Suggestion* find_suggestion(Place place, std::string_view owner, std::string_view name) {
  return find_suggestion(place, owner, name, [](const Suggestion&) { return true; });
}

std::string argument_of(const Suggestion& suggestion) {
  return std::string(suggestion.write.substr(0, suggestion.write.find('=')));
}

const Suggestion* find_suggestion(Place place, std::string_view owner, std::string_view name,
                                  const std::function<bool(const Suggestion&)>& fits) {
  // Names of Python are as they are: `T` is not `t`.
  const bool exact = place == Place::kName;
  const std::string wanted = exact ? std::string(name) : snake_case(name);
  const Suggestion* of_any = nullptr;
  for (const Suggestion& entry : all_suggestions()) {
    if (entry.place != place || entry.name != wanted || (entry.owner != owner && entry.owner != kAny) ||
        !fits(entry))
      continue;
    if (entry.owner == owner) return &entry;
    if (of_any == nullptr) of_any = &entry;
  }
  return of_any;
}

std::string with_subject(std::string_view text, std::string_view subject) {
  std::string out;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
    const bool alone =
        (i == 0 || !is_name_char(text[i - 1])) && (i + 1 == text.size() || !is_name_char(text[i + 1]));
    if (quote == 0 && c == 'x' && alone && !subject.empty()) {
      out += subject;
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string help_of(const Suggestion& suggestion, std::string_view subject) {
  if (suggestion.write.empty()) return std::string(suggestion.words);
  std::string help = "write `" + with_subject(suggestion.write, subject) + "`";
  if (!suggestion.words.empty()) help += ": " + std::string(suggestion.words);
  return help;
}

bool is_slip_of(std::string_view word, std::string_view meant) {
  const std::string_view shorter = word.size() < meant.size() ? word : meant;
  const std::string_view longer = word.size() < meant.size() ? meant : word;
  if (shorter.size() == longer.size()) return std::ranges::is_permutation(word, meant) && word != meant;
  if (shorter.size() + 1 != longer.size()) return false;
  const auto differ = std::ranges::mismatch(shorter, longer);
  return std::ranges::equal(differ.in1, shorter.end(), differ.in2 + 1, longer.end());
}

bool is_near(std::string_view word, std::string_view meant) {
  if (is_slip_of(word, meant)) return true;
  constexpr size_t kLeast = 4;
  if (word.size() != meant.size() || word.size() < kLeast) return false;
  size_t replaced = 0;
  for (size_t i = 0; i < word.size(); ++i) replaced += word[i] != meant[i] ? 1 : 0;
  return replaced == 1;
}

std::optional<Meant> meant_by(std::string_view word, const std::vector<std::string>& candidates) {
  if (const auto twin = ascii_twin(word); twin && std::ranges::find(candidates, *twin) != candidates.end())
    return Meant{*twin, true};
  for (const std::string& candidate : candidates)
    if (ascii_twin(candidate) == word) return Meant{candidate, true};
  for (const std::string& candidate : candidates)
    if (word.contains('_') && candidate.starts_with(std::string(word) + "_")) return Meant{candidate};
  for (const std::string& candidate : candidates)
    if (has_words_of(candidate, word)) return Meant{candidate};
  if (const auto near = closest_match(word, candidates)) return Meant{*near};
  // The beginning of a name, or a name with more behind it or before it.
  constexpr size_t kLeast = 3;
  if (word.size() < kLeast) return std::nullopt;
  for (const std::string& candidate : candidates)
    if (candidate.starts_with(word) || (candidate.size() >= kLeast && word.starts_with(candidate + "_")))
      return Meant{candidate};
  for (const std::string& candidate : candidates)
    if (candidate.size() >= kLeast && word.ends_with("_" + candidate)) return Meant{candidate};
  for (const std::string& candidate : candidates)
    if (is_abbreviation(word, candidate)) return Meant{candidate};
  return std::nullopt;
}

std::string help_of(const Meant& meant, std::string_view word, std::string_view prefix) {
  if (meant.looks_alike && !ascii_twin(word))
    return "`" + meant.name + "` is another name: " + describe_twin(meant.name) +
           "; write one of them at both places";
  if (meant.looks_alike) return describe_twin(word) + ": write `" + std::string(prefix) + meant.name + "`";
  return "did you mean `" + std::string(prefix) + meant.name + "`?";
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view prefix) {
  const auto meant = meant_by(word, candidates);
  return meant ? help_of(*meant, word, prefix) : "";
}

bool suggest(Diagnostic& diagnostic, std::string_view word, const std::vector<std::string>& candidates) {
  const auto meant = meant_by(word, candidates);
  if (!meant) return false;
  diagnostic.help = help_of(*meant, word);
  diagnostic.edits.push_back(
      {diagnostic.span, meant->name, meant->looks_alike && ascii_twin(word).has_value()});
  return true;
}

}  // namespace galatea::dsl
