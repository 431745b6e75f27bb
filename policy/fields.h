// Taking a JSON object apart: each key is known, each value has its kind and range, or a diagnostic says so.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "policy/json_value.h"
#include "policy/messages.h"

namespace galatea::policy {

constexpr double kAnything = std::numeric_limits<double>::infinity();
constexpr int64_t kManyIntegers = std::numeric_limits<int64_t>::max();

/// Checks of single values. What is wrong is reported once, with `what` as its subject.
class Fields {
 public:
  explicit Fields(DiagnosticSink& sink) : sink_(sink) {}

  void report(Message message, Span span, const std::vector<std::string>& arguments) {
    sink_.report(diagnose(message, span, arguments));
  }
  bool has_errors() const { return sink_.has_errors(); }
  /// Is it an object? Keys that are not in `known` are reported.
  bool object(const JsonValue& value, const std::string& what, const std::vector<std::string>& known);
  /// Are the keys there? Those that are missing are reported at the object's beginning.
  void need(const JsonValue& object, const std::string& what, const std::vector<std::string>& keys,
            const std::string& help = "");
  bool list(const JsonValue& value, const std::string& what, const std::string& of);
  std::optional<std::string> string(const JsonValue& value, const std::string& what);
  /// A name: letters, digits and _, as in the language.
  std::optional<std::string> name(const std::string& text, Span span, const std::string& what);
  std::optional<bool> boolean(const JsonValue& value, const std::string& what);
  std::optional<int64_t> integer(const JsonValue& value, const std::string& what, int64_t least,
                                 int64_t most = kManyIntegers);
  std::optional<double> number(const JsonValue& value, const std::string& what, double least = -kAnything,
                               double most = kAnything, bool least_excluded = false);
  /// Two numbers.
  std::optional<std::pair<double, double>> pair(const JsonValue& value, const std::string& what);

 private:
  void wrong_type(const JsonValue& value, const std::string& what, const std::string& expected);

  DiagnosticSink& sink_;
};

}  // namespace galatea::policy
