// Operators on static values, as Python has them: ints are 64-bit and never wrap silently. With a data node
// on either side: the operators "arith.*".
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/bundles.h"
#include "dsl/evaluator.h"

namespace galatea::dsl {
// As CPython's float_divmod: the quotient is that of the exact remainder.
double float_remainder(double a, double b) {
  double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

double float_quotient(double a, double b) {
  double rest = std::fmod(a, b), quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

namespace {

struct OperatorName {
  std::string_view text, node_operator;
};
constexpr OperatorName kBinary[] = {{"+", "arith.add"},  {"-", "arith.sub"},       {"*", "arith.mul"},
                                    {"/", "arith.div"},  {"//", "arith.floordiv"}, {"%", "arith.mod"},
                                    {"**", "arith.pow"}, {"&", "arith.and"},       {"|", "arith.or"},
                                    {"^", "arith.xor"},  {"<<", "arith.lshift"},   {">>", "arith.rshift"},
                                    {"==", "arith.eq"},  {"!=", "arith.ne"},       {"<", "arith.lt"},
                                    {"<=", "arith.le"},  {">", "arith.gt"},        {">=", "arith.ge"}};

std::string node_operator_name(const std::string& op) {
  for (const OperatorName& name : kBinary) {
    if (name.text == op) return std::string(name.node_operator);
  }
  return {};
}

enum class Trouble { kNone, kOverflow, kZero, kNegativeShift };

int64_t floor_divide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}
int64_t floor_remainder(int64_t a, int64_t b) {
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Trouble integer_power(int64_t base, int64_t exponent, int64_t& out) {
  out = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) && __builtin_mul_overflow(out, base, &out)) return Trouble::kOverflow;
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return Trouble::kOverflow;
  }
  return Trouble::kNone;
}

Trouble integer_operation(const std::string& op, int64_t a, int64_t b, int64_t& out) {
  if (op == "+") return __builtin_add_overflow(a, b, &out) ? Trouble::kOverflow : Trouble::kNone;
  if (op == "-") return __builtin_sub_overflow(a, b, &out) ? Trouble::kOverflow : Trouble::kNone;
  if (op == "*") return __builtin_mul_overflow(a, b, &out) ? Trouble::kOverflow : Trouble::kNone;
  if (op == "//" || op == "%") {
    if (b == 0) return Trouble::kZero;
    if (b == -1) {  // the one quotient that does not fit
      out = 0;
      return op == "%"                                     ? Trouble::kNone
             : __builtin_sub_overflow(int64_t{0}, a, &out) ? Trouble::kOverflow
                                                           : Trouble::kNone;
    }
    out = op == "//" ? floor_divide(a, b) : floor_remainder(a, b);
    return Trouble::kNone;
  }
  if (op == "**") return integer_power(a, b, out);
  if (op == "&") return out = a & b, Trouble::kNone;
  if (op == "|") return out = a | b, Trouble::kNone;
  if (op == "^") return out = a ^ b, Trouble::kNone;
  if (b < 0) return Trouble::kNegativeShift;
  if (op == ">>") return out = b > 63 ? (a < 0 ? -1 : 0) : a >> b, Trouble::kNone;
  if (a == 0) return out = 0, Trouble::kNone;
  if (b > 62) return Trouble::kOverflow;
  return __builtin_mul_overflow(a, int64_t{1} << b, &out) ? Trouble::kOverflow : Trouble::kNone;
}

Trouble float_operation(const std::string& op, double a, double b, double& out) {
  if (op == "+")
    out = a + b;
  else if (op == "-")
    out = a - b;
  else if (op == "*")
    out = a * b;
  else if (op == "**") {
    if (a == 0 && b < 0) return Trouble::kZero;
    out = std::pow(a, b);
  } else {
    if (b == 0) return Trouble::kZero;
    if (op == "/") {
      out = a / b;
    } else {
      out = op == "%" ? float_remainder(a, b) : float_quotient(a, b);
    }
  }
  return Trouble::kNone;
}

bool is_bitwise(const std::string& op) {
  return op == "&" || op == "|" || op == "^" || op == "<<" || op == ">>";
}

// Wide enough for every int and every float, so that they compare as in Python.
long double exact(const Value& number) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  return number.is(ValueKind::kFloat) ? static_cast<long double>(number.number)
                                      : static_cast<long double>(number.as_int());
}

