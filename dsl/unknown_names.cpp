// Names that nothing defines: the import that is missing, what stands for a function of another library, the name
// that was meant. In: a name, and the attribute of it that is asked for. Out: a diagnostic with its edit.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "dsl/dali_names.h"
#include "dsl/evaluator.h"
#include "dsl/host_modules.h"
#include "dsl/library_texts.h"
#include "dsl/operator_text.h"
#include "dsl/suggest.h"

namespace galatea::dsl {
namespace {

/// The module that people import under a short name.
std::string_view module_called(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
      {"T", "torchvision.transforms"},
      {"F", "torchvision.transforms.functional"},
      {"transforms", "torchvision.transforms"},
      {"v2", "torchvision.transforms.v2"},
      {"A", "albumentations"},
      {"K", "kornia.augmentation"},
      {"tf", "tensorflow"},
      {"jnp", "jax.numpy"}};
  for (const auto& [alias, module] : kAliases)
    if (alias == name) return module;
  return host_module_advice(name) ? name : std::string_view();
}

bool is_all_capitals(std::string_view name) {
  return std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
}

/// Where a line of imports goes: before the first one of the file.
uint32_t place_of_imports(std::string_view text) {
  for (size_t line = 0; line < text.size();) {
    if (text.substr(line).starts_with("from ") || text.substr(line).starts_with("import "))
      return static_cast<uint32_t>(line);
    const size_t end = text.find('\n', line);
    if (end == std::string_view::npos) break;
    line = end + 1;
  }
  return 0;
}

/// The `//` that a name at the end of its line follows: `y = 3 // rows`.
std::optional<Span> comment_before(const SourceMap& sources, Span span) {
  const SourceFile* file = sources.file(span.file);
  if (file == nullptr) return std::nullopt;
  const std::string_view text = file->text();
  const bool ends_line = span.end >= text.size() || text[span.end] == '\n' || text[span.end] == '\r';
  if (!ends_line || span.begin < 4 ||
      (text.substr(span.begin - 3, 3) != "// " && text.substr(span.begin - 3, 3) != "-- ") ||
      text[span.begin - 4] != ' ')
    return std::nullopt;
  return Span{span.file, span.begin - 3, span.begin - 1};
}

/// The characters before and behind a place, past blanks; 0: there are none.
std::pair<char, char> characters_around(const SourceMap& sources, Span span) {
  const SourceFile* file = sources.file(span.file);
  if (file == nullptr) return {'\0', '\0'};
  const std::string_view text = file->text();
  const size_t before = span.begin > 0 ? text.find_last_not_of(" \t", span.begin - 1) : text.npos;
  const size_t behind = text.find_first_not_of(" \t", span.end);
  return {before == text.npos ? '\0' : text[before], behind == text.npos ? '\0' : text[behind]};
}

/// `x[end]`, `x[1:end]`, `x[end-1]` of MATLAB and Julia.
bool is_in_subscript(const SourceMap& sources, Span span) {
  const auto [before, behind] = characters_around(sources, span);
  return before == '[' || behind == ']';
}
bool is_alone_in_subscript(const SourceMap& sources, Span span) {
  return characters_around(sources, span) == std::pair('[', ']');
}

}  // namespace

bool Evaluator::knows(const std::string& name) const {
  for (const Frame* frame = frame_; frame; frame = frame->parent)
    if (frame->env.contains(name) || (frame->locals && frame->locals->contains(name))) return true;
  return builtins_->names.contains(name);
}

// The line that imports a name of the library; "": the library has none of that name.
std::string Evaluator::import_of(const std::string& name, const Expression* member) const {
  if (name == "math") {
    // What Python's module has and DALI's has not.
    constexpr std::array kOfPython = {"pi", "e", "tau", "inf", "nan", "radians", "degrees"};
    const bool of_python = member && std::ranges::find(kOfPython, member->text) != kOfPython.end();
    return of_python ? "import math" : "from nvidia.dali import math";
  }
  if (name == "dali") return "import nvidia.dali as dali";
  if (name == "nvidia" || name == "galatea") return "import " + name;
  if (name == "pipeline_def" || library_.contains("nvidia.dali." + name))
    return "from nvidia.dali import " + name;
  for (const auto& [file, text] : library_texts())
    if (file == "auto_aug/" + name) return "from nvidia.dali.auto_aug import " + name;
  return {};
}

