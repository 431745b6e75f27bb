// Extents and numbers of blocks as texts: "ceil_div(h * 2, 16)".
//
// Comes in: a text over names of extents. Goes out: its value where the names are numbers (a type rule), and
// the same as an expression of the sample program (a definition). Integers of 64 bits; `/` and `%` are those
// of C. Functions: ceil_div(a, b), min(a, b), max(a, b).
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/kernel/expr.h"

namespace galatea::ops {

class ExtentText {
 public:
  /// What is wrong with the text, in words that follow "`TEXT`: ".
  static std::expected<ExtentText, std::string> parse(std::string_view text);
  static ExtentText number(int64_t value);

  const std::string& text() const { return text_; }
  const std::vector<std::string>& names() const { return names_; }
  /// -1: not known yet, because a name is not, or because it cannot be computed (it overflows, or divides by
  /// zero), which the definition's checks say for the sample.
  int64_t evaluate(const std::function<int64_t(const std::string&)>& value_of) const;
  /// The same per sample, and in `divisors` what has to be other than zero.
  kernel::Expr expression(const std::function<kernel::Expr(const std::string&)>& value_of,
                          std::vector<kernel::Expr>& divisors) const;

 private:
  /// In postfix order.
  struct Step {
    enum class Kind : uint8_t { kNumber, kName, kAdd, kSub, kMul, kDiv, kRem, kCeilDiv, kMin, kMax };
    Kind kind = Kind::kNumber;
    int64_t number = 0;  ///< or place in names_
  };
  class Parser;

  std::string text_;
  std::vector<std::string> names_;
  std::vector<Step> steps_;
};

}  // namespace galatea::ops