// -1, 0, 1; nullopt: the values have no order.
std::optional<int> order(const Value& a, const Value& b, Walk& walk) {
  if (!walk.visit()) return std::nullopt;
  if (a.is_integral() && b.is_integral()) return a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int();
  if (a.is_number() && b.is_number()) {
    long double x = exact(a), y = exact(b);
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;  // 2: NaN, no comparison holds
  }
  if (a.is(ValueKind::kString) && b.is(ValueKind::kString)) {
    walk.visit(std::min(a.text().size(), b.text().size()) / 64);
    int c = a.text().compare(b.text());
    return c < 0 ? -1 : c > 0;
  }
  if (!a.is_sequence() || a.kind != b.kind) return std::nullopt;
  Walk::Inside inside(walk, a.object);
  const auto &x = a.elements(), &y = b.elements();
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (!equal(x[i], y[i], walk)) return order(x[i], y[i], walk);
  }
  return x.size() < y.size() ? -1 : x.size() > y.size();
}

// An array, and something that numpy makes one.
bool arrays_meet(const Value& a, const Value& b) {
  auto fits = [](const Value& v) { return v.is(ValueKind::kArray) || v.is_number() || v.is_sequence(); };
  return (a.is(ValueKind::kArray) || b.is(ValueKind::kArray)) && fits(a) && fits(b);
}

bool is_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// What a data node on the right meets. A numpy scalar's own operator runs first and hands the node a Python
// number, so that its element type is gone; on the right of a node the scalar keeps it.
Value left_of_node(const Value& a) { return a.is(ValueKind::kArray) ? plain(a) : a; }

}  // namespace

