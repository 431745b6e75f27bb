// Python's built-in functions, on static values. In: evaluated arguments. Out: a value, or poison after an
// error.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/builtin_functions.h"
#include "dsl/builtin_names.h"
#include "dsl/methods.h"

namespace galatea::dsl {
namespace builtin {

bool check_shape(Evaluator& ev, const CallArguments& a, size_t least, size_t most,
                 std::initializer_list<std::string_view> keywords) {
  for (const Value& value : a.positional) {
    if (value.is_poison()) return false;
  }
  for (const CallArguments::Keyword& keyword : a.keywords) {
    if (keyword.value.is_poison()) return false;
    if (std::find(keywords.begin(), keywords.end(), keyword.name) == keywords.end()) {
      ev.fail(Message::kUnknownParameter, keyword.name_span, {a.name, keyword.name, ""});
      return false;
    }
  }
  size_t count = a.positional.size();
  if (count >= least && count <= most) return true;
  std::string wanted = least == most ? std::to_string(least)
                       : most > 100  ? fmt::format("at least {}", least)
                                     : fmt::format("{} to {}", least, most);
  ev.fail(Message::kArgumentCount, a.span, {a.name, wanted, std::to_string(count)});
  return false;
}

const CallArguments::Keyword* keyword_of(const CallArguments& a, std::string_view name) {
  for (const CallArguments::Keyword& keyword : a.keywords) {
    if (keyword.name == name) return &keyword;
  }
  return nullptr;
}

Value no_node(Evaluator& ev, const CallArguments& a, std::string help) {
  return ev.fail(Message::kBuiltinOnNode, a.span, {a.name, ev.type_text(a.positional[0]), std::move(help)});
}

Value wrong_kind(Evaluator& ev, const CallArguments& a, size_t i, std::string wanted) {
  return ev.fail(Message::kWrongArgument, a.spans[i],
                 {a.name, std::move(wanted), describe_kind(a.positional[i])});
}

}  // namespace builtin

using namespace builtin;
namespace {

Value fn_abs(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  const Value& x = a.positional[0];
  if (x.is_node()) return ev.node_operator("math.abs", {x}, a.span);
  if (x.is(ValueKind::kArray)) return array_unary(ev, "abs", x, a.span);
  if (x.is(ValueKind::kFloat)) return Value::of(std::fabs(x.number));
  if (!x.is_integral()) return wrong_kind(ev, a, 0, "a number");
  return x.as_int() < 0 ? ev.unary("-", x, a.span) : Value::of(x.as_int());
}

Value fn_round(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 2, {"ndigits"})) return Value::poison();
  const Value x = plain(a.positional[0]);
  if (x.is_node() && ev.in_element() && a.positional.size() == 1 && a.keywords.empty())
    return ev.convert_element(x, DType::kI32, true, a.span);
  if (x.is_node()) return no_node(ev, a, "write `math.floor(x + 0.5)`");
  if (!x.is_number()) return wrong_kind(ev, a, 0, "a number");
  Value digits = a.positional.size() == 2   ? a.positional[1]
                 : keyword_of(a, "ndigits") ? keyword_of(a, "ndigits")->value
                                            : Value::none();
  if (digits.is(ValueKind::kNone)) {
    if (x.is_integral()) return Value::of(x.as_int());
    double rounded = std::nearbyint(x.number);
    if (!std::isfinite(rounded) || std::fabs(rounded) >= 9.2e18)
      return ev.fail(Message::kIntegerOverflow, a.span, {repr(x)});
    return Value::of(static_cast<int64_t>(rounded));
  }
  if (!digits.is_integral())
    return ev.fail(Message::kArgumentKind, a.span, {"ndigits", "an integer", describe_kind(digits)});
  int64_t n = std::clamp<int64_t>(digits.as_int(), -400, 400);
  if (x.is_integral()) {
    if (n >= 0) return Value::of(x.as_int());
    if (n < -18) return Value::of(int64_t{0});
    int64_t unit = 1;
    for (int64_t i = 0; i < -n; ++i) unit *= 10;
    int64_t quotient = x.as_int() / unit, rest = x.as_int() % unit;
    int64_t twice = std::abs(rest) - (unit - std::abs(rest));
    if (twice > 0 || (twice == 0 && quotient % 2 != 0)) quotient += x.as_int() < 0 ? -1 : 1;
    int64_t rounded = 0;
    if (__builtin_mul_overflow(quotient, unit, &rounded))
      return ev.fail(Message::kIntegerOverflow, a.span, {fmt::format("round({}, {})", x.as_int(), n)});
    return Value::of(rounded);
  }
  if (!std::isfinite(x.number) || n > 17) return x;
  // Through decimal digits, which round correctly.
  if (n >= 0) {
    std::string text = fmt::format("{:.{}f}", x.number, n);
    return Value::of(std::strtod(text.c_str(), nullptr));
  }
  double unit = std::pow(10.0, static_cast<double>(-n));
  return Value::of(std::nearbyint(x.number / unit) * unit);
}

