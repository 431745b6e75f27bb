// The part of the library that is written in the language: its files are texts of the program, evaluated when
// they are first imported. In: a module's path. Out: the module. What goes wrong inside of them is the user's
// to see at the user's line.
#include <algorithm>
#include <tuple>

#include "dsl/evaluator.h"
#include "dsl/lexer.h"
#include "dsl/library_texts.h"
#include "dsl/parser.h"

namespace galatea::dsl {
namespace {

// DALI has these; what else there is under auto_aug is galatea's alone.
constexpr std::string_view kOfDali[] = {"auto_aug/core", "auto_aug/augmentations", "auto_aug/auto_augment",
                                        "auto_aug/rand_augment", "auto_aug/trivial_augment"};

// "galatea.auto_aug.core" is the file "auto_aug/core"; empty: no path of a library file.
std::string file_of(std::string_view path) {
  // So common that they have short names.
  if (path == "galatea.policy") return "auto_aug/policy";
  if (path == "galatea.sound") return "auto_aug/sound";
  for (std::string_view root : {"galatea.", "nvidia.dali."}) {
    if (!path.starts_with(root)) continue;
    std::string file(path.substr(root.size()));
    std::replace(file.begin(), file.end(), '.', '/');
    const bool known = root == "galatea." || std::ranges::find(kOfDali, file) != std::end(kOfDali);
    return known ? file : "";
  }
  return "";
}

}  // namespace

bool Evaluator::in_library(Span span) const { return span.valid() && library_files_.contains(span.file); }

Span Evaluator::user_span(Span span) const {
  if (!in_library(span)) return span;
  for (auto active = calls_.rbegin(); active != calls_.rend(); ++active) {
    if (active->span.valid() && !in_library(active->span)) return active->span;
  }
  return span;
}

Span Evaluator::argument_span(const std::string& parameter, Span call) const {
  for (auto active = calls_.rbegin(); active != calls_.rend(); ++active) {
    auto found = active->frame->env.find(parameter);
    if (found != active->frame->env.end() && found->second.span.valid() && !in_library(found->second.span))
      return found->second.span;
    if (active->span.valid() && !in_library(active->span)) break;  // what lies outside is the user's
  }
  return user_span(call);
}

// nullptr: there is no such file; nothing is reported then.
ModuleObject* Evaluator::load_library_file(const std::string& path) {
  const std::string file = file_of(path);
  if (file.empty()) return nullptr;
  const std::string canonical = "galatea." + [&] {
    std::string dotted = file;
    std::replace(dotted.begin(), dotted.end(), '/', '.');
    return dotted;
  }();
  if (auto known = library_.find(canonical); known != library_.end()) return library_[path] = known->second;
  for (const auto& [name, text] : library_texts()) {
    if (name != file) continue;
    auto* module = arena.make<ModuleObject>();
    module->name = canonical;
    module->of_library = true;
    library_[canonical] = library_[path] = module;
    evaluate_text(*module, "galatea/" + file + ".dali-dsl", std::string(text));
    return module;
  }
  return nullptr;
}

void Evaluator::evaluate_text(ModuleObject& module, const std::string& file, const std::string& text) {
  const uint32_t number = sources_.add(file, text);
  if (module.of_library) library_files_.insert(number);
  std::vector<Diagnostic> diagnostics;
  arena.count(2 * text.size());
  trees_.push_back(parse_module(number, sources_.file(number)->text(), diagnostics,
                                {static_cast<size_t>(options_.limits.max_total_bytes), arena.bytes()}));
  arena.count(trees_.back()->bytes);
  for (Diagnostic& diagnostic : diagnostics) sink_.report(std::move(diagnostic));
  aborted_ |= trees_.back()->too_large;
  evaluate_file(module, *trees_.back());
}

// An operator that a host or a plug-in has written in the language. What fails in it is shown there, as in a
// file that is imported.
Value Evaluator::text_operator(const op::TextOperator& op, Span span) {
  ModuleObject*& module = text_modules_[op.file];
  if (!module) {
    module = arena.make<ModuleObject>();
    module->name = op.file;
    evaluate_text(*module, op.file, *op.text);
  }
  const auto found = module->frame->env.find(op.function);
  // It was there when it was registered; not yet, where the text itself calls it before its definition.
  return found == module->frame->env.end() ? fail(Message::kUnknownOperator, span, {"fn." + op.name})
                                           : found->second.value;
}

// The help for a name that `module` lacks and another module of the library defines; empty: none does.
// Modules below it go first, then those with the shortest path.
std::string Evaluator::where_in_library(const ModuleObject& module, const std::string& name) {
  const bool of_dali = module.name.starts_with("nvidia.dali");
  if ((!of_dali && !module.name.starts_with("galatea")) || name.starts_with("_")) return "";
  const auto defines = [&](const ModuleObject& other) {
    if (other.names.contains(name)) return true;
    if (!other.frame) return false;
    const auto found = other.frame->env.find(name);
    if (found == other.frame->env.end()) return false;
    // What a file of the library imports is not its own.
    const Value& value = found->second.value;
    return value.is(ValueKind::kFunction) ? value.as<FunctionObject>().module == &other
                                          : value.is(ValueKind::kStruct);
  };
  // Of the files only those of the same package: to know their names they have to be evaluated.
  const std::string root = of_dali ? "nvidia.dali." : "galatea.";
  for (const auto& [file, text] : library_texts()) {
    std::string path = root + std::string(file);
    std::replace(path.begin(), path.end(), '/', '.');
    if (path.starts_with(module.name + ".")) load_library_file(path);
  }
  std::string best;
  for (const auto& [path, other] : library_) {
    if (other == &module || path == "galatea.internal" || !defines(*other)) continue;
    const auto rank = [&](const std::string& p) {
      return std::tuple(!p.starts_with(module.name + "."), p.starts_with("nvidia.") != of_dali, p.size(), p);
    };
    if (best.empty() || rank(path) < rank(best)) best = path;
  }
  return best.empty() ? "" : "write `from " + best + " import " + name + "`";
}

}  // namespace galatea::dsl