// What stands here for a name of a library for pictures and tensors, as the help of a diagnostic; "": nothing does.
std::string Evaluator::operator_instead(const std::string& path, Span span) const {
  const std::string name = path.substr(path.rfind('.') + 1);
  // Draws are told otherwise.
  if (path.starts_with("random.") || path.contains(".random.")) return {};
  if (const Suggestion* known = find_suggestion(Place::kOperator, "", name))
    return help_of(*known, first_argument(sources_, span));
  // `torch.float32` and `cv2.INTER_LINEAR`, but not `torch.nn.Linear`.
  const bool may_be_type = !path.contains(".nn.") && (snake_case(name) == name || is_all_capitals(name));
  if (const std::string type = may_be_type ? type_named(name) : ""; !type.empty())
    return "write `" + type + "`";
  const op::Operator* op = registry_.find(snake_case(name));
  return op && !op->internal ? "write `fn." + op->name + "(…)`" : "";
}

// A name that nothing defines, twice on one line, is one mistake.
bool Evaluator::is_told_beside(const Diagnostic& diagnostic) const {
  const SourceFile* file = sources_.file(diagnostic.span.file);
  if (file == nullptr || sink_.diagnostics().empty()) return false;
  const Diagnostic& last = sink_.diagnostics().back();
  return last.code == diagnostic.code && last.message == diagnostic.message && last.edits.empty() &&
         last.span.file == diagnostic.span.file && last.span != diagnostic.span &&
         file->position(last.span.begin).line == file->position(diagnostic.span.begin).line;
}

void Evaluator::add_line_of_import(Diagnostic& diagnostic, const std::string& line, bool is_certain) const {
  const SourceFile* file = sources_.file(diagnostic.span.file);
  if (file == nullptr) return;
  const uint32_t place = place_of_imports(file->text());
  diagnostic.edits.push_back({{diagnostic.span.file, place, place}, line + "\n", is_certain});
}

// What an edit writes may be a name that the file has not imported.
void Evaluator::add_import_of(Diagnostic& diagnostic, const std::string& name) const {
  if (!knows(name)) add_line_of_import(diagnostic, import_of(name, nullptr), true);
}

// The line in which a file defines a name below the place that asks for it; nothing where it does not.
std::optional<uint32_t> Evaluator::line_of_definition(const std::string& name, Span span) const {
  const auto tree = std::ranges::find(trees_, span.file, [](const auto& t) { return t->file; });
  const SourceFile* file = sources_.file(span.file);
  if (tree == trees_.end() || file == nullptr) return std::nullopt;
  for (const StatementPtr& s : (*tree)->body) {
    std::vector<std::string> names;
    for (const ExpressionPtr& target : s->targets) collect_target(*target, names);
    if (s->kind == StatementKind::kFunction) names.push_back(s->text);
    if (s->span.begin > span.begin && std::ranges::find(names, name) != names.end())
      return static_cast<uint32_t>(file->position(s->keyword_span.begin).line);
  }
  return std::nullopt;
}

