#include "tools/lsp/policy_document.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "policy/operation.h"
#include "policy/reader.h"
#include "policy/writer.h"

namespace galatea::tools::lsp {
namespace {

/// A string of the text, without its quotes.
struct Word {
  uint32_t begin = 0, end = 0;
  std::string text;
};

/// The string around a byte; one that is not closed ends with its line.
std::optional<Word> word_at(const std::string& text, uint32_t offset) {
  for (uint32_t at = 0; at < text.size(); ++at) {
    if (text[at] != '"') continue;
    uint32_t end = at + 1;
    while (end < text.size() && text[end] != '"' && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
    end = std::min(end, static_cast<uint32_t>(text.size()));
    if (at < offset && offset <= end) return Word{at + 1, end, text.substr(at + 1, end - at - 1)};
    at = end;
  }
  return std::nullopt;
}

/// What the schema says of a member, itself or where it points to.
std::string description_of(const Json& schema, const Json& member) {
  if (!member.is_object()) return {};
  if (member.contains("description")) return member["description"];
  const std::string pointed = member.value("$ref", "");
  return pointed.empty()
             ? ""
             : schema.value(Json::json_pointer(pointed.substr(1)), Json()).value("description", "");
}

/// Names of members that the schema knows, with what each means.
void collect_members(const Json& schema, const Json& part, std::map<std::string, std::string>& members) {
  if (part.is_array())
    for (const Json& one : part) collect_members(schema, one, members);
  if (!part.is_object()) return;
  for (const auto& [name, below] : part.items()) {
    if (name == "properties" && below.is_object())
      for (const auto& [member, of] : below.items()) members.try_emplace(member, description_of(schema, of));
    collect_members(schema, below, members);
  }
}

const std::map<std::string, std::string>& schema_members() {
  static const std::map<std::string, std::string> kMembers = [] {
    std::map<std::string, std::string> members;
    const Json schema = parse_json(policy::schema_text());
    collect_members(schema, schema, members);
    return members;
  }();
  return kMembers;
}

std::optional<policy::Document> document_of(const Query& query) {
  SourceMap sources;
  const uint32_t file = sources.add(query.document.path(), query.document.text());
  return policy::read_policy(file, sources).document;
}

std::string words_of(const policy::Operation& operation) {
  const std::string unit = operation.unit.empty() ? "" : fmt::format(" ({})", operation.unit);
  return fmt::format("**{}**: {}{}", operation.name, operation.meaning, unit);
}

/// The row of the table, from the least to the largest magnitude.
std::string words_of(const policy::Augmentation& augmentation, int64_t bins) {
  const policy::Operation* operation = policy::find_operation(augmentation.op);
  std::string words = operation ? words_of(*operation) : "**" + augmentation.op + "**";
  if (augmentation.has_magnitude())
    words += fmt::format(
        "\n\nbin 0: {}\n\nbin {}: {}",
        policy::parameter_text(augmentation, policy::magnitude_of_bin(augmentation, 0, bins)), bins - 1,
        policy::parameter_text(augmentation, policy::magnitude_of_bin(augmentation, bins - 1, bins)));
  return words;
}

}  // namespace

bool is_policy_document(const std::string& path) { return path.ends_with(".json"); }

std::unique_ptr<Evaluation> evaluate_policy(const std::string& path, const std::string& text) {
  auto evaluation = std::make_unique<Evaluation>();
  evaluation->file = evaluation->sources.add(path, text);
  evaluation->diagnostics = policy::read_policy(evaluation->file, evaluation->sources).diagnostics;
  return evaluation;
}

Json hover_policy(const Query& query) {
  const auto word = word_at(query.document.text(), query.offset);
  if (!word) return nullptr;
  std::string words;
  if (const auto document = document_of(query)) {
    const auto row = std::ranges::find(document->augmentations, word->text, &policy::Augmentation::name);
    if (row != document->augmentations.end()) words = words_of(*row, document->bins);
  }
  const policy::Operation* operation = policy::find_operation(word->text);
  if (words.empty() && operation) words = words_of(*operation);
  if (const auto member = schema_members().find(word->text);
      words.empty() && member != schema_members().end())
    words = fmt::format("**{}**: {}", member->first, member->second);
  if (words.empty()) return nullptr;
  return {{"contents", {{"kind", "markdown"}, {"value", words}}},
          {"range", to_json(query.range({0, word->begin, word->end}))}};
}

Json complete_policy(const Query& query) {
  const auto word = word_at(query.document.text(), query.offset);
  if (!word) return nullptr;
  constexpr int kFunctionItem = 3, kFieldItem = 5;
  const Json range = to_json(query.range({0, word->begin, word->end}));
  Json items = Json::array();
  auto add = [&](const std::string& name, int kind, const std::string& detail) {
    items.push_back({{"label", name},
                     {"kind", kind},
                     {"detail", detail},
                     {"textEdit", {{"range", range}, {"newText", name}}}});
  };
  for (const policy::Operation& operation : policy::operations())
    add(std::string(operation.name), kFunctionItem, std::string(operation.meaning));
  for (const auto& [member, meaning] : schema_members()) add(member, kFieldItem, meaning);
  return {{"isIncomplete", false}, {"items", std::move(items)}};
}

}  // namespace galatea::tools::lsp
