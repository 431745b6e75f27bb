// Methods of lists, dicts and tuples. In: the object and evaluated arguments. Out: a value.
#include "dsl/methods.h"

#include <algorithm>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/builtin_names.h"

namespace galatea::dsl {

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

namespace {

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
  if (!ev.check_size((list.size() + elements->size()) * sizeof(Value), a.span)) return Value::none();
  list.insert(list.end(), elements->begin(), elements->end());
  ev.arena.count(elements->size() * sizeof(Value));
  return Value::none();
}

Value list_insert(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 2, 2)) return Value::poison();
  auto at = position(ev, a, 0, true);
  if (!at || !change(ev, a)) return Value::none();
  ev.spend((a.self.elements().size() - *at) / 4);
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
  ev.spend((list.size() - at) / 4);
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
    auto same = ev.equals(list[i], a.positional[0], a.span);
    if (!same) return Value::poison();
    if (*same) return Value::of(static_cast<int64_t>(i));
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
  int64_t count = 0;
  for (const Value& value : list) {
    auto same = ev.equals(value, a.positional[0], a.span);
    if (!same) return Value::poison();
    count += *same;
  }
  return Value::of(count);
}

Value list_copy(Evaluator& ev, CallArguments& a) {
  return check_count(ev, a, 0, 0) ? ev.make_list(a.self.elements(), a.span) : Value::poison();
}

Value list_reverse(Evaluator& ev, CallArguments& a) {
  if (check_count(ev, a, 0, 0) && change(ev, a))
    ev.spend(a.self.elements().size()), std::reverse(a.self.elements().begin(), a.self.elements().end());
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
  std::string text = ev.key_of(a.positional[0]);
  if (text.empty()) ev.fail_key(a.positional[0], a.spans[0]);
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
  ev.spend(a.self.dict().entries.size());
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
  for (const auto& [key, value] : added.dict().entries) a.self.dict().set(ev.key_of(key), key, value);
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
  for (const auto& [key, value] : a.self.dict().entries) copy.dict().set(ev.key_of(key), key, value);
  return copy;
}

Value dict_clear(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 0, 0) || !change_dict(ev, a)) return Value::none();
  a.self.dict().entries.clear();
  a.self.dict().index.clear();
  return Value::none();
}

Value dict_popitem(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 0, 0)) return Value::poison();
  if (a.self.dict().entries.empty()) return ev.fail(Message::kNoKey, a.span, {"to take: the dict is empty"});
  if (!change_dict(ev, a)) return Value::poison();
  auto [key, value] = a.self.dict().entries.back();
  ev.spend(a.self.dict().entries.size());
  a.self.dict().erase(ev.key_of(key));
  return ev.make_tuple({key, value});
}

// dict.fromkeys(keys, value)
Value dict_fromkeys(Evaluator& ev, CallArguments& a) {
  if (!check_count(ev, a, 1, 2)) return Value::poison();
  auto keys = ev.iterate(a.positional[0], a.spans[0], "made keys");
  if (!keys) return Value::poison();
  Value result = ev.make_dict(a.span);
  for (const Value& key : *keys) {
    std::string text = ev.key_of(key);
    if (text.empty()) return ev.fail_key(key, a.spans[0]);
    result.dict().set(text, key, a.positional.size() == 2 ? a.positional[1] : Value::none());
  }
  return result;
}

}  // namespace

bool changes_container(const std::string& method) {
  static const std::set<std::string> names = {"append", "extend",  "insert", "pop",    "popitem",   "remove",
                                              "clear",  "reverse", "sort",   "update", "setdefault"};
  return names.contains(method);
}

namespace {

constexpr Method kTypeMethods[] = {{"fromkeys", dict_fromkeys}};
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
                                   {"copy", dict_copy},
                                   {"clear", dict_clear},
                                   {"popitem", dict_popitem}};

template <typename Visit>
void visit_methods(const Value& base, Visit visit) {
  auto all = [&](const auto& table) {
    for (const Method& method : table) visit(method);
  };
  if (base.is(ValueKind::kString)) all(string_methods());
  if (base.is(ValueKind::kList)) all(kListMethods);
  if (base.is(ValueKind::kTuple)) all(kTupleMethods);
  if (base.is(ValueKind::kDict)) all(kDictMethods);
  bool dict_type = base.is(ValueKind::kBuiltin) && base.as<BuiltinObject>().is_type &&
                   base.as<BuiltinObject>().name == "dict";
  if (dict_type) all(kTypeMethods);
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
