#include "policy/fields.h"

#include <algorithm>

#include <fmt/format.h>

namespace galatea::policy {

using JsonKind = JsonValue::Kind;

void Fields::wrong_type(const JsonValue& value, const std::string& what, const std::string& expected) {
  report(Message::kWrongType, value.span, {what, expected, describe(value)});
}

bool Fields::object(const JsonValue& value, const std::string& what, const std::vector<std::string>& known) {
  if (value.kind != JsonKind::kObject) {
    wrong_type(value, what, "an object");
    return false;
  }
  for (const JsonMember& member : value.members) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    std::string help = did_you_mean(member.key, known);
    if (member.key.starts_with("$"))
      help =
          "only the documents of `galatea policy search` have choices: they are search spaces, not policies";
    if (help.empty()) help = "its keys are " + listed(known);
    report(Message::kUnknownKey, member.key_span, {what, member.key, help});
  }
  return true;
}

void Fields::need(const JsonValue& object, const std::string& what, const std::vector<std::string>& keys,
                  const std::string& help) {
  std::vector<std::string> missing;
  // One that is misspelt is told as that.
  const auto is_misspelt = [&](const std::string& key) {
    return std::ranges::any_of(object.members, [&](const JsonMember& member) {
      return std::ranges::find(keys, member.key) == keys.end() && !did_you_mean(member.key, {key}).empty();
    });
  };
  for (const std::string& key : keys)
    if (object.find(key) == nullptr && !is_misspelt(key)) missing.push_back(key);
  if (missing.empty()) return;
  const Span brace = {object.span.file, object.span.begin, object.span.begin + 1};
  report(Message::kMissingKey, brace,
         {what, (missing.size() == 1 ? "the key " : "the keys ") + listed(missing), help});
}

bool Fields::list(const JsonValue& value, const std::string& what, const std::string& of) {
  if (value.kind != JsonKind::kArray) {
    wrong_type(value, what, "a list of " + of);
    return false;
  }
  return true;
}

std::optional<std::string> Fields::string(const JsonValue& value, const std::string& what) {
  if (value.kind == JsonKind::kString) return value.text;
  wrong_type(value, what, "a string");
  return std::nullopt;
}

std::optional<std::string> Fields::name(const std::string& text, Span span, const std::string& what) {
  auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const bool fine = !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
  });
  if (fine) return text;
  report(Message::kWrongType, span,
         {what, "letters, digits and _, and begins with no digit", "\"" + text + "\""});
  return std::nullopt;
}

std::optional<bool> Fields::boolean(const JsonValue& value, const std::string& what) {
  if (value.kind == JsonKind::kBool) return value.boolean;
  wrong_type(value, what, "true or false");
  return std::nullopt;
}

std::optional<int64_t> Fields::integer(const JsonValue& value, const std::string& what, int64_t least,
                                       int64_t most) {
  if (value.kind != JsonKind::kInteger) {
    wrong_type(value, what, "a whole number");
    return std::nullopt;
  }
  if (value.integer >= least && value.integer <= most) return value.integer;
  report(
      Message::kOutOfRange, value.span,
      {what,
       most == kManyIntegers ? fmt::format("at least {}", least) : fmt::format("from {} to {}", least, most),
       describe(value)});
  return std::nullopt;
}

std::optional<double> Fields::number(const JsonValue& value, const std::string& what, double least,
                                     double most, bool least_excluded) {
  if (!value.is_number()) {
    wrong_type(value, what, "a number");
    return std::nullopt;
  }
  // A number that float32 cannot hold would be an infinity in the pipeline.
  const double lowest = std::max(least, -1e30), highest = std::min(most, 1e30);
  const bool too_low = least_excluded ? value.number <= lowest : value.number < lowest;
  if (!too_low && value.number <= highest) return value.number;
  std::string bound = most == kAnything
                          ? fmt::format("{} {}", least_excluded ? "more than" : "at least", lowest)
                          : fmt::format("from {} to {}", lowest, highest);
  if (value.number > highest && most == kAnything) bound = fmt::format("at most {}", highest);
  report(Message::kOutOfRange, value.span, {what, bound, describe(value)});
  return std::nullopt;
}

std::optional<std::pair<double, double>> Fields::pair(const JsonValue& value, const std::string& what) {
  if (value.kind != JsonKind::kArray || value.items.size() != 2) {
    wrong_type(value, what, "a list of two numbers");
    return std::nullopt;
  }
  const auto first = number(value.items[0], what), second = number(value.items[1], what);
  if (!first || !second) return std::nullopt;
  return std::pair(*first, *second);
}

}  // namespace galatea::policy
