// What all values share: names of kinds, repr. Equality and dict keys: value_compare.cpp.
#include "dsl/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "compiler/op/operator.h"
#include "dsl/array.h"
#include "dsl/unicode.h"

namespace galatea::dsl {
namespace {
// In messages.
constexpr size_t kMaxShownDepth = 20, kMaxShownElements = 1000;

void append_repr(std::string& out, const Value& value, Walk& walk);

std::string escape(char32_t c) {
  return c < 0x100     ? fmt::format("\\x{:02x}", static_cast<uint32_t>(c))
         : c < 0x10000 ? fmt::format("\\u{:04x}", static_cast<uint32_t>(c))
                       : fmt::format("\\U{:08x}", static_cast<uint32_t>(c));
}

std::string quote_text(const std::string& text) {
  char32_t quote = text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out(1, static_cast<char>(quote));
  for (char32_t c : decode_utf8(text)) {
    if (c == quote || c == '\\')
      out += '\\', out += static_cast<char>(c);
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (is_printable(c))
      append_utf8(out, c);
    else
      out += escape(c);
  }
  return out + static_cast<char>(quote);
}

void append_sequence(std::string& out, const Value& value, Walk& walk) {
  const std::vector<Value>& elements = value.elements();
  out += value.is(ValueKind::kList) ? '[' : '(';
  const char* separator = "";
  for (const Value& element : elements) {
    out += std::exchange(separator, ", ");
    append_repr(out, element, walk);
    if (walk.end() != Walk::End::kWhole) break;
  }
  out += value.is(ValueKind::kList) ? "]" : elements.size() == 1 ? ",)" : ")";
}

void append_dict(std::string& out, const Value& value, Walk& walk) {
  out += '{';
  const char* separator = "";
  for (const auto& [key, entry] : value.dict().entries) {
    out += std::exchange(separator, ", ");
    append_repr(out, key, walk);
    out += ": ";
    append_repr(out, entry, walk);
    if (walk.end() != Walk::End::kWhole) break;
  }
  out += '}';
}

void append_struct(std::string& out, const Value& value, Walk& walk) {
  const auto& record = value.as<StructObject>();
  out += (record.type.empty() ? "struct" : record.type) + "(";
  const char* separator = "";
  for (const auto& [name, field] : record.fields) {
    if (name.starts_with("__")) continue;
    out += std::exchange(separator, ", ") + name + "=";
    append_repr(out, field, walk);
    if (walk.end() != Walk::End::kWhole) break;
  }
  out += ')';
}

bool is_container(const Value& value) {
  return value.is_sequence() || value.is(ValueKind::kDict) || value.is(ValueKind::kStruct);
}

// What contains itself is shown as in Python: `[1, [...]]`.
void append_container(std::string& out, const Value& value, Walk& walk) {
  if (walk.is_inside(value.object)) {
    out += value.is(ValueKind::kList) ? "[...]" : value.is(ValueKind::kTuple) ? "(...)" : "{...}";
    return;
  }
  Walk::Inside inside(walk, value.object);
  if (walk.end() != Walk::End::kWhole) {
    out += "...";
    return;
  }
  const size_t start = out.size();
  if (value.is_sequence())
    append_sequence(out, value, walk);
  else if (value.is(ValueKind::kDict))
    append_dict(out, value, walk);
  else
    append_struct(out, value, walk);
  walk.visit((out.size() - start) / 16);  // what is nested deep counts for each level
}

std::string repr_of_scalar(const Value& value, Walk& walk) {
  switch (value.kind) {
    case ValueKind::kNone:
      return "None";
    case ValueKind::kBool:
      return value.boolean ? "True" : "False";
    case ValueKind::kInt:
      return std::to_string(value.integer);
    case ValueKind::kFloat:
      return format_float(value.number);
    case ValueKind::kString:
      return walk.visit(value.text().size() / 8) ? quote_text(value.text()) : "...";
    case ValueKind::kRange: {
      const auto& range = value.as<RangeObject>();
      return range.step == 1 ? fmt::format("range({}, {})", range.start, range.stop)
                             : fmt::format("range({}, {}, {})", range.start, range.stop, range.step);
    }
    case ValueKind::kArray:
      return walk.visit(value.as<ArrayObject>().elements.size() * 2) ? array_repr(value) : "...";
    case ValueKind::kFunction:
      return "<function " + value.as<FunctionObject>().name + ">";
    case ValueKind::kBuiltin:
      return "<built-in " + value.as<BuiltinObject>().name + ">";
    case ValueKind::kModule:
      return "<module " + value.as<ModuleObject>().name + ">";
    case ValueKind::kOperator:
    case ValueKind::kOperatorObject:
      return "<operator fn." + value.as<OperatorObject>().path + ">";
    case ValueKind::kPipeline:
      return "<pipeline " + value.as<PipelineObject>().name + ">";
    case ValueKind::kPixel:
      return "<pixel function " + value.as<PixelObject>().function->name + ">";
    case ValueKind::kDType:
      return "types." + std::string(types_name(value.dtype));
    case ValueKind::kEnum:
      return "types." + value.as<EnumObject>().name;
    case ValueKind::kEllipsis:
      return "Ellipsis";
    default:
      return "<" + std::string(type_name(value)) + ">";
  }
}

/// Into one text, however deep it goes: texts of inner ones are not copied into those around them.
void append_repr(std::string& out, const Value& value, Walk& walk) {
  if (!walk.visit())
    out += "...";
  else if (is_container(value))
    append_container(out, value, walk);
  else
    out += repr_of_scalar(value, walk);
}

}  // namespace

const std::string& Value::text() const { return as<StringObject>().text; }
SequenceObject& Value::sequence() const { return as<SequenceObject>(); }
std::vector<Value>& Value::elements() const { return as<SequenceObject>().elements; }
DictObject& Value::dict() const { return as<DictObject>(); }
ContainerObject& Value::container() const { return as<ContainerObject>(); }

bool Value::same_as(const Value& other) const {
  if (kind != other.kind) return false;
  switch (kind) {
    case ValueKind::kBool:
      return boolean == other.boolean;
    case ValueKind::kInt:
      return integer == other.integer;
    case ValueKind::kFloat:
      return std::isnan(number)
                 ? std::isnan(other.number)
                 : number == other.number && std::signbit(number) == std::signbit(other.number);
    case ValueKind::kDType:
      return dtype == other.dtype;
    case ValueKind::kNode:
      return node == other.node;
    case ValueKind::kString:
      return object == other.object || text() == other.text();
    case ValueKind::kUndefined:
    case ValueKind::kPoison:
    case ValueKind::kNone:
    case ValueKind::kEllipsis:
      return true;
    default:
      return object == other.object;
  }
}

Value* DictObject::find(const std::string& key) {
  auto found = index.find(key);
  return found == index.end() ? nullptr : &entries[found->second].second;
}

void DictObject::set(const std::string& key, Value key_value, Value value) {
  auto [at, fresh] = index.emplace(key, entries.size());
  if (!fresh) {
    entries[at->second].second = value;
    return;
  }
  entries.emplace_back(key_value, value);
  constexpr size_t kEntryBytes = 2 * sizeof(Value) + 96;  // and the node of the index
  if (arena) arena->count(kEntryBytes + (key.size() > 15 ? key.size() : 0));
}

bool DictObject::erase(const std::string& key) {
  auto found = index.find(key);
  if (found == index.end()) return false;
  size_t position = found->second;
  index.erase(found);
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(position));
  for (auto& [text, at] : index) at -= at > position;
  return true;
}

