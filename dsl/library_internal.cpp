// `galatea.internal`: what library files may do beyond the language. In: calls from stdlib_ops/**/*.dali-dsl.
// Out: records, signatures, types of nodes, and diagnostics with a code and a place in the user's file.
#include <algorithm>

#include "dsl/array.h"
#include "dsl/builtin_functions.h"
#include "dsl/bundles.h"
#include "dsl/evaluator.h"
#include "dsl/suggest.h"

namespace galatea::dsl {
namespace {

using builtin::check_shape;
using builtin::wrong_kind;

// record("Augmentation", name=…): a struct with a type; `__call__` and `__getitem__` give it behaviour.
Value call_record(Evaluator& ev, CallArguments& a) {
  if (a.positional.size() != 1 || !a.positional[0].is(ValueKind::kString)) return Value::poison();
  std::vector<std::pair<std::string, Value>> fields;
  for (const CallArguments::Keyword& keyword : a.keywords) fields.emplace_back(keyword.name, keyword.value);
  Value made = ev.make_struct(std::move(fields));
  made.as<StructObject>().type = a.positional[0].text();
  return made;
}

// is_record(value, "Augmentation")
Value call_is_record(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 2, 2)) return Value::poison();
  const Value& x = a.positional[0];
  if (!a.positional[1].is(ValueKind::kString)) return Value::poison();
  return Value::of(x.is(ValueKind::kStruct) && x.as<StructObject>().type == a.positional[1].text());
}

// same(a, b): Python's `is`.
Value call_same(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 2, 2)) return Value::poison();
  return Value::of(a.positional[0].same_as(a.positional[1]));
}

Value call_is_node(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  return Value::of(ev.has_node(a.positional[0]));
}

// parameters(f): of each, its name, how it is given, and whether it must be; None for what is no function of
// the text.
Value call_parameters(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  if (!a.positional[0].is(ValueKind::kFunction)) return Value::none();
  const auto& function = a.positional[0].as<FunctionObject>();
  if (function.poisoned) return Value::poison();
  std::vector<Value> out;
  for (size_t i = 0; i < function.parameters->size(); ++i) {
    const Parameter& parameter = (*function.parameters)[i];
    std::string_view kind;
    switch (parameter.kind) {
      case ParameterKind::kPositionalOnly:
      case ParameterKind::kNormal:
        kind = "positional";
        break;
      case ParameterKind::kVarArgs:
        kind = "args";
        break;
      case ParameterKind::kKeywordOnly:
        kind = "keyword";
        break;
      case ParameterKind::kKwArgs:
        kind = "kwargs";
        break;
    }
    out.push_back(ev.make_struct({{"name", ev.make_string(parameter.name)},
                                  {"kind", ev.make_string(std::string(kind))},
                                  {"required", Value::of(function.defaults[i].is(ValueKind::kUndefined))}}));
  }
  return ev.make_list(std::move(out), a.span);
}

// type_of(node): its element type, layout and number of dimensions, and the type as text.
Value call_type_of(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  const Value x = picture_of(a.positional[0]);
  if (!x.is_node()) return Value::none();
  const ir::Type& type = ev.type_of(x);
  return ev.make_struct({{"dtype", Value::of(type.dtype)},
                         {"ndim", Value::of(static_cast<int64_t>(type.ndim))},
                         {"layout", ev.make_string(type.layout.str())},
                         {"text", ev.make_string(ir::to_text(type))}});
}

// describe(value): "a data node of type …", "`3`", "a list", for messages.
Value call_describe(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  return ev.make_string(ev.type_text(a.positional[0]));
}

// near(name, candidates): "did you mean `…`?", or "".
Value call_near(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 2, 2) || !a.positional[0].is(ValueKind::kString)) return Value::poison();
  if (!a.positional[1].is_sequence()) return Value::poison();
  std::vector<std::string> names;
  for (const Value& name : a.positional[1].elements()) {
    if (name.is(ValueKind::kString)) names.push_back(name.text());
  }
  return ev.make_string(did_you_mean(a.positional[0].text(), names));
}

