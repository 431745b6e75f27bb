// The wording of every diagnostic about policies, by code.
//
// Comes in: a message, its place and its arguments. Goes out: a Diagnostic. Code, wording and help stand in
// messages.def; {0}, {1}, … stand for the arguments.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"

namespace galatea::policy {

enum class Message {
#define GALATEA_MESSAGE(name, code, kind, text, help) name,
#include "policy/messages.def"
#undef GALATEA_MESSAGE
};

Diagnostic diagnose(Message message, Span span, const std::vector<std::string>& arguments);
/// One diagnostic as an error of the user's.
std::unexpected<Error> policy_error(Message message, Span span, const std::vector<std::string>& arguments);
/// "did you mean `rotate`?", or "" if no candidate is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates);
/// "`a`, `b` and `c`".
std::string listed(const std::vector<std::string>& names);

}  // namespace galatea::policy