int64_t RangeObject::size() const {
  // In unsigned arithmetic: the distance of two 64-bit ints needs 64 bits and a sign.
  if (step > 0 ? start >= stop : start <= stop) return 0;
  uint64_t distance = step > 0 ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                               : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
  uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  uint64_t count = (distance - 1) / stride + 1;
  return count > static_cast<uint64_t>(INT64_MAX) ? INT64_MAX : static_cast<int64_t>(count);
}

std::string_view type_name(const Value& value) {
  switch (value.kind) {
    case ValueKind::kNone:
      return "NoneType";
    case ValueKind::kBool:
      return "bool";
    case ValueKind::kInt:
      return "int";
    case ValueKind::kFloat:
      return "float";
    case ValueKind::kString:
      return "str";
    case ValueKind::kList:
      return "list";
    case ValueKind::kTuple:
      return "tuple";
    case ValueKind::kDict:
      return "dict";
    case ValueKind::kRange:
      return "range";
    case ValueKind::kArray:
      return value.as<ArrayObject>().shape.empty() ? numpy_name(value.as<ArrayObject>().dtype) : "ndarray";
    case ValueKind::kStruct: {
      const std::string& type = value.as<StructObject>().type;
      return type.empty() ? std::string_view("struct") : type;
    }
    case ValueKind::kFunction:
      return "function";
    case ValueKind::kBuiltin:
      return value.as<BuiltinObject>().is_type ? "type" : "built-in function";
    case ValueKind::kModule:
      return "module";
    case ValueKind::kOperator:
      return "operator";
    case ValueKind::kOperatorObject:
      return "operator object";
    case ValueKind::kPipeline:
      return "pipeline";
    case ValueKind::kPixel:
      return "pixel function";
    case ValueKind::kDecorator:
      return "decorator";
    case ValueKind::kDType:
      return "dtype";
    case ValueKind::kEnum:
      return "enum value";
    case ValueKind::kNewAxis:
      return "newaxis";
    case ValueKind::kEllipsis:
      return "ellipsis";
    case ValueKind::kException:
      return "exception";
    case ValueKind::kNode:
      return "data node";
    default:
      return "unknown value";
  }
}

