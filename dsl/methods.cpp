// Methods of strings, lists, dicts and tuples. In: the object and evaluated arguments. Out: a value.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "dsl/evaluator.h"

namespace galatea::dsl {
namespace {

bool check_count(Evaluator& ev, const CallArguments& a, size_t least, size_t most) {
  for (const Value& value : a.positional) {
    if (value.is(ValueKind::kPoison) || value.is(ValueKind::kUnknown)) return false;
  }
  if (!a.keywords.empty())
    return ev.fail(Message::kUnknownParameter, a.keywords[0].name_span, {a.name, a.keywords[0].name, ""}),
           false;
  size_t count = a.positional.size();
  if (count >= least && count <= most) return true;
  std::string wanted = least == most ? std::to_string(least)
                       : most > 100  ? fmt::format("at least {}", least)
                                     : fmt::format("{} to {}", least, most);
  return ev.fail(Message::kArgumentCount, a.span, {a.name, wanted, std::to_string(count)}), false;
}

bool check_texts(Evaluator& ev, const CallArguments& a, size_t least, size_t most) {
  if (!check_count(ev, a, least, most)) return false;
  for (size_t i = 0; i < a.positional.size(); ++i) {
    if (!a.positional[i].is(ValueKind::kString))
      return ev.fail(Message::kWrongArgument, a.spans[i],
                     {a.name, "a string", describe_kind(a.positional[i])}),
             false;
  }
  return true;
}

// ---- str ----

Value str_join(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 1, 1)) return Value::poison();
  auto elements = ev.iterate(a.positional[0], a.spans[0], "joined");
  if (!elements) return Value::poison();
  std::string out;
  for (size_t i = 0; i < elements->size(); ++i) {
    if ((*elements)[i].is_poison()) return Value::poison();
    if (!(*elements)[i].is(ValueKind::kString))
      return ev.fail(Message::kWrongArgument, a.spans[0], {"join", "strings", describe_kind((*elements)[i])});
    if (i > 0) out += a.self.text();
    out += (*elements)[i].text();
    if ((i & 255) == 0 && !ev.check_size(out.size(), a.span)) return Value::poison();
  }
  return ev.make_string(std::move(out));
}

Value str_split(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 0, 2)) return Value::poison();
  const std::string& text = a.self.text();
  int64_t limit = -1;
  if (a.positional.size() == 2) {
    if (!a.positional[1].is_integral())
      return ev.fail(Message::kWrongArgument, a.spans[1],
                     {"split", "an integer", describe_kind(a.positional[1])});
    limit = a.positional[1].as_int();
  }
  std::vector<Value> parts;
  bool on_blanks = a.positional.empty() || a.positional[0].is(ValueKind::kNone);
  if (on_blanks) {
    constexpr std::string_view kBlank = " \t\r\n\f\v";
    size_t at = text.find_first_not_of(kBlank);
    while (at != std::string::npos) {
      bool last = limit >= 0 && static_cast<int64_t>(parts.size()) == limit;
      size_t end =
          last ? text.find_last_not_of(kBlank) + 1 : std::min(text.find_first_of(kBlank, at), text.size());
      parts.push_back(ev.make_string(text.substr(at, end - at)));
      at = last ? std::string::npos : text.find_first_not_of(kBlank, end);
    }
    return ev.make_list(std::move(parts), a.span);
  }
  if (!a.positional[0].is(ValueKind::kString) || a.positional[0].text().empty())
    return ev.fail(Message::kWrongArgument, a.spans[0],
                   {"split", "a string that is not empty", describe_kind(a.positional[0])});
  const std::string& separator = a.positional[0].text();
  size_t at = 0;
  for (;;) {
    size_t end = limit >= 0 && static_cast<int64_t>(parts.size()) >= limit ? std::string::npos
                                                                           : text.find(separator, at);
    parts.push_back(ev.make_string(text.substr(at, end == std::string::npos ? end : end - at)));
    if (end == std::string::npos) break;
    at = end + separator.size();
  }
  return ev.make_list(std::move(parts), a.span);
}

