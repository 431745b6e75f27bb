// Imports: library modules by name, other files by their place beside the importing file. In: import
// statements. Out: names.
#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/fault.h"
#include "base/folder.h"
#include "dsl/evaluator.h"
#include "dsl/host_modules.h"
#include "dsl/lexer.h"
#include "dsl/lexer_bytes.h"
#include "dsl/library_texts.h"
#include "dsl/operator_text.h"
#include "dsl/parser.h"
#include "dsl/suggest.h"

namespace galatea::dsl {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kExtension = ".dali-dsl";

fs::path normal(const fs::path& path) {
  std::error_code error;
  // Of a relative path of which nothing exists weakly_canonical() would make nothing absolute.
  fs::path absolute = fs::absolute(path, error);
  if (!error) absolute = fs::weakly_canonical(absolute, error);
  // Whether it lies inside of something must not depend on what the system refuses.
  if (error && kind_of_errno(error) == ErrorKind::kSystem)
    throw fs::filesystem_error("where a file lies", path, error);
  return error ? path.lexically_normal() : absolute;
}

bool is_inside(const fs::path& path, const fs::path& root) {
  auto [end, mismatch] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  (void)mismatch;
  return end == root.end();
}

}  // namespace

// The text of a file, or nullopt after an error.
namespace {

// "did you mean `helpers.dali-dsl`?", of the files beside one that is not there; "": none is near.
std::string file_like(const fs::path& path) {
  constexpr size_t kMost = 1000;
  std::vector<std::string> names;
  for (const NameInFolder& entry : names_if_readable(path.parent_path().string(), kMost))
    if (const fs::path file = entry.name; file.extension() == path.extension())
      names.push_back(file.stem().string());
  std::ranges::sort(names);
  const auto near = closest_match(path.stem().string(), names);
  return near ? "did you mean `" + *near + path.extension().string() + "`?" : "";
}

}  // namespace

namespace {

// The three types that features of TFRecord files have, by the names of others.
std::string feature_type(std::string_view name) {
  if (name.starts_with("int") || name.starts_with("uint") || name == "bool") return "int64";
  if (name.starts_with("float") || name == "double") return "float32";
  return name == "bytes" || name == "str" ? "string" : "";
}

// Modules of the library below one that are files: `auto_augment` of `nvidia.dali.auto_aug`.
std::vector<std::string> files_of_library(std::string_view module) {
  std::vector<std::string> names;
  const std::string prefix(module.substr(module.rfind('.') + 1));
  for (const auto& [file, text] : library_texts())
    if (file.starts_with(prefix + "/") && module.contains('.'))
      names.emplace_back(file.substr(prefix.size() + 1));
  return names;
}

// What a module has, where that is short enough to be read.
std::string names_of(const ModuleObject& module, std::vector<std::string> names) {
  if (module.name == "numpy")
    return "arrays of numpy hold constants here; on data work `fn`, `math` and arithmetic: "
           "`galatea ops` lists them";
  std::erase_if(names, [](const std::string& name) { return name.starts_with('_'); });
  constexpr size_t kMost = 12;
  if (names.empty() || names.size() > kMost) return {};
  return fmt::format("it has `{}`", fmt::join(names, "`, `"));
}

}  // namespace

std::optional<std::string> Evaluator::read_text(const std::string& path, Span span) {
  if (const auto unsaved = options_.texts.find(path); unsaved != options_.texts.end()) return unsaved->second;
  auto text = read_whole_file(path, static_cast<size_t>(options_.limits.max_file_bytes));
  if (text) return std::move(*text);
  const bool is_wrong = text.error().kind == ErrorKind::kUser;
  Diagnostic diagnostic =
      diagnose(is_wrong ? Message::kCannotRead : Message::kReadFault, span, {path, text.error().why});
  // `--set a=1 b=2`: the second one was taken for a file.
  const size_t equals = path.find('=');
  if (is_wrong && !span.valid() && equals != std::string::npos && !path.substr(0, equals).contains('/'))
    diagnostic.help = "if it is the value of a parameter, write `--set " + path + "`";
  else if (is_wrong)
    diagnostic.help = file_like(path);
  if (is_wrong && span.valid() && diagnostic.help.empty())
    diagnostic.help = "`from .name import …` reads `name" + std::string(kExtension) +
                      "` beside this file: correct the name, or write that file";
  report(std::move(diagnostic));
  return std::nullopt;
}

