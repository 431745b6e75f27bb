#include "compiler/shape/polynomial.h"

#include <algorithm>

namespace galatea::shape {
namespace {

constexpr size_t kMaxTerms = 12;
constexpr size_t kMaxDegree = 6;

/// `whole` without the factors of `part`; nothing where it lacks one.
std::optional<Monomial> without(const Monomial& whole, const Monomial& part) {
  if (!std::includes(whole.begin(), whole.end(), part.begin(), part.end())) return std::nullopt;
  Monomial rest;
  std::set_difference(whole.begin(), whole.end(), part.begin(), part.end(), std::back_inserter(rest));
  return rest;
}

}  // namespace

bool Polynomial::add(const Monomial& monomial, int64_t coefficient) {
  if (coefficient == 0) return true;
  if (monomial.size() > kMaxDegree) return false;
  auto [at, fresh] = terms_.emplace(monomial, coefficient);
  if (!fresh && __builtin_add_overflow(at->second, coefficient, &at->second)) return false;
  if (at->second == 0) terms_.erase(at);
  return terms_.size() <= kMaxTerms;
}

Polynomial Polynomial::constant(int64_t value) {
  Polynomial out;
  out.add({}, value);
  return out;
}

Polynomial Polynomial::unknown(int number) {
  Polynomial out;
  out.add({number}, 1);
  return out;
}

bool Polynomial::is_constant() const {
  return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty());
}

int64_t Polynomial::constant_value() const { return terms_.empty() ? 0 : terms_.begin()->second; }

bool Polynomial::is_unknown() const {
  return terms_.size() == 1 && terms_.begin()->first.size() == 1 && terms_.begin()->second == 1;
}

std::optional<Polynomial> Polynomial::sum(const Polynomial& a, const Polynomial& b) {
  Polynomial out = a;
  for (const auto& [monomial, coefficient] : b.terms_)
    if (!out.add(monomial, coefficient)) return std::nullopt;
  return out;
}

std::optional<Polynomial> Polynomial::difference(const Polynomial& a, const Polynomial& b) {
  auto negative = product(b, constant(-1));
  return negative ? sum(a, *negative) : std::nullopt;
}

std::optional<Polynomial> Polynomial::product(const Polynomial& a, const Polynomial& b) {
  Polynomial out;
  for (const auto& [x, p] : a.terms_) {
    for (const auto& [y, q] : b.terms_) {
      Monomial both;
      std::merge(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
      int64_t coefficient = 0;
      if (__builtin_mul_overflow(p, q, &coefficient) || !out.add(both, coefficient)) return std::nullopt;
    }
  }
  return out;
}

std::optional<Polynomial> Polynomial::quotient(const Polynomial& a, const Polynomial& b) {
  if (b.terms_.size() != 1) return std::nullopt;
  const auto& [part, divisor] = *b.terms_.begin();
  Polynomial out;
  for (const auto& [monomial, coefficient] : a.terms_) {
    auto rest = without(monomial, part);
    if (!rest || divisor == -1 || coefficient % divisor != 0) return std::nullopt;
    if (!out.add(*rest, coefficient / divisor)) return std::nullopt;
  }
  return out;
}

}  // namespace galatea::shape