Value strip(Evaluator& ev, CallArguments& a, bool left, bool right) {
  if (!check_texts(ev, a, 0, 1)) return Value::poison();
  std::string blank = a.positional.empty() ? " \t\r\n\f\v" : a.positional[0].text();
  const std::string& text = a.self.text();
  size_t begin = left ? text.find_first_not_of(blank) : 0;
  if (begin == std::string::npos) return ev.make_string("");
  size_t last = right ? text.find_last_not_of(blank) : text.size() - 1;
  if (last == std::string::npos) return ev.make_string("");
  return ev.make_string(text.empty() ? "" : text.substr(begin, last + 1 - begin));
}
Value str_strip(Evaluator& ev, CallArguments& a) { return strip(ev, a, true, true); }
Value str_lstrip(Evaluator& ev, CallArguments& a) { return strip(ev, a, true, false); }
Value str_rstrip(Evaluator& ev, CallArguments& a) { return strip(ev, a, false, true); }

template <typename Convert>
Value converted(Evaluator& ev, CallArguments& a, Convert convert) {
  if (!check_count(ev, a, 0, 0)) return Value::poison();
  std::string text = a.self.text();
  std::transform(text.begin(), text.end(), text.begin(),
                 [&](unsigned char c) { return static_cast<char>(c < 0x80 ? convert(c) : c); });
  return ev.make_string(std::move(text));
}
Value str_upper(Evaluator& ev, CallArguments& a) {
  return converted(ev, a, [](int c) { return std::toupper(c); });
}
Value str_lower(Evaluator& ev, CallArguments& a) {
  return converted(ev, a, [](int c) { return std::tolower(c); });
}

Value affix(Evaluator& ev, CallArguments& a, bool front) {
  if (!check_count(ev, a, 1, 1)) return Value::poison();
  std::vector<Value> options =
      a.positional[0].is(ValueKind::kTuple) ? a.positional[0].elements() : a.positional;
  for (const Value& option : options) {
    if (!option.is(ValueKind::kString))
      return ev.fail(Message::kWrongArgument, a.spans[0],
                     {a.name, "a string or a tuple of strings", describe_kind(option)});
    if (front ? a.self.text().starts_with(option.text()) : a.self.text().ends_with(option.text()))
      return Value::of(true);
  }
  return Value::of(false);
}
Value str_startswith(Evaluator& ev, CallArguments& a) { return affix(ev, a, true); }
Value str_endswith(Evaluator& ev, CallArguments& a) { return affix(ev, a, false); }

Value str_replace(Evaluator& ev, CallArguments& a) {
  if (!check_texts(ev, a, 2, 2)) return Value::poison();
  const std::string &text = a.self.text(), &from = a.positional[0].text(), &to = a.positional[1].text();
  if (from.empty())
    return ev.fail(Message::kWrongArgument, a.spans[0],
                   {"replace", "a string that is not empty", "an empty one"});
  std::string out;
  size_t at = 0;
  for (size_t found; (found = text.find(from, at)) != std::string::npos; at = found + from.size()) {
    out.append(text, at, found - at).append(to);
    if (out.size() > (size_t{1} << 20) && !ev.check_size(out.size(), a.span)) return Value::poison();
  }
  return ev.make_string(out.append(text, at));
}

Value str_isdigit(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 0, 0)) return Value::poison();
  const std::string& text = a.self.text();
  return Value::of(!text.empty() &&
                   std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); }));
}

Value str_find(Evaluator& ev, CallArguments& a) {
  if (!check_texts(ev, a, 1, 1)) return Value::poison();
  size_t at = a.self.text().find(a.positional[0].text());
  if (at == std::string::npos) return Value::of(int64_t{-1});
  int64_t characters = 0;
  for (size_t i = 0; i < at; ++i) characters += (static_cast<unsigned char>(a.self.text()[i]) & 0xC0) != 0x80;
  return Value::of(characters);
}

Value str_count(Evaluator& ev, CallArguments& a) {
  if (!check_texts(ev, a, 1, 1) || a.positional[0].text().empty()) return Value::of(int64_t{0});
  int64_t count = 0;
  for (size_t at = 0; (at = a.self.text().find(a.positional[0].text(), at)) != std::string::npos;
       at += a.positional[0].text().size())
    ++count;
  return Value::of(count);
}

