// Names that people bring along: from other libraries (torchvision, Albumentations, Kornia, OpenCV, Pillow,
// NumPy, TensorFlow) and from old versions of DALI, and what is written here instead.
//
// Comes in: a name that does not exist, and where it was looked for. Goes out: the edit, as the help of a
// diagnostic. The table is suggestions.inc; every edit in it is staged by a test.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace galatea::dsl {

/// Where a name was looked for.
enum class Place {
  kOperator,      ///< fn.NAME
  kArgument,      ///< fn.OWNER(…, NAME=…); owner "": of any operator
  kType,          ///< types.NAME
  kNodeMember,    ///< image.NAME
  kStaticMember,  ///< VALUE.NAME; owner: the type of the value
  kName,          ///< NAME alone
  kParameter,     ///< OWNER(…, NAME=…): OWNER is a function of the library
};

struct Suggestion {
  Place place;
  std::string_view owner, name;
  std::string_view write;    ///< the text to write; `x` stands for the image; empty: only words
  std::string_view words;    ///< what else there is to say; may be empty
  bool keeps_value = false;  ///< of an argument: what was given means the same under the other name
};
const std::vector<Suggestion>& all_suggestions();

/// The entry for a name, its case and the form of its words (RandomCrop, random_crop) not minded. An entry of
/// the owner goes before one for any owner.
const Suggestion* find_suggestion(Place place, std::string_view owner, std::string_view name);
/// The same among the entries that fit.
const Suggestion* find_suggestion(Place place, std::string_view owner, std::string_view name,
                                  const std::function<bool(const Suggestion&)>& fits);
/// "axes" of an entry of kArgument that writes "axes=[0]"; "" of one that has only words.
std::string argument_of(const Suggestion& suggestion);
/// "write `fn.flip(image, horizontal=1)`": `subject`, if not empty, is the text that `x` stands for.
std::string help_of(const Suggestion& suggestion, std::string_view subject);

/// What was meant by a name that does not exist.
struct Meant {
  std::string name;
  bool looks_alike = false;  ///< a letter of another script stands in its place: nothing else can be meant
};
/// Whether the word is another one with letters exchanged, or with one that is lost or too much.
bool is_slip_of(std::string_view word, std::string_view meant);
/// The same, or with one letter replaced.
bool is_near(std::string_view word, std::string_view meant);
/// The candidate that looks like the word, is near it, begins as it does, or is shortened by it.
std::optional<Meant> meant_by(std::string_view word, const std::vector<std::string>& candidates);
/// "did you mean `fn.resize`?"
std::string help_of(const Meant& meant, std::string_view word, std::string_view prefix = "");
/// The same, or "" if no candidate is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view prefix = "");
/// Help and edit of a diagnostic at whose place `word` stands. False: no candidate is near.
bool suggest(Diagnostic& diagnostic, std::string_view word, const std::vector<std::string>& candidates);

/// Where what is meant is given already, beside the word, nothing can be written in the word's place.
template <typename IsGiven>
void leave_out_if_given(Diagnostic& diagnostic, const IsGiven& is_given) {
  if (diagnostic.edits.empty() || !is_given(diagnostic.edits.back().replacement)) return;
  diagnostic.help = "leave it out: `" + diagnostic.edits.back().replacement + "` is given as well";
  diagnostic.edits.clear();
}

/// `text` with the name x replaced by `subject`; strings in it stay as they are.
std::string with_subject(std::string_view text, std::string_view subject);
/// random_crop for RandomCrop; hsv for HSV.
std::string snake_case(std::string_view name);

}  // namespace galatea::dsl
