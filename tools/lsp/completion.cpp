// Completion and signature help: what can be written here.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/folder.h"
#include "compiler/op/schema.h"
#include "tools/lsp/cursor.h"
#include "tools/lsp/features.h"
#include "tools/lsp/operator_text.h"
#include "tools/lsp/words.h"

namespace galatea::tools::lsp {
namespace {

namespace fs = std::filesystem;

/// CompletionItemKind.
enum ItemKind : int {
  kFunction = 3,
  kVariable = 6,
  kModule = 9,
  kKeyword = 14,
  kFile = 17,
  kEnumMember = 20,
  kField = 5
};

class Items {
 public:
  Items(const Query& query, uint32_t begin) : range_(query.range({0, begin, query.offset})) {}
  /// `rank`: items of a smaller one come first.
  void add(const std::string& label, ItemKind kind, const std::string& detail, int rank,
           const std::string& text = {}) {
    if (!seen_.insert(label).second) return;
    items_.push_back({{"label", label},
                      {"kind", static_cast<int>(kind)},
                      {"sortText", fmt::format("{}{}", rank, label)},
                      {"textEdit", {{"range", to_json(range_)}, {"newText", text.empty() ? label : text}}}});
    if (!detail.empty()) items_.back()["detail"] = detail;
  }
  Json take() { return {{"isIncomplete", false}, {"items", std::move(items_)}}; }