// "{} {0} {name:>5}".format(…)
Value str_format(Evaluator& ev, CallArguments& a) {
  const std::string& text = a.self.text();
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    bool doubled = i + 1 < text.size() && text[i + 1] == c;
    if (c != '{' && c != '}') {
      out += c;
      continue;
    }
    if (doubled) {
      out += c;
      ++i;
      continue;
    }
    size_t end = text.find('}', i);
    if (c == '}' || end == std::string::npos) return ev.fail(Message::kBadFormat, a.span, {text, "a string"});
    std::string field = text.substr(i + 1, end - i - 1), spec;
    i = end;
    if (size_t colon = field.find(':'); colon != std::string::npos) {
      spec = field.substr(colon + 1);
      field.resize(colon);
    }
    bool as_repr = field.ends_with("!r");
    if (as_repr || field.ends_with("!s")) field.resize(field.size() - 2);
    Value value;
    if (field.empty() || std::isdigit(static_cast<unsigned char>(field[0]))) {
      bool number =
          field.empty() || (field.size() < 6 && std::all_of(field.begin(), field.end(),
                                                            [](unsigned char d) { return std::isdigit(d); }));
      size_t index = field.empty() ? next++ : number ? static_cast<size_t>(std::stoi(field)) : SIZE_MAX;
      if (index >= a.positional.size())
        return ev.fail(Message::kFormatCount, a.span, {std::to_string(a.positional.size())});
      value = a.positional[index];
    } else {
      auto found = std::find_if(a.keywords.begin(), a.keywords.end(),
                                [&](const auto& keyword) { return keyword.name == field; });
      if (found == a.keywords.end()) return ev.fail(Message::kNoKey, a.span, {"'" + field + "'"});
      value = found->value;
    }
    if (value.is_poison()) return Value::poison();
    if (contains_node(value)) return ev.fail(Message::kNodeInString, a.span, {ev.type_text(value)});
    Value shown = ev.format_value(as_repr ? ev.make_string(repr(value)) : value, spec, a.span);
    if (shown.is_poison() || !ev.check_size(out.size() + shown.text().size(), a.span)) return Value::poison();
    out += shown.text();
  }
  return ev.make_string(std::move(out));
}

// ---- list and tuple ----

bool change(Evaluator& ev, const CallArguments& a) { return ev.may_change(a.self, a.span); }

// An index as list methods take it; nullopt after an error.
std::optional<size_t> position(Evaluator& ev, const CallArguments& a, size_t i, bool clamp) {
  auto size = static_cast<int64_t>(a.self.elements().size());
  if (!a.positional[i].is_integral()) {
    ev.fail(Message::kIndexKind, a.spans[i], {describe_kind(a.positional[i])});
    return std::nullopt;
  }
  int64_t at = a.positional[i].as_int();
  if (at < 0) at += size;
  if (clamp) return static_cast<size_t>(std::clamp<int64_t>(at, 0, size));
  if (at >= 0 && at < size) return static_cast<size_t>(at);
  ev.fail(Message::kIndexRange, a.spans[i],
          {std::to_string(a.positional[i].as_int()), "list", std::to_string(size)});
  return std::nullopt;
}

Value list_append(Evaluator& ev, CallArguments& a) {
  // What failed is appended too, so that the list keeps its length.
  if (a.positional.size() != 1 || !a.keywords.empty())
    return ev.fail(Message::kArgumentCount, a.span, {"append", "1", std::to_string(a.positional.size())});
  if (!change(ev, a)) return Value::none();
  a.self.elements().push_back(a.positional[0]);
  ev.arena.count(sizeof(Value));
  return Value::none();
}

Value list_extend(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 1, 1)) return Value::poison();
  auto elements = ev.iterate(a.positional[0], a.spans[0], "added to a list");
  if (!elements || !change(ev, a)) return Value::none();
  auto& list = a.self.elements();
  list.insert(list.end(), elements->begin(), elements->end());
  ev.arena.count(elements->size() * sizeof(Value));
  ev.check_size(list.size() * sizeof(Value), a.span);
  return Value::none();
}

