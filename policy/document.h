// A policy as data: a table of augmentations and one expression over it.
//
// Comes in: JSON (reader.h), a library call or another library's spelling (spelling.h). Goes out: JSON again
// (writer.h), a pipeline's nodes, tables for people. docs/policies.md says what each part means.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/source.h"
#include "policy/json_value.h"

namespace galatea::policy {

/// How many augmentations a document may draw in a row: stages are unrolled when a pipeline is compiled.
inline constexpr int64_t kMostDraws = 64;

/// Arguments handed to operations by name: numbers, strings, bools, null, or lists of numbers.
struct Extra {
  std::string name;
  JsonValue value;
  Span span;  ///< of the name
};

enum class Quantize : uint8_t { kNone, kFloor, kCeil, kTrunc, kRoundEven };

/// One row of the table: an operation and what its magnitudes are.
struct Augmentation {
  std::string name;
  std::string op;  ///< the operation; the name itself unless the document says otherwise
  std::optional<std::pair<double, double>> range;
  std::vector<double> values;  ///< one a bin; empty: none given
  Quantize quantize = Quantize::kNone;
  bool negate = false;
  std::string param = "identity";
  std::optional<double> clamp_low, clamp_high;
  std::vector<Extra> extras;
  Span span;                 ///< of the name
  Span op_span, param_span;  ///< of their texts, where the document has them

  bool has_magnitude() const { return range || !values.empty(); }
};

struct Magnitude {
  enum class Kind : uint8_t { kNone, kBin, kUniformBin, kLevel, kUniformLevel, kValue };
  Kind kind = Kind::kNone;
  int64_t bin = 0, last_bin = 0;  ///< kBin; kUniformBin: both inclusive
  double level = 0, last_level = 0;
  double max = 10;
  double deviation = 0;  ///< of normal noise on `level`; kUniformLevel: on `last_level`, within the clip
  std::optional<std::pair<double, double>> clip;
  double value = 0;
  Span span;
};

struct Node;

/// What a choice draws from: a node, or the name of an augmentation that takes what `each` says. (Neither: it
/// could not be read, and the document is refused.)
struct PoolItem {
  std::string name;  ///< empty: `node`
  std::vector<Node> node;
  Span span;
};

struct Each {
  double probability = 1;
  Magnitude magnitude;
};

struct Weights {
  std::vector<double> by_place;
  std::vector<std::pair<std::string, double>> by_name;
  Span span;
  bool given() const { return !by_place.empty() || !by_name.empty(); }
};

struct Node {
  enum class Kind : uint8_t { kApply, kSequence, kChoose, kMix, kReference };
  Kind kind = Kind::kSequence;
  double probability = 1;
  std::string name;  ///< kApply: of the augmentation; kReference: of the definition
  Magnitude magnitude;
  std::vector<Extra> extras;
  std::vector<Node> children;   ///< kSequence; kMix: its one chain
  int64_t least = 1, most = 1;  ///< kChoose: how many are drawn
  bool from_all = false;        ///< kChoose: every augmentation of the table
  std::vector<PoolItem> pool;
  Each each;
  Weights weights;
  bool replace = true;
  int64_t chains = 1;  ///< kMix
  double alpha = 1;
  Span span, name_span;
};

struct Import {
  std::string path;  ///< as written
  Span span;
};

/// The most bins of a magnitude's scale.
constexpr int64_t kMostBins = 10'000;

struct Document {
  std::string name;
  int64_t bins = 31;  ///< 1 to kMostBins
  std::vector<Import> imports;
  std::vector<Extra> extras;
  std::vector<Augmentation> augmentations;
  std::vector<std::pair<std::string, Node>> definitions;
  Node policy;

  const Augmentation* find(std::string_view augmentation) const;
  const Node* definition(std::string_view named) const;
};

/// The pool of a choice as augmentations and nodes: what `"*"` stands for is listed.
std::vector<PoolItem> expanded_pool(const Document& document, const Node& choice);
/// The weight of each member of the pool, adding up to 1.
std::vector<double> normalized_weights(const Document& document, const Node& choice);

/// The word of a quantisation, as documents have it.
const char* word_of(Quantize quantize);
std::optional<Quantize> quantize_of(std::string_view word);

}  // namespace galatea::policy
