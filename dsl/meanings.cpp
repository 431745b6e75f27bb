#include "dsl/meanings.h"

#include <algorithm>

#include "dsl/deep_stack.h"
#include "dsl/evaluator.h"
#include "dsl/library_texts.h"
#include "dsl/pixel.h"

namespace galatea::dsl {

const Meaning* Meanings::at(Span span) const {
  const auto found = by_place_.find({span.begin, span.end});
  return found == by_place_.end() ? nullptr : &found->second;
}

Span Meanings::around(uint32_t begin, uint32_t end) const {
  Span shortest;
  for (const auto& [place, meaning] : by_place_) {
    if (place.first > begin) break;
    if (place.second < end) continue;
    if (!shortest.valid() || place.second - place.first < shortest.end - shortest.begin)
      shortest = {file_, place.first, place.second};
  }
  return shortest;
}

Meaning Evaluator::meaning_of(const Value& value) const {
  Meaning meaning;
  meaning.pipeline = pipeline_name_;
  switch (value.kind) {
    case ValueKind::kNode:
      meaning.kind = Meaning::Kind::kData;
      if (graph_) meaning.text = ir::to_text(type_of(value));
      // What a pixel function computes is gone with its last line: others get its numbers.
      if (!pixel_ || !pixel_->owns(value.node)) meaning.node = value.node;
      return meaning;
    case ValueKind::kOperator:
    case ValueKind::kOperatorObject:
      meaning.kind = Meaning::Kind::kOperator;
      meaning.op = value.as<OperatorObject>().op;
      meaning.text = "operator `" + value.as<OperatorObject>().path + "`";
      return meaning;
    case ValueKind::kFunction:
      meaning.kind = Meaning::Kind::kFunction;
      meaning.text = signature(value.as<FunctionObject>());
      if (!in_library(value.as<FunctionObject>().span)) meaning.definition = value.as<FunctionObject>().span;
      return meaning;
    case ValueKind::kPipeline:
      meaning.kind = Meaning::Kind::kFunction;
      meaning.text = "pipeline `" + value.as<PipelineObject>().name + "`";
      meaning.definition = value.as<PipelineObject>().span;
      return meaning;
    case ValueKind::kBuiltin:
      meaning.kind = Meaning::Kind::kFunction;
      meaning.text = "function `" + value.as<BuiltinObject>().name + "`";
      return meaning;
    case ValueKind::kModule:
      meaning.kind = Meaning::Kind::kModule;
      meaning.text = "module `" + value.as<ModuleObject>().name + "`";
      return meaning;
    default:
      break;
  }
  meaning.text = std::string(type_name(value));
  constexpr size_t kShown = 80;
  const bool is_plain = value.is_number() || value.is(ValueKind::kString) || value.is_sequence() ||
                        value.is(ValueKind::kDType) || value.is(ValueKind::kEnum);
  if (const std::string shown = is_plain ? repr(value) : ""; !shown.empty() && shown.size() <= kShown)
    meaning.text += " `" + shown + "`";
  return meaning;
}

void Evaluator::note_meaning(Span span, const Value& value) {
  if (!options_.meanings || !options_.meanings->keeps(span)) return;
  if (value.is_poison() || value.is(ValueKind::kUndefined) || value.is(ValueKind::kPending)) return;
  options_.meanings->note(span, meaning_of(value));
}

std::vector<LibraryModule> Evaluator::library_modules() {
  for (const auto& [file, text] : library_texts()) {
    std::string path(file);
    std::replace(path.begin(), path.end(), '/', '.');
    for (const char* root : {"galatea.", "nvidia.dali."}) load_library_file(root + path);
  }
  std::vector<LibraryModule> modules;
  std::map<std::string, ModuleObject*> all = library_;
  all["builtins"] = builtins_;
  for (const auto& [path, module] : all) {
    if (!module || module->lookup != ModuleObject::Lookup::kNames) continue;
    LibraryModule known{path, {}};
    const Env& names = module->frame ? module->frame->env : module->names;
    for (const auto& [name, binding] : names) {
      if (name.starts_with("_") && name != "__version__") continue;
      const Meaning meaning = meaning_of(binding.value);
      known.members.push_back({name, meaning.kind, meaning.text});
    }
    std::ranges::sort(known.members, {}, &LibraryModule::Member::name);
    modules.push_back(std::move(known));
  }
  return modules;
}

std::vector<LibraryModule> library_modules(const op::Registry& registry) {
  std::vector<LibraryModule> modules;
  run_deep([&] {
    SourceMap sources;
    DiagnosticSink sink;
    const FrontendOptions options;
    modules = Evaluator(registry, sources, sink, options).library_modules();
  });
  return modules;
}

}  // namespace galatea::dsl