Value list_insert(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 2, 2)) return Value::poison();
  auto at = position(ev, a, 0, true);
  if (!at || !change(ev, a)) return Value::none();
  a.self.elements().insert(a.self.elements().begin() + static_cast<std::ptrdiff_t>(*at), a.positional[1]);
  ev.arena.count(sizeof(Value));
  return Value::none();
}

Value list_pop(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 0, 1)) return Value::poison();
  auto& list = a.self.elements();
  if (list.empty()) return ev.fail(Message::kIndexRange, a.span, {"-1", "list", "0"});
  size_t at = list.size() - 1;
  if (!a.positional.empty()) {
    auto given = position(ev, a, 0, false);
    if (!given) return Value::poison();
    at = *given;
  }
  if (!change(ev, a)) return Value::poison();
  Value value = list[at];
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
  return value;
}

Value list_clear(Evaluator& ev, CallArguments& a) {
  if (check_count(ev, a, 0, 0) && change(ev, a)) a.self.elements().clear();
  return Value::none();
}

Value list_index(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 1, 1)) return Value::poison();
  const auto& list = a.self.elements();
  for (size_t i = 0; i < list.size(); ++i) {
    if (equal(list[i], a.positional[0])) return Value::of(static_cast<int64_t>(i));
  }
  return ev.fail(Message::kNotInList, a.span,
                 {ev.type_text(a.positional[0]), std::string(type_name(a.self))});
}

Value list_remove(Evaluator& ev, CallArguments& a) {
  Value at = list_index(ev, a);
  if (!at.is_poison() && change(ev, a)) a.self.elements().erase(a.self.elements().begin() + at.integer);
  return Value::none();
}

Value list_count(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 1, 1)) return Value::poison();
  const auto& list = a.self.elements();
  return Value::of(static_cast<int64_t>(
      std::count_if(list.begin(), list.end(), [&](const Value& v) { return equal(v, a.positional[0]); })));
}

Value list_copy(Evaluator& ev, CallArguments& a) {
  return check_count(ev, a, 0, 0) ? ev.make_list(a.self.elements(), a.span) : Value::poison();
}

Value list_reverse(Evaluator& ev, CallArguments& a) {
  if (check_count(ev, a, 0, 0) && change(ev, a))
    std::reverse(a.self.elements().begin(), a.self.elements().end());
  return Value::none();
}

Value list_sort(Evaluator& ev, CallArguments& a) {
  if (!a.positional.empty())
    return ev.fail(Message::kArgumentCount, a.span, {"sort", "0", std::to_string(a.positional.size())});
  if (!change(ev, a)) return Value::none();
  Env names;
  add_builtins(ev, names);
  CallArguments inner = a;
  inner.positional = {a.self};
  inner.spans = {a.span};
  Value sorted = ev.call(names["sorted"].value, inner);
  if (!sorted.is_poison()) a.self.elements() = sorted.elements();
  return Value::none();
}

// ---- dict ----

bool change_dict(Evaluator& ev, const CallArguments& a) { return ev.may_change(a.self, a.span); }

// The text of the key in argument 0; empty after an error.
std::string key_of(Evaluator& ev, const CallArguments& a) {
  std::string text = key_text(a.positional[0]);
  if (text.empty()) ev.fail(Message::kNotHashable, a.spans[0], {describe_kind(a.positional[0])});
  return text;
}

Value dict_get(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 1, 2)) return Value::poison();
  std::string key = key_of(ev, a);
  if (key.empty()) return Value::poison();
  if (Value* found = a.self.dict().find(key)) return *found;
  return a.positional.size() == 2 ? a.positional[1] : Value::none();
}

Value dict_parts(Evaluator& ev, CallArguments& a, bool keys, bool values) {
  if (!check_count(ev, a, 0, 0)) return Value::poison();
  std::vector<Value> out;
  for (const auto& [key, value] : a.self.dict().entries)
    out.push_back(keys && values ? ev.make_tuple({key, value}) : keys ? key : value);
  return ev.make_list(std::move(out), a.span);
}
Value dict_items(Evaluator& ev, CallArguments& a) { return dict_parts(ev, a, true, true); }
Value dict_keys(Evaluator& ev, CallArguments& a) { return dict_parts(ev, a, true, false); }
Value dict_values(Evaluator& ev, CallArguments& a) { return dict_parts(ev, a, false, true); }