Value Evaluator::binary(const std::string& op, const Value& a, const Value& b, Span span, Span a_span,
                        Span b_span) {
  if (a.is_poison() || b.is_poison()) return Value::poison();
  bool arrays = arrays_meet(a, b);
  if (op == "@" && arrays) {
    Value x = to_array(*this, a, a_span), y = to_array(*this, b, b_span);
    return x.is_poison() || y.is_poison() ? Value::poison() : array_product(*this, x, y, span);
  }
  if (op == "@")
    return fail(Message::kUnsupportedSyntax, span,
                {"matrix multiplication with `@`", "combine matrices with `fn.transforms`"});
  if (is_data(a) || is_data(b)) {
    if (a.is(ValueKind::kString) && op == "%") return fail(Message::kNodeInString, b_span, {type_text(b)});
    if (a.is(ValueKind::kString) || b.is(ValueKind::kString)) {
      Diagnostic diagnostic = diagnose(Message::kOperandKinds, span, {op, type_text(a), type_text(b)});
      const bool left = a.is(ValueKind::kString);
      const std::string& text = (left ? a : b).text();
      if (is_number(text)) {
        diagnostic.help = "take the quotes away: `" + text + "`";
        diagnostic.edits.push_back({left ? a_span : b_span, text, false});
      } else {
        diagnostic.help = "data are numbers: a text belongs to the host program, or into a static value";
      }
      return report(std::move(diagnostic));
    }
    return node_operator(node_operator_name(op), {left_of_node(a), b}, span);
  }
  if (arrays) return array_binary(*this, op, a, b, span);
  if (a.is_number() && b.is_number()) {
    Trouble trouble;
    Value result;
    bool both_bool = a.is(ValueKind::kBool) && b.is(ValueKind::kBool);
    bool floats = op == "/" || !a.is_integral() || !b.is_integral() ||
                  (op == "**" && b.is_integral() && b.as_int() < 0);
    if (floats) {
      if (is_bitwise(op)) return fail(Message::kOperandKinds, span, {op, describe_kind(a), describe_kind(b)});
      double out = 0;
      bool quotient = op == "/" && a.is_integral() && b.is_integral() && b.as_int() != 0;
      if (quotient)  // of integers past 2^53, which are no doubles
        trouble = Trouble::kNone, out = static_cast<double>(exact(a) / exact(b));
      else
        trouble = float_operation(op, a.as_double(), b.as_double(), out);
      bool too_large =
          op == "**" && std::isinf(out) && std::isfinite(a.as_double()) && std::isfinite(b.as_double());
      if (too_large && trouble == Trouble::kNone)
        return fail(Message::kMathDomain, span,
                    {"**", repr(a) + " and " + repr(b) + ": the result is too large"});
      if (op == "**" && std::isnan(out) && !std::isnan(a.as_double()) && !std::isnan(b.as_double()))
        return fail(Message::kOperandKinds, span, {op, "a negative number", "a fraction"});
      result = Value::of(out);
    } else {
      int64_t out = 0;
      trouble = integer_operation(op, a.as_int(), b.as_int(), out);
      result = both_bool && is_bitwise(op) && op.size() == 1 ? Value::of(out != 0) : Value::of(out);
    }
    if (trouble == Trouble::kOverflow)
      return fail(Message::kIntegerOverflow, span, {fmt::format("{} {} {}", repr(a), op, repr(b))});
    if (trouble == Trouble::kZero) return fail(Message::kDivisionByZero, span);
    if (trouble == Trouble::kNegativeShift) return fail(Message::kNegativeShift, b_span);
    return result;
  }
  if (op == "%" && a.is(ValueKind::kString)) return format_percent(a.text(), b, span);
  if (op == "+" && a.kind == b.kind && a.is(ValueKind::kString)) {
    if (!check_size(a.text().size() + b.text().size(), span)) return Value::poison();
    return make_string(a.text() + b.text());
  }
  if (op == "+" && a.kind == b.kind && a.is_sequence()) {
    if (!check_size((a.elements().size() + b.elements().size()) * sizeof(Value), span))
      return Value::poison();
    std::vector<Value> all = a.elements();
    all.insert(all.end(), b.elements().begin(), b.elements().end());
    return a.is(ValueKind::kList) ? make_list(std::move(all), span) : make_tuple(std::move(all));
  }
  if (op == "*" && (a.is_integral() || b.is_integral())) {
    const Value& repeated = a.is_integral() ? b : a;
    int64_t times = std::max<int64_t>(a.is_integral() ? a.as_int() : b.as_int(), 0);
    bool text = repeated.is(ValueKind::kString);
    if (text || repeated.is_sequence()) {
      size_t size = text ? repeated.text().size() : repeated.elements().size() * sizeof(Value);
      size_t total = 0;
      if (__builtin_mul_overflow(size, static_cast<size_t>(times), &total)) total = SIZE_MAX;
      if (!check_size(total, span)) return Value::poison();
      std::string out_text;
      std::vector<Value> out;
      if (text && size == 1) out_text.assign(static_cast<size_t>(times), repeated.text()[0]);
      for (int64_t i = 0; i < times && size > (text ? 1 : 0); ++i) {
        if (text)
          out_text += repeated.text();
        else
          out.insert(out.end(), repeated.elements().begin(), repeated.elements().end());
      }
      if (text) return make_string(std::move(out_text));
      return repeated.is(ValueKind::kList) ? make_list(std::move(out), span) : make_tuple(std::move(out));
    }
  }
  if (op == "|" && a.is(ValueKind::kDict) && b.is(ValueKind::kDict)) {
    Value result = make_dict(span);
    for (const Value* side : {&a, &b}) {
      for (const auto& [key, value] : side->dict().entries) result.dict().set(key_of(key), key, value);
    }
    return result;
  }
  auto is_type = [](const Value& v) {
    return v.is(ValueKind::kNone) || (v.is(ValueKind::kBuiltin) && v.as<BuiltinObject>().is_type);
  };
  if (op == "|" && is_type(a) && is_type(b) && !(a.is(ValueKind::kNone) && b.is(ValueKind::kNone)))
    return a.is(ValueKind::kNone) ? b : a;  // int | None in an annotation
  Diagnostic diagnostic = diagnose(Message::kOperandKinds, span, {op, describe_kind(a), describe_kind(b)});
  diagnostic.labels.push_back({a_span, describe_kind(a)});
  diagnostic.labels.push_back({b_span, describe_kind(b)});
  bool text_and_other = op == "+" && (a.is(ValueKind::kString) != b.is(ValueKind::kString));
  if (text_and_other) diagnostic.help = "write an f-string, `f\"…{x}\"`, or `str(x)`";
  return report(std::move(diagnostic));
}

