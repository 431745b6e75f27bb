// Equality, truth and dict keys of static values.
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/value.h"

namespace galatea::dsl {
namespace {

constexpr size_t kMaxKeyElements = 1'000'000;

bool equal_sequences(const Value& a, const Value& b, Walk& walk) {
  const auto &x = a.elements(), &y = b.elements();
  if (x.size() != y.size()) return false;
  Walk::Inside inside(walk, a.object);
  for (size_t i = 0; i < x.size(); ++i) {
    if (!equal(x[i], y[i], walk)) return false;
  }
  return true;
}

bool equal_dicts(const Value& a, const Value& b, Walk& walk) {
  if (a.dict().entries.size() != b.dict().entries.size()) return false;
  Walk::Inside inside(walk, a.object);
  for (const auto& [key, value] : a.dict().entries) {
    Value* other = b.dict().find(key_text(key));
    if (!other || !equal(value, *other, walk)) return false;
  }
  return true;
}

bool equal_structs(const Value& a, const Value& b, Walk& walk) {
  const auto &x = a.as<StructObject>().fields, &y = b.as<StructObject>().fields;
  if (a.object == b.object) return true;
  if (x.size() != y.size() || a.as<StructObject>().type != b.as<StructObject>().type) return false;
  Walk::Inside inside(walk, a.object);
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i].first != y[i].first || !equal(x[i].second, y[i].second, walk)) return false;
  }
  return true;
}

bool equal_ranges(const RangeObject& x, const RangeObject& y) {
  return x.size() == y.size() &&
         (x.size() == 0 || (x.start == y.start && (x.size() == 1 || x.step == y.step)));
}

bool equal_arrays(const ArrayObject& x, const ArrayObject& y, Walk& walk) {
  auto same = [&](const Value& p, const Value& q) { return equal(p, q, walk); };
  return x.dtype == y.dtype && x.shape == y.shape &&
         std::equal(x.elements.begin(), x.elements.end(), y.elements.begin(), same);
}

}  // namespace

bool equal(const Value& first, const Value& second, Walk& walk) {
  const Value a = plain(first), b = plain(second);
  if (!walk.visit()) return false;
  if (a.is_number() && b.is_number()) {
    if (a.is_integral() && b.is_integral()) return a.as_int() == b.as_int();
    // Exact also past 2^53, where neither is converted to the other.
    auto exact = [](const Value& v) {
      return v.is(ValueKind::kFloat) ? static_cast<long double>(v.number)
                                     : static_cast<long double>(v.as_int());
    };
    return exact(a) == exact(b);
  }
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case ValueKind::kString:
      walk.visit(std::min(a.text().size(), b.text().size()) / 64);
      return a.same_as(b);
    case ValueKind::kList:
    case ValueKind::kTuple:
      return a.object == b.object || equal_sequences(a, b, walk);
    case ValueKind::kDict:
      return a.object == b.object || equal_dicts(a, b, walk);
    case ValueKind::kStruct:
      return a.object == b.object || equal_structs(a, b, walk);
    case ValueKind::kRange:
      return equal_ranges(a.as<RangeObject>(), b.as<RangeObject>());
    case ValueKind::kArray:
      return equal_arrays(a.as<ArrayObject>(), b.as<ArrayObject>(), walk);
    case ValueKind::kEnum:
      return a.as<EnumObject>().name == b.as<EnumObject>().name;
    case ValueKind::kBuiltin: {
      const auto &x = a.as<BuiltinObject>(), &y = b.as<BuiltinObject>();
      return &x == &y || (x.is_type && y.is_type && x.name == y.name);
    }
    case ValueKind::kOperator:
      return a.as<OperatorObject>().path == b.as<OperatorObject>().path;
    default:
      return a.same_as(b);
  }
}

bool truth(const Value& value) {
  switch (value.kind) {
    case ValueKind::kNone:
    case ValueKind::kUndefined:
      return false;
    case ValueKind::kBool:
      return value.boolean;
    case ValueKind::kInt:
      return value.integer != 0;
    case ValueKind::kFloat:
      return value.number != 0;
    case ValueKind::kString:
      return !value.text().empty();
    case ValueKind::kList:
    case ValueKind::kTuple:
      return !value.elements().empty();
    case ValueKind::kDict:
      return !value.dict().entries.empty();
    case ValueKind::kRange:
      return value.as<RangeObject>().size() != 0;
    case ValueKind::kArray:
      return !value.as<ArrayObject>().elements.empty() && truth(value.as<ArrayObject>().elements[0]);
    default:
      return true;
  }
}

namespace {
std::string key_text_at(const Value& given, Walk& walk) {
  const Value value = plain(given);
  if (!walk.visit()) return {};
  switch (value.kind) {
    case ValueKind::kNone:
      return "none";
    case ValueKind::kBool:
    case ValueKind::kInt:
      return "i" + std::to_string(value.as_int());
    case ValueKind::kFloat: {
      // 1.0 and 1 are one key, as in Python.
      bool whole = value.number == std::floor(value.number) && std::fabs(value.number) < 9e18;
      return whole ? "i" + std::to_string(static_cast<int64_t>(value.number))
                   : "f" + format_float(value.number);
    }
    case ValueKind::kString:
      return "s" + value.text();
    case ValueKind::kDType:
      return "d" + std::string(types_name(value.dtype));
    case ValueKind::kEnum:
      return "e" + value.as<EnumObject>().name;
    case ValueKind::kTuple: {
      std::string out = "t";
      Walk::Inside inside(walk, value.object);
      for (const Value& element : value.elements()) {
        std::string part = key_text_at(element, walk);
        if (part.empty() || !walk.visit(part.size() / 16)) return {};
        out += std::to_string(part.size());
        out += ':';
        out += part;
      }
      return out;
    }
    case ValueKind::kFunction:
    case ValueKind::kBuiltin:
    case ValueKind::kPipeline:
    case ValueKind::kPixel:
      return "o" + std::to_string(reinterpret_cast<uintptr_t>(value.object));
    default:
      return {};
  }
}
}  // namespace

std::string key_text(const Value& value, Walk* walk) {
  Walk own(kMaxKeyElements);
  return key_text_at(value, walk ? *walk : own);
}

}  // namespace galatea::dsl