Value dict_pop(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 1, 2)) return Value::poison();
  std::string key = key_of(ev, a);
  if (key.empty()) return Value::poison();
  Value* found = a.self.dict().find(key);
  if (!found)
    return a.positional.size() == 2 ? a.positional[1]
                                    : ev.fail(Message::kNoKey, a.span, {repr(a.positional[0])});
  Value value = *found;
  if (!change_dict(ev, a)) return Value::poison();
  a.self.dict().erase(key);
  return value;
}

Value dict_update(Evaluator& ev, CallArguments& a) {
  CallArguments inner = a;
  inner.name = "update";
  Env names;
  add_builtins(ev, names);
  Value added = ev.call(names["dict"].value, inner);
  if (added.is_poison() || !change_dict(ev, a)) return Value::none();
  for (const auto& [key, value] : added.dict().entries) a.self.dict().set(key_text(key), key, value);
  return Value::none();
}

Value dict_setdefault(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 1, 2)) return Value::poison();
  std::string key = key_of(ev, a);
  if (key.empty()) return Value::poison();
  if (Value* found = a.self.dict().find(key)) return *found;
  Value value = a.positional.size() == 2 ? a.positional[1] : Value::none();
  if (!change_dict(ev, a)) return Value::poison();
  a.self.dict().set(key, a.positional[0], value);
  return value;
}

Value dict_copy(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 0, 0)) return Value::poison();
  Value copy = ev.make_dict(a.span);
  copy.dict().entries = a.self.dict().entries;
  copy.dict().index = a.self.dict().index;
  ev.arena.count(copy.dict().entries.size() * 2 * sizeof(Value));
  return copy;
}

}  // namespace

bool changes_container(const std::string& method) {
  static const std::set<std::string> names = {"append", "extend",  "insert", "pop",    "remove",
                                              "clear",  "reverse", "sort",   "update", "setdefault"};
  return names.contains(method);
}

namespace {

struct Method {
  const char* name;
  BuiltinFunction function;
};
constexpr Method kStringMethods[] = {
    {"format", str_format},     {"join", str_join},       {"split", str_split},
    {"strip", str_strip},       {"lstrip", str_lstrip},   {"rstrip", str_rstrip},
    {"upper", str_upper},       {"lower", str_lower},     {"startswith", str_startswith},
    {"endswith", str_endswith}, {"replace", str_replace}, {"isdigit", str_isdigit},
    {"find", str_find},         {"count", str_count}};
constexpr Method kListMethods[] = {
    {"append", list_append}, {"extend", list_extend},   {"insert", list_insert}, {"pop", list_pop},
    {"clear", list_clear},   {"index", list_index},     {"remove", list_remove}, {"count", list_count},
    {"copy", list_copy},     {"reverse", list_reverse}, {"sort", list_sort}};
constexpr Method kTupleMethods[] = {{"index", list_index}, {"count", list_count}};
constexpr Method kDictMethods[] = {{"get", dict_get},
                                   {"items", dict_items},
                                   {"keys", dict_keys},
                                   {"values", dict_values},
                                   {"pop", dict_pop},
                                   {"update", dict_update},
                                   {"setdefault", dict_setdefault},
                                   {"copy", dict_copy}};

template <typename Visit>
void visit_methods(const Value& base, Visit visit) {
  auto all = [&](const auto& table) {
    for (const Method& method : table) visit(method);
  };
  if (base.is(ValueKind::kString)) all(kStringMethods);
  if (base.is(ValueKind::kList)) all(kListMethods);
  if (base.is(ValueKind::kTuple)) all(kTupleMethods);
  if (base.is(ValueKind::kDict)) all(kDictMethods);
}

}  // namespace

std::optional<Value> find_method(Evaluator& evaluator, const Value& base, const std::string& name) {
  std::optional<Value> found;
  visit_methods(base, [&](const Method& method) {
    if (name == method.name) found = evaluator.make_builtin(name, method.function, base);
  });
  return found;
}

std::vector<std::string> method_names(const Value& base) {
  std::vector<std::string> names;
  visit_methods(base, [&](const Method& method) { names.emplace_back(method.name); });
  return names;
}

}  // namespace galatea::dsl