Value Evaluator::unary(const std::string& op, const Value& a, Span span) {
  if (a.is_poison()) return Value::poison();
  if (is_data(a))
    return node_operator(op == "-" ? "arith.neg" : op == "+" ? "arith.pos" : "arith.invert", {a}, span);
  if (a.is(ValueKind::kArray)) return array_unary(*this, op, a, span);
  if (a.is_integral()) {
    int64_t value = a.as_int();
    if (op == "+") return Value::of(value);
    if (op == "~") return Value::of(~value);
    if (value == INT64_MIN)
      return fail(Message::kIntegerOverflow, span, {"-(" + std::to_string(value) + ")"});
    return Value::of(-value);
  }
  if (a.is(ValueKind::kFloat) && op != "~") return Value::of(op == "-" ? -a.number : a.number);
  return fail(Message::kOperandKind, span, {op, describe_kind(a)});
}

Value Evaluator::compare(const std::string& op, const Value& a, const Value& b, Span span, Span a_span,
                         Span b_span) {
  if (a.is_poison() || b.is_poison()) return Value::poison();
  if (op == "is" || op == "is not") {
    auto singleton = [](const Value& v) {
      return v.is(ValueKind::kNone) || v.is(ValueKind::kBool) || v.is(ValueKind::kEllipsis);
    };
    if (!singleton(a) && !singleton(b)) return fail(Message::kIsNeedsNone, span);
    return Value::of(a.same_as(b) == (op == "is"));
  }
  if (op == "in" || op == "not in") {
    if (a.is_node() || b.is_node()) return fail(Message::kInNode, span, {type_text(a), type_text(b)});
    bool found = false;
    if (b.is(ValueKind::kString)) {
      if (!a.is(ValueKind::kString))
        return fail(Message::kOperandKinds, span, {op, describe_kind(a), describe_kind(b)});
      spend(b.text().size() / 16);
      found = find_text(b.text(), a.text(), 0) != std::string::npos;
    } else if (b.is(ValueKind::kDict)) {
      std::string text = key_of(a);
      if (text.empty()) return fail_key(a, a_span);
      found = b.dict().find(text) != nullptr;
    } else if (b.is(ValueKind::kArray) && arrays_meet(a, b)) {
      Value equals = array_binary(*this, "==", b, a, span);
      if (equals.is_poison()) return equals;
      const auto& elements = equals.as<ArrayObject>().elements;
      found = std::any_of(elements.begin(), elements.end(), truth);
    } else {
      auto elements = iterate(b, b_span, "searched with `in`");
      if (!elements) return Value::poison();
      for (size_t i = 0; i < elements->size() && !found; ++i) {
        auto same = equals((*elements)[i], a, span);
        if (!same) return Value::poison();
        found = *same;
      }
    }
    return Value::of(found == (op == "in"));
  }
  bool equality = op == "==" || op == "!=";
  if (is_data(a) || is_data(b)) {
    const Value& other = is_data(a) ? b : a;
    if (equality && other.is(ValueKind::kNone)) return fail(Message::kNodeEqualsNone, span);
    return node_operator(node_operator_name(op), {left_of_node(a), b}, span);
  }
  if (arrays_meet(a, b)) return array_binary(*this, op, a, b, span);
  if (equality) {
    auto same = equals(a, b, span);
    return same ? Value::of(*same == (op == "==")) : Value::poison();
  }
  Walk walk = start_walk();
  std::optional<int> sign = order(a, b, walk);
  if (!finish_walk(walk, span)) return Value::poison();
  if (!sign) return fail(Message::kOperandKinds, span, {op, describe_kind(a), describe_kind(b)});
  if (*sign == 2) return Value::of(false);
  if (op == "<") return Value::of(*sign < 0);
  if (op == "<=") return Value::of(*sign <= 0);
  return Value::of(op == ">" ? *sign > 0 : *sign >= 0);
}

}  // namespace galatea::dsl
