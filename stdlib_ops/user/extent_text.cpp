#include "stdlib_ops/user/extent_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace galatea::ops {

using kernel::Expr;

class ExtentText::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { out_.text_ = text; }

  std::expected<ExtentText, std::string> run() {
    sum();
    skip();
    if (error_.empty() && at_ < text_.size()) fail(fmt::format("`{}` is not expected here", text_[at_]));
    if (!error_.empty()) return std::unexpected(error_);
    return std::move(out_);
  }

 private:
  using Kind = Step::Kind;
  static constexpr int kMostDepth = 64;

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void fail(std::string why) {
    if (error_.empty()) error_ = std::move(why);
  }
  void want(char c) {
    if (!take(c)) fail(fmt::format("`{}` is missing", c));
  }
  void push(Kind kind, int64_t number = 0) { out_.steps_.push_back({kind, number}); }

  void sum() {
    product();
    while (error_.empty()) {
      const bool adds = take('+');
      if (!adds && !take('-')) return;
      product();
      push(adds ? Kind::kAdd : Kind::kSub);
    }
  }
  void product() {
    factor();
    while (error_.empty()) {
      const Kind kind = take('*') ? Kind::kMul : take('/') ? Kind::kDiv : take('%') ? Kind::kRem : Kind::kAdd;
      if (kind == Kind::kAdd) return;
      // Python's `//` is what people write here, too; of extents it is the same.
      if (kind == Kind::kDiv) take('/');
      factor();
      push(kind);
    }
  }
  void factor() {
    if (++depth_ > kMostDepth) return fail("it is nested too deeply");
    skip();
    if (take('(')) {
      sum();
      want(')');
    } else if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      literal();
    } else if (at_ < text_.size() && is_letter(text_[at_])) {
      name_or_call();
    } else {
      fail(at_ < text_.size() ? fmt::format("`{}` is not expected here", text_[at_])
                              : std::string("it ends too early"));
    }
    --depth_;
  }
  static bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

  void literal() {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) return fail("a number is too large");
    at_ = static_cast<size_t>(end - text_.data());
    push(Kind::kNumber, value);
  }
  void name_or_call() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (!take('(')) {
      auto known = std::ranges::find(out_.names_, name);
      if (known == out_.names_.end()) known = out_.names_.insert(known, name);
      return push(Kind::kName, known - out_.names_.begin());
    }
    const Kind kind = name == "ceil_div" ? Kind::kCeilDiv
                      : name == "min"    ? Kind::kMin
                      : name == "max"    ? Kind::kMax
                                         : Kind::kNumber;
    if (kind == Kind::kNumber)
      return fail(fmt::format("there is no function `{}`; there are ceil_div, min and max", name));
    sum();
    want(',');
    sum();
    want(')');
    push(kind);
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string error_;
  ExtentText out_;
};

std::expected<ExtentText, std::string> ExtentText::parse(std::string_view text) { return Parser(text).run(); }

ExtentText ExtentText::number(int64_t value) {
  ExtentText out;
  out.text_ = std::to_string(value);
  out.steps_ = {{Step::Kind::kNumber, value}};
  return out;
}

int64_t ExtentText::evaluate(const std::function<int64_t(const std::string&)>& value_of) const {
  using Kind = Step::Kind;
  std::vector<int64_t> stack;
  for (const Step& step : steps_) {
    if (step.kind == Kind::kNumber || step.kind == Kind::kName) {
      stack.push_back(step.kind == Kind::kNumber ? step.number
                                                 : value_of(names_[static_cast<size_t>(step.number)]));
      if (stack.back() < 0) return -1;
      continue;
    }
    const int64_t b = stack.back();
    stack.pop_back();
    int64_t& a = stack.back();
    const bool divides = step.kind == Kind::kDiv || step.kind == Kind::kRem || step.kind == Kind::kCeilDiv;
    if (divides && b == 0) return -1;
    bool overflows = false;
    switch (step.kind) {
      case Kind::kAdd:
        overflows = __builtin_add_overflow(a, b, &a);
        break;
      case Kind::kSub:
        overflows = __builtin_sub_overflow(a, b, &a);
        break;
      case Kind::kMul:
        overflows = __builtin_mul_overflow(a, b, &a);
        break;
      case Kind::kDiv:
        a /= b;
        break;
      case Kind::kRem:
        a %= b;
        break;
      case Kind::kCeilDiv:
        a = a / b + (a % b > 0 ? 1 : 0);
        break;
      case Kind::kMin:
        a = std::min(a, b);
        break;
      default:
        a = std::max(a, b);
    }
    if (overflows) return -1;
  }
  return stack.back();
}

Expr ExtentText::expression(const std::function<Expr(const std::string&)>& value_of,
                            std::vector<Expr>& divisors) const {
  using Kind = Step::Kind;
  std::vector<Expr> stack;
  for (const Step& step : steps_) {
    if (step.kind == Kind::kNumber || step.kind == Kind::kName) {
      stack.push_back(step.kind == Kind::kNumber ? kernel::const_int(step.number)
                                                 : value_of(names_[static_cast<size_t>(step.number)]));
      continue;
    }
    const Expr b = stack.back();
    stack.pop_back();
    const Expr a = stack.back();
    Expr out;
    switch (step.kind) {
      case Kind::kAdd:
        out = a + b;
        break;
      case Kind::kSub:
        out = a - b;
        break;
      case Kind::kMul:
        out = a * b;
        break;
      case Kind::kMin:
        out = kernel::min(a, b);
        break;
      case Kind::kMax:
        out = kernel::max(a, b);
        break;
      default: {
        divisors.push_back(b);
        // A sample whose divisor is zero has failed by then; nothing else may fail in its place.
        const Expr divisor = kernel::select(kernel::equal(b, kernel::const_int(0)), kernel::const_int(1), b);
        const Expr quotient = a / divisor, rest = a % divisor;
        out = step.kind == Kind::kDiv ? quotient
              : step.kind == Kind::kRem
                  ? rest
                  : quotient + kernel::convert(rest > kernel::const_int(0), DType::kI64);
      }
    }
    stack.back() = out;
  }
  return stack.back();
}

}  // namespace galatea::ops
