#include "policy/reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "base/fault.h"
#include "policy/check_policy.h"
#include "policy/fields.h"
#include "policy/messages.h"
#include "policy/operation.h"
#include "policy/read_node.h"

namespace galatea::policy {
namespace {
namespace fs = std::filesystem;

using JsonKind = JsonValue::Kind;

constexpr int64_t kVersion = 1;

const std::vector<std::string> kKeysOfAugmentation = {"op",     "range", "values", "quantize",
                                                      "negate", "param", "clamp",  "extras"};
const std::vector<std::string> kKeysOfPolicy = {"format", "version",       "name",        "bins",  "imports",
                                                "extras", "augmentations", "definitions", "policy"};

bool has_other_keys(const JsonValue& object, const std::vector<std::string>& known) {
  return std::ranges::any_of(object.members, [&](const JsonMember& member) {
    return std::ranges::find(known, member.key) == known.end();
  });
}

/// What a document whose form is wrong does not say. A key that is not known may be meant for one that is
/// missing.
UnreadParts unread_parts(const JsonValue& root, const Document& document) {
  const bool misspelt = has_other_keys(root, kKeysOfPolicy);
  const auto unread = [&](const char* key, JsonKind kind) {
    const JsonValue* part = root.find(key);
    return part ? part->kind != kind : misspelt;
  };
  const JsonValue *imports = root.find("imports"), *bins = root.find("bins");
  return {
      unread("imports", JsonKind::kArray) || (imports && imports->items.size() != document.imports.size()),
      unread("augmentations", JsonKind::kObject) || document.augmentations.empty(),
      unread("definitions", JsonKind::kObject), bins ? bins->integer != document.bins : misspelt};
}

void read_format(const JsonValue& root, Fields& fields) {
  if (const JsonValue* format = root.find("format")) {
    const auto text = fields.string(*format, "`format`");
    if (text && *text != "augment-policy")
      fields.report(Message::kUnknownFormat, format->span,
                    {fmt::format("\"{}\" is no format of policies", *text), "write \"augment-policy\""});
  }
  if (const JsonValue* version = root.find("version")) {
    const auto number = fields.integer(*version, "`version`", 1);
    if (number && *number != kVersion)
      fields.report(
          Message::kUnknownFormat, version->span,
          {fmt::format("version {} is not known here", *number),
           fmt::format("this program reads version {}; a newer galatea may read this file", kVersion)});
  }
}

void read_clamp(const JsonValue& clamp, Fields& fields, Augmentation& entry) {
  if (clamp.kind != JsonKind::kArray || clamp.items.size() != 2) {
    fields.report(Message::kWrongType, clamp.span,
                  {"a clamp", "a list of two, numbers or null", describe(clamp)});
    return;
  }
  auto bound = [&](const JsonValue& value) -> std::optional<double> {
    return value.kind == JsonKind::kNull ? std::nullopt : fields.number(value, "a bound of a clamp");
  };
  entry.clamp_low = bound(clamp.items[0]);
  entry.clamp_high = bound(clamp.items[1]);
}

Augmentation read_augmentation(const JsonMember& member, Fields& fields) {
  Augmentation entry;
  entry.span = member.key_span;
  entry.op = entry.name = member.key;
  fields.name(member.key, member.key_span, "the name of an augmentation");
  const JsonValue& value = member.value;
  if (!fields.object(value, "an augmentation", kKeysOfAugmentation)) {
    entry.op = entry.param = "";  // unread
    return entry;
  }
  if (const JsonValue* op = value.find("op"))
    entry.op = fields.string(*op, "an operation").value_or(""), entry.op_span = op->span;
  else if (has_other_keys(value, kKeysOfAugmentation))
    entry.op = "";  // one of them may be meant for it
  const JsonValue* range = value.find("range");
  const JsonValue* values = value.find("values");
  if (range && values)
    fields.report(Message::kMagnitude, values->span,
                  {"an augmentation has a `range` or `values`, not both", "keep one of them"});
  if (range) entry.range = fields.pair(*range, "a range");
  if (values && fields.list(*values, "`values`", "numbers")) {
    if (values->items.empty())
      fields.report(Message::kEmptyList, values->span,
                    {"this list of values", "give one value for each bin"});
    for (const JsonValue& item : values->items)
      entry.values.push_back(fields.number(item, "a magnitude").value_or(0));
  }
  if (const JsonValue* quantize = value.find("quantize")) {
    if (const auto word = fields.string(*quantize, "`quantize`")) {
      if (const auto known = quantize_of(*word))
        entry.quantize = *known;
      else
        fields.report(Message::kUnknownName, quantize->span,
                      {"rounding", *word, "there are `none`, `floor`, `ceil`, `trunc` and `round_even`"});
    }
  }
  if (const JsonValue* negate = value.find("negate"))
    entry.negate = fields.boolean(*negate, "`negate`").value_or(false);
  if (const JsonValue* param = value.find("param"))
    entry.param = fields.string(*param, "a parameter function").value_or(""), entry.param_span = param->span;
  if (const JsonValue* clamp = value.find("clamp")) read_clamp(*clamp, fields, entry);
  if (const JsonValue* extras = value.find("extras")) entry.extras = read_extras(*extras, fields);
  return entry;
}

void read_imports(const JsonValue& value, Fields& fields, Document& document) {
  if (!fields.list(value, "`imports`", "paths")) return;
  std::set<std::string> seen;
  for (const JsonValue& item : value.items) {
    const auto path = fields.string(item, "an import");
    if (!path) continue;
    if (!path->ends_with(".dali-dsl"))
      fields.report(Message::kImport, item.span,
                    {fmt::format("\"{}\" is no pipeline file", *path),
                     "imports are .dali-dsl files with augmentations of your own"});
    else if (fs::path(*path).is_absolute())
      fields.report(
          Message::kImport, item.span,
          {fmt::format("\"{}\" is not beside the policy", *path), "write a path relative to this file"});
    else if (!seen.insert(*path).second)
      fields.report(Message::kImport, item.span,
                    {fmt::format("\"{}\" is imported twice", *path), "keep one of them"});
    else
      document.imports.push_back({*path, item.span});
  }
}

Document read_document(const JsonValue& root, Fields& fields) {
  Document document;
  if (!fields.object(root, "a policy", kKeysOfPolicy)) return document;
  fields.need(root, "a policy", {"format", "version", "augmentations", "policy"},
              "a policy begins with \"format\": \"augment-policy\", \"version\": 1");
  read_format(root, fields);
  if (const JsonValue* name = root.find("name")) document.name = fields.string(*name, "`name`").value_or("");
  if (const JsonValue* bins = root.find("bins"))
    document.bins = fields.integer(*bins, "the number of bins", 1, kMostBins).value_or(document.bins);
  if (const JsonValue* imports = root.find("imports")) read_imports(*imports, fields, document);
  if (const JsonValue* extras = root.find("extras")) document.extras = read_extras(*extras, fields);
  if (const JsonValue* table = root.find("augmentations")) {
    if (table->kind != JsonKind::kObject)
      fields.report(Message::kWrongType, table->span, {"`augmentations`", "an object", describe(*table)});
    else if (table->members.empty())
      fields.report(Message::kEmptyList, table->span,
                    {"the table of augmentations", "\"identity\": {} is the least"});
    for (const JsonMember& member : table->members)
      document.augmentations.push_back(read_augmentation(member, fields));
  }
  if (const JsonValue* definitions = root.find("definitions")) {
    if (definitions->kind != JsonKind::kObject)
      fields.report(Message::kWrongType, definitions->span,
                    {"`definitions`", "an object", describe(*definitions)});
    for (const JsonMember& member : definitions->members) {
      fields.name(member.key, member.key_span, "the name of a definition");
      document.definitions.emplace_back(member.key, read_node(member.value, fields));
    }
  }
  if (const JsonValue* policy = root.find("policy")) document.policy = read_node(*policy, fields);
  return document;
}

void check_imports(const Document& document, const std::string& path, Fields& fields) {
  for (const Import& import : document.imports) {
    std::error_code error;
    if (!fs::is_regular_file(fs::path(path).parent_path() / import.path, error))
      fields.report(Message::kImport, import.span,
                    {fmt::format("the import \"{}\" does not exist", import.path),
                     "paths of imports are relative to the policy file"});
  }
}

/// Names and numbers in the same go as the form, as far as it was read.
void check(const JsonValue& root, const Document& document, Fields& fields) {
  if (fields.has_errors())
    check_readable(document, unread_parts(root, document), fields);
  else
    check_policy(document, fields);
}

ReadResult finish(std::optional<Document> document, DiagnosticSink& sink) {
  ReadResult result;
  if (!sink.has_errors()) result.document = std::move(document);
  result.diagnostics = sink.take();
  return result;
}

ReadResult read_text(uint32_t file, const SourceMap& sources, const std::string* path) {
  DiagnosticSink sink;
  const auto tree = read_json(file, sources, sink);
  if (!tree) return finish(std::nullopt, sink);
  Fields fields(sink);
  Document document = read_document(*tree, fields);
  if (path) check_imports(document, *path, fields);
  check(*tree, document, fields);
  return finish(std::move(document), sink);
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, size_t limit) {
  // One byte more than allowed is enough to know; a pipe has no size beforehand.
  auto text = read_whole_file(path, limit);
  if (!text && text.error().kind == ErrorKind::kSystem)
    return make_error(ErrorKind::kSystem, diagnose(Message::kReadFault, {}, {path, text.error().why}));
  if (!text)
    return policy_error(Message::kImport, {},
                        {fmt::format("cannot read `{}`: {}", path, text.error().why),
                         "name a file that exists and that you may read"});
  if (text->size() > limit) {
    struct stat status{};
    const bool has_size = ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    return policy_error(Message::kTooLarge, {},
                        {fmt::format("`{}` has {} bytes, and at most {} are read", path,
                                     has_size ? std::to_string(status.st_size) : "more", limit)});
  }
  return std::move(*text);
}

ReadResult read_policy(uint32_t file, const SourceMap& sources) { return read_text(file, sources, nullptr); }

ReadResult read_policy_file(const std::string& path, SourceMap& sources, const std::string* unsaved) {
  if (unsaved != nullptr) return read_text(sources.add(path, *unsaved), sources, &path);
  Result<std::string> text = read_text_file(path, JsonLimits{}.bytes);
  if (!text) return {std::nullopt, std::move(text.error().diagnostics)};
  return read_text(sources.add(path, std::move(*text)), sources, &path);
}

ReadResult read_policy_tree(const JsonValue& root) {
  DiagnosticSink sink;
  Fields fields(sink);
  Document document = read_document(root, fields);
  check(root, document, fields);
  return finish(std::move(document), sink);
}

}  // namespace galatea::policy