ModuleObject* Evaluator::load_main_file(const std::string& name, std::optional<std::string> text) {
  fs::path folder = fs::path(name).parent_path();
  main_folder_ = folder.empty() ? "." : folder.string();
  root_ = normal(options_.import_root.empty() ? main_folder_ : options_.import_root).string();
  return load_file(name, {}, std::move(text));
}

// A text that a program made is shown as what it was made from.
void Evaluator::place_main_text(uint32_t file) {
  std::map<std::string_view, uint32_t> numbers;
  std::vector<MadeFrom> parts;
  auto span_of = [this](uint32_t id, const TextRange& range) {
    const SourceFile& source = *sources_.file(id);
    return Span{id, source.offset(range.begin), source.offset(range.end)};
  };
  for (const MadeRange& made : options_.ranges) {
    auto known = numbers.find(made.source);
    if (known == numbers.end()) {
      const auto& [name, text] = *options_.made_from.find(made.source);
      known = numbers.emplace(name, sources_.add(name, text)).first;
    }
    const Span part = span_of(file, made.range);
    parts.push_back({part.begin, part.end, span_of(known->second, made.place)});
  }
  sources_.set_made_from(file, std::move(parts));
}

// A few zero bytes in a text are told as characters, and read as blanks; more are none of UTF-8. nullptr: there
// are none, or too many.
const std::string* Evaluator::without_zeros(uint32_t file) {
  constexpr std::ptrdiff_t kMost = 3;
  const std::string& text = sources_.file(file)->text();
  const auto zeros = std::ranges::count(text, '\0');
  if (zeros == 0 || zeros > kMost || text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return nullptr;
  std::string& clean = clean_texts_.emplace_back(text);
  for (size_t at = clean.find('\0'); at != std::string::npos; at = clean.find('\0', at)) {
    const auto begin = static_cast<uint32_t>(at);
    Diagnostic diagnostic =
        diagnose(Message::kBadCharacter, {file, begin, begin + 1}, {"U+0000, a zero byte", "remove it"});
    diagnostic.edits.push_back({diagnostic.span, "", true});
    report(std::move(diagnostic));
    clean[at] = ' ';
  }
  return &clean;
}

ModuleObject* Evaluator::load_file(const std::string& path, Span span, std::optional<std::string> text) {
  std::string key = text && files_.empty() ? path : normal(path).string();
  if (files_.empty()) key = normal(path).string();
  if (std::find(loading_.begin(), loading_.end(), key) != loading_.end()) {
    std::string chain;
    for (const std::string& file : loading_) chain += fs::path(file).filename().string() + " → ";
    fail(Message::kImportCycle, span, {chain + fs::path(key).filename().string()});
    return nullptr;
  }
  if (auto known = files_.find(key); known != files_.end()) return known->second;
  if (static_cast<int64_t>(files_.size()) >= options_.limits.max_imports) {
    fail(Message::kTooManyImports, span, {std::to_string(options_.limits.max_imports)});
    return nullptr;
  }
  if (static_cast<int64_t>(loading_.size()) >= options_.limits.max_import_depth) {
    fail(Message::kImportsTooDeep, span, {std::to_string(options_.limits.max_import_depth)});
    return nullptr;
  }
  bool is_main = files_.empty();
  auto* module = arena.make<ModuleObject>();
  module->name = fs::path(path).stem().string();
  files_[key] = module;
  if (is_main) main_module_ = module;
  if (!text) text = read_text(path, span);
  if (!text) {
    module->broken = true;
    return is_main ? nullptr : module;
  }
  if (static_cast<int64_t>(text->size()) > options_.limits.max_file_bytes) {
    fail(Message::kFileTooLarge, span, {path, std::to_string(options_.limits.max_file_bytes)});
    module->broken = true;
    return is_main ? nullptr : module;
  }
  uint32_t file = sources_.add(path, std::move(*text));
  if (is_main) place_main_text(file);
  if (is_main && options_.meanings) options_.meanings->keep(file);
  const std::string* const read = without_zeros(file);
  const std::string& stored = read ? *read : sources_.file(file)->text();
  size_t bad_byte = 0;
  if (find_invalid_utf8(stored, bad_byte)) {
    auto at = static_cast<uint32_t>(bad_byte);
    fail(Message::kNotUtf8, {file, at, at + 1}, {why_not_text(stored, bad_byte)});
    module->broken = true;
    return is_main ? nullptr : module;
  }
  std::vector<Diagnostic> diagnostics;
  auto most = static_cast<size_t>(options_.limits.max_total_bytes);
  arena.count(2 * stored.size());
  trees_.push_back(parse_module(file, stored, diagnostics, {most, arena.bytes()}));
  arena.count(trees_.back()->bytes);
  for (Diagnostic& diagnostic : diagnostics)
    if (!is_told_often(diagnostic)) sink_.report(std::move(diagnostic));
  if (trees_.back()->too_large) abort(true);
  loading_.push_back(key);
  if (!main_tree_) main_tree_ = trees_.back().get();
  evaluate_file(*module, *trees_.back());
  loading_.pop_back();
  return module;
}

void Evaluator::evaluate_file(ModuleObject& module, const Module& tree) {
  auto* frame = arena.make<Frame>();
  frame->module = &module;
  frame->has_closures = true;
  call_states_.push_back(std::make_unique<CallState>());
  frame->call = call_states_.back().get();
  frame->call->name = module.name;
  frame->env["__name__"] = {make_string(module.name), {}};
  module.frame = frame;
  // A file is evaluated outside every graph, also when a function of a pipeline imports it.
  Frame* caller = std::exchange(frame_, frame);
  ir::Graph* graph = std::exchange(graph_, nullptr);
  op::GraphBuilder* builder = std::exchange(builder_, nullptr);
  ir::BlockId block = std::exchange(block_, 0);
  uint32_t region = std::exchange(region_, 0);
  run_suite(tree.body);
  frame_ = caller;
  graph_ = graph;
  builder_ = builder;
  block_ = block;
  region_ = region;
}

fs::path Evaluator::imported_path(const std::string& dotted, int level, Span span) const {
  const SourceFile* importing = sources_.file(span.file);
  fs::path folder = importing ? fs::path(importing->name()).parent_path() : fs::path(main_folder_);
  for (int i = 1; i < level; ++i) folder /= "..";
  std::string relative = dotted;
  std::replace(relative.begin(), relative.end(), '.', '/');
  return folder / (relative + std::string(kExtension));
}

bool Evaluator::inside_root(const std::string& path) const { return is_inside(normal(path), root_); }
bool Evaluator::inside(const std::string& path, const std::string& folder) {
  return is_inside(normal(path), normal(folder));
}

// The file of `from .a.b import x`; nullopt after an error.
std::optional<std::string> Evaluator::resolve_file(const std::string& dotted, int level, Span span) {
  fs::path path = imported_path(dotted, level, span);
  if (!is_inside(normal(path), root_)) {
    fail(Message::kOutsideRoot, span, {path.lexically_normal().string(), root_});
    return std::nullopt;
  }
  return path.lexically_normal().string();
}

// Whether `.a.b` of an import names a folder and no file.
bool Evaluator::is_folder(const Statement& s) const {
  fs::path path = imported_path(s.text, s.relative_level, s.keyword_span);
  std::error_code error;
  if (!is_inside(normal(path), root_) || fs::exists(path, error)) return false;
  return fs::is_directory(path.replace_extension(), error);
}

ModuleObject* Evaluator::find_module(const std::string& path, Span span, bool report_missing) {
  if (auto found = library_.find(path); found != library_.end()) return found->second;
  // Namespaces of operators: nvidia.dali.fn.random.
  for (std::string_view prefix : {"nvidia.dali.fn.", "galatea.fn.", "nvidia.dali.ops.", "galatea.ops."}) {
    if (!path.starts_with(prefix)) continue;
    ModuleObject* module = library_.at(std::string(prefix.substr(0, prefix.size() - 1)));
    std::string rest = path.substr(prefix.size());
    while (module && !rest.empty()) {
      size_t dot = std::min(rest.find('.'), rest.size());
      Value member = find_operator(*module, rest.substr(0, dot), span);
      if (!member.is(ValueKind::kModule)) return nullptr;
      module = &member.as<ModuleObject>();
      rest = dot < rest.size() ? rest.substr(dot + 1) : "";
    }
    return module;
  }
  if (ModuleObject* module = load_library_file(path)) return module;
  if (path == "galatea.internal" && in_library(span)) return internal_module();
  if (host_module_advice(path)) return host_module(path);
  if (!report_missing) return nullptr;
  std::vector<std::string> names;
  // Behind so many modules of the host nobody misspelt one of the library.
  constexpr size_t kMost = 1000;
  const bool is_sought = library_.size() <= kMost;
  for (auto at = library_.begin(); is_sought && at != library_.end(); ++at) {
    const auto& [name, module] = *at;
    if (!module || module->lookup != ModuleObject::Lookup::kHost) names.push_back(name);
  }
  const std::string near = path.starts_with("galatea.") ? "" : did_you_mean(path, names);
  std::error_code error;
  const bool is_ours = path.starts_with("nvidia.dali.") || path.starts_with("galatea.");
  const bool is_beside = fs::exists(imported_path(path, 1, span), error);
  // Anything else is the host program's: it matters where it is used.
  if (near.empty() && !is_ours && !is_beside) return host_module(path);
  Diagnostic diagnostic = diagnose(Message::kUnknownModule, span, {path});
  if (!near.empty()) diagnostic.help = near;
  if (is_beside) diagnostic.help = "a file beside this one: write `from ." + path + " import …`";
  report(std::move(diagnostic));
  return nullptr;
}

ModuleObject* Evaluator::host_module(const std::string& path) {
  ModuleObject*& module = library_[path];
  if (!module) {
    module = arena.make<ModuleObject>();
    module->name = path;
    module->lookup = ModuleObject::Lookup::kHost;
  }
  return module;
}

// A class of this file that the host program calls; `advice`: what a pipeline does in its place.
ModuleObject* Evaluator::host_class(const std::string& name, const std::string& advice) {
  auto* const object = arena.make<ModuleObject>();
  object->name = name;
  object->lookup = ModuleObject::Lookup::kHost;
  host_classes_[name] = advice;
  return object;
}

Value Evaluator::fail_host(const std::string& path, Span span) {
  if (const std::string instead = operator_instead(path, span); !instead.empty()) {
    // `tf.cast(x, tf.float32)`: what the call is given goes with it.
    if (host_calls_ > 0 && instead.starts_with("write `types.")) return Value::poison();
    return fail(Message::kHostOnly, span, {path, instead});
  }
  // What steers the host program alone changes nothing here.
  const bool seeds = path == "random.seed" || path.ends_with(".manual_seed") ||
                     path.ends_with(".manual_seed_all") || path.ends_with(".set_seed");
  if (seeds || path.starts_with("warnings.") || path.starts_with("logging.")) {
    note(Message::kNoEffect, span,
         {"`" + path + "`",
          seeds ? "random numbers follow from the seed of the pipeline: `@pipeline_def(seed=…)`"
                : "it is for the host program"});
    return Value::poison();
  }
  if (host_calls_ > 0) return Value::poison();  // the call around it says as much
  const char* draws = draw_advice(path);
  const char* advice = draws ? draws : host_module_advice(path);
  if (const auto found = host_classes_.find(path.substr(0, path.find('.'))); found != host_classes_.end())
    advice = found->second.c_str();
  return fail(Message::kHostOnly, span,
              {path, advice ? advice
                            : "what this module does belongs to the host program; data nodes take the "
                              "operators of `fn`, which `galatea ops` lists"});
}

Value Evaluator::module_member(ModuleObject& module, const std::string& name, Span span) {
  if (module.broken) return Value::poison();
  if (auto found = module.names.find(name); found != module.names.end()) return found->second.value;
  if (auto inner = library_.find(module.name + "." + name);
      inner != library_.end() && inner->second != &module)
    return Value(ValueKind::kModule, inner->second);
  if (ModuleObject* file = load_library_file(module.name + "." + name))
    return Value(ValueKind::kModule, file);
  if (module.lookup == ModuleObject::Lookup::kHost) return fail_host(module.name + "." + name, span);
  if (module.lookup != ModuleObject::Lookup::kNames) return find_operator(module, name, span);
  std::vector<std::string> names;
  if (module.frame) {
    if (auto found = module.frame->env.find(name); found != module.frame->env.end())
      return found->second.value;
    for (const auto& [known, binding] : module.frame->env) names.push_back(known);
  }
  // Operators that DALI does not have: galatea.elastic is fn.galatea.elastic.
  if (module.name == "galatea" && registry_.find("galatea." + name)) {
    const Value own = find_operator(*library_.at("nvidia.dali.fn"), "galatea", span);
    return find_operator(own.as<ModuleObject>(), name, span);
  }
  if (library_.contains("nvidia." + name) && module.name == "nvidia")
    return Value(ValueKind::kModule, library_.at("nvidia." + name));
  for (const auto& [known, binding] : module.names) names.push_back(known);
  for (const std::string& inner : files_of_library(module.name)) names.push_back(inner);
  constexpr std::string_view kOwn = "galatea.";
  if (module.name == "galatea")
    for (const std::string& path : registry_.public_names())
      if (path.starts_with(kOwn)) names.push_back(path.substr(kOwn.size()));
  std::sort(names.begin(), names.end());
  // Python has a module `types` as well; this is DALI's.
  if (module.name != "types" && host_module_advice(module.name + "." + name))
    return Value(ValueKind::kModule, host_module(module.name + "." + name));
  Diagnostic diagnostic = diagnose(Message::kNoMember, span, {module.name, name});
  const Suggestion* known = module.name == "types" ? find_suggestion(Place::kType, "", name) : nullptr;
  diagnostic.help = known ? help_of(*known, "") : where_in_library(module, name);
  if ((module.name == "numpy" || module.name == "math") && diagnostic.help.empty()) {
    const std::string instead = operator_instead(module.name + "." + name, span);
    if (module.name == "numpy" || !instead.starts_with("write `types.")) diagnostic.help = instead;
  }
  if (module.name.ends_with(".tfrecord"))
    if (const std::string feature = feature_type(name); !feature.empty()) {
      diagnostic.help = "write `" + feature + "`";
      diagnostic.edits.push_back({span, feature, true});
    }
  if (const op::Operator* op = registry_.find(name);
      module.name == "nvidia.dali" && diagnostic.help.empty() && op && !op->internal) {
    diagnostic.help = "operators stand in `fn`: write `fn." + name + "`";
    diagnostic.edits.push_back({span, "fn." + name, true});
  }
  const auto in_other_case = std::ranges::find_if(names, [&](const std::string& other) {
    return other.size() == name.size() && other != name &&
           std::ranges::equal(other, name, [](char a, char b) {
             return std::tolower(static_cast<unsigned char>(a)) ==
                    std::tolower(static_cast<unsigned char>(b));
           });
  });
  if (in_other_case != names.end() && known == nullptr) diagnostic.help.clear();
  if (diagnostic.help.empty() && !suggest(diagnostic, name, names)) diagnostic.help = names_of(module, names);
  // What is meant by an import is not missing besides.
  if (!diagnostic.edits.empty() && module.name == "nvidia.dali")
    told_imports_.insert(diagnostic.edits.back().replacement);
  return report(std::move(diagnostic));
}

void Evaluator::fail_star_import(const Statement& s, Span span) {
  imports_all_ = true;
  Diagnostic diagnostic = diagnose(Message::kStarImport, span);
  const bool is_ours = s.text.starts_with("nvidia") || s.text.starts_with("galatea");
  if (!is_ours && s.relative_level == 0)
    diagnostic.help = "name what the pipeline uses: `from " + s.text +
                      " import …`; where only the host program uses it, remove the line";
  report(std::move(diagnostic));
}

// import a.b.c, d as e
void Evaluator::run_import(const Statement& s) {
  for (const ImportName& name : s.names) {
    std::string first = name.name.substr(0, name.name.find('.'));
    ModuleObject* module = find_module(name.name, name.span, true);
    const std::string& bound = name.alias.empty() ? first : name.alias;
    if (module && name.alias.empty()) module = find_module(first, name.span, false);
    bind(bound, module ? Value(ValueKind::kModule, module) : Value::poison(), name.span);
  }
}

// The name that an import was meant to bring, as the file goes on to use it, is no other mistake.
void Evaluator::bind_meant_name() {
  const std::vector<Edit>& edits = sink_.diagnostics().back().edits;
  if (edits.empty()) return;
  const std::string& meant = edits.back().replacement;
  const bool is_name = std::ranges::all_of(
      meant, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
  if (is_name && !meant.empty() && !knows(meant)) bind(meant, Value::poison(), {});
}

// from m import a, b as c
void Evaluator::run_import_from(const Statement& s) {
  auto poison_all = [&] {
    for (const ImportName& name : s.names) {
      if (name.name != "*") bind(name.alias.empty() ? name.name : name.alias, Value::poison(), name.span);
    }
  };
  auto load = [&](const std::string& dotted, Span span) -> ModuleObject* {
    auto path = resolve_file(dotted, s.relative_level, span);
    return path ? load_file(*path, span, std::nullopt) : nullptr;
  };
  // from . import x, from .folder import x: every name is a file.
  if (s.relative_level > 0 && (s.text.empty() || is_folder(s))) {
    std::string prefix = s.text.empty() ? "" : s.text + ".";
    for (const ImportName& name : s.names) {
      ModuleObject* module = name.name == "*" ? nullptr : load(prefix + name.name, name.span);
      if (name.name == "*") {
        fail_star_import(s, name.span);
      } else
        bind(name.alias.empty() ? name.name : name.alias,
             module ? Value(ValueKind::kModule, module) : Value::poison(), name.span);
    }
    return;
  }
  ModuleObject* module =
      s.relative_level > 0 ? load(s.text, s.keyword_span) : find_module(s.text, s.keyword_span, true);
  if (!module) return poison_all();
  for (const ImportName& name : s.names) {
    const size_t errors = sink_.num_errors();
    if (name.name == "*") {
      fail_star_import(s, name.span);
      continue;
    }
    ModuleObject* inner =
        module->names.contains(name.name) ? nullptr : find_module(s.text + "." + name.name, name.span, false);
    bool of_host = module->lookup == ModuleObject::Lookup::kHost && !module->names.contains(name.name);
    if (of_host && !inner) inner = host_module(module->name + "." + name.name);
    Value value = s.relative_level == 0 && inner ? Value(ValueKind::kModule, inner)
                                                 : module_member(*module, name.name, name.span);
    if (value.is(ValueKind::kPending)) value = resolve(value.as<PendingObject>(), name.span);
    bind(name.alias.empty() ? name.name : name.alias, value, name.span);
    if (value.is_poison() && sink_.num_errors() > errors) bind_meant_name();
  }
}

}  // namespace galatea::dsl