 private:
  Range range_;
  std::set<std::string> seen_;
  std::vector<Json> items_;
};

ItemKind kind_of(dsl::Meaning::Kind kind) {
  switch (kind) {
    case dsl::Meaning::Kind::kOperator:
    case dsl::Meaning::Kind::kFunction:
      return kFunction;
    case dsl::Meaning::Kind::kModule:
      return kModule;
    default:
      return kEnumMember;
  }
}

void add_members(const Query& query, const std::string& path, Items& items) {
  for (const auto& member : query.vocabulary.members(path))
    items.add(member.name, kind_of(member.kind), member.text, 1);
}

/// Of a folder no more names are looked at.
constexpr size_t kMostFiles = 1000;

/// Files and folders beside the document, or in a folder below: what `from .x import` can name.
void add_files(const Query& query, const std::string& module, int level, Items& items) {
  fs::path folder = fs::path(query.document.path()).parent_path();
  for (int k = 1; k < level; ++k) folder = folder.parent_path();
  std::string below = module;
  std::ranges::replace(below, '.', '/');
  for (const NameInFolder& entry : names_if_readable((folder / below).string(), kMostFiles)) {
    const fs::path path = folder / below / entry.name;
    const std::string name = path.stem().string();
    const bool is_file = path.extension() == ".dali-dsl" && path != fs::path(query.document.path());
    if (!name.starts_with(".") && (is_file || entry.is_folder))
      items.add(name, is_file ? kFile : kModule, "", 1);
  }
}

/// Names that another file of the user's binds at its top.
void add_names_of_file(const std::string& file, const Workspace& workspace, Items& items) {
  Document* other = file.empty() ? nullptr : workspace.find(file);
  if (!other) return;
  for (const Symbol& symbol : other->syntax().names->symbols())
    if (symbol.scope == 0 && !symbol.name.starts_with("_"))
      items.add(symbol.name, symbol.function ? kFunction : kVariable, "", 1);
}

/// The words of an import statement up to the place: its module and level, and whether `import` stands before.
struct ImportLine {
  bool is_from = false, past_import = false;
  std::string module;  ///< as far as it is written, without its last name
  int level = 0;
};

std::optional<ImportLine> import_line(const std::vector<dsl::Token>& tokens, uint32_t offset) {
  const auto end = std::ranges::lower_bound(tokens, offset, {}, [](const auto& t) { return t.span.begin; });
  auto begin = end;
  while (begin != tokens.begin() && std::prev(begin)->kind != dsl::TokenKind::kNewline &&
         std::prev(begin)->kind != dsl::TokenKind::kIndent &&
         std::prev(begin)->kind != dsl::TokenKind::kDedent)
    --begin;
  if (begin == end || (begin->text != "from" && begin->text != "import")) return std::nullopt;
  ImportLine line;
  line.is_from = begin->text == "from";
  for (auto token = begin + 1; token != end; ++token) {
    if (token->text == "import") {
      line.past_import = true;
      break;
    }
    const bool is_begun = offset <= token->span.end && token->kind == dsl::TokenKind::kName;
    if (is_begun) break;
    if (token->text == "," || token->text == "as") line.module.clear();
    const bool is_dot = token->text == "." || token->text == "...";
    if (is_dot && line.module.empty())
      line.level += static_cast<int>(token->text.size());
    else if (is_dot)
      line.module += ".";
    else if (token->text != "as" && token->text != ",")
      line.module += token->text;
  }
  while (!line.past_import && line.module.ends_with('.')) line.module.pop_back();
  return line;
}

void complete_import(const Query& query, const Workspace& workspace, const ImportLine& line, Items& items) {
  if (line.past_import) {
    if (line.level == 0) {
      add_members(query, line.module, items);
      for (const std::string& path : query.vocabulary.modules())
        if (path.starts_with(line.module + ".") &&
            path.find('.', line.module.size() + 1) == std::string::npos)
          items.add(path.substr(line.module.size() + 1), kModule, "", 1);
      return;
    }
    Symbol import;
    import.module = line.module;
    import.level = line.level;
    add_names_of_file(imported_file(query.document.path(), import, workspace), workspace, items);
    add_files(query, line.module, line.level, items);
    return;
  }
  if (line.level > 0) return add_files(query, line.module, line.level, items);
  const std::string prefix = line.module.empty() ? "" : line.module + ".";
  for (const std::string& path : query.vocabulary.modules())
    if (path.starts_with(prefix))
      items.add(path.substr(prefix.size(), path.find('.', prefix.size()) - prefix.size()), kModule, "", 1);
}

/// The name by which a text calls a module of the library; empty: it has not imported it.
std::string name_of_module(const Names& names, std::string_view module) {
  for (const Symbol& symbol : names.symbols()) {
    if (symbol.kind != Symbol::Kind::kImport || symbol.level > 0) continue;
    const std::string path = symbol.module + (symbol.imported.empty() ? "" : "." + symbol.imported);
    if (path == "nvidia.dali." + std::string(module) || path == "galatea." + std::string(module))
      return symbol.name;
  }
  return {};
}

/// The words that an argument of the call around may be; none: it is no text, or any text.
std::vector<std::string> words_of_argument(const Query& query, const CallAround& call) {
  const Names& names = *query.document.syntax().names;
  if (is_pipeline_def(names, call)) {
    const dsl::PipelineOption* option = dsl::find_pipeline_option(call.keyword);
    return option && option->type == "str" ? quoted_values(option->documentation)
                                           : std::vector<std::string>();
  }
  const op::Operator* op = query.vocabulary.operator_at(imported_path(names, call.callee, query.offset));
  if (!op || call.keyword.empty()) return {};
  const std::vector<op::ArgSpec> arguments = op::all_arguments(*op);
  const auto argument = std::ranges::find(arguments, call.keyword, &op::ArgSpec::name);
  if (argument == arguments.end()) return quoted_values(call_argument_markdown(call.keyword));
  return argument->kind == op::ArgKind::kString ? quoted_values(argument->documentation)
                                                : std::vector<std::string>();
}

void complete_value(const Query& query, const op::ArgSpec& argument, Items& items) {
  if (argument.kind == op::ArgKind::kBool)
    for (const char* value : {"True", "False"}) items.add(value, kKeyword, "", 0);
  const std::string types = name_of_module(*query.document.syntax().names, "types");
  if (types.empty()) return;
  for (const std::string& value : query.vocabulary.values_of(argument.kind))
    items.add(types + "." + value, kEnumMember, "", 0);
}

void complete_option(const CallAround& call, Items& items) {
  for (const dsl::PipelineOption& option : dsl::pipeline_options()) {
    const bool is_given = std::ranges::find(call.given, option.name) != call.given.end();
    if (option.name == call.keyword && option.type == "bool")
      for (const char* value : {"True", "False"}) items.add(value, kKeyword, "", 0);
    if (call.keyword.empty() && !is_given && !option.documentation.empty())
      items.add(std::string(option.name) + "=", kField, option_label(option), 1);
  }
}

void complete_argument(const Query& query, const CallAround& call, Items& items) {
  const Names& names = *query.document.syntax().names;
  for (const std::string& word : words_of_argument(query, call))
    items.add("\"" + word + "\"", kEnumMember, "", 0);
  if (is_pipeline_def(names, call)) return complete_option(call, items);
  if (const op::Operator* op =
          query.vocabulary.operator_at(imported_path(names, call.callee, query.offset))) {
    for (const op::ArgSpec& argument : op::all_arguments(*op)) {
      if (argument.name == call.keyword) return complete_value(query, argument, items);
      const bool is_given = std::ranges::find(call.given, argument.name) != call.given.end();
      if (call.keyword.empty() && !is_given && argument.refused.empty() && !argument.no_effect)
        items.add(argument.name + "=", kField, argument_label(argument), argument.required ? 0 : 1);
    }
    return;
  }
  if (!call.keyword.empty()) return;
  for (const std::string& parameter :
       query.vocabulary.parameters_of(imported_path(names, call.callee, query.offset))) {
    const std::string name = parameter.substr(0, parameter.find('='));
    if (std::ranges::find(call.given, name) == call.given.end()) items.add(name + "=", kField, parameter, 1);
  }
  const Symbol* symbol = call.callee.size() == 1 ? names.find(call.callee[0], query.offset) : nullptr;
  if (!symbol || !symbol->function) return;
  for (const dsl::Parameter& parameter : symbol->function->parameters)
    if (std::ranges::find(call.given, parameter.name) == call.given.end())
      items.add(parameter.name + "=", kField, "", 1);
}

/// Policy documents and folders, of those that `typed` names, from the document's.
void add_policies(const Query& query, const std::string& typed, Items& items) {
  const size_t slash = typed.rfind('/');
  const fs::path folder = fs::path(query.document.path()).parent_path() /
                          (slash == std::string::npos ? "" : typed.substr(0, slash + 1));
  for (const NameInFolder& entry : names_if_readable(folder.string(), kMostFiles)) {
    if (entry.name.starts_with(".")) continue;
    if (entry.is_folder)
      items.add(entry.name + "/", kModule, "", 2);
    else if (fs::path(entry.name).extension() == ".json")
      items.add(entry.name, kFile, "", 1);
  }
}

/// A text whose closing sign is not written yet: it goes to the end of its line.
bool is_open_text(const std::string& text, const dsl::Token& token) {
  const char first = token.span.begin < text.size() ? text[token.span.begin] : ' ';
  return token.kind == dsl::TokenKind::kError && (first == '"' || first == '\'');
}

/// In a text that is an argument: the names that it may be. Null: it may be anything.
Json complete_text(const Query& query, const dsl::Token& token) {
  const Syntax& syntax = query.document.syntax();
  const auto call = call_around(syntax.tokens, token.span.begin);
  if (!call) return nullptr;
  const std::string path = imported_path(*syntax.names, call->callee, query.offset);
  const std::string typed = syntax.text.substr(token.span.begin + 1, query.offset - token.span.begin - 1);
  const size_t begun = typed.size() - (typed.rfind('/') == std::string::npos ? 0 : typed.rfind('/') + 1);
  Items items(query, query.offset - static_cast<uint32_t>(begun));
  const auto is_argument = [&](std::string_view name, size_t index) {
    return call->keyword.empty() ? call->index == index : call->keyword == name;
  };
  if (path.ends_with(".auto_aug.policy.load") && is_argument("path", 0)) {
    add_policies(query, typed, items);
    return items.take();
  }
  if (path.ends_with(".auto_augment.auto_augment") && is_argument("policy_name", 1)) {
    for (const char* name : {"image_net", "reduced_image_net", "reduced_cifar10", "svhn"})
      items.add(name, kEnumMember, "", 0);
    return items.take();
  }
  const std::vector<std::string> words = words_of_argument(query, *call);
  if (words.empty()) return nullptr;
  for (const std::string& word : words) items.add(word, kEnumMember, "", 0);
  return items.take();
}

void complete_name(const Query& query, Items& items) {
  for (const Symbol* symbol : query.document.syntax().names->visible(query.offset))
    items.add(symbol->name,
              symbol->function                        ? kFunction
              : symbol->kind == Symbol::Kind::kImport ? kModule
                                                      : kVariable,
              "", 2);
  for (const char* word :
       {"and",    "as", "assert", "break",  "continue", "def", "elif", "else", "False",  "for",  "from", "if",
        "import", "in", "is",     "lambda", "None",     "not", "or",   "pass", "return", "True", "while"})
    items.add(word, kKeyword, "", 4);
  for (const auto& member : query.vocabulary.members("builtins"))
    items.add(member.name, kFunction, "built in", 3);
}

}  // namespace

Json completion(const Query& query, const Workspace& workspace) {
  const Syntax& syntax = query.document.syntax();
  for (const dsl::Token& token : syntax.tokens) {
    const bool is_open = is_open_text(syntax.text, token);
    const bool is_text = is_open || token.kind == dsl::TokenKind::kString;
    if (is_text && token.span.begin < query.offset && query.offset < token.span.end + (is_open ? 1 : 0))
      return complete_text(query, token);
  }
  if (is_in_words(syntax.tokens, syntax.text, query.offset)) return nullptr;
  const DottedName name = dotted_name_at(syntax.tokens, query.offset);
  Items items(query, name.begin);
  if (const auto line = import_line(syntax.tokens, query.offset)) {
    complete_import(query, workspace, *line, items);
    return items.take();
  }
  if (!name.is_whole) return items.take();
  if (!name.dotted.empty()) {
    add_members(query, imported_path(*syntax.names, name.dotted, query.offset), items);
    const Symbol* module =
        name.dotted.size() == 1 ? syntax.names->find(name.dotted[0], query.offset) : nullptr;
    if (module && module->kind == Symbol::Kind::kImport && module->level > 0)
      add_names_of_file(imported_file(query.document.path(), *module, workspace), workspace, items);
    return items.take();
  }
  if (const auto call = call_around(syntax.tokens, name.begin)) complete_argument(query, *call, items);
  complete_name(query, items);
  return items.take();
}

Json signature_help(const Query& query) {
  const Syntax& syntax = query.document.syntax();
  const auto call = call_around(syntax.tokens, query.offset);
  if (!call) return nullptr;
  std::string label;
  std::vector<std::string> labels, names;
  std::string documentation;
  if (is_pipeline_def(*syntax.names, *call)) {
    documentation = "Makes a pipeline of the function below it.";
    for (const dsl::PipelineOption& option : dsl::pipeline_options()) {
      if (option.documentation.empty()) continue;
      labels.push_back(option_label(option));
      names.emplace_back(option.name);
    }
    label = fmt::format("pipeline_def({})", fmt::join(labels, ", "));
  } else if (const op::Operator* op =
                 query.vocabulary.operator_at(imported_path(*syntax.names, call->callee, query.offset))) {
    label = signature_of(*op);
    documentation = op->summary;
    for (const Port& input : op->inputs) {
      labels.push_back(input.name + (input.optional ? "=None" : ""));
      names.push_back(input.name);
    }
    for (const op::ArgSpec& argument : op::all_arguments(*op)) {
      if (!argument.refused.empty() || argument.no_effect) continue;
      labels.push_back(argument_label(argument));
      names.push_back(argument.name);
    }
  } else {
    const Symbol* symbol =
        call->callee.size() == 1 ? syntax.names->find(call->callee[0], query.offset) : nullptr;
    const bool is_of_file = symbol && symbol->function;
    if (is_of_file) {
      documentation = symbol->function->docstring;
      for (const dsl::Parameter& parameter : symbol->function->parameters) labels.push_back(parameter.name);
    } else {
      labels = query.vocabulary.parameters_of(imported_path(*syntax.names, call->callee, query.offset));
      if (labels.empty()) return nullptr;
    }
    for (const std::string& one : labels) names.push_back(one.substr(0, one.find('=')));
    label = fmt::format("{}({})", call->callee.back(), fmt::join(labels, ", "));
  }
  size_t active = call->index;
  if (!call->keyword.empty())
    active = static_cast<size_t>(std::ranges::find(names, call->keyword) - names.begin());
  Json parameters = Json::array();
  for (const std::string& parameter : labels) parameters.push_back({{"label", parameter}});
  Json signature = {
      {"label", label}, {"documentation", documentation}, {"parameters", std::move(parameters)}};
  return {{"signatures", Json::array({std::move(signature)})},
          {"activeSignature", 0},
          {"activeParameter", active}};
}

}  // namespace galatea::tools::lsp