std::string_view builtin_type_of(const Value& value) {
  switch (value.kind) {
    case ValueKind::kArray:
      return value.as<ArrayObject>().shape.empty() ? "" : "ndarray";
    case ValueKind::kBool:
    case ValueKind::kInt:
    case ValueKind::kFloat:
    case ValueKind::kString:
    case ValueKind::kList:
    case ValueKind::kTuple:
    case ValueKind::kDict:
      return type_name(value);
    case ValueKind::kNode:
      return "DataNode";
    default:
      return "";
  }
}

Value fn_isinstance(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 2, 2)) return Value::poison();
  std::vector<Value> types = a.positional[1].is(ValueKind::kTuple) ? a.positional[1].elements()
                                                                   : std::vector<Value>{a.positional[1]};
  for (const Value& type : types) {
    if (type.is(ValueKind::kDType)) {
      const Value& x = a.positional[0];
      bool scalar = x.is(ValueKind::kArray) && x.as<ArrayObject>().shape.empty();
      if (scalar && x.as<ArrayObject>().dtype == type.dtype) return Value::of(true);
      continue;
    }
    if (!type.is(ValueKind::kBuiltin) || !type.as<BuiltinObject>().is_type)
      return wrong_kind(ev, a, 1, "a type such as `int`, or a tuple of types");
    const std::string& name = type.as<BuiltinObject>().name;
    if (name == builtin_type_of(a.positional[0]) || (name == "int" && a.positional[0].is(ValueKind::kBool)))
      return Value::of(true);
  }
  return Value::of(false);
}

Value fn_type(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  return ev.make_builtin(std::string(builtin_type_of(a.positional[0])), fn_type, Value::none(), true);
}

Value fn_callable(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 1, 1)) return Value::poison();
  ValueKind kind = a.positional[0].kind;
  return Value::of(kind == ValueKind::kFunction || kind == ValueKind::kBuiltin ||
                   kind == ValueKind::kOperator || kind == ValueKind::kOperatorObject ||
                   kind == ValueKind::kPixel ||
                   (kind == ValueKind::kStruct && a.positional[0].as<StructObject>().find("__call__")));
}

Value fn_hasattr(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 2, 2)) return Value::poison();
  if (!a.positional[1].is(ValueKind::kString)) return wrong_kind(ev, a, 1, "a string");
  if (a.positional[0].is(ValueKind::kArray))
    return Value::of(array_attribute(ev, a.positional[0], a.positional[1].text()).has_value());
  if (!a.positional[0].is(ValueKind::kStruct))
    return Value::of(find_method(ev, a.positional[0], a.positional[1].text()).has_value());
  for (const auto& [name, value] : a.positional[0].as<StructObject>().fields) {
    if (name == a.positional[1].text()) return Value::of(true);
  }
  return Value::of(false);
}

Value fn_getattr(Evaluator& ev, CallArguments& a) {
  if (!check_shape(ev, a, 2, 3)) return Value::poison();
  if (!a.positional[1].is(ValueKind::kString)) return wrong_kind(ev, a, 1, "a string");
  if (a.positional[0].is(ValueKind::kStruct)) {
    for (const auto& [name, value] : a.positional[0].as<StructObject>().fields) {
      if (name == a.positional[1].text()) return value;
    }
  }
  if (a.positional[0].is(ValueKind::kModule))
    return ev.module_member(a.positional[0].as<ModuleObject>(), a.positional[1].text(), a.spans[1]);
  if (a.positional.size() == 2)
    return ev.attribute(a.positional[0], a.positional[1].text(), a.span, a.spans[1], nullptr);
  const auto method = find_method(ev, a.positional[0], a.positional[1].text());
  return method.value_or(a.positional[2]);
}

constexpr int kMaxPrintedDepth = 20;

