// The parameters of a pipeline: their values from `--set` or the host, their defaults, and what both must be.
// In: a pipeline object, texts. Out: bound names, or diagnostics.
#include <algorithm>

#include <fmt/format.h>

#include "dsl/annotations.h"
#include "dsl/evaluator.h"
#include "dsl/lexer_bytes.h"
#include "dsl/parser.h"

namespace galatea::dsl {
namespace {

std::string type_of_default(const Value& value) {
  switch (value.kind) {
    case ValueKind::kBool:
    case ValueKind::kInt:
    case ValueKind::kFloat:
    case ValueKind::kString:
    case ValueKind::kList:
    case ValueKind::kTuple:
    case ValueKind::kDict:
      return std::string(type_name(value));
    default:
      return {};
  }
}

// What to give for a parameter of a type: "`--set size=224`".
std::string help_for_text(const std::string& parameter, std::string_view type) {
  const std::string_view example = type == "int"     ? "224"
                                   : type == "float" ? "0.5"
                                   : type == "bool"  ? "true"
                                   : type == "dict"  ? "\"{'a': 1}\""
                                                     : "1,2";
  return fmt::format("write it as in `--set {}={}`", parameter, example);
}

bool is_literal(const Expression& e) {
  switch (e.kind) {
    case ExpressionKind::kInteger:
    case ExpressionKind::kFloat:
    case ExpressionKind::kString:
    case ExpressionKind::kTrue:
    case ExpressionKind::kFalse:
    case ExpressionKind::kNone:
      return true;
    case ExpressionKind::kUnary:
      return e.text != "not" && is_literal(*e.operands[0]);
    case ExpressionKind::kTuple:
    case ExpressionKind::kList:
    case ExpressionKind::kDict:
      return std::all_of(e.operands.begin(), e.operands.end(),
                         [](const ExpressionPtr& o) { return o && is_literal(*o); });
    default:
      return false;
  }
}

}  // namespace

// A Python literal; nullopt if the text is not one. Reports nothing.
std::optional<Value> Evaluator::parse_literal(const std::string& name, const std::string& text) {
  if (text.size() > (1 << 20)) return std::nullopt;
  uint32_t file = sources_.add("value of " + name, text);
  std::vector<Diagnostic> ignored;
  size_t bad = 0;
  const std::string& stored = sources_.file(file)->text();
  if (find_invalid_utf8(stored, bad)) return std::nullopt;
  ExpressionPtr expression = parse_single_expression(file, stored, ignored);
  if (!expression || !ignored.empty() || !is_literal(*expression)) return std::nullopt;
  size_t errors = sink_.num_errors();
  Value value = eval(*expression);
  return value.is_poison() || sink_.num_errors() > errors ? std::nullopt : std::optional<Value>(value);
}

// The text after `--set name=` as the parameter's type; nullopt: it does not convert.
std::optional<Value> Evaluator::parse_parameter(const Parameter& parameter, const Value& default_value,
                                                const std::string& text) {
  std::string type = annotated_type(parameter.annotation.get());
  constexpr std::string_view kTypes[] = {"int", "float", "str", "bool", "list", "tuple", "dict"};
  if (std::find(std::begin(kTypes), std::end(kTypes), type) == std::end(kTypes))
    type = type_of_default(default_value);
  return parse_text(parameter.name, type, default_value, text);
}

// `--set args.size=128`: one field of a record, by the type of its default. False after an error.
bool Evaluator::set_fields(const Parameter& parameter, Value& record) {
  bool good = true;
  auto fields = record.as<StructObject>().fields;
  for (const auto& [given, text] : options_.parameters) {
    if (!given.starts_with(parameter.name + ".")) continue;
    std::string name = given.substr(parameter.name.size() + 1);
    auto field = std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.first == name; });
    if (field == fields.end()) continue;  // check_parameter_names reports it
    std::string type = type_of_default(field->second);
    auto parsed = parse_text(given, type, field->second, text);
    if (parsed)
      field->second = *parsed;
    else
      fail(Message::kParameterValue, parameter.span, {"parameter `" + given + "`", text, type}), good = false;
  }
  record = make_struct(std::move(fields));
  return good;
}

