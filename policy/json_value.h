// JSON that knows where it stands: what a policy file is before anybody asks what it means.
//
// Comes in: a text. Goes out: a tree whose values and keys have spans, or diagnostics. Bounded in size and
// depth, so that a foreign file costs no more than it should.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/source.h"

namespace galatea::policy {

struct JsonMember;

struct JsonValue {
  enum class Kind : uint8_t { kNull, kBool, kInteger, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  Span span;
  bool boolean = false;
  int64_t integer = 0;  ///< of kInteger
  double number = 0;    ///< of kInteger and kNumber
  std::string text;
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;  ///< in the order of the text

  bool is_number() const { return kind == Kind::kInteger || kind == Kind::kNumber; }
  const JsonValue* find(std::string_view key) const;
};

struct JsonMember {
  std::string key;
  Span key_span;
  JsonValue value;
};

/// What JSON may cost.
struct JsonLimits {
  size_t bytes = 4 << 20;
  size_t values = 200'000;
  size_t depth = 64;
};

/// "a string", "3", "an object".
std::string describe(const JsonValue& value);

/// Reads the text of a file of `sources`. What is wrong goes to `sink`; then there is no value. Repeated keys
/// are an error, reported for all objects of the text.
std::optional<JsonValue> read_json(uint32_t file, const SourceMap& sources, DiagnosticSink& sink,
                                   const JsonLimits& limits = {});

/// Shortest text that reads back as the same number; whole numbers have no point.
std::string number_text(double number);

}  // namespace galatea::policy