Value Evaluator::fail_unknown_name(const Expression& e, const Expression* member) {
  Diagnostic diagnostic = diagnose(Message::kUnknownName, e.span, {e.text});
  // `import *`, which was refused, may have meant it.
  if (imports_all_ || is_told_beside(diagnostic)) return Value::poison();
  // Of a module of the library that is not imported, one line mends all.
  const bool is_ours = library_.contains("nvidia.dali." + e.text) && e.text != "math";
  if (is_ours && !told_imports_.insert(e.text).second) return Value::poison();
  const std::string_view host = member && !is_ours ? module_called(e.text) : std::string_view();
  const std::string instead =
      host.empty() ? "" : operator_instead(std::string(host) + "." + member->text, member->text_span);
  const Suggestion* known = find_suggestion(Place::kName, "", e.text);
  // Within a call that was refused, that says as much.
  if (host_calls_ > 0 && (!instead.empty() || (known && known->write.empty()))) return Value::poison();
  if (!instead.empty()) {
    diagnostic.help = instead;
  } else if (e.text == "end" && is_in_subscript(sources_, e.span)) {
    diagnostic.help = "the last element is `[-1]`; `[1:]` goes on to the end";
    if (is_alone_in_subscript(sources_, e.span)) diagnostic.edits.push_back({e.span, "-1", true});
  } else if (const char* advice = python_name_advice(e.text)) {
    diagnostic.help = advice;
  } else if (e.text == "self") {
    diagnostic.help = "there are no classes; pass the value as a parameter of the function";
  } else if (known) {
    diagnostic.help = help_of(*known, "");
    if (!known->write.empty()) diagnostic.edits.push_back({e.span, std::string(known->write), true});
  } else if (const std::string line = import_of(e.text, member); !line.empty()) {
    diagnostic.help = "add `" + line + "` at the top of the file";
    add_line_of_import(diagnostic, line, false);
  } else if (const auto comment = comment_before(sources_, e.span)) {
    diagnostic.help = "a comment begins with `#`";
    diagnostic.edits.push_back({*comment, "#", true});
  } else {
    // Who has that many reads the first ones; every one would be compared with every name.
    constexpr size_t kMost = 200;
    if (++num_unknown_names_ > kMost) return report(std::move(diagnostic));
    std::vector<std::string> candidates = {"True", "False", "None"};
    for (const Frame* frame = frame_; frame; frame = frame->parent)
      for (const auto& [name, binding] : frame->env) candidates.push_back(name);
    for (const auto& [name, binding] : builtins_->names) candidates.push_back(name);
    std::sort(candidates.begin(), candidates.end());
    if (const auto below = line_of_definition(e.text, e.span)) {
      diagnostic.help = fmt::format("it is defined below, in line {}: move that before this", *below);
    } else if (&e == key_of_dict_) {  // `{size: 224}`
      diagnostic.help = "a key is a text: write `\"" + e.text + "\"`";
      diagnostic.edits.push_back({e.span, "\"" + e.text + "\"", false});
    } else if (!suggest_member_of_types(diagnostic, e.text) && !suggest(diagnostic, e.text, candidates))
      suggest_operator(diagnostic, e.text);
  }
  return report(std::move(diagnostic));
}

// `float32` and `RGB` for `types.FLOAT` and `types.RGB`.
bool Evaluator::suggest_member_of_types(Diagnostic& diagnostic, const std::string& name) const {
  const ModuleObject& types = *library_.at("nvidia.dali.types");
  const std::string type =
      is_all_capitals(name) && types.names.contains(name) ? "types." + name : type_named(name);
  if (type.empty()) return false;
  diagnostic.help = "write `" + type + "`";
  diagnostic.edits.push_back({diagnostic.span, type, true});
  add_import_of(diagnostic, "types");
  return true;
}

// `resize(image)` for `fn.resize(image)`.
void Evaluator::suggest_operator(Diagnostic& diagnostic, const std::string& name) const {
  const SourceFile* file = sources_.file(diagnostic.span.file);
  if (file == nullptr || !file->text().substr(diagnostic.span.end).starts_with("(")) return;
  const op::Operator* op = registry_.find(snake_case(name));
  if (op && !op->internal) {
    diagnostic.help = "operators stand in `fn`: write `fn." + op->name + "(…)`";
    diagnostic.edits.push_back({diagnostic.span, "fn." + op->name, false});
  } else if (const Suggestion* known = find_suggestion(Place::kOperator, "", name)) {
    diagnostic.help = help_of(*known, first_argument(sources_, diagnostic.span));
  }
}

}  // namespace galatea::dsl