std::string describe_kind(const Value& value) {
  if (value.is(ValueKind::kNone)) return "`None`";
  std::string name(type_name(value));
  bool vowel = std::string_view("aeiou").find(name[0]) != std::string_view::npos || name == "ndarray";
  bool plain_code = value.kind >= ValueKind::kBool && value.kind <= ValueKind::kStruct;
  return std::string(vowel ? "an " : "a ") + (plain_code ? "`" + name + "`" : name);
}

const Value* StructObject::find(std::string_view name) const {
  auto found = std::ranges::find_if(fields, [&](const auto& field) { return field.first == name; });
  return found == fields.end() ? nullptr : &found->second;
}

bool Walk::is_inside(const Object* object) const {
  return std::find(path_.begin(), path_.end(), object) != path_.end();
}

std::string repr(const Value& value, Walk& walk) {
  std::string out;
  append_repr(out, value, walk);
  return out;
}
std::string to_display(const Value& value, Walk& walk) {
  if (value.is(ValueKind::kArray) && walk.visit(value.as<ArrayObject>().elements.size() * 2))
    return array_display(value);
  if (!value.is(ValueKind::kString)) return repr(value, walk);
  walk.visit(value.text().size() / 16);
  return value.text();
}

std::string repr(const Value& value) {
  Walk walk(kMaxShownElements, kMaxShownDepth);
  return repr(value, walk);
}
std::string in_ascii(const std::string& text) {
  std::string out;
  for (char32_t c : decode_utf8(text)) out += c < 0x80 ? std::string(1, static_cast<char>(c)) : escape(c);
  return out;
}
std::string to_display(const Value& value) {
  if (value.is(ValueKind::kArray)) return array_display(value);
  return value.is(ValueKind::kString) ? value.text() : repr(value);
}

// The shortest digits that read back as the same number, laid out as Python does.
std::string format_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  double magnitude = std::fabs(value);
  bool scientific = magnitude != 0 && (magnitude >= 1e16 || magnitude < 1e-4);
  char buffer[400];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                           scientific ? std::chars_format::scientific : std::chars_format::fixed);
  std::string text(buffer, end.ptr);
  if (!scientific && text.find('.') == std::string::npos) text += ".0";
  return text;
}

namespace {

// Visits each container once, however often it is shared, and without recursion.
template <typename Test>
bool contains(const Value& value, Test test, size_t* visited) {
  if (!is_container(value)) return test(value);
  std::vector<Value> pending = {value};
  std::unordered_set<const Object*> seen;
  bool found = false;
  size_t count = 0;
  auto look = [&](const Value& element) {
    ++count;
    found = found || test(element);
    if (is_container(element) && seen.insert(element.object).second) pending.push_back(element);
  };
  while (!pending.empty() && !found) {
    Value next = pending.back();
    pending.pop_back();
    if (next.is_sequence()) {
      for (const Value& element : next.elements()) look(element);
    } else if (next.is(ValueKind::kDict)) {
      for (const auto& [key, entry] : next.dict().entries) look(entry);
    } else {
      for (const auto& [name, field] : next.as<StructObject>().fields) look(field);
    }
  }
  if (visited) *visited += count;
  return found;
}

}  // namespace

bool contains_node(const Value& value, size_t* visited) {
  return contains(value, [](const Value& v) { return v.is_node(); }, visited);
}
bool contains_poison(const Value& value, size_t* visited) {
  return contains(value, [](const Value& v) { return v.is_poison(); }, visited);
}

}  // namespace galatea::dsl