// With nodes anywhere in it, a value is shown with their types.
std::optional<std::string> shown(Evaluator& ev, const Value& value, Span span, int depth) {
  if (value.is_node()) return ev.type_text(value);
  if (depth > kMaxPrintedDepth || !ev.has_node(value) || !value.is_sequence())
    return ev.text_of(value, span, depth > 0);
  std::string out;
  for (const Value& element : value.elements()) {
    auto part = ev.step(span) ? shown(ev, element, span, depth + 1) : std::nullopt;
    if (!part || !ev.check_size(out.size() + part->size(), span)) return std::nullopt;
    out += (out.empty() ? "" : ", ") + *part;
  }
  return value.is(ValueKind::kList) ? "[" + out + "]"
                                    : "(" + out + (value.elements().size() == 1 ? ",)" : ")");
}

Value fn_print(Evaluator& ev, CallArguments& a) {
  std::string text, separator = " ";
  for (const CallArguments::Keyword& keyword : a.keywords) {
    if (keyword.value.is_poison()) return Value::none();
    bool known =
        keyword.name == "sep" || keyword.name == "end" || keyword.name == "flush" || keyword.name == "file";
    if (!known) return ev.fail(Message::kUnknownParameter, keyword.name_span, {"print", keyword.name, ""});
    if (keyword.name != "sep" || keyword.value.is(ValueKind::kNone)) continue;
    if (!keyword.value.is(ValueKind::kString))
      return ev.fail(Message::kArgumentKind, keyword.span, {"sep", "a string", ev.type_text(keyword.value)});
    separator = keyword.value.text();
  }
  for (size_t i = 0; i < a.positional.size(); ++i) {
    if (ev.has_poison(a.positional[i])) return Value::none();
    auto part = shown(ev, a.positional[i], a.span, 0);
    if (!part || !ev.check_size(text.size() + separator.size() + part->size(), a.span)) return Value::none();
    text += (i == 0 ? "" : separator) + *part;
  }
  ev.note(Message::kPrinted, a.span, {text});
  return Value::none();
}

Value fn_exception(Evaluator& ev, CallArguments& a) {
  std::string text = a.name;
  for (size_t i = 0; i < a.positional.size(); ++i) {
    if (a.positional[i].is_poison()) return Value::poison();
    text += (i == 0 ? ": " : ", ") + to_display(a.positional[i]);
  }
  Value value = ev.make_string(text);
  value.kind = ValueKind::kException;
  return value;
}

Value fn_fail(Evaluator& ev, CallArguments& a) {
  std::string text;
  for (const Value& value : a.positional) text += (text.empty() ? "" : " ") + to_display(value);
  return ev.fail(Message::kRaised, a.span, {text.empty() ? "fail()" : text});
}

}  // namespace

void add_builtins(Evaluator& ev, Env& names) {
  struct Entry {
    const char* name;
    BuiltinFunction function;
    bool is_type = false;
  };
  constexpr Entry kEntries[] = {{"abs", fn_abs},           {"ascii", fn_ascii},
                                {"bin", fn_digits},        {"chr", fn_chr},
                                {"divmod", fn_divmod},     {"format", fn_format},
                                {"hex", fn_digits},        {"oct", fn_digits},
                                {"ord", fn_ord},           {"pow", fn_pow},
                                {"all", fn_all},           {"any", fn_any},
                                {"bool", fn_bool, true},   {"callable", fn_callable},
                                {"dict", fn_dict, true},   {"enumerate", fn_enumerate},
                                {"filter", fn_filter},     {"float", fn_float, true},
                                {"getattr", fn_getattr},   {"hasattr", fn_hasattr},
                                {"int", fn_int, true},     {"isinstance", fn_isinstance},
                                {"len", fn_len},           {"list", fn_list, true},
                                {"map", fn_map},           {"max", fn_max},
                                {"min", fn_min},           {"print", fn_print},
                                {"range", fn_range},       {"repr", fn_repr},
                                {"reversed", fn_reversed}, {"round", fn_round},
                                {"sorted", fn_sorted},     {"str", fn_str, true},
                                {"sum", fn_sum},           {"tuple", fn_tuple, true},
                                {"type", fn_type},         {"zip", fn_zip},
                                {"fail", fn_fail}};
  for (const Entry& entry : kEntries)
    names[entry.name] = {ev.make_builtin(entry.name, entry.function, Value::none(), entry.is_type), {}};
  for (const char* name : {"Exception", "ValueError", "TypeError", "RuntimeError", "AssertionError",
                           "KeyError", "IndexError", "NotImplementedError"})
    names[name] = {ev.make_builtin(name, fn_exception), {}};
}

}  // namespace galatea::dsl