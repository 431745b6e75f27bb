// Policies as other people write them: calls of the library, torchvision's transforms, timm's strings.
//
// Comes in: "rand_augment(n=2, m=9)", "image_net", "TrivialAugmentWide()", "rand-m9-mstd0.5-inc1". Goes out:
// the same policy as a document. The way back tries what a document could have been made by, and compares.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/document.h"

namespace galatea::policy {

struct CallArgument {
  std::string name;  ///< empty: told by its place
  JsonValue value;
  bool is_variable = false;  ///< a name without quotes, as the images have one; the value is its last part
};
/// A call in the library's or torchvision's form: NAME or NAME(argument=literal, …).
struct Call {
  std::string name;
  std::vector<CallArgument> arguments;
};
Result<Call> parse_call(std::string_view text);

Result<Document> document_of_call(const Call& call, std::string_view text);
Result<Document> document_of_timm(const std::string& text);
/// Any of the spellings.
Result<Document> document_of(const std::string& spelling);
/// Looks like a spelling rather than a path.
bool is_spelling(const std::string& text);

enum class Target { kCall, kTorchvision, kTimm };
/// The document in a target's spelling; or a diagnostic with the first part that the target cannot say.
Result<std::string> spelling_of(const Document& document, Target target);

struct KnownPolicy {
  std::string spelling, meaning;
};
/// What `galatea policy list` shows: examples of every family.
std::vector<KnownPolicy> known_policies();

}  // namespace galatea::policy