// once(of, key, make, using): what make() gives, asked for once for each object and key. A function of the
// user's among what it uses (None: nothing) is called as often as the text says.
Value call_once(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 4, 4)) return Value::poison();
  const Value &of = a.positional[0], &used = a.positional[3];
  const bool is_ours = used.is(ValueKind::kNone) ||
                       (used.is(ValueKind::kFunction) && ev.in_library(used.as<FunctionObject>().span));
  const std::string key = of.is(ValueKind::kStruct) && is_ours ? ev.key_of(a.positional[1]) : "";
  if (key.empty()) return ev.call_back(a.positional[2], {}, a, 0);
  if (const Value* known = ev.remembered(of.object, key)) return *known;
  const Value made = ev.call_back(a.positional[2], {}, a, 0);
  // What is wrong is said each time, and nodes belong to where they stand.
  if (!ev.has_poison(made) && !ev.has_node(made)) ev.remember(of.object, key, made);
  return made;
}

// failed(): what stands for the result of something that has been reported.
Value call_failed(Evaluator&, CallArguments&) { return Value::poison(); }

// report("G0660", words…, at="n"): a diagnostic of messages.def, where the value of the parameter was
// written.
Value call_report(Evaluator& ev, CallArguments& a) {
  if (a.positional.empty() || !a.positional[0].is(ValueKind::kString)) return Value::poison();
  const std::string& code = a.positional[0].text();
  const auto& table = all_messages();
  auto entry = std::ranges::find_if(table, [&](const MessageEntry& e) { return e.code == code; });
  GALATEA_CHECK(entry != table.end());
  std::vector<std::string> words;
  for (size_t i = 1; i < a.positional.size(); ++i) {
    if (ev.has_poison(a.positional[i])) return Value::poison();
    words.push_back(to_display(a.positional[i]));
  }
  const CallArguments::Keyword* at = builtin::keyword_of(a, "at");
  const bool named = at && at->value.is(ValueKind::kString);
  const Span span = named ? ev.argument_span(at->value.text(), a.span) : ev.user_span(a.span);
  return ev.report(diagnose(static_cast<Message>(entry - table.begin()), span, std::move(words)));
}

// ran(name, parameter): an augmentation is applied here.
Value call_ran(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 2, 2) || !a.positional[0].is(ValueKind::kString)) return Value::poison();
  ev.note_run(a.positional[0].text(), a.positional[1]);
  return Value::none();
}

// policy_result(image, loaded): what a policy made of an image; `loaded`: by `policy.load`.
Value call_policy_result(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 2, 2) || !a.positional[1].is(ValueKind::kBool)) return Value::poison();
  return a.positional[1].boolean ? ev.policy_result(a.positional[0], a.span) : a.positional[0];
}

// read_policy(x): the parameter `path` of whoever asks, or the parameter `document`, a dict.
Value call_read_policy(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  const Value& from = a.positional[0];
  if (!from.is(ValueKind::kString) && !from.is(ValueKind::kDict)) return Value::poison();
  return ev.read_policy(from, ev.argument_span(from.is(ValueKind::kDict) ? "document" : "path", a.span));
}

}  // namespace

ModuleObject* Evaluator::internal_module() {
  ModuleObject*& module = library_["galatea.internal"];
  if (module) return module;
  module = arena.make<ModuleObject>();
  module->name = "galatea.internal";
  struct Entry {
    const char* name;
    BuiltinFunction function;
  };
  for (const Entry& e : {Entry{"record", call_record},
                         {"is_record", call_is_record},
                         {"is_node", call_is_node},
                         {"same", call_same},
                         {"parameters", call_parameters},
                         {"type_of", call_type_of},
                         {"describe", call_describe},
                         {"near", call_near},
                         {"once", call_once},
                         {"ran", call_ran},
                         {"policy_result", call_policy_result},
                         {"read_policy", call_read_policy},
                         {"report", call_report},
                         {"failed", call_failed}})
    module->names[e.name] = {make_builtin(e.name, e.function), {}};
  return module;
}

}  // namespace galatea::dsl
