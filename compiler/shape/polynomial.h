// Sums of products of unknowns: in this form, equal extents look equal.
//
// Comes in: terms. Goes out: H*W*3 + 2 and the like, in one normal form, with exact integer coefficients; or
// nothing, where a coefficient leaves i64 or the form grows past its bounds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace galatea::shape {

/// Unknowns by number, sorted, each as often as it is a factor. Empty: the constant term.
using Monomial = std::vector<int>;

class Polynomial {
 public:
  Polynomial() = default;
  static Polynomial constant(int64_t value);
  static Polynomial unknown(int number);

  /// No term has a coefficient of 0.
  const std::map<Monomial, int64_t>& terms() const { return terms_; }
  bool is_constant() const;
  int64_t constant_value() const;  ///< of a constant one
  bool is_unknown() const;         ///< one unknown, once

  static std::optional<Polynomial> sum(const Polynomial& a, const Polynomial& b);
  static std::optional<Polynomial> difference(const Polynomial& a, const Polynomial& b);
  static std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b);
  /// a / b where b is one term that divides every term of a.
  static std::optional<Polynomial> quotient(const Polynomial& a, const Polynomial& b);
  friend bool operator==(const Polynomial&, const Polynomial&) = default;

 private:
  bool add(const Monomial& monomial, int64_t coefficient);
  std::map<Monomial, int64_t> terms_;
};

}  // namespace galatea::shape