std::optional<Value> Evaluator::parse_text(const std::string& name, const std::string& type,
                                           const Value& default_value, const std::string& text) {
  if (type == "str") return make_string(text);
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  bool yes = lower == "true" || lower == "1" || lower == "yes" || lower == "on",
       no = lower == "false" || lower == "0" || lower == "no" || lower == "off";
  if (type == "bool") return yes || no ? std::optional<Value>(Value::of(yes)) : std::nullopt;
  std::optional<Value> value = parse_literal(name, text);
  if (type.empty()) return value ? value : std::optional<Value>(make_string(text));
  if (value && value->is(ValueKind::kNone) && default_value.is(ValueKind::kNone)) return value;
  if (type == "int") return value && value->is(ValueKind::kInt) ? value : std::nullopt;
  if (type == "float")
    return value && value->is_number() && !value->is(ValueKind::kBool)
               ? std::optional<Value>(Value::of(value->as_double()))
               : std::nullopt;
  if (type == "dict") return value && value->is(ValueKind::kDict) ? value : std::nullopt;
  // A list may be written without its brackets: 224,224.
  if (!value || !value->is_sequence()) value = parse_literal(name, "[" + text + "]");
  if (!value) return std::nullopt;
  return type == "list" ? make_list(value->elements()) : make_tuple(value->elements());
}

bool Evaluator::bind_parameters(PipelineObject& pipeline, Frame& frame) {
  FunctionObject& function = *pipeline.function;
  bool good = true;
  for (size_t i = 0; i < function.parameters->size(); ++i) {
    const Parameter& parameter = (*function.parameters)[i];
    if (parameter.kind == ParameterKind::kVarArgs || parameter.kind == ParameterKind::kKwArgs) {
      frame.env[parameter.name] = {Value::poison(), parameter.span};  // told where it is defined
      good = false;
      continue;
    }
    const Value& default_value = function.defaults[i];
    const std::string* text = nullptr;
    for (const auto& [name, given] : options_.parameters) {
      if (name == parameter.name) text = &given;
    }
    Value value = default_value;
    const auto spoil = [&] {
      good = false;
      frame.env[parameter.name] = {Value::poison(), parameter.span};
    };
    const auto is_annotated_type = [&](const Value& given, Span span) {
      return check_annotation(parameter.annotation.get(), given, "parameter `" + parameter.name + "`", span,
                              function.closure);
    };
    if (!is_annotated_type(default_value,
                           parameter.default_value ? parameter.default_value->span : parameter.span)) {
      spoil();
      continue;
    }
    if (text) {
      const size_t errors = sink_.num_errors();
      auto parsed = parse_parameter(parameter, default_value, *text);
      if (!parsed) {
        std::string type = annotated_type(parameter.annotation.get());
        if (type.empty()) type = type_of_default(default_value);
        Diagnostic diagnostic = diagnose(Message::kParameterValue, parameter.span,
                                         {"parameter `" + parameter.name + "`", *text, type});
        diagnostic.help = help_for_text(parameter.name, type);
        // A number that no 64 bits hold was told as that.
        if (sink_.num_errors() == errors) report(std::move(diagnostic));
        spoil();
        continue;
      }
      value = *parsed;
      if (!is_annotated_type(value, parameter.span)) {
        spoil();
        continue;
      }
    } else if (value.is(ValueKind::kStruct)) {
      good = set_fields(parameter, value) && good;
    } else if (value.is(ValueKind::kUndefined) && options_.unknown_parameters_allowed) {
      note(Message::kParameterUnknown, parameter.span, {parameter.name});
      value = Value(ValueKind::kUnknown);
    } else if (value.is(ValueKind::kUndefined)) {
      // Under another name it may have been given.
      if (!wrong_parameter_names_)
        fail(Message::kParameterMissing, parameter.span, {pipeline.name, parameter.name});
      spoil();
      continue;
    }
    frame.env[parameter.name] = {value, parameter.span};
    note_meaning(parameter.span, value);
  }
  return good;
}

void Evaluator::check_parameter_names(const std::vector<PipelineObject*>& staged) {
  for (const auto& [name, text] : options_.parameters) {
    std::vector<std::string> known;
    for (const PipelineObject* pipeline : staged) {
      const FunctionObject& function = *pipeline->function;
      for (size_t i = 0; i < function.parameters->size(); ++i) {
        const std::string& parameter = (*function.parameters)[i].name;
        known.push_back(parameter);
        if (!function.defaults[i].is(ValueKind::kStruct)) continue;
        for (const auto& [field, value] : function.defaults[i].as<StructObject>().fields)
          known.push_back(parameter + "." + field);
      }
    }
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    Diagnostic diagnostic =
        diagnose(Message::kUnknownPipelineParameter, staged.empty() ? Span{} : staged[0]->span, {name});
    if (auto near = closest_match(name, known)) diagnostic.help = "did you mean `" + *near + "`?";
    std::string list;
    for (const std::string& parameter : known) list += (list.empty() ? "`" : ", `") + parameter + "`";
    diagnostic.notes.push_back(list.empty() ? "the pipeline has no parameters"
                                            : "its parameters are " + list);
    report(std::move(diagnostic));
    wrong_parameter_names_ = true;
  }
}

}  // namespace galatea::dsl
